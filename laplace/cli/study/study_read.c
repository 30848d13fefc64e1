/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One reading of a trace for a study: the original, which is the blocked trace
 * without its events, goes to many sinks at once.
 *
 *	reader ─► references only ─► block ─► counted ─► [sad:2] ─► each sink
 *
 * References are gathered in batches, which every sink gets, on as many threads as there may
 * be (base/broadcast.h); no result depends on how many.
 *
 * Why sad:2.  Where SAD, OLR or LRU with K of two and more pages come next, sad:2 in
 * front changes nothing but the time it takes.  For LRU, and OLR, which is made of
 * LRU's behaviour, that is what SAD is for.  For SAD, record for record: sad:2
 * drops an A2 between A1 and A3, three references to a page in a row that have but
 * one other page X among them; as the trace is blocked, X is also between A1 and A2.
 * Let f be the reference to A kept before A1.  As many pages are between f and A2 as
 * between f and A3, so whatever SAD does at A2 it does at A3 when A2 is not there,
 * and the same is left.  And to the distance between two references to another page A2
 * adds nothing, because A1 or A3 is between them, too; or else these are two of
 * the X between A1 and A3, at a distance of 1 at most, which is below K either way.
 */
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "base/broadcast.h"
#include "cli/pass.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "study.h"

enum { BATCH = 4096 };	/* references */

/* A sink that sends what it gets to many, on several threads. */
struct tee {
	struct lpl_sink sink;		/* first */
	struct lpl_sink *const *to;
	struct lpl_broadcast *broadcast;
	struct lpl_ref *batch;		/* that is being filled */
	size_t used;			/* of it */
};

static enum lpl_error pass_on(void *context, size_t i, const void *items, size_t count, bool last,
			      struct lpl_report *report)
{
	struct lpl_sink *sink = ((const struct tee *)context)->to[i];
	int error = count ? sink->refs(sink, items, count, report) : LPL_OK;

	if (!error && last)
		error = sink->finish(sink, report);
	return (enum lpl_error)error;
}

static int tee_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		    struct lpl_report *report)
{
	struct tee *tee = (struct tee *)sink;

	while (count) {
		size_t room = BATCH - tee->used;
		size_t part = count < room ? count : room;

		memcpy(tee->batch + tee->used, refs, part * sizeof(*refs));
		tee->used += part;
		refs += part;
		count -= part;
		if (tee->used == BATCH) {
			int error = lpl_broadcast_send(tee->broadcast, tee->used, report);

			if (error)
				return error;
			tee->used = 0;
			tee->batch = lpl_broadcast_batch(tee->broadcast);
		}
	}
	return LPL_OK;
}

static int tee_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct tee *tee = (struct tee *)sink;

	return lpl_broadcast_send_last(tee->broadcast, tee->used, report);
}

static int drop_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static bool open_tee(struct tee *tee, struct lpl_sink *const *to, size_t count, unsigned int jobs)
{
	*tee = (struct tee){ .sink = { tee_refs, drop_event, tee_finish }, .to = to };
	tee->broadcast = lpl_broadcast_new(count, pass_on, tee, BATCH * sizeof(*tee->batch), jobs);
	if (tee->broadcast)
		tee->batch = lpl_broadcast_batch(tee->broadcast);
	return tee->broadcast;
}

/*
 * What lets no events through (they would end runs of references to one page), and
 * counts references.
 */
struct counter {
	struct lpl_sink sink;		/* first */
	struct lpl_sink *next;
	uint64_t references;
};

static int counter_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			struct lpl_report *report)
{
	struct counter *counter = (struct counter *)sink;

	counter->references += count;
	return counter->next->refs(counter->next, refs, count, report);
}

static int counter_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *next = ((struct counter *)sink)->next;

	return next->finish(next, report);
}

/* Every reading must find the same. */
static int check_same(struct study_trace *trace, uint64_t references)
{
	if (trace->events == 0)
		trace->events = references;
	if (trace->events != references)
		return cli_complain(CLI_FAILED, "%s: has changed while it was studied",
				    trace->path);
	return CLI_DONE;
}

/* From the reader to the sinks; built from its end. */
struct pipeline {
	struct counter in, original;
	struct lpl_reducer *block, *sad2;
};

static int open_pipeline(struct pipeline *pipeline, bool sad2, const char *reduction,
			 struct lpl_sink *to, struct lpl_report *report)
{
	*pipeline = (struct pipeline){
		.in = { .sink = { counter_refs, drop_event, counter_finish } },
		.original = { .sink = { counter_refs, drop_event, counter_finish } },
	};
	if (sad2) {
		if (lpl_reducer_open(&pipeline->sad2, "block", "sad:2", to, report))
			return report->error;
		to = lpl_reducer_sink(pipeline->sad2);
	}
	pipeline->original.next = to;
	if (lpl_reducer_open(&pipeline->block, reduction, "block", &pipeline->original.sink,
			     report))
		return report->error;
	pipeline->in.next = lpl_reducer_sink(pipeline->block);
	return LPL_OK;
}

static void close_pipeline(struct pipeline *pipeline)
{
	lpl_reducer_close(pipeline->block);
	lpl_reducer_close(pipeline->sad2);
}

static int read_through(const struct study *study, struct study_trace *trace, const char *what,
			struct pipeline *pipeline, struct lpl_reader *reader)
{
	struct lpl_report told = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	char label[128];
	int status;

	snprintf(label, sizeof(label), "%.60s, %s: ", trace->name, what);
	cli_progress_start(&progress, study->progress);
	pass = (struct cli_pass){ .reader = reader, .path = trace->path, .label = label,
				  .sink = &pipeline->in.sink, .progress = &progress,
				  .addressing = &trace->addressing,
				  /* the first reading complains */
				  .trouble = trace->damaged || trace->gaps ? &told : NULL };
	status = cli_pass_run(&pass);
	trace->gaps = pass.recorded_gaps.count != 0;
	if (status == CLI_DAMAGED)
		trace->damaged = true;
	else if (status)
		return status;
	return check_same(trace, pipeline->original.references);
}

int study_read(const struct study *study, struct study_trace *trace, const char *what,
	       bool sad2, struct lpl_sink *const *to, size_t count)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;
	struct pipeline pipeline;
	struct tee tee;
	int status;

	if (!open_tee(&tee, to, count, study->jobs))
		return cli_complain(CLI_FAILED, "no memory");
	status = cli_reader_open(&reader, trace->path);
	if (!status) {
		lpl_reader_jobs(reader, study->jobs);
		if (open_pipeline(&pipeline, sad2,
				  cli_addresses_reduction(&trace->addressing,
							  lpl_reader_meta(reader)),
				  &tee.sink, &report))
			status = cli_report(&report);
		else
			status = read_through(study, trace, what, &pipeline, reader);
		close_pipeline(&pipeline);
	}
	lpl_reader_close(reader);
	lpl_broadcast_free(tee.broadcast);
	return status;
}
