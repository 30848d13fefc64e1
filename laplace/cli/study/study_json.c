/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a study found, as JSON.
 */
#include <jansson.h>

#include "cli/say.h"
#include "study.h"

static json_t *points_json(const struct study_trace *trace)
{
	json_t *array = json_array();

	for (size_t i = 0; i < trace->points; i++) {
		const struct study_point *point = &trace->point[i];
		json_t *entry = json_pack("{s:I}", "k", (json_int_t)point->k);

		for (int j = 0; j < STUDY_METHODS; j++)
			json_object_set_new(entry, study_method_name[j],
				json_real(study_factor(trace->events, point->kept[j])));
		json_array_append_new(array, entry);
	}
	return array;
}

static json_t *sizes_json(const struct study_trace *trace)
{
	json_t *array = json_array();

	for (size_t i = 0; i < 2 * STUDY_TABLE_KS; i++) {
		const struct study_size *size = &trace->size[i];

		json_array_append_new(array,
			json_pack("{s:I, s:s, s:I, s:I, s:I, s:I}", "k", (json_int_t)size->k,
				  "method", study_method_name[size->method],
				  "references", (json_int_t)size->references,
				  "text_bytes", (json_int_t)size->text_bytes,
				  "zstd_bytes", (json_int_t)size->zstd_bytes,
				  "lpl_bytes", (json_int_t)size->lpl_bytes));
	}
	return array;
}

static json_t *choices_json(const struct study_trace *trace)
{
	json_t *object = json_object();

	for (int i = 0; i < STUDY_METHODS; i++) {
		const struct study_choice *choice = &trace->choice[i];

		json_object_set_new(object, study_method_name[i],
			json_pack("{s:I, s:I, s:f, s:b}", "k", (json_int_t)choice->k,
				  "references", (json_int_t)choice->kept,
				  "factor", study_factor(trace->events, choice->kept),
				  "reached", choice->reached));
	}
	return object;
}

static json_t *rows_json(const struct study_trace *trace, enum study_policy policy)
{
	json_t *array = json_array();

	for (size_t i = 0; i < trace->rows[policy]; i++) {
		const struct study_row *row = &trace->row[policy][i];
		json_t *entry = json_pack("{s:I, s:I}", "size", (json_int_t)row->size,
					  "faults", (json_int_t)row->faults);

		for (int j = 0; j < STUDY_METHODS; j++)
			json_object_set_new(entry, study_method_name[j],
				json_pack("{s:I, s:f}", "faults", (json_int_t)row->reduced[j],
					  "error", study_error(row, (enum study_method)j)));
		json_array_append_new(array, entry);
	}
	return array;
}

static json_t *errors_json(const struct study_errors *errors, enum study_policy policy)
{
	json_t *object = json_object();

	for (int i = 0; i < STUDY_METHODS; i++) {
		json_t *bins = json_array();
		unsigned int safe = errors->safe[policy][i];

		for (int ratio = 1; ratio <= STUDY_RATIOS; ratio++) {
			const struct study_bin *bin = &errors->bin[policy][i][ratio];

			if (bin->samples)
				json_array_append_new(bins,
					json_pack("{s:i, s:I, s:f, s:f}", "ratio", ratio,
						  "samples", (json_int_t)bin->samples,
						  "median", bin->median, "maximum", bin->maximum));
		}
		json_object_set_new(object, study_method_name[i],
			json_pack("{s:o, s:I, s:I, s:o}", "ratios", bins,
				  "samples", (json_int_t)errors->samples[policy][i],
				  "safe", (json_int_t)errors->within[policy][i], "safe_ratio",
				  safe ? json_integer((json_int_t)safe) : json_null()));
	}
	return object;
}

/* Names of files need not be UTF-8: what is not printable is escaped. */
static json_t *trace_json(const struct study_trace *trace)
{
	return json_pack("{s:o, s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:I, s:o}",
			 "trace", cli_json_escaped(trace->name),
			 "addresses", trace->addressing.name, "events", (json_int_t)trace->events,
			 "pages", (json_int_t)trace->pages, "damaged", trace->damaged,
			 "factors", points_json(trace), "compression", sizes_json(trace),
			 "choice", choices_json(trace),
			 study_policy_name[STUDY_CLOCK], rows_json(trace, STUDY_CLOCK),
			 "fifo", (json_int_t)trace->fifo,
			 study_policy_name[STUDY_SEGQ], rows_json(trace, STUDY_SEGQ));
}

int study_print_json(const struct study *study, const struct study_errors *errors)
{
	json_t *traces = json_array(), *by_ratio = json_object();

	for (size_t i = 0; i < study->traces; i++)
		json_array_append_new(traces, trace_json(&study->trace[i]));
	for (int i = 0; i < STUDY_POLICIES; i++)
		json_object_set_new(by_ratio, study_policy_name[i],
				    errors_json(errors, (enum study_policy)i));
	return cli_print_json(stdout,
		json_pack("{s:I, s:o, s:o}", "factor", (json_int_t)study->factor,
			  "traces", traces, "errors", by_ratio));
}
