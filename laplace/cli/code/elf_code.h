/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of a program, a library or a kernel, by the symbols of its ELF file.  The file may
 * be a guest's: whatever it holds, it is either read or refused.
 */
#ifndef LAPLACE_CLI_CODE_ELF_CODE_H
#define LAPLACE_CLI_CODE_ELF_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_code;
struct inlined_beside;

/*
 * An executable or a shared object, of 32 or 64 bits, little-endian.  The file may be closed then.
 * NULL: `why` says what it is, or has, instead.
 */
struct elf_code *elf_code_read(int fd, const char **why);
void elf_code_free(struct elf_code *code);	/* NULL is fine */

/* Has it all of its symbols, or at most those that others link with? */
bool elf_code_is_whole(const struct elf_code *code);
/* Its build ID, in hexadecimal; "": it has none. */
const char *elf_code_build_id(const struct elf_code *code);
/*
 * Take the symbols of `debug`, which was split off it, as the build IDs say.  false: they do not
 * say so.
 */
bool elf_code_take_symbols(struct elf_code *code, struct elf_code *debug);

/*
 * Where other functions are inlined in its functions, code is of these from now on: by the debug
 * information of `fd`, its file, or the one that its symbols are of.  false, and as it was: there is none in that,
 * with `why` NULL, or it is refused.  To be done before it is moved.
 */
bool elf_code_inline(struct elf_code *code, int fd, const struct inlined_beside *beside,
		     const char **why);

/* All of it is at other addresses, which begin with this one. */
void elf_code_move(struct elf_code *code, uint64_t first);

/* The address that a byte of code has in memory, but for where the file is loaded.  false: none. */
bool elf_code_address(const struct elf_code *code, uint64_t offset, uint64_t *address);

/* Where an address lies: in a function, or, without a name, between two. */
struct code_place {
	const char *name;		/* the file's; it may hold any byte */
	const char *module; /* of a kernel's symbols: "[ext4]"; NULL: the kernel's own */
	uint64_t first, last;
};
struct code_place elf_code_find(const struct elf_code *code, uint64_t address);

#endif
