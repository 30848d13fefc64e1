// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of tasks: creation, scheduling, exec, exit, and which address space
 * they run in.
 */
#include "laplace.h"

#include <linux/binfmts.h>
#include <linux/fs.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

void lpl_task_create(struct task_struct *task, u64 space, u64 clone_flags)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_TASK_CREATE);
	record->arg[KTR_TASK_CREATE_TID] = task->pid;
	record->arg[KTR_TASK_CREATE_TGID] = task->tgid;
	record->arg[KTR_TASK_CREATE_SPACE] = space;
	record->arg[KTR_TASK_CREATE_FLAGS] = clone_flags;
	lpl_text(record, task->comm, TASK_COMM_LEN);
	lpl_end(flags);
}

void lpl_space_assign(struct task_struct *task, u64 space)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_SPACE_ASSIGN);
	record->arg[KTR_SPACE_ASSIGN_TID] = task->pid;
	record->arg[KTR_SPACE_ASSIGN_TGID] = task->tgid;
	record->arg[KTR_SPACE_ASSIGN_SPACE] = space;
	lpl_end(flags);
}

/* The child does not run yet; no other task can change its mm. */
static void lpl_task_newtask(void *data, struct task_struct *task,
			     unsigned long clone_flags)
{
	lpl_task_create(task, lpl_space(task->mm), clone_flags);
	if (task->mm && !(clone_flags & CLONE_VM))
		lpl_fork_ends(task->mm);
}

/* Without the flags; what can be seen from the tasks is reported. */
static void lpl_sched_process_fork(void *data, struct task_struct *parent,
				   struct task_struct *child)
{
	u64 clone_flags = 0;

	if (child->mm && child->mm == parent->mm)
		clone_flags |= CLONE_VM;
	if (child->tgid == parent->tgid)
		clone_flags |= CLONE_THREAD;
	lpl_task_create(child, lpl_space(child->mm), clone_flags);
	if (child->mm && !(clone_flags & CLONE_VM))
		lpl_fork_ends(child->mm);
}

static void lpl_schedule(u32 prev, u64 prev_state, struct task_struct *next)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_SCHEDULE);
	record->arg[KTR_SCHEDULE_PREVIOUS_TID] = prev;
	record->arg[KTR_SCHEDULE_PREVIOUS_STATE] = prev_state;
	record->arg[KTR_SCHEDULE_NEXT_TID] = next->pid;
	record->arg[KTR_SCHEDULE_NEXT_TGID] = next->tgid;
	record->arg[KTR_SCHEDULE_NEXT_SPACE] = lpl_space(next->mm);
	lpl_text(record, next->comm, TASK_COMM_LEN);
	lpl_end(flags);
}

static unsigned int lpl_state_now(const struct task_struct *task)
{
#if LPL_HAS_task_struct___state
	return READ_ONCE(task->__state);
#else
	return READ_ONCE(task->state);
#endif
}

/*
 * Whatever a preempted task was about to wait for, it can still run; and so can
 * one that a signal has stopped from going to sleep.
 */
static u64 lpl_state(bool preempt, const struct task_struct *task,
		     unsigned int state)
{
	const unsigned int reported = KTR_STATE_SLEEPING | KTR_STATE_WAITING |
				  KTR_STATE_STOPPED | KTR_STATE_TRACED |
				  KTR_STATE_PARKED | KTR_STATE_DEAD |
				  KTR_STATE_IDLE;

	BUILD_BUG_ON(TASK_INTERRUPTIBLE != KTR_STATE_SLEEPING ||
		     TASK_UNINTERRUPTIBLE != KTR_STATE_WAITING ||
		     __TASK_STOPPED != KTR_STATE_STOPPED ||
		     __TASK_TRACED != KTR_STATE_TRACED ||
		     TASK_PARKED != KTR_STATE_PARKED ||
		     TASK_DEAD != KTR_STATE_DEAD ||
		     TASK_NOLOAD != KTR_STATE_IDLE);
	if (preempt || !state || !lpl_state_now(task))
		return KTR_STATE_RUNNABLE;
	/* Frozen, or at a lock of a real-time kernel. */
	return state & reported ?: KTR_STATE_WAITING;
}

static void lpl_sched_switch_and_state(void *data, bool preempt,
				       struct task_struct *prev,
				       struct task_struct *next,
				       unsigned int prev_state)
{
	lpl_schedule(prev->pid, lpl_state(preempt, prev, prev_state), next);
}

/* The one processor is busy here: no task has changed the state since it was looked at. */
static void lpl_sched_switch(void *data, bool preempt,
			     struct task_struct *prev, struct task_struct *next)
{
	lpl_schedule(prev->pid, lpl_state(preempt, prev, lpl_state_now(prev)), next);
}

/*
 * Before it is known whether the task was still on its way to sleep.  An interrupt is one that is
 * being served: a task that only keeps bottom halves off acts for itself.
 */
static void lpl_sched_waking(void *data, struct task_struct *task)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_WAKE);
	record->arg[KTR_WAKE_TID] = task->pid;
	record->arg[KTR_WAKE_TGID] = task->tgid;
	record->arg[KTR_WAKE_CONTEXT] = in_task() ? KTR_CONTEXT_TASK :
						    KTR_CONTEXT_INTERRUPT;
	lpl_end(flags);
}

/* f(mm, ...), in exec, before the processor changes to the new mm. */
static int lpl_exec_mm(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *mm = (void *)lpl_arg(kp, regs, MM);

	lpl_space_assign(current, lpl_space(mm));
	return 0;
}

static void lpl_exit(u32 tid, u32 tgid, u64 code, bool last)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_EXIT);
	record->arg[KTR_EXIT_TID] = tid;
	record->arg[KTR_EXIT_TGID] = tgid;
	record->arg[KTR_EXIT_CODE] = code;
	record->arg[KTR_EXIT_LAST] = last;
	lpl_end(flags);
}

/* By now the image is mapped and the interpreter of a script is `file`. */
static void lpl_sched_process_exec(void *data, struct task_struct *task,
				   pid_t old_pid, struct linux_binprm *bprm)
{
	struct inode *inode = lpl_file_inode(bprm->file);
	struct kernel_trace_record *record;
	unsigned long flags;

	/*
	 * A thread that executes takes over the id of its leader, which has
	 * exited: for whatever knows tasks by their ids, another one runs now.
	 */
	if (old_pid != task->pid) {
		lpl_schedule(old_pid, KTR_STATE_DEAD, task);
		lpl_exit(old_pid, task->tgid, 0, false);
	}

	record = lpl_begin(&flags, KTR_EXEC);
	record->arg[KTR_EXEC_TID] = task->pid;
	record->arg[KTR_EXEC_TGID] = task->tgid;
	record->arg[KTR_EXEC_SPACE] = lpl_space(task->mm);
	record->arg[KTR_EXEC_DEVICE] = inode->i_sb->s_dev;
	record->arg[KTR_EXEC_INODE] = lpl_inode_id(inode);
	lpl_text(record, bprm->interp, KTR_TEXT);
	lpl_end(flags);
}

void lpl_task_exit(struct task_struct *task)
{
	lpl_exit(task->pid, task->tgid, (u32)task->exit_code,
		 !atomic_read(&task->signal->live));
}

static void lpl_sched_process_exit(void *data, struct task_struct *task)
{
	lpl_task_exit(task);
}

static struct lpl_hook lpl_task_hook[] = {
	{
		.points = {
			{ LPL_AT(task_newtask), .tracepoint = lpl_task_newtask },
			{ LPL_AT(sched_process_fork), .tracepoint = lpl_sched_process_fork },
		},
	}, {
		.points = {
			{ LPL_AT(sched_switch_and_state), .tracepoint = lpl_sched_switch_and_state },
			{ LPL_AT(sched_switch), .tracepoint = lpl_sched_switch },
		},
	}, {
		.points = {
			{ LPL_AT(sched_waking), .tracepoint = lpl_sched_waking },
		},
	}, {
		.points = {
			{ LPL_AT(membarrier_exec_mmap), .entry = lpl_exec_mm },
			{ LPL_AT(set_mm_exe_file), .entry = lpl_exec_mm },
		},
	}, {
		.points = {
			{ LPL_AT(sched_process_exec), .tracepoint = lpl_sched_process_exec },
		},
	}, {
		.points = {
			{ LPL_AT(sched_process_exit), .tracepoint = lpl_sched_process_exit },
		},
	},
};

const struct lpl_hooks lpl_task_hooks = {
	lpl_task_hook, ARRAY_SIZE(lpl_task_hook),
};
