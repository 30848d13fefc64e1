/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function the code of a page is of: the kernel's by its symbols, a program's by the ELF
 * file that the page is a page of.  Functions are numbered as they are found.
 *
 * Memory: the symbols of the files that code was fetched from, some 100 bytes for each function,
 * and 16 for each page of code.
 */
#ifndef LAPLACE_CLI_CODE_FUNCTIONS_H
#define LAPLACE_CLI_CODE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/merge.h>
#include <laplace/trace.h>

struct functions_options {
	const char *files;		/* the guest's files; NULL: not here */
	const char *symbols; /* of its kernel; NULL: those that `laplace run' has listed */
	bool inlined;			/* so many functions as code was written in, not symbols alone */
	uint64_t kernel_text;		/* where the guest has its kernel's _text; 0: where they say */
};

enum code_mode { CODE_USER, CODE_KERNEL, CODE_NONE };
const char *code_mode_name(enum code_mode mode);	/* "user", "kernel", "" */

struct function {
	/* escaped by lpl_text_escape(); in [brackets] what is no file, or no symbol */
	const char *file, *name;
	enum code_mode mode;
	uint32_t number;
	uint64_t references, pages;	/* pages: different ones that it referenced */
};

enum {
	FUNCTION_UNKNOWN, /* before the first fetch, and after references were missing */
	FUNCTION_PROCESSOR, /* none: what an interrupt reads and pushes while a program runs */
	FUNCTION_FIRST /* of those that were found */
};
#define FUNCTION_NO_MEMORY UINT32_MAX

struct functions;
/* `path` and `meta` are those of the trace.  Complains; returns an exit status. */
int functions_open(struct functions **functions, const struct functions_options *options,
		   const char *path, const struct lpl_meta *meta);
void functions_close(struct functions *functions);	/* NULL is fine */

/* What a canonical page is.  false: no memory. */
bool functions_note_page(struct functions *functions, const struct lpl_merge_page *page);
/* Is a page that was noted the kernel's? */
bool functions_is_kernel(const struct functions *functions, uint64_t page);
/*
 * The function at an offset in a page that was noted, and from where to where in the page it is
 * the same one; or FUNCTION_NO_MEMORY.
 */
uint32_t functions_find(struct functions *functions, uint64_t page, uint32_t offset, bool user,
			uint32_t *first, uint32_t *last);

uint32_t functions_count(const struct functions *functions);
struct function *functions_at(const struct functions *functions, uint32_t i);

/* What was not found, on stderr. */
void functions_warn(const struct functions *functions);

#endif
