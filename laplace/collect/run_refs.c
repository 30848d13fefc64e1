/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The references of runs (codec/run_expand.h), gathered into blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "run_refs.h"

/* ---- delivering ---- */

static size_t next_block(const struct lpl_run_refs *r)
{
	size_t room = r->writer ? lpl_writer_room(r->writer) : LPL_RUN_REFS_BLOCK;

	return room < LPL_RUN_REFS_BLOCK ? room : LPL_RUN_REFS_BLOCK;
}

/* A chunk's totals are exact as of its last record: the writer knows them before it. */
static int deliver_first(struct lpl_run_refs *r, size_t count, struct lpl_report *report)
{
	int error;

	if (count == 0)
		return LPL_OK;
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
	r->block = next_block(r);
	return error;
}

/* Whole blocks; `ref` has room for a run then. */
static int deliver_blocks(struct lpl_run_refs *r, struct lpl_report *report)
{
	int error = LPL_OK;

	while (r->refs >= r->block && !error)
		error = deliver_first(r, r->block, report);
	return error;
}

enum lpl_error lpl_run_refs_deliver(struct lpl_run_refs *r, struct lpl_report *report)
{
	int error = deliver_blocks(r, report);

	return (enum lpl_error)(error ? error : deliver_first(r, r->refs, report));
}

/* ---- runs ---- */

static int take_run(struct lpl_run_sink *sink, const struct lpl_run *run,
		    struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;
	const size_t count = lpl_run_expand(&r->trace[run->trace], run, &r->state, r->instr,
					    r->number, r->ref + r->refs);

	r->number += count;
	r->refs += count;
	r->instr += run->fetched;
	return r->refs < r->block ? LPL_OK : deliver_blocks(r, report);
}

static int take_define(struct lpl_run_sink *sink, uint32_t number,
		       const struct lpl_instruction_trace *trace, struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;

	if (!lpl_reach(r->trace, r->trace_room, number))
		return (int)lpl_fail(report, LPL_ERR_MEMORY, "no memory for %u traces", number);
	r->trace[number] = *trace;
	return LPL_OK;
}

static int take_forget(struct lpl_run_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

static int take_state(struct lpl_run_sink *sink, const struct lpl_run_state *state,
		      struct lpl_report *report)
{
	(void)report;
	((struct lpl_run_refs *)sink)->state = *state;
	return LPL_OK;
}

static int take_at(struct lpl_run_sink *sink, uint64_t instr, struct lpl_report *report)
{
	(void)report;
	((struct lpl_run_refs *)sink)->instr = instr;
	return LPL_OK;
}

static int take_loose(struct lpl_run_sink *sink, const struct lpl_ref *refs, size_t number,
		      struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;
	int error = LPL_OK;

	for (size_t i = 0; i < number && !error; i++) {
		r->ref[r->refs++] = refs[i];
		r->number = refs[i].ref;
		error = deliver_blocks(r, report);
	}
	return error;
}

static int take_event(struct lpl_run_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;
	int error = (int)lpl_run_refs_deliver(r, report);

	r->totals.events++;
	r->totals.tracer_refs = *r->tracer_refs;
	if (r->writer)
		lpl_writer_totals(r->writer, &r->totals);
	if (!error)
		error = r->out->event(r->out, event, report);
	r->block = next_block(r);
	return error;
}

void lpl_run_refs_init(struct lpl_run_refs *r)
{
	r->sink = (struct lpl_run_sink){ take_define, take_forget, take_state, take_at,
					 take_run, NULL, take_loose, take_event };
	r->block = next_block(r);
}

void lpl_run_refs_free(struct lpl_run_refs *r)
{
	free(r->trace);
}
