/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator: a sink that counts the faults replacement policies would take.
 * Any number of policies and sizes in one pass over a trace, on several threads.
 *
 * A page is (space, address / page size); in a canonical trace every space is 0.
 * A first reference to a page is a fault.  A page is dirty from its first write after
 * it was fetched until it is evicted.  docs/simulation.md defines the policies.
 *
 *	lpl_simulator_open(&simulator, NULL, &report);
 *	lpl_simulator_add(simulator, "lru", NULL, &report);
 *	lpl_simulator_add(simulator, "segq:fifo=16", &sizes, &report);
 *	lpl_reader_run(reader, lpl_simulator_sink(simulator), &report);
 *	result = lpl_simulator_results(simulator, 1, &count);	(segq's)
 *	lpl_simulator_close(simulator);
 *
 * Memory: some 40 bytes a page for all, 16 more where a policy has a function `fault`, and
 * 64 bytes a result; 60 bytes a page for lru;
 * 60 bytes a page for opt, of which all sizes also take temporary files (TMPDIR, or /var/tmp) of 8 bytes a reference,
 * references to one page in a row counting as one; 20 bytes a page and 60 bytes a tau for ws and vmin; for each size of another
 * policy 50 bytes for each page in memory (fbr and lfu 80, seq 90 and another 20 KB, glru, eelru, 2q,
 * arc, car, lirs, clockpro and s3fifo some 200, for they remember pages that left).  A memory larger than what the trace
 * touches costs no more than that.
 */
#ifndef LAPLACE_SIMULATOR_H
#define LAPLACE_SIMULATOR_H

#include <laplace/error.h>
#include <laplace/policy.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Sizes of memory, in pages; for ws and vmin taus, in references.  SPEC: a list
 * `16,64,256`, ranges `16:4096:*2` (times) and `16:256:16` (plus), or `all`.  Sorted,
 * without duplicates.  LPL_ERR_USAGE, LPL_ERR_MEMORY.
 */
struct lpl_sizes {
	bool all;
	bool memory;		/* some were written in bytes or percent: they are no taus */
	uint64_t *size;		/* owned; NULL with all */
	size_t count;
};
enum lpl_error lpl_sizes_parse(struct lpl_sizes *sizes, const char *spec,
			       struct lpl_report *report);
/*
 * The same, with bytes (`512K`, `64M`, `1GiB`, `2T`: powers of 1024) and percentages of all pages
 * (`25%`, `12.5%`), rounded down to whole pages.  Ranges are in one unit: `1M:1G:*2`,
 * `10%:50%:10%`.  LPL_ERR_USAGE also where that is less than a page, or what it is of is not known.
 */
struct lpl_sizes_base {
	uint64_t page_size;	/* in bytes */
	uint64_t pages;		/* distinct ones in what is simulated; each 0: not known */
};
enum lpl_error lpl_sizes_parse_of(struct lpl_sizes *sizes, const char *spec,
				  const struct lpl_sizes_base *base, struct lpl_report *report);
bool lpl_sizes_need_pages(const char *spec);	/* has it percentages? */
void lpl_sizes_free(struct lpl_sizes *sizes);

struct lpl_result {
	uint64_t size;		/* pages; for ws and vmin: tau, in references */
	uint64_t references;	/* simulated: after reduction */
	uint64_t faults, evictions, dirty_evictions;
	/* of ws and vmin; 0 for the others */
	uint64_t space_time;	/* pages in memory, summed over reference time */
	double mean_resident;	/* the same by the reference times there were */
	bool timed;		/* one of these two policies */
	bool exact;		/* the same as on the trace before it was reduced */
};

struct lpl_simulator;
struct lpl_page_steps;

/* What of a trace was chosen (select.h), and what is exact then, if the trace was reduced. */
enum lpl_trace_part {
	LPL_PART_ALL,		/* all of it: what is exact for the trace */
	LPL_PART_PAGES,		/* all references to some pages: the same, but no working sets, as
				 * time goes on being all references' */
	LPL_PART_REFERENCES	/* others: nothing, as a reduction drops one reference in favour of
				 * another to the same page */
};

struct lpl_simulator_options {
	unsigned int jobs;	/* threads that simulate; 1: the caller's alone; 0: as many
				 * as there are processors.  Results do not depend on it. */
	/*
	 * LPL_META_REDUCTION of the trace; NULL counts as "none".  It decides which
	 * results are exact.  Where that is a behaviour sequence, `olr:K` is
	 * put in front of the simulator and `references` counts what comes from there.
	 */
	const char *reduction;
	enum lpl_trace_part part;	/* of the trace that comes */
	/*
	 * In bytes, a power of two from 16 to 2^30; 0: what `reduction` leaves, 4096 if it has no
	 * `block:BYTES`.  What is exact from so many pages on is so from as many of any larger
	 * size.  Of an unreduced trace they may be finer than 4096 bytes: an access that lies in
	 * several is a reference to each.
	 */
	uint64_t page_size;
};

/* `options` may be NULL: all 0.  LPL_ERR_USAGE: a page size that cannot be; LPL_ERR_MEMORY. */
enum lpl_error lpl_simulator_open(struct lpl_simulator **simulator,
				  const struct lpl_simulator_options *options,
				  struct lpl_report *report);

/* Sizes one by one (those of all policies but lru, opt, ws and vmin) that fit in a pass. */
#define LPL_MOST_MEMORIES 4096

/*
 * Add a policy: one of those in docs/simulation.md, with its options after it:
 * `lru`, `segq:fifo=16`, `fbr:new=25:old=30`.  Only before the sink is used.
 *
 * `sizes` is copied.  NULL chooses: powers of two, from the smallest that is exact (or,
 * where none is, the smallest for which the trace is exact for LRU) to the first
 * that holds all pages (2^24 at most); for ws and vmin to the first at which only first
 * references fault.  Without such a choice, `all` is for lru and opt, and gives
 * every size from 1 to the first at which only first references fault.
 *
 * LPL_ERR_USAGE: no such policy or option, a number out of its range, `all` for another
 * policy, a size the policy cannot have, more than LPL_MOST_MEMORIES sizes.
 * LPL_ERR_MEMORY.  After an error the simulator is as it was before.
 */
enum lpl_error lpl_simulator_add(struct lpl_simulator *simulator, const char *policy,
				 const struct lpl_sizes *sizes, struct lpl_report *report);
/*
 * The same for a policy of the caller's (policy.h), which must stay until
 * lpl_simulator_close().  `options` is `name=number`, joined by colons; NULL: none.
 */
enum lpl_error lpl_simulator_add_policy(struct lpl_simulator *simulator,
					const struct lpl_policy *policy, const char *options,
					const struct lpl_sizes *sizes,
					struct lpl_report *report);

/*
 * Where to send the trace; owned by the simulator.  Events are not looked at.  Errors:
 * LPL_ERR_MEMORY; LPL_ERR_IO and LPL_ERR_FULL (opt: its temporary files); LPL_ERR_USAGE (pages finer than those referenced); LPL_ERR_UNSUPPORTED (opt: 2^30 references; lru: 2^29 pages);
 * LPL_ERR_ORDER, with ws or vmin, where `ref` does not rise (it may stand still at an
 * LPL_SYNTHETIC reference); what a policy's `open` or `admit` fails with.  finish()
 * returns when everything is simulated.
 */
struct lpl_sink *lpl_simulator_sink(struct lpl_simulator *simulator);

/*
 * Charge faults to whoever makes the references that follow, until the next call.  `owner` is any
 * number from 0 on that the caller knows somebody by; small ones, for memory is 8 to 16 bytes for
 * each size of each policy times the largest, and for opt 16 to 32 bytes a call besides.  The sum
 * over all owners is what the results have.
 *
 * First before the sink is used, and after all policies were added.  LPL_ERR_USAGE: too late for
 * that, sizes are `all`, or the trace is a behaviour sequence; LPL_ERR_MEMORY; and what the sink
 * fails with.
 */
enum lpl_error lpl_simulator_charge(struct lpl_simulator *simulator, uint32_t owner,
				    struct lpl_report *report);

/*
 * The stream as steps (trace.h) instead of references, where lpl_simulator_steps() is: for
 * the same results in a fraction of the time.  Both may take turns.  Not where times, parts of pages
 * or owners matter (ws and vmin; pages finer than 4096 bytes; lpl_simulator_charge()), nor of
 * what was reduced to something else than references.  Errors: those of the sink.
 */
bool lpl_simulator_steps(const struct lpl_simulator *simulator);
enum lpl_error lpl_simulator_step(struct lpl_simulator *simulator, const struct lpl_page_steps *steps,
				  struct lpl_report *report);

/* The policies added, in that order; `index` below goes from 0 to count - 1. */
size_t lpl_simulator_count(const struct lpl_simulator *simulator);
/* What was added: "lru", "segq:fifo=16"; owned by the simulator. */
const char *lpl_simulator_policy(const struct lpl_simulator *simulator, size_t index);
/* After finish(): a policy's results, by rising size.  Owned by the simulator. */
const struct lpl_result *lpl_simulator_results(const struct lpl_simulator *simulator,
					       size_t index, size_t *count);
/* After finish(): the faults of the policy's result with that index that an owner is charged with. */
uint64_t lpl_simulator_charged(const struct lpl_simulator *simulator, size_t index, size_t result,
			       uint32_t owner);
/* After finish(): how many of these are cold, first references to a page: the same in all results. */
uint64_t lpl_simulator_charged_cold(const struct lpl_simulator *simulator, uint32_t owner);
/* Distinct, so far.  After finish(): so many faults of each result are cold, the others re-faults. */
uint64_t lpl_simulator_pages(const struct lpl_simulator *simulator);

/* The smallest memory, or tau, for which the policy is exact after `reduction`; 0: none. */
uint64_t lpl_simulator_exact_from(const struct lpl_simulator *simulator, size_t index);

/* At any time, also after an error.  NULL is fine. */
void lpl_simulator_close(struct lpl_simulator *simulator);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
