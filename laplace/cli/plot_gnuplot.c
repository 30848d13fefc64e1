/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves drawn by gnuplot, a child that reads a script from a pipe and
 * writes the picture to a file that we opened.  No shell and no file name is
 * involved, and text is quoted, so that no title can be a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "find.h"
#include "plot.h"

/* gnuplot's single quotes: '' is a quote, nothing else is special. */
static void put_quoted(FILE *script, const char *text)
{
	fputc('\'', script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', script);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
	}
	fputc('\'', script);
}

static void write_script(const struct curves *curves, const char *title,
			 const char *terminal, FILE *script)
{
	if (strcmp(terminal, "svg") == 0)
		fputs("set terminal svg size 800,600 noenhanced\n", script);
	else
		fputs("set terminal pngcairo size 800,600 noenhanced\n", script);
	fputs("set logscale xy\nset grid\nset key top right\n"
	      "set xlabel 'memory (pages)'\nset ylabel 'faults'\n", script);
	if (title) {
		fputs("set title ", script);
		put_quoted(script, title);
		fputc('\n', script);
	}
	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->curve[i];

		fprintf(script, "$curve%zu << END\n", i);
		/* a log axis knows no 0: no fault stands where one would */
		for (size_t j = 0; j < curve->count; j++)
			fprintf(script, "%.17g %.17g\n", curve->point[j].size,
				curve->point[j].faults < 1 ? 1 : curve->point[j].faults);
		fputs("END\n", script);
	}
	for (size_t i = 0; i < curves->count; i++) {
		fprintf(script, "%s $curve%zu using 1:2 with linespoints title ",
			i ? "," : "plot", i);
		put_quoted(script, curves->curve[i].name);
	}
	fputc('\n', script);
}

static _Noreturn void become_gnuplot(char *path, int script_fd, int out_fd)
{
	char name[] = "gnuplot", dash[] = "-";
	char *argv[] = { name, dash, NULL };

	signal(SIGPIPE, SIG_DFL);
	/* a user's ~/.gnuplot and locale have no say; "-" reads the script */
	setenv("HOME", "/", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	if (dup2(script_fd, STDIN_FILENO) >= 0 && dup2(out_fd, STDOUT_FILENO) >= 0)
		execv(path, argv);
	_exit(127);
}

static int await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return cli_complain(CLI_FAILED, "gnuplot: %s", strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return CLI_DONE;
	return cli_complain(CLI_FAILED, "gnuplot failed; what it said is above");
}

int plot_gnuplot(const struct curves *curves, const char *title, const char *terminal,
		 FILE *out)
{
	char *path = find_in_path("gnuplot");
	FILE *script;
	int fd[2];
	pid_t pid;

	if (!path)
		return cli_complain(CLI_FAILED, "gnuplot is not in $PATH: pictures need it "
				    "(Debian has it in gnuplot-nox); `-o -' draws without");
	if (pipe2(fd, O_CLOEXEC) < 0) {
		free(path);
		return cli_complain(CLI_FAILED, "no pipe to gnuplot: %s", strerror(errno));
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_gnuplot(path, fd[0], fileno(out));
	free(path);
	close(fd[0]);
	script = pid > 0 ? fdopen(fd[1], "w") : NULL;
	if (!script) {
		close(fd[1]);
		if (pid > 0)
			await(pid);
		return cli_complain(CLI_FAILED, "gnuplot cannot be run: %s", strerror(errno));
	}
	write_script(curves, title, terminal, script);
	/* if it went away, its status tells more than our EPIPE */
	fclose(script);
	return await(pid);
}
