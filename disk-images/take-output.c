/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * take-output: the host's end of output-log.h, for guest-program/run.
 *
 *	take-output --make LOG SECRET BYTES
 *
 * makes the disk LOG, which takes no room, and SECRET, which is to be kept from the guest.
 *
 *	take-output LOG SECRET ENDING <LIFELINE
 *
 * hands on what the guest's program prints to stdout and stderr while it runs, and gives its
 * room back; until there is no writer to LIFELINE, a pipe, any more, and all is handed on.
 * Then ENDING has lines: "none", "ended STATUS", "late", "full" or "failed"; how many KiB of
 * memory there were, and were free, when the program began; and why it failed.  SIGTERM:
 * readers are not waited for any more.
 *
 * Exit status: 0 all that was printed has been handed on; 1 not all could be, and why was said;
 * 2 usage; 3 the log is damaged.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "output-log.h"

#define INTERVAL 20		/* ms between looks at the log */
#define SLICE 50		/* ms that a reader is waited for, again and again ... */
#define SLICES 20		/* ... but so often in all, once there is no time */
#define PIECE 4096		/* what a pipe takes at once, when it takes anything: PIPE_BUF */
#define GIVE_BACK (1 << 20)	/* bytes */

enum { DONE, FAILED, USAGE, DAMAGED };

struct log {
	int fd;
	uint64_t at, freed, blocks, printed;
	unsigned int waited;	/* slices, since there is no time */
	bool lost[3];		/* by the stream's number: its reader has closed it */
	unsigned char block[LOG_BLOCK_SIZE];
};

static volatile sig_atomic_t hurry;

static void on_term(int number)
{
	(void)number;
	hurry = 1;
}

static int complain(const char *format, ...)
{
	int problem = errno;
	va_list arguments;

	va_start(arguments, format);
	fputs("laplace run: ", stderr);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s\n", strerror(problem));
	return FAILED;
}

static int make(const char *path, const char *secret_path, const char *bytes)
{
	struct log_end end = { .how = LOG_NOT_YET };
	FILE *log = fopen(path, "we"), *secret = fopen(secret_path, "we");

	if (!log || !secret || getrandom(end.secret, sizeof(end.secret), 0) < 0 ||
	    fwrite(end.secret, sizeof(end.secret), 1, secret) != 1 || fclose(secret) != 0 ||
	    ftruncate(fileno(log), strtoll(bytes, NULL, 10)) < 0 ||
	    fseek(log, LOG_START, SEEK_SET) < 0 || fwrite(&end, sizeof(end), 1, log) != 1 ||
	    fclose(log) != 0)
		return complain("%s", path);
	return DONE;
}

/* All of it, or errno. */
static bool write_all(struct log *log, int fd, const unsigned char *bytes, size_t size)
{
	while (size > 0) {
		struct pollfd reader = { .fd = fd, .events = POLLOUT };
		int ready = poll(&reader, 1, SLICE);
		ssize_t more;

		if (ready == 0 && hurry && ++log->waited > SLICES) {
			errno = ETIMEDOUT;
			return false;
		}
		if (ready <= 0)
			continue;
		more = write(fd, bytes, size < PIECE ? size : PIECE);
		if (more < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (more > 0) {
			bytes += more;
			size -= (size_t)more;
		}
	}
	return true;
}

static void hand_on(struct log *log, uint32_t stream, const unsigned char *bytes, size_t size)
{
	static const char *const name[] = { NULL, "standard output", "standard error" };

	log->printed += size;
	if (log->lost[stream] || write_all(log, (int)stream, bytes, size))
		return;
	log->lost[stream] = true;
	complain("not all that the program prints can be handed on: %s", name[stream]);
}

static void give_back(struct log *log)
{
	if (log->at - log->freed < GIVE_BACK)
		return;
	/* where a file system has no holes, it keeps what it has */
	(void)fallocate(log->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)log->freed,
			(off_t)(log->at - log->freed));
	log->freed = log->at;
}

static bool read_at(const struct log *log, void *to, size_t size, uint64_t at)
{
	return pread(log->fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Are its pieces what they should be?  They are a guest's. */
static bool has_pieces(const unsigned char *pieces, uint32_t size)
{
	struct log_piece piece;

	for (uint32_t at = 0; at < size; at += (uint32_t)sizeof(piece) + piece.size) {
		if (size - at < sizeof(piece))
			return false;
		memcpy(&piece, pieces + at, sizeof(piece));
		if (piece.stream < 1 || piece.stream > 2 ||
		    piece.size > size - at - sizeof(piece))
			return false;
	}
	return true;
}

/* The next block, if it is there. */
static bool take_block(struct log *log)
{
	uint64_t sequence = 0, bytes;
	struct log_block head;
	struct log_piece piece;

	if (!read_at(log, &head, sizeof(head), log->at) || head.magic != LOG_MAGIC ||
	    head.sequence != log->blocks + 1 || head.size > LOG_BLOCK_SIZE)
		return false;
	bytes = log_block_bytes(head.size);
	if (bytes > LOG_BLOCK_SIZE ||
	    !read_at(log, &sequence, sizeof(sequence), log->at + bytes - sizeof(sequence)) ||
	    sequence != head.sequence ||
	    !read_at(log, log->block, head.size, log->at + sizeof(head)) ||
	    !has_pieces(log->block, head.size))
		return false;
	for (uint32_t at = 0; at < head.size; at += (uint32_t)sizeof(piece) + piece.size) {
		memcpy(&piece, log->block + at, sizeof(piece));
		hand_on(log, piece.stream, log->block + at + sizeof(piece), piece.size);
	}
	log->at += bytes;
	log->blocks++;
	give_back(log);
	return true;
}

/* Until the machine is off. */
static void follow(struct log *log)
{
	struct pollfd lifeline = { .fd = STDIN_FILENO };
	bool on = true;

	while (on) {
		on = poll(&lifeline, 1, INTERVAL) <= 0;
		while (take_block(log))
			;
	}
}

static const char *how_it_ended(const struct log_end *end, char text[32])
{
	switch (end->how) {
	case LOG_ENDED:
		snprintf(text, 32, "ended %u", (unsigned int)end->status & 255);
		return text;
	case LOG_LATE:
		return "late";
	case LOG_FULL:
		return "full";
	case LOG_FAILED:
		return "failed";
	default:
		return "none";
	}
}

/* An end without the secret is none of start-program's. */
static int write_ending(const struct log *log, const char *secret_path, const char *path)
{
	struct log_end end = { .how = LOG_NOT_YET };
	unsigned char secret[sizeof(end.secret)];
	FILE *from = fopen(secret_path, "re"), *to;
	bool whole = true;
	char text[32];

	if (!from || fread(secret, sizeof(secret), 1, from) != 1)
		return complain("%s", secret_path);
	fclose(from);
	if (!read_at(log, &end, sizeof(end), LOG_START) ||
	    memcmp(secret, end.secret, sizeof(secret)) != 0)
		end = (struct log_end){ .how = LOG_NOT_YET };
	if (end.how == LOG_ENDED || end.how == LOG_LATE)
		whole = end.blocks == log->blocks && end.printed == log->printed;
	to = fopen(path, "we");
	if (!to ||
	    fprintf(to, "%s\n%llu %llu\n%.*s\n", how_it_ended(&end, text),
		    (unsigned long long)end.total, (unsigned long long)end.available,
		    (int)sizeof(end.why), end.why) < 0 ||
	    fclose(to) != 0)
		return complain("%s", path);
	if (whole)
		return log->lost[1] || log->lost[2] ? FAILED : DONE;
	fprintf(stderr,
		"laplace run: the guest says that its program printed %llu bytes, and %llu have come\n",
		(unsigned long long)end.printed, (unsigned long long)log->printed);
	return DAMAGED;
}

int main(int count, char **argument)
{
	static struct log log = { .at = LOG_BLOCKS, .freed = LOG_BLOCKS };
	struct sigaction term = { .sa_handler = on_term };

	if (count == 5 && strcmp(argument[1], "--make") == 0)
		return make(argument[2], argument[3], argument[4]);
	if (count != 4) {
		fputs("usage: take-output [--make] LOG SECRET BYTES|ENDING\n", stderr);
		return USAGE;
	}
	/* a terminal's signals are for the simulator, and for what waits for that */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &term, NULL);
	log.fd = open(argument[1], O_RDWR | O_CLOEXEC);
	if (log.fd < 0)
		return complain("%s", argument[1]);
	follow(&log);
	return write_ending(&log, argument[2], argument[3]);
}
