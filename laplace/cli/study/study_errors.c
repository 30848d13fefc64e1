/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How wrong the faults of a reduced trace are, and over all traces, by how many times larger
 * than the reduction memory the simulated one is: figures 5 and 6.
 */
#include <stdlib.h>

#include "study.h"

#define LEAST_FAULTS 100	/* of the original, for a size to count */

double study_error(const struct study_row *row, enum study_method method)
{
	double difference = (double)row->reduced[method] - (double)row->faults;

	return 100 * (difference < 0 ? -difference : difference) / (double)row->faults;
}

/* The errors at one ratio (0: at all), over all traces; returns their number. */
static size_t gather(const struct study *study, enum study_policy policy,
		     enum study_method method, uint64_t ratio, double *error)
{
	size_t count = 0;

	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *trace = &study->trace[i];
		uint64_t k = trace->choice[method].k;

		for (size_t j = 0; j < trace->rows[policy]; j++) {
			const struct study_row *row = &trace->row[policy][j];

			/* below K nothing is promised; a few faults are no measure */
			if (row->size < k || row->faults < LEAST_FAULTS)
				continue;
			/* rounded, halves up */
			if (ratio == 0 || (2 * row->size + k) / (2 * k) == ratio)
				error[count++] = study_error(row, method);
		}
	}
	return count;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct study_bin describe(double *error, size_t count)
{
	struct study_bin bin = { .samples = count };

	if (!count)
		return bin;
	qsort(error, count, sizeof(*error), compare);
	bin.median = (error[(count - 1) / 2] + error[count / 2]) / 2;
	bin.maximum = error[count - 1];
	return bin;
}

/* From which ratio on nothing is too wrong; nothing at all is no proof. */
static unsigned int safe_from(const struct study_bin bin[STUDY_RATIOS + 1])
{
	unsigned int safe = 0;

	for (unsigned int ratio = STUDY_RATIOS; ratio >= 1; ratio--) {
		if (!bin[ratio].samples)
			continue;
		if (bin[ratio].maximum > STUDY_SAFE_ERROR)
			break;
		safe = ratio;
	}
	return safe;
}

static size_t count_safe(const double *error, size_t count)
{
	size_t safe = 0;

	for (size_t i = 0; i < count; i++)
		safe += error[i] <= STUDY_SAFE_ERROR;
	return safe;
}

bool study_sum_up(const struct study *study, struct study_errors *errors)
{
	size_t most = 0;
	double *error;

	for (size_t i = 0; i < study->traces; i++)
		most += study->trace[i].rows[STUDY_CLOCK] + study->trace[i].rows[STUDY_SEGQ];
	*errors = (struct study_errors){ .safe = { { 0 } } };
	error = calloc(most + 1, sizeof(*error));
	if (!error)
		return false;
	for (int i = 0; i < STUDY_POLICIES; i++) {
		for (int j = 0; j < STUDY_METHODS; j++) {
			struct study_bin *bin = errors->bin[i][j];

			for (unsigned int ratio = 1; ratio <= STUDY_RATIOS; ratio++)
				bin[ratio] = describe(error, gather(study, (enum study_policy)i,
								    (enum study_method)j, ratio,
								    error));
			errors->safe[i][j] = safe_from(bin);
			errors->samples[i][j] = gather(study, (enum study_policy)i,
						       (enum study_method)j, 0, error);
			errors->within[i][j] = count_safe(error, errors->samples[i][j]);
		}
	}
	free(error);
	return true;
}
