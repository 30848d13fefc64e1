/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compressed caching against the rules of docs/simulation.md, carried out word by word on lists: of each
 * reference where its page is found, and of each eviction where the page goes; what a page holds is what the
 * guest's memory held then (image_guest.h), and not what images say.  zstd is called as its manual says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <laplace/compressed_cache.h>
#include <laplace/image.h>

#include "image_guest.h"
#include "trial.h"

enum { TRIALS = 300 };

/* ---- by the rules ---- */

struct list {
	uint32_t page[IMAGE_PAGES];	/* the newest first */
	uint32_t count;
};

struct rules {
	struct lpl_compressed_result result;
	struct list first, pool, held, stored;
	size_t huge;			/* 0: none is */
	bool dirty[IMAGE_PAGES], wrote[IMAGE_PAGES];
	uint32_t bytes[IMAGE_PAGES];	/* in the pool */
	uint64_t pool_bytes;
	int level;
};

static bool take(struct list *list, uint32_t page)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->page[i] != page)
			continue;
		memmove(list->page + i, list->page + i + 1, (--list->count - i) * sizeof(page));
		return true;
	}
	return false;
}

static void put(struct list *list, uint32_t page)
{
	memmove(list->page + 1, list->page, list->count++ * sizeof(page));
	list->page[0] = page;
}

static void to_store(struct rules *rules, uint32_t page)
{
	put(&rules->stored, page);
	rules->result.bytes_written += rules->dirty[page] ? 4096 : 0;
	rules->dirty[page] = false;
}

/* `bytes`: what the page holds; NULL: it is not known. */
static void evicted(struct rules *rules, uint32_t page, const uint8_t *bytes)
{
	static uint8_t out[8192];
	struct lpl_compressed_result *result = &rules->result;
	bool one_word = bytes != NULL;
	size_t size;

	result->evictions++;
	result->dirty_evictions += rules->wrote[page];
	for (size_t i = 8; bytes && i < 4096; i++)
		one_word &= bytes[i] == bytes[i - 8];
	if (!bytes) {
		result->unknown++;
		to_store(rules, page);
		return;
	}
	if (one_word) {
		result->filled++;
		put(&rules->held, page);
		return;
	}
	size = ZSTD_compress(out, sizeof(out), bytes, 4096, rules->level);
	assert_false(ZSTD_isError(size));
	size = size > 4096 ? 4096 : size;
	const bool huge = rules->huge != 0 && size >= rules->huge;

	size = huge ? 4096 : size;
	result->bytes_compressed += 4096;
	result->bytes_packed += size;
	if ((size == 4096 && !huge) || size > result->pool) {
		result->rejected++;
		to_store(rules, page);
		return;
	}
	result->compressed++;
	result->huge += huge;
	while (rules->pool_bytes + size > result->pool) {
		const uint32_t oldest = rules->pool.page[rules->pool.count - 1];

		assert_true(take(&rules->pool, oldest));
		rules->pool_bytes -= rules->bytes[oldest];
		result->pool_evictions++;
		to_store(rules, oldest);
	}
	rules->bytes[page] = (uint32_t)size;
	rules->pool_bytes += size;
	put(&rules->pool, page);
	if (rules->pool_bytes > result->pool_most)
		result->pool_most = rules->pool_bytes;
}

/* *image: the next of those that the guest showed. */
static void referenced(struct rules *rules, uint32_t page, bool write, size_t *image)
{
	struct lpl_compressed_result *result = &rules->result;

	result->references++;
	if (!take(&rules->first, page)) {
		result->faults++;
		rules->wrote[page] = false;
		if (take(&rules->pool, page)) {
			rules->pool_bytes -= rules->bytes[page];
			if (rules->bytes[page] != 4096)
				result->bytes_decompressed += 4096;
			result->pool_hits++;
		} else if (take(&rules->held, page)) {
			result->pool_hits++;
		} else if (take(&rules->stored, page)) {
			result->store_faults++;
			result->bytes_read += 4096;
		} else {
			result->cold_faults++;
		}
		if (rules->first.count == result->pages) {
			const uint32_t victim = rules->first.page[rules->first.count - 1];
			const struct image_shown *shown = &image_shown[(*image)++];

			assert_int_equal(shown->page, victim);
			assert_true(take(&rules->first, victim));
			evicted(rules, victim, victim == IMAGE_PAGES - 1 ? NULL : shown->bytes);
		}
	}
	put(&rules->first, page);
	rules->wrote[page] |= write;
	rules->dirty[page] |= write;
}

/* ---- a trial ---- */

static void expect_same(const struct lpl_compressed_result *got, const struct lpl_compressed_result *wanted)
{
#define SAME(name) assert_int_equal(got->name, wanted->name)
	SAME(pages); SAME(pool); SAME(references); SAME(faults); SAME(evictions); SAME(dirty_evictions);
	SAME(cold_faults); SAME(pool_hits); SAME(store_faults); SAME(filled); SAME(compressed);
	SAME(rejected); SAME(unknown); SAME(pool_evictions); SAME(bytes_compressed); SAME(bytes_packed);
	SAME(bytes_decompressed); SAME(bytes_written); SAME(bytes_read); SAME(pool_most); SAME(huge);
	SAME(end_filled); SAME(end_compressed); SAME(end_huge); SAME(end_bytes);
#undef SAME
	assert_true(got->exact);
}

static void at_the_end(struct rules *rules)
{
	struct lpl_compressed_result *result = &rules->result;

	result->end_filled = rules->held.count;
	result->end_compressed = rules->pool.count;
	for (uint32_t i = 0; i < rules->pool.count; i++) {
		const uint32_t bytes = rules->bytes[rules->pool.page[i]];

		result->end_bytes += bytes;
		result->end_huge += bytes == 4096;
	}
}

/* What is over time is all there is, in parts. */
static void expect_samples(const struct lpl_compressed_result *result)
{
	struct lpl_compressed_sample sum = { 0 };
	uint64_t ref = 0;

	for (size_t i = 0; i < result->samples; i++) {
		const struct lpl_compressed_sample *sample = &result->sample[i];

		assert_true(sample->ref == 0 || sample->ref > ref);
		ref = sample->ref > ref ? sample->ref : ref;
		sum.faults += sample->faults;
		sum.pool_hits += sample->pool_hits;
		sum.evicted += sample->evicted;
		sum.bytes += sample->bytes;
	}
	assert_int_equal(sum.faults, result->faults);
	assert_int_equal(sum.pool_hits, result->pool_hits);
	assert_int_equal(sum.evicted * 4096, result->bytes_compressed);
	assert_int_equal(sum.bytes, result->bytes_packed);
}

/* A long trace has more references than there are samples. */
static void stretch(struct stream *stream, uint64_t times)
{
	for (size_t i = 0; i < stream->count; i++) {
		stream->item[i].ref.ref *= times;
		stream->item[i].event.ref *= times;
	}
}

static void memories_keep_the_rules(void **unused)
{
	static const uint64_t pools[] = { 0, 20, 60, 300, 4096, 1 << 20 };
	struct stream stream = { 0 }, reduced = { 0 };

	(void)unused;
	for (unsigned int trial = 0; trial < TRIALS; trial++) {
		const uint32_t room = 2 + trial % 9;
		struct lpl_compressed_cache *cache;
		struct lpl_report report;

		print_message("seed %u\n", 5000 + trial);
		image_guest_seed(5000 + trial);
		image_guest_play(room, &stream);
		if (trial % 3 == 0)
			stretch(&stream, 1 + image_guest_below(5000));
		const bool reduces = trial % 2 != 0;
		if (reduces) {
			stream_clear(&reduced);
			reduce_stream("window:2+sad:2", &stream, 5, &reduced);
		}
		const uint32_t huge = trial % 5 < 2 ? 0 : 12 + image_guest_below(40);
		const struct lpl_compressed_options options = {
			.images = room, .reduction = reduces ? "window:2+sad:2" : NULL, .huge = huge
		};

		assert_int_equal(lpl_compressed_cache_open(&cache, &options, &report), LPL_OK);
		for (size_t p = 0; p < sizeof(pools) / sizeof(pools[0]); p++)
			assert_int_equal(lpl_compressed_cache_add(cache, p % 2 ? "zstd:1" : "zstd:3", room,
								  pools[p], &report), LPL_OK);
		assert_int_equal(stream_send(reduces ? &reduced : &stream, lpl_compressed_cache_sink(cache),
					     7, &report), LPL_OK);
		for (size_t p = 0; p < sizeof(pools) / sizeof(pools[0]); p++) {
			struct rules rules = { .result = { .pages = room, .pool = pools[p] },
					       .level = p % 2 ? 1 : 3, .huge = huge };
			const struct stream *what = reduces ? &reduced : &stream;
			size_t image = 0;

			for (size_t i = 0; i < what->count; i++)
				if (!what->item[i].is_event)
					referenced(&rules, (uint32_t)(what->item[i].ref.address >> 12),
						   what->item[i].ref.type == LPL_WRITE, &image);
			at_the_end(&rules);
			expect_same(lpl_compressed_cache_result(cache, p), &rules.result);
			expect_samples(lpl_compressed_cache_result(cache, p));
		}
		lpl_compressed_cache_close(cache);
	}
	stream_free(&stream);
	stream_free(&reduced);
}

/* ---- what is asked for ---- */

static void requests(void **unused)
{
	struct lpl_compressed_cache *cache;
	struct lpl_report report;

	(void)unused;
	assert_int_equal(lpl_compressed_cache_open(&cache, &(struct lpl_compressed_options){ .images = 16,
						   .reduction = "sad:32" }, &report), LPL_OK);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd", 15, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(lpl_compressed_cache_add(cache, "gzip", 16, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd:0", 16, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd:20", 16, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd:x", 16, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(lpl_compressed_cache_count(cache), 0);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd:-3", 16, 0, &report), LPL_OK);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd", 32, 0, &report), LPL_OK);
	/* sad:32 claims nothing for 16 pages, and the images nothing for 32 */
	assert_false(lpl_compressed_cache_result(cache, 0)->exact);
	assert_false(lpl_compressed_cache_result(cache, 1)->exact);
	assert_int_equal(lpl_compressed_cache_count(cache), 2);
	lpl_compressed_cache_close(cache);
	/* the images' memory has all references */
	assert_int_equal(lpl_compressed_cache_open(&cache, &(struct lpl_compressed_options){ .images = 16,
						   .part = LPL_PART_PAGES }, &report), LPL_OK);
	assert_int_equal(lpl_compressed_cache_add(cache, "zstd", 16, 0, &report), LPL_OK);
	assert_false(lpl_compressed_cache_result(cache, 0)->exact);
	lpl_compressed_cache_close(cache);
	lpl_compressed_cache_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memories_keep_the_rules),
		cmocka_unit_test(requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
