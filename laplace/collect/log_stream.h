/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the log of every reference (log.h) to blocks (codec/block.h).
 *
 * A trace's word is followed by the data words made in it; the next trace's count says how
 * many of its instructions were fetched.  Mostly that is a block as it stands, and the words are
 * passed on from where they are.  Everything else cuts a block in two, or ends it.
 *
 * The log is checked as it is read: an instruction count that increases without a fetch, where
 * no record says why, is an error, and so is a fetch without a count.
 */
#ifndef LAPLACE_COLLECT_LOG_STREAM_H
#define LAPLACE_COLLECT_LOG_STREAM_H

#include <stdatomic.h>

#include <laplace/trace.h>

#include "codec/block.h"
#include "log.h"

#define LPL_LOG_JUMPS 8

struct lpl_log_stream {
	/* set by the caller */
	struct lpl_block_sink *out;
	struct lpl_writer *writer;	/* of `out`; is given what it cannot count; or NULL */
	/* called for each event, in order; may be NULL */
	void (*on_event)(void *context, const struct lpl_event *event);
	/* a FLUSH was read; `rotate`: a segment shall end with it */
	enum lpl_error (*flush)(void *context, bool rotate, struct lpl_report *report);
	/* a block was taken, all of it: here the stream can be cut; NULL: it never is */
	enum lpl_error (*between)(void *context, struct lpl_report *report);
	void *context;

	struct lpl_log_trace {
		uint8_t count;		/* instructions; 0: not defined */
		bool crosses;		/* its one instruction crosses a page */
	} *trace;			/* by id */
	size_t trace_room;
	uint64_t now;			/* the instruction count of the latest word */

	/* the trace that is running */
	uint32_t running;		/* its id; 0: there was none yet */
	bool open;			/* it is not over */
	uint8_t at, count;		/* its instructions fetched, and all */
	uint64_t next;			/* the count of the next */

	struct lpl_block block;		/* what of it was not sent yet: may be nothing */
	uint64_t block_instr;		/* the count that it begins with */
	uint32_t block_lengths;		/* of its words, those that are lengths */
	uint64_t word[LPL_BLOCK_WORDS_MAX];

	uint64_t expected;		/* where `out` takes the next block to begin */
	struct lpl_block_state state;
	bool changed;			/* `out` does not know it yet */
	struct {			/* of the cycle counter, that are not reached yet */
		uint64_t instr, offset;
	} jump[LPL_LOG_JUMPS];
	unsigned int jumps;

	bool recording, suppressed;
	uint64_t refs;			/* the number of the latest reference */
	uint64_t tracer_refs;		/* left out as the tracer's own */

	/* for other threads: how far the stream is */
	_Atomic uint64_t references, instructions, events, tracer_known;
};

/* Take a block of the log. */
enum lpl_error lpl_log_stream_take(struct lpl_log_stream *stream,
				   const struct lpl_log_block *block, struct lpl_report *report);
/* Send `out` what is left; at the end. */
enum lpl_error lpl_log_stream_end(struct lpl_log_stream *stream, struct lpl_report *report);
void lpl_log_stream_free(struct lpl_log_stream *stream);

#endif
