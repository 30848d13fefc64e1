/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace on its way from a reader to a sink; see pass.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "options.h"
#include "pass.h"
#include "replace.h"
#include "say.h"

#define MOST_COMPLAINTS 8

/* ---- a stream ---- */

/* On SIGINT; the next one has its usual effect. */
static void say_that_it_goes_on(int number)
{
	static const char text[] = "the stream is read to its end; Ctrl-C (SIGINT) now ends this at "
				   "once, without results\n";
	const int before = errno;

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		errno = 0;	/* it goes on all the same */
	errno = before;
}

/*
 * Ctrl-C at the terminal is for all of a pipeline: what writes into it ends, a recording after it
 * has closed its trace, and with that the stream; and then there are results of what was in it.
 */
static void outlive_writer(void)
{
	struct sigaction action = { .sa_handler = say_that_it_goes_on,
				    .sa_flags = SA_RESETHAND | SA_RESTART };
	struct sigaction before;
	struct stat about;

	if (fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)) &&
	    sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		(void)sigaction(SIGINT, &action, NULL);
}

int cli_reader_open(struct lpl_reader **reader, const char *path)
{
	struct lpl_report report = { 0 };

	*reader = NULL;
	if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not read from a terminal");
	/* whatever is printed would become part of it */
	if (cli_refuse_input("-", path))
		return CLI_USAGE;
	if (strcmp(path, "-") == 0)
		outlive_writer();
	if (lpl_reader_open(reader, path, &report))
		return cli_report(&report);
	lpl_reader_jobs(*reader, 0);
	return CLI_DONE;
}

uint64_t cli_refs_before(const struct lpl_totals *totals)
{
	uint64_t by_type = 0;

	for (int i = 0; i < LPL_TYPES; i++)
		by_type += totals->refs[i];
	return totals->total ? totals->total : by_type;
}

static void show_pass(const struct cli_pass *pass)
{
	struct cli_progress *progress = pass->progress;
	const char *label = pass->label ? pass->label : "";
	uint64_t done = lpl_reader_bytes(pass->reader);
	uint64_t size = lpl_reader_size(pass->reader);
	double seconds = (double)(lpl_now_ns() - progress->start_ns) / 1e9;
	double rate = seconds > 0 ? (double)pass->refs / seconds : 0;
	char refs[CLI_HUMAN_SIZE], per_second[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE];

	cli_human(refs, pass->refs);
	cli_human(per_second, (uint64_t)rate);
	if (size && done) {
		double rest = seconds * ((double)size / (double)done - 1);

		cli_duration(left, rest > 0 ? (uint64_t)(rest + 0.5) : 0);
		cli_progress_line(progress, "%s%3.0f%%  %s references  %s/s  %s left", label,
				  100 * (double)done / (double)size, refs,
				  per_second, left);
	} else {
		cli_progress_line(progress, "%s%s references  %s/s", label, refs, per_second);
	}
}

/* To whoever takes steps, on the pages that are wanted. */
static enum lpl_error send_steps(struct cli_pass *pass, const struct lpl_page_steps *steps,
				 struct lpl_report *report)
{
	struct lpl_page_steps passed;
	enum lpl_error error;

	if (!pass->chooser)
		return pass->step(pass, steps, report);
	error = lpl_choice_step(pass->chooser, lpl_reader_chunk(pass->reader), steps, &passed, report);
	return error ? error : pass->step(pass, &passed, report);
}

static enum lpl_error send_block(struct cli_pass *pass, const struct lpl_ref *refs, size_t count,
				 const struct lpl_event *event, struct lpl_report *report)
{
	const uint64_t folded = lpl_reader_folded(pass->reader);
	const struct lpl_page_steps *steps = lpl_reader_stepped(pass->reader);
	struct lpl_sink *sink = pass->sink;
	enum lpl_error error = LPL_OK;

	if (count && steps)
		error = send_steps(pass, steps, report);
	else if (count && folded && pass->folded)
		error = pass->folded(sink, refs, folded, report);
	else if (count)
		error = sink->refs(sink, refs, count, report);
	if (!error && event)
		error = sink->event(sink, event, report);
	return error;
}

/* ---- what is missing ---- */

char *cli_gaps_text(char buf[CLI_GAPS_SIZE], const struct cli_gaps *gaps)
{
	const char *plural = gaps->count == 1 ? "" : "s";

	if (gaps->more && !gaps->refs && !gaps->events)
		snprintf(buf, CLI_GAPS_SIZE, "%" PRIu64 " place%s (how many is not known)",
			 gaps->count, plural);
	else
		snprintf(buf, CLI_GAPS_SIZE, "%" PRIu64 " place%s (%s%" PRIu64 " references and %"
			 PRIu64 " events)", gaps->count, plural, gaps->more ? "at least " : "",
			 gaps->refs, gaps->events);
	return buf;
}

static void count_gap(struct cli_gaps *gaps, const struct lpl_event *event)
{
	uint64_t refs = event->arg[LPL_EVENT_GAP_REFERENCES];
	uint64_t events = event->arg[LPL_EVENT_GAP_EVENTS];

	gaps->count++;
	gaps->refs += refs != KTR_NONE ? refs : 0;
	gaps->events += events != KTR_NONE ? events : 0;
	gaps->more |= refs == KTR_NONE || events == KTR_NONE;
}

/* The trace ends early: nothing follows. */
static enum lpl_error send_end(struct cli_pass *pass, struct lpl_report *report)
{
	const struct lpl_chunk *last = lpl_reader_chunk(pass->reader);
	const struct lpl_event gap = {
		.tag = LPL_EVENT_GAP, .ref = last->last_ref, .instr = last->last_instr,
		.cycle = last->last_cycle,
		.arg = { [LPL_EVENT_GAP_REFERENCES] = KTR_NONE, [LPL_EVENT_GAP_EVENTS] = KTR_NONE }
	};

	count_gap(&pass->found_gaps, &gap);
	return send_block(pass, NULL, 0, &gap, report);
}

/*
 * The next block, or the next after damage, which is reported here (a few times: a bad disk
 * damages thousands of chunks).
 */
static enum lpl_error next_block(struct cli_pass *pass, const struct lpl_ref **refs,
				 size_t *count, const struct lpl_event **event,
				 struct lpl_report *report)
{
	enum lpl_error error;

	for (pass->resumed = false;; pass->resumed = true) {
		error = lpl_reader_next(pass->reader, refs, count, event, report);
		if (error != LPL_ERR_DAMAGED || !pass->past_damage ||
		    lpl_reader_resume(pass->reader, NULL))
			return error;
		cli_progress_clear(pass->progress);
		if (pass->damaged++ < MOST_COMPLAINTS)
			cli_report(report);
		*report = (struct lpl_report){ .error = LPL_OK };
	}
}

static bool chooses(const struct cli_pass *pass)
{
	return pass->choice && lpl_choice_chooses(pass->choice);
}

/* At the end: what the trace says of itself, or what was found. */
static void report_gaps(const struct cli_pass *pass, int status)
{
	char text[CLI_GAPS_SIZE];

	if (pass->recorded_gaps.count)
		cli_complain(0, "warning: %s: was made from a damaged or incomplete trace: "
			     "records are missing in %s", pass->path,
			     cli_gaps_text(text, &pass->recorded_gaps));
	if (pass->damaged)
		cli_complain(status, "%s: the result covers %sthe %" PRIu64 " references that can be "
			     "read; records are missing in %s", pass->path,
			     chooses(pass) ? "what was chosen of " : "", pass->refs,
			     cli_gaps_text(text, &pass->found_gaps));
}

/* `last`: of which chunk the block before was. */
static void count_block(struct cli_pass *pass, size_t count, const struct lpl_event *event,
			struct lpl_chunk *last)
{
	const struct lpl_chunk *chunk = lpl_reader_chunk(pass->reader);

	if (chunk && (pass->chunks == 0 || chunk->sequence != last->sequence ||
		      chunk->segment != last->segment)) {
		*last = *chunk;
		pass->chunks++;
		pass->packed += chunk->plain;
	}
	pass->refs += lpl_reader_folded(pass->reader) ? lpl_reader_folded(pass->reader) : count;
	pass->events += event != NULL;
	if (event && event->tag == LPL_EVENT_GAP)
		count_gap(pass->resumed ? &pass->found_gaps : &pass->recorded_gaps, event);
}

/* A sink may find what is wrong with the input, too. */
static int sink_failed(struct cli_pass *pass, const struct lpl_report *report)
{
	pass->unfinished = true;
	if (!pass->trouble || lpl_error_status(report->error) != CLI_DAMAGED)
		return cli_report(report);
	*pass->trouble = *report;
	return CLI_DAMAGED;
}

/* A task or process is named, and did not run: that is reported. */
static bool never_ran(const struct cli_pass *pass)
{
	const struct lpl_choice_options *choice = pass->choice;

	if (!choice || !pass->chooser || lpl_choice_tasks(pass->chooser) != 0 ||
	    (!choice->process && !choice->task))
		return false;
	if (choice->process && choice->task)
		cli_complain(0, "%s: no task '%s' of a process '%s' is in it; `laplace report' shows "
			     "what ran", pass->path, choice->task, choice->process);
	else
		cli_complain(0, "%s: no %s '%s' is in it; `laplace report' shows what ran",
			     pass->path,
			     choice->process ? "process" : "task",
			     choice->process ? choice->process : choice->task);
	return true;
}

/* "seconds 0 to 3.5 (uptime 8.6 to 12.1), cycles 86 to 121, ..." of a trace, as moments name them. */
static void span_text(char *text, size_t size, const struct cli_pass *pass)
{
	const double second = (double)pass->kind.cycles_a_second;
	struct lpl_span span;
	int length = 0;

	if (!lpl_reader_span(pass->reader, &span)) {
		snprintf(text, size, "no record");
		return;
	}
	if (second > 0)
		length = snprintf(text, size, "seconds 0 to %.6f (uptime %.6f to %.6f), ",
				  (double)(span.last_cycle - span.first_cycle) / second,
				  (double)span.first_cycle / second, (double)span.last_cycle / second);
	snprintf(text + length, size - (size_t)length, "cycles %" PRIu64 " to %" PRIu64
		 ", instructions %" PRIu64 " to %" PRIu64 ", references %" PRIu64 " to %" PRIu64,
		 span.first_cycle, span.last_cycle, span.first_instr, span.last_instr,
		 span.first_ref, span.last_ref);
}

/* Nothing is no failure, but seldom what was wanted. */
static void warn_if_nothing(const struct cli_pass *pass)
{
	const struct lpl_choice_options *choice = pass->choice;
	char text[320];

	if (pass->chosen)
		return;
	if (!choice->from.kind && !choice->to.kind) {
		cli_complain(0, "warning: %s: no reference of it is chosen", pass->path);
		return;
	}
	span_text(text, sizeof(text), pass);
	cli_complain(0, "warning: %s: no reference of it is chosen; it has %s", pass->path, text);
}

static int run(struct cli_pass *pass)
{
	struct lpl_report read_report = { 0 }, sink_report = { 0 };
	const struct lpl_ref *refs;
	const struct lpl_event *event;
	enum lpl_error error;
	struct lpl_chunk last = { 0 };
	size_t count;
	int status = CLI_DONE;

	if (pass->front)
		pass->sink = pass->front(pass, pass->sink);
	for (;;) {
		error = next_block(pass, &refs, &count, &event, &read_report);
		if (error || (count == 0 && !event))
			break;
		if (pass->before_block)
			pass->before_block(pass, pass->context);
		if (send_block(pass, refs, count, event, &sink_report)) {
			cli_progress_clear(pass->progress);
			return sink_failed(pass, &sink_report);
		}
		count_block(pass, count, event, &last);
		if (cli_progress_due(pass->progress))
			show_pass(pass);
	}
	if (pass->progress->on)
		show_pass(pass);
	cli_progress_clear(pass->progress);
	if (!error && !lpl_reader_complete(pass->reader) && !pass->damaged)
		error = lpl_fail(&read_report, LPL_ERR_TRUNCATED, "%s: has no index: its "
				 "recording did not end properly", pass->path);
	status = error ? lpl_error_status(error) : pass->damaged ? CLI_DAMAGED : CLI_DONE;
	if (status == CLI_FAILED || status == CLI_USAGE)
		return cli_report(&read_report);
	if (status == CLI_DONE && never_ran(pass))
		return CLI_FAILED;
	if ((error && pass->past_damage && send_end(pass, &sink_report)) ||
	    pass->sink->finish(pass->sink, &sink_report)) {
		pass->unfinished = true;
		return cli_report(&sink_report);
	}
	if (pass->trouble) {
		*pass->trouble = read_report;
		return status;
	}
	if (error)
		cli_report(&read_report);
	if (error && !pass->damaged)
		cli_complain(status, "%s: the result covers %sthe first %" PRIu64
			     " references, which are whole", pass->path,
			     chooses(pass) ? "what was chosen of " : "", pass->refs);
	report_gaps(pass, status);
	return status;
}

/* What lies before or after the time that is chosen is passed over. */
static enum lpl_need need_of(void *context, const struct lpl_chunk *chunk)
{
	const struct cli_pass *pass = context;
	const enum lpl_need need = lpl_choice_need(pass->chooser, chunk);

	return need == LPL_NEED_NOTHING && !pass->without_events ? LPL_NEED_EVENTS : need;
}

/* With a choice in front of the sink, which also finds pages. */
static int run_chosen(struct cli_pass *pass)
{
	const struct cli_trace_kind *kind = &pass->kind;
	struct lpl_choice_options options = { .process = NULL };
	struct lpl_report report = { 0 };
	int status;

	if (chooses(pass) && kind->behaviour)
		return cli_complain(CLI_USAGE, "%s: a behaviour sequence (%s) is of one memory, of "
				    "which nothing can be chosen", pass->path, kind->reduction);
	if (chooses(pass) && lpl_reduction_records(kind->reduction))
		return cli_complain(CLI_USAGE, "%s: of records of active periods (%s) nothing can be "
				    "chosen", pass->path, kind->reduction);
	if (pass->choice)
		options = *pass->choice;
	if (pass->addressing)
		options.addresses = pass->addressing->convert;
	pass->counts_chosen = chooses(pass) && kind->is_whole;
	options.cycles_a_second = kind->cycles_a_second;
	options.page_size = kind->page_size;
	if (pass->renumbers && pass->counts_chosen)
		options.numbering = LPL_NUMBERS_COUNTED;
	if (lpl_choice_open(&pass->chooser, &options, pass->sink, &report))
		return cli_report(&report);
	pass->sink = lpl_choice_sink(pass->chooser);
	lpl_reader_ask(pass->reader, need_of, pass);
	if (pass->step && lpl_choice_steps(pass->chooser))
		lpl_reader_step(pass->reader);
	status = run(pass);
	pass->chosen = lpl_choice_passed(pass->chooser);
	if (status == CLI_DONE && chooses(pass))
		warn_if_nothing(pass);
	if (lpl_choice_unknown(pass->chooser) && !pass->counts_frames)
		cli_complain(0, "warning: %s: of %" PRIu64 " references the frame is not known: each of their "
			     "pages counts as one", pass->path, lpl_choice_unknown(pass->chooser));
	lpl_choice_close(pass->chooser);
	pass->chooser = NULL;
	return status;
}

int cli_pass_run(struct cli_pass *pass)
{
	pass->kind = cli_trace_kind(lpl_reader_meta(pass->reader));
	if (chooses(pass) || (pass->addressing && pass->addressing->convert))
		return run_chosen(pass);
	if (pass->folded)
		lpl_reader_fold(pass->reader);
	if (pass->step)
		lpl_reader_step(pass->reader);
	return run(pass);
}

bool cli_pass_totals(const struct cli_pass *pass, struct lpl_totals *totals)
{
	*totals = *lpl_reader_totals(pass->reader);
	if (!chooses(pass))
		return cli_refs_before(totals) != 0;
	memset(totals->refs, 0, sizeof(totals->refs));
	totals->user_refs = 0;
	totals->total = !pass->counts_chosen ? 0 :
			pass->chooser ? lpl_choice_passed(pass->chooser) : pass->chosen;
	return pass->counts_chosen;
}
