/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SEQ (G. Glass, P. Cao: "Adaptive page replacement based on memory reference behavior", SIGMETRICS
 * 1997): LRU, but while a program faults its way through consecutive pages, a page that it has just
 * left goes instead of the least recently used one.
 *
 * This is the definition here.  It follows descriptions of the paper, and is ours wherever the paper
 * may have it otherwise.
 *
 * Time counts faults.  A sequence is a range of pages of one address space, from `low` to `high`, each
 * of which faulted once while it grew in one direction, up or down; while it is a single page it has
 * none yet.  The head is the page that faulted last.  A fault on page p
 *
 * - extends the sequence that has p next: after `high` if it grows up, before `low` if it grows
 *   down, either if it is a single page, which then has its direction.  Of two such sequences, from
 *   both sides, it is the one that was extended, or began, later.
 * - else it begins a sequence of the page p.
 * - In both cases a sequence with p in its range is one no more, and is forgotten.
 *
 * At most 200 sequences are remembered.  For one more, the one with the oldest last fault goes.
 *
 * All this happens before a page is chosen to be evicted for p.  Of the sequences of more than `length`
 * pages (L, 20) and at least `faults` (N, 5), the one is looked at of which the N-th last fault is
 * the most recent.  Of its pages that are in memory and at least `distance` pages (M, 20) from the
 * head, the nearest to the head is evicted.  If there is no such sequence, or that one has no such
 * page, it is the least recently used page, whatever other sequences there are.
 *
 * How it is computed.  Ranges never overlap, and a page of a sequence that left memory does not come
 * back while it is one, as its fault would end it.  So a sequence's pages in memory are a list, to
 * which the head is added.  `near`, the one farthest from the head among those nearer than M, only moves
 * towards the head: finding the page to evict takes O(1), amortised.  A fault looks at all sequences.
 */
#include "lru_list.h"
#include "simulation.h"

#include <stdlib.h>

enum { OPTION_LENGTH, OPTION_DISTANCE, OPTION_FAULTS };
enum { MOST_SEQUENCES = 200, MOST_FAULTS = 32 };

static const struct lpl_policy_option seq_options[] = {
	[OPTION_LENGTH] = {"length", 1, UINT64_MAX, 20},
	[OPTION_DISTANCE] = {"distance", 1, UINT64_MAX, 20},
	[OPTION_FAULTS] = {"faults", 1, MOST_FAULTS, 5},
	{NULL, 0, 0, 0},
};

struct sequence {
	uint64_t space, low, high;
	uint64_t began;			/* at this fault, which is no other's; 0: no sequence */
	bool down;			/* if it is more than one page */
	uint32_t head;			/* frames: the nearest in memory to the head */
	uint32_t near;			/* LPL_NO_NODE: none is nearer than M */
};

struct frame {
	struct lpl_lru_node node;
	uint32_t ahead, back;		/* of its sequence: next towards the head, and away from it */
	uint32_t sequence;		/* if that still began then: */
	uint64_t began;
	uint64_t number;		/* the page's in its space */
};

struct seq {
	struct lpl_lru_list list;
	struct sequence sequence[MOST_SEQUENCES];
	uint64_t *time;			/* of the last N faults of each, the i-th at i % N */
	uint64_t now;
	uint64_t number;		/* of the page that faulted last */
	uint32_t current;		/* its sequence */
};

static uint64_t length_of(const struct sequence *sequence)
{
	return sequence->high - sequence->low + 1;
}

/* The time of its n-th last fault, from 1 to N, of which there were so many. */
static uint64_t nth_last(const struct lpl_memory *memory, uint32_t i, uint64_t n)
{
	const struct seq *seq = memory->state;
	const uint64_t kept = memory->option[OPTION_FAULTS];

	return seq->time[i * kept + (length_of(&seq->sequence[i]) - n) % kept];
}

static enum lpl_error seq_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct seq *seq = memory->state;

	lpl_lru_list_init(&seq->list, sizeof(struct frame));
	seq->time = calloc(MOST_SEQUENCES * memory->option[OPTION_FAULTS], sizeof(*seq->time));
	return seq->time != NULL ? LPL_OK :
		lpl_fail(report, LPL_ERR_MEMORY, "seq: no memory for %d sequences", MOST_SEQUENCES);
}

/* ---- sequences ---- */

static bool is_next(const struct sequence *sequence, uint64_t number)
{
	const bool single = sequence->low == sequence->high;

	return ((single || !sequence->down) && number == sequence->high + 1) ||
	       ((single || sequence->down) && number + 1 == sequence->low);
}

static void extend(struct sequence *sequence, uint64_t number)
{
	sequence->down = number < sequence->low;
	if (sequence->down)
		sequence->low = number;
	else
		sequence->high = number;
}

static void seq_fault(struct lpl_memory *memory, uint64_t space, uint64_t number)
{
	struct seq *seq = memory->state;
	uint32_t next = LPL_NO_NODE, room = 0;
	uint64_t next_time = 0, room_time = UINT64_MAX;

	for (uint32_t i = 0; i < MOST_SEQUENCES; i++) {
		struct sequence *sequence = &seq->sequence[i];
		const bool here = sequence->began != 0 && sequence->space == space;
		uint64_t last;

		if (here && sequence->low <= number && number <= sequence->high)
			sequence->began = 0;
		last = sequence->began != 0 ? nth_last(memory, i, 1) : 0;
		if (here && last > next_time && is_next(sequence, number)) {
			next = i;
			next_time = last;
		}
		if (last < room_time) {
			room = i;
			room_time = last;
		}
	}
	seq->now++;
	seq->number = number;
	seq->current = next != LPL_NO_NODE ? next : room;
	if (next != LPL_NO_NODE)
		extend(&seq->sequence[next], number);
	else
		seq->sequence[room] = (struct sequence){
			.space = space, .low = number, .high = number, .began = seq->now,
			.head = LPL_NO_NODE, .near = LPL_NO_NODE,
		};
	seq->time[seq->current * memory->option[OPTION_FAULTS] +
		  (length_of(&seq->sequence[seq->current]) - 1) % memory->option[OPTION_FAULTS]] =
		seq->now;
}

/* The sequence of which a page is to go; NULL: none. */
static struct sequence *choose(const struct lpl_memory *memory)
{
	struct seq *seq = memory->state;
	const uint64_t faults = memory->option[OPTION_FAULTS];
	struct sequence *chosen = NULL;
	uint64_t most_recent = 0;

	for (uint32_t i = 0; i < MOST_SEQUENCES; i++) {
		struct sequence *sequence = &seq->sequence[i];
		uint64_t time;

		if (sequence->began == 0 || length_of(sequence) < faults ||
		    length_of(sequence) <= memory->option[OPTION_LENGTH])
			continue;
		time = nth_last(memory, i, faults);
		if (time > most_recent) {
			most_recent = time;
			chosen = sequence;
		}
	}
	return chosen;
}

/* ---- frames ---- */

/* The frame of the page nearest to the head that is not too near; LPL_NO_NODE: there is none. */
static uint32_t far_enough(const struct lpl_memory *memory, struct sequence *sequence)
{
	const struct frame *frames = memory->frame;

	while (sequence->near != LPL_NO_NODE) {
		const uint64_t number = frames[sequence->near].number;
		const uint64_t distance = sequence->down ? number - sequence->low :
			sequence->high - number;

		if (distance < memory->option[OPTION_DISTANCE])
			return frames[sequence->near].back;
		sequence->near = frames[sequence->near].ahead;
	}
	return sequence->head;
}

/* A page leaves memory: it leaves its sequence's list, if that is a sequence still. */
static void leave(struct seq *seq, struct frame *frames, uint32_t i)
{
	const struct frame *frame = &frames[i];
	struct sequence *sequence = &seq->sequence[frame->sequence];

	if (sequence->began != frame->began)
		return;
	if (sequence->near == i)
		sequence->near = frame->ahead;
	if (frame->ahead != LPL_NO_NODE)
		frames[frame->ahead].back = frame->back;
	else
		sequence->head = frame->back;
	if (frame->back != LPL_NO_NODE)
		frames[frame->back].ahead = frame->ahead;
}

static void seq_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct seq *seq = memory->state;

	seq->list.nodes = memory->frame;
	lpl_lru_list_reference(&seq->list, frame);
}

static uint32_t seq_evict(struct lpl_memory *memory, uint32_t page)
{
	struct seq *seq = memory->state;
	struct sequence *sequence = choose(memory);
	uint32_t victim = sequence != NULL ? far_enough(memory, sequence) : LPL_NO_NODE;

	(void)page;
	if (victim == LPL_NO_NODE)
		victim = seq->list.oldest;
	leave(seq, memory->frame, victim);
	return victim;
}

static enum lpl_error seq_admit(struct lpl_memory *memory, uint32_t i, uint32_t page,
				struct lpl_report *report)
{
	struct seq *seq = memory->state;
	struct sequence *sequence = &seq->sequence[seq->current];
	struct frame *frames = memory->frame;

	(void)page;
	(void)report;
	seq->list.nodes = frames;
	if (i == seq->list.count)
		lpl_lru_list_add(&seq->list, i);
	else
		lpl_lru_list_reference(&seq->list, i);
	frames[i].number = seq->number;
	frames[i].sequence = seq->current;
	frames[i].began = sequence->began;
	frames[i].ahead = LPL_NO_NODE;
	frames[i].back = sequence->head;
	if (sequence->head != LPL_NO_NODE)
		frames[sequence->head].ahead = i;
	sequence->head = i;
	if (sequence->near == LPL_NO_NODE)
		sequence->near = i;
	return LPL_OK;
}

static void seq_close(struct lpl_memory *memory)
{
	free(((struct seq *)memory->state)->time);
}

const struct lpl_policy lpl_policy_seq = {
	.name = "seq",
	.options = seq_options,
	.state_size = sizeof(struct seq),
	.frame_size = sizeof(struct frame),
	.open = seq_open,
	.fault = seq_fault,
	.hit = seq_hit,
	.evict = seq_evict,
	.admit = seq_admit,
	.close = seq_close,
};
