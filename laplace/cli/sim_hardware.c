/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardware, as laplace sim simulates it: units of one kind, all of which get the stream; see sim_hardware.h. */
#include "sim_hardware.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/simulator.h>
#include <laplace/translation.h>

#include "base/array.h"
#include "pass.h"
#include "progress.h"
#include "say.h"

struct units {
	struct lpl_sink sink;		/* first; to all of them */
	const struct cli_hardware_kind *kind;
	void **unit;
	struct asked {
		const char *spec;	/* without the kind */
		unsigned int promote;	/* from so many touched pages on; 0: nothing */
	} *asked;
	size_t count, unit_room, asked_room;
	struct lpl_sizes promote;
};

bool cli_has_translations(const struct cli_hardware *sim)
{
	return lpl_has_translations(lpl_reader_meta(sim->reader));
}

static bool is_of(const struct cli_hardware_kind *kind, const char *policy)
{
	const size_t length = strlen(kind->name);

	return strncmp(policy, kind->name, length) == 0 &&
	       (policy[length] == ':' || policy[length] == ',' || !policy[length]);
}

const struct cli_hardware_kind *cli_hardware_of(const char *policies)
{
	static const struct cli_hardware_kind *const kinds[] = { &cli_caches, &cli_tlbs, &cli_regions };

	while (policies) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (is_of(kinds[i], policies))
				return kinds[i];
		policies = strchr(policies, ',');
		policies += policies != NULL;
	}
	return NULL;
}

/* ---- the pass ---- */

static enum lpl_error send_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	const struct units *units = (struct units *)sink;

	for (size_t i = 0; i < units->count; i++) {
		struct lpl_sink *next = units->kind->sink(units->unit[i]);

		if (next->refs(next, refs, count, report))
			return report->error;
	}
	return LPL_OK;
}

static enum lpl_error send_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	const struct units *units = (struct units *)sink;

	for (size_t i = 0; i < units->count; i++) {
		struct lpl_sink *next = units->kind->sink(units->unit[i]);

		if (next->event(next, event, report))
			return report->error;
	}
	return LPL_OK;
}

static enum lpl_error pass_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static int add_unit(struct units *units, const char *spec, unsigned int promote,
		    const struct cli_hardware *sim)
{
	struct lpl_report report = { 0 };

	if (!lpl_reach(units->unit, units->unit_room, units->count) ||
	    !lpl_reach(units->asked, units->asked_room, units->count))
		return cli_complain(CLI_FAILED, "no memory for the %s", units->kind->plural);
	if (units->kind->open(&units->unit[units->count], spec, promote, sim, &report))
		return cli_report(&report);
	units->asked[units->count++] = (struct asked){ spec, promote };
	return CLI_DONE;
}

/* As it is, and with promotions. */
static int add_policy(struct units *units, const char *policy, const struct cli_hardware *sim)
{
	const struct cli_hardware_kind *kind = units->kind;
	const char *spec = policy + strlen(kind->name);
	int status;

	if (!is_of(kind, policy))
		return cli_complain(CLI_USAGE, "policy '%s': %s are simulated without others", policy,
				    kind->plural);
	spec += *spec == ':';
	for (size_t i = 0; i < units->count; i++) {
		if (strcmp(units->asked[i].spec, spec) == 0)
			return cli_complain(CLI_USAGE, "%s '%s' is asked for twice", kind->name, spec);
	}
	status = add_unit(units, spec, 0, sim);
	for (size_t i = 0; i < units->promote.count && !status; i++)
		status = add_unit(units, spec, (unsigned int)units->promote.size[i], sim);
	return status;
}

static int parse_promote(struct units *units, const struct cli_hardware *sim)
{
	struct lpl_sizes *promote = &units->promote;
	struct lpl_report report = { 0 };

	if (lpl_sizes_parse(promote, sim->promote, &report) || promote->all || promote->memory ||
	    promote->size[promote->count - 1] > LPL_HUGE_PAGES)
		return cli_complain(CLI_USAGE, "--promote: '%s' is no list of numbers from 1 to %d, of pages of a "
				    "region that are touched: 64,256,512", sim->promote, LPL_HUGE_PAGES);
	if (strcmp(sim->path, "-") == 0 || lpl_reader_size(sim->reader) == 0)
		return cli_complain(CLI_USAGE, "%s: for --promote its regions are found in a pass of their own, "
				    "and it can be read only once; give a file", sim->path);
	return CLI_DONE;
}

/* ---- results ---- */

const char *const cli_reference_types[LPL_CACHE_ACCESSES] = { "fetches", "reads", "writes" };
const char *const cli_miss_types[LPL_CACHE_ACCESSES] = { "fetch_misses", "read_misses", "write_misses" };

uint64_t cli_sum_of_types(const uint64_t number[LPL_CACHE_ACCESSES])
{
	return number[LPL_CACHE_FETCH] + number[LPL_CACHE_READ] + number[LPL_CACHE_WRITE];
}

void cli_print_number(bool known, uint64_t number)
{
	if (known)
		printf(",%" PRIu64, number);
	else
		putchar(',');
}

void cli_print_types(bool known, const uint64_t number[LPL_CACHE_ACCESSES])
{
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		cli_print_number(known, number[i]);
}

void cli_add_types(json_t *object, const char *const name[LPL_CACHE_ACCESSES],
		   const uint64_t number[LPL_CACHE_ACCESSES])
{
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		json_object_set_new(object, name[i], json_integer((json_int_t)number[i]));
}

static int print_results(const struct units *units, const struct cli_hardware *sim)
{
	const struct cli_hardware_kind *kind = units->kind;
	json_t *array = sim->json ? json_array() : NULL;

	if (!sim->json)
		printf("%s%s%s\n", kind->heading, sim->caches ? kind->cache_heading : "",
		       sim->huge ? ",promote,promoted,wasted" : "");
	for (size_t i = 0; i < units->count; i++)
		kind->print(units->unit[i], units->asked[i].spec, units->asked[i].promote, sim, array);
	if (kind->warn)
		kind->warn(sim);
	return sim->json ? cli_print_json(stdout, array) : CLI_DONE;
}

static int simulate(struct units *units, const struct cli_hardware *sim, char *policies)
{
	struct cli_progress progress;
	struct cli_pass pass = { .reader = sim->reader, .path = sim->path, .sink = &units->sink,
				 .progress = &progress, .choice = sim->choice,
				 .renumbers = true, .addressing = sim->addressing,
				 .without_events = !units->kind->takes_events };
	char *policy;
	int status = CLI_DONE;

	while (!status && (policy = strsep(&policies, ",")))
		status = add_policy(units, policy, sim);
	if (status)
		return status;
	cli_progress_start(&progress, sim->progress);
	status = cli_pass_run(&pass);
	if ((status == CLI_DONE || status == CLI_DAMAGED) && print_results(units, sim))
		status = CLI_FAILED;
	return status;
}

int cli_sim_hardware(const struct cli_hardware *asked, const struct cli_hardware_kind *kind, char *policies)
{
	struct units units = { .sink = { send_refs, send_event, pass_end }, .kind = kind };
	struct cli_hardware sim = *asked;
	struct lpl_huge *huge = NULL;
	int status = CLI_DONE;

	if (sim.promote)
		status = parse_promote(&units, &sim);
	if (!status && sim.promote)
		status = cli_find_regions(&huge, &sim);
	sim.huge = huge;
	if (!status)
		status = simulate(&units, &sim, policies);
	for (size_t i = 0; i < units.count; i++)
		kind->close(units.unit[i]);
	lpl_huge_close(huge);
	lpl_sizes_free(&units.promote);
	free(units.unit);
	free(units.asked);
	return status;
}
