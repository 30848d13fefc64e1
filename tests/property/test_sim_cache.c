/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policies that caches are known for, many at many sizes in one pass, against the papers' algorithms
 * played out one by one.
 */
#include "demand_trial.h"
#include "oracle_cache.h"
#include "play.h"

#include <stdio.h>

static struct counts random_1(const struct trace *trace, uint64_t size)
{
	return oracle_random(trace, size, 1);
}

static struct counts random_far(const struct trace *trace, uint64_t size)
{
	return oracle_random(trace, size, UINT64_MAX);
}

static struct counts s3fifo_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_s3fifo(trace, size, &(struct s3fifo_options){10, 90, 2});
}

static struct counts s3fifo_halves(const struct trace *trace, uint64_t size)
{
	return oracle_s3fifo(trace, size, &(struct s3fifo_options){50, 50, 1});
}

static struct counts s3fifo_small(const struct trace *trace, uint64_t size)
{
	return oracle_s3fifo(trace, size, &(struct s3fifo_options){99, 0, 3});
}

static struct counts two_q_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_2q(trace, size, 25, 50);
}

static struct counts two_q_other(const struct trace *trace, uint64_t size)
{
	return oracle_2q(trace, size, 60, 200);
}

static struct counts two_q_without(const struct trace *trace, uint64_t size)
{
	return oracle_2q(trace, size, 99, 0);
}

static struct counts lirs_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_lirs(trace, size, 1, 200);
}

static struct counts lirs_short(const struct trace *trace, uint64_t size)
{
	return oracle_lirs(trace, size, 30, 120);
}

static struct counts lirs_long(const struct trace *trace, uint64_t size)
{
	return oracle_lirs(trace, size, 99, 100000);
}

static struct counts clockpro_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_clockpro(trace, size, 1);
}

static struct counts clockpro_cold(const struct trace *trace, uint64_t size)
{
	return oracle_clockpro(trace, size, 40);
}

static struct counts clockpro_all(const struct trace *trace, uint64_t size)
{
	return oracle_clockpro(trace, size, 100);
}

static const struct demand_policy policies[] = {
	{"2q", 1, two_q_as_is},
	{"2q:in=60:out=200", 1, two_q_other},
	{"2q:in=99:out=0", 1, two_q_without},
	{"arc", 1, oracle_arc},
	{"car", 1, oracle_car},
	{"lirs", 1, lirs_as_is},
	{"lirs:hir=30:stack=120", 1, lirs_short},
	{"lirs:hir=99:stack=100000", 1, lirs_long},
	{"clockpro", 1, clockpro_as_is},
	{"clockpro:cold=40", 1, clockpro_cold},
	{"clockpro:cold=100", 1, clockpro_all},
	{"fifo", 1, oracle_fifo},
	{"mru", 1, oracle_mru},
	{"random", 1, random_1},
	{"random:seed=18446744073709551615", 1, random_far},
	{"lfu", 1, oracle_lfu},
	{"sieve", 1, oracle_sieve},
	{"s3fifo", 1, s3fifo_as_is},
	{"s3fifo:small=50:ghost=50:hits=1", 1, s3fifo_halves},
	{"s3fifo:small=99:ghost=0:hits=3", 1, s3fifo_small},
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static void test_small(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 31};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 1000; number++) {
		uint32_t pages = 1 + random_below(&random, 20);

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, 200),
			      number % 3 == 0, &in);
		/* what was used before is used again, among others */
		random_stream(&random, SHAPE_UNIFORM, pages, random_below(&random, 100), false, &in);
		demand_compare(policies, POLICIES, &in, &random, seed, number);
	}
	stream_free(&in);
}

static void test_large(void **state)
{
	static const struct {
		enum shape shape;
		uint32_t pages;
		const char *sizes;
	} cases[] = {
		{SHAPE_UNIFORM, 90, "5,17,40,60,89,100"}, {SHAPE_PHASES, 100, "10,25,50,99,101"},
		{SHAPE_LOOP_K1, 64, "20,48,63,64,65"}, {SHAPE_MIXED, 80, "16,39,64,256"},
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 32};
	struct stream in = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stream_clear(&in);
		random_stream(&random, cases[i].shape, cases[i].pages, 4000, false, &in);
		random_stream(&random, SHAPE_UNIFORM, cases[i].pages / 2, 1000, false, &in);
		for (size_t j = 0; j < POLICIES; j++) {
			struct demand_trial trial = {&policies[j], cases[i].sizes, 700};

			if (demand_trial_differs(&in, &trial))
				fail_msg("LAPLACE_TEST_SEED=%llu, large case %zu, %s",
					 (unsigned long long)seed, i, policies[j].spec);
		}
	}
	stream_free(&in);
}

/* ---- cases worked out by hand ---- */

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < POLICIES; i++) {
		demand_expect(policies[i].spec, "", 1, 0, 0, 0);
		demand_expect(policies[i].spec, "aAaA", 1, 1, 0, 0);
		demand_expect(policies[i].spec, "aBABaB", 1, 6, 5, 2);
		demand_expect(policies[i].spec, "aAaA", 1000, 1, 0, 0);
	}
	/*
	 * 2Q of four, one for A1in, two in A1out, the newest first.  After ABCD: in D C B A.  E: A goes out.
	 * A: B goes out, Am is A.  F: in F E D, out C B.  B: Am is B A, in F E, out D C.  A is hit.
	 * C: Am is C A B, in F, out E D.  G: A1in has no more than its share, and B goes.
	 */
	demand_expect("2q", "ABCDEAFBA", 4, 8, 4, 0);
	demand_expect("2q", "ABCDEAFBACGB", 4, 11, 7, 0);
	demand_expect("2q", "ABCDEAFBACGA", 4, 10, 6, 0);
	/*
	 * ARC of two.  A is in T2, B in T1.  C: B goes to B1.  B: p is 1, so T1 keeps C, and A goes to B2.
	 * C is hit, so T1 is empty, T2 C B.  A: p is 0, B goes.
	 */
	demand_expect("arc", "ABACBCA", 2, 5, 3, 0);
	/* what was referenced twice outlives what is referenced once; of three, LRU would keep neither */
	demand_expect("arc", "ABABCDEFAB", 3, 6, 3, 0);
	demand_expect("car", "ABABCDEFAB", 3, 6, 3, 0);
	/*
	 * CAR, at the second D: F goes to B1, then p is 1, and D is in T2.  F: T1 is empty.  T2 is A B D, A
	 * and B were hit, and D goes.
	 */
	demand_expect("car", "ABABCDEFABDFAB", 3, 8, 5, 0);
	/*
	 * LIRS of three, one of them HIR.  A and B are LIR.  D takes C's place, which stays in S: D C B A.
	 * C: D goes, C is LIR, A is HIR; S is C D B, Q is A.  B: S is B C, D is pruned.  D: A goes.
	 */
	demand_expect("lirs", "ABCDCBD", 3, 6, 3, 0);
	demand_expect("lirs", "ABCDCBDCBA", 3, 7, 4, 0);
	/* a HIR page in memory is hit in S: C is LIR, and A, which was at the bottom, goes */
	demand_expect("lirs", "ABCBCDBCA", 3, 5, 2, 0);
	/*
	 * CLOCK-Pro of three.  A and B are hot, C is cold.  D takes C's place, C takes D's, and is hot.  Two are for
	 * cold pages now, so A and B become cold, and D's test ends, whereby only one is.  B is hit.  D:
	 * A goes.  A: B was referenced and gets another test, and D goes.
	 */
	demand_expect("clockpro", "ABCDCBDCB", 3, 6, 3, 0);
	demand_expect("clockpro", "ABCDCBDCBABC", 3, 7, 4, 0);
	/* FIFO: a hit changes nothing, so D takes A's place, A takes B's, and B takes C's */
	demand_expect("fifo", "ABcADAB", 3, 6, 3, 1);
	/* MRU: D takes C's place, and A and B stay */
	demand_expect("mru", "ABcDABC", 3, 5, 2, 1);
	/* a loop of four with three: D takes C's place, C takes B's, B takes A's ... */
	demand_expect("mru", "ABCDABCDABCD", 3, 6, 3, 0);
	/* LFU: A has 2, so C takes B's place, and B takes C's */
	demand_expect("lfu", "ABACBA", 2, 4, 2, 0);
	/* references in a row are one: A has 1, and goes first */
	demand_expect("lfu", "AABCA", 2, 4, 2, 0);
	/* counts are forgotten: B, with 2, goes for C, when A has 3; back with 1, it goes for C again */
	demand_expect("lfu", "ABABACBC", 2, 5, 3, 0);
	/*
	 * SIEVE, the newest first, ' is visited, the hand at ^.  ABC, A hit: C B A'.  D: the hand takes
	 * A's mark and B goes: D C^ A.  A hit: D C^ A'.  E: C goes: E D^ A'.  A stays, D does not.
	 */
	demand_expect("sieve", "ABCADAEA", 3, 5, 2, 0);
	demand_expect("sieve", "ABCADAEFD", 3, 7, 4, 0);
	/* the hand comes round: all visited, so the oldest goes in the end */
	demand_expect("sieve", "ABCABCDA", 3, 5, 2, 0);
	demand_expect("sieve", "ABCABCDB", 3, 4, 1, 0);
	/*
	 * S3-FIFO of four, two of them small, two ghosts, one hit is enough.  ABCD with A and B hit:
	 * S is D C B A.  E: B and A go to M, C is evicted: S is E D, M is B A, C a ghost.  C: D is
	 * evicted, and C comes into M: S is E, M is C B A.  F: S has one page, so M goes: A.
	 */
	demand_expect("s3fifo:small=50:ghost=50:hits=1", "ABCDABECFCBE", 4, 7, 3, 0);
	demand_expect("s3fifo:small=50:ghost=50:hits=1", "ABCDABECFA", 4, 8, 4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
