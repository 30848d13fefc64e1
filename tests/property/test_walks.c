/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks, as a trace describes them (docs/format.md, section 14), against that text:
 *
 * - a map of any events says what a list of them says that is searched from its end;
 * - what is noted of a processor's accesses makes a reader's map say of each what it was;
 * - a map that begins with what another one sends is the same;
 * - what cannot be is damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <laplace/translation.h>
#include <laplace/walk.h>

#include "oracle.h"
#include "translate/walks.h"

static struct lpl_walks *new_map(void)
{
	struct lpl_walks *walks;

	assert_int_equal(lpl_walks_open(&walks, NULL), LPL_OK);
	return walks;
}

/* Few frames, few entries in each. */
static uint64_t some_entry(struct random *random)
{
	return ((random_below(random, 12) << 12) + random_below(random, 4) * 8) |
	       (random_below(random, 2) ? UINT64_C(1) << 62 : 0);
}

static struct lpl_event table_event(uint64_t frame, uint64_t table)
{
	struct lpl_event event = { .tag = LPL_EVENT_PAGE_TABLE };

	event.arg[LPL_EVENT_PAGE_TABLE_FRAME] = frame;
	event.arg[LPL_EVENT_PAGE_TABLE_TABLE] = table;
	return event;
}

static struct lpl_event entry_event(uint64_t address, uint64_t large)
{
	struct lpl_event event = { .tag = LPL_EVENT_LARGE_ENTRY };

	event.arg[LPL_EVENT_LARGE_ENTRY_ADDRESS] = address;
	event.arg[LPL_EVENT_LARGE_ENTRY_LARGE] = large;
	return event;
}

/* ---- a map against a list ---- */

enum { EVENTS = 400 };

struct list {
	struct lpl_event event[EVENTS];
	size_t count;
};

static bool forgets(const struct lpl_event *event)
{
	return event->tag == LPL_EVENT_GAP ||
	       (event->tag == LPL_EVENT_PAGE_TABLE && event->arg[0] == KTR_NONE);
}

/* The second argument of the latest event of this tag with this first one; 0: there is none. */
static uint64_t latest(const struct list *list, uint32_t tag, uint64_t of)
{
	for (size_t i = list->count; i > 0; i--) {
		const struct lpl_event *event = &list->event[i - 1];

		if (forgets(event))
			return 0;
		if (event->tag == tag && event->arg[0] == of)
			return event->arg[1];
	}
	return 0;
}

static struct lpl_event random_event(struct random *random)
{
	const uint64_t entry = some_entry(random);
	struct lpl_event event;

	if (random_below(random, 60) == 0) {
		event = (struct lpl_event){ .tag = LPL_EVENT_GAP };
		event.arg[LPL_EVENT_GAP_EVENTS] = 1;
		return event;
	}
	if (random_below(random, 60) == 0)
		return table_event(KTR_NONE, 0);
	return random_below(random, 2) ? table_event(entry >> 12, 1 + random_below(random, 5)) :
					 entry_event(entry, random_below(random, 2));
}

static struct lpl_ref reference(uint64_t address, bool write, uint8_t flags)
{
	return (struct lpl_ref){ .address = address, .type = write ? LPL_WALK_WRITE : LPL_WALK_READ,
				 .flags = flags, .length = 8 };
}

static void expect_as_listed(struct lpl_walks *walks, const struct list *list, uint64_t address)
{
	const struct lpl_ref ref = reference(address, false, 0);
	struct lpl_walk walk;

	assert_true(lpl_walk_of(walks, &ref, &walk));
	assert_int_equal(walk.table, latest(list, LPL_EVENT_PAGE_TABLE, address >> 12));
	assert_int_equal(walk.large, latest(list, LPL_EVENT_LARGE_ENTRY, address) != 0);
}

struct follower {
	struct lpl_sink sink;
	struct lpl_walks *walks;
	size_t events;
};

static enum lpl_error follow_sent(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct follower *follower = (struct follower *)sink;

	follower->events++;
	return lpl_walks_follow(follower->walks, event, report);
}

static void the_latest_event_holds(void **state)
{
	struct random random = { random_seed() };
	size_t known = 0;

	(void)state;
	for (int trial = 0; trial < 100; trial++) {
		struct follower other = { .sink = { .event = follow_sent }, .walks = new_map() };
		struct lpl_walks *walks = new_map();
		struct list list = { .count = 0 };

		while (list.count < EVENTS) {
			list.event[list.count] = random_event(&random);
			assert_int_equal(lpl_walks_follow(walks, &list.event[list.count++], NULL), LPL_OK);
			expect_as_listed(walks, &list, some_entry(&random));
		}
		assert_int_equal(lpl_walks_send(walks, &other.sink, NULL), LPL_OK);
		known += other.events;
		for (int i = 0; i < 100; i++)
			expect_as_listed(other.walks, &list, some_entry(&random));
		lpl_walks_close(other.walks);
		lpl_walks_close(walks);
	}
	assert_true(known > 1000);
}

/* ---- what a processor does ---- */

static void follow_records(struct lpl_walks *reader, const struct kernel_trace_record *record, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct lpl_event event = { .tag = record[i].tag };

		memcpy(event.arg, record[i].arg, sizeof(event.arg));
		assert_int_equal(lpl_walks_follow(reader, &event, NULL), LPL_OK);
	}
}

/* A frame is mostly one table, and an entry mostly as it was. */
static void what_is_noted_is_what_readers_find(void **state)
{
	struct random random = { random_seed() };
	struct lpl_walks *walks = new_map(), *reader = new_map();
	unsigned int table[24] = { 0 };
	bool large[24][4] = { { 0 } };
	size_t events = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		const uint64_t entry = some_entry(&random);
		const size_t frame = (entry >> 12 & 15) + (entry >> 62 ? 12 : 0);
		const struct lpl_ref ref = reference(entry, random_below(&random, 2), 0);
		struct kernel_trace_record record[LPL_WALK_NEWS_MAX];
		struct lpl_walk walk;
		unsigned int news;

		if (table[frame] == 0 || random_below(&random, 50) == 0)
			table[frame] = 1 + (unsigned int)random_below(&random, 5);
		if (random_below(&random, 50) == 0)
			large[frame][entry >> 3 & 3] ^= true;
		if (random_below(&random, 1000) == 0) {
			lpl_walks_forget(walks, record);
			follow_records(reader, record, 1);
		}
		assert_int_equal(lpl_walks_note(walks, entry, table[frame], large[frame][entry >> 3 & 3], record,
						&news, NULL), LPL_OK);
		events += news;
		follow_records(reader, record, news);
		assert_true(lpl_walk_of(reader, &ref, &walk));
		assert_int_equal(walk.table, table[frame]);
		assert_int_equal(walk.large, large[frame][entry >> 3 & 3]);
	}
	assert_in_range(events, 4000, 20000);
	lpl_walks_close(reader);
	lpl_walks_close(walks);
}

static void expect_flags(struct lpl_walks *walks, struct lpl_ref ref, enum lpl_purpose purpose, bool accessed,
			 bool dirty)
{
	struct lpl_walk walk;

	assert_true(lpl_walk_of(walks, &ref, &walk));
	assert_int_equal(walk.purpose, purpose);
	assert_int_equal(walk.accessed, accessed);
	assert_int_equal(walk.dirty, dirty);
}

static void flags_say_what_for_and_which_bits(void **state)
{
	struct lpl_walks *walks = new_map();
	struct lpl_ref data = { .address = 0x1000, .type = LPL_WRITE, .length = 8 };
	struct lpl_walk walk;

	(void)state;
	expect_flags(walks, reference(0x1000, true, 48), LPL_PURPOSE_UNKNOWN, true, true);
	expect_flags(walks, reference(0x1000, false, 16), LPL_PURPOSE_READ, false, false);
	expect_flags(walks, reference(0x1000, true, 16), LPL_PURPOSE_READ, true, false);
	expect_flags(walks, reference(0x1000, false, 32), LPL_PURPOSE_WRITE, false, false);
	expect_flags(walks, reference(0x1000, true, 32), LPL_PURPOSE_WRITE, false, true);
	assert_false(lpl_walk_of(walks, &data, &walk));
	expect_flags(walks, reference(0x1000, false, 48), LPL_PURPOSE_FETCH, false, false);
	expect_flags(walks, reference(0x1000, false, 0), LPL_PURPOSE_UNKNOWN, false, false);
	lpl_walks_close(walks);
}

static void expect(struct lpl_walks *walks, struct lpl_event event, enum lpl_error error)
{
	assert_int_equal(lpl_walks_follow(walks, &event, NULL), error);
}

static void what_cannot_be_is_damage(void **state)
{
	struct lpl_walks *walks = new_map();

	(void)state;
	expect(walks, table_event(LPL_FRAMES - 1, 5), LPL_OK);
	expect(walks, table_event(LPL_FRAMES, 5), LPL_ERR_DAMAGED);
	expect(walks, table_event(1, 0), LPL_ERR_DAMAGED);
	expect(walks, table_event(1, 6), LPL_ERR_DAMAGED);
	expect(walks, entry_event(UINT64_C(1) << 63, 1), LPL_ERR_DAMAGED);
	/* as many as there may be, and what is there already; an entry that is not large is none */
	for (uint64_t i = 1; i < LPL_TABLES_MAX; i++)
		expect(walks, i % 2 ? table_event(i, 1) : entry_event(i * 8, 1), LPL_OK);
	expect(walks, table_event(0, 1), LPL_ERR_DAMAGED);
	expect(walks, entry_event(8, 1), LPL_ERR_DAMAGED);
	expect(walks, table_event(1, 2), LPL_OK);
	expect(walks, entry_event(16, 0), LPL_OK);
	expect(walks, table_event(0, 1), LPL_OK);
	expect(walks, entry_event(16, 1), LPL_ERR_DAMAGED);
	expect(walks, table_event(KTR_NONE, 0), LPL_OK);
	expect(walks, entry_event(16, 1), LPL_OK);
	lpl_walks_close(walks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_event_holds),
		cmocka_unit_test(what_is_noted_is_what_readers_find),
		cmocka_unit_test(flags_say_what_for_and_which_bits),
		cmocka_unit_test(what_cannot_be_is_damage)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
