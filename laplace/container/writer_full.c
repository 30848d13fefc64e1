/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On a full disk a trace ends as any other does, only earlier.
 *
 * What ends it, an event and the index, needs room itself, when there is none.  So before each
 * chunk the file system is asked to keep room for that chunk and, after it, for an end
 * (lpl_output_reserve()).  Either there is so much, and then the chunk cannot fail for want of
 * room, and leaves the room for the end untouched; or there is not, the chunk is not begun, and the
 * room that was kept with the chunk before it is still there, just after the file's end.
 *
 * Where a file system keeps no room, a chunk is met by the end within it and taken back, and the
 * file is ended in what that leaves; if that is too little, it keeps its ".part".
 *
 * Of a trace in segments each begins with a chunk that keeps room for its end, too.  So there is
 * always one that can be ended, but between two of them: before one ends, there has to be room for
 * the other's beginning.
 *
 * The chunks that were on their way then are lost, with all records after them.  A reader of the
 * file could not see that, so its last chunk is an event LPL_EVENT_GAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "meta.h"
#include "writer.h"

/* The chunk that has the event: its numbers and the totals, each as long as they can be. */
#define GAP_BYTES_MAX	(LPL_EVENT_BYTES_MAX + (1 + LPL_TOTALS_NUMBERS) * LPL_VARINT_MAX)

size_t lpl_writer_end_room(const struct lpl_writer *writer)
{
	size_t index = lpl_index_bound(&writer->index) + 2 * LPL_INDEX_ENTRY_MAX;

	return 2 * LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(GAP_BYTES_MAX) +
	       ZSTD_compressBound(index);
}

enum lpl_error lpl_writer_room_for_next(struct lpl_writer *writer, const struct lpl_meta *meta)
{
	const size_t begin = LPL_CHUNK_HEADER_BYTES + ZSTD_compressBound(lpl_meta_size(meta) + 1);
	const size_t room = begin + 2 * lpl_writer_end_room(writer);

	if (writer->failure.error == LPL_OK && writer->ends_when_full)
		(void)lpl_output_reserve(&writer->output, room, LPL_WRITER_AHEAD,
					 &writer->failure);
	return writer->failure.error;
}

/* What is in no chunk of the file has not been. */
static void go_back(struct lpl_writer *writer)
{
	const struct lpl_totals now = writer->totals;
	const struct lpl_chunk_header *last = &writer->written;
	struct lpl_data_encoder end = *writer->encoder;

	writer->failure = (struct lpl_report){ .error = LPL_OK };
	writer->sequence = last->sequence + 1;
	writer->refs_so_far = last->refs_so_far;
	writer->events_so_far = last->events_so_far;
	writer->totals = writer->written_totals;
	writer->totals.wait_ns = now.wait_ns;
	writer->totals.recording = now.recording;
	end.last = last->last;
	lpl_data_encoder_follow(writer->encoder, &end);
}

enum lpl_error lpl_writer_write_gap(struct lpl_writer *writer, const struct lpl_event *gap,
				    const struct lpl_totals *totals)
{
	struct lpl_data_encoder *encoder = writer->encoder;
	struct lpl_chunk_header header = {
		.kind = LPL_CHUNK_DATA, .events = 1, .base = encoder->last,
		.refs_so_far = writer->refs_so_far, .refs_before = lpl_totals_before(totals),
	};
	uint8_t payload[GAP_BYTES_MAX];
	size_t size;

	if (lpl_data_encode_event(encoder, gap, &writer->failure) != LPL_OK)
		return writer->failure.error;
	header.first = header.last = encoder->last;
	header.events_so_far = ++writer->events_so_far;
	size = lpl_data_encode_end(encoder, totals, payload);
	lpl_data_encoder_follow(encoder, encoder);
	return lpl_writer_put_other(writer, &header, payload, size);
}

/* How much is missing is not known. */
static enum lpl_error write_last_gap(struct lpl_writer *writer)
{
	const struct lpl_event gap = lpl_gap_event(&writer->written.last, KTR_NONE, KTR_NONE);

	return lpl_writer_write_gap(writer, &gap, &writer->written_totals);
}

enum lpl_error lpl_writer_end_short(struct lpl_writer *writer, struct lpl_report *report)
{
	const struct lpl_report full = writer->failure;
	char name[LPL_NAME_SIZE];

	if (writer->output.written == 0)	/* there was no room to begin it, either */
		return lpl_writer_failed(writer, report);
	memcpy(name, writer->output.name, sizeof(name));
	writer->output.no_room = NULL;
	go_back(writer);
	if (write_last_gap(writer) != LPL_OK || lpl_writer_write_index(writer, true) != LPL_OK ||
	    lpl_output_commit(&writer->output, &writer->failure) != LPL_OK) {
		if (report && report->error == LPL_OK)
			*report = full;
		return LPL_ERR_FULL;
	}
	writer->ended = writer->ended_early = true;
	errno = full.system_errno;
	return lpl_fail(report, LPL_ERR_FULL, "%s: ends early, after reference %" PRIu64 ", and was "
			"closed properly: there was no room for what followed", name,
			writer->written.last.ref);
}
