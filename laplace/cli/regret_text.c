/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What laplace regret prints as text, of at most 100 columns, and as CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "regret_output.h"
#include "say.h"

#define STRIP 40	/* columns of a bar */
#define TIMES 16	/* intervals of time, at most */

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

static const char *process_name(const struct lpl_regret_process *process)
{
	return process->number == 0 ? "kernel" : process->name ? process->name : "?";
}

char *regret_page(char buf[REGRET_PAGE_SIZE], const struct lpl_regret_page *page,
		  const struct lpl_regret_results *results)
{
	if (page->kind == LPL_PAGE_ANONYMOUS && page->process != KTR_NONE)
		snprintf(buf, REGRET_PAGE_SIZE, "anonymous page %" PRIx64 "000 of %s (%" PRIu32 ")",
			 page->virtual_page, process_name(&results->process[page->process]),
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

/* ---- text ---- */

/* Cycles, or seconds where it is known how long these are. */
static const char *time_text(char buf[32], const struct regret_shown *shown, uint64_t cycles)
{
	if (shown->cycles_a_second)
		snprintf(buf, 32, "%.6f s", (double)cycles / (double)shown->cycles_a_second);
	else
		snprintf(buf, 32, "%" PRIu64 " cycles", cycles);
	return buf;
}

static void print_share(FILE *out, uint64_t part, uint64_t whole)
{
	char percent[CLI_PERCENT_SIZE];

	if (whole)
		fprintf(out, " (%s)", cli_percent(percent, 3, part, whole));
}

static void print_totals(const struct regret_shown *shown, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;
	const struct lpl_regret_counts *all = &results->all;
	char path[160];

	lpl_text_escape(path, 80, shown->path, strlen(shown->path));
	fprintf(out, "%-14s %s%s\n", "trace", path, shown->is_damaged ? " (damaged)" : "");
	fprintf(out, "%-14s %" PRIu64 " at %" PRIu64 " moments, of at most %" PRIu64
		" pages that could be evicted\n", "evicted pages", all->evicted, results->moments,
		results->most_resident);
	fprintf(out, "%-14s by", "");
	for (unsigned int i = 0; i < LPL_REGRET_RECLAIMERS; i++)
		fprintf(out, "%s %s %" PRIu64, i ? "," : "", lpl_regret_reclaimer_name(i),
			results->by_reclaimer[i].evicted);
	fprintf(out, "\n%-14s of files %" PRIu64 ", anonymous %" PRIu64 ", of shared memory %" PRIu64
		"; written out for it %" PRIu64 "\n", "",
		results->by_kind[LPL_PAGE_FILE].evicted, results->by_kind[LPL_PAGE_ANONYMOUS].evicted,
		results->by_kind[LPL_PAGE_SHM].evicted, all->written);
	if (results->unknown || results->dropped || results->odd)
		fprintf(out, "%-14s and %" PRIu64 " that no event identifies, %" PRIu64
			" without contents, %" PRIu64 " odd events\n", "", results->unknown,
			results->dropped, results->odd);
	fprintf(out, "%-14s %" PRIu64, "used again", all->outcome[LPL_REGRET_USED]);
	print_share(out, all->outcome[LPL_REGRET_USED], all->evicted);
	fprintf(out, "; ended before that %" PRIu64 ", never used again %" PRIu64 ", not known %" PRIu64
		"\n%-14s %" PRIu64, all->outcome[LPL_REGRET_ENDED], all->outcome[LPL_REGRET_NEVER],
		all->outcome[LPL_REGRET_CUT], "regrettable", all->better);
	print_share(out, all->better, all->evicted);
	fprintf(out, ": another page would have been better\n%-14s %" PRIu64 "; OPT reads %" PRIu64
		", so that %" PRIu64, "read back", all->returned, all->optimal,
		all->returned - all->optimal);
	print_share(out, all->returned - all->optimal, all->returned);
	fputs(" could be avoided\n", out);
}

static void print_bar(FILE *out, const char *name, uint64_t part, uint64_t most)
{
	const unsigned int length = most ? (unsigned int)((double)part * STRIP / (double)most) : 0;

	fprintf(out, "  %-26s %10" PRIu64, name, part);
	if (part)
		fputs("  ", out);
	for (unsigned int i = 0; part && i < (length ? length : 1); i++)
		putc('#', out);
	putc('\n', out);
}

static void print_ranks(const struct regret_shown *shown, FILE *out)
{
	const uint64_t *rank = shown->results->by_rank;
	uint64_t most = 0;
	char name[32] = "none";

	for (unsigned int i = 0; i < LPL_REGRET_RANKS; i++)
		most = rank[i] > most ? rank[i] : most;
	if (!most)
		return;
	fputs("\nBETTER CANDIDATES, of all pages that could be evicted; of pages that were used again\n",
	      out);
	for (unsigned int i = 0; i < LPL_REGRET_RANKS; i++) {
		if (i == LPL_REGRET_RANKS - 1)
			snprintf(name, sizeof(name), "all");
		else if (i > 0)
			snprintf(name, sizeof(name), "up to %u %%", i * 10);
		print_bar(out, name, rank[i], most);
	}
}

static void print_distances(const struct regret_shown *shown, FILE *out)
{
	const uint64_t *distance = shown->results->by_distance;
	uint64_t most = 0;
	char name[32];

	for (unsigned int i = 0; i < 65; i++)
		most = distance[i] > most ? distance[i] : most;
	if (!most)
		return;
	fputs("\nREFERENCES from an eviction to the next use\n", out);
	for (unsigned int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "below 2^%u", i);
		if (distance[i])
			print_bar(out, name, distance[i], most);
	}
}

static const char heading[] = "   evicted used again   written read back OPT reads";

static void print_counts(FILE *out, const struct lpl_regret_counts *counts)
{
	fprintf(out, "%10" PRIu64 " %10" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64, counts->evicted,
		counts->outcome[LPL_REGRET_USED], counts->written, counts->returned, counts->optimal);
}

static void print_more(FILE *out, size_t count, uint64_t shown)
{
	if (count > shown)
		fprintf(out, "%10s %zu more\n", "...", count - (size_t)shown);
}

static bool print_files(const struct regret_shown *shown, FILE *out)
{
	size_t count;
	const struct lpl_regret_file **file = regret_files(shown->results, &count);

	if (!file)
		return false;
	if (count)
		fprintf(out, "\nFILES\n%s  file\n", heading);
	for (size_t i = 0; i < count && i < shown->top; i++) {
		const char *name = file[i]->name ? file[i]->name : "";
		const size_t length = strlen(name);

		print_counts(out, &file[i]->counts);
		if (length > 46)
			fprintf(out, "  ...%s\n", name + length - 43);
		else if (length)
			fprintf(out, "  %s\n", name);
		else
			fprintf(out, "  inode %" PRIx64 " on device %" PRIx64 "\n", file[i]->inode,
				file[i]->device);
	}
	print_more(out, count, shown->top);
	free((void *)file);
	return true;
}

static bool print_processes(const struct regret_shown *shown, FILE *out)
{
	size_t count;
	const struct lpl_regret_process **process = regret_processes(shown->results, &count);

	if (!process)
		return false;
	if (count)
		fprintf(out, "\nPROCESSES: their anonymous pages, what they reclaimed and what they "
			"missed\n%s reclaimed    missed  process\n", heading);
	for (size_t i = 0; i < count && i < shown->top; i++) {
		print_counts(out, &process[i]->counts);
		fprintf(out, " %9" PRIu64 " %9" PRIu64 "  %.16s", process[i]->reclaimed,
			process[i]->missed, process_name(process[i]));
		if (process[i]->number)
			fprintf(out, " (%" PRIu32 ")", process[i]->tgid);
		putc('\n', out);
	}
	print_more(out, count, shown->top);
	free((void *)process);
	return true;
}

static void print_times(const struct regret_shown *shown, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;
	const unsigned int bins = (results->bins + TIMES - 1) / TIMES;
	char text[32];

	fprintf(out, "\nTIME, since the trace began\n%s  from\n", heading);
	for (unsigned int i = 0; i < results->bins; i += bins) {
		struct lpl_regret_counts sum = { .evicted = 0 };

		for (unsigned int j = i; j < i + bins && j < results->bins; j++) {
			const struct lpl_regret_counts *bin = &results->bin[j];

			sum.evicted += bin->evicted;
			sum.outcome[LPL_REGRET_USED] += bin->outcome[LPL_REGRET_USED];
			sum.written += bin->written;
			sum.returned += bin->returned;
			sum.optimal += bin->optimal;
		}
		print_counts(out, &sum);
		fprintf(out, "  %s\n", time_text(text, shown, (uint64_t)i << results->bin_shift));
	}
}

static void print_use(const struct regret_shown *shown, FILE *out, const char *what,
		      const struct lpl_regret_clocks *from, const struct lpl_regret_clocks *to)
{
	char text[32];

	fprintf(out, "%s %" PRIu64 " references, %" PRIu64 " instructions, %s", what, to->ref - from->ref,
		to->instr - from->instr, time_text(text, shown, to->cycle - from->cycle));
}

static void print_worst(const struct regret_shown *shown, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;
	char page[REGRET_PAGE_SIZE], text[32];

	if (results->worsts)
		fputs("\nTHE WORST\n", out);
	for (size_t i = 0; i < results->worsts; i++) {
		const struct lpl_regret_worst *worst = &results->worst[i];
		const struct lpl_regret_eviction *of = &worst->eviction;

		fprintf(out, "%3zu. %.88s\n     evicted %s after the trace began, by %s (%.20s, %" PRIu32
			"), %s\n", i + 1, regret_page(page, &of->page, results),
			time_text(text, shown, of->evicted.cycle - results->first.cycle),
			lpl_regret_reclaimer_name(of->reclaimer), of->by ? of->by : "no name known", of->tid,
			of->dirty == 1 ? "written out" : of->dirty == 0 ? "clean" : "clean or not");
		if (of->last.ref) {
			print_use(shown, out, "     used", &of->last, &of->evicted);
			fputs(" before\n", out);
		}
		print_use(shown, out, "     used", &of->evicted, &of->next);
		fprintf(out, " after\n     %" PRIu64 " of %" PRIu64 " other pages were used later than "
			"it\n", of->rank, of->resident);
		if (!worst->best_known)
			continue;
		fprintf(out, "     best: %.82s,\n", regret_page(page, &worst->best, results));
		if (worst->best_next.ref) {
			print_use(shown, out, "           used", &of->evicted, &worst->best_next);
			fputs(" after\n", out);
		} else {
			fputs("           which was not used again\n", out);
		}
	}
}

int regret_text(const struct regret_shown *shown, FILE *out)
{
	print_totals(shown, out);
	print_ranks(shown, out);
	print_distances(shown, out);
	if (!print_files(shown, out) || !print_processes(shown, out))
		return cli_complain(CLI_FAILED, "no memory for tables");
	print_times(shown, out);
	print_worst(shown, out);
	return CLI_DONE;
}

/* ---- CSV ---- */

void regret_csv_heading(FILE *out)
{
	fputs("number,moment,kind,device,inode,generation,offset,space,virtual_page,name,outcome,rank,"
	      "resident,ref,instr,cycle,last_ref,last_instr,last_cycle,next_ref,next_instr,next_cycle,"
	      "read_back,reclaimer,tid,tgid,by,written\n", out);
}

static void print_clocks(FILE *out, const struct lpl_regret_clocks *clocks)
{
	if (clocks->ref)
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, clocks->ref, clocks->instr,
			clocks->cycle);
	else
		fputs(",,,", out);
}

static void print_name(FILE *out, const char *name)
{
	if (name && (lpl_text_is_formula(*name) || strpbrk(name, ",\"")))
		lpl_text_print_cell(out, name);
	else
		fputs(name ? name : "", out);
}

void regret_csv_line(FILE *out, const struct lpl_regret_eviction *eviction,
		     const struct lpl_regret_results *results)
{
	const struct lpl_regret_page *page = &eviction->page;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%s,", eviction->number, eviction->moment,
		lpl_page_kind_name(page->kind));
	if (page->kind == LPL_PAGE_ANONYMOUS) {
		fprintf(out, ",,,,%" PRIu64 ",%" PRIu64 ",", page->space, page->virtual_page);
		if (page->process != KTR_NONE)
			print_name(out, process_name(&results->process[page->process]));
	} else {
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,", page->device,
			page->inode, page->generation, page->offset);
		print_name(out, page->name);
	}
	fprintf(out, ",%s,", lpl_regret_outcome_name(eviction->outcome));
	if (eviction->outcome == LPL_REGRET_USED)
		fprintf(out, "%" PRIu64, eviction->rank);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, eviction->resident,
		eviction->evicted.ref, eviction->evicted.instr, eviction->evicted.cycle);
	print_clocks(out, &eviction->last);
	print_clocks(out, &eviction->next);
	fprintf(out, ",%d,%s,%" PRIu32 ",%" PRIu32 ",", eviction->is_back,
		lpl_regret_reclaimer_name(eviction->reclaimer), eviction->tid, eviction->tgid);
	print_name(out, eviction->by);
	if (eviction->dirty == KTR_NONE)
		fputs(",\n", out);
	else
		fprintf(out, ",%d\n", eviction->dirty != 0);
}
