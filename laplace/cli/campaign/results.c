/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a simulation printed (laplace sim --json), read again. */
#include <stdlib.h>

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
	json_t *ratio = json_object_get(object, "miss_ratio");

	if (json_unpack(object, "{s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "policy", &result->policy,
			"size", &size, "references", &references, "faults", &faults, "evictions",
			&evictions, "dirty_evictions", &dirty, "exact", &exact) < 0)
		return false;
	result->size = (uint64_t)size;
	result->references = (uint64_t)references;
	result->faults = (uint64_t)faults;
	result->evictions = (uint64_t)evictions;
	result->dirty_evictions = (uint64_t)dirty;
	result->exact = exact;
	result->timed = json_unpack(object, "{s:F, s:I}", "mean_resident", &result->mean_resident,
				    "space_time", &space_time) == 0;
	result->space_time = (uint64_t)space_time;
	result->has_ratio = ratio != NULL;
	result->miss_ratio = json_number_value(ratio);
	return true;
}

int results_read(const struct store *store, const struct job *job,
		 int (*each)(void *context, const struct job *job,
			     const struct campaign_result *result), void *context)
{
	char *path = store_path(store, job, "stdout", false);
	json_error_t error;
	json_t *list = path ? json_load_file(path, 0, &error) : NULL;
	bool whole = json_is_array(list) && json_array_size(list) > 0;
	int status = CLI_DONE;

	for (size_t i = 0; whole && !status && i < json_array_size(list); i++) {
		struct campaign_result result = { .timed = false };

		whole = read_result(json_array_get(list, i), &result);
		if (whole)
			status = each(context, job, &result);
	}
	if (!whole)
		status = cli_complain(CLI_DAMAGED, "%s: is no result of a simulation; remove its "
				      "directory, and it is made again", path ? path : "stdout");
	json_decref(list);
	free(path);
	return status;
}
