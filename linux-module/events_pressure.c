// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory runs short, if this is chosen with reclaim: little is free in zones, kswapd is at work, tasks have to reclaim memory
 * themselves, are stalled (PSI), and processes are killed for it.
 */
#include "laplace.h"

#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/vmstat.h>

static void lpl_kswapd(bool awake, int node, int order)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_KSWAPD);
	record->arg[KTR_KSWAPD_AWAKE] = awake;
	record->arg[KTR_KSWAPD_NODE] = node;
	record->arg[KTR_KSWAPD_ORDER] = order;
	lpl_end(flags);
}

static void lpl_watermarks(bool wanted, int node, int order)
{
	struct kernel_trace_record *record;
	struct zone *zone;
	unsigned long flags;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++) {
		zone = &NODE_DATA(node)->node_zones[i];
		if (!populated_zone(zone))
			continue;
		record = lpl_begin(&flags, KTR_WATERMARK);
		record->arg[KTR_WATERMARK_WANTED] = wanted;
		record->arg[KTR_WATERMARK_NODE] = node;
		record->arg[KTR_WATERMARK_ZONE] = i;
		record->arg[KTR_WATERMARK_FREE] = zone_page_state_snapshot(zone, NR_FREE_PAGES);
		record->arg[KTR_WATERMARK_MIN] = min_wmark_pages(zone);
		record->arg[KTR_WATERMARK_LOW] = low_wmark_pages(zone);
		record->arg[KTR_WATERMARK_HIGH] = high_wmark_pages(zone);
		record->arg[KTR_WATERMARK_ORDER] = order;
		lpl_end(flags);
	}
}

static void lpl_kswapd_is_wanted(void *data, int node, int zone, int order, gfp_t gfp)
{
	lpl_watermarks(true, node, order);
}

static void lpl_kswapd_wakes(void *data, int node, int zone, int order)
{
	lpl_kswapd(true, node, order);
}

static void lpl_kswapd_sleeps(void *data, int node)
{
	lpl_watermarks(false, node, 0);
	lpl_kswapd(false, node, 0);
}

static void lpl_direct(bool begins, int order, unsigned long reclaimed)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_DIRECT);
	record->arg[KTR_DIRECT_BEGINS] = begins;
	record->arg[KTR_DIRECT_ORDER] = order;
	record->arg[KTR_DIRECT_RECLAIMED] = reclaimed;
	lpl_end(flags);
}

static void lpl_direct_begins(void *data, int order, gfp_t gfp)
{
	lpl_direct(true, order, 0);
}

static void lpl_direct_ends(void *data, unsigned long reclaimed)
{
	lpl_direct(false, 0, reclaimed);
}

/* __oom_kill_process(victim, message) */
static int lpl_oom_kill(struct kprobe *kp, struct pt_regs *regs)
{
	const struct task_struct *victim = (void *)lpl_arg(kp, regs, TASK);
	struct kernel_trace_record *record;
	char name[TASK_COMM_LEN];
	unsigned long flags;
	pid_t tid, tgid;

	if (!lpl_peek(&tid, &victim->pid, sizeof(tid)) ||
	    !lpl_peek(&tgid, &victim->tgid, sizeof(tgid)) ||
	    !lpl_peek(name, victim->comm, sizeof(name)))
		return !lpl_is_strange(lpl_point_of_probe(kp));
	record = lpl_begin(&flags, KTR_OOM_KILL);
	record->arg[KTR_OOM_KILL_TID] = tid;
	record->arg[KTR_OOM_KILL_TGID] = tgid;
	lpl_text(record, name, sizeof(name));
	lpl_end(flags);
	return 0;
}

#ifdef CONFIG_PSI
static void lpl_stall(bool begins)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_STALL);
	record->arg[KTR_STALL_BEGINS] = begins;
	lpl_end(flags);
}

/* psi_memstall_enter(flags): not within another, nor while pressure is not counted at all (psi=0). */
static int lpl_stall_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return current->in_memstall;
}

static int lpl_stall_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (current->in_memstall)
		lpl_stall(true);
	return 0;
}

/* psi_memstall_leave(flags): they say whether it is within another. */
static int lpl_stall_ends(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long within;

	if (!current->in_memstall)
		return 0;
	if (!lpl_peek(&within, (void *)lpl_arg(kp, regs, FLAGS), sizeof(within)))
		return !lpl_is_strange(lpl_point_of_probe(kp));
	if (!within)
		lpl_stall(false);
	return 0;
}
#endif

static struct lpl_hook lpl_pressure_hook[] = {
	{
		.points = {
			{ LPL_AT(mm_vmscan_wakeup_kswapd), .tracepoint = lpl_kswapd_is_wanted },
		},
	}, {
		.points = { { LPL_AT(mm_vmscan_kswapd_wake), .tracepoint = lpl_kswapd_wakes } },
	}, {
		.points = { { LPL_AT(mm_vmscan_kswapd_sleep), .tracepoint = lpl_kswapd_sleeps } },
	}, {
		.points = {
			{ LPL_AT(mm_vmscan_direct_reclaim_begin), .tracepoint = lpl_direct_begins },
		},
	}, {
		.points = {
			{ LPL_AT(mm_vmscan_direct_reclaim_end), .tracepoint = lpl_direct_ends },
		},
	}, {
		.points = { { LPL_AT(__oom_kill_process), .entry = lpl_oom_kill } },
	},
#ifdef CONFIG_PSI
	{
		.points = {
			{ LPL_AT(psi_memstall_enter), .entered = lpl_stall_entered,
			  .returned = lpl_stall_begins },
		},
	}, {
		.points = { { LPL_AT(psi_memstall_leave), .entry = lpl_stall_ends } },
	},
#endif
};

const struct lpl_hooks lpl_pressure_hooks = {
	lpl_pressure_hook, ARRAY_SIZE(lpl_pressure_hook), "reclaim",
};
