/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init of module-smoke's guest: what is there before the module, the module
 * itself, and the workload, which is this same program (guest.h); or, with the
 * word "truth" on the kernel's command line, ../truth.
 */
#include "guest.h"

#include <spawn.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <termios.h>

/* The child shares our space until it executes. */
static void run(const char *name, const char *first, const char *second)
{
	char *argv[] = { (char *)name, (char *)first, (char *)second, NULL };
	char *environment[] = { NULL };
	pid_t child;

	errno = posix_spawn(&child, name, NULL, NULL, argv, environment);
	if (errno)
		die(name);
	join(child, name);
}

/* As a user that is not root, and with the status that is to be expected. */
static void run_as_user(const char *name, const char *argument, int expected)
{
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		call(setgid(65534), "setgid");
		call(setuid(65534), "setuid");
		execl(name, name, argument, NULL);
		_exit(126);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != expected)
		die(name);
}

/* The parent's side is in init: an image's mappings are reported before main. */
static int workload(void)
{
	static int data = 1;
	struct stat st;

	call(stat("/guest", &st), "/guest");
	say("expect SPACE_ASSIGN %x %x -", getpid(), getpid());
	say("expect EXEC %x %x @%d %" PRIx64 " %lx - - - - \"/guest\"", getpid(), getpid(),
	    getpid(), device(st.st_dev), (unsigned long)st.st_ino);
	say("expect MAP - - - 5 1 %" PRIx64 " %lx - - \"guest\"", device(st.st_dev),
	    (unsigned long)st.st_ino);
	say("expect MAP - - - 5 6 - - - - \"[vdso]\"");
	data++;
	say("expect COW_BREAK @%d %lx", getpid(), (uintptr_t)&data & ~(PAGE - 1));
	list_maps();
	memory();
	ranges();
	files();
	tasks();
	huge();
	swapping();
	calls();
	mark("script");
	run("/script", NULL, NULL);
	call(stat("/interpreter", &st), "/interpreter");
	say("expect EXEC - - - %" PRIx64 " %lx - - - - \"/interpreter\"", device(st.st_dev),
	    (unsigned long)st.st_ino);
	return 0;
}

/* The kernel's log, to the console, so that the host sees it. */
static void dump(void)
{
	static char line[8192];
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got;

	if (fd < 0) {
		puts("check: died: no /dev/kmsg");
		return;
	}
	while ((got = read(fd, line, sizeof(line) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		char *text, *end;

		if (got < 0) {
			puts("check: died: the kernel's log overflowed");
			continue;
		}
		line[got] = '\0';
		text = strchr(line, ';');
		if (!text)
			continue;
		end = strchr(text, '\n');
		if (end)
			*end = '\0';
		puts(text + 1);
	}
	fflush(stdout);
	close(fd);
}

static int load_module(const char *file, const char *parameters)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? -1 : (int)syscall(SYS_finit_module, fd, parameters, 0);

	close(fd);
	return result;
}

static void load(const char *parameters)
{
	if (load_module("/laplace.ko", parameters))
		die("the module does not load");
}

static void unload(void)
{
	call((int)syscall(SYS_delete_module, "laplace", O_NONBLOCK), "the module does not unload");
}

/* What was there before the module is reported by it as it loads. */
static void loading(const volatile char *old, bool disks)
{
	char page[PAGE];
	struct stat st;
	int fd = -1;

	if (disks) {
		fd = call(open(OLD_DISK, O_RDONLY | O_CLOEXEC), OLD_DISK);
		call(fstat(fd, &st), OLD_DISK);
		if (pread(fd, page, sizeof(page), (off_t)(3 * PAGE)) != sizeof(page))
			die(OLD_DISK);
	}
	mark("load");
	load("log=1000000");
	if (!disks)
		die("no disks in memory");
	say("expect SNAPSHOT 1");
	say("expect TASK_CREATE 1 1 - - \"init\"");
	say("expect FILE - - %x - %" PRIx64 " - - - - \"ram1\"", KTR_FILE_BLOCK,
	    device(st.st_rdev));
	say("expect CACHE_ADD - %" PRIx64 " 3 - 1", device(st.st_rdev));
	call(stat("/init", &st), "/init");
	say("expect FILE %" PRIx64 " %lx %x - 0 - - - - \"/init\"", device(st.st_dev),
	    (unsigned long)st.st_ino, KTR_FILE_REGULAR);
	/* Fork shared it with process 1, and it was not written since. */
	say("expect PRESENT @%d %lx %lx %" PRIx64, getpid(), (uintptr_t)old,
	    (uintptr_t)old + PAGE, frame(old));
	say("expect PRESENT @1 %lx %lx %" PRIx64, (uintptr_t)old, (uintptr_t)old + PAGE,
	    frame(old));
	say("expect SNAPSHOT 0");
	list_maps();
	close(fd);
}

static void again(void)
{
	mark("other program");
	run("/laplace-ctl", "start", NULL);
	say("expect CONTROL 1");
	run("/laplace-ctl", "syscalls", "getpid");
	syscall(SYS_getpid);
	run("/laplace-ctl", "syscalls", "none");
	say("expect SYSCALL_EXIT %x 0 %x 0 0 0 0 0 0 \"getpid\"", SYS_getpid, getpid());
	run("/laplace-ctl", "status", NULL);
	mark("another user");
	run_as_user("/laplace-ctl", "end", 1);
	say("refuse CONTROL");
	mark("unload");
	unload();
	say("unloaded");
	if (!access("/dev/laplace", F_OK))
		die("the device outlives the module");
	mark("parameters");
	if (!load_module("/laplace.ko", "syscalls=nonsense") || errno != EINVAL)
		die("nonsense accepted");
	say("unloaded");
	if (!load_module("/laplace.ko", "mode=666") || errno != EINVAL)
		die("a mode accepted that is not octal");
	load("log=1000000 syscalls=getpid,getppid mode=0666");
	mark("mode");
	run_as_user("/laplace-ctl", "flush", 0);
	say("expect CONTROL 3");
	syscall(SYS_getpid);
	say("expect SYSCALL_ENTER %x 0 - - - - - - - \"getpid\"", SYS_getpid);
	unload();
}

static void init(const volatile char *old, bool truth)
{
	bool disks;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sys", "/sys", "sysfs", 0, NULL) ||
	    mount("dev", "/dev", "devtmpfs", 0, NULL))
		puts("check: died: cannot mount");
	open_log();
	/* Small machines have no huge pages unless they are set to. */
	set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	set("/sys/kernel/mm/transparent_hugepage/use_zero_page", "1");
	if (truth) {
		mkdir("/tmp", 0755);
		call(mount("tmp", "/tmp", "tmpfs", 0, NULL), "/tmp");
		load("log=1000000");
		/* So it does with words that have a value, as variables. */
		run("/truth", getenv("truth_seed"), NULL);
		return;
	}
	/* Pages move where the workload asks for it, and not when khugepaged or kcompactd likes. */
	set("/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none", "0");
	set("/proc/sys/vm/compaction_proactiveness", "0");
	disks = !load_module("/brd.ko", "rd_nr=2 rd_size=4096");
	loading(old, disks);
	mark("exec");
	say("strict");
	run("/guest", "workload", NULL);
	again();
	say("done");
}

int main(int argc, char *argv[])
{
	volatile char *old;
	pid_t child;
	int status;

	if (getpid() != 1) {
		open_log();
		return argc == 2 && !strcmp(argv[1], "workload") ? workload() : 0;
	}
	old = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	*old = 1;
	/* In a child, so that a failure still gets the log out. */
	child = fork();
	if (!child) {
		/* The kernel hands on the words that it does not know. */
		init(old, !strcmp(argv[argc - 1], "truth"));
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		puts("check: died");
	dump();
	/* What the serial line has not sent yet would be lost. */
	tcdrain(STDOUT_FILENO);
	reboot(RB_POWER_OFF);
	return 0;
}
