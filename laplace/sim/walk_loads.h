/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the walks of a simulated TLB find the entries that they load: caches through which all references go,
 * and what is known of where page tables are.  docs/tlbs.md, "Where walks find their entries", defines it.
 */
#ifndef LAPLACE_SIM_WALK_LOADS_H
#define LAPLACE_SIM_WALK_LOADS_H

#include <laplace/tlb.h>
#include <laplace/translation.h>

struct lpl_walk_loads;

/*
 * `tables`: that a walk to a page of 4K goes through.  `translations`: of the trace; NULL: it has none.  Not owned,
 * and has to last as long.  LPL_ERR_USAGE: SPEC is none of caches; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_walk_loads_open(struct lpl_walk_loads **loads, const char *caches, unsigned int tables,
				   struct lpl_translations *translations, struct lpl_report *report);
void lpl_walk_loads_close(struct lpl_walk_loads *loads);	/* NULL is fine */

/* A reference of a walk that the processor made; and one that is none, to a space. */
void lpl_walk_loads_see(struct lpl_walk_loads *loads, const struct lpl_ref *ref);
/* LPL_ERR_MEMORY: here, or in a load before. */
enum lpl_error lpl_walk_loads_learn(struct lpl_walk_loads *loads, uint64_t space, struct lpl_report *report);
/* An entry of a table, 1 for the last one, is loaded for an address; `global`: of its page. */
void lpl_walk_loads_load(struct lpl_walk_loads *loads, unsigned int table, uint64_t address, uint64_t space,
			 bool global);
/* An access of so many bytes, all in one page. */
void lpl_walk_loads_access(struct lpl_walk_loads *loads, uint64_t address, unsigned int length, uint64_t space,
			   enum lpl_cache_access type);

const struct lpl_cache *lpl_walk_loads_caches(const struct lpl_walk_loads *loads);
const struct lpl_tlb_loads *lpl_walk_loads_of(const struct lpl_walk_loads *loads, unsigned int table);

#endif
