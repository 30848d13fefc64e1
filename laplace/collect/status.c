/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line of JSON that reports how a collection is; see status.h.
 *
 * Numbers are integers, and shares are written by hand, for a display's library may have set a
 * locale with decimal commas.  Texts are a guest's, a user's or the system's: whatever bytes
 * they have, the line is one line, and JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "status.h"

#define NS UINT64_C(1000000000)

/* ---- what the lines have in common ---- */

/* -1 for what is no file: a pipe fills no disk. */
static int open_directory(const char *path)
{
	char copy[PATH_MAX];
	struct stat about;

	if ((stat(path, &about) == 0 && !S_ISREG(about.st_mode)) || strlen(path) >= sizeof(copy))
		return -1;
	memcpy(copy, path, strlen(path) + 1);
	return open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool lpl_status_init(struct lpl_status *status, const char *path)
{
	*status = (struct lpl_status){ .directory = path ? open_directory(path) : -1 };
	pthread_mutex_init(&status->lock, NULL);
	status->trace = strdup(path ? path : "");
	return status->trace != NULL;
}

void lpl_status_free(struct lpl_status *status)
{
	if (status->directory >= 0)
		(void)close(status->directory);
	free(status->trace);
	pthread_mutex_destroy(&status->lock);
}

void lpl_status_event(struct lpl_status *status, const struct lpl_event *event)
{
	if (event->tag == LPL_EVENT_TRACING)
		status->tracing = event->arg[LPL_EVENT_TRACING_ON] != 0;
	if (event->tag != KTR_MARK && event->tag != LPL_EVENT_MARK)
		return;
	pthread_mutex_lock(&status->lock);
	status->mark = *event;
	status->marked = true;
	pthread_mutex_unlock(&status->lock);
}

void lpl_status_checkpoint(struct lpl_status *status, uint64_t instr, uint64_t elapsed_ns)
{
	pthread_mutex_lock(&status->lock);
	status->checkpoint_instr = instr;
	status->checkpoint_ns = elapsed_ns;
	status->checkpointed = true;
	pthread_mutex_unlock(&status->lock);
}

/* ---- JSON ---- */

/* Bytes of the character that a valid UTF-8 text begins with; 0: it is none. */
static size_t character(const char *text, size_t left)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} of[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 },
		   { 0xf8, 0xf0, 0x10000 } };

	for (size_t more = 0; more < 4 && more < left; more++) {
		uint32_t code = (unsigned char)text[0] & (unsigned char)~of[more].mask;

		if (((unsigned char)text[0] & of[more].mask) != of[more].lead)
			continue;
		for (size_t i = 1; i <= more; i++) {
			if (((unsigned char)text[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | ((unsigned char)text[i] & 0x3f);
		}
		return code >= of[more].least && code <= 0x10ffff && code >> 11 != 0x1b ?
		       more + 1 : 0;
	}
	return 0;
}

/*
 * A string; what is no character is written as the one that stands for such, and so is 0, at
 * which many readers' strings end.
 */
static void put_text(FILE *out, const char *text, size_t length)
{
	putc('"', out);
	for (size_t at = 0; at < length;) {
		size_t bytes = character(text + at, length - at);
		unsigned char first = (unsigned char)text[at];

		if (!bytes || !first)
			fputs("\\ufffd", out);
		else if (first == '"' || first == '\\')
			fprintf(out, "\\%c", first);
		else if (first < ' ' || first == 0x7f)
			fprintf(out, "\\u%04x", first);
		else
			fwrite(text + at, 1, bytes, out);
		at += bytes ? bytes : 1;
	}
	putc('"', out);
}

static void put_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	put_text(out, text ? text : "", text ? strlen(text) : 0);
}

static void put_now(FILE *out)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	put_member(out, "time", text);
}

/* So much a second; no overflow below 2^64 of either. */
static uint64_t per_second(uint64_t count, uint64_t ns)
{
	return ns ? (uint64_t)((unsigned __int128)count * NS / ns) : 0;
}

/* What happened in `ns`; `waiting` is a share of that time. */
static void put_rates(FILE *out, const char *name, const struct lpl_pace *done)
{
	uint64_t ns = done->elapsed_ns;
	uint64_t share = ns ? (uint64_t)((unsigned __int128)done->wait_ns * 10000 / ns) : 0;

	fprintf(out, ",\"%s\":{\"instructions\":%" PRIu64 ",\"references\":%" PRIu64
		",\"bytes\":%" PRIu64 ",\"waiting\":%" PRIu64 ".%04" PRIu64 "}", name,
		per_second(done->instructions, ns), per_second(done->references, ns),
		per_second(done->bytes, ns), share / 10000, share % 10000);
}

static void put_disk(FILE *out, int directory, const struct lpl_pace *all)
{
	const uint64_t rate = per_second(all->bytes, all->elapsed_ns);
	struct statvfs disk;

	if (directory < 0 || fstatvfs(directory, &disk) != 0) {
		fputs(",\"disk\":null", out);
		return;
	}
	const uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;

	fprintf(out, ",\"disk\":{\"free\":%" PRIu64 ",\"seconds\":", left);
	if (rate)
		fprintf(out, "%" PRIu64 "}", left / rate);
	else
		fputs("null}", out);
}

/* Bytes of memory that this process has. */
static uint64_t resident(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!statm)
		return 0;
	if (fscanf(statm, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	(void)fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The latest mark and checkpoint. */
static void put_latest(FILE *out, struct lpl_status *status)
{
	pthread_mutex_lock(&status->lock);
	if (status->marked) {
		uint32_t length = status->mark.text_length;

		fputs(",\"mark\":{\"text\":", out);
		put_text(out, status->mark.text, length < KTR_TEXT ? length : KTR_TEXT);
		fprintf(out, ",\"instruction\":%" PRIu64 "}", status->mark.instr);
	} else {
		fputs(",\"mark\":null", out);
	}
	if (status->checkpointed)
		fprintf(out, ",\"checkpoint\":{\"instruction\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64
			"}", status->checkpoint_instr, status->checkpoint_ns);
	else
		fputs(",\"checkpoint\":null", out);
	fprintf(out, ",\"checkpoints_failed\":%" PRIu64, status->checkpoints_failed);
	pthread_mutex_unlock(&status->lock);
}

static uint64_t after(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

char *lpl_status_line(struct lpl_status *status, const struct lpl_collector_status *now,
		      struct lpl_pace *pace, struct lpl_status_end end)
{
	const struct lpl_pace all = { now->instructions, now->references, now->bytes, now->wait_ns,
				      now->elapsed_ns };
	const struct lpl_pace since = {
		after(all.instructions, pace->instructions > status->begin_instr ? pace->instructions :
										   status->begin_instr),
		after(all.references, pace->references),
		after(all.bytes, pace->bytes), after(all.wait_ns, pace->wait_ns),
		after(all.elapsed_ns, pace->elapsed_ns)
	};
	struct lpl_pace own = all;
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	own.instructions = after(all.instructions, status->begin_instr);
	fputs("{\"laplace-status\":1", out);
	put_now(out);
	fprintf(out, ",\"pid\":%d", (int)getpid());
	put_member(out, "trace", status->trace);
	put_member(out, "state", end.state ? end.state : "running");
	if (end.end)
		put_member(out, "end", end.end);
	put_member(out, "message", end.message);
	fprintf(out, ",\"tracing\":%s,\"waiting_for_room\":%s,\"instructions\":%" PRIu64
		",\"references\":%" PRIu64 ",\"kept\":%" PRIu64 ",\"events\":%" PRIu64
		",\"bytes\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64
		",\"segment\":%" PRIu64 ",\"syncs\":%" PRIu64 ",\"sync_ns\":%" PRIu64
		",\"room_wait_ns\":%" PRIu64 ",\"memory\":%" PRIu64, now->tracing ? "true" : "false",
		now->waiting_for_room ? "true" : "false", now->instructions, now->references,
		now->kept, now->events, now->bytes, now->wait_ns, now->elapsed_ns, now->segment,
		now->syncs, now->sync_ns, now->room_wait_ns, resident());
	put_rates(out, "rates", &since);
	put_rates(out, "mean", &own);
	put_disk(out, status->directory, &all);
	put_latest(out, status);
	fputs("}\n", out);
	*pace = all;
	if (fclose(out) != 0) {
		free(line);
		return NULL;
	}
	return line;
}

bool lpl_status_write(int fd, const char *line)
{
	size_t size = strlen(line);

	while (size > 0) {
		ssize_t written = write(fd, line, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		line += written;
		size -= (size_t)written;
	}
	return true;
}
