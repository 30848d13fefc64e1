/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exerciser: process 1 of a guest of Linux 2.2 that does, between marks, each thing that the
 * kernel reports; exerciser.expect is what it has to report.  Addresses are fixed, and no
 * global is written, so that nothing else happens in the program's memory.
 *
 * Executed as "init child" it is what the children execute: it exits at once.
 */
#include "guest.h"
#include "memory.h"

enum {
	AREA = 0x50000000, REMAPPED = 0x51000000, SHARED = 0x52000000, PRIVATE = 0x53000000,
	SEGMENT = 0x54000000, THREAD_STACK = 0x55000000, ZERO = 0x56000000,
	SCREEN = 0x57000000, READ_ONLY = 0x58000000, HALF_FRAME = 0x59000000,
	HEAP = 0x08100000
};

enum { CLONE_VFORK = 0x4000, MREMAP_MAYMOVE = 1, WUNTRACED = 2, WALL = 0x40000000 };
enum { PTRACE_TRACEME = 0, PTRACE_SYSCALL = 24, SIGSEGV = 11, ENODEV = 19 };

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD)
#define RW (PROT_READ | PROT_WRITE)
#define OWN (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)

static void mark(const char *text)
{
	char line[64] = "mark ";
	u32 i = 5;

	while (*text)
		line[i++] = *text++;
	line[i] = '\0';
	must("mark", store("/proc/laplace", line));
}

static volatile u32 *at(u32 address)
{
	return (volatile u32 *)address;
}

static void read_at(u32 address)
{
	(void)*at(address);
}

static void write_at(u32 address)
{
	*at(address) = 1;
}

static void map_at(u32 address, u32 pages, int flags, int fd)
{
	must("mmap", map(address, pages * PAGE, RW, flags, fd, 0));
}

/* A child on a stack of its own, where it returns into `run`. */
static long spawn(u32 flags, void (*run)(void))
{
	u32 *stack = (u32 *)(THREAD_STACK + PAGE) - 4;
	long result;

	*stack = (u32)run;
	__asm__ volatile("int $0x80\n"
			 "	testl %%eax, %%eax\n"
			 "	jnz 1f\n"
			 "	ret\n"
			 "1:"
			 : "=a"(result)
			 : "0"(CALL_clone), "b"(flags), "c"(stack)
			 : "memory");
	return result;
}

static void execute_path(const char *path)
{
	static char *const arguments[] = { "init", "child", NULL };
	static char *const environment[] = { NULL };

	CALL3(execve, path, arguments, environment);
	CALL1(exit, 1);
}

static void execute(void)
{
	execute_path("/init");
}

static void thread(void)
{
	write_at(AREA + PAGE);
	CALL1(exit, 2);
}

static void wait_well(long pid, int code)
{
	int status = 0;

	must("clone", pid);
	must("wait4", CALL4(wait4, pid, &status, WALL, 0));
	if (status != code << 8)
		fail("a child ended otherwise", -status);
}

/* ---- what is reported ---- */

static void anonymous(void)
{
	mark("anonymous");
	map_at(AREA, 4, OWN, -1);
	read_at(AREA);
	write_at(AREA);
	write_at(AREA + PAGE);
	mark("unmap");
	must("munmap", CALL2(munmap, AREA + 2 * PAGE, PAGE));
	mark("map over");
	map_at(AREA + PAGE, 1, OWN, -1);
	mark("mprotect");
	must("mprotect", CALL3(mprotect, AREA, PAGE, PROT_READ));
	must("mprotect", CALL3(mprotect, AREA, PAGE, RW));
	write_at(AREA);
}

static void heap(void)
{
	must("brk", CALL1(brk, HEAP));
	mark("brk grows");
	CALL1(brk, HEAP + 2 * PAGE + 10);
	write_at(HEAP);
	mark("brk within a page");
	CALL1(brk, HEAP + 2 * PAGE + 20);
	mark("brk shrinks");
	CALL1(brk, HEAP + 1);
}

static void remap(void)
{
	map_at(REMAPPED, 2, OWN, -1);
	mark("mremap in place");
	must("mremap", CALL4(mremap, REMAPPED, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE));
	map_at(REMAPPED + 4 * PAGE, 1, OWN, -1);
	mark("mremap moves");
	must("mremap", CALL4(mremap, REMAPPED, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE));
	mark("mremap shrinks");
	must("mremap", CALL4(mremap, REMAPPED + 5 * PAGE, 6 * PAGE, PAGE, MREMAP_MAYMOVE));
}

/* The program's stack begins in the last page below 0xc0000000. */
static void stack(void)
{
	mark("stack");
	__asm__ volatile("movl %%esp, %%ecx\n"
			 "	andl $-4096, %%ecx\n"
			 "	xchgl %%esp, %%ecx\n"
			 "	subl $8192, %%esp\n"
			 "	pushl %%eax\n"
			 "	movl %%ecx, %%esp\n"
			 : : : "ecx", "memory");
}

static void file(void)
{
	char page[64];
	long fd = must("open", CALL3(open, "/tmp/data", O_RDWR | O_CREAT, 0600));
	long reader = must("open", CALL3(open, "/tmp/data", O_RDONLY, 0));
	u32 i;

	for (i = 0; i < sizeof(page); i++)
		page[i] = (char)i;
	for (i = 0; i < 2 * PAGE; i += sizeof(page))
		must("write", CALL3(write, fd, page, sizeof(page)));
	mark("map a file");
	map_at(SHARED, 2, MAP_SHARED | MAP_FIXED, (int)fd);
	map_at(PRIVATE, 2, MAP_PRIVATE | MAP_FIXED, (int)fd);
	/* shared and never to be written: to this kernel a private one, but for its name */
	must("mmap", map(READ_ONLY, 2 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, (int)reader, 0));
	mark("page cache");
	read_at(SHARED);
	read_at(PRIVATE);
	read_at(READ_ONLY + PAGE);
	write_at(SHARED + PAGE);
	mark("private copies");
	write_at(PRIVATE);
	write_at(PRIVATE + PAGE);
	mark("truncate");
	must("ftruncate", CALL2(ftruncate, fd, PAGE));
	mark("truncate all");
	must("ftruncate", CALL2(ftruncate, fd, 0));
	mark("unmap the file");
	must("munmap", CALL2(munmap, SHARED, 2 * PAGE));
	must("munmap", CALL2(munmap, PRIVATE, 2 * PAGE));
	must("munmap", CALL2(munmap, READ_ONLY, 2 * PAGE));
	CALL1(close, reader);
	CALL1(close, fd);
	mark("delete");
	must("unlink", CALL1(unlink, "/tmp/data"));
}

/* A mapping of /dev/zero is of no file; the screen's memory is a device's. */
static void devices(void)
{
	long fd = must("open", CALL3(open, "/dev/zero", O_RDWR, 0));

	mark("zero device");
	map_at(ZERO, 1, MAP_PRIVATE | MAP_FIXED, (int)fd);
	write_at(ZERO);
	CALL1(close, fd);
	must("mknod", CALL3(mknod, "/dev/mem", 020600, 0x101));
	fd = must("open", CALL3(open, "/dev/mem", O_RDONLY, 0));
	mark("device");
	must("mmap", map(SCREEN, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, (int)fd, 0xb8000));
	read_at(SCREEN);
	CALL1(close, fd);
}

static void segment(void)
{
	int id = (int)must("shmget", shm_get(IPC_PRIVATE, 2 * PAGE));
	u32 where;

	mark("shmat");
	must("shmat", shm_attach(id, SEGMENT, &where));
	mark("segment's page");
	write_at(SEGMENT + PAGE);
	mark("shmdt");
	must("shmdt", shm_detach(SEGMENT));
	mark("segment's end");
	must("shmctl", shm_remove(id));
}

static void processes(void)
{
	long pid;

	mark("fork");
	pid = CALL0(fork);
	if (pid == 0) {
		write_at(AREA);
		CALL1(exit, 3);
	}
	wait_well(pid, 3);
	mark("last sharer");
	write_at(AREA);

	map_at(THREAD_STACK, 1, OWN, -1);
	write_at(THREAD_STACK);
	mark("thread");
	wait_well(spawn(THREAD, thread), 2);

	mark("exec");
	pid = CALL0(fork);
	if (pid == 0)
		execute();
	wait_well(pid, 0);
	write_at(AREA);
	write_at(AREA + PAGE);
	write_at(THREAD_STACK);
	pid = must("open", CALL3(open, "/tmp/script", O_WRONLY | O_CREAT, 0700));
	must("write", CALL3(write, pid, "#!/init child\n", 14));
	CALL1(close, pid);
	mark("script");
	pid = CALL0(fork);
	if (pid == 0)
		execute_path("/tmp/script");
	wait_well(pid, 0);
	mark("vfork");
	wait_well(spawn(CLONE_VM | CLONE_VFORK | SIGCHLD, execute), 0);
	mark("thread executes");
	wait_well(spawn(THREAD, execute), 0);
}

static void sleep_a_little(void)
{
	u32 time[2];

	time[0] = 0;
	time[1] = 50000000;
	mark("schedule");
	CALL2(nanosleep, time, 0);
	mark("scheduled");
}

static void stops(void)
{
	int pid, status = 0;

	mark("stopped");
	pid = (int)must("fork", CALL0(fork));
	if (pid == 0) {
		CALL2(kill, CALL0(getpid), SIGSTOP);
		CALL1(exit, 4);
	}
	must("wait4", CALL4(wait4, pid, &status, WUNTRACED, 0));
	must("kill", CALL2(kill, pid, SIGCONT));
	wait_well(pid, 4);

	must("syscalls", store("/proc/laplace", "syscalls 64"));
	mark("traced");
	pid = (int)must("fork", CALL0(fork));
	if (pid == 0) {
		CALL4(ptrace, PTRACE_TRACEME, 0, 0, 0);
		CALL2(kill, CALL0(getpid), SIGSTOP);
		CALL0(getppid);
		CALL1(exit, 5);
	}
	while (CALL4(wait4, pid, &status, WALL, 0) == pid && (status & 0xff) == 0x7f)
		must("ptrace", CALL4(ptrace, PTRACE_SYSCALL, pid, 1, 0));
	if (status != 5 << 8)
		fail("the traced child ended otherwise", -status);
}

static void calls(void)
{
	must("syscalls", store("/proc/laplace", "syscalls 20,250"));
	mark("calls");
	CALL0(getpid);
	call((enum call)250, 1, 2, 3, 4, 5);
	mark("called");
	must("syscalls", store("/proc/laplace", "syscalls none"));
	CALL0(getpid);
	mark("no calls");
	if (!failed(store("/proc/laplace", "syscalls 20,")) || !failed(store("/proc/laplace", "x")))
		fail("what is no command was taken", 0);
}

/* The registers in a signal's frame, of which %eax is what the call returns. */
struct registers {
	volatile u32 word[22];
};

enum { FRAME_EAX = 11, CONTEXT_REGISTERS = 20, SA_SIGINFO = 4, KILL_RESULT = 77 };

static void handle(int signal, struct registers registers)
{
	volatile u32 *word = registers.word;

	(void)signal;
	word[FRAME_EAX] = KILL_RESULT;
}

static void handle_with_info(int signal, const void *info, char *context)
{
	(void)signal;
	(void)info;
	((struct registers *)(context + CONTEXT_REGISTERS))->word[FRAME_EAX] = KILL_RESULT + 1;
}

/* A handler's return puts back a frame that lies in two pages, of which the first is not there. */
static void return_by_half(enum call number, u32 missing)
{
	int pid = (int)must("fork", CALL0(fork)), status;

	if (pid == 0)
		__asm__ volatile("movl %1, %%esp\n"
				 "	int $0x80\n"
				 : : "a"(number), "r"(HALF_FRAME - missing) : "memory");
	status = wait_for(pid);
	if (status != SIGSEGV)
		fail("a bad frame was taken", -status);
}

static void signals(void)
{
	u32 old[4] = { 0 }, with_info[5] = { 0 };
	long pid;

	old[0] = (u32)handle;
	with_info[0] = (u32)handle_with_info;
	with_info[1] = SA_SIGINFO;
	map_at(HALF_FRAME, 1, OWN, -1);
	must("syscalls", store("/proc/laplace", "syscalls 119,173"));
	mark("signal");
	must("sigaction", CALL3(sigaction, SIGUSR1, old, 0));
	if (CALL2(kill, CALL0(getpid), SIGUSR1) != KILL_RESULT)
		fail("the handler did not run", 0);
	must("rt_sigaction", CALL4(rt_sigaction, SIGUSR1, with_info, 0, 8));
	if (CALL2(kill, CALL0(getpid), SIGUSR1) != KILL_RESULT + 1)
		fail("the handler did not run", 0);
	mark("bad frame");
	return_by_half(CALL_sigreturn, 16);
	return_by_half(CALL_rt_sigreturn, 176);
	must("syscalls", store("/proc/laplace", "syscalls 2"));
	mark("two returns");
	pid = CALL0(fork);
	if (pid == 0)
		CALL1(exit, 6);
	wait_well(pid, 6);
}

/* The pages of another space, shared without fork: nothing could show it. */
static void others_memory(void)
{
	long fd = must("open", CALL3(open, "/proc/self/mem", O_RDONLY, 0));

	if (map(SCREEN + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, (int)fd, AREA) != -ENODEV)
		fail("a process's memory was mapped", 0);
	CALL1(close, fd);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (CALL0(getpid) != 1 && argc > 1)
		return 0;
	must("mount", CALL5(mount, "proc", "/proc", "proc", 0, 0));
	anonymous();
	heap();
	remap();
	stack();
	file();
	devices();
	segment();
	processes();
	sleep_a_little();
	stops();
	calls();
	signals();
	must("syscalls", store("/proc/laplace", "syscalls none"));
	others_memory();
	mark("end");
	mark_memory();
	return 0;
}
