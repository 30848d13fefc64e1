/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Translations, as a trace reports them (docs/format.md, section 13), against that text:
 *
 * - a map of any reports says what a list of them says that is searched from its end;
 * - what a processor reports that has tables and a TLB, and changes them at random, makes a reader's map say
 *   of each reference where that processor found it;
 * - a map that begins with what another one sends is the same;
 * - between two fences no page of a space is in two frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <laplace/translation.h>

#include "oracle.h"
#include "translate/send.h"
#include "translate/used.h"

static const unsigned int SHIFT[] = { 12, 21, 22, 30, 64 };

static struct lpl_translations *new_map(void)
{
	struct lpl_translations *map;

	assert_int_equal(lpl_translations_open(&map, NULL), LPL_OK);
	return map;
}

/* Few pages, of which the small ones lie in the large ones, at both ends of memory. */
static uint64_t some_address(struct random *random)
{
	const uint64_t page = random_below(random, 4) + ((uint64_t)random_below(random, 3) << 9) +
			      ((uint64_t)random_below(random, 2) << 18);
	const uint64_t half = random_below(random, 2) ? UINT64_C(0xffff800000000000) : 0;

	return half + (page << 12) + random_below(random, 4096);
}

/* ---- a map against a list ---- */

struct list {
	struct lpl_event event[400];
	size_t count;
};

static bool covers(const struct lpl_event *event, uint64_t space, uint64_t address)
{
	const uint64_t shift = event->arg[LPL_EVENT_TRANSLATION_SHIFT];
	const uint64_t begin = event->arg[LPL_EVENT_TRANSLATION_ADDRESS];

	if (!event->arg[LPL_EVENT_TRANSLATION_GLOBAL] && event->space != space)
		return false;
	return shift == 64 ? address >> 32 == 0 : address >> shift == begin >> shift;
}

static bool forgets(const struct lpl_event *event)
{
	return event->arg[LPL_EVENT_TRANSLATION_SHIFT] == 64 && event->arg[LPL_EVENT_TRANSLATION_GLOBAL] &&
	       event->arg[LPL_EVENT_TRANSLATION_FRAME] == KTR_NONE;
}

static const struct lpl_event *latest(const struct list *list, uint64_t space, uint64_t address)
{
	for (size_t i = list->count; i > 0; i--)
		if (list->event[i - 1].tag == LPL_EVENT_GAP || forgets(&list->event[i - 1]))
			return NULL;
		else if (covers(&list->event[i - 1], space, address))
			return &list->event[i - 1];
	return NULL;
}

static struct lpl_event random_event(struct random *random)
{
	struct lpl_event event = { .tag = random_below(random, 2) ? LPL_EVENT_TRANSLATION :
								    LPL_EVENT_RETRANSLATION };
	const unsigned int shift = SHIFT[random_below(random, 8) % 5];

	event.space = 1 + random_below(random, 3);
	event.arg[LPL_EVENT_TRANSLATION_SHIFT] = shift;
	if (shift < 64)
		event.arg[LPL_EVENT_TRANSLATION_ADDRESS] = some_address(random) >> shift << shift;
	event.arg[LPL_EVENT_TRANSLATION_FRAME] =
		random_below(random, 10) ? random_below(random, 1 << 20) : KTR_NONE;
	event.arg[LPL_EVENT_TRANSLATION_GLOBAL] = !random_below(random, 4);
	if (!random_below(random, 60)) {
		memset(&event, 0, sizeof(event));
		event.tag = LPL_EVENT_GAP;
		event.arg[LPL_EVENT_GAP_EVENTS] = 1;
	}
	return event;
}

static void expect_as_listed(struct lpl_translations *map, const struct list *list, uint64_t space,
			     uint64_t address)
{
	const struct lpl_event *said = latest(list, space, address);
	struct lpl_translation found;
	uint64_t begin;

	if (said == NULL || said->arg[LPL_EVENT_TRANSLATION_FRAME] == KTR_NONE) {
		assert_false(lpl_translate(map, space, address, &found));
		return;
	}
	begin = said->arg[LPL_EVENT_TRANSLATION_ADDRESS];
	assert_true(lpl_translate(map, space, address, &found));
	assert_int_equal(found.page, begin);
	assert_int_equal(found.frame, said->arg[LPL_EVENT_TRANSLATION_FRAME] +
				      ((address - begin) >> 12));
	assert_int_equal(found.shift, said->arg[LPL_EVENT_TRANSLATION_SHIFT]);
	assert_int_equal(found.global, said->arg[LPL_EVENT_TRANSLATION_GLOBAL]);
}

static void the_latest_report_of_an_address_holds(void **state)
{
	struct random random = { random_seed() };
	size_t known = 0;

	(void)state;
	for (int trial = 0; trial < 200; trial++) {
		struct lpl_translations *map = new_map();
		struct list list = { .count = 0 };

		while (list.count < sizeof(list.event) / sizeof(list.event[0])) {
			struct lpl_translation found;
			const uint64_t space = 1 + random_below(&random, 3), address = some_address(&random);

			list.event[list.count] = random_event(&random);
			assert_int_equal(lpl_translations_follow(map, &list.event[list.count++], NULL), LPL_OK);
			expect_as_listed(map, &list, space, address);
			expect_as_listed(map, &list, space, address);	/* as it is remembered */
			known += lpl_translate(map, space, address, &found);
		}
		lpl_translations_close(map);
	}
	assert_true(known > 20000);
}

struct follower {
	struct lpl_sink sink;
	struct lpl_translations *map;
};

static enum lpl_error follow_sent(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	return lpl_translations_follow(((struct follower *)sink)->map, event, report);
}

static void what_a_map_sends_makes_the_same(void **state)
{
	struct random random = { random_seed() };

	(void)state;
	for (int trial = 0; trial < 100; trial++) {
		struct follower other = { .sink = { .event = follow_sent }, .map = new_map() };
		struct lpl_translations *map = new_map();
		struct list list = { .count = 0 };

		while (list.count < 100) {
			list.event[list.count] = random_event(&random);
			assert_int_equal(lpl_translations_follow(map, &list.event[list.count++], NULL), LPL_OK);
		}
		assert_int_equal(lpl_translations_send(map, &other.sink, NULL), LPL_OK);
		assert_int_equal(lpl_translations_count(map), lpl_translations_count(other.map));
		for (int i = 0; i < 200; i++)
			expect_as_listed(other.map, &list, 1 + random_below(&random, 3), some_address(&random));
		lpl_translations_close(other.map);
		lpl_translations_close(map);
	}
}

static enum lpl_error follow_one(struct lpl_translations *map, uint64_t space, uint64_t address,
				 uint64_t frame, uint64_t shift, bool global)
{
	struct lpl_event event = { .tag = LPL_EVENT_TRANSLATION, .space = space };

	event.arg[LPL_EVENT_TRANSLATION_ADDRESS] = address;
	event.arg[LPL_EVENT_TRANSLATION_FRAME] = frame;
	event.arg[LPL_EVENT_TRANSLATION_SHIFT] = shift;
	event.arg[LPL_EVENT_TRANSLATION_GLOBAL] = global;
	return lpl_translations_follow(map, &event, NULL);
}

static void what_cannot_be_is_damage(void **state)
{
	struct lpl_translations *map = new_map();

	(void)state;
	assert_int_equal(follow_one(map, 1, 0x1000, LPL_FRAMES - 1, 12, false), LPL_OK);
	assert_int_equal(follow_one(map, 1, 0x1000, LPL_FRAMES, 12, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, 1, 0x200000, LPL_FRAMES - 511, 21, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, 1, 0x1001, 1, 12, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, 1, 0x201000, 1, 21, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, 1, 0x1000, 0, 64, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, KTR_NONE, 0x1000, 1, 12, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, KTR_NONE, 0x1000, 1, 12, true), LPL_OK);
	/* as many as there may be, and what is there already */
	for (uint64_t page = lpl_translations_count(map); page < LPL_TRANSLATIONS_MAX; page++)
		assert_int_equal(follow_one(map, 2, page << 12, page, 12, false), LPL_OK);
	assert_int_equal(follow_one(map, 3, 0, 0, 12, false), LPL_ERR_DAMAGED);
	assert_int_equal(follow_one(map, 2, UINT64_C(5) << 12, 0, 12, false), LPL_OK);
	assert_int_equal(follow_one(map, 0, 0, KTR_NONE, 64, true), LPL_OK);
	assert_int_equal(follow_one(map, 3, 0, 0, 12, false), LPL_OK);
	lpl_translations_close(map);
}

static void a_page_of_no_size_is_damage(void **state)
{
	struct lpl_event event = { .tag = LPL_EVENT_TRANSLATION };
	struct lpl_translations *map = new_map();

	(void)state;
	for (uint64_t shift = 0; shift < 70; shift++) {
		const bool is_one = shift == 12 || shift == 21 || shift == 22 || shift == 30 || shift == 64;

		event.arg[LPL_EVENT_TRANSLATION_SHIFT] = shift;
		assert_int_equal(lpl_translations_follow(map, &event, NULL),
				 is_one ? LPL_OK : LPL_ERR_DAMAGED);
	}
	lpl_translations_close(map);
}

/* ---- what a processor reports ---- */

enum { SPACES = 3, ENTRIES = 8, PAGES = 48, REGIONS = 6 };

/* What tables say: of a region a large page, or of each page in it a small one. */
struct mapping {
	bool is_large;		/* of regions alone */
	bool global;
	uint64_t frame;
};

struct processor {
	struct lpl_used *used;
	struct lpl_translations *reader;
	struct mapping region[SPACES][REGIONS], small[SPACES][PAGES];
	struct {
		bool valid;
		unsigned int page;
		struct lpl_translation where;
	} tlb[ENTRIES];
	unsigned int space;
	bool off;		/* paging: pages of the lower half are where they say, and others not used */
	/* frame + 1 since the last fence, by space and page */
	uint64_t since_fence[SPACES][PAGES];
	size_t fences, plain;
};

/* Eight pages a region, three regions in each half of memory. */
static unsigned int region_of(unsigned int page)
{
	return page % 2 + page / 16 * 2;
}

static uint64_t address_of(unsigned int page)
{
	return (page % 2 ? UINT64_C(0xffff800000000000) : 0) + ((uint64_t)(page / 2) % 8 << 12) +
	       ((uint64_t)(page / 16) << 21);
}

static struct lpl_translation walk(const struct processor *processor, unsigned int page)
{
	const struct mapping *mapping = &processor->region[processor->space][region_of(page)];
	const uint64_t address = address_of(page);
	struct lpl_translation where = { .shift = 21 };

	if (processor->off)
		return (struct lpl_translation){ .frame = address >> 12, .shift = LPL_NO_PAGING };
	if (!mapping->is_large) {
		mapping = &processor->small[processor->space][page];
		where.shift = 12;
	}
	where.page = address >> where.shift << where.shift;
	where.frame = mapping->frame + ((address - where.page) >> 12);
	where.global = mapping->global;
	return where;
}

static void take(struct processor *processor, const struct kernel_trace_record *record)
{
	struct lpl_event event = { .tag = record->tag, .space = record->space };

	memcpy(event.arg, record->arg, sizeof(event.arg));
	assert_int_equal(lpl_translations_follow(processor->reader, &event, NULL), LPL_OK);
	if (!lpl_event_is_fence(event.tag)) {
		processor->plain++;
		return;
	}
	processor->fences++;
	memset(processor->since_fence, 0, sizeof(processor->since_fence));
}

static void flush(struct processor *processor, bool global_too)
{
	for (int i = 0; i < ENTRIES; i++)
		if (global_too || !processor->tlb[i].where.global)
			processor->tlb[i].valid = false;
}

/* The entry by which the page is used, filled from the tables if it was another's. */
static const struct lpl_translation *use(struct processor *processor, unsigned int page)
{
	const unsigned int at = page % ENTRIES;
	struct kernel_trace_record record;
	bool news;

	if (!processor->tlb[at].valid || processor->tlb[at].page != page) {
		processor->tlb[at].valid = true;
		processor->tlb[at].page = page;
		processor->tlb[at].where = walk(processor, page);
		assert_int_equal(lpl_used_note(processor->used, processor->space, address_of(page),
					       &processor->tlb[at].where, &record, &news, NULL), LPL_OK);
		if (news)
			take(processor, &record);
	}
	return &processor->tlb[at].where;
}

static void refer(struct processor *processor, unsigned int page)
{
	const struct lpl_translation *where = use(processor, page);
	struct lpl_translation found;
	uint64_t *frame = &processor->since_fence[processor->space][page];

	assert_true(lpl_translate(processor->reader, processor->space, address_of(page), &found));
	assert_int_equal(found.frame, where->frame);
	assert_int_equal(found.shift, where->shift);
	assert_int_equal(found.global, where->global);
	assert_true(*frame == 0 || *frame == where->frame + 1);
	*frame = where->frame + 1;
}

/*
 * A region is either private to each space, or shared, when all spaces have the same tables; only of that may
 * pages be global.
 */
static void share(struct processor *processor, struct random *random, unsigned int region, bool shared)
{
	const unsigned int own = processor->space;
	const bool large_is_global = random_below(random, 2), global = random_below(random, 2);

	for (unsigned int space = 0; space < SPACES; space++) {
		if (shared)
			processor->region[space][region] = processor->region[own][region];
		processor->region[space][region].global = shared && large_is_global;
		for (unsigned int page = 0; page < PAGES; page++) {
			if (region_of(page) != region)
				continue;
			if (shared)
				processor->small[space][page] = processor->small[own][page];
			processor->small[space][page].global = shared && global;
		}
	}
}

static void remap(struct processor *processor, struct random *random)
{
	const unsigned int page = random_below(random, PAGES), region = region_of(page);
	const uint64_t frame = (uint64_t)random_below(random, 16) << 9;

	if (random_below(random, 4))
		processor->small[processor->space][page].frame = frame;
	else
		processor->region[processor->space][region] =
			(struct mapping){ .is_large = random_below(random, 2), .frame = frame };
	share(processor, random, region, random_below(random, 2));
	flush(processor, true);
}

static void step(struct processor *processor, struct random *random)
{
	struct kernel_trace_record record;

	switch (random_below(random, 40)) {
	case 0:
		remap(processor, random);
		break;
	case 1:
		processor->space = random_below(random, SPACES);
		flush(processor, false);
		break;
	case 2:
		/* as for system management mode, in which the space remains what it was */
		processor->off = !processor->off;
		flush(processor, true);
		break;
	case 3:
		if (random_below(random, 20))
			break;
		lpl_used_forget(processor->used, &record);
		take(processor, &record);
		flush(processor, true);
		break;
	default:
		refer(processor, processor->off ? random_below(random, PAGES) & ~1U :
						  random_below(random, PAGES));
	}
}

static void begin(struct processor *processor, struct random *random)
{
	memset(processor, 0, sizeof(*processor));
	assert_int_equal(lpl_used_open(&processor->used, NULL), LPL_OK);
	processor->reader = new_map();
	for (int i = 0; i < 4 * PAGES; i++) {
		processor->space = random_below(random, SPACES);
		remap(processor, random);
	}
}

static void readers_know_where_each_reference_went(void **state)
{
	static struct processor processor;
	struct random random = { random_seed() };
	size_t fences = 0, plain = 0;

	(void)state;
	for (int trial = 0; trial < 60; trial++) {
		begin(&processor, &random);
		for (int i = 0; i < 4000; i++)
			step(&processor, &random);
		fences += processor.fences;
		plain += processor.plain;
		lpl_translations_close(processor.reader);
		lpl_used_close(processor.used);
	}
	assert_true(fences > 1000 && plain > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_report_of_an_address_holds),
		cmocka_unit_test(what_a_map_sends_makes_the_same),
		cmocka_unit_test(what_cannot_be_is_damage),
		cmocka_unit_test(a_page_of_no_size_is_damage),
		cmocka_unit_test(readers_know_where_each_reference_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
