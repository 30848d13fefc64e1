/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of memory as they are written: `16,64,256`, `16:4096:*2`, `16:256:16`,
 * `all`.
 */
#include <laplace/simulator.h>

#include "base/array.h"
#include "base/digits.h"

#include <stdlib.h>
#include <string.h>

#ifndef MOST_SIZES	/* fewer for fuzzers */
#define MOST_SIZES (1 << 24)	/* a result takes 64 bytes */
#endif

/* A number from 1 on; moves *text behind it.  0: there is none. */
static uint64_t parse_number(const char **text)
{
	uint64_t number = 0;
	const char *end = lpl_scan_decimal(*text, &number);

	if (end == NULL)
		return 0;
	*text = end;
	return number;
}

/* A size, or a range of sizes: from first to last, each `step` more or times as much. */
struct range {
	uint64_t first, last, step;
	bool times;
};

/* Moves *text behind the range; false: malformed. */
static bool parse_range(struct range *range, const char **text)
{
	range->first = parse_number(text);
	range->last = range->first;
	range->step = 1;
	range->times = false;
	if (range->first == 0)
		return false;
	if (**text != ':')
		return true;
	(*text)++;
	range->last = parse_number(text);
	if (range->last < range->first || **text != ':')
		return false;
	(*text)++;
	range->times = **text == '*';
	if (range->times)
		(*text)++;
	range->step = parse_number(text);
	return range->step > (range->times ? 1U : 0U);
}

static enum lpl_error too_many(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "more than %d sizes of memory", MOST_SIZES);
}

static enum lpl_error add_size(struct lpl_sizes *sizes, size_t *room, uint64_t size,
			       struct lpl_report *report)
{
	if (sizes->count == MOST_SIZES)
		return too_many(report);
	if (!lpl_reach(sizes->size, *room, sizes->count))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu sizes",
				sizes->count + 1);
	sizes->size[sizes->count++] = size;
	return LPL_OK;
}

static enum lpl_error add_range(struct lpl_sizes *sizes, size_t *room,
				const struct range *range, struct lpl_report *report)
{
	uint64_t size = range->first;

	/* said before they are made, and sooner */
	if (!range->times && (range->last - range->first) / range->step >= MOST_SIZES)
		return too_many(report);
	for (;;) {
		enum lpl_error error = add_size(sizes, room, size, report);

		if (error != LPL_OK)
			return error;
		/* is there a next one, up to last? */
		if (range->times ? size > range->last / range->step :
		    range->last - size < range->step)
			return LPL_OK;
		size = range->times ? size * range->step : size + range->step;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_once(struct lpl_sizes *sizes)
{
	size_t kept = 1;

	if (sizes->count == 0)
		return;
	qsort(sizes->size, sizes->count, sizeof(*sizes->size), compare);
	for (size_t i = 1; i < sizes->count; i++)
		if (sizes->size[i] != sizes->size[i - 1])
			sizes->size[kept++] = sizes->size[i];
	sizes->count = kept;
}

enum lpl_error lpl_sizes_parse(struct lpl_sizes *sizes, const char *spec,
			       struct lpl_report *report)
{
	const char *text = spec;
	size_t room = 0;

	*sizes = (struct lpl_sizes){0};
	if (strcmp(spec, "all") == 0) {
		sizes->all = true;
		return LPL_OK;
	}
	for (;;) {
		struct range range;
		enum lpl_error error;

		if (!parse_range(&range, &text) || (*text != ',' && *text != '\0')) {
			lpl_sizes_free(sizes);
			return lpl_fail(report, LPL_ERR_USAGE,
					"sizes '%.80s': not a list of numbers of pages, from 1 on "
					"(16,64,256), ranges (16:256:16, 16:4096:*2), or all",
					spec);
		}
		error = add_range(sizes, &room, &range, report);
		if (error != LPL_OK) {
			lpl_sizes_free(sizes);
			return error;
		}
		if (*text == '\0')
			break;
		text++;
	}
	sort_once(sizes);
	return LPL_OK;
}

void lpl_sizes_free(struct lpl_sizes *sizes)
{
	free(sizes->size);
	*sizes = (struct lpl_sizes){0};
}
