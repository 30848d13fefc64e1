/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs, as laplace sim prints them; see sim_hardware.h. */
#include "sim_hardware.h"

#include <inttypes.h>
#include <stdio.h>

#include <laplace/tlb.h>

#include "say.h"

static enum lpl_error open_tlb(void **unit, const char *spec, unsigned int promote,
			       const struct cli_hardware *sim, struct lpl_report *report)
{
	const struct lpl_tlb_options options = {
		.reduction = cli_addresses_reduction(sim->addressing),
		.translations = cli_has_translations(sim),
		.huge = promote != 0 ? sim->huge : NULL, .promote = promote, .caches = sim->caches
	};
	struct lpl_tlb *tlb;
	const enum lpl_error error = lpl_tlb_open(&tlb, spec, &options, report);

	*unit = tlb;
	return error;
}

static struct lpl_sink *sink_of(void *unit)
{
	return lpl_tlb_sink(unit);
}

static void close_tlb(void *unit)
{
	lpl_tlb_close(unit);
}

/* ---- results ---- */

static const char *const missed_pages[LPL_TLB_PAGES] = {
	"misses_4k", "misses_64k", "misses_1m", "misses_2m", "misses_1g"
};

/* What all lines of a TLB have. */
struct tlb {
	const char *spec, *translations;
	const struct lpl_huge *huge;	/* NULL: promotions are not asked for */
	unsigned int promote;
	struct lpl_huge_promotion promotion;
	bool caches;			/* references and walks go through some */
};

static bool has_sizes(const struct lpl_tlb_level *level)
{
	return level->entries == 0 || level->name[0] == 'l';
}

/* What ends each line. */
static void print_end(const struct tlb *tlb, const struct lpl_tlb_loads *loads)
{
	printf(",%s", tlb->translations);
	for (int i = 0; tlb->caches && i < LPL_TLB_FOUND; i++)
		cli_print_number(loads != NULL, loads ? loads->found[i] : 0);
	if (tlb->caches) {
		cli_print_number(loads != NULL, loads ? loads->known : 0);
		cli_print_number(loads != NULL, loads ? loads->made_up : 0);
	}
	if (tlb->huge) {
		cli_print_number(tlb->promote != 0, tlb->promote);
		cli_print_number(true, tlb->promotion.regions);
		cli_print_number(true, tlb->promotion.wasted);
	}
	putchar('\n');
}

/* References, misses, and their ratio; `all_served`: there are no misses. */
static void print_lookups(bool all_served, const uint64_t *by_type, const uint64_t *missed)
{
	const uint64_t references = cli_sum_of_types(by_type), misses = cli_sum_of_types(missed);

	cli_print_number(true, references);
	cli_print_types(true, by_type);
	cli_print_number(!all_served, misses);
	cli_print_types(!all_served, missed);
	putchar(',');
	if (!all_served)
		printf("%.6g", references ? (double)misses / (double)references : 0);
}

static void print_level_row(const struct tlb *tlb, const struct lpl_tlb_level *level)
{
	const bool walks = level->entries == 0;

	printf("%s,%s", tlb->spec, level->name);
	cli_print_number(!walks, level->entries);
	print_lookups(walks, level->references, level->misses);
	for (int i = 0; i < LPL_TLB_PAGES; i++)
		cli_print_number(has_sizes(level), level->missed_pages[i]);
	cli_print_number(!walks, level->stale);
	cli_print_number(!walks, level->evictions);
	cli_print_number(!walks, level->invalidations);
	cli_print_number(walks, level->loads);
	print_end(tlb, NULL);
}

static void add_number(json_t *object, const char *name, uint64_t number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

/* What is in each object. */
static json_t *new_object(const struct tlb *tlb, const char *name)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "tlb", tlb->spec, "level", name, "translations",
				   tlb->translations);

	if (tlb->huge) {
		add_number(object, "promote", tlb->promote);
		add_number(object, "promoted", tlb->promotion.regions);
		add_number(object, "wasted", tlb->promotion.wasted);
	}
	return object;
}

static json_t *level_json(const struct tlb *tlb, const struct lpl_tlb_level *level)
{
	json_t *object = new_object(tlb, level->name);

	add_number(object, "references", cli_sum_of_types(level->references));
	cli_add_types(object, cli_reference_types, level->references);
	for (int i = 0; i < LPL_TLB_PAGES && has_sizes(level); i++)
		add_number(object, missed_pages[i], level->missed_pages[i]);
	if (level->entries == 0) {
		add_number(object, "loads", level->loads);
		return object;
	}
	cli_add_types(object, cli_miss_types, level->misses);
	add_number(object, "entries", level->entries);
	add_number(object, "misses", cli_sum_of_types(level->misses));
	add_number(object, "stale", level->stale);
	add_number(object, "evictions", level->evictions);
	add_number(object, "invalidations", level->invalidations);
	return object;
}

static void print_level(const struct tlb *tlb, const struct lpl_tlb_level *level, json_t *array)
{
	if (array)
		json_array_append_new(array, level_json(tlb, level));
	else
		print_level_row(tlb, level);
}

/* ---- where walks find their entries ---- */

static const char *const found_at[LPL_TLB_FOUND] = { "found_l1", "found_l2", "found_l3", "found_memory" };

static uint64_t sum_of_found(const struct lpl_tlb_loads *loads)
{
	uint64_t sum = 0;

	for (int i = 0; i < LPL_TLB_FOUND; i++)
		sum += loads->found[i];
	return sum;
}

static json_t *table_json(const struct tlb *tlb, const char *name, const struct lpl_tlb_loads *loads)
{
	json_t *object = new_object(tlb, name);

	add_number(object, "loads", sum_of_found(loads));
	for (int i = 0; i < LPL_TLB_FOUND; i++)
		add_number(object, found_at[i], loads->found[i]);
	add_number(object, "known", loads->known);
	add_number(object, "made_up", loads->made_up);
	return object;
}

/* Table 1 is the last one. */
static void print_table(const struct tlb *tlb, unsigned int table, const struct lpl_tlb_loads *loads, json_t *array)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "table%u", table);
	if (array) {
		json_array_append_new(array, table_json(tlb, name, loads));
		return;
	}
	printf("%s,%s,,,,,,,,,,,,,,,,,,", tlb->spec, name);
	cli_print_number(true, sum_of_found(loads));
	print_end(tlb, loads);
}

static json_t *cache_json(const struct tlb *tlb, const char *name, const struct lpl_cache_level *level)
{
	json_t *object = new_object(tlb, name);

	add_number(object, "references", cli_sum_of_types(level->references));
	cli_add_types(object, cli_reference_types, level->references);
	if (level->size == 0)
		return object;
	add_number(object, "entries", level->size / level->line);
	add_number(object, "misses", cli_sum_of_types(level->misses));
	cli_add_types(object, cli_miss_types, level->misses);
	add_number(object, "evictions", level->evictions);
	add_number(object, "invalidations", level->invalidations);
	return object;
}

static void print_cache_row(const struct tlb *tlb, const char *name, const struct lpl_cache_level *level)
{
	const bool memory = level->size == 0;

	printf("%s,%s", tlb->spec, name);
	cli_print_number(!memory, memory ? 0 : level->size / level->line);
	print_lookups(memory, level->references, level->misses);
	printf(",,,,,,");
	cli_print_number(!memory, level->evictions);
	cli_print_number(!memory, level->invalidations);
	putchar(',');
	print_end(tlb, NULL);
}

static void print_caches(const struct tlb *tlb, const struct lpl_cache *caches, json_t *array)
{
	for (size_t i = 0; i < lpl_cache_levels(caches); i++) {
		const struct lpl_cache_level *level = lpl_cache_level(caches, i);
		char name[24];

		(void)snprintf(name, sizeof(name), "%s%s", level->size ? "cache-" : "", level->name);
		if (array)
			json_array_append_new(array, cache_json(tlb, name, level));
		else
			print_cache_row(tlb, name, level);
	}
}

static void print_tlb(const void *unit, const char *spec, unsigned int promote, const struct cli_hardware *sim,
		      json_t *array)
{
	struct tlb tlb = { .spec = spec, .translations = cli_has_translations(sim) ? "kept" : "none",
			   .huge = sim->huge, .promote = promote, .caches = sim->caches != NULL };
	const uint64_t unknown = lpl_tlb_unknown(unit);

	if (promote)
		lpl_huge_promotion(sim->huge, promote, &tlb.promotion);
	for (size_t i = 0; i < lpl_tlb_levels(unit); i++)
		print_level(&tlb, lpl_tlb_level(unit, i), array);
	for (unsigned int table = lpl_tlb_tables(unit); tlb.caches && table > 0; table--)
		print_table(&tlb, table, lpl_tlb_loads(unit, table), array);
	if (tlb.caches)
		print_caches(&tlb, lpl_tlb_caches(unit), array);
	if (unknown && !promote)
		cli_complain(0, "warning: %s: tlb '%s': of %" PRIu64 " references it is not known how they are "
			     "mapped; they count as pages of 4 KB", sim->path, spec, unknown);
}

static void warn(const struct cli_hardware *sim)
{
	if (!cli_has_translations(sim))
		cli_complain(0, "warning: %s: does not say how addresses are mapped (record with --physical): "
			     "all pages are of 4 KB, none is global, and tables are loaded where another space "
			     "is referenced", sim->path);
}

const struct cli_hardware_kind cli_tlbs = {
	.name = "tlb", .plural = "TLBs", .takes_events = true,
	.heading = "tlb,level,entries,references,fetches,reads,writes,misses,fetch_misses,read_misses,"
		   "write_misses,miss_ratio,misses_4k,misses_64k,misses_1m,misses_2m,misses_1g,stale,"
		   "evictions,invalidations,loads,translations",
	.cache_heading = ",found_l1,found_l2,found_l3,found_memory,known,made_up",
	.open = open_tlb, .sink = sink_of, .close = close_tlb, .print = print_tlb, .warn = warn
};
