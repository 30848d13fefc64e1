/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Round robin: one queue, at the tail of which a task comes when it is ready, or has had its quantum. */
#include "machine.h"

static int64_t rr_key(const struct task *task)
{
	(void)task;
	return 0;
}

static uint64_t rr_order(struct machine *machine, const struct task *task, bool preempted)
{
	(void)task;
	(void)preempted;
	return machine->order++;
}

static bool rr_yields(const struct machine *machine, const struct task *task, uint64_t t)
{
	(void)machine;
	(void)task;
	(void)t;
	return true;
}

static struct processor *rr_victim(struct machine *machine, const struct task *task, uint64_t t)
{
	(void)machine;
	(void)task;
	(void)t;
	return NULL;
}

const struct scheduler lpl_scheduler_rr = {
	.key = rr_key, .order = rr_order, .yields = rr_yields, .victim = rr_victim,
};
