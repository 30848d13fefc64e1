/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that several processes make: the first counts all of it, and each of the others writes a
 * segment, from the place on at which the first one was.
 *
 * All are the same program, which is sent the same, so what they write is what one would have written.  That it
 * was the same is seen from where each of them is in the end.
 */
#include <string.h>

#include "base/try.h"
#include "collector_struct.h"
#include "container/block_writer.h"
#include "container/segments_join.h"

static enum lpl_error open_count(struct lpl_collector *c, const struct lpl_collector_options *options,
				 const struct lpl_meta *meta, struct lpl_report *report)
{
	lpl_block_count_init(&c->count);
	c->count.keeper = &c->guest.keeper;
	if (!options->resume_point)
		return lpl_segments_begin(options->path, meta, options->overwrite, report);
	LPL_TRY(lpl_collector_go_to(c, options, report));
	c->count.place = c->resume_point.writer;
	c->count.segment = c->resume_point.segment;
	return LPL_OK;
}

static enum lpl_error open_segment(struct lpl_collector *c, const struct lpl_collector_options *options,
				   const struct lpl_writer_options *writing,
				   const struct lpl_meta *meta, struct lpl_report *report)
{
	const bool goes_on = options->resume_point != NULL;

	if (options->begins)
		LPL_TRY(lpl_segments_begin(options->path, meta, options->overwrite, report));
	if (goes_on)
		LPL_TRY(lpl_collector_go_to(c, options, report));
	return lpl_segments_open_alone(&c->segments, options->path, options->part_path, meta, writing,
				       &c->guest.keeper, goes_on ? c->resume_point.segment : 1,
				       goes_on ? &c->resume_point.writer : NULL, report);
}

enum lpl_error lpl_collector_open_pass(struct lpl_collector *c,
				       const struct lpl_collector_options *options,
				       const struct lpl_writer_options *writing,
				       const struct lpl_meta *meta, struct lpl_report *report)
{
	return c->pass == LPL_PASS_COUNT ? open_count(c, options, meta, report) :
					   open_segment(c, options, writing, meta, report);
}

/* ---- where it is ---- */

uint64_t lpl_collector_place(const struct lpl_collector *c, struct lpl_writer_place *place)
{
	if (c->pass == LPL_PASS_COUNT) {
		*place = c->count.place;
		return c->count.segment;
	}
	lpl_writer_where(c->writer, place);
	/* the next one has begun, but for that which is alone, and has something in it */
	return lpl_segments_number(c->segments) + !lpl_segments_is_empty(c->segments);
}

uint64_t lpl_collector_hash(const struct lpl_collector *c)
{
	switch (c->pass) {
	case LPL_PASS_COUNT:
		return c->count.ended;
	case LPL_PASS_SEGMENT:
		return lpl_writer_hash(c->writer);
	case LPL_PASS_WHOLE:
		break;
	}
	return 0;
}

static bool totals_agree(const struct lpl_totals *a, const struct lpl_totals *b)
{
	return a->total == b->total && memcmp(a->refs, b->refs, sizeof(a->refs)) == 0 &&
	       a->user_refs == b->user_refs && a->tracer_refs == b->tracer_refs &&
	       a->events == b->events;
}

static bool states_agree(const struct lpl_block_state *a, const struct lpl_block_state *b)
{
	return a->space == b->space && a->cycle_offset == b->cycle_offset && a->user == b->user;
}

static bool packed_agree(const struct lpl_block_position *a, const struct lpl_block_position *b)
{
	return states_agree(&a->state, &b->state) && a->next_instr == b->next_instr && a->ref == b->ref &&
	       a->event_ref == b->event_ref && a->instr == b->instr && a->cycle == b->cycle;
}

static bool encoders_agree(const struct lpl_encoder_place *a, const struct lpl_encoder_place *b)
{
	return packed_agree(&a->packed, &b->packed) && states_agree(&a->state, &b->state) &&
	       a->next_instr == b->next_instr && memcmp(a->of_type, b->of_type, sizeof(a->of_type)) == 0 &&
	       a->users == b->users;
}

static bool places_agree(const struct lpl_writer_place *a, const struct lpl_writer_place *b)
{
	return lpl_clocks_equal(&a->last, &b->last) && a->space == b->space &&
	       a->refs_so_far == b->refs_so_far && a->events_so_far == b->events_so_far &&
	       totals_agree(&a->totals, &b->totals) && encoders_agree(&a->encoder, &b->encoder);
}

/* Marks and fences follow from the events, of which there were as many. */
bool lpl_resume_points_agree(const struct lpl_resume_point *one, const struct lpl_resume_point *other)
{
	struct lpl_resume_data a, b;

	memcpy(&a, one, sizeof(a));
	memcpy(&b, other, sizeof(b));
	return a.hash == b.hash && a.segment == b.segment && places_agree(&a.writer, &b.writer) && a.refs == b.refs &&
	       a.tracer_refs == b.tracer_refs && a.events == b.events &&
	       a.instructions == b.instructions && a.tracing == b.tracing &&
	       states_agree(&a.state, &b.state);
}

/* ---- the trace that it becomes ---- */

enum lpl_error lpl_collector_join(const char *path, char *const *line, size_t count, bool overwrite,
				  struct lpl_report *report)
{
	return lpl_segments_join(path, line, count, overwrite, report);
}
