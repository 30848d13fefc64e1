/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace taken apart, for the oracle: which task made each record, on which page, and what each task
 * waits for.  It knows as much of guests as the streams of test_schedule.c need, and says so when
 * a stream is none of these.
 */
#include "oracle_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

#define CLONE_VM 0x100
#define KERNEL_BASE (UINT64_C(1) << 63)

enum { TIDS = 64, SPACES = 64, PIPES = 4, NO_RECORD = -1 };

/* What a page is known by. */
struct identity {
	enum { PAGE_OF_SPACE, PAGE_OF_KERNEL, PAGE_OF_FILE, PAGE_OF_TABLES } kind;
	uint64_t space, page, gap;	/* after which */
};

struct splitter {
	struct oracle_split *split;
	bool in_state;
	int by_tid[TIDS];		/* the living task; 0: none */
	int current;
	bool known;			/* what runs */
	bool snapshot, snapshot_begun;
	bool snapshot_ended;	/* what is created from now on is new */
	bool any_wake;
	bool implied[ORACLE_TASKS], exited[ORACLE_TASKS];
	bool waits[ORACLE_TASKS];	/* left, and what it waits for is not seen yet */
	long waits_at[ORACLE_TASKS];	/* its record; NO_RECORD: the beginning */
	long early_wake[TIDS];		/* the first wake of a task not seen yet */
	bool space_known[SPACES], mapped[SPACES];
	struct {
		uint64_t given;		/* the number of the task's latest give */
		uint64_t taken;		/* all numbers, at its latest take */
	} passed[PIPES][ORACLE_TASKS];
	uint64_t gaps;			/* in which events are missing */
	bool lost;			/* by the one before, whatever follows it */
	struct { uint32_t tgid; uint64_t number; int tasks; } process[ORACLE_TASKS];
	int processes;
	uint64_t last_process;
	struct identity identity[ORACLE_PAGES];
	bool described[ORACLE_PAGES + 1];	/* pages of a canonical trace */
};

static void invalid(struct splitter *s)
{
	s->split->valid = false;
}

/* ---- processes ---- */

static void leave_process(struct splitter *s, int task)
{
	for (int i = 0; i < s->processes; i++)
		if (s->process[i].number == s->split->task[task].process)
			s->process[i].tasks--;
}

static void join_process(struct splitter *s, int task)
{
	struct oracle_split_task *t = &s->split->task[task];
	uint32_t tgid = t->tgid != 0 ? t->tgid : t->tid;

	if (t->space == 0)
		return;
	for (int i = 0; i < s->processes; i++)
		if (s->process[i].tasks > 0 && s->process[i].tgid == tgid) {
			if (s->process[i].number == t->process)
				return;
			leave_process(s, task);
			t->process = s->process[i].number;
			s->process[i].tasks++;
			return;
		}
	leave_process(s, task);
	t->process = ++s->last_process;
	s->process[s->processes].tgid = tgid;
	s->process[s->processes].number = t->process;
	s->process[s->processes++].tasks = 1;
}

/* ---- tasks ---- */

static void set_name(struct splitter *s, int task, const struct lpl_event *event)
{
	if (event->text_length > 0)
		s->split->task[task].name = (struct oracle_name){ event->text, event->text_length };
}

static int task_of(struct splitter *s, uint64_t tid)
{
	if (tid >= TIDS) {
		invalid(s);
		return 0;
	}
	return s->by_tid[tid];
}

static void resolve(struct splitter *s, int task, enum oracle_wait wait, uint64_t number)
{
	long at = s->waits_at[task];

	s->waits[task] = false;
	if (at == NO_RECORD) {
		s->split->task[task].wait = wait;
		s->split->task[task].number = number;
	} else {
		s->split->record[at].wait = wait;
		s->split->record[at].number = number;
	}
}

/* The cycles that a task has waited for when record `at` has been: those of the records after it began to. */
static uint64_t waited_for(const struct splitter *s, int task, long at)
{
	uint64_t cycles = 0;

	for (long i = s->waits_at[task] + 1; i <= at; i++)
		cycles += s->split->record[i].dcycle;
	return cycles;
}

/* Record `at` wakes a task that waits. */
static void wake(struct splitter *s, int task, long at)
{
	struct oracle_record *record = &s->split->record[at];
	const struct lpl_event *event = &record->item->event;

	if (record->task == 0 || event->arg[KTR_WAKE_CONTEXT] != KTR_CONTEXT_TASK) {
		resolve(s, task, WAIT_CYCLES, waited_for(s, task, at));
	} else {
		if (record->wake == 0)
			record->wake = ++s->split->wakes;
		resolve(s, task, WAIT_WAKE, record->wake);
	}
}

static int new_task(struct splitter *s, uint64_t tid, uint32_t tgid, uint64_t space, int parent)
{
	struct oracle_split *split = s->split;
	int task = split->tasks;

	if (task == ORACLE_TASKS || tid == 0 || tid >= TIDS) {
		invalid(s);
		return 0;
	}
	split->tasks++;
	split->task[task] = (struct oracle_split_task){
		.tid = (uint32_t)tid, .tgid = tgid, .space = space, .parent = parent
	};
	s->by_tid[tid] = task;
	s->waits[task] = parent == 0;
	s->waits_at[task] = NO_RECORD;
	if (parent == 0 && s->early_wake[tid] != NO_RECORD)
		wake(s, task, s->early_wake[tid]);
	s->early_wake[tid] = NO_RECORD;
	join_process(s, task);
	return task;
}

/* It gets the processor. */
static void run(struct splitter *s, uint64_t tid, uint32_t tgid, uint64_t space)
{
	int task = tid == 0 ? 0 : task_of(s, tid);

	if (tid != 0 && task == 0) {
		task = new_task(s, tid, tgid, space, 0);
		s->implied[task] = true;
	}
	if (tgid != 0)
		s->split->task[task].tgid = tgid;
	if (task != 0)
		join_process(s, task);
	s->current = task;
	s->known = true;
}

/* A task that waits for what was not seen runs, since the record before. */
static void guess(struct splitter *s, int task, size_t i)
{
	uint64_t cycles = waited_for(s, task, (long)i - 1);
	bool begins = s->waits_at[task] == NO_RECORD;

	if (begins && (s->any_wake || cycles == 0)) {
		resolve(s, task, WAIT_NOT, 0);	/* it needed none */
		return;
	}
	s->split->waits_guessed += begins ? 0 : 1;
	resolve(s, task, WAIT_CYCLES, cycles);
}

/* ---- events ---- */

static void on_schedule(struct splitter *s, struct oracle_record *record)
{
	const struct lpl_event *event = &record->item->event;
	uint64_t state = event->arg[KTR_SCHEDULE_PREVIOUS_STATE];
	int goes = s->current;

	if (event->arg[KTR_SCHEDULE_PREVIOUS_TID] != s->split->task[goes].tid)
		invalid(s);
	record->leaves = true;
	if (goes != 0 && event->arg[KTR_SCHEDULE_NEXT_TID] == s->split->task[goes].tid)
		invalid(s);
	if (goes != 0 && state == KTR_STATE_DEAD) {
		if (!s->exited[goes])
			invalid(s);
		record->dies = true;
	} else if (goes != 0 && state != KTR_STATE_RUNNABLE) {
		s->waits[goes] = true;
		s->waits_at[goes] = record - s->split->record;
	}
	run(s, event->arg[KTR_SCHEDULE_NEXT_TID], (uint32_t)event->arg[KTR_SCHEDULE_NEXT_TGID],
	    event->arg[KTR_SCHEDULE_NEXT_SPACE]);
	if (s->current != 0 && event->arg[KTR_SCHEDULE_NEXT_SPACE] != 0) {
		s->split->task[s->current].space = event->arg[KTR_SCHEDULE_NEXT_SPACE];
		join_process(s, s->current);
	}
	set_name(s, s->current, event);
	if (record->dies) {
		s->by_tid[s->split->task[goes].tid] = 0;
		leave_process(s, goes);
	}
}

static void on_wake(struct splitter *s, struct oracle_record *record)
{
	uint64_t tid = record->item->event.arg[KTR_WAKE_TID];
	long at = record - s->split->record;
	int task = task_of(s, tid);

	s->any_wake = true;
	if (tid == 0 || tid >= TIDS)
		return;
	if (task == 0) {
		if (s->early_wake[tid] == NO_RECORD)
			s->early_wake[tid] = at;
	} else if (s->waits[task]) {
		wake(s, task, at);
	}
}

static void on_create(struct splitter *s, struct oracle_record *record)
{
	const struct lpl_event *event = &record->item->event;
	uint64_t tid = event->arg[KTR_TASK_CREATE_TID];
	uint64_t space = event->arg[KTR_TASK_CREATE_SPACE];
	uint32_t tgid = (uint32_t)event->arg[KTR_TASK_CREATE_TGID];
	const struct oracle_split_task *current = &s->split->task[s->current];
	int task = task_of(s, tid);
	bool new = s->snapshot_ended || (space == 0 ? current->process == 0 :
		s->space_known[space % SPACES] || space == event->space ||
		(event->arg[KTR_TASK_CREATE_FLAGS] & CLONE_VM) != 0);

	if (task != 0) {	/* it was there before */
		if ((!s->implied[task] && !s->snapshot) || s->exited[task] ||
		    s->split->task[task].tgid != tgid)
			invalid(s);
		s->split->task[task].space = space;
		join_process(s, task);
	} else {
		task = new_task(s, tid, tgid, space, new && !s->snapshot ? s->current : 0);
		if (s->split->task[task].parent != 0)
			record->child = task;
	}
	set_name(s, task, event);
	s->implied[task] = false;
	s->space_known[space % SPACES] = space != 0;
}

/* Of four pipes: devices are 0 and 1 here, inodes 1 and 2. */
static void on_pass(struct splitter *s, struct oracle_record *record)
{
	const uint64_t *arg = record->item->event.arg;
	uint64_t pipe = arg[KTR_PASS_DEVICE] * 2 + arg[KTR_PASS_INODE] - 1;
	int task = record->task;

	if (pipe >= PIPES)
		invalid(s);
	if (pipe >= PIPES || task == 0)
		return;
	if (arg[KTR_PASS_TAKEN] == 0) {
		record->wake = s->passed[pipe][task].given = ++s->split->wakes;
		return;
	}
	for (uint64_t n = s->split->wakes; n > s->passed[pipe][task].taken; n--)
		for (int other = 1; other < s->split->tasks; other++)
			if (other != task && s->passed[pipe][other].given == n) {
				record->giver[record->takes] = other;
				record->take[record->takes++] = n;
			}
	s->passed[pipe][task].taken = s->split->wakes;
}

/* What runs, and what is mapped, is not known any more. */
static void lose(struct splitter *s)
{
	s->lost = false;
	s->gaps++;
	s->current = 0;
	s->known = false;
	s->snapshot = false;
	memset(s->mapped, 0, sizeof(s->mapped));
}

static void on_event(struct splitter *s, struct oracle_record *record)
{
	const struct lpl_event *event = &record->item->event;
	uint64_t space = event->arg[KTR_TASK_SPACE];
	int task;

	switch (event->tag) {
	case KTR_SCHEDULE:
		on_schedule(s, record);
		break;
	case KTR_WAKE:
		on_wake(s, record);
		break;
	case KTR_PASS:
		on_pass(s, record);
		break;
	case KTR_TASK_CREATE:
		on_create(s, record);
		break;
	case KTR_SPACE_ASSIGN:
		task = task_of(s, event->arg[KTR_TASK_TID]);
		if (task == 0 || task != s->current)
			invalid(s);
		s->split->task[task].space = space;
		s->space_known[space % SPACES] = true;
		if (task != 0)
			join_process(s, task);
		break;
	case KTR_SPACE_DUPLICATE:
		s->space_known[event->arg[KTR_SPACE_DUPLICATE_CHILD] % SPACES] = true;
		s->mapped[event->arg[KTR_SPACE_DUPLICATE_CHILD] % SPACES] =
			s->mapped[event->arg[KTR_SPACE_DUPLICATE_PARENT] % SPACES];
		break;
	case KTR_MAP:	/* all of a space, of the one file there is */
		s->space_known[event->arg[KTR_MAP_SPACE] % SPACES] = true;
		s->mapped[event->arg[KTR_MAP_SPACE] % SPACES] = true;
		break;
	case KTR_EXIT:
		task = task_of(s, event->arg[KTR_EXIT_TID]);
		if (task == 0 || task != s->current || s->exited[task])
			invalid(s);
		s->exited[task] = true;
		break;
	case KTR_SNAPSHOT:
		s->snapshot = event->arg[KTR_SNAPSHOT_BEGINS] != 0;
		s->snapshot_ended = !s->snapshot && s->snapshot_begun;
		s->snapshot_begun |= s->snapshot;
		break;
	case LPL_EVENT_STATE:		/* amid the trace */
	case LPL_EVENT_TASK_STATE:
		invalid(s);
		break;
	case LPL_EVENT_GAP:
		s->lost |= event->arg[LPL_EVENT_GAP_EVENTS] != 0;
		break;
	default:
		break;
	}
}

/* ---- references ---- */

static uint32_t page_of(struct splitter *s, const struct lpl_ref *ref)
{
	struct identity identity = { PAGE_OF_SPACE, ref->space, ref->address / 4096, s->gaps };
	uint32_t i = 0;

	if (s->split->canonical) {
		if (identity.page > ORACLE_PAGES || !s->described[identity.page])
			invalid(s);
		return (uint32_t)identity.page;
	}
	if (walk(ref))
		identity = (struct identity){ PAGE_OF_TABLES, 0, identity.page, 0 };
	else if (ref->address >= KERNEL_BASE)
		identity = (struct identity){ PAGE_OF_KERNEL, 0, identity.page, 0 };
	else if (s->mapped[ref->space % SPACES])
		identity = (struct identity){ PAGE_OF_FILE, 0, identity.page, 0 };
	while (i < s->split->pages && (s->identity[i].kind != identity.kind ||
	       s->identity[i].space != identity.space || s->identity[i].page != identity.page ||
	       s->identity[i].gap != identity.gap))
		i++;
	if (i == ORACLE_PAGES) {
		invalid(s);
		return 1;
	}
	if (i == s->split->pages)
		s->identity[s->split->pages++] = identity;
	return i + 1;
}

/* ---- clocks ---- */

struct clocks {
	uint64_t cycle, instr, ref;
};

static struct clocks clocks_of(const struct item *item)
{
	if (item->is_event)
		return (struct clocks){ item->event.cycle, item->event.instr, item->event.ref };
	return (struct clocks){ item->ref.cycle, item->ref.instr, item->ref.ref };
}

static bool says_tracing(const struct item *item)
{
	return item->is_event && item->event.tag == LPL_EVENT_TRACING;
}

/* Is tracing off before this record? */
static bool is_outside(const struct oracle_split *split, const struct item *record)
{
	const struct item *item = record, *end = split->in->item + split->in->count;

	while (item-- > split->in->item) {
		if (says_tracing(item))
			return item->event.arg[LPL_EVENT_TRACING_ON] == 0;
		if (!item->is_event)
			return false;
	}
	/* nothing has been said: it is off if it has to be switched on before there is any reference */
	for (item = split->in->item; item < end && item->is_event; item++)
		if (says_tracing(item))
			return item->event.arg[LPL_EVENT_TRACING_ON] != 0;
	return false;
}

static void advance(size_t i, struct oracle_split *split)
{
	struct oracle_record *record = &split->record[i];
	const struct item *item = record->item, *previous;
	struct clocks now = clocks_of(item), before;

	if (i == 0) {
		record->dref = item->is_event ? 0 : 1;
		split->first_cycle = now.cycle;
		split->first_instr = now.instr;
		split->first_ref = now.ref - record->dref;
		return;
	}
	previous = record[-1].item;
	before = clocks_of(previous);
	if (now.cycle < before.cycle || now.instr < before.instr || now.ref < before.ref ||
	    (!item->is_event && now.ref == before.ref))
		split->valid = false;
	record->dref = now.ref - before.ref;
	if (is_outside(split, item))
		return;
	record->dcycle = now.cycle - before.cycle;
	record->dinstr = now.instr - before.instr;
}

/* ---- all of it ---- */

static void split_record(struct splitter *s, size_t i)
{
	struct oracle_record *record = &s->split->record[i];
	const struct item *item = record->item;
	struct oracle_split_task *task;

	advance(i, s->split);
	if (s->lost && (!item->is_event || item->event.tag != LPL_EVENT_GAP))
		lose(s);
	if (item->is_event && item->event.tag < LPL_EVENT_TRACING &&
	    (!s->known || item->event.tid != s->split->task[s->current].tid)) {
		if (s->known)
			invalid(s);
		run(s, item->event.tid, item->event.tgid, item->event.space);
	}
	record->task = s->current;
	record->process_before = s->split->task[s->current].process;
	record->space = s->split->task[s->current].space;
	record->name = s->split->task[s->current].name;
	s->split->task[record->task].records++;
	if (s->waits[record->task])
		guess(s, record->task, i);
	if (item->is_event)
		on_event(s, record);
	else
		record->page = page_of(s, &item->ref);
	/* what an event does to its own task's process is so from it on */
	task = &s->split->task[record->task];
	record->process = task->process;
	task->last_space = task->space;
	task->last_name = task->name;
}

/* An event of what there is at the beginning, before the first record. */
static void list(struct splitter *s, const struct lpl_event *event)
{
	const uint64_t *arg = event->arg;
	int task;

	if (event->tag == LPL_EVENT_STATE && arg[LPL_EVENT_STATE_BEGINS] != 0) {
		s->in_state = true;
	} else if (event->tag == LPL_EVENT_STATE) {
		s->in_state = false;
		s->snapshot_begun = arg[LPL_EVENT_STATE_SNAPSHOT] != LPL_STATE_NO_SNAPSHOT;
		s->snapshot_ended = arg[LPL_EVENT_STATE_SNAPSHOT] == LPL_STATE_AFTER_SNAPSHOT;
		if (arg[LPL_EVENT_STATE_RUNS] == KTR_NONE)
			return;
		s->current = task_of(s, arg[LPL_EVENT_STATE_RUNS]);
		s->known = true;
	} else if (event->tag == LPL_EVENT_TASK_STATE) {
		if (task_of(s, arg[LPL_EVENT_TASK_STATE_TID]) != 0)
			invalid(s);
		task = new_task(s, arg[LPL_EVENT_TASK_STATE_TID],
				(uint32_t)arg[LPL_EVENT_TASK_STATE_TGID],
				arg[LPL_EVENT_TASK_STATE_SPACE], 0);
		set_name(s, task, event);
		s->exited[task] = arg[LPL_EVENT_TASK_STATE_EXITED] != 0;
	} else if (event->tag != LPL_EVENT_TRACING) {
		invalid(s);
	}
}

static bool begins_state(const struct item *item)
{
	return item->is_event && item->event.tag == LPL_EVENT_STATE &&
		item->event.arg[LPL_EVENT_STATE_BEGINS] != 0;
}

static bool describes_page(const struct item *item)
{
	return item->is_event && item->event.tag == LPL_EVENT_PAGE;
}

/* Is a page described before the first reference? */
static bool is_canonical(const struct stream *in)
{
	for (size_t i = 0; i < in->count && in->item[i].is_event; i++)
		if (describes_page(&in->item[i]))
			return true;
	return false;
}

static void describe(struct splitter *s, uint64_t page)
{
	if (page > ORACLE_PAGES || s->described[page])
		invalid(s);
	else
		s->described[page] = true;
}

void oracle_split(const struct stream *in, struct oracle_split *split)
{
	struct splitter s = { .split = split };

	*split = (struct oracle_split){ .in = in, .tasks = 1, .valid = true,
					 .canonical = is_canonical(in) };
	split->record = calloc(in->count + 1, sizeof(*split->record));
	if (split->record == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	for (int tid = 0; tid < TIDS; tid++)
		s.early_wake[tid] = NO_RECORD;
	for (size_t i = 0; i < in->count; i++) {
		if (split->canonical && describes_page(&in->item[i])) {
			describe(&s, in->item[i].event.arg[LPL_EVENT_PAGE_NUMBER]);
			continue;
		}
		if (split->count == 0 && (s.in_state || begins_state(&in->item[i]))) {
			if (in->item[i].is_event)
				list(&s, &in->item[i].event);
			else
				invalid(&s);
			split->head = i + 1;
			continue;
		}
		split->record[split->count].item = &in->item[i];
		split_record(&s, split->count++);
	}
	if (s.in_state)
		invalid(&s);
	for (int task = 1; task < split->tasks; task++) {
		if (!s.waits[task] || s.waits_at[task] == NO_RECORD)
			continue;
		resolve(&s, task, WAIT_EVER, 0);
		split->left_waiting++;
	}
}

void oracle_split_free(struct oracle_split *split)
{
	free(split->record);
	split->record = NULL;
}
