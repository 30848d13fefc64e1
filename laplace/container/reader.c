/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a trace: chunk by chunk, nothing believed before it was checked.
 *
 * The file (source.h) is read ahead, a few chunks at most, and their payloads are put into a
 * queue for several threads (base/work_queue.h).  Delivered are chunks in their order, and with
 * them whatever was found wrong, so that a caller does not see how far the reading is.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "reader_parts.h"

enum lpl_error lpl_reader_failed(const struct lpl_reader *reader, struct lpl_report *report)
{
	if (reader->failure.error != LPL_OK && report && report->error == LPL_OK)
		*report = reader->failure;
	return reader->failure.error;
}

/*
 * May more be read before what is there is delivered?  From a pipe only what is in it: no
 * caller shall wait for records that were read because later ones are not there yet.
 */
static bool may_read(const struct lpl_reader *reader)
{
	if (reader->source.all_read || lpl_work_queue_full(reader->queue))
		return false;
	return lpl_work_queue_empty(reader->queue) || lpl_source_ready(&reader->source);
}

static void read_ahead(struct lpl_reader *reader)
{
	while (may_read(reader)) {
		if (lpl_source_read(&reader->source,
				    &reader->slot[lpl_work_queue_next(reader->queue)]))
			lpl_work_queue_put(reader->queue);
	}
}

enum lpl_error lpl_reader_resume(struct lpl_reader *reader, struct lpl_report *report)
{
	struct lpl_report failure = { .error = LPL_OK };

	if (reader->failure.error != LPL_ERR_DAMAGED)
		return lpl_reader_failed(reader, report);
	/* after a damaged payload, reading has continued already */
	if (lpl_work_queue_empty(reader->queue) && lpl_source_stopped(&reader->source) &&
	    lpl_source_find(&reader->source, &failure) != LPL_OK) {
		reader->failure = failure;
		return lpl_reader_failed(reader, report);
	}
	reader->failure.error = LPL_OK;
	reader->gap = reader->gaps = true;
	return LPL_OK;
}

/* ---- the side that delivers ---- */

static void work(void *context, unsigned int slot)
{
	struct lpl_reader *reader = context;

	lpl_loaded_chunk_decode(&reader->slot[slot]);
}

/* The queue and its slots, once it is known how many. */
static enum lpl_error gather(struct lpl_reader *reader)
{
	unsigned int slots = lpl_work_queue_slots(reader->jobs);
	bool whole;

	reader->slot = calloc(slots, sizeof(*reader->slot));
	reader->queue = lpl_work_queue_new(reader->jobs, work, reader);
	whole = reader->slot && reader->queue;
	for (unsigned int i = 0; i < slots && whole; i++) {
		whole = lpl_loaded_chunk_init(&reader->slot[i]);
		/* the hash is of references */
		reader->slot[i].may_step = reader->stepping && !reader->hashing;
	}
	return whole ? LPL_OK : lpl_fail(&reader->failure, LPL_ERR_MEMORY,
					 "%s: no memory to read it", reader->source.name);
}

/* What the chunk's bytes are. */
static void note_packing(struct lpl_packing *packing, const struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	uint64_t rest = header->plain;

	packing->chunks++;
	packing->refs += header->refs;
	packing->plain += header->plain;
	packing->stored += LPL_CHUNK_HEADER_BYTES + header->stored;
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++) {
		packing->part[i] += chunk->blocks.column[i];
		rest -= chunk->blocks.column[i];
	}
	packing->part[LPL_BLOCK_COLUMNS] += rest;
}

_Static_assert(LPL_PACKING_PARTS == LPL_BLOCK_COLUMNS + 1, "each column is a part, and the rest");

static bool room_to_expand(struct lpl_reader *reader, struct lpl_report *failure)
{
	if (!reader->expanded)
		reader->expanded = malloc(LPL_EXPANDED_REFS * sizeof(*reader->expanded));
	if (!reader->expanded)
		(void)lpl_fail(failure, LPL_ERR_MEMORY, "%s: no memory to read it",
			       reader->source.name);
	return reader->expanded != NULL;
}

/*
 * A hash takes its references one by one, and most files with steady ones have none to compare: so
 * these wait, each chunk's in a few bytes.
 */
static enum lpl_error hash_later(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	if (!lpl_reach(reader->unhashed, reader->unhashed_room, reader->unhashed_count))
		return lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory to read it",
				reader->source.name);
	reader->unhashed[reader->unhashed_count++] =
		(struct lpl_unhashed){ chunk->data.steady, chunk->header.refs };
	return LPL_OK;
}

/* Is it what the writer was given?  Checked before any of it is delivered. */
static enum lpl_error check_hash(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	bool has_hash = chunk->header.kind == LPL_CHUNK_RUNS;
	uint64_t found;

	/* after a gap it cannot be known */
	if (reader->gaps)
		return LPL_OK;
	if (has_hash)
		reader->packing.hash = chunk->blocks.hash;
	if (!reader->hashing)
		return LPL_OK;
	if (chunk->data.is_steady && !has_hash)
		return hash_later(reader, chunk);
	if (!room_to_expand(reader, &chunk->failure))
		return chunk->failure.error;
	for (size_t i = 0; i < reader->unhashed_count; i++)
		lpl_hash_steady(&reader->unhashed[i].steady, reader->unhashed[i].count,
				reader->expanded, &reader->hash);
	reader->unhashed_count = 0;
	lpl_loaded_chunk_hash(chunk, reader->expanded, &reader->hash);
	found = lpl_stream_hash_value(&reader->hash);
	if (!has_hash || found == chunk->blocks.hash)
		return LPL_OK;
	return lpl_fail(&chunk->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " holds other references than were"
			" written: the stream's hash up to its end is %016" PRIx64
			", expected %016" PRIx64 "; what precedes it is whole",
			chunk->name, (unsigned int)chunk->header.sequence, chunk->offset,
			found, chunk->blocks.hash);
}

static void begin_runs(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	note_packing(&reader->packing, chunk);
	lpl_block_cursor_begin(&reader->cursor, &chunk->blocks.decoder);
}

static enum lpl_error take_data(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;

	if (!lpl_totals_follow(&chunk->data.totals, &reader->totals))
		return lpl_chunk_damaged(chunk, header->sequence,
					 "its totals run backwards");
	if (check_hash(reader, chunk) != LPL_OK)
		return chunk->failure.error;
	/* where only events are needed the references count as read from the start */
	reader->next_ref = chunk->need == LPL_NEED_ALL || chunk->need == LPL_NEED_REFS ? 0 : header->refs;
	reader->next_event = 0;
	reader->next_step = 0;
	reader->now = reader->next_ref < header->refs || header->events > 0 ? chunk : NULL;
	reader->totals = chunk->data.totals;
	if (header->kind == LPL_CHUNK_RUNS)
		begin_runs(reader, chunk);
	reader->chunk = lpl_loaded_chunk_facts(chunk);
	return LPL_OK;
}

bool lpl_reader_count_chunk(struct lpl_reader *reader, const struct lpl_chunk_header *header,
			    uint64_t offset)
{
	reader->old_index.without_runs = true;
	return lpl_index_add(&reader->index, header, offset) &&
	       lpl_index_add(&reader->old_index, header, offset);
}

static bool check_index(struct lpl_reader *reader, const struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	const bool accounts = header->version == LPL_INDEX_VERSION;

	return lpl_index_check(&reader->index, chunk->plain, header->plain, accounts,
			       &reader->totals) ||
	       lpl_index_check(&reader->old_index, chunk->plain, header->plain, accounts,
			       &reader->totals);
}

static enum lpl_error take_index(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	const struct lpl_totals before = reader->totals;

	/* where chunks are missing its counts are of others, and it has been of use already */
	if (!reader->gaps) {
		if (!check_index(reader, chunk) ||
		    !lpl_totals_agree(&reader->totals, header->refs_before))
			return lpl_chunk_damaged(chunk, header->sequence,
						 "the index does not agree with the file");
		reader->totals.total = header->refs_before;
		if (!lpl_totals_follow(&reader->totals, &before))
			return lpl_chunk_damaged(chunk, header->sequence,
						 "its totals run backwards");
	}
	if (chunk->trailed)
		return lpl_fail(&chunk->failure, LPL_ERR_DAMAGED,
				"%s: damaged: bytes follow the index, which ends at offset %" PRIu64
				"; what precedes them is whole", chunk->name,
				chunk->offset + LPL_CHUNK_HEADER_BYTES + header->stored);
	reader->ended = reader->complete = chunk->final;
	return LPL_OK;
}

/* The records between the last chunk delivered and this one are missing. */
static void deliver_gap(struct lpl_reader *reader, const struct lpl_chunk_header *next)
{
	const struct lpl_chunk_header *last = &reader->last;

	reader->gap_event = next ?
		lpl_gap_event(&last->last, lpl_chunk_base_refs(next) - last->refs_so_far,
			      lpl_chunk_base_events(next) - last->events_so_far) :
		lpl_gap_event(&last->last, KTR_NONE, KTR_NONE);
}

/* A segment has an index of its own, and a hash. */
static void begin_segment(struct lpl_reader *reader, uint64_t segment)
{
	reader->stateless = reader->segment == 0 || reader->gaps;
	reader->segment = segment;
	reader->states = 0;
	reader->gaps = false;
	lpl_index_free(&reader->index);
	lpl_index_free(&reader->old_index);
	lpl_stream_hash_init(&reader->hash);
	reader->unhashed_count = 0;
}

/*
 * Does it hold what is to be delivered now?  Of a state no more than up to a chunk that
 * is missing: what two spaces share, say, would seem to be of each its own.
 */
static bool is_wanted(struct lpl_reader *reader, const struct lpl_chunk_header *header)
{
	if (header->kind != LPL_CHUNK_STATE)
		return lpl_chunk_has_records(header->kind);
	if (header->sequence != reader->states + 1)
		return false;
	reader->states++;
	return reader->stateless;
}

/* What is in the oldest slot is delivered from now on. */
static enum lpl_error take_chunk(struct lpl_reader *reader)
{
	struct lpl_loaded_chunk *chunk = &reader->slot[lpl_work_queue_oldest(reader->queue)];
	const struct lpl_chunk_header *header = &chunk->header;

	assert(!reader->now);
	reader->consumed = chunk->before + chunk->end;
	if (chunk->segment != reader->segment)
		begin_segment(reader, chunk->segment);
	if (chunk->failure.error == LPL_OK && header->kind == LPL_CHUNK_INDEX)
		(void)take_index(reader, chunk);
	else if (chunk->failure.error == LPL_OK && is_wanted(reader, header) &&
		 chunk->need != LPL_NEED_NOTHING)
		(void)take_data(reader, chunk);
	if (chunk->failure.error == LPL_OK && reader->gap)
		deliver_gap(reader, header);
	if (chunk->failure.error == LPL_OK && header->kind != LPL_CHUNK_INDEX &&
	    !lpl_reader_count_chunk(reader, header, chunk->offset))
		(void)lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for the index",
			       chunk->name);
	if (chunk->failure.error == LPL_OK) {
		reader->last = *header;
		reader->segments += header->kind == LPL_CHUNK_HEADER;
	} else {
		reader->failure = chunk->failure;
	}
	if (reader->now != chunk || chunk->failure.error != LPL_OK) {
		reader->now = NULL;
		lpl_work_queue_take(reader->queue);
	}
	return reader->failure.error;
}

/* The next chunk that has something to deliver, or the end. */
static enum lpl_error advance(struct lpl_reader *reader)
{
	if (reader->ended)
		return LPL_OK;
	if (!reader->queue && gather(reader) != LPL_OK)
		return reader->failure.error;
	if (reader->now)
		lpl_work_queue_take(reader->queue);
	reader->now = NULL;
	while (!reader->now && !reader->ended) {
		read_ahead(reader);
		if (lpl_work_queue_empty(reader->queue))
			break;
		if (take_chunk(reader) != LPL_OK || reader->gap)
			return reader->failure.error;
	}
	if (reader->now || reader->ended)
		return LPL_OK;
	reader->ended = true;
	if (reader->gap)
		deliver_gap(reader, NULL);
	return LPL_OK;
}

/* Three steady references stand for all up to `stop`. */
static void fold_steady(struct lpl_reader *reader, const struct lpl_steady *steady, size_t stop,
			const struct lpl_ref **refs, size_t *count)
{
	assert(stop - reader->next_ref >= 3);
	lpl_steady_expand(steady, reader->next_ref, 2, reader->fold);
	reader->fold[2] = lpl_steady_ref(steady, stop - 1);
	reader->folded = stop - reader->next_ref;
	reader->next_ref = stop;
	*refs = reader->fold;
	*count = 3;
}

/* Steady references up to `stop`, or as many as are expanded at once. */
static void take_steady(struct lpl_reader *reader, const struct lpl_steady *steady, size_t stop,
			const struct lpl_ref **refs, size_t *count)
{
	const size_t left = stop - reader->next_ref;

	*count = left < LPL_EXPANDED_REFS ? left : LPL_EXPANDED_REFS;
	lpl_steady_expand(steady, reader->next_ref, *count, reader->expanded);
	reader->next_ref += *count;
	*refs = reader->expanded;
}

/* All steps up to the next event, or to the end. */
static void take_steps(struct lpl_reader *reader, size_t stop, size_t *count)
{
	const struct lpl_data *data = &reader->now->data;
	const struct lpl_block_steps *steps = &reader->now->blocks.decoder.steps;
	const size_t end = reader->next_event < data->event_count ?
		data->step_positions[reader->next_event] : steps->steps;

	*count = stop - reader->next_ref;
	reader->steps = (struct lpl_page_steps){
		.step = &steps->step[reader->next_step], .count = end - reader->next_step,
		.pattern = steps->pattern, .visit = steps->visit, .refs = *count,
		.afresh = reader->next_ref == 0
	};
	reader->stepped = true;
	reader->next_step = end;
	reader->next_ref = stop;
}

/* The references up to `stop`, or the first part of them, from the chunk at hand. */
static enum lpl_error take_refs(struct lpl_reader *reader, size_t stop,
				const struct lpl_ref **refs, size_t *count)
{
	struct lpl_loaded_chunk *chunk = reader->now;

	if (stop <= reader->next_ref)
		return LPL_OK;
	if (chunk->header.kind == LPL_CHUNK_RUNS && chunk->blocks.stepping) {
		take_steps(reader, stop, count);
		return LPL_OK;
	}
	if (reader->folding && chunk->data.is_steady && stop - reader->next_ref > 3) {
		fold_steady(reader, &chunk->data.steady, stop, refs, count);
		return LPL_OK;
	}
	if (chunk->header.kind != LPL_CHUNK_RUNS && !chunk->data.is_steady) {
		*count = stop - reader->next_ref;
		*refs = &chunk->data.refs[reader->next_ref];
	} else {
		if (!room_to_expand(reader, &reader->failure))
			return reader->failure.error;
		if (chunk->data.is_steady) {
			take_steady(reader, &chunk->data.steady, stop, refs, count);
			return LPL_OK;
		}
		*count = lpl_block_cursor_next(&reader->cursor, &chunk->blocks.decoder, stop,
					       reader->expanded, LPL_EXPANDED_REFS);
		*refs = reader->expanded;
	}
	reader->next_ref += *count;
	return LPL_OK;
}

enum lpl_error lpl_reader_next(struct lpl_reader *reader, const struct lpl_ref **refs,
			       size_t *count, const struct lpl_event **event,
			       struct lpl_report *report)
{
	const struct lpl_data *data = reader->now ? &reader->now->data : NULL;
	bool more_events;
	size_t stop;

	*refs = reader->held.refs;
	*count = reader->held.count;
	*event = reader->held.event;
	reader->held = (struct lpl_batch){ .count = 0 };
	reader->folded = 0;
	reader->stepped = false;
	if (*count > 0 || *event)
		return LPL_OK;
	if (reader->failure.error != LPL_OK)
		return lpl_reader_failed(reader, report);
	if (!data || (reader->next_ref == data->ref_count &&
		      reader->next_event == data->event_count)) {
		if (advance(reader) != LPL_OK)
			return lpl_reader_failed(reader, report);
		if (reader->gap) {
			reader->gap = false;
			*event = &reader->gap_event;
			return LPL_OK;
		}
		if (!reader->now)
			return LPL_OK;
		data = &reader->now->data;
	}
	assert(reader->next_ref <= data->ref_count && reader->next_event <= data->event_count);
	more_events = reader->next_event < data->event_count;
	stop = more_events ? data->positions[reader->next_event] : data->ref_count;
	if (take_refs(reader, stop, refs, count) != LPL_OK)
		return lpl_reader_failed(reader, report);
	if (more_events && reader->next_ref >= stop)
		*event = &data->events[reader->next_event++];
	return LPL_OK;
}

enum lpl_error lpl_reader_run(struct lpl_reader *reader, struct lpl_sink *sink,
			      struct lpl_report *report)
{
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count;

	for (;;) {
		LPL_TRY(lpl_reader_next(reader, &refs, &count, &event, report));
		if (count == 0 && !event)
			return sink->finish(sink, report);
		if (count > 0)
			LPL_TRY(sink->refs(sink, refs, count, report));
		if (event)
			LPL_TRY(sink->event(sink, event, report));
	}
}
