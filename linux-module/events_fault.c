// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults, if they are chosen with reclaim: what was there when one began, and whether the page
 * had to come from elsewhere.
 */
#include "laplace.h"

#include <linux/rcupdate.h>

/* handle_mm_fault(vma, address, flags, ...) */
struct lpl_fault {
	u64 space, address;
	enum ktr_fault cause;
	bool write;
};

static void lpl_is_present(void *context, unsigned long address, struct page *page,
			   unsigned long pages)
{
	*(enum ktr_fault *)context = KTR_FAULT_PRESENT;
}

static void lpl_is_swapped(void *context, unsigned long address, pte_t entry)
{
	*(enum ktr_fault *)context = KTR_FAULT_SWAP;
}

static void lpl_is_other(void *context)
{
	*(enum ktr_fault *)context = KTR_FAULT_OTHER;
}

static int lpl_fault_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_fault *fault = (void *)ri->data;
	const struct vm_area_struct *vma = (void *)lpl_arg(ri, regs, VMA);
	unsigned long address = lpl_arg(ri, regs, ADDRESS);
	const struct lpl_walk walk = {
		.context = &fault->cause,
		.present = lpl_is_present, .swapped = lpl_is_swapped, .other = lpl_is_other,
	};

	fault->space = lpl_space(vma->vm_mm);
	fault->address = address;
	fault->write = lpl_arg(ri, regs, FAULT_FLAGS) & FAULT_FLAG_WRITE;
	fault->cause = vma->vm_ops ? KTR_FAULT_FILE : KTR_FAULT_ANONYMOUS;
	/* A table may be replaced by a huge page's entry, and is freed later. */
	rcu_read_lock();
	lpl_walk(&walk, vma->vm_mm, address & PAGE_MASK, (address & PAGE_MASK) + PAGE_SIZE);
	rcu_read_unlock();
	return 0;
}

static int lpl_fault_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_fault *fault = (void *)ri->data;
	const u32 result = regs_return_value(regs);
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_FAULT);
	record->arg[KTR_FAULT_SPACE] = fault->space;
	record->arg[KTR_FAULT_ADDRESS] = fault->address;
	record->arg[KTR_FAULT_CAUSE] = fault->cause;
	record->arg[KTR_FAULT_WRITE] = fault->write;
	record->arg[KTR_FAULT_MAJOR] = !!(result & VM_FAULT_MAJOR);
	record->arg[KTR_FAULT_OUTCOME] = result & VM_FAULT_ERROR ? KTR_FAULT_FAILED :
					 result & VM_FAULT_RETRY ? KTR_FAULT_AGAIN : KTR_FAULT_DONE;
	lpl_end(flags);
	return 0;
}

static struct lpl_hook lpl_fault_hook[] = {
	{
		.points = {
			{ LPL_AT(handle_mm_fault), .entered = lpl_fault_entered,
			  .returned = lpl_fault_returned, .data = sizeof(struct lpl_fault) },
		},
	},
};

const struct lpl_hooks lpl_fault_hooks = {
	lpl_fault_hook, ARRAY_SIZE(lpl_fault_hook), "reclaim",
};
