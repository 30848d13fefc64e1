/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of memory as they are written: `16,64,256`, `16:4096:*2`, `16:256:16`, `10%,12.5%`,
 * `64K:1G:*2`, `all`.
 *
 * A range is expanded in the unit that it is written in, and each of its sizes is rounded down
 * to whole pages: 10%:50%:10% is five sizes, not five times a tenth that was rounded.
 */
#include <laplace/simulator.h>

#include "base/array.h"
#include "base/digits.h"
#include "base/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifndef MOST_SIZES	/* fewer for fuzzers */
#define MOST_SIZES (1 << 24)	/* a result takes 64 bytes */
#endif

/* A percentage is kept in parts of a million: it has up to four decimals. */
enum { DECIMALS = 4, WHOLE = 1000000, PERCENT = WHOLE / 100 };

enum unit { PAGES, BYTES, PARTS };

struct parse {
	struct lpl_sizes *sizes;
	size_t room;			/* of sizes->size */
	const char *spec;
	const struct lpl_sizes_base *base;
	struct lpl_report *report;
};

static enum lpl_error malformed(const struct parse *parse)
{
	return lpl_fail(parse->report, LPL_ERR_USAGE,
			"sizes '%.80s': not a list of numbers of pages, from 1 on (16,64,256), "
			"percentages up to 100 (10%%,12.5%%), bytes (512K,64M,1G), ranges in one of "
			"these (16:256:16, 16:4096:*2), or all", parse->spec);
}

static enum lpl_error too_many(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "more than %d sizes of memory", MOST_SIZES);
}

/* ---- numbers and their units ---- */

/* A number from 1 on; moves *text after it.  0: there is none. */
static uint64_t parse_number(const char **text)
{
	uint64_t number = 0;
	const char *end = lpl_scan_decimal(*text, &number);

	if (end == NULL)
		return 0;
	*text = end;
	return number;
}

/* After `number` percent: `.5%`, or `%`.  In parts; 0: that is no percentage from 0.0001 to 100. */
static uint64_t parse_percent(uint64_t number, const char **text)
{
	uint64_t parts = number <= 100 ? number * PERCENT : UINT64_MAX;
	uint64_t worth = PERCENT;

	if (**text == '.') {
		const char *digit = *text + 1;

		for (; *digit >= '0' && *digit <= '9' && worth > 1; digit++) {
			worth /= 10;
			parts += (uint64_t)(*digit - '0') * worth;
		}
		if (digit == *text + 1)
			return 0;
		*text = digit;
	}
	if (**text != '%' || number > 100 || parts > WHOLE)
		return 0;
	(*text)++;
	return parts;
}

/* A size in its unit; moves *text after it.  0: there is none. */
static uint64_t parse_size(enum unit *unit, const char **text)
{
	static const char units[] = "KMGT";
	uint64_t number = 0;
	const char *end = lpl_scan_decimal(*text, &number);
	const char *letter;
	unsigned int shift;

	if (end == NULL)
		return 0;
	*text = end;
	if (*end == '.' || *end == '%') {
		*unit = PARTS;
		return parse_percent(number, text);
	}
	letter = *end != '\0' ? strchr(units, *end) : NULL;
	*unit = letter != NULL ? BYTES : PAGES;
	if (letter == NULL)
		return number;
	*text = strncmp(end + 1, "iB", 2) == 0 ? end + 3 : end + 1;
	shift = 10 * (unsigned int)(letter - units + 1);
	return number <= UINT64_MAX >> shift ? number << shift : 0;
}

/* A size, or a range of sizes: from first to last, each `step` more or times as much. */
struct range {
	uint64_t first, last, step;
	enum unit unit;
	bool times;
};

/* Moves *text after the range; false: malformed. */
static bool parse_range(struct range *range, const char **text)
{
	enum unit last, step;

	range->first = parse_size(&range->unit, text);
	range->last = range->first;
	range->step = 1;
	range->times = false;
	if (range->first == 0)
		return false;
	if (**text != ':')
		return true;
	(*text)++;
	range->last = parse_size(&last, text);
	if (range->last < range->first || last != range->unit || **text != ':')
		return false;
	(*text)++;
	range->times = **text == '*';
	if (range->times) {
		(*text)++;
		range->step = parse_number(text);
		return range->step > 1;
	}
	range->step = parse_size(&step, text);
	return range->step > 0 && step == range->unit;
}

/* ---- in pages ---- */

/* `parts` of a million of all pages, rounded down: without a product that is too large. */
static uint64_t part_of(uint64_t pages, uint64_t parts)
{
	return pages / WHOLE * parts + pages % WHOLE * parts / WHOLE;
}

static enum lpl_error to_pages(const struct parse *parse, enum unit unit, uint64_t *size)
{
	const struct lpl_sizes_base *base = parse->base;
	const uint64_t written = *size;

	if (unit == PAGES)
		return LPL_OK;
	parse->sizes->memory = true;
	if (unit == BYTES ? base->page_size == 0 : base->pages == 0)
		return lpl_fail(parse->report, LPL_ERR_USAGE, "sizes '%.80s': %s", parse->spec,
				unit == BYTES ? "how large a page is is not known here; "
				"give numbers of pages" : "of how many pages is not known here, or "
				"there are none; give numbers of pages");
	*size = unit == BYTES ? written / base->page_size : part_of(base->pages, written);
	if (*size != 0)
		return LPL_OK;
	return unit == BYTES ?
		lpl_fail(parse->report, LPL_ERR_USAGE, "sizes '%.80s': %" PRIu64 " bytes are less "
			 "than a page, which has %" PRIu64, parse->spec, written, base->page_size) :
		lpl_fail(parse->report, LPL_ERR_USAGE, "sizes '%.80s': %g%% of %" PRIu64 " pages is "
			 "less than one", parse->spec, (double)written / PERCENT, base->pages);
}

static enum lpl_error add_size(struct parse *parse, enum unit unit, uint64_t size)
{
	struct lpl_sizes *sizes = parse->sizes;

	LPL_TRY(to_pages(parse, unit, &size));
	if (sizes->count == MOST_SIZES)
		return too_many(parse->report);
	if (!lpl_reach(sizes->size, parse->room, sizes->count))
		return lpl_fail(parse->report, LPL_ERR_MEMORY, "no memory for %zu sizes",
				sizes->count + 1);
	sizes->size[sizes->count++] = size;
	return LPL_OK;
}

static enum lpl_error add_range(struct parse *parse, const struct range *range)
{
	uint64_t size = range->first;

	/* said before they are made, and sooner */
	if (!range->times && (range->last - range->first) / range->step >= MOST_SIZES)
		return too_many(parse->report);
	for (;;) {
		LPL_TRY(add_size(parse, range->unit, size));
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

static enum lpl_error parse_list(struct parse *parse)
{
	for (const char *text = parse->spec;; text++) {
		struct range range;
		enum lpl_error error;

		if (!parse_range(&range, &text) || (*text != ',' && *text != '\0'))
			return malformed(parse);
		error = add_range(parse, &range);
		if (error != LPL_OK || *text == '\0')
			return error;
	}
}

enum lpl_error lpl_sizes_parse_of(struct lpl_sizes *sizes, const char *spec,
				  const struct lpl_sizes_base *base, struct lpl_report *report)
{
	struct parse parse = {.sizes = sizes, .spec = spec, .base = base, .report = report};
	enum lpl_error error;

	*sizes = (struct lpl_sizes){0};
	if (strcmp(spec, "all") == 0) {
		sizes->all = true;
		return LPL_OK;
	}
	error = parse_list(&parse);
	if (error != LPL_OK)
		lpl_sizes_free(sizes);
	else
		sort_once(sizes);
	return error;
}

enum lpl_error lpl_sizes_parse(struct lpl_sizes *sizes, const char *spec,
			       struct lpl_report *report)
{
	const struct lpl_sizes_base unknown = {0};

	return lpl_sizes_parse_of(sizes, spec, &unknown, report);
}

bool lpl_sizes_need_pages(const char *spec)
{
	return strchr(spec, '%') != NULL;
}

void lpl_sizes_free(struct lpl_sizes *sizes)
{
	free(sizes->size);
	*sizes = (struct lpl_sizes){0};
}
