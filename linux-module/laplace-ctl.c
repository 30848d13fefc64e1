/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace-ctl: steer a collection from within the guest, through /dev/laplace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "/dev/laplace"

#define MARK_MAX 256		/* what the kernel's record has room for */
#define COMMAND_MAX 4096	/* what the device takes */

static const char usage[] =
	"usage: laplace-ctl COMMAND\n"
	"\n"
	"Steers the collection of a memory trace from within the traced guest.\n"
	"\n"
	"  start         begin to collect\n"
	"  stop          cease to collect, for now\n"
	"  flush         let everything collected so far reach the trace\n"
	"  mark TEXT...  put a mark into the trace (at most 256 bytes)\n"
	"  syscalls SET  report system calls from now on: none (as at first), all, or a\n"
	"                list of names and numbers of 64-bit calls; by their name,\n"
	"                those of 32-bit programs go with them\n"
	"  events SET    report groups of events from now on that are not reported always:\n"
	"                none (as at first), all, or a list of: reclaim,\n"
	"                lists (with which reclaim is, too)\n"
	"  end           the workload is over and went well\n"
	"  fail          the workload is over and failed\n"
	"  quit          end the run here, and close the trace\n"
	"  rotate        end this segment of the trace, and begin the next\n"
	"  checkpoint    save the machine, so that the run can be resumed here\n"
	"  ready         the machine has booted: laplace record --snapshot saves it here\n"
	"  status        how many events the kernel sent, and missed\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

static int wrong(const char *what)
{
	fprintf(stderr, "laplace-ctl: %s\n%s", what, usage);
	return 2;
}

static int failed(const char *what)
{
	fprintf(stderr, "laplace-ctl: %s: %s\n", what, strerror(errno));
	return 1;
}

static int open_device(int how)
{
	int fd = open(DEVICE, how | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		fprintf(stderr, "laplace-ctl: no %s: is the laplace module loaded?\n",
			DEVICE);
	else if (fd < 0 && errno == EACCES)
		fprintf(stderr, "laplace-ctl: %s is not for this user: root can chgrp or chmod it, or load the\n"
			"module with mode=0666 (in an image of disk-images: laplace.mode=0666)\n", DEVICE);
	else if (fd < 0)
		failed(DEVICE);
	return fd;
}

static int send_command(const char *command, size_t length)
{
	int fd = open_device(O_WRONLY);
	ssize_t written;

	if (fd < 0)
		return 1;
	do {
		written = write(fd, command, length);
	} while (written < 0 && errno == EINTR);
	if (written < 0)
		return failed(DEVICE);
	close(fd);
	return 0;
}

static int print_status(void)
{
	int fd = open_device(O_RDONLY);
	char text[256];
	ssize_t got;

	if (fd < 0)
		return 1;
	while ((got = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	if (got < 0)
		return failed(DEVICE);
	close(fd);
	return fflush(stdout) ? failed("standard output") : 0;
}

/* A word and those after it, a blank between each; `most`: bytes of the latter. */
static int send_words(int argc, char *argv[], size_t most)
{
	char command[COMMAND_MAX];
	size_t length = strlen(argv[1]);
	size_t first = length + 1;

	memcpy(command, argv[1], length);
	for (int i = 2; i < argc; i++) {
		size_t size = strlen(argv[i]);

		if (length + 1 + size > first + most)
			return wrong("what follows the command is too long");
		command[length++] = ' ';
		memcpy(command + length, argv[i], size);
		length += size;
	}
	if (length <= first)
		return wrong("something is missing after the command");
	return send_command(command, length);
}

int main(int argc, char *argv[])
{
	static const char *const commands[] = {
		"start", "stop", "flush", "end", "fail", "rotate", "checkpoint", "quit", "ready",
	};

	if (argc < 2)
		return wrong("no command");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return fflush(stdout) ? failed("standard output") : 0;
	}
	if (!strcmp(argv[1], "mark"))
		return send_words(argc, argv, MARK_MAX);
	if (!strcmp(argv[1], "syscalls") || !strcmp(argv[1], "events"))
		return send_words(argc, argv, COMMAND_MAX - sizeof("syscalls"));
	if (argc > 2)
		return wrong("too many arguments");
	if (!strcmp(argv[1], "status"))
		return print_status();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i]))
			return send_command(argv[1], strlen(argv[1]));
	return wrong("unknown command");
}
