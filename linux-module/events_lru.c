// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the lists in which the kernel keeps pages by their use, if they are chosen with reclaim:
 * which list it looks through for pages that it could take, which pages become active and which no
 * longer are, and, of lists of generations, when there is a new one.
 *
 * An event stands for what the kernel counts in /proc/vmstat, and is sent where it is counted, or where
 * the same pages can be seen.
 */
#include "laplace.h"

#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/mmzone.h>
#include <linux/pagevec.h>

static void lpl_scan(enum ktr_list list, unsigned long scanned, unsigned long taken,
		     enum ktr_reclaimer reclaimer)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_SCAN);
	record->arg[KTR_SCAN_LIST] = list;
	record->arg[KTR_SCAN_SCANNED] = scanned;
	record->arg[KTR_SCAN_TAKEN] = taken;
	record->arg[KTR_SCAN_RECLAIMER] = reclaimer;
	lpl_end(flags);
}

/* isolate_lru_folios(count, lruvec, to, scanned, control, list) */
struct lpl_isolation {
	enum ktr_reclaimer reclaimer;
	enum lru_list list;
	const unsigned long *scanned;
	const struct list_head *taken;
};

static int lpl_isolate_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_isolation *isolation = (void *)ri->data;

	isolation->list = (u32)lpl_arg(ri, regs, LRU);
	isolation->scanned = (void *)lpl_arg(ri, regs, SCANNED);
	isolation->taken = (void *)lpl_arg(ri, regs, LIST);
	if (isolation->list >= LRU_UNEVICTABLE ||
	    !lpl_reclaimer_of(&isolation->reclaimer, (void *)lpl_arg(ri, regs, CONTROL)))
		return lpl_is_strange(lpl_point_of_call(ri));
	return 0;
}

static int lpl_isolate_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	static const enum ktr_list list[] = {
		[LRU_INACTIVE_ANON] = KTR_LIST_INACTIVE_ANON, [LRU_ACTIVE_ANON] = KTR_LIST_ACTIVE_ANON,
		[LRU_INACTIVE_FILE] = KTR_LIST_INACTIVE_FILE, [LRU_ACTIVE_FILE] = KTR_LIST_ACTIVE_FILE,
	};
	const struct lpl_isolation *isolation = (void *)ri->data;
	unsigned long scanned;

	if (!lpl_peek(&scanned, isolation->scanned, sizeof(scanned)))
		return !lpl_is_strange(lpl_point_of_call(ri));
	lpl_scan(list[isolation->list], scanned, regs_return_value(regs), isolation->reclaimer);
	if (!lpl_isolated(isolation->taken, list[isolation->list], NULL, isolation->reclaimer))
		return !lpl_is_strange(lpl_point_of_call(ri));
	return 0;
}

/* isolate_folios(lruvec, control, swappiness, type, to): from one generation of one type. */
struct lpl_evacuation {
	enum ktr_reclaimer reclaimer;
	const int *type;
	const struct list_head *list;
	const struct lruvec *lruvec;
};

static int lpl_isolate_generation_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_evacuation *evacuation = (void *)ri->data;

	evacuation->type = (void *)lpl_arg(ri, regs, TYPE);
	evacuation->list = (void *)lpl_arg(ri, regs, LIST);
	evacuation->lruvec = (void *)lpl_arg(ri, regs, LRUVEC);
	if (!lpl_reclaimer_of(&evacuation->reclaimer, (void *)lpl_arg(ri, regs, CONTROL)))
		return lpl_is_strange(lpl_point_of_call(ri));
	return 0;
}

static void lpl_add_pages(struct folio *folio, void *context)
{
	*(unsigned long *)context += folio_nr_pages(folio);
}

static int lpl_isolate_generation_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_evacuation *evacuation = (void *)ri->data;
	unsigned long pages = 0;
	enum ktr_list list;
	int type;

	if (!lpl_peek(&type, evacuation->type, sizeof(type)) ||
	    !lpl_each_listed(evacuation->list, lpl_add_pages, &pages))
		return !lpl_is_strange(lpl_point_of_call(ri));
	if (!pages)
		return 0;
	list = type ? KTR_LIST_GENERATION_FILE : KTR_LIST_GENERATION_ANON;
	lpl_scan(list, pages, pages, evacuation->reclaimer);
	lpl_isolated(evacuation->list, list, evacuation->lruvec, evacuation->reclaimer);
	return 0;
}

static void lpl_move(u32 tag, struct folio *folio, enum ktr_move cause)
{
	struct kernel_trace_record *record;
	struct lpl_folio_name name;
	unsigned long flags;

	lpl_name(&name, folio);
	record = lpl_folio_begin(&flags, tag, &name);
	record->arg[KTR_ACTIVATE_CAUSE] = cause;
	lpl_end(flags);
}

static void lpl_used_again(void *data, struct folio *folio)
{
	lpl_move(KTR_ACTIVATE, folio, KTR_MOVE_USE);
	lpl_place(folio, KTR_PLACED_ACTIVE);
}

static void lpl_if_active(struct folio *folio, void *context)
{
	if (folio_test_active(folio))
		lpl_move(KTR_ACTIVATE, folio, KTR_MOVE_RECLAIM);
}

void lpl_activated(const struct list_head *list)
{
	lpl_each_listed(list, lpl_if_active, NULL);
}

/* shrink_active_list(): here only so that it is known what pages are moved for. */
static int lpl_shrink_active_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int lpl_shrink_active_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static bool lpl_ages_actives(void);

/* What has no other user is freed, and what is locked goes elsewhere. */
static void lpl_goes_back(struct folio *folio, void *context)
{
	const bool *ages = context;

	if (folio_test_mlocked(folio) || folio_ref_count(folio) <= 1)
		return;
	if (*ages && !folio_test_active(folio))
		lpl_move(KTR_DEACTIVATE, folio, KTR_MOVE_RECLAIM);
	lpl_place(folio, KTR_PLACED_BACK);
}

/* move_folios_to_lru(lruvec, list): the list's lock is held.  What remains active is in a list, too. */
static int lpl_move_to_lru(struct kprobe *kp, struct pt_regs *regs)
{
	bool ages = lpl_ages_actives();

	if (!lpl_each_listed((void *)lpl_arg(kp, regs, LIST), lpl_goes_back, &ages))
		return !lpl_is_strange(lpl_point_of_probe(kp));
	return 0;
}

/* lru_deactivate(lruvec, folio), lru_deactivate_file(lruvec, folio): as programs ask. */
static int lpl_asked_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	lpl_moving((void *)ri->data, page_folio((struct page *)lpl_arg(ri, regs, PAGE)));
	return 0;
}

static int lpl_asked_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_moving *moving = (void *)ri->data;

	if (lpl_is_counted(moving, LPL_COUNT_INACTIVE))
		lpl_move(KTR_DEACTIVATE, moving->folio, KTR_MOVE_REQUEST);
	lpl_moved(moving);
	return 0;
}

#define LPL_ASKED(place) {									\
	LPL_AT(place), .entered = lpl_asked_entered, .returned = lpl_asked_returned,		\
	.data = sizeof(struct lpl_moving),							\
}

#ifdef CONFIG_LRU_GEN
/* try_to_inc_max_seq(lruvec, ...) */
struct lpl_ageing {
	struct lruvec *lruvec;
};

/*
 * The newest generation of each that was reported: the function returns true also to a task that only waited
 * until another one had made it.  Two of a bucket forget each other, and one that is made in place of another that
 * ended begins with fewer.
 */
#define LPL_AGED_BITS 8
static struct {
	const struct lruvec *lruvec;
	unsigned long generation;
} lpl_aged[1 << LPL_AGED_BITS];

static bool lpl_is_reported(const struct lruvec *lruvec, unsigned long generation)
{
	const unsigned long bucket = hash_ptr((void *)lruvec, LPL_AGED_BITS);
	const bool is_reported = lpl_aged[bucket].lruvec == lruvec && lpl_aged[bucket].generation == generation;

	lpl_aged[bucket].lruvec = lruvec;
	lpl_aged[bucket].generation = generation;
	return is_reported;
}

static int lpl_age_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_ageing *ageing = (void *)ri->data;
	unsigned long generation;

	ageing->lruvec = (void *)lpl_arg(ri, regs, LRUVEC);
	if (!lpl_peek(&generation, &ageing->lruvec->lrugen.max_seq, sizeof(generation)))
		return lpl_is_strange(lpl_point_of_call(ri));
	return 0;
}

static int lpl_age_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct lpl_ageing *ageing = (void *)ri->data;
	struct mem_cgroup *group = lruvec_memcg(ageing->lruvec);
	const unsigned long generation = READ_ONCE(ageing->lruvec->lrugen.max_seq);
	struct kernel_trace_record *record;
	unsigned long flags;

	if (!(u8)regs_return_value(regs) || lpl_is_reported(ageing->lruvec, generation))
		return 0;
	record = lpl_begin(&flags, KTR_AGE);
	record->arg[KTR_AGE_GENERATION] = generation;
	record->arg[KTR_AGE_GROUP] = group ? mem_cgroup_id(group) : 0;
	record->arg[KTR_AGE_NODE] = lruvec_pgdat(ageing->lruvec)->node_id;
	lpl_end(flags);
	return 0;
}

#define LPL_AGEING sizeof(struct lpl_ageing)
#else
#define lpl_age_entered		NULL
#define lpl_age_returned	NULL
#define LPL_AGEING		0
#endif

enum {
	LPL_ISOLATE, LPL_ISOLATE_GENERATION, LPL_ACTIVATE, LPL_SHRINK_ACTIVE, LPL_MOVE_TO_LRU, LPL_AGE,
	LPL_DEACTIVATE, LPL_DEACTIVATE_FILE
};

static struct lpl_hook lpl_lru_hook[] = {
	[LPL_ISOLATE] = {
		.points = {
			{ LPL_AT(isolate_lru_folios), .entered = lpl_isolate_entered,
			  .returned = lpl_isolate_returned, .data = sizeof(struct lpl_isolation) },
			{ LPL_AT(isolate_lru_pages), .entered = lpl_isolate_entered,
			  .returned = lpl_isolate_returned, .data = sizeof(struct lpl_isolation) },
		},
	},
	[LPL_ISOLATE_GENERATION] = {
		.points = {
			{ LPL_AT(isolate_folios), .entered = lpl_isolate_generation_entered,
			  .returned = lpl_isolate_generation_returned,
			  .data = sizeof(struct lpl_evacuation) },
		},
	},
	[LPL_ACTIVATE] = {
		.points = {
			{ LPL_AT(mm_lru_activate), .tracepoint = lpl_used_again },
		},
	},
	[LPL_SHRINK_ACTIVE] = {
		.points = {
			{ LPL_AT(shrink_active_list), .entered = lpl_shrink_active_entered,
			  .returned = lpl_shrink_active_returned },
		},
	},
	[LPL_MOVE_TO_LRU] = {
		.points = {
			{ LPL_AT(move_folios_to_lru), .entry = lpl_move_to_lru },
		},
	},
	[LPL_AGE] = {
		.points = {
			{ LPL_AT(try_to_inc_max_seq), .entered = lpl_age_entered,
			  .returned = lpl_age_returned, .data = LPL_AGEING },
		},
	},
	[LPL_DEACTIVATE] = {
		.points = { LPL_ASKED(lru_deactivate), LPL_ASKED(lru_deactivate_fn) },
	},
	[LPL_DEACTIVATE_FILE] = {
		.points = { LPL_ASKED(lru_deactivate_file), LPL_ASKED(lru_deactivate_file_fn) },
	},
};

static bool lpl_ages_actives(void)
{
	return in_task() && lpl_call_of(&lpl_lru_hook[LPL_SHRINK_ACTIVE]);
}

const struct lpl_hooks lpl_lru_hooks = {
	lpl_lru_hook, ARRAY_SIZE(lpl_lru_hook), "reclaim",
};
