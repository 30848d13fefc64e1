/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of pictures; see picture.h. */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/find.h"
#include "cli/say.h"

#define CONVERTER "rsvg-convert"

static _Noreturn void become(const char *path, int in_fd, int out_fd)
{
	static char program[] = CONVERTER, zoom[] = "--zoom=2", png[] = "--format=png";
	char *const argv[] = { program, zoom, png, NULL };

	signal(SIGPIPE, SIG_DFL);
	/* a user's settings and locale have no say */
	setenv("HOME", "/", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	if (dup2(in_fd, STDIN_FILENO) >= 0 && dup2(out_fd, STDOUT_FILENO) >= 0)
		execv(path, argv);
	_exit(127);
}

static int await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return cli_complain(CLI_FAILED, CONVERTER ": %s", strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return CLI_DONE;
	return cli_complain(CLI_FAILED, CONVERTER " failed; what it said is above");
}

/* It reads from a pipe what we write, and writes to a file that we opened: no shell and no name is involved. */
static int start_converter(struct picture *picture, const char *path)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return cli_complain(CLI_FAILED, "no pipe to " CONVERTER ": %s", strerror(errno));
	fflush(NULL);
	picture->converter = fork();
	if (picture->converter == 0)
		become(path, fd[0], fileno(picture->out));
	close(fd[0]);
	picture->out = picture->converter > 0 ? fdopen(fd[1], "w") : NULL;
	if (picture->out)
		return CLI_DONE;
	close(fd[1]);
	if (picture->converter > 0)
		await(picture->converter);
	return cli_complain(CLI_FAILED, CONVERTER " cannot be run: %s", strerror(errno));
}

int picture_begin(struct picture *picture, enum picture_format format, FILE *out)
{
	char *path;
	int status;

	*picture = (struct picture){ .format = format, .out = out };
	if (format != PICTURE_PNG)
		return CLI_DONE;
	picture->format = PICTURE_SVG;
	path = find_in_path(CONVERTER);
	if (!path)
		return cli_complain(CLI_FAILED, CONVERTER " is not in $PATH: a PNG needs it (Debian has it in "
				    "librsvg2-bin); .svg does without");
	status = start_converter(picture, path);
	free(path);
	return status;
}

int picture_end(struct picture *picture)
{
	if (!picture->converter)
		return CLI_DONE;
	/* if it has ended, its status says more than our EPIPE */
	fclose(picture->out);
	return await(picture->converter);
}
