/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's address spaces, and what is shared after forks; see survey_spaces.h. */
#include "survey_spaces.h"

#include <stdlib.h>

#include "base/array.h"

#define FRAMES 4		/* of a page that are remembered: a child may still have one that its parent left */
#define LARGE_PAGES 512		/* of 4 KB in one of 2 MB */

struct survey_used_page {
	uint64_t page;			/* number, of pages of its size */
	uint64_t frame[FRAMES];		/* + 1, where it is, and where it was before; 0: nowhere */
	uint64_t since, left;		/* how many forks there had been when it was used first, and moved last */
	size_t next;			/* of the same space, or of those that are free, + 1 */
	unsigned int shift;
	bool inherited;			/* it is in a frame of the parent's, and was since the fork */
};

struct survey_space {
	uint64_t number;
	size_t parent;			/* + 1; 0: none is known */
	uint64_t since, forked;		/* which fork made it, and which one it made last */
	uint64_t users;			/* itself, and its children */
	uint64_t pages;			/* used */
	size_t first;			/* page, + 1 */
	size_t next_free;
};

void lpl_survey_spaces_init(struct survey_spaces *spaces)
{
	*spaces = (struct survey_spaces){ .count = 0 };
	lpl_map_init(&spaces->index, 1);
	lpl_map_init(&spaces->pages, 3);
}

void lpl_survey_spaces_free(struct survey_spaces *spaces)
{
	lpl_map_free(&spaces->index);
	lpl_map_free(&spaces->pages);
	free(spaces->space);
	free(spaces->page);
}

/* ---- spaces ---- */

/* The place of a new one, + 1; 0: no memory. */
static size_t add_space(struct survey_spaces *spaces, uint64_t number)
{
	size_t place = spaces->free;

	if (place != 0)
		spaces->free = spaces->space[place - 1].next_free;
	else if (lpl_reach(spaces->space, spaces->room, spaces->count))
		place = ++spaces->count;
	if (place != 0)
		spaces->space[place - 1] = (struct survey_space){ .number = number, .users = 1 };
	return place;
}

static size_t reach_space(struct survey_spaces *spaces, uint64_t number)
{
	uint64_t *place = lpl_map_reach(&spaces->index, LPL_KEY(number));

	if (!place)
		return 0;
	if (*place == 0)
		*place = add_space(spaces, number);
	return (size_t)*place;
}

/* ---- pages ---- */

static size_t add_page(struct survey_spaces *spaces, struct survey_space *space,
		       const struct survey_used_page *page)
{
	size_t place = spaces->free_page;

	if (place != 0)
		spaces->free_page = spaces->page[place - 1].next;
	else if (lpl_reserve(spaces->page, spaces->page_room, spaces->used))
		place = ++spaces->used;
	if (place == 0)
		return 0;
	spaces->page[place - 1] = *page;
	spaces->page[place - 1].next = space->first;
	space->first = place;
	space->pages++;
	return place;
}

static const struct survey_used_page *find_page(const struct survey_spaces *spaces, size_t space,
						const struct survey_used_page *like)
{
	const uint64_t place = lpl_map_get(&spaces->pages, LPL_KEY(space, like->page, like->shift));

	return place ? &spaces->page[place - 1] : NULL;
}

/* The first use of a page in a space: has its parent used it before the fork, and in this frame? */
static void inherit(struct survey_spaces *spaces, const struct survey_space *space,
		    struct survey_used_page *page)
{
	const struct survey_used_page *of_parent = space->parent ?
						   find_page(spaces, space->parent, page) : NULL;

	if (!of_parent || of_parent->since >= space->since)
		return;
	for (int i = 0; i < FRAMES; i++)
		page->inherited |= of_parent->frame[i] == page->frame[0];
	spaces->forks.kept += page->inherited;
	spaces->forks.copied += !page->inherited;
}

static void move(struct survey_spaces *spaces, const struct survey_space *space,
		 struct survey_used_page *page, uint64_t frame)
{
	spaces->moved++;
	/* the first time since the fork */
	spaces->forks.left_by_parents += page->since < space->forked && page->left < space->forked;
	page->left = spaces->forked;
	spaces->forks.kept -= page->inherited;
	spaces->forks.copied += page->inherited;
	page->inherited = false;
	for (int i = FRAMES - 1; i > 0; i--)
		page->frame[i] = page->frame[i - 1];
	page->frame[0] = frame + 1;
}

bool lpl_survey_spaces_use(struct survey_spaces *spaces, uint64_t number,
			   const struct lpl_translation *found, uint64_t frame, bool *is_new)
{
	struct survey_used_page page = {
		.page = found->page >> found->shift, .frame = { frame + 1 }, .since = spaces->forked,
		.shift = found->shift
	};
	const size_t space = reach_space(spaces, number);
	uint64_t *place;

	if (space == 0)
		return false;
	place = lpl_map_reach(&spaces->pages, LPL_KEY(space, page.page, page.shift));
	if (!place)
		return false;
	*is_new = *place == 0;
	if (*is_new) {
		*place = SIZE_MAX;	/* the map must not be changed before */
		inherit(spaces, &spaces->space[space - 1], &page);
		*place = add_page(spaces, &spaces->space[space - 1], &page);
		return *place != 0;
	}
	if (spaces->page[*place - 1].frame[0] != frame + 1)
		move(spaces, &spaces->space[space - 1], &spaces->page[*place - 1], frame);
	return true;
}

/* ---- how a space lies in memory ---- */

static int by_page(const void *a, const void *b)
{
	const struct survey_used_page *one = a, *other = b;

	return one->page != other->page ? (one->page > other->page ? 1 : -1) : 0;
}

unsigned int lpl_survey_run_class(uint64_t length)
{
	unsigned int class = 0;

	while (class + 1 < LPL_SURVEY_RUNS && length >> (class + 1) != 0)
		class++;
	return class;
}

const char *lpl_survey_run_name(unsigned int class)
{
	static const char *const name[LPL_SURVEY_RUNS] = {
		"1", "2-3", "4-7", "8-15", "16-31", "32-63", "64-127", "128-255", "256-511", "512 and more"
	};

	return name[class];
}

/* Small pages, in their order: where the pages go on, do the frames? */
static void count_runs(struct lpl_survey_contiguity *contiguity, const struct survey_used_page *page,
		       size_t count)
{
	for (size_t i = 0, begin = 0; i < count; i++) {
		const bool ends = i + 1 == count || page[i + 1].page != page[i].page + 1 ||
				  page[i + 1].frame[0] != page[i].frame[0] + 1;

		if (!ends)
			continue;
		contiguity->pages[lpl_survey_run_class(i + 1 - begin)] += i + 1 - begin;
		begin = i + 1;
	}
}

/* Regions of 2 MB in which each page is where it would be in one large page. */
static void count_regions(struct lpl_survey_contiguity *contiguity, const struct survey_used_page *page,
			  size_t count)
{
	bool in_place = true;

	for (size_t i = 0, begin = 0; i < count; i++) {
		const uint64_t distance = page[i].frame[0] - 1 - page[i].page;

		in_place &= distance % LARGE_PAGES == 0 && distance == page[begin].frame[0] - 1 - page[begin].page;
		if (i + 1 < count && page[i + 1].page / LARGE_PAGES == page[i].page / LARGE_PAGES)
			continue;
		contiguity->regions++;
		contiguity->regions_in_place += in_place;
		contiguity->pages_in_place += in_place ? i + 1 - begin : 0;
		in_place = true;
		begin = i + 1;
	}
}

/* false: no memory. */
static bool look_at(struct survey_spaces *spaces, const struct survey_space *space)
{
	struct survey_used_page *sorted = calloc(space->pages + 1, sizeof(*sorted));
	size_t count = 0;

	if (!sorted)
		return false;
	for (size_t at = space->first; at != 0; at = spaces->page[at - 1].next) {
		if (spaces->page[at - 1].shift == LPL_PAGE_SHIFT)
			sorted[count++] = spaces->page[at - 1];
	}
	qsort(sorted, count, sizeof(*sorted), by_page);
	count_runs(&spaces->contiguity, sorted, count);
	count_regions(&spaces->contiguity, sorted, count);
	free(sorted);
	return true;
}

/* ---- events ---- */

/* One user less of a space, and of its parents: where that was the last, its pages go. */
static void drop(struct survey_spaces *spaces, size_t place)
{
	while (place != 0) {
		struct survey_space *space = &spaces->space[place - 1];
		const size_t parent = space->parent;

		if (--space->users > 0)
			return;
		while (space->first != 0) {
			struct survey_used_page *page = &spaces->page[space->first - 1];
			const size_t next = page->next;

			(void)lpl_map_remove(&spaces->pages, LPL_KEY(place, page->page, page->shift));
			page->next = spaces->free_page;
			spaces->free_page = space->first;
			space->first = next;
		}
		space->next_free = spaces->free;
		spaces->free = place;
		place = parent;
	}
}

/* false: no memory. */
static bool end_space(struct survey_spaces *spaces, uint64_t number)
{
	const size_t place = (size_t)lpl_map_get(&spaces->index, LPL_KEY(number));

	if (place == 0)
		return true;
	(void)lpl_map_remove(&spaces->index, LPL_KEY(number));
	if (number != KTR_NONE && !look_at(spaces, &spaces->space[place - 1]))
		return false;
	drop(spaces, place);
	return true;
}

/* false: no memory. */
static bool fork_space(struct survey_spaces *spaces, uint64_t parent_number, uint64_t child_number)
{
	size_t parent, child;

	/* the end of one that had the number before may not have been reported */
	if (parent_number == child_number || !end_space(spaces, child_number))
		return parent_number == child_number;
	parent = reach_space(spaces, parent_number);
	child = parent ? reach_space(spaces, child_number) : 0;
	if (child == 0)
		return false;
	spaces->forks.count++;
	spaces->forks.pages += spaces->space[parent - 1].pages;
	spaces->space[child - 1].parent = parent;
	spaces->space[parent - 1].users++;
	spaces->space[child - 1].since = spaces->space[parent - 1].forked = ++spaces->forked;
	return true;
}

bool lpl_survey_spaces_follow(struct survey_spaces *spaces, const struct lpl_event *event)
{
	switch (event->tag) {
	case KTR_SPACE_DUPLICATE:
		return fork_space(spaces, event->arg[KTR_SPACE_DUPLICATE_PARENT],
				  event->arg[KTR_SPACE_DUPLICATE_CHILD]);
	case KTR_SPACE_END:
		return end_space(spaces, event->arg[KTR_SPACE_END_SPACE]);
	default:
		return true;
	}
}

bool lpl_survey_spaces_finish(struct survey_spaces *spaces)
{
	for (size_t i = 0; i < spaces->count; i++) {
		const struct survey_space *space = &spaces->space[i];

		/* it may be the parent of others only, or free */
		if (space->number != KTR_NONE &&
		    lpl_map_get(&spaces->index, LPL_KEY(space->number)) == i + 1 && !look_at(spaces, space))
			return false;
	}
	return true;
}
