/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index (docs/format.md, section 5).  Writer and reader both build one from
 * the chunks they see; the writer stores it, the reader compares.
 */
#ifndef LAPLACE_CONTAINER_INDEX_H
#define LAPLACE_CONTAINER_INDEX_H

#include <laplace/error.h>
#include <laplace/trace.h>

#include "chunk.h"

/* Where a chunk begins, and what precedes it. */
struct lpl_index_entry {
	uint64_t offset, refs, events;
	struct lpl_clocks base;
};

/* Starts as zeros, but for `without_runs`. */
struct lpl_index {
	struct lpl_index_entry *entries;	/* owned */
	size_t count, room;
	uint64_t stride;	/* 0 stands for 1, as long as there are no chunks */
	uint64_t chunks;	/* DATA and RUNS chunks seen */
	bool without_runs;	/* of DATA only, as writers made it before November 2026 */
	uint64_t chain;
};

/* A chunk other than the index itself; false: no memory. */
bool lpl_index_add(struct lpl_index *index, const struct lpl_chunk_header *header,
		   uint64_t offset);
void lpl_index_free(struct lpl_index *index);
/* What a chunk more can add to the payload. */
#define LPL_INDEX_ENTRY_MAX 60
/* The payload of the INDEX chunk. */
size_t lpl_index_bound(const struct lpl_index *index);
size_t lpl_index_encode(const struct lpl_index *index, const struct lpl_totals *totals,
			uint8_t *out);
/* Whether it holds accounts of the recording, which makes it one of LPL_INDEX_VERSION. */
bool lpl_index_has_accounts(const struct lpl_totals *totals);
/* Only the totals of a payload, of whatever chunks; false: it is malformed. */
bool lpl_index_totals(const uint8_t *payload, size_t size, bool accounts,
		      struct lpl_totals *totals);
/* Compare a payload with what was seen; false when they differ or it is malformed. */
bool lpl_index_check(const struct lpl_index *index, const uint8_t *payload, size_t size,
		     bool accounts, struct lpl_totals *totals);

#endif
