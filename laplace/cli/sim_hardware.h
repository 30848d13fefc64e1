/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace sim -p cache:SPEC, tlb:SPEC and huge: hardware, several units of one kind in one pass. */
#ifndef LAPLACE_CLI_SIM_HARDWARE_H
#define LAPLACE_CLI_SIM_HARDWARE_H

#include <jansson.h>

#include <laplace/cache.h>
#include <laplace/huge.h>
#include <laplace/select.h>
#include <laplace/trace.h>

#include "addresses.h"
#include "options.h"

struct cli_hardware {
	const char *path;
	struct lpl_reader *reader;		/* of it, of which nothing was read yet */
	const struct lpl_choice_options *choice;
	const struct cli_addressing *addressing;
	uint64_t page_size;			/* of the trace; 0: not known */
	const char *promote;			/* of TLBs: touched pages, a list; NULL: nothing is */
	const char *caches;			/* of TLBs: what else goes through them; NULL: none */
	unsigned int jobs;
	bool json;
	enum cli_when progress;
	/* as found in a pass before the one that simulates, where regions are promoted */
	const struct lpl_huge *huge;
};

/* A kind of hardware. */
struct cli_hardware_kind {
	const char *name;		/* before the colon: "cache" */
	const char *plural;		/* "caches" */
	bool takes_events;
	const char *heading;		/* of CSV, and what follows with caches of TLBs; may be NULL */
	const char *cache_heading;
	/* `promote` is 0, or touched pages from which on regions of `sim->huge` are promoted */
	enum lpl_error (*open)(void **unit, const char *spec, unsigned int promote,
			       const struct cli_hardware *sim, struct lpl_report *report);
	struct lpl_sink *(*sink)(void *unit);
	void (*close)(void *unit);
	/* A line of CSV for each level, or, if `array` is not NULL, an object. */
	void (*print)(const void *unit, const char *spec, unsigned int promote, const struct cli_hardware *sim,
		      json_t *array);
	void (*warn)(const struct cli_hardware *sim);	/* of what the trace lacks; may be NULL */
};
extern const struct cli_hardware_kind cli_caches;	/* (sim_cache.c) */
extern const struct cli_hardware_kind cli_tlbs;		/* (sim_tlb.c) */
extern const struct cli_hardware_kind cli_regions;	/* of huge pages (sim_huge.c) */

/* Does the trace say how addresses are mapped? */
bool cli_has_translations(const struct cli_hardware *sim);
/* Find regions, in a pass of its own, which complains of nothing.  Returns an exit status. */
int cli_find_regions(struct lpl_huge **huge, const struct cli_hardware *sim);	/* (sim_huge.c) */

/* The kind of which one of the policies of this list is; NULL: none is hardware. */
const struct cli_hardware_kind *cli_hardware_of(const char *policies);
/* Simulate the list, which is cut at its commas, and print the results.  Returns an exit status. */
int cli_sim_hardware(const struct cli_hardware *asked, const struct cli_hardware_kind *kind, char *policies);

/* ---- for the kinds: cells of a line, and numbers by type of access, if they are known ---- */

void cli_print_number(bool known, uint64_t number);
void cli_print_types(bool known, const uint64_t number[LPL_CACHE_ACCESSES]);
void cli_add_types(json_t *object, const char *const name[LPL_CACHE_ACCESSES],
		   const uint64_t number[LPL_CACHE_ACCESSES]);
uint64_t cli_sum_of_types(const uint64_t number[LPL_CACHE_ACCESSES]);
extern const char *const cli_reference_types[LPL_CACHE_ACCESSES];	/* "fetches" ... */
extern const char *const cli_miss_types[LPL_CACHE_ACCESSES];		/* "fetch_misses" ... */

#endif
