/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a recipe (recipe.h) asks for: a command of `laplace run', where it is run, and which files
 * were what.  The recipe may be anybody's: it is read and shown here, in time that is linear in its
 * length, and nothing in it is obeyed but options that a recipe may have.
 */
#ifndef LAPLACE_CLI_RERUN_H
#define LAPLACE_CLI_RERUN_H

#include <stdbool.h>
#include <stddef.h>

/* More than `laplace run' writes (MOST_RECIPE, and MOST_LISTED, in guest-program/recipe.sh). */
#define RERUN_BYTES_MAX 65536
#define RERUN_FILES_MAX 100	/* which are hashed */

struct rerun_words {
	char **word;		/* word[count] is NULL */
	size_t count;
};

struct rerun {
	const char *trace;		/* for messages */
	struct rerun_words options;	/* "run", and what stands before "--" */
	struct rerun_words arguments;	/* the program and its arguments */
	struct rerun_words files;	/* KEY, HASH, PATH: by threes */
	const char *version;		/* of laplace; these are NULL where they are not given */
	const char *directory, *kernel;
	const char *input_bytes, *input_hash;
};

/* `recipe` is changed, and has to stay: what is read points into it.  Complains; returns an exit status. */
int rerun_read(struct rerun *rerun, char *recipe, const char *trace);
void rerun_free(struct rerun *rerun);

/* The kernel is `kernel`, which the user named, if that is not NULL; or else the recipe's. */
int rerun_choose_kernel(struct rerun *rerun, const char *kernel);

void rerun_show(const struct rerun *rerun);

/*
 * Print what is not as it was; `bochs` may be NULL.  Returns how many such things there are.
 * *untrusted: the kernel is one that only the user can trust, and names.
 */
size_t rerun_check(const struct rerun *rerun, const char *bochs, bool *untrusted);

#endif
