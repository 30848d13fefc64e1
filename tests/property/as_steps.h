/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream to a choice as a reader may have it that was asked for steps (laplace/trace.h): references between two
 * events in patterns of a few, of which one that was there comes again; in chunks, of which the choice says
 * what it needs, some of them as references.  What is passed is noted as visits, and visits of several steps to a
 * page in a row as one, so that it does not matter how it came.
 */
#ifndef LAPLACE_TESTS_AS_STEPS_H
#define LAPLACE_TESTS_AS_STEPS_H

#include <laplace/select.h>

#include "oracle.h"

#define AS_STEPS_GROUP		12	/* references in a pattern, at most; two mostly */
#define AS_STEPS_PATTERNS	4000	/* in a stream, at most */

struct as_steps {
	struct random *random;
	/* what the choice is given */
	struct lpl_pattern pattern[AS_STEPS_PATTERNS];
	struct lpl_visit visit[AS_STEPS_PATTERNS * AS_STEPS_GROUP];
	uint32_t patterns;
	/* what it passed: patterns by their numbers, visits */
	struct lpl_pattern given[AS_STEPS_PATTERNS];
	uint32_t givens;
	struct lpl_visit *passed;	/* owned */
	size_t count, room;
	/* how much it shows: steps to patterns that were there, and chunks by what was needed */
	uint64_t again, chunks[LPL_NEED_NOTHING + 1];
	uint64_t repeated;		/* visits that come again in what was passed */
};

void as_steps_init(struct as_steps *as, struct random *random);
void as_steps_free(struct as_steps *as);

/* In a stream two references now and then are those that were before them, once and again, as where a string is copied. */
void as_steps_copy_strings(struct random *random, struct stream *stream);

/* The stream to the choice, in chunks of at most so many records.  What the choice passes as references is in `out`. */
void as_steps_send(struct as_steps *as, const struct stream *in, struct lpl_choice *choice, size_t records,
		   const struct stream *out);

/* The first place where what was passed is not the references of that stream; SIZE_MAX: there is none. */
size_t as_steps_difference(struct as_steps *as, const struct stream *expected);

#endif
