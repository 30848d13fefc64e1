/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a trace: a sink that cuts the stream into chunks.
 *
 * Records are checked and encoded as they are sent.  A chunk that is complete is put into a queue
 * for several threads (base/work_queue.h); how it gets into the file from there is
 * writer_chunk.c's, what else a file has is writer_file.c's.  Two kinds of chunks differ only in
 * their encoder (chunk_encoder.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "writer.h"

#define DEFAULT_LEVEL		3
#ifndef DEFAULT_CHUNK_REFS	/* fewer for fuzzers */
#define DEFAULT_CHUNK_REFS	65536
#endif
#define DEFAULT_BLOCK_CHUNK_REFS	LPL_BLOCK_CHUNK_REFS_MAX

enum lpl_error lpl_writer_failed(const struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error != LPL_OK && report && report->error == LPL_OK)
		*report = writer->failure;
	return writer->failure.error;
}

enum lpl_error lpl_writer_check_totals(struct lpl_writer *writer)
{
	if (lpl_totals_agree(&writer->totals, lpl_totals_before(&writer->totals)))
		return LPL_OK;
	lpl_writer_deliver_all(writer);
	return lpl_fail(&writer->failure, LPL_ERR_USAGE,
			"%s: the references before reduction are not the sum of their types",
			writer->output.name);
}

/*
 * So many references were made by then, for that is what `ref` means.  How many of each type is
 * known only if the totals are of that very moment; else it is left open rather than wrong.
 */
struct lpl_totals lpl_writer_totals_at(const struct lpl_writer *writer, uint64_t ref)
{
	struct lpl_totals totals = writer->totals;
	uint64_t before = lpl_totals_before(&totals);

	if (before == 0 || before == ref)
		return totals;
	totals.total = ref;
	memset(totals.refs, 0, sizeof(totals.refs));
	totals.user_refs = 0;
	return totals;
}

void lpl_writer_refuse(struct lpl_writer *writer, const struct lpl_report *cause)
{
	lpl_writer_deliver_all(writer);
	(void)lpl_fail(&writer->failure, cause->error, "%s: cannot be written: %s",
		       writer->output.name, cause->text);
}

/* All references that were taken are in the chunk.  false: it failed. */
static bool settle(struct lpl_writer *writer)
{
	struct lpl_chunk_encoder *chunks = writer->chunks;
	struct lpl_report cause;	/* not cleared whole: each block of the log may end here */

	cause.error = LPL_OK;
	if (chunks->how->settle(chunks, writer->encoder, &cause) == LPL_OK)
		return true;
	lpl_writer_refuse(writer, &cause);
	return false;
}

void lpl_writer_put_chunk(struct lpl_writer *writer)
{
	struct lpl_packed_chunk *chunk = &writer->slot[lpl_work_queue_next(writer->queue)];
	struct lpl_chunk_payload *payload = &chunk->payload;
	const struct lpl_data_encoder *encoder = &payload->records;
	struct lpl_chunk_encoder *chunks = writer->chunks;

	assert(writer->encoder == encoder);	/* the next slot's */
	if (!settle(writer))
		return;
	if (encoder->refs == 0 && encoder->event_count == 0)
		return;
	if (lpl_writer_check_totals(writer) != LPL_OK)
		return;
	if (chunks->counts)
		chunks->how->count(chunks, &writer->totals);
	writer->has_records = true;
	payload->totals = lpl_writer_totals_at(writer, encoder->last.ref);
	if (!chunks->how->end(chunks, payload)) {
		(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory for a chunk",
			       writer->output.name);
		return;
	}
	/* records that run backwards were refused when they were taken */
	assert(lpl_clocks_ordered(&encoder->base, &encoder->first) &&
	       lpl_clocks_ordered(&encoder->first, &encoder->last));
	/* it may be more than chunk_refs: a block is whole in its chunk, however small */
	assert(encoder->refs <= UINT32_MAX);
	assert(encoder->event_count <= LPL_CHUNK_EVENTS_WRITTEN);
	writer->refs_so_far += encoder->refs;
	writer->events_so_far += encoder->event_count;
	chunk->header = (struct lpl_chunk_header){
		.kind = (uint16_t)chunks->how->kind,
		.sequence = writer->sequence++,
		.refs = (uint32_t)encoder->refs, .events = (uint32_t)encoder->event_count,
		.base = encoder->base, .first = encoder->first, .last = encoder->last,
		.refs_so_far = writer->refs_so_far, .events_so_far = writer->events_so_far,
		.refs_before = lpl_totals_before(&payload->totals),
	};
	lpl_work_queue_put(writer->queue);
	/* alone there is no other thread to wait for */
	if (writer->jobs == 1 || lpl_work_queue_full(writer->queue))
		lpl_writer_deliver(writer);
	writer->encoder = &writer->slot[lpl_work_queue_next(writer->queue)].payload.records;
	lpl_data_encoder_follow(writer->encoder, encoder);
}

/* Take the first of these references, as many as the chunk has room for; returns how many. */
static size_t take_part(struct lpl_writer *writer, const struct lpl_ref *refs, size_t count)
{
	struct lpl_chunk_encoder *chunks = writer->chunks;
	const struct lpl_chunk_encoding *how = chunks->how;
	const size_t room = how->room(chunks, writer->encoder);
	const size_t most = room < how->part ? room : how->part;
	const size_t part = count < most ? count : most;
	struct lpl_report cause;	/* not cleared whole: this is the hot path */

	assert(part > 0);	/* a chunk that is full has ended */
	cause.error = LPL_OK;
	if (how->refs(chunks, writer->encoder, refs, part, &cause) != LPL_OK)
		lpl_writer_refuse(writer, &cause);
	else if (how->is_full(chunks, writer->encoder))
		lpl_writer_put_chunk(writer);
	return part;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;

	while (count > 0 && writer->failure.error == LPL_OK) {
		const size_t part = take_part(writer, refs, count);

		refs += part;
		count -= part;
	}
	return lpl_writer_failed(writer, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_writer *writer = (struct lpl_writer *)sink;
	struct lpl_chunk_encoder *chunks = writer->chunks;
	struct lpl_report cause;

	if (writer->failure.error == LPL_OK && settle(writer)) {
		assert(writer->encoder->event_count < LPL_CHUNK_EVENTS_WRITTEN);
		cause.error = LPL_OK;
		if (chunks->how->event(chunks, writer->encoder, event, &cause) != LPL_OK)
			lpl_writer_refuse(writer, &cause);
		else if (writer->keeper && writer->keeper->take(writer->keeper, event,
								&writer->failure) != LPL_OK)
			lpl_writer_deliver_all(writer);
		else if (writer->encoder->event_count == LPL_CHUNK_EVENTS_WRITTEN)
			lpl_writer_put_chunk(writer);
	}
	return lpl_writer_failed(writer, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_writer_flush((struct lpl_writer *)sink, report);
}

static enum lpl_error check_options(const struct lpl_writer_options *options, int *level,
				    size_t *chunk_refs, struct lpl_report *report)
{
	bool blocks = options && options->blocks;
	size_t most = blocks ? LPL_BLOCK_CHUNK_REFS_MAX : LPL_CHUNK_REFS_MAX;

	*level = options && options->level ? options->level : DEFAULT_LEVEL;
	*chunk_refs = options && options->chunk_refs ? options->chunk_refs :
		      blocks ? DEFAULT_BLOCK_CHUNK_REFS : DEFAULT_CHUNK_REFS;
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

		lpl_data_encoder_free(&chunk->payload.records);
		ZSTD_freeCCtx(chunk->zstd);
		free(chunk->payload.plain);
		free(chunk->stored);
	}
	free(writer->slot);
	if (writer->chunks)
		writer->chunks->how->free(writer->chunks);
	lpl_output_discard(&writer->output);
	lpl_index_free(&writer->index);
	free(writer);
}

static bool make_packed_chunk(struct lpl_writer *writer, struct lpl_packed_chunk *chunk, int level)
{
	const size_t columns = writer->chunks->how->columns;
	struct lpl_chunk_payload *payload = &chunk->payload;
	size_t bound;

	if (!lpl_data_encoder_init(&payload->records,
				   columns > 0 ? columns : writer->chunks->chunk_refs,
				   LPL_CHUNK_EVENTS_WRITTEN))
		return false;
	bound = lpl_data_bound(&payload->records);
	chunk->zstd = ZSTD_createCCtx();
	return lpl_reserve(payload->plain, payload->room, bound) &&
	       lpl_reserve(chunk->stored, chunk->stored_room,
			   LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(bound)) && chunk->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(chunk->zstd, ZSTD_c_compressionLevel, level));
}

/* Everything that needs memory, before there is a file that would be left over. */
static struct lpl_writer *create(int level, size_t chunk_refs, bool blocks, unsigned int jobs)
{
	struct lpl_writer *writer = calloc(1, sizeof(*writer));
	bool whole;

	if (!writer)
		return NULL;
	writer->sink.refs = take_refs;
	writer->sink.event = take_event;
	writer->sink.finish = take_finish;
	writer->output.fd = -1;
	writer->chunks = blocks ? lpl_block_chunks_new(chunk_refs) :
				  lpl_data_chunks_new(chunk_refs);
	writer->jobs = lpl_work_queue_jobs(jobs);
	writer->queue = lpl_work_queue_new(writer->jobs, lpl_writer_pack, writer);
	writer->slot = calloc(lpl_work_queue_slots(writer->jobs), sizeof(*writer->slot));
	whole = writer->chunks && writer->queue && writer->slot;
	for (unsigned int i = 0; whole && i < lpl_work_queue_slots(writer->jobs); i++)
		whole = make_packed_chunk(writer, &writer->slot[i], level);
	if (!whole) {
		destroy(writer);
		return NULL;
	}
	writer->encoder = &writer->slot[0].payload.records;
	return writer;
}

/* All but its file. */
static enum lpl_error make(struct lpl_writer **result, const struct lpl_writer_options *options,
			   struct lpl_report *report)
{
	size_t chunk_refs;
	int level;

	LPL_TRY(check_options(options, &level, &chunk_refs, report));
	/* without options there are no threads, either */
	*result = create(level, chunk_refs, options && options->blocks,
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
	enum lpl_error error;

	*result = NULL;
	LPL_TRY(make(&writer, options, report));
	error = lpl_output_open(&writer->output, path, overwrite, report);
	if (error == LPL_OK)
		error = lpl_writer_write_header(writer, meta, report);
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
	writer->chunks->how->where(writer->chunks, &place->encoder);
}

enum lpl_error lpl_writer_open_at(struct lpl_writer **result, const char *path,
				  const struct lpl_meta *meta,
				  const struct lpl_writer_options *options,
				  const struct lpl_writer_place *place,
				  struct lpl_state_keeper *keeper, bool overwrite,
				  struct lpl_report *report)
{
	struct lpl_writer *writer;
	enum lpl_error error;

	*result = NULL;
	LPL_TRY(make(&writer, options, report));
	writer->encoder->last = place->last;
	writer->encoder->last_space = place->space;
	lpl_data_encoder_follow(writer->encoder, writer->encoder);
	writer->refs_so_far = place->refs_so_far;
	writer->events_so_far = place->events_so_far;
	writer->bytes_before = place->bytes;
	writer->totals = place->totals;
	writer->keeper = keeper;
	writer->chunks->how->go_to(writer->chunks, &place->encoder);
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

void lpl_writer_totals(struct lpl_writer *writer, const struct lpl_totals *given)
{
	struct lpl_totals totals = *given;

	if (writer->chunks->counts) {	/* see block_writer.h */
		memcpy(totals.refs, writer->totals.refs, sizeof(totals.refs));
		totals.user_refs = writer->totals.user_refs;
		totals.total = writer->totals.total;
	}
	if (lpl_totals_follow(&totals, &writer->totals)) {
		writer->totals = totals;
		return;
	}
	lpl_writer_deliver_all(writer);
	(void)lpl_fail(&writer->failure, LPL_ERR_USAGE,
		       "%s: the totals before reduction run backwards", writer->output.name);
}

size_t lpl_writer_room(const struct lpl_writer *writer)
{
	return writer->chunks->how->room(writer->chunks, writer->encoder);
}

enum lpl_error lpl_writer_flush(struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error == LPL_OK)
		lpl_writer_put_chunk(writer);
	lpl_writer_deliver_all(writer);
	return lpl_writer_failed(writer, report);
}

enum lpl_error lpl_writer_sync(struct lpl_writer *writer, struct lpl_report *report)
{
	if (writer->failure.error == LPL_OK)
		(void)lpl_output_sync(&writer->output, &writer->failure);
	return lpl_writer_failed(writer, report);
}

bool lpl_writer_has_records(const struct lpl_writer *writer)
{
	return writer->has_records || writer->encoder->refs > 0 ||
	       writer->encoder->event_count > 0 || writer->chunks->how->holds(writer->chunks);
}

enum lpl_error lpl_writer_close(struct lpl_writer *writer, struct lpl_report *report)
{
	enum lpl_error error;

	if (!writer)
		return LPL_OK;
	error = lpl_writer_end_file(writer, true, report);
	destroy(writer);
	return error;
}

void lpl_writer_abandon(struct lpl_writer *writer)
{
	if (!writer)
		return;
	lpl_writer_deliver_all(writer);
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
