/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From runs to references; run.h defines what a run stands for. */
#include <stdlib.h>

#include "base/array.h"
#include "run_refs.h"

/* ---- delivering ---- */

static size_t next_block(const struct lpl_run_refs *r)
{
	size_t room = r->writer ? lpl_writer_room(r->writer) : LPL_RUN_REFS_BLOCK;

	return room < LPL_RUN_REFS_BLOCK ? room : LPL_RUN_REFS_BLOCK;
}

/* A chunk's totals are exact as of its last record: the writer knows them before it. */
enum lpl_error lpl_run_refs_deliver(struct lpl_run_refs *r, struct lpl_report *report)
{
	int error = LPL_OK;

	if (r->writer)
		lpl_writer_totals(r->writer, &r->totals);
	if (r->refs)
		error = r->out->refs(r->out, r->ref, r->refs, report);
	r->refs = 0;
	r->block = next_block(r);
	return (enum lpl_error)error;
}

/* The next reference, all but its address, type and length; they are counted with `count`. */
static struct lpl_ref *new_ref(struct lpl_run_refs *r, uint64_t instr)
{
	struct lpl_ref *ref = &r->ref[r->refs++];

	*ref = (struct lpl_ref){ .ref = ++r->number, .instr = instr,
				 .cycle = instr + r->state.cycle_offset,
				 .space = r->state.space };
	return ref;
}

static int count(struct lpl_run_refs *r, const struct lpl_ref *ref, struct lpl_report *report)
{
	r->totals.refs[ref->type]++;
	r->totals.user_refs += ref->flags & LPL_USER;
	r->totals.total = ref->ref;
	return r->refs < r->block ? LPL_OK : (int)lpl_run_refs_deliver(r, report);
}

/* ---- runs ---- */

static int take_fetch(struct lpl_run_refs *r, uint64_t address, unsigned int length,
		      uint64_t instr, bool second, struct lpl_report *report)
{
	struct lpl_ref *ref = new_ref(r, instr);

	ref->address = address;
	ref->length = (uint16_t)length;
	ref->type = LPL_FETCH;
	ref->flags = (uint8_t)((r->state.user ? LPL_USER : 0) | (second ? LPL_SECOND : 0));
	return count(r, ref, report);
}

static int take_instruction(struct lpl_run_refs *r, uint64_t address, unsigned int length,
			    uint64_t instr, struct lpl_report *report)
{
	unsigned int here = 0x1000 - (unsigned int)(address & 0xfff);
	int error;

	if (length <= here)
		return take_fetch(r, address, length, instr, false, report);
	error = take_fetch(r, address, here, instr, false, report);
	return error ? error :
	       take_fetch(r, address + here, length - here, instr, true, report);
}

static int take_data(struct lpl_run_refs *r, const uint64_t *word, uint64_t instr,
		     size_t *words, struct lpl_report *report)
{
	static const uint8_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	struct lpl_ref *ref = new_ref(r, instr);
	const unsigned int class = *word >> LPL_WORD_LENGTH_SHIFT & 7;
	const unsigned int unused = 64 - LPL_WORD_ADDRESS_BITS;
	const bool user = r->state.user && !(*word & LPL_WORD_SUPERVISOR);

	*words = class == LPL_WORD_LONG ? 2 : 1;
	ref->address = (uint64_t)((int64_t)(*word << unused) >> unused);
	ref->length = class == LPL_WORD_LONG ? (uint16_t)word[1] : lengths[class];
	ref->type = *word & LPL_WORD_WRITE ? LPL_WRITE : LPL_READ;
	ref->flags = (uint8_t)((user ? LPL_USER : 0) | (*word & LPL_WORD_SECOND ? LPL_SECOND : 0));
	return count(r, ref, report);
}

static int take_run(struct lpl_run_sink *sink, const struct lpl_run *run,
		    struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;
	const struct lpl_instruction_trace *trace = &r->trace[run->trace];
	const uint64_t *word = run->word, *end = word + run->words;
	uint64_t address = trace->address;
	unsigned int fetched = 0;
	size_t words;
	int error = LPL_OK;

	for (unsigned int i = 0; i < run->first; i++)
		address += trace->length[i];
	while (!error && (fetched < run->fetched || word < end)) {
		unsigned int data = UINT8_MAX + 1U;	/* its count, from r->instr on */

		if (word < end)
			data = (uint8_t)((*word >> LPL_WORD_COUNT_SHIFT) - r->instr);
		if (fetched < run->fetched && fetched <= data) {
			const unsigned int length = trace->length[run->first + fetched];

			error = take_instruction(r, address, length, r->instr + fetched, report);
			address += length;
			fetched++;
		} else {
			error = take_data(r, word, r->instr + data, &words, report);
			word += words;
		}
	}
	r->instr += run->fetched;
	return error;
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
		error = count(r, &refs[i], report);
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
					 take_run, take_loose, take_event };
	r->block = next_block(r);
}

void lpl_run_refs_free(struct lpl_run_refs *r)
{
	free(r->trace);
}
