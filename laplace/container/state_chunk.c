/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STATE chunks: events like those of a DATA chunk, all of one moment. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "state_chunk.h"

/* What the keeper sends to. */
struct state {
	struct lpl_sink sink;	/* first: a sink is its state */
	struct lpl_writer *writer;
	struct lpl_data_encoder encoder;
	const struct lpl_totals *totals;	/* as of then, and */
	struct lpl_clocks at;	/* the moment */
	uint8_t *payload;
};

static enum lpl_error put_chunk(struct state *state)
{
	struct lpl_writer *writer = state->writer;
	struct lpl_chunk_header header = {
		.kind = LPL_CHUNK_STATE, .events = (uint32_t)state->encoder.event_count,
		.base = state->at, .first = state->at, .last = state->at,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = lpl_totals_before(state->totals),
	};
	size_t size = lpl_data_encode_end(&state->encoder, state->totals, state->payload);

	assert(state->encoder.refs == 0 && state->encoder.event_count > 0);
	assert(lpl_clocks_equal(&state->encoder.last, &state->at));	/* all are of one moment */
	(void)lpl_writer_put_other(writer, &header, state->payload, size);
	lpl_data_encoder_follow(&state->encoder, &state->encoder);
	return writer->failure.error;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct state *state = (struct state *)sink;
	struct lpl_event moved = *event;

	moved.ref = state->at.ref;
	moved.instr = state->at.instr;
	moved.cycle = state->at.cycle;
	if (lpl_data_encode_event(&state->encoder, &moved, report) != LPL_OK)
		return report->error;
	return state->encoder.event_count == LPL_CHUNK_EVENTS_WRITTEN ? put_chunk(state) : LPL_OK;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count;
	return lpl_fail(report, LPL_ERR_INTERNAL, "what there is in the guest is no reference");
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

enum lpl_error lpl_state_chunk_put(struct lpl_writer *writer, const struct lpl_totals *totals)
{
	struct state state = {
		.sink = { take_refs, take_event, take_finish },
		.writer = writer, .totals = totals, .at = writer->encoder->last,
	};
	struct lpl_report *failure = &writer->failure;

	if (!lpl_data_encoder_init(&state.encoder, 1, LPL_CHUNK_EVENTS_WRITTEN))
		return lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory for what there is in the"
				" guest", writer->output.name);
	state.encoder.last = state.at;
	lpl_data_encoder_follow(&state.encoder, &state.encoder);
	state.payload = malloc(lpl_data_bound(&state.encoder));
	if (!state.payload)
		(void)lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory for what there is in the"
			       " guest", writer->output.name);
	else if (writer->keeper->send(writer->keeper, &state.sink, failure) == LPL_OK &&
		 state.encoder.event_count > 0)
		(void)put_chunk(&state);
	free(state.payload);
	lpl_data_encoder_free(&state.encoder);
	return failure->error;
}
