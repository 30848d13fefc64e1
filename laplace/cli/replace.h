/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an output may replace: nothing that was not meant, and never what is read.
 */
#ifndef LAPLACE_CLI_REPLACE_H
#define LAPLACE_CLI_REPLACE_H

#include <stdbool.h>

/* Does `path` exist (and may not be replaced)?  Complains.  Returns a status. */
int cli_refuse_existing(const char *path, bool overwrite);
/*
 * Is `input`, or a segment of the trace that it is, what is written as `output`, by whatever name,
 * or its ".part", or in a directory of that name?  To be asked of every input before anything is opened for
 * writing.  "-" is standard output, or input.  Complains.  Returns a status.
 */
int cli_refuse_input(const char *output, const char *input);

/* Are two outputs one, by whatever names, or would the ".part" of one be the other? */
bool cli_is_same_output(const char *one, const char *other);

#endif
