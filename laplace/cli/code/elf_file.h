/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An ELF file as such: its headers, and any part of it, if that is there. */
#ifndef LAPLACE_CLI_CODE_ELF_FILE_H
#define LAPLACE_CLI_CODE_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct elf_section {
	uint32_t name, type, link;
	uint64_t flags, address, offset, size, entry;
};

struct elf_file {
	int fd;
	uint64_t size;
	bool is_64;
	uint64_t segments_at, sections_at;
	uint32_t segments, sections, names;	/* how many; which section has their names */
	struct elf_section *section;	/* `sections` of them */
	const char *why;		/* it could not be read, or NULL */
};

extern const char elf_no_memory[];	/* a `why` */

/*
 * An executable or a shared object, of 32 or 64 bits, little-endian.  false: `why` says what it is,
 * or has, instead.  The file's descriptor is the caller's.  Close it in any case.
 */
bool elf_file_open(struct elf_file *file, int fd);
void elf_file_close(struct elf_file *file);

/* So many bytes at a place, and a 0 after them, to be freed; NULL, and `why`: it has not so many. */
void *elf_file_part(struct elf_file *file, uint64_t at, uint64_t size);

#endif
