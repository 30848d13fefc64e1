/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of what a merge counts, and its report as text. */
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

const char *lpl_merge_odd_name(enum lpl_merge_odd odd)
{
	static const char *const name[LPL_ODDS] = {
		[LPL_ODD_RANGE] = "range",
		[LPL_ODD_MAP_KIND] = "map-kind",
		[LPL_ODD_UNMAP] = "unmap",
		[LPL_ODD_REMAP] = "remap",
		[LPL_ODD_DETACH] = "shm-detach",
		[LPL_ODD_DUPLICATE] = "space-duplicate",
		[LPL_ODD_SPACE_END] = "space-end",
		[LPL_ODD_COW_BREAK] = "cow-break",
		[LPL_ODD_CACHE_ADD] = "cache-add",
		[LPL_ODD_CACHE_REMOVE] = "cache-remove",
		[LPL_ODD_TASK_CREATE] = "task-create",
		[LPL_ODD_TASK_UNKNOWN] = "task-unknown",
		[LPL_ODD_SCHEDULE] = "schedule",
		[LPL_ODD_MISSED_SCHEDULE] = "missed-schedule",
		[LPL_ODD_TAG] = "tag",
	};

	return (unsigned int)odd < LPL_ODDS ? name[odd] : "unknown";
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
	for (int i = 0; i < LPL_ODDS; i++)
		if (stats->odd[i] != 0)
			fprintf(file, "odd events, %s: %" PRIu64 "\n",
				lpl_merge_odd_name(i), stats->odd[i]);
}
