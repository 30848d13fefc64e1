/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program needs on a Linux of 2000 (2.2, 2.4; i386) instead of a C library:
 * system calls, a console, the machine's end.  guest.c has the rest; it calls main
 * with what the kernel put on the stack.
 *
 * A call returns what the kernel returns: -errno when it failed.
 */
#ifndef LEGACY_GUEST_H
#define LEGACY_GUEST_H

typedef unsigned char u8;
typedef unsigned int u32;

#define NULL ((void *)0)

enum call {
	CALL_exit = 1, CALL_fork = 2, CALL_read = 3, CALL_write = 4, CALL_open = 5,
	CALL_close = 6, CALL_unlink = 10, CALL_execve = 11, CALL_mknod = 14, CALL_lseek = 19,
	CALL_getpid = 20, CALL_mount = 21, CALL_setuid = 23, CALL_ptrace = 26, CALL_sync = 36, CALL_kill = 37,
	CALL_brk = 45, CALL_ioctl = 54, CALL_getppid = 64, CALL_sigaction = 67,
	CALL_swapon = 87, CALL_reboot = 88, CALL_mmap = 90, CALL_munmap = 91,
	CALL_ftruncate = 93, CALL_iopl = 110, CALL_wait4 = 114, CALL_swapoff = 115,
	CALL_ipc = 117, CALL_fsync = 118, CALL_sigreturn = 119, CALL_clone = 120, CALL_mprotect = 125,
	CALL_sched_yield = 158, CALL_nanosleep = 162, CALL_mremap = 163,
	CALL_rt_sigreturn = 173, CALL_rt_sigaction = 174
};

#define O_RDONLY	0
#define O_WRONLY	1
#define O_RDWR		2
#define O_CREAT		0100
#define O_TRUNC		01000

#define PROT_READ	1
#define PROT_WRITE	2
#define PROT_EXEC	4
#define MAP_SHARED	1
#define MAP_PRIVATE	2
#define MAP_FIXED	0x10
#define MAP_ANONYMOUS	0x20
#define MAP_GROWSDOWN	0x100

#define CLONE_VM	0x100
#define CLONE_FS	0x200
#define CLONE_FILES	0x400
#define CLONE_SIGHAND	0x800
#define SIGKILL		9
#define SIGUSR1		10
#define SIGCHLD		17
#define SIGCONT		18
#define SIGSTOP		19

#define IPC_PRIVATE	0
#define IPC_RMID	0

#define PAGE		4096

long call(enum call number, long a, long b, long c, long d, long e);

#define CALL0(name)		call(CALL_##name, 0, 0, 0, 0, 0)
#define CALL1(name, a)		call(CALL_##name, (long)(a), 0, 0, 0, 0)
#define CALL2(name, a, b)	call(CALL_##name, (long)(a), (long)(b), 0, 0, 0)
#define CALL3(name, a, b, c)	call(CALL_##name, (long)(a), (long)(b), (long)(c), 0, 0)
#define CALL4(name, a, b, c, d)	call(CALL_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define CALL5(name, a, b, c, d, e) \
	call(CALL_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

/* Whether what a call returned says that it failed. */
int failed(long result);

/* By the call that takes its arguments in memory: offset is in bytes. */
long map(u32 address, u32 length, int protection, int flags, int fd, u32 offset);
long shm_get(int key, u32 bytes);		/* a segment's id */
long shm_attach(int id, u32 address, u32 *attached);
long shm_detach(u32 address);
long shm_remove(int id);

/* The status of a child as wait4 gives it, or a negative error. */
int wait_for(int pid);

u32 length_of(const char *text);
void say(const char *text);			/* on descriptor 1 */
void say_hex(u32 value);
void say_decimal(u32 value);

/* Write text to a file that is there: 0, or a negative error. */
long store(const char *path, const char *text);

/* Say what failed and with which error, then end the machine as one that failed. */
void fail(const char *what, long result) __attribute__((noreturn));

/* Unless the call succeeded, fail.  Returns its result. */
long must(const char *what, long result);

/*
 * Say "LAPLACE-END ok" or "LAPLACE-END fail", let the console drain, end the
 * machine: by the ports that Bochs and QEMU watch, else by a halt.  Process 1 only.
 */
void end_machine(int ok) __attribute__((noreturn));

/* What a program has; in process 1 its return ends the machine, 0 is ok. */
int main(int argc, char **argv);

#endif
