/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What later kernels have and earlier ones do not, made of what those have: the events are
 * written for later ones.  What differs in a single place is distinguished there.
 */
#ifndef LAPLACE_MODULE_COMPAT_H
#define LAPLACE_MODULE_COMPAT_H

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
/* A folio is a page, alone or the first of a compound one, by which all of it is meant. */
struct folio {
	union {
		struct {
			unsigned long flags;
			struct list_head lru;
			struct address_space *mapping;
			pgoff_t index;
		};
		struct page page;
	};
};

static_assert(offsetof(struct folio, mapping) == offsetof(struct page, mapping));
static_assert(offsetof(struct folio, index) == offsetof(struct page, index));

#define folio_page(folio, n)	(&(folio)->page + (n))

static inline struct folio *page_folio(struct page *page)
{
	return (struct folio *)compound_head(page);
}

static inline unsigned long folio_pfn(struct folio *folio)
{
	return page_to_pfn(&folio->page);
}

static inline unsigned long folio_nr_pages(struct folio *folio)
{
	return compound_nr(&folio->page);
}

static inline size_t folio_size(struct folio *folio)
{
	return page_size(&folio->page);
}

static inline void *folio_address(struct folio *folio)
{
	return page_address(&folio->page);
}

static inline bool folio_test_anon(struct folio *folio)
{
	return PageAnon(&folio->page);
}

static inline bool folio_test_large(struct folio *folio)
{
	return PageHead(&folio->page);
}

static inline bool folio_test_hugetlb(struct folio *folio)
{
	return PageHuge(&folio->page);
}

static inline bool folio_test_swapbacked(struct folio *folio)
{
	return PageSwapBacked(&folio->page);
}

static inline bool folio_test_swapcache(struct folio *folio)
{
	return PageSwapCache(&folio->page);
}

static inline bool folio_test_active(struct folio *folio)
{
	return PageActive(&folio->page);
}

static inline bool folio_test_unevictable(struct folio *folio)
{
	return PageUnevictable(&folio->page);
}

static inline bool folio_test_writeback(struct folio *folio)
{
	return PageWriteback(&folio->page);
}

static inline bool folio_test_mlocked(struct folio *folio)
{
	return PageMlocked(&folio->page);
}

static inline int folio_ref_count(struct folio *folio)
{
	return page_ref_count(&folio->page);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
static inline bool mapping_empty(const struct address_space *mapping)
{
	return xa_empty(&mapping->i_pages);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
/* No fault ends without the lock that it began with, unless it is to be tried again. */
#define VM_FAULT_COMPLETED	0
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
/* The mappings of a space are in a list, too. */
struct vma_iterator {
	struct vm_area_struct *next;
};

/* From the first one on. */
#define VMA_ITERATOR(name, mm, from) \
	struct vma_iterator name = { .next = (mm)->mmap + BUILD_BUG_ON_ZERO(from) }

static inline struct vm_area_struct *vma_next(struct vma_iterator *iterator)
{
	struct vm_area_struct *vma = iterator->next;

	if (vma)
		iterator->next = vma->vm_next;
	return vma;
}

#define for_each_vma(iterator, vma)	while (((vma) = vma_next(&(iterator))))
#endif

#endif
