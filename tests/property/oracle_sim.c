/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles for replacement policies. */
#include "oracle_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

/* A page in memory, or one that is remembered. */
struct entry {
	uint32_t page;
	bool dirty;
	bool primary, secondary;	/* CLOCK's bits */
	uint64_t count;			/* FBR's */
	bool here;			/* in memory, where those that left are remembered, too */
};

/* A row of pages, from the front. */
struct row {
	struct entry *entry;
	size_t count;
};

static size_t place_of(const struct row *row, uint32_t page)
{
	size_t i = 0;

	while (i < row->count && row->entry[i].page != page)
		i++;
	return i;	/* count: it is not there */
}

static struct entry take(struct row *row, size_t i)
{
	struct entry taken = row->entry[i];

	row->count--;
	memmove(&row->entry[i], &row->entry[i + 1], (row->count - i) * sizeof(taken));
	return taken;
}

static void put(struct row *row, size_t i, struct entry entry)
{
	memmove(&row->entry[i + 1], &row->entry[i], (row->count - i) * sizeof(entry));
	row->entry[i] = entry;
	row->count++;
}

static void evicted(struct counts *counts, const struct entry *entry)
{
	counts->evictions++;
	counts->dirty_evictions += entry->dirty ? 1 : 0;
}

/* ---- CLOCK ---- */

struct counts oracle_clock(const struct trace *trace, uint64_t size)
{
	struct counts counts = {.references = trace->count};
	struct row face = {.entry = room(trace->pages, sizeof(struct entry))};
	size_t hand = 0;

	for (size_t now = 0; now < trace->count; now++) {
		struct entry new = {trace->page[now], trace->write[now], true, false, 0, true};
		size_t i = place_of(&face, new.page);

		if (i < face.count) {
			face.entry[i].primary = true;
			face.entry[i].dirty |= new.dirty;
			continue;
		}
		counts.faults++;
		if (face.count < size) {
			put(&face, face.count, new);
			continue;
		}
		while (face.entry[hand].primary || face.entry[hand].secondary) {
			face.entry[hand].secondary = face.entry[hand].primary;
			face.entry[hand].primary = false;
			hand = hand + 1 < face.count ? hand + 1 : 0;
		}
		evicted(&counts, &face.entry[hand]);
		face.entry[hand] = new;
		hand = hand + 1 < face.count ? hand + 1 : 0;
	}
	free(face.entry);
	return counts;
}

/* ---- SEGQ ---- */

struct counts oracle_segq(const struct trace *trace, uint64_t size, uint64_t fifo_size)
{
	struct counts counts = {.references = trace->count};
	struct row fifo = {.entry = room(trace->pages, sizeof(struct entry))};
	struct row lru = {.entry = room(trace->pages, sizeof(struct entry))};

	if (fifo_size == 0)
		fifo_size = size / 2 + size % 2;
	for (size_t now = 0; now < trace->count; now++) {
		struct entry new = {.page = trace->page[now], .dirty = trace->write[now]};
		size_t i = place_of(&fifo, new.page);

		if (i < fifo.count) {
			fifo.entry[i].dirty |= new.dirty;
			continue;
		}
		i = place_of(&lru, new.page);
		if (i < lru.count) {
			new.dirty |= lru.entry[i].dirty;
			(void)take(&lru, i);
		} else {
			counts.faults++;
		}
		put(&fifo, 0, new);
		if (fifo.count > fifo_size)
			put(&lru, 0, take(&fifo, fifo.count - 1));
		if (lru.count > size - fifo_size) {
			struct entry last = take(&lru, lru.count - 1);

			evicted(&counts, &last);
		}
	}
	free(fifo.entry);
	free(lru.entry);
	return counts;
}

/* ---- FBR ---- */

static uint64_t at_least_1(uint64_t size, uint64_t percent)
{
	/* sizes in tests are small, or 2^64 - 1 */
	uint64_t pages = size < UINT64_MAX / 200 ? size * percent / 100 : size / 100 * percent;

	return pages != 0 ? pages : 1;
}

/* In the old section, the places from `from` on: the least count, the last of these. */
static size_t fbr_victim(const struct row *stack, uint64_t from, uint64_t cmax)
{
	size_t victim = stack->count - 1;
	uint64_t least = cmax + 1;

	for (size_t i = from; i < stack->count; i++)
		if (stack->entry[i].count <= cmax && stack->entry[i].count <= least) {
			least = stack->entry[i].count;
			victim = i;
		}
	return victim;
}

static void fbr_age(struct row *stack, uint64_t amax)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < stack->count; i++)
		sum += stack->entry[i].count;
	for (size_t i = 0; i < stack->count && sum > amax * stack->count; i++)
		stack->entry[i].count = stack->entry[i].count / 2 + stack->entry[i].count % 2;
}

struct counts oracle_fbr(const struct trace *trace, uint64_t size,
			 const struct fbr_options *options)
{
	struct counts counts = {.references = trace->count};
	struct row stack = {.entry = room(trace->pages, sizeof(struct entry))};
	uint64_t young = at_least_1(size, options->new_percent);
	uint64_t old = size > 1 ? at_least_1(size, options->old_percent) : 0;

	for (size_t now = 0; now < trace->count; now++) {
		struct entry new = {.page = trace->page[now], .dirty = trace->write[now],
				    .count = 1};
		size_t i = place_of(&stack, new.page);

		if (i < stack.count) {
			struct entry hit = take(&stack, i);

			hit.dirty |= new.dirty;
			hit.count += i >= young ? 1 : 0;
			put(&stack, 0, hit);
			if (i >= young)
				fbr_age(&stack, options->amax);
			continue;
		}
		counts.faults++;
		if (stack.count == size) {
			struct entry victim = take(&stack, fbr_victim(&stack, size - old,
								      options->cmax));

			evicted(&counts, &victim);
		}
		put(&stack, 0, new);
	}
	free(stack.entry);
	return counts;
}

/* ---- GLRU and EELRU ---- */

/* The axis: every page there was, the most recently used first.  Places count from 1. */
static bool is_here(const struct row *axis, uint64_t place)
{
	return place <= axis->count && axis->entry[place - 1].here;
}

static uint64_t pages_here(const struct row *axis)
{
	uint64_t count = 0;

	for (size_t i = 0; i < axis->count; i++)
		count += axis->entry[i].here ? 1 : 0;
	return count;
}

static uint64_t last_here(const struct row *axis)
{
	uint64_t place = axis->count;

	while (!is_here(axis, place))
		place--;
	return place;
}

static void leave(struct row *axis, uint64_t place, struct counts *counts)
{
	evicted(counts, &axis->entry[place - 1]);
	axis->entry[place - 1].here = false;
	axis->entry[place - 1].dirty = false;
}

/* The page at `place`, which may be axis->count + 1, comes to the front. */
static void come(struct row *axis, uint64_t place, uint32_t page, bool write)
{
	struct entry entry = {.page = page};

	if (place <= axis->count)
		entry = take(axis, place - 1);
	entry.dirty |= write;
	entry.here = true;
	put(axis, 0, entry);
}

struct counts oracle_glru(const struct trace *trace, uint64_t size, uint64_t early,
			  uint64_t late)
{
	struct counts counts = {.references = trace->count};
	struct row axis = {.entry = room(trace->pages, sizeof(struct entry))};
	uint64_t e = at_least_1(size, early);
	uint64_t l = size < UINT64_MAX / 100000 ? size * late / 100 : size;

	for (size_t now = 0; now < trace->count; now++) {
		uint64_t place = place_of(&axis, trace->page[now]) + 1;

		if (!is_here(&axis, place)) {
			counts.faults++;
			if (pages_here(&axis) == size) {
				bool late_one = is_here(&axis, l) && place > l;

				leave(&axis, late_one ? l : e, &counts);
			}
		}
		come(&axis, place, trace->page[now], trace->write[now]);
	}
	free(axis.entry);
	return counts;
}

/*
 * Integers that do not end at 64 bits, the lowest digit first, and the schoolbook's arithmetic: the
 * library has its own, and what is to be compared is the definition.
 */
enum { DIGITS = 5 };	/* of 32 bits: the largest, a counter times f, has fewer than 160 */

struct integer {
	uint32_t digit[DIGITS];
};

static struct integer integer_of(uint64_t value)
{
	return (struct integer){{(uint32_t)value, (uint32_t)(value >> 32)}};
}

static struct integer times(const struct integer *a, const struct integer *b)
{
	struct integer result = {{0}};

	for (size_t i = 0; i < DIGITS; i++) {
		uint64_t carry = 0;

		for (size_t j = 0; i + j < DIGITS; j++) {
			carry += (uint64_t)a->digit[i] * b->digit[j] + result.digit[i + j];
			result.digit[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	return result;
}

static struct integer divided(const struct integer *a, uint64_t by)
{
	struct integer result = *a;
	uint64_t rest = 0;

	/* what it is divided by is small in tests */
	for (size_t i = DIGITS; i-- > 0;) {
		uint64_t here = rest << 32 | a->digit[i];

		result.digit[i] = (uint32_t)(here / by);
		rest = here % by;
	}
	return result;
}

/* a / 2^64, rounded down */
static struct integer without_64_bits(const struct integer *a)
{
	struct integer result = {{0}};

	memcpy(result.digit, a->digit + 2, (DIGITS - 2) * sizeof(a->digit[0]));
	return result;
}

static struct integer sum(const struct integer *a, const struct integer *b)
{
	struct integer result;
	uint64_t carry = 0;

	for (size_t i = 0; i < DIGITS; i++) {
		carry += (uint64_t)a->digit[i] + b->digit[i];
		result.digit[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return result;
}

static int order(const struct integer *a, const struct integer *b)
{
	for (size_t i = DIGITS; i-- > 0;)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] > b->digit[i] ? 1 : -1;
	return 0;
}

static struct integer fraction_times(const struct integer *a, const struct integer *b)
{
	struct integer product = times(a, b);

	return without_64_bits(&product);
}

static struct integer fraction_power(const struct integer *f, uint64_t n)
{
	struct integer q;

	if (n == 1)
		return *f;
	q = fraction_power(f, n / 2);
	q = fraction_times(&q, &q);
	return n % 2 != 0 ? fraction_times(&q, f) : q;
}

/* From one reference to the next; 2^64 when nothing fades. */
static struct integer fading_of(uint64_t size, uint64_t weight)
{
	struct integer whole = {{0, 0, 1}};
	struct integer weighs = integer_of(weight);
	struct integer most = times(&whole, &weighs);
	uint64_t low = 0, high = UINT64_MAX;	/* f is from low to high */

	most = divided(&most, 100);
	while (weight < 100 && low < high) {
		uint64_t middle = low + (high - low) / 2 + 1;
		struct integer f = integer_of(middle);
		struct integer power = fraction_power(&f, size - 1);

		if (order(&power, &most) <= 0)
			low = middle;
		else
			high = middle - 1;
	}
	return weight < 100 ? integer_of(low) : whole;
}

/* What a pair of points has seen: for each relevant reference, was it within memory? */
struct pair {
	uint64_t e, l;
	bool *within;
	size_t seen;
};

/* What is saved, and what is lost, by evicting early. */
static void benefit_of(const struct pair *pair, uint64_t size, const struct integer *fading,
		       struct integer *saved, struct integer *lost)
{
	const struct integer one = integer_of(UINT64_C(1) << 56);
	const struct integer here = integer_of(size - pair->e);
	struct integer total = {{0}};

	*lost = total;
	for (size_t i = 0; i < pair->seen; i++) {
		total = fraction_times(&total, fading);
		*lost = fraction_times(lost, fading);
		total = sum(&total, &one);
		if (pair->within[i])
			*lost = sum(lost, &one);
	}
	total = times(&total, &here);
	*saved = divided(&total, pair->l - pair->e);
}

/* Is saved - lost more than most_saved - most_lost? */
static bool is_more(const struct integer *saved, const struct integer *lost,
		    const struct integer *most_saved, const struct integer *most_lost)
{
	const struct integer one = sum(saved, most_lost);
	const struct integer other = sum(most_saved, lost);

	return order(&one, &other) > 0;
}

/* The place of the page that leaves for the one at `place`. */
static uint64_t eelru_victim(const struct row *axis, const struct pair *pairs, size_t count,
			     uint64_t place, uint64_t size, const struct integer *fading)
{
	struct integer most_saved = {{0}}, most_lost = {{0}};
	const struct pair *best = NULL;

	for (size_t i = 0; i < count; i++) {
		struct integer saved, lost;

		benefit_of(&pairs[i], size, fading, &saved, &lost);
		if (is_more(&saved, &lost, &most_saved, &most_lost)) {
			most_saved = saved;
			most_lost = lost;
			best = &pairs[i];
		}
	}
	if (best == NULL || last_here(axis) > best->l || (is_here(axis, best->l) && place > best->l))
		return last_here(axis);
	for (uint64_t victim = best->e;; victim++)
		if (is_here(axis, victim))
			return victim;
}

static size_t eelru_pairs(struct pair *pairs, const struct trace *trace, uint64_t size,
			  const struct eelru_options *options)
{
	/* (M - e) / (l - e) is the inverse of half of these */
	static const uint64_t inverse[] = {3, 4, 6, 8};
	size_t count = 0;

	/* one page has no points; what is larger than the trace never evicts */
	if (size == 1 || size > trace->pages)
		return 0;
	for (uint64_t i = 0; i < options->points; i++) {
		uint64_t percent = options->early + i * (100 - options->early) / options->points;
		uint64_t e = at_least_1(size, percent);

		for (size_t j = 0; j < 4; j++) {
			uint64_t l = e + ((size - e) * inverse[j] + 1) / 2;

			pairs[count++] = (struct pair){e, l, room(trace->count, sizeof(bool)), 0};
		}
	}
	return count;
}

struct counts oracle_eelru(const struct trace *trace, uint64_t size,
			   const struct eelru_options *options)
{
	struct counts counts = {.references = trace->count};
	struct row axis = {.entry = room(trace->pages, sizeof(struct entry))};
	struct pair pairs[64];
	size_t pair_count = eelru_pairs(pairs, trace, size, options);
	/* with it, the size-th most recent is worth `weight` percent */
	struct integer fading = {{0}};

	if (pair_count != 0)
		fading = fading_of(size, options->weight);
	for (size_t now = 0; now < trace->count; now++) {
		uint64_t place = place_of(&axis, trace->page[now]) + 1;
		bool known = place <= axis.count;

		for (size_t i = 0; i < pair_count && known; i++)
			if (place > pairs[i].e && place <= pairs[i].l)
				pairs[i].within[pairs[i].seen++] = place <= size;
		if (!is_here(&axis, place)) {
			counts.faults++;
			/* never referenced is less recent than everything */
			if (pages_here(&axis) == size)
				leave(&axis, eelru_victim(&axis, pairs, pair_count,
							  known ? place : UINT64_MAX, size, &fading),
				      &counts);
		}
		come(&axis, place, trace->page[now], trace->write[now]);
	}
	for (size_t i = 0; i < pair_count; i++)
		free(pairs[i].within);
	free(axis.entry);
	return counts;
}

/* ---- WS and VMIN ---- */

uint64_t *times_of(const struct stream *in)
{
	uint64_t *time = room(in->count, sizeof(*time));
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event)
			time[count++] = in->item[i].ref.ref;
	return time;
}

/* When a page is referenced next after reference i; false: never. */
static bool next_time(const struct trace *trace, const uint64_t *time, size_t i, uint64_t *next)
{
	for (size_t j = i + 1; j < trace->count; j++)
		if (trace->page[j] == trace->page[i]) {
			*next = time[j];
			return true;
		}
	return false;
}

/*
 * Time by time: first the references made then, then those in memory are counted, then
 * some leave.  A page leaves WS(tau) at the time last + tau, unless it was referenced then;
 * it leaves VMIN(tau) right after a reference with none to follow within tau.
 */
static struct timed simulate(const struct trace *trace, const uint64_t *time, uint64_t tau,
			     bool forward)
{
	struct timed timed = {.counts.references = trace->count};
	struct entry *page = room(trace->pages, sizeof(*page));
	uint64_t *last = room(trace->pages, sizeof(*last));
	bool *goes = room(trace->pages, sizeof(*goes));
	size_t done = 0;
	uint64_t times = 0;

	for (uint64_t now = time[0]; done < trace->count; now++) {
		for (; done < trace->count && time[done] == now; done++) {
			uint32_t i = trace->page[done];
			uint64_t next = 0;

			if (!page[i].here) {
				timed.counts.faults++;
				page[i].here = true;
				page[i].dirty = false;
			}
			page[i].dirty |= trace->write[done];
			last[i] = now;
			goes[i] = !next_time(trace, time, done, &next) || next - now > tau;
		}
		times++;
		for (uint32_t i = 0; i < trace->pages; i++) {
			bool leaves = forward ? goes[i] : now - last[i] >= tau;

			if (!page[i].here)
				continue;
			/* WS has a page that leaves no more at this time */
			if (forward || !leaves)
				timed.space_time++;
			if (leaves) {
				evicted(&timed.counts, &page[i]);
				page[i].here = false;
			}
		}
	}
	if (times != 0)
		timed.mean_resident = (double)timed.space_time / (double)times;
	free(page);
	free(last);
	free(goes);
	return timed;
}

struct timed oracle_ws(const struct trace *trace, const uint64_t *time, uint64_t tau)
{
	return simulate(trace, time, tau, false);
}

struct timed oracle_vmin(const struct trace *trace, const uint64_t *time, uint64_t tau)
{
	return simulate(trace, time, tau, true);
}
