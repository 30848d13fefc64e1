/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options by which references are chosen; see options.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

#include "options.h"
#include "pass.h"
#include "say.h"

enum { KEY_PROCESS = 0x300, KEY_CHILDREN, KEY_TASK, KEY_USER, KEY_KERNEL, KEY_TYPE, KEY_RANGE,
       KEY_FROM, KEY_UNTIL, KEY_KIND, KEY_FILE };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Only some of the references:", 2 },
	{ "process", KEY_PROCESS, "NAME|PID", 0,
	  "Made by processes of this name, or number, and by the kernel on their behalf", 2 },
	{ "children", KEY_CHILDREN, NULL, 0, "And by all processes that they created", 2 },
	{ "task", KEY_TASK, "NAME|TID", 0, "Made by tasks, that is threads, of this name or number", 2 },
	{ "user", KEY_USER, NULL, 0, "Made in user mode", 2 },
	{ "kernel", KEY_KERNEL, NULL, 0, "Made in kernel mode", 2 },
	{ "type", KEY_TYPE, "TYPE[,...]", 0,
	  "read, write, fetch, walk-read, walk-write, or their letters: r, w, i, p, q", 2 },
	{ "range", KEY_RANGE, "START:END", 0,
	  "To addresses, in hexadecimal, from the one to below the other", 2 },
	{ "kind", KEY_KIND, "KIND[,...]", 0,
	  "To canonical pages of these kinds: anonymous, file, shm, special, kernel, "
	  "page-table, unresolved", 2 },
	{ "file", KEY_FILE, "PATH", 0, "To canonical pages of this file", 2 },
	{ "from", KEY_FROM, "MOMENT", 0,
	  "Made from this moment on: seconds:S since the recording began, uptime:S since the machine "
	  "was switched on, mark:TEXT, exec:NAME; references:N, instructions:N, cycles:N, as cat "
	  "prints them", 2 },
	{ "until", KEY_UNTIL, "MOMENT", 0,
	  "Made before this moment; --to means the same, unless it names a format", 2 },
	{ "to", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 2 },
	{ 0 }
};

static void set_by(struct argp_state *state, const char *option, const char *name, const char *value)
{
	struct lpl_report report = { 0 };

	if (lpl_choice_set(state->input, name, value, &report))
		argp_error(state, "--%s: %s", option, report.text);
}

static void set(struct argp_state *state, const char *name, const char *value)
{
	set_by(state, name, name, value);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const struct lpl_choice_options *choice = state->input;

	switch (key) {
	case KEY_PROCESS:
		set(state, "process", arg);
		break;
	case KEY_CHILDREN:
		set(state, "children", NULL);
		break;
	case KEY_TASK:
		set(state, "task", arg);
		break;
	case KEY_USER:
		set(state, "user", NULL);
		break;
	case KEY_KERNEL:
		set(state, "kernel", NULL);
		break;
	case KEY_TYPE:
		set(state, "type", arg);
		break;
	case KEY_RANGE:
		set(state, "range", arg);
		break;
	case KEY_KIND:
		set(state, "kind", arg);
		break;
	case KEY_FILE:
		set(state, "file", arg);
		break;
	case KEY_FROM:
		set(state, "from", arg);
		break;
	case KEY_UNTIL:
		set_by(state, "until", "to", arg);
		break;
	case ARGP_KEY_END:
		if (choice->children && !choice->process && !choice->task)
			argp_error(state, "--children is for --process or --task");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp cli_choice_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };

/* What is chosen of what was chosen before. */
static int tell_choice(struct lpl_meta *meta, const struct lpl_choice_options *choice,
		       struct lpl_report *report)
{
	const char *before = lpl_meta_get(meta, LPL_META_ONLY);
	char spec[LPL_CHOICE_SIZE], *both;
	enum lpl_error error;

	if (lpl_choice_say(spec, choice, report))
		return report->error;
	if (asprintf(&both, "%s%s%s", before ? before : "", before ? "; " : "", spec) < 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	error = lpl_meta_set(meta, LPL_META_ONLY, both);
	if (error)
		lpl_fail(report, error, "'%.100s' cannot stand in a trace's header", both);
	free(both);
	return (int)error;
}

/* Does what is chosen keep what a trace reduced so is exact for? */
static bool keeps_exactness(const struct lpl_meta *meta, const struct lpl_choice_options *choice)
{
	struct lpl_exactness exactness;

	if (!lpl_reduction_exactness(lpl_meta_get(meta, LPL_META_REDUCTION), &exactness))
		return true;	/* nothing is claimed */
	switch (lpl_choice_part(choice, cli_page_size(meta))) {
	case LPL_PART_ALL:
		return true;
	case LPL_PART_PAGES:
		return exactness.ws == 0;
	case LPL_PART_REFERENCES:
		break;
	}
	return false;
}

int cli_choice_meta(struct lpl_meta **chosen, const struct lpl_meta *meta,
		    const struct lpl_choice_options *choice)
{
	const char *before = lpl_meta_get(meta, LPL_META_REDUCTION);
	char reduction[LPL_SPEC_SIZE], described[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	struct lpl_report report = { 0 };
	int error = LPL_OK;

	*chosen = lpl_meta_copy(meta);
	if (!*chosen)
		return cli_complain(CLI_FAILED, "no memory");
	if (lpl_choice_chooses(choice))
		error = tell_choice(*chosen, choice, &report);
	if (!error && before && !keeps_exactness(meta, choice)) {
		error = (int)lpl_reduction_chosen(before, reduction, &report);
		if (!error)
			error = (int)lpl_reducer_describe(reduction, "none", described, exact, &report);
		if (!error && (lpl_meta_set(*chosen, LPL_META_REDUCTION, described) ||
			       lpl_meta_set(*chosen, LPL_META_EXACT, exact)))
			error = (int)lpl_fail(&report, LPL_ERR_MEMORY, "no memory");
	}
	if (!error)
		return CLI_DONE;
	lpl_meta_free(*chosen);
	*chosen = NULL;
	return cli_report(&report);
}
