/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XXH3 hashes of 128 bits, as text: what `xxh128sum' prints. */
#ifndef LAPLACE_CLI_HASH_H
#define LAPLACE_CLI_HASH_H

#define HASH_SIZE 33		/* hexadecimal, with its null byte */

/* Complains; returns an exit status. */
int hash_file(char hash[HASH_SIZE], const char *path);

#endif
