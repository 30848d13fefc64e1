/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images: what is written is read again, whatever pages hold; and reductions carry images with them, so
 * that the reduced trace evicts, at each image and nowhere else, the page that the image is of.
 *
 * The guest here is an array: pages that references and chance write to.  What an LRU memory of K
 * pages evicts, and what the page held then, is found by brute force, on the references before reduction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/image.h>

#include "image/image_writer.h"

enum { PAGES = 24, REFERENCES = 400, TRIALS = 300, KINDS_OF_CONTENTS = 6 };

static uint64_t state;

static uint32_t below(uint32_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % limit;
}

/* ---- the guest ---- */

struct guest {
	uint8_t memory[PAGES][LPL_IMAGE_BYTES];
	uint32_t lru[PAGES];		/* the newest first */
	uint32_t resident, room;	/* K */
	struct lpl_image_writer *writer;
	struct stream *stream;
	struct lpl_ref coming;
};

/* What a page held when it was evicted, in order. */
struct shown {
	uint32_t page;
	uint8_t bytes[LPL_IMAGE_BYTES];
};

static struct shown shown[REFERENCES];
static size_t shown_count;

/* Now and then a page is as it was before, or as another is, or almost empty. */
static void change(uint8_t *bytes)
{
	const uint32_t offset = below(LPL_IMAGE_BYTES - 8);

	switch (below(KINDS_OF_CONTENTS)) {
	case 0:
		memset(bytes, 0, LPL_IMAGE_BYTES);
		break;
	case 1:
		for (uint32_t i = 0; i < LPL_IMAGE_BYTES; i++)
			bytes[i] = (uint8_t)(i % 8);
		break;
	case 2:
		memset(bytes, (int)below(256), LPL_IMAGE_BYTES);
		break;
	case 3:
		memset(bytes, 0, LPL_IMAGE_BYTES);
		bytes[below(3) * (LPL_IMAGE_BYTES / 2 - 1)] = 7;
		break;
	default:
		memset(bytes + offset, (int)below(256), 1 + below(8));
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
	const bool device = page == PAGES - 1;	/* no memory is behind it */

	shown[shown_count].page = page;
	memcpy(shown[shown_count++].bytes, guest->memory[page], LPL_IMAGE_BYTES);
	lpl_image_write(guest->writer, 7, (uint64_t)page << 12, page + 100,
			device ? NULL : guest->memory[page], sent, guest);
	if (below(100) == 0)	/* a segment ends */
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
		.length = 4, .type = below(3) == 0 ? LPL_WRITE : LPL_READ
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
	if (below(20) == 0)	/* a device writes, where it likes */
		change(guest->memory[below(PAGES)]);
}

/* Neighbours are used together, and others now and then. */
static void play(struct guest *guest, uint32_t room, struct stream *stream)
{
	uint32_t place = 0;

	memset(guest, 0, sizeof(*guest));
	guest->room = room;
	guest->stream = stream;
	guest->writer = lpl_image_writer_open();
	assert_non_null(guest->writer);
	shown_count = 0;
	stream_clear(stream);
	for (uint32_t i = 0; i < REFERENCES; i++) {
		if (below(12) == 0)
			place = below(PAGES);
		reference(guest, (place + below(4)) % PAGES);
	}
	lpl_image_writer_close(guest->writer);
}

/* ---- what a stream says ---- */

static uint8_t known[REFERENCES][LPL_IMAGE_BYTES];
static struct lpl_image_hash known_hash[REFERENCES];
static size_t known_count;

/* The bytes of an image, here or before. */
static const uint8_t *bytes_of(const struct lpl_image *image)
{
	static uint64_t filled[LPL_IMAGE_BYTES / 8];
	size_t at = 0;

	if (image->kind == LPL_IMAGE_FILLED) {
		for (size_t i = 0; i < LPL_IMAGE_BYTES / 8; i++)
			filled[i] = image->word;
		return (const uint8_t *)filled;
	}
	if (image->bytes) {
		known_hash[known_count] = image->hash;
		memcpy(known[known_count++], image->bytes, LPL_IMAGE_BYTES);
		return image->bytes;
	}
	while (at < known_count && memcmp(&known_hash[at], &image->hash, sizeof(image->hash)) != 0)
		at++;
	assert_true(at < known_count);
	return known[at];
}

static void expect_image(const struct lpl_image *image, const struct shown *wanted)
{
	assert_false(image->lost);
	assert_int_equal(image->space, 7);
	assert_int_equal(image->address >> 12, wanted->page);
	assert_int_equal(image->frame, wanted->page + 100);
	if (wanted->page == PAGES - 1)
		assert_int_equal(image->kind, LPL_IMAGE_UNKNOWN);
	else
		assert_memory_equal(bytes_of(image), wanted->bytes, LPL_IMAGE_BYTES);
}

/* The stream has these images, each where a memory of so many pages evicts the page, and no others. */
static void expect_images(const struct stream *stream, uint32_t room)
{
	struct lpl_image_reader reader;
	uint32_t lru[PAGES], resident = 0;
	bool announced = false;
	size_t images = 0;

	known_count = 0;
	lpl_image_reader_init(&reader);
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];
		uint32_t page = (uint32_t)(item->ref.address >> 12), at = 0;
		struct lpl_image image;

		if (item->is_event && lpl_image_take(&reader, &item->event, &image)) {
			assert_true(images < shown_count);
			expect_image(&image, &shown[images++]);
			assert_false(announced);
			announced = true;
			assert_int_equal(resident, room);
			assert_int_equal(lru[resident - 1], image.address >> 12);
		}
		if (item->is_event)
			continue;
		while (at < resident && lru[at] != page)
			at++;
		assert_int_equal(announced, at == resident && resident == room);
		announced = false;
		if (at == resident && resident < room)
			resident++;
		at = at == resident ? resident - 1 : at;
		memmove(lru + 1, lru, at * sizeof(lru[0]));
		lru[0] = page;
	}
	assert_int_equal(images, shown_count);
}

static void reductions_carry_images(void **unused)
{
	static const char *const specs[] = {
		"none", "block:4096", "window:%u", "sad:%u", "window:%u+sad:%u", "fence+sad:%u",
		"olr:%u", "window:%u+olr:%u", "sad:%u+olr:%u"
	};
	struct stream stream = { 0 }, out = { 0 };
	static struct guest guest;

	(void)unused;
	for (unsigned int trial = 0; trial < TRIALS; trial++) {
		const uint32_t room = 2 + trial % 9;
		const char *format = specs[trial % (sizeof(specs) / sizeof(specs[0]))];
		char spec[64];

		state = 1000 + trial;
		/* the reduction's memory is the images', or a smaller one */
		const uint32_t pages = 2 + below(room - 1);

		snprintf(spec, sizeof(spec), format, pages, pages);
		play(&guest, room, &stream);
		print_message("seed %u: evict:%u, %s\n", 1000 + trial, room, spec);
		expect_images(&stream, room);
		stream_clear(&out);
		reduce_stream(spec, &stream, 1 + below(7), &out);
		expect_images(&out, room);
	}
	stream_free(&stream);
	stream_free(&out);
}

/* ---- what is not whole ---- */

static void lost_contents_are_said(void **unused)
{
	struct lpl_image_reader reader;
	struct lpl_image image;
	struct lpl_event part = { .tag = LPL_EVENT_IMAGE_PART, .text_length = 256 };
	struct lpl_event event = { .tag = LPL_EVENT_IMAGE };
	uint8_t bytes[LPL_IMAGE_BYTES] = { 0 };
	struct lpl_image_counts counts = { 0 };

	(void)unused;
	memset(part.text, 'x', sizeof(part.text));
	memset(bytes + 512, 'x', 256);
	const struct lpl_image_hash hash = lpl_image_hash(bytes);
	part.arg[LPL_EVENT_IMAGE_PART_OFFSET] = 512;
	event.arg[LPL_EVENT_IMAGE_KIND] = LPL_IMAGE_STORED;
	event.arg[LPL_EVENT_IMAGE_HASH_LOW] = hash.low;
	event.arg[LPL_EVENT_IMAGE_HASH_HIGH] = hash.high;
	event.arg[LPL_EVENT_IMAGE_PARTS] = 1;
	lpl_image_reader_init(&reader);
	for (int what = 0; what < 5; what++) {
		struct lpl_event this = part;

		this.arg[LPL_EVENT_IMAGE_PART_OFFSET] = what == 1 ? 256 :
							what == 2 ? 4000 :
							what == 3 ? UINT64_MAX : 512;
		if (what != 4)
			assert_false(lpl_image_take(&reader, &this, &image));
		assert_true(lpl_image_take(&reader, &event, &image));
		assert_int_equal(image.lost, what != 0);
		assert_int_equal(image.bytes != NULL, what == 0);
		lpl_image_count(&counts, &image);
	}
	assert_int_equal(counts.images, 5);
	assert_int_equal(counts.stored, 5);
	assert_int_equal(counts.contents, 1);
	assert_int_equal(counts.lost, 4);
	event.arg[LPL_EVENT_IMAGE_KIND] = 77;
	assert_true(lpl_image_take(&reader, &event, &image));
	assert_int_equal(image.kind, LPL_IMAGE_UNKNOWN);
}

static void what_a_header_says(void **unused)
{
	(void)unused;
	assert_int_equal(lpl_images_of("evict:64"), 64);
	assert_int_equal(lpl_images_of("evict:64x"), 0);
	assert_int_equal(lpl_images_of("evict:"), 0);
	assert_int_equal(lpl_images_of("all"), 0);
	assert_int_equal(lpl_images_of(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reductions_carry_images),
		cmocka_unit_test(lost_contents_are_said),
		cmocka_unit_test(what_a_header_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
