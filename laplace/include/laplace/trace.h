/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace files: writing and reading.  docs/format.md specifies the bytes.
 *
 * A file is a sequence of self-delimiting chunks: one header, data chunks, and
 * when it was closed properly one index at the end.  Any prefix is readable up
 * to its last complete chunk.
 */
#ifndef LAPLACE_TRACE_H
#define LAPLACE_TRACE_H

#include <stdio.h>

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * What a trace is.  Kept in the file's header as JSON-free "key=value" lines,
 * in this order of insertion; keys are [a-z0-9._-]+, values any bytes
 * but newline and NUL.  Known keys (LPL_META_*) are documented in
 * docs/format.md; unknown ones are kept and shown.
 */
#define LPL_META_TITLE		"title"
#define LPL_META_GUEST		"guest"		/* kernel and image */
#define LPL_META_WORKLOAD	"workload"
#define LPL_META_MACHINE	"machine"	/* the bochsrc, newlines as \n */
#define LPL_META_PRODUCER	"producer"	/* program and version */
#define LPL_META_ADDRESSES	"addresses"	/* "virtual", "canonical" */
#define LPL_META_PAGE_SIZE	"page-size"	/* "4096" */
#define LPL_META_REDUCTION	"reduction"	/* "none", "window:64+sad:64" */
#define LPL_META_EXACT		"exact"		/* "all", "lru,opt from 64 pages" */
#define LPL_META_ONLY		"only"		/* chosen before it was reduced: "process:gzip" (select.h) */
#define LPL_META_WINDOWS	"windows"	/* of time: when it was recorded */
#define LPL_META_IMAGES		"images"	/* of pages: "evict:64" (image.h) */
#define LPL_META_PROGRAM_COUNTERS "program-counters" /* "kept": of each reference, in an event before it */
#define LPL_META_TRANSLATIONS	"translations"	/* "kept": where pages are in memory, as events (translation.h) */
#define LPL_META_WALKS		"walks"		/* LPL_WALKS_DESCRIBED: what those of page tables are (walk.h) */
#define LPL_WALKS_DESCRIBED	"described"
#define LPL_META_CODE		"code"		/* LPL_CODE_KEPT: the bytes of instructions, as events (code.h) */
#define LPL_CODE_KEPT		"kept"
#define LPL_META_SEGMENT	"segment"	/* of a trace in segments: which one this file is */
#define LPL_META_SCHEDULE	"schedule"	/* threads run again: on which machine (schedule.h) */
#define LPL_META_SOURCE		"source"	/* of a derived trace: its origin's title */

struct lpl_meta;	/* an ordered map of strings */
struct lpl_meta *lpl_meta_new(void);		/* NULL: no memory */
void lpl_meta_free(struct lpl_meta *meta);	/* NULL is fine */
struct lpl_meta *lpl_meta_copy(const struct lpl_meta *meta);
/* Set or replace.  LPL_ERR_USAGE for a bad key or value, LPL_ERR_MEMORY. */
enum lpl_error lpl_meta_set(struct lpl_meta *meta, const char *key, const char *value);
/* Nothing happens where it is absent. */
void lpl_meta_remove(struct lpl_meta *meta, const char *key);
/* The value, owned by meta; NULL when absent. */
const char *lpl_meta_get(const struct lpl_meta *meta, const char *key);
/* Walk: i from 0 to count - 1. */
size_t lpl_meta_count(const struct lpl_meta *meta);
void lpl_meta_at(const struct lpl_meta *meta, size_t i, const char **key, const char **value);

/*
 * What a recording cost, as the simulator and its collector counted: kept in the index alone, so
 * that only a trace that was closed has it, and those that are made from it.  All 0: not recorded.
 */
struct lpl_accounts {
	uint64_t instructions;		/* that were run, recorded or not */
	uint64_t elapsed_ns;		/* host time; 0 in runs that are to repeat byte for byte */
	uint64_t sent_bytes;		/* from the simulator's thread to the collector's */
	uint64_t sent_refs;		/* references in them: what windows had left, or all */
};

/*
 * What happened before reduction, so that true counts survive it.  All are
 * totals since trace-on; each data chunk carries the values at its end (docs/format.md,
 * section 4.3, says which of them may be missing).
 */
struct lpl_totals {
	uint64_t total;			/* references before reduction, of all types */
	uint64_t refs[LPL_TYPES];	/* by type, where they were counted; else all 0 */
	uint64_t user_refs;		/* made in user mode; likewise */
	uint64_t tracer_refs;		/* left out: made between begin and trigger */
	uint64_t events;
	uint64_t wait_ns;		/* how long the simulator waited for the reducer, host
					 * time: kept in the index alone, and 0 in runs
					 * that are to repeat byte for byte */
	struct lpl_accounts recording;
};

/* ---- writing ---- */

struct lpl_writer;
struct lpl_writer_options {
	size_t chunk_refs;	/* references in a chunk; 0: the default (65536; see `blocks`) */
	int level;		/* of zstd; 0: the default (3) */
	bool blocks;		/* pack as blocks of code: small where the stream is every reference
				 * that a processor made, right for any.  A chunk has up to 4194304
				 * references then, by default so many */
	bool ends_when_full;	/* room for the index is kept on the disk, where its file system can
				 * do that, so that lpl_writer_close() can end the file after
				 * LPL_ERR_FULL */
	unsigned int jobs;	/* threads that compress, the caller's included, up to 8; 0: its
				 * alone.  More write the same file, and need the memory of
				 * as many chunks more */
	/*
	 * The disk is full.  Called by whichever call writes, before it fails with LPL_ERR_FULL,
	 * if not NULL: `why` says where and for what there is no room.  true, after some waiting:
	 * try again.  false: fail.  Once there is room it is called with `why` NULL.
	 */
	bool (*no_room)(void *context, const struct lpl_report *why);
	void *context;
};

/*
 * Create PATH.  The file grows under "PATH.part" and gets its final name when
 * it is closed; a stale ".part" is an error (LPL_ERR_USAGE) unless
 * `overwrite`; so is an existing PATH.  One that another process (or this one) is
 * writing is an error in any case.  "-" writes to stdout.
 * `meta` is copied.  On failure *writer is NULL.
 */
enum lpl_error lpl_writer_open(struct lpl_writer **writer, const char *path,
			       const struct lpl_meta *meta,
			       const struct lpl_writer_options *options,
			       bool overwrite, struct lpl_report *report);

/* The writer as a sink; owned by the writer.  Its finish() does not close. */
struct lpl_sink *lpl_writer_sink(struct lpl_writer *writer);

/*
 * What there was before reduction, up to the next record to be sent or later; the last
 * call's totals go into the index.  A chunk says how many references there were as of its
 * own last record, by that record's number; by type, and in user mode, only if `totals`
 * are of that record too (see lpl_writer_room()), else 0.  Without any, or with 0
 * references, it says 0: not known.
 */
void lpl_writer_totals(struct lpl_writer *writer, const struct lpl_totals *totals);
/* After how many more references the current chunk is complete; at least 1. */
size_t lpl_writer_room(const struct lpl_writer *writer);

/* Write what is pending as a chunk, and hand it to the operating system. */
enum lpl_error lpl_writer_flush(struct lpl_writer *writer, struct lpl_report *report);

/*
 * A barrier: what was written is on the disk now, and survives a loss of power.  LPL_ERR_IO: it is
 * not known what is, and the writer has failed.  (What was taken and not flushed is not written.)
 */
enum lpl_error lpl_writer_sync(struct lpl_writer *writer, struct lpl_report *report);

/*
 * Flush, write the index, sync, rename, free.  After an earlier error the file
 * keeps its ".part" name (its complete chunks are readable) and that error is
 * returned again.  After LPL_ERR_FULL of a writer with `ends_when_full`, too, but the file then
 * ends after its last complete chunk with an event LPL_EVENT_GAP and an index, and has its final
 * name: the report says so, or why that could not be done.  NULL is fine.
 */
enum lpl_error lpl_writer_close(struct lpl_writer *writer, struct lpl_report *report);

/* Give up: keep ".part" with its complete chunks, free.  NULL is fine. */
void lpl_writer_abandon(struct lpl_writer *writer);

/* Bytes and references written so far (safe to call from another thread). */
uint64_t lpl_writer_bytes(const struct lpl_writer *writer);
uint64_t lpl_writer_refs(const struct lpl_writer *writer);

/* ---- reading ---- */

struct lpl_reader;

/*
 * Open PATH ("-": stdin) and read its header.  Streams: memory is O(one chunk).  Where PATH is
 * the manifest of a trace in segments (docs/format.md, section 11), that of one that is not
 * closed, too, they are read as one trace, one file open at a time.  A segment that is missing,
 * or not the one that the manifest names, is LPL_ERR_DAMAGED when it is its turn, before
 * anything of it was delivered; lpl_reader_resume() goes on with the next.  Of what is still being
 * written that is read which is there when it is opened, so that reading ends.
 */
enum lpl_error lpl_reader_open(struct lpl_reader **reader, const char *path,
			       struct lpl_report *report);
const struct lpl_meta *lpl_reader_meta(const struct lpl_reader *reader);

/*
 * Call `each` with the path of every file that reading PATH reads: PATH itself first, and of a
 * manifest those of its segments, in their order, whether they are there or not.  Of a manifest
 * that is damaged they are unknown.  Stops when `each` returns a number other than 0, and returns
 * that; -1: no memory.
 */
int lpl_trace_files(const char *path, int (*each)(void *context, const char *file), void *context);

/*
 * Decompress and decode some chunks ahead, on so many threads, the caller's included
 * (0: one for each processor, up to 8).  1, the default: no other thread, one chunk at a
 * time.  What is delivered, errors too, and when, is the same; memory is that of one chunk
 * more than there are threads.  To be called before the first lpl_reader_next().
 */
void lpl_reader_jobs(struct lpl_reader *reader, unsigned int jobs);

/*
 * Send the whole stream to `sink`, then its finish().  Stops at the first
 * damaged or truncated chunk (the report names offset, sequence, expected and
 * found checksum): what was before it has been delivered, finish() has not been
 * called.
 */
enum lpl_error lpl_reader_run(struct lpl_reader *reader, struct lpl_sink *sink,
			      struct lpl_report *report);

/*
 * Or pull a block at a time: references up to the next event or chunk end, or a
 * part of them, then that event.  At the end of the trace *count == 0 and *event == NULL.
 * The memory is the reader's until the next call.
 */
enum lpl_error lpl_reader_next(struct lpl_reader *reader, const struct lpl_ref **refs,
			       size_t *count, const struct lpl_event **event,
			       struct lpl_report *report);

/*
 * Or fill columns: the next references, up to `most` of them, which has to be at least 1, from
 * index 0 of each column on.  It stops before that at an event, which it hands over after the
 * `*count` references that precede it, as lpl_reader_next() does; with `event` NULL events are
 * passed over, and columns get full.  At the end of the trace *count == 0, and there is no event.
 * Where something is wrong, what was filled before it is handed over first, and the next call
 * fails.  Calls of lpl_reader_next() may come in between: they go on where this one stopped.
 */
enum lpl_error lpl_reader_fill(struct lpl_reader *reader, const struct lpl_ref_columns *columns,
			       size_t most, size_t *count, const struct lpl_event **event,
			       struct lpl_report *report);

/*
 * After LPL_ERR_DAMAGED: go on with the next chunk that is whole and stands further on in
 * the stream.  Before its first record an event LPL_EVENT_GAP is delivered, which says what is
 * missing; likewise at the end of the trace, if no such chunk is left.  Any other failure
 * is final, and is returned.
 */
enum lpl_error lpl_reader_resume(struct lpl_reader *reader, struct lpl_report *report);

/* One chunk's header, as a table of contents. */
struct lpl_chunk {
	uint64_t offset, bytes;		/* in the file, header included */
	uint64_t plain;			/* bytes of its payload before it was compressed */
	uint32_t segment;		/* its number, from 1 on; 0: the trace is one file */
	uint32_t sequence, kind;
	uint64_t refs, events;		/* in it */
	uint64_t first_ref, first_instr, first_cycle;
	uint64_t last_ref, last_instr, last_cycle;
};
/* Of the chunk last delivered by lpl_reader_next(). */
const struct lpl_chunk *lpl_reader_chunk(const struct lpl_reader *reader);

/*
 * Read no more of each chunk than is needed, which `need` decides by its header, in the order of
 * the trace.  LPL_NEED_REFS: all, and as references where steps were asked for (lpl_reader_step()).
 * LPL_NEED_EVENTS: no references are delivered of it.  LPL_NEED_NOTHING: nothing is,
 * and of a file its payload is not even read: what stands after it is reached at the price of 144
 * bytes, and what is wrong with it is not found.  Not asked about STATE chunks (docs/format.md,
 * section 11).  To be called before the first lpl_reader_next(), and not together with
 * lpl_reader_compare_hash().  `context` is not owned.
 */
enum lpl_need { LPL_NEED_ALL, LPL_NEED_REFS, LPL_NEED_EVENTS, LPL_NEED_NOTHING };
void lpl_reader_ask(struct lpl_reader *reader,
		    enum lpl_need (*need)(void *context, const struct lpl_chunk *chunk),
		    void *context);

/*
 * From now on lpl_reader_next() delivers three references, the first two and the last, for more of them
 * that are alike but for their number, clocks and address, where each of these grows by the same (modulo
 * 2^64) from every one to the next.  So a million of them take no more time than three, if they
 * are packed as that.  Not together with lpl_reader_fill().
 */
void lpl_reader_fold(struct lpl_reader *reader);
/* For how many the three that were delivered last stand; 0: all are there. */
uint64_t lpl_reader_folded(const struct lpl_reader *reader);

/*
 * References by pages of 4096 bytes, for whoever needs nothing else of them (lpl_reader_step()).
 *
 * A *pattern* is what one execution of some code does to pages: visits, in their order.  A visit is one
 * reference to a page, or several in a row, and a write if any of them is.  A *step* is one occurrence
 * of a pattern, by its number: code that does again what it did before is one step, however
 * many references it makes.
 */
#define LPL_VISIT_WALK UINT64_MAX	/* the space of what walks refer to, by physical addresses */
struct lpl_visit {
	uint64_t space;
	/*
	 * page: address / 4096; write: one of them is; reads: the first one does not write; again: so many
	 * more times come, after this visit, the one before it and it, as where a string is copied
	 */
	uint64_t page : 52, again : 10, write : 1, reads : 1;
};
struct lpl_pattern {
	uint32_t visit, visits;		/* index of its first one, and how many: at least 1 */
};
/*
 * Steps, in the order of the stream.  What numbers mean remains from one call to the next: patterns
 * are only added, each before the first step to it and in the order of these, unless they
 * are `afresh`: then these are others, and so are the visits.
 */
struct lpl_page_steps {
	const uint32_t *step;
	size_t count;			/* of steps */
	const struct lpl_pattern *pattern;
	const struct lpl_visit *visit;
	uint64_t refs;			/* so many references they stand for */
	bool afresh;
};

/*
 * From now on lpl_reader_next() delivers what is packed as blocks of code without making references of it:
 * `*refs` is NULL and `*count` is how many there are.  It takes a third of the time.  Some chunks
 * come as references all the same, which is no slower for them: such as have hardly a block twice.  To be called
 * before the first lpl_reader_next(), and neither together with lpl_reader_fill() nor with
 * lpl_reader_compare_hash(), with which it has no effect.
 */
void lpl_reader_step(struct lpl_reader *reader);
/* What was delivered last, if it was so; it stays until the next call.  NULL: as references. */
const struct lpl_page_steps *lpl_reader_stepped(const struct lpl_reader *reader);

/*
 * When the trace begins, and how far it was read: the clocks of its first record, which seconds are
 * counted from (select.h), and of the last one in the last chunk that was come to, needed or not;
 * at the end, of the last of all.  STATE chunks do not count.  false: no record was read.
 */
struct lpl_span {
	uint64_t first_ref, first_instr, first_cycle;
	uint64_t last_ref, last_instr, last_cycle;
};
bool lpl_reader_span(const struct lpl_reader *reader, struct lpl_span *span);

/*
 * From now on compare the stream's hash, where the trace has one (docs/format.md, section 10),
 * with that of what was read: a chunk with another hash is LPL_ERR_DAMAGED, and nothing of it is
 * delivered.  Not after a gap.  To be called before the first lpl_reader_next().
 */
void lpl_reader_compare_hash(struct lpl_reader *reader);

/*
 * Where the bytes of packed blocks are (docs/format.md, section 9), in the chunks read so far.
 * The parts are its columns, in that order, and the rest of the payload, before compression.
 */
#define LPL_PACKING_PARTS 8
struct lpl_packing {
	uint64_t chunks, refs;
	uint64_t stored;		/* bytes in the file */
	uint64_t plain;			/* of the payloads: the sum of the parts */
	uint64_t part[LPL_PACKING_PARTS];
	uint64_t hash;			/* of the stream, up to the end of the last chunk delivered */
};
/* "flow", "shape" ...; NULL beyond the last. */
const char *lpl_packing_part(unsigned int part);
/* false: the trace has no packed blocks, as far as it was read. */
bool lpl_reader_packing(const struct lpl_reader *reader, struct lpl_packing *packing);
/* Totals as of the last chunk read. */
const struct lpl_totals *lpl_reader_totals(const struct lpl_reader *reader);
/* Of how many segments something was read so far; 0: the trace is one file. */
uint64_t lpl_reader_segments(const struct lpl_reader *reader);
/* Did the file end with an index (true only after the end was reached)?  All segments? */
bool lpl_reader_complete(const struct lpl_reader *reader);
/*
 * Bytes consumed, and the file's size (0 for a pipe), for progress.  Of segments: what was
 * complete when the trace was opened.
 */
uint64_t lpl_reader_bytes(const struct lpl_reader *reader);
uint64_t lpl_reader_size(const struct lpl_reader *reader);
void lpl_reader_close(struct lpl_reader *reader);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
