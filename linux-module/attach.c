// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching the events to tracepoints and probes: the first alternative that
 * this kernel has, and a loud failure when it has none.
 */
#include "laplace.h"

#include <linux/tracepoint.h>

/*
 * A call under way takes one; when tasks sleep in a probed function, as many
 * as there are tasks may be under way.
 */
#define LPL_MAXACTIVE 1024

static const struct lpl_hooks *const lpl_groups[] = {
	&lpl_task_hooks,
	&lpl_memory_hooks,
	&lpl_range_hooks,
	&lpl_cow_hooks,
	&lpl_own_hooks,
	&lpl_huge_hooks,
	&lpl_swap_hooks,
	&lpl_cache_hooks,
};

#define for_each_lpl_hook(group, hook)						\
	for ((group) = 0; (group) < ARRAY_SIZE(lpl_groups); (group)++)		\
		for ((hook) = lpl_groups[group]->hook;				\
		     (hook) < lpl_groups[group]->hook + lpl_groups[group]->count;	\
		     (hook)++)

struct lpl_search {
	const char *name;
	struct tracepoint *found;
};

static void lpl_search_one(struct tracepoint *tp, void *data)
{
	struct lpl_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

struct tracepoint *lpl_tracepoint(const char *name)
{
	struct lpl_search search = { .name = name };

	for_each_kernel_tracepoint(lpl_search_one, &search);
	return search.found;
}

static int lpl_attach_tracepoint(struct lpl_hook *hook,
				 const struct lpl_point *point)
{
	hook->tp = lpl_tracepoint(point->name);
	if (!hook->tp)
		return -ENOENT;
	return tracepoint_probe_register(hook->tp, point->tracepoint, NULL);
}

static int lpl_attach_kprobe(struct lpl_hook *hook,
			     const struct lpl_point *point)
{
	/* A probe that once failed to register is not clean. */
	memset(&hook->kp, 0, sizeof(hook->kp));
	hook->kp.symbol_name = point->name;
	hook->kp.pre_handler = point->entry;
	return register_kprobe(&hook->kp);
}

static int lpl_attach_kretprobe(struct lpl_hook *hook,
				const struct lpl_point *point)
{
	memset(&hook->rp, 0, sizeof(hook->rp));
	hook->rp.kp.symbol_name = point->name;
	hook->rp.entry_handler = point->entered;
	hook->rp.handler = point->returned;
	hook->rp.data_size = point->data;
	hook->rp.maxactive = LPL_MAXACTIVE;
	return register_kretprobe(&hook->rp);
}

static int lpl_attach_hook(struct lpl_hook *hook)
{
	const struct lpl_point *point;
	int error = -ENOENT;

	for (point = hook->points;
	     point < hook->points + LPL_POINTS && point->name; point++) {
		if (point->tracepoint)
			error = lpl_attach_tracepoint(hook, point);
		else if (point->entry)
			error = lpl_attach_kprobe(hook, point);
		else
			error = lpl_attach_kretprobe(hook, point);
		if (!error) {
			hook->used = point;
			return 0;
		}
		pr_debug("%s: not at %s: %d\n", hook->event, point->name, error);
	}
	return error;
}

static void lpl_detach_hook(struct lpl_hook *hook)
{
	const struct lpl_point *point = hook->used;

	if (!point)
		return;
	if (point->tracepoint)
		tracepoint_probe_unregister(hook->tp, point->tracepoint, NULL);
	else if (point->entry)
		unregister_kprobe(&hook->kp);
	else
		unregister_kretprobe(&hook->rp);
	hook->used = NULL;
}

static const char *lpl_used(const struct lpl_hook *hook)
{
	return hook->used ? hook->used->name : "none";
}

/* Which kernel interface each event comes from, a line for each group. */
static void lpl_list(void)
{
	struct lpl_hook *hook;
	size_t group;

	for_each_lpl_hook(group, hook) {
		if (hook == lpl_groups[group]->hook)
			pr_info("events: %s=%s", hook->event, lpl_used(hook));
		else
			pr_cont(" %s=%s", hook->event, lpl_used(hook));
	}
	pr_cont("\n");
}

int lpl_attach(void)
{
	struct lpl_hook *hook;
	size_t group;
	int error;

	for_each_lpl_hook(group, hook) {
		error = lpl_attach_hook(hook);
		if (!error || hook->optional)
			continue;
		pr_err("this kernel has no place to see %s (tried %s%s%s%s%s; error %d): refusing to load\n",
		       hook->event, hook->points[0].name,
		       hook->points[1].name ? ", " : "",
		       hook->points[1].name ?: "",
		       hook->points[2].name ? ", " : "",
		       hook->points[2].name ?: "", error);
		lpl_detach();
		/* What "no such file" means to insmod would mislead. */
		return error == -ENOENT ? -EOPNOTSUPP : error;
	}
	lpl_list();
	return 0;
}

void lpl_detach(void)
{
	struct lpl_hook *hook;
	size_t group;

	for_each_lpl_hook(group, hook)
		lpl_detach_hook(hook);
	/* A handler may still be running on another processor. */
	tracepoint_synchronize_unregister();
}

/* Whether the current task is within a call that the group sees the end of. */
bool lpl_under(const struct lpl_hooks *group)
{
	const struct kretprobe_instance *ri;
	const struct kretprobe *rp;
	size_t i;

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	llist_for_each_entry(ri, READ_ONCE(current->rethooks.first), node.llist) {
#else
	llist_for_each_entry(ri, READ_ONCE(current->kretprobe_instances.first), llist) {
#endif
		rp = get_kretprobe((struct kretprobe_instance *)ri);
		for (i = 0; i < group->count; i++)
			if (rp == &group->hook[i].rp)
				return true;
	}
	return false;
}

/* Calls that happened but could not be seen; any is a defect in the trace. */
u64 lpl_missed(void)
{
	struct lpl_hook *hook;
	u64 missed = 0;
	size_t group;

	for_each_lpl_hook(group, hook) {
		if (!hook->used)
			continue;
		if (hook->used->entry)
			missed += hook->kp.nmissed;
		else if (hook->used->returned)
			missed += hook->rp.nmissed + hook->rp.kp.nmissed;
	}
	return missed;
}
