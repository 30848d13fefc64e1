/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SHA-256 of files that somebody else's trace names. */
#ifndef LAPLACE_CLI_SHA256_H
#define LAPLACE_CLI_SHA256_H

#define SHA256_SIZE 65		/* hexadecimal, with its null byte */

/*
 * The hash of as many bytes as the file has when it is opened, by sha256sum(1).  It has to be a
 * regular file, of a file system that keeps it: what the kernel makes up while one reads has no
 * end, or is not there a second time.
 * Returns NULL, or what is wrong with it.
 */
const char *sha256_regular(char hash[SHA256_SIZE], const char *path);

#endif
