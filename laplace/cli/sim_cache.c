/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardware caches, as laplace sim prints them; see sim_cache.h. */
#include "sim_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <laplace/cache.h>

#include "base/array.h"
#include "pass.h"
#include "progress.h"
#include "say.h"

#define PREFIX "cache"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

struct caches {
	struct lpl_sink sink;		/* first; to all of them */
	struct lpl_cache **cache;
	const char **spec;		/* as asked for, without the prefix */
	size_t count, cache_room, spec_room;
};

static bool is_cache(const char *policy)
{
	return strncmp(policy, PREFIX, PREFIX_LENGTH) == 0 &&
	       (policy[PREFIX_LENGTH] == ':' || policy[PREFIX_LENGTH] == ',' || !policy[PREFIX_LENGTH]);
}

bool cli_has_cache(const char *policies)
{
	while (policies && !is_cache(policies)) {
		policies = strchr(policies, ',');
		policies += policies != NULL;
	}
	return policies != NULL;
}

/* ---- the pass ---- */

static enum lpl_error send_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	const struct caches *caches = (struct caches *)sink;

	for (size_t i = 0; i < caches->count; i++) {
		struct lpl_sink *next = lpl_cache_sink(caches->cache[i]);

		if (next->refs(next, refs, count, report))
			return report->error;
	}
	return LPL_OK;
}

/* Caches do not look at events. */
static enum lpl_error pass_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error pass_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static int add_cache(struct caches *caches, const char *policy, const struct cli_sim_cache *sim)
{
	const struct lpl_cache_options options = {
		.reduction = cli_addresses_reduction(sim->addressing),
		.part = lpl_choice_part(sim->choice, sim->page_size)
	};
	const char *spec = policy + PREFIX_LENGTH + (policy[PREFIX_LENGTH] == ':');
	struct lpl_report report = { 0 };

	if (!is_cache(policy))
		return cli_complain(CLI_USAGE, "policy '%s': caches are simulated without others", policy);
	for (size_t i = 0; i < caches->count; i++) {
		if (strcmp(caches->spec[i], spec) == 0)
			return cli_complain(CLI_USAGE, "cache '%s' is asked for twice", spec);
	}
	if (!lpl_reach(caches->cache, caches->cache_room, caches->count) ||
	    !lpl_reach(caches->spec, caches->spec_room, caches->count))
		return cli_complain(CLI_FAILED, "no memory for the caches");
	if (lpl_cache_open(&caches->cache[caches->count], spec, &options, &report))
		return cli_report(&report);
	caches->spec[caches->count++] = spec;
	return CLI_DONE;
}

/* ---- results ---- */

static uint64_t sum_of(const uint64_t number[LPL_CACHE_ACCESSES])
{
	return number[LPL_CACHE_FETCH] + number[LPL_CACHE_READ] + number[LPL_CACHE_WRITE];
}

/* What there is to say of a level: what is not known is not said. */
struct row {
	const char *cache, *addresses;
	const struct lpl_cache_level *level;
	bool memory, by_type;
	bool references;	/* their sum is known */
};

static void print_number(bool known, uint64_t number)
{
	if (known)
		printf(",%" PRIu64, number);
	else
		putchar(',');
}

static void print_row(const struct row *row)
{
	const struct lpl_cache_level *level = row->level;
	const uint64_t references = sum_of(level->references), misses = sum_of(level->misses);

	printf("%s,%s", row->cache, level->name);
	print_number(!row->memory, level->size);
	print_number(!row->memory, level->ways);
	print_number(!row->memory, level->line);
	print_number(row->references, references);
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		print_number(row->by_type, level->references[i]);
	print_number(!row->memory, misses);
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		print_number(row->by_type && !row->memory, level->misses[i]);
	putchar(',');
	if (row->references && !row->memory)
		printf("%.6g", references ? (double)misses / (double)references : 0);
	print_number(!row->memory, level->evictions);
	print_number(!row->memory, level->write_backs);
	print_number(true, level->written);
	print_number(!row->memory, level->invalidations);
	printf(",%s\n", row->addresses);
}

static void add_types(json_t *object, const char *const name[LPL_CACHE_ACCESSES],
		      const uint64_t number[LPL_CACHE_ACCESSES])
{
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		json_object_set_new(object, name[i], json_integer((json_int_t)number[i]));
}

static json_t *row_json(const struct row *row)
{
	static const char *const references[] = { "fetches", "reads", "writes" };
	static const char *const misses[] = { "fetch_misses", "read_misses", "write_misses" };
	const struct lpl_cache_level *level = row->level;
	json_t *object = json_pack("{s:s, s:s, s:s}", "cache", row->cache, "level", level->name,
				   "addresses", row->addresses);

	if (row->references)
		json_object_set_new(object, "references",
				    json_integer((json_int_t)sum_of(level->references)));
	if (row->by_type)
		add_types(object, references, level->references);
	json_object_set_new(object, "written", json_integer((json_int_t)level->written));
	if (row->memory)
		return object;
	if (row->by_type)
		add_types(object, misses, level->misses);
	json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
				   "size", (json_int_t)level->size, "ways", (json_int_t)level->ways,
				   "line", (json_int_t)level->line,
				   "misses", (json_int_t)sum_of(level->misses),
				   "evictions", (json_int_t)level->evictions,
				   "write_backs", (json_int_t)level->write_backs,
				   "invalidations", (json_int_t)level->invalidations));
	return object;
}

static int print_results(const struct caches *caches, const struct cli_sim_cache *sim)
{
	json_t *array = sim->json ? json_array() : NULL;

	if (!sim->json)
		puts("cache,level,size,ways,line,references,fetches,reads,writes,misses,fetch_misses,"
		     "read_misses,write_misses,miss_ratio,evictions,write_backs,written,invalidations,"
		     "addresses");
	for (size_t i = 0; i < caches->count; i++) {
		const size_t levels = lpl_cache_levels(caches->cache[i]);
		struct row row = { .cache = caches->spec[i], .addresses = sim->addressing->name,
				   .by_type = lpl_cache_by_type(caches->cache[i]) };

		for (size_t j = 0; j < levels; j++) {
			row.level = lpl_cache_level(caches->cache[i], j);
			row.memory = j == levels - 1;
			row.references = row.by_type || j > 0;
			if (sim->json)
				json_array_append_new(array, row_json(&row));
			else
				print_row(&row);
		}
	}
	return sim->json ? cli_print_json(stdout, array) : CLI_DONE;
}

int cli_sim_caches(const struct cli_sim_cache *sim, char *policies)
{
	struct caches caches = { .sink = { send_refs, pass_event, pass_end } };
	struct cli_progress progress;
	struct cli_pass pass = { .reader = sim->reader, .path = sim->path, .sink = &caches.sink,
				 .progress = &progress, .choice = sim->choice,
				 .renumbers = true, .addressing = sim->addressing,
				 .without_events = true };
	char *policy;
	int status = CLI_DONE;

	while (!status && (policy = strsep(&policies, ",")))
		status = add_cache(&caches, policy, sim);
	if (!status) {
		cli_progress_start(&progress, sim->progress);
		status = cli_pass_run(&pass);
		if ((status == CLI_DONE || status == CLI_DAMAGED) && print_results(&caches, sim))
			status = CLI_FAILED;
	}
	for (size_t i = 0; i < caches.count; i++)
		lpl_cache_close(caches.cache[i]);
	free(caches.cache);
	free(caches.spec);
	return status;
}
