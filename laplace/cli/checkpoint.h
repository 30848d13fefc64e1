/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checkpoints of a recording, which stand beside its trace (docs/reliability.md). */
#ifndef LAPLACE_CLI_CHECKPOINT_H
#define LAPLACE_CLI_CHECKPOINT_H

#include <limits.h>

/*
 * `given` is a trace, its ".part", or a checkpoint of it: the trace's absolute path, and that of
 * the checkpoint, or else of the newest one that there is.  Returns an exit status; complains.
 */
int cli_find_checkpoint(const char *given, char trace[PATH_MAX], char checkpoint[PATH_MAX]);

#endif
