/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map of translations, as the events of a stream report them; see translation.h.
 *
 * The rule (docs/format.md, section 13): an address is where the latest report says of all reports in
 * effect for its space, and for all spaces, of pages that contain it, whatever their sizes.  So a
 * report replaces what was known of its page by being later, and no report has to be taken apart or
 * removed: where a large page is split, small ones come to lie over it one by one.
 *
 * A report has a key for each size of page, so an address is looked up once for each size that there is
 * and each of the two spaces.  What was found is remembered by virtual page.
 */
#include <laplace/translation.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "send.h"
#include "sizes.h"

#define EVERYWHERE	KTR_NONE	/* the space of what holds in all of them */

enum { REMEMBERED = 1 << 12 };

struct report {
	uint64_t space;		/* or EVERYWHERE */
	uint64_t address;	/* of the page's first byte ... */
	uint64_t frame;		/* ... and its frame; KTR_NONE: not known */
	uint64_t order;		/* how many reports came before it */
	unsigned int shift;
};

struct remembered {
	uint64_t page, space;	/* of 4096 bytes */
	uint64_t epoch;		/* of the map, when that was found */
	bool known;
	struct lpl_translation found;
};

struct lpl_translations {
	struct lpl_map by_page;	/* space, page, shift -> index + 1 */
	struct report *report;
	size_t count, room;
	uint64_t reports;
	uint64_t epoch;		/* what is remembered of another one is not valid */
	bool has_size[TRANSLATION_SIZES];
	struct remembered remembered[REMEMBERED];
};

/* ---- its life ---- */

enum lpl_error lpl_translations_open(struct lpl_translations **map, struct lpl_report *report)
{
	*map = calloc(1, sizeof(**map));
	if (*map == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for translations");
	lpl_map_init(&(*map)->by_page, 3);
	(*map)->epoch = 1;
	return LPL_OK;
}

static void forget(struct lpl_translations *map)
{
	lpl_map_free(&map->by_page);
	free(map->report);
	map->report = NULL;
	map->count = map->room = 0;
	map->epoch++;
	memset(map->has_size, 0, sizeof(map->has_size));
}

void lpl_translations_close(struct lpl_translations *map)
{
	if (map == NULL)
		return;
	forget(map);
	free(map);
}

size_t lpl_translations_count(const struct lpl_translations *map)
{
	return map->count;
}

/* ---- pages ---- */

static struct remembered *place_of(struct lpl_translations *map, uint64_t page)
{
	return &map->remembered[(page * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (REMEMBERED - 1)];
}

static bool has_room(struct lpl_translations *map)
{
	const size_t room = map->room ? 2 * map->room : 256;
	struct report *grown;

	if (map->count < map->room)
		return true;
	grown = realloc(map->report, room * sizeof(*grown));
	if (grown == NULL)
		return false;
	map->report = grown;
	map->room = room;
	return true;
}

/* What is remembered of the page's addresses is not valid any more. */
static void page_changes(struct lpl_translations *map, uint64_t address, unsigned int shift)
{
	if (shift == LPL_PAGE_SHIFT)
		place_of(map, address >> LPL_PAGE_SHIFT)->epoch = 0;
	else
		map->epoch++;
}

static bool put(struct lpl_translations *map, uint64_t space, uint64_t address, unsigned int size,
		uint64_t frame)
{
	const unsigned int shift = translation_shift[size];
	uint64_t *index;

	if (!has_room(map))
		return false;
	index = lpl_map_reach(&map->by_page, LPL_KEY(space, translation_page(address, shift), shift));
	if (index == NULL)
		return false;
	if (*index == 0)
		*index = ++map->count;
	map->report[*index - 1] = (struct report){
		.space = space, .address = address, .frame = frame, .order = map->reports++, .shift = shift
	};
	map->has_size[size] = true;
	page_changes(map, address, shift);
	return true;
}

/* ---- events ---- */

static bool find_size(uint64_t shift, unsigned int *size)
{
	for (*size = 0; *size < TRANSLATION_SIZES; ++*size)
		if (translation_shift[*size] == shift)
			return true;
	return false;
}

static bool is_possible(const struct lpl_event *event, unsigned int shift)
{
	const uint64_t address = event->arg[LPL_EVENT_TRANSLATION_ADDRESS];
	const uint64_t frame = event->arg[LPL_EVENT_TRANSLATION_FRAME];
	const uint64_t size = shift == LPL_NO_PAGING ? WITHOUT_PAGING : UINT64_C(1) << shift;

	return (event->arg[LPL_EVENT_TRANSLATION_GLOBAL] || event->space != EVERYWHERE) &&
	       (shift == LPL_NO_PAGING ? address == 0 : (address & (size - 1)) == 0) &&
	       (frame == KTR_NONE || frame <= LPL_FRAMES - (size >> LPL_PAGE_SHIFT));
}

static uint64_t space_of(const struct lpl_event *event)
{
	return event->arg[LPL_EVENT_TRANSLATION_GLOBAL] ? EVERYWHERE : event->space;
}

static bool is_known(const struct lpl_translations *map, const struct lpl_event *event, unsigned int shift)
{
	return lpl_map_get(&map->by_page,
			   LPL_KEY(space_of(event),
				   translation_page(event->arg[LPL_EVENT_TRANSLATION_ADDRESS], shift), shift)) != 0;
}

static enum lpl_error take(struct lpl_translations *map, const struct lpl_event *event,
			   struct lpl_report *report)
{
	const bool global = event->arg[LPL_EVENT_TRANSLATION_GLOBAL] != 0;
	const uint64_t frame = event->arg[LPL_EVENT_TRANSLATION_FRAME];
	unsigned int size;

	if (!find_size(event->arg[LPL_EVENT_TRANSLATION_SHIFT], &size))
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": a translation of a "
				"page of 2^%" PRIu64 " bytes, which there is not", event->ref,
				event->arg[LPL_EVENT_TRANSLATION_SHIFT]);
	if (!is_possible(event, translation_shift[size]))
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": a translation of %" PRIx64
				" to the frame %" PRIx64 ", which there cannot be", event->ref, event->arg[LPL_EVENT_TRANSLATION_ADDRESS], frame);
	if (global && translation_shift[size] == LPL_NO_PAGING && frame == KTR_NONE)
		forget(map);	/* what would be under it is not needed */
	else if (map->count == LPL_TRANSLATIONS_MAX && !is_known(map, event, translation_shift[size]))
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": more than %u translations, "
				"and none is forgotten", event->ref, LPL_TRANSLATIONS_MAX);
	else if (!put(map, space_of(event),
		      event->arg[LPL_EVENT_TRANSLATION_ADDRESS], size, frame))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a translation");
	return LPL_OK;
}

enum lpl_error lpl_translations_follow(struct lpl_translations *map, const struct lpl_event *event,
				       struct lpl_report *report)
{
	switch (event->tag) {
	case LPL_EVENT_TRANSLATION:
	case LPL_EVENT_RETRANSLATION:
		return take(map, event, report);
	case LPL_EVENT_GAP:
		if (event->arg[LPL_EVENT_GAP_EVENTS] != 0)
			forget(map);
		return LPL_OK;
	default:
		return LPL_OK;
	}
}

static int by_order(const void *a, const void *b)
{
	const uint64_t one = ((const struct report *)a)->order, other = ((const struct report *)b)->order;

	return (one > other) - (one < other);
}

/* As it was reported; of what no space has to itself the space does not matter. */
static enum lpl_error send_report(const struct report *said, struct lpl_sink *sink,
				  struct lpl_report *report)
{
	const bool global = said->space == EVERYWHERE;
	struct lpl_event event = { .tag = LPL_EVENT_TRANSLATION, .space = global ? 0 : said->space };

	event.arg[LPL_EVENT_TRANSLATION_ADDRESS] = said->address;
	event.arg[LPL_EVENT_TRANSLATION_FRAME] = said->frame;
	event.arg[LPL_EVENT_TRANSLATION_SHIFT] = said->shift;
	event.arg[LPL_EVENT_TRANSLATION_GLOBAL] = global;
	return sink->event(sink, &event, report);
}

enum lpl_error lpl_translations_send(const struct lpl_translations *map, struct lpl_sink *sink,
				     struct lpl_report *report)
{
	struct report *sorted = malloc((map->count + 1) * sizeof(*sorted));
	enum lpl_error error = LPL_OK;

	if (sorted == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to send translations");
	if (map->count > 0)
		memcpy(sorted, map->report, map->count * sizeof(*sorted));
	qsort(sorted, map->count, sizeof(*sorted), by_order);
	for (size_t i = 0; error == LPL_OK && i < map->count; i++)
		error = send_report(&sorted[i], sink, report);
	free(sorted);
	return error;
}

/* ---- addresses ---- */

/* If there is one of this size, and none that is later is found yet. */
static void consider(const struct lpl_translations *map, uint64_t space, uint64_t address,
		     unsigned int size, const struct report **latest, struct lpl_translation *found)
{
	const unsigned int shift = translation_shift[size];
	const uint64_t page = translation_page(address, shift);
	const uint64_t index = lpl_map_get(&map->by_page, LPL_KEY(space, page, shift));
	const struct report *report;

	if (index == 0)
		return;
	report = &map->report[index - 1];
	if (*latest != NULL && report->order < (*latest)->order)
		return;
	*latest = report;
	found->page = shift == LPL_NO_PAGING ? 0 : page << shift;
	found->frame = report->frame == KTR_NONE ? KTR_NONE :
		       report->frame + ((address - found->page) >> LPL_PAGE_SHIFT);
	found->shift = shift;
	found->global = space == EVERYWHERE;
}

static bool look_up(const struct lpl_translations *map, uint64_t space, uint64_t address,
		    struct lpl_translation *found)
{
	const struct report *latest = NULL;

	for (unsigned int size = 0; size < TRANSLATION_SIZES; size++) {
		if (!map->has_size[size] || !translation_reaches(translation_shift[size], address))
			continue;
		consider(map, space, address, size, &latest, found);
		consider(map, EVERYWHERE, address, size, &latest, found);
	}
	return latest != NULL && latest->frame != KTR_NONE;
}

bool lpl_translate(struct lpl_translations *map, uint64_t space, uint64_t address,
		   struct lpl_translation *found)
{
	const uint64_t page = address >> LPL_PAGE_SHIFT;
	struct remembered *at = place_of(map, page);

	if (at->epoch != map->epoch || at->page != page || at->space != space) {
		*at = (struct remembered){ .page = page, .space = space, .epoch = map->epoch };
		at->known = look_up(map, space, address, &at->found);
	}
	if (at->known)
		*found = at->found;
	return at->known;
}
