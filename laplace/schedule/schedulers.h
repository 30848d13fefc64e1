/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedulers: which of the ready tasks runs.  Each is a file scheduler_NAME.c.
 */
#ifndef LAPLACE_SCHEDULE_SCHEDULERS_H
#define LAPLACE_SCHEDULE_SCHEDULERS_H

#include <stdbool.h>
#include <stdint.h>

struct machine;
struct processor;
struct task;

struct scheduler {
	/*
	 * Where a task stands among those that are ready: the least key first, of equal ones
	 * the least order.  `preempted`: it was taken off by one that became ready.
	 */
	int64_t (*key)(const struct task *task);
	uint64_t (*order)(struct machine *machine, const struct task *task, bool preempted);
	/* At the end of its quantum: does the task make room for one that is ready?  There is one. */
	bool (*yields)(const struct machine *machine, const struct task *task, uint64_t t);
	/* No processor is free: which one a task takes that has become ready; NULL: it has to wait. */
	struct processor *(*victim)(struct machine *machine, const struct task *task, uint64_t t);
	/* Optional.  A task becomes ready, made by `parent` if that is not NULL. */
	void (*becomes_ready)(struct machine *machine, struct task *task,
			      const struct task *parent, uint64_t t);
	/* Optional.  A task was given a processor. */
	void (*dispatched)(struct machine *machine, uint64_t t);
	bool keeps_quantum;		/* a preempted task has what is left of its quantum */
};

extern const struct scheduler lpl_scheduler_rr, lpl_scheduler_priority, lpl_scheduler_fair;

#endif
