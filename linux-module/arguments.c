// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What probed functions are called with.  Which argument is which, the kernel's type information
 * has said when the module was built (found.h); whether each is what it should be is seen here,
 * before a handler follows it.
 *
 * A compiler may pass other things than the source says, and of a part of a function no types are
 * known: so nothing here can fault, whatever an argument is, and a call with arguments that cannot
 * be right is counted and makes no event.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

static atomic64_t lpl_strange;

/* Read where there may be nothing. */
bool lpl_peek(void *to, const void *from, size_t size)
{
	return !copy_from_kernel_nofault(to, from, size);
}

static bool lpl_is_space(const struct mm_struct *mm)
{
	pgd_t *pgd;

	return lpl_peek(&pgd, &mm->pgd, sizeof(pgd)) && PAGE_ALIGNED(pgd) && virt_addr_valid(pgd);
}

struct lpl_bounds {
	unsigned long start, end;
};

static bool lpl_bounds(struct lpl_bounds *bounds, const struct vm_area_struct *vma)
{
	return lpl_peek(&bounds->start, &vma->vm_start, sizeof(bounds->start)) &&
	       lpl_peek(&bounds->end, &vma->vm_end, sizeof(bounds->end)) &&
	       bounds->start < bounds->end && PAGE_ALIGNED(bounds->start | bounds->end);
}

bool lpl_is_mapping(const struct vm_area_struct *vma)
{
	struct lpl_bounds bounds;
	struct mm_struct *mm;

	return lpl_bounds(&bounds, vma) && lpl_peek(&mm, &vma->vm_mm, sizeof(mm)) &&
	       lpl_is_space(mm);
}

static bool lpl_is_within(const struct vm_area_struct *vma, unsigned long address)
{
	struct lpl_bounds bounds;

	return lpl_bounds(&bounds, vma) && address >= bounds.start && address < bounds.end;
}

static bool lpl_is_fault(const struct vm_fault *vmf)
{
	struct vm_area_struct *vma;
	unsigned long address;

	return lpl_peek(&vma, &vmf->vma, sizeof(vma)) &&
	       lpl_peek(&address, &vmf->address, sizeof(address)) &&
	       lpl_is_mapping(vma) && lpl_is_within(vma, address);
}

bool lpl_is_page(const struct page *page)
{
	unsigned long flags;

	return pfn_valid(page_to_pfn(page)) && lpl_peek(&flags, &page->flags, sizeof(flags));
}

/* An entry of a page table. */
static bool lpl_is_entry(const void *entry)
{
	unsigned long value;

	return lpl_peek(&value, entry, sizeof(value));
}

static bool lpl_is_list(const struct list_head *list)
{
	struct list_head *next;

	return lpl_peek(&next, &list->next, sizeof(next));
}

static bool lpl_is_details(const struct zap_details *details)
{
	unsigned long first;

	return !details || lpl_peek(&first, details, sizeof(first));
}

/* Of a file that is open. */
static bool lpl_is_request(const struct kiocb *request)
{
	struct file *file;
	struct address_space *mapping;
	struct inode *inode;
	struct super_block *sb;

	return lpl_peek(&file, &request->ki_filp, sizeof(file)) &&
	       lpl_peek(&mapping, &file->f_mapping, sizeof(mapping)) &&
	       lpl_peek(&inode, &mapping->host, sizeof(inode)) &&
	       lpl_peek(&sb, &inode->i_sb, sizeof(sb)) && virt_addr_valid(sb);
}

static bool lpl_is_data(const struct iov_iter *data)
{
	size_t count;

	return lpl_peek(&count, &data->count, sizeof(count));
}

static bool lpl_is_sound_argument(enum lpl_part part, unsigned long argument)
{
	const void *pointer = (const void *)argument;

	switch (part) {
	case LPL_ARG_MM:
	case LPL_ARG_CHILD:
		return lpl_is_space(pointer);
	case LPL_ARG_VMA:
	case LPL_ARG_TO_VMA:
		return lpl_is_mapping(pointer);
	case LPL_ARG_VMF:
		return lpl_is_fault(pointer);
	case LPL_ARG_PAGE:
	case LPL_ARG_TO:
		return lpl_is_page(pointer);
	case LPL_ARG_PTE:
	case LPL_ARG_PMD:
		return lpl_is_entry(pointer);
	case LPL_ARG_LIST:
		return lpl_is_list(pointer);
	case LPL_ARG_DETAILS:
		return lpl_is_details(pointer);
	case LPL_ARG_REQUEST:
		return lpl_is_request(pointer);
	case LPL_ARG_DATA:
		return lpl_is_data(pointer);
	default:
		return true;		/* a number, or only compared */
	}
}

static unsigned long lpl_value(const struct lpl_point *point, struct pt_regs *regs,
			       enum lpl_part part)
{
	return regs_get_kernel_argument(regs, point->arg[part] - 1);
}

/* Pages move from within one mapping to within another. */
static bool lpl_is_sound_move(const struct lpl_point *point, struct pt_regs *regs)
{
	return lpl_is_within((void *)lpl_value(point, regs, LPL_ARG_VMA),
			     lpl_value(point, regs, LPL_ARG_ADDRESS)) &&
	       lpl_is_within((void *)lpl_value(point, regs, LPL_ARG_TO_VMA),
			     lpl_value(point, regs, LPL_ARG_TO_ADDRESS));
}

bool lpl_is_strange(const struct lpl_point *point)
{
	atomic64_inc(&lpl_strange);
	pr_warn_once("%s: %s was not called as this kernel's type information says: such calls are not seen\n",
		     point->event, point->name);
	return true;
}

bool lpl_is_sound(const struct lpl_point *point, struct pt_regs *regs)
{
	enum lpl_part part;

	for (part = 0; part < LPL_ARGS; part++)
		if (point->arg[part] && !lpl_is_sound_argument(part, lpl_value(point, regs, part)))
			return !lpl_is_strange(point);
	if (point->arg[LPL_ARG_TO_VMA] && !lpl_is_sound_move(point, regs))
		return !lpl_is_strange(point);
	return true;
}

u64 lpl_strange_calls(void)
{
	return atomic64_read(&lpl_strange);
}

const struct lpl_point *lpl_point_of_probe(struct kprobe *kp)
{
	return container_of(kp, struct lpl_hook, kp)->used;
}

const struct lpl_point *lpl_point_of_call(struct kretprobe_instance *ri)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
	return container_of(ri->rp, struct lpl_hook, rp)->used;
#else
	return container_of(get_kretprobe(ri), struct lpl_hook, rp)->used;
#endif
}

unsigned long lpl_argument(const struct lpl_point *point, struct pt_regs *regs, enum lpl_part part)
{
	return point->arg[part] ? lpl_value(point, regs, part) : 0;
}
