/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kVMTrace: the log, a ring of records, and its device.
 *
 * No record is lost: a task that is about to make some waits (kvmtrace_wait)
 * while the room left is no more than what may come without waiting.  That is
 * bounded: a page leaves the pool by KVMTRACE_LEFT once for each time it entered,
 * which is after a wait, and a task makes a few records from one wait to the next.
 * The ring grows when there are more tasks than it has room for, so that a full one
 * is never short of records for the reader.  Should the bound be exceeded in spite of
 * all, the record is counted as lost, and its number is missing.
 *
 * No task waits within a handle of a journal, which is to say while it copies what a
 * program writes to a page of ext3.  It has waited before that page, and waits at the next
 * one or in the program's next fault.  Between these it makes a FILE and, should what it
 * copies have left the pool meanwhile, a REFERENCE of one page or two; each may leave by a
 * LEFT: 5 of the 8 records that each task has in reserve.  The others are for a page that
 * leaves once more while the fault of the second one sleeps.
 *
 * Whoever waits may hold what the kernel holds when it copies from or to a
 * program: the reader must not need that.  It should write to a file or disk of
 * its own, and to no pipe, terminal or file that a traced task writes to.  When it
 * does not read for long, stopped or waiting for one that waits for it, tracing ends,
 * and the log says so: a log that ends is better than a machine that stands still.
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
#define PATIENCE_MAX	86400
#define PORTION		128

static struct kvmtrace_record *ring, spilled;
static unsigned int ring_size = RING_DEFAULT;	/* a power of two */
static unsigned int patience = 60;	/* seconds that a task waits for the reader to read */
static unsigned int head, tail;		/* records made and read; both only grow */
static unsigned int sequence, lost, waits;
static DECLARE_WAIT_QUEUE_HEAD(room);		/* tasks wait for some */
static DECLARE_WAIT_QUEUE_HEAD(filled);		/* the reader waits for records */
struct mm_struct *kvmtrace_reader;
static pid_t reader_pid;			/* the process that opened the device */
static DECLARE_MUTEX(reading);			/* one at a time; also to start */
static struct kvmtrace_record portion[PORTION];	/* on its way to the reader */

static struct kvmtrace_record *at(unsigned int number)
{
	return &ring[number & (ring_size - 1)];
}

/* The records that so many tasks, and a pool of so many pages, may make without waiting. */
static unsigned int reserve(unsigned int tasks, unsigned int pool)
{
	return pool + 8 * tasks + 64;
}

/* Room for four times that; what is in the ring is kept. */
static int grow(unsigned int tasks, unsigned int pool)
{
	unsigned int size = ring_size, i;
	struct kvmtrace_record *larger, *old;

	while (size < 4 * reserve(tasks, pool))
		size *= 2;
	if (ring && size == ring_size)
		return 0;
	larger = size <= RING_MAX ? vmalloc(size * sizeof(*ring)) : NULL;
	if (!larger)
		return -ENOMEM;
	if (ring && size <= ring_size) {
		/* somebody else was faster while this one slept */
		vfree(larger);
		return 0;
	}
	for (i = tail; i != head; i++)
		larger[i & (size - 1)] = *at(i);
	old = ring;
	ring = larger;
	ring_size = size;
	if (old)
		vfree(old);
	return 0;
}

/* So many that it is worth to wake the reader. */
static inline unsigned int enough(void)
{
	return ring_size / 8;
}

static inline int has_room(void)
{
	return head - tail + reserve(nr_threads, kvmtrace_pool.size) <= ring_size;
}

/*
 * Of ext3's journal: it cannot commit while somebody has a handle, and the reader, when it
 * writes to the same file system, may have to wait for that.
 */
static inline int in_handle(void)
{
	return current->journal_info != NULL;
}

static int stop(unsigned int waited);

void __kvmtrace_wait(void)
{
	DECLARE_WAITQUEUE(wait, current);
	unsigned int seen = tail;
	long left = patience * HZ;

	if (has_room() || !kvmtrace_traced(current->mm) || in_handle())
		return;
	waits++;
	add_wait_queue(&room, &wait);
	for (;;) {
		current->state = TASK_UNINTERRUPTIBLE;
		if (!kvmtrace_on || has_room())
			break;
		if (seen != tail) {
			seen = tail;
			left = patience * HZ;
		}
		if (!left) {
			stop(patience);
			break;
		}
		wake_up_interruptible(&filled);
		left = schedule_timeout(left);
	}
	current->state = TASK_RUNNING;
	remove_wait_queue(&room, &wait);
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
		record = at(head++);
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

int __kvmtrace_new_task(void)
{
	int error = grow(nr_threads + 1, kvmtrace_pool.size);

	if (!error)
		__kvmtrace_wait();
	return error;
}

/* The child's tgid is not yet set. */
static unsigned int tgid_of(struct task_struct *child, unsigned long clone_flags)
{
	return clone_flags & CLONE_THREAD ? current->tgid : child->pid;
}

void __kvmtrace_fork(struct task_struct *child, struct mm_struct *mm, unsigned long clone_flags)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(mm))
		return;
	record = kvmtrace_log(KVMTRACE_FORK, 0, current->mm, 0);
	record->is.word[0] = child->pid;
	record->is.word[1] = tgid_of(child, clone_flags);
	record->is.word[2] = space_of(mm);
	record->is.word[3] = clone_flags;
}

void __kvmtrace_fork_failed(struct task_struct *child, unsigned long clone_flags)
{
	struct kvmtrace_record *record;

	if (!kvmtrace_traced(child->mm))
		return;
	record = append(KVMTRACE_EXIT, 0, child, child->mm, 0);
	record->tgid = tgid_of(child, clone_flags);
	record->is.word[1] = !(clone_flags & CLONE_VM);
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

static void log_tasks(struct mm_struct *mm)
{
	struct task_struct *task;

	read_lock(&tasklist_lock);
	for_each_task(task)
		if (mm ? task->mm == mm : kvmtrace_traced(task->mm))
			memcpy(append(KVMTRACE_TASK, 0, task, task->mm, 0)->is.name,
			       task->comm, KVMTRACE_NAME);
	read_unlock(&tasklist_lock);
}

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
	int error;

	if (kvmtrace_on)
		return -EBUSY;
	error = grow(nr_threads, kvmtrace_pool.size);
	if (error)
		return error;
	head = tail = 0;
	sequence = lost = waits = kvmtrace_pool.wrong = 0;
	log_pool(KVMTRACE_START, KVMTRACE_MAGIC);
	log_tasks(NULL);
	kvmtrace_on = 1;
	kvmtrace_protect_all();
	return 0;
}

/* `waited`: seconds for which it was not read; 0: on request. */
static int stop(unsigned int waited)
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
	record->is.word[3] = waited;
	if (waited)
		printk(KERN_WARNING "kvmtrace: the log was not read for %u seconds: tracing "
		       "has ended\n", waited);
	wake_up(&room);
	wake_up_interruptible(&filled);
	return 0;
}

/* The pool begins anew, so that its history needs no more than the log. */
static int change_pool(unsigned int pages, unsigned int policy)
{
	int error = pages > KVMTRACE_POOL_MAX ? -EINVAL : 0;

	if (!error)
		error = grow(nr_threads, pages);
	if (!error)
		error = kvmtrace_set_pool(pages, policy);
	if (!error && kvmtrace_on)
		log_pool(KVMTRACE_POOL, 0);
	return error;
}

/* ---- the device ---- */

static int kvmtrace_open(struct inode *inode, struct file *file)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	if (kvmtrace_reader)
		return -EBUSY;
	kvmtrace_reader = current->mm;
	reader_pid = current->pid;
	atomic_inc(&kvmtrace_reader->mm_count);
	return 0;
}

/* The process that opened the device executes another program, and leaves threads behind. */
void kvmtrace_exec_space(struct mm_struct *old, struct mm_struct *mm)
{
	if (!old || old != kvmtrace_reader || current->pid != reader_pid)
		return;
	atomic_inc(&mm->mm_count);
	kvmtrace_reader = mm;
	if (kvmtrace_on) {
		log_tasks(old);
		kvmtrace_protect_space(old);
	}
	mmdrop(old);
}

static int kvmtrace_close(struct inode *inode, struct file *file)
{
	struct mm_struct *reader = kvmtrace_reader;

	if (file->f_mode & FMODE_READ) {
		stop(0);
		kvmtrace_reader = NULL;
		mmdrop(reader);
	}
	return 0;
}

/*
 * In large portions: to wake the reader for each record would cost more than the
 * record.  But none waits for longer than a second.
 */
static void wait_for_records(void)
{
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
}

/*
 * To copy to the reader may sleep, while the ring may be exchanged for a larger one:
 * it is done from a copy, and what was not copied is left in the ring.
 */
static ssize_t read_records(char *buffer, unsigned int count)
{
	unsigned int done = 0, n, i;

	if (head == tail && kvmtrace_on)
		return -ERESTARTSYS;
	for (; done < count && head != tail; done += n) {
		n = head - tail;
		if (n > PORTION)
			n = PORTION;
		if (n > count - done)
			n = count - done;
		for (i = 0; i < n; i++)
			portion[i] = *at(tail + i);
		if (copy_to_user(buffer + done * sizeof(*ring), portion, n * sizeof(*ring)))
			return done ? done * sizeof(*ring) : -EFAULT;
		tail += n;
		if (has_room())
			wake_up(&room);
	}
	return done * sizeof(*ring);
}

static ssize_t kvmtrace_read(struct file *file, char *buffer, size_t count, loff_t *offset)
{
	ssize_t result;

	count /= sizeof(struct kvmtrace_record);
	if (!count)
		return -EINVAL;
	/* another process, which inherited the descriptor, is traced: it could wait for itself */
	if (current->mm != kvmtrace_reader)
		return -EPERM;
	if (down_interruptible(&reading))
		return -ERESTARTSYS;
	wait_for_records();
	result = read_records(buffer, count);
	up(&reading);
	return result;
}

static int start_reading(struct file *file)
{
	int error;

	if (!(file->f_mode & FMODE_READ) || current->mm != kvmtrace_reader)
		return -EPERM;
	if (down_interruptible(&reading))
		return -ERESTARTSYS;
	error = start();
	up(&reading);
	return error;
}

static int copy_status(struct kvmtrace_status *to)
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
		return start_reading(file);
	case KVMTRACE_IOC_STOP:
		return stop(0);
	case KVMTRACE_IOC_POOL:
		return change_pool(argument, kvmtrace_pool.policy);
	case KVMTRACE_IOC_POLICY:
		return change_pool(kvmtrace_pool.size, argument);
	case KVMTRACE_IOC_STATUS:
		return copy_status((struct kvmtrace_status *)argument);
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

/* ---- the kernel's command line ---- */

static char *ring_given, *patience_given;

static int __init kvmtrace_ring_setup(char *text)
{
	ring_given = text;
	ring_size = kvmtrace_number(&text);
	if (*text)
		ring_size = 0;
	return 1;
}
__setup("kvmtrace_ring=", kvmtrace_ring_setup);

static int __init kvmtrace_patience_setup(char *text)
{
	patience_given = text;
	patience = kvmtrace_number(&text);
	if (*text)
		patience = 0;
	return 1;
}
__setup("kvmtrace_patience=", kvmtrace_patience_setup);

static int __init prepare(void)
{
	int error;

	if (ring_size < RING_MIN || ring_size > RING_MAX || (ring_size & (ring_size - 1))) {
		printk(KERN_ERR "kvmtrace: kvmtrace_ring=%s: a power of two from %u to %u is "
		       "wanted; there is no tracing\n", ring_given, RING_MIN, RING_MAX);
		return -EINVAL;
	}
	if (!patience || patience > PATIENCE_MAX) {
		printk(KERN_ERR "kvmtrace: kvmtrace_patience=%s: 1 to %u seconds are wanted; there "
		       "is no tracing\n", patience_given, PATIENCE_MAX);
		return -EINVAL;
	}
	error = kvmtrace_set_pool(kvmtrace_pool.size, kvmtrace_pool.policy);
	if (error == -EINVAL)
		printk(KERN_ERR "kvmtrace: kvmtrace=%s: PAGES[,fifo|,clock] with %u to %u pages is "
		       "wanted; there is no tracing\n", kvmtrace_given, KVMTRACE_POOL_MIN,
		       KVMTRACE_POOL_MAX);
	if (!error)
		error = grow(nr_threads, kvmtrace_pool.size);
	if (error == -ENOMEM)
		printk(KERN_ERR "kvmtrace: there is no memory for a pool of %u pages and a ring of "
		       "%u records; there is no tracing\n", kvmtrace_pool.size, ring_size);
	return error;
}

static int __init kvmtrace_init(void)
{
	int error = prepare();

	if (!error && register_chrdev(KVMTRACE_MAJOR, "kvmtrace", &operations)) {
		printk(KERN_ERR "kvmtrace: device number %d is taken; there is no tracing\n",
		       KVMTRACE_MAJOR);
		error = -EBUSY;
	}
	if (!error)
		printk(KERN_INFO "kvmtrace: a pool of %u pages, a ring of %u records\n",
		       kvmtrace_pool.size, ring_size);
	return error;
}
__initcall(kvmtrace_init);
