/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regret: what a kernel evicted, against what would have been best; an output of a merge of its own.
 *
 *	stream ─► regret.c ─► lpl_merge ─► regret.c ─┬─ pages.c	which pages there are
 *	                                             └─ lives.c	what happens to them ─┬─ moments.c
 *	                                                                              ├─ sums.c
 *	                                                                              └─ worst.c
 *
 * The rank of an eviction.  A page p is evicted at moment e and used next at time n.  The pages that were
 * resident at e and are used later than p, or never, are those that were resident at e and are not
 * used between e and n; so at n they are known, without a look into the future: those resident at
 * e, less those of them that were used since.  Nothing has to be done for the pages that are not
 * used.  A page that is used, for the first time since time l, was resident and unused at some of the moments
 * since l, which are one range of moments, or a few if it was evicted and came back meanwhile: 1 is added to
 * each moment in them.  A Fenwick tree adds to a range, and says what was added at e, in logarithmic
 * time.  Most references are to a page that was used since the latest moment, and cost one comparison.
 *
 * What an optimal replacement would have read back.  It evicts at the kernel's moments, and holds right after
 * each moment e at most R(e) pages, which is what the kernel held.  Between two successive uses of a page
 * it either holds the page all the time, or has to read it at the second of them; reading it
 * earlier saves nothing and takes room.  So each pair of successive uses with a moment between them is
 * an interval, to be kept or not; at each moment e at most R(e) intervals that span it may be kept; and as
 * many as possible shall be.
 *
 * Go through the intervals by the time of their end, which is the order in which uses come, and keep each
 * that can be kept, given what was kept before.  This is optimal.  Let i be the interval that ends
 * first.  If it does not fit when nothing is kept, then R(e) is 0 at a moment in it, and no solution has it.
 * If it fits, there is an optimal solution with i: take any one without it, and add i.  Where that
 * breaks no bound, it is better.  Otherwise let e be the first moment in i with R(e) + 1 intervals; as R(e) is
 * at least 1, an interval j other than i spans e, and as j ends no earlier than i it spans all moments in i from e
 * on.  Leave j out: before e no bound was broken, and from e to the end of i there are as many as without
 * i.  So i may be kept; what remains is the same problem, with one interval less and with R lower
 * by 1 at the moments in i, and so on.  (For a constant R, it is Belady's algorithm, seen from the other side.)  A
 * segment tree over the moments, with R less what was kept, finds the least of a range and subtracts from it.
 *
 * The kernel's own choice is one of the solutions: intervals over which it evicted nothing of a page are
 * pages that were resident at each moment, so there are never more than R(e).  OPT is not worse.
 *
 * Before its first use a page may have been read already, ahead; then its first interval begins
 * there.
 */
#include <laplace/regret.h>

#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/try.h"
#include "merge/pages.h"
#include "state.h"

#define BATCH	4096
/* As many pages as one event is believed to be about: those of 1 GB.  A guest says what it likes. */
#define MOST_PAGES (UINT64_C(1) << 18)

static struct lpl_regret *regret_of(struct lpl_merge_output *output)
{
	return (struct lpl_regret *)((char *)output - offsetof(struct lpl_regret, output));
}

enum lpl_error lpl_regret_no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for evicted pages");
}

const char *lpl_regret_outcome_name(enum lpl_regret_outcome outcome)
{
	static const char *const name[LPL_REGRET_OUTCOMES] = { "used", "ended", "never", "cut" };

	return (unsigned int)outcome < LPL_REGRET_OUTCOMES ? name[outcome] : "unknown";
}

const char *lpl_regret_reclaimer_name(uint64_t reclaimer)
{
	static const char *const name[] = {
		[KTR_RECLAIM_KSWAPD] = "kswapd", [KTR_RECLAIM_DIRECT] = "direct",
		[KTR_RECLAIM_CGROUP] = "cgroup"
	};

	return reclaimer < sizeof(name) / sizeof(name[0]) ? name[reclaimer] : "other";
}

/* ---- events that name pages ---- */


typedef enum lpl_error page_handler(struct lpl_regret *regret, uint32_t page, struct lpl_report *report);

/* Pages of a file, known or not. */
static enum lpl_error for_file(struct lpl_regret *regret, const uint64_t *name, uint64_t pages,
			       page_handler *handle, struct lpl_report *report)
{
	for (uint64_t i = 0; i < pages; i++) {
		const uint32_t page = lpl_regret_file_page(regret, name[0], name[1], name[2] + i);

		if (!page)
			return lpl_regret_no_memory(report);
		LPL_TRY(handle(regret, page, report));
	}
	return LPL_OK;
}

/* Pages in swap, as far as they are known. */
static enum lpl_error for_slots(struct lpl_regret *regret, uint64_t slot, uint64_t pages,
				page_handler *handle, uint64_t *unknown, struct lpl_report *report)
{
	for (uint64_t i = 0; i < pages; i++) {
		const uint32_t page =
			(uint32_t)lpl_map_get(&regret->by_slot, LPL_KEY(slot + i));

		if (page)
			LPL_TRY(handle(regret, page, report));
		else
			++*unknown;
	}
	return LPL_OK;
}

static bool has_name(uint64_t name[3], const struct lpl_event *event, int device, int inode, int offset)
{
	name[0] = event->arg[device];
	name[1] = event->arg[inode];
	name[2] = event->arg[offset];
	lpl_regret_normalise(&name[0], &name[1]);
	return name[1] != KTR_NONE && name[1] != 0;
}

static enum lpl_error take_pages_on(struct lpl_regret *regret, uint64_t device,
				    struct lpl_report *report)
{
	if (lpl_regret_takes(regret, device))
		return LPL_OK;
	if (!lpl_map_put(&regret->takes, LPL_KEY(device), 1))
		return lpl_regret_no_memory(report);
	lpl_regret_join(regret, device);
	return LPL_OK;
}

/*
 * It may be that the device's pages are taken from now on.  Segments are named without theirs, but are in the
 * same file system as other shared memory.
 */
static enum lpl_error take_device(struct lpl_regret *regret, uint64_t device,
				  struct lpl_report *report)
{
	LPL_TRY(take_pages_on(regret, device, report));
	if (device == 0)
		return take_pages_on(regret, regret->segments_on, report);
	return device == regret->segments_on ? take_pages_on(regret, 0, report) : LPL_OK;
}

/* The event may have the device that segments are on. */
static enum lpl_error find_segments(struct lpl_regret *regret, uint64_t device, uint64_t inode,
				    struct lpl_report *report)
{
	if (inode == KTR_NONE || !(inode & KTR_INODE_SYSV) || device == 0 || regret->segments_on != 0)
		return LPL_OK;
	regret->segments_on = device;
	return lpl_regret_takes(regret, 0) || lpl_regret_takes(regret, device) ?
		take_device(regret, 0, report) : LPL_OK;
}

static enum lpl_error cache_add(struct lpl_regret *regret, const struct lpl_event *event,
				struct lpl_report *report)
{
	uint64_t name[3];

	if (!has_name(name, event, KTR_CACHE_DEVICE, KTR_CACHE_INODE, KTR_CACHE_OFFSET))
		return LPL_OK;
	LPL_TRY(find_segments(regret, event->arg[KTR_CACHE_DEVICE], event->arg[KTR_CACHE_INODE], report));
	return for_file(regret, name, event->arg[KTR_CACHE_PAGES], lpl_regret_bring, report);
}

static void cache_remove(struct lpl_regret *regret, const struct lpl_event *event)
{
	const uint64_t pages = event->arg[KTR_CACHE_PAGES];
	uint64_t name[3];

	/* 0 may be a segment's number */
	if (!has_name(name, event, KTR_CACHE_DEVICE, KTR_CACHE_INODE, KTR_CACHE_OFFSET) && name[1] != 0)
		return;
	for (uint64_t i = 0; i < pages; i++) {
		uint32_t page = lpl_regret_find_page(regret, name[0], name[1], name[2] + i);

		/* its mark may be forgotten by now: KTR_INODE_SYSV */
		if (!page || !regret->page[page].resident) {
			const uint32_t segments = lpl_regret_find_page(
				regret, 0, name[1] | KTR_INODE_SYSV, name[2] + i);

			page = segments ? segments : page;
		}
		if (page)
			lpl_regret_remove(regret, page);
	}
}

static enum lpl_error swap_out_shared(struct lpl_regret *regret, const struct lpl_event *event,
				      const uint64_t name[3], struct lpl_report *report)
{
	LPL_TRY(take_device(regret, name[0], report));
	for (uint64_t i = 0; i < event->arg[KTR_SWAP_PAGES]; i++) {
		const uint32_t page = lpl_regret_file_page(regret, name[0], name[1], name[2] + i);

		if (!page || !lpl_regret_set_slot(regret, page, event->arg[KTR_SWAP_SLOT] + i,
						  event->arg[KTR_SWAP_FRAME] + i))
			return lpl_regret_no_memory(report);
		LPL_TRY(lpl_regret_keep_frame(regret, page, report));
	}
	return LPL_OK;
}

static enum lpl_error swap_out(struct lpl_regret *regret, const struct lpl_event *event,
			       struct lpl_report *report)
{
	uint64_t name[3];

	if (has_name(name, event, KTR_SWAP_DEVICE, KTR_SWAP_INODE, KTR_SWAP_OFFSET))
		return swap_out_shared(regret, event, name, report);
	for (uint64_t i = 0; i < event->arg[KTR_SWAP_PAGES]; i++) {
		const uint64_t slot = event->arg[KTR_SWAP_SLOT] + i, frame = event->arg[KTR_SWAP_FRAME] + i;
		uint64_t canonical;
		uint32_t page;

		LPL_TRY(lpl_merge_page_at(regret->merge, event->arg[KTR_SWAP_SPACE],
					  event->arg[KTR_SWAP_ADDRESS] + (i << LPL_PAGE_SHIFT),
					  &canonical, report));
		page = canonical ? regret->latest[canonical].page : 0;
		if (!page || regret->page[page].kind != LPL_PAGE_ANONYMOUS) {
			lpl_regret_lose_slot(regret, slot, frame);
			continue;
		}
		if (!lpl_regret_set_slot(regret, page, slot, frame))
			return lpl_regret_no_memory(report);
		LPL_TRY(lpl_regret_enter(regret, page, report));
	}
	return LPL_OK;
}

static enum lpl_error swap_in(struct lpl_regret *regret, const struct lpl_event *event,
			      struct lpl_report *report)
{
	uint64_t unknown = 0;

	return for_slots(regret, event->arg[KTR_SWAP_SLOT], event->arg[KTR_SWAP_PAGES], lpl_regret_bring,
			 &unknown, report);
}

static enum lpl_error refault(struct lpl_regret *regret, const struct lpl_event *event,
			      struct lpl_report *report)
{
	const uint64_t pages = event->arg[KTR_FOLIO_PAGES];
	uint64_t unknown = 0, name[3];

	if (has_name(name, event, KTR_FOLIO_DEVICE, KTR_FOLIO_INODE, KTR_FOLIO_OFFSET))
		return for_file(regret, name, pages, lpl_regret_bring, report);
	return event->arg[KTR_FOLIO_SLOT] == KTR_NONE ? LPL_OK :
		for_slots(regret, event->arg[KTR_FOLIO_SLOT], pages, lpl_regret_bring, &unknown,
			  report);
}

static enum lpl_error reclaim(struct lpl_regret *regret, const struct lpl_event *event,
			      const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct lpl_regret_results *results = &regret->results;
	const uint64_t pages = event->arg[KTR_FOLIO_PAGES];
	uint64_t name[3];

	if (!lpl_regret_note_task(regret, task))
		return lpl_regret_no_memory(report);
	results->reclaimed += pages;
	if (has_name(name, event, KTR_FOLIO_DEVICE, KTR_FOLIO_INODE, KTR_FOLIO_OFFSET)) {
		LPL_TRY(take_device(regret, name[0], report));
		LPL_TRY(for_file(regret, name, pages, lpl_regret_take, report));
	} else if (event->arg[KTR_FOLIO_SLOT] == KTR_NONE) {
		results->dropped += pages;
	} else {
		LPL_TRY(for_slots(regret, event->arg[KTR_FOLIO_SLOT], pages, lpl_regret_take,
				  &results->unknown, report));
	}
	return lpl_regret_taken(regret, event, lpl_regret_task(regret, task) - 1, report);
}

/* ---- the output of the merge ---- */

static enum lpl_error cut(struct lpl_regret *regret, bool forget, struct lpl_report *report)
{
	if (forget) {
		lpl_regret_forget_spaces(regret);
		lpl_regret_forget_slots(regret);
		regret->noted = 0;
		regret->off = false;	/* if it is, this is seen when it goes on */
	}
	return lpl_regret_close_all(regret, LPL_REGRET_CUT, forget, report);
}

/*
 * Events come while tracing is off, and uses do not.  Where it goes on it was off before, whether that was reported
 * or not: at the beginning, and where records are missing, it is not.
 */
static enum lpl_error switch_tracing(struct lpl_regret *regret, bool on, struct lpl_report *report)
{
	regret->off = !on;
	if (!on)
		return LPL_OK;
	regret->results.cuts += regret->results.moments > 0;
	return cut(regret, false, report);
}

/* What the merge has forgotten for want of memory is as good as a gap. */
static enum lpl_error check_forgotten(struct lpl_regret *regret, struct lpl_report *report)
{
	const uint64_t forgotten = lpl_merge_stats(regret->merge)->forgotten;

	if (forgotten == regret->forgotten)
		return LPL_OK;
	regret->forgotten = forgotten;
	regret->results.cuts++;
	return cut(regret, true, report);
}

/* Where spaces were forgotten a task has one for the first time again, though nothing of it changes. */
static enum lpl_error note_running(struct lpl_regret *regret, const struct lpl_merge_task *task,
				   struct lpl_report *report)
{
	if (regret->results.cuts == 0 || regret->noted == task->serial + 1)
		return LPL_OK;
	regret->noted = task->serial + 1;
	return lpl_regret_note_task(regret, task) ? LPL_OK : lpl_regret_no_memory(report);
}

static enum lpl_error on_event(struct lpl_merge_output *output, const struct lpl_event *event,
			       const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct lpl_regret *regret = regret_of(output);

	lpl_regret_advance(regret, (struct lpl_regret_clocks){ event->ref, event->instr,
							       event->cycle });
	if (event->tag >= KTR_RECLAIM && event->tag <= KTR_AGE)
		regret->results.chosen = true;
	LPL_TRY(note_running(regret, task, report));
	switch (event->tag) {
	case KTR_CACHE_ADD:
		return cache_add(regret, event, report);
	case KTR_CACHE_REMOVE:
		cache_remove(regret, event);
		return LPL_OK;
	case KTR_SWAP_OUT:
		return swap_out(regret, event, report);
	case KTR_SWAP_IN:
		return swap_in(regret, event, report);
	case KTR_RECLAIM:
		return reclaim(regret, event, task, report);
	case KTR_REFAULT:
		return refault(regret, event, report);
	case KTR_SPACE_END:
		lpl_regret_end_space(regret, event->arg[KTR_SPACE_END_SPACE]);
		return LPL_OK;
	case KTR_MAP:
		return lpl_regret_note_map(regret, event) ? LPL_OK : lpl_regret_no_memory(report);
	case KTR_FILE:
		return lpl_regret_name_file(regret, event) ? LPL_OK : lpl_regret_no_memory(report);
	case LPL_EVENT_GAP:
		regret->results.cuts++;
		return cut(regret, event->arg[LPL_EVENT_GAP_EVENTS] != 0, report);
	case LPL_EVENT_TRACING:
		return switch_tracing(regret, event->arg[LPL_EVENT_TRACING_ON] != 0, report);
	default:
		return LPL_OK;
	}
}

static enum lpl_error on_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			      struct lpl_report *report)
{
	return lpl_regret_meet(regret_of(output), page) ? LPL_OK : lpl_regret_no_memory(report);
}

static enum lpl_error on_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
			      struct lpl_report *report)
{
	return lpl_regret_note_task(regret_of(output), task) ? LPL_OK : lpl_regret_no_memory(report);
}

static enum lpl_error page_ends(struct lpl_regret *regret, uint64_t canonical,
				struct lpl_report *report)
{
	const uint32_t page = regret->latest[canonical].page;

	if (!page || regret->page[page].kind != LPL_PAGE_ANONYMOUS)
		return LPL_OK;
	LPL_TRY(lpl_regret_end(regret, page, report));
	lpl_regret_free_page(regret, page);
	return LPL_OK;
}

/* The merge may be ahead: references to the page, before this, are still to be looked at. */
static enum lpl_error on_leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
			       struct lpl_report *report)
{
	struct lpl_regret *regret = regret_of(output);

	if (!for_ever)
		return LPL_OK;
	LPL_TRY(check_forgotten(regret, report));
	if (!regret->in_refs)
		return page_ends(regret, page, report);
	if (!lpl_reach(regret->left, regret->left_room, regret->lefts))
		return lpl_regret_no_memory(report);
	regret->left[regret->lefts++] = page;
	return LPL_OK;
}

static enum lpl_error on_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct lpl_regret *regret = regret_of(output);

	LPL_TRY(lpl_regret_close_all(regret, LPL_REGRET_NEVER, false, report));
	lpl_regret_worst_finish(regret);
	return LPL_OK;
}

/* ---- the stream ---- */

static enum lpl_error use_page(struct lpl_regret *regret, struct latest *latest,
			       const struct lpl_ref *ref, struct lpl_report *report)
{
	lpl_regret_advance(regret, (struct lpl_regret_clocks){ ref->ref, ref->instr, ref->cycle });
	latest->boundary = regret->moments.count;
	if (!latest->page)
		return LPL_OK;
	LPL_TRY(lpl_regret_use(regret, latest->page, report));
	latest->boundary = regret->moments.count;
	return LPL_OK;
}

static enum lpl_error use_pages(struct lpl_regret *regret, const struct lpl_ref *refs,
				const uint64_t *pages, size_t count, struct lpl_report *report)
{
	struct latest *const latest = regret->latest;
	const uint32_t boundary = regret->moments.count;

	for (size_t i = 0; i < count; i++) {
		struct latest *of = &latest[pages[i]];

		if (of->boundary != boundary)
			LPL_TRY(use_page(regret, of, &refs[i], report));
		of->ref = refs[i].ref;
		of->instr = refs[i].instr;
		of->cycle = refs[i].cycle;
	}
	return LPL_OK;
}

/* Pages that ended in the merge, when it looked at references that now were looked at here. */
static enum lpl_error end_pages(struct lpl_regret *regret, struct lpl_report *report)
{
	for (size_t i = 0; i < regret->lefts; i++)
		LPL_TRY(page_ends(regret, regret->left[i], report));
	regret->lefts = 0;
	return LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_regret *regret = (struct lpl_regret *)sink;
	uint64_t pages[BATCH];

	while (count > 0) {
		size_t some;

		lpl_regret_advance(regret, (struct lpl_regret_clocks){ refs->ref, refs->instr,
								       refs->cycle });
		regret->in_refs = true;
		some = lpl_merge_pages(regret->merge, refs, count < BATCH ? count : BATCH, pages,
				       report);
		regret->in_refs = false;
		if (some == 0)
			return report->error;
		LPL_TRY(use_pages(regret, refs, pages, some, report));
		LPL_TRY(end_pages(regret, report));
		refs += some;
		count -= some;
		lpl_regret_advance(regret, (struct lpl_regret_clocks){
			refs[-1].ref, refs[-1].instr, refs[-1].cycle });
	}
	return LPL_OK;
}

/* Does it say how many pages it is about in a way that cannot be true? */
static bool is_odd(const struct lpl_event *event)
{
	uint64_t pages;

	switch (event->tag) {
	case KTR_CACHE_ADD:
	case KTR_CACHE_REMOVE:
		pages = event->arg[KTR_CACHE_PAGES];
		break;
	case KTR_SWAP_OUT:
	case KTR_SWAP_IN:
		pages = event->arg[KTR_SWAP_PAGES];
		break;
	case KTR_RECLAIM:
	case KTR_REFAULT:
		pages = event->arg[KTR_FOLIO_PAGES];
		break;
	default:
		return false;
	}
	return pages == 0 || pages > MOST_PAGES;
}

/* What is odd is not believed in the merge either. */
static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_regret *regret = (struct lpl_regret *)sink;
	struct lpl_sink *merge = lpl_merge_sink(regret->merge);

	if (is_odd(event)) {
		lpl_regret_advance(regret, (struct lpl_regret_clocks){ event->ref, event->instr, event->cycle });
		regret->results.odd++;
		return LPL_OK;
	}
	return merge->event(merge, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *merge = lpl_merge_sink(((struct lpl_regret *)sink)->merge);

	return merge->finish(merge, report);
}

/* ---- opening and closing ---- */

enum lpl_error lpl_regret_open(struct lpl_regret **regret, const struct lpl_regret_options *options,
			       struct lpl_report *report)
{
	struct lpl_regret *made = calloc(1, sizeof(*made));
	struct lpl_merge_options merge = { .kernel_base = 0 };
	enum lpl_error error;

	*regret = NULL;
	if (!made)
		return lpl_regret_no_memory(report);
	if (options)
		made->options = *options;
	merge.kernel_base = made->options.kernel_base;
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->output = (struct lpl_merge_output){
		.event = on_event, .finish = on_finish, .page = on_page, .task = on_task,
		.leave = on_leave
	};
	lpl_regret_pages_init(made);
	error = lpl_merge_open(&made->merge, &made->output, &merge, report);
	if (!error && (!lpl_moments_init(&made->moments) || !lpl_regret_worst_init(made)))
		error = lpl_regret_no_memory(report);
	if (error) {
		lpl_regret_close(made);
		return error;
	}
	*regret = made;
	return LPL_OK;
}

struct lpl_sink *lpl_regret_sink(struct lpl_regret *regret)
{
	return &regret->sink;
}

const struct lpl_regret_results *lpl_regret_results(const struct lpl_regret *regret)
{
	/* where arrays are now */
	struct lpl_regret_results *results = &((struct lpl_regret *)regret)->results;

	results->file = regret->file;
	results->files = regret->files;
	results->process = regret->process;
	results->processes = regret->processes;
	results->merge = lpl_merge_stats(regret->merge);
	return results;
}

void lpl_regret_close(struct lpl_regret *regret)
{
	if (!regret)
		return;
	lpl_merge_close(regret->merge);
	lpl_moments_free(&regret->moments);
	lpl_regret_pages_free(regret);
	free(regret->worst);
	free(regret->shown);
	free(regret);
}
