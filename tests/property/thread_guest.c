/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random streams of a guest with threads. */
#include "thread_guest.h"

#include <inttypes.h>
#include <string.h>

#define KERNEL UINT64_C(0xffff888000000000)
#define USER UINT64_C(0x10000000)
#define CLONE_VM 0x100

enum { MOST = 16 };

enum condition { ABSENT, RUNNABLE, ASLEEP, GONE };

/* A thread's tid is its place; tid 0 is the idle task. */
struct thread {
	enum condition condition;
	uint32_t tgid;
	uint64_t space;			/* 0: of the kernel */
	bool exited;			/* but not switched away */
	uint64_t number;		/* the next that has its tid has another */
};

struct guest {
	struct random *random;
	const struct thread_plot *plot;
	struct stream *out;
	struct thread thread[MOST + 1];
	uint32_t current;
	uint64_t cycle, instr, ref;
	uint64_t last_space;		/* that the processor was in; also the spaces' names */
	uint64_t spaces;
	uint64_t threads;
	bool outside;			/* before the first window: there are no references */
};

static uint32_t roll(struct guest *guest, uint32_t limit)
{
	return random_below(guest->random, limit);
}

/* ---- records ---- */

static void pass(struct guest *guest)
{
	if (guest->out->count == 0)
		return;
	/* often nothing passes, for that is where orders show */
	if (roll(guest, 3) != 0)
		guest->cycle += roll(guest, guest->plot->dcycle + 1);
	if (roll(guest, 3) != 0)
		guest->instr += roll(guest, guest->plot->dinstr + 1);
}

static void put(struct guest *guest, const struct lpl_event *like)
{
	struct lpl_event event = *like;

	pass(guest);
	if (guest->plot->reduced && guest->out->count > 0 && roll(guest, 6) == 0)
		guest->ref += 1 + roll(guest, 3);
	event.ref = guest->ref;
	event.instr = guest->instr;
	event.cycle = guest->cycle;
	if (event.tag < LPL_EVENT_TRACING) {
		event.tid = guest->current;
		event.tgid = guest->thread[guest->current].tgid;
		event.space = guest->last_space;
	}
	stream_add_event(guest->out, &event);
}

#define PUT(guest, event_tag, ...) \
	put(guest, &(struct lpl_event){ .tag = (event_tag), .arg = { __VA_ARGS__ } })

static void reference(struct guest *guest)
{
	static const uint8_t types[] = { LPL_READ, LPL_READ, LPL_WRITE, LPL_FETCH };
	const struct thread *thread = &guest->thread[guest->current];
	uint32_t page = roll(guest, guest->plot->pages);
	struct lpl_ref ref = { .space = guest->last_space, .length = 4,
			       .type = types[roll(guest, sizeof(types))] };

	if (guest->outside && roll(guest, 4) != 0)
		return;
	if (guest->outside)
		PUT(guest, LPL_EVENT_TRACING, 1);
	guest->outside = false;
	if (guest->plot->alone) {
		ref.address = KERNEL + (thread->number * 64 + page) * 4096;
	} else if (page % 4 == 3) {
		ref.type = roll(guest, 4) == 0 ? LPL_WALK_WRITE : LPL_WALK_READ;
		ref.address = page * 4096 + 8;
	} else if (thread->space == 0 || page % 4 == 2) {
		ref.address = KERNEL + page * 4096;
	} else {
		ref.address = USER + page * 4096 + 16;
		ref.flags = LPL_USER;
	}
	pass(guest);
	guest->ref += 1 + (guest->plot->reduced ? roll(guest, 3) : 0);
	ref.ref = guest->ref;
	ref.instr = guest->instr;
	ref.cycle = guest->cycle;
	stream_add_ref(guest->out, &ref);
}

/* ---- tasks ---- */

static uint32_t unused_tid(struct guest *guest)
{
	for (uint32_t tid = 1; tid <= (uint32_t)guest->plot->most_tasks; tid++) {
		bool named = false;	/* by threads that are left of its process */

		for (uint32_t other = 1; other <= MOST; other++)
			named |= guest->thread[other].condition != ABSENT &&
				guest->thread[other].condition != GONE &&
				guest->thread[other].tgid == tid;
		if (guest->thread[tid].condition == ABSENT ||
		    (guest->thread[tid].condition == GONE && !named && roll(guest, 4) == 0))
			return tid;
	}
	return 0;
}

static uint64_t new_space(struct guest *guest)
{
	return 0x10 + guest->spaces++ % 0x20;
}

/* All of a space is pages of one file. */
static void map(struct guest *guest, uint64_t space)
{
	PUT(guest, KTR_MAP, space, USER, USER + UINT64_C(64) * 4096, KTR_PROT_READ,
	    KTR_MAP_FILE_SHARED, 8, 100, 0);
}

/* Some letters, or none: then it keeps the name that it had. */
static void name(struct guest *guest, struct lpl_event *event)
{
	event->text_length = roll(guest, 3);
	for (uint32_t i = 0; i < event->text_length; i++)
		event->text[i] = (char)('a' + roll(guest, 26));
}

/* Any that is there, or 0. */
static uint32_t some_thread(struct guest *guest, enum condition condition)
{
	uint32_t tid = 1 + roll(guest, MOST);

	for (uint32_t i = 0; i < MOST; i++, tid = tid % MOST + 1)
		if (guest->thread[tid].condition == condition && tid != guest->current)
			return tid;
	return 0;
}

static uint32_t some_program(struct guest *guest)
{
	uint32_t tid = some_thread(guest, roll(guest, 2) == 0 ? RUNNABLE : ASLEEP);
	const struct thread *thread = &guest->thread[tid];

	return thread->space != 0 && !thread->exited ? tid : 0;
}

static void create(struct guest *guest)
{
	const struct thread *current = &guest->thread[guest->current];
	uint32_t tid = unused_tid(guest);
	struct thread new = { .condition = RUNNABLE, .tgid = tid, .number = ++guest->threads };
	const bool forks = current->space != 0 && !guest->plot->alone;
	struct lpl_event event;
	uint64_t flags = 0;

	if (tid == 0 || current->exited)
		return;
	if (guest->plot->helpers && !guest->plot->alone && current->space == 0 && roll(guest, 2) == 0) {
		uint32_t program = some_program(guest);

		if (program != 0)
			new.tgid = guest->thread[program].tgid;
	} else if (forks && roll(guest, 2) == 0) {
		new.space = current->space;
		new.tgid = current->tgid;
		flags = CLONE_VM;
	} else if (forks) {
		new.space = new_space(guest);
		PUT(guest, KTR_SPACE_DUPLICATE, current->space, new.space);
	} else if (guest->plot->alone || (guest->current == 0 && roll(guest, 2) == 0)) {
		new.space = new_space(guest);
	}
	event = (struct lpl_event){ .tag = KTR_TASK_CREATE,
				    .arg = { tid, new.tgid, new.space, flags } };
	name(guest, &event);
	put(guest, &event);
	guest->thread[tid] = new;
	if (new.space != 0 && guest->current == 0 && roll(guest, 2) == 0)
		map(guest, new.space);
	if (guest->plot->wakes && roll(guest, 2) == 0)
		PUT(guest, KTR_WAKE, tid, new.tgid, KTR_CONTEXT_TASK);
}

static void wake(struct guest *guest)
{
	uint32_t tid = some_thread(guest, roll(guest, 5) == 0 ? RUNNABLE : ASLEEP);

	if (tid == 0)
		return;
	guest->thread[tid].condition = RUNNABLE;
	if (guest->plot->wakes && (guest->plot->missed == 0 ||
				   roll(guest, guest->plot->missed) != 0))
		PUT(guest, KTR_WAKE, tid, guest->thread[tid].tgid,
		    roll(guest, 3) == 0 ? KTR_CONTEXT_INTERRUPT : KTR_CONTEXT_TASK);
}

static void schedule(struct guest *guest, uint32_t next, uint64_t state)
{
	struct lpl_event event = { .tag = KTR_SCHEDULE, .arg = {
		guest->current, state, next, guest->thread[next].tgid, guest->thread[next].space,
	} };

	name(guest, &event);
	put(guest, &event);
	guest->current = next;
	if (guest->thread[next].space != 0)
		guest->last_space = guest->thread[next].space;
	guest->thread[next].condition = RUNNABLE;
}

/* It is another's turn, if there is any. */
static void leave(struct guest *guest)
{
	static const uint64_t states[] = {
		KTR_STATE_RUNNABLE, KTR_STATE_RUNNABLE, KTR_STATE_SLEEPING, KTR_STATE_SLEEPING,
		KTR_STATE_WAITING, KTR_STATE_STOPPED, KTR_STATE_WAITING | KTR_STATE_IDLE,
	};
	struct thread *current = &guest->thread[guest->current];
	uint64_t state = states[roll(guest, sizeof(states) / sizeof(states[0]))];
	uint32_t next = some_thread(guest, RUNNABLE);

	if (next == 0 || roll(guest, 8) == 0)
		next = guest->plot->wakes && roll(guest, 16) != 0 ? 0 :
			some_thread(guest, ASLEEP);
	if (next == 0 && (!guest->plot->idle || guest->current == 0))
		return;
	if (guest->current != 0 && current->exited && roll(guest, 3) != 0)
		state = KTR_STATE_DEAD;
	else if (guest->current == 0 ||
		 (current->exited &&
		  (state & ~(uint64_t)(KTR_STATE_SLEEPING | KTR_STATE_WAITING)) != 0))
		state = KTR_STATE_RUNNABLE;
	if (guest->current != 0)
		current->condition = state == KTR_STATE_RUNNABLE ? RUNNABLE :
			state == KTR_STATE_DEAD ? GONE : ASLEEP;
	schedule(guest, next, state);
}

/* Has the leader no thread besides itself? */
static bool is_alone(const struct guest *guest, uint32_t leader)
{
	for (uint32_t other = 1; other <= MOST; other++)
		if (other != leader && guest->thread[other].tgid == leader &&
		    (guest->thread[other].condition == RUNNABLE ||
		     guest->thread[other].condition == ASLEEP))
			return false;
	return guest->thread[leader].tgid == leader;
}

static void leave_for_good(struct guest *guest)
{
	uint32_t tid = guest->current;
	struct thread *current = &guest->thread[tid];

	if (tid == 0 || current->exited)
		return;
	if (current->tgid == tid && !is_alone(guest, tid))
		return;		/* a leader remains until it is */
	current->exited = true;
	PUT(guest, KTR_EXIT, tid, current->tgid, 0, current->tgid == tid);
	if (roll(guest, 2) == 0)
		reference(guest);
	if (roll(guest, 4) != 0)
		leave(guest);
}

/* ---- other events ---- */

/* A new one; but a kernel's thread that helps a program becomes one of its threads. */
static uint64_t space_to_be(struct guest *guest)
{
	for (uint32_t other = 1; other <= MOST; other++)
		if (other != guest->current && guest->thread[other].space != 0 &&
		    guest->thread[other].tgid == guest->thread[guest->current].tgid &&
		    (guest->thread[other].condition == RUNNABLE ||
		     guest->thread[other].condition == ASLEEP))
			return guest->thread[other].space;
	return new_space(guest);
}

static void say(struct guest *guest)
{
	struct lpl_event mark = { .tag = roll(guest, 2) == 0 ? KTR_MARK : LPL_EVENT_MARK,
				  .text = "here", .text_length = 4 };
	struct thread *current = &guest->thread[guest->current];

	switch (roll(guest, 7)) {
	case 6:
		if (guest->plot->gaps)
			PUT(guest, LPL_EVENT_GAP, 3, roll(guest, 2) == 0 ? KTR_NONE : 0);
		break;
	case 0:
		if (guest->plot->windows) {
			if (!guest->outside)
				PUT(guest, LPL_EVENT_TRACING, 0);
			guest->outside = false;
			guest->cycle += roll(guest, 30);
			guest->instr += roll(guest, 30);
			if (roll(guest, 2) == 0)
				PUT(guest, LPL_EVENT_TRACING, 1);
		}
		break;
	case 1:
		PUT(guest, KTR_BRK, current->space, USER, USER);
		break;
	case 2:
		PUT(guest, KTR_MPROTECT, current->space, USER, USER + 4096, KTR_PROT_READ);
		break;
	case 3:		/* a kernel's thread becomes a program, or a program another one */
		if (guest->current != 0 && !current->exited &&
		    (current->space == 0 || is_alone(guest, guest->current))) {
			current->space = guest->last_space = space_to_be(guest);
			PUT(guest, KTR_SPACE_ASSIGN, guest->current, current->tgid,
			    current->space);
			break;
		}
		put(guest, &mark);
		break;
	default:
		put(guest, &mark);
		break;
	}
}

static void pass_on(struct guest *guest)
{
	PUT(guest, KTR_PASS, roll(guest, 2), 1 + roll(guest, 2), roll(guest, 2));
}

/* ---- all of it ---- */

/* As a segment of a longer trace begins. */
static void list(struct guest *guest)
{
	const struct lpl_event clocks = { .ref = guest->ref, .instr = guest->instr,
					  .cycle = guest->cycle };
	struct lpl_event event = clocks;

	event.tag = LPL_EVENT_STATE;
	event.arg[LPL_EVENT_STATE_BEGINS] = 1;
	stream_add_event(guest->out, &event);
	for (uint32_t tid = 1; tid <= (uint32_t)guest->plot->tasks; tid++) {
		const struct thread *thread = &guest->thread[tid];

		event = clocks;
		event.tag = LPL_EVENT_TASK_STATE;
		event.arg[LPL_EVENT_TASK_STATE_TID] = tid;
		event.arg[LPL_EVENT_TASK_STATE_TGID] = thread->tgid;
		event.arg[LPL_EVENT_TASK_STATE_SPACE] = thread->space;
		/* made by the first of them, but long ago */
		event.arg[LPL_EVENT_TASK_STATE_PARENT] = tid > 1 && roll(guest, 2) == 0 ? 1 : 0;
		event.arg[LPL_EVENT_TASK_STATE_PROCESS] = thread->space != 0 ? thread->tgid :
			KTR_NONE;
		event.arg[LPL_EVENT_TASK_STATE_REPORTED] = 1;
		event.arg[LPL_EVENT_TASK_STATE_MENTIONED] = 1;
		event.arg[LPL_EVENT_TASK_STATE_LEFT] = KTR_NONE;
		stream_add_event(guest->out, &event);
	}
	if (guest->plot->windows) {
		event = clocks;
		event.tag = LPL_EVENT_TRACING;
		event.arg[LPL_EVENT_TRACING_ON] = roll(guest, 2);
		stream_add_event(guest->out, &event);
	}
	event = clocks;
	event.tag = LPL_EVENT_STATE;
	event.arg[LPL_EVENT_STATE_SNAPSHOT] = LPL_STATE_AFTER_SNAPSHOT;
	event.arg[LPL_EVENT_STATE_RUNS] = roll(guest, 3) != 0 ? guest->current : KTR_NONE;
	stream_add_event(guest->out, &event);
}

static void begin(struct guest *guest)
{
	const struct thread_plot *plot = guest->plot;

	guest->last_space = new_space(guest);
	for (uint32_t tid = 1; tid <= (uint32_t)plot->tasks; tid++) {
		struct thread *thread = &guest->thread[tid];

		thread->condition = roll(guest, 2) == 0 ? RUNNABLE : ASLEEP;
		thread->tgid = tid;
		thread->number = ++guest->threads;
		if (!plot->alone && tid > 1 && guest->thread[tid - 1].space != 0 && roll(guest, 3) == 0) {
			thread->tgid = guest->thread[tid - 1].tgid;
			thread->space = guest->thread[tid - 1].space;
		} else if (plot->alone || roll(guest, 4) != 0) {
			thread->space = new_space(guest);
		}
	}
	guest->cycle = 100 + roll(guest, 50);
	guest->instr = 200 + roll(guest, 50);
	guest->ref = roll(guest, 3) == 0 ? 0 : roll(guest, 20);
	if (plot->begin == TASKS_MADE_BY_IDLE) {
		guest->current = 0;
	} else if (!plot->idle || roll(guest, 2) == 0) {
		guest->current = 1;
		guest->thread[1].condition = RUNNABLE;
		if (guest->thread[1].space != 0)
			guest->last_space = guest->thread[1].space;
	}
	/* before the first event it is not known which task runs */
	while (plot->begin != TASKS_LISTED && plot->begin != TASKS_IN_STATE && guest->plot->idle && roll(guest, 2) == 0) {
		const uint32_t current = guest->current;

		guest->current = 0;
		reference(guest);
		guest->current = current;
	}
	if (plot->begin == TASKS_IN_STATE)
		list(guest);
	if (plot->begin == TASKS_APPEAR || plot->begin == TASKS_IN_STATE)
		return;
	if (plot->begin == TASKS_LISTED)
		PUT(guest, KTR_SNAPSHOT, 1);
	for (uint32_t tid = 1; tid <= (uint32_t)plot->tasks; tid++) {
		const struct thread *thread = &guest->thread[tid];

		PUT(guest, KTR_TASK_CREATE, tid, thread->tgid, thread->space,
		    thread->tgid != tid ? CLONE_VM : 0);
		if (thread->space != 0 && roll(guest, 2) == 0)
			map(guest, thread->space);
	}
	if (plot->begin == TASKS_LISTED)
		PUT(guest, KTR_SNAPSHOT, 0);
}

void play_threads(struct random *random, const struct thread_plot *plot, struct stream *out)
{
	struct guest guest = { .random = random, .plot = plot, .out = out,
			       .outside = plot->windows && random_below(random, 2) == 0 };

	stream_clear(out);
	begin(&guest);
	for (uint32_t i = roll(&guest, 4); i > 0; i--)
		wake(&guest);
	while (out->count < plot->count) {
		uint32_t what = roll(&guest, 100);

		if (plot->pipes && roll(&guest, 4) == 0)
			pass_on(&guest);
		else if (what < 48)
			reference(&guest);
		else if (what < 54)
			say(&guest);
		else if (what < 72)
			wake(&guest);
		else if (what < 78)
			create(&guest);
		else if (what < 96)
			leave(&guest);
		else
			leave_for_good(&guest);
	}
}

struct thread_plot random_thread_plot(struct random *random)
{
	struct thread_plot plot = {
		.count = 5 + random_below(random, 56),
		.tasks = 1 + (int)random_below(random, 4),
		.begin = random_below(random, 4),
		.pages = 1 + random_below(random, 12),
		.dcycle = random_below(random, 6),
		.dinstr = random_below(random, 6),
		.idle = random_below(random, 3) != 0,
		.wakes = random_below(random, 4) != 0,
		.missed = random_below(random, 3) == 0 ? 5 : 0,
		.reduced = random_below(random, 3) == 0,
		.windows = random_below(random, 3) == 0,
		.gaps = random_below(random, 8) == 0,
		.helpers = random_below(random, 4) == 0,
	};

	plot.most_tasks = plot.tasks + (int)random_below(random, 4);
	plot.pipes = random_below(random, 3) == 0;
	plot.idle |= plot.begin == TASKS_MADE_BY_IDLE;
	return plot;
}

/* ---- for readers ---- */

static void print_event(const struct lpl_event *event, FILE *file)
{
	const char *name = lpl_event_name(event->tag);

	(void)fprintf(file, "%s by %" PRIu32, name != NULL ? name : "?", event->tid);
	for (int i = 0; i < 6; i++)
		(void)fprintf(file, " %" PRIx64, event->arg[i]);
	if (event->text_length > 0)
		(void)fprintf(file, " %.*s", (int)event->text_length, event->text);
	(void)fputc('\n', file);
}

void print_threads(const struct stream *stream, FILE *file)
{
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];

		(void)fprintf(file, "  %3zu: cycle %" PRIu64 ", instr %" PRIu64 ", ref %" PRIu64
			      "  ", i, item->is_event ? item->event.cycle : item->ref.cycle,
			      item->is_event ? item->event.instr : item->ref.instr,
			      item->is_event ? item->event.ref : item->ref.ref);
		if (item->is_event)
			print_event(&item->event, file);
		else
			(void)fprintf(file, "%c %" PRIx64 ":%" PRIx64 "\n",
				      lpl_type_letter(item->ref.type), item->ref.space,
				      item->ref.address / 4096);
	}
}
