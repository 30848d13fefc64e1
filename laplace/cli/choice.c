/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options by which references are chosen; see options.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

#include "options.h"
#include "say.h"
#include "trace_kind.h"

static void choose(struct argp_state *state, const struct cli_option *option, const char *value,
		   void *choice)
{
	struct lpl_report report = { 0 };

	if (lpl_choice_set(choice, option->name, value, &report))
		cli_usage_error(state, "--%s: %s", option->name, report.text);
}

static void check(struct argp_state *state, void *config)
{
	const struct lpl_choice_options *choice = config;

	if (choice->children && !choice->process && !choice->task)
		argp_error(state, "--children is for --process or --task");
}

const struct cli_option cli_choice_options[] = {
	{ .type = CLI_HEADING, .help = "Only some of the references:", .group = 2 },
	{ "process", CLI_TEXT, .argument = "NAME|PID", .take = choose, .group = 2,
	  .help = "Made by processes of this name, or number, and by the kernel on their behalf" },
	{ "children", CLI_FLAG, .take = choose, .group = 2,
	  .help = "And by all processes that they created" },
	{ "task", CLI_TEXT, .argument = "NAME|TID", .take = choose, .group = 2,
	  .help = "Made by tasks, that is threads, of this name or number" },
	{ "user", CLI_FLAG, .take = choose, .group = 2, .help = "Made in user mode" },
	{ "kernel", CLI_FLAG, .take = choose, .group = 2, .help = "Made in kernel mode" },
	{ "type", CLI_LIST, .argument = "TYPE[,...]", .take = choose, .group = 2,
	  .words = "read write fetch walk-read walk-write",
	  .help = "%c, or their letters: r, w, i, p, q" },
	{ "range", CLI_TEXT, .argument = "START:END", .take = choose, .group = 2,
	  .help = "To addresses, in hexadecimal, from the one to below the other" },
	{ "kind", CLI_LIST, .argument = "KIND[,...]", .take = choose, .group = 2,
	  .words = "anonymous file shm special kernel page-table unresolved",
	  .help = "To canonical pages of these kinds: %c" },
	{ "file", CLI_FILE, .argument = "PATH", .take = choose, .group = 2,
	  .help = "To canonical pages of this file" },
	{ "from", CLI_TEXT, .argument = "MOMENT", .take = choose, .group = 2,
	  .help = "Made from this moment on: seconds:S since the recording began, uptime:S since "
	  "the machine was switched on, mark:TEXT, exec:NAME; references:N, instructions:N, "
	  "cycles:N, as cat prints them"},
	{ "until", CLI_TEXT, .argument = "MOMENT", .take = choose, .group = 2,
	  .help = "Made before this moment" },
	{ "to", CLI_ALIAS, .group = 2 },
	{ .type = CLI_CHECK, .check = check },
	{ 0 }
};

/* What is chosen of what was chosen before. */
static enum lpl_error note_choice(struct lpl_meta *meta, const struct lpl_choice_options *choice,
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
	return error;
}

/* Does what is chosen keep what a trace reduced so is exact for? */
static bool keeps_exactness(const struct cli_trace_kind *kind, const struct lpl_choice_options *choice)
{
	struct lpl_exactness exactness;

	if (!lpl_reduction_exactness(kind->reduction, &exactness))
		return true;	/* nothing is claimed */
	switch (lpl_choice_part(choice, kind->page_size)) {
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
	const struct cli_trace_kind before = cli_trace_kind(meta);
	char reduction[LPL_SPEC_SIZE], described[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	struct lpl_report report = { 0 };
	int error = LPL_OK;

	*chosen = lpl_meta_copy(meta);
	if (!*chosen)
		return cli_complain(CLI_FAILED, "no memory");
	if (lpl_choice_chooses(choice)) {
		/* these are evictions of a memory that all references share */
		lpl_meta_remove(*chosen, LPL_META_IMAGES);
		error = note_choice(*chosen, choice, &report);
	}
	if (!error && before.reduction && !keeps_exactness(&before, choice)) {
		error = (int)lpl_reduction_chosen(before.reduction, reduction, &report);
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
