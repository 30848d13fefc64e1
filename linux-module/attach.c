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
	&lpl_cow_hooks,
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

static int lpl_attach_tracepoint(struct lpl_hook *hook,
				 const struct lpl_point *point)
{
	struct lpl_search search = { .name = point->name };

	for_each_kernel_tracepoint(lpl_search_one, &search);
	if (!search.found)
		return -ENOENT;
	hook->tp = search.found;
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

/* One line that says which kernel interface each event comes from. */
static void lpl_list(void)
{
	struct lpl_hook *hook;
	size_t group;

	pr_info("events:");
	for_each_lpl_hook(group, hook)
		pr_cont(" %s=%s", hook->event,
			hook->used ? hook->used->name : "none");
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
