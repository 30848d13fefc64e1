/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of start-program share. */
#ifndef START_PROGRAM_H
#define START_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

#include "output.h"

#define ROOT "/disk"
#define HERE "/.laplace/"	/* on the disk */

struct program {
	unsigned int seconds, linger;
	unsigned int swap;	/* megabytes */
	unsigned long seed;
	const char *events;	/* chosen, of those that are not reported always */
	unsigned int memory;	/* megabytes */
	uid_t user;
	gid_t group;
	mode_t mask;
	const char *init, *directory, *file;
	char **argument, **environment;
};

/* What is there while the program runs. */
struct run {
	const struct program *program;
	int tracer;
	pid_t init;		/* process 1 of the namespace; 0: it has ended */
	int hold;		/* closed: our init ends when it has no children */
	int mounts;		/* of the disk's own init; or -1 */
	pid_t child;		/* the program; 0: it has ended */
	int pipe[2];		/* what it prints, to stdout and stderr */
	int signals;
	uint64_t begun;		/* ms */
	enum log_how how;
	uint32_t status;
};

_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
void write_file(const char *path, const char *text);	/* if it is there */

/* start-place.c: where it runs */
struct output *begin_output(void);
void mount_all(void);
/* Until the kernel has found the disk and that for output, of which nothing is read. */
void await_drives(void);
void mount_proc(void);
void begin_swap(void);
void begin_loopback(void);
void leave_memory(unsigned int megabytes, struct output *output);
void unmount_all(void);

/* start-init.c: with the disk's own init */
void boot(struct run *run);
_Noreturn void serve(const char *reached);

/* Which of our children have ended; and take the signals that say so. */
void reap(struct run *run, int flags);

#endif
