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

	*vmf = (void *)regs_get_kernel_argument(regs, 0);
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

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
/* alloc_set_pte(vmf, page), into which do_set_pmd is inlined: for one page mostly. */
static int lpl_set_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct page *page = (void *)regs_get_kernel_argument(regs, 1);

	lpl_huge_entered(ri, regs);
	return !PageTransCompound(page);
}
#endif

static void lpl_split(const struct vm_area_struct *vma, const pmd_t *entry,
		      unsigned long address)
{
	pmd_t pmd = READ_ONCE(*entry);

	if (pmd_trans_huge(pmd))
		lpl_huge(KTR_HUGE_SPLIT, vma->vm_mm,
			 address & HPAGE_PMD_MASK, pmd_pfn(pmd));
}

/* split_huge_pmd_locked(vma, address, pmd, ...) */
static int lpl_split_locked(struct kprobe *kp, struct pt_regs *regs)
{
	lpl_split((void *)regs_get_kernel_argument(regs, 0),
		  (void *)regs_get_kernel_argument(regs, 2),
		  regs_get_kernel_argument(regs, 1));
	return 0;
}

/* __split_huge_pmd(vma, pmd, address, ...), where the other is inlined. */
static int lpl_split_unlocked(struct kprobe *kp, struct pt_regs *regs)
{
	lpl_split((void *)regs_get_kernel_argument(regs, 0),
		  (void *)regs_get_kernel_argument(regs, 1),
		  regs_get_kernel_argument(regs, 2));
	return 0;
}

static struct lpl_hook lpl_huge_hook[] = {
	{
		.event = "huge_zero",
		.optional = !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE),
		.points = { {
			.name = "do_huge_pmd_anonymous_page",
			.entered = lpl_huge_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
		} },
	}, {
		.event = "huge_file",
		.optional = !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE),
		.points = { {
			.name = "do_set_pmd",
			.entered = lpl_huge_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
		}, {
			.name = "alloc_set_pte",
			.entered = lpl_set_entered,
			.returned = lpl_huge_returned,
			.data = sizeof(struct vm_fault *),
#endif
		} },
	}, {
		.event = "huge_split",
		.optional = !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE),
		.points = {
			{ .name = "split_huge_pmd_locked", .entry = lpl_split_locked },
			{ .name = "__split_huge_pmd", .entry = lpl_split_unlocked },
		},
	},
};

const struct lpl_hooks lpl_huge_hooks = {
	lpl_huge_hook, ARRAY_SIZE(lpl_huge_hook),
};
