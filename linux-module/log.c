// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log=N: the next N events in the kernel log, to see what the module sees
 * without a simulator.
 *
 * An event may come with the run queue locked, where printing could deadlock:
 * a copy is printed from an interrupt of our own, once interrupts are on.
 */
#include "laplace.h"

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/spinlock.h>

static unsigned long lpl_log_left;
module_param_named(log, lpl_log_left, ulong, 0644);
MODULE_PARM_DESC(log, "print the next N events to the kernel log (default 0)");

/*
 * More than ever come while interrupts stay off.  In early kernels that is while a probed
 * function returns, which may be for every page of a huge one.
 */
#define LPL_LOG_RING (LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0) ? 1024 : 64)

static struct kernel_trace_record lpl_log_ring[LPL_LOG_RING];
static unsigned int lpl_log_head;	/* written under the record's lock */
static unsigned int lpl_log_tail;	/* written under the printer's lock */
static unsigned int lpl_log_lost;

/* Another processor may want to print while one does. */
static DEFINE_RAW_SPINLOCK(lpl_log_printer);

/* Tags without their KTR_. */
#define LPL_TAG_NAME(tag, number, name, fence, text) [number] = &#tag[4],

static const char *lpl_tag_name(u32 tag)
{
	static const char *const name[KTR_TAGS] = {
		KTR_EVENTS(LPL_TAG_NAME, KTR_NO_ARG)
	};

	return tag < KTR_TAGS && name[tag] ? name[tag] : "?";
}

static void lpl_log_work(struct irq_work *work)
{
	const struct kernel_trace_record *record;
	const u64 *arg;

	raw_spin_lock(&lpl_log_printer);
	while (lpl_log_tail != smp_load_acquire(&lpl_log_head)) {
		record = &lpl_log_ring[lpl_log_tail % LPL_LOG_RING];
		arg = record->arg;
		pr_info("%s %u %u %llx: %llx %llx %llx %llx %llx %llx %llx %llx %llx \"%.*s\"\n",
			lpl_tag_name(record->tag), record->tid, record->tgid,
			record->space, arg[0], arg[1], arg[2], arg[3], arg[4],
			arg[5], arg[6], arg[7], arg[8],
			(int)record->text_length, record->text);
		smp_store_release(&lpl_log_tail, lpl_log_tail + 1);
	}
	raw_spin_unlock(&lpl_log_printer);
	if (xchg(&lpl_log_lost, 0))
		pr_warn("log: some events were not printed\n");
}

static DEFINE_IRQ_WORK(lpl_log_print, lpl_log_work);

/* With the record's lock held. */
void lpl_log(const struct kernel_trace_record *record)
{
	if (likely(!lpl_log_left))
		return;
	lpl_log_left--;
	if (lpl_log_head - smp_load_acquire(&lpl_log_tail) == LPL_LOG_RING) {
		xchg(&lpl_log_lost, 1);
	} else {
		lpl_log_ring[lpl_log_head % LPL_LOG_RING] = *record;
		smp_store_release(&lpl_log_head, lpl_log_head + 1);
	}
	irq_work_queue(&lpl_log_print);
}

void lpl_log_exit(void)
{
	irq_work_sync(&lpl_log_print);
}
