/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page images as a stream has them, put together again; see laplace/image.h. */
#include <laplace/image.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/digits.h"

void lpl_image_reader_init(struct lpl_image_reader *reader)
{
	memset(reader, 0, sizeof(*reader));
}

struct lpl_image_hash lpl_image_hash(const uint8_t *bytes)
{
	const XXH128_hash_t hash = XXH3_128bits(bytes, LPL_IMAGE_BYTES);

	return (struct lpl_image_hash){ .low = hash.low64, .high = hash.high64 };
}

bool lpl_image_is_filled(const uint8_t *bytes, uint64_t *word)
{
	memcpy(word, bytes, sizeof(*word));
	return memcmp(bytes, bytes + sizeof(*word), LPL_IMAGE_BYTES - sizeof(*word)) == 0;
}

void lpl_image_name(char name[LPL_IMAGE_NAME_SIZE], struct lpl_image_hash hash)
{
	snprintf(name, LPL_IMAGE_NAME_SIZE, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

/* ---- one by one ---- */

static void take_part(struct lpl_image_reader *reader, const struct lpl_event *event)
{
	const uint64_t offset = event->arg[LPL_EVENT_IMAGE_PART_OFFSET];

	reader->parts++;
	if (offset > LPL_IMAGE_BYTES || event->text_length > LPL_IMAGE_BYTES - offset)
		reader->damaged = true;
	else
		memcpy(reader->bytes + offset, event->text, event->text_length);
}

/* Does the image come with its contents, and are they whole? */
static void take_contents(struct lpl_image_reader *reader, const struct lpl_event *event,
			  struct lpl_image *image)
{
	const uint64_t parts = event->arg[LPL_EVENT_IMAGE_PARTS];

	image->hash.low = event->arg[LPL_EVENT_IMAGE_HASH_LOW];
	image->hash.high = event->arg[LPL_EVENT_IMAGE_HASH_HIGH];
	if (parts == 0)
		return;
	const struct lpl_image_hash found = lpl_image_hash(reader->bytes);

	image->lost = reader->damaged || reader->parts != parts || found.low != image->hash.low ||
		      found.high != image->hash.high;
	image->bytes = image->lost ? NULL : reader->bytes;
}

static bool take_image(struct lpl_image_reader *reader, const struct lpl_event *event,
		       struct lpl_image *image)
{
	*image = (struct lpl_image){
		.space = event->arg[LPL_EVENT_IMAGE_SPACE],
		.address = event->arg[LPL_EVENT_IMAGE_ADDRESS],
		.frame = event->arg[LPL_EVENT_IMAGE_FRAME],
	};
	if (event->arg[LPL_EVENT_IMAGE_KIND] <= LPL_IMAGE_STORED)
		image->kind = (enum lpl_image_kind)event->arg[LPL_EVENT_IMAGE_KIND];
	if (image->kind == LPL_IMAGE_FILLED)
		image->word = event->arg[LPL_EVENT_IMAGE_WORD];
	if (image->kind == LPL_IMAGE_STORED)
		take_contents(reader, event, image);
	reader->parts = 0;
	reader->damaged = false;
	return true;
}

bool lpl_image_take(struct lpl_image_reader *reader, const struct lpl_event *event,
		    struct lpl_image *image)
{
	if (event->tag == LPL_EVENT_IMAGE)
		return take_image(reader, event, image);
	if (event->tag == LPL_EVENT_GAP)	/* what was to have these parts is missing */
		lpl_image_reader_init(reader);
	if (event->tag != LPL_EVENT_IMAGE_PART)
		return false;
	/* (what the caller was given of the image before may be overwritten now) */
	if (reader->parts == 0)
		memset(reader->bytes, 0, sizeof(reader->bytes));
	take_part(reader, event);
	return false;
}

/* ---- all of them ---- */

void lpl_image_count(struct lpl_image_counts *counts, const struct lpl_image *image)
{
	counts->images++;
	switch (image->kind) {
	case LPL_IMAGE_FILLED:
		counts->zero += image->word == 0;
		counts->filled += image->word != 0;
		break;
	case LPL_IMAGE_STORED:
		counts->stored++;
		counts->contents += image->bytes != NULL;
		counts->lost += image->lost;
		break;
	default:
		counts->unknown++;
	}
}

uint64_t lpl_images_of(const char *images)
{
	static const char evict[] = "evict:";
	const size_t length = sizeof(evict) - 1;
	uint64_t pages = 0;
	const char *end;

	if (images == NULL || strncmp(images, evict, length) != 0)
		return 0;
	end = lpl_scan_decimal(images + length, &pages);
	return end != NULL && *end == '\0' ? pages : 0;
}
