// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What exists when the module is loaded: tasks, their address spaces, what is
 * mapped in them, pages that do not follow from that, and the page cache.
 *
 * The events are attached by then, and are sent from the moment on in which the snapshot
 * begins: so a change of the page cache while that is sent is sent twice rather than not at
 * all.  Tasks and spaces are sent as they are at one moment, when no task is in the middle of
 * changing one: a fork of a space that was not sent yet would make one that no event
 * names, and a frame that is freed and used again would make two pages one.
 */
#include "laplace.h"

#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/pagemap.h>
#include <linux/path.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/xarray.h>

/*
 * Spaces that fork is making while the module is loaded: they are no task's yet.
 * (A fork that began before its event was attached is over long before the last
 * one is.)
 */
static DEFINE_XARRAY(lpl_unborn);
static bool lpl_is_sent;

void lpl_fork_begins(const struct mm_struct *child)
{
	if (!READ_ONCE(lpl_is_sent))
		xa_store(&lpl_unborn, lpl_space(child), xa_mk_value(1),
			 GFP_ATOMIC | __GFP_NOWARN);
}

void lpl_fork_ends(const struct mm_struct *child)
{
	if (!READ_ONCE(lpl_is_sent))
		xa_erase(&lpl_unborn, lpl_space(child));
}

/* Spaces that cannot change: of each there is a reference and the lock. */
struct lpl_held {
	struct mm_struct **mm;
	size_t room, count;
};

static bool lpl_hold(struct lpl_held *held, struct mm_struct *mm)
{
	size_t i;

	for (i = 0; i < held->count; i++)
		if (held->mm[i] == mm)
			return true;
	if (held->count == held->room || !mmap_read_trylock(mm))
		return false;
	mmget(mm);
	held->mm[held->count++] = mm;
	return true;
}

/* How many spaces are left out; with `all`, no more than one. */
static size_t lpl_hold_spaces(struct lpl_held *held, bool all)
{
	struct task_struct *process, *task;
	size_t missed = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		task_lock(task);
		if (task->mm && !(task->flags & PF_KTHREAD) &&
		    !(all && missed))
			missed += !lpl_hold(held, task->mm);
		task_unlock(task);
	}
	rcu_read_unlock();
	return missed;
}

/* The space of a process, even if its first thread has ended; 0: it has none. */
static u64 lpl_space_of_process(struct task_struct *process)
{
	struct task_struct *task;
	u64 space = 0;

	for_each_thread(process, task) {
		task_lock(task);
		if (task->mm && !(task->flags & PF_KTHREAD))
			space = lpl_space(task->mm);
		task_unlock(task);
	}
	return space;
}

/* One that has ended, but that its process or its parent keeps, ends again. */
static void lpl_snapshot_process(struct task_struct *process)
{
	u64 space = lpl_space_of_process(process);
	struct task_struct *task;

	for_each_thread(process, task) {
		bool has_space = space && (task->mm || task->exit_state);

		lpl_task_create(task, has_space ? space : 0, 0);
		if (has_space)
			lpl_space_assign(task, space);
	}
	for_each_thread(process, task)
		if (task->exit_state)
			lpl_task_exit(task);
}

static void lpl_snapshot_tasks(void)
{
	struct task_struct *process;

	rcu_read_lock();
	for_each_process(process)
		lpl_snapshot_process(process);
	rcu_read_unlock();
}

/* Pages in a row that a reader could not know of. */
struct lpl_present {
	const struct vm_area_struct *vma;
	unsigned long start;
	unsigned long pages;
	u64 frame;		/* of the first, or KTR_NONE */
	u64 swap;		/* likewise */
};

static void lpl_present_send(struct lpl_present *run)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	if (!run->pages)
		return;
	record = lpl_begin(&flags, KTR_PRESENT);
	record->arg[KTR_PRESENT_SPACE] = lpl_space(run->vma->vm_mm);
	record->arg[KTR_PRESENT_START] = run->start;
	record->arg[KTR_PRESENT_END] = run->start + run->pages * PAGE_SIZE;
	record->arg[KTR_PRESENT_FRAME] = run->frame;
	record->arg[KTR_PRESENT_SLOT] = run->swap;
	lpl_end(flags);
	run->pages = 0;
}

/* Whether the value follows that of the run's first page. */
static bool lpl_follows(u64 value, u64 first, unsigned long pages)
{
	return first == KTR_NONE ? value == KTR_NONE : value == first + pages;
}

static void lpl_present_add(struct lpl_present *run, unsigned long address,
			    unsigned long pages, u64 frame, u64 swap)
{
	if (address != run->start + run->pages * PAGE_SIZE ||
	    !lpl_follows(frame, run->frame, run->pages) ||
	    !lpl_follows(swap, run->swap, run->pages))
		lpl_present_send(run);
	if (!run->pages) {
		run->start = address;
		run->frame = frame;
		run->swap = swap;
	}
	run->pages += pages;
}

static u64 lpl_entry_of(swp_entry_t entry)
{
	return KTR_SWAP_ENTRY(swp_type(entry), swp_offset(entry));
}

/* Whether no other space has the page.  The kernel keeps the flag where an entry points. */
static bool lpl_is_exclusive(struct page *page, unsigned long pages)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	return PageAnonExclusive(pages > 1 ? compound_head(page) : page);
#else
	return page_mapcount(page) == 1 && !PageSwapCache(page);
#endif
}

/* The same of a page in swap; when it cannot be known, the page is reported. */
static bool lpl_is_exclusive_swap(pte_t entry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	return pte_swp_exclusive(entry);
#else
	return false;
#endif
}

/* A page that only this space has, of anonymous memory, is no news. */
static void lpl_present_page(void *context, unsigned long address,
			     struct page *page, unsigned long pages)
{
	struct lpl_present *run = context;

	if (!PageAnon(page) ||
	    (!run->vma->vm_file && lpl_is_exclusive(page, pages)))
		return;
	lpl_present_add(run, address, pages, page_to_pfn(page),
			folio_test_swapcache(page_folio(page)) ?
				lpl_entry_of(lpl_swap_entry(page)) : KTR_NONE);
}

static void lpl_present_swapped(void *context, unsigned long address,
				pte_t entry)
{
	struct lpl_present *run = context;

	if (run->vma->vm_file || !lpl_is_exclusive_swap(entry))
		lpl_present_add(run, address, 1, KTR_NONE,
				lpl_entry_of(pte_to_swp_entry(entry)));
}

static void lpl_snapshot_mm(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	lpl_family_old(mm);
	for_each_vma(vmi, vma) {
		struct lpl_present run = { .vma = vma };
		struct lpl_walk walk = {
			.context = &run,
			.present = lpl_present_page,
			.swapped = lpl_present_swapped,
		};

		lpl_map(mm, vma->vm_start, vma->vm_end, vma);
		if (vma->vm_flags & (VM_SHARED | VM_PFNMAP | VM_MIXEDMAP) ||
		    !vma->anon_vma)
			continue;
		lpl_walk(&walk, mm, vma->vm_start, vma->vm_end);
		lpl_present_send(&run);
	}
}

static void lpl_snapshot_inode(struct inode *inode)
{
	struct folio *folio;
	unsigned long index;
	bool any = false;

	rcu_read_lock();
	xa_for_each(&inode->i_mapping->i_pages, index, folio) {
		/* Not a page now: swapped out, or the shadow of one evicted. */
		if (xa_is_value(folio))
			continue;
		/* There once was an entry for every page of a large one. */
		if (index != folio->index)
			continue;
		if (!any)
			lpl_file(inode);
		any = true;
		lpl_cache_add(folio);
	}
	rcu_read_unlock();
}

static void lpl_snapshot_sb(struct super_block *sb, void *unused)
{
	struct inode *inode;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		if (inode->i_mapping == &inode->i_data &&
		    !mapping_empty(inode->i_mapping))
			lpl_snapshot_inode(inode);
	}
	spin_unlock(&sb->s_inode_list_lock);
}

/*
 * Every kind of file system that the kernel has.  It has a list of them, which
 * only it can lock; but it lists their names.
 */
static bool lpl_snapshot_types(char *text, size_t room)
{
	struct file *file = filp_open("/proc/filesystems", O_RDONLY, 0);
	struct file_system_type *type;
	loff_t offset = 0;
	ssize_t size;
	char *name;

	if (IS_ERR(file))
		return false;
	size = kernel_read(file, text, room - 1, &offset);
	filp_close(file, NULL);
	if (size <= 0)
		return false;
	text[size] = '\0';
	while ((name = strsep(&text, "\n")) && (name = strrchr(name, '\t'))) {
		type = get_fs_type(name + 1);
		if (!type)
			continue;
		iterate_supers_type(type, lpl_snapshot_sb, NULL);
		module_put(type->owner);
	}
	return true;
}

static void lpl_snapshot_cache(void)
{
	char *text = kmalloc(PAGE_SIZE, GFP_KERNEL);
	bool all = text && lpl_snapshot_types(text, PAGE_SIZE);
	struct file_system_type *type;
	struct path root;

	kfree(text);
	if (!all)
		pr_warn("cannot read /proc/filesystems: of what is cached already, only the root directory's kind of file system is reported\n");
	/* The disks themselves: the buffer cache. */
	lpl_snapshot_sb(blockdev_superblock, NULL);
	/* The first one, which a machine has from its beginning, has no name there. */
	get_fs_root(current->fs, &root);
	type = root.dentry->d_sb->s_type;
	if (!all || !strcmp(type->name, "rootfs"))
		iterate_supers_type(type, lpl_snapshot_sb, NULL);
	path_put(&root);
}

static void lpl_snapshot_bound(bool begins)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_SNAPSHOT);
	record->arg[KTR_SNAPSHOT_BEGINS] = begins;
	lpl_end(flags);
}

static size_t lpl_processes(void)
{
	struct task_struct *process;
	size_t count = 0;

	rcu_read_lock();
	for_each_process(process)
		count++;
	rcu_read_unlock();
	return count;
}

/* At this moment, unless it is not the right one; but the last one has to be. */
static bool lpl_snapshot_now(bool last)
{
	struct lpl_held held = {
		.room = lpl_processes() + 64,	/* for those that come meanwhile */
	};
	size_t missed, i;
	bool now;

	held.mm = kvmalloc_array(held.room, sizeof(*held.mm), GFP_KERNEL);
	if (!held.mm)
		held.room = 0;
	/* The simulated machine has one processor: from here on all stand still. */
	preempt_disable();
	missed = lpl_hold_spaces(&held, !last) + !xa_empty(&lpl_unborn);
	now = !missed || last;
	if (now) {
		lpl_snapshot_bound(true);
		lpl_snapshot_tasks();
		for (i = 0; i < held.count; i++)
			lpl_snapshot_mm(held.mm[i]);
	}
	for (i = 0; i < held.count; i++)
		mmap_read_unlock(held.mm[i]);
	preempt_enable();
	for (i = 0; i < held.count; i++)
		mmput(held.mm[i]);
	kvfree(held.mm);
	if (now && missed)
		pr_warn("%zu address spaces cannot be read: what is mapped there already is not known\n",
			missed);
	return now;
}

/* How long we wait for the right moment, in milliseconds. */
#define LPL_PATIENCE 2000

void lpl_snapshot(void)
{
	unsigned int waited = 0;

	while (!lpl_snapshot_now(waited == LPL_PATIENCE)) {
		usleep_range(1000, 1100);
		waited++;
	}
	WRITE_ONCE(lpl_is_sent, true);
	xa_destroy(&lpl_unborn);
	lpl_snapshot_cache();
	lpl_snapshot_bound(false);
}
