/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that writes a trace, made to be stopped in the middle of it.
 *
 *	write-stream write TRACE SEED RECORDS [runs] [jobs] [segments] [wait | stop]
 *		write a random stream in small chunks, flushed and synced now and then, and say on
 *		standard output, a line each, when the first N records are `flushed N`, or
 *		`synced N`; `waiting` and `room` with `wait`, for which a full disk is waited for;
 *		`stop` ends the trace properly then.  With `segments` one ends after every second
 *		flush.  Exit status as of `laplace`.
 *	write-stream check TRACE SEED RECORDS LEAST
 *		does TRACE hold the stream's first records, at least so many, and nothing else but,
 *		as its last one, a gap?  With what follows the last whole chunk, whatever that is,
 *		it may be damaged.  Prints how many they are, and `whole` if it ends properly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "../unit/stream.h"
#include "container/segments.h"

static void say(const char *what, size_t records)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%s %zu\n", what, records);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		abort();
}

/* ---- write ---- */

static bool wait_for_room(void *context, const struct lpl_report *why)
{
	bool *waiting = context;

	if (!why || !*waiting)
		say(why ? "waiting" : "room", 0);
	*waiting = why != NULL;
	if (why)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	return true;
}

/* Flushed after random numbers of records, and synced after every third flush. */
static enum lpl_error send(struct lpl_writer *writer, struct lpl_segments *segments,
			   const struct stream *stream, uint64_t seed, struct lpl_report *report)
{
	uint64_t random = seed;
	size_t done = 0;

	for (unsigned int i = 1; done < stream->count; i++) {
		size_t most = stream->count - done, count = 1 + next_random(&random) % 150;

		if (count > most)
			count = most;
		if (stream_send(stream, done, count, lpl_writer_sink(writer), random, report) != LPL_OK ||
		    lpl_writer_flush(writer, report) != LPL_OK)
			return report->error;
		done += count;
		say("flushed", done);
		if (segments && i % 2 == 0 && lpl_segments_rotate(segments, report) != LPL_OK)
			return report->error;
		if (i % 3 != 0)
			continue;
		if (lpl_writer_sync(writer, report) != LPL_OK)
			return report->error;
		say("synced", done);
	}
	return LPL_OK;
}

static int write_trace(const char *path, const struct stream *stream, uint64_t seed, char **words)
{
	struct lpl_writer_options options = { .chunk_refs = 40, .level = 1 };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_writer *writer = NULL;
	struct lpl_segments *segments = NULL;
	bool waiting = false, stops = false, cut = false;
	enum lpl_error error;

	for (; *words; words++) {
		options.blocks |= strcmp(*words, "runs") == 0;
		options.jobs = strcmp(*words, "jobs") == 0 ? 3 : options.jobs;
		stops |= strcmp(*words, "stop") == 0;
		cut |= strcmp(*words, "segments") == 0;
		if (strcmp(*words, "wait") == 0)
			options.no_room = wait_for_room;
	}
	options.context = &waiting;
	options.ends_when_full = stops;
	if (!meta || lpl_meta_set(meta, LPL_META_TITLE, "a stream") != LPL_OK)
		abort();
	error = cut ? lpl_segments_open(&segments, path, meta, &options, NULL, false, &report) :
		      lpl_writer_open(&writer, path, meta, &options, false, &report);
	if (segments)
		writer = lpl_segments_writer(segments);
	if (error == LPL_OK) {
		error = send(writer, segments, stream, seed, &report);
		if (error == LPL_OK || error == LPL_ERR_FULL) {
			struct lpl_report closed = { .error = LPL_OK };

			if ((segments ? lpl_segments_close(segments, &closed) :
					lpl_writer_close(writer, &closed)) != LPL_OK)
				report = closed;
		} else if (segments) {
			lpl_segments_abandon(segments);
		} else {
			lpl_writer_abandon(writer);
		}
	}
	lpl_meta_free(meta);
	if (report.error != LPL_OK)
		fprintf(stderr, "write-stream: %s\n", report.text);
	else
		say("closed", stream->count);
	return lpl_error_status(report.error);
}

/* ---- check ---- */

static int check_trace(const char *path, const struct stream *stream, size_t least)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader = NULL;
	struct stream found;
	bool complete, gap;
	int status = 1;
	size_t same;

	if (lpl_reader_open(&reader, path, &report) != LPL_OK) {
		fprintf(stderr, "write-stream: %s\n", report.text);
		return least > 0;
	}
	stream_init(&found);
	lpl_reader_compare_hash(reader);
	(void)lpl_reader_run(reader, &found.sink, &report);
	complete = report.error == LPL_OK && lpl_reader_complete(reader);
	lpl_reader_close(reader);
	gap = found.count > 0 && found.items[found.count - 1].is_event &&
	      found.items[found.count - 1].event.tag == LPL_EVENT_GAP;
	found.count -= gap;
	same = stream_difference(stream, &found, found.count);
	if (same != found.count)
		fprintf(stderr, "write-stream: %s: record %zu is another one\n", path, same);
	else if (same < least)
		fprintf(stderr, "write-stream: %s: has %zu records, %zu were promised\n", path,
			same, least);
	else if (complete && !gap && same != stream->count)
		fprintf(stderr, "write-stream: %s: ends properly, but too early\n", path);
	else if (printf("%zu %s\n", same, complete ? "whole" : "") > 0)
		status = 0;
	stream_free(&found);
	return status;
}

int main(int argc, char **argv)
{
	struct stream stream;
	uint64_t seed;
	int status;

	if (argc < 5)
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	stream_random(&stream, strtoull(argv[4], NULL, 10), STREAM_RAW, seed);
	if (strcmp(argv[1], "write") == 0)
		status = write_trace(argv[2], &stream, seed, argv + 5);
	else
		status = check_trace(argv[2], &stream, argc > 5 ? strtoull(argv[5], NULL, 10) : 0);
	stream_free(&stream);
	return status;
}
