// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of swap areas, if they are chosen with reclaim: a page is written to one, and is read from it.
 *
 * A page that spaces give up or get back (events_swap.c) is often not the occasion: one that has not
 * changed since it was read needs not be written again, and others are read ahead.
 */
#include "laplace.h"

#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/vmstat.h>

/* __swap_writepage(folio, control): nothing but the device has it in between. */
static int lpl_swap_write(struct kprobe *kp, struct pt_regs *regs)
{
	struct lpl_folio_name name;
	unsigned long flags;

	lpl_name(&name, page_folio((struct page *)lpl_arg(kp, regs, PAGE)));
	lpl_folio_begin(&flags, KTR_SWAP_WRITE, &name);
	lpl_end(flags);
	return 0;
}

/* swap_read_folio(folio, ...): the kernel's own count says whether the device was asked. */
struct lpl_swap_read {
	struct lpl_folio_name name;
	unsigned long before;
};

/* What events have reported of this count so far: of calls that ended while another was under way. */
static unsigned long lpl_read_so_far;
static DEFINE_RAW_SPINLOCK(lpl_read_lock);

static unsigned long lpl_pages_read(void)
{
	unsigned long count = 0;
	int cpu;

	for_each_online_cpu(cpu)
		count += per_cpu(vm_event_states, cpu).event[PSWPIN];
	return count;
}

static int lpl_swap_read_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_swap_read *read = (void *)ri->data;
	unsigned long flags;
	swp_entry_t entry;

	lpl_name(&read->name, page_folio((struct page *)lpl_arg(ri, regs, PAGE)));
	/* It may come without a stay in the swap cache. */
	if (read->name.slot == KTR_NONE && lpl_swaps_in(&entry))
		read->name.slot = KTR_SWAP_ENTRY(swp_type(entry), swp_offset(entry) &
						 ~(read->name.pages - 1));
	raw_spin_lock_irqsave(&lpl_read_lock, flags);
	read->before = lpl_pages_read() - lpl_read_so_far;
	raw_spin_unlock_irqrestore(&lpl_read_lock, flags);
	return 0;
}

static int lpl_swap_read_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_swap_read *read = (void *)ri->data;
	struct kernel_trace_record *record;
	unsigned long flags;
	bool counted;

	raw_spin_lock_irqsave(&lpl_read_lock, flags);
	counted = lpl_pages_read() - lpl_read_so_far - read->before >= read->name.pages;
	lpl_read_so_far += counted ? read->name.pages : 0;
	raw_spin_unlock_irqrestore(&lpl_read_lock, flags);

	record = lpl_folio_begin(&flags, KTR_SWAP_READ, &read->name);
	record->arg[KTR_SWAP_READ_COUNTED] = counted;
	lpl_end(flags);
	return 0;
}

static struct lpl_hook lpl_swap_io_hook[] = {
	{
		.points = {
			{ LPL_AT(__swap_writepage), .entry = lpl_swap_write },
		},
	}, {
		.points = {
			{ LPL_AT(swap_read_folio), .entered = lpl_swap_read_entered,
			  .returned = lpl_swap_read_returned, .data = sizeof(struct lpl_swap_read) },
			{ LPL_AT(swap_readpage), .entered = lpl_swap_read_entered,
			  .returned = lpl_swap_read_returned, .data = sizeof(struct lpl_swap_read) },
		},
	},
};

const struct lpl_hooks lpl_swap_io_hooks = {
	lpl_swap_io_hook, ARRAY_SIZE(lpl_swap_io_hook), "reclaim",
};
