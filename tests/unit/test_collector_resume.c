/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that one collector leaves at the end of a segment and another goes on with, from
 * the resume point that was kept: it has to read as the one that a single collector makes of the
 * same stream, and what is none of a trace has to leave that trace alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "collected.h"

#define RECORDS 12000
#define PARTS	4

/* All that a reducer may keep beyond a flush has to be with the other as well. */
static const struct {
	const char *spec;
	bool windows;
} recordings[] = {
	{ "none", false }, { "none+none", false }, { "sad-ws:500", false },
	{ "fence+sad-ws:500", false }, { "block:4096", false }, { "irg:300", false },
	{ "sad2:9", false }, { "sad2-fix:9", false }, { "glass-cao:9", false },
	{ "window:9", true }, { "sad:9", true }, { "olr:9", true }, { "lrubs:9", true },
	{ "window:9+sad-ws:500", true },
};
#define RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

/* ---- a simulator, of which another takes over ---- */

struct simulator {
	struct lpl_collector *collector;
	bool windows;
	struct sender sender;
	struct logger logger;
	uint64_t seed, references, instr;
	uint64_t left_out;		/* references of the tracer's own, so far */
};

/* `before`: the one it takes the place of; NULL: none. */
static void simulator_begin(struct simulator *s, struct lpl_collector *collector, size_t method,
			    uint64_t seed, const struct simulator *before)
{
	*s = (struct simulator){ .collector = collector, .windows = recordings[method].windows,
				 .seed = seed };
	if (before) {
		s->references = before->references;
		s->instr = before->instr;
		s->left_out = before->left_out;
	}
	if (s->windows) {
		s->sender = (struct sender){ lpl_collector_ring(collector), s->left_out };
		return;
	}
	if (!before) {
		logger_open(&s->logger, collector);
		return;
	}
	/* user mode and address space are known to be what they were */
	s->logger = (struct logger){ .now = { .instr = before->logger.now.instr },
				     .space = before->logger.space, .user = before->logger.user };
	assert_true(lpl_log_open(&s->logger.log, lpl_collector_ring(collector)));
	lpl_log_begin_at(&s->logger.log, s->logger.now.instr);
	s->logger.log.base = 0;
	lpl_log_switch(&s->logger.log, s->logger.now, LPL_LOG_ON);
}

static void simulator_send(struct simulator *s, const struct stream *part)
{
	const struct item *last = &part->items[part->count - 1];
	struct stream kept;

	s->references = last->is_event ? last->event.ref : last->ref.ref;
	s->instr = last->is_event ? last->event.instr : last->ref.instr;
	if (s->windows) {
		put_windows(&s->sender, part, &kept, s->seed);
		s->left_out = s->sender.tracer_refs;
		assert_true(put(s->sender.ring, s->references, s->left_out, s->instr,
				LPL_WIRE_KIND(LPL_WIRE_TOTALS)));
		stream_free(&kept);
		return;
	}
	for (size_t i = 0; i < part->count; i++)
		log_item(&s->logger, &part->items[i]);
	log_left_out(&s->logger, 5);
	s->left_out += 5;
}

static struct lpl_collector_status status_of(const struct simulator *s)
{
	struct lpl_collector_status status;

	lpl_collector_status(s->collector, &status);
	return status;
}

/* A segment ends here, and has ended. */
static void simulator_rotate(struct simulator *s)
{
	const uint64_t flushes = status_of(s).flushes;

	if (s->windows) {
		assert_true(put(s->sender.ring, LPL_WIRE_ROTATE, 0, 0,
				LPL_WIRE_KIND(LPL_WIRE_FLUSH)));
		lpl_ring_publish(s->sender.ring);
	} else {
		lpl_log_rotate(&s->logger.log, s->logger.now);
	}
	while (status_of(s).flushes == flushes) {
		assert_int_equal(lpl_collector_failure(s->collector, NULL), LPL_OK);
		sched_yield();
	}
}

static void simulator_end(struct simulator *s)
{
	if (!s->windows)
		logger_close(&s->logger);
	finish(s->collector);
}

/* What another has to know, as bytes that were kept somewhere. */
struct kept_point {
	unsigned char bytes[sizeof(struct lpl_resume_point)];
	uint64_t segment, elapsed_ns;	/* when it was not yet there */
};

static void keep_point(struct simulator *s, struct kept_point *kept, const char *guest)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_resume_point point;

	kept->segment = lpl_collector_resume_point(s->collector, &point);
	memcpy(kept->bytes, &point, sizeof(point));
	if (lpl_collector_save_guest(s->collector, in_directory(guest), &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static void simulator_leave(struct simulator *s)
{
	if (!s->windows)
		lpl_log_close(&s->logger.log);
	lpl_collector_leave(s->collector);
}

static enum lpl_error go_on(struct lpl_collector **collector, size_t method, const char *name,
			    const struct kept_point *kept, const char *guest,
			    struct lpl_report *report)
{
	struct lpl_resume_point point;

	memcpy(&point, kept->bytes, sizeof(point));
	return open_segments(collector, recordings[method].spec, name,
			     &(struct lpl_collector_options){
				     .ring_records = 1024, .resume_point = &point,
				     .resume_guest = in_directory(guest) }, report);
}

static void simulator_take_over(struct simulator *s, size_t method, const char *name,
				const struct kept_point *kept, const struct simulator *before)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_collector *collector;

	if (go_on(&collector, method, name, kept, "guest", &report) != LPL_OK)
		fail_msg("%s", report.text);
	simulator_begin(s, collector, method, before->seed, before);
}

/* ---- streams, in parts of any length ---- */

struct parts {
	struct stream all, part[PARTS];
};

static void parts_make(struct parts *parts, uint64_t seed)
{
	uint64_t random = seed;
	size_t begin = 0;

	simulate(&parts->all, RECORDS, seed);
	for (size_t i = 0; i < PARTS; i++) {
		const size_t end = i + 1 < PARTS ? (i + 1) * RECORDS / PARTS -
						   next_random(&random) % 100 : RECORDS;

		parts->part[i] = (struct stream){ .items = parts->all.items + begin,
						  .count = end - begin };
		begin = end;
	}
	/* the first event says that recording begins */
	for (size_t i = 0; ; i++) {
		struct lpl_event *event = &parts->all.items[i].event;

		if (!parts->all.items[i].is_event)
			continue;
		event->tag = LPL_EVENT_TRACING;
		event->arg[LPL_EVENT_TRACING_ON] = 1;
		break;
	}
}

/* Parts from `first` to before `end`, a segment each. */
static void simulator_send_parts(struct simulator *s, const struct parts *parts, size_t first,
				 size_t end)
{
	for (size_t i = first; i < end; i++) {
		if (i > first)
			simulator_rotate(s);
		simulator_send(s, &parts->part[i]);
	}
}

/* ---- the tests ---- */

static void collect_by_one(const struct parts *parts, size_t method, uint64_t seed,
			   const char *name)
{
	struct simulator s;

	simulator_begin(&s, start_segments(recordings[method].spec, name,
			&(struct lpl_collector_options){ .ring_records = 1024 }), method, seed, NULL);
	simulator_send_parts(&s, parts, 0, PARTS);
	simulator_end(&s);
}

/* The first parts, and the resume point after them. */
static void begin_recording(struct simulator *s, const struct parts *parts, size_t count,
			    size_t method, uint64_t seed, const char *name,
			    struct kept_point *kept)
{
	simulator_begin(s, start_segments(recordings[method].spec, name,
			&(struct lpl_collector_options){ .ring_records = 1024 }), method, seed, NULL);
	simulator_send_parts(s, parts, 0, count);
	kept->elapsed_ns = status_of(s).elapsed_ns;
	simulator_rotate(s);
	keep_point(s, kept, "guest");
	assert_int_equal(kept->segment, count + 1);
}

static void assert_same_counts(const struct lpl_totals *a, const struct lpl_totals *b)
{
	assert_int_equal(a->total, b->total);
	assert_memory_equal(a->refs, b->refs, sizeof(a->refs));
	assert_int_equal(a->user_refs, b->user_refs);
	assert_int_equal(a->tracer_refs, b->tracer_refs);
	assert_int_equal(a->events, b->events);
	assert_int_equal(a->recording.instructions, b->recording.instructions);
	assert_int_equal(a->recording.sent_refs, b->recording.sent_refs);
}

static void assert_same_trace(const char *one, const char *other, const struct parts *parts,
			      uint64_t left_out, uint64_t seed)
{
	struct trace expected, found;
	uint64_t events = 0;

	read_trace(&expected, in_directory(one));
	read_trace(&found, in_directory(other));
	assert_same(&expected.stream, &found.stream, seed);
	assert_same_counts(&expected.totals, &found.totals);
	assert_string_equal(found.title, expected.title);
	assert_string_equal(found.reduction, expected.reduction);
	for (size_t i = 0; i < parts->all.count; i++)
		events += parts->all.items[i].is_event;
	assert_int_equal(found.totals.total, count(&parts->all).total);
	assert_int_equal(found.totals.events, events);
	assert_int_equal(found.totals.tracer_refs, left_out);
	stream_free(&expected.stream);
	stream_free(&found.stream);
}

/*
 * Of what it begins with, all but the mappings and cached pages: which spaces share pages can be
 * written in several ways, and each is as good (tests/property/test_state.c).
 */
static struct stream state_of(const struct stream *segment)
{
	struct stream state;
	size_t i = 0;

	stream_init(&state);
	assert_true(is_state(&segment->items[0], 1));
	do {
		const struct item *item = &segment->items[i];

		assert_true(item->is_event);
		if (item->event.tag >= LPL_EVENT_TRACING && item->event.tag != LPL_EVENT_SHARED &&
		    item->event.tag != LPL_EVENT_SPACE_STATE)
			*stream_add(&state) = *item;
	} while (!is_state(&segment->items[i++], 0));
	return state;
}

/* Read alone, it says as much of the guest, and the same afterwards. */
static void assert_same_segment(unsigned int number, uint64_t seed)
{
	struct stream one_state, two_state;
	struct trace one, two;

	read_trace(&one, in_directory(segment_name("one", number)));
	read_trace(&two, in_directory(segment_name("two", number)));
	if (number > 1) {
		one_state = state_of(&one.stream);
		two_state = state_of(&two.stream);
		assert_true(one_state.count > 3);
		if (number <= PARTS / 2 + 1)	/* then it may have found what it had lost */
			assert_same(&one_state, &two_state, seed);
		stream_free(&one_state);
		stream_free(&two_state);
		drop_state(&one.stream);
		drop_state(&two.stream);
	}
	assert_same(&one.stream, &two.stream, seed);
	assert_same_counts(&one.totals, &two.totals);
	stream_free(&one.stream);
	stream_free(&two.stream);
}

static void assert_same_status(const struct lpl_collector_status *a,
			       const struct lpl_collector_status *b)
{
	assert_int_equal(a->references, b->references);
	assert_int_equal(a->instructions, b->instructions);
	assert_int_equal(a->events, b->events);
	assert_int_equal(a->kept, b->kept);
	assert_int_equal(a->tracer_refs, b->tracer_refs);
	assert_int_equal(a->segment, b->segment);
	assert_true(a->tracing && b->tracing);
}

static void it_reads_as_if_one_had_made_it(void **state)
{
	(void)state;
	for (size_t m = 0; m < RECORDINGS; m++) {
		const uint64_t seed = m + 1;
		struct simulator first, second;
		struct lpl_collector_status left, found;
		struct kept_point kept;
		struct parts parts;

		parts_make(&parts, seed);
		collect_by_one(&parts, m, seed, "one.lpl");
		begin_recording(&first, &parts, 2, m, seed, "two.lpl", &kept);
		left = status_of(&first);
		assert_int_equal(left.references, first.references);
		assert_int_equal(left.instructions, first.instr);
		simulator_leave(&first);
		simulator_take_over(&second, m, "two.lpl", &kept, &first);
		found = status_of(&second);
		assert_same_status(&left, &found);
		assert_true(found.elapsed_ns >= kept.elapsed_ns);
		simulator_send_parts(&second, &parts, 2, PARTS);
		simulator_end(&second);

		assert_int_equal(count_segments("two"), PARTS);
		assert_same_trace("one.lpl", "two.lpl", &parts, second.left_out, seed);
		for (unsigned int i = 1; i <= PARTS; i++)
			assert_same_segment(i, seed);
		stream_free(&parts.all);
	}
}

/* A segment each. */
static void send_in_pieces(struct simulator *s, const struct stream *part, size_t pieces)
{
	const size_t length = part->count / pieces;

	for (size_t i = 0; i < pieces; i++) {
		simulator_send(s, &(struct stream){ .items = part->items + i * length,
						    .count = length });
		simulator_rotate(s);
	}
}

/* It was recorded further than that: until the end, or somewhere. */
static void what_is_after_the_point_goes(void **state)
{
	(void)state;
	for (size_t m = 0; m < RECORDINGS; m += 4)
		for (int closed = 0; closed < 2; closed++) {
			const uint64_t seed = 77;
			struct simulator first, there, second;
			struct kept_point kept;
			struct parts parts;

			parts_make(&parts, seed);
			collect_by_one(&parts, m, seed, "one.lpl");
			begin_recording(&first, &parts, 1, m, seed, "two.lpl", &kept);
			there = first;
			send_in_pieces(&first, &parts.part[1], 2 * PARTS);
			assert_int_equal(count_segments("two"), 1 + 2 * PARTS);
			if (closed)
				simulator_end(&first);
			else
				simulator_leave(&first);
			assert_true(exists(closed ? "two.lpl" : "two.lpl.part"));
			simulator_take_over(&second, m, "two.lpl", &kept, &there);
			simulator_send_parts(&second, &parts, 1, PARTS);
			simulator_end(&second);
			assert_int_equal(count_segments("two"), PARTS);
			assert_false(exists("two.lpl.part"));
			assert_same_trace("one.lpl", "two.lpl", &parts, second.left_out, seed);
			stream_free(&parts.all);
		}
}

/* ---- what is no resume point of this trace ---- */

/* The names and contents of all files with names that begin so; to be freed. */
static char *files(const char *base)
{
	char command[256], *text = NULL;
	size_t size, got;
	FILE *out = open_memstream(&text, &size), *sums;

	(void)snprintf(command, sizeof(command), "cd %s && cksum %s.*", directory, base);
	sums = popen(command, "r");
	assert_true(out && sums);
	for (char some[512]; (got = fread(some, 1, sizeof(some), sums)) > 0; )
		assert_int_equal(fwrite(some, 1, got, out), got);
	assert_int_equal(pclose(sums), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_refused(const struct kept_point *kept, const char *guest, const char *name,
			   enum lpl_error error, const char *why)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_collector *collector;

	assert_int_equal(go_on(&collector, 0, name, kept, guest, &report), error);
	assert_null(collector);
	if (!strstr(report.text, why))
		fail_msg("'%s' does not contain '%s'", report.text, why);
}

static void assert_refused_all(const struct kept_point *ours, const struct kept_point *foreign,
			       const struct kept_point *later)
{
	const struct kept_point none = { .segment = 0 };
	char *before = files("mine"), *after;

	assert_refused(foreign, "guest", "mine.lpl", LPL_ERR_USAGE, "of another trace");
	assert_refused(later, "guest", "mine.lpl", LPL_ERR_USAGE, "of another trace");
	assert_refused(&none, "guest", "mine.lpl", LPL_ERR_USAGE, "in segments");
	assert_refused(ours, "no-guest", "mine.lpl", LPL_ERR_IO, "no-guest");
	assert_refused(ours, "half-guest", "mine.lpl", LPL_ERR_TRUNCATED, "half-guest");
	assert_refused(ours, "guest", "nothing.lpl", LPL_ERR_USAGE, "cannot be opened");
	after = files("mine");
	assert_string_equal(after, before);
	assert_false(exists("nothing.lpl") || exists("nothing.lpl.part"));
	free(before);
	free(after);
}

static void what_is_no_point_of_it_is_refused(void **state)
{
	struct kept_point ours, foreign, later;
	struct simulator mine, other;
	struct parts parts;
	struct trace trace;

	(void)state;
	parts_make(&parts, 5);
	begin_recording(&other, &parts, 2, 0, 5, "other.lpl", &foreign);
	simulator_end(&other);
	begin_recording(&other, &parts, PARTS, 0, 5, "other.lpl", &later);
	simulator_end(&other);
	stream_free(&parts.all);

	parts_make(&parts, 6);
	begin_recording(&mine, &parts, 2, 0, 6, "mine.lpl", &ours);
	assert_int_equal(rename(in_directory("guest"), in_directory("half-guest")), 0);
	assert_int_equal(truncate(in_directory("half-guest"), 600), 0);
	keep_point(&mine, &ours, "guest");
	/* it is being written, left in the middle, and closed */
	assert_refused(&ours, "guest", "mine.lpl", LPL_ERR_USAGE, "somebody else");
	assert_refused_all(&ours, &foreign, &later);
	simulator_leave(&mine);
	assert_refused_all(&ours, &foreign, &later);
	simulator_take_over(&other, 0, "mine.lpl", &ours, &mine);
	simulator_send_parts(&other, &parts, 2, PARTS);
	simulator_end(&other);
	assert_refused_all(&ours, &foreign, &later);
	read_trace(&trace, in_directory("mine.lpl"));
	assert_same(&parts.all, &trace.stream, 6);
	stream_free(&trace.stream);
	stream_free(&parts.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_reads_as_if_one_had_made_it),
		cmocka_unit_test(what_is_after_the_point_goes),
		cmocka_unit_test(what_is_no_point_of_it_is_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
