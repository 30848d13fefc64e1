/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where walks find their entries, by the definitions of docs/tlbs.md: a list of all that is known of tables, searched
 * from its end, and caches by brute force.
 */
#ifndef LAPLACE_TESTS_ORACLE_WALKS_H
#define LAPLACE_TESTS_ORACLE_WALKS_H

#include "oracle_lines.h"

/* A table of a space, or of all (KTR_NONE), and where it is. */
struct walks_table {
	unsigned int table;
	uint64_t space, leads;		/* the bits of addresses that lead to it */
	uint64_t frame;
};

struct oracle_walks {
	struct oracle_cache cache;
	bool translations;
	unsigned int levels;
	uint64_t found[6][4], known[6], made_up[6];	/* by table; l1, l2, l3, memory */
	/* its own */
	struct walks_table *list;
	size_t count;
	uint64_t invented;
};

void oracle_walks_begin(struct oracle_walks *walks, const struct stream *in);
/* Record `at` is a reference, and none of a walk: those just before it say where tables are. */
void oracle_walks_learn(struct oracle_walks *walks, const struct stream *in, size_t at);
void oracle_walks_load(struct oracle_walks *walks, unsigned int table, uint64_t address, uint64_t space, bool global);
/* Bytes of one page; frame KTR_NONE: not known. */
void oracle_walks_access(struct oracle_walks *walks, uint64_t address, uint64_t bytes, uint64_t space, uint64_t frame,
			 uint8_t type);
void oracle_walks_end(struct oracle_walks *walks);

#endif
