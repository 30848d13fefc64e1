// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of swap: pages that leave their spaces, or the file of shared memory,
 * for a swap area, and that come back.
 *
 * Reported is when a space loses and gets a page.  Between the two the frame may
 * stay, for a while, in the cache of the swap area.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/rmap.h>
#include <linux/swap.h>
#include <linux/swapops.h>

static struct kernel_trace_record *lpl_swap_begin(unsigned long *flags, u32 tag,
						  swp_entry_t entry, u64 frame,
						  unsigned long pages)
{
	struct kernel_trace_record *record = lpl_begin(flags, tag);

	record->arg[KTR_SWAP_SLOT] = KTR_SWAP_ENTRY(swp_type(entry), swp_offset(entry));
	record->arg[KTR_SWAP_FRAME] = frame;
	record->arg[KTR_SWAP_PAGES] = pages;
	return record;
}

static void lpl_swap(u32 tag, const struct mm_struct *mm, unsigned long address,
		     swp_entry_t entry, u64 frame, unsigned long pages)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_swap_begin(&flags, tag, entry, frame, pages);
	record->arg[KTR_SWAP_SPACE] = lpl_space(mm);
	record->arg[KTR_SWAP_ADDRESS] = address;
	record->arg[KTR_SWAP_INODE] = KTR_NONE;
	lpl_end(flags);
}

void lpl_swap_shared(u32 tag, struct folio *folio, struct inode *inode,
		     swp_entry_t entry)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_swap_begin(&flags, tag, entry, folio_pfn(folio),
				folio_nr_pages(folio));
	record->arg[KTR_SWAP_DEVICE] = inode->i_sb->s_dev;
	record->arg[KTR_SWAP_INODE] = lpl_inode_id(inode);
	record->arg[KTR_SWAP_OFFSET] = folio->index;
	lpl_end(flags);
}

/* The swap entry of a page in the swap cache. */
swp_entry_t lpl_swap_entry(struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return page_swap_entry(page);
#else
	return (swp_entry_t){ .val = page_private(page) };
#endif
}

/* try_to_unmap_one(folio, vma, address, ...): one space is to lose a folio. */
struct lpl_unmapping {
	struct folio *folio;
	struct vm_area_struct *vma;
	unsigned long address;
};

/* Pages of the folio that are found swapped out, one after the other. */
struct lpl_swapped {
	const struct lpl_unmapping *from;
	unsigned long address;
	unsigned long first;	/* in the folio */
	unsigned long pages;
};

static void lpl_swapped_send(struct lpl_swapped *run)
{
	struct page *page = folio_page(run->from->folio, run->first);

	if (run->pages)
		lpl_swap(KTR_SWAP_OUT, run->from->vma->vm_mm, run->address,
			 lpl_swap_entry(page), page_to_pfn(page), run->pages);
	run->pages = 0;
}

static void lpl_swapped_add(void *context, unsigned long address, pte_t pte)
{
	struct lpl_swapped *run = context;
	const struct vm_area_struct *vma = run->from->vma;
	struct folio *folio = run->from->folio;
	unsigned long index = vma->vm_pgoff - folio->index +
			      ((address - vma->vm_start) >> PAGE_SHIFT);

	if (index >= folio_nr_pages(folio) ||
	    pte_to_swp_entry(pte).val != lpl_swap_entry(folio_page(folio, index)).val)
		return;
	if (run->pages && run->first + run->pages != index)
		lpl_swapped_send(run);
	if (!run->pages) {
		run->address = address;
		run->first = index;
	}
	run->pages++;
}

static void lpl_still_there(void *context, unsigned long address,
			    struct page *page, unsigned long pages)
{
}

static int lpl_unmap_entered(struct kretprobe_instance *ri,
			     struct pt_regs *regs)
{
	struct lpl_unmapping *from = (void *)ri->data;

	from->folio = (void *)lpl_arg(ri, regs, PAGE);
	from->vma = (void *)lpl_arg(ri, regs, VMA);
	from->address = lpl_arg(ri, regs, ADDRESS);
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
	/* For a page that moves to another frame, or that a huge one is split into. */
	if (lpl_arg(ri, regs, CONTEXT) & (TTU_MIGRATION | TTU_SPLIT_FREEZE))
		return 1;
#endif
	return !folio_test_anon(from->folio) || folio_test_hugetlb(from->folio);
}

/* The caller holds what keeps the page tables in place. */
static int lpl_unmap_returned(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct lpl_unmapping *from = (void *)ri->data;
	struct mm_struct *mm = from->vma->vm_mm;
	unsigned long end = min(from->address + folio_size(from->folio),
				from->vma->vm_end);
	struct lpl_swapped run = { .from = from };
	struct lpl_walk walk = {
		.context = &run,
		.present = lpl_still_there,
		.swapped = lpl_swapped_add,
	};

	/* MADV_FREE: not written since, and dropped. */
	if (!folio_test_swapbacked(from->folio)) {
		if ((bool)(u8)regs_return_value(regs))
			lpl_range(KTR_DISCARD, mm, from->address, end);
		return 0;
	}
	if (!folio_test_swapcache(from->folio))
		return 0;
	lpl_walk(&walk, mm, from->address, end);
	lpl_swapped_send(&run);
	return 0;
}

/* do_swap_page(vmf) */
struct lpl_swapin {
	struct vm_fault *vmf;
	swp_entry_t entry;
};

static int lpl_swapin_entered(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct lpl_swapin *in = (void *)ri->data;

	in->vmf = (void *)lpl_arg(ri, regs, VMF);
	in->entry = pte_to_swp_entry(in->vmf->orig_pte);
	return non_swap_entry(in->entry);
}

/* Whether all of the folio is mapped, of which the fault was for one page. */
static bool lpl_is_whole(const struct vm_fault *vmf, struct folio *folio,
			 unsigned long index)
{
	unsigned long slot = offset_in_page(vmf->pte) / sizeof(pte_t);
	unsigned long rest = folio_nr_pages(folio) - 1 - index;
	const pte_t *pte = vmf->pte;
	pte_t first, last;

	if (!pte || slot < index || slot + rest >= PTRS_PER_PTE)
		return false;
	first = READ_ONCE(*(pte - index));
	last = READ_ONCE(*(pte + rest));
	return pte_present(first) && pte_pfn(first) == folio_pfn(folio) &&
	       pte_present(last) &&
	       pte_pfn(last) == folio_pfn(folio) + index + rest;
}

static int lpl_swapin_returned(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_swapin *in = (void *)ri->data;
	struct vm_fault *vmf = in->vmf;
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long pages = 1;
	unsigned long frame, index;
	struct folio *folio;

	/* A page takes the place of the entry if all goes well. */
	if (!pte_present(vmf->orig_pte))
		return 0;
	frame = pte_pfn(vmf->orig_pte);
	folio = page_folio(pfn_to_page(frame));
	index = frame - folio_pfn(folio);
	if (folio_test_large(folio) && lpl_is_whole(vmf, folio, index)) {
		pages = folio_nr_pages(folio);
		frame -= index;
		address -= index << PAGE_SHIFT;
		in->entry.val -= index;
	}
	lpl_swap(KTR_SWAP_IN, vmf->vma->vm_mm, address, in->entry, frame, pages);
	return 0;
}

/* shmem_writepage(page, ...): shared memory leaves its file for swap. */
struct lpl_shmem_out {
	struct page *page;
	struct inode *inode;
};

static int lpl_shmem_out_entered(struct kretprobe_instance *ri,
				 struct pt_regs *regs)
{
	struct lpl_shmem_out *out = (void *)ri->data;

	out->page = (void *)lpl_arg(ri, regs, PAGE);
	out->inode = page_folio(out->page)->mapping->host;
	return 0;
}

/* The caller holds the page; what was a large folio may be small ones now. */
static int lpl_shmem_out_returned(struct kretprobe_instance *ri,
				  struct pt_regs *regs)
{
	struct lpl_shmem_out *out = (void *)ri->data;
	struct folio *folio = page_folio(out->page);

	if (READ_ONCE(folio->mapping) || !folio_test_swapcache(folio))
		return 0;
	lpl_cache_remove(folio, out->inode);
	lpl_swap_shared(KTR_SWAP_OUT, folio, out->inode,
			lpl_swap_entry(folio_page(folio, 0)));
	return 0;
}

enum { LPL_TRY_TO_UNMAP_ONE, LPL_DO_SWAP_PAGE, LPL_SHMEM_WRITEPAGE };

static struct lpl_hook lpl_swap_hook[] = {
	[LPL_TRY_TO_UNMAP_ONE] = {
		.points = { {
			LPL_AT(try_to_unmap_one),
			.entered = lpl_unmap_entered,
			.returned = lpl_unmap_returned,
			.data = sizeof(struct lpl_unmapping),
		} },
	},
	[LPL_DO_SWAP_PAGE] = {
		.points = { {
			LPL_AT(do_swap_page),
			.entered = lpl_swapin_entered,
			.returned = lpl_swapin_returned,
			.data = sizeof(struct lpl_swapin),
		} },
	},
	[LPL_SHMEM_WRITEPAGE] = {
		.points = { {
			LPL_AT(shmem_writepage),
			.entered = lpl_shmem_out_entered,
			.returned = lpl_shmem_out_returned,
			.data = sizeof(struct lpl_shmem_out),
		} },
	},
};

bool lpl_swaps_in(swp_entry_t *entry)
{
	const struct lpl_swapin *in = lpl_call_of(&lpl_swap_hook[LPL_DO_SWAP_PAGE]);

	if (in)
		*entry = in->entry;
	return in;
}

const struct lpl_hooks lpl_swap_hooks = {
	lpl_swap_hook, ARRAY_SIZE(lpl_swap_hook),
};
