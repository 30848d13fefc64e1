/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracles of oracle_eliminate.h. */
#include "oracle_eliminate.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

/* The latest reference to the page of record p before record i; SIZE_MAX: none. */
static size_t before(const struct stream *in, const bool *dropped, size_t i, size_t p)
{
	while (i-- > 0)
		if (!in->item[i].is_event && (dropped == NULL || !dropped[i]) &&
		    same(&in->item[i].ref, &in->item[p].ref))
			return i;
	return SIZE_MAX;
}

/* Other pages referenced strictly between two references to a page. */
static uint64_t distance(const struct stream *in, size_t first, size_t last)
{
	uint64_t count = 0;

	for (size_t i = first + 1; i < last; i++) {
		size_t previous;

		if (in->item[i].is_event || same(&in->item[i].ref, &in->item[first].ref))
			continue;
		previous = before(in, NULL, i, i);
		count += previous == SIZE_MAX || previous < first ? 1 : 0;
	}
	return count;
}

/* Does this reference fault in an LRU memory? */
static bool faults(const struct stream *in, size_t i, uint64_t pages)
{
	size_t last = before(in, NULL, i, i);

	return last == SIZE_MAX || distance(in, last, i) >= pages;
}

/* The next reference to the page of record i; SIZE_MAX: none. */
static size_t next_of(const struct stream *in, size_t i)
{
	for (size_t j = i + 1; j < in->count; j++)
		if (!in->item[j].is_event && same(&in->item[j].ref, &in->item[i].ref))
			return j;
	return SIZE_MAX;
}

/* The last reference of all; SIZE_MAX: none. */
static size_t before_end(const struct stream *in)
{
	for (size_t i = in->count; i-- > 0;)
		if (!in->item[i].is_event)
			return i;
	return SIZE_MAX;
}

static uint64_t ref_of(const struct stream *in, size_t i)
{
	return in->item[i].is_event ? in->item[i].event.ref : in->item[i].ref.ref;
}

static uint64_t instr_of(const struct stream *in, size_t i)
{
	return in->item[i].is_event ? in->item[i].event.instr : in->item[i].ref.instr;
}

static uint64_t cycle_of(const struct stream *in, size_t i)
{
	return in->item[i].is_event ? in->item[i].event.cycle : in->item[i].ref.cycle;
}

/* ---- what is kept ---- */

/* What a reducer decides, record by record. */
struct verdict {
	bool *dropped, *write;	/* write: it is one, or became one */
};

static struct verdict verdict_new(const struct stream *in)
{
	struct verdict verdict = {
		.dropped = must(calloc(in->count + 1, sizeof(bool))),
		.write = must(calloc(in->count + 1, sizeof(bool))),
	};

	for (size_t i = 0; i < in->count; i++)
		verdict.write[i] = !in->item[i].is_event && is_write(&in->item[i].ref);
	return verdict;
}

/* Write out what is kept; frees the verdict. */
static void execute(const struct stream *in, struct verdict verdict, struct stream *out)
{
	for (size_t i = 0; i < in->count; i++) {
		if (in->item[i].is_event) {
			stream_add_event(out, &in->item[i].event);
		} else if (!verdict.dropped[i]) {
			struct lpl_ref kept = paged(in->item[i].ref, verdict.write[i]);

			stream_add_ref(out, &kept);
		}
	}
	free(verdict.dropped);
	free(verdict.write);
}

/* A write that was dropped makes the next reference kept of its page one. */
static void forward_writes(const struct stream *in, struct verdict verdict)
{
	for (size_t i = 0; i < in->count; i++) {
		if (in->item[i].is_event || !verdict.dropped[i] || !verdict.write[i])
			continue;
		for (size_t j = i + 1; j < in->count; j++) {
			if (in->item[j].is_event || verdict.dropped[j] ||
			    !same(&in->item[j].ref, &in->item[i].ref))
				continue;
			verdict.write[j] = true;
			break;
		}
	}
}

/*
 * SAD2: of two successive references to a page, where the first faults and none
 * between the two does (nor the second), the first is dropped.  Once it is, the
 * second is the one that faults, and the first of another pair, perhaps.
 */
void oracle_sad2(const struct stream *in, uint32_t pages, struct stream *out)
{
	struct verdict verdict = verdict_new(in);
	bool *fault = must(calloc(in->count + 1, sizeof(*fault)));

	for (size_t i = 0; i < in->count; i++)
		fault[i] = !in->item[i].is_event && faults(in, i, pages);
	for (size_t first = 0; first < in->count; first++) {
		size_t second = first + 1;

		if (in->item[first].is_event || !fault[first])
			continue;
		while (second < in->count && !fault[second] &&
		       (in->item[second].is_event ||
			!same(&in->item[second].ref, &in->item[first].ref)))
			second++;
		if (second == in->count || fault[second])
			continue;
		verdict.dropped[first] = true;
		verdict.write[second] |= verdict.write[first];
		fault[first] = false;
		fault[second] = true;
	}
	free(fault);
	execute(in, verdict, out);
}

void oracle_sad2_fix(const struct stream *in, uint32_t pages, struct stream *out)
{
	struct stream now = {0};
	size_t count;

	oracle_sad(in, pages, &now);
	do {
		struct stream next = {0};
		struct stream after = {0};

		count = now.count;
		oracle_sad2(&now, pages, &next);
		oracle_sad(&next, pages, &after);
		stream_free(&now);
		stream_free(&next);
		now = after;
	} while (now.count != count);
	for (size_t i = 0; i < now.count; i++) {
		if (now.item[i].is_event)
			stream_add_event(out, &now.item[i].event);
		else
			stream_add_ref(out, &now.item[i].ref);
	}
	stream_free(&now);
}

void oracle_sad_ws(const struct stream *in, uint64_t tau, struct stream *out)
{
	struct verdict verdict = verdict_new(in);

	for (size_t third = 0; third < in->count; third++) {
		size_t first;
		size_t second;

		if (in->item[third].is_event)
			continue;
		second = before(in, verdict.dropped, third, third);
		if (second == SIZE_MAX)
			continue;
		first = before(in, verdict.dropped, second, third);
		if (first == SIZE_MAX || in->item[third].ref.ref - in->item[first].ref.ref > tau)
			continue;
		verdict.dropped[second] = true;
		verdict.write[third] |= verdict.write[second];
	}
	execute(in, verdict, out);
}

void oracle_sd(const struct stream *in, uint32_t pages, struct stream *out)
{
	struct verdict verdict = verdict_new(in);

	for (size_t i = 0; i < in->count; i++)
		verdict.dropped[i] = !in->item[i].is_event && !faults(in, i, pages);
	forward_writes(in, verdict);
	execute(in, verdict, out);
}

/* An event at the end, with the clocks of the last record. */
static void add_last(const struct stream *in, struct lpl_event event, struct stream *out)
{
	size_t last = before_end(in);

	if (last == SIZE_MAX)
		return;
	event.ref = ref_of(in, in->count - 1);
	event.instr = instr_of(in, in->count - 1);
	event.cycle = cycle_of(in, in->count - 1);
	stream_add_event(out, &event);
}

/* Of the working set of theta: each distance in it, and what the end cuts off of the last ones. */
static void add_gaps(const struct stream *in, uint64_t theta, struct stream *out)
{
	struct lpl_event event = {.tag = LPL_EVENT_GAPS, .arg = {[LPL_EVENT_GAPS_THETA] = theta}};
	size_t end = before_end(in);

	for (size_t i = 0; end != SIZE_MAX && i <= end; i++) {
		size_t next = next_of(in, i);
		uint64_t gap;

		if (in->item[i].is_event)
			continue;
		gap = next == SIZE_MAX ? in->item[end].ref.ref + 1 - in->item[i].ref.ref :
			in->item[next].ref.ref - in->item[i].ref.ref;
		if (next == SIZE_MAX)
			event.arg[LPL_EVENT_GAPS_CUT] += gap < theta ? theta - gap : 0;
		else
			event.arg[LPL_EVENT_GAPS_SUM] += gap <= theta ? gap : 0;
	}
	if (end != SIZE_MAX)
		event.arg[LPL_EVENT_GAPS_LAST] = in->item[end].ref.ref;
	add_last(in, event, out);
}

void oracle_irg(const struct stream *in, uint64_t theta, struct stream *out)
{
	struct verdict verdict = verdict_new(in);

	for (size_t i = 0; i < in->count; i++) {
		size_t last;

		if (in->item[i].is_event)
			continue;
		last = before(in, NULL, i, i);
		verdict.dropped[i] = last != SIZE_MAX &&
			in->item[i].ref.ref - in->item[last].ref.ref <= theta;
	}
	forward_writes(in, verdict);
	execute(in, verdict, out);
	add_gaps(in, theta, out);
}

/* Is the page of record i referenced in a segment? */
static bool in_segment(const struct stream *in, size_t i, uint64_t length, uint64_t segment)
{
	for (size_t j = 0; j < in->count; j++)
		if (!in->item[j].is_event && same(&in->item[j].ref, &in->item[i].ref) &&
		    in->item[j].ref.instr / length == segment)
			return true;
	return false;
}

/*
 * Segment by segment: does an active period of the page end between two of its
 * references, that is, is there a whole segment without one between them?
 */
static bool period_ends(const struct stream *in, size_t i, size_t j, uint64_t length)
{
	uint64_t last = in->item[j].ref.instr / length;

	for (uint64_t segment = in->item[i].ref.instr / length; segment < last; segment++)
		if (!in_segment(in, i, length, segment))
			return true;
	return false;
}

void oracle_glass_cao(const struct stream *in, uint64_t instructions, struct stream *out)
{
	struct verdict verdict = verdict_new(in);

	for (size_t i = 0; i < in->count; i++) {
		size_t last;
		size_t next = i + 1;

		if (in->item[i].is_event)
			continue;
		last = before(in, NULL, i, i);
		while (next < in->count && (in->item[next].is_event ||
					    !same(&in->item[next].ref, &in->item[i].ref)))
			next++;
		verdict.dropped[i] = last != SIZE_MAX && next != in->count &&
			!period_ends(in, last, i, instructions) &&
			!period_ends(in, i, next, instructions);
	}
	forward_writes(in, verdict);
	execute(in, verdict, out);
}

/* Was this the last reference of its period, and does record `now` show that first? */
static bool ends_at(const struct stream *in, size_t i, size_t now, uint64_t length)
{
	size_t next = next_of(in, i);
	uint64_t over = in->item[i].ref.instr / length + 2;

	return !in->item[i].is_event && i < now && (next == SIZE_MAX || next >= now) &&
	       instr_of(in, now) / length >= over && instr_of(in, now - 1) / length < over;
}

static bool written_after_first(const struct stream *in, size_t last, uint64_t length)
{
	size_t previous = before(in, NULL, last, last);

	if (previous == SIZE_MAX || period_ends(in, previous, last, length))
		return false;
	return is_write(&in->item[last].ref) || written_after_first(in, previous, length);
}

static void add_out(const struct stream *in, size_t i, size_t now, uint64_t length,
		    struct stream *out)
{
	const struct lpl_ref *last = &in->item[i].ref;
	struct lpl_event event = {
		.tag = LPL_EVENT_OUT,
		.instr = instr_of(in, now) / length * length,
		.cycle = cycle_of(in, now - 1),
		.arg = {walk(last) ? UINT64_MAX : last->space, last->address / 4096 * 4096, last->ref,
			last->instr, last->cycle, written_after_first(in, i, length)},
	};

	for (size_t j = 0; j < now; j++)
		if (!in->item[j].is_event)
			event.ref = in->item[j].ref.ref;
	stream_add_event(out, &event);
}

/* Pages that were referenced up to record `now` and, as far as it shows, may be active. */
static uint64_t active_at(const struct stream *in, size_t now, uint64_t length)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= now; i++) {
		size_t next = in->item[i].is_event ? 0 : next_of(in, i);

		count += !in->item[i].is_event && (next == SIZE_MAX || next > now) &&
			 in->item[now].ref.instr / length < in->item[i].ref.instr / length + 2;
	}
	return count;
}

void oracle_in_out(const struct stream *in, uint64_t instructions, struct stream *out)
{
	struct lpl_event least = {.tag = LPL_EVENT_LEAST_MEMORY};

	for (size_t now = 0; now < in->count; now++) {
		const struct lpl_ref *ref = &in->item[now].ref;
		uint64_t active;

		for (size_t i = 0; i < now; i++)
			if (ends_at(in, i, now, instructions))
				add_out(in, i, now, instructions, out);
		if (in->item[now].is_event) {
			stream_add_event(out, &in->item[now].event);
			continue;
		}
		active = active_at(in, now, instructions);
		if (active > least.arg[LPL_EVENT_LEAST_MEMORY_PAGES])
			least.arg[LPL_EVENT_LEAST_MEMORY_PAGES] = active;
		if (before(in, NULL, now, now) == SIZE_MAX ||
		    period_ends(in, before(in, NULL, now, now), now, instructions)) {
			struct lpl_ref kept = paged(*ref, is_write(ref));

			stream_add_ref(out, &kept);
		}
	}
	add_last(in, least, out);
}

void oracle_reblock(const struct stream *in, uint64_t bytes, struct stream *out)
{
	struct stream larger = {0};

	for (size_t i = 0; i < in->count; i++) {
		struct lpl_ref ref = in->item[i].ref;

		ref.address = ref.address / bytes * bytes;
		if (in->item[i].is_event)
			stream_add_event(&larger, &in->item[i].event);
		else
			stream_add_ref(&larger, &ref);
	}
	oracle_block(&larger, out);
	stream_free(&larger);
}

/* ---- what policies do ---- */

void history_free(struct history *history)
{
	free(history->move);
	*history = (struct history){0};
}

static void add_move(struct history *history, uint64_t time, const struct lpl_ref *ref,
		     bool leaves, bool dirty)
{
	if (history->count == history->capacity) {
		history->capacity = history->capacity == 0 ? 64 : history->capacity * 2;
		history->move = must(realloc(history->move,
					     history->capacity * sizeof(*history->move)));
	}
	history->move[history->count++] = (struct move){
		.time = time,
		.space = walk(ref) ? UINT64_MAX : ref->space,
		.page = ref->address / 4096,
		.leaves = leaves,
		.dirty = dirty,
	};
}

bool history_equal(const struct history *a, const struct history *b)
{
	if (a->count != b->count || a->resident != b->resident)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct move *x = &a->move[i];
		const struct move *y = &b->move[i];

		if (x->time != y->time || x->space != y->space || x->page != y->page ||
		    x->leaves != y->leaves || x->dirty != y->dirty)
			return false;
	}
	return true;
}

bool behaves_equally(policy *policy, uint64_t size, const struct stream *a,
		     const struct stream *b)
{
	struct history of_a = {0};
	struct history of_b = {0};
	bool equal;

	policy(a, size, &of_a);
	policy(b, size, &of_b);
	equal = history_equal(&of_a, &of_b);
	history_free(&of_a);
	history_free(&of_b);
	return equal;
}

uint64_t stream_pages(const struct stream *in)
{
	uint64_t count = 0;

	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event && before(in, NULL, i, i) == SIZE_MAX)
			count++;
	return count;
}

uint64_t stream_span(const struct stream *in)
{
	uint64_t first = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < in->count; i++) {
		if (in->item[i].is_event)
			continue;
		last = in->item[i].ref.ref;
		if (first == 0)
			first = last;
	}
	return last - first;
}

/* A page in memory. */
struct frame {
	struct lpl_ref ref;	/* the last one to it */
	size_t used;		/* which one that is */
	size_t next;		/* the next one; SIZE_MAX: none */
	bool dirty;
};

/* By record, the next one that refers to the same page. */
static size_t *next_uses(const struct stream *in)
{
	size_t *next = must(calloc(in->count + 1, sizeof(*next)));

	for (size_t i = 0; i < in->count; i++)
		next[i] = SIZE_MAX;
	for (size_t i = 0; i < in->count; i++) {
		size_t last = in->item[i].is_event ? SIZE_MAX : before(in, NULL, i, i);

		if (last != SIZE_MAX)
			next[last] = i;
	}
	return next;
}

static size_t find(const struct frame *frame, size_t count, const struct lpl_ref *ref)
{
	size_t i = 0;

	while (i < count && !same(&frame[i].ref, ref))
		i++;
	return i;
}

static size_t least_recent(const struct frame *frame, size_t count)
{
	size_t victim = 0;

	for (size_t i = 1; i < count; i++)
		if (frame[i].used < frame[victim].used)
			victim = i;
	return victim;
}

/* Used furthest in the future; of those never used again the least recently used. */
static size_t least_soon(const struct frame *frame, size_t count)
{
	size_t victim = 0;

	for (size_t i = 1; i < count; i++)
		if (frame[i].next > frame[victim].next ||
		    (frame[i].next == SIZE_MAX && frame[victim].next == SIZE_MAX &&
		     frame[i].used < frame[victim].used))
			victim = i;
	return victim;
}

static void demand(const struct stream *in, uint64_t size,
		   size_t (*choose)(const struct frame *, size_t), struct history *history)
{
	size_t *next = next_uses(in);
	struct frame *frame = must(calloc(in->count + 1, sizeof(*frame)));
	size_t count = 0;

	for (size_t now = 0; now < in->count; now++) {
		const struct lpl_ref *ref = &in->item[now].ref;
		size_t i;

		if (in->item[now].is_event)
			continue;
		i = find(frame, count, ref);
		if (i == count) {
			if (count == size) {
				i = choose(frame, count);
				add_move(history, 0, &frame[i].ref, true, frame[i].dirty);
			} else {
				count++;
			}
			add_move(history, 0, ref, false, false);
			frame[i].dirty = false;
		}
		frame[i].ref = *ref;
		frame[i].used = now;
		frame[i].next = next[now];
		frame[i].dirty |= is_write(ref);
	}
	free(frame);
	free(next);
}

void history_lru(const struct stream *in, uint64_t size, struct history *history)
{
	demand(in, size, least_recent, history);
}

void history_opt(const struct stream *in, uint64_t size, struct history *history)
{
	demand(in, size, least_soon, history);
}

/* Does the page leave at this moment?  `next` is the time of its next reference. */
typedef bool leaves(const struct frame *frame, uint64_t time, uint64_t next, uint64_t tau);

/* Kept while it was referenced within the last tau references. */
static bool leaves_ws(const struct frame *frame, uint64_t time, uint64_t next, uint64_t tau)
{
	(void)next;
	return time - frame->ref.ref > tau;
}

/* Kept after a reference if it is referenced again within the next tau. */
static bool leaves_vmin(const struct frame *frame, uint64_t time, uint64_t next, uint64_t tau)
{
	return time > frame->ref.ref && (next == UINT64_MAX || next - frame->ref.ref > tau);
}

/*
 * Every moment of reference time, one after the other: pages leave; a page is
 * referenced, if one is; and what is in memory is counted.
 */
static void timed(const struct stream *in, uint64_t tau, leaves *leaves, struct history *history)
{
	size_t *next = next_uses(in);
	struct frame *frame = must(calloc(in->count + 1, sizeof(*frame)));
	size_t count = 0;
	uint64_t time = 0;

	for (size_t now = 0; now < in->count; now++) {
		const struct lpl_ref *ref = &in->item[now].ref;
		size_t i;

		if (in->item[now].is_event)
			continue;
		for (time = time == 0 ? ref->ref : time + 1;; time++) {
			for (i = 0; i < count; i++) {
				uint64_t then = frame[i].next == SIZE_MAX ? UINT64_MAX :
					in->item[frame[i].next].ref.ref;

				if (!leaves(&frame[i], time, then, tau))
					continue;
				add_move(history, time, &frame[i].ref, true, frame[i].dirty);
				memmove(&frame[i], &frame[i + 1], (--count - i) * sizeof(*frame));
				i--;
			}
			if (time == ref->ref)
				break;
			history->resident += count;
		}
		i = find(frame, count, ref);
		if (i == count) {
			add_move(history, time, ref, false, false);
			frame[count++].dirty = false;
		}
		frame[i].ref = *ref;
		frame[i].next = next[now];
		frame[i].dirty |= is_write(ref);
		history->resident += count;
	}
	free(frame);
	free(next);
}

void history_ws(const struct stream *in, uint64_t size, struct history *history)
{
	timed(in, size, leaves_ws, history);
}

void history_vmin(const struct stream *in, uint64_t size, struct history *history)
{
	timed(in, size, leaves_vmin, history);
}
