// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of transparent huge pages: where one entry of a page table maps many
 * pages, and where it no longer does.  Those of new anonymous pages are seen
 * where all such pages are (events_own.c).
 */
#include "laplace.h"

#include <linux/huge_mm.h>

void lpl_huge(u32 tag, const struct mm_struct *mm, unsigned long address,
	      u64 frame)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, tag);
	record->arg[KTR_PAGES_SPACE] = lpl_space(mm);
	record->arg[KTR_PAGES_ADDRESS] = address;
	record->arg[KTR_PAGES_FRAME] = frame;
	record->arg[KTR_PAGES_PAGES] = HPAGE_PMD_NR;
	lpl_end(flags);
}

/* Both are f(struct vm_fault *vmf, ...). */
static int lpl_huge_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct vm_fault **vmf = (void *)ri->data;

	*vmf = (void *)lpl_arg(ri, regs, VMF);
	return 0;
}

/* A huge page of a file, or the one of zeros. */
static int lpl_huge_returned(struct kretprobe_instance *ri,
			     struct pt_regs *regs)
{
	struct vm_fault *vmf = *(struct vm_fault **)ri->data;
	pmd_t pmd;

	if ((vm_fault_t)regs_return_value(regs))
		return 0;
	pmd = READ_ONCE(*vmf->pmd);
	if (pmd_trans_huge(pmd) && !PageAnon(pmd_page(pmd)))
		lpl_huge(KTR_HUGE_MAP, vmf->vma->vm_mm,
			 vmf->address & HPAGE_PMD_MASK, pmd_pfn(pmd));
	return 0;
}

/* alloc_set_pte(vmf, page), into which do_set_pmd is inlined: for one page mostly. */
static int lpl_set_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct page *page = (void *)lpl_arg(ri, regs, PAGE);

	lpl_huge_entered(ri, regs);
	return !PageTransCompound(page);
}

static void lpl_split(const struct vm_area_struct *vma, const pmd_t *entry,
		      unsigned long address)
{
	pmd_t pmd = READ_ONCE(*entry);

	if (pmd_trans_huge(pmd))
		lpl_huge(KTR_HUGE_SPLIT, vma->vm_mm,
			 address & HPAGE_PMD_MASK, pmd_pfn(pmd));
}

/* f(vma, address, pmd, ...): split_huge_pmd_locked, or __split_huge_pmd where it is inlined. */
static int lpl_split_entered(struct kprobe *kp, struct pt_regs *regs)
{
	lpl_split((void *)lpl_arg(kp, regs, VMA),
		  (void *)lpl_arg(kp, regs, PMD),
		  lpl_arg(kp, regs, ADDRESS));
	return 0;
}

static struct lpl_hook lpl_huge_hook[] = {
	{
		.points = { {
			LPL_AT(do_huge_pmd_anonymous_page),
			.entered = lpl_huge_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
		} },
	}, {
		.points = { {
			LPL_AT(do_set_pmd),
			.entered = lpl_huge_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
		}, {
			LPL_AT(alloc_set_pte),
			.entered = lpl_set_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
		} },
	}, {
		.points = {
			{ LPL_AT(split_huge_pmd_locked), .entry = lpl_split_entered },
			{ LPL_AT(__split_huge_pmd), .entry = lpl_split_entered },
		},
	},
};

const struct lpl_hooks lpl_huge_hooks = {
	lpl_huge_hook, ARRAY_SIZE(lpl_huge_hook),
};
