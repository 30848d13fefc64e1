/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A guest that is an array: pages that references and chance write to.  What an LRU memory of K pages evicts
 * of it, and what the page held then, is found by brute force.
 */
#include "image_guest.h"

#include <stdlib.h>
#include <string.h>

#include "image/image_writer.h"

enum { KINDS_OF_CONTENTS = 6 };

static uint64_t state;

void image_guest_seed(uint64_t seed)
{
	state = seed;
}

uint32_t image_guest_below(uint32_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % limit;
}

/* ---- the guest ---- */

struct guest {
	uint8_t memory[IMAGE_PAGES][LPL_IMAGE_BYTES];
	uint32_t lru[IMAGE_PAGES];		/* the newest first */
	uint32_t resident, room;	/* K */
	struct lpl_image_writer *writer;
	struct stream *stream;
	struct lpl_ref coming;
};

struct image_shown image_shown[IMAGE_REFERENCES];
size_t image_shown_count;

/* Now and then a page is as it was before, or as another is, or almost empty. */
static void change(uint8_t *bytes)
{
	const uint32_t offset = image_guest_below(LPL_IMAGE_BYTES - 8);

	switch (image_guest_below(KINDS_OF_CONTENTS)) {
	case 0:
		memset(bytes, 0, LPL_IMAGE_BYTES);
		break;
	case 1:
		for (uint32_t i = 0; i < LPL_IMAGE_BYTES; i++)
			bytes[i] = (uint8_t)(i % 8);
		break;
	case 2:
		memset(bytes, (int)image_guest_below(256), LPL_IMAGE_BYTES);
		break;
	case 3:
		memset(bytes, 0, LPL_IMAGE_BYTES);
		bytes[image_guest_below(3) * (LPL_IMAGE_BYTES / 2 - 1)] = 7;
		break;
	default:
		memset(bytes + offset, (int)image_guest_below(256), 1 + image_guest_below(8));
	}
}

static void sent(void *context, const struct lpl_event *event)
{
	struct guest *guest = context;
	struct lpl_event timed = *event;

	timed.ref = guest->coming.ref - 1;
	timed.instr = guest->coming.instr;
	timed.cycle = guest->coming.cycle;
	stream_add_event(guest->stream, &timed);
}

static void evict(struct guest *guest)
{
	const uint32_t page = guest->lru[--guest->resident];
	const bool device = page == IMAGE_PAGES - 1;	/* no memory backs it */

	image_shown[image_shown_count].page = page;
	memcpy(image_shown[image_shown_count++].bytes, guest->memory[page], LPL_IMAGE_BYTES);
	lpl_image_write(guest->writer, 7, (uint64_t)page << 12, page + 100,
			device ? NULL : guest->memory[page], sent, guest);
	if (image_guest_below(100) == 0)	/* a segment ends */
		lpl_image_writer_forget(guest->writer);
}

static void reference(struct guest *guest, uint32_t page)
{
	uint32_t at = 0;

	while (at < guest->resident && guest->lru[at] != page)
		at++;
	guest->coming = (struct lpl_ref){
		.ref = guest->coming.ref + 1, .instr = guest->coming.instr + 1,
		.cycle = guest->coming.cycle + 1, .space = 7, .address = (uint64_t)page << 12 | 8,
		.length = 4, .type = image_guest_below(3) == 0 ? LPL_WRITE : LPL_READ
	};
	if (at == guest->resident) {
		if (guest->resident == guest->room)
			evict(guest);
		at = guest->resident++;
	}
	memmove(guest->lru + 1, guest->lru, at * sizeof(guest->lru[0]));
	guest->lru[0] = page;
	stream_add_ref(guest->stream, &guest->coming);
	if (guest->coming.type == LPL_WRITE)
		change(guest->memory[page]);
	if (image_guest_below(20) == 0)	/* a device writes, where it likes */
		change(guest->memory[image_guest_below(IMAGE_PAGES)]);
}

/* Neighbours are used together, and others now and then. */
void image_guest_play(uint32_t room, struct stream *stream)
{
	static struct guest guest;
	uint32_t place = 0;

	memset(&guest, 0, sizeof(guest));
	guest.room = room;
	guest.stream = stream;
	guest.writer = lpl_image_writer_open();
	if (guest.writer == NULL)
		abort();
	image_shown_count = 0;
	stream_clear(stream);
	for (uint32_t i = 0; i < IMAGE_REFERENCES; i++) {
		if (image_guest_below(12) == 0)
			place = image_guest_below(IMAGE_PAGES);
		reference(&guest, (place + image_guest_below(4)) % IMAGE_PAGES);
	}
	lpl_image_writer_close(guest.writer);
}
