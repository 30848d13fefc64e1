/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs against brute force, of random shapes, on random references, translations and flushes. */
#include "oracle_tlb.h"
#include "play.h"

#include <laplace/huge.h>
#include <laplace/tlb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TLB_LEVELS] = {
	"l1", "l1i", "l1d", "l2", "l2i", "l2d", "pde", "pdpte", "pml4e", "walk"
};
static const char *const sizes[TLB_SIZES] = { "4K", "64K", "1M", "2M", "1G" };

/* ---- streams ---- */

static uint64_t random_address(struct random *random)
{
	static const uint64_t base[] = { 0x400000, 0x7ffff00000, UINT64_C(0xffff888000000000), 0x40000000 };
	const uint32_t reach = 1 + random_below(random, 3);
	uint64_t address = base[random_below(random, 4)] + random_below(random, reach * 4) * UINT64_C(4096);

	if (random_below(random, 4) == 0)
		address += random_below(random, 4) * UINT64_C(0x200000);
	if (random_below(random, 16) == 0)
		address += UINT64_C(1) << (30 + random_below(random, 10));
	return address + random_below(random, 4096);
}

static void add_translation(struct random *random, struct stream *out)
{
	static const unsigned int shifts[] = { 12, 12, 12, 12, 12, 21, 21, 22, 30, 64 };
	const unsigned int shift = shifts[random_below(random, 10)];
	struct lpl_event event = { .tag = random_below(random, 2) ? LPL_EVENT_TRANSLATION :
				   LPL_EVENT_RETRANSLATION, .space = 1 + random_below(random, 2) };

	event.arg[LPL_EVENT_TRANSLATION_SHIFT] = shift;
	if (shift != 64)
		event.arg[LPL_EVENT_TRANSLATION_ADDRESS] = random_address(random) >> shift << shift;
	event.arg[LPL_EVENT_TRANSLATION_FRAME] = shift == 64 ? random_below(random, 8) ? 0 : KTR_NONE :
		(uint64_t)random_below(random, 3) << (shift - 12);
	event.arg[LPL_EVENT_TRANSLATION_GLOBAL] = random_below(random, 3) == 0;
	if (shift == 64 && random_below(random, 3) != 0)
		return;
	stream_add_event(out, &event);
}

static void add_flush(struct random *random, struct stream *out)
{
	struct lpl_event event = { .tag = LPL_EVENT_TLB_FLUSH, .space = 1 + random_below(random, 2) };
	const uint32_t kind = random_below(random, 12);

	event.arg[LPL_EVENT_TLB_FLUSH_KIND] = kind == 0 ? LPL_TLB_ALL : kind < 5 ? LPL_TLB_NONGLOBAL : LPL_TLB_PAGE;
	event.arg[LPL_EVENT_TLB_FLUSH_ADDRESS] = random_address(random);
	event.arg[LPL_EVENT_TLB_FLUSH_SPACE] = 1 + random_below(random, 2);
	if (kind == 11) {
		event.tag = random_below(random, 2) ? LPL_EVENT_GAP : LPL_EVENT_TRACING;
		event.arg[LPL_EVENT_GAP_EVENTS] = random_below(random, 2);
	}
	stream_add_event(out, &event);
}

/* Entries that a processor's walk to an address reads, or some of them, with other things among them. */
static void add_walk(struct random *random, uint64_t address, uint64_t space, unsigned int levels, struct stream *out)
{
	const unsigned int bits = levels == 2 ? 10 : 9, entry = levels == 2 ? 4 : 8;

	for (unsigned int table = levels; table > 0 && random_below(random, 12) != 0; table--) {
		const uint64_t number = address >> (12 + bits * (table - 1)) & ((1U << bits) - 1);
		const uint64_t frame = table == levels && random_below(random, 8) != 0 ? space :
				       random_below(random, 30) == 0 ? UINT64_C(1) << 51 : random_below(random, 7);
		struct lpl_ref ref = { .ref = 1, .instr = 1, .cycle = 1, .length = (uint16_t)entry,
				       .address = frame << 12 | number * entry, .type = LPL_WALK_READ };

		if (random_below(random, 16) == 0)
			ref.type = LPL_WALK_WRITE;
		if (random_below(random, 32) == 0)
			ref.length = (uint16_t)(12 - entry);
		stream_add_ref(out, &ref);
	}
}

static void random_records(struct random *random, size_t count, bool events, unsigned int levels, struct stream *out)
{
	uint64_t space = 1, address = 0;

	stream_clear(out);
	for (size_t i = 0; i < count; i++) {
		struct lpl_ref ref = { .ref = i + 1, .instr = i + 1, .cycle = i + 1, .length = 8 };

		if (events && random_below(random, 4) == 0)
			add_translation(random, out);
		if (events && random_below(random, 12) == 0)
			add_flush(random, out);
		space = random_below(random, 10) == 0 ? 1 + random_below(random, 2) : space;
		address = random_below(random, 3) == 0 ? address : random_address(random);
		ref.space = space;
		ref.address = address;
		ref.type = (uint8_t)(random_below(random, 20) == 0 ? LPL_WALK_READ : random_below(random, 3));
		if (ref.type == LPL_WALK_READ)
			ref.address -= ref.address % 8;
		while (random_below(random, 4) == 0)
			add_walk(random, address, space, levels, out);
		if (random_below(random, 100) == 0)
			for (int j = 0; j < 20; j++)
				add_walk(random, random_address(random), space, levels, out);
		stream_add_ref(out, &ref);
	}
}

/* ---- TLBs ---- */

static void random_array(struct random *random, struct tlb_array *array)
{
	array->order = (int)random_below(random, 3);
	array->ways = array->order == TLB_PLRU ? 1U << random_below(random, 4) : 1 + random_below(random, 6);
	array->entries = array->ways << random_below(random, 3);
	array->seed = random_below(random, 1000);
}

/* Each size goes to an array, or to none; that of 4K to the first, and each has one. */
static void random_level(struct random *random, struct tlb_level *level, bool paged)
{
	level->arrays = paged ? 1 + (int)random_below(random, 3) : 1;
	for (int i = 0; i < level->arrays; i++) {
		random_array(random, &level->array[i]);
		level->array[i].has[i] = true;
	}
	for (int size = level->arrays; size < TLB_SIZES; size++) {
		const uint32_t array = random_below(random, 4);

		if (array < (uint32_t)level->arrays)
			level->array[array].has[size] = true;
	}
	/* the other way round, too: large ones are more often apart */
	for (int i = 1; i < level->arrays && random_below(random, 2) == 0; i++) {
		const int last = TLB_SIZES - i;

		for (int j = 0; j < level->arrays; j++)
			level->array[j].has[last] = false;
		level->array[i].has[last] = true;
	}
}

static void random_tlb(struct random *random, struct oracle_tlb *tlb)
{
	const uint32_t shape = random_below(random, 4), second = random_below(random, 3);

	memset(tlb, 0, sizeof(*tlb));
	tlb->translations = random_below(random, 4) != 0;
	tlb->tags = random_below(random, 2) == 0;
	tlb->levels = random_below(random, 2) == 0 ? 4 : 2 + random_below(random, 4);
	tlb->pages = random_below(random, 3) == 0 ? (int)random_below(random, TLB_SIZES) : -1;
	tlb->promote = tlb->pages < 0 && random_below(random, 3) == 0 ? 1 + random_below(random, 8) : 0;
	if (shape == 0) {
		random_level(random, &tlb->level[TLB_L1], true);
	} else {
		random_level(random, &tlb->level[TLB_L1I], true);
		random_level(random, &tlb->level[TLB_L1D], true);
	}
	if (second == 1 || (second == 2 && shape == 0))
		random_level(random, &tlb->level[TLB_L2], true);
	if (second == 2 && shape != 0) {
		random_level(random, &tlb->level[TLB_L2I], true);
		random_level(random, &tlb->level[TLB_L2D], true);
	}
	for (int i = TLB_PDE; i <= TLB_PML4E; i++)
		if (tlb->levels > (unsigned int)(i - TLB_PDE) + 1 && random_below(random, 2) == 0)
			random_level(random, &tlb->level[i], false);
}

/* ---- caches ---- */

static void random_cache(struct random *random, struct oracle_walks *walks, int i, uint32_t line, char *spec)
{
	static const char *const cache_names[] = { "l1", "l1i", "l1d", "l2", "l3" };
	struct oracle_level *level = &walks->cache.level[i];

	*level = (struct oracle_level){ .line = line, .sets = 1U << random_below(random, 4),
					.ways = 1 + random_below(random, 4) };
	(void)sprintf(spec + strlen(spec), "%s%s=%u/%u/%u", *spec != '\0' ? ":" : "", cache_names[i],
		      level->sets * level->ways * line, level->ways, line);
}

/* One to three levels, the first perhaps in two. */
static void random_caches(struct random *random, const struct oracle_tlb *tlb, struct oracle_walks *walks, char *spec)
{
	const uint32_t levels = 1 + random_below(random, 3), apart = random_below(random, 2);
	uint32_t line = 16U << random_below(random, 4);

	*spec = '\0';
	memset(walks, 0, sizeof(*walks));
	walks->translations = tlb->translations;
	walks->levels = tlb->levels;
	walks->cache.relation = levels > 1 ? (int)random_below(random, 3) : 0;
	if (apart != 0)
		random_cache(random, walks, ORACLE_L1I, line, spec);
	random_cache(random, walks, apart != 0 ? ORACLE_L1D : ORACLE_L1, line, spec);
	for (uint32_t i = 1; i < levels; i++) {
		if (walks->cache.relation != ORACLE_EXCLUSIVE)
			line <<= random_below(random, 2);
		random_cache(random, walks, ORACLE_L2 + (int)i - 1, line, spec);
	}
	if (walks->cache.relation != ORACLE_NEITHER)
		strcat(spec, walks->cache.relation == ORACLE_INCLUSIVE ? ":inclusive" : ":exclusive");
}

static void expect_cache(const struct lpl_cache_level *level, const struct oracle_level *expected, const char *spec)
{
	if (memcmp(level->references, expected->references, sizeof(level->references)) == 0 &&
	    memcmp(level->misses, expected->misses, sizeof(level->misses)) == 0 &&
	    level->evictions == expected->evictions && level->write_backs == expected->write_backs &&
	    level->written == expected->written && level->invalidations == expected->invalidations)
		return;
	fail_msg("%s: cache %s differs (seed %llu)", spec, level->name, (unsigned long long)random_seed());
}

static void expect_walks(const struct lpl_tlb *tlb, const struct oracle_walks *walks, const char *spec)
{
	size_t index = 0;

	for (int i = 0; i < ORACLE_LEVELS; i++)
		if (walks->cache.level[i].ways != 0 || i == ORACLE_MEMORY)
			expect_cache(lpl_cache_level(lpl_tlb_caches(tlb), index++), &walks->cache.level[i], spec);
	assert_int_equal(lpl_tlb_tables(tlb), walks->levels);
	for (unsigned int table = 1; table <= walks->levels; table++) {
		const struct lpl_tlb_loads *loads = lpl_tlb_loads(tlb, table);

		if (memcmp(loads->found, walks->found[table], sizeof(loads->found)) != 0 ||
		    loads->known != walks->known[table] || loads->made_up != walks->made_up[table])
			fail_msg("%s: what walks load of table %u differs: known %llu, made up %llu, and not %llu, "
				 "%llu (seed %llu)", spec, table, (unsigned long long)loads->known,
				 (unsigned long long)loads->made_up, (unsigned long long)walks->known[table],
				 (unsigned long long)walks->made_up[table], (unsigned long long)random_seed());
	}
}

/* ---- as they are written ---- */

static void write_array(const struct tlb_array *array, bool paged, char *spec)
{
	static const char *const orders[] = { "lru", "plru", "random" };
	char *end = spec + strlen(spec);

	end += array->ways == array->entries ? sprintf(end, "%u/full", array->entries) :
	       sprintf(end, "%u/%u", array->entries, array->ways);
	for (int i = 0; i < TLB_SIZES && paged; i++)
		if (array->has[i])
			end += sprintf(end, "/%s", sizes[i]);
	if (array->order == TLB_RANDOM)
		(void)sprintf(end, "/random=%u", (unsigned int)array->seed);
	else if (array->order != TLB_LRU || array->seed % 2 == 0)
		(void)sprintf(end, "/%s", orders[array->order]);
}

static void write_spec(const struct oracle_tlb *tlb, char *spec)
{
	*spec = '\0';
	for (int i = 0; i < TLB_WALK; i++)
		for (int j = 0; j < tlb->level[i].arrays; j++) {
			if (j > 0)
				strcat(spec, "+");
			else
				(void)sprintf(spec + strlen(spec), "%s%s=", *spec != '\0' ? ":" : "", names[i]);
			write_array(&tlb->level[i].array[j], i < TLB_PDE, spec);
		}
	if (tlb->tags)
		strcat(spec, ":tags");
	if (tlb->levels != 4)
		(void)sprintf(spec + strlen(spec), ":levels=%u", tlb->levels);
	if (tlb->pages >= 0)
		(void)sprintf(spec + strlen(spec), ":pages=%s", sizes[tlb->pages]);
}

/* ---- the comparison ---- */

static void show(const char *what, const uint64_t *references, const uint64_t *misses, const uint64_t rest[4])
{
	(void)fprintf(stderr, "%s: references %llu %llu %llu, misses %llu %llu %llu, %llu stale, %llu evictions, "
		      "%llu invalidations, %llu loads\n", what, (unsigned long long)references[0],
		      (unsigned long long)references[1], (unsigned long long)references[2],
		      (unsigned long long)misses[0], (unsigned long long)misses[1],
		      (unsigned long long)misses[2], (unsigned long long)rest[0], (unsigned long long)rest[1],
		      (unsigned long long)rest[2], (unsigned long long)rest[3]);
}

static void expect_level(const struct lpl_tlb_level *level, const struct tlb_level *expected, const char *spec)
{
	const uint64_t rest[] = { level->stale, level->evictions, level->invalidations, level->loads };
	const uint64_t right[] = { expected->stale, expected->evictions, expected->invalidations,
				   expected->loads };

	if (memcmp(level->references, expected->references, sizeof(level->references)) == 0 &&
	    memcmp(level->misses, expected->misses, sizeof(level->misses)) == 0 &&
	    memcmp(level->missed_pages, expected->missed_pages, sizeof(level->missed_pages)) == 0 &&
	    memcmp(rest, right, sizeof(rest)) == 0)
		return;
	show("the library's", level->references, level->misses, rest);
	show("expected", expected->references, expected->misses, right);
	fail_msg("%s: %s differs (seed %llu)", spec, level->name, (unsigned long long)random_seed());
}

static void expect_levels(const struct lpl_tlb *tlb, const struct oracle_tlb *oracle, const char *spec)
{
	size_t index = 0;

	for (int i = 0; i < TLB_LEVELS; i++) {
		uint32_t entries = 0;

		for (int j = 0; j < oracle->level[i].arrays; j++)
			entries += oracle->level[i].array[j].entries;
		if (entries == 0 && i != TLB_WALK)
			continue;
		assert_string_equal(lpl_tlb_level(tlb, index)->name, names[i]);
		assert_int_equal(lpl_tlb_level(tlb, index)->entries, entries);
		expect_level(lpl_tlb_level(tlb, index++), &oracle->level[i], spec);
	}
	assert_int_equal(lpl_tlb_levels(tlb), index);
	assert_int_equal(lpl_tlb_unpaged(tlb), oracle->unpaged);
	assert_int_equal(lpl_tlb_unknown(tlb), oracle->unknown);
}

/* Regions as they are found, against those of the oracle. */
static struct lpl_huge *find_regions(const struct oracle_tlb *oracle, const struct stream *in)
{
	struct lpl_report report = {0};
	struct lpl_huge *huge;

	if (lpl_huge_open(&huge, "none", oracle->translations, &report) != LPL_OK)
		fail_msg("%s", report.text);
	if (stream_send(in, lpl_huge_sink(huge), 100, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return huge;
}

static void expect_regions(const struct lpl_huge *huge, const struct oracle_tlb *oracle)
{
	uint64_t small[LPL_HUGE_PAGES + 1] = {0}, all[LPL_HUGE_PAGES + 1] = {0}, regions = 0, touched = 0;
	struct lpl_huge_promotion promotion;

	for (size_t i = 0; i < oracle->touches; i++) {
		const uint64_t space = oracle->touch[i].space, region = oracle->touch[i].page / 512;
		bool again = false;

		for (size_t j = 0; j < i; j++)
			again |= oracle->touch[j].space == space && oracle->touch[j].page / 512 == region;
		if (again)
			continue;
		small[oracle_touched(oracle, space, region, true)]++;
		all[oracle_touched(oracle, space, region, false)]++;
	}
	for (unsigned int i = LPL_HUGE_PAGES; i > 0; i--) {
		const struct lpl_huge_regions found = lpl_huge_touched(huge, i);

		regions += small[i];
		touched += small[i] * i;
		if (found.small != small[i] || found.small + found.huge != all[i])
			fail_msg("regions of %u touched pages (seed %llu)", i,
				 (unsigned long long)random_seed());
		lpl_huge_promotion(huge, i, &promotion);
		assert_int_equal(promotion.regions, regions);
		assert_int_equal(promotion.touched, touched);
		assert_int_equal(promotion.wasted, (regions * 512 - touched) * 4096);
	}
}

static struct lpl_tlb *run(const char *spec, const struct oracle_tlb *oracle, const struct lpl_huge *huge,
			   const char *caches, const struct stream *in)
{
	const struct lpl_tlb_options options = {
		.translations = oracle->translations, .promote = oracle->promote,
		.huge = oracle->promote != 0 ? huge : NULL, .caches = caches
	};
	struct lpl_report report = {0};
	struct lpl_tlb *tlb;

	if (lpl_tlb_open(&tlb, spec, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	if (stream_send(in, lpl_tlb_sink(tlb), 100, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return tlb;
}

static void test_oracle(void **state)
{
	static struct oracle_tlb oracle;
	struct oracle_walks walks;
	struct random random = { random_seed() };
	struct stream in = {0};
	unsigned int stale = 0, invalidated = 0, tables = 0, unpaged = 0, promoted = 0, known = 0, found = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		char spec[2 * LPL_TLB_SPEC_SIZE], caches[LPL_CACHE_SPEC_SIZE];
		struct lpl_huge_promotion promotion;
		struct lpl_huge *huge;
		struct lpl_tlb *tlb;

		do {
			random_tlb(&random, &oracle);
			write_spec(&oracle, spec);
		} while (strlen(spec) >= LPL_TLB_SPEC_SIZE);
		random_caches(&random, &oracle, &walks, caches);
		oracle.walks = random_below(&random, 2) == 0 ? &walks : NULL;
		random_records(&random, random_below(&random, 250), oracle.translations, oracle.levels, &in);
		huge = find_regions(&oracle, &in);
		tlb = run(spec, &oracle, huge, oracle.walks != NULL ? caches : NULL, &in);
		oracle_tlb_run(&oracle, &in);
		expect_levels(tlb, &oracle, spec);
		if (oracle.walks != NULL)
			expect_walks(tlb, &walks, caches);
		known += walks.known[1] > 3 && walks.made_up[1] > 3;
		found += walks.found[1][0] > 3 && walks.found[1][3] > 3;
		expect_regions(huge, &oracle);
		stale += oracle.level[TLB_L2].stale != 0;
		invalidated += oracle.level[TLB_L1D].invalidations != 0 && !oracle.tags;
		tables += oracle.level[TLB_PDE].evictions != 0;
		unpaged += oracle.unpaged != 0;
		lpl_huge_promotion(huge, oracle.promote + 1, &promotion);
		promoted += oracle.promote != 0 && promotion.regions != 0;
		lpl_tlb_close(tlb);
		lpl_huge_close(huge);
		free(oracle.touch);
	}
	assert_true(stale > 100 && invalidated > 100 && tables > 100 && unpaged > 100 && promoted > 100);
	assert_true(known > 100 && found > 100);
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
