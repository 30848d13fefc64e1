/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a merge counted, and what an audit found, as text; and the names of both. */
#include <laplace/merge.h>

#include <inttypes.h>

const char *lpl_page_kind_name(enum lpl_page_kind kind)
{
	static const char *const name[LPL_PAGE_KINDS] = {
		[LPL_PAGE_ANONYMOUS] = "anonymous",
		[LPL_PAGE_FILE] = "file",
		[LPL_PAGE_SHM] = "shm",
		[LPL_PAGE_SPECIAL] = "special",
		[LPL_PAGE_CACHE] = "page-cache",
		[LPL_PAGE_KERNEL] = "kernel",
		[LPL_PAGE_PHYSICAL] = "page-table",
		[LPL_PAGE_UNRESOLVED] = "unresolved",
	};

	return (unsigned int)kind < LPL_PAGE_KINDS ? name[kind] : "unknown";
}

const char *lpl_merge_anomaly_name(enum lpl_merge_anomaly anomaly)
{
	static const char *const name[LPL_ANOMALIES] = {
		[LPL_ANOMALY_RANGE] = "range",
		[LPL_ANOMALY_MAP_KIND] = "map-kind",
		[LPL_ANOMALY_MAPPED_TWICE] = "mapped-twice",
		[LPL_ANOMALY_UNMAP] = "unmap",
		[LPL_ANOMALY_REMAP] = "remap",
		[LPL_ANOMALY_DETACH] = "shm-detach",
		[LPL_ANOMALY_DUPLICATE] = "space-duplicate",
		[LPL_ANOMALY_SPACE_END] = "space-end",
		[LPL_ANOMALY_COW_BREAK] = "cow-break",
		[LPL_ANOMALY_OWN_PAGES] = "own-pages",
		[LPL_ANOMALY_CACHE_ADD] = "cache-add",
		[LPL_ANOMALY_CACHE_REMOVE] = "cache-remove",
		[LPL_ANOMALY_TASK_CREATE] = "task-create",
		[LPL_ANOMALY_TASK_UNKNOWN] = "task-unknown",
		[LPL_ANOMALY_TASK_OTHER] = "task-other",
		[LPL_ANOMALY_SCHEDULE] = "schedule",
		[LPL_ANOMALY_MISSED_SCHEDULE] = "missed-schedule",
		[LPL_ANOMALY_MISSED_ASSIGN] = "missed-assign",
		[LPL_ANOMALY_TAG] = "tag",
		[LPL_ANOMALY_GAP] = "gap",
		[LPL_ANOMALY_UNRESOLVED] = "unresolved",
		[LPL_ANOMALY_ATTRIBUTION] = "attribution",
		[LPL_ANOMALY_NOT_CACHED] = "not-cached",
		[LPL_ANOMALY_UNREPORTED_BREAK] = "unreported-break",
		[LPL_ANOMALY_CACHED_TWICE] = "cached-twice",
		[LPL_ANOMALY_ORDER] = "order",
	};

	return (unsigned int)anomaly < LPL_ANOMALIES ? name[anomaly] : "unknown";
}

static void print_gaps(const struct lpl_merge_stats *stats, FILE *file)
{
	if (stats->gaps == 0)
		return;
	fprintf(file, "places where records are missing: %" PRIu64 " (%" PRIu64 " references and"
		" %" PRIu64 " events known of)\n", stats->gaps, stats->gap_references,
		stats->gap_events);
	fprintf(file, "references after that, before an event said what runs: %" PRIu64 "\n",
		stats->gap_unknown);
}

void lpl_merge_stats_print(const struct lpl_merge_stats *stats, FILE *file)
{
	for (int i = 0; i < LPL_PAGE_KINDS; i++)
		if (stats->references[i] != 0)
			fprintf(file, "references, %s: %" PRIu64 "\n",
				lpl_page_kind_name(i), stats->references[i]);
	fprintf(file, "user references unresolved: %" PRIu64 "\n", stats->user_unresolved);
	for (int i = 0; i < LPL_PAGE_KINDS; i++)
		if (stats->pages[i] != 0)
			fprintf(file, "canonical pages, %s: %" PRIu64 "\n",
				lpl_page_kind_name(i), stats->pages[i]);
	fprintf(file, "tasks: %" PRIu64 " (%" PRIu64 " live at the end)\n",
		stats->tasks, stats->live_tasks);
	fprintf(file, "address spaces: %" PRIu64 " (%" PRIu64 " live at the end)\n",
		stats->spaces, stats->live_spaces);
	fprintf(file, "events: %" PRIu64 "\n", stats->events);
	fprintf(file, "copy-on-write breaks: %" PRIu64 " (%" PRIu64 " kept the page)\n",
		stats->cow_breaks, stats->cow_kept);
	fprintf(file, "copy-on-write breaks seen by a write only: %" PRIu64 "\n",
		stats->implied_breaks);
	print_gaps(stats, file);
	if (stats->forgotten != 0)
		fprintf(file, "times that events were forgotten, for want of room: %" PRIu64
			"\n", stats->forgotten);
	for (int i = 0; i < LPL_ANOMALIES; i++)
		if (stats->anomalies[i] != 0)
			fprintf(file, "odd events, %s: %" PRIu64 "\n",
				lpl_merge_anomaly_name(i), stats->anomalies[i]);
}

/* ---- the audit ---- */

/* Two sums of the same. */
static void print_pair(FILE *file, const char *what, uint64_t one, const char *as,
		       uint64_t other)
{
	fprintf(file, "%s: %" PRIu64 " = %s: %" PRIu64 "%s\n", what, one, as, other,
		one == other ? "" : "  DIFFERENT");
}

static void print_record(FILE *file, const struct lpl_merge_problem *problem)
{
	const struct lpl_event *event = &problem->event;
	const struct lpl_ref *ref = &problem->ref;
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
	char text[4 * KTR_TEXT + 1];
	const char *name;

	fprintf(file, "  %s: by task %" PRIu32 " of %" PRIu32 ", ",
		lpl_merge_anomaly_name(problem->anomaly), problem->tid, problem->tgid);
	if (!problem->is_event) {
		fprintf(file, "cycle %" PRIx64 " reference %" PRIx64 ": %c %s space %" PRIx64
			" address %" PRIx64 "\n", ref->cycle, ref->ref,
			lpl_type_letter(ref->type), ref->flags & LPL_USER ? "user" : "kernel",
			ref->space, ref->address);
		return;
	}
	name = lpl_event_name(event->tag);
	fprintf(file, "cycle %" PRIx64 " reference %" PRIx64 ": ", event->cycle, event->ref);
	if (name != NULL)
		fprintf(file, "%s", name);
	else
		fprintf(file, "tag-%" PRIu32, event->tag);
	for (size_t i = 0; i < KTR_ARGS; i++)
		fprintf(file, "%c%" PRIx64, i == 0 ? ' ' : ',', event->arg[i]);
	lpl_text_escape(text, sizeof(text), event->text, length);
	fprintf(file, " %s\n", text[0] != '\0' ? text : "-");
}

void lpl_merge_audit_print(const struct lpl_merge *merge, FILE *file)
{
	const struct lpl_merge_audit *books = lpl_merge_audit(merge);
	const struct lpl_merge_stats *stats = lpl_merge_stats(merge);
	const struct lpl_merge_problem *problem;
	size_t count;

	if (books == NULL)
		return;
	print_pair(file, "references", books->references, "of all kinds", books->by_kind);
	print_pair(file, "references", books->references, "of all tasks", books->by_task);
	if (books->references_expected != 0)
		print_pair(file, "references", books->references, "as the trace says",
			   books->references_expected);
	if (books->events_expected != 0)
		print_pair(file, "events", books->events, "as the trace says",
			   books->events_expected);
	print_pair(file, "tasks", books->tasks, "ended + live",
		   books->tasks_ended + books->tasks_live);
	fprintf(file, "tasks live at the end: %" PRIu64 "; processes: %" PRIu64 "\n",
		books->tasks_live, books->processes);
	print_pair(file, "address spaces", books->spaces, "ended + live",
		   books->spaces_ended + books->spaces_live);
	fprintf(file, "address spaces live at the end: %" PRIu64 "; ended unused: %" PRIu64 "\n",
		books->spaces_live, books->spaces_unused);
	print_pair(file, "page cache, pages added", books->cache_added,
		   books->cache_lost == 0 ? "removed + displaced + held" :
					    "removed + displaced + held + lost",
		   books->cache_removed + books->cache_displaced + books->cache_held +
			   books->cache_lost);
	fprintf(file, "page cache, pages held at the end: %" PRIu64 "; displaced: %" PRIu64 "\n",
		books->cache_held, books->cache_displaced);
	fprintf(file, "file references looked for in the page cache: %" PRIu64 "\n",
		books->file_references);
	fprintf(file, "user references unresolved: %" PRIu64,
		stats->anomalies[LPL_ANOMALY_UNRESOLVED]);
	if (books->user_before_snapshot != 0)
		fprintf(file, "; before the first snapshot: %" PRIu64,
			books->user_before_snapshot);
	fputc('\n', file);
	print_gaps(stats, file);
	if (stats->forgotten != 0)
		fprintf(file, "times that events were forgotten, for want of room: %" PRIu64
			"\n", stats->forgotten);
	for (int i = 0; i < LPL_ANOMALIES; i++)
		if (stats->anomalies[i] != 0)
			fprintf(file, "odd, %s: %" PRIu64 "\n",
				lpl_merge_anomaly_name((enum lpl_merge_anomaly)i),
				stats->anomalies[i]);
	problem = lpl_merge_problems(merge, &count);
	for (size_t i = 0; i < count; i++)
		print_record(file, &problem[i]);
	fprintf(file, "the books %s\n", books->balanced ? "balance" : "DO NOT balance");
}
