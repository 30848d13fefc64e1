/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* System calls, those chosen and those not; and what else steers the module. */
#include "guest.h"

#include <sys/syscall.h>

static void refused(const char *text)
{
	int fd = call(open("/dev/laplace", O_WRONLY | O_CLOEXEC), "/dev/laplace");

	errno = 0;
	if (write(fd, text, strlen(text)) != -1 || errno != EINVAL)
		die(text);
	close(fd);
}

static void chosen(void)
{
	void *page;

	mark("system calls");
	command("syscalls getppid,9 close");
	syscall(SYS_getppid);
	syscall(SYS_getuid);
	syscall(SYS_close, -1);
	page = map(NULL, PAGE, PROT_READ, PRIVATE, -1, 0);
	command("syscalls none");
	syscall(SYS_getppid, 4711);
	say("expect SYSCALL_ENTER %x 0 - - - - - - - \"getppid\"", SYS_getppid);
	say("expect SYSCALL_EXIT %x 0 %x 0 0 0 0 0 0 \"getppid\"", SYS_getppid, getppid());
	say("expect SYSCALL_EXIT %x 0 %lx 0 0 0 0 0 0 \"close\"", SYS_close, -(long)EBADF);
	say("expect SYSCALL_ENTER %x 0 0 1000 1 %x - 0 0 \"mmap\"", SYS_mmap,
	    (unsigned int)PRIVATE);
	say("expect SYSCALL_EXIT %x 0 %lx", SYS_mmap, (uintptr_t)page);
	say("refuse SYSCALL_ENTER %x 0 - - - - - - - \"getuid\"", SYS_getuid);
	say("refuse SYSCALL_ENTER %x 0 1267", SYS_getppid);

	mark("32-bit system calls");
	command("syscalls getppid");
	call32(64, 0x1234, 0x5678, 0, 0);	/* getppid, there */
	call32(24, 0, 0, 0, 0);			/* getuid */
	command("syscalls none");
	say("expect SYSCALL_ENTER 40 1 1234 5678 0 0 - - - \"getppid\"");
	say("expect SYSCALL_EXIT 40 1 %x", getppid());
	say("refuse SYSCALL_ENTER 18 1");

	mark("all system calls");
	command("syscalls all");
	syscall(SYS_getuid);
	command("syscalls none");
	say("expect SYSCALL_EXIT %x 0 0 - - - - - - \"getuid\"", SYS_getuid);

	refused("syscalls ");
	refused("syscalls nonsense");
	refused("syscalls 100000");
	refused("syscalls getppid,");
	munmap(page, PAGE);
}

static void control(void)
{
	static const char *const word[] = { "start", "stop", "flush", "end", "fail" };
	static char long_mark[5 + 258] = "mark ";

	mark("control");
	for (unsigned int i = 0; i < 5; i++) {
		command(word[i]);
		say("expect CONTROL %x", i + 1);
	}
	command("mark of a test\n");
	say("expect MARK - - - - - - - - - \"of a test\"");
	refused("nonsense");
	refused("startle");
	refused("mark ");
	memset(long_mark + 5, 'x', 257);
	refused(long_mark);
	long_mark[5 + 256] = '\0';
	command(long_mark);
}

void calls(void)
{
	chosen();
	control();
}
