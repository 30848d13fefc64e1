/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams made by hand for the oracle's machine (oracle_schedule.h), and what it makes of them. */
#ifndef LAPLACE_TESTS_SCHEDULE_BY_HAND_H
#define LAPLACE_TESTS_SCHEDULE_BY_HAND_H

#include "play.h"

#include "oracle_schedule.h"

static inline uint64_t references_of(const struct stream *stream)
{
	const struct item *last;

	if (stream->count == 0)
		return 10;
	last = &stream->item[stream->count - 1];
	return last->is_event ? last->event.ref : last->ref.ref;
}

static inline void at(struct stream *stream, uint64_t cycle, uint32_t tid,
		      const struct lpl_event *like)
{
	struct lpl_event event = *like;

	event.cycle = event.instr = cycle;
	event.ref = references_of(stream);
	event.tid = event.tgid = tid;
	event.space = tid;
	stream_add_event(stream, &event);
}

#define AT(stream, cycle, tid, event_tag, ...) \
	at(stream, cycle, tid, &(struct lpl_event){ .tag = (event_tag), .arg = { __VA_ARGS__ } })

static inline void touch(struct stream *stream, uint64_t cycle, uint64_t page)
{
	stream_add_ref(stream, &(struct lpl_ref){
		.ref = references_of(stream) + 1,
		.cycle = cycle, .instr = cycle, .address = UINT64_C(0xffff888000000000) + page * 4096,
		.space = 1, .length = 4,
	});
}

static inline void run_by_hand(const struct stream *in, const struct oracle_machine *machine,
			       struct oracle_result *result, struct stream *out)
{
	struct oracle_split split;

	oracle_split(in, &split);
	assert_true(split.valid);
	oracle_schedule(&split, machine, result, out, NULL);
	oracle_split_free(&split);
}

#define assert_result(got, ...) \
	assert_memory_equal(&(got), &(__VA_ARGS__), sizeof(got))

/* The second has waited since the beginning, until the first one's wake. */
static inline void make_sleepers(struct stream *in)
{
	AT(in, 100, 1, KTR_MARK, 0);
	AT(in, 101, 1, KTR_WAKE, 2, 2, KTR_CONTEXT_TASK);
	touch(in, 105, 1);
	AT(in, 106, 1, KTR_SCHEDULE, 1, KTR_STATE_SLEEPING, 2, 2, 2);
	touch(in, 109, 2);
	AT(in, 111, 2, KTR_WAKE, 1, 1, KTR_CONTEXT_INTERRUPT);
	AT(in, 112, 2, KTR_SCHEDULE, 2, KTR_STATE_RUNNABLE, 1, 1, 1);
	touch(in, 114, 2);
}

/* Two that are ready from the beginning, with pages of which a memory has no room for all. */
static inline void make_crowd(struct stream *in)
{
	AT(in, 100, 1, KTR_MARK, 0);
	AT(in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	touch(in, 102, 1);
	touch(in, 104, 2);
	AT(in, 104, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(in, 105, 3);
	touch(in, 106, 4);
	touch(in, 107, 3);
}

#endif
