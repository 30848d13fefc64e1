/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options that several subcommands have; see options.h. */
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "base/digits.h"
#include "base/host.h"
#include "options.h"

#define MOST_JOBS 1024

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static const struct argp_option json_options[] = {
	{ "json", 'j', NULL, 0, "Report in JSON", 0 },
	{ 0 }
};
const struct argp cli_json_argp = { json_options, parse_json, NULL, NULL, NULL, NULL, NULL };

static error_t parse_progress(int key, char *arg, struct argp_state *state)
{
	enum cli_when *when = state->input;

	if (key != 'P')
		return ARGP_ERR_UNKNOWN;
	if (strcmp(arg, "auto") == 0)
		*when = CLI_AUTO;
	else if (strcmp(arg, "always") == 0)
		*when = CLI_ALWAYS;
	else if (strcmp(arg, "never") == 0)
		*when = CLI_NEVER;
	else
		argp_error(state, "--progress is auto, always or never, not '%s'", arg);
	return 0;
}

static const struct argp_option progress_options[] = {
	{ "progress", 'P', "WHEN", 0,
	  "Show progress on stderr: auto (on a terminal), always, never", 0 },
	{ 0 }
};
const struct argp cli_progress_argp = {
	progress_options, parse_progress, NULL, NULL, NULL, NULL, NULL
};

static error_t parse_overwrite(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'O')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static const struct argp_option overwrite_options[] = {
	{ "overwrite", 'O', NULL, 0, "Replace an existing output file", 0 },
	{ 0 }
};
const struct argp cli_overwrite_argp = {
	overwrite_options, parse_overwrite, NULL, NULL, NULL, NULL, NULL
};

static error_t parse_jobs(int key, char *arg, struct argp_state *state)
{
	uint64_t number;

	if (key != 'J')
		return ARGP_ERR_UNKNOWN;
	number = cli_number(state, "--jobs", arg, 1);
	if (number > MOST_JOBS)
		argp_error(state, "--jobs is at most %d", MOST_JOBS);
	*(unsigned int *)state->input = (unsigned int)number;
	return 0;
}

static const struct argp_option jobs_options[] = {
	{ "jobs", 'J', "N", 0, "Threads that work (one for each processor)", 0 },
	{ 0 }
};
const struct argp cli_jobs_argp = { jobs_options, parse_jobs, NULL, NULL, NULL, NULL, NULL };

unsigned int cli_jobs(unsigned int asked)
{
	return asked ? asked : lpl_processors();
}

uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least)
{
	uint64_t number;

	if (!lpl_parse_decimal(text, &number) || number < least)
		argp_error(state, "%s takes a number from %" PRIu64 " on, not '%s'",
			   option, least, text);
	return number;
}

uint64_t cli_address(struct argp_state *state, const char *option, const char *text)
{
	uint64_t address;

	if (!lpl_parse_hex(text, &address) || !address)
		argp_error(state, "%s takes a hexadecimal address, not '%s'", option, text);
	return address;
}
