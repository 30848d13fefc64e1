/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text files that appear when they are whole (base/output.h), and stdout.
 */
#ifndef LAPLACE_CLI_TEXT_OUTPUT_H
#define LAPLACE_CLI_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/output.h"

struct cli_output {
	FILE *file;
	struct lpl_output output;	/* unused where `file` is stdout, or as yet: */
	const char *held;		/* the path of what is in memory until it is whole; or NULL */
	bool overwrite;
};

/* "-" is stdout.  Returns an exit status; on failure nothing is to be undone. */
int cli_output_open(struct cli_output *output, const char *path, bool overwrite);
/*
 * The same for what is not large, as a picture: a file is made when it is closed, so that nothing is left
 * if the command is killed before.  What would be refused then is refused now.
 */
int cli_output_hold(struct cli_output *output, const char *path, bool overwrite);
/* Could it be opened?  Complains if not, and leaves nothing.  Of a pipe or a device it is not known. */
int cli_output_try(const char *path, bool overwrite);
/*
 * The file gets its name; or, when `status` is a failure, nothing of it is left.  Complains.
 * Returns the status.
 */
int cli_output_close(struct cli_output *output, int status);
/* Does the name end in ".svg", say, which is not all of it? */
bool cli_output_ends_with(const char *path, const char *end);

#endif
