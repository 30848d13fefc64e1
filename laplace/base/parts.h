/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Specifications that are made of parts, "every:1G+length:10M": a name, a colon and a value
 * each, or a name alone, joined by plus signs or commas.  A table lists the known names.
 */
#ifndef LAPLACE_BASE_PARTS_H
#define LAPLACE_BASE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

struct lpl_part {
	const char *name;
	/*
	 * What it is, for messages: "N" is a number, "S" a number of seconds, all else is text; NULL:
	 * it has none.
	 */
	const char *value;
	unsigned int uses;	/* of a table with several: a bit for each that has this part */
};

struct lpl_parts {
	const struct lpl_part *part;
	int count;
	unsigned int use;	/* of those, the one that it is read for, and for messages its name */
	const char *used_for;
};

/* What was said.  A text may hold plus signs and commas, as long as no part's name follows. */
struct lpl_part_value {
	const char *text;	/* within the specification; NULL: the part was not given, ... */
	size_t length;
	uint64_t number;	/* of a part that is a number, from 1 on; of seconds: millionths */
	bool plain;		/* ... if this does not say that it was, as it has no value */
};

/*
 * Take `spec` apart: a value for each of the parts.  LPL_ERR_USAGE: it has a part that is none of
 * them, or not of this use, or is given twice, or has no value or one that is no number.  A number
 * may end in k, M, G or T; one of seconds may be a decimal fraction instead.
 */
enum lpl_error lpl_parts_parse(const struct lpl_parts *parts, const char *spec,
			       struct lpl_part_value *values, struct lpl_report *report);

/* Does one of the parts, of whatever use, begin here? */
bool lpl_parts_begin(const struct lpl_parts *parts, const char *at);

/*
 * And put together again: in the table's order, with plus signs and whole numbers.
 * LPL_ERR_USAGE: it is longer than `size` has room for.
 */
enum lpl_error lpl_parts_print(const struct lpl_parts *parts, const struct lpl_part_value *values,
			       char *spec, size_t size, struct lpl_report *report);

#endif
