// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of ranges that stay mapped: what may be done there changes, or the
 * space's own pages are dropped.
 */
#include "laplace.h"

#include <linux/hugetlb.h>

/*
 * mprotect_fixup(..., vma, previous vma, start, end, flags): once for each
 * mapping in the range.
 */
struct lpl_protection {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	u64 prot;
};

static int lpl_mprotect_entered(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	struct lpl_protection *old = (void *)ri->data;
	struct vm_area_struct *vma =
		(void *)lpl_arg(ri, regs, VMA);

	old->mm = vma->vm_mm;
	old->start = lpl_arg(ri, regs, ADDRESS);
	old->end = lpl_arg(ri, regs, END);
	old->prot = lpl_prot(vma);
	return lpl_is_unfinished_stack(vma);
}

static int lpl_mprotect_returned(struct kretprobe_instance *ri,
				 struct pt_regs *regs)
{
	struct lpl_protection *old = (void *)ri->data;
	struct kernel_trace_record *record;
	struct vm_area_struct *vma;
	unsigned long flags;
	u64 prot;

	if ((int)regs_return_value(regs))
		return 0;
	/* It may have been split or merged. */
	vma = find_vma(old->mm, old->start);
	prot = lpl_prot(vma);
	if (prot == old->prot)
		return 0;
	record = lpl_begin(&flags, KTR_MPROTECT);
	record->arg[KTR_MPROTECT_SPACE] = lpl_space(old->mm);
	record->arg[KTR_MPROTECT_START] = old->start;
	record->arg[KTR_MPROTECT_END] = old->end;
	record->arg[KTR_MPROTECT_PROT] = prot;
	lpl_end(flags);
	return 0;
}

/* Whether a space can have pages of its own there, besides what is mapped. */
static bool lpl_has_own_pages(struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_SHARED | VM_PFNMAP | VM_MIXEDMAP)) &&
	       (vma->anon_vma || vma_is_anonymous(vma));
}

/* Whether what is dropped of a file takes the copies of it along. */
static bool lpl_is_with_copies(const struct zap_details *details)
{
#if LPL_HAS_zap_details_even_cows
	return !details || details->even_cows;
#else
	return !details || !details->check_mapping;
#endif
}

/*
 * zap_page_range_single(vma, address, size, details): madvise that drops pages,
 * and truncation of what is mapped.  A hole punched in a file, and a page
 * that leaves the cache, spare the copies that private mappings have made.
 */
static int lpl_zap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	unsigned long start = lpl_arg(kp, regs, ADDRESS);
	unsigned long size = lpl_arg(kp, regs, LENGTH);
	const struct zap_details *details =
		(void *)lpl_arg(kp, regs, DETAILS);

	if (lpl_has_own_pages(vma) && lpl_is_with_copies(details))
		lpl_range(KTR_DISCARD, vma->vm_mm, start, start + size);
	return 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
/* zap_page_range(vma, start, size): madvise had a way of its own. */
static int lpl_zap_all(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	unsigned long start = lpl_arg(kp, regs, ADDRESS);

	if (lpl_has_own_pages(vma))
		lpl_range(KTR_DISCARD, vma->vm_mm, start,
			  start + lpl_arg(kp, regs, LENGTH));
	return 0;
}
#endif

/* unmap_hugepage_range(vma, start, end, ...): hugetlbfs has its own way. */
static int lpl_zap_hugetlb(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);

	if (lpl_has_own_pages(vma))
		lpl_range(KTR_DISCARD, vma->vm_mm,
			  lpl_arg(kp, regs, ADDRESS),
			  lpl_arg(kp, regs, END));
	return 0;
}

static struct lpl_hook lpl_range_hook[] = {
	{
		.points = { {
			LPL_AT(mprotect_fixup),
			.entered = lpl_mprotect_entered,
			.returned = lpl_mprotect_returned,
			.data = sizeof(struct lpl_protection),
		} },
	}, {
		.points = { { LPL_AT(zap_page_range_single), .entry = lpl_zap } },
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
	}, {
		.points = { { LPL_AT(zap_page_range), .entry = lpl_zap_all } },
#endif
	}, {
		.points = { { LPL_AT(unmap_hugepage_range), .entry = lpl_zap_hugetlb } },
	},
};

const struct lpl_hooks lpl_range_hooks = {
	lpl_range_hook, ARRAY_SIZE(lpl_range_hook),
};
