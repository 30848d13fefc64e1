/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where other programs are.
 */
#ifndef LAPLACE_CLI_FIND_H
#define LAPLACE_CLI_FIND_H

#include <limits.h>
#include <stdbool.h>

/*
 * The path of `name` in $PATH, to be freed; NULL when it is not there.
 */
char *find_in_path(const char *name);

/*
 * A script that comes with laplace: in $LAPLACE_DATADIR, or where it is installed, or in the
 * source.  To be freed; NULL when it is not there.
 */
char *find_shared(const char *name);

/* This program; false: see errno. */
bool find_self(char path[PATH_MAX]);

/* A file of the Python modules (python/laplace), likewise. */
char *find_modules(const char *name);

/*
 * Become that script, which finds us by $LAPLACE; returns only if that cannot be done: `failed`, and
 * why was reported.
 */
int cli_become(const char *name, char **argv, int failed);

/*
 * The laplace-bochs to run: `given` (may be NULL), $LAPLACE_BOCHS, beside this
 * program or in ../libexec/laplace, in $PATH.  Complains when there is none.
 * Returns an exit status; *path is to be freed.
 */
int find_bochs(char **path, const char *given);

/* The same without a complaint, as none was named: to be freed; NULL: there is none. */
char *find_bochs_quietly(void);

#endif
