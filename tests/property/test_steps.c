/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps against references: a stream that code of loops makes, written as blocks in many chunks, is simulated from
 * its references, which test_sim and others compare with the papers, and from the file as steps, or as
 * both in turn.  Every result has to be the same.
 *
 * The code refers to the same pages mostly, so that patterns come again, but pointers move, spaces
 * and processes switch, page tables are walked, an instruction crosses pages, and instructions are left out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <laplace/repair.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "../unit/scratch.h"

enum { REFS = 12000, CODES = 14, POINTERS = 10, CASES = 60, ROOM = 64 };

struct code {
	uint64_t address;
	unsigned int count, length;	/* of instructions, each of that length */
};

struct guest {
	uint64_t random;
	struct code code[CODES];
	uint64_t pointer[POINTERS];
	unsigned int pages;		/* that pointers move among */
	uint64_t space, instr;
	size_t chunk;			/* references in one */
	struct lpl_ref ref[REFS + ROOM];
	size_t refs;
	size_t event[REFS];		/* references before each */
	size_t events;
};

static uint64_t dice(struct guest *guest, uint64_t sides)
{
	guest->random ^= guest->random << 13;
	guest->random ^= guest->random >> 7;
	guest->random ^= guest->random << 17;
	return guest->random % sides;
}

static void put(struct guest *guest, enum lpl_type type, uint64_t address, unsigned int length, unsigned int flags)
{
	struct lpl_ref *ref = &guest->ref[guest->refs++];

	*ref = (struct lpl_ref){
		.ref = guest->refs, .instr = guest->instr, .cycle = guest->instr + 7, .address = address,
		.space = type >= LPL_WALK_READ ? 0 : guest->space, .type = (uint8_t)type,
		.length = (uint16_t)length, .flags = (uint8_t)flags
	};
}

static void fetch(struct guest *guest, uint64_t address, unsigned int length)
{
	const unsigned int left = 4096 - (unsigned int)(address % 4096);

	put(guest, LPL_FETCH, address, length < left ? length : left, 0);
	if (length > left)
		put(guest, LPL_FETCH, address + left, length - left, LPL_SECOND);
}

static void execute(struct guest *guest, unsigned int number)
{
	const struct code *code = &guest->code[number];

	for (unsigned int i = 0; i < code->count && guest->refs + 8 < REFS; i++) {
		unsigned int data = (number + i) % 3;

		if (dice(guest, 60) == 0)
			break;
		fetch(guest, code->address + (uint64_t)i * code->length, code->length);
		for (; data > 0 && dice(guest, 25); data--) {
			uint64_t *at = &guest->pointer[(number * 5 + i * 3 + data) % POINTERS];
			const bool write = (number + i + data) % 4 == 0 || dice(guest, 60) == 0;

			if (dice(guest, 40) == 0)
				put(guest, write ? LPL_WALK_WRITE : LPL_WALK_READ, dice(guest, 6) << 12, 8, 0);
			if (dice(guest, 20) == 0)
				*at = 0x10000000 + dice(guest, guest->pages) * 4096 + dice(guest, 500) * 8;
			if (number % 2)
				*at = (*at & ~UINT64_C(4095)) | ((*at + 8) & 4088);
			put(guest, write ? LPL_WRITE : LPL_READ, *at, 8, 0);
		}
		guest->instr++;
	}
}

/* An instruction that copies from page to page, or back and forth, until it is interrupted; what is beside it may be written before. */
static void copy(struct guest *guest)
{
	const uint64_t from = 0x10000000 + dice(guest, guest->pages) * 4096;
	const uint64_t to = dice(guest, 2) ? guest->pointer[dice(guest, POINTERS)] : from + dice(guest, 3) * 4096;
	const enum lpl_type type = dice(guest, 4) ? LPL_WRITE : LPL_READ, other = dice(guest, 4) ? LPL_READ : LPL_WRITE;

	fetch(guest, guest->code[0].address, 2);
	if (dice(guest, 3) == 0)
		put(guest, LPL_WRITE, from ^ 4096, 8, 0);
	for (uint64_t times = 1 + dice(guest, 60); times > 0 && guest->refs + 8 < REFS; times--) {
		put(guest, other, from, 8, 0);
		put(guest, type, to, 8, 0);
		guest->instr++;
	}
}

static void play(struct guest *guest, uint64_t seed)
{
	memset(guest, 0, sizeof(*guest));
	guest->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	guest->pages = 5 + (unsigned int)dice(guest, 200);
	guest->chunk = 150 + dice(guest, 8) * 400;
	guest->space = 1;
	guest->instr = 1;
	for (unsigned int i = 0; i < CODES; i++)
		guest->code[i] = (struct code){ 0x400000 + dice(guest, 6) * 4096 + dice(guest, 1000),
						1 + (unsigned int)dice(guest, 9), 2 + (unsigned int)dice(guest, 5) };
	guest->code[3] = (struct code){ 0x402ffd, 1, 6 };
	for (unsigned int i = 0; i < POINTERS; i++)
		guest->pointer[i] = 0x20000000 + i / 2 * UINT64_C(4096);
	while (guest->refs + 8 < REFS) {
		const unsigned int loop = (unsigned int)dice(guest, CODES), length = 1 + (unsigned int)dice(guest, 4);

		for (uint64_t times = 1 + dice(guest, 20); times > 0; times--)
			for (unsigned int i = 0; i < length; i++)
				execute(guest, (loop + i) % CODES);
		if (dice(guest, 2) == 0)
			copy(guest);
		if (dice(guest, 12) == 0)
			guest->space = 1 + dice(guest, 3);
		if (dice(guest, 8) == 0)
			guest->event[guest->events++] = guest->refs;
	}
}

static void check(enum lpl_error error, const struct lpl_report *report)
{
	if (error != LPL_OK)
		fail_msg("%s", report->text);
}

/* The stream to a sink, with its events. */
static void send(const struct guest *guest, struct lpl_sink *sink)
{
	struct lpl_report report = { .error = LPL_OK };
	size_t from = 0;

	for (size_t i = 0; i <= guest->events; i++) {
		const size_t to = i < guest->events ? guest->event[i] : guest->refs;

		if (to > from)
			check(sink->refs(sink, &guest->ref[from], to - from, &report), &report);
		if (i < guest->events) {
			const struct lpl_ref *last = &guest->ref[to - 1];
			const struct lpl_event event = { .tag = KTR_MARK, .ref = last->ref, .instr = last->instr,
							 .cycle = last->cycle };

			check(sink->event(sink, &event, &report), &report);
		}
		from = to;
	}
	check(sink->finish(sink, &report), &report);
}

static void write_trace(const struct guest *guest)
{
	const struct lpl_writer_options options = { .chunk_refs = guest->chunk, .blocks = true };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_writer *writer;

	assert_non_null(meta);
	check(lpl_writer_open(&writer, in_directory("steps.lpl"), meta, &options, true, &report), &report);
	send(guest, lpl_writer_sink(writer));
	check(lpl_writer_close(writer, &report), &report);
	lpl_meta_free(meta);
}

struct asked {
	const char *policy[3], *sizes[3];
	uint64_t page_size;
	unsigned int jobs;
};
/* Alone: windows, a stack, hits that settle, visits.  Sizes around the least for which windows are of use. */
static const struct asked asked[] = {
	{ { "lru" }, { "16,17,40,100" }, 4096, 1 }, { { "lru" }, { "15" }, 4096, 1 },
	{ { "lru" }, { "all" }, 4096, 1 }, { { "lru" }, { "1,2,3,6,40" }, 4096, 2 }, { { "lru" }, { "all" }, 16384, 2 },
	{ { "lru" }, { "1,2,3" }, 65536, 1 }, { { "lru" }, { "all" }, 2097152, 1 },
	{ { "lru" }, { "30" }, 4096, 1 }, { { "opt" }, { "16,20,64" }, 4096, 1 },
	{ { "lru", "opt" }, { "20,33", "18,70" }, 4096, 2 }, { { "lru", "opt" }, { "all", "all" }, 4096, 1 },
	{ { "clock" }, { "3" }, 4096, 1 }, { { "clock" }, { "20" }, 4096, 1 }, { { "clock" }, { "60" }, 4096, 2 },
	{ { "clock", "fifo", "random" }, { "1,2,8,30", "3,25", "9" }, 4096, 2 }, { { "clock" }, { "4:60:4" }, 4096, 1 },
	{ { "fifo" }, { "25" }, 4096, 1 }, { { "random" }, { "25" }, 4096, 1 }, { { "sieve" }, { "25" }, 4096, 1 },
	{ { "seq:length=2:distance=1:faults=2" }, { "25" }, 4096, 1 },
	{ { "clock", "fifo", "lru" }, { "8,30", "30", "30" }, 4096, 2 }, { { "arc", "lirs" }, { "24", "24" }, 4096, 1 },
	{ { "lru" }, { "16" }, 16384, 1 }, { { "clock" }, { "12" }, 16384, 1 }, { { "opt" }, { "17" }, 65536, 1 },
};

static struct lpl_simulator *open_simulator(const struct asked *what)
{
	const struct lpl_simulator_options options = { .jobs = what->jobs, .page_size = what->page_size };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_simulator *simulator;

	check(lpl_simulator_open(&simulator, &options, &report), &report);
	for (size_t i = 0; i < 3 && what->policy[i]; i++) {
		struct lpl_sizes sizes;

		check(lpl_sizes_parse(&sizes, what->sizes[i], &report), &report);
		check(lpl_simulator_add(simulator, what->policy[i], &sizes, &report), &report);
		lpl_sizes_free(&sizes);
	}
	return simulator;
}

/* How much it shows: steps to patterns that were there, and visits that come again. */
struct shown {
	uint64_t steps, visits;
};

/* From the file: chunks as steps; with `both`, some of them as references, which another reader has. */
static void simulate_file(struct guest *guest, struct lpl_simulator *simulator, bool both, struct shown *shown)
{
	struct lpl_sink *sink = lpl_simulator_sink(simulator);
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count, done = 0;
	bool stepping = true;
	uint32_t known = 0;

	assert_true(lpl_simulator_steps(simulator));
	check(lpl_reader_open(&reader, in_directory("steps.lpl"), &report), &report);
	lpl_reader_step(reader);
	for (;;) {
		const struct lpl_page_steps *steps;

		check(lpl_reader_next(reader, &refs, &count, &event, &report), &report);
		if (count == 0 && !event)
			break;
		steps = lpl_reader_stepped(reader);
		assert_int_equal(steps != NULL, count > 0);
		if (steps) {
			assert_null(refs);
			assert_int_equal(steps->refs, count);
			known = steps->afresh ? 0 : known;
			if (steps->afresh)
				stepping = !both || dice(guest, 2);
			for (size_t i = 0; i < steps->count; i++) {
				const struct lpl_pattern *pattern = &steps->pattern[steps->step[i]];

				shown->steps += steps->step[i] < known;
				known = steps->step[i] == known ? known + 1 : known;
				for (uint32_t j = 0; j < pattern->visits; j++)
					shown->visits += steps->visit[pattern->visit + j].again;
			}
			check(stepping ? lpl_simulator_step(simulator, steps, &report) :
			      sink->refs(sink, &guest->ref[done], count, &report), &report);
			done += count;
		}
		if (event)
			check(sink->event(sink, event, &report), &report);
	}
	assert_int_equal(done, guest->refs);
	assert_true(lpl_reader_complete(reader));
	check(sink->finish(sink, &report), &report);
	lpl_reader_close(reader);
}

static void compare(const struct lpl_simulator *one, const struct lpl_simulator *other, const char *what, int seed)
{
	assert_int_equal(lpl_simulator_pages(one), lpl_simulator_pages(other));
	for (size_t i = 0; i < lpl_simulator_count(one); i++) {
		size_t count, others;
		const struct lpl_result *a = lpl_simulator_results(one, i, &count);
		const struct lpl_result *b = lpl_simulator_results(other, i, &others);

		assert_int_equal(count, others);
		for (size_t j = 0; j < count; j++)
			if (a[j].size != b[j].size || a[j].references != b[j].references || a[j].faults != b[j].faults ||
			    a[j].evictions != b[j].evictions || a[j].dirty_evictions != b[j].dirty_evictions ||
			    a[j].exact != b[j].exact)
				fail_msg("seed %d, %s, size %llu: %llu faults, %llu dirty evictions; as steps %llu, %llu",
					 seed, what, (unsigned long long)a[j].size, (unsigned long long)a[j].faults,
					 (unsigned long long)a[j].dirty_evictions, (unsigned long long)b[j].faults,
					 (unsigned long long)b[j].dirty_evictions);
	}
}

static void steps_are_references(void **state)
{
	static struct guest guest;
	struct shown shown = { 0 };

	(void)state;
	for (int seed = 1; seed <= CASES; seed++) {
		play(&guest, (uint64_t)seed);
		write_trace(&guest);
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			struct lpl_simulator *plain, *stepped;

			if ((size_t)seed % 3 != i % 3)
				continue;
			plain = open_simulator(&asked[i]);
			stepped = open_simulator(&asked[i]);
			send(&guest, lpl_simulator_sink(plain));
			simulate_file(&guest, stepped, seed % 4 == 3, &shown);
			compare(plain, stepped, asked[i].policy[0], seed);
			lpl_simulator_close(stepped);
			lpl_simulator_close(plain);
		}
	}
	assert_in_range(shown.steps, 100000, UINT64_MAX);	/* most of what the guest does */
	assert_in_range(shown.visits, 100000, UINT64_MAX);
}

/* What they do not do for is refused. */
static void not_for_all(void **state)
{
	static const struct asked timed = { { "ws" }, { "10" }, 4096, 1 }, finer = { { "lru" }, { "16" }, 64, 1 };
	struct lpl_simulator *simulator = open_simulator(&timed);
	struct lpl_report report = { .error = LPL_OK };

	(void)state;
	assert_false(lpl_simulator_steps(simulator));
	lpl_simulator_close(simulator);
	simulator = open_simulator(&finer);
	assert_false(lpl_simulator_steps(simulator));
	assert_int_equal(lpl_simulator_step(simulator, &(struct lpl_page_steps){ .count = 0 }, &report), LPL_ERR_USAGE);
	lpl_simulator_close(simulator);
}

/* So many that its ops are not kept, either (codec/block_decode.h). */
enum { LONG = 5 << 19, SHORT = 1000 };

/*
 * One instruction that reads, again and again: first from another page each time, a whole chunk of that.  At the chunk's end,
 * when what it began with is no longer kept, the code goes on to a second one.
 */
static struct lpl_ref repeated(size_t i)
{
	const uint64_t data = UINT64_C(0x10000000) + (i < LONG ? i / 2 * 4096 : 0);
	const uint64_t code = UINT64_C(0x400000) + (i < LONG && i >= LONG - 100 && i / 2 % 2 != 0 ? 4 : 0);

	return (struct lpl_ref){
		.ref = i + 1, .instr = i / 2 + 1, .cycle = i / 2 + 8, .space = 1, .length = 4,
		.address = i % 2 == 0 ? code : data, .type = i % 2 == 0 ? LPL_FETCH : LPL_READ
	};
}

static void is_repeated(const struct lpl_ref *refs, size_t count, size_t before)
{
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref ref = repeated(before + i);

		assert_memory_equal(&refs[i], &ref, sizeof(ref));
	}
}

/* A chunk of which the steps would be as long as its references comes as these; and so it does without steps. */
static void not_without_end(void **state)
{
	const struct lpl_writer_options options = { .chunk_refs = LONG, .blocks = true };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	size_t count, plain = 0, stepped = 0;
	struct lpl_repaired repaired;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	struct lpl_writer *writer;
	struct lpl_sink *sink;

	(void)state;
	assert_non_null(meta);
	check(lpl_writer_open(&writer, in_directory("long.lpl"), meta, &options, true, &report), &report);
	sink = lpl_writer_sink(writer);
	for (size_t i = 0; i < LONG + SHORT; i++) {
		const struct lpl_ref ref = repeated(i);

		check(sink->refs(sink, &ref, 1, &report), &report);
	}
	check(sink->finish(sink, &report), &report);
	check(lpl_writer_close(writer, &report), &report);
	lpl_meta_free(meta);

	check(lpl_reader_open(&reader, in_directory("long.lpl"), &report), &report);
	lpl_reader_step(reader);
	for (;;) {
		check(lpl_reader_next(reader, &refs, &count, &event, &report), &report);
		if (count == 0)
			break;
		if (lpl_reader_stepped(reader)) {
			stepped += count;
			continue;
		}
		is_repeated(refs, count, plain);
		plain += count;
	}
	assert_int_equal(plain, LONG);
	assert_int_equal(stepped, SHORT);
	assert_true(lpl_reader_complete(reader));
	lpl_reader_close(reader);

	check(lpl_reader_open(&reader, in_directory("long.lpl"), &report), &report);
	lpl_reader_compare_hash(reader);
	for (plain = 0; plain < LONG + SHORT; plain += count) {
		check(lpl_reader_next(reader, &refs, &count, &event, &report), &report);
		assert_int_not_equal(count, 0);
		is_repeated(refs, count, plain);
	}
	lpl_reader_close(reader);

	check(lpl_repair(in_directory("long.lpl"), &(struct lpl_repair_options){ .output = NULL }, &repaired, &report), &report);
	assert_int_equal(repaired.losses, 0);
	assert_int_equal(repaired.refs, LONG + SHORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_references), cmocka_unit_test(not_for_all),
		cmocka_unit_test(not_without_end)
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
