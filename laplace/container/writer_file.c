/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a writer's file has besides records: a header before them, an index after them, and its
 * name when it is whole.  Of a trace in segments one file follows the other; clocks, counts and
 * totals continue.
 */
#include <stdlib.h>
#include <string.h>

#include "meta.h"
#include "state_chunk.h"
#include "writer.h"

/*
 * As of the file's end.  At the end of the trace more may have been made after the last record
 * kept, never fewer.  A file that another one follows knows no more than its last chunk; what the
 * recording has cost is known at its end.
 */
static struct lpl_totals totals_at_end(const struct lpl_writer *writer, bool last_file)
{
	uint64_t ref = writer->encoder->last.ref;
	struct lpl_totals totals = writer->totals;

	if (!last_file || lpl_totals_before(&totals) < ref)
		totals = lpl_writer_totals_at(writer, ref);
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

/* Readers of before would take LPL_WALK_FLAGS for damage. */
static bool has_walk_flags(const struct lpl_meta *meta)
{
	const char *walks = lpl_meta_get(meta, LPL_META_WALKS);

	return walks && strcmp(walks, LPL_WALKS_DESCRIBED) == 0;
}

enum lpl_error lpl_writer_write_header(struct lpl_writer *writer, const struct lpl_meta *meta,
				       struct lpl_report *report)
{
	const struct lpl_clocks *last = &writer->encoder->last;
	const struct lpl_totals totals = totals_at_end(writer, false);
	const bool goes_on = writer->refs_so_far > 0 || writer->events_so_far > 0;
	struct lpl_chunk_header header = {
		.version = (uint16_t)(LPL_FORMAT_VERSION + (goes_on ? LPL_SEGMENT_VERSION : 0) +
				      (has_walk_flags(meta) ? LPL_WALKS_VERSION : 0)),
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
	return lpl_writer_failed(writer, report);
}

enum lpl_error lpl_writer_end_file(struct lpl_writer *writer, bool last,
				   struct lpl_report *report)
{
	enum lpl_error error = lpl_writer_flush(writer, NULL);

	if (writer->ended)
		return lpl_writer_failed(writer, report);
	writer->ending = true;
	if (error == LPL_OK && lpl_writer_check_totals(writer) == LPL_OK)
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
	writer->chunks->how->begin_file(writer->chunks);
	writer->ending = writer->ended = false;
	writer->written = (struct lpl_chunk_header){
		.last = writer->encoder->last, .refs_so_far = writer->refs_so_far,
		.events_so_far = writer->events_so_far,
	};
	writer->written_totals = totals;
	if (create_file(writer, path, overwrite) != LPL_OK)
		return lpl_writer_failed(writer, report);
	if (lpl_writer_write_header(writer, meta, &writer->failure) != LPL_OK ||
	    (writer->keeper && lpl_state_chunk_put(writer, &totals) != LPL_OK))
		return lpl_writer_failed(writer, report);
	return LPL_OK;
}
