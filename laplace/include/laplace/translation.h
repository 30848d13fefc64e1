/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where in physical memory each reference went, and the size of the page that it was mapped by.
 *
 * A trace recorded with `physical=on` (LPL_META_TRANSLATIONS is "kept") does not have that for each
 * reference.  It has an event LPL_EVENT_TRANSLATION or LPL_EVENT_RETRANSLATION wherever the processor
 * begins to use another translation than the events before say (docs/format.md, section 13).  This map
 * follows them:
 *
 *	lpl_translations_open(&map, &report);
 *	(at each event) lpl_translations_follow(map, event, &report);
 *	(at a reference) if (lpl_translate(map, ref->space, ref->address, &found)) ...
 *
 * References of page walks are physical already: do not look them up.
 *
 * Memory: some 100 bytes for each page of each space that was reported.  A recording forgets all
 * of them, and reports them again as they are used, before they are more than LPL_TRANSLATIONS_MAX.
 */
#ifndef LAPLACE_TRANSLATION_H
#define LAPLACE_TRANSLATION_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LPL_TRANSLATIONS_MAX	(1U << 18)
#define LPL_NO_PAGING		64	/* a page's shift while paging is off: all below 4 GB is one */
#define LPL_FRAMES		(UINT64_C(1) << 51)	/* of 4096 bytes: more than any processor has */

struct lpl_translation {
	uint64_t page;		/* first byte of the page that maps it, as it was reported */
	uint64_t frame;		/* the physical page, of 4096 bytes, that has the address asked for */
	unsigned int shift;	/* of the size of the page: 12, 21, 22, 30, or LPL_NO_PAGING */
	bool global;		/* mapped in all spaces */
};

/*
 * Does a header say that a trace has translations that mean something: its pages are virtual ones of 4096 bytes,
 * or finer, and it is no behaviour sequence, nor records?
 */
struct lpl_meta;
bool lpl_has_translations(const struct lpl_meta *meta);

struct lpl_translations;
/* LPL_ERR_MEMORY. */
enum lpl_error lpl_translations_open(struct lpl_translations **map, struct lpl_report *report);
void lpl_translations_close(struct lpl_translations *map);	/* NULL is fine */

/*
 * Each event of a stream in turn; those that say nothing of translations are left alone.  After
 * LPL_EVENT_GAP with events missing nothing is known.  LPL_ERR_DAMAGED: what format.md does not allow;
 * LPL_ERR_MEMORY.
 */
enum lpl_error lpl_translations_follow(struct lpl_translations *map, const struct lpl_event *event,
				       struct lpl_report *report);

/* Where a virtual address of a space is now; false: that is not known. */
bool lpl_translate(struct lpl_translations *map, uint64_t space, uint64_t address,
		   struct lpl_translation *found);

/* How many are kept. */
size_t lpl_translations_count(const struct lpl_translations *map);

/*
 * A sink that sends `next`, which is not owned, the same references by physical addresses, in space 0,
 * and the events but for those that map virtual pages.  Pages of 4096 bytes, or parts of one.
 * References of which the frame is not known (of a trace that was cut or damaged before them) are counted, and
 * get a page of their own, above all frames.
 */
struct lpl_physical;
enum lpl_error lpl_physical_open(struct lpl_physical **physical, struct lpl_sink *next,
				 struct lpl_report *report);
struct lpl_sink *lpl_physical_sink(struct lpl_physical *physical);
uint64_t lpl_physical_unknown(const struct lpl_physical *physical);
void lpl_physical_close(struct lpl_physical *physical);			/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
