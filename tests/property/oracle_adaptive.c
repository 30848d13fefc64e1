/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles for policies of caches: 2Q, ARC and CAR, with what they remember of pages that left. */
#include "oracle_cache.h"

#include "cache_play.h"

/* ---- 2Q ---- */

/* The listing of the paper's full version: reclaimfor(), and what is done on accessing a page. */
struct two_q {
	struct cache cache;
	struct queue am, a1in, a1out;
	uint64_t kin, kout;
};

static void reclaim(struct two_q *two_q)
{
	if (!cache_full(&two_q->cache))
		return;
	if (two_q->a1in.count > two_q->kin) {
		const uint32_t y = queue_take_tail(&two_q->a1in);

		queue_put_head(&two_q->a1out, y);
		if (two_q->a1out.count > two_q->kout)
			(void)queue_take_tail(&two_q->a1out);
		cache_evict(&two_q->cache, y);
	} else {
		cache_evict(&two_q->cache, queue_take_tail(&two_q->am));
	}
}

static void two_q_access(struct two_q *two_q, size_t now)
{
	const uint32_t x = two_q->cache.trace->page[now];

	if (cache_hit(&two_q->cache, now)) {
		if (queue_has(&two_q->am, x)) {
			queue_remove(&two_q->am, x);
			queue_put_head(&two_q->am, x);
		}
	} else if (queue_has(&two_q->a1out, x)) {
		queue_remove(&two_q->a1out, x);
		reclaim(two_q);
		queue_put_head(&two_q->am, x);
		cache_fetch(&two_q->cache, now);
	} else {
		reclaim(two_q);
		queue_put_head(&two_q->a1in, x);
		cache_fetch(&two_q->cache, now);
	}
}

struct counts oracle_2q(const struct trace *trace, uint64_t size, uint64_t in, uint64_t out)
{
	struct two_q two_q = {
		.cache = cache_for(trace, size), .am = queue_for(trace), .a1in = queue_for(trace),
		.a1out = queue_for(trace), .kin = cache_percent(size, in),
		.kout = cache_percent(size, out),
	};

	for (size_t now = 0; now < trace->count; now++)
		if (!cache_again(&two_q.cache, now))
			two_q_access(&two_q, now);
	free(two_q.am.page);
	free(two_q.a1in.page);
	free(two_q.a1out.page);
	return cache_end(&two_q.cache);
}

/* ---- ARC and CAR ---- */

/* Sizes in tests have so few digits that no sum or difference of these numbers is ever rounded. */
struct adaptive {
	struct cache cache;
	struct queue t1, t2, b1, b2;
	double p;
	bool *bit;		/* CAR's reference bits */
};

/* Rounded down to 32 binary places. */
static double quotient(size_t a, size_t b)
{
	return (double)(uint64_t)((double)a * 4294967296.0 / (double)b) / 4294967296.0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static void increase(struct adaptive *adaptive)
{
	adaptive->p = smaller(adaptive->p + larger(1, quotient(adaptive->b2.count, adaptive->b1.count)),
			      (double)adaptive->cache.size);
}

static void decrease(struct adaptive *adaptive)
{
	adaptive->p = larger(adaptive->p - larger(1, quotient(adaptive->b1.count, adaptive->b2.count)),
			     0);
}

static void arc_replace(struct adaptive *arc, uint32_t x)
{
	uint32_t victim;

	if (arc->t1.count > 0 && ((double)arc->t1.count > arc->p ||
				  (queue_has(&arc->b2, x) && (double)arc->t1.count == arc->p))) {
		victim = queue_take_tail(&arc->t1);
		queue_put_head(&arc->b1, victim);
	} else {
		victim = queue_take_tail(&arc->t2);
		queue_put_head(&arc->b2, victim);
	}
	cache_evict(&arc->cache, victim);
}

static size_t all_four(const struct adaptive *adaptive)
{
	return adaptive->t1.count + adaptive->t2.count + adaptive->b1.count + adaptive->b2.count;
}

static void arc_case_4(struct adaptive *arc, uint32_t x)
{
	const uint64_t c = arc->cache.size;

	if (arc->t1.count + arc->b1.count == c) {
		if (arc->t1.count < c) {
			(void)queue_take_tail(&arc->b1);
			arc_replace(arc, x);
		} else {
			cache_evict(&arc->cache, queue_take_tail(&arc->t1));
		}
	} else if (all_four(arc) >= c) {
		if (all_four(arc) == 2 * c)
			(void)queue_take_tail(&arc->b2);
		arc_replace(arc, x);
	}
	queue_put_head(&arc->t1, x);
}

/* The paper's figure 4. */
static void arc_access(struct adaptive *arc, size_t now)
{
	const uint32_t x = arc->cache.trace->page[now];

	if (cache_hit(&arc->cache, now)) {
		queue_remove(&arc->t1, x);
		queue_remove(&arc->t2, x);
		queue_put_head(&arc->t2, x);
		return;
	}
	if (queue_has(&arc->b1, x)) {
		increase(arc);
		arc_replace(arc, x);
		queue_remove(&arc->b1, x);
		queue_put_head(&arc->t2, x);
	} else if (queue_has(&arc->b2, x)) {
		decrease(arc);
		arc_replace(arc, x);
		queue_remove(&arc->b2, x);
		queue_put_head(&arc->t2, x);
	} else {
		arc_case_4(arc, x);
	}
	cache_fetch(&arc->cache, now);
}

static void car_replace(struct adaptive *car)
{
	for (;;) {
		const bool first = (double)car->t1.count >= larger(1, car->p);
		const uint32_t head = queue_take_head(first ? &car->t1 : &car->t2);

		if (car->bit[head]) {
			car->bit[head] = false;
			queue_put_tail(&car->t2, head);
			continue;
		}
		cache_evict(&car->cache, head);
		queue_put_head(first ? &car->b1 : &car->b2, head);	/* which is its MRU end */
		return;
	}
}

/* The paper's figure 2. */
static void car_access(struct adaptive *car, size_t now)
{
	const uint64_t c = car->cache.size;
	const uint32_t x = car->cache.trace->page[now];
	const bool in_b1 = queue_has(&car->b1, x), in_b2 = queue_has(&car->b2, x);

	if (cache_hit(&car->cache, now)) {
		car->bit[x] = true;
		return;
	}
	if (car->t1.count + car->t2.count == c) {
		car_replace(car);
		if (!in_b1 && !in_b2 && car->t1.count + car->b1.count == c)
			(void)queue_take_tail(&car->b1);
		else if (!in_b1 && !in_b2 && all_four(car) == 2 * c)
			(void)queue_take_tail(&car->b2);
	}
	if (in_b1)
		increase(car);
	else if (in_b2)
		decrease(car);
	queue_remove(&car->b1, x);
	queue_remove(&car->b2, x);
	queue_put_tail(in_b1 || in_b2 ? &car->t2 : &car->t1, x);
	car->bit[x] = false;
	cache_fetch(&car->cache, now);
}

static struct counts adapt(const struct trace *trace, uint64_t size,
			   void (*reference)(struct adaptive *adaptive, size_t now))
{
	struct adaptive adaptive = {
		.cache = cache_for(trace, size), .t1 = queue_for(trace), .t2 = queue_for(trace),
		.b1 = queue_for(trace), .b2 = queue_for(trace),
		.bit = cache_room(trace->pages, sizeof(bool)),
	};

	for (size_t now = 0; now < trace->count; now++)
		if (!cache_again(&adaptive.cache, now))
			reference(&adaptive, now);
	free(adaptive.t1.page);
	free(adaptive.t2.page);
	free(adaptive.b1.page);
	free(adaptive.b2.page);
	free(adaptive.bit);
	return cache_end(&adaptive.cache);
}

struct counts oracle_arc(const struct trace *trace, uint64_t size)
{
	return adapt(trace, size, arc_access);
}

struct counts oracle_car(const struct trace *trace, uint64_t size)
{
	return adapt(trace, size, car_access);
}
