/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start-program: the workload of `laplace run`.  Runs one program on a disk that has all it
 * needs, as it would have run on the machine that it was taken from, and leaves there what came
 * of it.
 *
 * The disk's /.laplace/program says what to run, in fields that a null byte ends each: seconds
 * that it may take (0: any number), megabytes of swap (0: none), user, group, umask (octal), the
 * disk's own init (empty: none), working directory, file, how many arguments, these, and the
 * environment.  Of supplementary groups it has none.
 *
 * An init, which is systemd, is process 1 of its own PID namespace, as in a container, where it
 * leaves the machine's devices alone.  It runs us again as a service, once it has reached its
 * default target; and is ended as a container is, when the program has ended.
 *
 * Its standard input is /.laplace/stdin; what it prints goes to stdout and stderr there.  Its exit
 * status goes to status, which is there already: 128 + N when signal N ended it, "late" when it ran
 * out of time.  Collection goes from its exec, if it was not on before, to its end.
 *
 * Exit status: 0 the program was run, whatever came of it; 1 it could not be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 3000	/* hundredths of a second of the guest's, until a drive is there */
#define ROOT "/disk"
#define HERE "/.laplace/"	/* on the disk */
#define US "/bin/start-program"
#define US_WITHIN "/run/laplace/start-program"	/* as the disk's own init has us */
#define UNITS ROOT "/run/systemd/system/"

enum drive { DISK, SWAP };	/* master and slave of their cable */
enum { LATE = -1, STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

struct program {
	unsigned int seconds;
	unsigned int swap;	/* megabytes */
	uid_t user;
	gid_t group;
	mode_t mask;
	const char *init, *directory, *file;
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

static void read_program(struct program *program, const char *path)
{
	size_t size;
	char *at = read_file(path, &size);
	const char *end = at + size;

	program->seconds = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->swap = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->user = (uid_t)strtoul(field(&at, end), NULL, 10);
	program->group = (gid_t)strtoul(field(&at, end), NULL, 10);
	program->mask = (mode_t)strtoul(field(&at, end), NULL, 8);
	program->init = field(&at, end);
	program->directory = field(&at, end);
	program->file = field(&at, end);
	program->argument = fields(&at, end, strtoul(field(&at, end), NULL, 10));
	program->environment = fields(&at, end, fields_left(at, end));
}

static void free_program(struct program *program)
{
	free(program->argument);
	free(program->environment);
}

/* ---- where it runs ---- */

/* Is this one of sysfs' block devices that drive?  Its device is called HOST:CHANNEL:TARGET:LUN. */
static bool is_drive(const char *name, enum drive drive)
{
	char link[300], device[300], place[16];
	ssize_t length;
	size_t end;

	snprintf(link, sizeof(link), "/sys/block/%s/device", name);
	length = readlink(link, device, sizeof(device) - 1);
	if (strncmp(name, "sd", 2) != 0 || length < 0)
		return false;
	device[length] = '\0';
	end = (size_t)snprintf(place, sizeof(place), ":0:%d:0", (int)drive);
	return (size_t)length > end && strcmp(device + length - end, place) == 0;
}

/*
 * Linux looks for drives in threads of its own, and names them in the order in which they answer: so
 * a drive is known by its place, and is waited for.
 */
static void find_drive(char path[300], enum drive drive)
{
	for (int i = 0; i < PATIENCE; i++) {
		DIR *directory = opendir("/sys/block");
		const struct dirent *entry;
		bool found = false;

		while (directory && !found && (entry = readdir(directory))) {
			snprintf(path, 300, "/dev/%s", entry->d_name);
			found = is_drive(entry->d_name, drive) && access(path, F_OK) == 0;
		}
		if (directory)
			closedir(directory);
		if (found)
			return;
		usleep(10000);
	}
	errno = ENODEV;
	fail(drive == DISK ? "the disk" : "the swap disk");
}

static void mount_at(const char *what, const char *where, const char *type, unsigned long flags)
{
	if (mkdir(where, 0755) < 0 && errno != EEXIST)
		fail("%s", where);
	if (mount(what, where, type, flags, NULL) < 0)
		fail("mount %s", where);
}

static void begin_swap(void)
{
	char swap[300];

	find_drive(swap, SWAP);
	if (swapon(swap, 0) < 0)
		fail("swapon %s", swap);
}

static void mount_all(void)
{
	char disk[300];

	find_drive(disk, DISK);
	mount_at(disk, ROOT, "ext4", 0);
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
			return LATE;
	}
}

/* In the place of what is there, so that a full disk has room for it. */
static void write_status(int status)
{
	int fd = open(HERE "status", O_WRONLY | O_CLOEXEC);
	char text[8];

	if (status == LATE)
		snprintf(text, sizeof(text), "%-6s\n", "late");
	else
		snprintf(text, sizeof(text), "%-6d\n", status);
	if (fd < 0 || write(fd, text, 7) != 7 || close(fd) < 0)
		fail("%sstatus", HERE);
}

/* Those that the program left: they are our children since their parents are gone. */
static void end_children(void)
{
	for (;;) {
		FILE *children = fopen("/proc/thread-self/children", "re");
		int child, count = 0;

		if (!children)
			fail("/proc/thread-self/children");
		for (; fscanf(children, "%d", &child) == 1; count++)
			kill(child, SIGKILL);
		fclose(children);
		if (count == 0)
			return;
		while (wait(NULL) > 0)
			;
	}
}

/* From its exec to its status; we are in its root directory. */
static void run(const struct program *program, int tracer)
{
	struct stream stream[2] = { { .file = HERE "stdout" }, { .file = HERE "stderr" } };
	sigset_t awaited;
	int status;
	pid_t child;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail("subreaper");
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGALRM);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	open_stream(&stream[0], program);
	open_stream(&stream[1], program);
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		become(program, stream, tracer);
	status = wait_for(child, program->seconds, &awaited);
	if (tracer >= 0 && write(tracer, "stop", 4) < 0)
		fail("/dev/laplace");
	end_children();
	close_stream(&stream[0]);
	close_stream(&stream[1]);
	write_status(status);
}

/* ---- with the disk's own init ---- */

static void write_unit(const char *name, const char *text)
{
	char path[128];
	FILE *unit;

	snprintf(path, sizeof(path), UNITS "%s", name);
	unit = fopen(path, "we");
	if (!unit || fputs(text, unit) < 0 || fclose(unit) != 0)
		fail("%s", path);
}

static void write_service(const char *name, const char *after, const char *argument)
{
	char text[512];

	snprintf(text, sizeof(text), "[Unit]\nDefaultDependencies=no\n%s"
		 "SuccessAction=poweroff-immediate\nFailureAction=poweroff-immediate\n"
		 "[Service]\nType=oneshot\nStandardOutput=file:/dev/console\n"
		 "ExecStart=" US_WITHIN " %s\n", after, argument);
	write_unit(name, text);
}

/*
 * Once all is reached that the disk would boot to, we are run; and where it gives up.  Then all that
 * there is of it ends.
 */
static void write_units(void)
{
	static const char *const lost[] = { "emergency.service", "rescue.service" };
	int fd;

	if (mkdir(ROOT "/run/systemd", 0755) < 0 || mkdir(UNITS, 0755) < 0 ||
	    mkdir(ROOT "/run/laplace", 0755) < 0)
		fail(UNITS);
	fd = open(ROOT US_WITHIN, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || mount(US, ROOT US_WITHIN, NULL, MS_BIND, NULL) < 0)
		fail(US_WITHIN);
	close(fd);
	write_unit("laplace.target", "[Unit]\n"
		   "Wants=default.target laplace.service\nAfter=default.target\n");
	write_service("laplace.service", "After=default.target\n", "reached");
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		write_service(lost[i], "", lost[i]);
}

/* Does not return. */
static void become_init(const struct program *program)
{
	char *const arguments[] = { (char *)program->init, "--unit=laplace.target", NULL };
	char *const environment[] = { "container=laplace", "TERM=dumb", NULL };

	/* what it sees of processes are its own, and all of the disk is below its root */
	if (unshare(CLONE_NEWNS) < 0 || umount2(ROOT "/proc", MNT_DETACH) < 0 ||
	    mount("proc", ROOT "/proc", "proc", 0, NULL) < 0 || chdir(ROOT) < 0 ||
	    mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)
		fail("namespace");
	execve(program->init, arguments, environment);
	fail("%s", program->init);
}

static void run_init(const struct program *program)
{
	pid_t child;
	int status;

	write_units();
	fflush(stdout);
	if (unshare(CLONE_NEWPID) < 0)
		fail("PID namespace");
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		become_init(program);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("%s", program->init);
}

/* As its service: run the program, unless the init gave up. */
static int serve(const char *reached)
{
	struct program program;

	if (strcmp(reached, "reached") == 0) {
		read_program(&program, HERE "program");
		run(&program, open("/dev/laplace", O_WRONLY | O_CLOEXEC));
		free_program(&program);
	} else {
		printf("start-program: the disk's init came no further than %s\n", reached);
	}
	return 0;
}

int main(int count, char **argument)
{
	struct program program;
	int tracer, outside;

	if (count > 1)
		return serve(argument[1]);
	tracer = open("/dev/laplace", O_WRONLY | O_CLOEXEC);
	mount_all();
	read_program(&program, ROOT HERE "program");
	if (program.swap != 0)
		begin_swap();
	begin_loopback();
	if (program.init[0] != '\0') {
		run_init(&program);
	} else {
		outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (outside < 0 || chroot(ROOT) < 0 || chdir("/") < 0)
			fail("chroot");
		run(&program, tracer);
		if (fchdir(outside) < 0 || chroot(".") < 0)
			fail("chroot");
		close(outside);
	}
	unmount_all();
	free_program(&program);
	return 0;
}
