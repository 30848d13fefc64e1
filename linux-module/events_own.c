// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages that become a space's own without a write to a shared one: the first
 * touch of anonymous memory, what fork copies at once because a device holds
 * it, what khugepaged copies into a huge page, a private page of hugetlbfs.
 *
 * A space that has no living relatives shares no anonymous pages, and a reader
 * needs no event.  It is sent where there are some, in which the page may be
 * absent still; and in private mappings of files, where it was the file's.
 */
#include "laplace.h"

#include <linux/huge_mm.h>
#include <linux/hugetlb.h>
#include <linux/rmap.h>

/* A page that comes back from swap may have other users. */
static bool lpl_is_exclusive(struct kprobe *kp, struct pt_regs *regs)
{
	/* Where nothing says so, only new pages come here. */
	return !lpl_point_of_probe(kp)->arg[LPL_ARG_FLAGS] ||
	       lpl_arg(kp, regs, FLAGS) & (__force unsigned long)RMAP_EXCLUSIVE;
}

static void lpl_page_own(struct folio *folio, struct vm_area_struct *vma,
			 unsigned long address)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	if (vma_is_anonymous(vma) &&
	    !lpl_has_family(vma->vm_mm))
		return;
	/* That reports more. */
	if (lpl_under(&lpl_cow_hooks))
		return;
	record = lpl_begin(&flags, KTR_PAGE_OWN);
	record->arg[KTR_PAGE_OWN_SPACE] = lpl_space(vma->vm_mm);
	record->arg[KTR_PAGE_OWN_ADDRESS] = address & PAGE_MASK;
	record->arg[KTR_PAGE_OWN_FRAME] = folio_pfn(folio);
	record->arg[KTR_PAGE_OWN_PAGES] = folio_nr_pages(folio);
	lpl_end(flags);
}

/* f(page or folio, vma, address[, flags]) */
static int lpl_new_anon(struct kprobe *kp, struct pt_regs *regs)
{
	struct folio *folio = page_folio((struct page *)lpl_arg(kp, regs, PAGE));
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	unsigned long address = lpl_arg(kp, regs, ADDRESS);

	if (unlikely(folio_nr_pages(folio) == HPAGE_PMD_NR))
		lpl_huge(KTR_HUGE_MAP, vma->vm_mm, address & HPAGE_PMD_MASK,
			 folio_pfn(folio));
	if (lpl_is_exclusive(kp, regs))
		lpl_page_own(folio, vma, address);
	return 0;
}

/* f(page or folio, vma, address) */
static int lpl_new_hugetlb(struct kprobe *kp, struct pt_regs *regs)
{
	lpl_page_own(page_folio((struct page *)lpl_arg(kp, regs, PAGE)),
		     (void *)lpl_arg(kp, regs, VMA),
		     lpl_arg(kp, regs, ADDRESS));
	return 0;
}

static struct lpl_hook lpl_own_hook[] = {
	{
		.points = {
			{ LPL_AT(folio_add_new_anon_rmap), .entry = lpl_new_anon },
			{ LPL_AT(page_add_new_anon_rmap), .entry = lpl_new_anon },
		},
	}, {
		.points = {
			{ LPL_AT(hugetlb_add_new_anon_rmap), .entry = lpl_new_hugetlb },
			{ LPL_AT(hugepage_add_new_anon_rmap), .entry = lpl_new_hugetlb },
		},
	},
};

const struct lpl_hooks lpl_own_hooks = {
	lpl_own_hook, ARRAY_SIZE(lpl_own_hook),
};
