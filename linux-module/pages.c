// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading page tables: what is there in a range of an address space, as pages
 * or as entries of swap.
 */
#include "laplace.h"

#include <linux/pgtable.h>
#include <linux/swap.h>
#include <linux/swapops.h>

static void lpl_walk_ptes(const struct lpl_walk *walk, pmd_t *pmd,
			  unsigned long at, unsigned long end)
{
	pte_t *pte = pte_offset_kernel(pmd, at);
	pte_t entry;

	for (; at < end; at += PAGE_SIZE, pte++) {
		entry = READ_ONCE(*pte);
		if (pte_none(entry))
			continue;
		if (!pte_present(entry)) {
			if (!non_swap_entry(pte_to_swp_entry(entry)))
				walk->swapped(walk->context, at, entry);
			else if (walk->other)
				walk->other(walk->context);
		} else if (!pte_special(entry) && pfn_valid(pte_pfn(entry))) {
			walk->present(walk->context, at,
				      pfn_to_page(pte_pfn(entry)), 1);
		}
	}
}

static void lpl_walk_pmds(const struct lpl_walk *walk, pud_t *pud,
			  unsigned long at, unsigned long end)
{
	pmd_t *pmd = pmd_offset(pud, at);
	unsigned long next;
	pmd_t entry;

	for (; at < end; at = next, pmd++) {
		next = pmd_addr_end(at, end);
		entry = READ_ONCE(*pmd);
		if (pmd_none(entry) || !pmd_present(entry))
			continue;
		if (!pmd_leaf(entry))
			lpl_walk_ptes(walk, pmd, at, next);
		else if (pfn_valid(pmd_pfn(entry)))
			walk->present(walk->context, at,
				      pfn_to_page(pmd_pfn(entry)) +
				      ((at & ~PMD_MASK) >> PAGE_SHIFT),
				      (next - at) >> PAGE_SHIFT);
	}
}

static void lpl_walk_puds(const struct lpl_walk *walk, p4d_t *p4d,
			  unsigned long at, unsigned long end)
{
	pud_t *pud = pud_offset(p4d, at);
	unsigned long next;
	pud_t entry;

	for (; at < end; at = next, pud++) {
		next = pud_addr_end(at, end);
		entry = READ_ONCE(*pud);
		if (pud_none(entry) || !pud_present(entry))
			continue;
		if (!pud_leaf(entry))
			lpl_walk_pmds(walk, pud, at, next);
		else if (pfn_valid(pud_pfn(entry)))
			walk->present(walk->context, at,
				      pfn_to_page(pud_pfn(entry)) +
				      ((at & ~PUD_MASK) >> PAGE_SHIFT),
				      (next - at) >> PAGE_SHIFT);
	}
}

void lpl_walk(const struct lpl_walk *walk, struct mm_struct *mm,
	      unsigned long start, unsigned long end)
{
	unsigned long at, next;
	p4d_t *p4d;
	pgd_t *pgd;

	for (at = start; at < end; at = next) {
		next = min(end, (at & P4D_MASK) + P4D_SIZE);
		pgd = pgd_offset(mm, at);
		if (pgd_none(*pgd))
			continue;
		p4d = p4d_offset(pgd, at);
		if (!p4d_none(*p4d))
			lpl_walk_puds(walk, p4d, at, next);
	}
}
