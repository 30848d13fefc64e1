// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel_trace_record itself: begin, fill, trigger, and the handshake by
 * which the simulator learns where it is.
 */
#include "laplace.h"

#include <linux/io.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

/* Alone in its page: the simulator is slow at whatever else is there. */
union lpl_record_page {
	struct kernel_trace_record record;
	u8 page[PAGE_SIZE];
};

union lpl_record_page kernel_trace_record __aligned(PAGE_SIZE);

/*
 * The simulated machine has one processor, for which interrupts off is enough;
 * on others this keeps records whole.  Raw, because the scheduler's own events
 * come with its locks held.
 */
static DEFINE_RAW_SPINLOCK(lpl_lock);
static u64 lpl_count;

/*
 * The snapshot is the first that is sent.  Before it the events are attached one after
 * another, in a guest that goes on: what some of them saw, and others did not yet, would
 * be the lives of tasks without an end and mappings that do not exist.
 */
static bool lpl_sending;

struct kernel_trace_record *lpl_begin(unsigned long *flags, u32 tag)
{
	struct kernel_trace_record *record = &kernel_trace_record.record;

	raw_spin_lock_irqsave(&lpl_lock, *flags);
	if (unlikely(tag == KTR_SNAPSHOT))
		lpl_sending = true;
	if (likely(lpl_sending))
		WRITE_ONCE(record->begin, tag);
	barrier();
	record->tag = tag;
	record->tid = current->pid;
	record->tgid = current->tgid;
	record->space = lpl_space(current->mm);
	memset(record->arg, 0, sizeof(record->arg));
	record->text_length = 0;
	return record;
}

void lpl_end(unsigned long flags)
{
	struct kernel_trace_record *record = &kernel_trace_record.record;

	barrier();
	if (likely(lpl_sending)) {
		lpl_count++;
		WRITE_ONCE(record->trigger, record->tag);
		lpl_log(record);
	}
	raw_spin_unlock_irqrestore(&lpl_lock, flags);
}

void lpl_text(struct kernel_trace_record *record, const char *text, size_t size)
{
	u32 used = record->text_length;

	size = min_t(size_t, size, KTR_TEXT - used);
	size = strnlen(text, size);
	memcpy(record->text + used, text, size);
	record->text_length = used + size;
}

u64 lpl_events(void)
{
	unsigned long flags;
	u64 count;

	raw_spin_lock_irqsave(&lpl_lock, flags);
	count = lpl_count;
	raw_spin_unlock_irqrestore(&lpl_lock, flags);
	return count;
}

/*
 * As the first: hooks are taken away one after another, and what the last of them sees, without
 * the task's switches, say, is not the whole.
 */
void lpl_record_stop(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lpl_lock, flags);
	lpl_sending = false;
	raw_spin_unlock_irqrestore(&lpl_lock, flags);
}

void lpl_record_init(void)
{
	struct kernel_trace_record *record = &kernel_trace_record.record;

	BUILD_BUG_ON(sizeof(*record) > PAGE_SIZE);
	BUILD_BUG_ON(sizeof(*record) > U16_MAX);
	record->magic = KTR_MAGIC;
	record->version = KTR_VERSION;
	record->size = sizeof(*record);
}

static void lpl_send(u32 what)
{
	u64 address = (unsigned long)&kernel_trace_record;
	unsigned long flags;

	/* No other code may write to this port between the three. */
	raw_spin_lock_irqsave(&lpl_lock, flags);
	outl(what, KTR_PORT);
	outl(lower_32_bits(address), KTR_PORT);
	outl(upper_32_bits(address), KTR_PORT);
	raw_spin_unlock_irqrestore(&lpl_lock, flags);
}

void lpl_handshake(void)
{
	lpl_send(KTR_HELLO);
}

void lpl_goodbye(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lpl_lock, flags);
	outl(KTR_GOODBYE, KTR_PORT);
	raw_spin_unlock_irqrestore(&lpl_lock, flags);
}
