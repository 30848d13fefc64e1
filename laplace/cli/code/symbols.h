/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel's symbols: which one an address belongs to.  They are read from a System.map, or from
 * what the kernel's /proc/kallsyms says; both have lines `ADDRESS TYPE NAME`, and the latter
 * ` [MODULE]` besides.
 */
#ifndef LAPLACE_CLI_CODE_SYMBOLS_H
#define LAPLACE_CLI_CODE_SYMBOLS_H

#include <stdint.h>

#include <laplace/trace.h>

#include "elf_code.h"

struct symbols;

/* Complains; returns an exit status.  *symbols is NULL then. */
int symbols_read(struct symbols **symbols, const char *path);
/* The kernel has its _text elsewhere, and all up to _end with it; modules are where they are. */
int symbols_move(struct symbols *symbols, uint64_t text, const char *path);
void symbols_free(struct symbols *symbols);	/* NULL is fine */

/*
 * Those that `laplace run' has listed (guest-program/symbols.sh) of the kernel that it booted, for
 * a trace with this header.  NULL: it is not by `laplace run', or its guest's symbols are not on
 * this machine, which is said on stderr.
 */
struct symbols *guest_symbols(const char *path, const struct lpl_meta *meta);

/*
 * The symbol in which an address lies, and how far from its beginning.  A symbol ends where the
 * next begins, and the last of the kernel, or of a module, with its page.  NULL: it lies in none.
 */
const char *symbols_find(const struct symbols *symbols, uint64_t address, uint64_t *offset);
/* From where to where it reaches, or, without a name, what has none around the address. */
struct code_place symbols_place(const struct symbols *symbols, uint64_t address);

#endif
