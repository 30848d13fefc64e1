/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions that respect changes of mapping: equal to their definition, and what
 * they promise.  Made canonical, a trace so reduced has the pages of the whole one,
 * and on it LRU and OPT fault, evict and write back the same, for every memory from
 * K pages on; WS and VMIN, from TAU references on, if `sad-ws:TAU` reduced it.
 *
 * The streams are a small guest's (guest.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/merge.h>

#include "guest.h"
#include "oracle_eliminate.h"
#include "trial.h"

#include <stdio.h>

/* Canonical pages for virtual ones.  Returns the breaks that only a write showed. */
static uint64_t merge(const struct stream *in, struct stream *out)
{
	struct lpl_report report = {0};
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct collector collector;
	uint64_t implied;

	collector_init(&collector, out);
	assert_int_equal(lpl_merge_canonical_open(&output, &collector.sink, &report), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_merge_sink(merge), 7, &report), LPL_OK);
	implied = lpl_merge_stats(merge)->implied_breaks;
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
	return implied;
}

/* ---- exact on canonical pages ---- */

/* Is a reference that was kept to another page than in the whole trace? */
static bool pages_differ(const struct stream *whole, const struct stream *reduced)
{
	size_t j = 0;

	for (size_t i = 0; i < reduced->count; i++) {
		const struct lpl_ref *ref = &reduced->item[i].ref;

		if (reduced->item[i].is_event)
			continue;
		while (whole->item[j].is_event || whole->item[j].ref.ref != ref->ref)
			j++;
		if (whole->item[j].ref.address != ref->address)
			return true;
	}
	return false;
}

static bool counts_differ(const struct stream *whole, const struct stream *reduced, uint64_t from)
{
	struct trace before, after;
	bool differ;

	trace_of(whole, &before);
	trace_of(reduced, &after);
	differ = before.pages != after.pages;
	for (uint64_t size = from; size <= before.pages + 1U && !differ; size++)
		differ = !counts_equal(oracle_lru(&before, size), oracle_lru(&after, size)) ||
			 !counts_equal(oracle_opt(&before, size), oracle_opt(&after, size));
	trace_free(&before);
	trace_free(&after);
	return differ;
}

static bool times_differ(const struct stream *whole, const struct stream *reduced, uint64_t from)
{
	for (uint64_t tau = from; tau <= from + 64; tau += 1 + tau / 8)
		if (!behaves_equally(history_ws, tau, whole, reduced) ||
		    !behaves_equally(history_vmin, tau, whole, reduced))
			return true;
	return false;
}

/* What the canonical trace and the reduced canonical trace of a stream are. */
static void make_canonical(const struct stream *in, const struct trial *trial,
			   struct stream *whole, struct stream *reduced)
{
	struct stream kept = {0};

	reduce_stream(trial->spec, in, trial->batch, &kept);
	(void)merge(in, whole);
	(void)merge(&kept, reduced);
	stream_free(&kept);
}

static bool is_inexact(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream whole = {0}, reduced = {0};
	bool inexact;

	make_canonical(in, trial, &whole, &reduced);
	inexact = pages_differ(&whole, &reduced) ||
		  counts_differ(&whole, &reduced, trial->number);
	stream_free(&whole);
	stream_free(&reduced);
	return inexact;
}

static bool is_inexact_in_time(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream whole = {0}, reduced = {0};
	bool inexact;

	make_canonical(in, trial, &whole, &reduced);
	inexact = times_differ(&whole, &reduced, trial->number);
	stream_free(&whole);
	stream_free(&reduced);
	return inexact;
}

static bool is_reported_and_inexact(const struct stream *in, void *trial)
{
	return guest_reports_all(in) && is_inexact(in, trial);
}

static bool is_reported_and_inexact_in_time(const struct stream *in, void *trial)
{
	return guest_reports_all(in) && is_inexact_in_time(in, trial);
}

/* Each "%u" of a form stands for K. */
static const struct form {
	const char *spec;
	bool from_one;		/* it is exact from one page on, whatever K */
} forms[] = {
	{"fence+sad:%u", false}, {"window:%u+sad:%u", false}, {"window:%u", false},
	{"fence+block+window:%u+sad:%u", false}, {"window:%u+block+sad:%u+block", false},
	{"block", true}, {"fence+sad-ws:%u", false}, {"window:%u+sad-ws:%u", false},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static void write_spec(char *spec, size_t size, const char *form, uint32_t pages)
{
	size_t used = 0;

	for (; *form != '\0'; form++) {
		if (*form == '%') {
			used += (size_t)snprintf(spec + used, size - used, "%u", pages);
			form++;
		} else {
			spec[used++] = *form;
		}
	}
	spec[used] = '\0';
}

static void test_exactness(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed};
	struct stream in = {0}, canonical = {0};
	unsigned int unfenced = 0;
	uint64_t implied = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		struct plot plot = random_plot(&random);
		uint32_t pages = 1 + random_below(&random, 6);
		char spec[64];
		struct trial trial = {.spec = spec, .batch = 1 + random_below(&random, 20),
				      .number = pages};

		play_guest(&random, &plot, &in);
		for (size_t form = 0; form < FORMS; form++) {
			write_spec(spec, sizeof(spec), forms[form].spec, pages);
			trial.number = forms[form].from_one ? 1 : pages;
			expect_not(is_reported_and_inexact, &in, &trial, seed, number);
		}
		trial.number = pages;
		write_spec(spec, sizeof(spec), "sad:%u", pages);
		unfenced += is_inexact(&in, &trial) ? 1 : 0;
		stream_clear(&canonical);
		implied += merge(&in, &canonical);
	}
	stream_free(&in);
	stream_free(&canonical);
	/* the streams are such that it matters, and first writes do part sharers */
	assert_true(unfenced > 300);
	assert_true(implied > 200);
}

static void test_times(void **state)
{
	uint64_t seed = random_seed() + 1;
	struct random random = {seed};
	struct stream in = {0};
	unsigned int unfenced = 0;

	(void)state;
	for (unsigned int number = 0; number < 500; number++) {
		struct plot plot = random_plot(&random);
		uint32_t tau = 1 + random_below(&random, 40);
		char spec[64];
		struct trial trial = {.spec = spec, .batch = 1 + random_below(&random, 20),
				      .number = tau};

		play_guest(&random, &plot, &in);
		write_spec(spec, sizeof(spec), "fence+sad-ws:%u", tau);
		expect_not(is_reported_and_inexact_in_time, &in, &trial, seed - 1, number);
		write_spec(spec, sizeof(spec), "sad-ws:%u", tau);
		unfenced += is_inexact_in_time(&in, &trial) ? 1 : 0;
	}
	stream_free(&in);
	assert_true(unfenced > 50);
}

/* A kernel that says nothing of its breaks is beyond what can be promised. */
static void test_silence(void **state)
{
	struct random random = {random_seed() + 2};
	struct stream in = {0};
	unsigned int inexact = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		struct plot plot = random_plot(&random);
		uint32_t pages = 1 + random_below(&random, 6);
		char spec[64];
		struct trial trial = {.spec = spec, .batch = 7, .number = pages};

		write_spec(spec, sizeof(spec), "fence+sad:%u", pages);
		plot.silent = true;
		play_guest(&random, &plot, &in);
		if (guest_reports_all(&in))
			assert_false(is_inexact(&in, &trial));
		else
			inexact += is_inexact(&in, &trial) ? 1 : 0;
	}
	stream_free(&in);
	assert_true(inexact > 10);
}

/* ---- equal to the definition ---- */

static void fenced_sad(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_fenced(in, oracle_sad, trial->number, out);
}

static void fenced_sad_ws(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_fenced(in, oracle_sad_ws, trial->number, out);
}

static void plain_sad(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad(in, trial->number, out);
}

static void test_definition(void **state)
{
	static const struct {
		const char *form;
		void (*oracle)(const struct stream *, const struct trial *, struct stream *);
	} defined[] = {
		{"fence+sad:%u", fenced_sad}, {"fence+sad-ws:%u", fenced_sad_ws},
		{"sad:%u", plain_sad}, {"fence+unfence+sad:%u", plain_sad},
	};
	uint64_t seed = random_seed() + 3;
	struct random random = {seed};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		struct plot plot = random_plot(&random);
		uint32_t pages = 1 + random_below(&random, 8);

		plot.silent = random_below(&random, 2) != 0;
		play_guest(&random, &plot, &in);
		for (size_t i = 0; i < sizeof(defined) / sizeof(defined[0]); i++) {
			char spec[64];
			struct trial trial = {.spec = spec, .batch = 1 + random_below(&random, 20),
					      .oracle = defined[i].oracle, .number = pages};

			write_spec(spec, sizeof(spec), defined[i].form, pages);
			expect_not(differs_from_oracle, &in, &trial, seed - 3, number);
		}
	}
	stream_free(&in);
}

/* ---- an example ---- */

enum { PAGE = 0x10 };

static void add_map(struct stream *stream, uint32_t tag, uint64_t inode)
{
	struct lpl_event event = {
		.tag = tag,
		.arg = {7, PAGE << 12, (PAGE + 1) << 12, 3, KTR_MAP_FILE_SHARED, 0, inode},
	};

	stream_add_event(stream, &event);
}

static size_t canonical_pages(const char *spec, const struct stream *in)
{
	struct stream whole = {0}, reduced = {0};
	struct trial trial = {.spec = spec, .batch = 1};
	struct trace trace;
	size_t pages;

	make_canonical(in, &trial, &whole, &reduced);
	trace_of(&reduced, &trace);
	pages = trace.pages;
	trace_free(&trace);
	stream_free(&whole);
	stream_free(&reduced);
	return pages;
}

/* One address shows three files in turn: SAD sees one page three times. */
static void test_example(void **state)
{
	struct stream in = {0};

	(void)state;
	for (uint64_t inode = 1; inode <= 3; inode++) {
		add_map(&in, KTR_MAP, inode);
		stream_add_page(&in, PAGE, LPL_READ);
		add_map(&in, KTR_UNMAP, inode);
	}
	assert_int_equal(canonical_pages("none", &in), 3);
	assert_int_equal(canonical_pages("sad:64", &in), 2);
	assert_int_equal(canonical_pages("sad-ws:64", &in), 2);
	assert_int_equal(canonical_pages("fence+sad:64", &in), 3);
	assert_int_equal(canonical_pages("fence+sad-ws:64", &in), 3);
	assert_int_equal(canonical_pages("window:64", &in), 3);
	assert_int_equal(canonical_pages("window:64+sad:64", &in), 3);
	assert_int_equal(canonical_pages("window:64+block+sad:64", &in), 3);
	assert_int_equal(canonical_pages("window:64+unfence+sad:64", &in), 2);
	assert_int_equal(canonical_pages("fence+unfence+fence+sad:64", &in), 3);
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_exactness),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
