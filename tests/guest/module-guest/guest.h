/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guest's side of module-smoke: init (init.c), and a workload that does each
 * thing the module has an event for.
 *
 * What happened is known here from the outside: results of system calls,
 * /proc/self/maps, /proc/self/pagemap, stat.  It is written to the kernel's log
 * between the module's events, as
 *
 *	check: mark NAME		what follows belongs to NAME
 *	check: expect EVENT FIELD...	since the mark there was such an event;
 *					EVENT/TID: and that task reported it
 *	check: refuse EVENT FIELD...	since the mark there was none
 *	check: maps PID START END	one line a mapping; then
 *	check: mapped PID		compare
 *	check: strict			from now on no range is mapped twice
 *	check: done			nothing is missing
 *
 * with fields as log= prints them, in hexadecimal, and - for any.
 */
#ifndef MODULE_GUEST_H
#define MODULE_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <laplace/kernel_trace_record.h>

#define PAGE 4096UL
#define HUGE (2UL << 20)
#define DATA "/data"
#define DISK "/dev/ram0"	/* a disk in memory, for swap */
#define OLD_DISK "/dev/ram1"	/* one that was read before the module was loaded */
#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

/* Lines in the kernel's log (guest.c). */
void open_log(void);
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
_Noreturn void die(const char *what);
void mark(const char *name);

/* Mappings as the kernel itself lists them. */
void list_maps(void);

/* The entry of /proc/self/pagemap, and the frame at an address, or 0. */
uint64_t pagemap(const volatile void *address);
uint64_t frame(const volatile void *address);

/* A device as events name it. */
uint64_t device(dev_t number);

void expect_map(const void *at, size_t length, unsigned int prot, unsigned int kind,
		const struct stat *st, uint64_t offset, const char *name);
void expect_unmap(const void *at, size_t length);
void expect_cow(const volatile void *at, uint64_t old, uint64_t new);
void expect_range(const char *event, const volatile void *at, size_t length);
void refuse_range(const char *event, const volatile void *at, size_t length);

/* What fails ends the test. */
void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset);
pid_t fork_or_die(void);
void join(pid_t child, const char *what);	/* it has to exit with 0 */
int call(int result, const char *what);
void set(const char *file, const char *value);
void command(const char *text);			/* to /dev/laplace */

/* A range that one entry of a page table can map, within the area. */
char *huge_in(char *area);

/* What 32-bit programs call: other numbers, arguments in other registers. */
long call32(long number, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t s);

/* The rooms. */
void memory(void);		/* memory.c: what is mapped */
void ranges(void);		/* ranges.c: what changes where something is mapped */
void files(void);		/* files.c: the page cache, its files, block devices */
void tasks(void);		/* tasks.c: forks, threads, states */
void huge(void);		/* huge.c: huge pages, hugetlbfs */
void swapping(void);		/* swap.c */
void calls(void);		/* calls.c: system calls, and what steers the module */

#endif
