/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images: what is written is read again, whatever pages hold; and reductions carry images with them, so
 * that the reduced trace evicts, at each image and nowhere else, the page that the image is of.
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

#include "image_guest.h"

enum { TRIALS = 300 };

/* ---- what a stream says ---- */

static uint8_t known[IMAGE_REFERENCES][LPL_IMAGE_BYTES];
static struct lpl_image_hash known_hash[IMAGE_REFERENCES];
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

static void expect_image(const struct lpl_image *image, const struct image_shown *wanted)
{
	assert_false(image->lost);
	assert_int_equal(image->space, 7);
	assert_int_equal(image->address >> 12, wanted->page);
	assert_int_equal(image->frame, wanted->page + 100);
	if (wanted->page == IMAGE_PAGES - 1)
		assert_int_equal(image->kind, LPL_IMAGE_UNKNOWN);
	else
		assert_memory_equal(bytes_of(image), wanted->bytes, LPL_IMAGE_BYTES);
}

/* The stream has these images, each where a memory of so many pages evicts the page, and no others. */
static void expect_images(const struct stream *stream, uint32_t room)
{
	struct lpl_image_reader reader;
	uint32_t lru[IMAGE_PAGES], resident = 0;
	bool announced = false;
	size_t images = 0;

	known_count = 0;
	lpl_image_reader_init(&reader);
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];
		uint32_t page = (uint32_t)(item->ref.address >> 12), at = 0;
		struct lpl_image image;

		if (item->is_event && lpl_image_take(&reader, &item->event, &image)) {
			assert_true(images < image_shown_count);
			expect_image(&image, &image_shown[images++]);
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
	assert_int_equal(images, image_shown_count);
}

static void reductions_carry_images(void **unused)
{
	static const char *const specs[] = {
		"none", "block:4096", "window:%u", "sad:%u", "window:%u+sad:%u", "fence+sad:%u",
		"olr:%u", "window:%u+olr:%u", "sad:%u+olr:%u"
	};
	struct stream stream = { 0 }, out = { 0 };

	(void)unused;
	for (unsigned int trial = 0; trial < TRIALS; trial++) {
		const uint32_t room = 2 + trial % 9;
		const char *format = specs[trial % (sizeof(specs) / sizeof(specs[0]))];
		char spec[64];

		image_guest_seed(1000 + trial);
		/* the reduction's memory is the images', or a smaller one */
		const uint32_t pages = 2 + image_guest_below(room - 1);

		snprintf(spec, sizeof(spec), format, pages, pages);
		image_guest_play(room, &stream);
		print_message("seed %u: evict:%u, %s\n", 1000 + trial, room, spec);
		expect_images(&stream, room);
		stream_clear(&out);
		reduce_stream(spec, &stream, 1 + image_guest_below(7), &out);
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
