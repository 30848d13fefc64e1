/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * More oracles by brute force: the reducers that drop references, and what LRU,
 * OPT, WS and VMIN fetch and evict, one by one.
 */
#ifndef LAPLACE_TESTS_ORACLE_ELIMINATE_H
#define LAPLACE_TESTS_ORACLE_ELIMINATE_H

#include "oracle.h"

/* -- reductions -- */

void oracle_reblock(const struct stream *in, uint64_t bytes, struct stream *out);
void oracle_sad2(const struct stream *in, uint32_t pages, struct stream *out);
/* SAD, SAD2, SAD, SAD2 ... as whole passes, until neither drops anything. */
void oracle_sad2_fix(const struct stream *in, uint32_t pages, struct stream *out);
void oracle_sad_ws(const struct stream *in, uint64_t tau, struct stream *out);
void oracle_sd(const struct stream *in, uint32_t pages, struct stream *out);
void oracle_irg(const struct stream *in, uint64_t theta, struct stream *out);
void oracle_in_out(const struct stream *in, uint64_t instructions, struct stream *out);
void oracle_glass_cao(const struct stream *in, uint64_t instructions, struct stream *out);

/* -- policies -- */

/* A page comes into memory, or leaves it. */
struct move {
	uint64_t time;		/* WS and VMIN: by `ref`; else 0 */
	uint64_t space, page;	/* walks: space UINT64_MAX */
	bool leaves, dirty;	/* dirty: it leaves, and was written to */
};

struct history {
	struct move *move;
	size_t count, capacity;
	uint64_t resident;	/* WS and VMIN: pages in memory, summed over time */
};

/* What happens in a memory of `size` pages, or with tau = `size`. */
typedef void policy(const struct stream *in, uint64_t size, struct history *history);
policy history_lru, history_opt, history_ws, history_vmin;

void history_free(struct history *history);
bool history_equal(const struct history *a, const struct history *b);
/* Does the policy do the same with both streams? */
bool behaves_equally(policy *policy, uint64_t size, const struct stream *a,
		     const struct stream *b);

/* Distinct pages; and from the first to the last reference, by `ref`. */
uint64_t stream_pages(const struct stream *in);
uint64_t stream_span(const struct stream *in);

#endif
