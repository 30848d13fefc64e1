/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One reading of a trace for a study: the original, which is the blocked trace
 * without its events, goes to many sinks at once.
 *
 *	reader ─► gate: no events ─► block ─► gate: how many ─► [sad:2] ─► fan
 *
 * References are gathered in batches, which every sink gets, on as many threads as there may
 * be (base/broadcast.h); no result depends on how many.
 *
 * Thinned.  Where SAD, OLR or LRU with K of two and more pages come next, sad:2 in
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

#include "base/broadcast.h"
#include "study.h"

enum { BATCH = 4096 };	/* references */

/* A sink that sends what it gets to many, on several threads. */
struct fan {
	struct lpl_sink sink;		/* first */
	struct lpl_sink *const *to;
	struct lpl_broadcast *broadcast;
	struct lpl_ref *batch;		/* that is being filled */
	size_t used;			/* of it */
};

static enum lpl_error pass_on(void *context, size_t i, const void *items, size_t count, bool last,
			      struct lpl_report *report)
{
	struct lpl_sink *sink = ((const struct fan *)context)->to[i];
	int error = count ? sink->refs(sink, items, count, report) : LPL_OK;

	if (!error && last)
		error = sink->finish(sink, report);
	return (enum lpl_error)error;
}

static int fan_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		    struct lpl_report *report)
{
	struct fan *fan = (struct fan *)sink;

	while (count) {
		size_t room = BATCH - fan->used;
		size_t part = count < room ? count : room;

		memcpy(fan->batch + fan->used, refs, part * sizeof(*refs));
		fan->used += part;
		refs += part;
		count -= part;
		if (fan->used == BATCH) {
			int error = lpl_broadcast_send(fan->broadcast, fan->used, report);

			if (error)
				return error;
			fan->used = 0;
			fan->batch = lpl_broadcast_batch(fan->broadcast);
		}
	}
	return LPL_OK;
}

static int fan_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct fan *fan = (struct fan *)sink;

	return lpl_broadcast_send_last(fan->broadcast, fan->used, report);
}

static int drop_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static bool fan_open(struct fan *fan, struct lpl_sink *const *to, size_t count, unsigned int jobs)
{
	*fan = (struct fan){ .sink = { fan_refs, drop_event, fan_finish }, .to = to };
	fan->broadcast = lpl_broadcast_new(count, pass_on, fan, BATCH * sizeof(*fan->batch), jobs);
	if (fan->broadcast)
		fan->batch = lpl_broadcast_batch(fan->broadcast);
	return fan->broadcast;
}

/*
 * What lets no events through (they would end runs of references to one page), and
 * counts references.
 */
struct gate {
	struct lpl_sink sink;		/* first */
	struct lpl_sink *next;
	uint64_t references;
};

static int gate_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct gate *gate = (struct gate *)sink;

	gate->references += count;
	return gate->next->refs(gate->next, refs, count, report);
}

static int gate_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *next = ((struct gate *)sink)->next;

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

/* The line, built from its end. */
struct line {
	struct gate in, original;
	struct lpl_reducer *block, *thin;
};

static int open_line(struct line *line, bool thinned, const char *reduction,
		     struct lpl_sink *to, struct lpl_report *report)
{
	*line = (struct line){
		.in = { .sink = { gate_refs, drop_event, gate_finish } },
		.original = { .sink = { gate_refs, drop_event, gate_finish } },
	};
	if (thinned) {
		if (lpl_reducer_open(&line->thin, "block", "sad:2", to, report))
			return report->error;
		to = lpl_reducer_sink(line->thin);
	}
	line->original.next = to;
	if (lpl_reducer_open(&line->block, reduction, "block", &line->original.sink, report))
		return report->error;
	line->in.next = lpl_reducer_sink(line->block);
	return LPL_OK;
}

static void close_line(struct line *line)
{
	lpl_reducer_close(line->block);
	lpl_reducer_close(line->thin);
}

static int read_through(const struct study *study, struct study_trace *trace, const char *what,
			struct line *line, struct lpl_reader *reader)
{
	struct lpl_report told = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	char label[128];
	int status;

	snprintf(label, sizeof(label), "%.60s, %s: ", trace->name, what);
	cli_progress_start(&progress, study->progress);
	pass = (struct cli_pass){ .reader = reader, .path = trace->path, .label = label,
				  .sink = &line->in.sink, .progress = &progress,
				  /* the first reading complains */
				  .trouble = trace->damaged || trace->gaps ? &told : NULL };
	status = cli_pass_run(&pass);
	trace->gaps = pass.told.count != 0;
	if (status == CLI_DAMAGED)
		trace->damaged = true;
	else if (status)
		return status;
	return check_same(trace, line->original.references);
}

int study_pass(const struct study *study, struct study_trace *trace, const char *what,
	       bool thinned, struct lpl_sink *const *to, size_t count)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;
	struct line line;
	struct fan fan;
	int status;

	if (!fan_open(&fan, to, count, study->jobs))
		return cli_complain(CLI_FAILED, "no memory");
	status = cli_reader_open(&reader, trace->path);
	if (!status) {
		lpl_reader_jobs(reader, study->jobs);
		if (open_line(&line, thinned,
			      lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION),
			      &fan.sink, &report))
			status = cli_report(&report);
		else
			status = read_through(study, trace, what, &line, reader);
		close_line(&line);
	}
	lpl_reader_close(reader);
	lpl_broadcast_free(fan.broadcast);
	return status;
}
