/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace verify: is a trace whole, and does it keep its invariants?
 *
 * The reader checks the bytes (lengths, checksums, sequence); here it is
 * checked that the records are possible ones.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

#include <laplace/counts.h>
#include <laplace/trace.h>

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "say.h"
#include "trace_kind.h"
#include "record/flags.h"

struct options {
	bool json;
	enum cli_when progress;
	const char *trace;
};

static const struct cli_option option_table[] = {
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Read all of TRACE and check every checksum, record and total, the hash of its "
	"references where it carries one, and that it was closed properly.  Where TRACE is the "
	"manifest of a trace in segments, each of them is held against it."
	"\v"
	"Exit status 0 when TRACE is whole, 3 when it is incomplete or damaged.",
	option_table, 0
};

/* A chunk that counts too few references before reduction; sequence 0: none yet. */
struct short_count {
	uint32_t sequence;
	uint64_t last_ref, before;
};

struct checker {
	struct lpl_sink sink;
	const char *path;
	uint64_t page_size;
	struct lpl_counts tally;
	uint64_t ref, instr, cycle;	/* the clocks so far */
	struct short_count miscounted;	/* the first that counts some, but too few */
	struct short_count uncounted;	/* the first that counts none */
	bool counted;			/* some chunk counts some */
};

static enum lpl_error check_clocks(struct checker *checker, uint64_t ref, uint64_t instr,
				   uint64_t cycle, const char *what, struct lpl_report *report)
{
	if (ref < checker->ref || instr < checker->instr || cycle < checker->cycle)
		return lpl_fail(report, LPL_ERR_ORDER, "%s: time runs backwards at %s: "
				"reference %" PRIu64 " after %" PRIu64 ", instruction %" PRIu64
				" after %" PRIu64 ", cycle %" PRIu64 " after %" PRIu64,
				checker->path, what, ref, checker->ref, instr,
				checker->instr, cycle, checker->cycle);
	checker->ref = ref;
	checker->instr = instr;
	checker->cycle = cycle;
	return LPL_OK;
}

/* What is wrong with a reference by itself; NULL: nothing.  Finer pages are referenced as a whole. */
static const char *fault_of(const struct lpl_ref *ref, uint64_t page_size)
{
	const uint64_t offset = ref->address & ((1U << LPL_PAGE_SHIFT) - 1);

	if (ref->type >= LPL_TYPES)
		return "of no known type";
	if (ref->flags > lpl_flags_max(ref->type, (ref->flags & LPL_PAGED) != 0))
		return "with unknown flags";
	if (ref->reserved)
		return "with reserved bits set";
	if (ref->flags & LPL_PAGED)
		return offset || ref->length ? "to a page, but with offset or length" : NULL;
	if (ref->length == page_size && offset % page_size == 0)
		return NULL;
	if (ref->length < 1 || ref->length > 64)
		return "of a length that is not 1 to 64";
	if (offset + ref->length > 1U << LPL_PAGE_SHIFT)
		return "that crosses a page";
	return NULL;
}

static enum lpl_error check_one(struct checker *checker, const struct lpl_ref *ref,
				struct lpl_report *report)
{
	const char *fault = fault_of(ref, checker->page_size);

	if (fault)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: reference %" PRIu64
				" is one %s", checker->path, ref->ref, fault);
	if (ref->ref == checker->ref && !(ref->flags & LPL_SYNTHETIC))
		return lpl_fail(report, LPL_ERR_ORDER, "%s: reference %" PRIu64
				" does not follow the one before it", checker->path, ref->ref);
	return check_clocks(checker, ref->ref, ref->instr, ref->cycle, "a reference", report);
}

/*
 * What is wrong with one of them is so with all, but for what its place in the page does: and that comes
 * again after as many as there are places.
 */
static enum lpl_error check_folded(struct lpl_sink *sink, const struct lpl_ref refs[3],
				   uint64_t count, struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;
	const struct lpl_ref *first = &refs[0], *second = &refs[1], *last = &refs[2];
	struct lpl_ref ref = *first;

	for (uint64_t i = 0; i < count - 1 && i < UINT64_C(1) << LPL_PAGE_SHIFT; i++) {
		if (check_one(checker, &ref, report))
			return report->error;
		ref.ref += second->ref - first->ref;
		ref.instr += second->instr - first->instr;
		ref.cycle += second->cycle - first->cycle;
		ref.address += second->address - first->address;
	}
	if (check_one(checker, last, report))
		return report->error;
	return lpl_counts_fold(&checker->tally, refs, count, report);
}

static enum lpl_error check_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	for (size_t i = 0; i < count; i++) {
		if (check_one(checker, &refs[i], report))
			return report->error;
	}
	return checker->tally.sink.refs(&checker->tally.sink, refs, count, report);
}

static enum lpl_error check_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	if (event->text_length > KTR_TEXT)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: an event after reference %" PRIu64
				" has a text of %" PRIu32 " bytes, more than %d",
				checker->path, event->ref, event->text_length, KTR_TEXT);
	if (check_clocks(checker, event->ref, event->instr, event->cycle, "an event", report))
		return report->error;
	return checker->tally.sink.event(&checker->tally.sink, event, report);
}

static enum lpl_error check_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/*
 * As many references were made until a chunk's last record as that is numbered.  A
 * trace that counts none anywhere does not know.
 */
static void check_chunk(struct cli_pass *pass, void *context)
{
	const struct lpl_chunk *chunk = lpl_reader_chunk(pass->reader);
	const struct short_count found = { chunk->sequence, chunk->last_ref,
					   cli_refs_before(lpl_reader_totals(pass->reader)) };
	struct checker *checker = context;
	struct short_count *first = found.before ? &checker->miscounted : &checker->uncounted;

	checker->counted |= found.before != 0;
	if (found.before < found.last_ref && !first->sequence)
		*first = found;
}

static int check_chunks(const struct checker *checker, struct lpl_report *report)
{
	const struct short_count *found = checker->miscounted.sequence || !checker->counted ?
						  &checker->miscounted : &checker->uncounted;

	if (!found->sequence)
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_DAMAGED, "%s: chunk %" PRIu32 " ends with reference "
			"number %" PRIu64 ", but counts %" PRIu64 " before reduction; the records "
			"are whole, and how many were made is known at the end alone",
			checker->path, found->sequence, found->last_ref, found->before);
}

/* No more may be kept than there was, though a reducer may have put in some.  A trace without totals says nothing. */
static int check_totals(const struct checker *checker, const struct lpl_totals *totals,
			struct lpl_report *report)
{
	const uint64_t before = cli_refs_before(totals);
	uint64_t by_type = 0;

	for (int i = 0; i < LPL_TYPES; i++)
		by_type += totals->refs[i];
	if (before && checker->tally.all_refs - checker->tally.synthetic > before)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: holds %" PRIu64 " references, "
				"but says that there were %" PRIu64 " before reduction",
				checker->path, checker->tally.all_refs, before);
	if (by_type && by_type != before)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: counts %" PRIu64 " references "
				"before reduction, but by type %" PRIu64,
				checker->path, before, by_type);
	if (totals->user_refs > before)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: counts %" PRIu64 " references "
				"in user mode, but %" PRIu64 " in all",
				checker->path, totals->user_refs, before);
	return LPL_OK;
}

static int print_verdict(const struct options *options, const struct cli_pass *pass,
			 const struct checker *checker, const struct lpl_report *trouble)
{
	const char *state = !trouble->error ? "whole" :
			    trouble->error == LPL_ERR_TRUNCATED ? "incomplete" : "damaged";

	const uint64_t segments = lpl_reader_segments(pass->reader);
	char gaps[CLI_GAPS_SIZE], hash[17], in_segments[40] = "";
	struct lpl_packing packing;
	/* after a gap it is not known what it would be; and each segment has its own */
	bool hashed = lpl_reader_packing(pass->reader, &packing) && !trouble->error &&
		      packing.hash != 0 && !segments;

	snprintf(hash, sizeof(hash), "%016" PRIx64, packing.hash);
	if (options->json)
		return cli_print_json(stdout,
			json_pack("{s:o, s:s, s:o*, s:o*, s:I, s:I, s:I, s:I, s:s*}",
				  "file", cli_json_text(options->trace), "state", state,
				  "trouble", trouble->error ? cli_json_text(trouble->text) : NULL,
				  "segments", segments ? json_integer((json_int_t)segments) : NULL,
				  "chunks", (json_int_t)pass->chunks,
				  "references", (json_int_t)checker->tally.all_refs,
				  "events", (json_int_t)checker->tally.events.all,
				  "missing_places", (json_int_t)pass->recorded_gaps.count,
				  "hash", hashed ? hash : NULL));
	if (segments)
		snprintf(in_segments, sizeof(in_segments), " in %" PRIu64 " segments", segments);
	cli_say(stdout, "%s: %s, %" PRIu64 " chunks%s, %" PRIu64 " references, %" PRIu64
		" events%s", options->trace, state, pass->chunks, in_segments,
		checker->tally.all_refs,
	       checker->tally.events.all, trouble->error ? " can be read" : "");
	if (segments && packing.chunks && !trouble->error)
		cli_say(stdout, "%s: the references of each segment are those that were written",
			options->trace);
	if (hashed)
		cli_say(stdout, "%s: its references are those that were written: hash %s",
			options->trace, hash);
	if (pass->recorded_gaps.count)
		cli_say(stdout, "%s: made from a damaged or incomplete trace: records are missing"
			" in %s", options->trace, cli_gaps_text(gaps, &pass->recorded_gaps));
	return CLI_DONE;
}

int cmd_verify(int argc, char **argv)
{
	struct options options = { 0 };
	struct lpl_report trouble = { 0 }, more = { 0 };
	struct cli_progress progress;
	struct checker checker;
	struct cli_pass pass;
	struct lpl_reader *reader;
	int status;

	cli_parse(&usage, argc, argv, &options);
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	checker = (struct checker){ .sink = { check_refs, check_event, check_finish },
				    .path = options.trace,
				    .page_size = cli_trace_kind(lpl_reader_meta(reader)).page_size };
	lpl_reader_compare_hash(reader);
	lpl_counts_init(&checker.tally);
	cli_progress_start(&progress, options.progress);
	pass = (struct cli_pass){ .reader = reader, .path = options.trace,
				  .sink = &checker.sink, .folded = check_folded,
				  .progress = &progress,
				  .before_block = check_chunk, .context = &checker,
				  .trouble = &trouble };
	status = cli_pass_run(&pass);
	if (status == CLI_DONE &&
	    (check_totals(&checker, lpl_reader_totals(reader), &trouble) ||
	     check_chunks(&checker, &trouble)))
		status = CLI_DAMAGED;
	else if (trouble.error == LPL_ERR_TRUNCATED)
		check_chunks(&checker, &more);
	if (status == CLI_DONE || status == CLI_DAMAGED) {
		if (print_verdict(&options, &pass, &checker, &trouble))
			status = CLI_FAILED;
		if (trouble.error)
			cli_report(&trouble);
		if (more.error)
			cli_report(&more);
	}
	lpl_counts_free(&checker.tally);
	lpl_reader_close(reader);
	return status;
}
