/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other programs as filters; see filter.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter.h"
#include "find.h"
#include "say.h"

static _Noreturn void become(const char *path, char *const argv[], int in_fd, int out_fd)
{
	signal(SIGPIPE, SIG_DFL);
	/* a user's settings and locale have no say */
	setenv("HOME", "/", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	if (dup2(in_fd, STDIN_FILENO) >= 0 && dup2(out_fd, STDOUT_FILENO) >= 0)
		execv(path, argv);
	_exit(127);
}

static int await(const struct filter *filter)
{
	int status;

	while (waitpid(filter->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return cli_complain(CLI_FAILED, "%s: %s", filter->name, strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return CLI_DONE;
	return cli_complain(CLI_FAILED, "%s failed; what it said is above", filter->name);
}

int filter_start(struct filter *filter, char *const argv[], FILE *out, const char *missing)
{
	char *path = find_in_path(argv[0]);
	int fd[2];

	if (!path)
		return cli_complain(CLI_FAILED, "%s", missing);
	if (pipe2(fd, O_CLOEXEC) < 0) {
		free(path);
		return cli_complain(CLI_FAILED, "no pipe to %s: %s", argv[0], strerror(errno));
	}
	fflush(NULL);
	*filter = (struct filter){ .name = argv[0], .pid = fork() };
	if (filter->pid == 0)
		become(path, argv, fd[0], fileno(out));
	free(path);
	close(fd[0]);
	filter->in = filter->pid > 0 ? fdopen(fd[1], "w") : NULL;
	if (filter->in)
		return CLI_DONE;
	close(fd[1]);
	if (filter->pid > 0)
		await(filter);
	return cli_complain(CLI_FAILED, "%s cannot be run: %s", argv[0], strerror(errno));
}

int filter_end(struct filter *filter)
{
	/* if it has ended, its status says more than our EPIPE */
	fclose(filter->in);
	return await(filter);
}
