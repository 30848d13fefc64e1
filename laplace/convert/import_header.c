/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the trace says of itself that an import makes.  Foreign formats say nothing of the kind,
 * so it comes from the options, and claims no more than they do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "importer.h"
#include "merge/output/canonical.h"

const char *lpl_import_reduction(const struct lpl_import_options *options)
{
	if (options->reduction)
		return options->reduction;
	if (import_traits(options) & LPL_FORMAT_REDUCED)
		return "unknown";
	return import_traits(options) & LPL_WITH_LENGTH ? NULL : "none";
}

/* Pages that are larger than those of the reduction named are its work, too. */
static enum lpl_error describe_pages(struct lpl_importer *importer, struct lpl_report *report)
{
	struct lpl_import_result *result = &importer->result;
	const uint64_t wanted = importer->options.page_size;
	const uint64_t size = lpl_reduction_page_size(result->reduction);

	result->page_size = wanted ? wanted : size;
	if (result->page_size == size)
		return LPL_OK;
	if (strcmp(result->reduction, "unknown") == 0 && wanted > size)
		return LPL_OK;
	if (wanted < size && strcmp(result->reduction, "none") != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "--page-size=%" PRIu64 ": pages finer than "
				"4096 bytes are made by block:%" PRIu64 ", with which --reduction "
				"begins then", wanted, wanted);
	if (strcmp(result->reduction, "none") != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "--page-size=%" PRIu64 ": the reduction "
				"'%s' leaves pages of %" PRIu64 " bytes; block:BYTES makes larger "
				"ones", wanted, result->reduction, size);
	snprintf(result->reduction, sizeof(result->reduction), "block:%" PRIu64, wanted);
	return LPL_OK;
}

/* As of what laplace merge makes: see lpl_merge_canonical_meta(). */
static void describe_canonical(struct lpl_import_result *result)
{
	const size_t length = strlen(result->reduction);

	if (strcmp(result->reduction, "unknown") == 0 || lpl_reduction_fenced(result->reduction))
		return;
	snprintf(result->reduction + length, sizeof(result->reduction) - length,
		 CANONICAL_UNFENCED);
	snprintf(result->exact, sizeof(result->exact), CANONICAL_UNFENCED_EXACT);
}

enum lpl_error lpl_import_describe(struct lpl_importer *importer, const char *reduction,
				   struct lpl_report *report)
{
	struct lpl_import_result *result = &importer->result;
	char before[LPL_SPEC_SIZE], last[LPL_SPEC_SIZE] = "none";

	if (strcmp(reduction, "unknown") == 0)
		strcpy(result->reduction, reduction);
	else
		LPL_TRY(lpl_reducer_describe(NULL, reduction, result->reduction, result->exact,
					     report));
	LPL_TRY(describe_pages(importer, report));
	if (importer->options.memory)
		snprintf(last, sizeof(last), "%s:%" PRIu64,
			 importer->options.format->traits & LPL_FORMAT_HITS ? "annotated" : "lrubs",
			 importer->options.memory);
	strcpy(before, result->reduction);
	LPL_TRY(lpl_reducer_describe(before, last, result->reduction, result->exact, report));
	if (import_traits(&importer->options) & LPL_FORMAT_CANONICAL)
		describe_canonical(result);
	return LPL_OK;
}

/* The input's name, as far as it can be one: not of a pipe, on one line. */
static const char *source_of(const char *input)
{
	const char *slash = strrchr(input, '/');
	const char *name = slash ? slash + 1 : input;

	return !*name || strcmp(name, "-") == 0 || strchr(name, '\n') ? NULL : name;
}

struct lpl_meta *lpl_import_meta(const struct lpl_importer *importer, struct lpl_report *report)
{
	const struct lpl_import_options *options = &importer->options;
	const struct lpl_import_result *result = &importer->result;
	const bool canonical = options->canonical ||
			       (import_traits(options) & LPL_FORMAT_CANONICAL);
	char page_size[LPL_DECIMAL_DIGITS + 1];
	const char *const values[][2] = {
		{ LPL_META_TITLE, options->title },
		{ LPL_META_PRODUCER, options->producer },
		{ LPL_META_ADDRESSES, canonical ? "canonical" : "virtual" },
		{ LPL_META_PAGE_SIZE, page_size },
		{ LPL_META_REDUCTION, result->reduction },
		{ LPL_META_EXACT, result->exact },
		{ LPL_META_SOURCE, source_of(options->input) },
	};
	struct lpl_meta *meta = lpl_meta_new();
	bool failed = !meta;

	snprintf(page_size, sizeof(page_size), "%" PRIu64, result->page_size);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && !failed; i++)
		failed = values[i][1] && lpl_meta_set(meta, values[i][0], values[i][1]);
	if (!failed)
		return meta;
	lpl_meta_free(meta);
	(void)lpl_fail(report, LPL_ERR_UNSUPPORTED, "the trace's header cannot be made: %s",
		       options->title && strchr(options->title, '\n') ? "a title has one line" :
									"no memory");
	return NULL;
}
