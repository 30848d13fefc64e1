/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shared-pages TRACE: which canonical pages does more than one process use?
 * An output format for laplace merge (docs/merging.md), as a program of its own.
 *	cc -o shared-pages shared-pages.c $(pkg-config --cflags --libs laplace)
 *
 * A line is: canonical page, kind, references, and the name of the file or "-".
 * The kernel counts as no process, and its own pages are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <laplace/merge.h>
#include <laplace/trace.h>

struct use {
	uint64_t first_process;		/* that used it; 0: none yet */
	uint64_t references;
	int shared;
	enum lpl_page_kind kind;
	char name[64];
};

struct shared {
	struct lpl_merge_output output;	/* first: the merge knows us by this */
	struct use *use;		/* by canonical page, which are dense, from 1 */
	uint64_t pages, room;
};

static enum lpl_error on_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			      struct lpl_report *report)
{
	struct shared *shared = (struct shared *)output;

	if (page->page >= shared->room) {
		struct use *use = realloc(shared->use, 2 * page->page * sizeof(*use));

		if (use == NULL)
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for pages");
		shared->use = use;
		shared->room = 2 * page->page;
	}
	shared->use[page->page] = (struct use){ .kind = page->kind };
	lpl_text_escape(shared->use[page->page].name, sizeof(shared->use->name), page->name,
			page->name_length);
	shared->pages = page->page;
	return LPL_OK;
}

static enum lpl_error on_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				   struct lpl_report *report)
{
	struct use *use = &((struct shared *)output)->use[merged->page];
	uint64_t process = merged->task->process;

	(void)report;
	use->references++;
	if (use->first_process == 0)
		use->first_process = process;
	else if (process != 0 && use->first_process != process)
		use->shared = 1;
	return LPL_OK;
}

static enum lpl_error on_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	const struct shared *shared = (struct shared *)output;

	(void)report;
	for (uint64_t page = 1; page <= shared->pages; page++) {
		const struct use *use = &shared->use[page];

		if (use->shared && use->kind != LPL_PAGE_KERNEL)
			printf("%" PRIx64 " %s %" PRIu64 " %s\n", page,
			       lpl_page_kind_name(use->kind), use->references,
			       use->name[0] ? use->name : "-");
	}
	return LPL_OK;
}

int main(int argc, char **argv)
{
	struct shared shared = { .output = { .reference = on_reference, .finish = on_finish,
					     .page = on_page } };
	struct lpl_report report = { 0 };
	struct lpl_reader *reader = NULL;
	struct lpl_merge *merge = NULL;

	if (argc == 2 && !lpl_reader_open(&reader, argv[1], &report) &&
	    !lpl_merge_open(&merge, &shared.output, NULL, &report))
		(void)lpl_reader_run(reader, lpl_merge_sink(merge), &report);
	if (argc != 2 || report.error)
		fprintf(stderr, "shared-pages: %s\n", argc == 2 ? report.text : "which trace?");
	lpl_merge_close(merge);
	lpl_reader_close(reader);
	free(shared.use);
	return argc != 2 ? 2 : lpl_error_status(report.error);
}
