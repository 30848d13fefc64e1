/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a trace: a sink that cuts the stream into chunks.
 *
 * Records are checked and encoded as they come.  A chunk that is complete is compressed
 * and sealed by one of several threads (base/work_queue.h), and goes to the file in its turn.
 * What is packed as runs is run_writer.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "meta.h"
#include "writer.h"

#define DEFAULT_LEVEL		3
#ifndef DEFAULT_CHUNK_REFS	/* fewer for fuzzers */
#define DEFAULT_CHUNK_REFS	65536
#endif
#define DEFAULT_RUN_CHUNK_REFS	LPL_RUN_CHUNK_REFS_MAX
#define RUN_PART		4096	/* references packed as runs between looks for room */

enum lpl_error lpl_writer_failed(const struct lpl_writer *writer, struct lpl_report *report)
{
	if (report && report->error == LPL_OK)
		*report = writer->failure;
	return writer->failure.error;
}

/*
 * Compress `size` bytes of payload behind a header.  The caller has set kind, sequence,
 * counts and clocks in it, and the version if it is not the usual one.
 */
static enum lpl_error seal(const struct lpl_writer *writer, ZSTD_CCtx *zstd,
			   struct lpl_chunk_header *header, const uint8_t *payload, size_t size,
			   uint8_t *stored, size_t room, struct lpl_report *report)
{
	uint8_t *frame = stored + LPL_CHUNK_HEADER_BYTES;
	size_t limit = header->kind == LPL_CHUNK_HEADER ? LPL_PLAIN_META_MAX : LPL_PLAIN_MAX;
	size_t frame_size;

	if (size > limit || header->sequence == UINT32_MAX)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED,
				"%s: chunk %u has %zu bytes; the format's limits are %zu bytes"
				" and %u chunks", writer->output.name,
				(unsigned int)header->sequence, size, limit, UINT32_MAX);
	frame_size = ZSTD_compress2(zstd, frame, room - LPL_CHUNK_HEADER_BYTES, payload, size);
	if (ZSTD_isError(frame_size))
		return lpl_fail(report, LPL_ERR_INTERNAL, "%s: zstd: %s", writer->output.name,
				ZSTD_getErrorName(frame_size));
	if (header->version == 0)
		header->version = LPL_FORMAT_VERSION;
	header->stored = (uint32_t)frame_size;
	header->plain = (uint32_t)size;
	header->payload_checksum = lpl_checksum(frame, frame_size);
	lpl_chunk_encode(header, stored);
	return LPL_OK;
}

/* On any thread: all of a chunk's making that needs nothing but the chunk. */
static void work(void *context, unsigned int slot)
{
	const struct lpl_writer *writer = context;
	struct lpl_packed_chunk *chunk = &writer->slot[slot];
	size_t size = chunk->header.kind == LPL_CHUNK_RUNS ? chunk->size :
		      lpl_data_encode_end(&chunk->encoder, &chunk->totals, chunk->plain);
	size_t stored = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(size);

	if (!lpl_reserve(chunk->stored, chunk->stored_room, stored))
		(void)lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for a chunk",
			       writer->output.name);
	else
		(void)seal(writer, chunk->zstd, &chunk->header, chunk->plain, size,
			   chunk->stored, chunk->stored_room, &chunk->failure);
}

/* A chunk that was sealed, into the file. */
static enum lpl_error write_chunk(struct lpl_writer *writer,
				  const struct lpl_chunk_header *header, const uint8_t *stored)
{
	struct lpl_report *failure = &writer->failure;
	uint64_t offset = writer->output.written;
	size_t size = LPL_CHUNK_HEADER_BYTES + header->stored;
	enum lpl_error error = LPL_OK;

	if (writer->ends_when_full && !writer->ending)
		error = lpl_output_reserve(&writer->output, size + lpl_writer_end_room(writer),
					   failure);
	if (error == LPL_OK)
		error = lpl_output_write(&writer->output, stored, size, failure);
	if (error != LPL_OK)
		return error;
	if (lpl_chunk_has_records(header->kind))
		writer->written = *header;
	if (header->kind != LPL_CHUNK_STATE && lpl_chunk_has_records(header->kind) &&
	    !writer->has_first) {
		writer->file.first = header->first;
		writer->has_first = true;
	}
	writer->written.sequence = header->sequence;
	if (header->kind != LPL_CHUNK_INDEX && !lpl_index_add(&writer->index, header, offset))
		return lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				writer->output.name);
	atomic_store_explicit(&writer->bytes_written,
			      writer->bytes_before + writer->output.written, memory_order_relaxed);
	atomic_store_explicit(&writer->refs_written, header->refs_so_far, memory_order_relaxed);
	return LPL_OK;
}

/* The oldest chunk that is on its way. */
static void deliver(struct lpl_writer *writer)
{
	struct lpl_packed_chunk *chunk = &writer->slot[lpl_work_queue_oldest(writer->queue)];

	if (writer->failure.error == LPL_OK && chunk->failure.error != LPL_OK)
		writer->failure = chunk->failure;
	if (writer->failure.error == LPL_OK &&
	    write_chunk(writer, &chunk->header, chunk->stored) == LPL_OK)
		writer->written_totals = chunk->totals;
	lpl_work_queue_take(writer->queue);
}

static void deliver_all(struct lpl_writer *writer)
{
	while (!lpl_work_queue_empty(writer->queue))
		deliver(writer);
}

static enum lpl_error check_totals(struct lpl_writer *writer)
{
	if (lpl_totals_agree(&writer->totals, lpl_totals_before(&writer->totals)))
		return LPL_OK;
	return lpl_fail(&writer->failure, LPL_ERR_USAGE,
			"%s: the references before reduction are not the sum of their types",
			writer->output.name);
}

/*
 * The totals as of the record whose `ref` this is: so many references were made by
 * then, for that is what the number means.  How many of each type is known only if
 * what was told is of that very moment; else it is left open rather than wrong.
 */
static struct lpl_totals totals_at(const struct lpl_writer *writer, uint64_t ref)
{
	struct lpl_totals totals = writer->totals;
	uint64_t told = lpl_totals_before(&totals);

	if (told == 0 || told == ref)
		return totals;
	totals.total = ref;
	memset(totals.refs, 0, sizeof(totals.refs));
	totals.user_refs = 0;
	return totals;
}

void lpl_writer_refuse(struct lpl_writer *writer, const struct lpl_report *cause)
{
	deliver_all(writer);
	(void)lpl_fail(&writer->failure, cause->error, "%s: cannot be written: %s",
		       writer->output.name, cause->text);
}

void lpl_writer_put_chunk(struct lpl_writer *writer)
{
	struct lpl_packed_chunk *chunk = &writer->slot[lpl_work_queue_next(writer->queue)];
	const struct lpl_data_encoder *encoder = &chunk->encoder;

	if (!lpl_packed_runs_finish(writer))
		return;
	if (encoder->refs == 0 && encoder->event_count == 0)
		return;
	if (!lpl_totals_agree(&writer->totals, lpl_totals_before(&writer->totals)))
		deliver_all(writer);
	if (check_totals(writer) != LPL_OK)
		return;
	lpl_packed_runs_count(writer);
	writer->has_records = true;
	chunk->totals = totals_at(writer, encoder->last.ref);
	if (writer->runs && !lpl_packed_runs_pack(writer, chunk))
		return;
	writer->refs_so_far += encoder->refs;
	writer->events_so_far += encoder->event_count;
	chunk->header = (struct lpl_chunk_header){
		.kind = writer->runs ? LPL_CHUNK_RUNS : LPL_CHUNK_DATA,
		.sequence = writer->sequence++,
		.refs = (uint32_t)encoder->refs, .events = (uint32_t)encoder->event_count,
		.base = encoder->base, .first = encoder->first, .last = encoder->last,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = lpl_totals_before(&chunk->totals),
	};
	lpl_work_queue_put(writer->queue);
	/* alone there is nobody to wait for */
	if (writer->jobs == 1 || lpl_work_queue_full(writer->queue))
		deliver(writer);
	writer->encoder = &writer->slot[lpl_work_queue_next(writer->queue)].encoder;
	lpl_data_encoder_follow(writer->encoder, encoder);
}

enum lpl_error lpl_writer_put_other(struct lpl_writer *writer, struct lpl_chunk_header *header,
				  const uint8_t *payload, size_t size)
{
	size_t room = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(size);
	uint8_t *stored = malloc(room);

	header->sequence = writer->sequence++;
	if (!stored)
		(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory",
			       writer->output.name);
	else if (seal(writer, writer->slot[0].zstd, header, payload, size, stored, room,
		      &writer->failure) == LPL_OK)
		(void)write_chunk(writer, header, stored);
	free(stored);
	return writer->failure.error;
}

/*
 * As of the file's end.  At the end of the trace more may have been made after the last record
 * kept, never fewer.  A file that another one follows knows no more than its last chunk; what the
 * recording has cost is told at its end.
 */
static struct lpl_totals totals_at_end(const struct lpl_writer *writer, bool last_file)
{
	uint64_t ref = writer->encoder->last.ref;
	struct lpl_totals totals = writer->totals;

	if (!last_file || lpl_totals_before(&totals) < ref)
		totals = totals_at(writer, ref);
	if (!last_file) {
		totals.wait_ns = 0;
		totals.recording = (struct lpl_accounts){ 0 };
	}
	return totals;
}

enum lpl_error lpl_writer_write_index(struct lpl_writer *writer, bool last_file)
{
	const struct lpl_clocks *last = &writer->encoder->last;
	struct lpl_totals totals = totals_at_end(writer, last_file);
	struct lpl_chunk_header header = {
		.version = lpl_index_has_accounts(&totals) ? LPL_INDEX_VERSION : 0,
		.kind = LPL_CHUNK_INDEX, .base = *last, .first = *last, .last = *last,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = lpl_totals_before(&totals),
	};
	uint8_t *payload = malloc(lpl_index_bound(&writer->index));
	uint64_t offset = writer->output.written;

	if (!payload)
		return lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				writer->output.name);
	(void)lpl_writer_put_other(writer, &header, payload,
				   lpl_index_encode(&writer->index, &totals, payload));
	free(payload);
	writer->file.index = offset;
	writer->file.checksum = header.checksum;
	writer->file.bytes = writer->output.written;
	writer->file.last = *last;
	if (!writer->has_first)
		writer->file.first = *last;
	writer->file.refs_so_far = writer->refs_so_far;
	writer->file.events_so_far = writer->events_so_far;
	return writer->failure.error;
}

enum lpl_error lpl_writer_copy_chunk(struct lpl_writer *writer,
				     const struct lpl_chunk_header *read,
				     const uint8_t *payload, struct lpl_report *report)
{
	struct lpl_data_encoder end = *writer->encoder;
	struct lpl_chunk_header header = *read;
	uint8_t *stored = malloc(LPL_CHUNK_HEADER_BYTES + header.stored);

	if (!stored)
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory", writer->output.name);
	header.sequence = writer->sequence++;
	header.refs_so_far = writer->refs_so_far += header.refs;
	header.events_so_far = writer->events_so_far += lpl_chunk_counted_events(&header);
	lpl_chunk_encode(&header, stored);
	memcpy(stored + LPL_CHUNK_HEADER_BYTES, payload, header.stored);
	if (writer->failure.error == LPL_OK)
		(void)write_chunk(writer, &header, stored);
	free(stored);
	end.last = header.last;
	lpl_data_encoder_follow(writer->encoder, &end);
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

static enum lpl_error write_header(struct lpl_writer *writer, const struct lpl_meta *meta,
				   struct lpl_report *report)
{
	const struct lpl_clocks *last = &writer->encoder->last;
	const struct lpl_totals totals = totals_at_end(writer, false);
	const bool goes_on = writer->refs_so_far > 0 || writer->events_so_far > 0;
	struct lpl_chunk_header header = {
		.version = goes_on ? LPL_SEGMENT_VERSION : 0,
		.kind = LPL_CHUNK_HEADER, .base = *last, .first = *last, .last = *last,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = goes_on ? lpl_totals_before(&totals) : 0,
	};
	size_t size = lpl_meta_size(meta);
	char *text;

	if (size > LPL_PLAIN_META_MAX)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%s: the header's text has %zu bytes, at most %zu are possible",
				writer->output.name, size, LPL_PLAIN_META_MAX);
	text = malloc(size + 1);
	if (text) {
		lpl_meta_encode(meta, text);
		(void)lpl_writer_put_other(writer, &header, (const uint8_t *)text, size);
	} else {
		(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory",
			       writer->output.name);
	}
	free(text);
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

static int take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;
	struct lpl_report cause;	/* not cleared whole: this is the hot path */

	while (count > 0 && writer->failure.error == LPL_OK) {
		size_t room = lpl_writer_room(writer);
		size_t part = count < room ? count : room;

		/* a chunk of runs may have to end early */
		if (writer->runs && part > RUN_PART)
			part = RUN_PART;

		cause.error = LPL_OK;
		if ((writer->runs ? lpl_packed_runs_find(writer->runs, refs, part, &cause) :
		     lpl_data_encode_refs(writer->encoder, refs, part, &cause)) != LPL_OK) {
			lpl_writer_refuse(writer, &cause);
			break;
		}
		if (part == room || (writer->runs && writer->runs->packer.encoder.full))
			lpl_writer_put_chunk(writer);
		refs += part;
		count -= part;
	}
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

static int take_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;
	struct lpl_report cause;

	if (writer->failure.error == LPL_OK && lpl_packed_runs_finish(writer)) {
		cause.error = LPL_OK;
		if (lpl_data_encode_event(writer->encoder, event, &cause) != LPL_OK ||
		    (writer->runs && lpl_run_packer_event(&writer->runs->packer, event,
							  &cause) != LPL_OK))
			lpl_writer_refuse(writer, &cause);
		else if (writer->keeper && writer->keeper->take(writer->keeper, event,
								&writer->failure) != LPL_OK)
			deliver_all(writer);
		else if (writer->encoder->event_count == LPL_CHUNK_EVENTS_WRITTEN)
			lpl_writer_put_chunk(writer);
	}
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

static int take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_writer_flush((struct lpl_writer *)sink, report);
}

static enum lpl_error check_options(const struct lpl_writer_options *options, int *level,
				    size_t *chunk_refs, struct lpl_report *report)
{
	bool runs = options && options->runs;
	size_t most = runs ? LPL_RUN_CHUNK_REFS_MAX : LPL_CHUNK_REFS_MAX;

	*level = options && options->level ? options->level : DEFAULT_LEVEL;
	*chunk_refs = options && options->chunk_refs ? options->chunk_refs :
		      runs ? DEFAULT_RUN_CHUNK_REFS : DEFAULT_CHUNK_REFS;
	if (*level < ZSTD_minCLevel() || *level > ZSTD_maxCLevel())
		return lpl_fail(report, LPL_ERR_USAGE,
				"compression level %d: must be from %d to %d", *level,
				ZSTD_minCLevel(), ZSTD_maxCLevel());
	if (*chunk_refs > most)
		return lpl_fail(report, LPL_ERR_USAGE,
				"%zu references a chunk: must be from 1 to %zu", *chunk_refs,
				most);
	return LPL_OK;
}

static void destroy(struct lpl_writer *writer)
{
	lpl_work_queue_free(writer->queue);	/* its threads first: they use what follows */
	for (unsigned int i = 0; writer->slot && i < lpl_work_queue_slots(writer->jobs); i++) {
		struct lpl_packed_chunk *chunk = &writer->slot[i];

		lpl_data_encoder_free(&chunk->encoder);
		ZSTD_freeCCtx(chunk->zstd);
		free(chunk->plain);
		free(chunk->stored);
	}
	free(writer->slot);
	lpl_packed_runs_free(writer->runs);
	lpl_output_discard(&writer->output);
	lpl_index_free(&writer->index);
	free(writer);
}

static bool make_packed_chunk(struct lpl_writer *writer, struct lpl_packed_chunk *chunk, int level)
{
	size_t bound;

	if (!lpl_data_encoder_init(&chunk->encoder, writer->runs ? 1 : writer->chunk_refs,
				   LPL_CHUNK_EVENTS_WRITTEN))
		return false;
	bound = lpl_data_bound(&chunk->encoder);
	chunk->zstd = ZSTD_createCCtx();
	return lpl_reserve(chunk->plain, chunk->plain_room, bound) &&
	       lpl_reserve(chunk->stored, chunk->stored_room,
			   LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(bound)) && chunk->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(chunk->zstd, ZSTD_c_compressionLevel, level));
}

/* Everything that needs memory, before there is a file to leave behind. */
static struct lpl_writer *create(int level, size_t chunk_refs, bool runs, unsigned int jobs)
{
	struct lpl_writer *writer = calloc(1, sizeof(*writer));
	bool whole;

	if (!writer)
		return NULL;
	writer->sink.refs = take_refs;
	writer->sink.event = take_event;
	writer->sink.finish = take_finish;
	writer->output.fd = -1;
	writer->chunk_refs = chunk_refs;
	whole = !runs || lpl_packed_runs_new(writer);
	writer->jobs = lpl_work_queue_jobs(jobs);
	writer->queue = lpl_work_queue_new(writer->jobs, work, writer);
	writer->slot = calloc(lpl_work_queue_slots(writer->jobs), sizeof(*writer->slot));
	whole = whole && writer->queue && writer->slot;
	for (unsigned int i = 0; whole && i < lpl_work_queue_slots(writer->jobs); i++)
		whole = make_packed_chunk(writer, &writer->slot[i], level);
	if (!whole) {
		destroy(writer);
		return NULL;
	}
	writer->encoder = &writer->slot[0].encoder;
	return writer;
}

/* All but its file. */
static enum lpl_error make(struct lpl_writer **result, const struct lpl_writer_options *options,
			   struct lpl_report *report)
{
	size_t chunk_refs;
	int level;
	enum lpl_error error = check_options(options, &level, &chunk_refs, report);

	if (error != LPL_OK)
		return error;
	/* who asks for nothing gets no threads, either */
	*result = create(level, chunk_refs, options && options->runs,
			 options && options->jobs ? options->jobs : 1);
	return *result ? LPL_OK :
			 lpl_fail(report, LPL_ERR_MEMORY, "no memory to write a trace");
}

/* From here on: to begin there has to be room. */
static void expect_full_disk(struct lpl_writer *writer, const struct lpl_writer_options *options)
{
	if (!options)
		return;
	writer->output.no_room = options->no_room;
	writer->output.context = options->context;
	writer->ends_when_full = options->ends_when_full;
}

enum lpl_error lpl_writer_open(struct lpl_writer **result, const char *path,
			       const struct lpl_meta *meta,
			       const struct lpl_writer_options *options,
			       bool overwrite, struct lpl_report *report)
{
	struct lpl_writer *writer;
	enum lpl_error error = make(&writer, options, report);

	*result = NULL;
	if (error != LPL_OK)
		return error;
	error = lpl_output_open(&writer->output, path, overwrite, report);
	if (error == LPL_OK)
		error = write_header(writer, meta, report);
	if (error != LPL_OK) {
		destroy(writer);
		return error;
	}
	expect_full_disk(writer, options);
	*result = writer;
	return LPL_OK;
}

void lpl_writer_where(const struct lpl_writer *writer, struct lpl_writer_place *place)
{
	*place = (struct lpl_writer_place){
		.last = writer->encoder->last, .space = writer->encoder->last_space,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.bytes = writer->bytes_before, .totals = writer->totals,
	};
	if (writer->runs)
		lpl_packed_runs_where(writer->runs, place);
}

enum lpl_error lpl_writer_open_at(struct lpl_writer **result, const char *path,
				  const struct lpl_meta *meta,
				  const struct lpl_writer_options *options,
				  const struct lpl_writer_place *place,
				  struct lpl_state_keeper *keeper, bool overwrite,
				  struct lpl_report *report)
{
	struct lpl_writer *writer;
	enum lpl_error error = make(&writer, options, report);

	*result = NULL;
	if (error != LPL_OK)
		return error;
	writer->encoder->last = place->last;
	writer->encoder->last_space = place->space;
	lpl_data_encoder_follow(writer->encoder, writer->encoder);
	writer->refs_so_far = place->refs_so_far;
	writer->events_so_far = place->events_so_far;
	writer->bytes_before = place->bytes;
	writer->totals = place->totals;
	writer->keeper = keeper;
	if (writer->runs)
		lpl_packed_runs_go_to(writer->runs, place);
	error = lpl_writer_next_file(writer, path, meta, overwrite, report);
	if (error != LPL_OK) {
		destroy(writer);
		return error;
	}
	expect_full_disk(writer, options);
	*result = writer;
	return LPL_OK;
}

struct lpl_sink *lpl_writer_sink(struct lpl_writer *writer)
{
	return &writer->sink;
}

void lpl_writer_totals(struct lpl_writer *writer, const struct lpl_totals *told)
{
	struct lpl_totals totals = *told;

	if (writer->runs && writer->runs->told) {	/* see run_writer.h */
		memcpy(totals.refs, writer->totals.refs, sizeof(totals.refs));
		totals.user_refs = writer->totals.user_refs;
		totals.total = writer->totals.total;
	}
	if (lpl_totals_follow(&totals, &writer->totals)) {
		writer->totals = totals;
		return;
	}
	deliver_all(writer);
	(void)lpl_fail(&writer->failure, LPL_ERR_USAGE,
		       "%s: the totals before reduction run backwards", writer->output.name);
}

size_t lpl_writer_room(const struct lpl_writer *writer)
{
	return writer->chunk_refs - (writer->runs ? writer->runs->found_in :
						     writer->encoder->refs);
}

enum lpl_error lpl_writer_flush(struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error == LPL_OK)
		lpl_writer_put_chunk(writer);
	deliver_all(writer);
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

enum lpl_error lpl_writer_sync(struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error == LPL_OK)
		(void)lpl_output_sync(&writer->output, &writer->failure);
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

bool lpl_writer_has_records(const struct lpl_writer *writer)
{
	const struct lpl_packed_runs *runs = writer->runs;

	return writer->has_records || writer->encoder->refs > 0 ||
	       writer->encoder->event_count > 0 ||
	       (runs && (runs->found_in > 0 || runs->packer.refs > 0));
}

enum lpl_error lpl_writer_end_file(struct lpl_writer *writer, bool last,
				   struct lpl_report *report)
{
	enum lpl_error error = lpl_writer_flush(writer, NULL);

	if (writer->ended)
		return lpl_writer_failed(writer, report);
	writer->ending = true;
	if (error == LPL_OK && check_totals(writer) == LPL_OK)
		(void)lpl_writer_write_index(writer, last);
	if (writer->failure.error == LPL_ERR_FULL && writer->ends_when_full)
		error = lpl_writer_end_short(writer, report);
	else if (writer->failure.error != LPL_OK)
		error = lpl_writer_failed(writer, report);
	else
		error = lpl_output_commit(&writer->output, report);
	writer->ended |= error == LPL_OK;
	return error;
}

/* It is created once there is room for that. */
static enum lpl_error create_file(struct lpl_writer *writer, const char *path, bool overwrite)
{
	const lpl_no_room no_room = writer->output.no_room;
	void *const context = writer->output.context;
	struct lpl_report failure;
	bool waited = false;
	enum lpl_error error;

	for (;;) {
		failure.error = LPL_OK;
		error = lpl_output_open(&writer->output, path, overwrite, &failure);
		writer->output.no_room = no_room;
		writer->output.context = context;
		if (error != LPL_ERR_FULL || !no_room || !no_room(context, &failure))
			break;
		waited = true;
	}
	if (error != LPL_OK)
		writer->failure = failure;
	else if (waited)
		(void)no_room(context, NULL);
	return error;
}

enum lpl_error lpl_writer_next_file(struct lpl_writer *writer, const char *path,
				    const struct lpl_meta *meta, bool overwrite,
				    struct lpl_report *report)
{
	const struct lpl_totals totals = totals_at_end(writer, false);

	writer->bytes_before += writer->file.bytes;
	writer->file = (struct lpl_segment_facts){ .number = 0 };
	writer->has_records = writer->has_first = false;
	writer->sequence = 0;
	lpl_index_free(&writer->index);
	if (writer->runs)
		lpl_packed_runs_next_file(writer->runs);
	writer->ending = writer->ended = false;
	writer->written = (struct lpl_chunk_header){
		.last = writer->encoder->last, .refs_so_far = writer->refs_so_far,
		.events_so_far = writer->events_so_far,
	};
	writer->written_totals = totals;
	if (create_file(writer, path, overwrite) != LPL_OK)
		return lpl_writer_failed(writer, report);
	if (write_header(writer, meta, &writer->failure) != LPL_OK ||
	    (writer->keeper && lpl_state_chunk_put(writer, &totals) != LPL_OK))
		return lpl_writer_failed(writer, report);
	return LPL_OK;
}

enum lpl_error lpl_writer_close(struct lpl_writer *writer, struct lpl_report *report)
{
	enum lpl_error error = lpl_writer_end_file(writer, true, report);

	destroy(writer);
	return error;
}

void lpl_writer_abandon(struct lpl_writer *writer)
{
	if (!writer)
		return;
	deliver_all(writer);
	destroy(writer);
}

uint64_t lpl_writer_bytes(const struct lpl_writer *writer)
{
	return atomic_load_explicit(&writer->bytes_written, memory_order_relaxed);
}

uint64_t lpl_writer_refs(const struct lpl_writer *writer)
{
	return atomic_load_explicit(&writer->refs_written, memory_order_relaxed);
}
