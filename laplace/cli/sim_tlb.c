/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs, as laplace sim prints them; see sim_hardware.h. */
#include "sim_hardware.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <laplace/tlb.h>

#include "say.h"

static bool has_translations(const struct cli_hardware *sim)
{
	const char *translations = lpl_meta_get(lpl_reader_meta(sim->reader), LPL_META_TRANSLATIONS);

	return translations && strcmp(translations, "kept") == 0;
}

static enum lpl_error open_tlb(void **unit, const char *spec, const struct cli_hardware *sim,
			       struct lpl_report *report)
{
	const struct lpl_tlb_options options = {
		.reduction = cli_addresses_reduction(sim->addressing),
		.translations = has_translations(sim)
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

static void print_row(const char *spec, const struct lpl_tlb_level *level, const char *translations)
{
	const bool walks = level->entries == 0;
	const bool paged = walks || level->name[0] == 'l';
	const uint64_t references = cli_sum_of_types(level->references);
	const uint64_t misses = cli_sum_of_types(level->misses);

	printf("%s,%s", spec, level->name);
	cli_print_number(!walks, level->entries);
	cli_print_number(true, references);
	cli_print_types(true, level->references);
	cli_print_number(!walks, misses);
	cli_print_types(!walks, level->misses);
	putchar(',');
	if (!walks)
		printf("%.6g", references ? (double)misses / (double)references : 0);
	for (int i = 0; i < LPL_TLB_PAGES; i++)
		cli_print_number(paged, level->missed_pages[i]);
	cli_print_number(!walks, level->stale);
	cli_print_number(!walks, level->evictions);
	cli_print_number(!walks, level->invalidations);
	cli_print_number(walks, level->loads);
	printf(",%s\n", translations);
}

static json_t *row_json(const char *spec, const struct lpl_tlb_level *level, const char *translations)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:I}", "tlb", spec, "level", level->name, "translations",
				   translations, "references",
				   (json_int_t)cli_sum_of_types(level->references));

	cli_add_types(object, cli_reference_types, level->references);
	for (int i = 0; i < LPL_TLB_PAGES && (level->entries == 0 || level->name[0] == 'l'); i++)
		json_object_set_new(object, missed_pages[i], json_integer((json_int_t)level->missed_pages[i]));
	if (level->entries == 0) {
		json_object_set_new(object, "loads", json_integer((json_int_t)level->loads));
		return object;
	}
	cli_add_types(object, cli_miss_types, level->misses);
	json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:I, s:I}",
				   "entries", (json_int_t)level->entries,
				   "misses", (json_int_t)cli_sum_of_types(level->misses),
				   "stale", (json_int_t)level->stale,
				   "evictions", (json_int_t)level->evictions,
				   "invalidations", (json_int_t)level->invalidations));
	return object;
}

static void print_tlb(const void *unit, const char *spec, const struct cli_hardware *sim, json_t *array)
{
	const struct lpl_tlb *tlb = unit;
	const char *translations = has_translations(sim) ? "kept" : "none";
	const uint64_t unknown = lpl_tlb_unknown(tlb);

	for (size_t i = 0; i < lpl_tlb_levels(tlb); i++) {
		const struct lpl_tlb_level *level = lpl_tlb_level(tlb, i);

		if (array)
			json_array_append_new(array, row_json(spec, level, translations));
		else
			print_row(spec, level, translations);
	}
	if (unknown)
		cli_complain(0, "warning: %s: tlb '%s': of %" PRIu64 " references it is not known how they are "
			     "mapped; they count as pages of 4 KB", sim->path, spec, unknown);
}

static void warn(const struct cli_hardware *sim)
{
	if (!has_translations(sim))
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
