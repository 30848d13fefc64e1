// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of address spaces: what is mapped where, what is no longer, what
 * moves, and spaces that are copied or end.
 *
 * Each MAP is of exactly the range that is new, never of one again that is
 * mapped already and may have pages of its own by now.  Each is seen while the
 * mmap lock is held, so that the events of a space are in their order.
 */
#include "laplace.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>
#include <linux/syscalls.h>
#include <linux/xarray.h>

#include <asm/syscall.h>

/*
 * Both at once only while exec builds a stack that no program can reach yet
 * (the kernel's VM_STACK_INCOMPLETE_SETUP, by the same definition).
 */
bool lpl_is_unfinished_stack(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_STACK_INCOMPLETE_SETUP) ==
	       VM_STACK_INCOMPLETE_SETUP;
}

/* The heap grows before mm->brk says so, from where the old one's page ends. */
static bool lpl_is_heap(const struct mm_struct *mm, unsigned long start,
			unsigned long end)
{
	return mm->start_brk && start <= PAGE_ALIGN(mm->brk) &&
	       end > mm->start_brk;
}

static enum ktr_map_kind lpl_kind(const struct vm_area_struct *vma,
				  unsigned long start, unsigned long end)
{
	struct inode *inode;

	if (vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP))
		return KTR_MAP_SPECIAL;
	/* A private mapping of /dev/zero has a file but nothing of it. */
	if (!vma->vm_ops && !(vma->vm_flags & VM_MAYSHARE)) {
		if (vma->vm_flags & VM_GROWSDOWN)
			return KTR_MAP_STACK;
		if (lpl_is_heap(vma->vm_mm, start, end))
			return KTR_MAP_HEAP;
		return KTR_MAP_ANONYMOUS;
	}
	if (!vma->vm_file)
		return KTR_MAP_SPECIAL;
	inode = lpl_file_inode(vma->vm_file);
	if (lpl_inode_is_sysv(inode))
		return KTR_MAP_SHM;
	/* The kernel's own file for shared memory without a name. */
	if (inode->i_sb->s_magic == TMPFS_MAGIC && IS_PRIVATE(inode))
		return KTR_MAP_ANONYMOUS_SHARED;
	return vma->vm_flags & VM_MAYSHARE ? KTR_MAP_FILE_SHARED :
					     KTR_MAP_FILE_PRIVATE;
}

u64 lpl_prot(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_READ ? KTR_PROT_READ : 0) |
	       (vma->vm_flags & VM_WRITE ? KTR_PROT_WRITE : 0) |
	       (vma->vm_flags & VM_EXEC ? KTR_PROT_EXEC : 0);
}

static void lpl_map_text(struct kernel_trace_record *record,
			 struct vm_area_struct *vma, enum ktr_map_kind kind)
{
	const char *name = NULL;

	if (kind == KTR_MAP_STACK) {
		name = "[stack]";
	} else if (kind == KTR_MAP_HEAP) {
		name = "[heap]";
	} else if (kind == KTR_MAP_ANONYMOUS) {
		return;
	} else if (vma->vm_file) {
		/* Freed and renamed names stay readable under RCU. */
		rcu_read_lock();
		lpl_text(record,
			 READ_ONCE(vma->vm_file->f_path.dentry->d_name.name),
			 KTR_TEXT);
		rcu_read_unlock();
	} else if (vma->vm_ops && vma->vm_ops->name) {
		name = vma->vm_ops->name(vma);
	}
	if (name)
		lpl_text(record, name, KTR_TEXT);
}

void lpl_map(struct mm_struct *mm, unsigned long start, unsigned long end,
	     struct vm_area_struct *vma)
{
	struct kernel_trace_record *record;
	struct inode *inode = NULL;
	enum ktr_map_kind kind;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_MAP);
	if (!vma)
		vma = find_vma(mm, start);
	kind = lpl_kind(vma, start, end);
	record->arg[KTR_MAP_SPACE] = lpl_space(mm);
	record->arg[KTR_MAP_START] = start;
	record->arg[KTR_MAP_END] = end;
	record->arg[KTR_MAP_PROT] = lpl_prot(vma);
	record->arg[KTR_MAP_KIND] = kind;
	record->arg[KTR_MAP_INODE] = KTR_NONE;
	if (vma->vm_file && kind != KTR_MAP_ANONYMOUS &&
	    kind != KTR_MAP_STACK && kind != KTR_MAP_HEAP) {
		inode = lpl_file_inode(vma->vm_file);
		record->arg[KTR_MAP_DEVICE] = inode->i_sb->s_dev;
		record->arg[KTR_MAP_INODE] = lpl_inode_id(inode);
		record->arg[KTR_MAP_OFFSET] = vma->vm_pgoff +
				 ((start - vma->vm_start) >> PAGE_SHIFT);
		if (vma->vm_flags & VM_HUGETLB)
			record->arg[KTR_MAP_PAGE_BYTES] = vma_kernel_pagesize(vma);
	}
	lpl_map_text(record, vma, kind);
	lpl_end(flags);

	if (kind != KTR_MAP_SHM)
		return;
	record = lpl_begin(&flags, KTR_SHM_ATTACH);
	record->arg[KTR_SHM_ATTACH_SPACE] = lpl_space(mm);
	record->arg[KTR_SHM_ATTACH_START] = start;
	record->arg[KTR_SHM_ATTACH_END] = end;
	record->arg[KTR_SHM_ATTACH_SEGMENT] = inode->i_ino;	/* the segment's id, by definition */
	record->arg[KTR_SHM_ATTACH_INODE] = lpl_inode_id(inode);
	lpl_end(flags);
}

void lpl_range(u32 tag, const struct mm_struct *mm, unsigned long start,
	       unsigned long end)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, tag);
	record->arg[KTR_RANGE_SPACE] = lpl_space(mm);
	record->arg[KTR_RANGE_START] = start;
	record->arg[KTR_RANGE_END] = end;
	lpl_end(flags);
}

struct lpl_range {
	unsigned long start;
	unsigned long length;
};

/* mmap_region(file, address, length, ...): mmap, shmat, the image in exec. */
static int lpl_mmap_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_range *range = (void *)ri->data;

	range->length = lpl_arg(ri, regs, LENGTH);
	return 0;
}

/* The start is the result: a driver may have moved it. */
static int lpl_mmap_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_range *range = (void *)ri->data;
	unsigned long start = regs_return_value(regs);

	if (!IS_ERR_VALUE(start))
		lpl_map(current->mm, start, start + range->length, NULL);
	return 0;
}

/* do_brk_flags(..., address, length, ...): the heap, and .bss. */
static int lpl_brk_flags_entered(struct kretprobe_instance *ri,
				 struct pt_regs *regs)
{
	struct lpl_range *range = (void *)ri->data;

	range->start = lpl_arg(ri, regs, ADDRESS);
	range->length = lpl_arg(ri, regs, LENGTH);
	return 0;
}

static int lpl_brk_flags_returned(struct kretprobe_instance *ri,
				  struct pt_regs *regs)
{
	struct lpl_range *range = (void *)ri->data;

	if (!(int)regs_return_value(regs))
		lpl_map(current->mm, range->start,
			range->start + range->length, NULL);
	return 0;
}

/*
 * expand_downwards(vma, address): a stack grows.  Exec calls it too, with the
 * arguments in place and nothing else mapped yet, whether or not more room is
 * needed then: that is where the whole stack begins to exist.
 */
struct lpl_growth {
	struct vm_area_struct *vma;
	unsigned long end;
};

static int lpl_expand_entered(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct lpl_growth *growth = (void *)ri->data;
	struct vm_area_struct *vma = (void *)lpl_arg(ri, regs, VMA);

	growth->vma = vma;
	growth->end = vma->vm_mm->map_count == 1 ? vma->vm_end : vma->vm_start;
	return lpl_is_unfinished_stack(vma);
}

static int lpl_expand_returned(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_growth *growth = (void *)ri->data;
	struct vm_area_struct *vma = growth->vma;

	if (!(int)regs_return_value(regs) && vma->vm_start < growth->end)
		lpl_map(vma->vm_mm, vma->vm_start, growth->end, vma);
	return 0;
}

/* _install_special_mapping(mm, ...): the vdso and its data, uprobes. */
static int lpl_special_returned(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_return_value(regs);

	if (IS_ERR_OR_NULL(vma))
		return 0;
	if (lpl_is_mapping(vma))
		lpl_map(vma->vm_mm, vma->vm_start, vma->vm_end, vma);
	else
		lpl_is_strange(lpl_point_of_call(ri));
	return 0;
}

/*
 * unmap_vmas(..., vma, start, end, ...): the end of pages in a range,
 * after the last thing that can fail.  munmap, a mapping over another, a heap
 * that shrinks, the source of mremap and shmdt all come here.
 */
static int lpl_unmap_vmas(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	unsigned long start = lpl_arg(kp, regs, ADDRESS);
	unsigned long end = lpl_arg(kp, regs, END);

	/* All of it: the space ends, and that is an event of its own. */
	if (end != ULONG_MAX)
		lpl_range(KTR_UNMAP, vma->vm_mm, start, end);
	return 0;
}

/* shm_close(vma), under shmdt and whatever else unmaps a segment. */
static int lpl_shm_close(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	struct kernel_trace_record *record;
	unsigned long flags;

	/* Without a user, the space has ended already. */
	if (!atomic_read(&vma->vm_mm->mm_users))
		return 0;
	record = lpl_begin(&flags, KTR_SHM_DETACH);
	record->arg[KTR_SHM_DETACH_SPACE] = lpl_space(vma->vm_mm);
	record->arg[KTR_SHM_DETACH_START] = vma->vm_start;
	lpl_end(flags);
	return 0;
}

/*
 * move_page_tables(vma, old address, new vma, new address, length, ...): the
 * pages move; when moving back after a failure, it says so too.
 */
static int lpl_move_page_tables(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)lpl_arg(kp, regs, VMA);
	unsigned long from = lpl_arg(kp, regs, ADDRESS);
	unsigned long to = lpl_arg(kp, regs, TO_ADDRESS);
	unsigned long length = lpl_arg(kp, regs, LENGTH);
	struct kernel_trace_record *record;
	unsigned long flags;

	if (!length || lpl_is_unfinished_stack(vma))
		return 0;
	record = lpl_begin(&flags, KTR_REMAP);
	record->arg[KTR_REMAP_SPACE] = lpl_space(vma->vm_mm);
	record->arg[KTR_REMAP_OLD_START] = from;
	record->arg[KTR_REMAP_OLD_END] = from + length;
	record->arg[KTR_REMAP_NEW_START] = to;
	record->arg[KTR_REMAP_NEW_END] = to + length;
	lpl_end(flags);
	return 0;
}

/*
 * move_vma(vma, old address, old length, new length, new address, ...): what
 * is mapped besides the pages that moved.
 */
struct lpl_move {
	struct lpl_range from;
	unsigned long length;
};

static int lpl_move_vma_entered(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	struct lpl_move *move = (void *)ri->data;

	move->from.start = lpl_arg(ri, regs, ADDRESS);
	move->from.length = lpl_arg(ri, regs, LENGTH);
	move->length = lpl_arg(ri, regs, TO_LENGTH);
	return 0;
}

static int lpl_move_vma_returned(struct kretprobe_instance *ri,
				 struct pt_regs *regs)
{
	struct lpl_move *move = (void *)ri->data;
	unsigned long old_end = move->from.start + move->from.length;
	unsigned long to = regs_return_value(regs);
	struct vm_area_struct *vma;

	if (IS_ERR_VALUE(to))
		return 0;
	if (move->length > move->from.length)
		lpl_map(current->mm, to + move->from.length,
			to + move->length, NULL);
	if (!move->from.length)
		return 0;
	/* MREMAP_DONTUNMAP: the source is still mapped, without its pages. */
	vma = find_vma(current->mm, move->from.start);
	if (vma && vma->vm_start <= move->from.start && vma->vm_end >= old_end)
		lpl_map(current->mm, move->from.start, old_end, vma);
	return 0;
}

/*
 * vm_stat_account(mm, flags, pages) in mremap: a mapping that could grow where
 * it is calls nothing else that shows it with the lock held.
 */
static int lpl_stat_account(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *mm = (void *)lpl_arg(kp, regs, MM);
	long pages = lpl_arg(kp, regs, PAGES);
	unsigned long arg[6], start, old_length, new_length;
	struct pt_regs *user = task_pt_regs(current);
	int mremap = __NR_mremap;

	if (pages <= 0 || mm != current->mm || !user_mode(user))
		return 0;
#ifdef CONFIG_IA32_EMULATION
	if (in_ia32_syscall())
		mremap = 163;	/* i386's own number, which no header here has */
#endif
	if (syscall_get_nr(current, user) != mremap)
		return 0;
	syscall_get_arguments(current, user, arg);
	start = arg[0];
	old_length = PAGE_ALIGN(arg[1]);
	new_length = PAGE_ALIGN(arg[2]);
	/* A move counts the whole new length, and has a hook of its own. */
	if (!old_length || new_length <= old_length ||
	    pages != (new_length - old_length) >> PAGE_SHIFT)
		return 0;
	lpl_map(mm, start + old_length, start + new_length, NULL);
	return 0;
}

/*
 * The brk system call; that the heap's pages are mapped or not is reported by MAP
 * and UNMAP before.  Whole pages: the others have been there before.
 */
static int lpl_brk_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long *old = (void *)ri->data;

	if (!current->mm)
		return 1;
	*old = PAGE_ALIGN(current->mm->brk);
	return 0;
}

static int lpl_brk_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long *old = (void *)ri->data;
	struct mm_struct *mm = current->mm;
	struct kernel_trace_record *record;
	unsigned long flags;

	if (PAGE_ALIGN(mm->brk) == *old)
		return 0;
	record = lpl_begin(&flags, KTR_BRK);
	record->arg[KTR_BRK_SPACE] = lpl_space(mm);
	record->arg[KTR_BRK_OLD_END] = *old;
	record->arg[KTR_BRK_NEW_END] = PAGE_ALIGN(mm->brk);
	lpl_end(flags);
	return 0;
}

static void lpl_duplicate(struct mm_struct *parent, struct mm_struct *child)
{
	struct kernel_trace_record *record;
	struct vm_area_struct *vma;
	unsigned long flags;
	VMA_ITERATOR(vmi, parent, 0);

	record = lpl_begin(&flags, KTR_SPACE_DUPLICATE);
	record->arg[KTR_SPACE_DUPLICATE_PARENT] = lpl_space(parent);
	record->arg[KTR_SPACE_DUPLICATE_CHILD] = lpl_space(child);
	lpl_end(flags);
	lpl_family_fork(parent, child);
	lpl_fork_begins(child);

	/* What madvise keeps from the child, whole or its contents. */
	for_each_vma(vmi, vma) {
		if (vma->vm_flags & (VM_DONTCOPY | VM_WIPEONFORK))
			lpl_range(KTR_UNMAP, child, vma->vm_start, vma->vm_end);
		if ((vma->vm_flags & (VM_DONTCOPY | VM_WIPEONFORK)) == VM_WIPEONFORK)
			lpl_map(child, vma->vm_start, vma->vm_end, vma);
	}
}

/* uprobe_dup_mmap(parent, child): the parent is locked, nothing copied yet. */
static int lpl_uprobe_dup_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	lpl_duplicate((void *)lpl_arg(kp, regs, MM),
		      (void *)lpl_arg(kp, regs, CHILD));
	return 0;
}

/* An exec that failed early: no task ever had the space, and no event named it. */
static bool lpl_was_never_used(struct mm_struct *mm)
{
	VMA_ITERATOR(next, mm, 0);
	const struct vm_area_struct *vma;

	/* Its last user is here, and takes no lock before it needs to. */
	rcu_read_lock();
	vma = vma_next(&next);
	rcu_read_unlock();
	/* A fork that ran out of memory leaves a mark, from 6.8 on, where it did not get further. */
	return vma && !xa_is_zero(vma) && lpl_is_unfinished_stack(vma);
}

/* exit_mmap(mm): all that is mapped goes. */
static int lpl_exit_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *mm = (void *)lpl_arg(kp, regs, MM);
	struct kernel_trace_record *record;
	unsigned long flags;

	if (lpl_was_never_used(mm))
		return 0;
	record = lpl_begin(&flags, KTR_SPACE_END);
	record->arg[KTR_SPACE_END_SPACE] = lpl_space(mm);
	lpl_end(flags);
	lpl_family_end(mm);
	lpl_fork_ends(mm);
	return 0;
}

static struct lpl_hook lpl_memory_hook[] = {
	{
		.points = { {
			LPL_AT(mmap_region),
			.entered = lpl_mmap_entered,
			.returned = lpl_mmap_returned,
			.data = sizeof(struct lpl_range),
		} },
	}, {
		.points = { {
			LPL_AT(do_brk_flags),
			.entered = lpl_brk_flags_entered,
			.returned = lpl_brk_flags_returned,
			.data = sizeof(struct lpl_range),
		} },
	}, {
		.points = { {
			LPL_AT(expand_downwards),
			.entered = lpl_expand_entered,
			.returned = lpl_expand_returned,
			.data = sizeof(struct lpl_growth),
		} },
	}, {
		.points = {
			{ LPL_AT(_install_special_mapping), .returned = lpl_special_returned },
			{ LPL_AT(__install_special_mapping), .returned = lpl_special_returned },
		},
	}, {
		.points = { { LPL_AT(vm_stat_account), .entry = lpl_stat_account } },
	}, {
		.points = { { LPL_AT(unmap_vmas), .entry = lpl_unmap_vmas } },
	}, {
		.points = {
			{ LPL_AT(move_page_tables_part), .entry = lpl_move_page_tables },
			{ LPL_AT(move_page_tables), .entry = lpl_move_page_tables },
		},
	}, {
		.points = { {
			LPL_AT(move_vma),
			.entered = lpl_move_vma_entered,
			.returned = lpl_move_vma_returned,
			.data = sizeof(struct lpl_move),
		} },
	}, {
		.points = { {
			LPL_AT(__x64_sys_brk),
			.entered = lpl_brk_entered,
			.returned = lpl_brk_returned,
			.data = sizeof(unsigned long),
		} },
	}, {
		.points = { {
			LPL_AT(__ia32_sys_brk),
			.entered = lpl_brk_entered,
			.returned = lpl_brk_returned,
			.data = sizeof(unsigned long),
		} },
	}, {
		.points = { { LPL_AT(shm_close), .entry = lpl_shm_close } },
	}, {
		/*
		 * Before the next: a fork that is seen must have its end
		 * seen, or the next space of that number has its family.
		 */
		.points = { { LPL_AT(exit_mmap), .entry = lpl_exit_mmap } },
	}, {
		.points = { { LPL_AT(uprobe_dup_mmap), .entry = lpl_uprobe_dup_mmap } },
	},
};

const struct lpl_hooks lpl_memory_hooks = {
	lpl_memory_hook, ARRAY_SIZE(lpl_memory_hook),
};
