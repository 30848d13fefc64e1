/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find a kernel symbol's address in a System.map or an ELF vmlinux. */
#ifndef LAPLACE_SYMBOL_H
#define LAPLACE_SYMBOL_H

#include <stdint.h>

/* false: *why says what is wrong with the file. */
bool laplace_symbol(const char *path, const char *name, uint64_t *address, char *why,
		    unsigned size);

#endif
