/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a study found, as text for people.
 */
#include <inttypes.h>
#include <string.h>

#include "study.h"

static const char *const policy_title[STUDY_POLICIES] = { "CLOCK", "SEGQ" };
static const char *const method_title[STUDY_METHODS] = { "SAD", "OLR", "SD" };

#define NAME_WIDTH 20

/* Names are of files, and may hold anything. */
static void print_name(const char *name)
{
	char text[4 * 64 + 1];
	size_t length = strlen(name);

	lpl_text_escape(text, sizeof(text), name, length < 64 ? length : 64);
	printf("%-*s", NAME_WIDTH, text);
}

static void print_factor(double factor)
{
	printf(" %10.*f", factor < 100 ? 2 : factor < 1000 ? 1 : 0, factor);
}

static void print_table1(const struct study *study)
{
	printf("Reduction factors (table 1)\n%-*s %6s %12s %8s %10s %10s %10s  %s\n",
	       NAME_WIDTH, "trace", "K", "events", "pages", "SAD", "OLR", "SD", "addresses");
	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *trace = &study->trace[i];

		for (size_t j = 0; j < trace->points; j++) {
			const struct study_point *point = &trace->point[j];

			if (point->k != study_table_k[0] && point->k != study_table_k[1])
				continue;
			print_name(trace->name);
			printf(" %6" PRIu64 " %12" PRIu64 " %8" PRIu64, point->k, trace->events,
			       trace->pages);
			for (int k = 0; k < STUDY_METHODS; k++)
				print_factor(study_factor(trace->events, point->kept[k]));
			printf("  %s\n", trace->addressing.name);
		}
	}
}

static void print_table2(const struct study *study)
{
	printf("\nCompression of reduced traces by zstd (table 2)\n%-*s %6s %6s %12s %10s %16s\n",
	       NAME_WIDTH, "trace", "K", "method", "references", "text/zstd", "bytes/reference");
	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *trace = &study->trace[i];

		for (size_t j = 0; j < 2 * STUDY_TABLE_KS; j++) {
			const struct study_size *size = &trace->size[j];

			print_name(trace->name);
			printf(" %6" PRIu64 " %6s %12" PRIu64, size->k,
			       method_title[size->method], size->references);
			print_factor(study_factor(size->text_bytes, size->zstd_bytes));
			printf(" %16.2f\n", study_factor(size->lpl_bytes, size->references));
		}
	}
}

static void print_choices(const struct study *study)
{
	bool all = true;

	printf("\nReduced about %" PRIu64 " times\n%-*s", study->factor, NAME_WIDTH, "trace");
	for (int i = 0; i < STUDY_METHODS; i++)
		printf(" %8s %10s", "K", method_title[i]);
	putchar('\n');
	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *trace = &study->trace[i];
		bool reached = true;

		print_name(trace->name);
		for (int j = 0; j < STUDY_METHODS; j++) {
			printf(" %8" PRIu64, trace->choice[j].k);
			print_factor(study_factor(trace->events, trace->choice[j].kept));
			reached &= trace->choice[j].reached;
		}
		puts(reached ? "" : " *");
		all &= reached;
	}
	if (!all)
		puts("* has too few references for its pages: the nearest there is");
}

/* Errors at the memories of one trace, from the method's reduction memory on. */
static void print_errors_of(const struct study_trace *trace, enum study_policy policy)
{
	print_name(trace->name);
	printf(" %5zu", trace->rows[policy]);
	for (int i = 0; i < STUDY_METHODS; i++) {
		double sum = 0, most = 0;
		size_t count = 0;

		for (size_t j = 0; j < trace->rows[policy]; j++) {
			const struct study_row *row = &trace->row[policy][j];
			double error = study_error(row, (enum study_method)i);

			if (row->size < trace->choice[i].k)
				continue;
			sum += error;
			most = error > most ? error : most;
			count++;
		}
		if (count)
			printf(" %9.3f %9.3f", sum / (double)count, most);
		else
			printf(" %9s %9s", "-", "-");
	}
	putchar('\n');
}

static void print_figure(const struct study *study, const struct study_errors *errors,
			 enum study_policy policy)
{
	printf("\n%s: error in faults from K on, %% (figure %d)\n%-*s %5s", policy_title[policy],
	       3 + (int)policy, NAME_WIDTH, "trace", "sizes");
	for (int i = 0; i < STUDY_METHODS; i++)
		printf(" %4s mean %9s", method_title[i], "maximum");
	putchar('\n');
	for (size_t i = 0; i < study->traces; i++)
		print_errors_of(&study->trace[i], policy);

	printf("\n%s: error in faults by simulated to reduction memory, %% (figure %d)\n%5s",
	       policy_title[policy], 5 + (int)policy, "ratio");
	for (int i = 0; i < STUDY_METHODS; i++)
		printf(" %8s %6s %9s", "samples", method_title[i], "maximum");
	putchar('\n');
	for (int ratio = 1; ratio <= STUDY_RATIOS; ratio++) {
		printf("%5d", ratio);
		for (int i = 0; i < STUDY_METHODS; i++) {
			const struct study_bin *bin = &errors->bin[policy][i][ratio];

			if (bin->samples)
				printf(" %8zu %6.3f %9.3f", bin->samples, bin->median,
				       bin->maximum);
			else
				printf(" %8d %6s %9s", 0, "-", "-");
		}
		putchar('\n');
	}
}

void study_print_text(const struct study *study, const struct study_errors *errors)
{
	print_table1(study);
	print_table2(study);
	print_choices(study);
	for (int i = 0; i < STUDY_POLICIES; i++)
		print_figure(study, errors, (enum study_policy)i);
	printf("\nMemories from K on with an error of at most %g %%\n", STUDY_SAFE_ERROR);
	for (int i = 0; i < STUDY_POLICIES; i++) {
		printf("%-6s", policy_title[i]);
		for (int j = 0; j < STUDY_METHODS; j++)
			printf("  %s %zu of %zu", method_title[j], errors->within[i][j],
			       errors->samples[i][j]);
		putchar('\n');
	}
	printf("\nThe smallest ratio from which on no error is above %g %%\n", STUDY_SAFE_ERROR);
	for (int i = 0; i < STUDY_POLICIES; i++) {
		printf("%-6s", policy_title[i]);
		for (int j = 0; j < STUDY_METHODS; j++) {
			if (errors->safe[i][j])
				printf("  %s %u:1", method_title[j], errors->safe[i][j]);
			else
				printf("  %s none", method_title[j]);
		}
		putchar('\n');
	}
}
