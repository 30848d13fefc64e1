/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One reading of a trace for a study: the original, which is the blocked trace
 * without its events, goes to many sinks at once.
 *
 *	reader ─► gate: no events ─► block ─► gate: how many ─► [sad:2] ─► fan
 *
 * References are gathered in a batch; when it is full every sink is called with
 * it, by as many threads as there may be, and the next is gathered when all are
 * through.  Each sink sees the whole stream in its order, whoever calls it, so
 * that no result depends on the number of threads.
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
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

#include "study.h"

enum { BATCH_REFS = 4096 };

/* A sink that sends what it gets to many. */
struct fan {
	struct lpl_sink sink;		/* first */
	struct lpl_sink *const *to;
	size_t count;
	/* the round: a batch for every sink, or with `ending` the end */
	struct lpl_ref batch[BATCH_REFS];
	size_t used;
	bool ending;
	struct lpl_report *report;	/* by sink */
	atomic_size_t next;		/* the first sink that nobody has taken */
	/* the threads that help, and what they and we tell each other */
	pthread_t helper[STUDY_MOST_JOBS];
	unsigned int helpers;
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	uint64_t round;
	unsigned int busy;		/* helpers that work on this round */
	bool quit;
};

/* Take sinks until there are no more. */
static void work(struct fan *fan)
{
	size_t i;

	while ((i = atomic_fetch_add(&fan->next, 1)) < fan->count) {
		struct lpl_sink *sink = fan->to[i];
		struct lpl_report *report = &fan->report[i];

		if (fan->used && sink->refs(sink, fan->batch, fan->used, report))
			continue;
		if (fan->ending)
			(void)sink->finish(sink, report);
	}
}

static void *help(void *argument)
{
	struct fan *fan = argument;
	uint64_t seen = 0;

	pthread_mutex_lock(&fan->lock);
	for (;;) {
		while (fan->round == seen && !fan->quit)
			pthread_cond_wait(&fan->begun, &fan->lock);
		if (fan->quit)
			break;
		seen = fan->round;
		pthread_mutex_unlock(&fan->lock);
		work(fan);
		pthread_mutex_lock(&fan->lock);
		if (--fan->busy == 0)
			pthread_cond_signal(&fan->done);
	}
	pthread_mutex_unlock(&fan->lock);
	return NULL;
}

/* The batch goes to every sink; the error of the first that has one. */
static int run_round(struct fan *fan, struct lpl_report *report)
{
	atomic_store(&fan->next, 0);
	pthread_mutex_lock(&fan->lock);
	fan->round++;
	fan->busy = fan->helpers;
	pthread_cond_broadcast(&fan->begun);
	pthread_mutex_unlock(&fan->lock);
	work(fan);
	pthread_mutex_lock(&fan->lock);
	while (fan->busy)
		pthread_cond_wait(&fan->done, &fan->lock);
	pthread_mutex_unlock(&fan->lock);
	fan->used = 0;
	for (size_t i = 0; i < fan->count; i++) {
		if (fan->report[i].error) {
			*report = fan->report[i];
			return report->error;
		}
	}
	return LPL_OK;
}

static int fan_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		    struct lpl_report *report)
{
	struct fan *fan = (struct fan *)sink;

	while (count) {
		size_t room = BATCH_REFS - fan->used;
		size_t part = count < room ? count : room;

		memcpy(fan->batch + fan->used, refs, part * sizeof(*refs));
		fan->used += part;
		refs += part;
		count -= part;
		if (fan->used == BATCH_REFS) {
			int error = run_round(fan, report);

			if (error)
				return error;
		}
	}
	return LPL_OK;
}

static int fan_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct fan *fan = (struct fan *)sink;

	fan->ending = true;
	return run_round(fan, report);
}

static int drop_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static void fan_free(struct fan *fan)
{
	if (!fan)
		return;
	pthread_mutex_lock(&fan->lock);
	fan->quit = true;
	pthread_cond_broadcast(&fan->begun);
	pthread_mutex_unlock(&fan->lock);
	for (unsigned int i = 0; i < fan->helpers; i++)
		pthread_join(fan->helper[i], NULL);
	pthread_cond_destroy(&fan->done);
	pthread_cond_destroy(&fan->begun);
	pthread_mutex_destroy(&fan->lock);
	free(fan->report);
	free(fan);
}

static struct fan *fan_new(struct lpl_sink *const *to, size_t count, unsigned int jobs)
{
	struct fan *fan = calloc(1, sizeof(*fan));

	if (!fan)
		return NULL;
	pthread_mutex_init(&fan->lock, NULL);
	pthread_cond_init(&fan->begun, NULL);
	pthread_cond_init(&fan->done, NULL);
	fan->sink = (struct lpl_sink){ fan_refs, drop_event, fan_finish };
	fan->to = to;
	fan->count = count;
	fan->report = calloc(count, sizeof(*fan->report));
	if (!fan->report) {
		fan_free(fan);
		return NULL;
	}
	/* one less does it, too: this thread works as well */
	while (fan->helpers + 1 < jobs && fan->helpers + 1 < count && fan->helpers < STUDY_MOST_JOBS &&
	       pthread_create(&fan->helper[fan->helpers], NULL, help, fan) == 0)
		fan->helpers++;
	return fan;
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
	struct fan *fan = fan_new(to, count, study->jobs);
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;
	struct line line;
	int status;

	if (!fan)
		return cli_complain(CLI_FAILED, "no memory");
	status = cli_reader_open(&reader, trace->path);
	if (!status) {
		lpl_reader_jobs(reader, study->jobs);
		if (open_line(&line, thinned,
			      lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION),
			      &fan->sink, &report))
			status = cli_report(&report);
		else
			status = read_through(study, trace, what, &line, reader);
		close_line(&line);
	}
	lpl_reader_close(reader);
	fan_free(fan);
	return status;
}
