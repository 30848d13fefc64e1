/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel reports to Laplace's simulator.  The record's address is in System.map.
 *
 * Interrupts are off from the store to `begin` to the store to `trigger`: what lies between
 * is the tracer's own and is left out of the trace.
 */
#include <stdarg.h>

#include <linux/sched.h>
#include <linux/mm.h>
#include <linux/binfmts.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/pagemap.h>
#include <linux/proc_fs.h>
#include <linux/shm.h>
#include <linux/string.h>
#include <linux/swap.h>

#include <asm/pgtable.h>
#include <asm/system.h>
#include <asm/uaccess.h>

#ifdef __SMP__
#error "Laplace's machine has one processor: configure without CONFIG_SMP"
#endif

/* On a page of its own, where the simulator looks at every access. */
union laplace_page {
	struct kernel_trace_record record;
	char page[PAGE_SIZE];
} kernel_trace_record __attribute__((aligned(4096))) = {
	{ KTR_MAGIC, KTR_VERSION, sizeof(struct kernel_trace_record) }
};

#define RECORD (&kernel_trace_record.record)

/* The file of the buffer cache, which is on no device. */
enum { BUFFERS_INODE = 1 };

int laplace_calls;				/* any system calls are reported */
static unsigned long call_chosen[256 / 32];	/* which */

/* Kernel threads have the kernel's own page tables, which are no task's space. */
unsigned long laplace_space(struct mm_struct *mm)
{
	return mm && mm != &init_mm && mm->pgd ? __pa(mm->pgd) >> PAGE_SHIFT : 0;
}

static unsigned long begin(int tag)
{
	unsigned long flags;

	save_flags(flags);
	cli();
	*(volatile ktr_u32 *)&RECORD->begin = 1;
	barrier();
	memset(RECORD->arg, 0, sizeof(RECORD->arg));
	RECORD->tag = tag;
	RECORD->tid = current->pid;
	RECORD->tgid = current->laplace_tgid;
	RECORD->space = laplace_space(current->mm);
	RECORD->text_length = 0;
	return flags;
}

static void finish(unsigned long flags)
{
	barrier();
	*(volatile ktr_u32 *)&RECORD->trigger = 1;
	restore_flags(flags);
}

static void text(const char *name, int length)
{
	RECORD->text_length = strnlen(name, length);
	memcpy(RECORD->text, name, RECORD->text_length);
}

/* The file's path, as current sees it; an exiting task has no root to see it from. */
static void path(struct dentry *dentry)
{
	char *name;

	if (!current->fs)
		return;
	name = d_path(dentry, RECORD->text, KTR_TEXT);
	RECORD->text_length = RECORD->text + KTR_TEXT - 1 - name;
	memmove(RECORD->text, name, RECORD->text_length);
}

static unsigned long device(kdev_t dev)
{
	return MAJOR(dev) << 20 | MINOR(dev);
}

/*
 * The first arguments, in the order that KTR_EVENTS has them; words all of them, and what is
 * longer is put in its place afterwards.
 */
static void arguments(int count, ...)
{
	va_list list;
	int i;

	va_start(list, count);
	for (i = 0; i < count; i++)
		RECORD->arg[i] = va_arg(list, unsigned long);
	va_end(list);
}

void laplace_send(int tag, struct mm_struct *mm, unsigned long a, unsigned long b,
		  unsigned long c, unsigned long d)
{
	unsigned long flags = begin(tag);

	arguments(5, laplace_space(mm), a, b, c, d);
	finish(flags);
}

/* ---- tasks ---- */

static void about_task(int tag, struct task_struct *p, unsigned long a2, unsigned long a3)
{
	unsigned long flags = begin(tag);

	arguments(4, p->pid, p->laplace_tgid, a2, a3);
	if (tag == KTR_TASK_CREATE)
		text(p->comm, sizeof(p->comm));
	finish(flags);
}

/* This kernel knows no thread groups: a process is what shares memory, but for vfork. */
void laplace_task_create(struct task_struct *child, unsigned long clone_flags)
{
	if (!(clone_flags & CLONE_VM) || (clone_flags & CLONE_VFORK) || child->mm == &init_mm)
		child->laplace_tgid = child->pid;
	about_task(KTR_TASK_CREATE, child, laplace_space(child->mm), clone_flags);
}

void laplace_schedule(struct task_struct *prev, struct task_struct *next)
{
	unsigned long flags = begin(KTR_SCHEDULE), state = prev->state;

	if (state == TASK_ZOMBIE)
		state = KTR_STATE_DEAD;
	else if (state == TASK_STOPPED)
		state = prev->ptrace & PT_PTRACED ? KTR_STATE_TRACED : KTR_STATE_STOPPED;
	arguments(5, prev->pid, state, next->pid,
		  next->laplace_tgid, laplace_space(next->mm));
	text(next->comm, sizeof(next->comm));
	finish(flags);
}

/* A thread that executes leaves its process, and is one of its own from then on. */
void laplace_exec_space(void)
{
	if (current->laplace_tgid != current->pid) {
		about_task(KTR_EXIT, current, 0, 0);
		current->laplace_tgid = current->pid;
		about_task(KTR_TASK_CREATE, current, laplace_space(current->mm), 0);
	}
	about_task(KTR_SPACE_ASSIGN, current, laplace_space(current->mm), 0);
}

void laplace_exec(struct linux_binprm *bprm)
{
	unsigned long flags;

	if (!bprm->dentry)
		return;		/* reported already, of the script's interpreter */
	flags = begin(KTR_EXEC);
	arguments(5, current->pid, current->laplace_tgid,
		  laplace_space(current->mm), device(bprm->dentry->d_inode->i_dev),
		  bprm->dentry->d_inode->i_ino);
	path(bprm->dentry);
	finish(flags);
}

void laplace_exit(long code)
{
	struct task_struct *p;
	int last = 1;

	read_lock(&tasklist_lock);
	for_each_task(p)
		if (p != current && p->laplace_tgid == current->laplace_tgid &&
		    p->state != TASK_ZOMBIE)
			last = 0;
	read_unlock(&tasklist_lock);
	about_task(KTR_EXIT, current, code, last);
}

/* ---- address spaces ---- */

static int kind(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct inode *inode = vma->vm_file ? vma->vm_file->f_dentry->d_inode : NULL;

	if (vma->vm_flags & VM_SHM)
		return KTR_MAP_SHM;
	/* A mapping of /dev/zero has a file, but nothing of it. */
	if (inode && (vma->vm_ops || inode->i_rdev != MKDEV(MEM_MAJOR, 5))) {
		if (!vma->vm_ops)
			return KTR_MAP_SPECIAL;
		return vma->vm_flags & VM_MAYSHARE ? KTR_MAP_FILE_SHARED : KTR_MAP_FILE_PRIVATE;
	}
	if (vma->vm_flags & VM_GROWSDOWN)
		return KTR_MAP_STACK;
	return vma->vm_mm->start_brk && start <= PAGE_ALIGN(vma->vm_mm->brk) &&
	       end > vma->vm_mm->start_brk ? KTR_MAP_HEAP : KTR_MAP_ANONYMOUS;
}

static int is_of_file(int kind)
{
	return kind == KTR_MAP_FILE_PRIVATE || kind == KTR_MAP_FILE_SHARED ||
	       kind == KTR_MAP_SPECIAL;
}

void laplace_map(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	unsigned long flags = begin(KTR_MAP), space = laplace_space(vma->vm_mm);
	int what = kind(vma, start, end), segment;
	struct dentry *dentry;

	arguments(5, space, start, end, vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC),
		  what);
	RECORD->arg[KTR_MAP_INODE] = KTR_NONE;
	if (is_of_file(what) || what == KTR_MAP_SHM)
		RECORD->arg[KTR_MAP_OFFSET] =
			(vma->vm_offset + (start - vma->vm_start)) >> PAGE_SHIFT;
	if (is_of_file(what)) {
		dentry = vma->vm_file->f_dentry;
		RECORD->arg[KTR_MAP_DEVICE] = device(dentry->d_inode->i_dev);
		RECORD->arg[KTR_MAP_INODE] = dentry->d_inode->i_ino;
		text(dentry->d_name.name, KTR_TEXT);
	}
	if (what == KTR_MAP_STACK)
		text("[stack]", KTR_TEXT);
	if (what == KTR_MAP_HEAP)
		text("[heap]", KTR_TEXT);
	if (what == KTR_MAP_SHM) {
		segment = laplace_shm_segment(vma->vm_pte);
		RECORD->arg[KTR_MAP_INODE] = segment | KTR_INODE_SYSV;
		finish(flags);
		flags = begin(KTR_SHM_ATTACH);
		arguments(4, space, start, end, segment);
		RECORD->arg[KTR_SHM_ATTACH_INODE] = segment | KTR_INODE_SYSV;
	}
	finish(flags);
}

void laplace_unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	laplace_send(KTR_UNMAP, vma->vm_mm, start, end, 0, 0);
	if ((vma->vm_flags & VM_SHM) && start == vma->vm_start && end == vma->vm_end)
		laplace_send(KTR_SHM_DETACH, vma->vm_mm, start, 0, 0, 0);
}

/* The range's own pages go with the end of their file. */
void laplace_discard(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	if (!mm->laplace_unknown)
		laplace_send(KTR_DISCARD, mm, start, end, 0, 0);
}

/* inode: KTR_NONE for a page that is a space's own. */
static void swap(int tag, unsigned long space, unsigned long address, unsigned long entry,
		 unsigned long page, ktr_u64 inode, unsigned long index)
{
	unsigned long flags = begin(tag);

	RECORD->arg[KTR_SWAP_SPACE] = space;
	RECORD->arg[KTR_SWAP_ADDRESS] = address;
	RECORD->arg[KTR_SWAP_SLOT] = KTR_SWAP_ENTRY(SWP_TYPE(entry), SWP_OFFSET(entry));
	RECORD->arg[KTR_SWAP_FRAME] = MAP_NR(page);
	RECORD->arg[KTR_SWAP_PAGES] = 1;
	RECORD->arg[KTR_SWAP_INODE] = inode;
	RECORD->arg[KTR_SWAP_OFFSET] = index;
	finish(flags);
}

void laplace_swap(int tag, struct vm_area_struct *vma, unsigned long address,
		  unsigned long entry, unsigned long page)
{
	swap(tag, laplace_space(vma->vm_mm), address & PAGE_MASK, entry, page, KTR_NONE, 0);
	vma->vm_mm->laplace_swapped |= tag == KTR_SWAP_OUT;
}

/* ---- fork ---- */

static pte_t entry_of(struct mm_struct *mm, unsigned long address)
{
	pgd_t *pgd = pgd_offset(mm, address);
	pmd_t *pmd;

	if (pgd_none(*pgd))
		return __pte(0);
	pmd = pmd_offset(pgd, address);
	return pmd_none(*pmd) ? __pte(0) : *pte_offset(pmd, address);
}

/* Pages that went to swap when the copy had them already are still there for the copy. */
static void swapped_meanwhile(struct mm_struct *mm, struct mm_struct *copy)
{
	struct vm_area_struct *vma;
	unsigned long address;
	pte_t entry, copied;

	for (vma = copy->mmap; vma; vma = vma->vm_next)
		for (address = vma->vm_start; address < vma->vm_end; address += PAGE_SIZE) {
			entry = entry_of(mm, address);
			copied = entry_of(copy, address);
			if (!pte_none(entry) && !pte_present(entry) && pte_present(copied) &&
			    !(vma->vm_flags & VM_SHM))
				laplace_swap(KTR_SWAP_IN, vma, address, pte_val(entry),
					     pte_page(copied));
		}
}

/*
 * A copy takes time: fork waits for memory, and other threads write to what it has not
 * protected yet, files are truncated, pages go to swap.  So that all this is true of the copy,
 * too, it is reported when it is whole; until then nothing is said of it.
 */
void laplace_copy_begins(struct mm_struct *mm, struct mm_struct *copy)
{
	copy->laplace_unknown = 1;
	mm->laplace_swapped = 0;
}

void laplace_copy_ends(struct mm_struct *mm, struct mm_struct *copy)
{
	copy->laplace_unknown = 0;
	laplace_send(KTR_SPACE_DUPLICATE, mm, laplace_space(copy), 0, 0, 0);
	if (mm->laplace_swapped)
		swapped_meanwhile(mm, copy);
}

/* ---- caches ---- */

static void cache(int tag, unsigned long dev, ktr_u64 inode, unsigned long index,
		  unsigned long page)
{
	unsigned long flags = begin(tag);

	RECORD->arg[KTR_CACHE_DEVICE] = dev;
	RECORD->arg[KTR_CACHE_INODE] = inode;
	RECORD->arg[KTR_CACHE_OFFSET] = index;
	RECORD->arg[KTR_CACHE_FRAME] = MAP_NR(page);
	RECORD->arg[KTR_CACHE_PAGES] = 1;
	if (tag == KTR_CACHE_ADD)
		RECORD->arg[KTR_CACHE_ADD_ADDRESS] = page;
	finish(flags);
}

static void file(struct inode *inode)
{
	unsigned long flags = begin(KTR_FILE);
	umode_t mode = inode->i_mode;

	arguments(4, device(inode->i_dev), inode->i_ino,
		  S_ISREG(mode) ? KTR_FILE_REGULAR : S_ISDIR(mode) ? KTR_FILE_DIRECTORY :
		  S_ISLNK(mode) ? KTR_FILE_LINK : KTR_FILE_OTHER, inode->i_generation);
	if (!list_empty(&inode->i_dentry))
		path(list_entry(inode->i_dentry.next, struct dentry, d_alias));
	finish(flags);
}

/* The swap cache is not reported: its pages are their spaces' all the time. */
void laplace_cache(int tag, struct page *page)
{
	struct inode *inode = page->inode;

	if (inode == &swapper_inode)
		return;
	if (tag == KTR_CACHE_ADD && inode->i_nrpages == 1)
		file(inode);
	cache(tag, device(inode->i_dev), inode->i_ino, page->offset >> PAGE_SHIFT,
	      page_address(page));
}

/*
 * A page of buffers holds blocks of any device, several and changing ones.  All such pages
 * are reported as one file of a device that there is none of, at the offsets of their frames.
 */
void laplace_buffers(int tag, unsigned long page)
{
	cache(tag, 0, BUFFERS_INODE, MAP_NR(page), page);
}

void laplace_shm_page(int tag, int segment, unsigned long index, unsigned long page,
		      unsigned long entry)
{
	if (tag == KTR_CACHE_ADD || tag == KTR_CACHE_REMOVE)
		cache(tag, 0, segment | KTR_INODE_SYSV, index, page);
	else
		swap(tag, 0, 0, entry, page, segment | KTR_INODE_SYSV, index);
}

void laplace_shm_end(struct shmid_kernel *shp, int segment)
{
	unsigned long i;

	for (i = 0; shp->shm_pages && i < shp->shm_npages; i++)
		if (pte_present(__pte(shp->shm_pages[i])))
			laplace_shm_page(KTR_CACHE_REMOVE, segment, i,
					 pte_page(__pte(shp->shm_pages[i])), 0);
}

/* ---- system calls ---- */

static int is_chosen(long call)
{
	return (unsigned long)call < 256 && (call_chosen[call / 32] >> call % 32 & 1);
}

asmlinkage void laplace_call_enter(struct pt_regs regs)
{
	unsigned long flags;

	if (!is_chosen(regs.orig_eax))
		return;
	flags = begin(KTR_SYSCALL_ENTER);
	arguments(8, regs.orig_eax, KTR_ABI_32, regs.ebx, regs.ecx, regs.edx,
		  regs.esi, regs.edi, regs.ebp);
	finish(flags);
}

static void call_exit(long call, long result)
{
	unsigned long flags;

	if (!is_chosen(call))
		return;
	flags = begin(KTR_SYSCALL_EXIT);
	arguments(2, call, KTR_ABI_32);
	RECORD->arg[KTR_SYSCALL_EXIT_RESULT] = (long long)result;
	finish(flags);
}

asmlinkage void laplace_call_exit(struct pt_regs regs)
{
	call_exit(regs.orig_eax, regs.eax);
}

/* Where the signal's frame was put back, the call's number is lost. */
void laplace_sigreturn(struct pt_regs *regs, long call, long result)
{
	if (regs->orig_eax < 0)
		call_exit(call, result);
}

/* "none", "all", or numbers with commas between. */
static int choose(char *set)
{
	unsigned long chosen[256 / 32], call;
	int none = !strcmp(set, "none"), all = !strcmp(set, "all");

	memset(chosen, all ? 0xff : 0, sizeof(chosen));
	for (; !none && !all; set++) {
		call = simple_strtoul(set, &set, 10);
		if (!isdigit(set[-1]) || call >= 256 || (*set && *set != ','))
			return -EINVAL;
		chosen[call / 32] |= 1UL << call % 32;
		if (!*set)
			break;
	}
	memcpy(call_chosen, chosen, sizeof(chosen));
	laplace_calls = !none;
	return 0;
}

/* ---- /proc/laplace: one command a write ---- */

static umode_t control_mode = S_IFREG | 0200;		/* the collection is root's */

/* laplace=open on the kernel's command line: anybody may steer it. */
static int set_control(char *text)
{
	if (strcmp(text, "open")) {
		printk(KERN_WARNING "laplace=%s: not known; there is laplace=open\n", text);
		return 1;
	}
	control_mode |= 0222;
	return 1;
}
__setup("laplace=", set_control);

static const char *const controls[] = { "start", "stop", "flush", "end", "fail" };

static int command(struct file *unused, const char *buffer, unsigned long count, void *data)
{
	char line[KTR_TEXT];
	unsigned long flags, length = count;
	int i;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buffer, count))
		return -EFAULT;
	if (length && line[length - 1] == '\n')
		length--;
	line[length] = '\0';
	if (!strncmp(line, "mark ", 5)) {
		flags = begin(KTR_MARK);
		text(line + 5, KTR_TEXT);
		finish(flags);
		return count;
	}
	if (!strncmp(line, "syscalls ", 9))
		return choose(line + 9) ? -EINVAL : count;
	for (i = 0; i < 5; i++)
		if (!strcmp(line, controls[i])) {
			flags = begin(KTR_CONTROL);
			RECORD->arg[KTR_CONTROL_REQUEST] = KTR_CONTROL_START + i;
			finish(flags);
			return count;
		}
	return -EINVAL;
}

/* Nothing exists yet but the file of the buffers: the snapshot is short. */
void laplace_init(void)
{
	struct proc_dir_entry *entry = create_proc_entry("laplace", control_mode, NULL);
	unsigned long flags;

	if (entry)
		entry->write_proc = command;
	flags = begin(KTR_SNAPSHOT);
	arguments(2, 1, PAGE_OFFSET);
	finish(flags);
	flags = begin(KTR_FILE);
	arguments(3, 0, BUFFERS_INODE, KTR_FILE_OTHER);
	text("[buffers]", KTR_TEXT);
	finish(flags);
	flags = begin(KTR_SNAPSHOT);
	arguments(2, 0, PAGE_OFFSET);
	finish(flags);
}
