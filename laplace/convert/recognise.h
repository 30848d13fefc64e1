/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which format a file has, by what it begins with.  Formats that can be recognised say so in
 * their entry (format.h); recognise.c decides.
 */
#ifndef LAPLACE_CONVERT_RECOGNISE_H
#define LAPLACE_CONVERT_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first bytes of a file; a newline, which is not counted, follows them. */
struct lpl_sample {
	const uint8_t *bytes;
	size_t size;
	bool whole;		/* that is all of it */
};

enum lpl_recognition {
	LPL_OTHER,		/* it is not of this format */
	LPL_POSSIBLE,		/* nothing is against it, and that is no evidence */
	LPL_LIKELY,		/* nothing is against it, and in a file of another format much would be */
	LPL_CERTAIN		/* its header says so */
};

struct lpl_format;
struct lpl_report;

/*
 * The format that is certain, or the only one that is likely, while no other is even possible;
 * NULL after a complaint of `input`.  *guessed: it was not certain, and is binary.
 */
const struct lpl_format *lpl_recognise(const char *input, const struct lpl_sample *sample,
				       bool *guessed, struct lpl_report *report);

#endif
