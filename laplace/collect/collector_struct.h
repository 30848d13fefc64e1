/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector, for the files that it is made of:
 *
 *	collector_open.c	its life: what it is opened with, and its end
 *	collector_thread.c	the thread: from the ring through the reducer to the trace
 *	collector_status.c	what it reports, and what it does where the disk is full
 *	collector_resume.c	how another process continues where it was left
 *	collector_pass.c	a part in a recording that several processes make
 *	collector_counts.c	how far it has counted
 */
#ifndef LAPLACE_COLLECT_COLLECTOR_STRUCT_H
#define LAPLACE_COLLECT_COLLECTOR_STRUCT_H

#include <pthread.h>
#include <stdatomic.h>

#include "block_count.h"
#include "block_refs.h"
#include "collector.h"
#include "container/segments.h"
#include "container/writer.h"
#include "log_stream.h"
#include "only.h"
#include "reduce/fence_state.h"
#include "ring_stream.h"
#include "state_keeper.h"
#include "status.h"
#include "status_file.h"

/* What struct lpl_resume_point holds. */
struct lpl_resume_data {
	uint64_t segment;		/* that begins; 0: nothing is known */
	struct lpl_writer_place writer;
	struct lpl_totals totals;
	uint64_t refs, tracer_refs, events, instructions;
	bool tracing, marked;
	struct lpl_event mark;		/* the last one, for status lines */
	uint64_t elapsed_ns, wait_ns, room_wait_ns, syncs, sync_ns;
	uint64_t checkpoints_failed;
	struct lpl_block_state state;
	struct lpl_fence fence;		/* the reducer's */
	uint64_t hash;			/* of what a pass counted or wrote in the segment that ended */
};
_Static_assert(sizeof(struct lpl_resume_data) <= sizeof(struct lpl_resume_point), "room for it");

struct lpl_collector {
	struct lpl_plan plan;
	struct lpl_ring *ring;
	struct lpl_ring_stream stream;	/* of windows */
	struct lpl_log_stream log;
	struct lpl_block_refs refs;	/* of the log */
	struct lpl_only only;		/* what is recorded of the two */
	struct lpl_writer *writer;	/* NULL unless the stage is FILE */
	struct lpl_segments *segments;	/* they own the writer; NULL: it has a file of its own */
	struct lpl_guest_keeper guest;	/* for the segments */
	enum lpl_pass pass;
	struct lpl_block_count count;	/* of a pass that counts: it gets the blocks */
	struct lpl_segment_size segment;	/* when they end */
	uint64_t segment_instr;		/* the instruction count when this one began */
	struct lpl_resume_data resume_point;	/* after the latest FLUSH that ended a segment */
	struct lpl_reducer *reducer;
	struct lpl_sink null;		/* the end of the stream without a file */

	enum lpl_stage stage;
	int status_fd;			/* its status goes there; -1: not watched, or no longer */
	bool has_log;			/* else it has the records of windows */
	bool wait_for_room;		/* on a full disk ... */
	_Atomic bool waiting_for_room;	/* ... as now */
	_Atomic bool failed;
	pthread_t thread;
	struct lpl_report report;	/* the thread's; read after join or `failed` */
	_Atomic uint64_t flushes;

	struct lpl_status status;
	struct lpl_status_file status_file;	/* its status goes there, too */
	struct lpl_pace pace, file_pace;
	uint64_t start_ns, status_at, file_at, file_ns;
	void (*complain)(void *context, const char *text);
	uint64_t flush_ns, flush_at;
	void (*flush_due)(void *context);
	uint64_t sync_ns, sync_at;
	_Atomic uint64_t syncs, sync_time_ns;
	bool (*is_ending)(void *context);
	_Atomic uint64_t room_wait_ns;
	uint64_t earlier_wait_ns;	/* for the ring, of the processes before this one */
	void *context;
};

/* ---- collector_counts.c ---- */

/* What the stream that there is has counted; these three from any thread. */
uint64_t lpl_collector_references(const struct lpl_collector *c);
uint64_t lpl_collector_instructions(const struct lpl_collector *c);
uint64_t lpl_collector_events(const struct lpl_collector *c);
uint64_t lpl_collector_tracer_refs(const struct lpl_collector *c);
struct lpl_totals *lpl_collector_totals(struct lpl_collector *c);
/* For how long the simulator waited. */
uint64_t lpl_collector_wait_ns(const struct lpl_collector *c);

/* ---- collector_thread.c ---- */

/* pthread_create()'s; the argument is the collector. */
void *lpl_collector_run(void *collector);
/* What the streams call, with the collector as their context. */
enum lpl_error lpl_collector_flush(void *collector, bool ends_segment, struct lpl_report *report);
enum lpl_error lpl_collector_between(void *collector, struct lpl_report *report);
/* The reducer of the stream from here on, with the state of the fences of the one before it. */
enum lpl_error lpl_collector_reduce(struct lpl_collector *c, const struct lpl_fence *fence,
				    struct lpl_report *report);

/* ---- collector_status.c ---- */

/* What the streams call with each event. */
void lpl_collector_event(void *collector, const struct lpl_event *event);
/* Write a status line with these numbers to the descriptor and the file. */
void lpl_collector_report_all(struct lpl_collector *c, const struct lpl_collector_status *now,
			      struct lpl_status_end end);
/* The same where the next line is due. */
void lpl_collector_report_if_due(struct lpl_collector *c, uint64_t now);
/* The writer's no_room(). */
bool lpl_collector_wait_for_room(void *collector, const struct lpl_report *why);

/* ---- collector_resume.c ---- */

/* A segment has begun, or those of a pass would: it is here. */
void lpl_collector_note_resume_point(struct lpl_collector *c);
/* Open the segments at options->resume_point, instead of new ones. */
enum lpl_error lpl_collector_resume(struct lpl_collector *c,
				   const struct lpl_collector_options *options,
				   const struct lpl_writer_options *writing,
				   struct lpl_report *report);
/* What it counted until then, without the segments. */
enum lpl_error lpl_collector_go_to(struct lpl_collector *c, const struct lpl_collector_options *options,
				   struct lpl_report *report);

/* ---- collector_pass.c ---- */

/* Open what a pass other than WHOLE writes. */
enum lpl_error lpl_collector_open_pass(struct lpl_collector *c,
				       const struct lpl_collector_options *options,
				       const struct lpl_writer_options *writing,
				       const struct lpl_meta *meta, struct lpl_report *report);
/* Where the stream is, for another process: the number of the segment that begins, and the writer's place. */
uint64_t lpl_collector_place(const struct lpl_collector *c, struct lpl_writer_place *place);
/* The hash of the references of the segment that a pass has ended. */
uint64_t lpl_collector_hash(const struct lpl_collector *c);

#endif
