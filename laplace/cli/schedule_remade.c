/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace of a machine; see schedule_remade.h. */
#include "schedule_remade.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "base/try.h"
#include "options.h"
#include "say.h"

/* ---- what its header says ---- */

/* As an option, where it is not that of a machine to which nothing was said. */
static void describe_number(FILE *out, const char *option, uint64_t number)
{
	if (number != 0)
		fprintf(out, " --%s %" PRIu64, option, number);
}

static void describe_machine(FILE *out, const struct lpl_machine *machine, const char *priorities)
{
	fprintf(out, "--scheduler %s", lpl_scheduler_name(machine->scheduler));
	if (machine->scheduler != LPL_SCHEDULER_RECORDED)
		fprintf(out, " --quantum %" PRIu64 "%s", machine->quantum,
			machine->quantum_instructions ? "i" : "");
	if (priorities)
		fprintf(out, " --priority %s", priorities);
	describe_number(out, "switch-cycles", machine->switch_cycles);
	if (machine->memory != LPL_MEMORY_GLOBAL)
		fprintf(out, " --memory %s", lpl_memory_kind_name(machine->memory));
	describe_number(out, "window", machine->window);
	if (machine->policy)
		fprintf(out, " --policy %s", machine->policy);
	describe_number(out, "pages", machine->pages);
	describe_number(out, "fault-cycles", machine->fault_cycles);
	describe_number(out, "write-cycles", machine->write_cycles);
	describe_number(out, "devices", machine->devices);
}

/* A task's name may be anything.  To be freed; NULL: no memory. */
static char *escape(const char *text)
{
	const size_t length = strlen(text);
	char *escaped = malloc(4 * length + 1);

	if (escaped)
		lpl_text_escape(escaped, 4 * length + 1, text, length);
	return escaped;
}

/* After that of the trace, if it was made by a machine, too.  To be freed; NULL: no memory. */
static char *describe(const struct cli_remade_options *options, const char *before)
{
	char *priorities = options->priorities ? escape(options->priorities) : NULL, *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out) {
		if (before)
			fprintf(out, "%s; ", before);
		describe_machine(out, options->machine, priorities);
	}
	if (!out || fclose(out) != 0 || (options->priorities && !priorities)) {
		free(text);
		text = NULL;
	}
	free(priorities);
	return text;
}

/*
 * A reduction is exact for the order of the references that it was made of: in another no simulation is.
 */
static enum lpl_error disclaim(struct lpl_meta *meta, struct lpl_report *report)
{
	char reduction[LPL_SPEC_SIZE];

	LPL_TRY(lpl_reduction_scheduled(lpl_meta_get(meta, LPL_META_REDUCTION), reduction, report));
	if (lpl_meta_set(meta, LPL_META_REDUCTION, reduction) ||
	    lpl_meta_set(meta, LPL_META_EXACT, "nothing (reduced, and then scheduled again)"))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	return LPL_OK;
}

static enum lpl_error make_meta(struct lpl_meta **meta, const struct lpl_meta *source,
				const struct cli_remade_options *options, struct lpl_report *report)
{
	char *schedule = describe(options, lpl_meta_get(source, LPL_META_SCHEDULE));
	enum lpl_error error = LPL_OK;

	*meta = options->kind->is_canonical ? lpl_meta_copy(source) : lpl_merge_canonical_meta(source);
	if (!*meta || !schedule || lpl_meta_set(*meta, LPL_META_SCHEDULE, schedule))
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	free(schedule);
	if (!error && !options->kind->is_whole &&
	    options->machine->scheduler != LPL_SCHEDULER_RECORDED)
		error = disclaim(*meta, report);
	return error;
}

/* ---- its records ---- */

/*
 * Where records were missing, is said of the order of the trace, and left out in another.  That the
 * output was made of what was left is said at its end.
 */
static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct cli_remade *remade = (struct cli_remade *)sink;

	if (count) {
		remade->gap.ref = refs[count - 1].ref;
		remade->gap.instr = refs[count - 1].instr;
		remade->gap.cycle = refs[count - 1].cycle;
	}
	return remade->next->refs(remade->next, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct cli_remade *remade = (struct cli_remade *)sink;

	remade->gap.ref = event->ref;
	remade->gap.instr = event->instr;
	remade->gap.cycle = event->cycle;
	return remade->next->event(remade->next, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct cli_remade *remade = (struct cli_remade *)sink;

	if (remade->gap.tag)
		LPL_TRY(remade->next->event(remade->next, &remade->gap, report));
	return remade->next->finish(remade->next, report);
}

static void find_gaps(struct cli_remade *remade)
{
	const struct cli_gaps *recorded = &remade->pass->recorded_gaps;
	const struct cli_gaps *found = &remade->pass->found_gaps;
	const bool known = !recorded->more && !found->more;

	if (remade->recorded || (!recorded->count && !found->count))
		return;
	remade->gap.tag = LPL_EVENT_GAP;
	remade->gap.arg[LPL_EVENT_GAP_REFERENCES] = known ? recorded->refs + found->refs : KTR_NONE;
	remade->gap.arg[LPL_EVENT_GAP_EVENTS] = known ? recorded->events + found->events : KTR_NONE;
}

/* ---- opening and closing ---- */

int cli_remade_open(struct cli_remade *remade, const struct cli_pass *pass,
		    const struct cli_remade_options *options)
{
	const struct lpl_writer_options writer_options = { .jobs = cli_jobs(options->jobs) };
	struct lpl_report report = { 0 };
	struct lpl_meta *meta;
	int status = CLI_DONE;

	*remade = (struct cli_remade){
		.sink = { take_refs, take_event, take_finish }, .pass = pass,
		.recorded = options->machine->scheduler == LPL_SCHEDULER_RECORDED
	};
	find_gaps(remade);
	if (make_meta(&meta, lpl_reader_meta(pass->reader), options, &report) ||
	    lpl_writer_open(&remade->writer, options->path, meta, &writer_options,
			    options->overwrite, &report))
		status = cli_report(&report);
	else
		remade->next = lpl_writer_sink(remade->writer);
	lpl_meta_free(meta);
	return status;
}

int cli_remade_close(struct cli_remade *remade, int status)
{
	struct lpl_report report = { 0 };

	/* what was dropped before is not known by task: only of all together */
	if (remade->recorded)
		lpl_writer_totals(remade->writer, lpl_reader_totals(remade->pass->reader));
	if (status != CLI_DONE)
		lpl_writer_abandon(remade->writer);
	else if (lpl_writer_close(remade->writer, &report))
		return cli_report(&report);
	return status;
}
