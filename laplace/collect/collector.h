/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector: the second half of the pipeline inside a simulator.
 *
 *	simulator thread ── ring ──► collector thread: reducers ─► trace file
 *
 * The simulator sends windows of pages as ring records (wire.h), or, when each reference
 * is wanted, the blocks of a log (log.h), and knows nothing of files; the collector's thread
 * turns them back into references and events, in order, reduces them and writes the trace.
 * C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_COLLECTOR_H
#define LAPLACE_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "progress.h"
#include "ring/ring.h"
#include "segment_size.h"
#include "wire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the stream ends; all but FILE are there to measure a stage's price. */
enum lpl_stage {
	LPL_STAGE_RING,		/* the collector throws records away unread */
	LPL_STAGE_REDUCE,	/* ... after reducing */
	LPL_STAGE_FILE
};

/*
 * Where a recording in segments is when one has just begun: what another process of the same
 * program has to know to continue there.  To be kept as bytes.
 */
struct lpl_resume_point {
	uint64_t word[192];
};

/* What a process that writes a part leaves beside it last of all: that it is whole, and lines of its status. */
#define LPL_PART_WHOLE "whole"
#define LPL_PART_STATUS "status"

/* What is made of a recording in segments: all of it, or what has a part in making it by several processes. */
enum lpl_pass {
	LPL_PASS_WHOLE,
	/*
	 * Nothing is written but the manifest's first line: what there would be is counted, so that others can
	 * write each segment from its resume point on.  For a trace of every reference.
	 */
	LPL_PASS_COUNT,
	/* The segment that begins, as a file of another name, until another one would begin. */
	LPL_PASS_SEGMENT
};

struct lpl_collector_options {
	const char *path;		/* of the trace */
	const struct lpl_plan *plan;
	/*
	 * A choice (select.h): what is not chosen is neither reduced nor recorded.  NULL: everything
	 * is.  From windows only tasks can be chosen, and a window ends at each event.
	 */
	const char *only;
	uint64_t cycles_a_second;	/* of the guest's time, for a choice that speaks of it */
	const struct lpl_meta *meta;	/* copied; reduction and exactness are added */
	enum lpl_stage stage;
	int level;			/* of zstd; 0: the default */
	size_t ring_records;		/* 0: 65536 (2 MiB) */
	bool log;			/* the ring has blocks of a log, not windows */
	int status_fd;			/* -1: none; else a status line goes there twice a second */
	/*
	 * NULL: none; else status lines are appended to this file, at the start, every
	 * `status_ns` (0: 10 s), and at the end.  It is made, or a status file already.
	 */
	const char *status_path;
	uint64_t status_ns;
	/* On the collector's thread, of what does not end the collection; NULL: no report. */
	void (*complain)(void *context, const char *text);
	bool overwrite;
	/*
	 * `path` is the manifest of a trace in segments.  They end where `segment` says, and where
	 * the producer asks for it.
	 */
	bool segmented;
	struct lpl_segment_size segment;
	enum lpl_pass pass;
	bool begins;			/* a SEGMENT that is the first: the manifest, too, as COUNT does */
	const char *part_path;		/* of a SEGMENT: a manifest of this name would name it */
	/* where to continue, with the guest's state at that point; NULL: the trace is a new one */
	const struct lpl_resume_point *resume_point;
	const char *resume_guest;	/* as lpl_collector_save_guest() wrote it */
	uint64_t resume_instr;		/* when the checkpoint was made, which status lines show */
	uint64_t begin_instr;		/* how far the machine has come before: of these there are no rates */
	/*
	 * At least so often, in nanoseconds of the host, everything that happened has to be on
	 * disk: `flush_due` is called on the collector's thread, again and again until a FLUSH
	 * arrives.  0: never, and no host time goes into the trace either.
	 */
	uint64_t flush_ns;
	void (*flush_due)(void *context);
	/*
	 * At least so often, in nanoseconds of the host, what was written is brought to the disk
	 * (lpl_writer_sync()), on the collector's thread; 0: when it is closed alone.  It leaves
	 * nothing in the trace.  So a loss of power loses no more than what happened since the last
	 * flush before the last sync.
	 */
	uint64_t sync_ns;
	/*
	 * When the disk is full: wait for room, until `is_ending` says true.  Meanwhile the ring
	 * fills, and the producer stands still.  Then, or without waiting, the collection ends
	 * with LPL_ERR_FULL, and lpl_collector_close() ends the trace properly (see
	 * lpl_writer_close()).
	 */
	bool wait_for_room;
	/* Is the run to end?  Called while there is no room, on any thread.  NULL: it is not. */
	bool (*is_ending)(void *context);
	void *context;			/* of all of these */
};

struct lpl_collector;

/*
 * Open the trace and start the thread.  Errors as lpl_writer_open(), lpl_reducer_open(),
 * lpl_choice_parse() and lpl_choice_open(), LPL_ERR_IO without a thread, LPL_ERR_USAGE if `log` does
 * not go with the plan, `only` not with a resume point, a pass not with what is recorded, or if what is at `status_path` is no status
 * file, or the trace; *collector is NULL then.
 */
enum lpl_error lpl_collector_open(struct lpl_collector **collector,
				  const struct lpl_collector_options *options,
				  struct lpl_report *report);
/* The producer's end; owned by the collector. */
struct lpl_ring *lpl_collector_ring(struct lpl_collector *collector);

/* A snapshot, from any thread. */
void lpl_collector_status(const struct lpl_collector *collector,
			  struct lpl_collector_status *status);

/*
 * Where it is after the latest LPL_WIRE_FLUSH with ROTATE that was done (status.flushes).
 * Returns the number of the segment that begins there; 0: there was none.
 */
uint64_t lpl_collector_resume_point(const struct lpl_collector *collector,
			     struct lpl_resume_point *point);
/*
 * Write, to a file at `path`, the guest's state at that point: its tasks and memory
 * (merge/guest_state.h).
 * Errors as lpl_writer_open() and lpl_writer_close().
 */
enum lpl_error lpl_collector_save_guest(struct lpl_collector *collector, const char *path,
					struct lpl_report *report);
/* Are these two of the same recording, at the same place, whatever time each took to get there? */
bool lpl_resume_points_agree(const struct lpl_resume_point *one, const struct lpl_resume_point *other);
/*
 * All that a recording of several processes wrote, beside its manifest PATH.part, becomes the trace: line[i] is what
 * stands in the file "FILE.line" beside segment i + 1.  LPL_ERR_DAMAGED: it is not one trace.
 */
enum lpl_error lpl_collector_join(const char *path, char *const *line, size_t count, bool overwrite,
				  struct lpl_report *report);
/* A checkpoint failed, and the run continues without it; status lines count these. */
void lpl_collector_checkpoint_failed(struct lpl_collector *collector);
/*
 * End the stream here, so that another process can continue it from that point: nothing may have
 * been sent since.  The trace is not closed.  Frees the collector.
 */
void lpl_collector_leave(struct lpl_collector *collector);

/*
 * The status line (docs/watching.md): a JSON object and a newline, from any thread.  Its rates
 * are those since `pace`, which then is now.  To be freed by the caller; NULL: no memory.
 */
char *lpl_collector_status_line(struct lpl_collector *collector, struct lpl_pace *pace);

/* Why the collector gave up (after lpl_ring_reserve() returned NULL); LPL_OK if it did not. */
enum lpl_error lpl_collector_failure(struct lpl_collector *collector,
				     struct lpl_report *report);

/*
 * End the stream: the thread finishes its work, the file gets its index and
 * its final name.  `end` ("clean", "fail", "quit", "error") and `message` (may
 * be NULL) go into the last status line; there it is "full", and why, if the disk was
 * full and the trace ends early.  Frees the collector.  NULL is fine.
 */
enum lpl_error lpl_collector_close(struct lpl_collector *collector, const char *end,
				   const char *message, struct lpl_report *report);

#ifdef __cplusplus
}
#endif
#endif
