/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's pages: which are alive, who references them, which are hot.
 *
 * Two questions are asked of sets of pages and sets of processes at once: how many pages
 * does a process reference, and how many of them nobody else; and how many processes does a
 * page have.  Each living process has a set of the pages that it referenced, each page the
 * number of programs.  A process' pages are counted when it ends, or when the page does,
 * whichever is first, with the programs that had referenced the page by then.
 */
#include <stdlib.h>
#include <string.h>

#include "survey.h"

#define LEAF_BITS 8
#define LEAF_PAGES (1U << LEAF_BITS)
#define NOBODY UINT32_MAX

const char *const survey_sharers_name[SURVEY_SHARERS] = {
	"kernel alone", "1", "2", "3-4", "5-8", "9 and more"
};

struct use {
	uint64_t references;
	uint64_t last;		/* time of the last one; SURVEY_NEVER: there was none */
	uint32_t process;	/* that made it; NOBODY: a second look is needed */
	uint32_t first;		/* process that was the first ever */
	uint32_t users;		/* programs ever, so far */
	uint8_t kind;
	uint8_t ways;		/* 1 << kind of reference: how it was reached */
	bool known;		/* there is such a page, and it is not over */
	bool alive;		/* and is in memory, as far as is told */
};

struct survey_leaf {
	unsigned int known;
	struct use use[LEAF_PAGES];
	struct survey_place place[LEAF_PAGES];
};

static struct use *use_of(const struct survey *survey, uint64_t page)
{
	uint64_t leaf = page >> LEAF_BITS;
	struct use *use;

	if (leaf >= survey->leaves || !survey->leaf[leaf])
		return NULL;
	use = &survey->leaf[leaf]->use[page % LEAF_PAGES];
	return use->known ? use : NULL;
}

bool survey_page_lives(const void *survey, uint64_t page)
{
	return use_of(survey, page) != NULL;
}

/* ---- the hottest ---- */

static bool hotter(const struct survey_hot *one, const struct survey_hot *other)
{
	return one->references != other->references ? one->references > other->references :
						      one->place.page < other->place.page;
}

/* The heap's root is the coldest that is kept. */
static void sink_down(struct survey_hot *heap, uint64_t count, uint64_t at)
{
	for (;;) {
		uint64_t child = 2 * at + 1;
		struct survey_hot moved = heap[at];

		if (child >= count)
			return;
		if (child + 1 < count && hotter(&heap[child], &heap[child + 1]))
			child++;
		if (!hotter(&moved, &heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static bool is_kernels(enum lpl_page_kind kind)
{
	return kind == LPL_PAGE_KERNEL || kind == LPL_PAGE_PHYSICAL;
}

uint64_t survey_own_pages(const struct survey_process *process)
{
	uint64_t pages = 0;

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (!is_kernels((enum lpl_page_kind)kind))
			pages += process->footprint.pages[kind];
	}
	return pages;
}

static void offer(struct survey *survey, const struct use *use, const struct survey_place *place)
{
	struct survey_hottest *hottest =
		&survey->hottest[is_kernels(place->kind) ? SIDE_KERNEL : SIDE_OTHERS];
	struct survey_hot hot = { *place, use->references, use->users };
	uint64_t at;

	if (hottest->count < survey->top) {
		at = hottest->count++;
		for (; at > 0 && hotter(&hottest->hot[(at - 1) / 2], &hot); at = (at - 1) / 2)
			hottest->hot[at] = hottest->hot[(at - 1) / 2];
		hottest->hot[at] = hot;
	} else if (survey->top > 0 && hotter(&hot, &hottest->hot[0])) {
		hottest->hot[0] = hot;
		sink_down(hottest->hot, hottest->count, 0);
	}
}

static int by_heat(const void *one, const void *other)
{
	return hotter(one, other) ? -1 : 1;
}

/* Numbers below 128 have a step each, above it there are 64 to a doubling. */
static unsigned int step_of(uint64_t references)
{
	unsigned int log = references < 64 ? 0 : 63 - (unsigned int)__builtin_clzll(references);

	if (references < 64)
		return (unsigned int)references;
	return 64 + (log - 6) * 64 + (unsigned int)(references >> (log - 6) & 63);
}

uint64_t survey_concentration(const struct survey *survey, double share)
{
	uint64_t all = survey_all_references(survey), pages = 0, covered = 0;
	uint64_t wanted = (uint64_t)(share * (double)all);

	wanted += (double)wanted < share * (double)all;
	for (unsigned int i = SURVEY_STEPS; i-- > 0 && covered < wanted;) {
		const struct survey_step *step = &survey->step[i];
		double each = (double)step->references / (double)step->pages;
		uint64_t needed;

		if (step->pages == 0)
			continue;
		needed = (uint64_t)((double)(wanted - covered) / each);
		needed += (double)needed * each < (double)(wanted - covered);
		if (needed > step->pages)
			needed = step->pages;
		pages += needed;
		covered += step->references;
	}
	return pages;
}

/* ---- coming and going ---- */

static unsigned int sharers(uint64_t users)
{
	return users <= 2 ? (unsigned int)users : users <= 4 ? 3 : users <= 8 ? 4 : 5;
}

static void count_alive(struct survey *survey, enum lpl_page_kind kind, bool comes)
{
	survey->alive[kind] += comes ? 1 : -UINT64_C(1);
	survey->alive_all += comes ? 1 : -UINT64_C(1);
	if (survey->alive_all > survey->peak) {
		survey->peak = survey->alive_all;
		survey->peak_time = survey->now;
	}
}

static void resize(struct survey_process *process, const struct use *use, bool comes)
{
	if (is_kernels(use->kind))
		return;
	process->alive += comes ? 1 : -UINT64_C(1);
	if (process->alive > process->peak)
		process->peak = process->alive;
	if (process->alive > process->bin_peak)
		process->bin_peak = process->alive;
}

static void count_footprint(struct survey_process *process, const struct use *use)
{
	struct survey_footprint *footprint = &process->footprint;

	footprint->pages[use->kind]++;
	if (is_kernels(use->kind))
		return;
	footprint->alone += use->users == (process->number != 0);
	if (process->number != 0)
		footprint->proportional += 1 / (double)use->users;
}

/* Call for each living process that has referenced the page. */
static void each_user(struct survey *survey, uint64_t page, const struct use *use,
		      void (*call)(struct survey_process *process, const struct use *use))
{
	struct survey_process *process = survey_process(survey, use->first);

	if (use->users <= 1 && use->first != 0) {
		/* a program alone; but the kernel may have, too */
		if (process && page_set_has(&process->set, page))
			call(process, use);
		process = survey_process(survey, 0);
		if (process && page_set_has(&process->set, page))
			call(process, use);
		return;
	}
	for (process = survey->living; process; process = process->next)
		if (page_set_has(&process->set, page))
			call(process, use);
}

static void user_gains(struct survey_process *process, const struct use *use)
{
	resize(process, use, true);
}

static void user_loses(struct survey_process *process, const struct use *use)
{
	resize(process, use, false);
}

static void user_counts(struct survey_process *process, const struct use *use)
{
	count_footprint(process, use);
	if (use->alive)
		resize(process, use, false);
}

/* All is known of a page. */
static void close_page(struct survey *survey, const struct use *use,
		       const struct survey_place *place)
{
	struct survey_step *step = &survey->step[step_of(use->references)];
	bool mapped = use->ways & (1U << LPL_PAGE_FILE | 1U << LPL_PAGE_SHM);
	bool cache = use->ways & 1U << LPL_PAGE_CACHE;

	step->pages++;
	step->references += use->references;
	survey->shared[use->kind][sharers(use->users)]++;
	if (use->users > survey->most_users && !is_kernels(use->kind))
		survey->most_users = use->users;
	if (use->kind == LPL_PAGE_FILE || use->kind == LPL_PAGE_SHM)
		survey->reached[mapped && cache ? REACH_BOTH : cache ? REACH_CACHE :
									REACH_MAPPED]++;
	if (place->file != 0) {
		struct survey_file *file = &survey->file[place->file - 1];

		file->pages++;
		file->references += use->references;
		if (use->users > file->most_users)
			file->most_users = use->users;
	}
	offer(survey, use, place);
}

/* ---- what the merge tells ---- */

static bool reach_leaf(struct survey *survey, uint64_t leaf)
{
	if (leaf >= survey->leaves) {
		uint64_t count = 2 * leaf + 16;
		struct survey_leaf **more = realloc(survey->leaf, count * sizeof(*more));

		if (!more)
			return false;
		memset(more + survey->leaves, 0, (count - survey->leaves) * sizeof(*more));
		survey->leaf = more;
		survey->leaves = count;
	}
	if (!survey->leaf[leaf])
		survey->leaf[leaf] = calloc(1, sizeof(**survey->leaf));
	return survey->leaf[leaf] != NULL;
}

/* Two rows of the heat become one. */
static void fold_rows(struct survey *survey)
{
	for (unsigned int row = 0; row < HEAT_ROWS; row++) {
		bool filled = row < HEAT_ROWS / 2;

		for (unsigned int bin = 0; bin < AXIS_BINS; bin++)
			survey->heat[row][bin] = !filled ? 0 :
				survey->heat[2 * row][bin] + survey->heat[2 * row + 1][bin];
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			survey->row_kind[row][kind] = !filled ? 0 :
				survey->row_kind[2 * row][kind] +
				survey->row_kind[2 * row + 1][kind];
	}
	survey->heat_shift++;
}

int survey_page_told(struct survey *survey, const struct lpl_merge_page *page,
		     struct lpl_report *report)
{
	uint64_t leaf = page->page >> LEAF_BITS;
	bool of_file = page->inode != 0 && page->inode != KTR_NONE;
	struct survey_place *place;

	if (!reach_leaf(survey, leaf))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for pages");
	survey->leaf[leaf]->known++;
	survey->leaf[leaf]->use[page->page % LEAF_PAGES] = (struct use){
		.last = SURVEY_NEVER, .process = NOBODY, .first = NOBODY,
		.kind = (uint8_t)page->kind, .known = true
	};
	place = &survey->leaf[leaf]->place[page->page % LEAF_PAGES];
	*place = (struct survey_place){
		.page = page->page, .kind = page->kind, .space = page->space,
		.offset = page->kind == LPL_PAGE_PHYSICAL || of_file ? page->offset :
								       page->virtual_page
	};
	if (of_file || page->name_length > 0) {
		place->file = survey_file_of(survey, page);
		if (place->file == 0)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for files");
	}
	survey->pages[page->kind]++;
	while (page->page >> survey->heat_shift >= HEAT_ROWS)
		fold_rows(survey);
	survey->row_kind[page->page >> survey->heat_shift][page->kind]++;
	return LPL_OK;
}

int survey_page_left(struct survey *survey, uint64_t page, bool for_ever,
		     struct lpl_report *report)
{
	struct use *use = use_of(survey, page);
	struct survey_leaf *leaf;

	(void)report;
	if (!use)
		return LPL_OK;
	if (!for_ever) {
		if (use->alive) {
			each_user(survey, page, use, user_loses);
			count_alive(survey, use->kind, false);
		}
		use->alive = false;
		use->process = NOBODY;
		return LPL_OK;
	}
	leaf = survey->leaf[page >> LEAF_BITS];
	each_user(survey, page, use, user_counts);
	if (use->alive)
		count_alive(survey, use->kind, false);
	close_page(survey, use, &leaf->place[page % LEAF_PAGES]);
	use->known = false;
	survey->over++;
	if (--leaf->known == 0) {
		free(leaf);
		survey->leaf[page >> LEAF_BITS] = NULL;
	}
	return LPL_OK;
}

/* A page's first reference in a bin. */
static void note_bin(struct survey *survey, const struct use *use)
{
	unsigned int folds = AXIS_BITS + 1;	/* of a page's first one ever: they never meet */

	if (use->last != SURVEY_NEVER)
		folds = 32 - (unsigned int)__builtin_clz(axis_bin(&survey->axis, use->last) ^
							 survey->bin);
	survey->first_in_bin[survey->bin][folds - 1]++;
}

/* The first reference, or another process than the last time, or it was not in memory. */
static int note_user(struct survey *survey, uint64_t page, struct use *use,
		     struct lpl_report *report)
{
	struct survey_process *process = survey->runs_process;
	bool added;

	if (!use->alive) {
		use->alive = true;
		count_alive(survey, use->kind, true);
		if (use->references > 1)
			each_user(survey, page, use, user_gains);
		else
			survey->leaf[page >> LEAF_BITS]->place[page % LEAF_PAGES].task =
				survey->runs_serial;
	}
	if (!page_set_add(&process->set, page, &added))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the pages of a process");
	use->process = (uint32_t)process->number;
	if (!added)
		return LPL_OK;
	/* of a page with one program and the kernel, it is the program */
	if (use->users == 0)
		use->first = (uint32_t)process->number;
	use->users += process->number != 0;
	resize(process, use, true);
	return LPL_OK;
}

int survey_page_used(struct survey *survey, uint64_t number, enum lpl_page_kind kind,
		     struct lpl_report *report)
{
	uint64_t leaf = number >> LEAF_BITS;
	struct use *use;

	if (leaf >= survey->leaves || !survey->leaf[leaf])
		return lpl_fail(report, LPL_ERR_INTERNAL, "a page that nothing told of");
	use = &survey->leaf[leaf]->use[number % LEAF_PAGES];
	use->references++;
	use->ways |= (uint8_t)(1U << kind);
	survey->heat[number >> survey->heat_shift][survey->bin]++;
	if ((use->last ^ survey->now) >> survey->axis.shift)
		note_bin(survey, use);
	use->last = survey->now;
	if (use->process != (uint32_t)survey->runs_process->number)
		return note_user(survey, number, use, report);
	return LPL_OK;
}

void survey_process_over(struct survey *survey, struct survey_process *process)
{
	for (size_t i = 0; i < process->set.room; i++) {
		uint64_t page = process->set.page[i];
		const struct use *use = page ? use_of(survey, page) : NULL;

		if (use)
			count_footprint(process, use);
	}
	page_set_free(&process->set);
	process->alive = 0;
	process->over = true;
	survey->over_processes++;
	*process->link = process->next;
	if (process->next)
		process->next->link = process->link;
	process->end = survey->now;
}

/* ---- time ---- */

bool survey_pages_close_bin(struct survey *survey)
{
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		uint64_t *alive, *references, all = 0;

		for (int type = 0; type < LPL_TYPES; type++)
			all += survey->references[kind][type];
		alive = series_at(&survey->resident[kind], survey->bin);
		references = series_at(&survey->kind_references[kind], survey->bin);
		if (!alive || !references)
			return false;
		*alive = survey->alive[kind];
		*references += all - survey->kind_counted[kind];
		survey->kind_counted[kind] = all;
	}
	return true;
}

void survey_pages_fold(struct survey *survey)
{
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		series_fold(&survey->resident[kind], FOLD_LAST);
		series_fold(&survey->kind_references[kind], FOLD_SUM);
	}
	for (unsigned int bin = 0; bin < AXIS_BINS; bin++) {
		bool filled = bin < AXIS_BINS / 2;
		uint64_t (*first)[AXIS_BITS + 1] = survey->first_in_bin;

		/* those that meet now are dropped; the last column never meets */
		for (unsigned int i = 0; i <= AXIS_BITS; i++) {
			unsigned int from = i < AXIS_BITS ? i + 1 : i;

			first[bin][i] = !filled || i + 1 == AXIS_BITS ? 0 :
				first[2 * bin][from] + first[2 * bin + 1][from];
		}
		for (unsigned int row = 0; row < HEAT_ROWS; row++)
			survey->heat[row][bin] = !filled ? 0 :
				survey->heat[row][2 * bin] + survey->heat[row][2 * bin + 1];
	}
}

void survey_pages_finish(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->kept_processes; i++) {
		if (!survey->kept_process[i]->over)
			survey_process_over(survey, survey->kept_process[i]);
	}
	if (survey->other_process.link)
		survey_process_over(survey, &survey->other_process);
	for (uint64_t i = 0; i < survey->leaves; i++) {
		struct survey_leaf *leaf = survey->leaf[i];

		for (unsigned int j = 0; leaf && j < LEAF_PAGES; j++) {
			if (leaf->use[j].known)
				close_page(survey, &leaf->use[j], &leaf->place[j]);
		}
	}
	for (int side = 0; side < SURVEY_SIDES; side++) {
		struct survey_hottest *hottest = &survey->hottest[side];

		if (hottest->count > 0)
			qsort(hottest->hot, hottest->count, sizeof(*hottest->hot), by_heat);
	}
}

void survey_pages_free(struct survey *survey)
{
	for (uint64_t i = 0; i < survey->leaves; i++)
		free(survey->leaf[i]);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		series_free(&survey->resident[kind]);
		series_free(&survey->kind_references[kind]);
	}
	free(survey->leaf);
	for (int side = 0; side < SURVEY_SIDES; side++)
		free(survey->hottest[side].hot);
	free(survey->heat);
	free(survey->row_kind);
}
