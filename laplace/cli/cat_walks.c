/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References to page tables, as a table; see cat_walks.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <laplace/walk.h>

#include "cat_walks.h"
#include "say.h"

struct printer {
	struct lpl_sink sink;
	struct lpl_walks *walks;
};

static void print(const struct lpl_ref *ref, const struct lpl_walk *walk)
{
	printf("%" PRIu64 ",%" PRIu64 ",%c,%" PRIx64 ",", ref->ref, ref->cycle, lpl_type_letter(ref->type),
	       ref->address);
	if (walk->table)
		printf("%u", walk->table);
	printf(",%d,%s,%d,%d\n", walk->large, walk->purpose ? lpl_purpose_name(walk->purpose) : "",
	       walk->accessed, walk->dirty);
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct printer *printer = (struct printer *)sink;
	struct lpl_walk walk;

	for (size_t i = 0; i < count; i++)
		if (lpl_walk_of(printer->walks, &refs[i], &walk))
			print(&refs[i], &walk);
	if (!ferror(stdout))
		return LPL_OK;
	cli_end_stdout(CLI_FAILED);	/* which returns where what reads it has ended */
	errno = EPIPE;
	return lpl_fail(report, LPL_ERR_IO, "standard output");
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	return lpl_walks_follow(((struct printer *)sink)->walks, event, report);
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

int cli_cat_walks(struct cli_pass *pass)
{
	struct printer printer = { .sink = { take_refs, take_event, finish } };
	const char *walks = lpl_meta_get(lpl_reader_meta(pass->reader), LPL_META_WALKS);
	struct lpl_report report = { 0 };
	int status;

	if (lpl_walks_open(&printer.walks, &report))
		return cli_report(&report);
	if (!walks || strcmp(walks, LPL_WALKS_DESCRIBED) != 0)
		(void)cli_complain(0, "warning: %s: does not say what references to page tables were (record it "
				   "with --walks)", pass->path);
	puts("reference,cycle,type,address,table,large,purpose,accessed,dirty");
	pass->sink = &printer.sink;
	status = cli_pass_run(pass);
	lpl_walks_close(printer.walks);
	return status;
}
