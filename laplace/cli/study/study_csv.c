/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of a study as CSV: one file for each table and figure, which get
 * their names when all of them are whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/replace.h"
#include "cli/say.h"
#include "cli/text_output.h"
#include "study.h"

enum file {
	TABLE1, TABLE2, FIGURE2, CHOICE, FIGURE3, FIGURE4, FIGURE5, FIGURE6, FILES
};

static const struct {
	const char *name, *heading;
} about[FILES] = {
	[TABLE1] = { "table1.csv", "trace,k,events,sad,olr,sd,addresses" },
	[TABLE2] = { "table2.csv", "trace,k,method,references,text_bytes,zstd_bytes,ratio,"
		     "lpl_bytes,lpl_bytes_per_reference,addresses" },
	[FIGURE2] = { "figure2.csv", "trace,k,sad,olr,sd,addresses" },
	[CHOICE] = { "choice.csv", "trace,events,pages,method,k,references,factor,reached,"
		     "addresses" },
	[FIGURE3] = { "figure3.csv", "trace,size,faults,sad_faults,sad_error,olr_faults,"
		      "olr_error,sd_faults,sd_error,addresses" },
	[FIGURE4] = { "figure4.csv", "trace,fifo,size,faults,sad_faults,sad_error,olr_faults,"
		      "olr_error,sd_faults,sd_error,addresses" },
	[FIGURE5] = { "figure5.csv", "method,ratio,samples,median,maximum" },
	[FIGURE6] = { "figure6.csv", "method,ratio,samples,median,maximum" },
};

struct study_csv {
	char *directory;
	bool made;			/* by us */
	unsigned int open;
	struct cli_output output[FILES];
};

static int make_directory(struct study_csv *csv)
{
	struct stat existing;

	if (mkdir(csv->directory, 0777) == 0) {
		csv->made = true;
		return CLI_DONE;
	}
	if (errno != EEXIST)
		return cli_complain(CLI_FAILED, "%s: %s", csv->directory, strerror(errno));
	if (stat(csv->directory, &existing) == 0 && S_ISDIR(existing.st_mode))
		return CLI_DONE;
	return cli_complain(CLI_USAGE, "%s: exists and is no directory", csv->directory);
}

/* Memory of its own; NULL when there is none, which is told. */
static char *path_of(const char *directory, enum file file)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, about[file].name) >= 0)
		return path;
	cli_complain(CLI_FAILED, "no memory");
	return NULL;
}

int study_csv_refuse(const char *directory, const char *input)
{
	int status = CLI_DONE;

	for (int i = 0; i < FILES && !status; i++) {
		char *path = path_of(directory, (enum file)i);

		status = path ? cli_refuse_input(path, input) : CLI_FAILED;
		free(path);
	}
	return status;
}

static int open_file(struct study_csv *csv, bool overwrite)
{
	struct cli_output *output = &csv->output[csv->open];
	char *path = path_of(csv->directory, (enum file)csv->open);
	int status;

	if (!path)
		return CLI_FAILED;
	status = cli_output_open(output, path, overwrite);
	free(path);
	if (status)
		return status;
	fprintf(output->file, "%s\n", about[csv->open].heading);
	csv->open++;
	return CLI_DONE;
}

int study_csv_open(struct study_csv **csv, const char *directory, bool overwrite)
{
	int status;

	*csv = calloc(1, sizeof(**csv));
	if (*csv)
		(*csv)->directory = strdup(directory);
	if (!*csv || !(*csv)->directory) {
		free(*csv);
		*csv = NULL;
		return cli_complain(CLI_FAILED, "no memory");
	}
	status = make_directory(*csv);
	while (!status && (*csv)->open < FILES)
		status = open_file(*csv, overwrite);
	if (status) {
		study_csv_close(*csv, status);
		*csv = NULL;
	}
	return status;
}

int study_csv_close(struct study_csv *csv, int status)
{
	bool full = false;

	if (!csv)
		return status;
	/* all of them, before one gets its name */
	for (unsigned int i = 0; i < csv->open; i++)
		full |= fflush(csv->output[i].file) != 0;
	if (full)
		status = CLI_FAILED;	/* told below, of the file that it is */
	for (unsigned int i = 0; i < csv->open; i++)
		status = cli_output_close(&csv->output[i], status);
	/* a directory with something in it stays */
	if (csv->made && (status == CLI_FAILED || status == CLI_USAGE))
		(void)rmdir(csv->directory);
	free(csv->directory);
	free(csv);
	return status;
}

/* A name that could be taken for several fields, or rows, is put in quotes. */
static void put_name(FILE *file, const char *name)
{
	if (!strpbrk(name, ",\"\r\n")) {
		fputs(name, file);
		return;
	}
	fputc('"', file);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', file);
		fputc(*name, file);
	}
	fputc('"', file);
}

static void put_factors(FILE *file, const struct study_trace *trace,
			const struct study_point *point)
{
	for (int i = 0; i < STUDY_METHODS; i++)
		fprintf(file, ",%.4f", study_factor(trace->events, point->kept[i]));
	fprintf(file, ",%s\n", trace->addressing.name);
}

static void put_points(struct study_csv *csv, const struct study_trace *trace)
{
	FILE *table = csv->output[TABLE1].file, *figure = csv->output[FIGURE2].file;

	for (size_t i = 0; i < trace->points; i++) {
		const struct study_point *point = &trace->point[i];

		put_name(figure, trace->name);
		fprintf(figure, ",%" PRIu64, point->k);
		put_factors(figure, trace, point);
		for (size_t j = 0; j < STUDY_TABLE_KS; j++) {
			if (point->k != study_table_k[j])
				continue;
			put_name(table, trace->name);
			fprintf(table, ",%" PRIu64 ",%" PRIu64, point->k, trace->events);
			put_factors(table, trace, point);
		}
	}
}

static void put_sizes(FILE *file, const struct study_trace *trace)
{
	for (size_t i = 0; i < 2 * STUDY_TABLE_KS; i++) {
		const struct study_size *size = &trace->size[i];

		put_name(file, trace->name);
		fprintf(file, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64
			",%.4f,%s\n", size->k, study_method_name[size->method], size->references,
			size->text_bytes, size->zstd_bytes,
			study_factor(size->text_bytes, size->zstd_bytes), size->lpl_bytes,
			study_factor(size->lpl_bytes, size->references), trace->addressing.name);
	}
}

static void put_choices(FILE *file, const struct study_trace *trace)
{
	for (int i = 0; i < STUDY_METHODS; i++) {
		const struct study_choice *choice = &trace->choice[i];

		put_name(file, trace->name);
		fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%.4f,%s,%s\n",
			trace->events, trace->pages, study_method_name[i], choice->k, choice->kept,
			study_factor(trace->events, choice->kept), choice->reached ? "yes" : "no",
			trace->addressing.name);
	}
}

static void put_rows(FILE *file, const struct study_trace *trace, enum study_policy policy)
{
	for (size_t i = 0; i < trace->rows[policy]; i++) {
		const struct study_row *row = &trace->row[policy][i];

		put_name(file, trace->name);
		if (policy == STUDY_SEGQ)
			fprintf(file, ",%" PRIu64, trace->fifo);
		fprintf(file, ",%" PRIu64 ",%" PRIu64, row->size, row->faults);
		for (int j = 0; j < STUDY_METHODS; j++)
			fprintf(file, ",%" PRIu64 ",%.4f", row->reduced[j],
				study_error(row, (enum study_method)j));
		fprintf(file, ",%s\n", trace->addressing.name);
	}
}

void study_csv_trace(struct study_csv *csv, const struct study_trace *trace)
{
	if (!csv)
		return;
	put_points(csv, trace);
	put_sizes(csv->output[TABLE2].file, trace);
	put_choices(csv->output[CHOICE].file, trace);
	put_rows(csv->output[FIGURE3].file, trace, STUDY_CLOCK);
	put_rows(csv->output[FIGURE4].file, trace, STUDY_SEGQ);
}

static void put_bins(FILE *file, const struct study_errors *errors, enum study_policy policy)
{
	for (int i = 0; i < STUDY_METHODS; i++) {
		for (int ratio = 1; ratio <= STUDY_RATIOS; ratio++) {
			const struct study_bin *bin = &errors->bin[policy][i][ratio];

			if (bin->samples)
				fprintf(file, "%s,%d,%zu,%.4f,%.4f\n", study_method_name[i], ratio,
					bin->samples, bin->median, bin->maximum);
		}
	}
}

void study_csv_errors(struct study_csv *csv, const struct study_errors *errors)
{
	if (!csv)
		return;
	put_bins(csv->output[FIGURE5].file, errors, STUDY_CLOCK);
	put_bins(csv->output[FIGURE6].file, errors, STUDY_SEGQ);
}
