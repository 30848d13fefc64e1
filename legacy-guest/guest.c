/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program's start, and what guest.h promises; no C library is old enough. */
#include "guest.h"

__asm__(".globl _start\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	movl (%esp), %eax\n"
	"	leal 4(%esp), %ecx\n"
	"	andl $-16, %esp\n"
	"	subl $8, %esp\n"
	"	pushl %ecx\n"
	"	pushl %eax\n"
	"	call start\n");

void start(int argc, char **argv) __attribute__((noreturn, used));

void start(int argc, char **argv)
{
	int status = main(argc, argv);

	if (CALL0(getpid) == 1)
		end_machine(status == 0);
	CALL1(exit, status);
	for (;;)
		;
}

long call(enum call number, long a, long b, long c, long d, long e)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}

int failed(long result)
{
	return result < 0 && result > -4096;
}

long map(u32 address, u32 length, int protection, int flags, int fd, u32 offset)
{
	u32 arguments[6];

	arguments[0] = address;
	arguments[1] = length;
	arguments[2] = (u32)protection;
	arguments[3] = (u32)flags;
	arguments[4] = (u32)fd;
	arguments[5] = offset;
	return CALL1(mmap, arguments);
}

/* ---- System V: one call for all, which number first ---- */

enum { IPC_SHMAT = 21, IPC_SHMDT = 22, IPC_SHMGET = 23, IPC_SHMCTL = 24 };

long shm_get(int key, u32 bytes)
{
	return CALL4(ipc, IPC_SHMGET, key, bytes, 01000 | 0600);
}

long shm_attach(int id, u32 address, u32 *attached)
{
	return CALL5(ipc, IPC_SHMAT, id, 0, attached, address);
}

long shm_detach(u32 address)
{
	return CALL5(ipc, IPC_SHMDT, 0, 0, 0, address);
}

long shm_remove(int id)
{
	return CALL5(ipc, IPC_SHMCTL, id, IPC_RMID, 0, 0);
}

int wait_for(int pid)
{
	int status = 0;
	long result = CALL4(wait4, pid, &status, 0, 0);

	return result < 0 ? (int)result : status;
}

/* ---- words ---- */

u32 length_of(const char *text)
{
	u32 length = 0;

	while (text[length])
		length++;
	return length;
}

void say(const char *text)
{
	CALL3(write, 1, text, length_of(text));
}

static void say_number(u32 value, u32 base)
{
	char text[12];
	u32 at = sizeof(text) - 1;

	text[at] = '\0';
	do
		text[--at] = "0123456789abcdef"[value % base];
	while ((value /= base) != 0);
	say(text + at);
}

void say_hex(u32 value)
{
	say_number(value, 16);
}

void say_decimal(u32 value)
{
	say_number(value, 10);
}

long store(const char *path, const char *text)
{
	long fd = CALL3(open, path, O_WRONLY, 0), written;

	if (fd < 0)
		return fd;
	written = CALL3(write, fd, text, length_of(text));
	CALL1(close, fd);
	return written < 0 ? written : 0;
}

/* ---- ends ---- */

void fail(const char *what, long result)
{
	say(what);
	say(": error ");
	say_decimal((u32)-result);
	say("\n");
	if (CALL0(getpid) == 1)
		end_machine(0);
	CALL1(exit, 1);
	for (;;)
		;
}

long must(const char *what, long result)
{
	if (failed(result))
		fail(what, result);
	return result;
}

enum {
	TCSBRK = 0x5409,	/* with an argument: wait until all is sent */
	QEMU_EXIT_PORT = 0xf4,
	BOCHS_SHUTDOWN_PORT = 0x8900,
	REBOOT_MAGIC = 0xfee1dead,
	REBOOT_MAGIC_2 = 672274793,
	REBOOT_HALT = 0xcdef0123
};

static void out(u32 port, u8 value)
{
	__asm__ volatile("outb %0, %w1" : : "a"(value), "d"(port));
}

void end_machine(int ok)
{
	const char *c;

	say(ok ? "LAPLACE-END ok\n" : "LAPLACE-END fail\n");
	CALL3(ioctl, 1, TCSBRK, 1);
	store("/proc/laplace", ok ? "end" : "fail");	/* for a kernel that is traced */
	if (CALL1(iopl, 3) == 0) {
		for (c = "Shutdown"; *c; c++)
			out(BOCHS_SHUTDOWN_PORT, (u8)*c);
		out(QEMU_EXIT_PORT, ok ? 0 : 1);
	}
	CALL3(reboot, REBOOT_MAGIC, REBOOT_MAGIC_2, REBOOT_HALT);
	for (;;)
		;
}
