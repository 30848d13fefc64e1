/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repairing a trace file: all chunks that are whole, in a file that is.
 *
 * Chunks are copied as they stand, after they were checked as any reader does, their records
 * and the hash of the stream included.  Where some are missing the new file says so by an event
 * LPL_EVENT_GAP, and the index is made anew.
 *
 * Of a segment a segment is made, and of a trace in segments, by its manifest's name, one file.
 * What is left out there is each segment that is missing or is not the one that is named.
 */
#ifndef LAPLACE_REPAIR_H
#define LAPLACE_REPAIR_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A place where something is missing; KTR_NONE stands for numbers that are not known. */
struct lpl_loss {
	uint64_t segment;		/* its number, from 1 on; 0: the trace is one file */
	uint64_t offset, bytes;		/* in the damaged file, of what could not be used */
	uint64_t first_chunk, chunks;	/* the first one's sequence number, and how many */
	uint64_t refs, events;		/* that were in them */
	/* the clocks of the last record before, and of the last one that is missing */
	uint64_t after_ref, after_instr, until_ref, until_instr;
	const char *why;		/* what the reader found first; of this call */
};

struct lpl_repair_options {
	const char *output;		/* NULL: only find out */
	bool overwrite;			/* as of lpl_writer_open() */
	/* Called at each loss, in order, and after each chunk; may be NULL. */
	void (*lost)(void *context, const struct lpl_loss *loss);
	void (*progress)(void *context, uint64_t bytes, uint64_t size);	/* size 0: not known */
	void *context;
};

struct lpl_repaired {
	/* that are saved, without header, index, gaps, and what a segment says of the guest */
	uint64_t chunks, refs, events;
	uint64_t losses;		/* places */
	uint64_t lost_refs, lost_events;	/* there, as far as is known */
	bool lost_more;			/* and at some of them it is not known */
	bool had_index;			/* the trace ends with it, so its recording ended properly */
	/*
	 * What is wrong with the manifest (error LPL_OK: nothing).  The segments that it names
	 * from there on were found by their names, and it is not known whether there were others.
	 */
	struct lpl_report manifest;
};

/*
 * Read PATH ("-": stdin) and write what is whole.  LPL_OK also where something is lost, see
 * `repaired`.  LPL_ERR_FORMAT: no trace, or chunks of a newer format, which are not thrown away;
 * LPL_ERR_DAMAGED or LPL_ERR_TRUNCATED: there is not one whole chunk;
 * LPL_ERR_IO, LPL_ERR_MEMORY; and as lpl_writer_open().
 */
enum lpl_error lpl_repair(const char *path, const struct lpl_repair_options *options,
			  struct lpl_repaired *repaired, struct lpl_report *report);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
