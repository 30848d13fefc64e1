/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of huge pages, as laplace sim prints them; see sim_hardware.h. */
#include "sim_hardware.h"

#include <stdio.h>

#include "pass.h"
#include "progress.h"
#include "say.h"

static enum lpl_error open_regions(void **unit, const char *spec, unsigned int promote,
				   const struct cli_hardware *sim, struct lpl_report *report)
{
	const char *reduction = cli_addresses_reduction(sim->addressing);
	struct lpl_huge *huge;
	enum lpl_error error;

	(void)promote;
	*unit = NULL;
	if (*spec)
		return lpl_fail(report, LPL_ERR_USAGE, "huge '%.80s': there is nothing to say after it", spec);
	error = lpl_huge_open(&huge, reduction ? reduction : "none", cli_has_translations(sim), report);
	*unit = huge;
	return error;
}

static struct lpl_sink *sink_of(void *unit)
{
	return lpl_huge_sink(unit);
}

static void close_regions(void *unit)
{
	lpl_huge_close(unit);
}

int cli_find_regions(struct lpl_huge **huge, const struct cli_hardware *sim)
{
	struct lpl_report report = { 0 }, trouble = { 0 };
	struct cli_progress progress;
	struct cli_pass pass = { .path = sim->path, .progress = &progress, .label = "regions ",
				 .choice = sim->choice, .addressing = sim->addressing, .trouble = &trouble };
	void *found = NULL;
	int status = cli_reader_open(&pass.reader, sim->path);

	if (status)
		return status;
	lpl_reader_jobs(pass.reader, sim->jobs);
	if (open_regions(&found, "", 0, sim, &report)) {
		status = cli_report(&report);
	} else {
		pass.sink = sink_of(found);
		cli_progress_start(&progress, sim->progress);
		status = cli_pass_run(&pass);
	}
	*huge = found;
	lpl_reader_close(pass.reader);
	return status == CLI_DAMAGED ? CLI_DONE : status;	/* the pass to come says so */
}

/* ---- results ---- */

/* Regions with `from` to `to` touched pages, and what comes of promotion from `from` on. */
struct row {
	unsigned int from, to;
	struct lpl_huge_regions regions;
	struct lpl_huge_promotion promotion;
	const char *translations;
};

static void print_row(const struct row *row)
{
	printf("%u,%u", row->from, row->to);
	cli_print_number(true, row->regions.small);
	cli_print_number(true, row->regions.huge);
	cli_print_number(true, row->promotion.regions);
	cli_print_number(true, row->promotion.touched);
	cli_print_number(true, row->promotion.wasted);
	printf(",%s\n", row->translations);
}

static json_t *row_json(const struct row *row)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "touched_from", (json_int_t)row->from,
			 "touched_to", (json_int_t)row->to, "small", (json_int_t)row->regions.small,
			 "huge", (json_int_t)row->regions.huge, "promoted", (json_int_t)row->promotion.regions,
			 "touched", (json_int_t)row->promotion.touched,
			 "wasted", (json_int_t)row->promotion.wasted, "translations", row->translations);
}

static void print_regions(const void *unit, const char *spec, unsigned int promote,
			  const struct cli_hardware *sim, json_t *array)
{
	struct row row = { .translations = cli_has_translations(sim) ? "kept" : "none" };

	(void)spec;
	(void)promote;
	for (row.from = 1; row.from <= LPL_HUGE_PAGES; row.from *= 2) {
		row.to = row.from < LPL_HUGE_PAGES ? 2 * row.from - 1 : row.from;
		row.regions = (struct lpl_huge_regions){ 0 };
		for (unsigned int i = row.from; i <= row.to; i++) {
			const struct lpl_huge_regions regions = lpl_huge_touched(unit, i);

			row.regions.small += regions.small;
			row.regions.huge += regions.huge;
		}
		lpl_huge_promotion(unit, row.from, &row.promotion);
		if (array)
			json_array_append_new(array, row_json(&row));
		else
			print_row(&row);
	}
}

static void warn(const struct cli_hardware *sim)
{
	if (!cli_has_translations(sim))
		cli_complain(0, "warning: %s: does not say how addresses are mapped (record with --physical): "
			     "which pages are huge already is not known", sim->path);
}

const struct cli_hardware_kind cli_regions = {
	.name = "huge", .plural = "regions of huge pages", .takes_events = true,
	.heading = "touched_from,touched_to,small,huge,promoted,touched,wasted,translations",
	.open = open_regions, .sink = sink_of, .close = close_regions, .print = print_regions, .warn = warn
};
