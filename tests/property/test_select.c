/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a trace against their definition: the references to pages of some kinds, one
 * by one; local replacement as one LRU, OPT or working set by brute force for each process, in
 * memories of the same size or of different ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/select.h>

#include "oracle_sim.h"

#define PAGES 60
#define TASKS 12

static uint64_t seed;

static void add_event(struct stream *stream, uint32_t tag, uint32_t tid, uint32_t tgid,
		      const uint64_t arg[4])
{
	struct lpl_event event = { .tag = tag, .tid = tid, .tgid = tgid };

	memcpy(event.arg, arg, 4 * sizeof(*arg));
	stream_add_event(stream, &event);
}

#define EVENT(stream, tag, tid, tgid, ...) \
	add_event(stream, tag, tid, tgid, (const uint64_t[4]){ __VA_ARGS__ })

/* ---- kinds ---- */

/* Paths, and what a person may call them; which is which stands in the table. */
enum { NAMES = 5 };
static const char *const path_of[NAMES] = { "", "/a/x", "/b/x", "x", "/a/xx" };
static const struct {
	const char *name;
	bool means[NAMES];
} names[] = {
	{ "x", { false, true, true, true, false } }, { "/a/x", { false, true, false, false, false } },
	{ "xx", { false, false, false, false, true } }, { "a/x", { false } }, { "a", { false } },
	{ NULL, { true, true, true, true, true } },
};

/* A canonical stream: pages are described at their first reference. */
static void random_canonical(struct random *random, struct stream *stream, uint8_t kind[PAGES + 1],
			     uint8_t path[PAGES + 1])
{
	uint64_t pages = 0;

	stream_clear(stream);
	while (pages < PAGES || random_below(random, 100) != 0) {
		uint64_t page = 1 + random_below(random, PAGES);

		if (page > pages) {
			page = ++pages;
			kind[page] = (uint8_t)random_below(random, LPL_PAGE_KINDS);
			if (kind[page] == LPL_PAGE_CACHE)	/* is no kind of a page */
				kind[page] = LPL_PAGE_FILE;
			EVENT(stream, LPL_EVENT_PAGE, 1, 1, page, kind[page]);
			path[page] = (uint8_t)random_below(random, NAMES);
			struct lpl_event *event = &stream->item[stream->count - 1].event;
			event->text_length = (uint32_t)strlen(path_of[path[page]]);
			memcpy(event->text, path_of[path[page]], event->text_length);
		}
		stream_add_page(stream, page, random_below(random, 3));
		if (random_below(random, 20) == 0)
			EVENT(stream, KTR_MARK, 1, 1, page);
	}
}

static bool wanted(uint8_t kind, uint32_t choice)
{
	/* of a file, however it is reached */
	if (kind == LPL_PAGE_FILE)
		return (choice & (1U << LPL_PAGE_FILE | 1U << LPL_PAGE_CACHE)) != 0;
	return (choice >> kind & 1) != 0;
}

static void kinds_by_definition(void **state)
{
	struct random random = { seed };
	struct stream in = { 0 }, expected = { 0 }, out = { 0 };
	struct collector collector;

	(void)state;
	for (int i = 0; i < 300; i++) {
		uint32_t choice = 1 + random_below(&random, (1U << LPL_PAGE_KINDS) - 1);
		uint32_t name = random_below(&random, sizeof(names) / sizeof(names[0]));
		uint8_t kind[PAGES + 1], path[PAGES + 1];
		struct lpl_kinds *kinds;
		char spec[128] = "";
		size_t place = 0;

		random_canonical(&random, &in, kind, path);
		stream_clear(&expected);
		for (size_t j = 0; j < in.count; j++) {
			const struct item *item = &in.item[j];
			uint64_t page = item->is_event ? 0 : item->ref.address >> LPL_PAGE_SHIFT;

			if (item->is_event)
				stream_add_event(&expected, &item->event);
			else if (wanted(kind[page], choice) && names[name].means[path[page]])
				stream_add_ref(&expected, &item->ref);
		}
		for (int k = 0; k < LPL_PAGE_KINDS; k++)
			if (choice >> k & 1)
				snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "%s%s",
					 spec[0] ? "," : "",
					 lpl_page_kind_name((enum lpl_page_kind)k));
		stream_clear(&out);
		collector_init(&collector, &out);
		assert_int_equal(lpl_kinds_open(&kinds, spec, names[name].name, &collector.sink, NULL), LPL_OK);
		assert_int_equal(stream_send(&in, lpl_kinds_sink(kinds),
					     1 + random_below(&random, 50), NULL), LPL_OK);
		lpl_kinds_close(kinds);
		if (!stream_equal(&expected, &out, &place) || !out.finished)
			fail_msg("seed %" PRIu64 " case %d: '%s' differs at %zu", seed, i, spec,
				 place);
	}
	stream_free(&in);
	stream_free(&expected);
	stream_free(&out);
}

static void kinds_refuse(void **state)
{
	struct stream in = { 0 }, out = { 0 };
	struct lpl_report report = { 0 };
	struct lpl_kinds *kinds;
	struct collector collector;

	(void)state;
	collector_init(&collector, &out);
	assert_int_equal(lpl_kinds_open(&kinds, "file,magic", NULL, &collector.sink, &report),
			 LPL_ERR_USAGE);
	assert_null(kinds);
	assert_non_null(strstr(report.text, "'magic'"));
	assert_non_null(strstr(report.text, "anonymous, file, shm"));
	assert_int_equal(lpl_kinds_open(&kinds, "", NULL, &collector.sink, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_kinds_open(&kinds, "file,", NULL, &collector.sink, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_kinds_open(&kinds, "file", NULL, &collector.sink, NULL), LPL_OK);
	/* a page that no event described, beside one that was, and far away */
	EVENT(&in, LPL_EVENT_PAGE, 1, 1, 5, LPL_PAGE_FILE);
	stream_add_page(&in, 5, LPL_READ);
	assert_int_equal(stream_send(&in, lpl_kinds_sink(kinds), 1, NULL), LPL_OK);
	stream_clear(&in);
	stream_add_page(&in, 6, LPL_READ);
	assert_int_equal(stream_send(&in, lpl_kinds_sink(kinds), 1, NULL), LPL_ERR_UNSUPPORTED);
	stream_clear(&in);
	stream_add_page(&in, UINT64_C(1) << 51, LPL_READ);
	assert_int_equal(stream_send(&in, lpl_kinds_sink(kinds), 1, NULL), LPL_ERR_UNSUPPORTED);
	stream_clear(&in);
	EVENT(&in, LPL_EVENT_PAGE, 1, 1, 6, LPL_PAGE_KINDS);
	assert_int_equal(stream_send(&in, lpl_kinds_sink(kinds), 1, NULL), LPL_ERR_UNSUPPORTED);
	lpl_kinds_close(kinds);
	lpl_kinds_close(NULL);
	stream_free(&in);
	stream_free(&out);
}

/* ---- local ---- */

/* A machine with a few ids, which are used again and again. */
struct machine {
	struct random random;
	struct stream all;
	struct stream *part;		/* by process; 0 is the kernel */
	struct owner {
		uint32_t tgid;
		const char *name;	/* its leader's last one */
	} *owner;			/* by process */
	size_t processes, room;
	struct {
		uint32_t tgid;		/* 0: free */
		size_t process;
		const char *name;
	} task[TASKS + 1];		/* by tid; 0 is idle */
	uint32_t runs;
};

static size_t new_process(struct machine *m)
{
	assert_true(m->processes < m->room);
	m->part[m->processes] = (struct stream){ 0 };
	m->owner[m->processes] = (struct owner){ 0, "kernel" };
	return m->processes++;
}

static void add_named_event(struct machine *m, uint32_t tag, uint32_t tid, const char *name,
			    const uint64_t arg[5])
{
	struct lpl_event event = {
		.tag = tag, .tid = tid, .tgid = m->task[tid].tgid, .text_length = (uint32_t)strlen(name)
	};

	memcpy(event.text, name, event.text_length);
	memcpy(event.arg, arg, 5 * sizeof(*arg));
	stream_add_event(&m->all, &event);
}

#define NAMED_EVENT(m, tag, tid, name, ...) \
	add_named_event(m, tag, tid, name, (const uint64_t[5]){ __VA_ARGS__ })

/* A task is called differently from the event on that is to come; its process, too, if it leads that. */
static const char *name_task(struct machine *m, uint32_t tid)
{
	static const char *const names_of_tasks[] = { "gzip", "sh", "init" };
	const char *name = names_of_tasks[random_below(&m->random, 3)];
	const size_t process = m->task[tid].process;

	m->task[tid].name = name;
	if (m->task[tid].tgid == tid && process != 0)
		m->owner[process] = (struct owner){ tid, name };
	return name;
}

static bool has_threads(const struct machine *m, uint32_t tgid)
{
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		if (tid != tgid && m->task[tid].tgid == tgid)
			return true;
	return false;
}

static void create(struct machine *m, uint32_t tid)
{
	uint32_t maker = m->runs;
	bool kernel = random_below(&m->random, 5) == 0;

	if (m->task[tid].tgid != 0 || has_threads(m, tid))
		return;
	if (!kernel && m->task[maker].process != 0 && random_below(&m->random, 2) == 0) {
		m->task[tid].tgid = m->task[maker].tgid;	/* a thread */
		m->task[tid].process = m->task[maker].process;
	} else {
		m->task[tid].tgid = tid;
		m->task[tid].process = kernel ? 0 : new_process(m);
	}
	NAMED_EVENT(m, KTR_TASK_CREATE, maker, name_task(m, tid), tid, m->task[tid].tgid,
		    kernel ? 0 : 100 + m->task[tid].process);
}

static void schedule(struct machine *m, uint32_t tid, uint64_t state)
{
	if (tid != 0 && m->task[tid].tgid == 0)
		tid = 0;
	if (tid != 0 && random_below(&m->random, 3) == 0)
		(void)name_task(m, tid);
	NAMED_EVENT(m, KTR_SCHEDULE, m->runs, tid != 0 ? m->task[tid].name : "swapper", m->runs, state,
		    tid, m->task[tid].tgid);
	m->runs = tid;
}

/* It references a little more until its last switch. */
static void leave(struct machine *m)
{
	uint32_t tid = m->runs;

	/* the leader's id is not given away while there are threads, and here no thread
	 * executes */
	if (tid == 0 || (m->task[tid].tgid == tid && has_threads(m, tid)))
		return;
	EVENT(&m->all, KTR_EXIT, tid, m->task[tid].tgid, tid, m->task[tid].tgid);
	stream_add_page(&m->all, 1, LPL_WRITE);
	stream_add_ref(&m->part[m->task[tid].process], &m->all.item[m->all.count - 1].ref);
	schedule(m, 0, KTR_STATE_DEAD);
	m->task[tid].tgid = 0;
}

static void reference(struct machine *m)
{
	for (uint32_t i = random_below(&m->random, 12); i > 0; i--) {
		stream_add_page(&m->all, 1 + random_below(&m->random, 25),
				random_below(&m->random, 4) == 0 ? LPL_WRITE : LPL_READ);
		stream_add_ref(&m->part[m->task[m->runs].process],
			       &m->all.item[m->all.count - 1].ref);
	}
}

static void run_machine(struct machine *m, size_t steps)
{
	*m = (struct machine){ .random = m->random, .room = steps + 1 };
	m->part = calloc(m->room, sizeof(*m->part));
	m->owner = calloc(m->room, sizeof(*m->owner));
	assert_non_null(m->part);
	assert_non_null(m->owner);
	(void)new_process(m);		/* the kernel */
	reference(m);			/* boot */
	for (size_t i = 0; i < steps; i++) {
		uint32_t tid = 1 + random_below(&m->random, TASKS);

		switch (random_below(&m->random, 6)) {
		case 0:
			create(m, tid);
			break;
		case 1:
			leave(m);
			break;
		default:
			schedule(m, tid, random_below(&m->random, 3));
			reference(m);
			break;
		}
	}
}

static void machine_free(struct machine *m)
{
	for (size_t i = 0; i < m->processes; i++)
		stream_free(&m->part[i]);
	free(m->part);
	free(m->owner);
	stream_free(&m->all);
}

static struct counts sum_by_definition(const struct machine *m, uint64_t size, bool opt,
				       uint64_t *processes)
{
	struct counts sum = { 0 };

	*processes = 0;
	for (size_t i = 0; i < m->processes; i++) {
		struct trace trace;
		struct counts one;

		trace_of(&m->part[i], &trace);
		one = opt ? oracle_opt(&trace, size) : oracle_lru(&trace, size);
		sum.references += one.references;
		sum.faults += one.faults;
		sum.evictions += one.evictions;
		sum.dirty_evictions += one.dirty_evictions;
		*processes += trace.count != 0;
		trace_free(&trace);
	}
	return sum;
}

/* Working sets of each process, of which each reference is a unit of time. */
static struct timed timed_by_definition(const struct machine *m, uint64_t tau, bool vmin)
{
	struct timed sum = { .space_time = 0 };
	uint64_t times = 0;

	for (size_t i = 0; i < m->processes; i++) {
		struct trace trace;
		struct timed one;
		uint64_t time[4096];

		trace_of(&m->part[i], &trace);
		assert_in_range(trace.count, 0, sizeof(time) / sizeof(time[0]));
		for (size_t j = 0; j < trace.count; j++)
			time[j] = j;
		if (trace.count != 0) {
			one = vmin ? oracle_vmin(&trace, time, tau) : oracle_ws(&trace, time, tau);
			sum.counts.faults += one.counts.faults;
			sum.counts.evictions += one.counts.evictions;
			sum.counts.dirty_evictions += one.counts.dirty_evictions;
			sum.space_time += one.space_time;
		}
		times += trace.count;
		trace_free(&trace);
	}
	sum.counts.references = times;
	sum.mean_resident = times != 0 ? (double)sum.space_time / (double)times : 0;
	return sum;
}

static void expect_timed(const struct lpl_local *local, const struct machine *m, size_t policy, int i)
{
	const char *name = lpl_local_policy(local, policy);
	size_t count;
	const struct lpl_result *result = lpl_local_results(local, policy, &count);

	assert_int_equal(count, 5);
	for (size_t j = 0; j < count; j++) {
		const struct timed wanted = timed_by_definition(m, result[j].size, name[0] == 'v');

		if (result[j].references != wanted.counts.references ||
		    result[j].faults != wanted.counts.faults ||
		    result[j].evictions != wanted.counts.evictions ||
		    result[j].dirty_evictions != wanted.counts.dirty_evictions ||
		    result[j].space_time != wanted.space_time || !result[j].timed ||
		    fabs(result[j].mean_resident - wanted.mean_resident) > 1e-9)
			fail_msg("seed %" PRIu64 " case %d: %s with tau %" PRIu64 ": %" PRIu64
				 " faults, space-time %" PRIu64 ", not %" PRIu64 ", %" PRIu64, seed, i,
				 name, result[j].size, result[j].faults, result[j].space_time,
				 wanted.counts.faults, wanted.space_time);
	}
}

static void local_by_definition(void **state)
{
	struct machine m = { .random = { seed } };

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct lpl_sizes sizes = { 0 };
		struct lpl_local *local;
		uint64_t processes;

		run_machine(&m, 150);
		assert_int_equal(lpl_sizes_parse(&sizes, "1,2,5,12,30", NULL), LPL_OK);
		assert_int_equal(lpl_local_open(&local, NULL, 0, NULL), LPL_OK);
		assert_int_equal(lpl_local_add(local, "lru", &sizes, NULL), LPL_OK);
		assert_int_equal(lpl_local_add(local, "opt", &sizes, NULL), LPL_OK);
		if (i % 2 == 0) {
			assert_int_equal(lpl_local_add(local, "ws", &sizes, NULL), LPL_OK);
			assert_int_equal(lpl_local_add(local, "vmin", &sizes, NULL), LPL_OK);
		}
		lpl_sizes_free(&sizes);
		assert_int_equal(stream_send(&m.all, lpl_local_sink(local), 7, NULL), LPL_OK);
		for (size_t policy = 0; policy < 2; policy++) {
			size_t count;
			const struct lpl_result *result = lpl_local_results(local, policy, &count);

			assert_int_equal(count, 5);
			for (size_t j = 0; j < count; j++) {
				struct counts wanted = sum_by_definition(&m, result[j].size,
									 policy == 1, &processes);

				if (result[j].references != wanted.references ||
				    result[j].faults != wanted.faults ||
				    result[j].evictions != wanted.evictions ||
				    result[j].dirty_evictions != wanted.dirty_evictions ||
				    lpl_local_processes(local) != processes)
					fail_msg("seed %" PRIu64 " case %d: %s at %" PRIu64
						 ": %" PRIu64 " faults, not %" PRIu64, seed, i,
						 lpl_local_policy(local, policy), result[j].size,
						 result[j].faults, wanted.faults);
				assert_true(result[j].exact);
			}
		}
		for (size_t policy = 2; policy < lpl_local_count(local); policy++)
			expect_timed(local, &m, policy, i);
		lpl_local_close(local);
		machine_free(&m);
	}
}

/* Of FRAMES below: a number before a name, before all others. */
static uint64_t frames_by_definition(const struct owner *owner)
{
	if (owner->tgid == 3)
		return 2;
	if (owner->tgid == 0)
		return 9;
	return strcmp(owner->name, "gzip") == 0 ? 4 : strcmp(owner->name, "sh") == 0 ? 1 : 6;
}
#define FRAMES "gzip=4,3=2,sh=1,*=6,kernel=9,nobody=7"

/* A process that has ended, among those that the simulation kept; they are in no order that matters here. */
static bool was_kept(const struct lpl_local *local, size_t policy, const struct owner *owner,
		     const struct counts *wanted, uint64_t cold, bool *taken)
{
	for (size_t i = 0; i < lpl_local_processes(local); i++) {
		size_t count;
		const struct lpl_result *result = lpl_local_process_results(local, i, policy, &count);
		const struct lpl_runner *process = lpl_local_process(local, i);

		assert_int_equal(count, 1);
		if (taken[i] || process->id != owner->tgid || strcmp(process->name, owner->name) != 0 ||
		    result->size != frames_by_definition(owner) || !result->exact ||
		    process->references != wanted->references ||
		    result->references != wanted->references || result->faults != wanted->faults ||
		    result->evictions != wanted->evictions ||
		    result->dirty_evictions != wanted->dirty_evictions ||
		    lpl_local_process_cold(local, i) != cold)
			continue;
		taken[i] = true;
		return true;
	}
	return false;
}

static void frames_expect(const struct lpl_local *local, const struct machine *m, size_t policy, int number)
{
	bool *taken = calloc(m->processes, sizeof(*taken));
	struct counts sum = { 0 };
	const struct lpl_result *all;
	size_t count;

	assert_non_null(taken);
	for (size_t i = 0; i < m->processes; i++) {
		const uint64_t size = frames_by_definition(&m->owner[i]);
		struct counts wanted;
		struct trace trace;

		trace_of(&m->part[i], &trace);
		wanted = policy == 1 ? oracle_opt(&trace, size) : oracle_lru(&trace, size);
		sum.faults += wanted.faults;
		sum.evictions += wanted.evictions;
		sum.dirty_evictions += wanted.dirty_evictions;
		/* a memory that holds everything has no faults but cold ones */
		if (trace.count != 0 && !was_kept(local, policy, &m->owner[i], &wanted,
						  oracle_lru(&trace, PAGES).faults, taken))
			fail_msg("seed %" PRIu64 " case %d: policy %zu: process %" PRIu32 " '%s' in %"
				 PRIu64 " pages: %" PRIu64 " faults of %" PRIu64 " are not there", seed,
				 number, policy, m->owner[i].tgid, m->owner[i].name, size, wanted.faults,
				 wanted.references);
		trace_free(&trace);
	}
	all = lpl_local_results(local, policy, &count);
	assert_int_equal(count, 1);
	assert_int_equal(all->size, 0);
	assert_int_equal(all->faults, sum.faults);
	assert_int_equal(all->evictions, sum.evictions);
	assert_int_equal(all->dirty_evictions, sum.dirty_evictions);
	free(taken);
}

static void frames_by_process(void **state)
{
	struct machine m = { .random = { seed } };

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct lpl_local *local;

		run_machine(&m, 150);
		assert_int_equal(lpl_local_open(&local, NULL, 0, NULL), LPL_OK);
		assert_int_equal(lpl_local_frames(local, FRAMES, NULL), LPL_OK);
		assert_int_equal(lpl_local_add(local, "lru", NULL, NULL), LPL_OK);
		assert_int_equal(lpl_local_add(local, "opt", NULL, NULL), LPL_OK);
		lpl_local_keep(local);
		assert_int_equal(stream_send(&m.all, lpl_local_sink(local), 7, NULL), LPL_OK);
		frames_expect(local, &m, 0, i);
		frames_expect(local, &m, 1, i);
		assert_non_null(lpl_local_frames_unused(local, 0));
		lpl_local_close(local);
		machine_free(&m);
	}
}

static void frames_refuse(void **state)
{
	static const char *const wrong[] = {
		"", "gzip", "gzip=4", "gzip=4,*", "=4,*=4", "gzip=,*=4", "gzip=0,*=4", "gzip=x,*=4",
		"gzip=4,gzip=5,*=1", "7=1,07=2,*=4", "*=4,*=5", "gzip=10%,*=4", "gzip=1:4:1,*=4",
		"gzip=all,*=4", "gzip=100K,*=4000", "gzip=4,,*=4", "gzip=1K,*=4", "*=18446744073709551616"
	};
	struct lpl_sizes sizes = { 0 };
	struct lpl_local *local;

	(void)state;
	assert_int_equal(lpl_local_open(&local, NULL, 65536, NULL), LPL_OK);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lpl_report report = { 0 };
		const bool right = strcmp(wrong[i], "gzip=100K,*=4000") == 0;	/* a page of 64K */

		if (lpl_local_frames(local, wrong[i], &report) != (right ? LPL_OK : LPL_ERR_USAGE))
			fail_msg("frames '%s': %s", wrong[i], report.text);
	}
	assert_int_equal(lpl_local_frames(local, "a=b=4,*=4", NULL), LPL_OK);
	assert_int_equal(lpl_sizes_parse(&sizes, "3", NULL), LPL_OK);
	assert_int_equal(lpl_local_add(local, "lru", &sizes, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "ws", NULL, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "vmin", NULL, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "lru", NULL, NULL), LPL_OK);
	assert_int_equal(lpl_local_sink(local)->finish(lpl_local_sink(local), NULL), LPL_OK);
	assert_string_equal(lpl_local_frames_unused(local, 0), "a=b");
	assert_null(lpl_local_frames_unused(local, 1));
	lpl_sizes_free(&sizes);
	lpl_local_close(local);
}

static void local_refuses(void **state)
{
	struct lpl_sizes sizes = { 0 }, all = { .all = true };
	struct stream in = { 0 };
	struct lpl_local *local;
	struct lpl_ref program = { .ref = 1, .address = 0x1000, .flags = LPL_USER };
	size_t count;

	(void)state;
	assert_int_equal(lpl_local_open(&local, "lrubs:8", 0, NULL), LPL_ERR_USAGE);
	assert_null(local);
	assert_int_equal(lpl_local_open(&local, "sad:8", 0, NULL), LPL_OK);
	assert_int_equal(lpl_sizes_parse(&sizes, "3", NULL), LPL_OK);
	assert_int_equal(lpl_local_add(local, "ws", NULL, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "vmin", &all, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "lru", &all, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "lru", NULL, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_add(local, "magic", &sizes, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_local_count(local), 0);
	assert_int_equal(lpl_local_add(local, "clock", &sizes, NULL), LPL_OK);
	lpl_sizes_free(&sizes);
	/* no event says which task made this one */
	stream_add_ref(&in, &program);
	assert_int_equal(stream_send(&in, lpl_local_sink(local), 1, NULL), LPL_OK);
	assert_int_equal(lpl_local_unknown(local), 1);
	assert_false(lpl_local_results(local, 0, &count)[0].exact);
	assert_int_equal(lpl_local_results(local, 0, &count)[0].faults, 1);
	lpl_local_close(local);
	lpl_local_close(NULL);
	stream_free(&in);
}

/* One reference to page 7 in user mode; 1 when it counts for no process. */
static uint64_t unattributed(struct lpl_local *local, uint64_t number)
{
	const struct lpl_ref ref = { .ref = number, .address = 7 << LPL_PAGE_SHIFT,
				     .flags = LPL_USER };
	const uint64_t before = lpl_local_unknown(local);
	struct lpl_sink *sink = lpl_local_sink(local);

	assert_int_equal(sink->refs(sink, &ref, 1, NULL), LPL_OK);
	return lpl_local_unknown(local) - before;
}

static void send_event(struct lpl_local *local, const struct lpl_event *event)
{
	struct lpl_sink *sink = lpl_local_sink(local);

	assert_int_equal(sink->event(sink, event, NULL), LPL_OK);
}

/*
 * Where events are missing, a switch may be among them: from there on it is not known what runs
 * (docs/merging.md), until an event says.  Where references alone are missing it is known.
 */
static void local_after_a_gap(void **state)
{
	const struct lpl_event create = { .tag = KTR_TASK_CREATE, .arg = { 1, 1, 100 } };
	const struct lpl_event switched = { .tag = KTR_SCHEDULE, .arg = { 0, 0, 1, 1 } };
	const struct lpl_event mark = { .tag = KTR_MARK, .tid = 1, .tgid = 1 };
	const struct lpl_event no_event_lost = { .tag = LPL_EVENT_GAP, .arg = { 9, 0 } };
	const struct lpl_event lost[] = {
		{ .tag = LPL_EVENT_GAP, .arg = { 0, 1 } },
		{ .tag = LPL_EVENT_GAP, .arg = { KTR_NONE, KTR_NONE } },
	};
	struct lpl_sizes sizes = { 0 };
	struct lpl_local *local;
	uint64_t number = 0;
	size_t count;

	(void)state;
	assert_int_equal(lpl_local_open(&local, NULL, 0, NULL), LPL_OK);
	assert_int_equal(lpl_sizes_parse(&sizes, "3", NULL), LPL_OK);
	assert_int_equal(lpl_local_add(local, "lru", &sizes, NULL), LPL_OK);
	lpl_sizes_free(&sizes);
	send_event(local, &create);
	send_event(local, &switched);
	assert_int_equal(unattributed(local, ++number), 0);
	send_event(local, &no_event_lost);
	assert_int_equal(unattributed(local, ++number), 0);
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		send_event(local, &lost[i]);
		assert_int_equal(unattributed(local, ++number), 1);
		assert_int_equal(unattributed(local, ++number), 1);
		/* it says what runs: the task that was known, in the process it was */
		send_event(local, &mark);
		assert_int_equal(unattributed(local, ++number), 0);
	}
	assert_int_equal(lpl_local_sink(local)->finish(lpl_local_sink(local), NULL), LPL_OK);
	/* one page, in the memory of the process and in that of the kernel */
	assert_int_equal(lpl_local_processes(local), 2);
	assert_int_equal(lpl_local_results(local, 0, &count)[0].references, number);
	assert_int_equal(lpl_local_results(local, 0, &count)[0].faults, 2);
	lpl_local_close(local);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_by_definition),
		cmocka_unit_test(kinds_refuse),
		cmocka_unit_test(local_by_definition),
		cmocka_unit_test(frames_by_process),
		cmocka_unit_test(frames_refuse),
		cmocka_unit_test(local_refuses),
		cmocka_unit_test(local_after_a_gap),
	};

	seed = random_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
