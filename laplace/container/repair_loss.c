/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a repair has to leave out: where it begins and ends, how much that is, and the event by
 * which the new file reports it.  The chunks on both sides say so: their counts are of the whole
 * stream.
 */
#include <string.h>

#include "repair_loss.h"

void lpl_loss_begin(struct lpl_repairing *repair)
{
	if (repair->losing)
		return;
	repair->losing = true;
	repair->why = repair->chunk.failure;
	repair->loss = (struct lpl_loss){
		.segment = repair->chunk.segment, .offset = repair->chunk.offset,
		.first_chunk = repair->chunk.offset == 0 ? 0 : repair->last.sequence + UINT64_C(1),
		.after_ref = repair->last.last.ref, .after_instr = repair->last.last.instr,
	};
}

void lpl_loss_measure(struct lpl_repairing *repair, const struct lpl_chunk_header *next)
{
	const struct lpl_chunk_header *last = &repair->last;
	const bool same_file = repair->chunk.segment == repair->loss.segment;
	struct lpl_loss *loss = &repair->loss;

	repair->moved = next && !lpl_clocks_equal(&next->base, &last->last);
	loss->why = repair->why.text;
	loss->bytes = loss->chunks = loss->refs = loss->events = KTR_NONE;
	loss->until_ref = loss->until_instr = KTR_NONE;
	if (same_file)
		loss->bytes = (next ? repair->chunk.offset : repair->source.position) -
			      loss->offset;
	if (!next)
		return;
	if (same_file)
		loss->chunks = next->sequence - loss->first_chunk;
	loss->refs = lpl_chunk_base_refs(next) - last->refs_so_far;
	loss->events = lpl_chunk_base_events(next) - last->events_so_far;
	loss->until_ref = next->base.ref;
	loss->until_instr = next->base.instr;
}

void lpl_loss_measure_cut_off(struct lpl_repairing *repair)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;
	struct lpl_loss *loss = &repair->loss;

	repair->moved = !lpl_clocks_equal(&header->last, &repair->last.last);
	loss->chunks = 1;
	loss->refs = header->refs;
	loss->events = lpl_chunk_counted_events(header);
	loss->until_ref = header->last.ref;
	loss->until_instr = header->last.instr;
}

static uint64_t add_known(uint64_t one, uint64_t other)
{
	return one == KTR_NONE || other == KTR_NONE ? KTR_NONE : one + other;
}

void lpl_loss_count(struct lpl_repairing *repair)
{
	struct lpl_repaired *repaired = repair->repaired;
	const struct lpl_loss *loss = &repair->loss;

	/* a header, say, is no loss to the stream; but if it continues later, records are missing */
	if (loss->refs != 0 || loss->events != 0 || repair->moved) {
		repair->gap_refs = add_known(repair->gap ? repair->gap_refs : 0, loss->refs);
		repair->gap_events = add_known(repair->gap ? repair->gap_events : 0, loss->events);
		repair->gap = repair->missed = true;
	}
	repaired->losses++;
	if (loss->refs == KTR_NONE) {
		repaired->lost_more = true;
	} else {
		repaired->lost_refs += loss->refs;
		repaired->lost_events += loss->events;
	}
	if (repair->options->lost)
		repair->options->lost(repair->options->context, loss);
	repair->losing = false;
	repair->unread = true;
}

/*
 * How many references there were by then, where that is known: between what the chunks around it
 * say, for no number may run backwards.  Of which types they were is known no more.
 */
static struct lpl_totals totals_at_gap(const struct lpl_repairing *repair,
				       const struct lpl_chunk_header *next)
{
	struct lpl_totals totals = repair->totals;
	uint64_t before = lpl_totals_before(&totals), there = 0;

	if (next)
		there = next->base.ref < next->refs_before ? next->base.ref : next->refs_before;
	else if (before > 0)
		there = repair->last.last.ref;
	if (there <= before)
		return totals;
	totals.total = there;
	memset(totals.refs, 0, sizeof(totals.refs));
	totals.user_refs = 0;
	return totals;
}

enum lpl_error lpl_loss_write_gap(struct lpl_repairing *repair,
				  const struct lpl_chunk_header *next,
				  struct lpl_report *report)
{
	const struct lpl_clocks *at = next ? &next->base : &repair->last.last;
	const struct lpl_totals totals = totals_at_gap(repair, next);
	const struct lpl_event gap = lpl_gap_event(at, repair->gap_refs, repair->gap_events);
	const bool due = repair->gap;

	repair->gap = false;
	if (!repair->writer || !due)
		return LPL_OK;
	(void)lpl_writer_write_gap(repair->writer, &gap, &totals);
	return lpl_writer_failed(repair->writer, report);
}

void lpl_loss_end(struct lpl_repairing *repair, const struct lpl_chunk_header *next)
{
	if (!repair->losing)
		return;
	lpl_loss_measure(repair, next);
	lpl_loss_count(repair);
}
