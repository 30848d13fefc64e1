/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memories of different sizes for different processes; see process_frames.h. */
#include "process_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digits.h"
#include "base/try.h"

/* ---- as they are written ---- */

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the frames of processes");
}

/* One size, in pages or bytes. */
static enum lpl_error parse_size(uint64_t *size, const char *name, const char *text, uint64_t page_size,
				 struct lpl_report *report)
{
	const struct lpl_sizes_base base = { .page_size = page_size };
	struct lpl_sizes sizes;
	bool one;

	if (strchr(text, '%') != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "frames '%.80s=%.80s': of how many pages is not "
				"known here; give a number of pages, or bytes (64K, 16M)", name, text);
	LPL_TRY(lpl_sizes_parse_of(&sizes, text, &base, report));
	one = !sizes.all && sizes.count == 1;
	if (one)
		*size = sizes.size[0];
	lpl_sizes_free(&sizes);
	return one ? LPL_OK : lpl_fail(report, LPL_ERR_USAGE, "frames '%.80s=%.80s': a process has one "
				       "memory, so one size", name, text);
}

static enum lpl_error given_twice(const char *name, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_USAGE, "frames: '%.80s' is given some twice", name);
}

static enum lpl_error take_others(struct process_frames *frames, uint64_t size, struct lpl_report *report)
{
	if (frames->others != 0)
		return given_twice("*", report);
	frames->others = size;
	return LPL_OK;
}

static bool is_same(const struct frames_of *a, const struct frames_of *b)
{
	if (a->name == NULL || b->name == NULL)
		return a->name == b->name && a->id == b->id;
	return strcmp(a->name, b->name) == 0;
}

/* `NAME=PAGES`, which is cut in two at its last equals sign. */
static enum lpl_error take_one(struct process_frames *frames, char *text, uint64_t page_size,
			       struct lpl_report *report)
{
	char *equals = strrchr(text, '=');
	struct frames_of one = { .text = text };

	if (equals == NULL || equals == text)
		return lpl_fail(report, LPL_ERR_USAGE, "frames '%.80s': not NAME=PAGES, of a process by "
				"its name or number, or *=PAGES, of each other one", text);
	*equals = '\0';
	LPL_TRY(parse_size(&one.size, text, equals + 1, page_size, report));
	if (strcmp(text, "*") == 0)
		return take_others(frames, one.size, report);
	if (!lpl_parse_decimal(text, &one.id))
		one.name = text;
	for (size_t i = 0; i < frames->count; i++)
		if (is_same(&frames->of[i], &one))
			return given_twice(text, report);
	if (!lpl_reach(frames->of, frames->room, frames->count))
		return no_memory(report);
	frames->of[frames->count++] = one;
	return LPL_OK;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What a simulator is given: all sizes, each once. */
static bool sort_sizes(struct process_frames *frames)
{
	struct lpl_sizes *sizes = &frames->sizes;

	sizes->size = malloc((frames->count + 1) * sizeof(*sizes->size));
	if (sizes->size == NULL)
		return false;
	for (size_t i = 0; i < frames->count; i++)
		sizes->size[i] = frames->of[i].size;
	sizes->size[frames->count] = frames->others;
	qsort(sizes->size, frames->count + 1, sizeof(*sizes->size), compare);
	sizes->count = 1;
	for (size_t i = 1; i <= frames->count; i++)
		if (sizes->size[i] != sizes->size[sizes->count - 1])
			sizes->size[sizes->count++] = sizes->size[i];
	return true;
}

enum lpl_error lpl_process_frames_parse(struct process_frames *frames, const char *spec, uint64_t page_size,
				struct lpl_report *report)
{
	char *rest, *text;

	*frames = (struct process_frames){ .spec = strdup(spec) };
	rest = frames->spec;
	if (rest == NULL)
		return no_memory(report);
	while ((text = strsep(&rest, ",")) != NULL)
		LPL_TRY(take_one(frames, text, page_size, report));
	if (frames->others == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "frames '%.80s': how much memory each other process "
				"has is missing: add *=PAGES", spec);
	return sort_sizes(frames) ? LPL_OK : no_memory(report);
}

void lpl_process_frames_free(struct process_frames *frames)
{
	free(frames->spec);
	free(frames->of);
	lpl_sizes_free(&frames->sizes);
	*frames = (struct process_frames){ 0 };
}

/* ---- whose they are ---- */

uint64_t lpl_process_frames_of(struct process_frames *frames, const struct lpl_runner *process)
{
	struct frames_of *found = NULL;

	for (size_t i = 0; i < frames->count; i++) {
		struct frames_of *of = &frames->of[i];

		if (of->name == NULL ? of->id != process->id : strcmp(of->name, process->name) != 0)
			continue;
		of->found = true;
		if (found == NULL || of->name == NULL)
			found = of;
	}
	return found != NULL ? found->size : frames->others;
}
