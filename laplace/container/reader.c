/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a trace: chunk by chunk, nothing believed before it was checked.
 *
 * The file (source.h) is read ahead, a few chunks at most, and their payloads are put up
 * for the crew (crew.h).  Delivered are chunks in their order, and with them whatever was
 * found wrong, so that nobody sees how far the reading has come.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "base/crew.h"
#include "index.h"
#include "meta.h"
#include "reader.h"
#include "source.h"

struct lpl_reader {
	struct lpl_source source;
	bool owned;			/* its descriptor */
	uint64_t size;			/* of the file, 0 when not known */
	struct lpl_meta *meta;
	unsigned int jobs;
	struct lpl_crew *crew;		/* NULL until records are asked for */
	struct lpl_piece *piece;	/* its places */

	const struct lpl_piece *now;	/* its records are being delivered; NULL: none */
	size_t next_ref, next_event;	/* in that */
	struct lpl_chunk_header last;	/* of the last chunk delivered */
	uint64_t consumed;
	struct lpl_index index;
	struct lpl_totals totals;
	struct lpl_chunk chunk;		/* of what is being delivered */
	bool ended, complete;
	bool gap;			/* something is missing before the next record */
	bool gaps;			/* or was, at any time */
	struct lpl_event gap_event;
	struct lpl_report failure;	/* what stopped the delivery */
};

static enum lpl_error failed(const struct lpl_reader *reader, struct lpl_report *report)
{
	if (report && report->error == LPL_OK)
		*report = reader->failure;
	return reader->failure.error;
}

/*
 * May more be read before what is there is delivered?  From a pipe only what has come:
 * nobody shall wait for records that are here because others are not.
 */
static bool may_read(const struct lpl_reader *reader)
{
	if (reader->source.all_read || lpl_crew_full(reader->crew))
		return false;
	return lpl_crew_empty(reader->crew) || lpl_source_ready(&reader->source);
}

static void read_ahead(struct lpl_reader *reader)
{
	while (may_read(reader)) {
		if (lpl_source_read(&reader->source, &reader->piece[lpl_crew_next(reader->crew)]))
			lpl_crew_put(reader->crew);
	}
}


enum lpl_error lpl_reader_resume(struct lpl_reader *reader, struct lpl_report *report)
{
	struct lpl_report failure = { .error = LPL_OK };

	if (reader->failure.error != LPL_ERR_DAMAGED)
		return failed(reader, report);
	/* after a damaged payload the reading has gone on already */
	if (lpl_crew_empty(reader->crew) && lpl_source_stopped(&reader->source) &&
	    lpl_source_find(&reader->source, &failure) != LPL_OK) {
		reader->failure = failure;
		return failed(reader, report);
	}
	reader->failure.error = LPL_OK;
	reader->gap = reader->gaps = true;
	return LPL_OK;
}

/* ---- the side that delivers ---- */

static void work(void *context, unsigned int place)
{
	struct lpl_reader *reader = context;

	lpl_piece_decode(&reader->piece[place], reader->source.name);
}

/* The crew and its places, once it is known how many. */
static enum lpl_error gather(struct lpl_reader *reader)
{
	unsigned int places = lpl_crew_places(reader->jobs);
	bool whole;

	reader->piece = calloc(places, sizeof(*reader->piece));
	reader->crew = lpl_crew_new(reader->jobs, work, reader);
	whole = reader->piece && reader->crew;
	for (unsigned int i = 0; i < places && whole; i++)
		whole = lpl_piece_init(&reader->piece[i]);
	return whole ? LPL_OK : lpl_fail(&reader->failure, LPL_ERR_MEMORY,
					 "%s: no memory to read it", reader->source.name);
}

static enum lpl_error take_data(struct lpl_reader *reader, struct lpl_piece *piece)
{
	const struct lpl_chunk_header *header = &piece->header;

	if (!lpl_totals_follow(&piece->data.totals, &reader->totals))
		return lpl_piece_damaged(piece, reader->source.name, header->sequence,
					 "its totals run backwards");
	reader->now = piece;
	reader->next_ref = reader->next_event = 0;
	reader->totals = piece->data.totals;
	reader->chunk = (struct lpl_chunk){
		.offset = piece->offset, .bytes = piece->end - piece->offset,
		.sequence = header->sequence, .kind = header->kind,
		.refs = header->refs, .events = header->events,
		.first_ref = header->first.ref, .last_ref = header->last.ref,
		.last_instr = header->last.instr, .last_cycle = header->last.cycle,
	};
	return LPL_OK;
}

static enum lpl_error take_index(struct lpl_reader *reader, struct lpl_piece *piece)
{
	const struct lpl_chunk_header *header = &piece->header;
	const struct lpl_totals before = reader->totals;

	/* where chunks are missing it tells of others, and has been of use already */
	if (!reader->gaps) {
		if (!lpl_index_check(&reader->index, piece->plain, header->plain,
				     &reader->totals) ||
		    !lpl_totals_agree(&reader->totals, header->refs_before))
			return lpl_piece_damaged(piece, reader->source.name, header->sequence,
						 "the index does not agree with the file");
		reader->totals.total = header->refs_before;
		if (!lpl_totals_follow(&reader->totals, &before))
			return lpl_piece_damaged(piece, reader->source.name, header->sequence,
						 "its totals run backwards");
	}
	if (piece->trailed)
		return lpl_fail(&piece->failure, LPL_ERR_DAMAGED,
				"%s: damaged: bytes follow the index, which ends at offset %" PRIu64
				"; what precedes them is whole", reader->source.name,
				piece->offset + LPL_CHUNK_HEADER_BYTES + header->stored);
	reader->ended = reader->complete = true;
	return LPL_OK;
}

/* The records between the last chunk delivered and this one are missing. */
static void tell_gap(struct lpl_reader *reader, const struct lpl_chunk_header *next)
{
	const struct lpl_clocks *at = &reader->last.last;

	reader->gap_event = (struct lpl_event){
		.tag = LPL_EVENT_GAP, .ref = at->ref, .instr = at->instr, .cycle = at->cycle,
		.arg = { [LPL_EVENT_GAP_REFERENCES] = KTR_NONE, [LPL_EVENT_GAP_EVENTS] = KTR_NONE }
	};
	if (!next)
		return;
	reader->gap_event.arg[LPL_EVENT_GAP_REFERENCES] =
		next->refs_so_far - next->refs - reader->last.refs_so_far;
	reader->gap_event.arg[LPL_EVENT_GAP_EVENTS] =
		next->events_so_far - next->events - reader->last.events_so_far;
}

/* What is in the oldest place is delivered from now on. */
static enum lpl_error take_piece(struct lpl_reader *reader)
{
	struct lpl_piece *piece = &reader->piece[lpl_crew_oldest(reader->crew)];
	const struct lpl_chunk_header *header = &piece->header;

	reader->consumed = piece->end;
	if (piece->failure.error == LPL_OK && header->kind == LPL_CHUNK_INDEX)
		(void)take_index(reader, piece);
	else if (piece->failure.error == LPL_OK)
		(void)take_data(reader, piece);
	if (piece->failure.error == LPL_OK && reader->gap)
		tell_gap(reader, header);
	if (piece->failure.error == LPL_OK && header->kind == LPL_CHUNK_DATA &&
	    !lpl_index_add(&reader->index, header, piece->offset))
		(void)lpl_fail(&piece->failure, LPL_ERR_MEMORY, "%s: no memory for the index",
			       reader->source.name);
	if (piece->failure.error == LPL_OK)
		reader->last = *header;
	else
		reader->failure = piece->failure;
	if (reader->now != piece || piece->failure.error != LPL_OK) {
		reader->now = NULL;
		lpl_crew_drop(reader->crew);
	}
	return reader->failure.error;
}

/* The next chunk, or the end. */
static enum lpl_error advance(struct lpl_reader *reader)
{
	if (reader->ended)
		return LPL_OK;
	if (!reader->crew && gather(reader) != LPL_OK)
		return reader->failure.error;
	if (reader->now)
		lpl_crew_drop(reader->crew);
	reader->now = NULL;
	read_ahead(reader);
	if (!lpl_crew_empty(reader->crew))
		return take_piece(reader);
	reader->ended = true;
	if (reader->gap)
		tell_gap(reader, NULL);
	return LPL_OK;
}

enum lpl_error lpl_reader_next(struct lpl_reader *reader, const struct lpl_ref **refs,
			       size_t *count, const struct lpl_event **event,
			       struct lpl_report *report)
{
	const struct lpl_data *data = reader->now ? &reader->now->data : NULL;
	bool more_events;
	size_t stop;

	*refs = NULL;
	*count = 0;
	*event = NULL;
	if (reader->failure.error != LPL_OK)
		return failed(reader, report);
	if (!data || (reader->next_ref == data->ref_count &&
		      reader->next_event == data->event_count)) {
		if (advance(reader) != LPL_OK)
			return failed(reader, report);
		if (reader->gap) {
			reader->gap = false;
			*event = &reader->gap_event;
			return LPL_OK;
		}
		if (!reader->now)
			return LPL_OK;
		data = &reader->now->data;
	}
	more_events = reader->next_event < data->event_count;
	stop = more_events ? data->positions[reader->next_event] : data->ref_count;
	*count = stop - reader->next_ref;
	if (*count > 0)
		*refs = &data->refs[reader->next_ref];
	reader->next_ref = stop;
	if (more_events)
		*event = &data->events[reader->next_event++];
	return LPL_OK;
}

enum lpl_error lpl_reader_run(struct lpl_reader *reader, struct lpl_sink *sink,
			      struct lpl_report *report)
{
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count;
	int error;

	for (;;) {
		error = lpl_reader_next(reader, &refs, &count, &event, report);
		if (error == LPL_OK && count == 0 && !event)
			error = sink->finish(sink, report);
		else if (error == LPL_OK && count > 0)
			error = sink->refs(sink, refs, count, report);
		if (error == LPL_OK && event)
			error = sink->event(sink, event, report);
		if (error != LPL_OK || (count == 0 && !event))
			return (enum lpl_error)error;
	}
}

/* ---- opening and closing ---- */

/* The first chunk, which has no records. */
static enum lpl_error read_meta(struct lpl_reader *reader, struct lpl_piece *piece)
{
	const struct lpl_chunk_header *header = &piece->header;
	enum lpl_error error = LPL_OK;

	(void)lpl_source_read(&reader->source, piece);
	lpl_piece_decode(piece, reader->source.name);
	if (piece->failure.error != LPL_OK)
		return piece->failure.error;
	error = lpl_meta_decode(reader->meta, (const char *)piece->plain, header->plain);
	if (error == LPL_ERR_DAMAGED)
		return lpl_piece_damaged(piece, reader->source.name, header->sequence,
					 "it does not consist of key=value lines");
	if (error != LPL_OK || !lpl_index_add(&reader->index, header, piece->offset))
		return lpl_fail(&piece->failure, LPL_ERR_MEMORY, "%s: no memory for its header",
				reader->source.name);
	reader->last = *header;
	reader->consumed = piece->end;
	return LPL_OK;
}

enum lpl_error lpl_reader_open_fd(struct lpl_reader **result, int fd, bool owned,
				  const char *name, struct lpl_report *report)
{
	struct lpl_reader *reader = calloc(1, sizeof(*reader));
	struct lpl_piece piece = { .offset = 0 };
	struct stat status;

	*result = NULL;
	if (!reader) {
		if (owned)
			(void)close(fd);
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", name);
	}
	reader->source.fd = fd;
	reader->owned = owned;
	reader->jobs = 1;
	lpl_short_name(reader->source.name, name);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		reader->size = (uint64_t)status.st_size;
		reader->source.regular = true;
	}
	reader->meta = lpl_meta_new();
	if (!reader->meta || !lpl_piece_init(&piece))
		(void)lpl_fail(&piece.failure, LPL_ERR_MEMORY, "%s: no memory to read it",
			       reader->source.name);
	else
		(void)read_meta(reader, &piece);
	reader->failure = piece.failure;
	lpl_piece_free(&piece);
	if (reader->failure.error != LPL_OK) {
		enum lpl_error error = failed(reader, report);

		lpl_reader_close(reader);
		return error;
	}
	*result = reader;
	return LPL_OK;
}

enum lpl_error lpl_reader_open(struct lpl_reader **reader, const char *path,
			       struct lpl_report *report)
{
	char name[LPL_NAME_SIZE];
	int fd;

	*reader = NULL;
	if (strcmp(path, "-") == 0)
		return lpl_reader_open_fd(reader, STDIN_FILENO, false, "(standard input)",
					  report);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		lpl_short_name(name, path);
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened", name);
	}
	return lpl_reader_open_fd(reader, fd, true, path, report);
}

void lpl_reader_jobs(struct lpl_reader *reader, unsigned int jobs)
{
	if (!reader->crew)
		reader->jobs = jobs;
}

const struct lpl_meta *lpl_reader_meta(const struct lpl_reader *reader)
{
	return reader->meta;
}

const struct lpl_chunk *lpl_reader_chunk(const struct lpl_reader *reader)
{
	return &reader->chunk;
}

const struct lpl_totals *lpl_reader_totals(const struct lpl_reader *reader)
{
	return &reader->totals;
}

bool lpl_reader_complete(const struct lpl_reader *reader)
{
	return reader->complete;
}

uint64_t lpl_reader_bytes(const struct lpl_reader *reader)
{
	return reader->consumed;
}

uint64_t lpl_reader_size(const struct lpl_reader *reader)
{
	return reader->size;
}

void lpl_reader_close(struct lpl_reader *reader)
{
	if (!reader)
		return;
	lpl_crew_free(reader->crew);	/* its threads first: they use what follows */
	for (unsigned int i = 0; reader->piece && i < lpl_crew_places(reader->jobs); i++)
		lpl_piece_free(&reader->piece[i]);
	free(reader->piece);
	if (reader->owned)
		(void)close(reader->source.fd);
	lpl_meta_free(reader->meta);
	lpl_index_free(&reader->index);
	free(reader);
}
