/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compressed caching; see laplace/compressed_cache.h.
 *
 * An image comes before the reference at which its page is evicted from the images' memory, of K pages.
 * A memory with a first level of K pages evicts it with that reference, so the image is what is
 * compressed then.  A larger one evicts it later, or not at all.  No reference to the page lies in between,
 * or its next image would be known by then; so what the page holds can have changed only by another
 * name of it, or a device.  Of a part of the references the same is true, but for what the others do.
 */
#include <laplace/compressed_cache.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/image.h>
#include <laplace/reducer.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "image/page_codec.h"
#include "reduce/pages.h"

#define NO_IMAGE UINT32_MAX

enum where {
	NOWHERE,	/* not referenced yet */
	RESIDENT,	/* in the first level */
	POOLED,
	HELD,		/* one word, which takes nothing */
	STORED		/* in the backing store */
};

/* A page in one memory. */
struct place {
	uint32_t newer, older;	/* in the list of its level */
	uint16_t bytes;		/* in the pool */
	uint8_t where;
	bool wrote;		/* since it was fetched to the first level */
	bool dirty;		/* since it was in the store */
};

/* place[0] is none; the newest and the oldest page of a level. */
struct level {
	uint32_t newest, oldest;
	uint64_t count;
};

struct memory {
	struct lpl_compressed_result result;
	size_t codec;
	uint32_t huge;		/* bytes; more than a page has: none is */
	struct place *place;	/* by number */
	size_t room;
	struct level first, pool;
	uint64_t pool_bytes;
	struct lpl_compressed_sample sample[LPL_COMPRESSED_SAMPLES];
	uint64_t interval;	/* references for each */
};

struct codec {
	char *name;
	struct lpl_page_codec *codec;
	struct lpl_map sizes;	/* by hash, + 1 */
	uint32_t *image;	/* of each page: its latest one's size; 0: one word; NO_IMAGE */
	size_t room;
};

struct lpl_compressed_cache {
	struct lpl_sink sink;
	uint64_t images, exact_from;
	uint32_t huge;
	struct lpl_image_reader reader;
	struct lpl_map numbers;		/* of pages, from 1 on */
	uint32_t pages;
	struct lpl_page latest;		/* and its number; 0: none */
	uint32_t latest_number;
	struct codec *codec;
	size_t codecs, codec_room;
	struct memory **memory;
	size_t memories, memory_room;
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a compressed cache");
}

/* ---- levels ---- */

static void leave(struct memory *memory, struct level *level, uint32_t number)
{
	struct place *place = memory->place, *page = &place[number];

	*(page->newer != 0 ? &place[page->newer].older : &level->newest) = page->older;
	*(page->older != 0 ? &place[page->older].newer : &level->oldest) = page->newer;
	level->count--;
}

static void enter(struct memory *memory, struct level *level, uint32_t number, enum where where)
{
	struct place *place = memory->place;

	place[number].where = (uint8_t)where;
	place[number].newer = 0;
	place[number].older = level->newest;
	*(level->newest != 0 ? &place[level->newest].newer : &level->oldest) = number;
	level->newest = number;
	level->count++;
}

/* ---- time ---- */

/* Two neighbours become one. */
static void halve(struct memory *memory)
{
	struct lpl_compressed_sample *sample = memory->sample;

	for (size_t i = 0; i < LPL_COMPRESSED_SAMPLES; i += 2) {
		const struct lpl_compressed_sample *a = &sample[i], *b = &sample[i + 1];

		sample[i / 2] = (struct lpl_compressed_sample){
			b->ref ? b->ref : a->ref, a->faults + b->faults, a->pool_hits + b->pool_hits,
			a->evicted + b->evicted, a->bytes + b->bytes
		};
	}
	memset(sample + LPL_COMPRESSED_SAMPLES / 2, 0,
	       LPL_COMPRESSED_SAMPLES / 2 * sizeof(*sample));
	memory->interval *= 2;
}

static struct lpl_compressed_sample *sample_at(struct memory *memory, uint64_t ref)
{
	while (ref / memory->interval >= LPL_COMPRESSED_SAMPLES)
		halve(memory);
	return &memory->sample[ref / memory->interval];
}

/* ---- a memory ---- */

static void store(struct memory *memory, uint32_t number)
{
	struct place *page = &memory->place[number];

	page->where = STORED;
	if (page->dirty)
		memory->result.bytes_written += LPL_IMAGE_BYTES;
	page->dirty = false;
}

static void pool(struct memory *memory, uint32_t number, uint32_t bytes)
{
	struct lpl_compressed_result *result = &memory->result;

	while (memory->pool_bytes + bytes > result->pool) {
		const uint32_t oldest = memory->pool.oldest;

		leave(memory, &memory->pool, oldest);
		memory->pool_bytes -= memory->place[oldest].bytes;
		result->pool_evictions++;
		store(memory, oldest);
	}
	memory->place[number].bytes = (uint16_t)bytes;
	memory->pool_bytes += bytes;
	if (memory->pool_bytes > result->pool_most)
		result->pool_most = memory->pool_bytes;
	enter(memory, &memory->pool, number, POOLED);
}

/* What was compressed to so many bytes takes `packed` in the pool, if it enters that. */
static bool enters_pool(const struct memory *memory, uint32_t bytes, uint32_t *packed)
{
	const bool huge = bytes >= memory->huge;

	*packed = huge ? LPL_IMAGE_BYTES : bytes;
	return (huge || bytes < LPL_IMAGE_BYTES) && *packed <= memory->result.pool;
}

static void evict(struct memory *memory, const struct codec *codec, uint64_t ref)
{
	struct lpl_compressed_result *result = &memory->result;
	const uint32_t number = memory->first.oldest;
	const uint32_t bytes = codec->image[number];
	uint32_t packed;
	struct lpl_compressed_sample *sample = sample_at(memory, ref);

	leave(memory, &memory->first, number);
	result->evictions++;
	result->dirty_evictions += memory->place[number].wrote;
	if (bytes == NO_IMAGE) {
		result->unknown++;
		store(memory, number);
		return;
	}
	if (bytes == 0) {
		result->filled++;
		memory->place[number].where = HELD;
		return;
	}
	const bool enters = enters_pool(memory, bytes, &packed);

	result->bytes_compressed += LPL_IMAGE_BYTES;
	result->bytes_packed += packed;
	sample->evicted++;
	sample->bytes += packed;
	if (!enters) {
		result->rejected++;
		store(memory, number);
		return;
	}
	result->compressed++;
	result->huge += bytes >= memory->huge;
	pool(memory, number, packed);
}

/* The page comes from where it is; first, so that it needs no room there any more. */
static void fetch(struct memory *memory, uint32_t number, uint64_t ref)
{
	struct lpl_compressed_result *result = &memory->result;
	struct lpl_compressed_sample *sample = sample_at(memory, ref);
	struct place *page = &memory->place[number];

	result->faults++;
	sample->faults++;
	switch (page->where) {
	case NOWHERE:
		result->cold_faults++;
		break;
	case STORED:
		result->store_faults++;
		result->bytes_read += LPL_IMAGE_BYTES;
		break;
	case POOLED:
		leave(memory, &memory->pool, number);
		memory->pool_bytes -= page->bytes;
		/* a huge one is there as it is */
		if (page->bytes < LPL_IMAGE_BYTES)
			result->bytes_decompressed += LPL_IMAGE_BYTES;
		result->pool_hits++;
		sample->pool_hits++;
		break;
	default:
		result->pool_hits++;
		sample->pool_hits++;
	}
}

static void refer(struct memory *memory, const struct codec *codec, uint32_t number,
		  const struct lpl_ref *ref)
{
	const bool write = lpl_is_write(ref);
	struct place *page = &memory->place[number];

	memory->result.references++;
	if (page->where == RESIDENT) {
		leave(memory, &memory->first, number);
	} else {
		fetch(memory, number, ref->ref);
		if (memory->first.count == memory->result.pages)
			evict(memory, codec, ref->ref);
		page->wrote = false;
	}
	enter(memory, &memory->first, number, RESIDENT);
	page->wrote |= write;
	page->dirty |= write;
	sample_at(memory, ref->ref)->ref = ref->ref;
}

/* ---- pages ---- */

static bool make_room(struct lpl_compressed_cache *cache, uint32_t number)
{
	for (size_t i = 0; i < cache->memories; i++)
		if (!lpl_reach(cache->memory[i]->place, cache->memory[i]->room, number))
			return false;
	for (size_t i = 0; i < cache->codecs; i++) {
		if (!lpl_reach(cache->codec[i].image, cache->codec[i].room, number))
			return false;
		cache->codec[i].image[number] = NO_IMAGE;
	}
	return true;
}

static enum lpl_error number_of(struct lpl_compressed_cache *cache, struct lpl_page page,
				uint32_t *number, struct lpl_report *report)
{
	uint64_t *known;

	if (cache->latest_number != 0 && lpl_same_page(page, cache->latest)) {
		*number = cache->latest_number;
		return LPL_OK;
	}
	known = lpl_map_reach(&cache->numbers, LPL_KEY(page.space, page.number));
	if (known == NULL)
		return no_memory(report);
	if (*known == 0) {
		if (cache->pages >= UINT32_MAX - 1)
			return lpl_fail(report, LPL_ERR_UNSUPPORTED, "more than 2^32 - 2 pages");
		*known = ++cache->pages;
		if (!make_room(cache, cache->pages))
			return no_memory(report);
	}
	*number = cache->latest_number = (uint32_t)*known;
	cache->latest = page;
	return LPL_OK;
}

/* ---- images ---- */

/* Contents are compressed when they come; an image without them is of some that the trace had before. */
static bool size_of(struct codec *codec, const struct lpl_image *image, uint32_t *size)
{
	const struct lpl_key key = LPL_KEY(image->hash.low, image->hash.high);

	if (image->bytes != NULL && lpl_map_get(&codec->sizes, key) == 0 &&
	    !lpl_map_put(&codec->sizes, key, lpl_page_codec_size(codec->codec, image->bytes) + 1))
		return false;
	*size = (uint32_t)lpl_map_get(&codec->sizes, key) - 1;
	return true;
}

static bool note_image(struct codec *codec, uint32_t number, const struct lpl_image *image)
{
	codec->image[number] = NO_IMAGE;
	if (image->kind == LPL_IMAGE_FILLED)
		codec->image[number] = 0;
	return image->kind != LPL_IMAGE_STORED || size_of(codec, image, &codec->image[number]);
}

/* ---- the stream ---- */

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_compressed_cache *cache = (struct lpl_compressed_cache *)sink;

	for (size_t i = 0; i < count; i++) {
		uint32_t number = 0;

		LPL_TRY(number_of(cache, lpl_page_of(&refs[i], LPL_PAGE_SHIFT), &number, report));
		for (size_t m = 0; m < cache->memories; m++)
			refer(cache->memory[m], &cache->codec[cache->memory[m]->codec], number, &refs[i]);
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_compressed_cache *cache = (struct lpl_compressed_cache *)sink;
	struct lpl_image image;
	uint32_t number = 0;

	if (!lpl_image_take(&cache->reader, event, &image))
		return LPL_OK;
	LPL_TRY(number_of(cache, (struct lpl_page){ image.space, image.address >> LPL_PAGE_SHIFT },
			  &number, report));
	for (size_t i = 0; i < cache->codecs; i++)
		if (!note_image(&cache->codec[i], number, &image))
			return no_memory(report);
	return LPL_OK;
}

static void count_end(struct lpl_compressed_cache *cache, struct memory *memory)
{
	struct lpl_compressed_result *result = &memory->result;

	result->end_compressed = memory->pool.count;
	result->end_bytes = memory->pool_bytes;
	for (uint32_t number = 1; number <= cache->pages; number++) {
		const struct place *page = &memory->place[number];

		result->end_filled += page->where == HELD;
		result->end_huge += page->where == POOLED && page->bytes == LPL_IMAGE_BYTES;
	}
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_compressed_cache *cache = (struct lpl_compressed_cache *)sink;

	(void)report;
	for (size_t m = 0; m < cache->memories; m++) {
		struct memory *memory = cache->memory[m];
		size_t *samples = &memory->result.samples;

		count_end(cache, memory);
		memory->result.sample = memory->sample;
		*samples = LPL_COMPRESSED_SAMPLES;
		while (*samples > 0 && memory->sample[*samples - 1].ref == 0)
			(*samples)--;
	}
	return LPL_OK;
}

/* ---- opening and closing ---- */

enum lpl_error lpl_compressed_cache_open(struct lpl_compressed_cache **result,
					 const struct lpl_compressed_options *options,
					 struct lpl_report *report)
{
	struct lpl_compressed_cache *cache = calloc(1, sizeof(*cache));
	struct lpl_exactness exactness;

	*result = cache;
	if (cache == NULL)
		return no_memory(report);
	cache->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	cache->images = options->images;
	cache->huge = options->huge != 0 ? options->huge : LPL_IMAGE_BYTES + 1;
	if (options->part == LPL_PART_ALL && lpl_reduction_exactness(options->reduction, &exactness))
		cache->exact_from = exactness.lru;
	lpl_image_reader_init(&cache->reader);
	lpl_map_init(&cache->numbers, 2);
	return LPL_OK;
}

/* Where it is among those that there are; a new one comes last. */
static enum lpl_error reach_codec(struct lpl_compressed_cache *cache, const char *name, size_t *index,
				  struct lpl_report *report)
{
	struct codec *codec;

	for (*index = 0; *index < cache->codecs; (*index)++)
		if (strcmp(cache->codec[*index].name, name) == 0)
			return LPL_OK;
	if (!lpl_reach(cache->codec, cache->codec_room, cache->codecs))
		return no_memory(report);
	codec = &cache->codec[cache->codecs];
	LPL_TRY(lpl_page_codec_open(&codec->codec, name, report));
	codec->name = strdup(name);
	if (codec->name == NULL) {
		lpl_page_codec_close(codec->codec);
		return no_memory(report);
	}
	lpl_map_init(&codec->sizes, 2);
	cache->codecs++;
	return LPL_OK;
}

enum lpl_error lpl_compressed_cache_add(struct lpl_compressed_cache *cache, const char *name,
					uint64_t pages, uint64_t pool_bytes, struct lpl_report *report)
{
	struct memory *memory;
	size_t index;

	assert(cache->pages == 0);
	if (pages < cache->images)
		return lpl_fail(report, LPL_ERR_USAGE, "the images are of what a memory of %llu pages "
				"evicts: one of %llu evicts pages of which there is no image yet",
				(unsigned long long)cache->images, (unsigned long long)pages);
	LPL_TRY(reach_codec(cache, name, &index, report));
	if (!lpl_reach(cache->memory, cache->memory_room, cache->memories))
		return no_memory(report);
	memory = calloc(1, sizeof(*memory));
	if (memory == NULL)
		return no_memory(report);
	memory->codec = index;
	memory->huge = cache->huge;
	memory->interval = 1024;
	memory->result = (struct lpl_compressed_result){
		.codec = cache->codec[index].name, .pages = pages, .pool = pool_bytes,
		.exact = pages == cache->images && cache->exact_from != 0 && pages >= cache->exact_from
	};
	cache->memory[cache->memories++] = memory;
	return LPL_OK;
}

struct lpl_sink *lpl_compressed_cache_sink(struct lpl_compressed_cache *cache)
{
	return &cache->sink;
}

size_t lpl_compressed_cache_count(const struct lpl_compressed_cache *cache)
{
	return cache->memories;
}

const struct lpl_compressed_result *
lpl_compressed_cache_result(const struct lpl_compressed_cache *cache, size_t index)
{
	return &cache->memory[index]->result;
}

void lpl_compressed_cache_close(struct lpl_compressed_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < cache->memories; i++) {
		free(cache->memory[i]->place);
		free(cache->memory[i]);
	}
	for (size_t i = 0; i < cache->codecs; i++) {
		free(cache->codec[i].name);
		lpl_page_codec_close(cache->codec[i].codec);
		lpl_map_free(&cache->codec[i].sizes);
		free(cache->codec[i].image);
	}
	lpl_map_free(&cache->numbers);
	free(cache->memory);
	free(cache->codec);
	free(cache);
}
