/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles for policies of caches: those of few rules. */
#include "oracle_cache.h"

#include "cache_play.h"

/* ---- FIFO ---- */

struct counts oracle_fifo(const struct trace *trace, uint64_t size)
{
	struct cache cache = cache_for(trace, size);
	struct queue fetched = queue_for(trace);	/* the head came first */

	for (size_t now = 0; now < trace->count; now++) {
		if (cache_hit(&cache, now))
			continue;
		if (cache_full(&cache))
			cache_evict(&cache, queue_take_head(&fetched));
		cache_fetch(&cache, now);
		queue_put_tail(&fetched, trace->page[now]);
	}
	free(fetched.page);
	return cache_end(&cache);
}

/* ---- MRU ---- */

struct counts oracle_mru(const struct trace *trace, uint64_t size)
{
	struct cache cache = cache_for(trace, size);

	for (size_t now = 0; now < trace->count; now++) {
		if (cache_hit(&cache, now))
			continue;
		if (cache_full(&cache))
			cache_evict(&cache, trace->page[now - 1]);
		cache_fetch(&cache, now);
	}
	return cache_end(&cache);
}

/* ---- random ---- */

/* The n-th number from 1 on of SplitMix64: a function of seed and n alone. */
static uint64_t split_mix(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + n * UINT64_C(11400714819323198485);

	z ^= z >> 30;
	z *= UINT64_C(13787848793156543929);
	z ^= z >> 27;
	z *= UINT64_C(10723151780598845931);
	return z ^ z >> 31;
}

/* a b / 2^64 for b below 2^32 */
static uint64_t part_of(uint64_t a, uint64_t b)
{
	return ((a >> 32) * b + ((a & UINT32_MAX) * b >> 32)) >> 32;
}

struct counts oracle_random(const struct trace *trace, uint64_t size, uint64_t seed)
{
	struct cache cache = cache_for(trace, size);
	uint32_t *frame = cache_room(trace->pages, sizeof(*frame));

	for (size_t now = 0; now < trace->count; now++) {
		uint64_t at = cache.used;

		if (cache_hit(&cache, now))
			continue;
		if (cache_full(&cache)) {
			at = part_of(split_mix(seed, cache.counts.evictions + 1), size);
			cache_evict(&cache, frame[at]);
		}
		cache_fetch(&cache, now);
		frame[at] = trace->page[now];
	}
	free(frame);
	return cache_end(&cache);
}

/* ---- LFU ---- */

struct counts oracle_lfu(const struct trace *trace, uint64_t size)
{
	struct cache cache = cache_for(trace, size);
	uint64_t *frequency = cache_room(trace->pages, sizeof(*frequency));
	size_t *last = cache_room(trace->pages, sizeof(*last));

	for (size_t now = 0; now < trace->count; now++) {
		const uint32_t page = trace->page[now];
		uint32_t victim = trace->pages;

		if (cache_again(&cache, now))
			continue;
		last[page] = now;
		if (cache_hit(&cache, now)) {
			frequency[page]++;
			continue;
		}
		for (uint32_t i = 0; i < trace->pages && cache_full(&cache); i++)
			if (cache.here[i] && (victim == trace->pages ||
					      frequency[i] < frequency[victim] ||
					      (frequency[i] == frequency[victim] &&
					       last[i] < last[victim])))
				victim = i;
		if (victim != trace->pages)
			cache_evict(&cache, victim);
		cache_fetch(&cache, now);
		frequency[page] = 1;
	}
	free(frequency);
	free(last);
	return cache_end(&cache);
}

/* ---- SIEVE ---- */

/* The paper's algorithm 1, line by line; `hand` is a page, or none. */
struct counts oracle_sieve(const struct trace *trace, uint64_t size)
{
	struct cache cache = cache_for(trace, size);
	struct queue queue = queue_for(trace);
	bool *visited = cache_room(trace->pages, sizeof(*visited));
	const uint32_t none = trace->pages;
	uint32_t hand = none;

	for (size_t now = 0; now < trace->count; now++) {
		if (cache_again(&cache, now))
			continue;
		if (cache_hit(&cache, now)) {
			visited[trace->page[now]] = true;
			continue;
		}
		if (cache_full(&cache)) {
			uint32_t o = hand;
			size_t place;

			if (o == none)
				o = queue.page[queue.count - 1];
			while (visited[o]) {
				visited[o] = false;
				place = queue_place(&queue, o);
				o = place > 0 ? queue.page[place - 1] : queue.page[queue.count - 1];
			}
			place = queue_place(&queue, o);
			hand = place > 0 ? queue.page[place - 1] : none;
			queue_remove(&queue, o);
			cache_evict(&cache, o);
		}
		cache_fetch(&cache, now);
		queue_put_head(&queue, trace->page[now]);
		visited[trace->page[now]] = false;
	}
	free(queue.page);
	free(visited);
	return cache_end(&cache);
}

/* ---- S3-FIFO ---- */

struct s3fifo {
	struct cache cache;
	struct queue s, m, g;
	uint64_t *freq;
	uint64_t small, ghosts, hits;
};

static void evict_m(struct s3fifo *s3fifo)
{
	bool evicted = false;

	while (!evicted && s3fifo->m.count > 0) {
		const uint32_t t = queue_take_tail(&s3fifo->m);

		if (s3fifo->freq[t] > 0) {
			queue_put_head(&s3fifo->m, t);
			s3fifo->freq[t]--;
		} else {
			cache_evict(&s3fifo->cache, t);
			evicted = true;
		}
	}
}

static void evict_s(struct s3fifo *s3fifo)
{
	bool evicted = false;

	while (!evicted && s3fifo->s.count > 0) {
		const uint32_t t = queue_take_tail(&s3fifo->s);

		if (s3fifo->freq[t] >= s3fifo->hits) {
			queue_put_head(&s3fifo->m, t);
			s3fifo->freq[t] = 0;
		} else {
			queue_put_head(&s3fifo->g, t);
			if (s3fifo->g.count > s3fifo->ghosts)
				(void)queue_take_tail(&s3fifo->g);
			cache_evict(&s3fifo->cache, t);
			evicted = true;
		}
	}
}

static void s3fifo_insert(struct s3fifo *s3fifo, size_t now)
{
	const uint32_t x = s3fifo->cache.trace->page[now];
	const bool ghost = queue_has(&s3fifo->g, x);

	queue_remove(&s3fifo->g, x);
	while (cache_full(&s3fifo->cache))
		if (s3fifo->s.count >= s3fifo->small)
			evict_s(s3fifo);
		else
			evict_m(s3fifo);
	queue_put_head(ghost ? &s3fifo->m : &s3fifo->s, x);
	s3fifo->freq[x] = 0;
	cache_fetch(&s3fifo->cache, now);
}

struct counts oracle_s3fifo(const struct trace *trace, uint64_t size,
			    const struct s3fifo_options *options)
{
	struct s3fifo s3fifo = {
		.cache = cache_for(trace, size), .s = queue_for(trace), .m = queue_for(trace),
		.g = queue_for(trace), .freq = cache_room(trace->pages, sizeof(uint64_t)),
		.small = cache_percent(size, options->small),
		.ghosts = cache_percent(size, options->ghost), .hits = options->hits,
	};

	if (s3fifo.small == 0)
		s3fifo.small = 1;
	for (size_t now = 0; now < trace->count; now++) {
		const uint32_t x = trace->page[now];

		if (cache_again(&s3fifo.cache, now))
			continue;
		if (cache_hit(&s3fifo.cache, now))
			s3fifo.freq[x] = s3fifo.freq[x] < 3 ? s3fifo.freq[x] + 1 : 3;
		else
			s3fifo_insert(&s3fifo, now);
	}
	free(s3fifo.s.page);
	free(s3fifo.m.page);
	free(s3fifo.g.page);
	free(s3fifo.freq);
	return cache_end(&s3fifo.cache);
}
