/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images: what a page holds when an LRU memory of K pages would evict it.
 *
 * Whether a page is evicted is decided where another one is entered in a window (collect/evictions.h says
 * why that is exact), before the reference that does so is made, and the page is read there and then.
 * All of this is called on slow paths alone, and only if images were asked for.
 *
 * A page is read in the frame that it was in at its last reference.  References to an open page are made by
 * the translation that opened it, so a frame is noted when a page is touched (producer.cc).  Two kinds
 * of references may be made when the TLB has given its entry to another page: fetches, as Bochs goes from
 * one trace of instructions to another that it has linked with it, until translations change; and those by
 * the stack window.  So these translations are remembered.
 */
#ifndef LAPLACE_IMAGES_H
#define LAPLACE_IMAGES_H

#include <unordered_map>

#include "collect/evictions.h"
#include "image/image_writer.h"
#include "window.h"

struct laplace_images {
	struct lpl_evictions *memory;	/* NULL: no images */
	struct lpl_image_writer *writer;
	struct lpl_window_use *use;	/* of each page of a window */
	const struct laplace_page *coming;	/* the page that evicts */
	std::unordered_map<uint64_t, uint64_t> code;	/* frames by page numbers */
	uint64_t stack_page, stack_frame;	/* KTR_NONE: it has no frame */
};

/* A memory of `pages`, after windows of `window`, which is no more. */
void laplace_images_open(struct laplace_images *images, uint64_t pages, uint32_t window);
void laplace_images_close(struct laplace_images *images);

/* A page of the window is referenced, or is known to have been, at first or again. */
void laplace_images_touch(struct laplace_images *images, struct laplace_page *page, unsigned type);
/* Where code comes from, and the stack window is, from now on. */
void laplace_images_code_at(struct laplace_images *images, uint64_t address);
void laplace_images_stack_at(struct laplace_images *images, uint64_t address);
/* The TLB may have other frames from now on. */
void laplace_images_translations_change(struct laplace_images *images);
/* All references of the window's pages are known. */
void laplace_images_window_ends(struct laplace_images *images, const struct laplace_window *w);

/* ---- what it asks of others ---- */

/* An event with these clocks, for the collector. */
void laplace_emit_record(uint64_t ref, uint64_t instr, uint64_t cycle,
			 const struct kernel_trace_record *record);
/* The frame of physical memory that the machine's TLB has for this address; KTR_NONE: none. */
uint64_t laplace_machine_frame(uint64_t address, bool fetch);
/* What is in a frame, LPL_IMAGE_BYTES bytes; NULL: no memory. */
const uint8_t *laplace_machine_memory(uint64_t frame);

#endif
