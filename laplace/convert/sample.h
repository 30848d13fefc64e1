/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a file begins with, and what a format says of it. */
#ifndef LAPLACE_CONVERT_SAMPLE_H
#define LAPLACE_CONVERT_SAMPLE_H

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

#endif
