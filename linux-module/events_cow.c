// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of copying on write: a virtual page of a private mapping becomes the
 * space's own.
 *
 * All are seen as the fault's handler returns, which is when the new frame is
 * known and before the access is tried again.
 */
#include "laplace.h"

#include <linux/huge_mm.h>
#include <linux/hugetlb.h>

static void lpl_cow_break(const struct vm_area_struct *vma,
			  unsigned long address, u64 old_frame, u64 new_frame)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_COW_BREAK);
	record->arg[KTR_COW_BREAK_SPACE] = lpl_space(vma->vm_mm);
	record->arg[KTR_COW_BREAK_ADDRESS] = address & PAGE_MASK;
	record->arg[KTR_COW_BREAK_OLD_FRAME] = old_frame;
	record->arg[KTR_COW_BREAK_NEW_FRAME] = new_frame;
	lpl_end(flags);
}

/* Many pages that one entry maps. */
static void lpl_cow_break_all(const struct vm_area_struct *vma,
			      unsigned long address, u64 old_frame,
			      u64 new_frame, unsigned long pages)
{
	unsigned long i;

	for (i = 0; i < pages; i++)
		lpl_cow_break(vma, address + i * PAGE_SIZE, old_frame + i,
			      new_frame + i);
}

/* All but that of hugetlbfs are f(struct vm_fault *vmf). */
static int lpl_fault_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct vm_fault **vmf = (void *)ri->data;

	*vmf = (void *)lpl_arg(ri, regs, VMF);
	return !!((*vmf)->vma->vm_flags & VM_SHARED);
}

/* Whether the fault was served and its locks, hence page tables, still held. */
static bool lpl_served(const struct pt_regs *regs)
{
	vm_fault_t result = (__force vm_fault_t)regs_return_value((struct pt_regs *)regs);

	return !(result & (VM_FAULT_ERROR | VM_FAULT_RETRY | VM_FAULT_NOPAGE |
			   VM_FAULT_FALLBACK | VM_FAULT_COMPLETED));
}

/* A write to a page that is mapped read-only: copied, or kept by its last user. */
static int lpl_wp_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct vm_fault *vmf = *(struct vm_fault **)ri->data;
	unsigned long old_frame, new_frame;
	pte_t pte;

	if (!lpl_served(regs) || !vmf->pte)
		return 0;
	pte = READ_ONCE(*vmf->pte);
	if (!pte_present(pte) || !pte_present(vmf->orig_pte))
		return 0;
	old_frame = pte_pfn(vmf->orig_pte);
	new_frame = pte_pfn(pte);
	if (new_frame != old_frame ||
	    (pte_write(pte) && !pte_write(vmf->orig_pte)))
		lpl_cow_break(vmf->vma, vmf->address, old_frame, new_frame);
	return 0;
}

/* The same where one entry maps many pages. */
struct lpl_huge_fault {
	struct vm_fault *vmf;
	pmd_t old;
};

/* What the entry was. */
#if LPL_HAS_vm_fault_orig_pmd
#define LPL_HUGE_WP			LPL_AT(do_huge_pmd_wp_page)
#define LPL_OLD_PMD(vmf, ri, regs)	((vmf)->orig_pmd)
#else
#define LPL_HUGE_WP			LPL_AT(do_huge_pmd_wp_page_entry)
#define LPL_OLD_PMD(vmf, ri, regs)	__pmd(lpl_arg(ri, regs, ENTRY))
#endif

static int lpl_huge_wp_entered(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_huge_fault *fault = (void *)ri->data;

	fault->vmf = (void *)lpl_arg(ri, regs, VMF);
	fault->old = LPL_OLD_PMD(fault->vmf, ri, regs);
	return !!(fault->vmf->vma->vm_flags & VM_SHARED);
}

static int lpl_huge_wp_returned(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	const struct lpl_huge_fault *fault = (void *)ri->data;
	const struct vm_fault *vmf = fault->vmf;
	unsigned long old_frame, new_frame;
	pmd_t pmd;

	if (!lpl_served(regs))
		return 0;
	pmd = READ_ONCE(*vmf->pmd);
	if (!pmd_trans_huge(pmd) || !pmd_trans_huge(fault->old))
		return 0;
	old_frame = pmd_pfn(fault->old);
	new_frame = pmd_pfn(pmd);
	if (new_frame == old_frame &&
	    !(pmd_write(pmd) && !pmd_write(fault->old)))
		return 0;
	lpl_cow_break_all(vmf->vma, vmf->address & HPAGE_PMD_MASK, old_frame,
			  new_frame, HPAGE_PMD_NR);
	return 0;
}

/* The first access to a page of a private file mapping is a write. */
static int lpl_finish_returned(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct vm_fault *vmf = *(struct vm_fault **)ri->data;

	if (lpl_served(regs) && (vmf->flags & FAULT_FLAG_WRITE) &&
	    vmf->cow_page && vmf->page)
		lpl_cow_break(vmf->vma, vmf->address, page_to_pfn(vmf->page),
			      page_to_pfn(vmf->cow_page));
	return 0;
}

/* The same in hugetlbfs, where pages are of several sizes. */
struct lpl_hugetlb {
	struct vm_area_struct *vma;
	unsigned long address;
	const pte_t *entry;
	pte_t old;
};

static int lpl_hugetlb_begin(struct kretprobe_instance *ri)
{
	struct lpl_hugetlb *fault = (void *)ri->data;

	if (!lpl_peek(&fault->old, fault->entry, sizeof(fault->old)))
		return lpl_is_strange(lpl_point_of_call(ri));
	return !!(fault->vma->vm_flags & VM_MAYSHARE);
}

/* f(..., vmf) */
static int lpl_hugetlb_fault_entered(struct kretprobe_instance *ri,
				     struct pt_regs *regs)
{
	const struct vm_fault *vmf = (void *)lpl_arg(ri, regs, VMF);
	struct lpl_hugetlb *fault = (void *)ri->data;

	fault->vma = vmf->vma;
	fault->address = vmf->address;
	fault->entry = vmf->pte;
	return lpl_hugetlb_begin(ri);
}

/* f(mm, vma, address, entry, ...) */
static int lpl_hugetlb_entered(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_hugetlb *fault = (void *)ri->data;

	fault->vma = (void *)lpl_arg(ri, regs, VMA);
	fault->address = lpl_arg(ri, regs, ADDRESS);
	fault->entry = (void *)lpl_arg(ri, regs, PTE);
	return lpl_hugetlb_begin(ri);
}

static int lpl_hugetlb_returned(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	struct lpl_hugetlb *fault = (void *)ri->data;
	unsigned long size = vma_kernel_pagesize(fault->vma);
	pte_t pte = READ_ONCE(*fault->entry);

	if ((vm_fault_t)regs_return_value(regs) || !pte_present(pte))
		return 0;
	if (pte_pfn(pte) != pte_pfn(fault->old) ||
	    (pte_write(pte) && !pte_write(fault->old)))
		lpl_cow_break_all(fault->vma, fault->address & ~(size - 1),
				  pte_pfn(fault->old), pte_pfn(pte),
				  size >> PAGE_SHIFT);
	return 0;
}

static struct lpl_hook lpl_cow_hook[] = {
	{
		.points = { {
			LPL_AT(do_wp_page),
			.entered = lpl_fault_entered,
			.returned = lpl_wp_returned,
			.data = sizeof(struct vm_fault *),
		} },
	}, {
		.points = { {
			LPL_AT(finish_fault),
			.entered = lpl_fault_entered,
			.returned = lpl_finish_returned,
			.data = sizeof(struct vm_fault *),
		} },
	}, {
		/* Without transparent huge pages there is none. */
		.points = { {
			LPL_HUGE_WP,
			.entered = lpl_huge_wp_entered,
			.returned = lpl_huge_wp_returned,
			.data = sizeof(struct lpl_huge_fault),
		} },
	}, {
		.points = { {
			LPL_AT(hugetlb_wp_fault),
			.entered = lpl_hugetlb_fault_entered,
			.returned = lpl_hugetlb_returned,
			.data = sizeof(struct lpl_hugetlb),
		}, {
			LPL_AT(hugetlb_wp),
			.entered = lpl_hugetlb_entered,
			.returned = lpl_hugetlb_returned,
			.data = sizeof(struct lpl_hugetlb),
		}, {
			LPL_AT(hugetlb_cow),
			.entered = lpl_hugetlb_entered,
			.returned = lpl_hugetlb_returned,
			.data = sizeof(struct lpl_hugetlb),
		} },
	},
};

const struct lpl_hooks lpl_cow_hooks = {
	lpl_cow_hook, ARRAY_SIZE(lpl_cow_hook),
};
