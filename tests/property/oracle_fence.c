/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle of what respects changes of mapping: generations of pages by definition. */
#include "oracle.h"

static bool in_bytes(uint64_t page, uint64_t start, uint64_t end)
{
	return start < end && page >= start / 4096 && page <= (end - 1) / 4096;
}

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

/* Is it the kernel's page of one of these frames, as the events before `at` said? */
static bool shows_frames(const struct stream *stream, size_t at, uint64_t page, uint64_t frame,
			 uint64_t frames)
{
	uint64_t offset = 0;	/* from a frame to the kernel's page of it */
	bool shows = false, known = false;

	for (size_t i = 0; i < at; i++) {
		const struct lpl_event *add = &stream->item[i].event;
		uint64_t shift;

		if (!stream->item[i].is_event || add->tag != KTR_CACHE_ADD ||
		    add->arg[KTR_CACHE_ADD_ADDRESS] == KTR_NONE)
			continue;
		shift = add->arg[KTR_CACHE_ADD_ADDRESS] / 4096 - add->arg[KTR_CACHE_ADD_FRAME];
		shows |= page - (frame + shift) < frames;
		/* two offsets: not known */
		if (known && shift != offset)
			return true;
		offset = shift;
		known = true;
	}
	return shows;
}

bool oracle_affects(const struct stream *stream, size_t at, const struct lpl_ref *ref)
{
	const struct lpl_event *event = &stream->item[at].event;
	const uint64_t *arg = event->arg;
	uint64_t page = ref->address / 4096;
	uint64_t space = is_walk(ref) ? UINT64_MAX : ref->space;
	bool kernel = ref->address >> 63 != 0;
	uint64_t first;

	switch (event->tag) {
	case KTR_MAP:
	case KTR_UNMAP:
	case KTR_SHM_ATTACH:
	case KTR_DISCARD:
	case KTR_PRESENT:
		return space == arg[KTR_RANGE_SPACE] &&
		       in_bytes(page, arg[KTR_RANGE_START], arg[KTR_RANGE_END]);
	case KTR_REMAP:
		return space == arg[KTR_REMAP_SPACE] &&
		       (in_bytes(page, arg[KTR_REMAP_OLD_START], arg[KTR_REMAP_OLD_END]) ||
			in_bytes(page, arg[KTR_REMAP_NEW_START], arg[KTR_REMAP_NEW_END]));
	case KTR_BRK:
		return space == arg[KTR_BRK_SPACE] &&
		       (page * 4096 >= arg[KTR_BRK_OLD_END] ?
				page * 4096 < arg[KTR_BRK_NEW_END] :
				page * 4096 >= arg[KTR_BRK_NEW_END]);
	case KTR_SHM_DETACH:
		return space == arg[KTR_SHM_DETACH_SPACE] &&
		       page >= arg[KTR_SHM_DETACH_START] / 4096;
	case KTR_EXEC:
		return space == arg[KTR_EXEC_SPACE] && !kernel;
	case KTR_SPACE_END:
		return space == arg[KTR_SPACE_END_SPACE] && !kernel;
	case KTR_SPACE_DUPLICATE:
		return (space == arg[KTR_SPACE_DUPLICATE_PARENT] ||
			space == arg[KTR_SPACE_DUPLICATE_CHILD]) && !kernel;
	case KTR_COW_BREAK:
		return space == arg[KTR_COW_BREAK_SPACE] &&
		       page == arg[KTR_COW_BREAK_ADDRESS] / 4096;
	case KTR_PAGE_OWN:
		return space == arg[KTR_PAGE_OWN_SPACE] &&
		       page - arg[KTR_PAGE_OWN_ADDRESS] / 4096 < arg[KTR_PAGE_OWN_PAGES];
	case KTR_CACHE_ADD:
		first = arg[KTR_CACHE_ADD_ADDRESS] / 4096;
		return shows_frames(stream, at, page, arg[KTR_CACHE_ADD_FRAME],
				    arg[KTR_CACHE_ADD_PAGES]) ||
		       (arg[KTR_CACHE_ADD_ADDRESS] != KTR_NONE && page >= first &&
			page < first + arg[KTR_CACHE_ADD_PAGES]);
	case KTR_CACHE_REMOVE:
		return shows_frames(stream, at, page, arg[KTR_CACHE_REMOVE_FRAME],
				    arg[KTR_CACHE_REMOVE_PAGES]);
	default:
		return event->tag == LPL_EVENT_TRACING || event->tag == LPL_EVENT_GAP ||
		       event->tag == LPL_EVENT_STATE;
	}
}

/* The page of record i and its generation: the events so far that gave it a new meaning. */
static bool same_generation(const struct stream *stream, size_t i, size_t j)
{
	const struct lpl_ref *a = &stream->item[i].ref, *b = &stream->item[j].ref;

	if (is_walk(a) != is_walk(b) || a->address / 4096 != b->address / 4096 ||
	    (!is_walk(a) && a->space != b->space))
		return false;
	for (size_t at = i; at < j; at++)
		if (stream->item[at].is_event && oracle_affects(stream, at, a))
			return false;
	return true;
}

/*
 * The number of the first reference of each one's generation takes the place of its
 * page: then an oracle that knows no events sees generations as pages.
 */
void oracle_fenced(const struct stream *in, oracle_method *method, uint64_t number,
		   struct stream *out)
{
	struct stream renamed = {0};

	for (size_t i = 0; i < in->count; i++) {
		struct lpl_ref ref = in->item[i].ref;
		size_t first = 0;

		if (in->item[i].is_event) {
			stream_add_event(&renamed, &in->item[i].event);
			continue;
		}
		while (in->item[first].is_event || !same_generation(in, first, i))
			first++;
		ref.address = (uint64_t)first << 12;
		if (!is_walk(&ref))	/* the space of a walk says nothing of its page */
			ref.space = 0;
		stream_add_ref(&renamed, &ref);
	}
	method(&renamed, number, out);
	for (size_t i = 0; i < out->count; i++) {
		struct lpl_ref *ref = &out->item[i].ref;
		const struct lpl_ref *first = &in->item[ref->address >> 12].ref;

		if (out->item[i].is_event)
			continue;
		ref->address = first->address / 4096 * 4096;
		if (!is_walk(ref))
			ref->space = first->space;
	}
	stream_free(&renamed);
}
