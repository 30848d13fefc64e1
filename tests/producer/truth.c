/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The truth about a run of a processor; see truth.h. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

void truth_begin(struct truth *truth)
{
	*truth = (struct truth){ .stream = truth->stream, .totals = truth->totals,
				 .place = truth->place, .places = truth->places };
	stream_clear(&truth->stream);
	truth->totals.count = 0;
}

void truth_free(struct truth *truth)
{
	stream_free(&truth->stream);
	free(truth->totals.total);
	free(truth->place);
}

/* ---- references ---- */

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

static void note_place(struct truth *truth, const struct lpl_ref *ref)
{
	if (truth->number >= truth->places) {
		truth->places = 2 * truth->number + 64;
		truth->place = realloc(truth->place, truth->places * sizeof(*truth->place));
		if (truth->place == NULL)
			abort();
	}
	truth->place[truth->number] = (struct truth_place){
		is_walk(ref) ? ref->address >> 12 : truth->frame_of(ref->space, ref->address),
		truth->writes
	};
}

static void refer(struct truth *truth, enum lpl_type type, uint64_t address, bool user)
{
	struct lpl_ref ref;

	if (truth->state == TRUTH_TRACER)
		truth->tracer_now++;
	if (truth->state != TRUTH_ON)
		return;
	memset(&ref, 0, sizeof(ref));
	ref.ref = ++truth->number;
	ref.instr = truth->instr;
	ref.cycle = truth->cycle;
	ref.address = address;
	ref.space = truth->space;
	ref.type = (uint8_t)type;
	ref.flags = user ? LPL_USER : 0;
	stream_add_ref(&truth->stream, &ref);
	note_place(truth, &ref);
}

void truth_data(struct truth *truth, bool write, uint64_t address, bool system)
{
	refer(truth, write ? LPL_WRITE : LPL_READ, address, truth->user && !system);
}

void truth_walk(struct truth *truth, bool write, uint64_t address)
{
	uint64_t space = truth->space;

	if (truth->state != TRUTH_ON)	/* those of the tracer are not counted */
		return;
	truth->space = 0;
	refer(truth, write ? LPL_WALK_WRITE : LPL_WALK_READ, address, false);
	truth->space = space;
}

void truth_fetch(struct truth *truth, uint64_t address, uint64_t second)
{
	refer(truth, LPL_FETCH, address, truth->user);
	if (second != 0 && truth->state == TRUTH_ON)	/* the tracer's count one */
		refer(truth, LPL_FETCH, second, truth->user);
}

void truth_record_reference(struct truth *truth)
{
	if (truth->state == TRUTH_TRACER)
		truth->tracer_now++;
}

/* ---- clocks ---- */

void truth_count(struct truth *truth)
{
	truth->instr++;
	truth->cycle = truth->instr + truth->waited;
}

void truth_no_instruction(struct truth *truth)
{
	truth_record_reference(truth);
}

void truth_cycles_later(struct truth *truth, uint64_t cycles)
{
	truth->waited += cycles;
}

void truth_cycles_now(struct truth *truth, uint64_t cycles)
{
	truth->waited += cycles;
	truth->cycle += cycles;
}

/* ---- events ---- */

void truth_totals_add(struct truth_totals *totals, uint64_t references, uint64_t tracer_refs,
		      uint64_t instr)
{
	if (totals->count == totals->room) {
		totals->room = 2 * totals->room + 64;
		totals->total = realloc(totals->total, totals->room * sizeof(*totals->total));
		if (totals->total == NULL)
			abort();
	}
	totals->total[totals->count++] = (struct truth_total){ references, tracer_refs, instr };
}

void truth_add_totals(struct truth *truth)
{
	truth_totals_add(&truth->totals, truth->number, truth->tracer_refs, truth->instr);
}

void truth_event(struct truth *truth, const struct kernel_trace_record *record)
{
	struct lpl_event event;

	memset(&event, 0, sizeof(event));
	event.ref = truth->number;
	event.instr = truth->instr;
	event.cycle = truth->cycle;
	event.space = record->space;
	memcpy(event.arg, record->arg, sizeof(event.arg));
	event.tag = record->tag;
	event.tid = record->tid;
	event.tgid = record->tgid;
	event.text_length = record->text_length;
	memcpy(event.text, record->text, sizeof(event.text));
	stream_add_event(&truth->stream, &event);
	truth_add_totals(truth);
}

static void own_event(struct truth *truth, uint32_t tag, uint64_t on, const char *text)
{
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	record.tag = tag;
	record.space = truth->space;
	record.arg[LPL_EVENT_TRACING_ON] = on;
	record.text_length = (uint32_t)strlen(text);
	memcpy(record.text, text, strlen(text));
	truth_event(truth, &record);
}

void truth_mark(struct truth *truth, const char *text)
{
	own_event(truth, LPL_EVENT_MARK, 0, text);
}

void truth_flush(struct truth *truth)
{
	struct lpl_event event;

	memset(&event, 0, sizeof(event));
	event.tag = TRUTH_FLUSH;
	stream_add_event(&truth->stream, &event);
	truth_add_totals(truth);
}

void truth_record_begins(struct truth *truth)
{
	if (truth->state == TRUTH_ON)
		truth->state = TRUTH_TRACER;
}

void truth_record_ends(struct truth *truth)
{
	if (truth->state == TRUTH_TRACER)
		truth->state = TRUTH_ON;
	truth->tracer_refs += truth->tracer_now;
	truth->tracer_now = 0;
}

void truth_start(struct truth *truth)
{
	if (truth->state != TRUTH_OFF)
		return;
	truth->state = TRUTH_ON;
	own_event(truth, LPL_EVENT_TRACING, 1, "");
}

void truth_stop(struct truth *truth)
{
	truth_record_ends(truth);
	if (truth->state == TRUTH_OFF)
		return;
	truth->state = TRUTH_OFF;
	own_event(truth, LPL_EVENT_TRACING, 0, "");
}

/* ---- windows ---- */

static bool same_page(const struct lpl_ref *a, const struct lpl_ref *b)
{
	return a->address >> 12 == b->address >> 12 && a->space == b->space &&
	       is_walk(a) == is_walk(b);
}

/* A page of the window: which records of the stream are its first and last, ... */
struct page {
	size_t first, last;
	bool written;		/* after the first */
};

static void keep(const struct truth *truth, size_t at, bool written, struct stream *out)
{
	struct lpl_ref ref = truth->stream.item[at].ref;

	ref.address &= ~UINT64_C(0xfff);
	ref.flags |= LPL_PAGED;
	if (written)
		ref.type = ref.type == LPL_WALK_READ || ref.type == LPL_WALK_WRITE ?
			   LPL_WALK_WRITE : LPL_WRITE;
	stream_add_ref(out, &ref);
}

/* The records [begin, end) are a window. */
static void keep_window(const struct truth *truth, size_t begin, size_t end,
			const struct page *page, uint32_t pages, struct stream *out)
{
	for (size_t at = begin; at < end; at++) {
		if (truth->stream.item[at].is_event)
			stream_add_event(out, &truth->stream.item[at].event);
		for (uint32_t i = 0; i < pages; i++) {
			if (page[i].first == at)
				keep(truth, at, false, out);
			else if (page[i].last == at)
				keep(truth, at, page[i].written, out);
		}
	}
}

void truth_windows(const struct truth *truth, uint32_t limit, struct stream *out)
{
	const struct stream *in = &truth->stream;
	struct page *page = calloc(limit, sizeof(*page));
	uint32_t pages = 0, events = 0;
	size_t begin = 0;

	if (page == NULL)
		abort();
	for (size_t at = 0; at < in->count; at++) {
		const struct item *item = &in->item[at];
		bool write = item->ref.type == LPL_WRITE || item->ref.type == LPL_WALK_WRITE;
		uint32_t tag = item->event.tag, i = 0;

		if (item->is_event) {
			if (!lpl_event_is_fence(tag) && tag != LPL_EVENT_TRACING &&
			    tag != TRUTH_FLUSH && ++events < LPL_WINDOW_EVENTS)
				continue;
			keep_window(truth, begin, at, page, pages, out);
			if (tag != TRUTH_FLUSH)
				stream_add_event(out, &item->event);
			begin = at + 1;
			pages = events = 0;
			continue;
		}
		while (i < pages && !same_page(&in->item[page[i].first].ref, &item->ref))
			i++;
		if (i < pages) {
			page[i].last = at;
			page[i].written |= write;
			continue;
		}
		if (pages == limit) {
			keep_window(truth, begin, at, page, pages, out);
			begin = at;
			pages = events = 0;
		}
		page[pages++] = (struct page){ at, at, false };
	}
	keep_window(truth, begin, in->count, page, pages, out);
	free(page);
}

/* ---- images ---- */

size_t truth_images(const struct truth *truth, uint32_t pages, struct truth_image *image, size_t most)
{
	const struct lpl_ref **lru = calloc(pages + 1, sizeof(*lru));	/* the newest first */
	size_t resident = 0, images = 0;

	if (lru == NULL)
		abort();
	for (size_t i = 0; i < truth->stream.count; i++) {
		const struct lpl_ref *ref = &truth->stream.item[i].ref;
		size_t at = 0;

		if (truth->stream.item[i].is_event)
			continue;
		while (at < resident && !same_page(lru[at], ref))
			at++;
		if (at == resident && resident++ == pages) {
			const struct lpl_ref *victim = lru[--resident - 1];

			at = resident - 1;
			if (images < most)
				image[images] = (struct truth_image){
					*victim, *ref,
					{ truth->place[victim->ref].frame, truth->place[ref->ref].writes }
				};
			images++;
		}
		memmove(lru + 1, lru, at * sizeof(*lru));
		lru[0] = ref;
	}
	free(lru);
	return images;
}
