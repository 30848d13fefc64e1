/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hardware caches against brute force, of random shapes; and what cache_exact.c says is exact on
 * reduced traces.
 */
#include "oracle_lines.h"
#include "play.h"
#include "trial.h"

#include <laplace/cache.h>

#include <stdio.h>
#include <string.h>

static const char *const names[ORACLE_LEVELS] = { "l1", "l1i", "l1d", "l2", "l3", "memory" };

/* Accesses of 1 to 64 bytes that do not cross a page, to a few places in two spaces. */
static void random_accesses(struct random *random, size_t count, struct stream *out)
{
	const uint32_t reach = 64U << random_below(random, 8);
	uint64_t at[3];

	stream_clear(out);
	for (size_t i = 0; i < 3; i++)
		at[i] = random_next(random) >> (random_below(random, 2) == 0 ? 0 : 40);
	for (size_t i = 0; i < count; i++) {
		struct lpl_ref ref = { .ref = i + 1, .instr = i + 1, .cycle = i + 1,
				       .space = 1 + random_below(random, 8) / 7,
				       .type = (uint8_t)random_below(random, LPL_TYPES),
				       .length = (uint16_t)(1 + random_below(random, 64)) };

		ref.address = (at[random_below(random, 3)] & ~UINT64_C(0xffff)) + random_below(random, reach);
		if (ref.address % 4096 + ref.length > 4096)
			ref.address -= 64;
		if (ref.type >= LPL_WALK_READ) {
			ref.address -= ref.address % 8;
			ref.length = 8;
		}
		stream_add_ref(out, &ref);
	}
}

static void random_level(struct random *random, struct oracle_cache *cache, int i, uint32_t line, char *spec)
{
	static const char *const replacements[] = { "lru", "plru", "random" };
	struct oracle_level *level = &cache->level[i];
	char text[80];

	*level = (struct oracle_level){ .line = line, .sets = 1U << random_below(random, 4),
					.replacement = (int)random_below(random, 3) };
	level->ways = level->replacement == ORACLE_PLRU ? 1U << random_below(random, 4) :
							  1 + random_below(random, 6);
	level->seed = random_below(random, 1000);
	if (cache->relation != ORACLE_EXCLUSIVE) {
		level->through = random_below(random, 3) == 0;
		level->around = random_below(random, 3) == 0 &&
				(i < ORACLE_L2 || cache->relation != ORACLE_INCLUSIVE);
	}
	(void)snprintf(text, sizeof(text), "%s%s=%u/%u/%u/%s", *spec != '\0' ? ":" : "", names[i],
		       level->sets * level->ways * line, level->ways, line,
		       replacements[level->replacement]);
	strcat(spec, text);
	if (level->replacement == ORACLE_RANDOM)
		(void)snprintf(spec + strlen(spec), 32, "=%u", (unsigned int)level->seed);
	if (level->through)
		strcat(spec, "/through");
	if (level->around)
		strcat(spec, "/around");
}

/* One to three levels, the first perhaps in two. */
static void random_cache(struct random *random, struct oracle_cache *cache, char *spec)
{
	const uint32_t levels = 1 + random_below(random, 3);
	uint32_t line = 16U << random_below(random, 4);
	const bool apart = random_below(random, 2) == 0;

	*spec = '\0';
	*cache = (struct oracle_cache){ .relation = levels > 1 ? (int)random_below(random, 3) : 0 };
	if (apart)
		random_level(random, cache, ORACLE_L1I, line, spec);
	random_level(random, cache, apart ? ORACLE_L1D : ORACLE_L1, line, spec);
	for (uint32_t i = 1; i < levels; i++) {
		if (cache->relation != ORACLE_EXCLUSIVE)
			line <<= random_below(random, 2);
		random_level(random, cache, ORACLE_L2 + (int)i - 1, line, spec);
	}
	if (cache->relation != ORACLE_NEITHER)
		strcat(spec, cache->relation == ORACLE_INCLUSIVE ? ":inclusive" : ":exclusive");
}

static struct lpl_cache *run(const char *spec, const char *reduction, const struct stream *in)
{
	const struct lpl_cache_options options = { .reduction = reduction };
	struct lpl_report report = {0};
	struct lpl_cache *cache;

	if (lpl_cache_open(&cache, spec, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	if (stream_send(in, lpl_cache_sink(cache), 100, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return cache;
}

static bool equals(const struct lpl_cache_level *level, const struct oracle_level *expected)
{
	return memcmp(level->references, expected->references, sizeof(level->references)) == 0 &&
	       memcmp(level->misses, expected->misses, sizeof(level->misses)) == 0 &&
	       level->evictions == expected->evictions && level->write_backs == expected->write_backs &&
	       level->written == expected->written && level->invalidations == expected->invalidations;
}

static void show(const char *what, const uint64_t *references, const uint64_t *misses, uint64_t evictions,
		 uint64_t write_backs, uint64_t written, uint64_t invalidations)
{
	(void)fprintf(stderr, "%s: references %llu %llu %llu, misses %llu %llu %llu, %llu evictions, "
		      "%llu write-backs, %llu written, %llu invalidations\n", what,
		      (unsigned long long)references[0], (unsigned long long)references[1],
		      (unsigned long long)references[2], (unsigned long long)misses[0],
		      (unsigned long long)misses[1], (unsigned long long)misses[2],
		      (unsigned long long)evictions, (unsigned long long)write_backs,
		      (unsigned long long)written, (unsigned long long)invalidations);
}

static void expect_levels(const struct lpl_cache *cache, const struct oracle_cache *oracle, const char *spec)
{
	for (size_t i = 0, j = 0; i < lpl_cache_levels(cache); i++, j++) {
		const struct lpl_cache_level *level = lpl_cache_level(cache, i);
		const struct oracle_level *expected;

		while (strcmp(names[j], level->name) != 0)
			j++;
		expected = &oracle->level[j];
		if (equals(level, expected))
			continue;
		show("the library's", level->references, level->misses, level->evictions, level->write_backs,
		     level->written, level->invalidations);
		show("expected", expected->references, expected->misses, expected->evictions,
		     expected->write_backs, expected->written, expected->invalidations);
		fail_msg("%s: %s differs (seed %llu)", spec, level->name, (unsigned long long)random_seed());
	}
}

static void test_oracle(void **state)
{
	struct random random = { random_seed() };
	struct stream in = {0};
	unsigned int kinds[3] = {0}, invalidated = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		char spec[LPL_CACHE_SPEC_SIZE];
		struct oracle_cache oracle;
		struct lpl_cache *cache;

		random_accesses(&random, random_below(&random, 250), &in);
		random_cache(&random, &oracle, spec);
		cache = run(spec, NULL, &in);
		oracle_cache_run(&oracle, &in);
		expect_levels(cache, &oracle, spec);
		kinds[oracle.relation]++;
		invalidated += oracle.level[ORACLE_L1].invalidations != 0 && oracle.level[ORACLE_L1].write_backs != 0;
		lpl_cache_close(cache);
	}
	assert_true(kinds[0] > 300 && kinds[1] > 300 && kinds[2] > 300 && invalidated > 30);
	stream_free(&in);
}

/* What is exact of a reduced trace. */
static bool same_but_types(const struct lpl_cache *a, const struct lpl_cache *b)
{
	for (size_t i = 0; i < lpl_cache_levels(a); i++) {
		const struct lpl_cache_level *one = lpl_cache_level(a, i), *other = lpl_cache_level(b, i);
		uint64_t misses = 0, references = 0;

		for (int j = 0; j < LPL_CACHE_ACCESSES; j++) {
			misses += one->misses[j] - other->misses[j];
			references += one->references[j] - other->references[j];
		}
		if (misses != 0 || (i > 0 && references != 0) || one->evictions != other->evictions ||
		    one->write_backs != other->write_backs || one->written != other->written)
			return false;
	}
	return true;
}

/*
 * Reduced with lines for pages: what is not refused is exact; and that which is refused is not always,
 * when it is simulated all the same.
 */
static void test_reduced(void **state)
{
	static const char *const methods[] = { "block", "window", "sad", "olr", "sad2", "block:128+sad" };
	static const char *const below[] = { "", ":l2=2K/4/128", ":l2=2K/8/64/plru:exclusive",
					     ":l2=1K/2/64/random=3/through:l3=8K/4/128", ":l2=1K/2/64:inclusive" };
	struct random random = { random_seed() + 1 };
	struct stream in = {0}, reduced = {0};
	unsigned int exact = 0, refused = 0, needed = 0;

	(void)state;
	for (unsigned int number = 0; number < 1500; number++) {
		const uint32_t k = 1 + random_below(&random, 6), ways = 1 + random_below(&random, 8);
		const uint32_t sets = 1U << random_below(&random, 3);
		const uint32_t method = random_below(&random, 6);
		char reduction[64], spec[LPL_CACHE_SPEC_SIZE];
		struct lpl_cache_options options = { .reduction = reduction };
		struct lpl_cache *raw, *tried;
		struct lpl_report report = {0};

		(void)snprintf(reduction, sizeof(reduction), method == 0 ? "block:64" :
			       method == 5 ? "%s:%u" : "block:64+%s:%u", methods[method], k);
		(void)snprintf(spec, sizeof(spec), "l1=%u/%u/64%s", sets * ways * 64, ways,
			       below[random_below(&random, 5)]);
		random_accesses(&random, 50 + random_below(&random, 400), &in);
		stream_clear(&reduced);
		reduce_stream(reduction, &in, 64, &reduced);
		raw = run(spec, NULL, &in);
		if (lpl_cache_open(&tried, spec, &options, &report) == LPL_OK) {
			assert_false(lpl_cache_by_type(tried));
			lpl_cache_close(tried);
			tried = run(spec, reduction, &reduced);
			exact++;
			if (!same_but_types(raw, tried))
				fail_msg("%s on %s is not exact (seed %llu)", spec, reduction,
					 (unsigned long long)random_seed());
		} else {
			assert_int_equal(report.error, LPL_ERR_USAGE);
			tried = run(spec, NULL, &reduced);
			refused++;
			needed += !same_but_types(raw, tried);
		}
		lpl_cache_close(tried);
		lpl_cache_close(raw);
	}
	assert_true(exact > 300 && refused > 300 && needed > 100);
	stream_free(&in);
	stream_free(&reduced);
}

/* A fully associative cache is an LRU memory of lines. */
static void test_full(void **state)
{
	struct random random = { random_seed() + 2 };
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 100; number++) {
		const uint32_t lines = 1U << random_below(&random, 5);
		struct lpl_simulator_options options = { .jobs = 1, .page_size = 32 };
		struct lpl_report report = {0};
		struct lpl_simulator *simulator;
		const struct lpl_result *result;
		const struct lpl_cache_level *level;
		struct lpl_cache *cache;
		char spec[48], size[16];
		size_t count;

		random_accesses(&random, random_below(&random, 400), &in);
		(void)snprintf(spec, sizeof(spec), "l1=%u/full/32", lines * 32);
		(void)snprintf(size, sizeof(size), "%u", lines);
		cache = run(spec, NULL, &in);
		level = lpl_cache_level(cache, 0);
		assert_int_equal(lpl_simulator_open(&simulator, &options, &report), LPL_OK);
		add_policy(simulator, "lru", size);
		send_all(simulator, &in, 64);
		result = lpl_simulator_results(simulator, 0, &count);
		assert_int_equal(level->misses[0] + level->misses[1] + level->misses[2], result->faults);
		assert_int_equal(level->references[0] + level->references[1] + level->references[2],
				 result->references);
		assert_int_equal(level->evictions, result->evictions);
		assert_int_equal(level->write_backs, result->dirty_evictions);
		lpl_simulator_close(simulator);
		lpl_cache_close(cache);
	}
	stream_free(&in);
}

static void test_refused(void **state)
{
	static const struct {
		const char *spec, *reduction;
	} bad[] = {
		{ "", NULL }, { "l1", NULL }, { "l1=1K", NULL }, { "l1=1K/2", NULL }, { "l1=1K/2/64:", NULL },
		{ "l1=1K/2/8", NULL }, { "l1=1K/2/8192", NULL }, { "l1=1K/2/48", NULL }, { "l1=1K/0/64", NULL },
		{ "l1=1K/3/64", NULL }, { "l1=1000/2/64", NULL }, { "l1=0/2/64", NULL }, { "l1=1K/x/64", NULL },
		{ "l1=64G/2/64", NULL }, { "l1=99999999999999999999/2/64", NULL }, { "l1=1K/2/64/fifo", NULL },
		{ "l1=1K/2/64/random", NULL }, { "l1=1K/2/64/random=", NULL }, { "l1=1K/2/64/random=x", NULL },
		{ "l1=1K/2/64/", NULL }, { "l1=8K/128/64/plru", NULL }, { "l1=768/3/64/plru", NULL },
		{ "l1=1K/2/64:l1=1K/2/64", NULL }, { "l1i=1K/2/64", NULL }, { "l1d=1K/2/64", NULL },
		{ "l1=1K/2/64:l1i=1K/2/64", NULL }, { "l2=1K/2/64", NULL }, { "l1=1K/2/64:l3=1K/2/64", NULL },
		{ "l1=1K/2/64:l4=1K/2/64", NULL }, { "l1=1K/2/64:inclusive", NULL },
		{ "l1=1K/2/64:l2=1K/2/32", NULL }, { "l1=1K/2/64:l2=1K/2/128:exclusive", NULL },
		{ "l1=1K/2/64/through:l2=1K/2/64:exclusive", NULL },
		{ "l1=1K/2/64:l2=1K/2/64/around:inclusive", NULL },
		/* of reduced traces */
		{ "l1=1K/8/64", "block:64+sad:9" }, { "l1=1K/8/64", "sad:4" }, { "l1=1K/8/64/plru", "block:64+sad:4" },
		{ "l1=1K/8/64/through", "block:64+sad:4" }, { "l1i=1K/8/64:l1d=1K/8/64", "block:64+sad:4" },
		{ "l1=1K/8/64:l2=1K/8/64:inclusive", "block:64+sad:4" }, { "l1=1K/8/64", "block:64+sd:4" },
		{ "l1=1K/8/64", "block:64+olr:4" }, { "l1=1K/8/64", "later:4" }, { "l1=1K/full/64", "block:64+lrubs:4" },
	};
	static const char *const good[][2] = {
		{ "l1=1K/8/64", "block:64+sad:8" }, { "l1=1K/full/64", "block:64+olr:16" },
		{ "l1=64K/8/4096", "sad:8" }, { "l1=1K/8/128", "block:64+sad:8" }, { "l1=1K/8/64", "fence" },
	};
	struct lpl_cache *cache;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct lpl_cache_options options = { .reduction = bad[i].reduction };
		struct lpl_report report = {0};

		if (lpl_cache_open(&cache, bad[i].spec, &options, &report) != LPL_ERR_USAGE)
			fail_msg("'%s' is taken", bad[i].spec);
		assert_int_equal(report.error, LPL_ERR_USAGE);
		assert_null(cache);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct lpl_cache_options options = { .reduction = good[i][1] };

		assert_int_equal(lpl_cache_open(&cache, good[i][0], &options, NULL), LPL_OK);
		assert_int_equal(lpl_cache_by_type(cache), strcmp(good[i][1], "fence") == 0);
		lpl_cache_close(cache);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_reduced),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
