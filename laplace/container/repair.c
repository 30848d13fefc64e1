/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Saving what is whole of a damaged trace.
 *
 * Chunks need nothing of those before them (docs/format.md), so each that passes the checks of a
 * reader is copied as it stands.  Only what ties it to the others is new behind a gap: sequence
 * number and counts in its header, and in a chunk of runs the hash of the stream, which is that of
 * what is left.  The gap itself is a chunk of one event, whose clocks are those of the last record
 * that is missing: so base clocks go on as every reader wants it.
 *
 * After damage the next chunk is looked for byte by byte from behind the damaged one's header: its
 * payload may be shorter than it says, and hold the beginning of the next.  What is found has a
 * header whose checksum is right and which stands further on in the stream.
 */
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/repair.h>

#include "codec/run_decode.h"
#include "codec/stream_hash.h"
#include "manifest.h"
#include "meta.h"
#include "source.h"
#include "writer.h"

#define HASH_BYTES	sizeof(uint64_t)
#define EXPANDED_REFS	(4 * LPL_RUN_REFS_MAX)

struct repair {
	const struct lpl_repair_options *options;
	struct lpl_repaired *repaired;
	struct lpl_source source;
	uint64_t size;			/* of the file, 0 when not known */
	struct lpl_loaded_chunk chunk;	/* at hand */
	struct lpl_writer *writer;	/* NULL: only find out */
	struct lpl_chunk_header last;	/* of the last chunk that was saved, as it was read */
	struct lpl_totals totals;	/* as of its end */
	struct lpl_ref *expanded;	/* owned: references of runs */
	struct lpl_stream_hash hash;	/* of all that was saved */
	bool gaps;			/* the stream's hash is not the writer's any more */
	bool losing;			/* just now: the rest tells of that */
	struct lpl_loss loss;
	struct lpl_report why;
};

/* ---- losses ---- */

/* The chunk at hand cannot be used. */
static void begin_loss(struct repair *repair)
{
	if (repair->losing)
		return;
	repair->losing = true;
	repair->why = repair->chunk.failure;
	repair->loss = (struct lpl_loss){
		.offset = repair->chunk.offset,
		.first_chunk = repair->chunk.offset == 0 ? 0 : repair->last.sequence + UINT64_C(1),
		.after_ref = repair->last.last.ref, .after_instr = repair->last.last.instr,
	};
}

/* It ends before a chunk with this header; NULL: before the end of the file. */
static void measure_loss(struct repair *repair, const struct lpl_chunk_header *next)
{
	const struct lpl_chunk_header *last = &repair->last;
	struct lpl_loss *loss = &repair->loss;

	loss->why = repair->why.text;
	loss->bytes = (next ? repair->chunk.offset : repair->source.position) - loss->offset;
	loss->chunks = loss->refs = loss->events = KTR_NONE;
	loss->until_ref = loss->until_instr = KTR_NONE;
	if (!next)
		return;
	loss->chunks = next->sequence - loss->first_chunk;
	loss->refs = next->refs_so_far - next->refs - last->refs_so_far;
	loss->events = next->events_so_far - next->events - last->events_so_far;
	loss->until_ref = next->base.ref;
	loss->until_instr = next->base.instr;
}

/* The file ends within a chunk whose header is there: that one is missing, if not more. */
static void measure_cut_off_chunk(struct repair *repair)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;
	struct lpl_loss *loss = &repair->loss;

	loss->chunks = 1;
	loss->refs = header->refs;
	loss->events = header->events;
	loss->until_ref = header->last.ref;
	loss->until_instr = header->last.instr;
}

static void count_loss(struct repair *repair)
{
	struct lpl_repaired *repaired = repair->repaired;
	const struct lpl_loss *loss = &repair->loss;

	repaired->losses++;
	if (loss->refs == KTR_NONE) {
		repaired->lost_more = true;
	} else {
		repaired->lost_refs += loss->refs;
		repaired->lost_events += loss->events;
	}
	if (repair->options->lost)
		repair->options->lost(repair->options->context, loss);
	repair->losing = false;
	repair->gaps = true;
}

/*
 * How many references there were by then, where that is told: between what the chunks around it
 * tell, for no number may run backwards.  Of which types they were is known no more.
 */
static struct lpl_totals totals_at_gap(const struct repair *repair,
				       const struct lpl_chunk_header *next)
{
	struct lpl_totals totals = repair->totals;
	uint64_t before = lpl_totals_before(&totals), there;

	if (!next)
		return totals;
	there = next->base.ref < next->refs_before ? next->base.ref : next->refs_before;
	if (there <= before)
		return totals;
	totals.total = there;
	memset(totals.refs, 0, sizeof(totals.refs));
	totals.user_refs = 0;
	return totals;
}

/* The new file tells of it, by an event with the clocks of the last record that is missing. */
static enum lpl_error write_gap(struct repair *repair, const struct lpl_chunk_header *next,
				struct lpl_report *report)
{
	const struct lpl_clocks *at = next ? &next->base : &repair->last.last;
	const struct lpl_totals totals = totals_at_gap(repair, next);
	const struct lpl_event gap = {
		.tag = LPL_EVENT_GAP, .ref = at->ref, .instr = at->instr, .cycle = at->cycle,
		.arg = { [LPL_EVENT_GAP_REFERENCES] = repair->loss.refs,
			 [LPL_EVENT_GAP_EVENTS] = repair->loss.events }
	};
	/* of a header, say, the stream misses nothing */
	bool nothing = repair->loss.refs == 0 && repair->loss.events == 0;

	if (!repair->writer || nothing)
		return LPL_OK;
	return lpl_writer_write_gap(repair->writer, &gap, &totals) == LPL_OK ? LPL_OK :
	       lpl_writer_failed(repair->writer, report);
}

static enum lpl_error end_loss(struct repair *repair, const struct lpl_chunk_header *next,
			       struct lpl_report *report)
{
	if (!repair->losing)
		return LPL_OK;
	measure_loss(repair, next);
	count_loss(repair);
	return write_gap(repair, next, report);
}

/* ---- chunks ---- */

static void hash_records(struct repair *repair)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	const uint64_t refs = chunk->header.refs;
	struct lpl_run_cursor cursor;
	uint64_t done = 0;

	if (chunk->header.kind != LPL_CHUNK_RUNS) {
		lpl_stream_hash_refs(&repair->hash, chunk->data.refs, chunk->data.ref_count);
		return;
	}
	lpl_run_cursor_begin(&cursor, &chunk->runs.decoder);
	while (done < refs) {
		size_t count = lpl_run_cursor_next(&cursor, &chunk->runs.decoder, refs,
						   repair->expanded, EXPANDED_REFS);

		lpl_stream_hash_refs(&repair->hash, repair->expanded, count);
		done += count;
	}
}

/* A chunk whose records are possible ones: do they belong behind the others? */
static bool belongs(struct repair *repair)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	const struct lpl_stream_hash before = repair->hash;
	uint64_t found;

	if (!lpl_totals_follow(&chunk->data.totals, &repair->totals)) {
		(void)lpl_chunk_damaged(chunk, chunk->header.sequence,
					"its totals run backwards");
		return false;
	}
	hash_records(repair);
	found = lpl_stream_hash_value(&repair->hash);
	/* behind a gap nobody can tell what it would be */
	if (chunk->header.kind != LPL_CHUNK_RUNS || repair->gaps || repair->losing ||
	    found == chunk->runs.hash)
		return true;
	repair->hash = before;
	(void)lpl_chunk_mismatch(chunk, chunk->header.sequence,
				 "the stream's", chunk->runs.hash, found);
	return false;
}

/* The payload of a chunk of runs ends with the hash of what is before it in the new file. */
static enum lpl_error renew_hash(struct repair *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	struct lpl_chunk_header *header = &chunk->header;
	const uint64_t hash = htole64(lpl_stream_hash_value(&repair->hash));
	const size_t room = ZSTD_compressBound(header->plain);
	uint8_t *frame = malloc(room);
	size_t size;

	if (!frame)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a chunk");
	memcpy(chunk->plain + header->plain - HASH_BYTES, &hash, HASH_BYTES);
	size = ZSTD_compress(frame, room, chunk->plain, header->plain, ZSTD_CLEVEL_DEFAULT);
	if (ZSTD_isError(size)) {
		free(frame);
		return lpl_fail(report, LPL_ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(size));
	}
	free(chunk->stored);
	chunk->stored = frame;
	chunk->stored_room = room;
	header->stored = (uint32_t)size;
	header->payload_checksum = lpl_checksum(frame, size);
	return LPL_OK;
}

static enum lpl_error save_chunk(struct repair *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	const struct lpl_chunk_header header = chunk->header;
	enum lpl_error error = end_loss(repair, &header, report);

	repair->last = header;
	repair->totals = chunk->data.totals;
	repair->repaired->chunks++;
	repair->repaired->refs += header.refs;
	repair->repaired->events += header.events;
	if (error != LPL_OK || !repair->writer)
		return error;
	if (repair->gaps && header.kind == LPL_CHUNK_RUNS)
		error = renew_hash(repair, report);
	if (error == LPL_OK)
		lpl_writer_totals(repair->writer, &repair->totals);
	return error ? error : lpl_writer_copy_chunk(repair->writer, &chunk->header, chunk->stored,
						     report);
}

/* All is there, if nothing was lost: then the totals and accounts are those of its end. */
static enum lpl_error take_index(struct repair *repair, struct lpl_report *report)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;
	struct lpl_totals totals;
	enum lpl_error error;

	repair->repaired->had_index = true;
	if (lpl_index_totals(repair->chunk.plain, header->plain,
			     header->version == LPL_INDEX_VERSION, &totals)) {
		totals.total = header->refs_before;
		if (lpl_totals_agree(&totals, header->refs_before) &&
		    lpl_totals_follow(&totals, &repair->totals))
			repair->totals = totals;
	}
	error = end_loss(repair, header, report);
	if (error == LPL_OK && repair->chunk.trailed) {
		const struct lpl_loss loss = {
			.offset = repair->chunk.offset + LPL_CHUNK_HEADER_BYTES + header->stored,
			.first_chunk = KTR_NONE,
			.after_ref = header->base.ref, .after_instr = header->base.instr,
			.until_ref = header->base.ref, .until_instr = header->base.instr,
			.why = "bytes follow the index, where the file ends",
		};

		repair->loss = loss;
		repair->loss.bytes = repair->size ? repair->size - loss.offset : KTR_NONE;
		count_loss(repair);
	}
	return error;
}

/* ---- the file ---- */

/* Of a chunk that is damaged otherwise, or cut off. */
static bool has_whole_header(const struct repair *repair)
{
	return repair->source.head_bytes == 0;
}

/* What the chunks were that precede an index its header tells, if no more is left of it. */
static bool is_index(const struct repair *repair)
{
	const struct lpl_loaded_chunk *chunk = &repair->chunk;

	return has_whole_header(repair) && chunk->header.kind == LPL_CHUNK_INDEX &&
	       (chunk->failure.error == LPL_OK || chunk->failure.error == LPL_ERR_DAMAGED ||
		chunk->failure.error == LPL_ERR_TRUNCATED);
}

/* Let the next chunk be looked for from behind the damaged one's header on. */
static void look_inside(struct repair *repair)
{
	struct lpl_source *source = &repair->source;
	const uint64_t at = repair->chunk.offset + LPL_CHUNK_HEADER_BYTES;

	if (!source->regular || lseek(source->fd, (off_t)at, SEEK_SET) < 0)
		return;
	/* a byte that begins no chunk stands for what was looked at */
	source->position = at;
	source->head[0] = 0;
	source->head_bytes = 1;
	source->all_read = true;
}

/* Behind damage: go on with the next chunk that is whole; there may be none. */
static enum lpl_error pass_damage(struct repair *repair, struct lpl_report *report)
{
	struct lpl_source *source = &repair->source;

	begin_loss(repair);
	if (!lpl_source_stopped(source))
		look_inside(repair);
	return lpl_source_stopped(source) ? lpl_source_find(source, report) : LPL_OK;
}

/*
 * The file ends within the chunk at hand; unless its payload is shorter than it says, and others
 * follow.
 */
static enum lpl_error end_within_chunk(struct repair *repair, struct lpl_report *report)
{
	const bool alone = !repair->losing, has_header = has_whole_header(repair);
	enum lpl_error error;

	begin_loss(repair);
	if (has_header) {
		error = pass_damage(repair, report);
		if (error != LPL_OK || !repair->source.all_read)
			return error;
	}
	measure_loss(repair, NULL);
	if (alone && has_header)
		measure_cut_off_chunk(repair);
	count_loss(repair);
	return write_gap(repair, NULL, report);
}

static bool has_magic(const struct lpl_source *source)
{
	return memcmp(source->head, lpl_chunk_magic, LPL_CHUNK_MAGIC_BYTES) == 0;
}

/* All chunks behind the header. */
static enum lpl_error copy_chunks(struct repair *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	enum lpl_error error = LPL_OK;

	while (error == LPL_OK && !repair->source.all_read &&
	       lpl_source_read(&repair->source, chunk)) {
		lpl_loaded_chunk_decode(chunk);
		if (is_index(repair))
			return chunk->failure.error == LPL_OK ? take_index(repair, report) :
			       end_loss(repair, &chunk->header, report);
		if (chunk->failure.error == LPL_OK && belongs(repair))
			error = save_chunk(repair, report);
		else if (chunk->failure.error == LPL_ERR_DAMAGED)
			error = pass_damage(repair, report);
		else if (chunk->failure.error == LPL_ERR_TRUNCATED)
			error = end_within_chunk(repair, report);
		else if (chunk->failure.error != LPL_OK)
			*report = chunk->failure;
		if (report->error != LPL_OK)
			return report->error;
		if (repair->options->progress)
			repair->options->progress(repair->options->context,
						  repair->source.position, repair->size);
	}
	return error ? error : end_loss(repair, NULL, report);
}

/* What the trace is; where that is lost, it may be anything, and is exact for nothing. */
static enum lpl_error read_header(struct repair *repair, struct lpl_meta *meta,
				  struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	struct lpl_report *failure = &chunk->failure;
	bool foreign;
	enum lpl_error error;

	(void)lpl_source_read(&repair->source, chunk);
	if (failure->error != LPL_OK &&
	    lpl_is_manifest((const char *)repair->source.head, repair->source.head_bytes))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: names segments, and is no trace "
				"that could be repaired", repair->source.name);
	foreign = failure->error == LPL_ERR_FORMAT && !has_magic(&repair->source);
	lpl_loaded_chunk_decode(chunk);
	if (failure->error == LPL_OK && chunk->header.version == LPL_SEGMENT_VERSION)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: is a segment that another one "
				"precedes; such are not repaired", repair->source.name);
	if (failure->error == LPL_OK) {
		repair->last = chunk->header;
		error = lpl_meta_decode(meta, (const char *)chunk->plain, chunk->header.plain);
		return error == LPL_OK ? LPL_OK :
		       lpl_fail(report, error, "%s: its header does not consist of key=value lines",
				repair->source.name);
	}
	if (failure->error != LPL_ERR_DAMAGED && !foreign) {
		*report = *failure;
		return report->error;
	}
	error = pass_damage(repair, report);
	if (error == LPL_OK && repair->source.all_read) {	/* nothing was found */
		*report = *failure;
		return report->error;
	}
	if (error == LPL_OK && (lpl_meta_set(meta, LPL_META_REDUCTION, "unknown") != LPL_OK ||
				lpl_meta_set(meta, LPL_META_EXACT, "nothing") != LPL_OK))
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	return error;
}

static enum lpl_error open_source(struct repair *repair, const char *path,
				  struct lpl_report *report)
{
	bool standard = strcmp(path, "-") == 0;
	struct stat status;

	lpl_short_name(repair->source.name, standard ? "(standard input)" : path);
	repair->source.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (repair->source.fd < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened", repair->source.name);
	if (fstat(repair->source.fd, &status) == 0 && S_ISREG(status.st_mode)) {
		repair->source.regular = true;
		repair->size = (uint64_t)status.st_size;
	}
	repair->expanded = malloc(EXPANDED_REFS * sizeof(*repair->expanded));
	if (!repair->expanded || !lpl_loaded_chunk_init(&repair->chunk))
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it",
				repair->source.name);
	return LPL_OK;
}

static enum lpl_error close_writer(struct repair *repair, struct lpl_report *report)
{
	struct lpl_writer *writer = repair->writer;

	repair->writer = NULL;
	if (!writer)
		return LPL_OK;
	lpl_writer_totals(writer, &repair->totals);
	return lpl_writer_close(writer, report);
}

/*
 * One file.  What names several that are one trace would be known here, by what it begins with, and
 * each of them repaired as this one is.
 */
enum lpl_error lpl_repair(const char *path, const struct lpl_repair_options *options,
			  struct lpl_repaired *repaired, struct lpl_report *report)
{
	struct repair *repair = calloc(1, sizeof(*repair));
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_report failure = { .error = LPL_OK };
	enum lpl_error error = LPL_OK;

	memset(repaired, 0, sizeof(*repaired));
	if (!repair || !meta) {
		free(repair);
		lpl_meta_free(meta);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	}
	repair->options = options;
	repair->repaired = repaired;
	repair->source.fd = -1;
	lpl_stream_hash_init(&repair->hash);
	error = open_source(repair, path, &failure);
	if (error == LPL_OK)
		error = read_header(repair, meta, &failure);
	if (error == LPL_OK && options->output)
		error = lpl_writer_open(&repair->writer, options->output, meta, NULL,
					options->overwrite, &failure);
	if (error == LPL_OK)
		error = copy_chunks(repair, &failure);
	if (error == LPL_OK)
		error = close_writer(repair, &failure);
	if (error != LPL_OK && report && report->error == LPL_OK)
		*report = failure;
	lpl_writer_abandon(repair->writer);
	lpl_meta_free(meta);
	lpl_loaded_chunk_free(&repair->chunk);
	if (repair->source.fd > STDIN_FILENO)
		(void)close(repair->source.fd);
	free(repair->expanded);
	free(repair);
	return error;
}
