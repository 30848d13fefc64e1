/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guest's side of module-smoke: init, and a workload that does each thing
 * the module has an event for.
 *
 * What happened is known here from the outside: results of system calls,
 * /proc/self/maps, /proc/self/pagemap, stat.  It is written to the kernel's log
 * between the module's events, as
 *
 *	check: mark NAME		what follows belongs to NAME
 *	check: expect EVENT FIELD...	since the mark there was such an event
 *	check: maps PID START END	one line a mapping; then
 *	check: mapped PID		compare
 *	check: strict			from now on no range is mapped twice
 *	check: done			nothing is missing
 *
 * with fields as log= prints them, in hexadecimal, and - for any.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <laplace/kernel_trace_record.h>

#define PAGE 4096UL
#define DATA "/data"

static int kmsg;

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	char line[512] = "check: ";
	va_list args;
	size_t length = strlen(line);

	va_start(args, format);
	length += (size_t)vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	/* Without it the line is not complete, and not shown, until the next. */
	line[length++] = '\n';
	if (write(kmsg, line, length) < 0)
		abort();
}

static void die(const char *what)
{
	say("died: %s: %s", what, strerror(errno));
	_exit(1);
}

/* Mappings as the kernel itself tells them. */
static void tell_maps(void)
{
	static char text[65536];
	size_t used = 0;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		die("maps");
	while ((got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		uint64_t from, to;

		*end = '\0';
		/* Not a mapping of this space: the kernel emulates it. */
		if (strstr(line, "[vsyscall]"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2)
			die("maps line");
		say("maps %d %" PRIx64 " %" PRIx64, getpid(), from, to);
	}
	say("mapped %d", getpid());
}

/* The frame behind an address, or 0. */
static uint64_t frame(const volatile void *address)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0 ||
	    pread(fd, &entry, 8, (off_t)((uintptr_t)address / PAGE * 8)) != 8)
		die("pagemap");
	close(fd);
	return entry >> 63 ? entry & ((1ULL << 55) - 1) : 0;
}

static void mark(const char *name)
{
	say("mark %s", name);
}

static void expect_map(const void *at, size_t length, unsigned int prot,
		       unsigned int kind, const struct stat *st, uint64_t offset,
		       const char *name)
{
	uintptr_t start = (uintptr_t)at;

	if (st)
		say("expect MAP - %lx %lx %x %x %x %lx %" PRIx64 " \"%s\"", start,
		    start + length, prot, kind,
		    major(st->st_dev) << 20 | minor(st->st_dev),
		    (unsigned long)st->st_ino, offset, name);
	else
		say("expect MAP - %lx %lx %x %x - - - \"%s\"", start,
		    start + length, prot, kind, name);
}

static void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *got = mmap(at, length, prot, flags, fd, offset);

	if (got == MAP_FAILED)
		die("mmap");
	return got;
}

static void expect_unmap(const void *at, size_t length)
{
	say("expect UNMAP - %lx %lx", (uintptr_t)at, (uintptr_t)at + length);
}

#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

static void anonymous(void)
{
	char *a, *b;

	mark("anonymous");
	/* Two that the kernel merges: each event tells of its own range. */
	a = map(NULL, 8 * PAGE, RW, PRIVATE, -1, 0);
	expect_map(a, 8 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	b = map(a - 4 * PAGE, 4 * PAGE, RW, PRIVATE | MAP_FIXED_NOREPLACE, -1, 0);
	expect_map(b, 4 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	tell_maps();

	mark("hole");
	munmap(a + PAGE, 2 * PAGE);
	expect_unmap(a + PAGE, 2 * PAGE);
	tell_maps();

	mark("overmap");
	map(a + 5 * PAGE, PAGE, PROT_READ, PRIVATE | MAP_FIXED, -1, 0);
	expect_unmap(a + 5 * PAGE, PAGE);
	expect_map(a + 5 * PAGE, PAGE, 1, KTR_MAP_ANONYMOUS, NULL, 0, "");
	tell_maps();

	mark("shared anonymous");
	a = map(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect_map(a, 2 * PAGE, 3, KTR_MAP_ANONYMOUS_SHARED, NULL, 0, "dev/zero");
	tell_maps();
}

static void heap(void)
{
	char *old, *now;

	mark("brk");
	old = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1));
	if (brk(old + 5 * PAGE + 17))
		die("brk");
	expect_map(old, 6 * PAGE, 3, KTR_MAP_HEAP, NULL, 0, "[heap]");
	say("expect BRK - %lx %lx", (uintptr_t)old, (uintptr_t)old + 6 * PAGE);
	tell_maps();
	mark("brk back");
	now = old + PAGE;
	if (brk(now))
		die("brk");
	expect_unmap(now, 5 * PAGE);
	say("expect BRK - %lx %lx", (uintptr_t)old + 6 * PAGE, (uintptr_t)now);
	tell_maps();
}

static void remap(void)
{
	char *a, *b, *c;

	mark("mremap grows in place");
	a = map(NULL, 8 * PAGE, RW, PRIVATE, -1, 0);
	munmap(a + 2 * PAGE, 6 * PAGE);
	if (mremap(a, 2 * PAGE, 4 * PAGE, 0) != a)
		die("mremap in place");
	expect_map(a + 2 * PAGE, 2 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	tell_maps();

	mark("mremap shrinks");
	if (mremap(a, 4 * PAGE, 3 * PAGE, 0) != a)
		die("mremap shrinks");
	expect_unmap(a + 3 * PAGE, PAGE);
	tell_maps();

	mark("mremap moves");
	a[0] = 1;
	b = map(NULL, 16 * PAGE, PROT_NONE, PRIVATE, -1, 0);
	c = mremap(a, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, b + 4 * PAGE);
	if (c != b + 4 * PAGE)
		die("mremap moves");
	expect_unmap(c, 5 * PAGE);
	say("expect REMAP - %lx %lx %lx %lx", (uintptr_t)a, (uintptr_t)a + 3 * PAGE,
	    (uintptr_t)c, (uintptr_t)c + 3 * PAGE);
	expect_unmap(a, 3 * PAGE);
	expect_map(c + 3 * PAGE, 2 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	tell_maps();

	mark("mremap leaves its source");
	a = mremap(c, 5 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	if (a == MAP_FAILED)
		die("mremap leaves");
	say("expect REMAP - %lx %lx %lx %lx", (uintptr_t)c, (uintptr_t)c + 5 * PAGE,
	    (uintptr_t)a, (uintptr_t)a + 5 * PAGE);
	expect_map(c, 5 * PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	tell_maps();
}

static void expect_cow(const volatile void *at, uint64_t old, uint64_t new)
{
	say("expect COW_BREAK - %lx %" PRIx64 " %" PRIx64,
	    (uintptr_t)at & ~(PAGE - 1), old, new);
}

static void files(void)
{
	volatile char *private, *shared, *again;
	struct stat st;
	uint64_t cached;
	int fd = open(DATA, O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC, 0644);

	mark("page cache");
	if (fd < 0)
		die(DATA);
	for (int i = 0; i < 6; i++) {
		char page[PAGE];

		memset(page, 'a' + i, sizeof(page));
		if (write(fd, page, sizeof(page)) != sizeof(page))
			die("write");
	}
	if (fstat(fd, &st))
		die("stat");
	shared = map(NULL, 4 * PAGE, RW, MAP_SHARED, fd, (off_t)PAGE);
	(void)shared[PAGE];
	cached = frame(shared + PAGE);
	say("expect CACHE_ADD %x %lx 2 %" PRIx64 " 1",
	    major(st.st_dev) << 20 | minor(st.st_dev), (unsigned long)st.st_ino,
	    cached);

	mark("file");
	shared = map(NULL, 4 * PAGE, RW, MAP_SHARED, fd, (off_t)PAGE);
	expect_map((void *)shared, 4 * PAGE, 3, KTR_MAP_FILE_SHARED, &st, 1, "data");
	private = map(NULL, 3 * PAGE, RW, MAP_PRIVATE, fd, (off_t)(2 * PAGE));
	expect_map((void *)private, 3 * PAGE, 3, KTR_MAP_FILE_PRIVATE, &st, 2, "data");
	(void)shared[PAGE];
	tell_maps();

	mark("copy of a file's page, first access a write");
	private[0] = 'z';
	expect_cow(private, cached, frame(private));
	if (frame(private) == cached)
		die("not copied");

	mark("copy of a file's page, read before");
	again = map(NULL, PAGE, RW, MAP_PRIVATE, fd, (off_t)(2 * PAGE));
	(void)again[0];
	if (frame(again) != cached)
		die("not shared");
	again[0] = 'y';
	expect_cow(again, cached, frame(again));

	mark("cache remove");
	if (ftruncate(fd, PAGE))
		die("truncate");
	say("expect CACHE_REMOVE %x %lx 2 %" PRIx64 " 1",
	    major(st.st_dev) << 20 | minor(st.st_dev), (unsigned long)st.st_ino,
	    cached);
	close(fd);
	tell_maps();
}

static void segments(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600);
	char *at;

	mark("shmat");
	if (id < 0)
		die("shmget");
	at = shmat(id, NULL, 0);
	if (at == (void *)-1)
		die("shmat");
	expect_map(at, 3 * PAGE, 3, KTR_MAP_SHM, NULL, 0, "SYSV00000000");
	say("expect SHM_ATTACH - %lx %lx %x", (uintptr_t)at,
	    (uintptr_t)at + 3 * PAGE, (unsigned int)id);
	at[PAGE] = 1;
	say("expect CACHE_ADD - %llx 1 %" PRIx64 " 1", 1ULL << 63 | (unsigned int)id,
	    frame(at + PAGE));
	tell_maps();
	mark("shmdt");
	if (shmdt(at))
		die("shmdt");
	say("expect SHM_DETACH - %lx", (uintptr_t)at);
	expect_unmap(at, 3 * PAGE);
	shmctl(id, IPC_RMID, NULL);
	tell_maps();
}

/* Frames before and after, on both sides of a fork. */
static void forks(void)
{
	volatile char *page = map(NULL, 2 * PAGE, RW, PRIVATE, -1, 0);
	char *wiped = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	char *kept = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	uint64_t before, zero;
	pid_t child;
	int status;

	mark("first write after a read");
	(void)page[PAGE];
	zero = frame(page + PAGE);
	page[PAGE] = 1;
	expect_cow(page + PAGE, zero, frame(page + PAGE));

	if (madvise(wiped, PAGE, MADV_WIPEONFORK) || madvise(kept, PAGE, MADV_DONTFORK))
		die("madvise");
	*wiped = 1;
	page[0] = 1;
	before = frame(page);
	mark("fork");
	child = fork();
	if (!child) {
		say("expect SPACE_DUPLICATE - -");
		say("expect TASK_CREATE %x %x - - \"guest\"", getpid(), getpid());
		say("expect SCHEDULE - - %x %x - \"guest\"", getpid(), getpid());
		say("expect UNMAP - %lx %lx", (uintptr_t)kept, (uintptr_t)kept + PAGE);
		expect_map(wiped, PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
		tell_maps();
		mark("child writes");
		if (frame(page) != before)
			die("not shared with the parent");
		page[0] = 2;
		expect_cow(page, before, frame(page));
		if (frame(page) == before)
			die("not copied");
		_exit(3);
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != 3)
		die("fork");
	say("expect EXIT %x %x 300 1", child, child);
	say("expect SPACE_END -");
	mark("the last sharer writes");
	page[0] = 3;
	if (frame(page) != before)
		die("copied though alone");
	expect_cow(page, before, before);
	tell_maps();
}

static int thread(void *unused)
{
	(void)unused;
	syscall(SYS_exit, 5);
	return 0;
}

static void threads(void)
{
	char *stack = map(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);
	int tid = 0;
	char path[64];
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_PARENT_SETTID;

	mark("thread");
	if (clone(thread, stack + 16 * PAGE, flags, NULL, &tid, NULL, NULL) < 0)
		die("clone");
	/* It is a task of this process for as long as it has not exited. */
	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (!access(path, F_OK))
		sched_yield();
	say("expect TASK_CREATE %x %x - %x - - - - \"guest\"", tid, getpid(),
	    (unsigned int)flags);
	say("expect EXIT %x %x 500 0", tid, getpid());
	tell_maps();
}

static void deep(int depth)
{
	volatile char page[PAGE];

	page[0] = (char)depth;
	if (depth)
		deep(depth - 1);
	page[PAGE - 1] = page[0];
}

static void stack(void)
{
	mark("stack grows");
	deep(200);
	say("expect MAP - - - 3 %x - - - \"[stack]\"", KTR_MAP_STACK);
	tell_maps();
}

static void control(void)
{
	static const char *const command[] = { "start", "stop", "flush", "end", "fail" };
	int fd = open("/dev/laplace", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/laplace");
	mark("control");
	for (unsigned int i = 0; i < 5; i++) {
		if (write(fd, command[i], strlen(command[i])) != (ssize_t)strlen(command[i]))
			die(command[i]);
		say("expect CONTROL %x", i + 1);
	}
	if (write(fd, "mark of a test\n", 15) != 15)
		die("mark");
	say("expect MARK - - - - - - - - \"of a test\"");
	if (write(fd, "nonsense", 8) != -1 || errno != EINVAL)
		die("nonsense accepted");
	if (write(fd, "mark ", 5) != -1 || errno != EINVAL)
		die("an empty mark accepted");
	close(fd);
}

/* What 32-bit programs call: other numbers, arguments in other registers. */
static long call32(long number, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t s)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(b), "c"(c), "d"(d), "S"(s)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static void calls32(void)
{
	char *a = map(NULL, 8 * PAGE, RW, PRIVATE | MAP_32BIT, -1, 0);
	uintptr_t old = (uintptr_t)call32(45, 0, 0, 0, 0);

	mark("32-bit mremap");
	munmap(a + 2 * PAGE, 6 * PAGE);
	if (call32(163, (uintptr_t)a, 2 * PAGE, 3 * PAGE, 0) != (long)(uintptr_t)a)
		die("32-bit mremap");
	expect_map(a + 2 * PAGE, PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
	mark("32-bit brk");
	old = (old + PAGE - 1) & ~(PAGE - 1);
	if (call32(45, old + PAGE, 0, 0, 0) != (long)(old + PAGE))
		die("32-bit brk");
	expect_map((void *)old, PAGE, 3, KTR_MAP_HEAP, NULL, 0, "[heap]");
	say("expect BRK - %lx %lx", old, old + PAGE);
	tell_maps();
}

/* A range that one entry of a page table can map, within the area. */
static volatile char *huge_in(char *area)
{
	const size_t size = 2UL << 20;
	char *page = (char *)(((uintptr_t)area + size - 1) & ~(size - 1));

	if (madvise(page, size, MADV_HUGEPAGE))
		die("madvise");
	return page;
}

static void huge(void)
{
	size_t size = 4UL << 20;
	char *zero = map(NULL, size, RW, PRIVATE, -1, 0);
	char *written = map(NULL, size, RW, PRIVATE, -1, 0);
	volatile char *page = huge_in(zero);
	uint64_t before;
	int status;
	pid_t child;

	mark("huge, read and written");
	(void)page[5 * PAGE];
	page[5 * PAGE] = 1;
	/* Which page of zeros is replaced is the kernel's affair. */
	say("expect COW_BREAK - %lx - %" PRIx64, (uintptr_t)page + 5 * PAGE,
	    frame(page + 5 * PAGE));

	mark("huge, forked");
	page = huge_in(written);
	page[9 * PAGE] = 1;
	before = frame(page + 9 * PAGE);
	if (frame(page + 10 * PAGE) != before + 1)
		die("not huge");
	child = fork();
	if (!child) {
		page[9 * PAGE] = 2;
		expect_cow(page + 9 * PAGE, before, frame(page + 9 * PAGE));
		_exit(frame(page + 9 * PAGE) == before);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("huge");
	mark("huge, the last sharer writes");
	page[9 * PAGE] = 3;
	expect_cow(page + 9 * PAGE, before, frame(page + 9 * PAGE));
	munmap(zero, size);
	munmap(written, size);
	tell_maps();
}

static int executor(void *unused)
{
	(void)unused;
	execl("/guest", "/guest", (char *)NULL);
	die("exec by a thread");
	return 1;
}

/* A thread that executes another program becomes its process. */
static void thread_executes(void)
{
	char *stack = map(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);
	int tid = 0;
	int status;
	pid_t child;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_PARENT_SETTID;

	mark("a thread executes");
	child = fork();
	if (!child) {
		if (clone(executor, stack + 16 * PAGE, flags, NULL, &tid, NULL, NULL) < 0)
			die("clone");
		for (;;)
			pause();
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("exec by a thread");
	say("expect SCHEDULE - 80 %x %x", child, child);
	say("expect EXEC %x %x", child, child);
}

/* The child shares our space until it executes. */
static void run(const char *name, const char *argument)
{
	char *argv[] = { (char *)name, (char *)argument, NULL };
	char *environment[] = { NULL };
	int status;
	pid_t child;

	errno = posix_spawn(&child, name, NULL, NULL, argv, environment);
	if (errno)
		die(name);
	if (waitpid(child, &status, 0) != child || status)
		die(name);
}

/* The parent's side is in init: an image's mappings are told before main. */
static int workload(void)
{
	struct stat st;

	if (stat("/guest", &st))
		die("/guest");
	say("expect SPACE_ASSIGN %x %x -", getpid(), getpid());
	say("expect EXEC %x %x - %x %lx - - - \"/guest\"", getpid(), getpid(),
	    major(st.st_dev) << 20 | minor(st.st_dev), (unsigned long)st.st_ino);
	say("expect MAP - - - 5 1 %x %lx - \"guest\"",
	    major(st.st_dev) << 20 | minor(st.st_dev), (unsigned long)st.st_ino);
	say("expect MAP - - - 5 6 - - - \"[vdso]\"");
	tell_maps();
	anonymous();
	heap();
	remap();
	files();
	segments();
	forks();
	threads();
	thread_executes();
	huge();
	calls32();
	stack();
	control();
	mark("script");
	run("/script", NULL);
	if (stat("/interpreter", &st))
		die("/interpreter");
	say("expect EXEC - - - %x %lx - - - \"/interpreter\"",
	    major(st.st_dev) << 20 | minor(st.st_dev), (unsigned long)st.st_ino);
	return 0;
}

/* The kernel's log, to the console, so that the host sees it. */
static void dump(void)
{
	static char line[8192];
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		die("kmsg");
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

static void load(void)
{
	int fd = open("/laplace.ko", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "log=1000000", 0))
		die("the module does not load");
	close(fd);
}

static void set(const char *file, const char *value)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		die(file);
	close(fd);
}

static void init(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sys", "/sys", "sysfs", 0, NULL) ||
	    mount("dev", "/dev", "devtmpfs", 0, NULL))
		puts("check: died: cannot mount");
	kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	/* Small machines have no huge pages unless they are told to. */
	set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	set("/sys/kernel/mm/transparent_hugepage/use_zero_page", "1");
	mark("load");
	load();
	say("expect TASK_CREATE 1 1 - - \"init\"");
	/* What was there before the module is told by it as it loads. */
	tell_maps();
	mark("exec");
	say("strict");
	run("/guest", "workload");
	mark("other program");
	run("/laplace-ctl", "start");
	say("expect CONTROL 1");
	run("/laplace-ctl", "status");
	mark("unload");
	if (syscall(SYS_delete_module, "laplace", O_NONBLOCK))
		die("the module does not unload");
	say("unloaded");
	if (!access("/dev/laplace", F_OK))
		die("the device outlives the module");
	load();
	if (syscall(SYS_delete_module, "laplace", O_NONBLOCK))
		die("the module does not unload again");
	say("done");
}

int main(int argc, char *argv[])
{
	if (getpid() != 1) {
		kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
		return argc == 2 && !strcmp(argv[1], "workload") ? workload() : 0;
	}
	/* In a child, so that a failure still gets the log out. */
	pid_t child = fork();

	if (!child) {
		init();
		_exit(0);
	}
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		puts("check: died");
	dump();
	/* What the serial line has not sent yet would be lost. */
	tcdrain(STDOUT_FILENO);
	reboot(RB_POWER_OFF);
	return 0;
}
