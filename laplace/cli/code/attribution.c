/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function makes each reference.
 *
 * A merge of our own says which page of which file, or of the kernel, an instruction is fetched
 * from.  It gets all events, but of the references only fetches from a page that is not among the
 * few that were asked for since the last fence.
 */
#include "attribution.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/try.h"

enum { KNOWN = 256, COUNTED = 4096 };	/* powers of two */
#define OFFSET	((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)

/* A page of code as it is fetched from; page 0: none. */
struct known {
	uint64_t space, number, page;
};

/* A page that a function has been counted to reference. */
struct counted {
	uint64_t space, number;
	uint32_t function;		/* + 1; 0: none */
};

struct attribution {
	struct lpl_sink front, back;	/* first, and: */
	struct lpl_merge_output output;
	struct lpl_sink *next;
	struct functions *functions;
	struct lpl_simulator *simulator;
	struct lpl_merge *merge;
	bool by_events;
	unsigned int shift;
	/* of the last instruction */
	uint32_t function;
	bool user;
	uint64_t last_ref;		/* the number of the reference before */
	/* code around it, at addresses of a space, is the same function's; first > last: none */
	uint64_t space, first, last;
	bool has_counter;		/* the event that came says that this made what comes: */
	uint64_t counter;
	struct known known[KNOWN];
	uint64_t found;			/* the page that the merge has found */
	/* at the back */
	uint32_t charged;
	struct lpl_map pages;		/* function, space, page */
	struct counted counted[COUNTED];
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory to count functions separately");
}

/* ---- which page code is of ---- */

static enum lpl_error note_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)
		((char *)output - offsetof(struct attribution, output));

	return functions_note_page(attribution->functions, page) ? LPL_OK : no_memory(report);
}

static enum lpl_error note_reference(struct lpl_merge_output *output,
				     const struct lpl_merged *merged, struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)
		((char *)output - offsetof(struct attribution, output));

	(void)report;
	attribution->found = merged->page;
	return LPL_OK;
}

static enum lpl_error end(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* Code there is not known to be what it was. */
static void forget(struct attribution *attribution)
{
	memset(attribution->known, 0, sizeof(attribution->known));
	attribution->first = 1;
	attribution->last = 0;
}

static enum lpl_error find_page(struct attribution *attribution, const struct lpl_ref *fetch,
				uint64_t *page, struct lpl_report *report)
{
	const uint64_t number = fetch->address >> LPL_PAGE_SHIFT;
	struct known *known = &attribution->known[(number ^ fetch->space * 31) % KNOWN];
	struct lpl_sink *merge = lpl_merge_sink(attribution->merge);

	if (!known->page || known->space != fetch->space || known->number != number) {
		LPL_TRY(merge->refs(merge, fetch, 1, report));
		*known = (struct known){ fetch->space, number, attribution->found };
	}
	*page = known->page;
	return LPL_OK;
}

/* ---- which function a reference is of ---- */

/* That of an instruction.  Where an event says its address, what page that is says its mode. */
static enum lpl_error find_function(struct attribution *attribution, const struct lpl_ref *fetch,
				    struct lpl_report *report)
{
	const uint64_t page_at = fetch->address & ~OFFSET;
	bool user = fetch->flags & LPL_USER;
	uint32_t first, last;
	uint64_t page;

	if (fetch->address >= attribution->first && fetch->address <= attribution->last &&
	    fetch->space == attribution->space &&
	    (attribution->by_events || user == attribution->user))
		return LPL_OK;
	LPL_TRY(find_page(attribution, fetch, &page, report));
	if (attribution->by_events)
		user = !functions_is_kernel(attribution->functions, page);
	attribution->function =
		functions_find(attribution->functions, page, (uint32_t)(fetch->address & OFFSET),
			       user, &first, &last);
	if (attribution->function == FUNCTION_NO_MEMORY)
		return no_memory(report);
	attribution->space = fetch->space;
	attribution->user = user;
	attribution->first = page_at + first;
	attribution->last = page_at + last;
	return LPL_OK;
}

/* What is not known of an instruction is forgotten. */
static void lose(struct attribution *attribution)
{
	attribution->function = FUNCTION_UNKNOWN;
	attribution->first = 1;
	attribution->last = 0;
}

/*
 * What the processor does by itself in an interrupt is the kernel's mode's; while the kernel runs
 * it cannot be known from what its instruction does.
 */
static uint32_t maker(const struct attribution *attribution, const struct lpl_ref *ref)
{
	const bool is_its_own = !attribution->user || (ref->flags & LPL_USER) ||
				ref->type >= LPL_WALK_READ;

	return is_its_own || attribution->function == FUNCTION_UNKNOWN ? attribution->function :
	       FUNCTION_PROCESSOR;
}

static enum lpl_error take_fetch(struct attribution *attribution, const struct lpl_ref *ref,
				 struct lpl_report *report)
{
	if (ref->flags & LPL_PAGED) {	/* in which page is known, and no more */
		lose(attribution);
		return LPL_OK;
	}
	/* the rest of an instruction on another page */
	if ((ref->flags & LPL_SECOND) && attribution->function != FUNCTION_UNKNOWN)
		return LPL_OK;
	return find_function(attribution, ref, report);
}

/* The instruction that an event said. */
static enum lpl_error take_counter(struct attribution *attribution, const struct lpl_ref *ref,
				   struct lpl_report *report)
{
	struct lpl_ref fetch = *ref;

	if (!attribution->has_counter) {
		lose(attribution);
		return LPL_OK;
	}
	attribution->has_counter = false;
	fetch.address = attribution->counter;
	fetch.type = LPL_FETCH;
	if (ref->type >= LPL_WALK_READ)
		fetch.space = attribution->space;
	return find_function(attribution, &fetch, report);
}

static enum lpl_error take(struct attribution *attribution, const struct lpl_ref *ref,
			   uint32_t *function, struct lpl_report *report)
{
	if (attribution->by_events) {
		LPL_TRY(take_counter(attribution, ref, report));
	} else {
		if (ref->ref != attribution->last_ref + 1)
			lose(attribution);	/* some were passed over */
		attribution->last_ref = ref->ref;
		if (ref->type == LPL_FETCH)
			LPL_TRY(take_fetch(attribution, ref, report));
	}
	*function = maker(attribution, ref);
	return LPL_OK;
}

/* ---- the front ---- */

static enum lpl_error send(struct attribution *attribution, const struct lpl_ref *refs,
			   size_t count, uint32_t function, struct lpl_report *report)
{
	if (!count)
		return LPL_OK;
	if (function != attribution->charged)
		LPL_TRY(lpl_simulator_charge(attribution->simulator, function, report));
	attribution->charged = function;
	return attribution->next->refs(attribution->next, refs, count, report);
}

static enum lpl_error front_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)sink;
	uint32_t function = attribution->charged, now;
	size_t from = 0;

	for (size_t i = 0; i < count; i++) {
		LPL_TRY(take(attribution, &refs[i], &now, report));
		if (now == function)
			continue;
		LPL_TRY(send(attribution, &refs[from], i - from, function, report));
		function = now;
		from = i;
	}
	return send(attribution, &refs[from], count - from, function, report);
}

static enum lpl_error front_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)sink;
	struct lpl_sink *merge = lpl_merge_sink(attribution->merge);

	if (event->tag == LPL_EVENT_PROGRAM_COUNTER) {
		attribution->has_counter = true;
		attribution->counter = event->arg[LPL_EVENT_PROGRAM_COUNTER_ADDRESS];
	} else {
		LPL_TRY(merge->event(merge, event, report));
		if (lpl_event_is_fence(event->tag) || event->tag == LPL_EVENT_STATE ||
		    event->tag == LPL_EVENT_GAP)
			forget(attribution);
		if (event->tag == LPL_EVENT_GAP || event->tag == LPL_EVENT_TRACING)
			lose(attribution);
	}
	return attribution->next->event(attribution->next, event, report);
}

static enum lpl_error front_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)sink;

	return attribution->next->finish(attribution->next, report);
}

/* ---- the back ---- */

/* false: no memory. */
static bool count_page(struct attribution *attribution, uint64_t space, uint64_t number)
{
	const uint32_t function = attribution->charged;
	struct counted *counted =
		&attribution->counted[(number ^ space * 31 ^ function * 257U) % COUNTED];
	uint64_t *seen;

	if (counted->function == function + 1 && counted->number == number &&
	    counted->space == space)
		return true;
	seen = lpl_map_reach(&attribution->pages, LPL_KEY(function, space, number));
	if (!seen)
		return false;
	functions_at(attribution->functions, function)->pages += !*seen;
	*seen = 1;
	*counted = (struct counted){ space, number, function + 1 };
	return true;
}

static enum lpl_error back_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)
		((char *)sink - offsetof(struct attribution, back));
	struct lpl_sink *simulator = lpl_simulator_sink(attribution->simulator);
	const unsigned int shift = attribution->shift;

	struct function *function = functions_at(attribution->functions, attribution->charged);

	for (size_t i = 0; i < count; i++) {
		const uint64_t first = refs[i].address >> shift;
		const uint64_t last = refs[i].length && shift < LPL_PAGE_SHIFT ?
			(refs[i].address + (refs[i].length - 1)) >> shift : first;

		/* in finer pages than an access lies in, it is a reference to each */
		function->references += last - first + 1;
		for (uint64_t number = first; number <= last; number++) {
			if (!count_page(attribution, refs[i].space, number))
				return no_memory(report);
		}
	}
	return simulator->refs(simulator, refs, count, report);
}

static enum lpl_error back_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)
		((char *)sink - offsetof(struct attribution, back));
	struct lpl_sink *simulator = lpl_simulator_sink(attribution->simulator);

	return simulator->event(simulator, event, report);
}

static enum lpl_error back_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct attribution *attribution = (struct attribution *)
		((char *)sink - offsetof(struct attribution, back));
	struct lpl_sink *simulator = lpl_simulator_sink(attribution->simulator);

	return simulator->finish(simulator, report);
}

/* ---- opening and closing ---- */

enum lpl_error attribution_open(struct attribution **attribution,
				const struct attribution_options *options,
				struct lpl_report *report)
{
	struct attribution *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*attribution = NULL;
	if (!made)
		return no_memory(report);
	made->front = (struct lpl_sink){ front_refs, front_event, front_finish };
	made->back = (struct lpl_sink){ back_refs, back_event, back_finish };
	made->output = (struct lpl_merge_output){ .reference = note_reference,
						  .finish = end,
						  .page = note_page };
	made->functions = options->functions;
	made->simulator = options->simulator;
	made->by_events = options->by_events;
	made->shift = options->page_size ? (unsigned int)__builtin_ctzll(options->page_size) :
						   LPL_PAGE_SHIFT;
	lpl_map_init(&made->pages, 3);
	forget(made);
	error = lpl_merge_open(&made->merge, &made->output, NULL, report);
	if (!error)
		error = lpl_simulator_charge(made->simulator, FUNCTION_UNKNOWN, report);
	if (error) {
		attribution_close(made);
		return error;
	}
	*attribution = made;
	return LPL_OK;
}

void attribution_close(struct attribution *attribution)
{
	if (!attribution)
		return;
	lpl_merge_close(attribution->merge);
	lpl_map_free(&attribution->pages);
	free(attribution);
}

struct lpl_sink *attribution_back(struct attribution *attribution)
{
	return &attribution->back;
}

struct lpl_sink *attribution_front(struct attribution *attribution, struct lpl_sink *next)
{
	attribution->next = next;
	return &attribution->front;
}
