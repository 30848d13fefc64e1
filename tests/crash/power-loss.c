/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * power-loss TRACE LOG SAID SEED RECORDS TRIALS: what a loss of power can leave of a trace.
 *
 * TRACE is what `write-stream write` made, SAID what it said, LOG the calls that it made, as
 * faulty-disk.c notes them.  The model: after any of these calls the power goes.  What was written
 * before the last barrier that had ended is on the disk.  Of what was written after it, each sector of
 * 512 bytes is there or is zeros, and the file's size is anything in between.  Then everything
 * that was said to be synced has to be read, nothing that was never written, and the file has its
 * final name only when all of it is on the disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "../unit/stream.h"
#include "container/reader_open.h"

#define SECTOR 512
#define MOST 65536		/* calls */

/* As of the moment after a call. */
struct moment {
	uint64_t size;		/* of the file, as written */
	uint64_t synced;	/* bytes that are on the disk for sure */
	size_t records;		/* that were said to be */
};

static struct moment moments[MOST];

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(2);
	}
	return file;
}

/* The next `synced N`. */
static size_t next_synced(FILE *said)
{
	char what[32];
	size_t records;

	while (fscanf(said, "%31s %zu", what, &records) == 2)
		if (strcmp(what, "synced") == 0)
			return records;
	return 0;
}

/* Returns how many moments there are. */
static size_t read_log(const char *log_path, const char *said_path)
{
	FILE *log = open_file(log_path), *said = open_file(said_path);
	struct moment now = { 0, 0, 0 };
	unsigned long long at, size;
	char line[128];
	uint64_t whole = 0;	/* as of the last barrier of either kind */
	size_t count = 0;

	while (fgets(line, sizeof(line), log) && count < MOST) {
		if (sscanf(line, "write %llu %llu", &at, &size) == 2) {
			now.size = at + size;
		} else if (strcmp(line, "sync data\n") == 0) {
			now.synced = whole = now.size;
			now.records = next_synced(said);
		} else if (strcmp(line, "sync\n") == 0) {
			whole = now.size;	/* or of the directory: see `rename` */
		} else if (strcmp(line, "rename\n") == 0 && whole != now.size) {
			fprintf(stderr, "power-loss: has its name before it is on the disk\n");
			exit(1);
		}
		moments[count++] = now;
	}
	(void)fclose(log);
	(void)fclose(said);
	return count;
}

/* A file as it may be then. */
static int make_file(const uint8_t *trace, const struct moment *moment, uint64_t *random)
{
	uint64_t lost = moment->size - moment->synced;
	uint64_t size = moment->synced + (lost ? next_random(random) % (lost + 1) : 0);
	uint64_t odds = next_random(random) % 5;	/* of 4, that a sector is there */
	int fd = memfd_create("trace", MFD_CLOEXEC);
	uint8_t *bytes = calloc(1, size + 1);

	if (fd < 0 || !bytes)
		abort();
	memcpy(bytes, trace, moment->synced);
	for (uint64_t at = moment->synced; at < size;) {
		uint64_t end = (at / SECTOR + 1) * SECTOR;

		end = end < size ? end : size;
		if (next_random(random) % 4 < odds)
			memcpy(bytes + at, trace + at, end - at);
		at = end;
	}
	if (write(fd, bytes, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	free(bytes);
	return fd;
}

/* All that can be read, past damage, without the gaps. */
static void read_all(struct stream *found, int fd, size_t *before_damage)
{
	struct lpl_reader *reader;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	bool damaged = false;
	size_t count;

	stream_init(found);
	*before_damage = 0;
	if (lpl_reader_open_fd(&reader, fd, true, "memory", NULL) != LPL_OK)
		return;
	for (;;) {
		if (lpl_reader_next(reader, &refs, &count, &event, NULL) != LPL_OK) {
			damaged = true;
			if (lpl_reader_resume(reader, NULL) != LPL_OK)
				break;
			continue;
		}
		if (count == 0 && !event)
			break;
		if (count > 0)
			(void)stream_take_refs(&found->sink, refs, count, NULL);
		if (event && event->tag != LPL_EVENT_GAP)
			(void)stream_take_event(&found->sink, event, NULL);
		if (!damaged)
			*before_damage = found->count;
	}
	lpl_reader_close(reader);
}

/* Are they records of the stream, in its order, and from its beginning on without any missing? */
static bool is_part(const struct stream *stream, const struct stream *found, size_t beginning)
{
	size_t at = 0;

	if (stream_difference(stream, found, beginning) != beginning)
		return false;
	for (size_t i = 0; i < found->count; i++, at++) {
		const struct stream one = { .items = &found->items[i], .count = 1 };

		for (;; at++) {
			const struct stream other = { .items = &stream->items[at], .count = 1 };

			if (at == stream->count)
				return false;
			if (stream_difference(&one, &other, 1) == 1)
				break;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct stream stream, found;
	size_t size, moments_count, beginning, promised = 0;
	uint64_t seed, trials;
	uint8_t *trace;
	FILE *file;

	if (argc != 7)
		return 2;
	seed = strtoull(argv[4], NULL, 10);
	trials = strtoull(argv[6], NULL, 10);
	stream_random(&stream, strtoull(argv[5], NULL, 10), STREAM_RAW, seed);
	moments_count = read_log(argv[2], argv[3]);
	file = open_file(argv[1]);
	(void)fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file);
	rewind(file);
	trace = malloc(size + 1);
	if (!trace || moments_count == 0 || fread(trace, 1, size, file) != size ||
	    moments[moments_count - 1].size != size) {
		fprintf(stderr, "power-loss: the log is of another file\n");
		exit(2);
	}
	(void)fclose(file);
	for (uint64_t trial = 1; trial <= trials; trial++) {
		uint64_t random = seed * 1000003 + trial;
		const struct moment *moment = &moments[next_random(&random) % moments_count];

		read_all(&found, make_file(trace, moment, &random), &beginning);
		if (beginning < moment->records || !is_part(&stream, &found, beginning)) {
			fprintf(stderr, "power-loss: trial %" PRIu64 " of seed %" PRIu64 ": %zu records "
				"can be read, %zu were synced\n", trial, seed, beginning,
				moment->records);
			exit(1);
		}
		promised += moment->records > 0;
		stream_free(&found);
	}
	printf("power-loss: %" PRIu64 " losses, in %zu something was promised\n", trials, promised);
	free(trace);
	stream_free(&stream);
	return promised > 0 ? 0 : 1;
}
