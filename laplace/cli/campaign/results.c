/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a simulation printed (laplace sim --json), read again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "campaign.h"
#include "cli/say.h"

bool job_is_done(const struct job *job)
{
	return job->state == JOB_DONE || job->state == JOB_MADE;
}

static bool read_result(json_t *object, struct campaign_result *result)
{
	json_int_t size, references, faults, evictions, dirty, space_time = 0;
	int exact;
	json_t *addresses = json_object_get(object, "addresses");
	json_t *ratio = json_object_get(object, "miss_ratio");

	if (json_unpack(object, "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "policy",
			&result->policy, "reduction", &result->reduction, "size", &size, "references", &references, "faults", &faults, "evictions",
			&evictions, "dirty_evictions", &dirty, "exact", &exact) < 0)
		return false;
	result->size = (uint64_t)size;
	result->references = (uint64_t)references;
	result->faults = (uint64_t)faults;
	result->evictions = (uint64_t)evictions;
	result->dirty_evictions = (uint64_t)dirty;
	result->exact = exact;
	result->addresses = json_is_string(addresses) ? json_string_value(addresses) : "";
	result->timed = json_unpack(object, "{s:F, s:I}", "mean_resident", &result->mean_resident,
				    "space_time", &space_time) == 0;
	result->space_time = (uint64_t)space_time;
	result->has_ratio = ratio != NULL;
	result->miss_ratio = json_number_value(ratio);
	return true;
}

static bool read_sum(char sum[HASH_SIZE], const struct store *store, const struct job *job)
{
	char *path = store_path(store, job, "sum", false);
	FILE *file = path ? fopen(path, "re") : NULL;
	bool got = file && fgets(sum, HASH_SIZE, file);

	if (file)
		fclose(file);
	free(path);
	return got;
}

/* Is it what the job printed? */
static bool is_whole(const char *path, const struct store *store, const struct job *job)
{
	char sum[HASH_SIZE], now[HASH_SIZE];

	return read_sum(sum, store, job) && access(path, R_OK) == 0 &&
	       hash_file(now, path) == CLI_DONE && strcmp(now, sum) == 0;
}

int results_read(const struct store *store, const struct job *job,
		 int (*each)(void *context, const struct job *job,
			     const struct campaign_result *result), void *context)
{
	char *path = store_path(store, job, "stdout", false);
	json_error_t error;
	json_t *list = path && is_whole(path, store, job) ? json_load_file(path, 0, &error) : NULL;
	bool whole = json_is_array(list) && json_array_size(list) > 0;
	int status = CLI_DONE;

	for (size_t i = 0; whole && !status && i < json_array_size(list); i++) {
		struct campaign_result result = { .timed = false };

		whole = read_result(json_array_get(list, i), &result);
		if (whole)
			status = each(context, job, &result);
	}
	if (!whole)
		status = cli_complain(CLI_DAMAGED, "%s: is not what the simulation printed; remove "
				      "its directory, and it is made again", path ? path : "stdout");
	json_decref(list);
	free(path);
	return status;
}

static int no_more(void *context, const struct job *job, const struct campaign_result *result)
{
	(void)context;
	(void)job;
	(void)result;
	return CLI_DONE;
}

int results_check(struct jobs *jobs, const struct store *store)
{
	int status = CLI_DONE;

	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->job[i];

		if (job->kind == JOB_SIM && job_is_done(job) &&
		    results_read(store, job, no_more, NULL)) {
			job->state = JOB_DAMAGED;
			status = CLI_DAMAGED;
		}
	}
	return status;
}
