// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of each page's way through the lists in which the kernel keeps pages by their use, if lists are
 * chosen: which list a page is put in and why, of which generation it is, and when reclaim takes it from there.
 *
 * A move is seen where the kernel counts it, by the counts.  A page that is freed leaves its list without an
 * event, and so does one that is taken by others than reclaim: to be migrated, or to be locked.
 */
#include "laplace.h"

#include <linux/memcontrol.h>
#include <linux/mm_inline.h>
#include <linux/mmzone.h>
#include <linux/vmstat.h>

#ifdef CONFIG_LRU_GEN
/* Where its lists are; NULL for one that no cgroup has, although there are some. */
static struct lruvec *lpl_lruvec(struct folio *folio)
{
	struct mem_cgroup *group = folio_memcg(folio);

	if (mem_cgroup_disabled())
		return &folio_pgdat(folio)->__lruvec;
#ifdef CONFIG_MEMCG
	if (group)
		return &group->nodeinfo[folio_nid(folio)]->lruvec;
#endif
	return NULL;
}

/* A page has the last digits of its generation's number, and the youngest's is known. */
static u64 lpl_generation(struct folio *folio)
{
	struct lruvec *lruvec = lpl_lruvec(folio);
	const int digits = folio_lru_gen(folio);
	unsigned long youngest;

	if (!lruvec || digits < 0)
		return KTR_NONE;
	youngest = READ_ONCE(lruvec->lrugen.max_seq);
	return youngest - (youngest - digits) % MAX_NR_GENS;
}

static bool lpl_has_generations(struct folio *folio)
{
	struct lruvec *lruvec = lpl_lruvec(folio);

	return lruvec && lruvec->lrugen.enabled;
}

/* The oldest one, from which reclaim takes pages. */
static u64 lpl_oldest(const struct lruvec *lruvec, int type)
{
	return READ_ONCE(lruvec->lrugen.min_seq[type]);
}
#else
static u64 lpl_generation(struct folio *folio)
{
	return KTR_NONE;
}

static bool lpl_has_generations(struct folio *folio)
{
	return false;
}

static u64 lpl_oldest(const struct lruvec *lruvec, int type)
{
	return KTR_NONE;
}
#endif

static enum ktr_list lpl_list(struct folio *folio, bool is_active)
{
	const bool is_of_file = !folio_test_swapbacked(folio);

	if (folio_test_unevictable(folio))
		return KTR_LIST_UNEVICTABLE;
	if (lpl_has_generations(folio))
		return is_of_file ? KTR_LIST_GENERATION_FILE : KTR_LIST_GENERATION_ANON;
	if (is_active)
		return is_of_file ? KTR_LIST_ACTIVE_FILE : KTR_LIST_ACTIVE_ANON;
	return is_of_file ? KTR_LIST_INACTIVE_FILE : KTR_LIST_INACTIVE_ANON;
}

static bool lpl_lists_chosen;

int lpl_place_begin(void)
{
	lpl_lists_chosen = true;
	return 0;
}

void lpl_place_end(void)
{
	lpl_lists_chosen = false;
}

void lpl_place(struct folio *folio, enum ktr_placed cause)
{
	struct kernel_trace_record *record;
	struct lpl_folio_name name;
	enum ktr_list list;
	unsigned long flags;
	u64 generation;

	if (!lpl_lists_chosen)
		return;
	/* What is moved to a list's end is seen before that. */
	list = lpl_list(folio, folio_test_active(folio) && cause != KTR_PLACED_LAST);
	generation = cause == KTR_PLACED_LAST ? KTR_NONE : lpl_generation(folio);
	lpl_name(&name, folio);
	record = lpl_folio_begin(&flags, KTR_PLACE, &name);
	record->arg[KTR_PLACE_LIST] = list;
	record->arg[KTR_PLACE_GENERATION] = generation;
	record->arg[KTR_PLACE_CAUSE] = cause;
	lpl_end(flags);
}

struct lpl_taking {
	enum ktr_list list;
	u64 generation;
	enum ktr_reclaimer reclaimer;
};

static void lpl_isolate(struct folio *folio, void *context)
{
	const struct lpl_taking *taking = context;
	struct kernel_trace_record *record;
	struct lpl_folio_name name;
	unsigned long flags;

	lpl_name(&name, folio);
	record = lpl_folio_begin(&flags, KTR_ISOLATE, &name);
	record->arg[KTR_ISOLATE_LIST] = taking->list;
	record->arg[KTR_ISOLATE_GENERATION] = taking->generation;
	record->arg[KTR_ISOLATE_RECLAIMER] = taking->reclaimer;
	lpl_end(flags);
}

bool lpl_isolated(const struct list_head *taken, enum ktr_list list, const struct lruvec *lruvec,
		  enum ktr_reclaimer reclaimer)
{
	struct lpl_taking taking = { list, KTR_NONE, reclaimer };

	if (list == KTR_LIST_GENERATION_ANON || list == KTR_LIST_GENERATION_FILE)
		taking.generation = lpl_oldest(lruvec, list == KTR_LIST_GENERATION_FILE);
	return !lpl_lists_chosen || lpl_each_listed(taken, lpl_isolate, &taking);
}

/* Those that move a page are called with the lists' lock, and without interrupts: what is counted is theirs. */
static const enum vm_event_item lpl_counted[] = {
	[LPL_COUNT_LAZY] = PGLAZYFREE, [LPL_COUNT_LAST] = PGROTATED, [LPL_COUNT_INACTIVE] = PGDEACTIVATE,
};

void lpl_moving(struct lpl_moving *moving, struct folio *folio)
{
	size_t i;

	moving->folio = folio;
	moving->generation = lpl_generation(folio);
	for (i = 0; i < LPL_COUNTS; i++)
		moving->before[i] = raw_cpu_read(vm_event_states.event[lpl_counted[i]]);
}

bool lpl_is_counted(const struct lpl_moving *moving, enum lpl_count count)
{
	return raw_cpu_read(vm_event_states.event[lpl_counted[count]]) != moving->before[count];
}

void lpl_moved(const struct lpl_moving *moving)
{
	if (lpl_is_counted(moving, LPL_COUNT_LAZY))
		lpl_place(moving->folio, KTR_PLACED_LAZY);
	else if (lpl_is_counted(moving, LPL_COUNT_LAST))
		lpl_place(moving->folio, KTR_PLACED_LAST);
	else if (lpl_is_counted(moving, LPL_COUNT_INACTIVE) ||
		 lpl_generation(moving->folio) != moving->generation)
		lpl_place(moving->folio, KTR_PLACED_INACTIVE);	/* what was not active is not counted */
}

static void lpl_place_new(void *data, struct folio *folio)
{
	lpl_place(folio, KTR_PLACED_NEW);
}

/* lru_lazyfree(lruvec, folio) */
static int lpl_moving_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_moving((void *)ri->data, page_folio((struct page *)lpl_arg(ri, regs, PAGE)));
	return 0;
}

static int lpl_moving_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_moved((void *)ri->data);
	return 0;
}

/* lru_move_tail(lruvec, folio): as interrupts find that a page has been written.  Until 5.10 it may be in no list. */
static int lpl_moves_to_tail(struct kprobe *kp, struct pt_regs *regs)
{
	struct folio *folio = page_folio((struct page *)lpl_arg(kp, regs, PAGE));
	const bool is_listed = LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0) || PageLRU(folio_page(folio, 0));

	if (is_listed && !folio_test_unevictable(folio))
		lpl_place(folio, KTR_PLACED_LAST);
	return 0;
}

#define LPL_TAIL(place) { LPL_AT(place), .entry = lpl_moves_to_tail, .from_interrupts = true }

#define LPL_MOVING(place) {									\
	LPL_AT(place), .entered = lpl_moving_entered, .returned = lpl_moving_returned,		\
	.data = sizeof(struct lpl_moving),							\
}

/* folio_update_gen(folio, generation), folio_inc_gen(lruvec, folio, ...) */
struct lpl_ageing {
	struct folio *folio;
	u64 generation;
};

static int lpl_ageing_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_ageing *ageing = (void *)ri->data;

	ageing->folio = page_folio((struct page *)lpl_arg(ri, regs, PAGE));
	ageing->generation = lpl_generation(ageing->folio);
	return ageing->generation == KTR_NONE;
}

static void lpl_aged(struct kretprobe_instance *ri, enum ktr_placed cause)
{
	const struct lpl_ageing *ageing = (void *)ri->data;

	if (lpl_generation(ageing->folio) != ageing->generation)
		lpl_place(ageing->folio, cause);
}

static int lpl_used_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_aged(ri, KTR_PLACED_USED);
	return 0;
}

static int lpl_kept_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_aged(ri, KTR_PLACED_KEPT);
	return 0;
}

static struct lpl_hook lpl_place_hook[] = {
	{
		.points = {
			{ LPL_AT(mm_lru_insertion), .tracepoint = lpl_place_new },
			{ LPL_AT(mm_lru_insertion_list), .tracepoint = lpl_place_new },
		},
	}, {
		.points = { LPL_MOVING(lru_lazyfree), LPL_MOVING(lru_lazyfree_fn) },
	}, {
		.points = {
			LPL_TAIL(lru_move_tail), LPL_TAIL(lru_move_tail_fn),
			LPL_TAIL(pagevec_move_tail_fn),
		},
	}, {
		.points = {
			{ LPL_AT(folio_update_gen), .entered = lpl_ageing_entered,
			  .returned = lpl_used_returned, .data = sizeof(struct lpl_ageing) },
		},
	}, {
		.points = {
			{ LPL_AT(folio_inc_gen), .entered = lpl_ageing_entered,
			  .returned = lpl_kept_returned, .data = sizeof(struct lpl_ageing) },
		},
	},
};

const struct lpl_hooks lpl_place_hooks = {
	lpl_place_hook, ARRAY_SIZE(lpl_place_hook), "lists",
};
