/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the payload of a DATA chunk: columns of references, events, totals.  The input is a
 * chunk header, and after it the payload as it is before compression.
 *
 * What is read keeps the format's promises, and can be written again: written and read once more
 * it is the same.  The last clocks are the header's word; no fuzzer guesses them, so where they
 * alone are wrong they are put right.
 */
#include "container/data.h"

#include "fuzz.h"

static struct lpl_clocks clocks_of(const struct lpl_data *data, size_t i)
{
	const struct lpl_ref ref = lpl_data_ref(data, i);

	return (struct lpl_clocks){ ref.ref, ref.instr, ref.cycle };
}

/* The header has the clocks of the first and the last record: as they were decoded. */
static void put_clocks_right(struct lpl_chunk_header *header, const struct lpl_data *data)
{
	const struct lpl_event *first_event = data->events;

	if (data->event_count > 0 && data->positions[0] == 0)
		header->first = (struct lpl_clocks){ first_event->ref, first_event->instr,
						     first_event->cycle };
	else
		header->first = clocks_of(data, 0);
	if (data->event_count > 0 &&
	    data->positions[data->event_count - 1] == data->ref_count) {
		const struct lpl_event *last = &data->events[data->event_count - 1];

		header->last = (struct lpl_clocks){ last->ref, last->instr, last->cycle };
	} else {
		header->last = clocks_of(data, data->ref_count - 1);
	}
}

static enum lpl_error decode(struct lpl_data *data, struct lpl_chunk_header *header,
			     const uint8_t *payload, size_t size)
{
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error = lpl_data_decode(data, header, payload, size, &cause);

	if (error == LPL_OK || strcmp(cause.text, "its clocks are not those of its records") != 0) {
		if (error != LPL_OK)
			require_reported(&cause);
		return error;
	}
	put_clocks_right(header, data);
	cause = (struct lpl_report){ .error = LPL_OK };
	return lpl_data_decode(data, header, payload, size, &cause);
}

/* What docs/format.md says of every reference and event. */
static void check(const struct lpl_data *data)
{
	uint64_t ref = 0, instr = 0, cycle = 0;
	size_t event = 0;

	for (size_t i = 0; i <= data->ref_count; i++) {
		for (; event < data->event_count && data->positions[event] == i; event++) {
			const struct lpl_event *e = &data->events[event];

			require(e->ref >= ref && e->instr >= instr && e->cycle >= cycle);
			require(e->text_length <= KTR_TEXT);
			ref = e->ref, instr = e->instr, cycle = e->cycle;
		}
		if (i == data->ref_count)
			break;
		const struct lpl_ref one = lpl_data_ref(data, i), *r = &one;

		require(r->type < LPL_TYPES && r->reserved == 0 && r->length <= LPL_LENGTH_MAX);
		require(((r->flags & LPL_PAGED) != 0) == (r->length == 0));
		require(r->ref > ref || (r->ref == ref && (r->flags & LPL_SYNTHETIC)));
		require(r->instr >= instr && r->cycle >= cycle);
		ref = r->ref, instr = r->instr, cycle = r->cycle;
	}
	require(event == data->event_count);
}

static void encode_refs(struct lpl_data_encoder *encoder, const struct lpl_data *data, size_t from,
			size_t to)
{
	struct lpl_report report = { .error = LPL_OK };

	for (size_t i = from; i < to; i++) {
		const struct lpl_ref ref = lpl_data_ref(data, i);

		require(!lpl_data_encode_refs(encoder, &ref, 1, &report));
	}
}

/* Returns the payload's size; it is owned by the caller. */
static size_t encode(const struct lpl_data *data, const struct lpl_chunk_header *header,
		     uint8_t **payload)
{
	struct lpl_data_encoder encoder = { .refs = 0 };
	struct lpl_report report = { .error = LPL_OK };
	size_t done = 0, size;

	require(lpl_data_encoder_init(&encoder, data->ref_count + 1, data->event_count + 1));
	encoder.base = encoder.last = encoder.last_ref = header->base;
	for (size_t i = 0; i < data->event_count; i++) {
		encode_refs(&encoder, data, done, data->positions[i]);
		require(!lpl_data_encode_event(&encoder, &data->events[i], &report));
		done = data->positions[i];
	}
	encode_refs(&encoder, data, done, data->ref_count);
	*payload = malloc(lpl_data_bound(&encoder));
	require(*payload != NULL);
	size = lpl_data_encode_end(&encoder, &data->totals, *payload);
	require(size <= lpl_data_bound(&encoder));
	lpl_data_encoder_free(&encoder);
	return size;
}

static void require_same(const struct lpl_data *one, const struct lpl_data *other)
{
	require(one->ref_count == other->ref_count && one->event_count == other->event_count);
	for (size_t i = 0; i < one->ref_count; i++) {
		const struct lpl_ref a = lpl_data_ref(one, i), b = lpl_data_ref(other, i);

		require(memcmp(&a, &b, sizeof(a)) == 0);
	}
	for (size_t i = 0; i < one->event_count; i++) {
		const struct lpl_event *a = &one->events[i], *b = &other->events[i];

		require(a->ref == b->ref && a->instr == b->instr && a->cycle == b->cycle);
		require(a->tag == b->tag && a->tid == b->tid && a->tgid == b->tgid);
		require(a->space == b->space && a->text_length == b->text_length);
		require(memcmp(a->arg, b->arg, sizeof(a->arg)) == 0);
		require(memcmp(a->text, b->text, a->text_length) == 0);
		require(one->positions[i] == other->positions[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct lpl_data data = { .ref_count = 0 }, again = { .ref_count = 0 };
	struct lpl_chunk_header header;
	uint8_t *payload, *written;

	if (size < LPL_CHUNK_HEADER_BYTES)
		return 0;
	(void)lpl_chunk_decode(&header, input);
	size -= LPL_CHUNK_HEADER_BYTES;
	payload = copy_of(input + LPL_CHUNK_HEADER_BYTES, size);
	if (decode(&data, &header, payload, size) == LPL_OK) {
		struct lpl_report cause = { .error = LPL_OK };
		size_t length;

		check(&data);
		length = encode(&data, &header, &written);
		require(lpl_data_decode(&again, &header, written, length, &cause) == LPL_OK);
		require_same(&data, &again);
		free(written);
	}
	free(payload);
	lpl_data_free(&data);
	lpl_data_free(&again);
	return 0;
}
