/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What came of the jobs: table.csv and table.json have what repeats, the results, in the order of
 * the jobs; times.csv has what does not, how long each took and where.  So the tables of two runs
 * of a campaign, wherever they ran, are the same byte for byte.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include <laplace/record.h>

#include "campaign.h"
#include "cli/say.h"

static const char heading[] =
	"source,machine,seed,reduction,simulation,policy,size,references,faults,evictions,"
	"dirty_evictions,mean_resident,space_time,miss_ratio,exact,job,addresses\n";

/* ---- results ---- */

struct tables {
	FILE *csv;
	json_t *json;
};

/* A header may say anything; what is no word that a reduction has is quoted. */
static void put_reduction(const char *reduction, FILE *csv)
{
	static const char usual[] = "abcdefghijklmnopqrstuvwxyz0123456789:+-";

	if (reduction[0] != '-' && reduction[0] != '+' &&
	    reduction[strspn(reduction, usual)] == '\0')
		fputs(reduction, csv);
	else
		lpl_text_print_cell(csv, reduction);
}

static void add_csv(FILE *csv, const struct job *job, const struct campaign_result *result)
{
	fprintf(csv, "%s,%s,%s,", job->source, job->machine, job->seed);
	put_reduction(result->reduction, csv);
	fprintf(csv,
		",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
		job->simulation, result->policy, result->size, result->references, result->faults,
		result->evictions, result->dirty_evictions);
	if (result->timed)
		fprintf(csv, "%.6f,%" PRIu64, result->mean_resident, result->space_time);
	else
		fputc(',', csv);
	fputc(',', csv);
	if (result->has_ratio)
		fprintf(csv, "%.6g", result->miss_ratio);
	fprintf(csv, ",%s,%s,%s\n", result->exact ? "yes" : "no", job->identity,
		result->addresses);
}

static json_t *row_json(const struct job *job, const struct campaign_result *result)
{
	json_t *row = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "source", job->source,
		"machine", job->machine, "seed", job->seed, "reduction", result->reduction,
		"simulation", job->simulation, "policy", result->policy, "size",
		(json_int_t)result->size, "references", (json_int_t)result->references, "faults",
		(json_int_t)result->faults, "evictions", (json_int_t)result->evictions,
		"dirty_evictions", (json_int_t)result->dirty_evictions);

	if (result->timed) {
		json_object_set_new(row, "mean_resident", json_real(result->mean_resident));
		json_object_set_new(row, "space_time",
				    json_integer((json_int_t)result->space_time));
	}
	if (result->has_ratio)
		json_object_set_new(row, "miss_ratio", json_real(result->miss_ratio));
	json_object_set_new(row, "exact", json_boolean(result->exact));
	json_object_set_new(row, "job", json_string(job->identity));
	if (*result->addresses)
		json_object_set_new(row, "addresses", json_string(result->addresses));
	return row;
}

static int add_row(void *context, const struct job *job, const struct campaign_result *result)
{
	const struct tables *tables = context;

	add_csv(tables->csv, job, result);
	return json_array_append_new(tables->json, row_json(job, result)) == 0 ? CLI_DONE :
		cli_complain(CLI_FAILED, "no memory for the table");
}

static int add_all(struct tables *tables, const struct jobs *jobs, const struct store *store)
{
	int status = CLI_DONE;

	for (size_t i = 0; !status && i < jobs->count; i++) {
		if (jobs->job[i].kind == JOB_SIM && job_is_done(&jobs->job[i]))
			status = results_read(store, &jobs->job[i], add_row, tables);
	}
	return status;
}

static int write_results(const struct jobs *jobs, const struct store *store)
{
	struct tables tables = { .json = json_array() };
	struct store_text csv, json;
	int status = store_begin(&csv);

	if (!status) {
		tables.csv = csv.out;
		fputs(heading, csv.out);
		status = store_end(store, &csv, "table.csv", add_all(&tables, jobs, store));
	}
	if (!status)
		status = store_begin(&json);
	if (!status) {
		if (json_dumpf(tables.json, json.out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) < 0)
			status = cli_complain(CLI_FAILED, "no memory for the table");
		status = store_end(store, &json, "table.json", status);
	}
	json_decref(tables.json);
	return status;
}

/* ---- times ---- */

/* "seconds 3.141" ... as runner.c left them, in its order. */
static void put_times(const struct store *store, const struct job *job, FILE *out)
{
	char *path = store_path(store, job, "times", false), *line = NULL;
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		const char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		fprintf(out, ",%s", value ? value + 1 : "");
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
}

static uint64_t trace_bytes(const struct store *store, const struct job *job)
{
	char *path = store_path(store, job, "trace.lpl", false);
	struct stat about;
	uint64_t bytes = path && stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;

	free(path);
	return bytes;
}

static int write_times(const struct jobs *jobs, const struct store *store)
{
	struct store_text times;

	if (store_begin(&times))
		return CLI_FAILED;
	fputs("number,job,kind,source,machine,seed,reduction,simulation,policy,trace_bytes,"
	      "seconds,user_seconds,system_seconds,memory_kb,host\n", times.out);
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->job[i];

		if (!job_is_done(job))
			continue;
		fprintf(times.out, "%zu,%s,%s,%s,%s,%s,%s,%s,%s,%" PRIu64, i + 1, job->identity,
			job_kind_name[job->kind], job->source, job->machine, job->seed,
			job->reduction, job->simulation, job->policy, trace_bytes(store, job));
		put_times(store, job, times.out);
		fputc('\n', times.out);
	}
	return store_end(store, &times, "times.csv", CLI_DONE);
}

int table_write(const struct jobs *jobs, const struct store *store)
{
	int status = write_results(jobs, store);

	return status ? status : write_times(jobs, store);
}
