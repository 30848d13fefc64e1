/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start-program: the workload of `laplace run`.  Runs one program on
 * a disk that has all it needs, as it would have run on the machine that it was taken from,
 * and leaves there what came of it.
 *
 * The disk's /.laplace/program says what to run, in fields that a null byte ends each: seconds
 * that it may take (0: any number), user, group, umask (octal), working directory, file,
 * how many arguments, these, and the environment.  Of supplementary groups it has none.
 *
 * It finds its standard input in /.laplace/stdin and leaves stdout, stderr and status (which is
 * there already) beside it:
 * its exit status, 128 + N when signal N ended it, 124 when it ran out of time.  Collection goes
 * from its exec to its end, unless it was on before.
 *
 * Exit status: 0 the program was run, whatever came of it; 1 it could not be.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DISK "/dev/sda"
#define ROOT "/disk"
#define HERE "/.laplace/"	/* on the disk */

enum { STATUS_TIMEOUT = 124, STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

struct program {
	unsigned int seconds;
	uid_t user;
	gid_t group;
	mode_t mask;
	const char *directory, *file;
	char **argument, **environment;
};

static _Noreturn void fail(const char *format, ...)
{
	int problem = errno;
	va_list arguments;

	va_start(arguments, format);
	fputs("start-program: ", stdout);
	vprintf(format, arguments);
	va_end(arguments);
	printf(": %s\n", strerror(problem));
	exit(1);
}

/* ---- what to run ---- */

static char *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0)
		fail("%s", path);
	text = malloc((size_t)st.st_size + 1);
	got = text ? read(fd, text, (size_t)st.st_size) : -1;
	if (got != st.st_size)
		fail("%s", path);
	close(fd);
	text[got] = '\0';
	*size = (size_t)got;
	return text;
}

/* The next field, which has to be there. */
static char *field(char **at, const char *end)
{
	char *begin = *at;

	if (begin >= end) {
		errno = EINVAL;
		fail("%sprogram", HERE);
	}
	*at += strlen(begin) + 1;
	return begin;
}

/* `count` of them, and NULL. */
static char **fields(char **at, const char *end, size_t count)
{
	char **list = calloc(count + 1, sizeof(*list));

	if (!list)
		fail("%zu arguments", count);
	for (size_t i = 0; i < count; i++)
		list[i] = field(at, end);
	return list;
}

static size_t fields_left(const char *at, const char *end)
{
	size_t count = 0;

	for (; at < end; at += strlen(at) + 1)
		count++;
	return count;
}

static void read_program(struct program *program)
{
	size_t size;
	char *at = read_file(ROOT HERE "program", &size);
	const char *end = at + size;

	program->seconds = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->user = (uid_t)strtoul(field(&at, end), NULL, 10);
	program->group = (gid_t)strtoul(field(&at, end), NULL, 10);
	program->mask = (mode_t)strtoul(field(&at, end), NULL, 8);
	program->directory = field(&at, end);
	program->file = field(&at, end);
	program->argument = fields(&at, end, strtoul(field(&at, end), NULL, 10));
	program->environment = fields(&at, end, fields_left(at, end));
}

/* ---- where it runs ---- */

static void mount_at(const char *what, const char *where, const char *type, unsigned long flags)
{
	if (mkdir(where, 0755) < 0 && errno != EEXIST)
		fail("%s", where);
	if (mount(what, where, type, flags, NULL) < 0)
		fail("mount %s", where);
}

static void mount_all(void)
{
	mount_at(DISK, ROOT, "ext4", 0);
	mount_at("proc", ROOT "/proc", "proc", 0);
	mount_at("sysfs", ROOT "/sys", "sysfs", 0);
	mount_at("/dev", ROOT "/dev", NULL, MS_BIND);
	mount_at("devpts", ROOT "/dev/pts", "devpts", 0);
	mount_at("tmpfs", ROOT "/dev/shm", "tmpfs", 0);
	mount_at("tmpfs", ROOT "/run", "tmpfs", 0);
	if (chmod(ROOT "/dev/shm", 01777) < 0)
		fail("/dev/shm");
	(void)symlink("/proc/self/fd", "/dev/fd");
	(void)symlink("/proc/self/fd/0", "/dev/stdin");
	(void)symlink("/proc/self/fd/1", "/dev/stdout");
	(void)symlink("/proc/self/fd/2", "/dev/stderr");
}

/* The guest has no network but this. */
static void begin_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		fail("loopback");
	close(fd);
}

/* What is on the disk is there when the machine is switched off. */
static void unmount_all(void)
{
	static const char *const places[] = { "/run", "/dev/shm", "/dev/pts", "/dev", "/sys", "/proc" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), ROOT "%s", places[i]);
		(void)umount2(path, MNT_DETACH);
	}
	sync();
	if (umount(ROOT) < 0 && mount(NULL, ROOT, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
		fail("umount %s", ROOT);
}

/* ---- running it ---- */

/*
 * What it prints goes through a pipe into a file: it may open /dev/stdout again, which of a file
 * would be from the beginning.
 */
struct stream {
	const char *file;
	int from, to;		/* the pipe */
	pthread_t thread;
};

static void *copy(void *argument)
{
	const struct stream *stream = argument;
	int fd = open(stream->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	static __thread char text[65536];
	ssize_t got;

	/* when the disk is full, the rest is lost, and the program does not wait for us */
	while ((got = read(stream->from, text, sizeof(text))) > 0)
		for (ssize_t done = 0, more; done < got; done += more) {
			more = write(fd, text + done, (size_t)(got - done));
			if (more <= 0)
				break;
		}
	close(fd);
	return NULL;
}

static void open_stream(struct stream *stream, const struct program *program)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0 || fchown(ends[1], program->user, program->group) < 0)
		fail("pipe");
	stream->from = ends[0];
	stream->to = ends[1];
	errno = pthread_create(&stream->thread, NULL, copy, stream);
	if (errno)
		fail("thread");
}

/* Once nobody has it who could write to it. */
static void close_stream(struct stream *stream)
{
	close(stream->to);
	pthread_join(stream->thread, NULL);
	close(stream->from);
}

/* Say why on what is its stderr by now, with the status that a shell would give. */
static void cannot(const char *what)
{
	int problem = errno;

	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(problem));
	_exit(problem == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT);
}

static void become(const struct program *program, const struct stream stream[2], int tracer)
{
	int input = open(HERE "stdin", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(stream[1].to, STDERR_FILENO) < 0 || dup2(stream[0].to, STDOUT_FILENO) < 0 ||
	    input < 0 || dup2(input, STDIN_FILENO) < 0)
		_exit(STATUS_CANNOT);
	close(input);
	if (chdir(program->directory) < 0)
		cannot(program->directory);
	umask(program->mask);
	if (setgroups(0, NULL) < 0 || setgid(program->group) < 0 || setuid(program->user) < 0)
		cannot("user and group");
	if (tracer >= 0 && write(tracer, "start", 5) < 0)
		cannot("/dev/laplace");
	execve(program->file, program->argument, program->environment);
	cannot(program->file);
}

static int exit_status(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
				      : STATUS_SIGNAL + WTERMSIG(wait_status);
}

/* Wait for the program.  Those that it leaves behind come to us, and end with it. */
static int wait_for(pid_t child, unsigned int seconds, const sigset_t *awaited)
{
	alarm(seconds);
	for (;;) {
		int status, number;
		pid_t gone;

		while ((gone = waitpid(-1, &status, WNOHANG)) > 0)
			if (gone == child)
				return exit_status(status);
		if (sigwait(awaited, &number) == 0 && number == SIGALRM)
			return STATUS_TIMEOUT;
	}
}

/* In the place of what is there, so that a full disk has room for it. */
static void write_status(int status)
{
	int fd = open(HERE "status", O_WRONLY | O_CLOEXEC);
	char text[8];

	snprintf(text, sizeof(text), "%-6d\n", status);
	if (fd < 0 || write(fd, text, 7) != 7 || close(fd) < 0)
		fail("%sstatus", HERE);
}

int main(void)
{
	struct stream stream[2] = { { .file = HERE "stdout" }, { .file = HERE "stderr" } };
	struct program program;
	int tracer = open("/dev/laplace", O_WRONLY | O_CLOEXEC), outside, status;
	sigset_t awaited;
	pid_t child;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail("subreaper");
	mount_all();
	read_program(&program);
	begin_loopback();
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGALRM);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outside < 0 || chroot(ROOT) < 0 || chdir("/") < 0)
		fail("chroot");
	open_stream(&stream[0], &program);
	open_stream(&stream[1], &program);
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		become(&program, stream, tracer);
	status = wait_for(child, program.seconds, &awaited);
	if (tracer >= 0 && write(tracer, "stop", 4) < 0)
		fail("/dev/laplace");
	kill(-1, SIGKILL);
	while (wait(NULL) > 0)
		;
	close_stream(&stream[0]);
	close_stream(&stream[1]);
	write_status(status);
	if (fchdir(outside) < 0 || chroot(".") < 0)
		fail("chroot");
	close(outside);
	unmount_all();
	free(program.argument);
	free(program.environment);
	return 0;
}
