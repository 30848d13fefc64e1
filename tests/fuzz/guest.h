/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a fuzzer's bytes to what a guest may send: events of any kind with any arguments and
 * texts, and references between them, made of small numbers that meet often.
 */
#ifndef LAPLACE_TESTS_FUZZ_GUEST_H
#define LAPLACE_TESTS_FUZZ_GUEST_H

#include <laplace/record.h>

#include "fuzz.h"

struct guest {
	struct input input;
	struct lpl_sink *sink;		/* gets all */
	bool is_orderly;		/* clocks never run backwards, as files have it */
	bool sends_states;		/* events that no kernel sends, too (guest_state.h) */
	uint64_t references, events;	/* sent; gaps are no events */
};

/* Mostly a page of a few, or a small number; now and then anything. */
static inline uint64_t guest_number(struct input *input)
{
	unsigned int first = input_byte(input);
	uint64_t value = first & 31;

	switch (first >> 5) {
	case 0:
	case 1:
	case 2:
		return value;
	case 3:
	case 4:
		return value << LPL_PAGE_SHIFT;
	case 5:
		return (UINT64_C(0xffff888000000) + value) << LPL_PAGE_SHIFT;
	case 6:
		return KTR_NONE - value;
	default:
		return value << (input_byte(input) & 63);
	}
}

/* A kernel's, three unknown ones, that events are missing; and those of a state. */
static inline uint32_t guest_tag(const struct guest *guest, unsigned int byte)
{
	static const uint32_t ours[] = { LPL_EVENT_GAP, LPL_EVENT_STATE, LPL_EVENT_TASK_STATE,
					 LPL_EVENT_SPACE_STATE, LPL_EVENT_SHARED,
					 LPL_EVENT_TRACING };
	const unsigned int others = KTR_TAGS + 3;
	const unsigned int count = guest->sends_states ? sizeof(ours) / sizeof(*ours) : 1;
	const unsigned int tag = byte % (others + count);

	return tag < others ? tag : ours[tag - others];
}

static inline void guest_event(struct guest *guest, uint64_t clock)
{
	struct input *input = &guest->input;
	struct lpl_event event = { .ref = clock, .instr = clock, .cycle = clock };
	unsigned int args = input_byte(input) % (KTR_ARGS + 1);

	event.tag = guest_tag(guest, input_byte(input));
	event.tid = input_byte(input) & 7;
	event.tgid = input_byte(input) & 7;
	for (unsigned int i = 0; i < args; i++)
		event.arg[i] = guest_number(input);
	event.text_length = input_byte(input);
	if (event.text_length == 255)
		event.text_length = KTR_TEXT;	/* and what is there already */
	else
		event.text_length &= 7;
	for (uint32_t i = 0; i < event.text_length && i < 7; i++)
		event.text[i] = (char)input_byte(input);
	require(guest->sink->event(guest->sink, &event, NULL) == LPL_OK);
	guest->events += event.tag != LPL_EVENT_GAP;	/* none of the kernel's */
}

static inline void guest_reference(struct guest *guest, uint64_t clock)
{
	struct input *input = &guest->input;
	struct lpl_ref ref = { .ref = clock, .instr = clock, .cycle = clock };

	ref.type = (uint8_t)(input_byte(input) % LPL_TYPES);
	ref.flags = (uint8_t)(input_byte(input) & (LPL_USER | LPL_PAGED));
	ref.space = input_byte(input) & 7;
	ref.address = guest_number(input);
	require(guest->sink->refs(guest->sink, &ref, 1, NULL) == LPL_OK);
}

/* Send all that the input has, and the end. */
static inline void guest_run(struct guest *guest)
{
	while (guest->input.size > 0) {
		unsigned int what = input_byte(&guest->input);
		/* now and then time runs backwards */
		bool is_back = what >> 5 == 7 && !guest->is_orderly;
		uint64_t back = is_back ? guest->references / 2 : 0;

		if (what & 1) {
			guest_event(guest, guest->references - back);
		} else {
			guest->references++;
			guest_reference(guest, guest->references - back);
		}
	}
	require(guest->sink->finish(guest->sink, NULL) == LPL_OK);
}

#endif
