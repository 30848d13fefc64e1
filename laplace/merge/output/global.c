/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merge format `global`: one canonical page number, in hex, per reference. */
#include <laplace/merge.h>

#include <assert.h>
#include <stdlib.h>

#include "base/digits.h"
#include "base/try.h"

#define LINE_SIZE (LPL_HEX_DIGITS + 1)	/* and the newline */
#define BUFFER_SIZE (64 * 1024)

struct global {
	struct lpl_merge_output output;
	FILE *file;
	size_t used;
	char buffer[BUFFER_SIZE];
};

static enum lpl_error drain(struct global *global, struct lpl_report *report)
{
	size_t used = global->used;

	global->used = 0;
	if (fwrite(global->buffer, 1, used, global->file) != used)
		return lpl_fail(report, LPL_ERR_IO, "merge: cannot write canonical pages");
	return LPL_OK;
}

static enum lpl_error global_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				       struct lpl_report *report)
{
	struct global *global = (struct global *)output;
	char *end;

	if (global->used > BUFFER_SIZE - LINE_SIZE)
		LPL_TRY(drain(global, report));
	end = lpl_put_hex(global->buffer + global->used, merged->page);
	*end++ = '\n';
	global->used = (size_t)(end - global->buffer);
	assert(global->used <= BUFFER_SIZE);
	return LPL_OK;
}

static enum lpl_error global_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	struct global *global = (struct global *)output;

	LPL_TRY(drain(global, report));
	if (fflush(global->file) != 0)
		return lpl_fail(report, LPL_ERR_IO, "merge: cannot write canonical pages");
	return LPL_OK;
}

enum lpl_error lpl_merge_global_open(struct lpl_merge_output **output, FILE *file,
				     struct lpl_report *report)
{
	struct global *global = malloc(sizeof(*global));

	*output = NULL;
	if (global == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "merge: no memory for the output");
	global->output = (struct lpl_merge_output){
		.reference = global_reference, .finish = global_finish
	};
	global->file = file;
	global->used = 0;
	*output = &global->output;
	return LPL_OK;
}

void lpl_merge_global_close(struct lpl_merge_output *output)
{
	free(output);
}
