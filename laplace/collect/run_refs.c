/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From runs to references; run.h defines what a run stands for. */
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

/* The fetches of an instruction, one or two; `ref` has all but their addresses and lengths. */
static struct lpl_ref *expand_fetch(struct lpl_ref *out, const struct lpl_ref *ref,
				    uint64_t address, unsigned int length)
{
	const unsigned int here = 0x1000 - (unsigned int)(address & 0xfff);

	*out = *ref;
	out->address = address;
	out->length = (uint16_t)length;
	if (length <= here)
		return out + 1;
	out->length = (uint16_t)here;
	out[1] = *ref;
	out[1].ref++;
	out[1].address = address + here;
	out[1].length = (uint16_t)(length - here);
	out[1].flags |= LPL_SECOND;
	return out + 2;
}

/* A data reference; `ref` has its number and its times. */
static void expand_data(struct lpl_ref *out, const struct lpl_ref *ref, const uint64_t *word)
{
	static const uint8_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	const unsigned int class = *word >> LPL_WORD_LENGTH_SHIFT & 7;
	const unsigned int unused = 64 - LPL_WORD_ADDRESS_BITS;

	*out = *ref;
	out->address = (uint64_t)((int64_t)(*word << unused) >> unused);
	out->length = class == LPL_WORD_LONG ? (uint16_t)word[1] : lengths[class];
	out->type = *word & LPL_WORD_WRITE ? LPL_WRITE : LPL_READ;
	if (*word & (LPL_WORD_SECOND | LPL_WORD_SUPERVISOR))
		out->flags = (uint8_t)((*word & LPL_WORD_SUPERVISOR ? 0 : ref->flags) |
				       (*word & LPL_WORD_SECOND ? LPL_SECOND : 0));
}

/* The references of a run that begins at r->instr; returns where the next goes. */
static struct lpl_ref *expand(const struct lpl_run_refs *r, const struct lpl_run *run,
			      struct lpl_ref *out)
{
	const struct lpl_instruction_trace *trace = &r->trace[run->trace];
	const uint8_t *length = trace->length + run->first, *fetched = length + run->fetched;
	const uint64_t *word = run->word, *end = word + run->words;
	const struct lpl_ref *const begin = out;
	uint64_t address = trace->address;
	struct lpl_ref ref = { .instr = r->instr, .cycle = r->instr + r->state.cycle_offset,
			       .space = r->state.space, .type = LPL_FETCH,
			       .flags = r->state.user ? LPL_USER : 0 };
	unsigned int done = 0;		/* instructions fetched */

	for (unsigned int i = 0; i < run->first; i++)
		address += trace->length[i];
	for (;;) {
		/* data of counts below the next fetch's, or all */
		for (; word < end; word++) {
			const uint8_t count =
				(uint8_t)((*word >> LPL_WORD_COUNT_SHIFT) - r->instr);

			if (length < fetched && count >= done)
				break;
			ref.ref = r->number + 1 + (uint64_t)(out - begin);
			ref.instr = r->instr + count;
			ref.cycle = ref.instr + r->state.cycle_offset;
			expand_data(out++, &ref, word);
			word += (*word >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG;
		}
		if (length == fetched)
			return out;
		ref.ref = r->number + 1 + (uint64_t)(out - begin);
		ref.instr = r->instr + done++;
		ref.cycle = ref.instr + r->state.cycle_offset;
		out = expand_fetch(out, &ref, address, *length);
		address += *length++;
	}
}

static int take_run(struct lpl_run_sink *sink, const struct lpl_run *run,
		    struct lpl_report *report)
{
	struct lpl_run_refs *r = (struct lpl_run_refs *)sink;
	const struct lpl_ref *end = expand(r, run, r->ref + r->refs);

	r->number += (uint64_t)(end - (r->ref + r->refs));
	r->refs = (size_t)(end - r->ref);
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
