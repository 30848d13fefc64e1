/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Local replacement: a simulator for each process that lives, fed with what the process
 * references; when it ends its results are added to the sums.
 *
 * The time of WS and VMIN is then the process's own.  It goes on with each of its references by as much as
 * the stream's has since the reference before, whoever made that one: by 1 in a whole trace, and in one
 * that was reduced by what was dropped in between, too.
 *
 * A simulator that is never fed stands for all of them: it checks what is added, and
 * knows the names.
 *
 * Where processes have memories of different sizes, each is simulated at all of these sizes, and when it ends
 * that one counts which is its own: so a memory is of one size for all of a process's life, though its last name
 * is known only then.
 */
#include <laplace/reducer.h>
#include <laplace/select.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "merge/tasks.h"
#include "process_frames.h"
#include "runner.h"

/* A policy that was added, and its results over all processes that have ended. */
struct added {
	struct lpl_sizes sizes;		/* own copy */
	struct lpl_result *sum;		/* by place in `sizes`; one alone with frames */
	size_t sums;
	size_t first;			/* of its results in `result` of a process that is kept */
};

/* A process that has ended, where each one's results are kept. */
struct kept {
	struct lpl_runner who;
	uint64_t cold;
	struct lpl_result *result;	/* policy after policy */
};

/* The memory of a process that lives and has made a reference. */
struct memory {
	TAILQ_ENTRY(memory) in_all;
	uint64_t process;		/* its number */
	uint64_t place;			/* in the order of first references */
	struct lpl_runner who;
	uint64_t begin, time;		/* its own, of its first and last reference; 0: none yet */
	struct lpl_simulator *simulator;
};

struct lpl_local {
	struct lpl_sink sink;
	struct tasks tasks;
	bool reduced;
	uint64_t page_size;		/* of the pages of all memories */
	struct lpl_simulator *model;	/* never fed */
	struct added *added;
	size_t policies, added_room;
	TAILQ_HEAD(, memory) all;	/* in the order of their first references */
	struct lpl_map by_process;	/* number -> struct memory, of all */
	struct memory *last;		/* the one last referenced, or NULL */
	bool timed;			/* ws or vmin is among the policies */
	uint64_t ref;			/* of the last reference */
	uint64_t times;			/* of all processes that have ended */
	struct lpl_ref *in_own_time;	/* references, as a process's simulator has them */
	size_t in_own_time_room;
	uint64_t processes, unknown, cold;
	bool has_frames;		/* processes have memories of different sizes: */
	struct process_frames frames;
	bool keeps;
	struct kept *kept;		/* by place; those of `processes` at the end */
	size_t kept_room;
};

/* ---- a process's simulator ---- */

static enum lpl_error open_simulator(const struct lpl_local *local,
				     struct lpl_simulator **simulator,
				     struct lpl_report *report)
{
	/* threads for each of thousands of processes would only be in each other's way */
	const struct lpl_simulator_options options = { .jobs = 1, .page_size = local->page_size };
	enum lpl_error error = lpl_simulator_open(simulator, &options, report);

	for (size_t i = 0; i < local->policies && error == LPL_OK; i++)
		error = lpl_simulator_add(*simulator, lpl_simulator_policy(local->model, i),
					  &local->added[i].sizes, report);
	if (error != LPL_OK) {
		lpl_simulator_close(*simulator);
		*simulator = NULL;
	}
	return error;
}

static void memory_free(struct lpl_local *local, struct memory *memory)
{
	if (local->last == memory)
		local->last = NULL;
	(void)lpl_map_remove(&local->by_process, LPL_KEY(memory->process));
	TAILQ_REMOVE(&local->all, memory, in_all);
	lpl_simulator_close(memory->simulator);
	free(memory);
}

static struct memory *memory_of(const struct lpl_local *local, uint64_t process)
{
	return (struct memory *)(uintptr_t)lpl_map_get(&local->by_process, LPL_KEY(process));
}

/* What is known now of the process of a task. */
static void describe(const struct lpl_local *local, struct memory *memory,
		     const struct lpl_merge_task *task)
{
	if (memory->process != 0)
		lpl_runner_describe(&memory->who, &local->tasks, task, true);
	else
		snprintf(memory->who.name, sizeof(memory->who.name), "kernel");
}

/* NULL: *error. */
static struct memory *begin_process(struct lpl_local *local, uint64_t process,
				    enum lpl_error *error, struct lpl_report *report)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (memory == NULL ||
	    !lpl_map_put(&local->by_process, LPL_KEY(process), (uintptr_t)memory)) {
		free(memory);
		*error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for another process");
		return NULL;
	}
	memory->process = process;
	TAILQ_INSERT_TAIL(&local->all, memory, in_all);
	*error = open_simulator(local, &memory->simulator, report);
	if (*error != LPL_OK) {
		memory_free(local, memory);
		return NULL;
	}
	describe(local, memory, &local->tasks.current->view);
	memory->place = local->processes++;
	return memory;
}

/* false: the space-time is beyond 2^64. */
static bool add_result(struct lpl_result *sum, const struct lpl_result *result, uint64_t times)
{
	sum->references += result->references;
	sum->faults += result->faults;
	sum->evictions += result->evictions;
	sum->dirty_evictions += result->dirty_evictions;
	sum->timed = result->timed;
	if (__builtin_add_overflow(sum->space_time, result->space_time, &sum->space_time))
		return false;
	if (sum->timed)
		sum->mean_resident = (double)sum->space_time / (double)times;
	return true;
}

/* The results of a process that count: one for each sum.  `size`: of its memory, if it has one of its own. */
static const struct lpl_result *counted(const struct lpl_simulator *simulator, size_t policy,
					uint64_t size)
{
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(simulator, policy, &count);

	while (size != 0 && result->size != size)
		result++;
	return result;
}

static enum lpl_error keep_results(struct lpl_local *local, const struct memory *memory, uint64_t size,
				   struct lpl_report *report)
{
	const struct added *last = local->policies != 0 ? &local->added[local->policies - 1] : NULL;
	const size_t count = last != NULL ? last->first + last->sums : 0;
	struct kept *kept;

	if (!lpl_reach(local->kept, local->kept_room, memory->place))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the results of each process");
	kept = &local->kept[memory->place];
	kept->result = calloc(count + 1, sizeof(*kept->result));
	if (kept->result == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the results of each process");
	kept->who = memory->who;
	kept->cold = lpl_simulator_pages(memory->simulator);
	for (size_t i = 0; i < local->policies; i++) {
		const struct added *added = &local->added[i];

		memcpy(kept->result + added->first, counted(memory->simulator, i, size),
		       added->sums * sizeof(*kept->result));
		for (size_t j = 0; j < added->sums; j++)
			kept->result[added->first + j].exact = !local->reduced;
	}
	if (count != 0)
		kept->who.references = kept->result[0].references;
	return LPL_OK;
}

static enum lpl_error add_results(struct lpl_local *local, const struct memory *memory,
				  struct lpl_report *report)
{
	const uint64_t size = local->has_frames ? lpl_process_frames_of(&local->frames, &memory->who) : 0;

	for (size_t i = 0; i < local->policies; i++) {
		const struct lpl_result *result = counted(memory->simulator, i, size);
		struct added *added = &local->added[i];

		for (size_t j = 0; j < added->sums; j++)
			if (!add_result(&added->sum[j], &result[j], local->times))
				return lpl_fail(report, LPL_ERR_UNSUPPORTED, "ws, vmin: the space-time of "
						"all processes is beyond 2^64");
	}
	local->cold += lpl_simulator_pages(memory->simulator);
	return local->keeps ? keep_results(local, memory, size, report) : LPL_OK;
}

static enum lpl_error end_process(struct lpl_local *local, struct memory *memory,
				  struct lpl_report *report)
{
	struct lpl_sink *sink = lpl_simulator_sink(memory->simulator);
	enum lpl_error error = sink->finish(sink, report);

	local->times += memory->time - memory->begin + 1;
	if (error == LPL_OK)
		error = add_results(local, memory, report);
	memory_free(local, memory);
	return error;
}

/* ---- the stream ---- */

/* The same references in a process's own time, as its simulator checks them. */
static enum lpl_error turn_to_own_time(struct lpl_local *local, struct memory *memory,
				       const struct lpl_ref *refs, size_t count,
				       struct lpl_report *report)
{
	if (!lpl_reserve(local->in_own_time, local->in_own_time_room, count))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu references", count);
	for (size_t i = 0; i < count; i++) {
		struct lpl_ref *own = &local->in_own_time[i];

		if (refs[i].ref < local->ref)
			return lpl_fail(report, LPL_ERR_ORDER, "simulation: reference number %" PRIu64
					" comes after number %" PRIu64 "; ws and vmin need times "
					"that rise", refs[i].ref, local->ref);
		memory->time += refs[i].ref - local->ref;
		if (memory->begin == 0) {
			memory->begin = 1;
			memory->time = 1;
		}
		local->ref = refs[i].ref;
		*own = refs[i];
		own->ref = memory->time;
	}
	return LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_local *local = (struct lpl_local *)sink;
	uint64_t process = local->tasks.current->view.process;
	enum lpl_error error = LPL_OK;
	struct lpl_sink *next;

	if (count == 0)
		return LPL_OK;
	if (local->last == NULL || local->last->process != process)
		local->last = memory_of(local, process);
	if (local->last == NULL)
		local->last = begin_process(local, process, &error, report);
	if (local->last == NULL)
		return error;
	for (size_t i = 0; i < count && process == 0; i++)
		local->unknown += (refs[i].flags & LPL_USER) != 0;
	next = lpl_simulator_sink(local->last->simulator);
	if (!local->timed)
		return next->refs(next, refs, count, report);
	LPL_TRY(turn_to_own_time(local, local->last, refs, count, report));
	return next->refs(next, local->in_own_time, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_local *local = (struct lpl_local *)sink;
	struct memory *memory;
	struct task *task;
	enum lpl_error error = LPL_OK;

	/* a switch may be among the events that are missing */
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		lpl_tasks_gap(&local->tasks);
	if (!lpl_tasks_check(&local->tasks, event) ||
	    !lpl_tasks_event(&local->tasks, event, false))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for another task");
	while ((task = lpl_tasks_next_changed(&local->tasks)) != NULL) {
		memory = memory_of(local, task->view.process);
		if (memory != NULL)
			describe(local, memory, &task->view);
		if (!task_is_over(task))
			continue;
		if (error == LPL_OK && memory != NULL && lpl_task_was_last(&local->tasks, task))
			error = end_process(local, memory, report);
		lpl_task_free(task);
	}
	return error;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_local *local = (struct lpl_local *)sink;

	while (!TAILQ_EMPTY(&local->all))
		LPL_TRY(end_process(local, TAILQ_FIRST(&local->all), report));
	return LPL_OK;
}

/* ---- opening and closing ---- */

enum lpl_error lpl_local_open(struct lpl_local **local, const char *reduction,
			      uint64_t page_size, struct lpl_report *report)
{
	const struct lpl_simulator_options options = {
		.jobs = 1, .page_size = page_size != 0 ? page_size :
			lpl_reduction_page_size(reduction)
	};
	struct lpl_local *made;
	enum lpl_error error;

	*local = NULL;
	if (reduction != NULL && lpl_reduction_behaviour(reduction) != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "a behaviour sequence (%s) is of one "
				"memory, and cannot be taken apart by process", reduction);
	if (lpl_reduction_records(reduction))
		return lpl_fail(report, LPL_ERR_USAGE, "records of active periods (%s) are of all "
				"processes, and cannot be taken apart", reduction);
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for local replacement");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->page_size = options.page_size;
	made->reduced = reduction != NULL && strcmp(reduction, "none") != 0;
	lpl_tasks_init(&made->tasks);
	TAILQ_INIT(&made->all);
	lpl_map_init(&made->by_process, 1);
	error = lpl_simulator_open(&made->model, &options, report);
	if (error != LPL_OK)
		lpl_local_close(made);
	else
		*local = made;
	return error;
}

static bool is_timed(const char *policy)
{
	size_t length = strcspn(policy, ":");

	return (length == 2 && strncmp(policy, "ws", 2) == 0) ||
	       (length == 4 && strncmp(policy, "vmin", 4) == 0);
}

/* A place for one more policy, with its sizes; NULL: no memory. */
static struct added *new_policy(struct lpl_local *local, const struct lpl_sizes *sizes)
{
	struct added *added;

	if (!lpl_reach(local->added, local->added_room, local->policies))
		return NULL;
	added = &local->added[local->policies];
	*added = (struct added){ .sizes.count = sizes->count, .sums = local->has_frames ? 1 : sizes->count };
	if (local->policies != 0)
		added->first = added[-1].first + added[-1].sums;
	added->sizes.size = malloc((sizes->count + 1) * sizeof(*added->sizes.size));
	added->sum = calloc(sizes->count + 1, sizeof(*added->sum));
	if (added->sizes.size == NULL || added->sum == NULL) {
		free(added->sizes.size);
		free(added->sum);
		return NULL;
	}
	memcpy(added->sizes.size, sizes->size, sizes->count * sizeof(*sizes->size));
	for (size_t i = 0; i < added->sums; i++) {
		added->sum[i].size = local->has_frames ? 0 : sizes->size[i];
		added->sum[i].exact = !local->reduced;
	}
	return added;
}

enum lpl_error lpl_local_frames(struct lpl_local *local, const char *spec, struct lpl_report *report)
{
	struct process_frames frames;
	enum lpl_error error;

	assert(local->policies == 0);
	error = lpl_process_frames_parse(&frames, spec, local->page_size, report);
	if (error != LPL_OK) {
		lpl_process_frames_free(&frames);
		return error;
	}
	lpl_process_frames_free(&local->frames);
	local->frames = frames;
	local->has_frames = true;
	return LPL_OK;
}

void lpl_local_keep(struct lpl_local *local)
{
	local->keeps = true;
}

enum lpl_error lpl_local_add(struct lpl_local *local, const char *policy,
			     const struct lpl_sizes *sizes, struct lpl_report *report)
{
	enum lpl_error error;
	struct added *added;

	if (local->has_frames && sizes != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': sizes and frames: each process has "
				"one memory, of as many pages as the frames say", policy);
	if (local->has_frames && is_timed(policy))
		return lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': has no memory of a given size, so "
				"there are no frames of it", policy);
	if (local->has_frames)
		sizes = &local->frames.sizes;
	if (sizes == NULL || sizes->all)
		return lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': with a memory for each "
				"process sizes have to be given, one by one or as a range",
				policy);
	added = new_policy(local, sizes);
	if (added == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%.80s': no memory", policy);
	error = lpl_simulator_add(local->model, policy, sizes, report);
	if (error != LPL_OK) {
		free(added->sizes.size);
		free(added->sum);
		return error;
	}
	local->timed |= is_timed(policy);
	local->policies++;
	return LPL_OK;
}

struct lpl_sink *lpl_local_sink(struct lpl_local *local)
{
	return &local->sink;
}

size_t lpl_local_count(const struct lpl_local *local)
{
	return local->policies;
}

const char *lpl_local_policy(const struct lpl_local *local, size_t index)
{
	return lpl_simulator_policy(local->model, index);
}

const struct lpl_result *lpl_local_results(const struct lpl_local *local, size_t index,
					   size_t *count)
{
	*count = local->added[index].sums;
	return local->added[index].sum;
}

uint64_t lpl_local_cold(const struct lpl_local *local)
{
	return local->cold;
}

uint64_t lpl_local_processes(const struct lpl_local *local)
{
	return local->processes;
}

const struct lpl_runner *lpl_local_process(const struct lpl_local *local, size_t i)
{
	assert(local->keeps && i < local->processes);
	return &local->kept[i].who;
}

uint64_t lpl_local_process_cold(const struct lpl_local *local, size_t i)
{
	assert(local->keeps && i < local->processes);
	return local->kept[i].cold;
}

const struct lpl_result *lpl_local_process_results(const struct lpl_local *local, size_t i, size_t index,
						   size_t *count)
{
	assert(local->keeps && i < local->processes && index < local->policies);
	*count = local->added[index].sums;
	return local->kept[i].result + local->added[index].first;
}

const char *lpl_local_frames_unused(const struct lpl_local *local, size_t i)
{
	for (size_t j = 0; j < local->frames.count; j++)
		if (!local->frames.of[j].found && i-- == 0)
			return local->frames.of[j].text;
	return NULL;
}

uint64_t lpl_local_unknown(const struct lpl_local *local)
{
	return local->unknown;
}

void lpl_local_close(struct lpl_local *local)
{
	if (local == NULL)
		return;
	while (!TAILQ_EMPTY(&local->all))
		memory_free(local, TAILQ_FIRST(&local->all));
	lpl_map_free(&local->by_process);
	lpl_tasks_free(&local->tasks);
	lpl_simulator_close(local->model);
	for (size_t i = 0; i < local->policies; i++) {
		free(local->added[i].sizes.size);
		free(local->added[i].sum);
	}
	for (size_t i = 0; i < local->kept_room; i++)
		free(local->kept[i].result);
	free(local->kept);
	lpl_process_frames_free(&local->frames);
	free(local->added);
	free(local->in_own_time);
	free(local);
}
