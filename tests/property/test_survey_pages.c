/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` against its definitions (docs/report.md), by brute force: the
 * pages, when each was used and alive, by how many programs, and of which file it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "survey_log.h"

static bool is_kernels(const struct log *log, uint64_t page)
{
	return log->kind[page] == LPL_PAGE_KERNEL || log->kind[page] == LPL_PAGE_PHYSICAL;
}

/* Tasks of programs that have referenced the page. */
static uint64_t threads(const struct log *log, uint64_t page)
{
	bool did[TASKS] = { false };
	uint64_t count = 0;

	for (size_t i = 0; i < log->lines; i++) {
		const struct line *line = &log->line[i];

		if (line->is != REFERENCE || line->page != page || line->process == 0)
			continue;
		count += !did[line->task];
		did[line->task] = true;
	}
	return count;
}

/* Programs that have referenced the page in the first lines. */
static uint64_t programs(const struct log *log, uint64_t page, size_t lines)
{
	bool did[TASKS] = { false };
	uint64_t count = 0;

	for (size_t i = 0; i < lines; i++) {
		const struct line *line = &log->line[i];

		if (line->is == REFERENCE && line->page == page && line->process != 0 &&
		    !did[line->process]) {
			did[line->process] = true;
			count++;
		}
	}
	return count;
}

static void check_bins(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	static uint64_t heat[PAGES][LPL_SURVEY_BINS];

	memset(heat, 0, sizeof(heat));
	/* as narrow as it can be */
	assert_true(bin_of(survey, log->now) < LPL_SURVEY_BINS);
	assert_true(survey->time->bin_shift == 0 ||
		    log->now >> (survey->time->bin_shift - 1) >= LPL_SURVEY_BINS);
	assert_int_equal(survey->time->length, log->now);
	assert_int_equal(survey->time->bins, bin_of(survey, log->now) + 1);
	for (size_t i = 0; i < log->lines; i++) {
		if (log->line[i].is == REFERENCE)
			heat[log->line[i].page][bin_of(survey, log->line[i].time)]++;
	}
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		uint64_t row[LPL_SURVEY_ROWS] = { 0 }, set = 0;

		for (uint64_t page = 1; page <= log->pages; page++) {
			set += heat[page][bin] != 0;
			row[page >> survey->heatmap->row_shift] += heat[page][bin];
		}
		assert_int_equal(at_bin(&survey->pages->working_set, bin), set);
		for (unsigned int i = 0; i < LPL_SURVEY_ROWS; i++)
			assert_int_equal(survey->heatmap->references[i][bin], row[i]);
	}
}

/* Which process a task leaves in this line. */
static uint64_t left_process(const struct line *line)
{
	return line->is == MOVE ? line->before : line->process;
}

/* Replays the lines: what is alive after each, of all and of each process. */
static void check_alive(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	static bool uses[TASKS][PAGES];		/* by process, until it ends */
	bool alive[PAGES] = { false };
	uint64_t level[LPL_PAGE_KINDS] = { 0 }, peak = 0;
	uint64_t most[TASKS][LPL_SURVEY_BINS] = { { 0 } }, size[TASKS] = { 0 };
	uint64_t living[TASKS] = { 0 };
	uint64_t at_end[LPL_PAGE_KINDS][LPL_SURVEY_BINS] = { { 0 } };
	size_t next = 0;

	memset(uses, 0, sizeof(uses));
	for (uint64_t time = 0; time <= log->now; time++) {
		uint64_t bin = bin_of(survey, time);

		/* what was there when the bin began counts in it, too */
		for (int i = 0; i < TASKS; i++)
			most[i][bin] = size[i] > most[i][bin] ? size[i] : most[i][bin];
		for (; next < log->lines && log->line[next].time == time; next++) {
			const struct line *line = &log->line[next];
			uint64_t total = 0;

			if (line->is == REFERENCE) {
				alive[line->page] = true;
				uses[line->process][line->page] = true;
			} else if (line->is == LEAVE || line->is == LEAVE_FOR_EVER) {
				alive[line->page] = false;
			} else if (line->is == BEGIN || line->is == MOVE) {
				living[line->process]++;
			}
			if ((line->is == END || line->is == MOVE) && --living[left_process(line)] == 0 &&
			    left_process(line) != 0)
				memset(uses[left_process(line)], 0, sizeof(uses[0]));
			memset(level, 0, sizeof(level));
			memset(size, 0, sizeof(size));
			for (uint64_t page = 1; page <= log->pages; page++) {
				if (!alive[page])
					continue;
				level[log->kind[page]]++;
				total++;
				for (int i = 0; i < 64 && !is_kernels(log, page); i++)
					size[i] += uses[i][page];
			}
			peak = total > peak ? total : peak;
			for (int i = 0; i < 64; i++)
				most[i][bin] = size[i] > most[i][bin] ? size[i] : most[i][bin];
		}
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			at_end[kind][bin] = level[kind];
	}
	assert_int_equal(survey->pages->most_alive, peak);
	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			assert_int_equal(at_bin(&survey->pages->alive_by_bin[kind], bin),
					 at_end[kind][bin]);
		for (uint64_t i = 0; i < survey->processes->recorded; i++) {
			const struct lpl_survey_process *process =
				lpl_survey_process_at(survey, i);

			if (process->number < 64)
				assert_int_equal(at_bin(&process->alive_by_bin, bin),
						 most[process->number][bin]);
		}
	}
}

static void check_sharing(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t shared[LPL_PAGE_KINDS][LPL_SURVEY_SHARINGS] = { { 0 } };
	uint64_t by_threads[LPL_PAGE_KINDS][LPL_SURVEY_SHARINGS] = { { 0 } };
	uint64_t within[LPL_PAGE_KINDS] = { 0 }, most = 0;

	for (uint64_t page = 1; page <= log->pages; page++) {
		uint64_t n = programs(log, page, log->lines), m = threads(log, page);

		shared[log->kind[page]][n <= 2 ? n : n <= 4 ? 3 : n <= 8 ? 4 : 5]++;
		by_threads[log->kind[page]][m <= 2 ? m : m <= 4 ? 3 : m <= 8 ? 4 : 5]++;
		within[log->kind[page]] += n == 1 && m >= 2;
		most = !is_kernels(log, page) && m > most ? m : most;
	}
	assert_memory_equal(survey->pages->by_sharing, shared, sizeof(shared));
	assert_memory_equal(survey->pages->by_threads, by_threads, sizeof(by_threads));
	assert_memory_equal(survey->pages->within_program, within, sizeof(within));
	assert_int_equal(survey->pages->most_threads, most);
}

/* Where a process or a page ends: the line's index, or that of the end. */
static size_t end_of(const struct log *log, uint64_t process, uint64_t page)
{
	uint64_t living = 0;

	for (size_t i = 0; i < log->lines; i++) {
		const struct line *line = &log->line[i];

		if (line->is == LEAVE_FOR_EVER && line->page == page)
			return i;
		if ((line->is == BEGIN || line->is == MOVE) && line->process == process)
			living++;
		if ((line->is == END || line->is == MOVE) && left_process(line) == process &&
		    --living == 0 && process != 0)
			return i;
	}
	return log->lines;
}

static void check_footprints(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;

	for (uint64_t i = 0; i < survey->processes->recorded; i++) {
		const struct lpl_survey_process *recorded = lpl_survey_process_at(survey, i);
		const struct lpl_survey_footprint *footprint = &recorded->footprint;
		uint64_t process = recorded->number;
		struct lpl_survey_footprint sum = { .all = 0 };
		bool did[PAGES] = { false };

		for (size_t j = 0; j < log->lines; j++) {
			if (log->line[j].is == REFERENCE && log->line[j].process == process)
				did[log->line[j].page] = true;
		}
		for (uint64_t page = 1; page <= log->pages; page++) {
			uint64_t n;

			if (!did[page])
				continue;
			sum.pages[log->kind[page]]++;
			if (is_kernels(log, page))
				continue;
			n = programs(log, page, end_of(log, process, page));
			sum.all++;
			sum.unshared += n == (process != 0);
			sum.proportional += process ? 1 / (double)n : 0;
		}
		assert_memory_equal(footprint->pages, sum.pages, sizeof(sum.pages));
		assert_int_equal(footprint->all, sum.all);
		assert_int_equal(footprint->unshared, sum.unshared);
		assert_true(footprint->proportional - sum.proportional < 1e-6 &&
			    sum.proportional - footprint->proportional < 1e-6);
	}
}

static void check_heat(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t count[PAGES] = { 0 }, all = 0, covered = 0, pages = 0;
	bool taken[PAGES] = { false };

	for (size_t i = 0; i < log->lines; i++) {
		count[log->line[i].page] += log->line[i].is == REFERENCE;
		all += log->line[i].is == REFERENCE;
	}
	assert_int_equal(survey->references->all, all);
	for (int side = 0; side < LPL_SURVEY_SIDES; side++) {
		for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
			uint64_t best = 0;

			for (uint64_t page = 1; page <= log->pages; page++) {
				if (!taken[page] &&
				    is_kernels(log, page) == (side == LPL_SURVEY_OF_KERNEL) &&
				    (best == 0 || count[page] > count[best]))
					best = page;
			}
			taken[best] = true;
			assert_int_equal(survey->hottest[side].page[i].page, best);
			assert_int_equal(survey->hottest[side].page[i].references, count[best]);
			assert_int_equal(survey->hottest[side].page[i].programs,
					 programs(log, best, log->lines));
		}
	}
	for (; 10 * covered < 9 * all; pages++) {
		uint64_t best = 0;

		for (uint64_t page = 1; page <= log->pages; page++)
			best = count[page] > count[best] ? page : best;
		/* steps are of one number below 128 only */
		if (count[best] >= 128)
			return;
		covered += count[best];
		count[best] = 0;
	}
	assert_int_equal(lpl_survey_concentration(survey, 0.9), pages);
}

static bool is_of_file(const struct log *log, uint64_t page)
{
	const struct file *file = &log->file[page];

	return (file->inode != 0 && file->inode != KTR_NONE) || file->name[0] != 0;
}

/* What has no inode is known by its name instead. */
static bool is_same_file(const struct log *log, uint64_t page, const struct lpl_survey_file *file)
{
	const struct file *own = &log->file[page];

	return log->kind[page] == file->kind && own->device == file->device &&
	       own->inode == file->inode && own->generation == file->generation &&
	       (own->inode != KTR_NONE || strcmp(own->name, file->name) == 0);
}

static void check_files(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t count[PAGES] = { 0 }, of_files = 0, pages = 0;

	for (size_t i = 0; i < log->lines; i++)
		count[log->line[i].page] += log->line[i].is == REFERENCE;
	for (uint64_t page = 1; page <= log->pages; page++)
		of_files += is_of_file(log, page);
	for (size_t i = 0; i < survey->files->count; i++) {
		const struct lpl_survey_file *file = &survey->files->file[i];
		struct lpl_survey_file sum = { .pages = 0 };

		for (uint64_t page = 1; page <= log->pages; page++) {
			uint64_t n;

			if (!is_of_file(log, page) || !is_same_file(log, page, file))
				continue;
			n = programs(log, page, log->lines);
			sum.pages++;
			sum.references += count[page];
			sum.most_programs = n > sum.most_programs ? n : sum.most_programs;
		}
		assert_true(sum.pages > 0);
		assert_int_equal(file->pages, sum.pages);
		assert_int_equal(file->references, sum.references);
		assert_int_equal(file->most_programs, sum.most_programs);
		pages += sum.pages;
	}
	/* no file is there twice */
	assert_int_equal(pages, of_files);
}

/* Which process a page belongs to needs the records; when it was used does not. */
static void check(const struct log *log)
{
	check_bins(log);
	check_alive(log);
	check_sharing(log);
	check_footprints(log);
	check_heat(log);
	check_files(log);
}

int main(void)
{
	return survey_tests(&(struct survey_checks){ check, check_bins });
}
