/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator's state: for simulator.c, which takes references, and for stepper.c, which takes steps
 * in their place.
 */
#ifndef LAPLACE_SIM_SIMULATOR_STRUCT_H
#define LAPLACE_SIM_SIMULATOR_STRUCT_H

#include <laplace/reducer.h>
#include <laplace/simulator.h>

#include "base/broadcast.h"
#include "reduce/pages.h"
#include "request.h"

enum { LPL_SIM_BATCH = 4096 };	/* of references: 96 KiB, to stay in a core's cache */

struct lpl_stepper;

struct lpl_simulator {
	struct lpl_sink sink;		/* first */
	struct lpl_reducer *reducer;	/* before the sink, of a behaviour sequence; or NULL */
	struct lpl_exactness exactness;	/* of what arrives at the sink */
	unsigned int jobs;
	struct lpl_request **request;
	size_t requests, request_room;
	size_t memories;		/* of demand paging */
	bool timed;			/* times must rise */
	bool shared;			/* faults are charged to owners */
	uint32_t owner;			/* to whom, now */
	uint64_t *cold;			/* by owner: first references */
	size_t cold_room;
	uint64_t least_tau;		/* or UINT64_MAX: times do not matter */
	/* once the stream has begun */
	struct lpl_simulation **simulation;	/* those of all requests */
	struct lpl_broadcast *broadcast;
	struct lpl_pages pages;
	bool named;			/* a policy is given the names of pages */
	unsigned int shift;		/* log2 of a page's size */
	struct lpl_page_names names;
	struct lpl_page_ref *ref;	/* the batch that is being filled */
	struct lpl_page page[LPL_SIM_BATCH];	/* of the references in it */
	size_t refs;			/* in it; the last one may still grow */
	struct lpl_stepper *stepper;	/* the stream comes as steps, at least sometimes; or NULL */
	uint64_t references, first_time, last_time;
	uint64_t theta;			/* it was reduced by irg:THETA; 0: not last, or not all is here */
	uint64_t gaps_seen;		/* events that have its extra number: should be one ... */
	struct lpl_event gaps;		/* ... this one */
};

/* The stream begins.  The simulations get batches. */
enum lpl_error lpl_simulator_begin(struct lpl_simulator *simulator, struct lpl_report *report);
/* Send the batch, however full it is, and begin another one. */
enum lpl_error lpl_simulator_send(struct lpl_simulator *simulator, struct lpl_report *report);
/* The number of a page that has none yet; 0: no memory. */
uint32_t lpl_simulator_new_page(struct lpl_simulator *simulator, struct lpl_page page);

#endif
