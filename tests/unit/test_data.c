/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload of a data chunk (docs/format.md, section 4): bytes worked out by hand, bytes
 * that break an invariant or are damaged at random, and memory that runs out.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "container/data.h"
#include "stream.h"

/* ---- payloads worked out by hand ---- */

static const uint8_t two_refs_and_an_event[] = {
	0,				/* base space */
	0, 2 + 8 * 1,			/* kind: twice the same */
	0, 3,				/* length */
	0, 1,				/* ref */
	0, 1,				/* instr */
	1, 3, 0xc8, 0x01, 0,		/* cycle: +100 beyond instr, 0 */
	1, 2, 10, 0,			/* space: +5, 0 */
	1, 3, 0x80, 0x40, 0,		/* address: +4096, as predicted */
	1,				/* event after the first reference, */
	0, 0, 0,			/* at its clocks: */
	17, 7, 0xac, 0x02, 5,		/* tag, tid, tgid, space, */
	2, 9,				/* arg[1] */
	2, 'h', 'i',
	0, 0, 2, 0, 0, 2, 0, 1		/* totals */
};

static void literal_payload(void **unused)
{
	static const struct lpl_ref refs[] = {
		{ .type = LPL_FETCH, .flags = LPL_USER, .length = 3, .ref = 1, .instr = 1,
		  .cycle = 101, .space = 5, .address = 0x1000 },
		{ .type = LPL_FETCH, .flags = LPL_USER, .length = 3, .ref = 2, .instr = 2,
		  .cycle = 102, .space = 5, .address = 0x1003 },
	};
	static const struct lpl_event event = {
		.ref = 1, .instr = 1, .cycle = 101, .tag = KTR_MARK, .tid = 7, .tgid = 300,
		.space = 5, .arg = { 0, 9 }, .text_length = 2, .text = "hi"
	};
	static const struct lpl_totals totals = { .refs = { 0, 0, 2, 0, 0 }, .user_refs = 2,
						  .events = 1, .wait_ns = 99 };
	struct lpl_data_encoder encoder;
	uint8_t *out;

	(void)unused;
	assert_true(lpl_data_encoder_init(&encoder, 10, 10));
	out = malloc(lpl_data_bound(&encoder));
	assert_non_null(out);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_event(&encoder, &event, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs + 1, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out),
			 sizeof(two_refs_and_an_event));
	assert_memory_equal(out, two_refs_and_an_event, sizeof(two_refs_and_an_event));
	free(out);
	lpl_data_encoder_free(&encoder);
}

/* Whole pages; types are predicted apart; the next chunk starts anew. */
static void literal_pages(void **unused)
{
	static const struct lpl_ref refs[] = {
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 4, .instr = 2, .cycle = 2,
		  .space = 9, .address = 0x5000 },
		{ .type = LPL_READ, .flags = LPL_PAGED, .ref = 5, .instr = 2, .cycle = 2,
		  .space = 9, .address = 0x1000 },
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 9, .instr = 4, .cycle = 3,
		  .space = 9, .address = 0x3000 },
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 10, .instr = 4, .cycle = 3,
		  .space = 9, .address = 0x4000 },
	};
	static const struct lpl_totals totals = { .wait_ns = 0 };
	static const uint8_t first[] = {
		0,
		1, 3, 0x21, 0x20, 0x21,
		0, 0,
		1, 3, 4, 1, 4,
		1, 3, 2, 0, 2,
		1, 3, 0, 0, 1,		/* cycle grew by one less than instr */
		1, 3, 18, 0, 0,
		1, 3, 10, 2, 3,		/* 5 - 0, 1 - 0, 3 - 5 */
		0, 0, 0, 0, 0, 0, 0, 0
	};
	static const uint8_t second[] = {
		9, 0, 0x21, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8,
		0, 0, 0, 0, 0, 0, 0, 0
	};
	struct lpl_data_encoder encoder;
	uint8_t *out;

	(void)unused;
	assert_true(lpl_data_encoder_init(&encoder, 3, 1));
	out = malloc(lpl_data_bound(&encoder));
	assert_non_null(out);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs, 3, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out), sizeof(first));
	assert_memory_equal(out, first, sizeof(first));
	lpl_data_encoder_follow(&encoder, &encoder);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs + 3, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out), sizeof(second));
	assert_memory_equal(out, second, sizeof(second));
	free(out);
	lpl_data_encoder_free(&encoder);
}

/* ---- contents that cannot be ---- */

/* One byte of the payload above changed, one invariant broken. */
static void broken_invariants(void **unused)
{
	static const struct {
		uint8_t at, from, to;
	} cases[] = {
		{ 0, 0, 0x80 },			/* base space: not the shortest form */
		{ 1, 0, 2 },			/* a form there is not */
		{ 2, 0x0a, 0x0d },		/* type 5 */
		{ 2, 0x0a, 0x82 },		/* flags 16, cut short */
		{ 2, 0x0a, 0x22 },		/* LPL_PAGED with a length */
		{ 4, 3, 0 },			/* no length without LPL_PAGED */
		{ 6, 1, 0 },			/* ref stands still */
		{ 10, 3, 2 },			/* too few bytes of cycles */
		{ 10, 3, 4 },			/* too many */
		{ 13, 0, 1 },			/* not the header's last cycle */
		{ 13, 0, 3 },			/* cycle runs backwards */
		{ 23, 1, 3 },			/* an event after the last reference */
		{ 24, 0, 1 },			/* an event at the next reference's ref */
		{ 25, 0, 2 },			/* an event after the next one's instr */
		{ 26, 0, 1 },			/* an event before the last cycle */
		{ 26, 0, 4 },			/* an event after the next one's cycle */
		{ 33, 9, 0 },			/* an argument that is 0 */
		{ 34, 2, 127 },			/* a text beyond the end */
		{ 34, 2, 1 },			/* bytes left over */
		{ 39, 2, 3 },			/* not the header's sum */
	};
	enum { SIZE = sizeof(two_refs_and_an_event) };
	uint8_t payload[SIZE + 1];
	struct lpl_chunk_header header = {
		.refs = 2, .events = 1, .refs_before = 2,
		.first = { 1, 1, 101 }, .last = { 2, 2, 102 },
	};
	struct lpl_data data;

	(void)unused;
	memset(&data, 0, sizeof(data));
	memcpy(payload, two_refs_and_an_event, SIZE);
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE, NULL), LPL_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(payload[cases[i].at], cases[i].from);
		payload[cases[i].at] = cases[i].to;
		if (lpl_data_decode(&data, &header, payload, SIZE, NULL) != LPL_ERR_DAMAGED)
			fail_msg("case %zu was not refused", i);
		payload[cases[i].at] = cases[i].from;
	}
	/* an event after the next reference's instr, though not after its cycle */
	payload[25] = 2;
	payload[26] = 1;
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE, NULL), LPL_ERR_DAMAGED);
	payload[25] = payload[26] = 0;
	/* a third cycle for two references */
	memmove(payload + 14, payload + 13, SIZE - 13);
	payload[10]++;
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE + 1, NULL),
			 LPL_ERR_DAMAGED);
	lpl_data_free(&data);
}

/* The highest page there is, and the one after it. */
static void page_beyond_the_last(void **unused)
{
	uint8_t payload[] = {
		0, 0, 0x21, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
		0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f,	/* 2^52 - 1 */
		0, 0, 0, 0, 0, 0, 0, 0
	};
	static const uint8_t beyond[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10 };
	struct lpl_chunk_header header = {
		.refs = 1, .first = { 1, 0, 0 }, .last = { 1, 0, 0 },
	};
	struct lpl_data data;

	(void)unused;
	memset(&data, 0, sizeof(data));
	assert_int_equal(lpl_data_decode(&data, &header, payload, sizeof(payload), NULL), LPL_OK);
	assert_true(lpl_data_ref(&data, 0).address == UINT64_C(0xfffffffffffff000));
	memcpy(payload + 14, beyond, sizeof(beyond));
	assert_int_equal(lpl_data_decode(&data, &header, payload, sizeof(payload), NULL),
			 LPL_ERR_DAMAGED);
	lpl_data_free(&data);
}

/* What a decoder may return at all, by <laplace/record.h> and section 4.4. */
static bool plausible(const struct lpl_data *data, const struct lpl_chunk_header *header)
{
	struct lpl_clocks before = header->base;
	size_t event = 0;

	for (size_t i = 0; i <= data->ref_count; i++) {
		for (; event < data->event_count && data->positions[event] == i; event++) {
			const struct lpl_event *e = &data->events[event];

			if (e->ref < before.ref || e->instr < before.instr ||
			    e->cycle < before.cycle || e->text_length > KTR_TEXT)
				return false;
			before = (struct lpl_clocks){ e->ref, e->instr, e->cycle };
		}
		if (i == data->ref_count)
			break;

		const struct lpl_ref one = lpl_data_ref(data, i), *r = &one;

		if (r->ref < before.ref || (r->ref == before.ref && !(r->flags & LPL_SYNTHETIC)) ||
		    r->instr < before.instr || r->cycle < before.cycle ||
		    r->type >= LPL_TYPES || r->flags > 15 || r->length > 4096 ||
		    (r->flags & LPL_PAGED ? r->length != 0 || r->address % 4096 != 0
					  : r->length == 0))
			return false;
		before = (struct lpl_clocks){ r->ref, r->instr, r->cycle };
	}
	return event == data->event_count && before.ref == header->last.ref &&
	       before.instr == header->last.instr && before.cycle == header->last.cycle;
}

/* Payloads with random damage and no checksums: an error or something plausible. */
static void mutated_payloads(void **unused)
{
	struct lpl_data_encoder encoder;
	struct lpl_data data;
	const struct lpl_totals totals = { .refs = { 40, 60, 20, 0, 30 }, .user_refs = 70, .events = 12 };
	uint64_t state = 41;
	size_t refused = 0, rounds = 0;

	(void)unused;
	memset(&data, 0, sizeof(data));
	assert_true(lpl_data_encoder_init(&encoder, 400, 100));
	for (int style = 0; style < STREAM_STYLES; style++) {
		uint8_t *payload = malloc(lpl_data_bound(&encoder)), *exact;
		struct lpl_chunk_header header = { .kind = LPL_CHUNK_DATA };
		struct stream stream;
		size_t size;

		assert_non_null(payload);
		stream_random(&stream, 300, (enum stream_style)style, 42);
		memset(&encoder.last, 0, sizeof(encoder.last));
		lpl_data_encoder_follow(&encoder, &encoder);
		for (size_t i = 0; i < stream.count; i++) {
			const struct item *item = &stream.items[i];

			assert_int_equal(item->is_event
					 ? lpl_data_encode_event(&encoder, &item->event, NULL)
					 : lpl_data_encode_refs(&encoder, &item->ref, 1, NULL),
					 LPL_OK);
		}
		size = lpl_data_encode_end(&encoder, &totals, payload);
		header.refs = (uint32_t)encoder.refs;
		header.events = (uint32_t)encoder.event_count;
		header.base = encoder.base;
		header.first = encoder.first;
		header.last = encoder.last;
		header.refs_before = 150;
		assert_int_equal(lpl_data_decode(&data, &header, payload, size, NULL), LPL_OK);
		assert_true(plausible(&data, &header));
		for (int i = 0; i < 3000; i++, rounds++) {
			size_t length = next_random(&state) % 4 ? size
								: next_random(&state) % size;

			exact = malloc(length + 1);
			assert_non_null(exact);
			memcpy(exact, payload, length);
			for (uint64_t k = next_random(&state) % 3; k > 0 && length > 0; k--)
				exact[next_random(&state) % length] = (uint8_t)next_random(&state);
			if (lpl_data_decode(&data, &header, exact, length, NULL) == LPL_OK)
				assert_true(plausible(&data, &header));
			else
				refused++;
			free(exact);
		}
		free(payload);
		stream_free(&stream);
	}
	assert_true(refused > rounds / 4 && refused < rounds);
	lpl_data_free(&data);
	lpl_data_encoder_free(&encoder);
}

/* ---- memory that runs out ---- */

/* More than this at once is not to be had (the linker's --wrap brings calls here). */
static size_t most_memory = SIZE_MAX;

void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
	return size > most_memory ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return size > most_memory ? NULL : __real_realloc(memory, size);
}

/* A chunk for which there is no memory leaves all as it was: the next one can be read. */
static void memory_runs_out(void **unused)
{
	const struct lpl_chunk_header small = {
		.refs = 2, .events = 1, .refs_before = 2,
		.first = { 1, 1, 101 }, .last = { 2, 2, 102 },
	};
	struct lpl_event event = { .tag = KTR_MARK, .ref = 1, .instr = 1, .cycle = 1 };
	enum { EVENTS = 1000 };
	const struct lpl_chunk_header large = {
		.events = EVENTS, .first = { 1, 1, 1 }, .last = { 1, 1, 1 },
	};
	const struct lpl_totals totals = { .events = EVENTS };
	struct lpl_data_encoder encoder;
	struct lpl_data data;
	uint8_t *payload;
	size_t size;

	(void)unused;
	assert_true(lpl_data_encoder_init(&encoder, 1, EVENTS));
	payload = malloc(lpl_data_bound(&encoder));
	assert_non_null(payload);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(lpl_data_encode_event(&encoder, &event, NULL), LPL_OK);
	size = lpl_data_encode_end(&encoder, &totals, payload);

	memset(&data, 0, sizeof(data));
	for (int round = 0; round < 2; round++) {
		assert_int_equal(lpl_data_decode(&data, &small, two_refs_and_an_event,
						 sizeof(two_refs_and_an_event), NULL), LPL_OK);
		assert_int_equal(data.events[0].arg[1], 9);
		most_memory = EVENTS * sizeof(event) / 2;
		assert_int_equal(lpl_data_decode(&data, &large, payload, size, NULL),
				 LPL_ERR_MEMORY);
		most_memory = SIZE_MAX;
	}
	assert_int_equal(lpl_data_decode(&data, &large, payload, size, NULL), LPL_OK);
	assert_int_equal(data.event_count, EVENTS);
	lpl_data_free(&data);
	free(payload);
	lpl_data_encoder_free(&encoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literal_payload),
		cmocka_unit_test(literal_pages),
		cmocka_unit_test(broken_invariants),
		cmocka_unit_test(page_beyond_the_last),
		cmocka_unit_test(mutated_payloads),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
