/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page images; see images.h.  Nothing here knows Bochs. */
#include "images.h"

#include <cstdlib>
#include <cstring>

#include "report.h"
#include "stream.h"

void laplace_images_open(struct laplace_images *images, uint64_t pages, uint32_t window)
{
	images->memory = lpl_evictions_open(pages);
	images->writer = lpl_image_writer_open();
	images->use = (struct lpl_window_use *)calloc(window, sizeof(*images->use));
	images->stack_frame = KTR_NONE;
	if (!images->memory || !images->writer || !images->use)
		laplace_die("no memory for page images");
}

void laplace_images_close(struct laplace_images *images)
{
	lpl_evictions_close(images->memory);
	lpl_image_writer_close(images->writer);
	free(images->use);
	images->memory = NULL;
	images->writer = NULL;
	images->use = NULL;
}

/* ---- an eviction ---- */

/* Just before the reference that fetches the coming page. */
static void send(void *context, const struct lpl_event *event)
{
	const struct laplace_page *coming = ((const struct laplace_images *)context)->coming;
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	record.tag = event->tag;
	record.space = laplace.space;
	record.tid = laplace.watch.tid;
	record.tgid = laplace.watch.tgid;
	memcpy(record.arg, event->arg, sizeof(record.arg));
	record.text_length = event->text_length;
	memcpy(record.text, event->text, event->text_length);
	laplace_emit_record((coming->first >> 3) - 1, coming->first_instr, coming->first_cycle, &record);
}

static void evict(struct laplace_images *images, const struct lpl_evicted *victim,
		  const struct laplace_page *coming)
{
	const uint8_t *bytes = victim->frame == KTR_NONE ? NULL :
			       laplace_machine_memory(victim->frame);

	static_assert(LAPLACE_WALK_SPACE == KTR_NONE, "docs/format.md, section 12");
	images->coming = coming;
	lpl_image_write(images->writer, victim->space, victim->page << 12, victim->frame, bytes, send,
			images);
}

/* ---- frames ---- */

static uint64_t frame_of(const struct laplace_images *images, const struct laplace_page *page,
			 unsigned type)
{
	uint64_t frame;

	if (page->space == LAPLACE_WALK_SPACE)
		return page->page;
	frame = laplace_machine_frame(page->page << 12, type == LPL_FETCH);
	if (frame != KTR_NONE)
		return frame;
	if (type != LPL_FETCH)
		return page->page == images->stack_page ? images->stack_frame : KTR_NONE;
	const auto found = images->code.find(page->page);

	return found == images->code.end() ? KTR_NONE : found->second;
}

static const size_t TRANSLATIONS = 1 << 16;

void laplace_images_translations_change(struct laplace_images *images)
{
	images->code.clear();
}

void laplace_images_code_at(struct laplace_images *images, uint64_t address)
{
	const uint64_t frame = laplace_machine_frame(address, true);

	if (frame == KTR_NONE)
		return;
	if (images->code.size() == TRANSLATIONS)
		images->code.clear();
	images->code[address >> 12] = frame;
}

void laplace_images_stack_at(struct laplace_images *images, uint64_t address)
{
	images->stack_page = address >> 12;
	images->stack_frame = laplace_machine_frame(address, false);
}

/* ---- references ---- */

void laplace_images_touch(struct laplace_images *images, struct laplace_page *page, unsigned type)
{
	uint64_t frame;

	if (!page->place) {
		struct lpl_evicted victim;
		bool evicts;

		page->place = lpl_evictions_enter(images->memory, page->space, page->page, &victim,
						  &evicts);
		if (!page->place)
			laplace_die("no memory for page images");
		if (evicts)
			evict(images, &victim, page);
	}
	frame = frame_of(images, page, type);
	if (frame != KTR_NONE)
		lpl_evictions_set_frame(images->memory, page->place, frame);
}

void laplace_images_window_ends(struct laplace_images *images, const struct laplace_window *w)
{
	for (uint32_t i = 0; i < w->pages; i++)
		images->use[i] = { w->page[i].last >> 3, w->page[i].place };
	lpl_evictions_window_ends(images->memory, images->use, w->pages);
}
