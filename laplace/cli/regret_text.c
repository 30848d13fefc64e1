/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What laplace regret prints as text, of at most 100 columns, and as CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "regret_output.h"
#include "say.h"

#define STRIP 40	/* columns of a bar */
#define TIMES 16	/* intervals of time, at most */

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
	fprintf(out, " could be avoided\n%-14s %" PRIu64 "; evicted before they were used %" PRIu64, "brought in",
		all->brought, all->unused);
	print_share(out, all->unused, all->brought);
	putc('\n', out);
}

static void print_bars(FILE *out, const char *title, const struct regret_bars *bars)
{
	if (bars->count)
		fprintf(out, "\n%s\n", title);
	for (unsigned int i = 0; i < bars->count; i++) {
		const struct regret_bar *bar = &bars->bar[i];
		const unsigned int length = (unsigned int)((double)bar->value * STRIP / (double)bars->most);

		fprintf(out, "  %-26s %10" PRIu64, bar->name, bar->value);
		if (bar->value)
			fputs("  ", out);
		for (unsigned int j = 0; bar->value && j < (length ? length : 1); j++)
			putc('#', out);
		putc('\n', out);
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
			process[i]->missed, regret_process_name(process[i]));
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

void regret_story(const struct regret_shown *shown, size_t i, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;
	const struct lpl_regret_worst *worst = &results->worst[i];
	const struct lpl_regret_eviction *of = &worst->eviction;
	char page[REGRET_PAGE_SIZE], text[32];

	fprintf(out, "%3zu. %.88s\n     evicted %s after the trace began, by %s (%.20s, %" PRIu32 "), %s\n",
		i + 1, regret_page(page, &of->page, results),
		time_text(text, shown, of->evicted.cycle - results->first.cycle),
		lpl_regret_reclaimer_name(of->reclaimer), of->by ? of->by : "no name known", of->tid,
		of->dirty == 1 ? "written out" : of->dirty == 0 ? "clean" : "clean or not");
	if (of->last.ref) {
		print_use(shown, out, "     used", &of->last, &of->evicted);
		fputs(" before\n", out);
	}
	print_use(shown, out, "     used", &of->evicted, &of->next);
	fprintf(out, " after\n     %" PRIu64 " of %" PRIu64 " other pages were used later than it\n", of->rank,
		of->resident);
	if (!worst->best_known)
		return;
	fprintf(out, "     best: %.82s,\n", regret_page(page, &worst->best, results));
	if (worst->best_next.ref) {
		print_use(shown, out, "           used", &of->evicted, &worst->best_next);
		fputs(" after\n", out);
	} else {
		fputs("           which was not used again\n", out);
	}
}

int regret_text(const struct regret_shown *shown, FILE *out)
{
	struct regret_bars bars;

	print_totals(shown, out);
	regret_ranks(&bars, shown->results);
	print_bars(out, "BETTER CANDIDATES, of all pages that could be evicted; of pages that were used again", &bars);
	regret_distances(&bars, shown->results);
	print_bars(out, "REFERENCES from an eviction to the next use", &bars);
	if (!print_files(shown, out) || !print_processes(shown, out))
		return cli_complain(CLI_FAILED, "no memory for tables");
	print_times(shown, out);
	if (shown->results->worsts)
		fputs("\nTHE WORST\n", out);
	for (size_t i = 0; i < shown->results->worsts; i++)
		regret_story(shown, i, out);
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

/* One without a name has none here. */
static void print_process(FILE *out, const struct lpl_regret_process *process)
{
	print_name(out, process->number == 0 ? regret_process_name(process) : process->name);
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
			print_process(out, &results->process[page->process]);
	} else {
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,", page->device,
			page->inode & ~KTR_INODE_SYSV, page->generation, page->offset);
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
