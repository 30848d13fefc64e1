// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What exists when the module is loaded: tasks, their address spaces, what is
 * mapped in them, and the page cache of the file systems that can be found.
 *
 * The events are attached by then, so a change that comes between is told
 * twice rather than not at all.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/pagemap.h>
#include <linux/path.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#define LPL_TYPES 16

/* The kinds of file system met, for their page caches. */
struct lpl_types {
	struct file_system_type *type[LPL_TYPES];
	size_t count;
};

static void lpl_add_type(struct lpl_types *types, struct super_block *sb)
{
	size_t i;

	for (i = 0; i < types->count; i++)
		if (types->type[i] == sb->s_type)
			return;
	if (types->count < LPL_TYPES)
		types->type[types->count++] = sb->s_type;
}

/* Every task; the address spaces are collected for later, each referenced. */
static size_t lpl_snapshot_tasks(struct mm_struct **mms, size_t room)
{
	struct task_struct *process, *task;
	struct mm_struct *mm;
	size_t count = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		task_lock(task);
		mm = task->flags & PF_KTHREAD ? NULL : task->mm;
		if (mm && (!thread_group_leader(task) || count == room ||
			   !mmget_not_zero(mm))) {
			lpl_task_create(task, lpl_space(mm), 0);
		} else {
			lpl_task_create(task, lpl_space(mm), 0);
			if (mm)
				mms[count++] = mm;
		}
		if (mm)
			lpl_space_assign(task, lpl_space(mm));
		task_unlock(task);
	}
	rcu_read_unlock();
	return count;
}

static void lpl_snapshot_mm(struct mm_struct *mm, struct lpl_types *types)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	mmap_read_lock(mm);
	for_each_vma(vmi, vma) {
		lpl_map(mm, vma->vm_start, vma->vm_end, vma);
		if (vma->vm_file)
			lpl_add_type(types, file_inode(vma->vm_file)->i_sb);
	}
	mmap_read_unlock(mm);
}

static void lpl_snapshot_inode(struct inode *inode)
{
	struct folio *folio;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&inode->i_mapping->i_pages, index, folio) {
		/* Not a page now: swapped out, or the shadow of one evicted. */
		if (!xa_is_value(folio))
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

void lpl_snapshot(void)
{
	struct lpl_types types = { .count = 0 };
	struct task_struct *process;
	struct mm_struct **mms;
	size_t room = 64;	/* for those that come meanwhile */
	size_t count, i;
	struct path root;

	rcu_read_lock();
	for_each_process(process)
		room++;
	rcu_read_unlock();
	mms = kvmalloc_array(room, sizeof(*mms), GFP_KERNEL);
	if (!mms) {
		pr_warn("no memory for a list of address spaces: what is mapped already stays unknown\n");
		room = 0;
	}
	count = lpl_snapshot_tasks(mms, room);
	for (i = 0; i < count; i++) {
		lpl_snapshot_mm(mms[i], &types);
		mmput(mms[i]);
	}
	kvfree(mms);

	get_fs_root(current->fs, &root);
	lpl_add_type(&types, root.dentry->d_sb);
	path_put(&root);
	for (i = 0; i < types.count; i++)
		iterate_supers_type(types.type[i], lpl_snapshot_sb, NULL);
}
