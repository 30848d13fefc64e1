/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process or a task is called, wherever results are given by those. */
#ifndef LAPLACE_SELECT_RUNNER_H
#define LAPLACE_SELECT_RUNNER_H

#include <laplace/select.h>

#include "merge/tasks.h"

/*
 * The number and the name that are known now of a task, or of its `whole` process, which is called
 * as its leader is, or as another of its tasks until the leader has a name.
 */
void lpl_runner_describe(struct lpl_runner *runner, const struct tasks *tasks,
			 const struct lpl_merge_task *task, bool whole);

#endif
