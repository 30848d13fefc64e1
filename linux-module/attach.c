// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching the events to tracepoints and probes: the first alternative that
 * this kernel has, and a loud failure when it has none.  Most are attached as long
 * as the module is there, and groups of others (choice.c) when they are wanted.
 */
#include "laplace.h"

#include <linux/fs.h>
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
	&lpl_pipe_hooks,
	&lpl_reclaim_hooks,
	&lpl_lru_hooks,
	&lpl_swap_io_hooks,
	&lpl_fault_hooks,
	&lpl_pressure_hooks,
	&lpl_write_hooks,
	&lpl_place_hooks,
};

#define for_each_lpl_hook(group, hook)						\
	for ((group) = 0; (group) < ARRAY_SIZE(lpl_groups); (group)++)		\
		for ((hook) = lpl_groups[group]->hook;				\
		     (hook) < lpl_groups[group]->hook + lpl_groups[group]->count;	\
		     (hook)++)

/* At hooks that were detached. */
static u64 lpl_missed_before;

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

static int lpl_probe_hit(struct kprobe *kp, struct pt_regs *regs)
{
	const struct lpl_point *point = lpl_point_of_probe(kp);

	return lpl_is_sound(point, regs) ? point->entry(kp, regs) : 0;
}

static int lpl_attach_kprobe(struct lpl_hook *hook,
			     const struct lpl_point *point)
{
	/* A probe that once failed to register is not clean. */
	memset(&hook->kp, 0, sizeof(hook->kp));
	hook->kp.symbol_name = point->name;
	hook->kp.pre_handler = lpl_probe_hit;
	return register_kprobe(&hook->kp);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
/*
 * Which calls are under way, these kernels keep where a module cannot look: so there is a list
 * of them here.  Each has its entry after what its handlers keep for themselves.
 */
struct lpl_call {
	struct list_head list;
	struct task_struct *task;
	const struct lpl_hook *hook;
};

static LIST_HEAD(lpl_calls);
static DEFINE_RAW_SPINLOCK(lpl_calls_lock);

static size_t lpl_call_offset(const struct lpl_point *point)
{
	return ALIGN(point->data, __alignof__(struct lpl_call));
}

static struct lpl_call *lpl_call_in(struct kretprobe_instance *ri)
{
	struct lpl_hook *hook = container_of(ri->rp, struct lpl_hook, rp);

	return (void *)(ri->data + lpl_call_offset(hook->used));
}

static int lpl_call_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_hook *hook = container_of(ri->rp, struct lpl_hook, rp);
	struct lpl_call *call = lpl_call_in(ri);
	unsigned long flags;

	if (!lpl_is_sound(hook->used, regs) ||
	    (hook->used->entered && hook->used->entered(ri, regs)))
		return 1;
	call->task = current;
	call->hook = hook;
	raw_spin_lock_irqsave(&lpl_calls_lock, flags);
	list_add(&call->list, &lpl_calls);
	raw_spin_unlock_irqrestore(&lpl_calls_lock, flags);
	return 0;
}

static int lpl_call_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_hook *hook = container_of(ri->rp, struct lpl_hook, rp);
	unsigned long flags;

	raw_spin_lock_irqsave(&lpl_calls_lock, flags);
	list_del_init(&lpl_call_in(ri)->list);
	raw_spin_unlock_irqrestore(&lpl_calls_lock, flags);
	return hook->used->returned(ri, regs);
}

static void lpl_set_handlers(struct kretprobe *rp, const struct lpl_point *point)
{
	rp->entry_handler = lpl_call_entered;
	rp->handler = lpl_call_returned;
	rp->data_size = lpl_call_offset(point) + sizeof(struct lpl_call);
}

/* Nothing is seen of how calls end that are under way, and their entries end with them. */
static void lpl_detach_kretprobe(struct lpl_hook *hook)
{
	struct lpl_call *call, *next;
	unsigned long flags;

	disable_kretprobe(&hook->rp);
	synchronize_rcu();
	raw_spin_lock_irqsave(&lpl_calls_lock, flags);
	list_for_each_entry_safe(call, next, &lpl_calls, list)
		if (call->hook == hook)
			list_del_init(&call->list);
	raw_spin_unlock_irqrestore(&lpl_calls_lock, flags);
	unregister_kretprobe(&hook->rp);
}
#else
static int lpl_call_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_point *point = lpl_point_of_call(ri);

	if (!lpl_is_sound(point, regs))
		return 1;
	return point->entered ? point->entered(ri, regs) : 0;
}

static void lpl_set_handlers(struct kretprobe *rp, const struct lpl_point *point)
{
	rp->entry_handler = lpl_call_entered;
	rp->handler = point->returned;
	rp->data_size = point->data;
}

static void lpl_detach_kretprobe(struct lpl_hook *hook)
{
	unregister_kretprobe(&hook->rp);
}
#endif

static int lpl_attach_kretprobe(struct lpl_hook *hook,
				const struct lpl_point *point)
{
	memset(&hook->rp, 0, sizeof(hook->rp));
	hook->rp.kp.symbol_name = point->name;
	lpl_set_handlers(&hook->rp, point);
	hook->rp.maxactive = LPL_MAXACTIVE;
	return register_kretprobe(&hook->rp);
}

/*
 * Of a function that the compiler has taken apart, callers may call a part: not all that
 * happens would be seen at its name, and nothing would show that.  A part may be a place itself.
 */
static bool lpl_is_apart(const char *name)
{
	static const char *const part[] = { ".part.0", ".constprop.0", ".isra.0" };
	struct kprobe probe;
	char symbol[KSYM_NAME_LEN];
	size_t i;

	if (strchr(name, '.'))
		return false;
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		snprintf(symbol, sizeof(symbol), "%s%s", name, part[i]);
		memset(&probe, 0, sizeof(probe));
		probe.symbol_name = symbol;
		if (register_kprobe(&probe))
			continue;
		unregister_kprobe(&probe);
		return true;
	}
	return false;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define ftrace_regs	pt_regs
#define ftrace_get_regs(regs) (regs)
#endif

static void lpl_trace_hit(unsigned long address, unsigned long caller, struct ftrace_ops *ops,
			  struct ftrace_regs *saved)
{
	struct lpl_hook *hook = container_of(ops, struct lpl_hook, ops);

	lpl_probe_hit(&hook->kp, ftrace_get_regs(saved));
}

/*
 * A probe misses the calls that interrupts make while a handler of another one runs, and ftrace itself does not.
 * It wants an address, which a probe finds.
 */
static int lpl_attach_ftrace(struct lpl_hook *hook, const struct lpl_point *point)
{
	int error = lpl_attach_kprobe(hook, point);

	if (error)
		return error;
	unregister_kprobe(&hook->kp);
	hook->ops.func = lpl_trace_hit;
	hook->ops.flags = FTRACE_OPS_FL_SAVE_REGS;
	/* Without a filter it would be called by all functions. */
	error = ftrace_set_filter_ip(&hook->ops, (unsigned long)hook->kp.addr, 0, 0);
	if (!error)
		error = register_ftrace_function(&hook->ops);
	if (error)
		ftrace_set_filter(&hook->ops, NULL, 0, 1);
	return error;
}

static void lpl_detach_ftrace(struct lpl_hook *hook)
{
	unregister_ftrace_function(&hook->ops);
	ftrace_set_filter(&hook->ops, NULL, 0, 1);
}

#define lpl_is_by_ftrace(point) ((point)->from_interrupts)
#else
/* What a probe misses is counted. */
#define lpl_attach_ftrace	lpl_attach_kprobe
#define lpl_detach_ftrace(hook)	unregister_kprobe(&(hook)->kp)
#define lpl_is_by_ftrace(point)	false
#endif

static int lpl_attach_hook(struct lpl_hook *hook)
{
	const struct lpl_point *point;
	int error = -ENOENT;

	for (point = hook->points;
	     point < hook->points + LPL_POINTS && point->name; point++) {
		if (point->unlike)
			continue;
		hook->used = point;
		if (point->tracepoint)
			error = lpl_attach_tracepoint(hook, point);
		else if (lpl_is_apart(point->name))
			error = -ENXIO;
		else if (point->from_interrupts)
			error = lpl_attach_ftrace(hook, point);
		else if (point->entry)
			error = lpl_attach_kprobe(hook, point);
		else
			error = lpl_attach_kretprobe(hook, point);
		if (!error)
			return 0;
		hook->used = NULL;
		pr_debug("%s: not at %s: %d\n", point->event, point->name, error);
	}
	return error;
}

/* Calls that happened at this hook but could not be seen. */
static u64 lpl_missed_at(const struct lpl_hook *hook)
{
	/* A call is missed if it is an interrupt's that comes while a handler runs, and only then. */
	if (!hook->used || hook->used->interrupts || lpl_is_by_ftrace(hook->used))
		return 0;
	if (hook->used->entry)
		return hook->kp.nmissed;
	return hook->used->returned ? hook->rp.nmissed + hook->rp.kp.nmissed : 0;
}

static void lpl_detach_hook(struct lpl_hook *hook)
{
	const struct lpl_point *point = hook->used;

	if (!point)
		return;
	lpl_missed_before += lpl_missed_at(hook);
	if (point->tracepoint)
		tracepoint_probe_unregister(hook->tp, point->tracepoint, NULL);
	else if (point->from_interrupts)
		lpl_detach_ftrace(hook);
	else if (point->entry)
		unregister_kprobe(&hook->kp);
	else
		lpl_detach_kretprobe(hook);
	hook->used = NULL;
}

static const char *lpl_used(const struct lpl_hook *hook)
{
	return hook->used ? hook->used->name : "none";
}

/*
 * With every probe that comes or goes, ftrace looks through all of the kernel's functions several
 * times, which is a third of a guest's boot.  While it is switched off it only notes what is wanted,
 * and sees to all of it at once when it is switched on again; which it has to be, even if it was off
 * before, for probes at functions to be called.  Where this cannot be done it goes slowly.
 */
static bool lpl_switch_ftrace(const char *value)
{
	struct file *file = filp_open("/proc/sys/kernel/ftrace_enabled", O_WRONLY, 0);
	ssize_t written;
	loff_t from = 0;

	if (IS_ERR(file))
		return false;
	written = kernel_write(file, value, strlen(value), &from);
	filp_close(file, NULL);
	return written == strlen(value);
}

/* Which kernel interface each event comes from, a line for each group. */
static void lpl_list(void)
{
	struct lpl_hook *hook;
	size_t group;

	for_each_lpl_hook(group, hook) {
		if (lpl_groups[group]->choice)
			continue;
		if (hook == lpl_groups[group]->hook)
			pr_info("events: %s=%s", hook->points->event, lpl_used(hook));
		else
			pr_cont(" %s=%s", hook->points->event, lpl_used(hook));
	}
	pr_cont("\n");
}

static void lpl_refuse(const struct lpl_hook *hook, int error)
{
	const struct lpl_point *point;

	for (point = hook->points; point < hook->points + LPL_POINTS && point->name; point++)
		pr_err("%s: %s\n", point->name, point->unlike ?: "a probe cannot be there");
	pr_err("this kernel has no place to see %s (error %d)\n", hook->points->event, error);
}

static int lpl_attach_hooks(const struct lpl_hooks *hooks)
{
	struct lpl_hook *hook;
	int error;

	for (hook = hooks->hook; hook < hooks->hook + hooks->count; hook++) {
		error = lpl_attach_hook(hook);
		if (!error || hook->points->optional)
			continue;
		lpl_refuse(hook, error);
		/* What "no such file" means to insmod would mislead. */
		return error == -ENOENT ? -EOPNOTSUPP : error;
	}
	return 0;
}

static int lpl_attach_always(void)
{
	size_t group;
	int error = 0;

	for (group = 0; group < ARRAY_SIZE(lpl_groups) && !error; group++)
		if (!lpl_groups[group]->choice)
			error = lpl_attach_hooks(lpl_groups[group]);
	return error;
}

static int lpl_ftrace_is_back(bool off, int error)
{
	if (!off || lpl_switch_ftrace("1") || error)
		return error;
	pr_err("ftrace cannot be switched on again\n");
	return -EIO;
}

int lpl_attach(void)
{
	bool off = lpl_switch_ftrace("0");
	int error = lpl_ftrace_is_back(off, lpl_attach_always());

	if (error) {
		pr_err("refusing to load\n");
		lpl_detach();
	} else {
		lpl_list();
	}
	return error;
}

static bool lpl_is_of_choice(const struct lpl_hooks *hooks, const char *choice)
{
	return hooks->choice && !strcmp(hooks->choice, choice);
}

/* The groups that are chosen by this name. */
int lpl_attach_choice(const char *choice)
{
	bool off = lpl_switch_ftrace("0");
	size_t group;
	int error = 0;

	for (group = 0; group < ARRAY_SIZE(lpl_groups) && !error; group++)
		if (lpl_is_of_choice(lpl_groups[group], choice))
			error = lpl_attach_hooks(lpl_groups[group]);
	error = lpl_ftrace_is_back(off, error);
	if (error)
		lpl_detach_choice(choice);
	return error;
}

void lpl_detach_choice(const char *choice)
{
	bool off = lpl_switch_ftrace("0");
	struct lpl_hook *hook;
	size_t group;

	for_each_lpl_hook(group, hook)
		if (lpl_is_of_choice(lpl_groups[group], choice))
			lpl_detach_hook(hook);
	lpl_ftrace_is_back(off, 0);
	tracepoint_synchronize_unregister();
}

void lpl_detach(void)
{
	struct lpl_hook *hook;
	size_t group;
	bool off;

	lpl_record_stop();
	off = lpl_switch_ftrace("0");
	for_each_lpl_hook(group, hook)
		lpl_detach_hook(hook);
	lpl_ftrace_is_back(off, 0);
	/* A handler may still be running on another processor. */
	tracepoint_synchronize_unregister();
}

/* What the handlers keep of the current task's last call of one of the hooks that is under way. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
static void *lpl_call_under_way(const struct lpl_hook *hook, size_t count)
{
	const struct lpl_call *call;
	unsigned long flags;
	void *data = NULL;

	raw_spin_lock_irqsave(&lpl_calls_lock, flags);
	list_for_each_entry(call, &lpl_calls, list) {
		if (call->task != current || call->hook < hook || call->hook >= hook + count)
			continue;
		data = (void *)call - lpl_call_offset(call->hook->used);
		break;
	}
	raw_spin_unlock_irqrestore(&lpl_calls_lock, flags);
	return data;
}
#else
static void *lpl_call_under_way(const struct lpl_hook *hook, size_t count)
{
	struct kretprobe_instance *ri;
	const struct kretprobe *rp;
	size_t i;

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	llist_for_each_entry(ri, READ_ONCE(current->rethooks.first), node.llist) {
#else
	llist_for_each_entry(ri, READ_ONCE(current->kretprobe_instances.first), llist) {
#endif
		rp = get_kretprobe(ri);
		for (i = 0; i < count; i++)
			if (rp == &hook[i].rp)
				return ri->data;
	}
	return NULL;
}
#endif

bool lpl_under(const struct lpl_hooks *group)
{
	return lpl_call_under_way(group->hook, group->count);
}

void *lpl_call_of(const struct lpl_hook *hook)
{
	return lpl_call_under_way(hook, 1);
}

/* Calls that happened but could not be seen; any is a defect in the trace. */
u64 lpl_missed(void)
{
	struct lpl_hook *hook;
	u64 missed = lpl_strange_calls() + lpl_missed_before;
	size_t group;

	for_each_lpl_hook(group, hook)
		missed += lpl_missed_at(hook);
	return missed;
}
