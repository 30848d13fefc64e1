/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reorder QUANTA SIZES WHOLE [REDUCED...]: the faults of a trace of every reference, and of traces
 * that were reduced from it, once their threads were scheduled again, as CSV.
 *
 * QUANTA are parts of the recorded mean burst (0.1,1,10), SIZES are memories in pages (64,256).
 * Each trace is run in its recorded order, and round robin with each quantum; faults take no
 * time, so that the order is the same whatever the memory.  In `global' all pages compete (LRU),
 * and faults are counted apart for the pages that only one thread of WHOLE referenced, the idle
 * task left out; in `local-equal' each process has its own LRU queue.  The numbers of canonical
 * pages in REDUCED have to be those of WHOLE for that, as after a fenced reduction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/schedule.h>
#include <laplace/trace.h>

enum { MOST = 32, NONE = -1, SHARED = -2 };

static void die(const struct lpl_report *report)
{
	fprintf(stderr, "reorder: %s\n", report->text);
	exit(1);
}

static void *grow(void *array, size_t *room, size_t wanted, size_t size)
{
	size_t larger = *room ? *room : 1024;

	if (wanted < *room)
		return array;
	while (larger <= wanted)
		larger *= 2;
	array = realloc(array, larger * size);
	if (array == NULL) {
		fputs("reorder: no memory\n", stderr);
		exit(1);
	}
	memset((char *)array + *room * size, 0, (larger - *room) * size);
	*room = larger;
	return array;
}

/* ---- a global LRU memory ---- */

struct place {
	uint32_t newer, older;		/* pages; 0 at the ends, and of the memory's ends */
	uint32_t present;
};

struct lru {
	struct place *page;		/* [0]: newer is the oldest, older the newest */
	size_t room;
	uint64_t pages, used, faults, alone;
};

static void take_out(struct lru *lru, uint32_t i)
{
	const struct place place = lru->page[i];

	lru->page[place.newer].older = place.older;
	lru->page[place.older].newer = place.newer;
}

static void put_first(struct lru *lru, uint32_t i)
{
	const uint32_t first = lru->page[0].older;

	lru->page[i] = (struct place){.newer = 0, .older = first, .present = 1};
	lru->page[first].newer = i;
	lru->page[0].older = i;
}

/* `alone`: only one thread references the page. */
static void reference(struct lru *lru, uint32_t i, bool alone)
{
	lru->page = grow(lru->page, &lru->room, i, sizeof(*lru->page));
	if (lru->page[i].present) {
		take_out(lru, i);
	} else {
		lru->faults++;
		lru->alone += alone;
		if (lru->used == lru->pages) {
			const uint32_t oldest = lru->page[0].newer;

			take_out(lru, oldest);
			lru->page[oldest].present = 0;
		} else {
			lru->used++;
		}
	}
	put_first(lru, i);
}

/* ---- what a machine's order comes to ---- */

struct order {
	struct lpl_sink sink;
	int64_t task;			/* that runs */
	int64_t *owner;			/* by page: NONE is 0 there, others have 1 more */
	size_t owners;
	bool learns;			/* which thread references a page */
	uint32_t last;			/* page */
	size_t count;
	struct lru lru[MOST];
};

static void learn(struct order *order, uint32_t page)
{
	order->owner = grow(order->owner, &order->owners, page, sizeof(*order->owner));
	if (order->owner[page] == NONE + 1)
		order->owner[page] = order->task + 1;
	else if (order->owner[page] != order->task + 1)
		order->owner[page] = SHARED + 1;
}

static bool is_alone(const struct order *order, uint32_t page)
{
	return page < order->owners && order->owner[page] != SHARED + 1;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct order *order = (struct order *)sink;

	(void)report;
	for (size_t i = 0; i < count; i++) {
		const uint32_t page = (uint32_t)(refs[i].address >> LPL_PAGE_SHIFT);

		if (order->learns && order->task > 0)
			learn(order, page);
		if (page == order->last)
			continue;
		order->last = page;
		for (size_t j = 0; j < order->count; j++)
			reference(&order->lru[j], page, is_alone(order, page));
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct order *order = (struct order *)sink;

	(void)report;
	if (event->tag == KTR_SCHEDULE)
		order->task = (int64_t)event->arg[KTR_SCHEDULE_NEXT_TID];
	if (event->tag == LPL_EVENT_STATE && event->arg[LPL_EVENT_STATE_BEGINS] == 0)
		order->task = event->arg[LPL_EVENT_STATE_RUNS] == KTR_NONE ? 0 :
			(int64_t)event->arg[LPL_EVENT_STATE_RUNS];
	order->last = 0;	/* one that learns has to see the next reference in any case */
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* ---- the runs ---- */

struct study {
	const char *trace;		/* that is being run */
	uint64_t size[MOST];
	double part[MOST];		/* of the burst */
	size_t sizes, parts;
	uint64_t burst;			/* cycles, recorded; the first trace's */
	struct order order;
};

static void run(struct lpl_schedule *schedule, const struct lpl_machine *machine,
		struct lpl_sink *next)
{
	struct lpl_report report = { 0 };

	if (lpl_schedule_run(schedule, machine, next, &report))
		die(&report);
}

static void print_row(const struct study *study, const char *scheduler, double part, const char *memory,
		      uint64_t pages, uint64_t faults)
{
	printf("%s,%s,%g,%s,%" PRIu64 ",%" PRIu64, study->trace, scheduler, part, memory, pages, faults);
}

/* All memories of one order. */
static void run_order(struct study *study, struct lpl_schedule *schedule, struct lpl_machine *machine,
		      double part)
{
	const char *scheduler = lpl_scheduler_name(machine->scheduler);
	struct order *order = &study->order;

	order->task = 0;
	order->last = 0;
	order->count = study->sizes;
	for (size_t i = 0; i < study->sizes; i++)
		order->lru[i] = (struct lru){.pages = study->size[i]};
	run(schedule, machine, &order->sink);
	for (size_t i = 0; i < study->sizes; i++) {
		print_row(study, scheduler, part, "global", study->size[i], order->lru[i].faults);
		printf(",%" PRIu64 "\n", order->lru[i].alone);
		free(order->lru[i].page);
	}
	machine->memory = LPL_MEMORY_LOCAL_EQUAL;
	for (size_t i = 0; i < study->sizes; i++) {
		machine->pages = study->size[i];
		run(schedule, machine, NULL);
		print_row(study, scheduler, part, "local-equal", study->size[i],
			  lpl_schedule_result(schedule)->faults);
		puts(",");
	}
	machine->memory = LPL_MEMORY_GLOBAL;
	machine->pages = 0;
	fflush(stdout);
}

/* Which thread references what, and how long a thread runs, without the idle task. */
static void learn_order(struct study *study, struct lpl_schedule *schedule)
{
	const struct lpl_machine recorded = {.cpus = 1, .scheduler = LPL_SCHEDULER_RECORDED};
	uint64_t running = 0, dispatches = 0, pages[2] = { 0 };

	study->order.learns = true;
	run(schedule, &recorded, &study->order.sink);
	study->order.learns = false;
	for (size_t i = 0; i < lpl_schedule_tasks(schedule); i++) {
		const struct lpl_schedule_task *task = lpl_schedule_task(schedule, i);

		running += task->tid != 0 ? task->running : 0;
		dispatches += task->tid != 0 ? task->dispatches : 0;
	}
	study->burst = dispatches ? running / dispatches : 0;
	for (size_t i = 0; i < study->order.owners; i++)
		if (study->order.owner[i] != NONE + 1)
			pages[is_alone(&study->order, (uint32_t)i)]++;
	fprintf(stderr, "references %" PRIu64 "\nburst %" PRIu64 "\nshared %" PRIu64 "\nalone %" PRIu64
		"\n", lpl_schedule_result(schedule)->references, study->burst, pages[0], pages[1]);
}

static void run_trace(struct study *study, const char *path)
{
	struct lpl_machine machine = {.cpus = 1, .scheduler = LPL_SCHEDULER_RECORDED};
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule = NULL;
	struct lpl_reader *reader;

	study->trace = path;
	if (lpl_reader_open(&reader, path, &report) || lpl_schedule_open(&schedule, NULL, &report) ||
	    lpl_reader_run(reader, lpl_schedule_sink(schedule), &report))
		die(&report);
	lpl_reader_close(reader);
	if (study->burst == 0)
		learn_order(study, schedule);
	run_order(study, schedule, &machine, 0);
	machine.scheduler = LPL_SCHEDULER_RR;
	for (size_t i = 0; i < study->parts; i++) {
		machine.quantum = (uint64_t)((double)study->burst * study->part[i] + 0.5);
		run_order(study, schedule, &machine, study->part[i]);
	}
	lpl_schedule_close(schedule);
}

int main(int argc, char **argv)
{
	struct study study = {.order.sink = {take_refs, take_event, take_finish}};

	if (argc < 4) {
		fputs("usage: reorder QUANTA SIZES WHOLE [REDUCED...]\n", stderr);
		return 2;
	}
	for (char *item; study.parts < MOST && (item = strsep(&argv[1], ","));)
		study.part[study.parts++] = strtod(item, NULL);
	for (char *item; study.sizes < MOST && (item = strsep(&argv[2], ","));)
		study.size[study.sizes++] = strtoull(item, NULL, 10);
	puts("trace,scheduler,quantum,memory,pages,faults,alone");
	for (int i = 3; i < argc; i++)
		run_trace(&study, argv[i]);
	free(study.order.owner);
	return 0;
}
