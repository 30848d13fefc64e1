/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regret: a sink that compares what a kernel's reclaim threw out (KTR_RECLAIM) with what would have
 * been best, and says of each page when it was used next, and how many pages in memory were used later.
 *
 *	struct lpl_regret_options options = { .eviction = print, .worst = 10 };
 *
 *	lpl_regret_open(&regret, &options, &report);
 *	lpl_reader_run(reader, lpl_regret_sink(regret), &report);
 *	printf("%" PRIu64 "\n", lpl_regret_results(regret)->all.used);
 *	lpl_regret_close(regret);
 *
 * The terms, which docs/reclaim.md explains:
 *
 *	page		a canonical page (merge.h) that reclaim may take: of a file, of shared memory, or
 *			anonymous.  The kernel's own memory and page tables are none
 *	use		a reference to it, by a program or the kernel, through whatever address; of an anonymous
 *			page, through a program's
 *	resident	it has a frame, as far as events and references show.  From KTR_CACHE_ADD,
 *			KTR_SWAP_IN, KTR_REFAULT or a use, until KTR_CACHE_REMOVE (of a page that goes
 *			to swap: KTR_RECLAIM), KTR_RECLAIM, or its end.  A KTR_SWAP_OUT of a page
 *			shows that it is resident.  An entry of swap names the page that last went there
 *	may be evicted	all resident pages, but for those of a device without a number of its own
 *			(major 0: tmpfs, the initial RAM disk) until the first page of that device goes
 *			to swap, or is reclaimed: most of these can never be
 *	moment		a KTR_RECLAIM, with all its pages.  What is resident at a moment is what is
 *			resident right after it
 *	end of a page	its contents are no more: its last mapping went, or it left the page cache and no
 *			KTR_RECLAIM of it comes before it is mentioned again.  What has its name
 *			afterwards is another page, with evictions of its own
 *	rank		of an eviction: how many pages that were resident at its moment, and could be
 *			evicted, are used later than the page is used next, or never.  0: Belady's OPT
 *			could have chosen it.  Of a page that is never used again it is 0
 *
 * Memory: O(pages of files that were in the page cache + pages of other kinds that live + evicted pages
 * that were not used again + tasks).
 */
#ifndef LAPLACE_REGRET_H
#define LAPLACE_REGRET_H

#include <laplace/error.h>
#include <laplace/merge.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What became of an evicted page. */
enum lpl_regret_outcome {
	LPL_REGRET_USED = 0,	/* it was used again */
	LPL_REGRET_ENDED,	/* it came to its end before that */
	LPL_REGRET_NEVER,	/* neither until the trace ended */
	LPL_REGRET_CUT,		/* not known: records are missing, or tracing was off then, or for a while */
	LPL_REGRET_OUTCOMES
};

/* "used", "ended", "never", "cut"; "unknown" for none of them. */
const char *lpl_regret_outcome_name(enum lpl_regret_outcome outcome);

/* "kswapd", "direct", "cgroup"; "other" for all others. */
const char *lpl_regret_reclaimer_name(uint64_t reclaimer);
#define LPL_REGRET_RECLAIMERS 4		/* values of enum ktr_reclaimer */

/* A moment's clocks; `ref` 0: there was none, or it is not known. */
struct lpl_regret_clocks {
	uint64_t ref, instr, cycle;
};

/* Which page; names are guest input.  What its kind does not have is 0. */
struct lpl_regret_page {
	enum lpl_page_kind kind;	/* LPL_PAGE_ANONYMOUS, LPL_PAGE_FILE, LPL_PAGE_SHM */
	uint64_t device, inode, generation, offset;
	const char *name;		/* of the file, escaped; NULL: not known */
	uint64_t space, virtual_page;	/* of an anonymous page: where it was referenced, or else swapped, first */
	uint64_t process;		/* in the results, that touched it first; KTR_NONE */
};

/* An evicted page.  Names are valid during a callback, and in the results until close. */
struct lpl_regret_eviction {
	uint64_t number;		/* from 1, in the order of the trace */
	uint64_t moment;		/* likewise */
	struct lpl_regret_page page;
	enum lpl_regret_outcome outcome;
	struct lpl_regret_clocks evicted, last, next;	/* and the uses before and after */
	bool is_back;			/* it had a frame again: it was read back ... */
	struct lpl_regret_clocks returned;	/* ... then */
	uint64_t rank;			/* of LPL_REGRET_USED; else 0 */
	uint64_t resident;		/* how many pages were, and could have been evicted instead */
	uint64_t reclaimer;		/* enum ktr_reclaimer */
	uint32_t tid, tgid;		/* the task that reclaimed */
	const char *by;			/* and the last name known of it, escaped */
	uint64_t dirty;			/* 1: it was written out for this; 0; KTR_NONE: not known */
	bool unused;			/* it was brought into memory, and not used since: read ahead in vain.  Not
					 * where tracing was off: uses are not seen then */
};

/* One of the worst: those of the highest ranks, and of these those that were missed soonest. */
struct lpl_regret_worst {
	struct lpl_regret_eviction eviction;
	/*
	 * Of the pages that would have been better, that which was used last, or never: then, that which was
	 * used the longest time ago.  Not known after a gap, nor if those that were never used had all ended
	 * before the evicted page was used.
	 */
	bool best_known;
	struct lpl_regret_page best;
	struct lpl_regret_clocks best_last, best_next;	/* uses before and after; next.ref 0: never */
};

#define LPL_REGRET_RANKS 12

/* Sums over evicted pages. */
struct lpl_regret_counts {
	uint64_t evicted;
	uint64_t outcome[LPL_REGRET_OUTCOMES];	/* together: evicted */
	uint64_t returned;		/* read back, whether they were used then or not */
	uint64_t optimal;		/* reads that OPT needs (see below): returned - optimal are avoidable */
	uint64_t written;		/* for the eviction */
	uint64_t better;		/* with a rank above 0 */
	/*
	 * How often an event (KTR_CACHE_ADD, KTR_SWAP_IN, KTR_REFAULT) brought a page into memory that may
	 * be evicted; and how many were evicted again without a use in between.  Of `brought` there is no
	 * sum by reclaimer.
	 */
	uint64_t brought, unused;
};

struct lpl_regret_file {
	enum lpl_page_kind kind;
	uint64_t device, inode, generation;
	const char *name;		/* escaped; NULL: not known */
	struct lpl_regret_counts counts;
};

struct lpl_regret_process {
	uint64_t number;		/* as the merge has it; 0: the kernel */
	uint32_t tgid;
	const char *name;		/* escaped, the last one */
	struct lpl_regret_counts counts;	/* of anonymous pages that were this process's first */
	uint64_t reclaimed;		/* evicted pages that its tasks reclaimed */
	uint64_t missed;		/* evicted pages that its tasks used next */
};

#define LPL_REGRET_BINS 64		/* at most; at least half as many of a trace that takes longer */

/*
 * All results.  Arrays may move while records come.  Pages that could not be identified are in no sum
 * but `unknown`: they were in swap or memory before the trace, and nothing in it names them, or their program
 * had ended.
 *
 * OPT: what an optimal replacement would read back, if it evicted at the same moments, and held, at each
 * of them, no more pages than the kernel did.  A page comes first when it did there; after that it is
 * read when it is used and is not in memory, and only then.  Of each file and process, `optimal` is that of
 * one optimum: where the choice is free the page that is used sooner is kept.
 *
 * What OPT would write is not here: how many writes the best choice of reads needs depends on which of
 * the equally good ones is made.
 */
struct lpl_regret_results {
	struct lpl_regret_counts all, by_kind[LPL_PAGE_KINDS];
	struct lpl_regret_counts by_reclaimer[LPL_REGRET_RECLAIMERS];	/* optimal: 0 */
	uint64_t evictions;		/* so far; in `all` are those of which the outcome is known */
	uint64_t moments;
	uint64_t reclaimed;		/* pages of all KTR_RECLAIM events ... */
	uint64_t unknown;		/* ... of these, not identified */
	uint64_t dropped;		/* ... of these, anonymous and never written since
					 * MADV_FREE: there is nothing to be read back */
	uint64_t odd;			/* events that are about no page, or more than can be: as if they were not there */
	uint64_t resident, most_resident;	/* now; ever */
	uint64_t cuts;			/* gaps, and how often tracing went on after the first moment: nothing that comes
					 * says anything of what was evicted before */
	/*
	 * used pages by rank, as a share of `resident`: 0; up to 10 %, 20 % ... 100 %; and
	 * in [LPL_REGRET_RANKS - 1] those of rank > 0 where every other page was better
	 */
	uint64_t by_rank[LPL_REGRET_RANKS];
	uint64_t by_distance[65];	/* used pages by references to the next use: below 2^i */
	const struct lpl_regret_file *file;
	size_t files;
	const struct lpl_regret_process *process;
	size_t processes;
	const struct lpl_regret_worst *worst;
	size_t worsts;
	/* by time of the eviction (optimal: of the use), in cycles since the first record */
	struct lpl_regret_counts bin[LPL_REGRET_BINS];
	unsigned int bins, bin_shift;	/* a bin is 1 << bin_shift cycles long */
	struct lpl_regret_clocks first, last;	/* of all records */
	const struct lpl_merge_stats *merge;
	bool chosen;			/* there was an event of those that `events=reclaim' chooses */
};

struct lpl_regret_options {
	uint64_t kernel_base;		/* as in struct lpl_merge_options */
	size_t worst;			/* how many of the worst evictions are kept */
	/*
	 * Called for each eviction when its outcome is known, so not in their order; may be NULL.  An
	 * error ends the stream.
	 */
	enum lpl_error (*eviction)(void *context, const struct lpl_regret_eviction *eviction,
				   struct lpl_report *report);
	void *context;
};

struct lpl_regret;

/* `options` may be NULL.  LPL_ERR_MEMORY. */
enum lpl_error lpl_regret_open(struct lpl_regret **regret, const struct lpl_regret_options *options,
			       struct lpl_report *report);
/*
 * Where to send the stream: virtual addresses, every reference, or the first of each run
 * (`block`) of pages of 4096 bytes.  Owned by the regret.
 */
struct lpl_sink *lpl_regret_sink(struct lpl_regret *regret);
/* Complete after the sink's finish(); valid until close. */
const struct lpl_regret_results *lpl_regret_results(const struct lpl_regret *regret);
void lpl_regret_close(struct lpl_regret *regret);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
