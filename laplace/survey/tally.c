/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink that counts; see tally.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

static size_t slot_of(const uint64_t *table, size_t room, uint64_t key)
{
	size_t slot = (size_t)(key * 0x9e3779b97f4a7c15U >> 32) & (room - 1);

	while (table[slot] && table[slot] != key)
		slot = (slot + 1) & (room - 1);
	return slot;
}

static int grow_spaces(struct tally *tally, struct lpl_report *report)
{
	size_t room = tally->space_room ? 2 * tally->space_room : 64;
	uint64_t *table = calloc(room, sizeof(*table));

	if (!table)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu address spaces",
				tally->spaces);
	for (size_t i = 0; i < tally->space_room; i++) {
		if (tally->space[i])
			table[slot_of(table, room, tally->space[i])] = tally->space[i];
	}
	free(tally->space);
	tally->space = table;
	tally->space_room = room;
	return LPL_OK;
}

static int note_space(struct tally *tally, uint64_t space, struct lpl_report *report)
{
	size_t slot;

	if (2 * tally->spaces >= tally->space_room && grow_spaces(tally, report))
		return report->error;
	slot = slot_of(tally->space, tally->space_room, space + 1);
	if (!tally->space[slot]) {
		tally->space[slot] = space + 1;
		tally->spaces++;
	}
	return LPL_OK;
}

static int count_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct tally *tally = (struct tally *)sink;

	if (!tally->all_refs)
		tally->first = refs[0];
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];

		if (ref->type < LPL_TYPES)
			tally->refs[ref->type]++;
		tally->user_refs += ref->flags & LPL_USER;
		/* spaces change seldom */
		if (!tally->spaces || ref->space != tally->last.space) {
			if (note_space(tally, ref->space, report))
				return report->error;
			tally->last.space = ref->space;
		}
	}
	tally->all_refs += count;
	tally->last = refs[count - 1];
	return LPL_OK;
}

static int count_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct tally *tally = (struct tally *)sink;

	(void)report;
	tally->events++;
	if (event->tag < TALLY_TAGS && lpl_event_name(event->tag))
		tally->tag[event->tag]++;
	else if (event->tag == LPL_EVENT_TRACING)
		tally->tracing++;
	else if (event->tag == LPL_EVENT_MARK)
		tally->mark++;
	else if (event->tag == LPL_EVENT_EVICTED)
		tally->evicted++;
	else if (event->tag == LPL_EVENT_PAGE)
		tally->page++;
	else if (event->tag == LPL_EVENT_GAP)
		tally->gap++;
	else
		tally->other_tag++;
	return LPL_OK;
}

static int count_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

void tally_each_event(const struct tally *tally,
		      void (*each)(void *context, const char *name, uint64_t count),
		      void *context)
{
	const struct {
		const char *name;
		uint64_t count;
	} own[] = {
		{ lpl_event_name(LPL_EVENT_TRACING), tally->tracing },
		{ lpl_event_name(LPL_EVENT_MARK), tally->mark },
		{ lpl_event_name(LPL_EVENT_EVICTED), tally->evicted },
		{ lpl_event_name(LPL_EVENT_PAGE), tally->page },
		{ lpl_event_name(LPL_EVENT_GAP), tally->gap },
		{ "unknown", tally->other_tag },
	};

	for (uint32_t tag = 0; tag < TALLY_TAGS; tag++) {
		if (tally->tag[tag])
			each(context, lpl_event_name(tag), tally->tag[tag]);
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (own[i].count)
			each(context, own[i].name ? own[i].name : "unknown", own[i].count);
	}
}

void tally_init(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->sink = (struct lpl_sink){ count_refs, count_event, count_finish };
}

void tally_free(struct tally *tally)
{
	free(tally->space);
	tally->space = NULL;
}
