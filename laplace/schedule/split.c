/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Taking a trace apart (Laplace, WOSP 2004, section 3.3.3).
 *
 * Each record goes to its task's sequence, with what the clocks advanced since the stream's record
 * before: that was the task's time.  How long a wait lasts is known only when something ends it,
 * so it is written when the task's next record comes: nothing else can stand between.
 */
#include "split.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "merge/output/canonical.h"
#include "passes.h"

/* What is known of a wait. */
struct wait {
	enum { NO_WAIT, UNRESOLVED, FOR_WAKE, FOR_CYCLES } state;
	uint64_t since;			/* the windows' time at the leave */
	uint64_t wake;			/* its number */
	struct lpl_waker waker;		/* only its cycles, of a wait for these */
};

/* What a task is while the trace is read, beside its part. */
struct splitting {
	struct wait wait;
	struct lpl_identity identity;
	bool changed;			/* its identity, since its last record */
	bool known;			/* it was reported */
};

struct split {
	struct lpl_merge_output output;
	struct lpl_parts *parts;
	struct splitting *task;		/* by serial */
	size_t task_room;
	struct lpl_map by_tid;		/* -> serial, of those that live */
	struct lpl_map early;		/* tid -> place of a wait that ended before its task was known */
	struct wait *early_wait;	/* from 1 */
	size_t early_waits, early_room;
	/* the record before */
	bool begun;
	uint64_t ref, instr, cycle;
	/*
	 * Of windows; their time is all that passes, the summary's cycles.  The first reference, or what is
	 * said of tracing, shows whether the trace begins in one.
	 */
	bool outside;			/* tracing is off, and time is no task's */
	bool window_known;
	uint64_t burst, burst_records;	/* its task */
	bool any_wake, in_state;
	struct lpl_passes passes;
	/* a creation; its child is not known yet */
	bool creating;
	uint64_t creator, child;
	struct lpl_item creation;
	struct lpl_event creation_event;
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the trace's tasks");
}

/* ---- tasks ---- */

static enum lpl_error reach_task(struct split *split, uint64_t serial, struct lpl_report *report)
{
	struct lpl_parts *parts = split->parts;

	if (!lpl_reach(parts->part, parts->part_room, serial) ||
	    !lpl_reach(split->task, split->task_room, serial))
		return no_memory(report);
	if (serial >= parts->parts)
		parts->parts = serial + 1;
	return LPL_OK;
}

static void forget_tid(struct split *split, uint32_t tid, uint64_t serial)
{
	if (lpl_map_get(&split->by_tid, LPL_KEY(tid)) == serial)
		(void)lpl_map_remove(&split->by_tid, LPL_KEY(tid));
}

static void identify(struct splitting *task, const struct lpl_merge_task *view)
{
	task->changed = true;
	task->identity = (struct lpl_identity){
		.space = view->space, .process = view->process, .tid = view->tid,
		.tgid = view->tgid, .name_length = view->name_length
	};
	memcpy(task->identity.name, view->name, view->name_length);
}

/* This tid was woken before the trace named the task. */
static void take_early(struct split *split, struct splitting *task, uint32_t tid, bool created)
{
	const uint64_t early = lpl_map_get(&split->early, LPL_KEY(tid));

	if (early == 0)
		return;
	(void)lpl_map_remove(&split->early, LPL_KEY(tid));
	if (created)
		return;
	task->wait = split->early_wait[early];
}

static enum lpl_error take_task(struct lpl_merge_output *output, const struct lpl_merge_task *view,
				struct lpl_report *report)
{
	struct split *split = (struct split *)output;
	struct lpl_part *part;
	struct splitting *task;

	LPL_TRY(reach_task(split, view->serial, report));
	part = &split->parts->part[view->serial];
	task = &split->task[view->serial];
	if (!task->known && view->serial != 0) {
		task->known = true;
		part->created = split->creating && split->creator != 0 &&
			view->parent == split->creator &&
			view->tid == (uint32_t)split->creation_event.arg[KTR_TASK_CREATE_TID];
		if (part->created)
			split->child = view->serial;
		take_early(split, task, view->tid, part->created);
	} else if (part->tid != view->tid) {
		forget_tid(split, part->tid, view->serial);
	}
	part->tid = view->tid;
	part->tgid = view->tgid;
	part->process = view->process;
	part->parent = view->parent;
	(void)lpl_text_escape(part->name, sizeof(part->name), view->name, view->name_length);
	identify(task, view);
	if (view->serial == 0)
		return LPL_OK;
	if (view->state != LPL_TASK_LIVES)
		forget_tid(split, view->tid, view->serial);
	else if (!lpl_map_put(&split->by_tid, LPL_KEY(view->tid), view->serial))
		return no_memory(report);
	return LPL_OK;
}

/* ---- records ---- */

static enum lpl_error write_wait(struct split *split, uint64_t serial, struct lpl_report *report)
{
	struct wait *wait = &split->task[serial].wait;
	const bool for_wake = wait->state == FOR_WAKE;
	const struct lpl_item item = {
		.kind = for_wake ? LPL_ITEM_WAIT_WAKE : LPL_ITEM_WAIT_CYCLES,
		.value = for_wake ? wait->wake : wait->waker.cycles
	};
	struct lpl_spool *spool = split->parts->spool;
	struct lpl_chain *chain = &split->parts->part[serial].chain;

	wait->state = NO_WAIT;
	return for_wake ? lpl_write_body(spool, chain, &item, &wait->waker, sizeof(wait->waker),
					 report) : lpl_write_item(spool, chain, &item, report);
}

/* The task's first record: if no task created it, it may have waited since the trace began. */
static void begin_task(struct split *split, const struct lpl_merge_task *view)
{
	const uint64_t serial = view->serial;
	struct wait *wait = &split->task[serial].wait;

	/* one that the record itself shows is reported after it */
	if (!split->task[serial].known && serial != 0)
		identify(&split->task[serial], view);
	split->parts->part[serial].exists = true;
	if (split->parts->part[serial].created || serial == 0 || wait->state != NO_WAIT ||
	    split->any_wake || split->parts->summary.cycles == 0)
		return;
	wait->state = FOR_CYCLES;
	wait->waker.cycles = split->parts->summary.cycles;
}

/* It runs again before anything else ended its wait: it took as long as it did. */
static void guess_wait(struct split *split, struct wait *wait)
{
	if (wait->state != UNRESOLVED)
		return;
	wait->state = FOR_CYCLES;
	wait->waker.cycles = split->parts->summary.cycles - wait->since;
	split->parts->summary.waits++;
	split->parts->summary.waits_guessed++;
}

static enum lpl_error write_burst(struct split *split, struct lpl_report *report)
{
	const struct lpl_item item = {.kind = LPL_ITEM_BURST, .value = split->burst,
				      .references = split->burst_records};

	if (split->burst_records == 0)
		return LPL_OK;
	split->burst_records = 0;
	return lpl_write_item(split->parts->spool, &split->parts->bursts, &item, report);
}

/* The latest creation, now that its child is known if it was one. */
static enum lpl_error write_creation(struct split *split, struct lpl_report *report)
{
	if (!split->creating)
		return LPL_OK;
	split->creating = false;
	if (split->child != 0)
		split->creation.kind = LPL_ITEM_CREATE;
	split->creation.value = split->child;
	return lpl_write_event(split->parts->spool, &split->parts->part[split->creator].chain,
			       &split->creation, &split->creation_event, report);
}

/* Another task, or one about which something changed. */
static enum lpl_error turn_to(struct split *split, const struct lpl_merge_task *view,
			      struct lpl_report *report)
{
	const uint64_t serial = view->serial;
	struct lpl_parts *parts = split->parts;
	struct splitting *task;

	LPL_TRY(write_creation(split, report));
	LPL_TRY(reach_task(split, serial, report));
	if (split->burst != serial) {
		LPL_TRY(write_burst(split, report));
		if (split->burst < parts->parts)
			lpl_chain_pause(&parts->part[split->burst].chain);
		split->burst = serial;
	}
	task = &split->task[serial];
	if (!parts->part[serial].exists)
		begin_task(split, view);
	guess_wait(split, &task->wait);
	if (task->wait.state != NO_WAIT)
		LPL_TRY(write_wait(split, serial, report));
	if (task->changed) {
		const struct lpl_item item = {.kind = LPL_ITEM_IDENTITY};

		task->changed = false;
		LPL_TRY(lpl_write_body(parts->spool, &parts->part[serial].chain, &item,
				       &task->identity, sizeof(task->identity), report));
	}
	return LPL_OK;
}

/* Clocks never run backwards; where a damaged trace's do, nothing passes. */
static inline uint64_t advance(uint64_t *clock, uint64_t to)
{
	const uint64_t by = to > *clock ? to - *clock : 0;

	*clock = to;
	return by;
}

/* What passed before a record, as the beginning of its item. */
static inline struct lpl_item take_record(struct split *split, uint64_t ref, uint64_t instr,
					  uint64_t cycle, bool real)
{
	struct lpl_schedule_trace *summary = &split->parts->summary;
	struct lpl_item item = {.kind = LPL_ITEM_EVENT};

	if (!split->begun) {
		split->begun = true;
		split->parts->first_ref = split->ref = ref - real;
		split->parts->first_instr = split->instr = instr;
		split->parts->first_cycle = split->cycle = cycle;
	}
	item.references = advance(&split->ref, ref);
	item.instructions = advance(&split->instr, instr);
	item.cycles = advance(&split->cycle, cycle);
	if (split->outside)
		item.instructions = item.cycles = 0;
	split->burst_records++;
	summary->cycles += item.cycles;
	summary->instructions += item.instructions;
	if (split->burst == 0)
		summary->left_out_cycles += item.cycles;
	return item;
}

/* ---- windows ---- */

/* All that passed so far was before the first window. */
static enum lpl_error forget_time(struct split *split, struct lpl_report *report)
{
	struct lpl_parts *parts = split->parts;

	for (size_t i = 0; i < parts->parts; i++) {
		struct wait *wait = &split->task[i].wait;

		lpl_chain_pause(&parts->part[i].chain);
		LPL_TRY(lpl_forget_time(parts->spool, &parts->part[i].chain, report));
		wait->since = wait->waker.cycles = 0;
	}
	for (size_t i = 1; i <= split->early_waits; i++)
		split->early_wait[i].since = split->early_wait[i].waker.cycles = 0;
	parts->summary.cycles = parts->summary.instructions = parts->summary.left_out_cycles = 0;
	return LPL_OK;
}

/* Tracing was on or off, up to here. */
static enum lpl_error know_window(struct split *split, bool on, struct lpl_report *report)
{
	if (!split->window_known && !on) {
		split->outside = true;
		LPL_TRY(forget_time(split, report));
	}
	split->window_known = true;
	return LPL_OK;
}

/* ---- pages ---- */

static enum lpl_error take_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	const struct lpl_item item = {.kind = LPL_ITEM_EVENT};
	struct lpl_parts *parts = ((struct split *)output)->parts;
	struct lpl_part_page *added;
	struct lpl_event fact;

	if (parts->pages == INT32_MAX)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "schedule: the trace has more pages "
				"than %" PRId32, INT32_MAX);
	if (!lpl_reach(parts->page, parts->page_room, parts->pages + 1U))
		return no_memory(report);
	added = &parts->page[++parts->pages];
	parts->summary.pages = parts->pages;
	added->number = page->number;
	added->physical = page->kind == LPL_PAGE_PHYSICAL;
	LPL_TRY(lpl_chain_room(parts->spool, &parts->facts, 2 * LPL_ITEM_BODY, report));
	added->fact = parts->facts.last << 16 | lpl_chain_offset(&parts->facts);
	lpl_canonical_page(&fact, page);
	return lpl_write_event(parts->spool, &parts->facts, &item, &fact, report);
}

/* ---- references ---- */

/* The idle task does not run again, so that it does not count. */
static void count_sharing(struct lpl_parts *parts, uint32_t index, uint64_t serial)
{
	struct lpl_part_page *page = &parts->page[index];

	if (serial == 0 || page->task == serial + 1 || page->task == SEVERAL_TASKS)
		return;
	parts->summary.shared += page->task != 0;
	page->task = page->task == 0 && serial < SEVERAL_TASKS - 1 ? (uint32_t)serial + 1 : SEVERAL_TASKS;
}

static enum lpl_error take_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				     struct lpl_report *report)
{
	struct split *split = (struct split *)output;
	const struct lpl_ref *ref = merged->ref;
	const uint64_t serial = merged->task->serial;
	struct lpl_parts *parts = split->parts;
	const uint32_t page = (uint32_t)merged->page;
	struct lpl_item item;

	split->in_state = false;
	split->window_known = true;
	count_sharing(parts, page, serial);
	if (split->burst != serial || split->creating || serial >= parts->parts ||
	    !parts->part[serial].exists || split->task[serial].changed ||
	    split->task[serial].wait.state != NO_WAIT)
		LPL_TRY(turn_to(split, merged->task, report));
	item = take_record(split, ref->ref, ref->instr, ref->cycle,
			   (ref->flags & LPL_SYNTHETIC) == 0);
	split->outside = false;		/* what said that it is on may be missing */
	item.kind = LPL_ITEM_REFERENCE;
	item.type = ref->type % LPL_TYPES;
	item.flags = ref->flags & 15;
	item.value = page;
	parts->summary.references++;
	if (serial == 0)
		parts->summary.left_out_references++;
	return lpl_write_item(parts->spool, &parts->part[serial].chain, &item, report);
}

/* ---- events ---- */

/* Where the wait is kept of a task that is not known yet; NULL: no memory. */
static struct wait *new_early_wait(struct split *split, uint32_t tid)
{
	const size_t i = ++split->early_waits;

	if (!lpl_reach(split->early_wait, split->early_room, i) ||
	    !lpl_map_put(&split->early, LPL_KEY(tid), i))
		return NULL;
	return &split->early_wait[i];
}

/*
 * A wake ends the wait of whoever has this tid: that of a task that left, or its first one.
 * false: no memory.
 */
static bool end_wait(struct split *split, const struct lpl_event *event, uint64_t waker,
		     struct lpl_item *item)
{
	const bool by_task = event->arg[KTR_WAKE_CONTEXT] == KTR_CONTEXT_TASK && waker != 0;
	const uint32_t tid = (uint32_t)event->arg[KTR_WAKE_TID];
	const uint64_t serial = lpl_map_get(&split->by_tid, LPL_KEY(tid));
	struct wait *wait = serial != 0 ? &split->task[serial].wait : NULL;
	const bool first = serial == 0 || (!split->parts->part[serial].exists &&
					   !split->parts->part[serial].created &&
					   wait->state == NO_WAIT);
	const uint64_t since = first ? 0 : wait->since;

	if (tid == 0 || (first ? serial == 0 && lpl_map_get(&split->early, LPL_KEY(tid)) != 0 :
			 wait->state != UNRESOLVED))
		return true;
	if (by_task) {
		item->kind = LPL_ITEM_WAKE;
		item->value = ++split->parts->wakes;
	}
	if (wait == NULL)
		wait = new_early_wait(split, tid);
	if (wait == NULL)
		return false;
	split->parts->summary.waits += !first;
	*wait = (struct wait){by_task ? FOR_WAKE : FOR_CYCLES, since, split->parts->wakes,
			      {waker, split->parts->summary.cycles - since}};
	return true;
}

static void leave(struct split *split, const struct lpl_event *event, uint64_t serial,
		  struct lpl_item *item)
{
	const uint64_t state = event->arg[KTR_SCHEDULE_PREVIOUS_STATE];

	item->kind = LPL_ITEM_LEAVE;
	item->value = state;
	if (serial != 0 && state != KTR_STATE_RUNNABLE && state != KTR_STATE_DEAD)
		split->task[serial].wait = (struct wait){
			.state = UNRESOLVED, .since = split->parts->summary.cycles
		};
}

/*
 * Data goes into a pipe, or comes out of it.  What passes before a task takes passes before it has to
 * wait for what it takes.
 */
static enum lpl_error pass_on(struct split *split, const struct lpl_event *event, uint64_t serial,
			      struct lpl_item *item, struct lpl_report *report)
{
	const uint64_t device = event->arg[KTR_PASS_DEVICE], inode = event->arg[KTR_PASS_INODE];
	struct lpl_parts *parts = split->parts;
	const struct lpl_giver *giver;
	uint64_t i, since;

	if (serial == 0)
		return LPL_OK;
	if (event->arg[KTR_PASS_TAKEN] == 0) {
		item->kind = LPL_ITEM_WAKE;
		item->value = ++parts->wakes;
		return lpl_passes_give(&split->passes, device, inode, serial, item->value) ?
			LPL_OK : no_memory(report);
	}
	if (!lpl_passes_take(&split->passes, device, inode, serial, &i, &since))
		return no_memory(report);
	for (; i != 0; i = giver->older) {
		struct lpl_item take = {.kind = LPL_ITEM_TAKE, .cycles = item->cycles,
					.instructions = item->instructions};
		struct lpl_waker waker = {.cycles = 0};

		giver = &split->passes.giver[i];
		if (giver->number <= since)
			break;
		if (giver->serial == serial)
			continue;
		take.value = giver->number;
		waker.serial = giver->serial;
		LPL_TRY(lpl_write_body(parts->spool, &parts->part[serial].chain, &take, &waker,
				       sizeof(waker), report));
		item->cycles = item->instructions = 0;
	}
	return LPL_OK;
}

/* One that was there before all records: its clocks are its own. */
static enum lpl_error keep_state(struct split *split, const struct lpl_event *event,
				 struct lpl_report *report)
{
	const struct lpl_item item = {.kind = LPL_ITEM_EVENT, .references = event->ref,
				      .instructions = event->instr, .cycles = event->cycle};

	if (event->tag == LPL_EVENT_TRACING) {
		split->window_known = true;
		split->outside = event->arg[LPL_EVENT_TRACING_ON] == 0;
	}
	if (split->begun || !lpl_canonical_passes(event))
		return LPL_OK;
	return lpl_write_event(split->parts->spool, &split->parts->state, &item, event, report);
}

static enum lpl_error take_event(struct lpl_merge_output *output, const struct lpl_event *event,
				 const struct lpl_merge_task *view, struct lpl_report *report)
{
	struct split *split = (struct split *)output;
	const uint64_t serial = view->serial;
	struct lpl_chain *chain;
	struct lpl_item item;

	if (event->tag == LPL_EVENT_STATE)
		split->in_state = event->arg[LPL_EVENT_STATE_BEGINS] != 0;
	if (event->tag == LPL_EVENT_GAP)
		split->in_state = false;
	if (split->in_state || event->tag == LPL_EVENT_STATE)
		return keep_state(split, event, report);
	LPL_TRY(turn_to(split, view, report));
	if (event->tag == LPL_EVENT_TRACING)
		LPL_TRY(know_window(split, event->arg[LPL_EVENT_TRACING_ON] == 0, report));
	item = take_record(split, event->ref, event->instr, event->cycle, false);
	chain = &split->parts->part[serial].chain;
	if (event->tag == KTR_SCHEDULE)
		leave(split, event, serial, &item);
	if (event->tag == KTR_WAKE) {
		split->any_wake = true;
		if (!end_wait(split, event, serial, &item))
			return no_memory(report);
	}
	if (event->tag == KTR_PASS)
		LPL_TRY(pass_on(split, event, serial, &item, report));
	if (event->tag == LPL_EVENT_TRACING)
		split->outside = event->arg[LPL_EVENT_TRACING_ON] == 0;
	if (event->tag == KTR_TASK_CREATE) {
		split->creating = true;
		split->creator = serial;
		split->child = 0;
		split->creation = item;
		split->creation_event = *event;
		return LPL_OK;
	}
	if (!lpl_canonical_passes(event)) {
		item.kind = LPL_ITEM_HIDDEN;
		return lpl_write_item(split->parts->spool, chain, &item, report);
	}
	return lpl_write_event(split->parts->spool, chain, &item, event, report);
}

/* ---- the end ---- */

static enum lpl_error end_task(struct split *split, uint64_t serial, struct lpl_report *report)
{
	const struct lpl_item left = {.kind = LPL_ITEM_LEFT};
	struct lpl_part *part = &split->parts->part[serial];
	struct wait *wait = &split->task[serial].wait;

	if (part->exists && wait->state == UNRESOLVED) {
		split->parts->summary.left_waiting++;
		LPL_TRY(lpl_write_item(split->parts->spool, &part->chain, &left, report));
	} else if (part->exists && wait->state != NO_WAIT) {
		LPL_TRY(write_wait(split, serial, report));
	}
	lpl_chain_pause(&part->chain);
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct split *split = (struct split *)output;
	struct lpl_parts *parts = split->parts;

	LPL_TRY(write_creation(split, report));
	LPL_TRY(write_burst(split, report));
	for (size_t i = 0; i < parts->parts; i++)
		LPL_TRY(end_task(split, i, report));
	lpl_chain_pause(&parts->bursts);
	lpl_chain_pause(&parts->state);
	lpl_chain_pause(&parts->facts);
	return LPL_OK;
}

enum lpl_error lpl_split_open(struct lpl_merge_output **output, struct lpl_parts *parts,
			      struct lpl_report *report)
{
	struct split *split = calloc(1, sizeof(*split));

	*output = NULL;
	if (split == NULL)
		return no_memory(report);
	split->output = (struct lpl_merge_output){
		.reference = take_reference, .event = take_event, .finish = take_finish,
		.page = take_page, .task = take_task
	};
	split->parts = parts;
	lpl_map_init(&split->by_tid, 1);
	lpl_map_init(&split->early, 1);
	lpl_passes_init(&split->passes);
	*output = &split->output;
	return LPL_OK;
}

void lpl_split_close(struct lpl_merge_output *output)
{
	struct split *split = (struct split *)output;

	if (split == NULL)
		return;
	lpl_map_free(&split->by_tid);
	lpl_map_free(&split->early);
	lpl_passes_free(&split->passes);
	free(split->early_wait);
	free(split->task);
	free(split);
}
