/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * midrun: a guest in which much exists already when tracing begins.  Processes
 * share memory in all the ways there are (actors.c), a family of truth (../truth)
 * rests in the middle of its life, and then the tracer's module is taken away and
 * loaded anew, which reports all that exists (midrun.c).  After that everything
 * that was made before is used.
 *
 *	midrun TRUTH ARGUMENT...	TRUTH stops itself (SIGSTOP) in mid-run
 *	midrun storm TRUTH		the module is loaded in the middle of a storm
 *					(storm.c); then TRUTH says which processes share what
 */
#ifndef MIDRUN_H
#define MIDRUN_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE 4096UL
#define RW (PROT_READ | PROT_WRITE)

static inline _Noreturn void die(const char *what)
{
	fprintf(stderr, "midrun: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static inline int call(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

/* Make what is to be there before; from then on they wait.  Their process. */
pid_t actors_begin(void);
/* Let them use all of it, and end. */
void actors_go_on(pid_t actors);

/* Processes that never rest, and that do at last. */
void storm_begins(void);
void storm_ends(void);

#endif
