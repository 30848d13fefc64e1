/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kVMTrace: the pool of open pages.
 *
 * A page that is referenced while it is protected faults, is logged, and enters
 * the pool; when the pool is full another one leaves it and is protected.  An
 * entry is found by the address of the page table's entry, which names space and
 * page at once and is valid as long as anything is mapped there.
 *
 * FIFO takes the page that entered first.  CLOCK looks at the accessed bit of the page
 * that entered first, and if it is set clears it and lets the page begin anew.
 * The bit is also what the kernel's own replacement lives on: what CLOCK took away
 * is kept in `young` and given back whenever the page leaves the pool or somebody
 * asks, so that tracing changes nothing there.
 */
#include <linux/sched.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/vmalloc.h>
#include <asm/pgalloc.h>

#include "kvmtrace.h"

struct kvmtrace_page {
	struct list_head order;		/* in the pool, from the first entered; or free */
	struct kvmtrace_page *next;	/* with the same hash */
	pte_t *ptep;
	struct mm_struct *mm;
	unsigned long address;
	unsigned long frame;		/* when last logged */
	int young;			/* CLOCK cleared its accessed bit */
};

int kvmtrace_on;
struct kvmtrace_pool kvmtrace_pool = { 512, KVMTRACE_CLOCK, 0, 0 };

static struct kvmtrace_page *pages, **table;
static unsigned int mask;		/* of the table */
static LIST_HEAD(opened);
static LIST_HEAD(spare);

static struct kvmtrace_page **slot(pte_t *ptep)
{
	unsigned long n = (unsigned long)ptep / sizeof(*ptep);

	return &table[(n ^ n >> 10) & mask];
}

static struct kvmtrace_page *find(pte_t *ptep)
{
	struct kvmtrace_page *page = *slot(ptep);

	while (page && page->ptep != ptep)
		page = page->next;
	return page;
}

/* The entry for an address, if there is a page table. */
static pte_t *entry_of(struct mm_struct *mm, unsigned long address)
{
	pgd_t *pgd = pgd_offset(mm, address);
	pmd_t *pmd;

	if (pgd_none(*pgd))
		return NULL;
	pmd = pmd_offset(pgd, address);
	if (pmd_none(*pmd) || pmd_bad(*pmd))
		return NULL;
	return pte_offset(pmd, address);
}

pte_t __kvmtrace_pte(struct mm_struct *mm, unsigned long address)
{
	pte_t *ptep = entry_of(mm, address);

	return ptep ? *ptep : __pte(0);
}

/* ---- open and protected ---- */

static inline int is_open(pte_t pte)
{
	return (pte.pte_low & (_PAGE_PRESENT | _PAGE_USER)) == (_PAGE_PRESENT | _PAGE_USER);
}

static inline int is_protected(pte_t pte)
{
	return (pte.pte_low & (_PAGE_PRESENT | _PAGE_PROTNONE | _PAGE_USER)) ==
	       (_PAGE_PROTNONE | _PAGE_USER);
}

static inline void protect(pte_t *ptep)
{
	ptep->pte_low = (ptep->pte_low & ~_PAGE_PRESENT) | _PAGE_PROTNONE;
}

static inline void release(pte_t *ptep)
{
	ptep->pte_low = (ptep->pte_low & ~_PAGE_PROTNONE) | _PAGE_PRESENT;
}

static void flush(struct mm_struct *mm, unsigned long address)
{
	/* another space's translations went when this one was loaded */
	if (mm == current->active_mm)
		__flush_tlb_one(address);
}

static void give_back_young(struct kvmtrace_page *page)
{
	if (page->young && pte_present(*page->ptep))
		page->ptep->pte_low |= _PAGE_ACCESSED;
	page->young = 0;
}

/* ---- the pool ---- */

static void leave(struct kvmtrace_page *page)
{
	struct kvmtrace_page **at = slot(page->ptep);

	give_back_young(page);
	while (*at != page)
		at = &(*at)->next;
	*at = page->next;
	list_del(&page->order);
	list_add(&page->order, &spare);
	kvmtrace_pool.open--;
}

static void evict(struct kvmtrace_page *page)
{
	if (is_open(*page->ptep)) {
		protect(page->ptep);
		flush(page->mm, page->address);
	} else {
		kvmtrace_pool.wrong++;
	}
	leave(page);
}

static struct kvmtrace_page *victim(void)
{
	for (;;) {
		struct kvmtrace_page *page =
			list_entry(opened.next, struct kvmtrace_page, order);

		if (kvmtrace_pool.policy != KVMTRACE_CLOCK || !pte_young(*page->ptep))
			return page;
		/* each page is passed once, and then is not young: this ends */
		page->ptep->pte_low &= ~_PAGE_ACCESSED;
		page->young = 1;
		flush(page->mm, page->address);
		list_del(&page->order);
		list_add_tail(&page->order, &opened);
	}
}

static struct kvmtrace_page *enter(struct mm_struct *mm, unsigned long address, pte_t *ptep)
{
	struct kvmtrace_page *page, **at = slot(ptep);

	if (list_empty(&spare))
		evict(victim());
	page = list_entry(spare.next, struct kvmtrace_page, order);
	list_del(&page->order);
	list_add_tail(&page->order, &opened);
	page->ptep = ptep;
	page->mm = mm;
	page->address = address & PAGE_MASK;
	page->young = 0;
	page->next = *at;
	*at = page;
	kvmtrace_pool.open++;
	return page;
}

/* ---- hooks where entries are made and taken away ---- */

void __kvmtrace_protect(struct mm_struct *mm, pte_t *ptep)
{
	if (kvmtrace_traced(mm) && is_open(*ptep) && !find(ptep))
		protect(ptep);
}

void __kvmtrace_forget(pte_t *ptep)
{
	struct kvmtrace_page *page = find(ptep);

	if (!page)
		return;
	kvmtrace_log(KVMTRACE_LEFT, 0, page->mm, page->address);
	leave(page);
}

void __kvmtrace_young(pte_t *ptep)
{
	struct kvmtrace_page *page = find(ptep);

	if (page)
		give_back_young(page);
}

/* ---- references ---- */

/* What a fault has made of an entry that is not in the pool. */
static unsigned int change(pte_t before, pte_t now)
{
	/*
	 * Protected: it was there before.  Present: just now filled, by this very
	 * fault, for all other entries that are present are in the pool.
	 */
	if (!(now.pte_low & _PAGE_PRESENT))
		return 0;
	if (pte_none(before))
		return KVMTRACE_FRESH;
	if (!pte_present(before))
		return KVMTRACE_SWAPIN;
	return (before.pte_low ^ now.pte_low) & PAGE_MASK ? KVMTRACE_COPIED : 0;
}

static void log_page(unsigned int flags, struct vm_area_struct *vma, unsigned long address,
		     pte_t before, pte_t now)
{
	struct page *page = pte_page(now);
	struct kvmtrace_record *record;

	/* a first write to the page of zeros ends no sharing of memory */
	if ((flags & KVMTRACE_COPIED) && pte_present(before) && pte_page(before) == ZERO_PAGE(0))
		flags &= ~KVMTRACE_COPIED;
	if ((flags & KVMTRACE_WRITE) && pte_present(before) && !pte_write(before) &&
	    !((before.pte_low ^ now.pte_low) & PAGE_MASK))
		flags |= KVMTRACE_KEPT;
	if (vma->vm_flags & VM_SHARED)
		flags |= KVMTRACE_SHARED;
	if (kvmtrace_is_sysv(vma))
		flags |= KVMTRACE_SYSV;
	record = kvmtrace_log(KVMTRACE_REFERENCE, flags, vma->vm_mm, address);
	/* a private copy of a file's page is in no mapping, or in that of swap */
	if (VALID_PAGE(page) && page->mapping && page->mapping->host &&
	    !PageSwapCache(page)) {
		record->is.word[0] = kdev_t_to_nr(page->mapping->host->i_dev);
		record->is.word[1] = page->mapping->host->i_ino;
		record->is.word[2] = page->index;
	}
	record->is.word[3] = now.pte_low >> PAGE_SHIFT;
}

void __kvmtrace_fault(struct vm_area_struct *vma, unsigned long address, int write, int user,
		      pte_t before)
{
	unsigned int flags = (write ? KVMTRACE_WRITE : 0) | (user ? KVMTRACE_USER : 0);
	struct kvmtrace_page *page;
	pte_t *ptep;

	ptep = entry_of(vma->vm_mm, address);
	/* taken away while the fault slept: it comes again */
	if (!ptep || !(is_open(*ptep) || is_protected(*ptep)))
		return;
	if (!kvmtrace_on || !kvmtrace_traced(vma->vm_mm)) {
		/* nothing should be left protected; a program would fault for ever */
		if (is_protected(*ptep))
			release(ptep);
		return;
	}
	page = find(ptep);
	if (page) {
		flags |= KVMTRACE_OPEN;
		if (page->frame != ptep->pte_low >> PAGE_SHIFT)
			flags |= KVMTRACE_COPIED;
	} else {
		flags |= change(before, *ptep);
		page = enter(vma->vm_mm, address, ptep);
		if (is_protected(*ptep))
			release(ptep);
	}
	page->frame = ptep->pte_low >> PAGE_SHIFT;
	log_page(flags, vma, address, before, *ptep);
}

void __kvmtrace_follow(struct vm_area_struct *vma, unsigned long address, int write, pte_t before)
{
	unsigned int flags = KVMTRACE_FOLLOW | (write ? KVMTRACE_WRITE : 0);
	struct kvmtrace_page *page;
	pte_t *ptep = entry_of(vma->vm_mm, address);

	if (!kvmtrace_traced(vma->vm_mm) || !ptep)
		return;
	page = find(ptep);
	if (page) {
		flags |= KVMTRACE_OPEN;
		if (page->frame != ptep->pte_low >> PAGE_SHIFT)
			flags |= KVMTRACE_COPIED;
		page->frame = ptep->pte_low >> PAGE_SHIFT;
	} else {
		flags |= change(before, *ptep);
	}
	log_page(flags, vma, address, before, *ptep);
	__kvmtrace_protect(vma->vm_mm, ptep);
}

/* ---- all pages at once ---- */

/*
 * By the page tables: mremap() and a mapping of /dev/zero fill entries, and may sleep,
 * before there is an area that has them.
 */
static void for_each_entry(struct mm_struct *mm, int (*is)(pte_t), void (*make)(pte_t *))
{
	struct vm_area_struct *vma = mm->mmap;
	unsigned long address = 0;

	while (address < TASK_SIZE) {
		pte_t *ptep = entry_of(mm, address);

		if (!ptep) {
			address = (address + PMD_SIZE) & PMD_MASK;
			continue;
		}
		while (vma && vma->vm_end <= address)
			vma = vma->vm_next;
		/* a device's memory is in no working set; but fork and mprotect
		 * protect it, not knowing what it is */
		if (is(*ptep) && !(make == protect && vma && vma->vm_start <= address &&
				   (vma->vm_flags & VM_IO)))
			make(ptep);
		address += PAGE_SIZE;
	}
}

static void for_each_space(int (*is)(pte_t), void (*make)(pte_t *))
{
	struct list_head *at;

	spin_lock(&mmlist_lock);
	list_for_each(at, &init_mm.mmlist) {
		struct mm_struct *mm = list_entry(at, struct mm_struct, mmlist);

		if (kvmtrace_traced(mm))
			for_each_entry(mm, is, make);
	}
	spin_unlock(&mmlist_lock);
	flush_tlb_all();
}

void kvmtrace_protect_space(struct mm_struct *mm)
{
	for_each_entry(mm, is_open, protect);
	flush_tlb_all();
}

void kvmtrace_protect_all(void)
{
	for_each_space(is_open, protect);
}

void kvmtrace_release_all(void)
{
	while (!list_empty(&opened))
		evict(list_entry(opened.next, struct kvmtrace_page, order));
	for_each_space(is_protected, release);
}

/* ---- its size ---- */

int kvmtrace_set_pool(unsigned int size, unsigned int policy)
{
	struct kvmtrace_page *new_pages, **new_table;
	unsigned int slots = 1, i;

	if (size < KVMTRACE_POOL_MIN || size > KVMTRACE_POOL_MAX)
		return -EINVAL;
	if (policy != KVMTRACE_FIFO && policy != KVMTRACE_CLOCK)
		return -EINVAL;
	while (slots < size)
		slots *= 2;
	new_pages = vmalloc(size * sizeof(*new_pages));
	new_table = vmalloc(slots * sizeof(*new_table));
	if (!new_pages || !new_table) {
		if (new_pages)
			vfree(new_pages);
		if (new_table)
			vfree(new_table);
		return -ENOMEM;
	}
	while (!list_empty(&opened))
		evict(list_entry(opened.next, struct kvmtrace_page, order));
	if (pages) {
		vfree(pages);
		vfree(table);
	}
	memset(new_pages, 0, size * sizeof(*new_pages));
	memset(new_table, 0, slots * sizeof(*new_table));
	INIT_LIST_HEAD(&spare);
	for (i = 0; i < size; i++)
		list_add_tail(&new_pages[i].order, &spare);
	pages = new_pages;
	table = new_table;
	mask = slots - 1;
	kvmtrace_pool.size = size;
	kvmtrace_pool.policy = policy;
	return 0;
}

/* ---- the kernel's command line ---- */

char *kvmtrace_given;

unsigned int __init kvmtrace_number(char **text)
{
	unsigned int value = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (value < 100000000)	/* which is too much already */
			value = 10 * value + (**text - '0');
	return value;
}

/* kvmtrace=PAGES[,fifo|,clock]; what is impossible is refused when it is allocated */
static int __init kvmtrace_setup(char *text)
{
	kvmtrace_given = text;
	kvmtrace_pool.size = kvmtrace_number(&text);
	if (!strcmp(text, ",fifo"))
		kvmtrace_pool.policy = KVMTRACE_FIFO;
	else if (!strcmp(text, ",clock"))
		kvmtrace_pool.policy = KVMTRACE_CLOCK;
	else if (*text)
		kvmtrace_pool.size = 0;
	return 1;
}
__setup("kvmtrace=", kvmtrace_setup);
