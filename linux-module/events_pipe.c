// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of data that tasks pass on to each other through pipes, and FIFOs: a task that takes some
 * comes after the one that gave it, even if it did not have to wait.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/uio.h>

static void lpl_pass(struct inode *pipe, bool taken)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_PASS);
	record->arg[KTR_PASS_DEVICE] = pipe->i_sb->s_dev;
	record->arg[KTR_PASS_INODE] = lpl_inode_id(pipe);
	record->arg[KTR_PASS_TAKEN] = taken;
	lpl_end(flags);
}

struct lpl_transfer {
	struct inode *pipe;
};

static struct inode *lpl_transfer_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_transfer *transfer = (void *)ri->data;
	struct kiocb *request = (void *)lpl_arg(ri, regs, REQUEST);

	transfer->pipe = lpl_file_inode(request->ki_filp);
	return transfer->pipe;
}

static void lpl_transfer_ends(struct kretprobe_instance *ri, struct pt_regs *regs, bool taken)
{
	const struct lpl_transfer *transfer = (void *)ri->data;

	if ((long)regs_return_value(regs) > 0)
		lpl_pass(transfer->pipe, taken);
}

/* Of more than a page a reader may have a part while the writer waits for room for the rest. */
static int lpl_write_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct inode *pipe = lpl_transfer_begins(ri, regs);

	if (iov_iter_count((struct iov_iter *)lpl_arg(ri, regs, DATA)) > PAGE_SIZE)
		lpl_pass(pipe, false);
	return 0;
}

static int lpl_write_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_transfer_ends(ri, regs, false);
	return 0;
}

/* What comes while the reader waits, it takes when it has it. */
static int lpl_read_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_pass(lpl_transfer_begins(ri, regs), true);
	return 0;
}

static int lpl_read_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_transfer_ends(ri, regs, true);
	return 0;
}

static struct lpl_hook lpl_pipe_hook[] = {
	{
		.points = {
			{ LPL_AT(pipe_write), .entered = lpl_write_entered,
			  .returned = lpl_write_returned, .data = sizeof(struct lpl_transfer) },
		},
	}, {
		.points = {
			{ LPL_AT(pipe_read), .entered = lpl_read_entered,
			  .returned = lpl_read_returned, .data = sizeof(struct lpl_transfer) },
		},
	},
};

const struct lpl_hooks lpl_pipe_hooks = {
	lpl_pipe_hook, ARRAY_SIZE(lpl_pipe_hook),
};
