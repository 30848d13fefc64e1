/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a writer of traces consists of: for writer.c, which makes chunks of the records that it
 * gets, writer_chunk.c, which gets them into the file, writer_file.c, which begins and ends files,
 * writer_full.c, which ends one on a full disk, and block_writer.c, which takes blocks.  And for
 * files that have a writer do more than <laplace/trace.h> declares: segments.c gives it one file
 * after the other, state_chunk.c and repair.c give it chunks.
 */
#ifndef LAPLACE_CONTAINER_WRITER_H
#define LAPLACE_CONTAINER_WRITER_H

#include <stdatomic.h>
#include <zstd.h>

#include <laplace/trace.h>

#include "base/output.h"
#include "base/work_queue.h"
#include "chunk.h"
#include "chunk_encoder.h"
#include "data.h"
#include "index.h"
#include "keeper.h"
#include "manifest_line.h"

#define LPL_WRITER_AHEAD ((uint64_t)4 << 20)	/* of room that is kept on the disk */

/* A chunk on its way to the file. */
struct lpl_packed_chunk {
	struct lpl_chunk_payload payload;
	struct lpl_chunk_header header;
	ZSTD_CCtx *zstd;
	uint8_t *stored;		/* header and frame */
	size_t stored_room;
	struct lpl_report failure;
};

struct lpl_writer {
	struct lpl_sink sink;		/* first: a sink is its writer */
	struct lpl_block_sink block_sink;	/* block_writer.c */
	struct lpl_output output;
	unsigned int jobs;
	struct lpl_work_queue *queue;
	struct lpl_packed_chunk *slot;	/* by slot of the queue */
	struct lpl_data_encoder *encoder;	/* of the next one: its `records` */
	struct lpl_chunk_encoder *chunks;	/* how they are packed; owned */
	struct lpl_index index;
	struct lpl_totals totals;
	uint32_t sequence;		/* of the next chunk */
	uint64_t refs_so_far, events_so_far;
	struct lpl_chunk_header written;	/* of the last chunk that is in the file ... */
	struct lpl_totals written_totals;	/* ... and as of its end */
	bool ends_when_full;
	bool ending;			/* what is written has its room already */
	bool ended;			/* the file is complete, and has its name ... */
	bool ended_early;		/* ... and a gap at its end */
	struct lpl_segment_facts file;	/* of the present one, as far as it is */
	bool has_records;		/* were any taken since it began? */
	bool has_first;			/* and are any in it? */
	uint64_t bytes_before;		/* of the files before it */
	struct lpl_state_keeper *keeper;	/* gets the events; NULL: there is none */
	/* the first error; nothing is written after it */
	struct lpl_report failure;
	/* what other threads may ask for */
	_Atomic uint64_t bytes_written, refs_written;
};

/* The first error (LPL_OK: there was none), described in `report` if that has no other. */
enum lpl_error lpl_writer_failed(const struct lpl_writer *writer, struct lpl_report *report);
/* What was sent is not valid: write all before it, and fail with the cause and the file's name. */
void lpl_writer_refuse(struct lpl_writer *writer, const struct lpl_report *cause);
/* What was taken since the last chunk becomes one. */
void lpl_writer_put_chunk(struct lpl_writer *writer);
/* Do the totals agree with themselves? */
enum lpl_error lpl_writer_check_totals(struct lpl_writer *writer);
/* As of the record with this `ref`. */
struct lpl_totals lpl_writer_totals_at(const struct lpl_writer *writer, uint64_t ref);

/* ---- chunks on their way into the file (writer_chunk.c) ---- */

/* On any thread, of the queue: all of a chunk's making that needs nothing but the chunk. */
void lpl_writer_pack(void *writer, unsigned int slot);
/* The oldest chunk that is in the queue, into the file; all of them. */
void lpl_writer_deliver(struct lpl_writer *writer);
void lpl_writer_deliver_all(struct lpl_writer *writer);
/* A chunk that does not come from the queue: written at once, when nothing waits there. */
enum lpl_error lpl_writer_put_other(struct lpl_writer *writer, struct lpl_chunk_header *header,
				    const uint8_t *payload, size_t size);
/*
 * A chunk of records as it was read, after all that was written: its base clocks are those of the
 * last record, and nothing waits to be flushed.  What ties it to the others is changed.
 */
enum lpl_error lpl_writer_copy_chunk(struct lpl_writer *writer,
				     const struct lpl_chunk_header *header,
				     const uint8_t *payload, struct lpl_report *report);

/* ---- files (writer_file.c) ---- */

/* The file's HEADER. */
enum lpl_error lpl_writer_write_header(struct lpl_writer *writer, const struct lpl_meta *meta,
				       struct lpl_report *report);
/* The file's INDEX; only the last one has what the recording has cost. */
enum lpl_error lpl_writer_write_index(struct lpl_writer *writer, bool last_file);
/*
 * As lpl_writer_close(), but the writer and its counts are kept.  Only the last file
 * has what the recording has cost.
 */
enum lpl_error lpl_writer_end_file(struct lpl_writer *writer, bool last,
				   struct lpl_report *report);
/* Begin another file: as lpl_writer_open(), except that it waits for room for the file. */
enum lpl_error lpl_writer_next_file(struct lpl_writer *writer, const char *path,
				    const struct lpl_meta *meta, bool overwrite,
				    struct lpl_report *report);
/* Was anything taken since the file began? */
bool lpl_writer_has_records(const struct lpl_writer *writer);

/* ---- a full disk (writer_full.c) ---- */

/* How many bytes a file may still need that ends after the next chunk. */
size_t lpl_writer_end_room(const struct lpl_writer *writer);
/*
 * Before a file ends that another one shall follow: is there room for that one to begin, and to
 * end right then?  LPL_ERR_FULL, and the writer has failed: this file has to be the last one.
 */
enum lpl_error lpl_writer_room_for_next(struct lpl_writer *writer, const struct lpl_meta *meta);
/* After LPL_ERR_FULL: end the file after its last chunk, and give it its name. */
enum lpl_error lpl_writer_end_short(struct lpl_writer *writer, struct lpl_report *report);
/* A chunk of this event, LPL_EVENT_GAP, alone, with these totals; nothing waits to be flushed. */
enum lpl_error lpl_writer_write_gap(struct lpl_writer *writer, const struct lpl_event *gap,
				    const struct lpl_totals *totals);

/* ---- continuing in another process ---- */

/*
 * What a writer has to know to continue where another one ended a file.  Numbers alone, of this
 * program: another version may have others.
 */
struct lpl_writer_place {
	struct lpl_clocks last;		/* of the last record */
	uint64_t space;			/* of the last reference */
	uint64_t refs_so_far, events_so_far, bytes;
	struct lpl_totals totals;
	struct lpl_encoder_place encoder;
};

/* Where it is: its file has ended, or has no records yet. */
void lpl_writer_where(const struct lpl_writer *writer, struct lpl_writer_place *place);
/* As lpl_writer_open(), to continue there, with what the keeper (NULL: none) sends. */
enum lpl_error lpl_writer_open_at(struct lpl_writer **writer, const char *path,
				  const struct lpl_meta *meta,
				  const struct lpl_writer_options *options,
				  const struct lpl_writer_place *place,
				  struct lpl_state_keeper *keeper, bool overwrite,
				  struct lpl_report *report);

#endif
