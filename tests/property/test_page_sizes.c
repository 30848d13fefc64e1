/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of any size, against the definition: an access of so many bytes is a reference to each page
 * that it has a byte of.  A stream of accesses is rewritten so, its pages numbered and put at
 * multiples of 4096; what the library makes of the accesses with its pages of B bytes has to be what it
 * and the oracles make of that.
 *
 * And re-blocking (section 5.1 of the paper): what was reduced for K pages of B bytes is exact for
 * K pages of any larger size.
 */
#include "guest.h"
#include "page.h"
#include "play.h"
#include "trial.h"

#include <laplace/select.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned int sizes[] = { 16, 32, 64, 128, 512, 2048, 4096, 16384, 2097152 };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const char *const policies[] = {
	"lru", "opt", "ws", "vmin", "clock", "segq", "fbr", "glru", "eelru", "seq:length=2:distance=1:faults=2"
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static const char *const methods[] = {
	"block", "window:3", "sad:3", "sad2:3", "sad2-fix:3", "sad-ws:9", "olr:3", "lrubs:3", "sd:3", "irg:4",
	"glass-cao:7", "lrubs:2+olr:2", "fence+sad:4"
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Accesses of 1 to 64 bytes within pages of 4096, close together: in a few runs of some KiB. */
static void random_accesses(struct random *random, size_t count, struct stream *out)
{
	uint64_t at[4];

	stream_clear(out);
	for (size_t i = 0; i < 4; i++)
		at[i] = (uint64_t)random_below(random, 1 << 24);
	for (size_t i = 0; i < count; i++) {
		uint64_t *place = &at[random_below(random, 4)];
		struct lpl_ref ref = { .ref = 2 * i + 1 + random_below(random, 2), .instr = i + 1,
				       .cycle = i + 1, .space = 1 + random_below(random, 2),
				       .type = (uint8_t)random_below(random, LPL_TYPES),
				       .length = (uint16_t)(1 + random_below(random, 64)) };

		*place += random_below(random, 6) == 0 ? random_below(random, 6000) :
			  random_below(random, 3) == 0 ? random_below(random, 40) : 0;
		ref.address = *place;
		if (ref.address % 4096 + ref.length > 4096)
			ref.address -= 64;
		if (walk(&ref)) {
			ref.address -= ref.address % 8;
			ref.length = 8;
		}
		stream_add_ref(out, &ref);
		if (random_below(random, 40) == 0)
			stream_add_event(out, &(struct lpl_event){
				.ref = ref.ref, .instr = ref.instr, .cycle = ref.cycle, .tag = KTR_EXIT });
	}
}

/* Each access as its pages, each at its number times 4096. */
static void as_pages(const struct stream *in, unsigned int size, struct stream *out)
{
	stream_clear(out);
	for (size_t i = 0; i < in->count; i++) {
		struct lpl_ref ref = in->item[i].ref;
		const uint64_t first = ref.address / size;
		const uint64_t last = (ref.address + (ref.length != 0 ? ref.length - 1U : 0)) / size;

		if (in->item[i].is_event) {
			stream_add_event(out, &in->item[i].event);
			continue;
		}
		for (uint64_t page = first; page <= last; page++) {
			ref.address = page * 4096;
			ref.length = 1;
			if (page > first)
				ref.flags |= LPL_SYNTHETIC;
			stream_add_ref(out, &ref);
		}
	}
}

/* What was reduced to pages of this size, likewise: the numbers of pages are all that differs. */
static void renumber(struct stream *stream, unsigned int size)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct item *item = &stream->item[i];

		if (item->is_event && item->event.tag == LPL_EVENT_EVICTED)
			item->event.arg[LPL_EVENT_EVICTED_ADDRESS] =
				item->event.arg[LPL_EVENT_EVICTED_ADDRESS] / size * 4096;
		if (item->is_event)
			continue;
		assert_int_equal(item->ref.address % size, 0);
		assert_int_equal(item->ref.length, size < 4096 ? size : 0);
		assert_int_equal(item->ref.flags & LPL_PAGED, size < 4096 ? 0 : LPL_PAGED);
		item->ref.address = item->ref.address / size * 4096;
		item->ref.length = 0;
		item->ref.flags |= LPL_PAGED;
	}
}

/* `spec` of a stream, after `before`, in place of what was in `out`. */
static void reduce(const char *before, const char *spec, const struct stream *in, size_t batch,
		   struct stream *out)
{
	stream_clear(out);
	reduce_further(before, spec, in, batch, out);
}

static void expect_equal(const struct stream *out, const struct stream *expected, const char *what,
			 unsigned int size)
{
	size_t place;

	if (stream_equal(out, expected, &place))
		return;
	stream_print("the library's", out);
	stream_print("expected", expected);
	fail_msg("%s, pages of %u bytes: record %zu differs (seed %llu)", what, size, place,
		 (unsigned long long)random_seed());
}

/* `block:B` is what oracle_block() says of the pages, and a method after it what it is of these. */
static void test_reductions(void **state)
{
	struct random random = { random_seed() };
	struct stream in = {0}, pages = {0}, blocked = {0}, out = {0}, expected = {0};
	char spec[64];

	(void)state;
	for (unsigned int number = 0; number < 150; number++) {
		const unsigned int size = sizes[number % SIZES];
		const char *method = methods[random_below(&random, METHODS)];
		const size_t batch = 1 + random_below(&random, 300);

		random_accesses(&random, 20 + random_below(&random, 400), &in);
		as_pages(&in, size, &pages);
		stream_clear(&blocked);
		oracle_block(&pages, &blocked);
		(void)snprintf(spec, sizeof(spec), "block:%u", size);
		reduce(NULL, spec, &in, batch, &out);
		renumber(&out, size);
		/* the oracle's word for what repeats a number is its caller's */
		for (size_t i = 0, j = 0; i < out.count && j < blocked.count; i++, j++)
			if (!out.item[i].is_event)
				blocked.item[j].ref.flags |= out.item[i].ref.flags & LPL_SYNTHETIC;
		expect_equal(&out, &blocked, spec, size);

		reduce(NULL, method, &blocked, 64, &expected);
		(void)snprintf(spec, sizeof(spec), "block:%u+%s", size, method);
		reduce(NULL, spec, &in, batch, &out);
		renumber(&out, size);
		expect_equal(&out, &expected, spec, size);
	}
	stream_free(&in);
	stream_free(&pages);
	stream_free(&blocked);
	stream_free(&out);
	stream_free(&expected);
}

static struct lpl_simulator *simulator_of(const char *reduction, uint64_t page_size)
{
	struct lpl_simulator_options options = { .jobs = 1, .reduction = reduction, .page_size = page_size };
	struct lpl_report report = {0};
	struct lpl_simulator *simulator;

	if (lpl_simulator_open(&simulator, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return simulator;
}

static struct lpl_simulator *run_all(const struct stream *in, const char *reduction, uint64_t page_size)
{
	struct lpl_simulator *simulator = simulator_of(reduction, page_size);

	for (size_t i = 0; i < POLICIES; i++)
		add_policy(simulator, policies[i], "1:12:1,20,40,100");
	send_all(simulator, in, 50);
	return simulator;
}

static void expect_results(const struct lpl_simulator *a, const struct lpl_simulator *b, bool exact,
			   const char *what)
{
	for (size_t i = 0; i < POLICIES; i++) {
		size_t count;
		const struct lpl_result *result = lpl_simulator_results(a, i, &count);
		const struct lpl_result *expected = lpl_simulator_results(b, i, &count);

		for (size_t j = 0; j < count; j++)
			if ((!exact || result[j].exact) &&
			    (result[j].faults != expected[j].faults ||
			     result[j].evictions != expected[j].evictions ||
			     result[j].dirty_evictions != expected[j].dirty_evictions ||
			     result[j].space_time != expected[j].space_time))
				fail_msg("%s: %s with %llu: %llu faults, not %llu (seed %llu)", what,
					 policies[i], (unsigned long long)result[j].size,
					 (unsigned long long)result[j].faults,
					 (unsigned long long)expected[j].faults,
					 (unsigned long long)random_seed());
	}
}

/* Each policy, and LRU and OPT as the oracles have them. */
static void test_policies(void **state)
{
	struct random random = { random_seed() + 1 };
	struct stream in = {0}, pages = {0};

	(void)state;
	for (unsigned int number = 0; number < 60; number++) {
		const unsigned int size = sizes[number % SIZES];
		struct lpl_simulator *finer, *plain;
		struct trace trace;

		random_accesses(&random, 20 + random_below(&random, 300), &in);
		as_pages(&in, size, &pages);
		finer = run_all(&in, NULL, size);
		plain = run_all(&pages, NULL, 0);
		expect_results(finer, plain, false, "accesses and their pages");
		trace_of(&pages, &trace);
		for (uint64_t k = 1; k <= 12; k++) {
			struct counts lru = oracle_lru(&trace, k), opt = oracle_opt(&trace, k);
			size_t count;

			assert_true(result_equal(&lpl_simulator_results(finer, 0, &count)[k - 1], &lru));
			assert_true(result_equal(&lpl_simulator_results(finer, 1, &count)[k - 1], &opt));
		}
		trace_free(&trace);
		lpl_simulator_close(finer);
		lpl_simulator_close(plain);
	}
	stream_free(&in);
	stream_free(&pages);
}

/*
 * Section 5.1: reduced with pages of one size, simulated with larger ones, put together by the
 * simulator or by `block`: what is called exact is what the accesses themselves give.
 */
static void test_reblocking(void **state)
{
	static const char *const reductions[] = { "sad:3", "sad:6", "window:4+sad:2", "olr:3", "sad2:4", "block" };
	struct random random = { random_seed() + 2 };
	struct stream in = {0}, reduced = {0}, joined = {0};
	unsigned int tried = 0;

	(void)state;
	for (unsigned int number = 0; number < 120; number++) {
		const unsigned int fine = sizes[random_below(&random, SIZES - 1)];
		const unsigned int large = sizes[random_below(&random, SIZES)];
		const char *reduction = reductions[number % 6];
		char spec[64], join[32], both[128];
		struct lpl_simulator *raw, *result;

		if (large <= fine)
			continue;
		random_accesses(&random, 50 + random_below(&random, 400), &in);
		(void)snprintf(spec, sizeof(spec), "block:%u+%s", fine, reduction);
		(void)snprintf(join, sizeof(join), "block:%u", large);
		(void)snprintf(both, sizeof(both), "%s+%s", spec, join);
		reduce(NULL, spec, &in, 64, &reduced);
		reduce(spec, join, &reduced, 64, &joined);
		raw = run_all(&in, NULL, large);
		result = run_all(&reduced, spec, large);
		expect_results(result, raw, true, both);
		tried += lpl_simulator_results(result, 0, &(size_t){0})[6].exact;	/* LRU, 7 pages */
		lpl_simulator_close(result);
		result = run_all(&joined, both, 0);
		expect_results(result, raw, true, both);
		lpl_simulator_close(result);
		lpl_simulator_close(raw);
	}
	assert_true(tried > 20);
	stream_free(&in);
	stream_free(&reduced);
	stream_free(&joined);
}

/* The canonical pages of a stream, in pages of a size that divides them. */
static struct lpl_simulator *run_canonical(const struct stream *in, const char *reduction, uint64_t size)
{
	const struct lpl_choice_options options = { .addresses = LPL_ADDRESSES_CANONICAL, .page_size = size };
	struct lpl_simulator *simulator = simulator_of(reduction, size);
	struct lpl_report report = {0};
	struct lpl_choice *choice;

	for (size_t i = 0; i < 2; i++)
		add_policy(simulator, policies[i], "1:20:1");
	assert_int_equal(lpl_choice_open(&choice, &options, lpl_simulator_sink(simulator), &report), LPL_OK);
	if (stream_send(in, lpl_choice_sink(choice), 32, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_choice_close(choice);
	return simulator;
}

/* Fences concern all finer pages of the pages that change their meaning. */
static void test_canonical(void **state)
{
	static const unsigned int finer[] = { 64, 512, 2048 };
	struct random random = { random_seed() + 3 };
	struct stream in = {0}, reduced = {0};

	(void)state;
	for (unsigned int number = 0; number < 300; number++) {
		const unsigned int size = finer[number % 3], k = 1 + random_below(&random, 8);
		const struct plot plot = random_plot(&random);
		struct lpl_simulator *raw, *result;
		char spec[64];

		if (plot.silent)
			continue;
		play_guest(&random, &plot, &in);
		for (size_t i = 0; i < in.count; i++) {
			struct lpl_ref *ref = &in.item[i].ref;

			ref->address = ref->address / 4096 * 4096 + (uint64_t)random_below(&random, 2) * size;
			ref->length = 8;
			ref->flags &= (uint8_t)~LPL_PAGED;
		}
		(void)snprintf(spec, sizeof(spec), "fence+block:%u+sad:%u", size, k);
		reduce(NULL, spec, &in, 64, &reduced);
		assert_true(lpl_reduction_fenced(spec));
		raw = run_canonical(&in, NULL, size);
		result = run_canonical(&reduced, spec, size);
		for (size_t i = 0; i < 2; i++)
			for (size_t j = k - 1; j < 20; j++) {
				size_t count;
				const struct lpl_result *a = &lpl_simulator_results(raw, i, &count)[j];
				const struct lpl_result *b = &lpl_simulator_results(result, i, &count)[j];

				assert_true(b->exact);
				if (a->faults != b->faults || a->evictions != b->evictions ||
				    a->dirty_evictions != b->dirty_evictions)
					fail_msg("%s: %s with %zu pages: %llu faults, not %llu (seed %llu)",
						 spec, policies[i], j + 1, (unsigned long long)b->faults,
						 (unsigned long long)a->faults,
						 (unsigned long long)random_seed());
			}
		lpl_simulator_close(raw);
		lpl_simulator_close(result);
	}
	stream_free(&in);
	stream_free(&reduced);
}

static void test_refused(void **state)
{
	const struct lpl_ref paged = { .ref = 1, .address = 4096, .flags = LPL_PAGED };
	static const struct {
		const char *reduction;
		uint64_t size;
	} bad[] = { { NULL, 8 }, { NULL, 48 }, { NULL, UINT64_C(1) << 31 }, { "sad:4", 512 }, { "block:128", 64 },
		    { "block:128+lrubs:4", 256 } };
	struct lpl_report report = {0};
	struct lpl_simulator *simulator;
	struct lpl_reducer *reducer;
	struct lpl_sink *sink;
	struct stream out = {0};
	struct collector collector;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lpl_simulator_options options = { .reduction = bad[i].reduction, .page_size = bad[i].size };

		assert_int_equal(lpl_simulator_open(&simulator, &options, &report), LPL_ERR_USAGE);
	}
	/* whole pages, of a trace that says nothing of it */
	simulator = simulator_of(NULL, 64);
	sink = lpl_simulator_sink(simulator);
	assert_int_equal(sink->refs(sink, &paged, 1, &report), LPL_ERR_USAGE);
	lpl_simulator_close(simulator);
	collector_init(&collector, &out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, "block:64", &collector.sink, &report), LPL_OK);
	sink = lpl_reducer_sink(reducer);
	assert_int_equal(sink->refs(sink, &paged, 1, &report), LPL_ERR_USAGE);
	lpl_reducer_close(reducer);
	stream_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_reblocking),
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
