/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which format a file has.  Where formats without a header are concerned this errs on the side of
 * not knowing: a trace that was read in another format than its own would look like one.
 */
#include <string.h>

#include "format.h"
#include "recognise.h"

/* "pdats or pdats2": all but those that it is not. */
static void name_candidates(const struct lpl_sample *sample, char names[LPL_FORMAT_LIST_SIZE])
{
	const struct lpl_format *format;
	char *at = names;

	*at = '\0';
	for (size_t i = 0; (format = lpl_format_at(i)); i++) {
		if (format->recognise && format->recognise(sample) != LPL_OTHER)
			at = stpcpy(stpcpy(at, at == names ? "" : " or "), format->name);
	}
}

/* "din, hex or pdats": all that could have been. */
static void name_recognised(char names[LPL_FORMAT_LIST_SIZE])
{
	const struct lpl_format *format, *last = NULL;
	const char *between = "";
	char *at = names;

	*at = '\0';
	for (size_t i = 0; (format = lpl_format_at(i)); i++) {
		if (!format->recognise)
			continue;
		if (last) {
			at = stpcpy(stpcpy(at, between), last->name);
			between = ", ";
		}
		last = format;
	}
	if (last)
		stpcpy(stpcpy(at, at == names ? "" : " or "), last->name);
}

static void refuse(const char *input, const struct lpl_sample *sample, bool has_candidates,
		   struct lpl_report *report)
{
	char names[LPL_FORMAT_LIST_SIZE];

	if (!sample->size) {
		(void)lpl_fail(report, LPL_ERR_FORMAT, "%s: is empty, so that its format cannot be "
			       "recognised: name it with --from", input);
	} else if (has_candidates) {
		name_candidates(sample, names);
		(void)lpl_fail(report, LPL_ERR_FORMAT, "%s: may be %s, but has neither a header that "
			       "says so nor enough that shows it: name its format with --from",
			       input, names);
	} else {
		name_recognised(names);
		(void)lpl_fail(report, LPL_ERR_FORMAT, "%s: is not recognised as %s: name its format "
			       "with --from", input, names);
	}
}

const struct lpl_format *lpl_recognise(const char *input, const struct lpl_sample *sample,
				       bool *guessed, struct lpl_report *report)
{
	const struct lpl_format *format, *likely = NULL;
	size_t count[LPL_CERTAIN + 1] = { 0 };

	*guessed = false;
	for (size_t i = 0; sample->size && (format = lpl_format_at(i)); i++) {
		const enum lpl_recognition recognition =
			format->recognise ? format->recognise(sample) : LPL_OTHER;

		if (recognition == LPL_CERTAIN)
			return format;
		count[recognition]++;
		if (recognition == LPL_LIKELY)
			likely = format;
	}
	*guessed = likely && (likely->traits & LPL_FORMAT_BINARY);
	/* any short text may be records, but records are not lines of text, all of one kind */
	if (count[LPL_LIKELY] == 1 && (!count[LPL_POSSIBLE] || !*guessed))
		return likely;
	refuse(input, sample, count[LPL_LIKELY] || count[LPL_POSSIBLE], report);
	return NULL;
}
