/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The references to pages of some kinds, or of a file.
 *
 * Page numbers are dense in a whole trace, but a damaged file may hold any: kinds are
 * kept in leaves of 4096 pages, found by a hash table, so that memory is bounded by the
 * pages that were described.
 */
#include <laplace/merge.h>
#include <laplace/select.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/try.h"
#include "file_name.h"
#include "kinds.h"

#define LEAF_SHIFT 12
#define LEAF_PAGES (1U << LEAF_SHIFT)
#define BATCH 1024

enum page { NOT_DESCRIBED, NOT_WANTED, WANTED };

struct leaf {
	struct leaf *next;		/* of all */
	uint8_t page[LEAF_PAGES];	/* enum page */
};

struct lpl_kinds {
	struct lpl_sink sink;
	struct lpl_sink *next;
	uint32_t wanted;		/* a bit for each kind */
	char *file;			/* NULL: any, and none */
	struct leaf *all;
	struct lpl_map leaves;		/* page number >> LEAF_SHIFT -> struct leaf, of all */
	struct leaf *last;		/* the one last asked for ... */
	uint64_t last_number;		/* ... and its number */
	size_t count;
	struct lpl_ref batch[BATCH];
};

static struct leaf *leaf_of(struct lpl_kinds *kinds, uint64_t page)
{
	uint64_t number = page >> LEAF_SHIFT;

	if (kinds->last == NULL || kinds->last_number != number) {
		kinds->last = (struct leaf *)(uintptr_t)lpl_map_get(&kinds->leaves,
								    LPL_KEY(number));
		kinds->last_number = number;
	}
	return kinds->last;
}

static bool is_wanted(const struct lpl_kinds *kinds, const struct lpl_event *event, uint64_t kind)
{
	if ((kinds->wanted >> kind & 1) == 0)
		return false;
	return kinds->file == NULL || lpl_is_file(kinds->file, event->text, event->text_length);
}

enum lpl_error lpl_kinds_note(struct lpl_kinds *kinds, const struct lpl_event *event,
			      struct lpl_report *report)
{
	uint64_t page = event->arg[LPL_EVENT_PAGE_NUMBER];
	uint64_t kind = event->arg[LPL_EVENT_PAGE_KIND];
	struct leaf *leaf = leaf_of(kinds, page);

	if (kind >= LPL_PAGE_KINDS)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "page %" PRIx64 " is of kind %" PRIu64
				", which this program does not know", page, kind);
	if (leaf == NULL) {
		leaf = calloc(1, sizeof(*leaf));
		if (leaf == NULL ||
		    !lpl_map_put(&kinds->leaves, LPL_KEY(page >> LEAF_SHIFT), (uintptr_t)leaf)) {
			free(leaf);
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for kinds of pages");
		}
		leaf->next = kinds->all;
		kinds->all = leaf;
		kinds->last = leaf;
	}
	leaf->page[page % LEAF_PAGES] = is_wanted(kinds, event, kind) ? WANTED : NOT_WANTED;
	return LPL_OK;
}

bool lpl_kinds_want(struct lpl_kinds *kinds, uint64_t page)
{
	const struct leaf *leaf = leaf_of(kinds, page);

	return leaf != NULL && leaf->page[page % LEAF_PAGES] == WANTED;
}

static enum lpl_error send(struct lpl_kinds *kinds, struct lpl_report *report)
{
	size_t count = kinds->count;

	kinds->count = 0;
	return count == 0 ? LPL_OK : kinds->next->refs(kinds->next, kinds->batch, count, report);
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_kinds *kinds = (struct lpl_kinds *)sink;

	for (size_t i = 0; i < count; i++) {
		uint64_t page = refs[i].address >> LPL_PAGE_SHIFT;
		const struct leaf *leaf = leaf_of(kinds, page);
		unsigned int what = leaf == NULL ? NOT_DESCRIBED : leaf->page[page % LEAF_PAGES];

		if (what == NOT_DESCRIBED)
			return lpl_fail(report, LPL_ERR_UNSUPPORTED, "reference %" PRIu64
					": no event says what page %" PRIx64 " is: the trace was "
					"not made by laplace merge --format canonical, or has "
					"lost records",
					refs[i].ref, page);
		if (what == NOT_WANTED)
			continue;
		assert(kinds->count < BATCH);
		kinds->batch[kinds->count++] = refs[i];
		if (kinds->count == BATCH)
			LPL_TRY(send(kinds, report));
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_kinds *kinds = (struct lpl_kinds *)sink;

	LPL_TRY(send(kinds, report));
	if (event->tag == LPL_EVENT_PAGE)
		LPL_TRY(lpl_kinds_note(kinds, event, report));
	return kinds->next->event(kinds->next, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_kinds *kinds = (struct lpl_kinds *)sink;

	LPL_TRY(send(kinds, report));
	return kinds->next->finish(kinds->next, report);
}

/* ---- opening ---- */

static int kind_named(const char *name, size_t length)
{
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		const char *known = lpl_page_kind_name((enum lpl_page_kind)kind);

		if (strlen(known) == length && strncmp(known, name, length) == 0)
			return kind == LPL_PAGE_CACHE ? LPL_PAGE_FILE : kind;
	}
	return -1;
}

static enum lpl_error unknown_kind(const char *name, size_t length, struct lpl_report *report)
{
	char known[160] = "";
	size_t used = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 kind == 0 ? "" : ", ",
					 lpl_page_kind_name((enum lpl_page_kind)kind));
	return lpl_fail(report, LPL_ERR_USAGE, "no kind of pages '%.*s': there are %s",
			length < 40 ? (int)length : 40, name, known);
}

enum lpl_error lpl_kinds_open(struct lpl_kinds **kinds, const char *spec, const char *file,
			      struct lpl_sink *next, struct lpl_report *report)
{
	struct lpl_kinds *made;
	uint32_t wanted = spec == NULL ? UINT32_MAX : 0;

	*kinds = NULL;
	for (const char *name = spec; name != NULL; name++) {
		size_t length = strcspn(name, ",");
		int kind = kind_named(name, length);

		if (kind < 0)
			return unknown_kind(name, length, report);
		wanted |= UINT32_C(1) << kind;
		name += length;
		if (*name == '\0')
			break;
	}
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for kinds of pages");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->next = next;
	made->wanted = wanted;
	lpl_map_init(&made->leaves, 1);
	made->file = file != NULL ? strdup(file) : NULL;
	if (file != NULL && made->file == NULL) {
		lpl_kinds_close(made);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for kinds of pages");
	}
	*kinds = made;
	return LPL_OK;
}

struct lpl_sink *lpl_kinds_sink(struct lpl_kinds *kinds)
{
	return &kinds->sink;
}

void lpl_kinds_close(struct lpl_kinds *kinds)
{
	if (kinds == NULL)
		return;
	while (kinds->all != NULL) {
		struct leaf *leaf = kinds->all;

		kinds->all = leaf->next;
		free(leaf);
	}
	lpl_map_free(&kinds->leaves);
	free(kinds->file);
	free(kinds);
}
