/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stages TRACE [MOST]: how fast reducers and simulators are on a trace, each
 * alone on one processor.
 *
 * The trace is blocked and kept in memory (its first MOST page events), so that
 * reading costs nothing while a stage is measured.  Prints a line a stage:
 * millions of page events a second of processor time, the median of three rounds;
 * the same in references before blocking; and the events it passed on.
 * Caches get the trace's first references as they are, and what they pass on are their misses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <laplace/cache.h>
#include <laplace/reducer.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "sim/policies.h"

enum { ROUNDS = 3, BATCH = 512 };

static const char *const reductions[] = {
	"none", "block", "window:64", "sad:64", "window:64+sad:64", "sad:1024", "olr:64",
	"sad2:64", "sad:64+sad2:64", "lrubs:64", "sd:64", "sad-ws:100000", "irg:100000",
};

static const struct {
	const char *policy, *sizes;
} simulations[] = {
	{ "lru", "all" }, { "opt", "all" }, { "lru", "4096" },
#define ONE_SIZE(policy) { #policy, "4096" },
	LPL_DEMAND_POLICIES(ONE_SIZE)
	{ "ws", "1000:1000000000:*10" }, { "vmin", "1000:1000000000:*10" },
};

static const char *const caches[] = {
	"l1=32K/8/64", "l1=32K/8/64/plru", "l1i=32K/8/64:l1d=32K/8/64",
	"l1i=32K/8/64:l1d=32K/8/64:l2=1M/16/64:l3=8M/16/64",
};
enum { CACHED = 4000000 };	/* references */

/* The blocked trace; then a sink that only counts. */
struct store {
	struct lpl_sink sink;
	struct lpl_ref *ref;
	size_t count, capacity, most;
	uint64_t last_ref;
};

static enum lpl_error store_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct store *store = (struct store *)sink;

	if (count > store->most - store->count)
		count = store->most - store->count;
	if (count > store->capacity - store->count) {
		size_t wanted = store->capacity ? 2 * store->capacity : 1 << 20;
		struct lpl_ref *grown;

		while (wanted < store->count + count)
			wanted *= 2;
		grown = realloc(store->ref, wanted * sizeof(*grown));
		if (!grown)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu events", wanted);
		store->ref = grown;
		store->capacity = wanted;
	}
	memcpy(store->ref + store->count, refs, count * sizeof(*refs));
	store->count += count;
	if (count > 0)
		store->last_ref = refs[count - 1].ref;
	return LPL_OK;
}

static enum lpl_error count_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	(void)refs;
	(void)report;
	((struct store *)sink)->count += count;
	return LPL_OK;
}

static enum lpl_error no_event(struct lpl_sink *sink, const struct lpl_event *event,
			       struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error no_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* Of processor time: other programs must not count. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int die(const struct lpl_report *report)
{
	fprintf(stderr, "stages: %s\n", report->text);
	exit(1);
}

/*
 * Seconds that a sink takes for all of the store and its end.  It gets its
 * references as from a reader, in the cache: bringing them there is not counted.
 */
static double send(const struct store *store, struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_ref batch[BATCH];
	double taken = 0, begin;

	for (size_t i = 0; i < store->count; i += BATCH) {
		size_t left = store->count - i;
		size_t count = left < BATCH ? left : BATCH;

		memcpy(batch, store->ref + i, count * sizeof(batch[0]));
		begin = seconds();
		if (sink->refs(sink, batch, count, report))
			die(report);
		taken += seconds() - begin;
	}
	begin = seconds();
	if (sink->finish(sink, report))
		die(report);
	return taken + seconds() - begin;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_row(const struct store *store, const char *what, const char *sizes,
		      double *time, uint64_t kept)
{
	double middle;

	qsort(time, ROUNDS, sizeof(time[0]), by_value);
	middle = time[ROUNDS / 2];
	printf("%-18s %-22s %10.1f %10.1f %12" PRIu64 "\n", what, sizes,
	       (double)store->count / middle / 1e6, (double)store->last_ref / middle / 1e6, kept);
	fflush(stdout);
}

static void measure_reduction(const struct store *store, const char *spec)
{
	struct lpl_report report = { 0 };
	double time[ROUNDS];
	struct store kept;

	for (int i = 0; i < ROUNDS; i++) {
		struct lpl_reducer *reducer;

		kept = (struct store){ .sink = { count_refs, no_event, no_finish } };
		if (lpl_reducer_open(&reducer, NULL, spec, &kept.sink, &report))
			die(&report);
		time[i] = send(store, lpl_reducer_sink(reducer), &report);
		lpl_reducer_close(reducer);
	}
	print_row(store, spec, "", time, kept.count);
}

static void measure_simulation(const struct store *store, const char *policy, const char *text)
{
	const struct lpl_simulator_options alone = { .jobs = 1 };
	struct lpl_report report = { 0 };
	double time[ROUNDS];
	struct lpl_sizes sizes;
	uint64_t pages = 0;

	if (lpl_sizes_parse(&sizes, text, &report))
		die(&report);
	for (int i = 0; i < ROUNDS; i++) {
		struct lpl_simulator *simulator;

		if (lpl_simulator_open(&simulator, &alone, &report) ||
		    lpl_simulator_add(simulator, policy, &sizes, &report))
			die(&report);
		time[i] = send(store, lpl_simulator_sink(simulator), &report);
		pages = lpl_simulator_pages(simulator);
		lpl_simulator_close(simulator);
	}
	lpl_sizes_free(&sizes);
	print_row(store, policy, text, time, pages);
}

static void measure_cache(const struct store *store, const char *spec)
{
	struct lpl_report report = { 0 };
	double time[ROUNDS];
	uint64_t misses = 0;

	for (int i = 0; i < ROUNDS; i++) {
		const struct lpl_cache_level *memory;
		struct lpl_cache *cache;

		if (lpl_cache_open(&cache, spec, NULL, &report))
			die(&report);
		time[i] = send(store, lpl_cache_sink(cache), &report);
		memory = lpl_cache_level(cache, lpl_cache_levels(cache) - 1);
		misses = memory->references[LPL_CACHE_FETCH] + memory->references[LPL_CACHE_READ] +
			 memory->references[LPL_CACHE_WRITE];
		lpl_cache_close(cache);
	}
	print_row(store, "cache", spec, time, misses);
}

static void load(struct store *store, const char *path, const char *reduction)
{
	struct lpl_report report = { 0 };
	struct lpl_reducer *block = NULL;
	struct lpl_reader *reader = NULL;

	if (lpl_reader_open(&reader, path, &report) ||
	    lpl_reducer_open(&block, lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION),
			     reduction, &store->sink, &report) ||
	    lpl_reader_run(reader, lpl_reducer_sink(block), &report))
		die(&report);
	lpl_reducer_close(block);
	lpl_reader_close(reader);
}

int main(int argc, char **argv)
{
	struct store store = { .sink = { store_refs, no_event, no_finish }, .most = SIZE_MAX };

	if (argc < 2 || argc > 3) {
		fputs("usage: offline TRACE [MOST-EVENTS]\n", stderr);
		return 2;
	}
	if (argc == 3)
		store.most = strtoull(argv[2], NULL, 10);
	load(&store, argv[1], "block");
	if (store.count == 0) {
		fprintf(stderr, "stages: %s: no references\n", argv[1]);
		return 1;
	}
	printf("%s: %" PRIu64 " references, %zu page events\n", argv[1], store.last_ref,
	       store.count);
	printf("%-18s %-22s %10s %10s %12s\n", "reduction", "", "M events/s", "M refs/s", "kept");
	for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
		measure_reduction(&store, reductions[i]);
	printf("%-18s %-22s %10s %10s %12s\n", "simulation", "sizes", "M events/s", "M refs/s",
	       "pages");
	for (size_t i = 0; i < sizeof(simulations) / sizeof(simulations[0]); i++)
		measure_simulation(&store, simulations[i].policy, simulations[i].sizes);
	free(store.ref);
	store = (struct store){ .sink = { store_refs, no_event, no_finish }, .most = CACHED };
	load(&store, argv[1], "none");
	if (store.ref[0].flags & LPL_PAGED)
		printf("no caches: the trace was reduced\n");
	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]) && !(store.ref[0].flags & LPL_PAGED); i++)
		measure_cache(&store, caches[i]);
	free(store.ref);
	return 0;
}
