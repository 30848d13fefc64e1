/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following a guest's state: a merge's own, by the events alone.
 *
 * Memory.  A merge's state is as large as the guest's, but a guest may say what it likes.  So
 * its pieces (slots of trees) are counted: by a walk over all, and until the next one by a
 * bound on how many an event can add.  The walk comes when that bound reaches the limit, so
 * seldom that it costs little for each event; if the pieces then are more than half of the
 * limit, everything mapped is forgotten.  The walk also finds files that nothing shows any
 * more, which are forgotten without a loss: a kernel reports them again before they are used.
 */
#include "guest_state.h"
#include "state_sender.h"

#include <stdlib.h>

#define PIECES (UINT64_C(1) << 22)
#define TASKS (UINT64_C(1) << 18)

/*
 * One event makes no more pages than this: each may become a piece.  A report that more are
 * present has no effect (own_pages.c), and a remap of more is taken as two unmaps.
 */
#define PAGES_AT_ONCE (UINT64_C(1) << 20)

/*
 * At most so many pieces are added by one change of a range, which parts the nodes on the paths
 * to its ends; and for each slot by a change that goes from slot to slot.
 */
enum { PATHS = 64, PATH = 32 };

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory left for what the guest has mapped");
}

/* ---- opening and closing ---- */

static enum lpl_error nothing(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static enum lpl_error no_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				   struct lpl_report *report)
{
	(void)merged;
	return nothing(output, report);
}

/* An output that takes pages gets the names of files. */
static enum lpl_error no_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			      struct lpl_report *report)
{
	(void)page;
	return nothing(output, report);
}

enum lpl_error lpl_state_new(struct lpl_state **state, const struct lpl_state_options *options,
			     struct lpl_report *report)
{
	static const struct lpl_state_options defaults;
	struct lpl_merge_options merge_options = { .audit = false };
	struct lpl_state *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*state = NULL;
	if (made == NULL)
		return no_memory(report);
	if (options == NULL)
		options = &defaults;
	made->pieces_limit = options->pieces != 0 ? options->pieces : PIECES;
	made->tasks_limit = options->tasks != 0 ? options->tasks : TASKS;
	made->output = (struct lpl_merge_output){
		.reference = no_reference, .finish = nothing, .page = no_page
	};
	merge_options.kernel_base = options->kernel_base;
	error = lpl_merge_open(&made->merge, &made->output, &merge_options, report);
	if (error != LPL_OK)
		free(made);
	else
		*state = made;
	return error;
}

void lpl_state_free(struct lpl_state *state)
{
	if (state == NULL)
		return;
	lpl_merge_close(state->merge);
	free(state);
}

uint64_t lpl_state_left_out(const struct lpl_state *state)
{
	return state->left_out;
}

/* ---- how large it is ---- */

struct count {
	struct lpl_merge *merge;
	struct lpl_map seen;	/* nodes that are shared, and objects that something shows -> 1 */
	uint64_t pieces;
	bool memory;		/* there was enough */
};

static bool count_node(void *context, const struct tree_node *node, uint64_t first,
		       uint64_t last, bool shared)
{
	struct count *count = context;

	(void)first;
	(void)last;
	if (!shared)
		return true;
	if (lpl_map_get(&count->seen, LPL_KEY((uintptr_t)node)) != 0)
		return false;
	count->memory &= lpl_map_put(&count->seen, LPL_KEY((uintptr_t)node), 1);
	return true;
}

static int count_slot(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	struct count *count = context;
	const struct object *object = lpl_object_find(count->merge, slot_origin(slot));

	(void)first;
	(void)last;
	count->pieces++;
	if (object != NULL)
		count->memory &= lpl_map_put(&count->seen, LPL_KEY((uintptr_t)object), 1);
	return 0;
}

static void forget_objects(struct lpl_merge *merge, const struct lpl_map *shown)
{
	struct object *object = LIST_FIRST(&merge->all_objects);

	while (object != NULL) {
		struct object *next = LIST_NEXT(object, in_all);

		if (lpl_map_get(shown, LPL_KEY((uintptr_t)object)) == 0) {
			(void)lpl_map_remove(&merge->objects,
					     LPL_KEY(object->domain, object->number));
			lpl_object_free(merge, object);
		}
		object = next;
	}
}

/* How many pieces there are now; *memory: it could be found out. */
static uint64_t count_pieces(struct lpl_merge *merge, bool *memory)
{
	struct count count = { .merge = merge, .memory = true };
	struct tree_walker walker = { &count, count_node, count_slot };
	struct space *space;

	lpl_map_init(&count.seen, 1);
	LIST_FOREACH(space, &merge->all_spaces, in_all) {
		count.pieces++;
		(void)lpl_tree_walk_nodes(&space->mapped, &walker);
	}
	(void)lpl_tree_walk_nodes(&merge->frames, &walker);
	(void)lpl_tree_walk_nodes(&merge->kernel, &walker);
	count.pieces += merge->present_pages;
	if (count.memory)
		forget_objects(merge, &count.seen);
	*memory = count.memory;
	lpl_map_free(&count.seen);
	return count.pieces;
}

static void forget_spaces(struct lpl_merge *merge)
{
	while (!LIST_EMPTY(&merge->all_spaces)) {
		struct space *space = LIST_FIRST(&merge->all_spaces);

		(void)lpl_map_remove(&merge->spaces, LPL_KEY(space->number));
		lpl_space_free(space);
	}
	merge->last_space = NULL;
}

/* false: no memory. */
static bool keep_small(struct lpl_state *state)
{
	struct tasks *tasks = &state->merge->tasks;
	bool memory = true;

	if (state->pieces > state->pieces_limit) {
		state->pieces = count_pieces(state->merge, &memory);
		if (state->pieces > state->pieces_limit / 2) {
			lpl_merge_forget(state->merge);
			forget_spaces(state->merge);
			state->pieces = count_pieces(state->merge, &memory);
			state->left_out++;
		}
	}
	while (tasks->by_tid.count > state->tasks_limit) {
		static const struct lpl_event no_event;
		struct task *task = TAILQ_FIRST(&tasks->all);

		if (task == tasks->current)
			task = TAILQ_NEXT(task, in_all);
		if (task == NULL)
			break;
		lpl_task_end(tasks, task, LPL_TASK_LOST, &no_event);
		state->left_out++;
	}
	return memory;
}

static int count_one(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	(void)first;
	(void)last;
	(void)slot;
	++*(uint64_t *)context;
	return 0;
}

/* How many slots a space has in a range of bytes. */
static uint64_t slots_in(const struct lpl_merge *merge, uint64_t number, uint64_t start,
			 uint64_t end)
{
	const struct space *space = lpl_space_find(merge, number);
	uint64_t slots = 0;

	if (space != NULL && start < end)
		(void)lpl_tree_walk(&space->mapped, start >> LPL_PAGE_SHIFT,
				    (end - 1) >> LPL_PAGE_SHIFT, count_one, &slots);
	return slots;
}

/* Where so many pages end. */
static uint64_t end_of_pages(uint64_t address, uint64_t pages)
{
	return pages > (UINT64_MAX - address) >> LPL_PAGE_SHIFT ?
		       UINT64_MAX : address + (pages << LPL_PAGE_SHIFT);
}

/* How many pages an event can make of a range of bytes. */
static uint64_t pages_in(uint64_t start, uint64_t end)
{
	uint64_t pages = start < end ? ((end - start) >> LPL_PAGE_SHIFT) + 1 : 0;

	return pages <= PAGES_AT_ONCE + 1 ? pages : 0;
}

/* At most how many pieces the event adds. */
static uint64_t growth(const struct lpl_merge *merge, const struct lpl_event *event)
{
	const uint64_t *arg = event->arg;
	uint64_t slots = 0;

	switch (event->tag) {
	case KTR_BRK:
		slots = slots_in(merge, arg[KTR_BRK_SPACE], arg[KTR_BRK_OLD_END],
				 arg[KTR_BRK_NEW_END]);
		break;
	case KTR_DISCARD:
	case KTR_PRESENT:
		slots = slots_in(merge, arg[KTR_RANGE_SPACE], arg[KTR_RANGE_START],
				 arg[KTR_RANGE_END]);
		if (event->tag == KTR_PRESENT)
			slots += pages_in(arg[KTR_RANGE_START], arg[KTR_RANGE_END]);
		break;
	case KTR_PAGE_OWN:
		slots = slots_in(merge, arg[KTR_PAGE_OWN_SPACE], arg[KTR_PAGE_OWN_ADDRESS],
				 end_of_pages(arg[KTR_PAGE_OWN_ADDRESS], arg[KTR_PAGE_OWN_PAGES]));
		break;
	case KTR_SHM_DETACH:
		slots = slots_in(merge, arg[KTR_SHM_DETACH_SPACE], arg[KTR_SHM_DETACH_START],
				 UINT64_MAX);
		break;
	case KTR_REMAP:
		slots = slots_in(merge, arg[KTR_REMAP_SPACE], arg[KTR_REMAP_OLD_START],
				 arg[KTR_REMAP_OLD_END]) +
			pages_in(arg[KTR_REMAP_OLD_START], arg[KTR_REMAP_OLD_END]);
		break;
	default:
		return lpl_event_is_fence(event->tag) && event->tag != LPL_EVENT_RETRANSLATION ? PATHS :
		       event->tag == KTR_FILE || event->tag == LPL_EVENT_SPACE_STATE ||
		       event->tag == KTR_TASK_CREATE || event->tag == KTR_SPACE_ASSIGN;
	}
	return slots < PIECES ? PATHS + PATH * slots : PIECES * PATH;
}

/* ---- the stream ---- */

static enum lpl_error merge_event(struct lpl_state *state, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct lpl_sink *sink = lpl_merge_sink(state->merge);

	state->pieces += growth(state->merge, event);
	return sink->event(sink, event, report);
}

/* Where a range only grows or shrinks no page is moved. */
static bool moves_too_much(const struct lpl_event *event)
{
	uint64_t start = event->arg[KTR_REMAP_OLD_START], end = event->arg[KTR_REMAP_OLD_END];

	return event->tag == KTR_REMAP && start < end &&
	       start >> LPL_PAGE_SHIFT != event->arg[KTR_REMAP_NEW_START] >> LPL_PAGE_SHIFT &&
	       (end - start) >> LPL_PAGE_SHIFT > PAGES_AT_ONCE;
}

/* What is in either range is not known. */
static enum lpl_error unmap_both(struct lpl_state *state, const struct lpl_event *remap,
				 struct lpl_report *report)
{
	struct lpl_event unmap = *remap;
	enum lpl_error error;

	state->left_out++;
	unmap.tag = KTR_UNMAP;
	unmap.arg[KTR_UNMAP_START] = remap->arg[KTR_REMAP_OLD_START];
	unmap.arg[KTR_UNMAP_END] = remap->arg[KTR_REMAP_OLD_END];
	error = merge_event(state, &unmap, report);
	unmap.arg[KTR_UNMAP_START] = remap->arg[KTR_REMAP_NEW_START];
	unmap.arg[KTR_UNMAP_END] = remap->arg[KTR_REMAP_NEW_END];
	return error == LPL_OK ? merge_event(state, &unmap, report) : error;
}

enum lpl_error lpl_state_take(struct lpl_state *state, const struct lpl_event *event,
			      struct lpl_report *report)
{
	enum lpl_error error;

	state->ref = event->ref;
	state->instr = event->instr;
	state->cycle = event->cycle;
	if (event->tag == LPL_EVENT_TRACING) {
		state->tracing_known = true;
		state->tracing = *event;
	}
	error = moves_too_much(event) ? unmap_both(state, event, report) :
					merge_event(state, event, report);
	if (event->tag == LPL_EVENT_STATE && !event->arg[LPL_EVENT_STATE_BEGINS])
		state->left_out = event->arg[LPL_EVENT_STATE_LEFT_OUT];
	if (error == LPL_OK && !keep_small(state))
		error = no_memory(report);
	return error;
}

/* A write that got this far was allowed, so a page that would have to be parted is parted. */
static bool part(struct lpl_state *state, struct space *space, uint64_t at)
{
	struct lpl_merge *merge = state->merge;
	bool shared, done;
	tree_slot slot = lpl_tree_find(&space->mapped, at, &shared);
	const struct mapping *origin = slot == TREE_EMPTY ? NULL : slot_origin(slot);
	struct page *page;

	if (origin == NULL || origin->sharing == MAPPING_SHARED ||
	    (!shared && (slot_is_page(slot) || origin->sharing == MAPPING_ANONYMOUS)))
		return true;
	page = lpl_page_like(slot, at);
	if (page == NULL)
		return false;
	done = lpl_space_put_page(merge, space, at, page);
	lpl_slot_release(slot_of_page(page));
	state->pieces += PATHS;
	return done && keep_small(state);
}

enum lpl_error lpl_state_refs(struct lpl_state *state, const struct lpl_ref *refs, size_t count,
			      struct lpl_report *report)
{
	struct lpl_merge *merge = state->merge;

	lpl_merge_after_gap(merge);
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		struct space *space;

		if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE ||
		    ref->address >= merge->kernel_base)
			continue;
		space = lpl_reference_space(merge, ref->space);
		if (space == NULL ||
		    (ref->type == LPL_WRITE &&
		     !part(state, space, ref->address >> LPL_PAGE_SHIFT)))
			return no_memory(report);
	}
	return LPL_OK;
}
