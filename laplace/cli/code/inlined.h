/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where functions are inlined, by the debug information (DWARF) of an ELF file.  The file may be a
 * guest's: whatever it holds, it is either read or refused, and no other file is opened.
 */
#ifndef LAPLACE_CLI_CODE_INLINED_H
#define LAPLACE_CLI_CODE_INLINED_H

#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

struct inlined_range {
	uint64_t first, end;		/* end: the first address after it */
	unsigned int depth;		/* in so many others, itself included: from 1 on */
	const char *name;		/* what a symbol of it would be called; it may hold any byte */
};

/* Starts as zeros; all is owned. */
struct inlined {
	struct inlined_range *range;	/* in no order */
	size_t ranges, room;
	void *names;			/* a tree of them */
};

/* What debug information that several files share (as by dwz) is in. */
struct inlined_beside {
	/* Open a file that another names, for reading; -1: it is not here. */
	int (*open)(void *context, const char *name);
	void *context;
};

/*
 * Read all of a file.  NULL, with no range if it has no debug information, or none that inlines
 * anything; or why it is refused, and what was read so far.  Memory, while it is read: what its debug
 * information has when it is not compressed, up to 4 GiB.
 */
const char *inlined_read(struct inlined *inlined, Elf *elf, const struct inlined_beside *beside);
void inlined_free(struct inlined *inlined);

#endif
