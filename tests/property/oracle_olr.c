/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles for OLR, by brute force. */
#include "oracle_olr.h"

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

/* ---- the behaviour ---- */

/* Where a page is among the first `count`, or `count`. */
static size_t find(const uint32_t *page, size_t count, uint32_t wanted)
{
	size_t i = 0;

	while (i < count && page[i] != wanted)
		i++;
	return i;
}

/* The page at `place` moves to the end. */
static void move_last(uint32_t *page, size_t count, size_t place)
{
	uint32_t moved = page[place];

	for (size_t i = place; i + 1 < count; i++)
		page[i] = page[i + 1];
	page[count - 1] = moved;
}

void oracle_behaviour(const struct trace *trace, uint64_t pages, struct behaviour *behaviour)
{
	/* the pages in memory, least recently used first */
	uint32_t *memory = must(calloc((size_t)trace->pages + 1, sizeof(*memory)));
	bool *dirty = must(calloc((size_t)trace->pages + 1, sizeof(*dirty)));
	size_t used = 0;

	*behaviour = (struct behaviour){0};
	behaviour->fault = must(calloc(trace->count + 1, sizeof(*behaviour->fault)));
	for (size_t now = 0; now < trace->count; now++) {
		uint32_t page = trace->page[now];
		size_t place = find(memory, used, page);

		if (place == used) {
			struct fault *fault = &behaviour->fault[behaviour->count++];

			*fault = (struct fault){now, page, NO_PAGE, false};
			if (used == pages) {
				place = 0;
				fault->evicted = memory[0];
				fault->dirty = dirty[memory[0]];
			} else {
				used++;
			}
			memory[place] = page;
			dirty[page] = false;
		}
		move_last(memory, used, place);
		dirty[page] |= trace->write[now];
	}
	free(memory);
	free(dirty);
}

void behaviour_free(struct behaviour *behaviour)
{
	free(behaviour->fault);
	*behaviour = (struct behaviour){0};
}

/* ---- LRU events, runs, and the rule ---- */

/* An event <x, y> of an LRU trace as it grows; y is NO_PAGE if nothing is evicted. */
struct entry {
	uint32_t fetched, evicted;
	bool clip;		/* was put in */
	size_t fault;		/* number of the fault, or of the one it was put in at */
};

struct entries {
	struct entry *entry;
	size_t count;
};

/* Ends of runs.  LAST is the number of entries. */
#define NO_RUN SIZE_MAX

/* Definition 1: the end of the run that begins at `begin`, if one does. */
static size_t run_end(const struct entries *list, size_t begin)
{
	uint32_t page = list->entry[begin].fetched;

	for (size_t i = begin + 1; i < list->count; i++) {
		if (list->entry[i].evicted == page)
			return i;
		if (list->entry[i].fetched == page)
			return NO_RUN;
	}
	return list->count;
}

/* For each entry the end of the run that begins there, or NO_RUN. */
static size_t *run_ends(const struct entries *list)
{
	size_t *end = must(calloc(list->count + 1, sizeof(*end)));

	for (size_t i = 0; i < list->count; i++)
		end[i] = run_end(list, i);
	return end;
}

static bool contains(const size_t *end, size_t outer, size_t inner)
{
	return end[outer] != NO_RUN && end[inner] != NO_RUN && outer < inner &&
	       end[inner] < end[outer];
}

/* Definition 2. */
static bool is_tight(const struct entries *list, const size_t *end, size_t begin)
{
	for (size_t i = begin + 1; i < list->count; i++)
		if (contains(end, begin, i))
			return false;
	return end[begin] != NO_RUN;
}

static void insert(struct entries *list, size_t place, uint32_t page, size_t fault)
{
	list->entry = must(realloc(list->entry, (list->count + 1) * sizeof(*list->entry)));
	memmove(&list->entry[place + 1], &list->entry[place],
		(list->count - place) * sizeof(*list->entry));
	list->entry[place] = (struct entry){page, NO_PAGE, true, fault};
	list->count++;
}

/* The late clipping step for the event at *place, which moves. */
static void clip_late(struct entries *list, size_t *place)
{
	size_t *end = run_ends(list);
	size_t at = *place;
	size_t fault = list->entry[at].fault;
	size_t inner = 0;

	if (list->entry[at].evicted != NO_PAGE) {
		while (end[inner] != at)
			inner++;
		for (size_t outer = 0; outer < inner; outer++)
			if (contains(end, outer, inner)) {
				insert(list, *place, list->entry[outer].fetched, fault);
				(*place)++;
			}
	}
	free(end);
}

/* The early clipping step for the event at `place`. */
static void clip_early(struct entries *list, size_t place)
{
	size_t *end = run_ends(list);
	size_t last = list->count;
	size_t fault = list->entry[place].fault;
	size_t next = place + 1;
	size_t to = place + 1;

	if (!is_tight(list, end, place) || end[place] == last) {
		free(end);
		return;
	}
	while (!is_tight(list, end, next))
		next++;
	for (size_t at = end[place] + 1; at <= last; at++) {
		if (at == end[next] && at != last)
			break;
		for (size_t outer = 0; outer < place; outer++)
			if (end[outer] == at && contains(end, outer, place))
				insert(list, to++, list->entry[outer].fetched, fault);
	}
	free(end);
}

static void apply_rule(const struct behaviour *behaviour, struct entries *list)
{
	list->count = behaviour->count;
	list->entry = must(calloc(behaviour->count + 1, sizeof(*list->entry)));
	for (size_t i = 0; i < behaviour->count; i++)
		list->entry[i] = (struct entry){behaviour->fault[i].fetched,
						behaviour->fault[i].evicted, false, i};
	for (size_t i = 0; i < behaviour->count; i++) {
		size_t place = 0;

		while (list->entry[place].clip || list->entry[place].fault != i)
			place++;
		clip_late(list, &place);
		clip_early(list, place);
	}
}

/* ---- records ---- */

static struct lpl_ref paged(struct lpl_ref ref, uint8_t flags)
{
	ref.address -= ref.address % 4096;
	ref.length = 0;
	ref.flags = (uint8_t)(LPL_PAGED | flags | (ref.flags & LPL_USER));
	return ref;
}

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

/* By reference of the stream, where it is. */
static size_t *places(const struct stream *in)
{
	size_t *place = must(calloc(in->count + 1, sizeof(*place)));
	size_t refs = 0;

	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event)
			place[refs++] = i;
	return place;
}

/* The fault that fetched `page` for its stay at fault `now`. */
static size_t fetch_of(const struct behaviour *behaviour, uint32_t page, size_t now)
{
	while (behaviour->fault[now].fetched != page)
		now--;
	return now;
}

/* Is the page fetched by this fault evicted by the end of `view`, dirty? */
static bool goes_dirty(const struct behaviour *behaviour, size_t fetch, size_t view)
{
	for (size_t i = fetch + 1; i <= view && i < behaviour->count; i++)
		if (behaviour->fault[i].evicted == behaviour->fault[fetch].fetched)
			return behaviour->fault[i].dirty;
	return false;
}

void oracle_olr(const struct stream *in, uint32_t pages, struct stream *out)
{
	size_t *place = places(in);
	struct behaviour behaviour;
	struct entries list;
	struct trace trace;
	struct lpl_ref last = {0};	/* the latest fetch */
	size_t next = 0;		/* item of the input */

	trace_of(in, &trace);
	oracle_behaviour(&trace, pages, &behaviour);
	apply_rule(&behaviour, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct entry *entry = &list.entry[i];
		size_t fetch = fetch_of(&behaviour, entry->fetched, entry->fault);
		const struct lpl_ref *ref = &in->item[place[behaviour.fault[fetch].at]].ref;
		struct lpl_ref sent = paged(*ref, entry->clip ? LPL_SYNTHETIC : 0);

		if (entry->clip) {
			sent.ref = last.ref;
			sent.instr = last.instr;
			sent.cycle = last.cycle;
			sent.type = is_walk(ref) ? LPL_WALK_READ : LPL_READ;
		} else {
			last = *ref;
			for (; &in->item[next].ref != ref; next++)
				if (in->item[next].is_event)
					stream_add_event(out, &in->item[next].event);
		}
		/* the K + 1 faults after one are known */
		if (goes_dirty(&behaviour, fetch, entry->fault + pages + 1))
			sent.type = is_walk(ref) ? LPL_WALK_WRITE : LPL_WRITE;
		stream_add_ref(out, &sent);
	}
	for (; next < in->count; next++)
		if (in->item[next].is_event)
			stream_add_event(out, &in->item[next].event);
	free(list.entry);
	behaviour_free(&behaviour);
	trace_free(&trace);
	free(place);
}

static void behaviour_of(const struct stream *in, uint32_t pages, bool hits, struct stream *out)
{
	size_t *place = places(in);
	struct behaviour behaviour;
	struct trace trace;
	size_t fault = 0;

	trace_of(in, &trace);
	oracle_behaviour(&trace, pages, &behaviour);
	for (size_t i = 0; i < in->count; i++) {
		const struct fault *now = &behaviour.fault[fault];
		const struct lpl_ref *ref = &in->item[i].ref;
		struct lpl_event event = {.tag = LPL_EVENT_EVICTED};
		struct lpl_ref sent;
		bool faults;

		if (in->item[i].is_event) {
			stream_add_event(out, &in->item[i].event);
			continue;
		}
		faults = fault < behaviour.count && place[now->at] == i;
		if (!faults && !hits)
			continue;
		sent = paged(*ref, 0);
		stream_add_ref(out, &sent);
		if (!faults)
			continue;
		if (now->evicted != NO_PAGE) {
			size_t fetch = fetch_of(&behaviour, now->evicted, fault);
			const struct lpl_ref *victim =
				&in->item[place[behaviour.fault[fetch].at]].ref;

			event.ref = ref->ref;
			event.instr = ref->instr;
			event.cycle = ref->cycle;
			event.space = ref->space;
			event.arg[LPL_EVENT_EVICTED_SPACE] =
				is_walk(victim) ? UINT64_MAX : victim->space;
			event.arg[LPL_EVENT_EVICTED_ADDRESS] =
				victim->address - victim->address % 4096;
			event.arg[LPL_EVENT_EVICTED_DIRTY] = now->dirty ? 1 : 0;
			stream_add_event(out, &event);
		}
		fault++;
	}
	behaviour_free(&behaviour);
	trace_free(&trace);
	free(place);
}

void oracle_lrubs(const struct stream *in, uint32_t pages, struct stream *out)
{
	behaviour_of(in, pages, false, out);
}

void oracle_annotated(const struct stream *in, uint32_t pages, struct stream *out)
{
	behaviour_of(in, pages, true, out);
}

/* ---- the lower bound ---- */

/*
 * The fewest points that stab every run contained in the one that begins at `outer`;
 * `begin` says of each entry which run ends there.
 */
static size_t fewest_points(const struct entries *list, const size_t *begin, const size_t *end,
			    size_t outer)
{
	size_t points = 0;
	size_t latest = 0;	/* that entry comes right after the latest point */

	/* runs by their ends; the last moment in a run is right before its end */
	for (size_t at = outer + 1; at < list->count; at++) {
		size_t inner = begin[at];

		if (inner != NO_RUN && contains(end, outer, inner) && latest <= inner) {
			points++;
			latest = at;
		}
	}
	return points;
}

size_t oracle_lower_bound(const struct behaviour *behaviour)
{
	struct entries list = {NULL, behaviour->count};
	size_t points = 0;
	size_t *begin;
	size_t *end;

	list.entry = must(calloc(list.count + 1, sizeof(*list.entry)));
	for (size_t i = 0; i < list.count; i++)
		list.entry[i] = (struct entry){behaviour->fault[i].fetched,
					       behaviour->fault[i].evicted, false, i};
	end = run_ends(&list);
	begin = must(calloc(list.count + 1, sizeof(*begin)));
	for (size_t i = 0; i < list.count; i++)
		begin[i] = NO_RUN;
	for (size_t i = 0; i < list.count; i++)
		if (end[i] != list.count)
			begin[end[i]] = i;
	for (size_t i = 0; i < list.count; i++)
		points += fewest_points(&list, begin, end, i);
	free(begin);
	free(end);
	free(list.entry);
	return points;
}

/* ---- the shortest trace ---- */

/* An order of the pages in memory, least recently used first, and the references to it. */
struct order {
	uint32_t page[MOST_TRIED];
	size_t length;
};

struct orders {
	struct order order[120];	/* 5! */
	size_t count;
};

/* One more way to an order; true: it is a shorter one. */
static bool reach(struct orders *orders, const struct order *order, uint32_t pages)
{
	size_t i = 0;

	while (i < orders->count && memcmp(orders->order[i].page, order->page,
					   pages * sizeof(order->page[0])) != 0)
		i++;
	if (i < orders->count && orders->order[i].length <= order->length)
		return false;
	if (i == orders->count)
		orders->count++;
	orders->order[i] = *order;
	return true;
}

/* References to pages in memory, as many as one likes. */
static void reorder(struct orders *orders, size_t used, uint32_t pages)
{
	bool shorter = true;

	while (shorter) {
		shorter = false;
		for (size_t i = 0; i < orders->count; i++)
			for (size_t place = 0; place + 1 < used; place++) {
				struct order order = orders->order[i];

				order.length++;
				move_last(order.page, used, place);
				shorter |= reach(orders, &order, pages);
			}
	}
}

size_t oracle_shortest(const struct behaviour *behaviour, uint32_t pages)
{
	struct orders now = {.count = 1};
	size_t used = 0;
	size_t shortest = SIZE_MAX;

	for (size_t i = 0; i < behaviour->count; i++) {
		const struct fault *fault = &behaviour->fault[i];
		struct orders after = {.count = 0};

		reorder(&now, used, pages);
		used += fault->evicted == NO_PAGE ? 1 : 0;
		for (size_t j = 0; j < now.count; j++) {
			struct order order = now.order[j];

			if (fault->evicted != NO_PAGE && order.page[0] != fault->evicted)
				continue;
			if (fault->evicted != NO_PAGE)
				move_last(order.page, used, 0);
			order.page[used - 1] = fault->fetched;
			order.length++;
			(void)reach(&after, &order, pages);
		}
		now = after;
	}
	for (size_t i = 0; i < now.count; i++)
		if (now.order[i].length < shortest)
			shortest = now.order[i].length;
	return shortest;
}
