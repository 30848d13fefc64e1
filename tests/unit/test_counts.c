/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of what is in a stream: every kind of event by its own name, references, spaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <laplace/counts.h>
#include <laplace/error.h>

/* What lpl_event_counts_each() calls with. */
struct seen {
	const char *name[LPL_EVENT_KINDS + 1];
	uint64_t count[LPL_EVENT_KINDS + 1];
	size_t kinds;
};

static void note(void *context, const char *name, uint64_t count)
{
	struct seen *seen = context;

	assert_true(seen->kinds < LPL_EVENT_KINDS + 1);
	seen->name[seen->kinds] = name;
	seen->count[seen->kinds++] = count;
}

static void send(struct lpl_counts *counts, uint32_t tag, int times)
{
	const struct lpl_event event = { .tag = tag };

	for (int i = 0; i < times; i++)
		assert_int_equal(counts->sink.event(&counts->sink, &event, NULL), LPL_OK);
}

static void every_kind_of_event_is_counted_apart(void **state)
{
	const uint32_t last_tags[] = { KTR_SNAPSHOT, LPL_EVENT_TLB_FLUSH };
	struct lpl_counts counts;
	struct seen seen = { .kinds = 0 };

	(void)state;
	lpl_counts_init(&counts);
	for (int i = 0; i < LPL_EVENT_KINDS; i++)
		send(&counts, lpl_event_kinds()[i].tag, i + 1);
	/* those in no table, beside their ends */
	send(&counts, 0, 1);
	send(&counts, KTR_TAGS, 1);
	send(&counts, LPL_EVENT_TRACING - 1, 1);
	send(&counts, LPL_EVENT_TAGS, 1);
	send(&counts, UINT32_MAX, 1);
	assert_int_equal(counts.events.all, LPL_EVENT_KINDS * (LPL_EVENT_KINDS + 1) / 2 + 5);
	lpl_event_counts_each(&counts.events, note, &seen);
	assert_int_equal(seen.kinds, LPL_EVENT_KINDS + 1);
	for (int i = 0; i < LPL_EVENT_KINDS; i++) {
		const struct lpl_event_kind *kind = &lpl_event_kinds()[i];

		assert_string_equal(seen.name[i], kind->name);
		assert_int_equal(seen.count[i], i + 1);
		assert_int_equal(lpl_event_counts_of(&counts.events, kind->tag), i + 1);
	}
	assert_string_equal(seen.name[LPL_EVENT_KINDS], "unknown");
	assert_int_equal(seen.count[LPL_EVENT_KINDS], 5);
	assert_int_equal(lpl_event_counts_of(&counts.events, KTR_TAGS), 0);
	for (size_t i = 0; i < 2; i++)
		assert_true(lpl_event_counts_of(&counts.events, last_tags[i]) > 0);
	lpl_counts_free(&counts);
}

static void what_was_not_counted_is_not_reported(void **state)
{
	struct lpl_counts counts;
	struct seen seen = { .kinds = 0 };

	(void)state;
	lpl_counts_init(&counts);
	lpl_event_counts_each(&counts.events, note, &seen);
	assert_int_equal(seen.kinds, 0);
	send(&counts, KTR_MARK, 2);
	lpl_event_counts_each(&counts.events, note, &seen);
	assert_int_equal(seen.kinds, 1);
	assert_string_equal(seen.name[0], "mark");
	assert_int_equal(seen.count[0], 2);
	lpl_counts_free(&counts);
}

#define REFS 10000

/* Space 0 and the largest are spaces as others. */
static uint64_t space_of(uint64_t i)
{
	return i % 997 == 0 ? UINT64_MAX : i % 1009;
}

static void references_and_spaces_are_counted(void **state)
{
	struct lpl_counts counts;
	uint64_t by_type[LPL_TYPES] = { 0 }, user = 0;

	(void)state;
	lpl_counts_init(&counts);
	for (uint64_t i = 1; i <= REFS; i += 2) {
		struct lpl_ref block[2];

		for (uint64_t j = 0; j < 2; j++) {
			block[j] = (struct lpl_ref){
				.ref = i + j, .space = space_of(i + j),
				.type = (uint8_t)((i + j) % LPL_TYPES),
				.flags = (i + j) % 3 == 0 ? LPL_USER | LPL_PAGED : LPL_PAGED
			};
			by_type[block[j].type]++;
			user += (i + j) % 3 == 0;
		}
		assert_int_equal(counts.sink.refs(&counts.sink, block, 2, NULL), LPL_OK);
	}
	assert_int_equal(counts.sink.finish(&counts.sink, NULL), LPL_OK);
	assert_int_equal(counts.all_refs, REFS);
	assert_int_equal(counts.user_refs, user);
	assert_memory_equal(counts.refs, by_type, sizeof(by_type));
	assert_int_equal(counts.first.ref, 1);
	assert_int_equal(counts.last.ref, REFS);
	/* 0 to 1008, and the largest */
	assert_int_equal(counts.spaces, 1010);
	lpl_counts_free(&counts);
	assert_int_equal(counts.spaces, 1010);
}

static void trace(struct lpl_counts *counts, bool on, uint64_t instr, uint64_t ref)
{
	const struct lpl_event event = {
		.tag = LPL_EVENT_TRACING, .arg[LPL_EVENT_TRACING_ON] = on, .instr = instr,
		.ref = ref, .tid = (uint32_t)instr
	};

	assert_int_equal(counts->sink.event(&counts->sink, &event, NULL), LPL_OK);
}

/* Many, each with its own events, and keeps every second reference. */
static void windows_of_time_are_counted(void **state)
{
	enum { WINDOWS = 1000, MADE = 10 };
	struct lpl_counts counts;
	uint64_t made = 0;

	(void)state;
	lpl_counts_init(&counts);
	for (uint64_t i = 0; i < WINDOWS; i++) {
		trace(&counts, true, 1000 * i, made);
		for (uint64_t j = 1; j <= MADE; j += 2) {
			const struct lpl_ref ref = { .ref = made + j, .instr = 1000 * i + j };

			assert_int_equal(counts.sink.refs(&counts.sink, &ref, 1, NULL), LPL_OK);
		}
		made += MADE;
		if (i == WINDOWS / 2)
			send(&counts, KTR_SCHEDULE, 1);
		trace(&counts, false, 1000 * i + 100, made);
		trace(&counts, false, 1000 * i + 200, made);	/* off already */
	}
	assert_int_equal(counts.windows, WINDOWS);
	for (size_t i = 0; i < WINDOWS; i++) {
		const struct lpl_recorded_window *window = &counts.window[i];

		assert_int_equal(window->first_instr, 1000 * i);
		assert_int_equal(window->last_instr, 1000 * i + 100);
		assert_int_equal(window->first_ref, MADE * i);
		assert_int_equal(window->last_ref, MADE * (i + 1));
		assert_int_equal(window->kept, MADE / 2);
		assert_int_equal(window->tid, 1000 * i);
		assert_int_equal(window->tasks_known, i >= WINDOWS / 2);
	}
	lpl_counts_free(&counts);
	assert_int_equal(counts.windows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_event_is_counted_apart),
		cmocka_unit_test(what_was_not_counted_is_not_reported),
		cmocka_unit_test(references_and_spaces_are_counted),
		cmocka_unit_test(windows_of_time_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
