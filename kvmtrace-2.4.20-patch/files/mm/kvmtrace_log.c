/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kVMTrace: the log, a ring of records, and its device.
 *
 * No record is lost: a task that is about to make some waits (kvmtrace_wait)
 * while the room left is no more than what may come without waiting.  That is
 * bounded: a page leaves the pool by KVMTRACE_LEFT once for each time it entered,
 * which is behind a wait, and a task makes a few records from one wait to the next.
 * Should it be exceeded in spite of all, the record is counted as lost, and its
 * number is missing.
 *
 * Whoever waits may hold what the kernel holds when it copies from or to a
 * program: the reader must not need that.  It should write to a file or disk of
 * its own, and to no pipe, terminal or file that a traced task writes to.
 */
#include <linux/sched.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <asm/msr.h>
#include <asm/uaccess.h>

#include "kvmtrace.h"

#define RING_DEFAULT	16384
#define RING_MIN	1024
#define RING_MAX	1048576

static struct kvmtrace_record *ring, spilled;
static unsigned int ring_size = RING_DEFAULT;
static unsigned int head, tail;		/* records made and read; both only grow */
static unsigned int sequence, lost, waits;
static DECLARE_WAIT_QUEUE_HEAD(room);		/* tasks wait for some */
static DECLARE_WAIT_QUEUE_HEAD(filled);		/* the reader waits for records */
struct mm_struct *kvmtrace_reader;

static unsigned int reserve(void)
{
	return kvmtrace_pool.size + 8 * nr_threads + 64;
}

/* So many that it is worth to wake the reader. */
static inline unsigned int enough(void)
{
	return ring_size / 8;
}

static inline int has_room(void)
{
	/* an empty ring has none to wait for */
	return head == tail || head - tail + reserve() <= ring_size;
}

void __kvmtrace_wait(void)
{
	if (has_room() || !kvmtrace_traced(current->mm))
		return;
	waits++;
	wake_up_interruptible(&filled);
	wait_event(room, !kvmtrace_on || has_room());
}

static unsigned int space_of(struct mm_struct *mm)
{
	return mm ? __pa(mm->pgd) >> PAGE_SHIFT : 0;
}

static struct kvmtrace_record *append(unsigned int kind, unsigned int flags,
				      struct task_struct *task, struct mm_struct *mm,
				      unsigned long address)
{
	struct kvmtrace_record *record = &spilled;

	if (head - tail < ring_size)
		record = &ring[head++ & (ring_size - 1)];
	else
		lost++;
	memset(record, 0, sizeof(*record));
	record->sequence = sequence++;
	record->kind = kind;
	record->flags = flags;
	rdtsc(record->tsc_low, record->tsc_high);
	record->pid = task->pid;
	record->tgid = task->tgid;
	record->space = space_of(mm);
	record->address = address;
	if (head - tail == enough())
		wake_up_interruptible(&filled);
	return record;
}

struct kvmtrace_record *kvmtrace_log(unsigned int kind, unsigned int flags,
				     struct mm_struct *mm, unsigned long address)
{
	return append(kind, flags, current, mm, address);
}

/* ---- what tasks do ---- */

void __kvmtrace_file(struct page *page, int write)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(current->mm) || !page->mapping || !page->mapping->host)
		return;
	record = kvmtrace_log(KVMTRACE_FILE, write ? KVMTRACE_WRITE : 0, current->mm, 0);
	record->is.word[0] = kdev_t_to_nr(page->mapping->host->i_dev);
	record->is.word[1] = page->mapping->host->i_ino;
	record->is.word[2] = page->index;
	record->is.word[3] = page - mem_map;
}

void __kvmtrace_fork(struct task_struct *child, unsigned long clone_flags)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(child->mm))
		return;
	__kvmtrace_wait();
	record = kvmtrace_log(KVMTRACE_FORK, 0, current->mm, 0);
	record->is.word[0] = child->pid;
	record->is.word[1] = child->tgid;
	record->is.word[2] = space_of(child->mm);
	record->is.word[3] = clone_flags;
}

void __kvmtrace_exec(void)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(current->mm))
		return;
	__kvmtrace_wait();
	record = kvmtrace_log(KVMTRACE_EXEC, 0, current->mm, 0);
	memcpy(record->is.name, current->comm, KVMTRACE_NAME);
}

void __kvmtrace_exit(long code)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(current->mm))
		return;
	__kvmtrace_wait();
	record = kvmtrace_log(KVMTRACE_EXIT, 0, current->mm, 0);
	record->is.word[0] = code;
	record->is.word[1] = atomic_read(&current->mm->mm_users) == 1;
}

void __kvmtrace_space_end(struct mm_struct *mm)
{
	if (kvmtrace_traced(mm))
		kvmtrace_log(KVMTRACE_SPACE_END, 0, mm, 0);
}

void __kvmtrace_remap(struct mm_struct *mm, unsigned long from, unsigned long to,
		      unsigned long length)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(mm))
		return;
	record = kvmtrace_log(KVMTRACE_REMAP, 0, mm, from);
	record->is.word[0] = to;
	record->is.word[1] = length;
}

/* ---- on and off ---- */

static void log_pool(unsigned int kind, unsigned long address)
{
	struct kvmtrace_record *record = kvmtrace_log(kind, 0, kvmtrace_reader, address);

	record->is.word[0] = kind == KVMTRACE_START ? KVMTRACE_VERSION : 0;
	record->is.word[1] = kvmtrace_pool.size;
	record->is.word[2] = kvmtrace_pool.policy;
	record->is.word[3] = kind == KVMTRACE_START ? sizeof(*record) : 0;
}

static int start(void)
{
	struct task_struct *task;

	if (kvmtrace_on)
		return -EBUSY;
	if (4 * reserve() > ring_size)
		return -ENOSPC;
	head = tail = 0;
	sequence = lost = waits = kvmtrace_pool.wrong = 0;
	log_pool(KVMTRACE_START, KVMTRACE_MAGIC);
	read_lock(&tasklist_lock);
	for_each_task(task)
		if (kvmtrace_traced(task->mm))
			memcpy(append(KVMTRACE_TASK, 0, task, task->mm, 0)->is.name,
			       task->comm, KVMTRACE_NAME);
	read_unlock(&tasklist_lock);
	kvmtrace_on = 1;
	kvmtrace_protect_all();
	return 0;
}

static int stop(void)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_on)
		return -EINVAL;
	kvmtrace_release_all();
	kvmtrace_on = 0;
	record = kvmtrace_log(KVMTRACE_STOP, 0, NULL, 0);
	record->is.word[0] = lost;
	record->is.word[1] = waits;
	record->is.word[2] = kvmtrace_pool.wrong;
	wake_up(&room);
	wake_up_interruptible(&filled);
	return 0;
}

/* The pool begins anew, so that its history needs no more than the log. */
static int change_pool(unsigned int pages, unsigned int policy)
{
	unsigned int old = kvmtrace_pool.size;
	int error;

	/* what is in the ring was let in by the old reserve */
	if (pages > KVMTRACE_POOL_MAX || 4 * (reserve() - old + pages) > ring_size)
		return -EINVAL;
	error = kvmtrace_set_pool(pages, policy);
	if (!error && kvmtrace_on)
		log_pool(KVMTRACE_POOL, 0);
	return error;
}

/* ---- the device ---- */

static int kvmtrace_open(struct inode *inode, struct file *file)
{
	if (!ring)
		return -ENODEV;
	if (!(file->f_mode & FMODE_READ))
		return 0;
	if (kvmtrace_reader)
		return -EBUSY;
	kvmtrace_reader = current->mm;
	atomic_inc(&kvmtrace_reader->mm_count);
	return 0;
}

static int kvmtrace_close(struct inode *inode, struct file *file)
{
	struct mm_struct *reader = kvmtrace_reader;

	if (file->f_mode & FMODE_READ) {
		if (kvmtrace_on)
			stop();
		kvmtrace_reader = NULL;
		mmdrop(reader);
	}
	return 0;
}

static ssize_t kvmtrace_read(struct file *file, char *buffer, size_t count, loff_t *offset)
{
	unsigned int first, n;

	count /= sizeof(struct kvmtrace_record);
	if (!count)
		return -EINVAL;
	/* In large portions: to wake the reader for each record would cost more
	 * than the record.  But none stays for longer than a second. */
	if (kvmtrace_on && head - tail < enough()) {
		DECLARE_WAITQUEUE(wait, current);

		add_wait_queue(&filled, &wait);
		current->state = TASK_INTERRUPTIBLE;
		if (kvmtrace_on && head - tail < enough() && !signal_pending(current))
			schedule_timeout(HZ);
		current->state = TASK_RUNNING;
		remove_wait_queue(&filled, &wait);
		while (kvmtrace_on && head == tail && !signal_pending(current)) {
			current->state = TASK_INTERRUPTIBLE;
			schedule_timeout(HZ / 10);
		}
		if (head == tail && kvmtrace_on)
			return -EINTR;
	}
	first = tail & (ring_size - 1);
	n = head - tail;
	if (n > count)
		n = count;
	if (n > ring_size - first)
		n = ring_size - first;
	if (n && copy_to_user(buffer, ring + first, n * sizeof(*ring)))
		return -EFAULT;
	tail += n;
	if (has_room())
		wake_up(&room);
	return n * sizeof(*ring);
}

static int tell_status(struct kvmtrace_status *to)
{
	struct kvmtrace_status status;

	status.version = KVMTRACE_VERSION;
	status.tracing = kvmtrace_on;
	status.pool = kvmtrace_pool.size;
	status.policy = kvmtrace_pool.policy;
	status.open = kvmtrace_pool.open;
	status.ring = ring_size;
	status.used = head - tail;
	status.records = sequence;
	status.lost = lost;
	status.waits = waits;
	status.wrong = kvmtrace_pool.wrong;
	return copy_to_user(to, &status, sizeof(status)) ? -EFAULT : 0;
}

static int kvmtrace_ioctl(struct inode *inode, struct file *file, unsigned int command,
			  unsigned long argument)
{
	switch (command) {
	case KVMTRACE_IOC_START:
		return file->f_mode & FMODE_READ ? start() : -EPERM;
	case KVMTRACE_IOC_STOP:
		return stop();
	case KVMTRACE_IOC_POOL:
		return change_pool(argument, kvmtrace_pool.policy);
	case KVMTRACE_IOC_POLICY:
		return change_pool(kvmtrace_pool.size, argument);
	case KVMTRACE_IOC_STATUS:
		return tell_status((struct kvmtrace_status *)argument);
	default:
		return -ENOTTY;
	}
}

static struct file_operations operations = {
	owner:		THIS_MODULE,
	open:		kvmtrace_open,
	release:	kvmtrace_close,
	read:		kvmtrace_read,
	ioctl:		kvmtrace_ioctl,
};

static int __init kvmtrace_ring_setup(char *text)
{
	ring_size = simple_strtoul(text, &text, 0);
	return 1;
}
__setup("kvmtrace_ring=", kvmtrace_ring_setup);

static int __init kvmtrace_init(void)
{
	struct kvmtrace_record *room_for_records;

	if (ring_size < RING_MIN || ring_size > RING_MAX || (ring_size & (ring_size - 1))) {
		printk(KERN_ERR "kvmtrace: kvmtrace_ring=%u: a power of two from %u to %u is "
		       "wanted; there is no tracing\n", ring_size, RING_MIN, RING_MAX);
		return -EINVAL;
	}
	if (kvmtrace_set_pool(kvmtrace_pool.size, kvmtrace_pool.policy)) {
		printk(KERN_ERR "kvmtrace: kvmtrace=%u: PAGES[,fifo|,clock] with %u to %u pages is "
		       "wanted; there is no tracing\n", kvmtrace_pool.size,
		       KVMTRACE_POOL_MIN, KVMTRACE_POOL_MAX);
		return -EINVAL;
	}
	room_for_records = vmalloc(ring_size * sizeof(*ring));
	if (!room_for_records) {
		printk(KERN_ERR "kvmtrace: no memory for a ring of %u records\n", ring_size);
		return -ENOMEM;
	}
	if (register_chrdev(KVMTRACE_MAJOR, "kvmtrace", &operations)) {
		printk(KERN_ERR "kvmtrace: device number %d is taken\n", KVMTRACE_MAJOR);
		vfree(room_for_records);
		return -EBUSY;
	}
	ring = room_for_records;
	printk(KERN_INFO "kvmtrace: a pool of %u pages, a ring of %u records\n",
	       kvmtrace_pool.size, ring_size);
	return 0;
}
__initcall(kvmtrace_init);
