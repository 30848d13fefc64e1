/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reducers on trial: reduce a stream; say on which stream a property fails. */
#ifndef LAPLACE_TESTS_TRIAL_H
#define LAPLACE_TESTS_TRIAL_H

#include <laplace/reducer.h>

#include "oracle.h"

/* A SPEC, and what a property needs to know besides. */
struct trial {
	const char *before;	/* the SPEC that streams are reduced by first; NULL: none */
	const char *spec;
	size_t batch;
	void (*oracle)(const struct stream *in, const struct trial *trial, struct stream *out);
	uint64_t number;	/* K, TAU ... of the oracle, or the least size */
	uint32_t merged;	/* pages are numbered modulo this; 0: not merged */
};

/*
 * `out` is what SPEC makes of a stream that comes in batches and was reduced by
 * `before`.  Returns the first error; what had come out by then is in `out`.
 */
int try_reduce(const char *before, const char *spec, const struct stream *in, size_t batch,
	       struct stream *out, struct lpl_report *report);

/* The same; ends the program on failure. */
void reduce_further(const char *before, const char *spec, const struct stream *in, size_t batch,
		    struct stream *out);

/* The same of an unreduced stream. */
void reduce_stream(const char *spec, const struct stream *in, size_t batch, struct stream *out);

/* What the trial's SPEC makes of a stream, after `before`.  Ends the program on failure. */
void reduce_trial(const struct stream *in, const struct trial *trial, struct stream *out);

/* Is the reduced stream another one than the oracle's? */
bool differs_from_oracle(const struct stream *in, void *trial);

/*
 * The stream as it was and as the trial's SPEC leaves it; in both, pages are mapped
 * to fewer, as the discovery of what is shared does, when the trial says so.
 */
void before_and_after(const struct stream *in, const struct trial *trial, struct stream *before,
		      struct stream *after);

/*
 * A property that must not hold; when it does, shrink the stream, say how to get
 * there again, and end the program.
 */
void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		struct trial *trial, uint64_t seed, unsigned int number);

/* An example: of a page for each letter, those with the expected letters are left. */
void expect_pages(const char *spec, const char *in, const char *expected);

/* The next stage when it has no more room: refuses references with LPL_ERR_FULL. */
enum lpl_error refuse_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			   struct lpl_report *report);

#endif
