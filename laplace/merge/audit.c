/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit: do the books of a merge balance?
 *
 * Everything is counted twice, as it happens and by what is there at the end, and
 * what the processor says of a reference is held against what the kernel's events
 * say: a program's reference is made in the space of the task that runs, and lies
 * in a mapping; a write to a shared page is reported to part it; a page of a file is in
 * the page cache when it is referenced; clocks do not run backwards; spaces end once.
 */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

struct audit *lpl_audit_open(uint32_t problems)
{
	struct audit *audit = calloc(1, sizeof(*audit));

	if (audit == NULL)
		return NULL;
	audit->problem = calloc((size_t)problems * LPL_ANOMALIES + 1, sizeof(*audit->problem));
	if (audit->problem == NULL) {
		free(audit);
		return NULL;
	}
	audit->limit = problems;
	audit->epoch = 1;
	lpl_map_init(&audit->ended, 1);
	return audit;
}

void lpl_audit_free(struct audit *audit)
{
	if (audit == NULL)
		return;
	lpl_map_free(&audit->ended);
	free(audit->problem);
	free(audit);
}

/* ---- problems ---- */

/* A place for one more of a kind; NULL: there are enough. */
static struct lpl_merge_problem *keep(struct lpl_merge *merge, enum lpl_merge_anomaly kind)
{
	struct audit *audit = merge->audit;
	struct lpl_merge_problem *problem;

	audit->books.anomalies++;
	if (audit->kept[kind] == audit->limit)
		return NULL;
	problem = &audit->problem[(size_t)kind * audit->limit + audit->kept[kind]++];
	problem->anomaly = kind;
	problem->tid = merge->tasks.current->view.tid;
	problem->tgid = merge->tasks.current->view.tgid;
	return problem;
}

void lpl_audit_anomaly(struct lpl_merge *merge, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event)
{
	struct lpl_merge_problem *problem = keep(merge, kind);

	if (problem != NULL) {
		problem->is_event = true;
		problem->event = *event;
	}
}

static void reference_anomaly(struct lpl_merge *merge, enum lpl_merge_anomaly kind,
			      const struct lpl_ref *ref)
{
	struct lpl_merge_problem *problem;

	merge->stats.anomalies[kind]++;
	problem = keep(merge, kind);
	if (problem != NULL)
		problem->ref = *ref;
}

/* ---- references and events ---- */

/* Do the clocks run on?  They are taken as they are, so that one jump counts once. */
static bool in_order(struct audit *audit, uint64_t ref, uint64_t instr, uint64_t cycle,
		     bool may_repeat)
{
	bool good = (may_repeat ? ref >= audit->last_ref : ref > audit->last_ref) &&
		    instr >= audit->last_instr && cycle >= audit->last_cycle;

	audit->last_ref = ref;
	audit->last_instr = instr;
	audit->last_cycle = cycle;
	return good;
}

static void user_reference(struct lpl_merge *merge, const struct lpl_ref *ref,
			   enum lpl_page_kind kind)
{
	bool unresolved = kind == LPL_PAGE_UNRESOLVED;
	bool elsewhere = !merge->tasks.current_known ||
			 ref->space != merge->tasks.current->view.space;

	if (unresolved)
		reference_anomaly(merge, LPL_ANOMALY_UNRESOLVED, ref);
	if (elsewhere)
		reference_anomaly(merge, LPL_ANOMALY_ATTRIBUTION, ref);
	merge->audit->user_anomalies += unresolved || elsewhere;
}

void lpl_audit_reference(struct lpl_merge *merge, const struct lpl_ref *ref,
			 struct translation *translation, bool implied_break)
{
	struct audit *audit = merge->audit;

	audit->books.references++;
	if (!in_order(audit, ref->ref, ref->instr, ref->cycle, (ref->flags & LPL_SYNTHETIC) != 0))
		reference_anomaly(merge, LPL_ANOMALY_ORDER, ref);
	if ((ref->flags & LPL_USER) != 0)
		user_reference(merge, ref, translation->kind);
	if (implied_break)
		reference_anomaly(merge, LPL_ANOMALY_UNREPORTED_BREAK, ref);
	if (translation->kind != LPL_PAGE_FILE)
		return;
	audit->books.file_references++;
	if (translation->cached == audit->epoch)
		return;
	if (lpl_audit_is_cached(merge, ref))
		translation->cached = audit->epoch;
	else
		reference_anomaly(merge, LPL_ANOMALY_NOT_CACHED, ref);
}

void lpl_audit_event(struct lpl_merge *merge, const struct lpl_event *event)
{
	merge->audit->books.events++;
	if (!in_order(merge->audit, event->ref, event->instr, event->cycle, true))
		lpl_merge_anomaly(merge, LPL_ANOMALY_ORDER, event);
}

static void forgive(struct lpl_merge *merge, enum lpl_merge_anomaly kind)
{
	merge->audit->books.anomalies -= merge->stats.anomalies[kind];
	merge->audit->kept[kind] = 0;
	merge->stats.anomalies[kind] = 0;
}

/*
 * From the first snapshot on a guest has reported what there is.  It could not have
 * done so before, so what programs referenced until then is counted apart, and tasks
 * that ended without being reported are not held against it.
 */
void lpl_audit_snapshot(struct lpl_merge *merge, bool begins)
{
	struct audit *audit = merge->audit;

	if (begins && !audit->snapshot_begun) {
		audit->snapshot_begun = true;
		forgive(merge, LPL_ANOMALY_SCHEDULE);
	}
	if (begins || audit->snapshot_ended)
		return;
	audit->snapshot_ended = true;
	audit->books.user_before_snapshot = audit->user_anomalies;
	forgive(merge, LPL_ANOMALY_UNRESOLVED);
	forgive(merge, LPL_ANOMALY_ATTRIBUTION);
}

void lpl_audit_state(struct lpl_merge *merge, uint64_t snapshot)
{
	struct audit *audit = merge->audit;

	audit->snapshot_begun |= snapshot != LPL_STATE_NO_SNAPSHOT;
	audit->snapshot_ended |= snapshot == LPL_STATE_AFTER_SNAPSHOT;
}

/* ---- tasks and spaces ---- */

void lpl_audit_task_over(struct lpl_merge *merge, const struct lpl_merge_task *task)
{
	struct audit *audit = merge->audit;

	audit->books.by_task += task->references;
	if (task->serial == 0)
		return;
	if (task->state == LPL_TASK_LEFT)
		audit->books.tasks_live++;
	else
		audit->books.tasks_ended++;
}

void lpl_audit_space_begins(struct lpl_merge *merge, uint64_t number)
{
	(void)lpl_map_remove(&merge->audit->ended, LPL_KEY(number));
	merge->audit->books.spaces++;
}

bool lpl_audit_space_over(struct lpl_merge *merge, uint64_t number, bool used,
			  const struct lpl_event *event)
{
	struct audit *audit = merge->audit;

	if (used)
		audit->books.spaces_ended++;
	else if (lpl_map_get(&audit->ended, LPL_KEY(number)) != 0)
		lpl_merge_anomaly(merge, LPL_ANOMALY_SPACE_END, event);
	else	/* an exec that fails leaves such a one */
		audit->books.spaces_unused++;
	return lpl_map_put(&audit->ended, LPL_KEY(number), 1);
}

/* ---- the end ---- */

/* Put what was kept of each kind after what was kept of the kinds before. */
static void pack_problems(struct audit *audit)
{
	for (size_t kind = 0; kind < LPL_ANOMALIES; kind++) {
		memmove(&audit->problem[audit->problems],
			&audit->problem[kind * audit->limit],
			audit->kept[kind] * sizeof(*audit->problem));
		audit->problems += audit->kept[kind];
	}
}

void lpl_audit_gap(struct lpl_merge *merge)
{
	struct audit *audit = merge->audit;
	struct object *object;

	audit->books.cache_lost += lpl_audit_cached_pages(merge);
	LIST_FOREACH(object, &merge->all_objects, in_all)
		lpl_tree_free(&object->cached);
	audit->epoch++;
	/* a space that has ended may have begun again */
	lpl_map_free(&audit->ended);
}

void lpl_audit_close(struct lpl_merge *merge)
{
	struct audit *audit = merge->audit;
	struct lpl_merge_audit *books = &audit->books;

	for (int i = 0; i < LPL_PAGE_KINDS; i++)
		books->by_kind += merge->stats.references[i];
	books->processes = merge->tasks.last_process;
	books->tasks = merge->tasks.last_serial;
	books->spaces_live = merge->spaces.count;
	books->cache_held = lpl_audit_cached_pages(merge);
	pack_problems(audit);
	books->balanced =
		books->anomalies == 0 &&
		books->by_kind == books->references && books->by_task == books->references &&
		books->tasks_ended + books->tasks_live == books->tasks &&
		books->spaces_ended + books->spaces_live == books->spaces &&
		books->cache_removed + books->cache_displaced + books->cache_lost +
			books->cache_held == books->cache_added &&
		(books->events_expected == 0 || books->events_expected == books->events) &&
		(books->references_expected == 0 ||
		 books->references_expected == books->references);
	audit->closed = true;
}

const struct lpl_merge_audit *lpl_merge_audit(const struct lpl_merge *merge)
{
	return merge->audit != NULL && merge->audit->closed ? &merge->audit->books : NULL;
}

void lpl_merge_audit_expect(struct lpl_merge *merge, uint64_t events, uint64_t references)
{
	if (merge->audit == NULL)
		return;
	merge->audit->books.events_expected = events;
	merge->audit->books.references_expected = references;
}

const struct lpl_merge_problem *lpl_merge_problems(const struct lpl_merge *merge, size_t *count)
{
	*count = merge->audit != NULL ? merge->audit->problems : 0;
	return *count != 0 ? merge->audit->problem : NULL;
}
