/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which addresses a trace has, and whether canonical pages can be had of it. */
#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/translation.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static enum lpl_need need_events(void *context, const struct lpl_chunk *chunk)
{
	(void)context;
	return chunk->events > 0 ? LPL_NEED_EVENTS : LPL_NEED_NOTHING;
}

/* What is damaged is not this function's affair: nothing that could be used stands after it. */
static bool find_mapping(struct lpl_reader *reader)
{
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count;

	lpl_reader_ask(reader, need_events, NULL);
	for (;;) {
		if (lpl_reader_next(reader, &refs, &count, &event, NULL) != LPL_OK &&
		    lpl_reader_resume(reader, NULL) != LPL_OK)
			return false;
		if (event == NULL && count == 0)
			return false;
		if (event != NULL && lpl_event_maps(event->tag))
			return true;
	}
}

/* A file can be read twice; standard input, too, if it is one. */
static bool is_file(const char **path)
{
	struct stat about;

	if (strcmp(*path, "-") == 0)
		*path = "/dev/stdin";
	return stat(*path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool has_mappings(const char *path, const struct lpl_meta *meta)
{
	struct lpl_reader *reader;
	bool found;

	if (!is_file(&path) || lpl_reader_open(&reader, path, NULL) != LPL_OK)
		return lpl_meta_get(meta, LPL_META_MACHINE) != NULL;
	found = find_mapping(reader);
	lpl_reader_close(reader);
	return found;
}

#define SAY_WHY(addressing, ...) \
	((void)snprintf((addressing)->why, sizeof((addressing)->why), __VA_ARGS__))

void lpl_addressing_of(struct lpl_addressing *addressing, const char *path,
		       const struct lpl_meta *meta)
{
	const char *kind = lpl_meta_get(meta, LPL_META_ADDRESSES);
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	const uint64_t page_size = lpl_page_size(lpl_meta_get(meta, LPL_META_PAGE_SIZE), reduction);

	*addressing = (struct lpl_addressing){
		.canonical = kind && strcmp(kind, "canonical") == 0,
		.translations = lpl_has_translations(meta)
	};
	addressing->frames_exact = addressing->translations && lpl_reduction_fenced(reduction);
	if (addressing->canonical) {
		SAY_WHY(addressing, "has canonical pages already");
		return;
	}
	addressing->maps = has_mappings(path, meta);
	if (!addressing->maps)
		SAY_WHY(addressing, "has no events that say what is mapped");
	else if (lpl_reduction_behaviour(reduction) != 0)
		SAY_WHY(addressing, "is a behaviour sequence (%.60s), of one memory of virtual pages",
			reduction);
	else if (lpl_reduction_records(reduction))
		SAY_WHY(addressing, "is records of virtual pages (%.60s)", reduction);
	else if (page_size == 0)
		SAY_WHY(addressing, LPL_NO_PAGE_SIZE);
	/* these are several canonical ones */
	else if (page_size > UINT64_C(1) << LPL_PAGE_SHIFT)
		SAY_WHY(addressing, "has pages larger than those that are mapped");
	else
		addressing->can = true;
	if (addressing->can && !lpl_reduction_fenced(reduction))
		SAY_WHY(addressing, "was reduced without fences (%.60s), where a page may have been "
			"another one before", reduction);
	else
		addressing->exact = addressing->can;
}
