/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The references of some tasks, of a mode, of some types, to a range of addresses.
 *
 * What is chosen is kept by task, from the event that shows one to its end, so that a reference
 * only looks at a flag of the task that runs:
 *
 *	by name or number	when it appears, executes, or is called so by the kernel later
 *				(a script, which executes as its interpreter; one that renames
 *				itself), until it executes again; a thread of a chosen process
 *				when it appears
 *	by descent		with `children`: made by one that was chosen; for good
 */
#include <laplace/select.h>
#include <laplace/translation.h>

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/try.h"
#include "canonical_steps.h"
#include "chosen_steps.h"
#include "kinds.h"
#include "merge/output/canonical.h"
#include "merge/tasks.h"
#include "when.h"

enum { BATCH = CANONICAL_BATCH, COMM = 15 };	/* of a name that no exec gave, kernels keep 15 */
enum chosen { NOT_CHOSEN = 1, BY_NAME, BY_DESCENT };

struct wanted {
	char *name;		/* NULL: any */
	bool has_number;
	uint32_t number;
};

struct lpl_choice {
	struct lpl_sink sink;
	struct lpl_kinds *kinds;	/* NULL: any.  In front of it, unless it has: */
	struct canonical_pages *pages;	/* of what is passed; NULL: those that come */
	struct canonical_steps *steps;	/* of what comes as steps, if anything does */
	struct chosen_steps chosen_steps;	/* of these, or of what comes, those that are passed */
	struct lpl_physical *physical;	/* after it: what is passed is physical; or NULL */
	struct lpl_sink *next;
	struct wanted process, task;
	bool by_task;		/* either of them is wanted */
	bool all;		/* whatever comes is passed, as it is but for its page */
	bool by_parts;		/* nothing is chosen but tasks and times */
	bool children;
	unsigned int modes, types;
	uint64_t address, address_last, page_size;
	struct lpl_moment from, to;	/* times are cycles here; their texts are ours */
	/* of times since the beginning, how many cycles; the moments are known when it is: */
	uint64_t cycles_to_from, cycles_to_end;
	bool has_origin;		/* the first record has come */
	bool in_state;			/* what there was before it is listed (LPL_EVENT_STATE) */
	bool begun, over;		/* as far as events say */
	struct tasks tasks;
	struct lpl_map spaces;	/* made by a duplication: a task made then in one is a child */
	struct lpl_map chosen;	/* serial -> enum chosen, of those that live */
	bool runs;		/* the task that runs is chosen */
	enum lpl_numbering numbering;
	uint64_t since;		/* how many references precede the latest event, ... */
	uint64_t others;	/* ... and of these not from the tasks that are chosen */
	uint64_t passed, named;
	struct lpl_ref batch[BATCH];
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory to choose references");
}

/* ---- which tasks ---- */

static bool is_called(const char *name, const struct lpl_merge_task *task)
{
	size_t length = strlen(name);

	if (length > COMM && task->name_length == COMM)
		length = COMM;
	return length == task->name_length && memcmp(name, task->name, length) == 0;
}

static bool fits(const struct wanted *wanted, const struct lpl_merge_task *task, uint32_t number)
{
	return wanted->name == NULL || (wanted->has_number && wanted->number == number) ||
	       is_called(wanted->name, task);
}

static enum chosen get(const struct lpl_choice *choice, uint64_t serial)
{
	return (enum chosen)lpl_map_get(&choice->chosen, LPL_KEY(serial));
}

/* A thread that appears goes with the leader of its process, if that is known. */
static bool process_fits(const struct lpl_choice *choice, const struct lpl_merge_task *task,
			 bool appears)
{
	const struct task *leader;

	if (fits(&choice->process, task, task->tgid))
		return true;
	if (!appears || task->tid == task->tgid)
		return false;
	leader = (const struct task *)(uintptr_t)lpl_map_get(&choice->tasks.by_tid,
							     LPL_KEY(task->tgid));
	return leader != NULL && get(choice, leader->view.serial) > NOT_CHOSEN;
}

/* What a task is, when it appears, executes, or is renamed. */
static enum chosen judge(struct lpl_choice *choice, const struct lpl_merge_task *task,
			 enum chosen before)
{
	if (before == BY_DESCENT)
		return before;
	/* that it was made before the trace began is all that is known of a task without a parent */
	if (before == 0 && choice->children && task->parent != 0 &&
	    get(choice, task->parent) > NOT_CHOSEN)
		return BY_DESCENT;
	if (process_fits(choice, task, before == 0) && fits(&choice->task, task, task->tid)) {
		choice->named += before != BY_NAME;
		return BY_NAME;
	}
	return NOT_CHOSEN;
}

static bool take_task(struct lpl_choice *choice, struct task *task, bool executes)
{
	const struct lpl_merge_task *view = &task->view;
	enum chosen before = get(choice, view->serial);

	if (view->serial == 0)
		return true;	/* idle is no process */
	if (task_is_over(task)) {
		(void)lpl_map_remove(&choice->chosen, LPL_KEY(view->serial));
		return true;
	}
	/* a task that was chosen remains so until it executes again */
	if (before > NOT_CHOSEN && !executes)
		return true;
	return lpl_map_put(&choice->chosen, LPL_KEY(view->serial), judge(choice, view, before));
}

/* Of the space that an event names: was it known before? */
static bool follow_spaces(struct lpl_choice *choice, const struct lpl_event *event, bool *known)
{
	*known = event->tag == KTR_TASK_CREATE &&
		 lpl_map_get(&choice->spaces, LPL_KEY(event->arg[KTR_TASK_CREATE_SPACE])) != 0;
	if (event->tag == KTR_SPACE_END)
		(void)lpl_map_remove(&choice->spaces, LPL_KEY(event->arg[KTR_SPACE_END_SPACE]));
	return event->tag != KTR_SPACE_DUPLICATE ||
	       lpl_map_put(&choice->spaces, LPL_KEY(event->arg[KTR_SPACE_DUPLICATE_CHILD]), 1);
}

/* ---- when ---- */

static void settle(struct lpl_moment *moment, uint64_t origin, uint64_t cycles)
{
	if (moment->kind == LPL_MOMENT_TIME &&
	    __builtin_add_overflow(origin, cycles, &moment->number))
		moment->number = UINT64_MAX;
}

/* Seconds count from the first record on, which this may be one of. */
static void take_origin(struct lpl_choice *choice, uint64_t cycle)
{
	if (choice->has_origin)
		return;
	choice->has_origin = true;
	settle(&choice->from, cycle, choice->cycles_to_from);
	settle(&choice->to, cycle, choice->cycles_to_end);
}

/* Is the event one of those that list what there was before the first record? */
static bool is_of_state(struct lpl_choice *choice, const struct lpl_event *event)
{
	const bool was_in_state = choice->in_state;

	if (event->tag == LPL_EVENT_STATE)
		choice->in_state = event->arg[LPL_EVENT_STATE_BEGINS] != 0;
	else if (event->tag == LPL_EVENT_GAP)
		choice->in_state = false;
	return was_in_state || choice->in_state;
}

/* Is the moment reached, as far as a clock shows? */
static bool is_due(const struct lpl_moment *moment, uint64_t ref, uint64_t instr, uint64_t cycle)
{
	switch (moment->kind) {
	case LPL_MOMENT_REFERENCE:
		return ref >= moment->number;
	case LPL_MOMENT_INSTRUCTION:
		return instr >= moment->number;
	case LPL_MOMENT_CYCLE:
	case LPL_MOMENT_TIME:
	case LPL_MOMENT_UPTIME:
		return cycle >= moment->number;
	default:
		return false;
	}
}

/* Is that the event after which the moment is? */
static bool comes(const struct lpl_moment *moment, const struct lpl_event *event)
{
	return lpl_moment_comes(moment, event->tag, event->text, event->text_length);
}

static void follow_time(struct lpl_choice *choice, const struct lpl_event *event)
{
	if (!is_of_state(choice, event))
		take_origin(choice, event->cycle);
	choice->begun |= is_due(&choice->from, event->ref, event->instr, event->cycle);
	choice->over |= choice->begun && comes(&choice->to, event);
	choice->begun |= comes(&choice->from, event);
}

/* Is the moment reached in it? */
static bool comes_within(const struct lpl_moment *moment, const struct lpl_chunk *chunk)
{
	return !is_due(moment, chunk->first_ref, chunk->first_instr, chunk->first_cycle) &&
	       is_due(moment, chunk->last_ref, chunk->last_instr, chunk->last_cycle);
}

enum lpl_need lpl_choice_need(struct lpl_choice *choice, const struct lpl_chunk *chunk)
{
	const struct lpl_moment *from = &choice->from, *to = &choice->to;
	enum lpl_need all;

	take_origin(choice, chunk->first_cycle);
	all = comes_within(from, chunk) || comes_within(to, chunk) ? LPL_NEED_REFS : LPL_NEED_ALL;
	/* what was written before has parted pages that were shared */
	if (choice->pages && !is_due(to, chunk->first_ref, chunk->first_instr,
				     chunk->first_cycle))
		return all;
	if ((from->kind == LPL_MOMENT_NONE || lpl_moment_is_event(from->kind) ||
	     is_due(from, chunk->last_ref, chunk->last_instr, chunk->last_cycle)) &&
	    !is_due(to, chunk->first_ref, chunk->first_instr, chunk->first_cycle))
		return all;
	return choice->by_task || choice->kinds || choice->physical ? LPL_NEED_EVENTS : LPL_NEED_NOTHING;
}

/* ---- events ---- */

static bool follow(struct lpl_choice *choice, const struct lpl_event *event)
{
	struct tasks *tasks = &choice->tasks;
	bool enough = true, space_known;
	struct task *task;

	follow_time(choice, event);
	/* a switch may be among the events that are missing */
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		lpl_tasks_gap(tasks);
	if (!lpl_tasks_check(tasks, event) || !follow_spaces(choice, event, &space_known) ||
	    !lpl_tasks_event(tasks, event, space_known))
		return false;
	if (event->tag == KTR_SNAPSHOT)
		lpl_tasks_snapshot(tasks, event->arg[KTR_SNAPSHOT_BEGINS] != 0);
	while ((task = lpl_tasks_next_changed(tasks)) != NULL) {
		enough = enough && take_task(choice, task, false);
		if (task_is_over(task))
			lpl_task_free(task);
	}
	if (event->tag == KTR_EXEC) {
		task = (struct task *)(uintptr_t)lpl_map_get(&tasks->by_tid,
							     LPL_KEY(event->arg[KTR_TASK_TID]));
		enough = enough && (task == NULL || take_task(choice, task, true));
	}
	choice->runs = get(choice, tasks->current->view.serial) > NOT_CHOSEN;
	return enough;
}

/* ---- the stream ---- */

static bool is_on(const struct lpl_choice *choice)
{
	return !choice->by_task || choice->runs;
}

/* That of a reference that is passed. */
static uint64_t next_number(struct lpl_choice *choice, uint64_t ref)
{
	choice->passed++;
	switch (choice->numbering) {
	case LPL_NUMBERS_COUNTED:
		return choice->passed;
	case LPL_NUMBERS_BY_EVENTS:
		return ref - choice->others;
	case LPL_NUMBERS_KEPT:
		break;
	}
	return ref;
}

/* And of the last one before an event, which comes after the `ref`th of all. */
static uint64_t number_before_event(struct lpl_choice *choice, uint64_t ref)
{
	if (!is_on(choice) && ref > choice->since)
		choice->others += ref - choice->since;
	choice->since = ref;
	return choice->numbering == LPL_NUMBERS_KEPT ? ref : lpl_choice_before(choice, ref);
}

static bool is_in_time(const struct lpl_choice *choice, uint64_t ref, uint64_t instr, uint64_t cycle)
{
	return (choice->begun || is_due(&choice->from, ref, instr, cycle)) && !choice->over &&
	       !is_due(&choice->to, ref, instr, cycle);
}

static bool is_chosen(const struct lpl_choice *choice, const struct lpl_ref *ref)
{
	const unsigned int mode = ref->flags & LPL_USER ? LPL_CHOOSE_USER : LPL_CHOOSE_KERNEL;
	const uint64_t bytes = ref->flags & LPL_PAGED ? choice->page_size : ref->length;

	return is_in_time(choice, ref->ref, ref->instr, ref->cycle) && (choice->modes & mode) != 0 &&
	       (choice->types >> ref->type & 1) != 0 && ref->address <= choice->address_last &&
	       ref->address + (bytes - 1) >= choice->address;
}

/* Those that are chosen go on, on these pages; NULL: on their own. */
static enum lpl_error pass(struct lpl_choice *choice, const struct lpl_ref *refs,
			   const uint64_t *pages, size_t count, struct lpl_report *report)
{
	struct lpl_ref *batch = choice->batch;
	size_t used = 0;

	if (count > 0)
		take_origin(choice, refs[0].cycle);
	for (size_t i = 0; is_on(choice) && i < count; i++) {
		if (!is_chosen(choice, &refs[i]) ||
		    (pages && choice->kinds && !lpl_kinds_want(choice->kinds, pages[i])))
			continue;
		assert(used < BATCH);
		batch[used] = refs[i];
		if (pages)
			canonical_pages_put(&batch[used], pages[i]);
		batch[used++].ref = next_number(choice, refs[i].ref);
		if (used == BATCH) {
			LPL_TRY(choice->next->refs(choice->next, batch, used, report));
			used = 0;
		}
	}
	return used == 0 ? LPL_OK : choice->next->refs(choice->next, batch, used, report);
}

/* The same where all go on, at most as many as a batch has room for. */
static enum lpl_error pass_all(struct lpl_choice *choice, const struct lpl_ref *refs,
			       const uint64_t *pages, size_t count, struct lpl_report *report)
{
	struct lpl_ref *batch = choice->batch;

	assert(count <= BATCH);
	for (size_t i = 0; i < count; i++) {
		batch[i] = refs[i];
		canonical_pages_put(&batch[i], pages[i]);
	}
	choice->passed += count;
	return count == 0 ? LPL_OK : choice->next->refs(choice->next, batch, count, report);
}

/* What the page is that `ref` is the first one to. */
static enum lpl_error pass_page(struct lpl_choice *choice, const struct lpl_ref *ref,
				 struct lpl_report *report)
{
	const struct lpl_merge_task *task = &choice->tasks.current->view;
	struct lpl_event *event = &choice->pages->event;

	lpl_canonical_page_at(event, ref, task->tid, task->tgid);
	event->ref = number_before_event(choice, event->ref);
	if (choice->kinds)
		LPL_TRY(lpl_kinds_note(choice->kinds, event, report));
	return choice->next->event(choice->next, event, report);
}

/* All of them have to be looked at, whoever is chosen. */
static enum lpl_error take_virtual(struct lpl_choice *choice, const struct lpl_ref *refs,
				   size_t count, struct lpl_report *report)
{
	enum lpl_error (*const pass_on)(struct lpl_choice *choice, const struct lpl_ref *refs,
					const uint64_t *pages, size_t count,
					struct lpl_report *report) =
		choice->all ? pass_all : pass;
	const uint64_t *page = choice->pages->page;

	while (count > 0) {
		const size_t found = lpl_canonical_pages_find(choice->pages, refs, count, report);
		const size_t known = found - choice->pages->is_new;

		if (found == 0)
			return report ? report->error : LPL_ERR_MEMORY;
		LPL_TRY(pass_on(choice, refs, page, known, report));
		if (known < found) {
			LPL_TRY(pass_page(choice, &refs[known], report));
			LPL_TRY(pass_on(choice, &refs[known], &page[known], 1, report));
		}
		refs += found;
		count -= found;
	}
	return LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;

	return choice->pages ? take_virtual(choice, refs, count, report) :
			       pass(choice, refs, NULL, count, report);
}

bool lpl_choice_steps(const struct lpl_choice *choice)
{
	return choice->by_parts;
}

/* Which task runs changes at events alone, between which are steps. */
enum lpl_error lpl_choice_step(struct lpl_choice *choice, const struct lpl_chunk *chunk,
			       const struct lpl_page_steps *steps, struct lpl_page_steps *passed,
			       struct lpl_report *report)
{
	const bool wanted = is_on(choice) &&
		is_in_time(choice, chunk->first_ref, chunk->first_instr, chunk->first_cycle);
	struct lpl_page_steps found = *steps;

	if (choice->pages != NULL) {
		if (choice->steps == NULL && (choice->steps = lpl_canonical_steps_new()) == NULL)
			return no_memory(report);
		LPL_TRY(lpl_canonical_steps_take(choice->steps, choice->pages, steps, &found, report));
	}
	if (!choice->all && !lpl_chosen_steps_take(&choice->chosen_steps, &found, wanted))
		return no_memory(report);
	choice->passed += found.refs;
	*passed = found;
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;
	struct lpl_event renumbered = *event;
	enum lpl_error error;

	renumbered.ref = number_before_event(choice, event->ref);
	if (!follow(choice, event))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for another task");
	if (!choice->pages)
		return choice->next->event(choice->next, &renumbered, report);
	error = lpl_canonical_pages_follow(choice->pages, event, report);
	if (error != LPL_OK || !lpl_canonical_passes(event))
		return error;
	return choice->next->event(choice->next, &renumbered, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;

	return choice->next->finish(choice->next, report);
}

/* ---- opening and closing ---- */

static bool is_of_time(const struct lpl_moment *moment)
{
	return moment->kind == LPL_MOMENT_TIME || moment->kind == LPL_MOMENT_UPTIME;
}

/*
 * A copy, with a time as a cycle; one since the beginning as `since`, and as a cycle that never
 * comes as long as the beginning is not known.  false: no memory.
 */
static bool copy_moment(struct lpl_moment *copy, const struct lpl_moment *moment,
			uint64_t cycles_a_second, uint64_t *since)
{
	*copy = *moment;
	copy->text = moment->text != NULL ? strdup(moment->text) : NULL;
	if (is_of_time(moment)) {
		const unsigned __int128 cycles =
			(unsigned __int128)moment->number * cycles_a_second / 1000000;

		*since = cycles < UINT64_MAX ? (uint64_t)cycles : UINT64_MAX;
		copy->number = moment->kind == LPL_MOMENT_TIME ? UINT64_MAX : *since;
	}
	return moment->text == NULL || copy->text != NULL;
}

static bool want(struct wanted *wanted, const char *text)
{
	char *end;
	unsigned long number;

	if (text == NULL)
		return true;
	wanted->name = strdup(text);
	number = strtoul(text, &end, 10);
	wanted->has_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
			     number <= UINT32_MAX;
	wanted->number = (uint32_t)number;
	return wanted->name != NULL;
}

enum lpl_error lpl_choice_open(struct lpl_choice **choice,
			       const struct lpl_choice_options *options,
			       struct lpl_sink *next, struct lpl_report *report)
{
	const bool ranged = options->address != 0 || options->address_end != 0;
	enum lpl_error error = LPL_OK;
	struct lpl_choice *made;

	*choice = NULL;
	if (ranged && options->address_end <= options->address)
		return lpl_fail(report, LPL_ERR_USAGE, "%" PRIx64 ":%" PRIx64 " is no range of "
				"addresses", options->address, options->address_end);
	if (options->children && options->process == NULL && options->task == NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "children of what: a process is missing");
	if (options->numbering == LPL_NUMBERS_BY_EVENTS && lpl_choice_beyond_tasks(options))
		return lpl_fail(report, LPL_ERR_USAGE, "events do not say how many references of a "
				"mode, a type or a range there are");
	if (options->addresses == LPL_ADDRESSES_PHYSICAL && (options->kinds != NULL || options->file != NULL))
		return lpl_fail(report, LPL_ERR_USAGE, "kinds and files are of canonical pages, not of frames");
	if (options->from.kind == LPL_MOMENT_BYTES || options->to.kind == LPL_MOMENT_BYTES)
		return lpl_fail(report, LPL_ERR_USAGE, "no references are chosen by bytes");
	if (options->cycles_a_second == 0 && (is_of_time(&options->from) || is_of_time(&options->to)))
		return lpl_fail(report, LPL_ERR_USAGE, "it is not known how many cycles a second of the "
				"guest's has");
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return no_memory(report);
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->next = next;
	made->by_task = options->process != NULL || options->task != NULL;
	made->children = options->children;
	made->numbering = options->numbering;
	made->modes = options->modes != 0 ? options->modes : LPL_CHOOSE_USER | LPL_CHOOSE_KERNEL;
	made->types = options->types != 0 ? options->types : UINT_MAX;
	made->address = options->address;
	made->page_size = options->page_size != 0 ? options->page_size : 1U << LPL_PAGE_SHIFT;
	made->address_last = ranged ? options->address_end - 1 : UINT64_MAX;
	lpl_tasks_init(&made->tasks);
	lpl_map_init(&made->spaces, 1);
	lpl_map_init(&made->chosen, 1);
	made->begun = options->from.kind == LPL_MOMENT_NONE;
	if (!copy_moment(&made->from, &options->from, options->cycles_a_second,
			 &made->cycles_to_from) ||
	    !copy_moment(&made->to, &options->to, options->cycles_a_second,
			 &made->cycles_to_end) ||
	    !want(&made->process, options->process) || !want(&made->task, options->task)) {
		lpl_choice_close(made);
		return no_memory(report);
	}
	made->all = !lpl_choice_chooses(options) && options->numbering == LPL_NUMBERS_KEPT;
	made->by_parts = options->addresses != LPL_ADDRESSES_PHYSICAL && options->kinds == NULL &&
			 options->file == NULL && options->modes == 0 && options->types == 0 && !ranged;
	if (options->addresses == LPL_ADDRESSES_CANONICAL)
		error = lpl_canonical_pages_open(&made->pages, report);
	else if (options->addresses == LPL_ADDRESSES_PHYSICAL)
		error = lpl_physical_open(&made->physical, next, report);
	if (made->physical != NULL)
		made->next = lpl_physical_sink(made->physical);
	if (error == LPL_OK && (options->kinds != NULL || options->file != NULL))
		error = lpl_kinds_open(&made->kinds, options->kinds, options->file, &made->sink,
				       report);
	if (error != LPL_OK) {
		lpl_choice_close(made);
		return error;
	}
	*choice = made;
	return LPL_OK;
}

struct lpl_sink *lpl_choice_sink(struct lpl_choice *choice)
{
	return choice->kinds != NULL && choice->pages == NULL ? lpl_kinds_sink(choice->kinds) :
								&choice->sink;
}

uint64_t lpl_choice_passed(const struct lpl_choice *choice)
{
	return choice->passed;
}

uint64_t lpl_choice_before(const struct lpl_choice *choice, uint64_t number)
{
	switch (choice->numbering) {
	case LPL_NUMBERS_COUNTED:
		return choice->passed;
	case LPL_NUMBERS_BY_EVENTS:
		return (is_on(choice) ? number : choice->since) - choice->others;
	case LPL_NUMBERS_KEPT:
		break;
	}
	return 0;
}

uint64_t lpl_choice_unknown(const struct lpl_choice *choice)
{
	return choice->physical != NULL ? lpl_physical_unknown(choice->physical) : 0;
}

uint64_t lpl_choice_tasks(const struct lpl_choice *choice)
{
	return choice->named;
}

void lpl_choice_close(struct lpl_choice *choice)
{
	if (choice == NULL)
		return;
	lpl_map_free(&choice->spaces);
	lpl_map_free(&choice->chosen);
	lpl_tasks_free(&choice->tasks);
	lpl_kinds_close(choice->kinds);
	lpl_canonical_pages_close(choice->pages);
	lpl_canonical_steps_free(choice->steps);
	lpl_chosen_steps_free(&choice->chosen_steps);
	lpl_physical_close(choice->physical);
	free((char *)choice->from.text);
	free((char *)choice->to.text);
	free(choice->process.name);
	free(choice->task.name);
	free(choice);
}
