/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page images on their way into a stream; see image_writer.h. */
#include "image_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct lpl_image_writer {
	struct lpl_map known;		/* hashes of what is in the stream */
};

struct lpl_image_writer *lpl_image_writer_open(void)
{
	struct lpl_image_writer *writer = malloc(sizeof(*writer));

	if (writer != NULL)
		lpl_map_init(&writer->known, 2);
	return writer;
}

void lpl_image_writer_close(struct lpl_image_writer *writer)
{
	if (writer == NULL)
		return;
	lpl_map_free(&writer->known);
	free(writer);
}

void lpl_image_writer_forget(struct lpl_image_writer *writer)
{
	lpl_map_free(&writer->known);
}

/* Without memory for the table, contents are new as often as they occur. */
static bool is_new(struct lpl_image_writer *writer, struct lpl_image_hash hash)
{
	const struct lpl_key key = LPL_KEY(hash.low, hash.high);

	if (lpl_map_find(&writer->known, key) != NULL)
		return false;
	if (writer->known.count == LPL_IMAGE_KNOWN)
		lpl_image_writer_forget(writer);
	(void)lpl_map_put(&writer->known, key, 1);
	return true;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/* All that are not zero.  Returns how many. */
static uint64_t send_parts(const uint8_t *bytes,
			   void (*send)(void *context, const struct lpl_event *event),
			   void *context)
{
	struct lpl_event part = { .tag = LPL_EVENT_IMAGE_PART, .text_length = LPL_IMAGE_PART_BYTES };
	uint64_t parts = 0;

	for (size_t at = 0; at < LPL_IMAGE_BYTES; at += LPL_IMAGE_PART_BYTES) {
		if (is_zero(bytes + at, LPL_IMAGE_PART_BYTES))
			continue;
		part.arg[LPL_EVENT_IMAGE_PART_OFFSET] = at;
		memcpy(part.text, bytes + at, LPL_IMAGE_PART_BYTES);
		send(context, &part);
		parts++;
	}
	return parts;
}

void lpl_image_write(struct lpl_image_writer *writer, uint64_t space, uint64_t address,
		     uint64_t frame, const uint8_t *bytes,
		     void (*send)(void *context, const struct lpl_event *event), void *context)
{
	struct lpl_event event = {
		.tag = LPL_EVENT_IMAGE,
		.arg = {
			[LPL_EVENT_IMAGE_SPACE] = space,
			[LPL_EVENT_IMAGE_ADDRESS] = address,
			[LPL_EVENT_IMAGE_FRAME] = frame,
			[LPL_EVENT_IMAGE_KIND] = LPL_IMAGE_UNKNOWN,
		},
	};

	if (bytes != NULL && lpl_image_is_filled(bytes, &event.arg[LPL_EVENT_IMAGE_WORD])) {
		event.arg[LPL_EVENT_IMAGE_KIND] = LPL_IMAGE_FILLED;
	} else if (bytes != NULL) {
		const struct lpl_image_hash hash = lpl_image_hash(bytes);

		event.arg[LPL_EVENT_IMAGE_WORD] = 0;
		event.arg[LPL_EVENT_IMAGE_KIND] = LPL_IMAGE_STORED;
		event.arg[LPL_EVENT_IMAGE_HASH_LOW] = hash.low;
		event.arg[LPL_EVENT_IMAGE_HASH_HIGH] = hash.high;
		if (is_new(writer, hash))
			event.arg[LPL_EVENT_IMAGE_PARTS] = send_parts(bytes, send, context);
	}
	send(context, &event);
}
