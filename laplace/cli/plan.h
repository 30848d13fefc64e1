/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a recipe (recipe.h) asks for: a command of `laplace run', where it is run, and which files
 * were what.  The recipe may be anybody's: it is read and shown here, in time that is linear in its
 * length, and nothing in it is obeyed but options that a recipe may have.
 */
#ifndef LAPLACE_CLI_PLAN_H
#define LAPLACE_CLI_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* More than `laplace run' writes (MOST_RECIPE, and MOST_TOLD, in guest-program/recipe.sh). */
#define PLAN_BYTES_MAX 65536
#define PLAN_FILES_MAX 100	/* which are hashed */

struct plan_words {
	char **word;		/* word[count] is NULL */
	size_t count;
};

struct plan {
	const char *trace;		/* for messages */
	struct plan_words options;	/* "run", and what stands before "--" */
	struct plan_words arguments;	/* the program and its arguments */
	struct plan_words files;	/* KEY, HASH, PATH: by threes */
	const char *version;		/* of laplace; these are NULL where they are not given */
	const char *directory, *kernel;
	const char *input_bytes, *input_hash;
};

/* `recipe` is changed, and stays the plan's.  Complains; returns an exit status. */
int plan_read(struct plan *plan, char *recipe, const char *trace);
void plan_free(struct plan *plan);

/* The kernel is `kernel`, which the user named, if that is not NULL; or else the recipe's. */
int plan_choose_kernel(struct plan *plan, const char *kernel);

void plan_show(const struct plan *plan);

/*
 * Print what is not as it was; `bochs` may be NULL.  Returns how many such things there are.
 * *untrusted: the kernel is one that only the user can trust, and names.
 */
size_t plan_check(const struct plan *plan, const char *bochs, bool *untrusted);

#endif
