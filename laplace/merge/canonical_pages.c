/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream whose pages are canonical already (merge format `canonical`, `laplace schedule -o`): what
 * a page is, its events LPL_EVENT_PAGE say.  Only tasks have to be followed; nothing says when
 * a page leaves.
 *
 * Pages get numbers anew, in the order of their first references, as after a reduction those
 * of the stream may have holes, and a damaged one's may be of any size.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* A page before its first reference. */
struct described_page {
	LIST_ENTRY(described_page) in_all;
	struct lpl_merge_page page;
	char name[];
};

static struct described_page *find(const struct canonical_pages *pages, uint64_t number)
{
	return (struct described_page *)(uintptr_t)lpl_map_get(&pages->described, LPL_KEY(number));
}

static void drop(struct described_page *described)
{
	if (described == NULL)
		return;
	LIST_REMOVE(described, in_all);
	free(described);
}

bool lpl_canonical_describe(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct canonical_pages *pages = &merge->canonical;
	const uint64_t number = event->arg[LPL_EVENT_PAGE_NUMBER];
	const uint64_t kind = event->arg[LPL_EVENT_PAGE_KIND];
	const uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
	struct described_page *described;

	pages->given = true;
	if (lpl_map_get(&pages->translated, LPL_KEY(number)) != 0)
		return true;		/* what it is does not change */
	drop(find(pages, number));
	(void)lpl_map_remove(&pages->described, LPL_KEY(number));
	described = malloc(sizeof(*described) + length);
	if (described == NULL || !lpl_map_put(&pages->described, LPL_KEY(number),
					      (uintptr_t)described)) {
		free(described);
		return false;
	}
	LIST_INSERT_HEAD(&pages->all, described, in_all);
	described->page = (struct lpl_merge_page){
		.number = number,
		.kind = kind < LPL_PAGE_KINDS && kind != LPL_PAGE_CACHE ?
			(enum lpl_page_kind)kind : LPL_PAGE_UNRESOLVED,
		.device = event->arg[LPL_EVENT_PAGE_DEVICE],
		.inode = event->arg[LPL_EVENT_PAGE_INODE],
		.offset = event->arg[LPL_EVENT_PAGE_OFFSET],
		.generation = event->arg[LPL_EVENT_PAGE_GENERATION],
		.space = event->arg[LPL_EVENT_PAGE_SPACE],
		.virtual_page = event->arg[LPL_EVENT_PAGE_VIRTUAL_PAGE],
		.name_length = length, .name = described->name
	};
	memcpy(described->name, event->text, length);
	return true;
}

/* What is known of a page that is referenced for the first time. */
static struct lpl_merge_page describe(struct canonical_pages *pages, uint64_t number, bool walk)
{
	struct described_page *described = find(pages, number);

	drop(pages->last);		/* its name was valid until now */
	pages->last = described;
	if (described != NULL) {
		(void)lpl_map_remove(&pages->described, LPL_KEY(number));
		return described->page;
	}
	return (struct lpl_merge_page){
		.number = number, .kind = walk ? LPL_PAGE_PHYSICAL : LPL_PAGE_UNRESOLVED,
		.offset = walk ? number : 0, .virtual_page = walk ? 0 : number
	};
}

struct translation *lpl_canonical_translate(struct lpl_merge *merge, const struct lpl_ref *ref,
					    struct effect *effect)
{
	struct canonical_pages *pages = &merge->canonical;
	const uint64_t number = ref->address >> LPL_PAGE_SHIFT;
	struct translation *translation = &pages->translation;
	uint64_t *place;

	if (translation->page != 0 && translation->virtual_page == number)
		return translation;
	place = lpl_map_reach(&pages->translated, LPL_KEY(number));
	if (place == NULL)
		return NULL;
	if (*place == 0) {
		effect->page = describe(pages, number, ref->type >= LPL_WALK_READ);
		effect->page.page = ++merge->last_page;
		merge->stats.pages[effect->page.kind]++;
		*place = merge->last_page * LPL_PAGE_KINDS + effect->page.kind;
	}
	translation->virtual_page = number;
	translation->page = *place / LPL_PAGE_KINDS;
	translation->kind = (uint16_t)(*place % LPL_PAGE_KINDS);
	return translation;
}

void lpl_canonical_pages_init(struct canonical_pages *pages)
{
	lpl_map_init(&pages->translated, 1);
	lpl_map_init(&pages->described, 1);
	LIST_INIT(&pages->all);
}

void lpl_canonical_pages_free(struct canonical_pages *pages)
{
	struct described_page *next;

	for (struct described_page *page = LIST_FIRST(&pages->all); page != NULL; page = next) {
		next = LIST_NEXT(page, in_all);
		free(page);
	}
	lpl_map_free(&pages->translated);
	lpl_map_free(&pages->described);
}
