// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of reclaim, if they are chosen: which page it takes, from whom it wants memory, and
 * which page comes back that it had taken.
 *
 * A page is named before it goes, because afterwards it has neither a file nor a swap entry;
 * and the event is sent when it has gone.
 */
#include "laplace.h"

#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/mmzone.h>
#include <linux/pagevec.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

/* The folio may not be locked, and its file on its way out: its memory stays as long as this takes. */
void lpl_name(struct lpl_folio_name *name, struct folio *folio)
{
	struct inode *inode;

	*name = (struct lpl_folio_name){
		.inode = KTR_NONE, .frame = folio_pfn(folio), .pages = folio_nr_pages(folio),
		.slot = KTR_NONE,
	};
	if (folio_test_swapcache(folio)) {
		swp_entry_t entry = lpl_swap_entry(folio_page(folio, 0));

		name->slot = KTR_SWAP_ENTRY(swp_type(entry), swp_offset(entry));
		return;
	}
	rcu_read_lock();
	inode = lpl_folio_inode(folio);
	if (inode) {
		name->device = inode->i_sb->s_dev;
		name->inode = lpl_inode_id(inode);
		name->offset = lpl_folio_index(folio);
	}
	rcu_read_unlock();
}

struct kernel_trace_record *lpl_folio_begin(unsigned long *flags, u32 tag,
					    const struct lpl_folio_name *name)
{
	struct kernel_trace_record *record = lpl_begin(flags, tag);

	record->arg[KTR_FOLIO_DEVICE] = name->device;
	record->arg[KTR_FOLIO_INODE] = name->inode;
	record->arg[KTR_FOLIO_OFFSET] = name->offset;
	record->arg[KTR_FOLIO_FRAME] = name->frame;
	record->arg[KTR_FOLIO_PAGES] = name->pages;
	record->arg[KTR_FOLIO_SLOT] = name->slot;
	return record;
}

/*
 * Which pages reclaim has written, until it takes them, by frame: a number made from the page's
 * name, or 0.  A frame that has another page by then has another number, but for one in 65535.
 */
static u16 *lpl_written;
static unsigned long lpl_frames;

static u16 lpl_number(const struct lpl_folio_name *name)
{
	u64 of = name->slot != KTR_NONE ? name->slot :
		 hash_64(name->device ^ hash_64(name->inode, 64), 64) + name->offset;

	return hash_64(of, 16) ?: 1;
}

static void lpl_note_written(const struct lpl_folio_name *name)
{
	if (name->frame < lpl_frames)
		WRITE_ONCE(lpl_written[name->frame], lpl_number(name));
}

/* Once. */
static u64 lpl_was_written(const struct lpl_folio_name *name)
{
	u16 *written = lpl_written + name->frame;
	bool was;

	if (name->frame >= lpl_frames)
		return KTR_NONE;
	was = READ_ONCE(*written) == lpl_number(name);
	WRITE_ONCE(*written, 0);
	return was;
}

int lpl_reclaim_begin(void)
{
	int node;

	lpl_frames = 0;
	for_each_online_node(node)
		lpl_frames = max_t(unsigned long, lpl_frames, node_end_pfn(node));
	lpl_written = vzalloc(array_size(lpl_frames, sizeof(*lpl_written)));
	return lpl_written ? 0 : -ENOMEM;
}

void lpl_reclaim_end(void)
{
	vfree(lpl_written);
	lpl_written = NULL;
}

/* `target`: the cgroup that is to become smaller, if it is one and not the whole machine. */
static enum ktr_reclaimer lpl_reclaimer(const void *target)
{
	if (target)
		return KTR_RECLAIM_CGROUP;
	if (current->flags & PF_KSWAPD)
		return KTR_RECLAIM_KSWAPD;
	/* What takes some given pages keeps no account of it. */
	return current->reclaim_state ? KTR_RECLAIM_DIRECT : KTR_RECLAIM_OTHER;
}

bool lpl_reclaimer_of(enum ktr_reclaimer *reclaimer, const void *control)
{
	void *target;

	if (!lpl_peek(&target, control + LPL_OFFSET_scan_control_target_mem_cgroup, sizeof(target)))
		return false;
	*reclaimer = lpl_reclaimer(target);
	return true;
}

/* More than are ever in a list here. */
#define LPL_LISTED_MOST	8192

bool lpl_each_listed(const struct list_head *list, void (*look)(struct folio *folio, void *context),
		     void *context)
{
	const struct list_head *at = list;
	struct page *page;
	size_t i;

	for (i = 0; i < LPL_LISTED_MOST; i++) {
		if (!lpl_peek(&at, &at->next, sizeof(at)))
			return false;
		if (at == list)
			return true;
		page = list_entry(at, struct page, lru);
		if (!lpl_is_page(page))
			return false;
		look(page_folio(page), context);
	}
	return false;
}

static void lpl_reclaim(const struct lpl_folio_name *name, enum ktr_reclaimer reclaimer)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_folio_begin(&flags, KTR_RECLAIM, name);
	record->arg[KTR_RECLAIM_RECLAIMER] = reclaimer;
	record->arg[KTR_RECLAIM_DIRTY] = lpl_was_written(name);
	lpl_end(flags);
}

/* __remove_mapping(mapping, folio, reclaimed, target_memcg) */
struct lpl_removal {
	struct lpl_folio_name name;
	enum ktr_reclaimer reclaimer;
};

static int lpl_remove_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_removal *removal = (void *)ri->data;

	if (!(u8)lpl_arg(ri, regs, RECLAIMED))
		return 1;
	lpl_name(&removal->name, (void *)lpl_arg(ri, regs, PAGE));
	removal->reclaimer = lpl_reclaimer((void *)lpl_arg(ri, regs, TARGET));
	return 0;
}

static int lpl_remove_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_removal *removal = (void *)ri->data;

	if ((int)regs_return_value(regs))
		lpl_reclaim(&removal->name, removal->reclaimer);
	return 0;
}

/* shrink_folio_list(list, pgdat, control, ...): what goes through here and is kept for its time. */
struct lpl_shrink {
	enum ktr_reclaimer reclaimer;
	const struct list_head *list;
};

static int lpl_shrink_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_shrink *shrink = (void *)ri->data;

	if (!lpl_reclaimer_of(&shrink->reclaimer, (void *)lpl_arg(ri, regs, CONTROL)))
		return lpl_is_strange(lpl_point_of_call(ri));
	shrink->list = (void *)lpl_arg(ri, regs, LIST);
	return 0;
}

/* What is left in the list was not taken. */
static int lpl_shrink_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_shrink *shrink = (void *)ri->data;

	lpl_activated(shrink->list);
	return 0;
}

static struct lpl_shrink *lpl_shrinking(void);

/*
 * A page that is freed while pages are reclaimed: one that has never been written since
 * MADV_FREE is in no mapping that it could be removed from.
 */
static void lpl_freed(struct folio *folio, void *context)
{
	const struct lpl_shrink *shrink = context;
	struct lpl_folio_name name;

	if (!folio_test_anon(folio) || folio_test_swapbacked(folio))
		return;
	lpl_name(&name, folio);
	lpl_reclaim(&name, shrink->reclaimer);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
/* free_unref_page_list(list) */
static int lpl_free_list(struct kprobe *kp, struct pt_regs *regs)
{
	struct lpl_shrink *shrink = lpl_shrinking();

	if (shrink && !lpl_each_listed((void *)lpl_arg(kp, regs, LIST), lpl_freed, shrink))
		return !lpl_is_strange(lpl_point_of_probe(kp));
	return 0;
}

/* free_transhuge_page(page): large ones are freed one by one. */
static int lpl_free_huge(struct kprobe *kp, struct pt_regs *regs)
{
	struct lpl_shrink *shrink = lpl_shrinking();

	if (shrink)
		lpl_freed(page_folio((struct page *)lpl_arg(kp, regs, PAGE)), shrink);
	return 0;
}
#define lpl_free_batch	NULL
#else
#define lpl_free_list	NULL
#define lpl_free_huge	NULL
/* free_unref_folios(batch) */
static int lpl_free_batch(struct kprobe *kp, struct pt_regs *regs)
{
	const struct folio_batch *batch = (void *)lpl_arg(kp, regs, BATCH);
	struct lpl_shrink *shrink = lpl_shrinking();
	struct folio_batch folios;
	size_t i;

	if (!shrink)
		return 0;
	if (!lpl_peek(&folios, batch, sizeof(folios)) || folios.nr > ARRAY_SIZE(folios.folios))
		return !lpl_is_strange(lpl_point_of_probe(kp));
	for (i = 0; i < folios.nr; i++) {
		if (!lpl_is_page(&folios.folios[i]->page))
			return !lpl_is_strange(lpl_point_of_probe(kp));
		lpl_freed(folios.folios[i], shrink);
	}
	return 0;
}
#endif

static void lpl_write_page(void *data, struct folio *folio)
{
	struct lpl_folio_name name;
	unsigned long flags;

	lpl_name(&name, folio);
	lpl_note_written(&name);
	lpl_folio_begin(&flags, KTR_WRITE_OUT, &name);
	lpl_end(flags);
}

/* workingset_refault(folio, shadow): the kernel's own counts say what it made of it. */
struct lpl_refault {
	struct lpl_folio_name name;
	struct lpl_counts {
		long refault, activate, restore;
	} before;
};

/* What events have reported of these counts so far: of calls that ended while another was under way. */
static struct lpl_counts lpl_counted;
static DEFINE_RAW_SPINLOCK(lpl_counted_lock);

static long lpl_node_count(enum node_stat_item item)
{
	long count = global_node_page_state(item);
	int node, cpu;

	/* That one is cut at 0, and none of these goes down. */
	for_each_online_node(node)
		for_each_online_cpu(cpu)
			count += per_cpu_ptr(NODE_DATA(node)->per_cpu_nodestats, cpu)->vm_node_stat_diff[item];
	return count;
}

static void lpl_count(struct lpl_counts *counts)
{
	counts->refault = lpl_node_count(WORKINGSET_REFAULT_ANON) +
			  lpl_node_count(WORKINGSET_REFAULT_FILE) - lpl_counted.refault;
	counts->activate = lpl_node_count(WORKINGSET_ACTIVATE_ANON) +
			   lpl_node_count(WORKINGSET_ACTIVATE_FILE) - lpl_counted.activate;
	counts->restore = lpl_node_count(WORKINGSET_RESTORE_ANON) +
			  lpl_node_count(WORKINGSET_RESTORE_FILE) - lpl_counted.restore;
}

static int lpl_refault_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_refault *refault = (void *)ri->data;
	unsigned long flags;
	swp_entry_t entry;

	lpl_name(&refault->name, (void *)lpl_arg(ri, regs, PAGE));
	/* A page may come back from swap without a stay in its cache. */
	if (refault->name.inode == KTR_NONE && refault->name.slot == KTR_NONE && lpl_swaps_in(&entry))
		refault->name.slot = KTR_SWAP_ENTRY(swp_type(entry), swp_offset(entry) &
						    ~(refault->name.pages - 1));
	raw_spin_lock_irqsave(&lpl_counted_lock, flags);
	lpl_count(&refault->before);
	raw_spin_unlock_irqrestore(&lpl_counted_lock, flags);
	return 0;
}

static int lpl_refault_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_refault *refault = (void *)ri->data;
	const long pages = refault->name.pages;
	struct kernel_trace_record *record;
	bool counted, activated, restored;
	struct lpl_counts now;
	unsigned long flags;

	raw_spin_lock_irqsave(&lpl_counted_lock, flags);
	lpl_count(&now);
	counted = now.refault - refault->before.refault >= pages;
	activated = now.activate - refault->before.activate >= pages;
	restored = now.restore - refault->before.restore >= pages;
	lpl_counted.refault += counted ? pages : 0;
	lpl_counted.activate += activated ? pages : 0;
	lpl_counted.restore += restored ? pages : 0;
	raw_spin_unlock_irqrestore(&lpl_counted_lock, flags);

	record = lpl_folio_begin(&flags, KTR_REFAULT, &refault->name);
	record->arg[KTR_REFAULT_ACTIVATED] = activated;
	record->arg[KTR_REFAULT_COUNTED] = counted;
	record->arg[KTR_REFAULT_RESTORED] = restored;
	lpl_end(flags);
	return 0;
}

enum { LPL_REMOVE, LPL_SHRINK, LPL_FREE, LPL_FREE_HUGE, LPL_WRITE, LPL_REFAULT };

static struct lpl_hook lpl_reclaim_hook[] = {
	[LPL_REMOVE] = {
		.points = {
			{ LPL_AT(__remove_mapping), .entered = lpl_remove_entered,
			  .returned = lpl_remove_returned, .data = sizeof(struct lpl_removal) },
		},
	},
	[LPL_SHRINK] = {
		.points = {
			{ LPL_AT(shrink_folio_list), .entered = lpl_shrink_entered,
			  .returned = lpl_shrink_returned, .data = sizeof(struct lpl_shrink) },
			{ LPL_AT(shrink_page_list), .entered = lpl_shrink_entered,
			  .returned = lpl_shrink_returned, .data = sizeof(struct lpl_shrink) },
		},
	},
	[LPL_FREE] = {
		.points = {
			{ LPL_AT(free_unref_folios), .entry = lpl_free_batch, .interrupts = true },
			{ LPL_AT(free_unref_page_list), .entry = lpl_free_list, .interrupts = true },
		},
	},
	[LPL_FREE_HUGE] = {
		.points = {
			{ LPL_AT(free_transhuge_page), .entry = lpl_free_huge, .interrupts = true },
		},
	},
	[LPL_WRITE] = {
		.points = {
			{ LPL_AT(mm_vmscan_write_folio), .tracepoint = lpl_write_page },
			{ LPL_AT(mm_vmscan_writepage), .tracepoint = lpl_write_page },
		},
	},
	[LPL_REFAULT] = {
		.points = {
			{ LPL_AT(workingset_refault), .entered = lpl_refault_entered,
			  .returned = lpl_refault_returned, .data = sizeof(struct lpl_refault) },
		},
	},
};

static struct lpl_shrink *lpl_shrinking(void)
{
	return in_task() ? lpl_call_of(&lpl_reclaim_hook[LPL_SHRINK]) : NULL;
}

const struct lpl_hooks lpl_reclaim_hooks = {
	lpl_reclaim_hook, ARRAY_SIZE(lpl_reclaim_hook), "reclaim",
};
