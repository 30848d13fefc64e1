/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * swapped DISK BUFFER CODEC HUGE TRACE...: what is on a copy of a swap device, beside the page images of traces of
 * the run that wrote it, for bench/zram.
 *
 * Prints what CODEC makes of the pages on DISK, one by one (HUGE bytes or more: the page as it is), the first with the
 * device's description among them, but for pages of one word: what is free reads as zeros.  Then, of each TRACE, how
 * many of the pages there that swap-guest has numbered are as the last image of their address shows them, how many are
 * not, and of how many there is no image.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/image.h>
#include <laplace/trace.h>

#include "image/page_codec.h"

enum { MOST = 1 << 20 };

/* By the page's number in the buffer. */
struct page {
	bool swapped, shown;
	struct lpl_image_hash on_disk, last;
};

static struct page page[MOST];

static void die(const struct lpl_report *report)
{
	fprintf(stderr, "swapped: %s\n", report->text);
	exit(1);
}

/* ---- the disk ---- */

/* As swap-guest has numbered it; false: it is none of those. */
static bool number_of(const uint8_t *bytes, uint64_t *number)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	*number = word >> 8;
	return (word & 255) == 1 && *number < MOST;
}

static void read_disk(const char *path, const char *codec_name, uint32_t huge)
{
	FILE *disk = fopen(path, "rb");
	struct lpl_report report = { 0 };
	struct lpl_page_codec *codec;
	uint8_t bytes[LPL_IMAGE_BYTES];
	uint64_t pages = 0, filled = 0, many = 0, sum = 0, number, word;

	if (disk == NULL) {
		perror(path);
		exit(1);
	}
	if (lpl_page_codec_open(&codec, codec_name, &report))
		die(&report);
	while (fread(bytes, sizeof(bytes), 1, disk) == 1) {
		uint32_t size;

		if (lpl_image_is_filled(bytes, &word)) {
			filled += word != 0;
			continue;
		}
		size = lpl_page_codec_size(codec, bytes);
		pages++;
		many += size >= huge;
		sum += size >= huge ? LPL_IMAGE_BYTES : size;
		if (number_of(bytes, &number)) {
			page[number].swapped = true;
			page[number].on_disk = lpl_image_hash(bytes);
		}
	}
	fclose(disk);
	lpl_page_codec_close(codec);
	printf("pages %" PRIu64 "\nfilled %" PRIu64 "\nhuge %" PRIu64 "\nbytes %" PRIu64 "\n", pages, filled, many,
	       sum);
}

/* ---- a trace ---- */

static void note_images(struct lpl_reader *reader, uint64_t buffer)
{
	struct lpl_report report = { 0 };
	const struct lpl_ref *refs;
	const struct lpl_event *event;
	struct lpl_image_reader images;
	struct lpl_image image;
	size_t count;

	lpl_image_reader_init(&images);
	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			die(&report);
		if (event == NULL || !lpl_image_take(&images, event, &image) || image.address < buffer ||
		    image.address >= buffer + (uint64_t)MOST * LPL_IMAGE_BYTES || image.space == KTR_NONE)
			continue;
		struct page *now = &page[(image.address - buffer) / LPL_IMAGE_BYTES];

		now->shown = true;
		now->last = image.kind == LPL_IMAGE_STORED ? image.hash : (struct lpl_image_hash){ 0 };
	} while (count > 0 || event != NULL);
}

static void compare(const char *path, uint64_t buffer)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;
	uint64_t same = 0, other = 0, none = 0;

	for (size_t i = 0; i < MOST; i++)
		page[i].shown = false;
	if (lpl_reader_open(&reader, path, &report))
		die(&report);
	note_images(reader, buffer);
	lpl_reader_close(reader);
	for (size_t i = 0; i < MOST; i++) {
		const struct page *this = &page[i];

		if (!this->swapped)
			continue;
		if (!this->shown)
			none++;
		else if (this->last.low == this->on_disk.low && this->last.high == this->on_disk.high)
			same++;
		else
			other++;
	}
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", path, same, other, none);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	read_disk(argv[1], argv[3], (uint32_t)strtoul(argv[4], NULL, 10));
	for (int i = 5; i < argc; i++)
		compare(argv[i], strtoull(argv[2], NULL, 16));
	return 0;
}
