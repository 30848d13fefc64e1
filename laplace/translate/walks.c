/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map of page tables, as the events of a stream report them; see walk.h.
 *
 * The rule (docs/format.md, section 14): a frame is the table that the latest report says; an entry maps a
 * large page if the latest report of it says so, and not if there is none.
 */
#include <laplace/walk.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/translation.h>

#include "base/map.h"
#include "walks.h"

enum { FRAME, ENTRY };	/* what a key is of */

struct lpl_walks {
	struct lpl_map known;	/* FRAME, frame -> table; ENTRY, physical address -> 1: of a large page */
	enum lpl_purpose purpose;	/* of the last read */
};

const char *lpl_purpose_name(enum lpl_purpose purpose)
{
	static const char *const name[LPL_PURPOSES] = {
		[LPL_PURPOSE_UNKNOWN] = "unknown", [LPL_PURPOSE_READ] = "read",
		[LPL_PURPOSE_WRITE] = "write", [LPL_PURPOSE_FETCH] = "fetch"
	};

	return name[purpose];
}

/* ---- its life ---- */

enum lpl_error lpl_walks_open(struct lpl_walks **walks, struct lpl_report *report)
{
	*walks = calloc(1, sizeof(**walks));
	if (*walks == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for page tables");
	lpl_map_init(&(*walks)->known, 2);
	return LPL_OK;
}

static void forget(struct lpl_walks *walks)
{
	lpl_map_free(&walks->known);
	lpl_map_init(&walks->known, 2);
	walks->purpose = LPL_PURPOSE_UNKNOWN;
}

void lpl_walks_close(struct lpl_walks *walks)
{
	if (walks == NULL)
		return;
	forget(walks);
	free(walks);
}

/* ---- events ---- */

static enum lpl_error know(struct lpl_walks *walks, struct lpl_key key, uint64_t value, uint64_t after,
			   struct lpl_report *report)
{
	uint64_t *known = lpl_map_find(&walks->known, key);

	if (known == NULL && walks->known.count == LPL_TABLES_MAX)
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": more than %u page tables, "
				"and none is forgotten", after, LPL_TABLES_MAX);
	if (known != NULL)
		*known = value;
	else if (!lpl_map_put(&walks->known, key, value))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a page table");
	return LPL_OK;
}

static enum lpl_error take_table(struct lpl_walks *walks, const struct lpl_event *event,
				 struct lpl_report *report)
{
	const uint64_t frame = event->arg[LPL_EVENT_PAGE_TABLE_FRAME];
	const uint64_t table = event->arg[LPL_EVENT_PAGE_TABLE_TABLE];

	if (frame == KTR_NONE) {
		forget(walks);
		return LPL_OK;
	}
	if (frame >= LPL_FRAMES || table == 0 || table > LPL_TABLE_MAX)
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": the frame %" PRIx64
				" as page table %" PRIu64 ", which there cannot be", event->ref, frame, table);
	return know(walks, LPL_KEY(FRAME, frame), table, event->ref, report);
}

static enum lpl_error take_entry(struct lpl_walks *walks, const struct lpl_event *event,
				 struct lpl_report *report)
{
	const uint64_t address = event->arg[LPL_EVENT_LARGE_ENTRY_ADDRESS];
	const struct lpl_key key = LPL_KEY(ENTRY, address);

	if (address >> LPL_PAGE_SHIFT >= LPL_FRAMES)
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": an entry of a page table at %"
				PRIx64 ", which there cannot be", event->ref, address);
	if (event->arg[LPL_EVENT_LARGE_ENTRY_LARGE])
		return know(walks, key, 1, event->ref, report);
	(void)lpl_map_remove(&walks->known, key);
	return LPL_OK;
}

enum lpl_error lpl_walks_follow(struct lpl_walks *walks, const struct lpl_event *event,
				struct lpl_report *report)
{
	switch (event->tag) {
	case LPL_EVENT_PAGE_TABLE:
		return take_table(walks, event, report);
	case LPL_EVENT_LARGE_ENTRY:
		return take_entry(walks, event, report);
	case LPL_EVENT_GAP:
		if (event->arg[LPL_EVENT_GAP_EVENTS] != 0)
			forget(walks);
		return LPL_OK;
	default:
		return LPL_OK;
	}
}

/* ---- references ---- */

static unsigned int table_of(const struct lpl_walks *walks, uint64_t address)
{
	return (unsigned int)lpl_map_get(&walks->known, LPL_KEY(FRAME, address >> LPL_PAGE_SHIFT));
}

static bool is_large(const struct lpl_walks *walks, uint64_t address)
{
	return lpl_map_find(&walks->known, LPL_KEY(ENTRY, address)) != NULL;
}

bool lpl_walk_of(struct lpl_walks *walks, const struct lpl_ref *ref, struct lpl_walk *walk)
{
	static const enum lpl_purpose purpose_of[] = {
		[0] = LPL_PURPOSE_UNKNOWN, [LPL_FOR_READ >> 4] = LPL_PURPOSE_READ,
		[LPL_FOR_WRITE >> 4] = LPL_PURPOSE_WRITE, [LPL_FOR_FETCH >> 4] = LPL_PURPOSE_FETCH
	};
	const bool write = ref->type == LPL_WALK_WRITE, paged = ref->flags & LPL_PAGED;

	if (!write && ref->type != LPL_WALK_READ)
		return false;
	if (!write)
		walks->purpose = purpose_of[(ref->flags & LPL_WALK_FLAGS) >> 4];
	*walk = (struct lpl_walk){
		.table = table_of(walks, ref->address), .large = !paged && is_large(walks, ref->address),
		.purpose = walks->purpose,
		.accessed = write && ref->flags & LPL_ACCESSED, .dirty = write && ref->flags & LPL_DIRTY
	};
	return true;
}

/* ---- for whoever makes a trace ---- */

bool lpl_walks_full(const struct lpl_walks *walks)
{
	return walks->known.count + LPL_WALK_NEWS_MAX > LPL_TABLES_MAX;
}

void lpl_walks_forget(struct lpl_walks *walks, struct kernel_trace_record *record)
{
	memset(record, 0, sizeof(*record));
	record->tag = LPL_EVENT_PAGE_TABLE;
	record->arg[LPL_EVENT_PAGE_TABLE_FRAME] = KTR_NONE;
	forget(walks);
}

static enum lpl_error follow(struct lpl_walks *walks, const struct kernel_trace_record *record,
			     struct lpl_report *report)
{
	struct lpl_event event = { .tag = record->tag };

	memcpy(event.arg, record->arg, sizeof(event.arg));
	return lpl_walks_follow(walks, &event, report);
}

enum lpl_error lpl_walks_note(struct lpl_walks *walks, uint64_t address, unsigned int table, bool large,
			      struct kernel_trace_record record[LPL_WALK_NEWS_MAX], unsigned int *news,
			      struct lpl_report *report)
{
	struct kernel_trace_record *next = record;
	enum lpl_error error = LPL_OK;

	memset(record, 0, LPL_WALK_NEWS_MAX * sizeof(*record));
	if (table_of(walks, address) != table) {
		next->tag = LPL_EVENT_PAGE_TABLE;
		next->arg[LPL_EVENT_PAGE_TABLE_FRAME] = address >> LPL_PAGE_SHIFT;
		next++->arg[LPL_EVENT_PAGE_TABLE_TABLE] = table;
	}
	if (is_large(walks, address) != large) {
		next->tag = LPL_EVENT_LARGE_ENTRY;
		next->arg[LPL_EVENT_LARGE_ENTRY_ADDRESS] = address;
		next++->arg[LPL_EVENT_LARGE_ENTRY_LARGE] = large;
	}
	*news = (unsigned int)(next - record);
	for (unsigned int i = 0; error == LPL_OK && i < *news; i++)
		error = follow(walks, &record[i], report);
	return error;
}

/* ---- for a reader that begins in the middle ---- */

struct known {
	uint64_t word[3];	/* the key, and the value */
};

static int by_key(const void *a, const void *b)
{
	const uint64_t *one = ((const struct known *)a)->word, *other = ((const struct known *)b)->word;
	const unsigned int at = one[0] == other[0];

	return (one[at] > other[at]) - (one[at] < other[at]);
}

static enum lpl_error send_known(const struct known *known, struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_event event = { .tag = LPL_EVENT_PAGE_TABLE };

	if (known->word[0] == FRAME) {
		event.arg[LPL_EVENT_PAGE_TABLE_FRAME] = known->word[1];
		event.arg[LPL_EVENT_PAGE_TABLE_TABLE] = known->word[2];
	} else {
		event.tag = LPL_EVENT_LARGE_ENTRY;
		event.arg[LPL_EVENT_LARGE_ENTRY_ADDRESS] = known->word[1];
		event.arg[LPL_EVENT_LARGE_ENTRY_LARGE] = known->word[2];
	}
	return sink->event(sink, &event, report);
}

/* The map has no order that repeats, so they are sorted. */
enum lpl_error lpl_walks_send(const struct lpl_walks *walks, struct lpl_sink *sink, struct lpl_report *report)
{
	struct known *all = malloc((walks->known.count + 1) * sizeof(*all));
	size_t count = 0;
	enum lpl_error error = LPL_OK;

	if (all == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to send page tables");
	for (size_t i = 0; i < walks->known.room; i++) {
		const uint64_t *place = &walks->known.place[i * 3];

		if (place[2] != 0)
			memcpy(all[count++].word, place, sizeof(all->word));
	}
	qsort(all, count, sizeof(*all), by_key);
	for (size_t i = 0; error == LPL_OK && i < count; i++)
		error = send_known(&all[i], sink, report);
	free(all);
	return error;
}
