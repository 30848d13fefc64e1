/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's pages.
 *
 * Two questions are asked of sets of pages and sets of processes at once: how many pages
 * does a process reference, and how many of them no other; and how many processes, and
 * threads, does a page have.  Each living process has a set of the pages that it referenced, and
 * so has each of its tasks if there is more than one; each page has the number of programs and
 * of threads.  A process' pages are counted when it ends, or when the page does,
 * whichever is first, with the programs that had referenced the page by then.
 */
#include "survey_pages.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "time_series.h"

#define LEAF_BITS 8
#define LEAF_PAGES (1U << LEAF_BITS)
#define NO_PROCESS UINT32_MAX

struct page_use {
	uint64_t references;
	uint64_t last;		/* time of the last one; NEVER: there was none */
	uint32_t runner;	/* that made it (survey_processes.h); NO_PROCESS: look again */
	uint32_t first;		/* process that was the first ever; NO_PROCESS */
	uint32_t programs;	/* ever, so far */
	uint8_t kind;
	uint8_t kinds;		/* 1 << kind of each reference: how it was reached */
	bool exists;		/* there is such a page, and it is not over */
	bool alive;		/* and is in memory, as far as is known */
};

/* What is reported of a page if it is hot. */
struct page_place {
	uint64_t offset, task;
	uint32_t file;
	uint32_t threads;	/* that referenced it, ever, so far */
};

struct page_leaf {
	unsigned int pages;	/* that exist */
	struct page_use use[LEAF_PAGES];
	struct page_place place[LEAF_PAGES];
};

static struct page_use *use_of(const struct survey_pages *pages, uint64_t page)
{
	uint64_t leaf = page >> LEAF_BITS;
	struct page_use *use;

	if (leaf >= pages->leaves || !pages->leaf[leaf])
		return NULL;
	use = &pages->leaf[leaf]->use[page % LEAF_PAGES];
	return use->exists ? use : NULL;
}

static bool exists(const void *pages, uint64_t page)
{
	return use_of(pages, page) != NULL;
}

static bool is_kernels(enum lpl_page_kind kind)
{
	return kind == LPL_PAGE_KERNEL || kind == LPL_PAGE_PHYSICAL;
}

/* ---- a page and its processes ---- */

static void add_alive(struct survey_process *process, const struct page_use *use)
{
	if (is_kernels(use->kind))
		return;
	process->result.alive++;
	if (process->result.alive > process->result.most_alive)
		process->result.most_alive = process->result.alive;
	if (process->result.alive > process->bin_most)
		process->bin_most = process->result.alive;
}

static void drop_alive(struct survey_process *process, const struct page_use *use)
{
	assert(is_kernels(use->kind) || process->result.alive > 0);
	if (!is_kernels(use->kind))
		process->result.alive--;
}

static void count_footprint(struct survey_process *process, const struct page_use *use)
{
	struct lpl_survey_footprint *footprint = &process->result.footprint;
	bool is_program = process->result.number != 0;

	assert(!is_program || use->programs > 0);
	footprint->pages[use->kind]++;
	if (is_kernels(use->kind))
		return;
	footprint->all++;
	footprint->unshared += use->programs == is_program;
	if (is_program)
		footprint->proportional += 1 / (double)use->programs;
}

static void count_and_drop(struct survey_process *process, const struct page_use *use)
{
	count_footprint(process, use);
	if (use->alive)
		drop_alive(process, use);
}

/* Call for each living process that has referenced the page. */
static void each_process(const struct survey_pages *pages, uint64_t page,
			 const struct page_use *use,
			 void (*call)(struct survey_process *process, const struct page_use *use))
{
	struct survey_process *process = lpl_survey_processes_find(pages->processes, use->first);

	if (use->programs <= 1 && use->first != 0) {
		/* a program alone; but the kernel may have, too */
		if (process && lpl_page_set_has(&process->pages, page))
			call(process, use);
		process = lpl_survey_processes_find(pages->processes, 0);
		if (process && lpl_page_set_has(&process->pages, page))
			call(process, use);
		return;
	}
	for (process = pages->processes->living; process; process = process->next) {
		if (lpl_page_set_has(&process->pages, page))
			call(process, use);
	}
}

void lpl_survey_pages_count(const struct survey_pages *pages, struct survey_process *process)
{
	for (size_t i = 0; i < process->pages.room; i++) {
		uint64_t page = process->pages.page[i];
		const struct page_use *use = page ? use_of(pages, page) : NULL;

		if (use)
			count_footprint(process, use);
	}
}

/* ---- a page comes ---- */

static bool reach_leaf(struct survey_pages *pages, uint64_t leaf)
{
	if (!lpl_reach(pages->leaf, pages->leaves, leaf))
		return false;
	if (!pages->leaf[leaf])
		pages->leaf[leaf] = calloc(1, sizeof(**pages->leaf));
	return pages->leaf[leaf] != NULL;
}

enum lpl_error lpl_survey_pages_add(struct survey_pages *pages, const struct lpl_merge_page *page,
				    struct lpl_report *report)
{
	uint64_t leaf = page->page >> LEAF_BITS;
	bool is_of_file = page->inode != 0 && page->inode != KTR_NONE;
	struct page_place *place;

	if (!reach_leaf(pages, leaf))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for pages");
	/* no number is given twice */
	assert(page->page != 0 && !pages->leaf[leaf]->use[page->page % LEAF_PAGES].exists);
	pages->leaf[leaf]->pages++;
	pages->leaf[leaf]->use[page->page % LEAF_PAGES] = (struct page_use){
		.last = NEVER, .runner = NO_PROCESS, .first = NO_PROCESS,
		.kind = (uint8_t)page->kind, .exists = true
	};
	place = &pages->leaf[leaf]->place[page->page % LEAF_PAGES];
	*place = (struct page_place){
		.offset = page->kind == LPL_PAGE_PHYSICAL || is_of_file ? page->offset :
									  page->virtual_page
	};
	if (is_of_file || page->name_length > 0) {
		place->file = lpl_survey_files_find(&pages->files, page);
		if (place->file == 0)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for files");
	}
	pages->result.ever[page->kind]++;
	lpl_survey_page_times_add(&pages->times, page->page, page->kind);
	return LPL_OK;
}

/* ---- a page is referenced ---- */

static void count_alive(struct survey_pages *pages, enum lpl_page_kind kind)
{
	struct lpl_survey_pages *result = &pages->result;

	result->alive[kind]++;
	if (++result->all_alive > result->most_alive) {
		result->most_alive = result->all_alive;
		result->most_alive_time = pages->time->result.length;
	}
}

static bool count_thread(struct survey_pages *pages, uint64_t page, bool is_new_to_process)
{
	struct survey_thread *thread = pages->processes->thread;
	bool is_new = is_new_to_process;

	if (!thread->alone && !lpl_page_set_add(&thread->pages, page, &is_new, exists, pages))
		return false;
	pages->leaf[page >> LEAF_BITS]->place[page % LEAF_PAGES].threads += is_new;
	return true;
}

/*
 * The first reference, or another task than the last time, or it was not in memory.  Out of
 * line, for most references are none of these, and are cheaper so.
 */
__attribute__((noinline))
static enum lpl_error note_runner(struct survey_pages *pages, uint64_t page, struct page_use *use,
				   uint64_t task, struct lpl_report *report)
{
	struct survey_process *process = pages->processes->running;
	bool is_new;

	if (!use->alive) {
		use->alive = true;
		count_alive(pages, use->kind);
		if (use->references > 1)
			each_process(pages, page, use, add_alive);
		else
			pages->leaf[page >> LEAF_BITS]->place[page % LEAF_PAGES].task = task;
	}
	if (!lpl_page_set_add(&process->pages, page, &is_new, exists, pages) ||
	    (process->result.number != 0 && !count_thread(pages, page, is_new)))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the pages of a process");
	use->runner = pages->processes->runner;
	if (!is_new)
		return LPL_OK;
	/* of a page with one program and the kernel, it is the program */
	if (use->programs == 0)
		use->first = (uint32_t)process->result.number;
	use->programs += process->result.number != 0;
	add_alive(process, use);
	return LPL_OK;
}

enum lpl_error lpl_survey_pages_reference(struct survey_pages *pages, uint64_t page,
					  enum lpl_page_kind kind, uint64_t task,
					  struct lpl_report *report)
{
	const struct survey_time *time = pages->time;
	const uint64_t leaf = page >> LEAF_BITS;
	struct page_use *use;

	if (leaf >= pages->leaves || !pages->leaf[leaf])
		return lpl_fail(report, LPL_ERR_INTERNAL, "a page that no event described");
	use = &pages->leaf[leaf]->use[page % LEAF_PAGES];
	use->references++;
	use->kinds |= (uint8_t)(1U << kind);
	lpl_survey_page_times_count(&pages->times, time, page, use->last);
	use->last = time->result.length;
	if (use->runner != pages->processes->runner)
		return note_runner(pages, page, use, task, report);
	return LPL_OK;
}

void lpl_survey_pages_walked(struct survey_pages *pages, uint64_t page, bool user, uint64_t walks)
{
	const uint32_t file = pages->leaf[page >> LEAF_BITS]->place[page % LEAF_PAGES].file;

	if (file != 0)
		pages->files.result.file[file - 1].walks[user] += walks;
}

/* ---- a page goes ---- */

unsigned int lpl_survey_sharing_of(uint64_t sharers)
{
	return sharers <= 2 ? (unsigned int)sharers : sharers <= 4 ? 3 : sharers <= 8 ? 4 : 5;
}

const char *lpl_survey_sharing_name(unsigned int sharing)
{
	static const char *const name[LPL_SURVEY_SHARINGS] = {
		"kernel alone", "1", "2", "3-4", "5-8", "9 and more"
	};

	return name[sharing];
}

static enum lpl_survey_reach reach_of(const struct page_use *use)
{
	bool is_mapped = use->kinds & (1U << LPL_PAGE_FILE | 1U << LPL_PAGE_SHM);

	if (!(use->kinds & 1U << LPL_PAGE_CACHE))
		return LPL_SURVEY_BY_MAPPING;
	return is_mapped ? LPL_SURVEY_BY_BOTH : LPL_SURVEY_BY_KERNEL;
}

static void count_in_file(struct lpl_survey_file *file, const struct page_use *use)
{
	file->pages++;
	file->references += use->references;
	if (use->programs > file->most_programs)
		file->most_programs = use->programs;
}

/* All is known of the page. */
static void sum_up(struct survey_pages *pages, uint64_t page)
{
	const struct page_leaf *leaf = pages->leaf[page >> LEAF_BITS];
	const struct page_use *use = &leaf->use[page % LEAF_PAGES];
	const struct page_place *place = &leaf->place[page % LEAF_PAGES];
	const struct lpl_survey_hot_page hot = {
		.page = page, .kind = (enum lpl_page_kind)use->kind, .file = place->file,
		.offset = place->offset, .task = place->task, .references = use->references,
		.programs = use->programs
	};

	pages->result.by_sharing[use->kind][lpl_survey_sharing_of(use->programs)]++;
	pages->result.by_threads[use->kind][lpl_survey_sharing_of(place->threads)]++;
	pages->result.within_program[use->kind] += use->programs == 1 && place->threads > 1;
	if (use->programs > pages->result.most_programs && !is_kernels(use->kind))
		pages->result.most_programs = use->programs;
	if (place->threads > pages->result.most_threads && !is_kernels(use->kind))
		pages->result.most_threads = place->threads;
	if (use->kind == LPL_PAGE_FILE || use->kind == LPL_PAGE_SHM)
		pages->result.by_reach[reach_of(use)]++;
	if (place->file != 0)
		count_in_file(&pages->files.result.file[place->file - 1], use);
	lpl_survey_hottest_add(&pages->hottest, &hot, is_kernels(use->kind) ?
			       LPL_SURVEY_OF_KERNEL : LPL_SURVEY_OF_PROGRAMS);
}

void lpl_survey_pages_leave(struct survey_pages *pages, uint64_t page, bool for_ever)
{
	struct page_use *use = use_of(pages, page);
	struct page_leaf *leaf;

	if (!use)
		return;
	if (use->alive) {
		pages->result.alive[use->kind]--;
		pages->result.all_alive--;
	}
	if (!for_ever) {
		if (use->alive)
			each_process(pages, page, use, drop_alive);
		use->alive = false;
		use->runner = NO_PROCESS;
		return;
	}
	each_process(pages, page, use, count_and_drop);
	sum_up(pages, page);
	use->exists = false;
	leaf = pages->leaf[page >> LEAF_BITS];
	if (--leaf->pages == 0) {
		free(leaf);
		pages->leaf[page >> LEAF_BITS] = NULL;
	}
}

/* ---- time ---- */

bool lpl_survey_pages_close_bin(struct survey_pages *pages)
{
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		uint64_t *alive = lpl_time_series_reach(&pages->result.alive_by_bin[kind],
							pages->time->bin);

		if (!alive)
			return false;
		*alive = pages->result.alive[kind];
	}
	return true;
}

void lpl_survey_pages_fold(struct survey_pages *pages)
{
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		lpl_time_series_fold(&pages->result.alive_by_bin[kind], FOLD_LAST);
	lpl_survey_page_times_fold(&pages->times);
}

/* ---- the whole ---- */

void lpl_survey_pages_finish(struct survey_pages *pages)
{
	for (uint64_t leaf = 0; leaf < pages->leaves; leaf++) {
		for (unsigned int i = 0; pages->leaf[leaf] && i < LEAF_PAGES; i++) {
			if (pages->leaf[leaf]->use[i].exists)
				sum_up(pages, leaf << LEAF_BITS | i);
		}
	}
	lpl_survey_hottest_sort(&pages->hottest);
	pages->result.working_set = lpl_survey_page_times_finish(&pages->times);
}

bool lpl_survey_pages_init(struct survey_pages *pages, size_t hottest,
			   const struct survey_time *time, struct survey_processes *processes)
{
	pages->time = time;
	pages->processes = processes;
	lpl_survey_files_init(&pages->files);
	return lpl_survey_hottest_init(&pages->hottest, hottest);
}

void lpl_survey_pages_free(struct survey_pages *pages)
{
	for (size_t i = 0; i < pages->leaves; i++)
		free(pages->leaf[i]);
	free(pages->leaf);
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		lpl_time_series_free(&pages->result.alive_by_bin[kind]);
	lpl_survey_files_free(&pages->files);
	lpl_survey_hottest_free(&pages->hottest);
}
