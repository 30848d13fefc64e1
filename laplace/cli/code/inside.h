/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of a guest's tree, which is a directory here; nothing outside it is opened. */
#ifndef LAPLACE_CLI_CODE_INSIDE_H
#define LAPLACE_CLI_CODE_INSIDE_H

/* The directory, for inside_open(); -1 and errno. */
int inside_root(const char *directory);

/*
 * Open a regular file by its path in the tree, for reading; -1 and errno.  The directory is the
 * root of all that the path and symbolic links say: neither `..' nor an absolute link leads out of
 * it.
 */
int inside_open(int root, const char *path);

#endif
