/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Saving what is whole of a damaged trace.
 *
 * Chunks need nothing of those before them (docs/format.md), so each that passes the checks of a
 * reader is copied as it stands.  Only what ties it to the others is new after a gap: sequence
 * number and counts in its header, and in a chunk of blocks the hash of the stream, which is that of
 * what is left.  The gap itself is a chunk of one event with the clocks of the last record that is
 * missing: so base clocks continue as readers expect it.
 *
 * After damage the next chunk is looked for byte by byte from after the damaged one's header: its
 * payload may be shorter than it says, and hold the beginning of the next.  What is found has a
 * header with a correct checksum, and is further on in the stream.
 *
 * Of a trace in segments one file is made.  A segment that the manifest names is accepted if its
 * end is the one that is named; one that is not named yet, or in a line that is damaged or after
 * one, if its header continues the segment before it.  All others are left out whole, for their
 * chunks may be another recording's.  What a segment has of the guest's state is of use where the
 * stream was not read up to there: after a gap it becomes part of the stream, as it does for a
 * reader.
 */
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/repair.h>

#include "base/try.h"
#include "meta.h"
#include "reader_open.h"
#include "repair_loss.h"

#define HASH_BYTES	sizeof(uint64_t)

/* ---- chunks ---- */

/* Blocks are hashed as their writer does it, for nothing else needs their references here. */
static void hash_chunk(struct lpl_repairing *repair, struct lpl_stream_hash *hash)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;

	if (chunk->header.kind == LPL_CHUNK_RUNS)
		lpl_block_hash(&chunk->blocks.decoder, hash);
	else
		lpl_loaded_chunk_hash(chunk, repair->expanded, hash);
}

/* The chunk's records are valid: do they belong after the others? */
static bool belongs(struct lpl_repairing *repair)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	const struct lpl_stream_hash saved = repair->saved, read = repair->read;
	uint64_t found;

	if (!lpl_totals_follow(&chunk->data.totals, &repair->totals)) {
		(void)lpl_chunk_damaged(chunk, chunk->header.sequence,
					"its totals run backwards");
		return false;
	}
	hash_chunk(repair, &repair->saved);
	if (!repair->unread)
		hash_chunk(repair, &repair->read);
	found = lpl_stream_hash_value(&repair->read);
	/* after a gap it is not known what it would be */
	if (chunk->header.kind != LPL_CHUNK_RUNS || repair->unread || repair->losing ||
	    found == chunk->blocks.hash)
		return true;
	repair->saved = saved;
	repair->read = read;
	(void)lpl_chunk_mismatch(chunk, chunk->header.sequence,
				 "the stream's", chunk->blocks.hash, found);
	return false;
}

/* The payload of a chunk of blocks ends with the hash of what is before it in the new file. */
static enum lpl_error renew_hash(struct lpl_repairing *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	struct lpl_chunk_header *header = &chunk->header;
	const uint64_t hash = htole64(lpl_stream_hash_value(&repair->saved));
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

/*
 * The guest's state in a segment is kept where the result is a segment, too, and is part of the
 * stream after a gap; a reader of the whole stream knows it already.  Where a chunk of it is missing, the
 * rest is of no use (reader.c).
 */
static bool is_wanted(struct lpl_repairing *repair)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;

	if (header->kind != LPL_CHUNK_STATE)
		return true;
	if (header->sequence != repair->states + 1)
		return false;
	repair->states++;
	return !repair->source.manifest || repair->stateless || repair->missed;
}

static enum lpl_error copy_chunk(struct lpl_repairing *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	struct lpl_chunk_header *header = &chunk->header;

	if (!repair->writer)
		return LPL_OK;
	if (header->kind == LPL_CHUNK_STATE && (repair->source.manifest || repair->missed))
		header->kind = LPL_CHUNK_DATA;	/* else it is the same */
	if (header->kind == LPL_CHUNK_RUNS &&
	    lpl_stream_hash_value(&repair->saved) != chunk->blocks.hash)
		LPL_TRY(renew_hash(repair, report));
	lpl_writer_totals(repair->writer, &repair->totals);
	return lpl_writer_copy_chunk(repair->writer, header, chunk->stored, report);
}

static enum lpl_error save_chunk(struct lpl_repairing *repair, struct lpl_report *report)
{
	const struct lpl_chunk_header header = repair->chunk.header;
	enum lpl_error error = LPL_OK;
	bool wanted;

	lpl_loss_end(repair, &header);
	wanted = is_wanted(repair);
	if (wanted)	/* before the totals are those of this chunk's end */
		error = lpl_loss_write_gap(repair, &header, report);
	repair->last = header;
	repair->totals = repair->chunk.data.totals;
	if (header.kind != LPL_CHUNK_STATE) {
		repair->repaired->chunks++;
		repair->repaired->refs += header.refs;
		repair->repaired->events += header.events;
	}
	return wanted && error == LPL_OK ? copy_chunk(repair, report) : error;
}

/* All is there, if nothing was lost: then the totals and accounts are those of its end. */
static enum lpl_error take_index(struct lpl_repairing *repair, struct lpl_report *report)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;
	struct lpl_totals totals;
	enum lpl_error error = LPL_OK;

	repair->repaired->had_index = repair->chunk.final;
	lpl_loss_end(repair, header);
	if (repair->chunk.final)
		error = lpl_loss_write_gap(repair, header, report);
	if (lpl_index_totals(repair->chunk.plain, header->plain,
			     header->version == LPL_INDEX_VERSION, &totals)) {
		totals.total = header->refs_before;
		if (lpl_totals_agree(&totals, header->refs_before) &&
		    lpl_totals_follow(&totals, &repair->totals))
			repair->totals = totals;
	}
	if (repair->chunk.trailed) {
		const struct lpl_loss loss = {
			.segment = repair->chunk.segment,
			.offset = repair->chunk.offset + LPL_CHUNK_HEADER_BYTES + header->stored,
			.first_chunk = KTR_NONE,
			.after_ref = header->base.ref, .after_instr = header->base.instr,
			.until_ref = header->base.ref, .until_instr = header->base.instr,
			.why = "bytes follow the index, where the file ends",
		};

		repair->loss = loss;
		repair->moved = false;
		repair->loss.bytes = repair->size ? repair->size - loss.offset : KTR_NONE;
		lpl_loss_count(repair);
	}
	return error;
}

/* The file ends here, or (of a segment) the next one is due. */
static enum lpl_error end_at_index(struct lpl_repairing *repair, struct lpl_report *report)
{
	const struct lpl_chunk_header *header = &repair->chunk.header;
	enum lpl_error error = LPL_OK;

	if (repair->chunk.failure.error == LPL_OK)
		error = take_index(repair, report);
	else
		lpl_loss_end(repair, header);
	repair->last = *header;
	if (repair->source.manifest && !repair->source.over)
		lpl_source_pass_over(&repair->source);
	else if (!repair->source.manifest)
		repair->source.all_read = true;
	return error;
}

/* ---- the file ---- */

/* Of a chunk that is damaged otherwise, or cut off. */
static bool has_whole_header(const struct lpl_repairing *repair)
{
	return repair->source.head_bytes == 0;
}

/* The header of an index says what the chunks before it were, if no more of it is left. */
static bool is_index(const struct lpl_repairing *repair)
{
	const struct lpl_loaded_chunk *chunk = &repair->chunk;

	return !repair->source.passing && has_whole_header(repair) &&
	       chunk->header.kind == LPL_CHUNK_INDEX &&
	       (chunk->failure.error == LPL_OK || chunk->failure.error == LPL_ERR_DAMAGED ||
		chunk->failure.error == LPL_ERR_TRUNCATED);
}

/* Let the next chunk be looked for from after the damaged one's header on. */
static void look_inside(struct lpl_repairing *repair)
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

/* After damage: continue with the next chunk that is whole; there may be none. */
static enum lpl_error pass_damage(struct lpl_repairing *repair, struct lpl_report *report)
{
	struct lpl_source *source = &repair->source;

	lpl_loss_begin(repair);
	if (!lpl_source_stopped(source))
		look_inside(repair);
	return lpl_source_stopped(source) ? lpl_source_find(source, report) : LPL_OK;
}

/*
 * The file ends within the chunk at hand; unless its payload is shorter than it says, and others
 * follow.
 */
static enum lpl_error end_within_chunk(struct lpl_repairing *repair, struct lpl_report *report)
{
	const bool alone = !repair->losing, has_header = has_whole_header(repair);
	const struct lpl_source *source = &repair->source;
	enum lpl_error error;

	lpl_loss_begin(repair);
	if (has_header || source->manifest) {
		error = pass_damage(repair, report);
		if (error != LPL_OK || !(source->all_read || source->over))
			return error;
	}
	lpl_loss_measure(repair, NULL);
	if (alone && has_header) {
		lpl_loss_measure_cut_off(repair);
		if (source->over)	/* what may follow continues after it */
			repair->last = repair->chunk.header;
	}
	lpl_loss_count(repair);
	return LPL_OK;
}

/* ---- segments ---- */

static void enter_segment(struct lpl_repairing *repair)
{
	repair->segment = repair->chunk.segment;
	repair->stateless = repair->missed;
	repair->missed = false;
	repair->states = 0;
	repair->last.sequence = 0;
	lpl_stream_hash_init(&repair->read);
	repair->unread = false;
}

/* Nothing says that the segment at hand is one of this trace. */
static bool is_foreign(const struct lpl_repairing *repair)
{
	const struct lpl_loaded_chunk *chunk = &repair->chunk;

	if (!repair->source.manifest || (chunk->failure.error != LPL_ERR_DAMAGED &&
					 chunk->failure.error != LPL_ERR_TRUNCATED))
		return false;
	return repair->source.passing || (!repair->source.named && chunk->offset == 0);
}

/* It is left out.  The manifest says where in the stream it is, if it names it. */
static enum lpl_error leave_out(struct lpl_repairing *repair)
{
	const struct lpl_segment_facts *facts = &repair->source.manifest->at;
	const struct lpl_chunk_header end = {
		.base = facts->last, .first = facts->last, .last = facts->last,
		.refs_so_far = facts->refs_so_far, .events_so_far = facts->events_so_far,
	};
	const bool named = repair->source.passing;

	lpl_loss_end(repair, NULL);
	lpl_loss_begin(repair);
	lpl_loss_measure(repair, named ? &end : NULL);
	repair->loss.bytes = facts->bytes;
	repair->loss.chunks = KTR_NONE;
	lpl_loss_count(repair);
	if (named) {
		repair->last = end;
		repair->repaired->had_index |= lpl_manifest_is_over(repair->source.manifest);
	}
	lpl_source_pass_over(&repair->source);
	return LPL_OK;
}

/* The next chunk; false: there is none. */
static bool read_chunk(struct lpl_repairing *repair)
{
	struct lpl_source *source = &repair->source;

	while (!source->all_read) {
		if (lpl_source_read(source, &repair->chunk))
			return true;
		/* a segment that is not named yet has no index, and may be followed even so */
		if (source->manifest && source->fd >= 0)
			lpl_source_pass_over(source);
	}
	return false;
}

/* ---- the whole ---- */

static bool has_magic(const struct lpl_source *source)
{
	return memcmp(source->head, lpl_chunk_magic, LPL_CHUNK_MAGIC_BYTES) == 0;
}

static enum lpl_error take_chunk(struct lpl_repairing *repair, struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	const struct lpl_report *failure = &chunk->failure;

	if (is_foreign(repair))
		return leave_out(repair);
	lpl_loaded_chunk_decode(chunk);
	if (is_index(repair))
		return end_at_index(repair, report);
	if (failure->error == LPL_OK && chunk->header.kind == LPL_CHUNK_HEADER) {
		lpl_loss_end(repair, &chunk->header);	/* a segment's, which says where it is */
		repair->last = chunk->header;
		return LPL_OK;
	}
	if (failure->error == LPL_OK && belongs(repair))
		return save_chunk(repair, report);
	if (failure->error == LPL_ERR_DAMAGED)
		return pass_damage(repair, report);
	if (failure->error == LPL_ERR_TRUNCATED)
		return end_within_chunk(repair, report);
	*report = *failure;
	return report->error;
}

/* All chunks after the header, in all files. */
static enum lpl_error copy_chunks(struct lpl_repairing *repair, struct lpl_report *report)
{
	const struct lpl_repair_options *options = repair->options;

	while (read_chunk(repair)) {
		if (repair->chunk.segment != repair->segment)
			enter_segment(repair);
		LPL_TRY(take_chunk(repair, report));
		if (options->progress)
			options->progress(options->context,
					  repair->chunk.before + repair->source.position,
					  repair->size);
	}
	lpl_loss_end(repair, NULL);
	return lpl_loss_write_gap(repair, NULL, report);
}

/* Where only the header of a segment is lost: what it said stands in what follows. */
static void begin_where_found(struct lpl_repairing *repair)
{
	if (repair->source.sequence != 1)
		return;
	repair->last = repair->source.before;
	repair->loss.after_ref = repair->last.last.ref;
	repair->loss.after_instr = repair->last.last.instr;
}

/* What the trace is; where that is lost, it may be anything, and is exact for nothing. */
static enum lpl_error read_header(struct lpl_repairing *repair, struct lpl_meta *meta,
				  struct lpl_report *report)
{
	struct lpl_loaded_chunk *chunk = &repair->chunk;
	struct lpl_report *failure = &chunk->failure;
	bool foreign;
	enum lpl_error error;

	(void)lpl_source_read(&repair->source, chunk);
	foreign = failure->error == LPL_ERR_FORMAT && !has_magic(&repair->source);
	lpl_loaded_chunk_decode(chunk);
	if (failure->error == LPL_OK) {
		repair->last = chunk->header;
		repair->totals.total = chunk->header.refs_before;
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
	begin_where_found(repair);
	if (error == LPL_OK && (lpl_meta_set(meta, LPL_META_REDUCTION, "unknown") != LPL_OK ||
				lpl_meta_set(meta, LPL_META_EXACT, "nothing") != LPL_OK))
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	return error;
}

/* A manifest that has lost its first line does not say what the trace is; its segments do. */
static enum lpl_error read_first_header(struct lpl_manifest *m, struct lpl_report *report)
{
	struct lpl_reader *reader;
	char name[LPL_NAME_SIZE];
	uint64_t bytes;
	const int fd = lpl_manifest_find(m, 1, name, &bytes);

	if (fd < 0)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: is of no use any more, and %s is not"
				" there or empty; repair the others one by one", m->name, name);
	if (lpl_reader_open_fd(&reader, fd, true, name, report) != LPL_OK)
		return report->error;
	lpl_meta_free(m->meta);
	m->meta = lpl_meta_copy(lpl_reader_meta(reader));
	lpl_reader_close(reader);
	if (!m->meta)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to repair a trace");
	lpl_meta_remove(m->meta, LPL_META_SEGMENT);
	return LPL_OK;
}

static enum lpl_error open_source(struct lpl_repairing *repair, const char *path,
				  struct lpl_report *report)
{
	struct lpl_source *source = &repair->source;
	bool standard = strcmp(path, "-") == 0;
	int fd;

	repair->expanded = malloc(LPL_EXPANDED_REFS * sizeof(*repair->expanded));
	if (!repair->expanded || !lpl_loaded_chunk_init(&repair->chunk))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to repair a trace");
	lpl_short_name(source->name, standard ? "(standard input)" : path);
	fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened", source->name);
	lpl_source_take(source, fd);
	repair->size = source->limit;
	if (!standard && lpl_is_manifest_file(fd)) {
		source->fd = -1;
		source->over = true;	/* the first segment is due */
		if (lpl_manifest_open(&source->manifest, fd, path, &repair->repaired->manifest, report) != LPL_OK)
			return report->error;
		repair->size = source->manifest->bytes;
		if (lpl_meta_count(source->manifest->meta) == 0)
			return read_first_header(source->manifest, report);
	}
	return LPL_OK;
}

/* The new file begins where the old one does, so what is made of a segment is one. */
static enum lpl_error open_writer(struct lpl_repairing *repair, const struct lpl_meta *meta,
				  struct lpl_report *report)
{
	const struct lpl_repair_options *options = repair->options;
	const struct lpl_writer_place place = {
		.last = repair->last.last, .refs_so_far = repair->last.refs_so_far,
		.events_so_far = repair->last.events_so_far, .totals = repair->totals,
	};

	return options->output ? lpl_writer_open_at(&repair->writer, options->output, meta, NULL,
						    &place, NULL, options->overwrite, report) :
				 LPL_OK;
}

static enum lpl_error close_writer(struct lpl_repairing *repair, struct lpl_report *report)
{
	struct lpl_writer *writer = repair->writer;

	repair->writer = NULL;
	if (!writer)
		return LPL_OK;
	lpl_writer_totals(writer, &repair->totals);
	return lpl_writer_close(writer, report);
}

static enum lpl_error repair_all(struct lpl_repairing *repair, const char *path,
				 struct lpl_meta *meta, struct lpl_report *report)
{
	LPL_TRY(open_source(repair, path, report));
	if (!repair->source.manifest)
		LPL_TRY(read_header(repair, meta, report));
	LPL_TRY(open_writer(repair, repair->source.manifest ? repair->source.manifest->meta : meta,
			    report));
	LPL_TRY(copy_chunks(repair, report));
	return close_writer(repair, report);
}

enum lpl_error lpl_repair(const char *path, const struct lpl_repair_options *options,
			  struct lpl_repaired *repaired, struct lpl_report *report)
{
	struct lpl_repairing *repair = calloc(1, sizeof(*repair));
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_report failure = { .error = LPL_OK };
	enum lpl_error error;

	memset(repaired, 0, sizeof(*repaired));
	if (!repair || !meta) {
		free(repair);
		lpl_meta_free(meta);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	}
	repair->options = options;
	repair->repaired = repaired;
	repair->source.fd = -1;
	lpl_stream_hash_init(&repair->saved);
	lpl_stream_hash_init(&repair->read);
	error = repair_all(repair, path, meta, &failure);
	if (error != LPL_OK && report && report->error == LPL_OK)
		*report = failure;
	lpl_writer_abandon(repair->writer);
	lpl_meta_free(meta);
	lpl_loaded_chunk_free(&repair->chunk);
	if (repair->source.fd > STDIN_FILENO)
		(void)close(repair->source.fd);
	lpl_manifest_close(repair->source.manifest);
	free(repair->expanded);
	free(repair);
	return error;
}
