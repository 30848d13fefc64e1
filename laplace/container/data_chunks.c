/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DATA chunks, for a writer: references become columns when they are taken, and the columns a
 * payload on one of several threads.
 */
#include <assert.h>
#include <stdlib.h>

#include "chunk_encoder.h"

static size_t room(const struct lpl_chunk_encoder *self, const struct lpl_data_encoder *records)
{
	return self->chunk_refs - records->refs;
}

static enum lpl_error take_refs(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				const struct lpl_ref *refs, size_t count,
				struct lpl_report *cause)
{
	(void)self;
	return lpl_data_encode_refs(records, refs, count, cause);
}

static bool is_full(const struct lpl_chunk_encoder *self, const struct lpl_data_encoder *records)
{
	return records->refs == self->chunk_refs;
}

static enum lpl_error take_event(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				 const struct lpl_event *event, struct lpl_report *cause)
{
	(void)self;
	return lpl_data_encode_event(records, event, cause);
}

static enum lpl_error settle(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
			     struct lpl_report *cause)
{
	(void)self, (void)records, (void)cause;
	return LPL_OK;
}

static bool holds(const struct lpl_chunk_encoder *self)
{
	(void)self;
	return false;
}

static void count(struct lpl_chunk_encoder *self, struct lpl_totals *totals)
{
	(void)self, (void)totals;
}

static bool end(struct lpl_chunk_encoder *self, struct lpl_chunk_payload *payload)
{
	(void)self, (void)payload;
	return true;
}

static void pack(struct lpl_chunk_payload *payload)
{
	payload->size = lpl_data_encode_end(&payload->records, &payload->totals, payload->plain);
	assert(payload->size <= payload->room);
}

static void begin_file(struct lpl_chunk_encoder *self)
{
	(void)self;
}

static void where(const struct lpl_chunk_encoder *self, struct lpl_encoder_place *place)
{
	(void)self;
	*place = (struct lpl_encoder_place){ .users = 0 };
}

static void go_to(struct lpl_chunk_encoder *self, const struct lpl_encoder_place *place)
{
	(void)self, (void)place;
}

static void release(struct lpl_chunk_encoder *self)
{
	free(self);
}

static const struct lpl_chunk_encoding data_chunks = {
	.kind = LPL_CHUNK_DATA, .part = SIZE_MAX, .room = room, .refs = take_refs,
	.is_full = is_full, .event = take_event, .settle = settle, .holds = holds,
	.count = count, .end = end, .pack = pack, .begin_file = begin_file,
	.where = where, .go_to = go_to, .free = release
};

struct lpl_chunk_encoder *lpl_data_chunks_new(size_t chunk_refs)
{
	struct lpl_chunk_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder)
		*encoder = (struct lpl_chunk_encoder){ .how = &data_chunks,
						       .chunk_refs = chunk_refs };
	return encoder;
}
