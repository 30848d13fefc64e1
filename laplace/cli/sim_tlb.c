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
		.huge = promote != 0 ? sim->huge : NULL, .promote = promote
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
};

static bool has_sizes(const struct lpl_tlb_level *level)
{
	return level->entries == 0 || level->name[0] == 'l';
}

static void print_row(const struct tlb *tlb, const struct lpl_tlb_level *level)
{
	const bool walks = level->entries == 0;
	const uint64_t references = cli_sum_of_types(level->references);
	const uint64_t misses = cli_sum_of_types(level->misses);

	printf("%s,%s", tlb->spec, level->name);
	cli_print_number(!walks, level->entries);
	cli_print_number(true, references);
	cli_print_types(true, level->references);
	cli_print_number(!walks, misses);
	cli_print_types(!walks, level->misses);
	putchar(',');
	if (!walks)
		printf("%.6g", references ? (double)misses / (double)references : 0);
	for (int i = 0; i < LPL_TLB_PAGES; i++)
		cli_print_number(has_sizes(level), level->missed_pages[i]);
	cli_print_number(!walks, level->stale);
	cli_print_number(!walks, level->evictions);
	cli_print_number(!walks, level->invalidations);
	cli_print_number(walks, level->loads);
	printf(",%s", tlb->translations);
	if (tlb->huge) {
		cli_print_number(tlb->promote != 0, tlb->promote);
		cli_print_number(true, tlb->promotion.regions);
		cli_print_number(true, tlb->promotion.wasted);
	}
	putchar('\n');
}

static void add_number(json_t *object, const char *name, uint64_t number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

static json_t *row_json(const struct tlb *tlb, const struct lpl_tlb_level *level)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "tlb", tlb->spec, "level", level->name, "translations",
				   tlb->translations);

	if (tlb->huge) {
		add_number(object, "promote", tlb->promote);
		add_number(object, "promoted", tlb->promotion.regions);
		add_number(object, "wasted", tlb->promotion.wasted);
	}
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

static void print_tlb(const void *unit, const char *spec, unsigned int promote, const struct cli_hardware *sim,
		      json_t *array)
{
	struct tlb tlb = { .spec = spec, .translations = cli_has_translations(sim) ? "kept" : "none",
			   .huge = sim->huge, .promote = promote };
	const uint64_t unknown = lpl_tlb_unknown(unit);

	if (promote)
		lpl_huge_promotion(sim->huge, promote, &tlb.promotion);
	for (size_t i = 0; i < lpl_tlb_levels(unit); i++) {
		if (array)
			json_array_append_new(array, row_json(&tlb, lpl_tlb_level(unit, i)));
		else
			print_row(&tlb, lpl_tlb_level(unit, i));
	}
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
	.open = open_tlb, .sink = sink_of, .close = close_tlb, .print = print_tlb, .warn = warn
};
