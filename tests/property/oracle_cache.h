/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracles for policies of caches, each written down as its paper has it: queues are arrays that are
 * searched, and what there is to be known of a page is looked up by its number.
 */
#ifndef LAPLACE_TESTS_ORACLE_CACHE_H
#define LAPLACE_TESTS_ORACLE_CACHE_H

#include "oracle.h"

struct counts oracle_fifo(const struct trace *trace, uint64_t size);
struct counts oracle_mru(const struct trace *trace, uint64_t size);
struct counts oracle_random(const struct trace *trace, uint64_t size, uint64_t seed);
struct counts oracle_lfu(const struct trace *trace, uint64_t size);
struct counts oracle_sieve(const struct trace *trace, uint64_t size);

struct s3fifo_options {
	uint64_t small, ghost, hits;	/* percent, percent, number */
};
struct counts oracle_s3fifo(const struct trace *trace, uint64_t size,
			    const struct s3fifo_options *options);

struct counts oracle_2q(const struct trace *trace, uint64_t size, uint64_t in, uint64_t out);
struct counts oracle_arc(const struct trace *trace, uint64_t size);
struct counts oracle_car(const struct trace *trace, uint64_t size);
struct counts oracle_lirs(const struct trace *trace, uint64_t size, uint64_t hir, uint64_t stack);
struct counts oracle_clockpro(const struct trace *trace, uint64_t size, uint64_t cold);

#endif
