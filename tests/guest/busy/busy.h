/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * busy: the parts of a load such as `make -j` is, and what programs do to memory
 * besides.  Every part sees for itself that its data are what they should be, and
 * ends with status 1 where they are not.
 *
 *	busy PART [ARGUMENT...]		main.c has the list
 *
 * What data should be follows from numbers by scramble(), which is in a shared
 * library of its own (library.c).
 */
#ifndef BUSY_H
#define BUSY_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE 4096UL

/* library.c */
uint64_t scramble(uint64_t number);
const char *name_of(unsigned int number);

/* What fails ends the process (main.c). */
_Noreturn void die(const char *what);
int call(int result, const char *what);
void require(bool condition, const char *what);
void *map(void *at, size_t size, int flags, int fd);
int make_file(const char *path, unsigned int pages, uint64_t seed);

/* A child that runs `body`, and its end, which has to be good. */
pid_t start(void (*body)(uint64_t argument), uint64_t argument);
void join(pid_t child);

/* The first word of each page is the page's, of the data that `seed` names. */
void fill(volatile unsigned char *at, unsigned int pages, uint64_t seed);
void verify(volatile unsigned char *at, unsigned int pages, uint64_t seed, const char *what);

/* The parts: compile.c, threads.c, pressure.c, shared.c, ranges.c, tasks.c. */
void compile(int argc, char *argv[]);
void expect(int argc, char *argv[]);
void load(int argc, char *argv[]);
void threads(int argc, char *argv[]);
void pressure(int argc, char *argv[]);
void shared(int argc, char *argv[]);
void ranges(int argc, char *argv[]);
void tasks(int argc, char *argv[]);

#endif
