/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's frames: what is in physical memory, and by which pages.
 *
 * Nearly all references are to the page of the last one of their type; these are only counted.  Others look
 * up their translation, and what is new of it: a page that was not used before, or is in another frame
 * than it was, a frame that another space uses.
 */
#include "survey_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "survey_page_times.h"
#include "survey_pages.h"
#include "translate/sizes.h"

/* In a PC these are devices', far beyond its memory. */
#define DEVICES		UINT64_C(0xc0000)
#define DEVICES_END	UINT64_C(0x100000)

struct survey_frame {
	uint64_t frame, spaces;
	uint64_t last_space;		/* of those that use it */
	unsigned int sizes;		/* 1 << size of a page that it was reached by */
};

_Static_assert((int)LPL_SURVEY_PAGE_SIZES == (int)TRANSLATION_SIZES, "a size has a place in the results");

const char *lpl_survey_page_size_name(unsigned int size)
{
	static const char *const name[LPL_SURVEY_PAGE_SIZES] = {
		"4 KB", "2 MB", "4 MB", "1 GB", "no paging"
	};

	return name[size];
}

enum lpl_error lpl_survey_frames_init(struct survey_frames *frames, bool asked,
				      struct lpl_report *report)
{
	*frames = (struct survey_frames){ .count = 0 };
	lpl_map_init(&frames->index, 1);
	lpl_map_init(&frames->used_by, 2);
	lpl_survey_spaces_init(&frames->spaces);
	return asked ? lpl_translations_open(&frames->translations, report) : LPL_OK;
}

void lpl_survey_frames_free(struct survey_frames *frames)
{
	lpl_translations_close(frames->translations);
	lpl_map_free(&frames->index);
	lpl_map_free(&frames->used_by);
	lpl_survey_spaces_free(&frames->spaces);
	free(frames->frame);
}

enum lpl_error lpl_survey_frames_follow(struct survey_frames *frames, const struct lpl_event *event,
					struct lpl_report *report)
{
	if (!frames->translations)
		return LPL_OK;
	if (event->tag == LPL_EVENT_TRANSLATION || event->tag == LPL_EVENT_RETRANSLATION ||
	    event->tag == LPL_EVENT_GAP || event->tag == KTR_SPACE_DUPLICATE || event->tag == KTR_SPACE_END)
		memset(frames->last, 0, sizeof(frames->last));
	return lpl_translations_follow(frames->translations, event, report);
}

static unsigned int size_of(unsigned int shift)
{
	unsigned int size = 0;

	while (translation_shift[size] != shift)
		size++;
	return size;
}

static bool is_devices(uint64_t frame)
{
	return frame >= DEVICES && frame < DEVICES_END;
}

/* NULL: no memory. */
static struct survey_frame *reach_frame(struct survey_frames *frames, uint64_t number,
					enum lpl_page_kind kind)
{
	uint64_t *index = lpl_map_reach(&frames->index, LPL_KEY(number + 1));

	if (!index)
		return NULL;
	if (*index == 0) {
		if (!lpl_reach(frames->frame, frames->room, frames->count))
			return NULL;
		frames->frame[frames->count] = (struct survey_frame){ .frame = number };
		*index = ++frames->count;
		if (!is_devices(number))
			lpl_survey_heatmap_add(&frames->result.heatmap, number, kind);
	}
	return &frames->frame[*index - 1];
}

/* A space that has a frame for itself, as programs have theirs. */
static bool count_space(struct survey_frames *frames, struct survey_frame *frame, uint64_t space)
{
	uint64_t *used;

	if (frame->spaces > 0 && frame->last_space == space)
		return true;
	used = lpl_map_reach(&frames->used_by, LPL_KEY(frame->frame, space));
	if (!used)
		return false;
	frame->spaces += *used == 0;
	frame->last_space = space;
	*used = 1;
	return true;
}

/* Is the page new? */
static bool count_page(struct survey_frames *frames, uint64_t space, const struct lpl_translation *found,
		       uint64_t first_frame, struct lpl_survey_mapped *mapped)
{
	bool is_new;

	if (!lpl_survey_spaces_use(&frames->spaces, found->global ? KTR_NONE : space, found, first_frame,
				   &is_new))
		return false;
	if (is_new) {
		mapped->pages++;
		mapped->bytes += UINT64_C(1) << found->shift;
	}
	return true;
}

static bool look_at(struct survey_frames *frames, const struct lpl_ref *ref, enum lpl_page_kind kind,
		    struct survey_frames_last *last)
{
	struct lpl_translation found;
	struct survey_frame *frame;
	struct lpl_survey_mapped *mapped;
	unsigned int size;

	last->references = &frames->result.unknown;
	if (!lpl_translate(frames->translations, ref->space, ref->address, &found))
		return true;
	size = size_of(found.shift);
	mapped = &frames->result.mapped[size];
	last->references = &mapped->references;
	if (!is_devices(found.frame))
		last->frame = found.frame;
	frame = reach_frame(frames, found.frame, kind);
	if (!frame)
		return false;
	mapped->frames += !(frame->sizes >> size & 1);
	frame->sizes |= 1U << size;
	if (!found.global && !count_space(frames, frame, ref->space))
		return false;
	return found.shift == LPL_NO_PAGING ||
	       count_page(frames, ref->space, &found,
			  found.frame - ((ref->address - found.page) >> LPL_PAGE_SHIFT), mapped);
}

bool lpl_survey_frames_reference(struct survey_frames *frames, const struct lpl_ref *ref,
				 enum lpl_page_kind kind, unsigned int bin)
{
	struct lpl_survey_heatmap *map = &frames->result.heatmap;
	struct survey_frames_last *last = &frames->last[ref->type];
	const uint64_t page = ref->address >> LPL_PAGE_SHIFT;

	if (!frames->translations || ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE)
		return true;
	if (!last->references || last->page != page || last->space != ref->space) {
		*last = (struct survey_frames_last){ .space = ref->space, .page = page, .frame = KTR_NONE };
		if (!look_at(frames, ref, kind, last))
			return false;
	}
	++*last->references;
	if (last->frame != KTR_NONE)
		map->references[last->frame >> map->row_shift][bin]++;
	return true;
}

static int by_frame(const void *a, const void *b)
{
	const uint64_t one = ((const struct survey_frame *)a)->frame;
	const uint64_t other = ((const struct survey_frame *)b)->frame;

	return (one > other) - (one < other);
}

static void count_run(struct lpl_survey_frames *result, uint64_t length)
{
	result->runs++;
	result->longest_run = length > result->longest_run ? length : result->longest_run;
	result->by_run[lpl_survey_run_class(length)] += length;
}

bool lpl_survey_frames_finish(struct survey_frames *frames)
{
	struct lpl_survey_frames *result = &frames->result;
	uint64_t run = 0;

	if (!lpl_survey_spaces_finish(&frames->spaces))
		return false;
	result->forks = frames->spaces.forks;
	result->contiguity = frames->spaces.contiguity;
	result->moved = frames->spaces.moved;
	if (frames->count == 0)
		return true;
	result->all = frames->count;
	for (size_t i = 0; i < frames->count; i++)
		result->by_spaces[lpl_survey_sharing_of(frames->frame[i].spaces)]++;
	qsort(frames->frame, frames->count, sizeof(*frames->frame), by_frame);
	for (size_t i = 0; i < frames->count; i++) {
		run++;
		if (i + 1 < frames->count && frames->frame[i + 1].frame == frames->frame[i].frame + 1)
			continue;
		count_run(result, run);
		run = 0;
	}
	return true;
}
