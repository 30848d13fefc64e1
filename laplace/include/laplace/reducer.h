/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reducers: sinks that pass on fewer references than they get.
 *
 * A page's identity in a reducer is (space, address / page size); walks
 * (LPL_WALK_*) are pages of a space of their own.  What a reducer passes on is
 * page references: LPL_PAGED is set, the address is the page's first byte, the
 * length is 0 (where pages are finer than 4096 bytes, after `block:BYTES`, it is their size, and
 * LPL_PAGED is not set); clocks, type, space and LPL_USER are those of the reference
 * kept, but for dirtiness: a reference that stands in for dropped writes is
 * turned into a write.  Events pass through in their place.
 *
 * The methods and what each is exact for are in docs/reduction.md; the
 * argument why is at the head of each method's file.
 */
#ifndef LAPLACE_REDUCER_H
#define LAPLACE_REDUCER_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A reduction is written SPEC: one method or several joined by '+', left to
 * right: `none`, `block`, `window:K`, `sad:K`, `window:64+sad:64`.
 *
 * `fence` and `unfence` pass everything on.  They decide whether the methods after
 * them, in the same SPEC, respect changes of mapping: `sad:K` is the paper's and
 * knows pages by space and address, `fence+sad:K` takes a page for another one
 * after an event that may have changed its meaning.  (`sad-ws` does the same,
 * docs/reduction.md describes the others.)  `window:K` ends its windows
 * there, and implies `fence` for what follows.
 *
 * A number of pages (K) is 1 to 2^24, of references (TAU, THETA) or instructions
 * (N) 1 to 2^62; BYTES, the size of larger or finer pages, is a power of two from 16 to
 * 2^30.
 *
 * BEFORE, where it is asked for, is the reduction the stream has been through
 * already: LPL_META_REDUCTION of its trace.  NULL counts as "none".
 */
struct lpl_reducer;

/* What the number after a method's name counts. */
enum lpl_unit {
	LPL_UNIT_NONE,		/* there is no number */
	LPL_UNIT_PAGES,
	LPL_UNIT_REFERENCES,
	LPL_UNIT_INSTRUCTIONS,
	LPL_UNIT_BYTES		/* and it may be left out */
};
/* That of the method with this name of `length` characters; false: no method has it. */
bool lpl_method_unit(const char *name, size_t length, enum lpl_unit *unit);

/*
 * Windows (`window:K`, and those of K pages that a simulator sends) end at an event if
 * it is this many events since they began, whatever else ends them (docs/reduction.md).
 */
#define LPL_WINDOW_EVENTS 1024

/*
 * Build the chain that SPEC names, delivering to `next` (not owned).  `none`
 * gives a stage that passes everything on untouched.  LPL_ERR_USAGE with the
 * list of methods for a bad SPEC, and for one that makes no sense after BEFORE:
 * pages cannot get smaller, and a behaviour sequence (`lrubs:K`) is not a
 * reference trace until `olr:K` made one of it.  LPL_ERR_MEMORY.
 */
enum lpl_error lpl_reducer_open(struct lpl_reducer **reducer, const char *before,
				const char *spec, struct lpl_sink *next,
				struct lpl_report *report);
/* Where to send the stream; owned by the reducer. */
struct lpl_sink *lpl_reducer_sink(struct lpl_reducer *reducer);
/*
 * In mid-stream: what is held back is sent on, as far as the method allows, so that
 * whoever reads the result so far knows what happened so far.  `window`, `sad` and
 * `sad-ws` send all and begin anew: the result is then that of the parts, one after
 * the other, a few references longer than that of the whole and exact for the same.
 * `block`, `sad2` and `glass-cao` send all and go on.  `sad2-fix` and `olr` keep what
 * depends on references to come.  The next sink's finish() is not called.
 */
enum lpl_error lpl_reducer_flush(struct lpl_reducer *reducer, struct lpl_report *report);
void lpl_reducer_close(struct lpl_reducer *reducer);	/* NULL is fine */

/*
 * The canonical form of SPEC after BEFORE, for LPL_META_REDUCTION, and what it
 * is exact for, for LPL_META_EXACT: "all", "all but ws,vmin", "nothing",
 * "unknown", or "lru,opt from 64 pages" and the like.  Results are written to
 * the buffers (LPL_SPEC_SIZE).  Errors as lpl_reducer_open().  `unfence` stands
 * in the form where SPEC begins without a fence and BEFORE ended after one.
 */
#define LPL_SPEC_SIZE 256
enum lpl_error lpl_reducer_describe(const char *before, const char *spec,
				    char *reduction, char *exact,
				    struct lpl_report *report);

/*
 * The smallest memories for which simulations are exact, dirty evictions
 * included, on a trace reduced as REDUCTION says (LPL_META_REDUCTION; NULL
 * counts as "none").  1: all of them.  0: none.
 */
struct lpl_exactness {
	uint64_t lru;		/* pages: LRU, and the LRU part of policies that keep
				 * their most recently used pages in LRU order */
	uint64_t opt;		/* pages */
	uint64_t demand;	/* pages: any policy that acts on faults only and does
				 * not distinguish one reference from several in a row */
	uint64_t ws;		/* references: the working set's tau, and VMIN's */
};
/* false, and all 0, when REDUCTION has a method this library does not know. */
bool lpl_reduction_exactness(const char *reduction, struct lpl_exactness *exactness);

/*
 * Did each step that drops references respect changes of mapping?  Then what the
 * trace is exact for, it is also for once its pages are made canonical (merge.h).
 * If it did not, the canonical trace is exact for nothing, and so is what is
 * reduced from it: its reduction gets a last step, `merged`, which stands for that
 * and cannot be asked for.
 */
bool lpl_reduction_fenced(const char *reduction);

/*
 * What REDUCTION becomes when references are chosen (select.h) of a trace reduced so, some in favour
 * of which others may have been dropped: a last step, `chosen`, says that it is exact for nothing,
 * and cannot be asked for.  `none` remains `none`.  LPL_ERR_USAGE: it is too long.
 */
enum lpl_error lpl_reduction_chosen(const char *reduction, char chosen[LPL_SPEC_SIZE],
				    struct lpl_report *report);

/*
 * Threads that are scheduled in another order (schedule.h) have the same faults, at the same moments, if each
 * is a process, no two reference a page, and each has its own LRU queue, from which no page is
 * evicted so that fewer than this many are left.  0: not with any number.  Of a trace of virtual
 * pages only if lpl_reduction_fenced().  docs/theory.md says why, and why not more.
 */
uint64_t lpl_reduction_any_order(const char *reduction);

/*
 * What REDUCTION becomes when threads are scheduled in another order: a last step, `scheduled`, says
 * that a simulation is exact for nothing, and cannot be asked for.  `none` remains `none`.  LPL_ERR_USAGE:
 * it is too long.
 */
enum lpl_error lpl_reduction_scheduled(const char *reduction, char scheduled[LPL_SPEC_SIZE],
				       struct lpl_report *report);

/* The size in bytes of the pages in such a trace: 4096, or that of `block:BYTES`. */
uint64_t lpl_reduction_page_size(const char *reduction);

/*
 * The same of any trace: what its header says (LPL_META_PAGE_SIZE; NULL counts as nothing), or what the
 * reduction leaves if that is larger.  The header's may be larger where references are to bytes as yet, or
 * where the reduction is not known.  0: the header says what is no size of pages, or another one than
 * the reduction left, as LPL_NO_PAGE_SIZE says after the trace's name.
 */
uint64_t lpl_page_size(const char *said, const char *reduction);
#define LPL_NO_PAGE_SIZE "its pages are of a size that is no power of two from 4096 on, or that its " \
	"reduction did not leave"

/* K when such a trace is a behaviour sequence (`lrubs:K` comes last), else 0. */
uint64_t lpl_reduction_behaviour(const char *reduction);
/* Is such a trace records of active periods (`in-out:N` comes last)? */
bool lpl_reduction_records(const char *reduction);
/* K when such a trace is an annotated LRU trace (`annotated:K` comes last), else 0. */
uint64_t lpl_reduction_annotated(const char *reduction);

/*
 * How a recording divides a reduction SPEC between the simulator's thread and the collector's.
 * What begins with `window:K`, `sad:K`, `olr:K` or `lrubs:K` lets the simulator send windows of K
 * pages; anything else takes every reference.  `sad:K` stands for
 * `window:K+sad:K`, which is as exact and costs the simulator next to nothing;
 * likewise the other two, which give the same records with windows and without.
 */
struct lpl_plan {
	uint64_t window;		/* pages in a window; 0: log every reference */
	char reduction[LPL_SPEC_SIZE];	/* the whole, as the trace's header says it */
	char rest[LPL_SPEC_SIZE];	/* what the collector's thread still does */
};
#define LPL_PLAN_WINDOW_MAX 65536	/* pages */
/* LPL_ERR_USAGE: SPEC is none, or its windows are larger than that. */
enum lpl_error lpl_plan_parse(struct lpl_plan *plan, const char *spec,
			      struct lpl_report *report);
/* Have the collector's thread do all of a plan, for whom every reference is logged. */
void lpl_plan_every(struct lpl_plan *plan);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
