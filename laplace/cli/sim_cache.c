/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardware caches, as laplace sim prints them; see sim_hardware.h. */
#include "sim_hardware.h"

#include <stdio.h>

static enum lpl_error open_cache(void **unit, const char *spec, unsigned int promote,
				 const struct cli_hardware *sim, struct lpl_report *report)
{
	const struct lpl_cache_options options = {
		.reduction = cli_addresses_reduction(sim->addressing),
		.part = lpl_choice_part(sim->choice, sim->page_size)
	};
	struct lpl_cache *cache;
	const enum lpl_error error = lpl_cache_open(&cache, spec, &options, report);

	(void)promote;
	*unit = cache;
	return error;
}

static struct lpl_sink *sink_of(void *unit)
{
	return lpl_cache_sink(unit);
}

static void close_cache(void *unit)
{
	lpl_cache_close(unit);
}

/* ---- results ---- */

/* What there is to say of a level: what is not known is not said. */
struct row {
	const char *cache, *addresses;
	const struct lpl_cache_level *level;
	bool memory, by_type;
	bool references;	/* their sum is known */
};

static void print_row(const struct row *row)
{
	const struct lpl_cache_level *level = row->level;
	const uint64_t references = cli_sum_of_types(level->references);
	const uint64_t misses = cli_sum_of_types(level->misses);

	printf("%s,%s", row->cache, level->name);
	cli_print_number(!row->memory, level->size);
	cli_print_number(!row->memory, level->ways);
	cli_print_number(!row->memory, level->line);
	cli_print_number(row->references, references);
	cli_print_types(row->by_type, level->references);
	cli_print_number(!row->memory, misses);
	cli_print_types(row->by_type && !row->memory, level->misses);
	putchar(',');
	if (row->references && !row->memory)
		printf("%.6g", references ? (double)misses / (double)references : 0);
	cli_print_number(!row->memory, level->evictions);
	cli_print_number(!row->memory, level->write_backs);
	cli_print_number(true, level->written);
	cli_print_number(!row->memory, level->invalidations);
	printf(",%s\n", row->addresses);
}

static json_t *row_json(const struct row *row)
{
	const struct lpl_cache_level *level = row->level;
	json_t *object = json_pack("{s:s, s:s, s:s}", "cache", row->cache, "level", level->name,
				   "addresses", row->addresses);

	if (row->references)
		json_object_set_new(object, "references",
				    json_integer((json_int_t)cli_sum_of_types(level->references)));
	if (row->by_type)
		cli_add_types(object, cli_reference_types, level->references);
	json_object_set_new(object, "written", json_integer((json_int_t)level->written));
	if (row->memory)
		return object;
	if (row->by_type)
		cli_add_types(object, cli_miss_types, level->misses);
	json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
				   "size", (json_int_t)level->size, "ways", (json_int_t)level->ways,
				   "line", (json_int_t)level->line,
				   "misses", (json_int_t)cli_sum_of_types(level->misses),
				   "evictions", (json_int_t)level->evictions,
				   "write_backs", (json_int_t)level->write_backs,
				   "invalidations", (json_int_t)level->invalidations));
	return object;
}

static void print_cache(const void *unit, const char *spec, unsigned int promote,
			const struct cli_hardware *sim, json_t *array)
{
	const struct lpl_cache *cache = unit;
	const size_t levels = lpl_cache_levels(cache);
	struct row row = { .cache = spec, .addresses = sim->addressing->name,
			   .by_type = lpl_cache_by_type(cache) };

	(void)promote;
	for (size_t i = 0; i < levels; i++) {
		row.level = lpl_cache_level(cache, i);
		row.memory = i == levels - 1;
		row.references = row.by_type || i > 0;
		if (array)
			json_array_append_new(array, row_json(&row));
		else
			print_row(&row);
	}
}

/* Caches do not look at events. */
const struct cli_hardware_kind cli_caches = {
	.name = "cache", .plural = "caches",
	.heading = "cache,level,size,ways,line,references,fetches,reads,writes,misses,fetch_misses,"
		   "read_misses,write_misses,miss_ratio,evictions,write_backs,written,invalidations,"
		   "addresses",
	.open = open_cache, .sink = sink_of, .close = close_cache, .print = print_cache
};
