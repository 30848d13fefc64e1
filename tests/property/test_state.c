/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream may be cut anywhere: the state at the cut and what comes after it are merged as the
 * whole is (cut.h).  The streams are a small guest's (guest.h) with tasks, files of several
 * generations, names, snapshots and gaps put in, among them much that makes no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/survey.h>

#include "cut.h"
#include "guest.h"

/* What a case is about. */
struct kind {
	const char *name;
	bool reported;		/* each break of copy-on-write is reported */
	bool kept;		/* writers keep pages that others still seem to share */
	bool odd;		/* events name tasks that do not exist, unknown files ... */
	uint32_t tasks;		/* one event of a task for so many records; 0: none */
};

/* ---- streams ---- */

enum { TIDS = 7 };

struct dresser {
	struct random *random;
	const struct kind *kind;
	struct stream *out;
	uint32_t tid, tgid;	/* of the task that runs */
	uint64_t space;
	uint32_t tgid_of[TIDS + 1];
	uint64_t space_of[TIDS + 1];
	bool lives[TIDS + 1];
	uint64_t ref;		/* of the last reference */
	bool knows[4];		/* that a space is there */
};

static uint32_t roll(struct dresser *dresser, uint32_t limit)
{
	return random_below(dresser->random, limit);
}

static void put(struct dresser *dresser, const struct lpl_event *like)
{
	struct lpl_event event = *like;

	event.ref = event.instr = event.cycle = dresser->ref;
	event.tid = dresser->tid;
	event.tgid = dresser->tgid;
	event.space = dresser->space;
	if (dresser->kind->odd && roll(dresser, 20) == 0)
		event.tid = roll(dresser, TIDS + 1);
	stream_add_event(dresser->out, &event);
}

#define PUT(dresser, event_tag, ...) \
	put(dresser, &(struct lpl_event){ .tag = (event_tag), .arg = { __VA_ARGS__ } })

static void name(struct dresser *dresser, struct lpl_event *event)
{
	event->text_length = roll(dresser, 4);
	for (uint32_t i = 0; i < event->text_length; i++)
		event->text[i] = (char)('a' + roll(dresser, 3));
}

static uint32_t some_task(struct dresser *dresser)
{
	uint32_t tid = 1 + roll(dresser, TIDS);

	if (dresser->kind->odd && roll(dresser, 8) == 0)
		return tid;
	for (uint32_t i = 0; i < TIDS; i++, tid = tid % TIDS + 1)
		if (dresser->lives[tid])
			return tid;
	return 0;
}

static void do_create(struct dresser *dresser)
{
	struct lpl_event event = { .tag = KTR_TASK_CREATE };
	uint32_t tid = 1 + roll(dresser, TIDS);
	bool thread = roll(dresser, 3) == 0 && dresser->tid != 0;

	if (dresser->lives[tid] && !dresser->kind->odd)
		return;
	dresser->lives[tid] = true;
	dresser->tgid_of[tid] = thread ? dresser->tgid : tid;
	dresser->space_of[tid] = thread ? dresser->space :
				 roll(dresser, 4) == 0 ? 0 : 0x100 + roll(dresser, 4);
	event.arg[KTR_TASK_CREATE_TID] = tid;
	event.arg[KTR_TASK_CREATE_TGID] = dresser->tgid_of[tid];
	event.arg[KTR_TASK_CREATE_SPACE] = dresser->space_of[tid];
	event.arg[KTR_TASK_CREATE_FLAGS] = thread ? 0x100 : 0;
	name(dresser, &event);
	put(dresser, &event);
}

static void do_schedule(struct dresser *dresser)
{
	static const uint64_t states[] = { 0, 0, 1, 2, 0x80, 0x402 };
	struct lpl_event event = { .tag = KTR_SCHEDULE };
	uint32_t next = roll(dresser, 5) == 0 ? 0 : some_task(dresser);

	event.arg[KTR_SCHEDULE_PREVIOUS_TID] = dresser->tid;
	event.arg[KTR_SCHEDULE_PREVIOUS_STATE] = states[roll(dresser, 6)];
	event.arg[KTR_SCHEDULE_NEXT_TID] = next;
	event.arg[KTR_SCHEDULE_NEXT_TGID] = dresser->tgid_of[next];
	event.arg[KTR_SCHEDULE_NEXT_SPACE] = dresser->space_of[next];
	name(dresser, &event);
	put(dresser, &event);
	dresser->tid = next;
	dresser->tgid = dresser->tgid_of[next];
	dresser->space = dresser->space_of[next];
}

/* An exited task may still run, and be reported, until it is scheduled away for good. */
static void do_exit(struct dresser *dresser)
{
	uint32_t tid = roll(dresser, 2) == 0 ? dresser->tid : some_task(dresser);

	PUT(dresser, KTR_EXIT, tid, dresser->tgid_of[tid], roll(dresser, 3) << 8, 1);
	dresser->lives[tid] = false;
}

static void do_assign(struct dresser *dresser)
{
	struct lpl_event event = { .tag = roll(dresser, 2) ? KTR_SPACE_ASSIGN : KTR_EXEC };
	uint32_t tid = roll(dresser, 2) == 0 ? dresser->tid : some_task(dresser);

	dresser->space_of[tid] = roll(dresser, 4) == 0 ? 0 : 0x100 + roll(dresser, 4);
	if (tid == dresser->tid)
		dresser->space = dresser->space_of[tid];
	event.arg[KTR_TASK_TID] = tid;
	event.arg[KTR_TASK_TGID] = dresser->tgid_of[tid];
	event.arg[KTR_TASK_SPACE] = dresser->space_of[tid];
	name(dresser, &event);
	put(dresser, &event);
}

/* A thread executes: its leader exits, and it goes on under the leader's id. */
static void do_take_over(struct dresser *dresser)
{
	uint32_t leader = dresser->tgid, thread = dresser->tid;

	if (leader == 0 || leader == thread || !dresser->lives[leader])
		return;
	PUT(dresser, KTR_EXIT, leader, leader, 0, 0);
	dresser->tid = leader;
	dresser->space_of[leader] = dresser->space;
	dresser->lives[thread] = false;
	PUT(dresser, KTR_SPACE_ASSIGN, leader, leader, dresser->space);
	if (roll(dresser, 2) == 0)
		PUT(dresser, KTR_EXIT, thread, leader, 0, 0);
}

static void do_file(struct dresser *dresser)
{
	struct lpl_event event = { .tag = KTR_FILE };

	event.arg[KTR_FILE_INODE] = 1 + roll(dresser, 3);
	event.arg[KTR_FILE_GENERATION] = roll(dresser, 3) == 0;
	name(dresser, &event);
	put(dresser, &event);
}

static void do_present(struct dresser *dresser)
{
	uint64_t start = 0x10000 + roll(dresser, 6), end = start + 1 + roll(dresser, 2);

	PUT(dresser, KTR_PRESENT, 0x100 + roll(dresser, 3), start << 12, end << 12,
	    roll(dresser, 3) == 0 ? KTR_NONE : 0x100 + roll(dresser, 4),
	    roll(dresser, 3) == 0 ? KTR_SWAP_ENTRY(1, roll(dresser, 4)) : KTR_NONE);
}

static void do_task_event(struct dresser *dresser)
{
	switch (roll(dresser, 24)) {
	case 0: case 1: case 2: case 3: case 4:
		do_create(dresser);
		break;
	case 5: case 6: case 7: case 8: case 9: case 10: case 11: case 12:
		do_schedule(dresser);
		break;
	case 13: case 14:
		do_exit(dresser);
		break;
	case 15: case 16:
		do_assign(dresser);
		break;
	case 17:
		do_take_over(dresser);
		break;
	case 18: case 19:
		do_file(dresser);
		break;
	case 20:
		PUT(dresser, KTR_SNAPSHOT, roll(dresser, 2));
		break;
	case 21: case 22:
		do_present(dresser);
		break;
	default:
		if (dresser->kind->odd && roll(dresser, 4) == 0)
			PUT(dresser, LPL_EVENT_GAP, roll(dresser, 2), roll(dresser, 2));
		else
			PUT(dresser, LPL_EVENT_TRACING, roll(dresser, 2));
		break;
	}
}

static void put_event(struct dresser *dresser, const struct lpl_event *like)
{
	struct lpl_event event = *like;

	if (event.tag == KTR_SPACE_END)
		dresser->knows[event.arg[KTR_SPACE_END_SPACE] & 3] = false;
	if (event.tag == KTR_MAP) {
		name(dresser, &event);
		if (dresser->kind->odd && roll(dresser, 6) == 0)
			event.arg[KTR_MAP_INODE] = roll(dresser, 2) ? 0 : KTR_NONE;
	}
	if (event.tag == KTR_CACHE_ADD && dresser->kind->odd && roll(dresser, 12) == 0)
		event.arg[KTR_CACHE_INODE] = 0;
	if (event.tag == KTR_COW_BREAK && !dresser->kind->kept)
		event.arg[KTR_COW_BREAK_NEW_FRAME] = event.arg[KTR_COW_BREAK_OLD_FRAME] + 1;
	put(dresser, &event);
}

/*
 * A kernel that reports everything has reported, before a reference, that the space has a
 * mapping, and before a write that the page is the space's own.
 */
static void put_ref(struct dresser *dresser, const struct lpl_ref *ref)
{
	const uint64_t elsewhere = 0x20000000;
	bool user = ref->address >> 63 == 0;

	if (dresser->kind->reported && user && !dresser->knows[ref->space & 3]) {
		PUT(dresser, KTR_MAP, ref->space, elsewhere, elsewhere + 0x1000);
		dresser->knows[ref->space & 3] = true;
	}
	if (dresser->kind->reported && user && ref->type == LPL_WRITE)
		PUT(dresser, KTR_PAGE_OWN, ref->space, ref->address, 1, 1);
	dresser->ref = ref->ref;
	stream_add_ref(dresser->out, ref);
}

/* The cut is a mark, so that it remains when records around it are taken away. */
static void make_stream(struct random *random, const struct kind *kind, struct stream *out)
{
	struct plot plot = random_plot(random);
	struct stream played = { 0 };
	struct dresser dresser = { .random = random, .kind = kind, .out = out };
	size_t cut;

	plot.wild = false;
	plot.silent = !kind->reported && random_below(random, 2) == 0;
	play_guest(random, &plot, &played);
	stream_clear(out);
	cut = random_below(random, (uint32_t)played.count + 1);
	for (size_t i = 0; i <= played.count; i++) {
		while (kind->tasks != 0 && roll(&dresser, kind->tasks) == 0)
			do_task_event(&dresser);
		if (i == cut)
			PUT(&dresser, LPL_EVENT_MARK, 1);
		if (i == played.count)
			break;
		if (played.item[i].is_event)
			put_event(&dresser, &played.item[i].event);
		else
			put_ref(&dresser, &played.item[i].ref);
	}
	stream_free(&played);
}

/* ---- what must hold ---- */

/* Does it fail, and why? */
static bool fails_because(const struct stream *stream, const struct kind *kind, char why[600])
{
	struct cut *cut = cut_open(!kind->reported, true);
	bool fails;

	cut->may_split = kind->kept;
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];

		if (!item->is_event)
			cut_ref(cut, &item->ref);
		else if (item->event.tag == LPL_EVENT_MARK)
			cut_here(cut);
		else
			cut_event(cut, &item->event);
	}
	cut_finish(cut);
	fails = cut->why[0] != '\0';
	if (why != NULL)
		memcpy(why, cut->why, sizeof(cut->why));
	cut_close(cut);
	return fails;
}

static bool fails(const struct stream *stream, void *kind)
{
	return fails_because(stream, kind, NULL);
}

static void try_kind(struct kind kind, unsigned int cases)
{
	uint64_t seed = random_seed();

	for (unsigned int i = 0; i < cases; i++) {
		struct random random = { seed + i };
		struct stream stream = { 0 };
		char why[600];

		make_stream(&random, &kind, &stream);
		if (fails_because(&stream, &kind, why)) {
			stream_shrink(&stream, fails, &kind);
			(void)fails_because(&stream, &kind, why);
			stream_print("the stream", &stream);
			fail_msg("%s, LAPLACE_TEST_SEED=%" PRIu64 ": %s", kind.name, seed + i,
				 why);
		}
		stream_free(&stream);
	}
}

enum { CASES = 2000 };

static void test_mappings(void **state)
{
	(void)state;
	try_kind((struct kind){ .name = "mappings", .reported = true }, CASES);
}

static void test_tasks(void **state)
{
	(void)state;
	try_kind((struct kind){ .name = "tasks", .reported = true, .tasks = 4 }, CASES);
}

static void test_odd_events(void **state)
{
	(void)state;
	try_kind((struct kind){ .name = "odd events", .reported = true, .tasks = 4, .odd = true },
		 CASES);
}

static void test_unreported_breaks(void **state)
{
	(void)state;
	try_kind((struct kind){ .name = "breaks that writes show", .tasks = 8 }, CASES);
}

/* Kept pages become two, but never two pages one. */
static void test_kept_pages(void **state)
{
	(void)state;
	try_kind((struct kind){ .name = "kept pages", .kept = true, .reported = true }, CASES);
	try_kind((struct kind){ .name = "kept pages", .kept = true, .tasks = 8 }, CASES);
}

/* ---- of the state itself ---- */

/* Send a state into a stream; returns what it says is left out. */
static uint64_t send_state(struct lpl_state *known, struct stream *out)
{
	struct lpl_report report = { .error = LPL_OK };
	struct collector collector;
	const struct lpl_event *last;

	stream_clear(out);
	collector_init(&collector, out);
	assert_int_equal(lpl_state_send(known, &collector.sink, &report), LPL_OK);
	assert_true(out->count >= 2);
	last = &out->item[out->count - 1].event;
	assert_int_equal(out->item[0].event.tag, LPL_EVENT_STATE);
	assert_int_equal(out->item[0].event.arg[LPL_EVENT_STATE_BEGINS], 1);
	assert_int_equal(last->tag, LPL_EVENT_STATE);
	assert_int_equal(last->arg[LPL_EVENT_STATE_BEGINS], 0);
	return last->arg[LPL_EVENT_STATE_LEFT_OUT];
}

static void take_all(struct lpl_state *known, const struct stream *stream)
{
	struct lpl_report report = { .error = LPL_OK };

	for (size_t i = 0; i < stream->count; i++)
		if (stream->item[i].is_event)
			assert_int_equal(lpl_state_take(known, &stream->item[i].event, &report),
					 LPL_OK);
}

/* The same events make the same state, and to send it changes nothing. */
static void test_repeats(void **state)
{
	const struct kind kind = { .tasks = 4, .odd = true };
	uint64_t seed = random_seed();

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		struct stream stream = { 0 }, one = { 0 }, other = { 0 };
		struct random random = { seed + i };
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_state *first, *second;
		size_t place;

		make_stream(&random, &kind, &stream);
		assert_int_equal(lpl_state_new(&first, NULL, &report), LPL_OK);
		assert_int_equal(lpl_state_new(&second, NULL, &report), LPL_OK);
		take_all(first, &stream);
		take_all(second, &stream);
		(void)send_state(first, &one);
		(void)send_state(second, &other);
		assert_true(stream_equal(&one, &other, &place));
		(void)send_state(first, &other);
		assert_true(stream_equal(&one, &other, &place));
		lpl_state_free(first);
		lpl_state_free(second);
		stream_free(&stream);
		stream_free(&one);
		stream_free(&other);
	}
}

/* A guest that maps every other page, of ever more spaces, and reports ever more tasks. */
static void test_limits(void **state)
{
	const struct lpl_state_options options = { .pieces = 5000, .tasks = 20 };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_event map = { .tag = KTR_MAP };
	struct lpl_event create = { .tag = KTR_TASK_CREATE };
	struct stream out = { 0 };
	struct lpl_state *known;

	(void)state;
	assert_int_equal(lpl_state_new(&known, &options, &report), LPL_OK);
	for (uint64_t i = 0; i < 20000; i++) {
		map.arg[KTR_MAP_SPACE] = 1 + i / 500;
		map.arg[KTR_MAP_START] = (i % 500) << 13;
		map.arg[KTR_MAP_END] = map.arg[KTR_MAP_START] + 4096;
		assert_int_equal(lpl_state_take(known, &map, &report), LPL_OK);
	}
	assert_true(lpl_state_left_out(known) > 0);
	assert_int_equal(send_state(known, &out), lpl_state_left_out(known));
	assert_true(out.count <= options.pieces + 10);
	/* what was mapped last is known */
	assert_int_equal(out.item[out.count - 3].event.tag, KTR_MAP);
	for (uint32_t tid = 1; tid <= 100; tid++) {
		create.arg[KTR_TASK_CREATE_TID] = tid;
		create.arg[KTR_TASK_CREATE_TGID] = tid;
		assert_int_equal(lpl_state_take(known, &create, &report), LPL_OK);
	}
	(void)send_state(known, &out);
	/* before the end the last task, and before that not more than the limit */
	assert_int_equal(out.item[out.count - 2].event.arg[LPL_EVENT_TASK_STATE_TID], 100);
	assert_int_equal(out.item[out.count - 2 - options.tasks].event.arg[
				 LPL_EVENT_TASK_STATE_TID], 0);
	lpl_state_free(known);
	stream_free(&out);
}

/* Within its limits a guest may map much and share it all, and nothing is left out. */
static void test_large_forks(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_event map = { .tag = KTR_MAP, .arg = {
		[KTR_MAP_SPACE] = 1, [KTR_MAP_START] = 1 << 20,
		[KTR_MAP_END] = UINT64_C(1) << 46 } };
	struct lpl_event fork = { .tag = KTR_SPACE_DUPLICATE,
				  .arg = { [KTR_SPACE_DUPLICATE_PARENT] = 1 } };
	struct stream out = { 0 };
	struct lpl_state *known;

	(void)state;
	assert_int_equal(lpl_state_new(&known, NULL, &report), LPL_OK);
	assert_int_equal(lpl_state_take(known, &map, &report), LPL_OK);
	for (uint64_t child = 2; child <= 100; child++) {
		fork.arg[KTR_SPACE_DUPLICATE_CHILD] = child;
		assert_int_equal(lpl_state_take(known, &fork, &report), LPL_OK);
	}
	assert_int_equal(send_state(known, &out), 0);
	/* bounds, spaces, the idle task; a mapping of one, and what the others share with it */
	assert_int_equal(out.count, 3 + 100 + 1 + 99);
	lpl_state_free(known);
	stream_free(&out);
}

/* ---- guests that were found by fuzzing ---- */

#define SEND(cut, event_tag, ...) \
	cut_event(cut, &(struct lpl_event){ .tag = (event_tag), .arg = { __VA_ARGS__ } })

static void read_at(struct cut *cut, uint64_t space, uint64_t address)
{
	static uint64_t clock;
	const struct lpl_ref ref = {
		.ref = ++clock, .space = space, .address = address, .type = LPL_READ,
		.flags = LPL_USER, .length = 4
	};

	cut_ref(cut, &ref);
}

static void finish_cut(struct cut *cut)
{
	cut_finish(cut);
	if (cut->why[0] != '\0')
		fail_msg("%s", cut->why);
	cut_close(cut);
}

/* Whatever number it has, it is not the one in which a state lists what no space maps. */
static void test_space_of_any_number(void **state)
{
	struct lpl_event map = { .tag = KTR_MAP, .text_length = 1, .text = "f", .arg = {
		[KTR_MAP_SPACE] = 1, [KTR_MAP_START] = 0x10000, [KTR_MAP_END] = 0x11000,
		[KTR_MAP_KIND] = KTR_MAP_FILE_SHARED, [KTR_MAP_INODE] = 5 } };
	struct cut *cut = cut_open(false, true);

	(void)state;
	cut_event(cut, &map);
	SEND(cut, KTR_UNMAP, 1, 0x10000, 0x11000);
	SEND(cut, KTR_MAP, KTR_NONE, 0x10000, 0x11000);
	SEND(cut, KTR_MAP, KTR_NONE - 1, 0x10000, 0x11000);
	cut_here(cut);
	read_at(cut, KTR_NONE, 0x10000);
	read_at(cut, KTR_NONE - 1, 0x10000);
	finish_cut(cut);
}

/* A guest cannot number pages as a state does. */
static void test_numbers_of_a_state(void **state)
{
	struct cut *cut = cut_open(false, true);

	(void)state;
	SEND(cut, KTR_MAP, 1, 0x10000, 0x13000);
	SEND(cut, KTR_SNAPSHOT, 1);
	SEND(cut, KTR_PRESENT, 1, 0x10000, 0x11000, 5, KTR_NONE);
	SEND(cut, KTR_PRESENT, 1, 0x11000, 0x12000, LPL_STATE_PAGES + 1, KTR_NONE);
	SEND(cut, KTR_PRESENT, 1, 0x12000, 0x13000, KTR_NONE, LPL_STATE_PAGES + 1);
	cut_here(cut);
	for (uint64_t page = 0x10000; page < 0x13000; page += 0x1000)
		read_at(cut, 1, page);
	finish_cut(cut);
}

/* What only grows moves no page, however many there are: nothing is left out. */
static void test_grows_in_place(void **state)
{
	const uint64_t end = UINT64_C(1) << 40;
	struct cut *cut = cut_open(false, true);

	(void)state;
	SEND(cut, KTR_MAP, 1, 0x10000, end);
	SEND(cut, KTR_REMAP, 1, 0x10000, end, 0x10000, 2 * end);
	assert_int_equal(lpl_state_left_out(cut->state), 0);
	cut_here(cut);
	read_at(cut, 1, 0x10000);
	read_at(cut, 1, 2 * end - 0x1000);
	finish_cut(cut);
}

/* ---- a survey of the part ---- */

struct surveyed {
	struct lpl_merge *merge;	/* of the same records: which task they are of */
	struct lpl_merge_output output;
	uint64_t references[64];	/* by serial number */
	uint64_t events;		/* that are not the state's */
};

static enum lpl_error count_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				      struct lpl_report *report)
{
	struct surveyed *surveyed =
		(struct surveyed *)((char *)output - offsetof(struct surveyed, output));

	(void)report;
	assert_true(merged->task->serial < 64);
	surveyed->references[merged->task->serial]++;
	return LPL_OK;
}

static enum lpl_error no_more(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* What is in a state is in no count of a survey, and its tasks have what they do in the rest. */
static void survey_rest(const struct stream *stream, const struct kind *kind)
{
	struct surveyed seen = { .output = { .reference = count_reference, .finish = no_more } };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_state *known;
	struct lpl_survey *survey;
	struct stream rest = { 0 };
	bool after = false;

	assert_int_equal(lpl_state_new(&known, NULL, &report), LPL_OK);
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];

		if (item->is_event && item->event.tag == LPL_EVENT_MARK) {
			(void)send_state(known, &rest);
			after = true;
		} else if (item->is_event && after) {
			stream_add_event(&rest, &item->event);
			seen.events++;
		} else if (item->is_event) {
			assert_int_equal(lpl_state_take(known, &item->event, &report), LPL_OK);
		} else if (after) {
			stream_add_ref(&rest, &item->ref);
		} else if (!kind->reported) {
			assert_int_equal(lpl_state_refs(known, &item->ref, 1, &report), LPL_OK);
		}
	}
	assert_int_equal(lpl_merge_open(&seen.merge, &seen.output, NULL, &report), LPL_OK);
	assert_int_equal(lpl_survey_open(&survey, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(&rest, lpl_merge_sink(seen.merge), 7, &report), LPL_OK);
	assert_int_equal(stream_send(&rest, lpl_survey_sink(survey), 7, &report), LPL_OK);
	/* but for the bounds of the state: that there is one */
	assert_int_equal(survey->events->counts.all, seen.events + 2);
	for (uint64_t serial = 0; serial < 64; serial++) {
		const struct lpl_survey_task *task = lpl_survey_task(survey, serial);

		assert_int_equal(task != NULL ? task->references : 0, seen.references[serial]);
	}
	lpl_survey_close(survey);
	lpl_merge_close(seen.merge);
	lpl_state_free(known);
	stream_free(&rest);
}

static void test_surveys(void **state)
{
	const struct kind kind = { .reported = true, .tasks = 4 };
	uint64_t seed = random_seed();

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		struct random random = { seed + i };
		struct stream stream = { 0 };

		make_stream(&random, &kind, &stream);
		survey_rest(&stream, &kind);
		stream_free(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_odd_events),
		cmocka_unit_test(test_unreported_breaks),
		cmocka_unit_test(test_kept_pages),
		cmocka_unit_test(test_surveys),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_large_forks),
		cmocka_unit_test(test_space_of_any_number),
		cmocka_unit_test(test_numbers_of_a_state),
		cmocka_unit_test(test_grows_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
