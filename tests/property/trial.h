/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reducers on trial: reduce a stream; say on which stream a property fails. */
#ifndef LAPLACE_TESTS_TRIAL_H
#define LAPLACE_TESTS_TRIAL_H

#include "oracle.h"

/* `out` is what SPEC makes of a stream that comes in batches.  Ends the program on failure. */
void reduce_stream(const char *spec, const struct stream *in, size_t batch, struct stream *out);

/* A SPEC, and what a property needs to know besides. */
struct trial {
	const char *spec;
	size_t batch;
	void (*oracle)(const struct stream *in, const struct trial *trial, struct stream *out);
	uint64_t number;	/* K, TAU ... of the oracle, or the least size */
};

/* Is the reduced stream another one than the oracle's? */
bool differs_from_oracle(const struct stream *in, void *trial);

/*
 * A property that must not hold; when it does, shrink the stream, say how to get
 * there again, and end the program.
 */
void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		struct trial *trial, uint64_t seed, unsigned int number);

#endif
