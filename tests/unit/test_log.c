/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of every reference: the trace has to hold the stream of a made-up processor, which
 * logs what it does as a simulator would, and says by itself, from docs/references.md, which
 * references that makes.  Built with ThreadSanitizer where the compiler has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "codec/block_expand.h"
#include "collect/log.h"
#include "sender.h"

#define TRACES 60
#define JUMPS 4096

/* ---- a processor ---- */

struct code {
	uint64_t address;
	unsigned count;
	uint8_t length[LPL_LOG_INSTRUCTIONS];
	uint32_t id;
};

struct processor {
	struct lpl_log *log;
	struct stream done;		/* what it did */
	uint64_t random;
	uint64_t instr, space, refs, tracer_refs;
	bool user, recording, suppressed;
	struct {			/* of the cycle counter, oldest first */
		uint64_t instr, offset;
	} jump[JUMPS];
	unsigned jumps;
	struct code code[TRACES];
};

static uint64_t dice(struct processor *p, uint64_t sides)
{
	return next_random(&p->random) % sides;
}

static uint64_t cycle_of(const struct processor *p, uint64_t instr)
{
	for (unsigned i = p->jumps; i-- > 0;)
		if (p->jump[i].instr <= instr)
			return instr + p->jump[i].offset;
	return instr;
}

/* The next reference of the stream. */
static void refers(struct processor *p, enum lpl_type type, uint64_t address, unsigned length,
		   bool second, bool supervisor)
{
	const bool walk = type == LPL_WALK_READ || type == LPL_WALK_WRITE;

	if (!p->recording)
		return;
	if (p->suppressed) {		/* an instruction counts once, a walk not at all */
		p->tracer_refs += !walk && !(type == LPL_FETCH && second);
		return;
	}
	stream_add(&p->done)->ref = (struct lpl_ref){
		.ref = ++p->refs, .instr = p->instr, .cycle = cycle_of(p, p->instr),
		.address = address, .space = walk ? 0 : p->space, .type = (uint8_t)type,
		.flags = (uint8_t)((p->user && !supervisor && !walk ? LPL_USER : 0) |
				   (second ? LPL_SECOND : 0)),
		.length = (uint16_t)length,
	};
}

static struct lpl_log_time now(const struct processor *p, bool executing)
{
	return (struct lpl_log_time){ p->instr, executing };
}

/* ---- what it does, and logs ---- */

static uint64_t any_address(struct processor *p)
{
	return (uint64_t)((int64_t)(next_random(&p->random) << (16 + dice(p, 30))) >> 16);
}

static void data(struct processor *p, bool supervisor)
{
	static const uint8_t lengths[] = { 1, 2, 4, 8, 16, 10, 32, 3, 64, 15 };
	const unsigned length = lengths[dice(p, 10)];
	const uint64_t address = any_address(p);
	const bool write = dice(p, 2), second = dice(p, 16) == 0;
	const unsigned top = (write ? LPL_LOG_WRITE : 0) | (second ? LPL_LOG_SECOND : 0) |
			     (supervisor && p->user ? LPL_LOG_SUPERVISOR : 0);

	if (lpl_log_length(length) == LPL_LOG_LONG || dice(p, 2))
		lpl_log_data(p->log, p->instr, address, length, top);
	else
		lpl_log_word(p->log, address, p->instr,
			     LPL_LOG_DATA | lpl_log_length(length) | top);
	refers(p, write ? LPL_WRITE : LPL_READ, address, length, second, supervisor);
}

static void some_data(struct processor *p, unsigned most)
{
	for (unsigned i = (unsigned)dice(p, most); i > 0; i--)
		data(p, dice(p, 8) == 0);
}

static void mode(struct processor *p, bool executing, bool user)
{
	p->user = user;
	lpl_log_mode(p->log, now(p, executing), user);
}

static void walk(struct processor *p)
{
	const uint64_t physical = next_random(&p->random) >> 20;
	const bool write = dice(p, 2);
	const unsigned flags = (unsigned)dice(p, 4) * LPL_FOR_READ;

	if (!p->recording || p->suppressed)
		return;
	lpl_log_walk(p->log, p->instr, physical, 8, write, flags);
	refers(p, write ? LPL_WALK_WRITE : LPL_WALK_READ, physical, 8, false, false);
	p->done.items[p->done.count - 1].ref.flags = (uint8_t)flags;
}

/* The cycle counter jumps, from the instruction `instr` on. */
static void jump(struct processor *p, uint64_t instr, uint64_t by)
{
	uint64_t offset = p->jumps ? p->jump[p->jumps - 1].offset + by : by;

	lpl_log_offset(p->log, p->instr, instr, offset);
	if (p->jumps == JUMPS) {
		p->jumps = JUMPS / 2;
		memmove(p->jump, p->jump + JUMPS / 2, JUMPS / 2 * sizeof(p->jump[0]));
	}
	p->jump[p->jumps].instr = instr;
	p->jump[p->jumps++].offset = offset;
}

static void fast_string(struct processor *p)
{
	const struct lpl_log_string s = {
		any_address(p) / 0x10000 * 0x10000 + 0x4000, any_address(p) / 0x10000 * 0x10000 +
		0x4000, (uint16_t)(1 + dice(p, dice(p, 20) ? 40 : 4096)),
		(uint16_t)(1 << dice(p, 4)), (int16_t)(dice(p, 2) ? 2 : -2), dice(p, 2), true
	};

	lpl_log_string(p->log, p->instr, &s);
	for (unsigned i = 0; i < s.count; i++) {
		const uint64_t by = (uint64_t)((int64_t)s.step * (int64_t)i);

		if (s.reads)
			refers(p, LPL_READ, s.source + by, s.width, false, false);
		refers(p, LPL_WRITE, s.destination + by, s.width, false, false);
	}
	jump(p, p->instr + 1, s.count - 1U);
}

static void event(struct processor *p, bool executing)
{
	struct kernel_trace_record record = { .size = sizeof(record) };
	struct item *item = stream_add(&p->done);

	item->is_event = true;
	random_event(&item->event, &p->random);
	item->event.ref = p->refs;
	item->event.instr = p->instr;
	item->event.cycle = cycle_of(p, p->instr);
	record.tag = item->event.tag;
	record.tid = item->event.tid;
	record.tgid = item->event.tgid;
	record.space = item->event.space;
	record.text_length = item->event.text_length;
	memcpy(record.arg, item->event.arg, sizeof(record.arg));
	memcpy(record.text, item->event.text, record.text_length);
	lpl_log_event(p->log, now(p, executing), &record);
}

static void switch_recording(struct processor *p, bool executing)
{
	if (!p->recording || (p->suppressed && dice(p, 4))) {
		p->recording = true;
		lpl_log_switch(p->log, now(p, executing),
			       p->suppressed ? LPL_LOG_RESUME : LPL_LOG_ON);
		p->suppressed = false;
	} else if (dice(p, 4)) {
		p->suppressed = true;
		lpl_log_switch(p->log, now(p, executing), LPL_LOG_SUPPRESS);
	} else if (!p->suppressed) {
		p->recording = false;
		lpl_log_switch(p->log, now(p, executing), LPL_LOG_OFF);
	}
}

/* The frame of an interrupt, or of an exception. */
static void deliver(struct processor *p, bool executing)
{
	mode(p, executing, false);
	some_data(p, 8);
	if (dice(p, 2))
		mode(p, executing, true);
}

static void repeat(struct processor *p)
{
	const bool evenly = dice(p, 10) == 0;	/* as most do, and more often than a block's counts go */

	for (uint64_t times = dice(p, 20) && !evenly ? dice(p, 5) : dice(p, 1000); times > 0; times--) {
		lpl_log_repeat(p->log, p->instr++);
		if (evenly)
			data(p, false);
		else if (dice(p, 3))
			some_data(p, 3);
		else
			fast_string(p);
	}
}

/* One instruction; false: its trace ends with it. */
static bool execute(struct processor *p, uint64_t address, unsigned length)
{
	const unsigned here = 0x1000 - (unsigned)(address & 0xfff);

	refers(p, LPL_FETCH, address, length > here ? here : length, false, false);
	if (length > here)
		refers(p, LPL_FETCH, address + here, length - here, true, false);
	some_data(p, 4);
	switch (dice(p, 60)) {
	case 0:
		fast_string(p);
		break;
	case 1:
		repeat(p);
		break;
	case 2:
		mode(p, true, !p->user);
		break;
	case 3:
		p->space = next_random(&p->random) >> 18 >> dice(p, 40);
		lpl_log_space(p->log, now(p, true), p->space);
		break;
	case 4:
		walk(p);
		break;
	case 5:
		event(p, true);
		break;
	case 6:
		switch_recording(p, true);
		break;
	case 7:			/* an exception counts as an instruction, here as this one */
		deliver(p, true);
		p->instr++;
		return false;
	default:
		break;
	}
	some_data(p, 2);
	p->instr++;
	return true;
}

static void between(struct processor *p)
{
	switch (dice(p, 30)) {
	case 0:
		lpl_log_between(p->log, p->instr);
		deliver(p, false);
		break;
	case 1:			/* an exception that meets no fetched instruction */
		lpl_log_between(p->log, p->instr);
		deliver(p, false);
		p->instr++;
		break;
	case 2:
		lpl_log_between(p->log, p->instr);
		walk(p);
		break;
	case 3:			/* a halt */
		jump(p, p->instr, dice(p, 100000));
		break;
	case 4:
		switch_recording(p, false);
		break;
	case 5:
		if (dice(p, 20) == 0)	/* each writes to the disk */
			lpl_log_flush(p->log, now(p, false));
		break;
	default:
		break;
	}
}

static void run_trace(struct processor *p, struct code *c)
{
	unsigned count = dice(p, 3) ? c->count : (unsigned)dice(p, c->count + 1);
	uint64_t address = c->address;

	if (!lpl_log_knows(p->log, c->id, c->address)) {
		bool forgot;

		lpl_log_room_for_trace(p->log, p->instr);
		c->id = lpl_log_define(p->log, p->instr, c->address, c->count, c->length, &forgot);
		assert_int_not_equal(c->id, 0);
		assert_false(forgot);
	}
	lpl_log_word(p->log, c->id, p->instr, LPL_LOG_TRACE);
	for (unsigned i = 0; i < count && execute(p, address, c->length[i]); i++)
		address += c->length[i];
}

/* Straight code on one page; or an instruction that crosses into the next. */
static void make_code(struct processor *p, struct code *c)
{
	unsigned room = 0x1000;

	*c = (struct code){ .address = any_address(p) / 0x1000 * 0x1000 };
	if (dice(p, 10) == 0) {
		c->address += 0x1000 - 1 - dice(p, 14);
		c->count = 1;
		c->length[0] = 15;
		return;
	}
	c->address += dice(p, 0x1000 - 15);
	room -= c->address & 0xfff;
	for (unsigned most = 1 + (unsigned)dice(p, LPL_LOG_INSTRUCTIONS); c->count < most;) {
		uint8_t length = (uint8_t)(1 + dice(p, 15));

		if (length > room)
			break;
		room -= length;
		c->length[c->count++] = length;
	}
}

static void start_processor(struct processor *p, struct lpl_log *log, uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->log = log;
	p->random = seed;
	stream_init(&p->done);
	log->base = 0;			/* addresses are logged as they are */
	for (unsigned i = 0; i < TRACES; i++)
		make_code(p, &p->code[i]);
}

/* ---- the collector's side ---- */

static void every_reference_is_that_of_the_processor(void **state)
{
	struct processor *p = malloc(sizeof(*p));

	(void)state;
	assert_non_null(p);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		/* to the writer as runs; to reducers, which do nothing, as references */
		struct lpl_collector *collector = start(seed % 2 ? "none" : "none+none",
							in_directory("log.lpl"),
							LPL_STAGE_FILE, -1);
		struct lpl_log log;
		struct trace trace;

		assert_true(lpl_log_open(&log, lpl_collector_ring(collector)));
		start_processor(p, &log, seed);
		for (unsigned i = 0; i < (seed % 10 ? 200 : 3000); i++) {
			between(p);
			run_trace(p, &p->code[dice(p, TRACES)]);
		}
		assert_false(log.failed);
		lpl_log_flush(&log, now(p, false));
		finish(collector);
		lpl_log_close(&log);
		read_trace(&trace, in_directory("log.lpl"));
		assert_same(&p->done, &trace.stream, seed);
		assert_int_equal(trace.totals.total, p->refs);
		assert_int_equal(trace.totals.tracer_refs, p->tracer_refs);
		stream_free(&p->done);
		stream_free(&trace.stream);
	}
	free(p);
}

/* Where a collector is that was sent what this processor does: one that writes it as a segment, or counts it. */
static void go_to_its_end(enum lpl_pass pass, uint64_t seed, struct lpl_resume_point *point)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct processor *p = malloc(sizeof(*p));
	const bool writes = pass == LPL_PASS_SEGMENT;
	struct lpl_collector_status status;
	struct lpl_collector *collector;
	struct lpl_plan plan;
	struct lpl_log log;

	assert_non_null(p);
	assert_non_null(meta);
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	const struct lpl_collector_options options = {
		.path = in_directory("passes.lpl"), .plan = &plan, .meta = meta, .stage = LPL_STAGE_FILE, .log = true,
		.ring_records = 1024, .status_fd = -1, .overwrite = true, .segmented = true, .pass = pass,
		.begins = writes, .part_path = writes ? in_directory("part.lpl") : NULL,
	};

	if (lpl_collector_open(&collector, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	assert_true(lpl_log_open(&log, lpl_collector_ring(collector)));
	start_processor(p, &log, seed);
	/* a segment ends only where references are recorded */
	for (unsigned i = 0; i < 2000 || !p->recording || p->suppressed; i++) {
		between(p);
		run_trace(p, &p->code[dice(p, TRACES)]);
	}
	lpl_log_rotate(&log, now(p, false));
	while (!lpl_ring_drained(lpl_collector_ring(collector))) {
		assert_int_equal(lpl_collector_failure(collector, NULL), LPL_OK);
		sched_yield();
	}
	lpl_collector_status(collector, &status);
	assert_int_equal(status.references, p->refs);
	assert_true(lpl_collector_resume_point(collector, point) > 1);
	lpl_log_close(&log);
	lpl_collector_leave(collector);
	stream_free(&p->done);
	free(p);
}

static void what_is_counted_is_what_would_be_written(void **state)
{
	struct lpl_resume_point counted, written;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		go_to_its_end(LPL_PASS_COUNT, seed, &counted);
		go_to_its_end(LPL_PASS_SEGMENT, seed, &written);
		assert_true(lpl_resume_points_agree(&counted, &written));
	}
	go_to_its_end(LPL_PASS_SEGMENT, 1, &written);
	assert_false(lpl_resume_points_agree(&counted, &written));
}

/*
 * A segment ends after the first chunk that makes it large enough: so of chunks that are all larger each is in one of its
 * own.  A word stands for the 32 fetches of a trace here, and a chunk has 2^22 references.
 */
static void a_size_ends_a_segment_after_its_chunk(void **state)
{
	enum { CHUNKS = 6, CHUNK_TRACES = (1 << 22) / LPL_LOG_INSTRUCTIONS };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	uint8_t length[LPL_LOG_INSTRUCTIONS];
	uint32_t id[TRACES];
	uint64_t random = 1, instr = 0;
	struct lpl_collector *collector;
	struct lpl_plan plan;
	struct lpl_log log;
	bool forgot;

	(void)state;
	assert_non_null(meta);
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	const struct lpl_collector_options options = {
		.path = in_directory("sized.lpl"), .plan = &plan, .meta = meta, .stage = LPL_STAGE_FILE, .log = true,
		.ring_records = 1024, .status_fd = -1, .overwrite = true, .segmented = true, .segment.bytes = 10000,
	};

	if (lpl_collector_open(&collector, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	memset(length, 1, sizeof(length));
	assert_true(lpl_log_open(&log, lpl_collector_ring(collector)));
	log.base = 0;
	for (unsigned i = 0; i < TRACES; i++)
		id[i] = lpl_log_define(&log, instr, 0x1000 * (i + 1), LPL_LOG_INSTRUCTIONS, length, &forgot);
	lpl_log_switch(&log, (struct lpl_log_time){ instr, false }, LPL_LOG_ON);
	for (unsigned i = 0; i < CHUNKS * CHUNK_TRACES; i++, instr += LPL_LOG_INSTRUCTIONS) {
		lpl_log_room_for_trace(&log, instr);
		lpl_log_word(&log, id[next_random(&random) % TRACES], instr, LPL_LOG_TRACE);
	}
	lpl_log_totals(&log, instr);
	lpl_log_flush(&log, (struct lpl_log_time){ instr, false });
	finish(collector);
	lpl_log_close(&log);
	for (unsigned i = 1; i <= CHUNKS; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "sized.%06u.lpl", i);
		assert_true(exists(name));
	}
}

/* A log that was tampered with, or a simulator that is wrong: the run ends, and says why. */
static void assert_refused(void (*wrong)(struct processor *p), const char *why)
{
	struct lpl_collector *collector = start("none", in_directory("wrong.lpl"),
						LPL_STAGE_FILE, -1);
	struct lpl_report report = { .error = LPL_OK };
	struct processor *p = malloc(sizeof(*p));
	struct lpl_log log;

	assert_non_null(p);
	assert_true(lpl_log_open(&log, lpl_collector_ring(collector)));
	start_processor(p, &log, 1);
	lpl_log_switch(&log, now(p, false), LPL_LOG_ON);
	p->recording = true;
	run_trace(p, &p->code[0]);
	wrong(p);
	run_trace(p, &p->code[0]);
	lpl_log_flush(&log, now(p, false));
	assert_int_equal(lpl_collector_close(collector, "clean", NULL, &report),
			 LPL_ERR_INTERNAL);
	assert_non_null(strstr(report.text, why));
	lpl_log_close(&log);
	stream_free(&p->done);
	free(p);
}

static void counts_on_without_a_fetch(struct processor *p)
{
	p->instr += LPL_LOG_INSTRUCTIONS;
}

static void refers_before_it_fetches(struct processor *p)
{
	run_trace(p, &p->code[1]);
	p->instr--;
}

static void names_an_unknown_trace(struct processor *p)
{
	lpl_log_word(p->log, LPL_LOG_TRACES - 1, p->instr, LPL_LOG_TRACE);
}

static void loses_256_counts(struct processor *p)
{
	lpl_log_between(p->log, p->instr);
	p->instr += 256;
	lpl_log_totals(p->log, p->instr);
}

static void what_cannot_be_is_an_error(void **state)
{
	(void)state;
	assert_refused(counts_on_without_a_fetch, "does not follow from what was fetched");
	assert_refused(refers_before_it_fetches, "does not follow from what was fetched");
	assert_refused(names_an_unknown_trace, "not defined");
	assert_refused(loses_256_counts, "missing");
}

/* The same trace has the same id; ids that are used up are all forgotten. */
static void traces_have_ids(void **state)
{
	static const uint8_t one[] = { 3 }, two[] = { 3, 4 }, other[] = { 4 };
	struct lpl_log log;
	bool forgot;

	(void)state;
	assert_true(lpl_log_open(&log, NULL));
	assert_false(lpl_log_knows(&log, 0, 0));
	const uint32_t id = lpl_log_define(&log, 0, 0x1000, 1, one, &forgot);

	assert_int_not_equal(id, 0);
	assert_int_equal(lpl_log_define(&log, 0, 0x1000, 1, one, &forgot), id);
	assert_int_not_equal(lpl_log_define(&log, 0, 0x1000, 2, two, &forgot), id);
	assert_int_not_equal(lpl_log_define(&log, 0, 0x1000, 1, other, &forgot), id);
	assert_int_not_equal(lpl_log_define(&log, 0, 0x2000, 1, one, &forgot), id);
	log.base = 0x800;
	assert_true(lpl_log_knows(&log, id, 0x800));
	assert_false(lpl_log_knows(&log, id, 0x1000));
	assert_false(lpl_log_knows(&log, 0, 0x800));
	log.base = LPL_LOG_NOWHERE;
	assert_false(lpl_log_knows(&log, id, 0x1000));

	uint64_t address = 0x3000;
	uint32_t defined = 4;

	for (forgot = false; !forgot; address += 0x1000, defined++) {
		uint32_t next = lpl_log_define(&log, 0, address, 1, one, &forgot);

		assert_in_range(next, 1, LPL_LOG_TRACES - 1);
	}
	assert_int_equal(defined, LPL_LOG_TRACES);
	assert_int_equal(lpl_log_define(&log, 0, 0x1000, 1, one, &forgot), 2);
	assert_false(forgot);
	lpl_log_close(&log);
}

/* The log and the blocks have one word for a data reference (docs/format.md, section 9). */
static void lengths_have_the_classes_of_blocks(void **state)
{
	static const unsigned int length_of[] = { 1, 2, 4, 8, 16, 10, 32 };

	(void)state;
	for (unsigned int length = 1; length <= 4096; length++) {
		const struct lpl_ref ref = { .type = LPL_READ, .length = (uint16_t)length };
		unsigned int class = 0;
		uint64_t word[2];

		while (class < 7 && length_of[class] != length)
			class++;
		assert_true(lpl_word_of_ref(&ref, false, word));
		assert_int_equal(word[0] >> 57 & 7, class);
		assert_int_equal(lpl_log_length(length), class << 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reference_is_that_of_the_processor),
		cmocka_unit_test(what_is_counted_is_what_would_be_written),
		cmocka_unit_test(a_size_ends_a_segment_after_its_chunk),
		cmocka_unit_test(what_cannot_be_is_an_error),
		cmocka_unit_test(traces_have_ids),
		cmocka_unit_test(lengths_have_the_classes_of_blocks),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
