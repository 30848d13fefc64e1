/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which translations have to be reported; see used.h. */
#include "used.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "sizes.h"

struct lpl_used {
	struct lpl_translations *map;
	struct lpl_map latest;	/* page, shift, global -> the latest report of any space */
	uint64_t reports;
};

enum lpl_error lpl_used_open(struct lpl_used **used, struct lpl_report *report)
{
	struct lpl_used *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*used = NULL;
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for translations");
	lpl_map_init(&made->latest, 3);
	error = lpl_translations_open(&made->map, report);
	if (error != LPL_OK)
		free(made);
	else
		*used = made;
	return error;
}

void lpl_used_close(struct lpl_used *used)
{
	if (used == NULL)
		return;
	lpl_translations_close(used->map);
	lpl_map_free(&used->latest);
	free(used);
}

struct lpl_translations *lpl_used_map(struct lpl_used *used)
{
	return used->map;
}

bool lpl_used_full(const struct lpl_used *used)
{
	return lpl_translations_count(used->map) >= LPL_TRANSLATIONS_MAX;
}

static void fill(struct kernel_trace_record *record, uint64_t space,
		 const struct lpl_translation *now, uint64_t frame)
{
	memset(record, 0, sizeof(*record));
	record->space = space;
	record->arg[LPL_EVENT_TRANSLATION_ADDRESS] = now->page;
	record->arg[LPL_EVENT_TRANSLATION_FRAME] = frame;
	record->arg[LPL_EVENT_TRANSLATION_SHIFT] = now->shift;
	record->arg[LPL_EVENT_TRANSLATION_GLOBAL] = now->global;
}

static enum lpl_error follow(struct lpl_translations *map, const struct kernel_trace_record *record,
			     struct lpl_report *report)
{
	struct lpl_event event = { .tag = record->tag, .space = record->space };

	memcpy(event.arg, record->arg, sizeof(event.arg));
	return lpl_translations_follow(map, &event, report);
}

void lpl_used_forget(struct lpl_used *used, struct kernel_trace_record *record)
{
	const struct lpl_translation everything = { .shift = LPL_NO_PAGING, .global = true };

	fill(record, 0, &everything, KTR_NONE);
	record->tag = LPL_EVENT_RETRANSLATION;
	(void)follow(used->map, record, NULL);	/* which takes no memory */
	lpl_map_free(&used->latest);
	lpl_map_init(&used->latest, 3);
}

/* The latest report of the address for single spaces, or for all; 0: there is none. */
static uint64_t latest_of(const struct lpl_used *used, uint64_t address, bool global)
{
	uint64_t latest = 0;

	for (unsigned int size = 0; size < TRANSLATION_SIZES; size++) {
		const unsigned int shift = translation_shift[size];
		const uint64_t report = lpl_map_get(&used->latest,
						    LPL_KEY(translation_page(address, shift), shift, global));

		if (report > latest && translation_reaches(shift, address))
			latest = report;
	}
	return latest;
}

/*
 * A global page is used in all spaces, whichever's tables it was found by.  So it has to be reported, too, if
 * for any space another report is later.
 */
enum lpl_error lpl_used_note(struct lpl_used *used, uint64_t space, uint64_t address,
			     const struct lpl_translation *now, struct kernel_trace_record *record,
			     bool *news, struct lpl_report *report)
{
	struct lpl_translation known;
	const bool knows = lpl_translate(used->map, space, address, &known);
	const bool overrides = now->global &&
			       latest_of(used, address, false) > latest_of(used, address, true);
	const bool moves = (knows && known.frame != now->frame) || overrides ||
			   now->shift != LPL_PAGE_SHIFT;

	*news = !knows || overrides || known.frame != now->frame || known.shift != now->shift ||
		known.global != now->global;
	if (!*news)
		return LPL_OK;
	if (!lpl_map_put(&used->latest, LPL_KEY(translation_page(address, now->shift), now->shift, now->global),
			 ++used->reports))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a translation");
	fill(record, space, now, now->frame - ((address - now->page) >> LPL_PAGE_SHIFT));
	record->tag = moves ? LPL_EVENT_RETRANSLATION : LPL_EVENT_TRANSLATION;
	return follow(used->map, record, report);
}
