/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracles for OLR: the LRU behaviour of a trace, the paper's rule applied to a
 * list of events as it is written down, the paper's lower bound, and the shortest
 * trace found by trying them all.
 */
#ifndef LAPLACE_TESTS_ORACLE_OLR_H
#define LAPLACE_TESTS_ORACLE_OLR_H

#include "oracle.h"

#define NO_PAGE UINT32_MAX

/* <x, y>: reference `at` (from 0) of the trace fetches x and evicts y, or no page. */
struct fault {
	size_t at;
	uint32_t fetched, evicted;
	bool dirty;		/* the evicted page was written since it was fetched */
};

struct behaviour {
	struct fault *fault;
	size_t count;
};

/* Of an LRU memory of that many pages. */
void oracle_behaviour(const struct trace *trace, uint64_t pages, struct behaviour *behaviour);
void behaviour_free(struct behaviour *behaviour);

/* The reductions, record for record. */
void oracle_olr(const struct stream *in, uint32_t pages, struct stream *out);
void oracle_lrubs(const struct stream *in, uint32_t pages, struct stream *out);
void oracle_annotated(const struct stream *in, uint32_t pages, struct stream *out);

/* Section 4.3: the references that must be put in, at least. */
size_t oracle_lower_bound(const struct behaviour *behaviour);

/* The length of a shortest trace with this behaviour; a memory of up to MOST_TRIED pages. */
enum { MOST_TRIED = 5 };
size_t oracle_shortest(const struct behaviour *behaviour, uint32_t pages);

#endif
