/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the forms of laplace regret's output share: order, names, and bars. */
#include <inttypes.h>
#include <stdlib.h>

#include "regret_output.h"

/* ---- order ---- */

static int by_loss(const struct lpl_regret_counts *one, const struct lpl_regret_counts *other)
{
	if (one->returned != other->returned)
		return one->returned > other->returned ? -1 : 1;
	return one->evicted != other->evicted ? (one->evicted > other->evicted ? -1 : 1) : 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct lpl_regret_file *one = *(const struct lpl_regret_file *const *)a;
	const struct lpl_regret_file *other = *(const struct lpl_regret_file *const *)b;
	const int order = by_loss(&one->counts, &other->counts);

	return order ? order : one < other ? -1 : one > other;
}

static int compare_processes(const void *a, const void *b)
{
	const struct lpl_regret_process *one = *(const struct lpl_regret_process *const *)a;
	const struct lpl_regret_process *other = *(const struct lpl_regret_process *const *)b;
	const int order = by_loss(&one->counts, &other->counts);

	if (order)
		return order;
	if (one->missed != other->missed)
		return one->missed > other->missed ? -1 : 1;
	return one < other ? -1 : one > other;
}

const struct lpl_regret_file **regret_files(const struct lpl_regret_results *results, size_t *count)
{
	const struct lpl_regret_file **file = calloc(results->files + 1, sizeof(*file));

	*count = 0;
	for (size_t i = 0; i < results->files && file; i++)
		if (results->file[i].counts.evicted || results->file[i].counts.optimal)
			file[(*count)++] = &results->file[i];
	if (*count)
		qsort(file, *count, sizeof(*file), compare_files);
	return file;
}

const struct lpl_regret_process **regret_processes(const struct lpl_regret_results *results,
						   size_t *count)
{
	const struct lpl_regret_process **process = calloc(results->processes + 1, sizeof(*process));

	*count = 0;
	for (size_t i = 0; i < results->processes && process; i++) {
		const struct lpl_regret_process *of = &results->process[i];

		if (of->counts.evicted || of->counts.optimal || of->reclaimed || of->missed)
			process[(*count)++] = of;
	}
	if (*count)
		qsort(process, *count, sizeof(*process), compare_processes);
	return process;
}

/* ---- names ---- */

const char *regret_process_name(const struct lpl_regret_process *process)
{
	return process->number == 0 ? "kernel" : process->name ? process->name : "?";
}

char *regret_page(char buf[REGRET_PAGE_SIZE], const struct lpl_regret_page *page,
		  const struct lpl_regret_results *results)
{
	if (page->kind == LPL_PAGE_ANONYMOUS && page->process != KTR_NONE)
		snprintf(buf, REGRET_PAGE_SIZE, "anonymous page %" PRIx64 "000 of %s (%" PRIu32 ")",
			 page->virtual_page, regret_process_name(&results->process[page->process]),
			 results->process[page->process].tgid);
	else if (page->kind == LPL_PAGE_ANONYMOUS)
		snprintf(buf, REGRET_PAGE_SIZE, "anonymous page %" PRIx64 "000 of space %" PRIx64,
			 page->virtual_page, page->space);
	else if (page->name)
		snprintf(buf, REGRET_PAGE_SIZE, "page %" PRIu64 " of %s", page->offset, page->name);
	else
		snprintf(buf, REGRET_PAGE_SIZE, "page %" PRIu64 " of inode %" PRIx64 " on device %" PRIx64,
			 page->offset, page->inode, page->device);
	return buf;
}

/* ---- bars ---- */

static struct regret_bar *add_bar(struct regret_bars *bars, uint64_t value)
{
	struct regret_bar *bar = &bars->bar[bars->count++];

	bar->value = value;
	bars->most = value > bars->most ? value : bars->most;
	return bar;
}

void regret_ranks(struct regret_bars *bars, const struct lpl_regret_results *results)
{
	bars->count = 0;
	bars->most = 0;
	for (unsigned int i = 0; i < LPL_REGRET_RANKS; i++) {
		struct regret_bar *bar = add_bar(bars, results->by_rank[i]);

		if (i == 0)
			snprintf(bar->name, sizeof(bar->name), "none");
		else if (i == LPL_REGRET_RANKS - 1)
			snprintf(bar->name, sizeof(bar->name), "all");
		else
			snprintf(bar->name, sizeof(bar->name), "up to %u %%", i * 10);
	}
	if (!bars->most)
		bars->count = 0;
}

void regret_distances(struct regret_bars *bars, const struct lpl_regret_results *results)
{
	bars->count = 0;
	bars->most = 0;
	for (unsigned int i = 0; i < REGRET_BARS; i++) {
		if (results->by_distance[i])
			snprintf(add_bar(bars, results->by_distance[i])->name, sizeof(bars->bar->name),
				 "below 2^%u", i);
	}
}
