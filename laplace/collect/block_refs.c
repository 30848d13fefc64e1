/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The references of blocks (codec/block_expand.h), gathered into batches. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "block_refs.h"

/* ---- delivering ---- */

static size_t next_batch(const struct lpl_block_refs *r)
{
	size_t room = r->writer ? lpl_writer_room(r->writer) : LPL_BLOCK_REFS_BATCH;

	return room < LPL_BLOCK_REFS_BATCH ? room : LPL_BLOCK_REFS_BATCH;
}

/* A chunk's totals are exact as of its last record: the writer knows them before it. */
static enum lpl_error deliver_first(struct lpl_block_refs *r, size_t count,
				    struct lpl_report *report)
{
	enum lpl_error error;

	if (count == 0)
		return LPL_OK;
	assert(count <= r->refs);
	for (size_t i = 0; i < count; i++) {
		r->totals.refs[r->ref[i].type]++;
		r->totals.user_refs += r->ref[i].flags & LPL_USER;
	}
	r->totals.total = r->ref[count - 1].ref;
	if (r->writer)
		lpl_writer_totals(r->writer, &r->totals);
	error = r->out->refs(r->out, r->ref, count, report);
	r->refs -= count;
	memmove(r->ref, r->ref + count, r->refs * sizeof(r->ref[0]));
	r->batch = next_batch(r);
	return error;
}

/* Whole batches; `ref` has room for a block then. */
static enum lpl_error deliver_batches(struct lpl_block_refs *r, struct lpl_report *report)
{
	assert(r->batch > 0);
	while (r->refs >= r->batch)
		LPL_TRY(deliver_first(r, r->batch, report));
	return LPL_OK;
}

enum lpl_error lpl_block_refs_deliver(struct lpl_block_refs *r, struct lpl_report *report)
{
	LPL_TRY(deliver_batches(r, report));
	return deliver_first(r, r->refs, report);
}

/* ---- blocks ---- */

static enum lpl_error take_block(struct lpl_block_sink *sink, const struct lpl_block *block,
				 struct lpl_report *report)
{
	struct lpl_block_refs *r = (struct lpl_block_refs *)sink;
	const size_t count = lpl_block_expand(&r->trace[block->trace], block, &r->state, r->instr,
					      r->number, r->ref + r->refs);

	/* there was room for it after a batch */
	assert(r->refs < r->batch && count <= LPL_BLOCK_REFS_MAX);
	r->number += count;
	r->refs += count;
	r->instr += block->fetched;
	return r->refs < r->batch ? LPL_OK : deliver_batches(r, report);
}

static enum lpl_error take_define(struct lpl_block_sink *sink, uint32_t number,
				  const struct lpl_instruction_trace *trace,
				  struct lpl_report *report)
{
	struct lpl_block_refs *r = (struct lpl_block_refs *)sink;

	if (!lpl_reach(r->trace, r->trace_room, number))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %u traces", number);
	r->trace[number] = *trace;
	return LPL_OK;
}

static enum lpl_error take_forget(struct lpl_block_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

static enum lpl_error take_state(struct lpl_block_sink *sink, const struct lpl_block_state *state,
				 struct lpl_report *report)
{
	(void)report;
	((struct lpl_block_refs *)sink)->state = *state;
	return LPL_OK;
}

static enum lpl_error take_at(struct lpl_block_sink *sink, uint64_t instr,
			      struct lpl_report *report)
{
	(void)report;
	((struct lpl_block_refs *)sink)->instr = instr;
	return LPL_OK;
}

static enum lpl_error take_loose(struct lpl_block_sink *sink, const struct lpl_ref *refs,
				 size_t number, struct lpl_report *report)
{
	struct lpl_block_refs *r = (struct lpl_block_refs *)sink;

	for (size_t i = 0; i < number; i++) {
		r->ref[r->refs++] = refs[i];
		r->number = refs[i].ref;
		LPL_TRY(deliver_batches(r, report));
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_block_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_block_refs *r = (struct lpl_block_refs *)sink;
	enum lpl_error error = lpl_block_refs_deliver(r, report);

	r->totals.events++;
	r->totals.tracer_refs = *r->tracer_refs;
	if (r->writer)
		lpl_writer_totals(r->writer, &r->totals);
	if (!error)
		error = r->out->event(r->out, event, report);
	r->batch = next_batch(r);
	return error;
}

void lpl_block_refs_init(struct lpl_block_refs *r)
{
	r->sink = (struct lpl_block_sink){ take_define, take_forget, take_state, take_at,
					   take_block, NULL, take_loose, take_event };
	r->batch = next_batch(r);
}

void lpl_block_refs_free(struct lpl_block_refs *r)
{
	free(r->trace);
}
