/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a trace: chunk by chunk, nothing believed before it was checked. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <laplace/trace.h>

#include "chunk.h"
#include "data.h"
#include "index.h"
#include "meta.h"
#include "output.h"
#include "reader.h"

struct lpl_reader {
	int fd;
	bool owned;
	char name[LPL_NAME_SIZE];
	uint64_t size;			/* of the file, 0 when not known */
	uint64_t consumed;
	struct lpl_meta *meta;
	ZSTD_DCtx *zstd;
	uint8_t *stored, *plain;	/* a payload, as stored and decompressed */
	size_t stored_room, plain_room;

	uint32_t sequence;		/* of the next chunk */
	struct lpl_chunk_header before;	/* of the last chunk read */
	struct lpl_index index;
	struct lpl_totals totals;
	struct lpl_chunk chunk;		/* of what is being delivered */
	struct lpl_data data;
	size_t next_ref, next_event;	/* in data */

	bool ended, complete;
	struct lpl_report failure;	/* the first error; it stays */
};

static enum lpl_error failed(const struct lpl_reader *reader, struct lpl_report *report)
{
	if (report && report->error == LPL_OK)
		*report = reader->failure;
	return reader->failure.error;
}

/* Damage, at the chunk that begins at `offset`. */
static enum lpl_error damaged(struct lpl_reader *reader, uint64_t offset, const char *cause)
{
	return lpl_fail(&reader->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s; what precedes it is"
			" whole", reader->name, (unsigned int)reader->sequence, offset, cause);
}

static enum lpl_error mismatch(struct lpl_reader *reader, uint64_t offset, const char *what,
			       uint64_t expected, uint64_t found)
{
	return lpl_fail(&reader->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s checksum: expected"
			" %016" PRIx64 ", found %016" PRIx64 "; what precedes it is whole",
			reader->name, (unsigned int)reader->sequence, offset, what, expected,
			found);
}

static enum lpl_error truncated(struct lpl_reader *reader, uint64_t offset)
{
	return lpl_fail(&reader->failure, LPL_ERR_TRUNCATED,
			"%s: ends at offset %" PRIu64 ", within chunk %u, which began at offset %"
			PRIu64 "; what precedes it is whole", reader->name, reader->consumed,
			(unsigned int)reader->sequence, offset);
}

/* Read up to `size` bytes; fewer only at the end of the file. */
static enum lpl_error read_bytes(struct lpl_reader *reader, uint8_t *out, size_t size,
				 size_t *done)
{
	*done = 0;
	while (*done < size) {
		ssize_t count = read(reader->fd, out + *done, size - *done);

		if (count == 0)
			break;
		if (count < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {	/* a pipe somebody made so */
				(void)poll(&(struct pollfd){ reader->fd, POLLIN, 0 }, 1, -1);
				continue;
			}
			return lpl_fail(&reader->failure, LPL_ERR_IO,
					"%s: cannot be read at offset %" PRIu64, reader->name,
					reader->consumed);
		}
		*done += (size_t)count;
		reader->consumed += (uint64_t)count;
	}
	return LPL_OK;
}

/* Room for `size` bytes; never NULL when true. */
static bool reserve(uint8_t **buffer, size_t *room, size_t size)
{
	if (*buffer && size <= *room)
		return true;
	if (size == 0)
		size = 1;
	free(*buffer);
	*buffer = malloc(size);
	*room = *buffer ? size : 0;
	return *buffer != NULL;
}

/* What is wrong with a header whose checksum is right; NULL: nothing. */
static const char *header_fault(const struct lpl_reader *reader,
				const struct lpl_chunk_header *header)
{
	const struct lpl_chunk_header *before = &reader->before;
	bool records = header->refs > 0 || header->events > 0;
	size_t plain_max = header->kind == LPL_CHUNK_HEADER ? LPL_PLAIN_META_MAX : LPL_PLAIN_MAX;

	if (header->sequence != reader->sequence)
		return "its sequence number is not the next one";
	if ((header->kind == LPL_CHUNK_HEADER) != (header->sequence == 0))
		return "a chunk of this kind cannot stand here";
	if (header->stored > LPL_STORED_MAX || header->plain > plain_max)
		return "its size is above the limit";
	if (header->refs > LPL_CHUNK_REFS_MAX || header->events > LPL_CHUNK_EVENTS_MAX)
		return "its number of records is above the limit";
	if (records != (header->kind == LPL_CHUNK_DATA))
		return "its number of records is wrong for its kind";
	if (!lpl_clocks_equal(&header->base, &before->last) ||
	    header->refs_so_far != before->refs_so_far + header->refs ||
	    header->events_so_far != before->events_so_far + header->events)
		return "it does not continue the chunk before it";
	if (!records && (!lpl_clocks_equal(&header->first, &header->base) ||
			 !lpl_clocks_equal(&header->last, &header->base)))
		return "it has clocks but no records";
	if (header->kind == LPL_CHUNK_HEADER && header->refs_before != 0)
		return "its totals are wrong for its kind";
	return NULL;
}

/* Read and check a chunk's header.  At the end of the file `*end` is set instead. */
static enum lpl_error read_header(struct lpl_reader *reader, struct lpl_chunk_header *header,
				  bool *end)
{
	uint8_t bytes[LPL_CHUNK_HEADER_BYTES];
	uint64_t offset = reader->consumed, found;
	const char *fault;
	size_t count, compared;
	enum lpl_error error;

	error = read_bytes(reader, bytes, sizeof(bytes), &count);
	if (error != LPL_OK)
		return error;
	*end = count == 0;
	if (*end)
		return LPL_OK;
	compared = count < LPL_CHUNK_MAGIC_BYTES ? count : LPL_CHUNK_MAGIC_BYTES;
	if (memcmp(bytes, lpl_chunk_magic, compared) != 0) {
		if (offset == 0)
			return lpl_fail(&reader->failure, LPL_ERR_FORMAT,
					"%s: not a Laplace trace", reader->name);
		return damaged(reader, offset, "it does not begin like a chunk");
	}
	if (count < sizeof(bytes))
		return truncated(reader, offset);
	found = lpl_chunk_decode(header, bytes);
	if (found != header->checksum)
		return mismatch(reader, offset, "header", header->checksum, found);
	if (header->version != LPL_FORMAT_VERSION)
		return lpl_fail(&reader->failure, LPL_ERR_FORMAT,
				"%s: version %u of the format is not known (only %d is); a newer"
				" Laplace may read it", reader->name, header->version,
				LPL_FORMAT_VERSION);
	if (header->kind < LPL_CHUNK_HEADER || header->kind > LPL_CHUNK_INDEX)
		return lpl_fail(&reader->failure, LPL_ERR_FORMAT,
				"%s: chunk %u at offset %" PRIu64 ": kind %u is not known; a newer"
				" Laplace may read it", reader->name,
				(unsigned int)reader->sequence, offset, header->kind);
	fault = header_fault(reader, header);
	return fault ? damaged(reader, offset, fault) : LPL_OK;
}

/* Read, check and decompress the payload that belongs to `header`. */
static enum lpl_error read_payload(struct lpl_reader *reader,
				   const struct lpl_chunk_header *header, uint64_t offset)
{
	uint64_t found;
	size_t count;
	enum lpl_error error;

	if (!reserve(&reader->stored, &reader->stored_room, header->stored) ||
	    !reserve(&reader->plain, &reader->plain_room, header->plain))
		return lpl_fail(&reader->failure, LPL_ERR_MEMORY, "%s: no memory for chunk %u",
				reader->name, (unsigned int)reader->sequence);
	error = read_bytes(reader, reader->stored, header->stored, &count);
	if (error != LPL_OK)
		return error;
	if (count < header->stored)
		return truncated(reader, offset);
	found = lpl_checksum(reader->stored, header->stored);
	if (found != header->payload_checksum)
		return mismatch(reader, offset, "payload", header->payload_checksum, found);
	if (ZSTD_findFrameCompressedSize(reader->stored, header->stored) != header->stored ||
	    ZSTD_getFrameContentSize(reader->stored, header->stored) != header->plain)
		return damaged(reader, offset, "its payload is not one zstd frame of its size");
	count = ZSTD_decompressDCtx(reader->zstd, reader->plain, header->plain,
				    reader->stored, header->stored);
	if (ZSTD_isError(count) || count != header->plain)
		return damaged(reader, offset, "its payload cannot be decompressed");
	return LPL_OK;
}

static enum lpl_error take_data(struct lpl_reader *reader, const struct lpl_chunk_header *header,
				uint64_t offset)
{
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error;

	error = lpl_data_decode(&reader->data, header, reader->plain, header->plain, &cause);
	if (error == LPL_ERR_DAMAGED)
		return damaged(reader, offset, cause.text);
	if (error != LPL_OK)
		return lpl_fail(&reader->failure, error, "%s: chunk %u: %s", reader->name,
				(unsigned int)reader->sequence, cause.text);
	reader->totals = reader->data.totals;
	reader->next_ref = reader->next_event = 0;
	reader->chunk = (struct lpl_chunk){
		.offset = offset, .bytes = reader->consumed - offset,
		.sequence = header->sequence, .kind = header->kind,
		.refs = header->refs, .events = header->events,
		.first_ref = header->first.ref, .last_ref = header->last.ref,
		.last_instr = header->last.instr, .last_cycle = header->last.cycle,
	};
	return LPL_OK;
}

static enum lpl_error take_index(struct lpl_reader *reader,
				 const struct lpl_chunk_header *header, uint64_t offset)
{
	uint64_t end = reader->consumed;
	uint8_t byte;
	size_t count;
	enum lpl_error error;

	if (!lpl_index_check(&reader->index, reader->plain, header->plain, &reader->totals) ||
	    !lpl_totals_agree(&reader->totals, header->refs_before))
		return damaged(reader, offset, "the index does not agree with the file");
	reader->totals.total = header->refs_before;
	error = read_bytes(reader, &byte, 1, &count);
	if (error != LPL_OK)
		return error;
	if (count != 0)
		return lpl_fail(&reader->failure, LPL_ERR_DAMAGED,
				"%s: damaged: bytes follow the index, which ends at offset %" PRIu64
				"; what precedes them is whole", reader->name, end);
	reader->ended = reader->complete = true;
	return LPL_OK;
}

/* The next chunk, whatever it is. */
static enum lpl_error read_chunk(struct lpl_reader *reader)
{
	struct lpl_chunk_header header = { .version = 0 };
	uint64_t offset = reader->consumed;
	enum lpl_error error;
	bool end = false;

	error = read_header(reader, &header, &end);
	if (error != LPL_OK)
		return error;
	if (end) {
		if (reader->sequence == 0)
			return lpl_fail(&reader->failure, LPL_ERR_TRUNCATED, "%s: is empty",
					reader->name);
		reader->ended = true;
		return LPL_OK;
	}
	error = read_payload(reader, &header, offset);
	if (error != LPL_OK)
		return error;

	switch (header.kind) {
	case LPL_CHUNK_HEADER:
		error = lpl_meta_decode(reader->meta, (const char *)reader->plain, header.plain);
		if (error == LPL_ERR_DAMAGED)
			return damaged(reader, offset, "it does not consist of key=value lines");
		if (error != LPL_OK)
			return lpl_fail(&reader->failure, error, "%s: no memory for its header",
					reader->name);
		break;
	case LPL_CHUNK_DATA:
		error = take_data(reader, &header, offset);
		break;
	default:
		return take_index(reader, &header, offset);
	}
	if (error != LPL_OK)
		return error;
	if (!lpl_index_add(&reader->index, &header, offset))
		return lpl_fail(&reader->failure, LPL_ERR_MEMORY, "%s: no memory for the index",
				reader->name);
	reader->before = header;
	reader->sequence++;
	return LPL_OK;
}

enum lpl_error lpl_reader_open_fd(struct lpl_reader **result, int fd, bool owned,
				  const char *name, struct lpl_report *report)
{
	struct lpl_reader *reader = calloc(1, sizeof(*reader));
	struct stat status;
	enum lpl_error error = LPL_OK;

	*result = NULL;
	if (!reader) {
		if (owned)
			(void)close(fd);
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", name);
	}
	reader->fd = fd;
	reader->owned = owned;
	lpl_short_name(reader->name, name);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		reader->size = (uint64_t)status.st_size;
	reader->meta = lpl_meta_new();
	reader->zstd = ZSTD_createDCtx();
	if (!reader->meta || !reader->zstd)
		error = lpl_fail(&reader->failure, LPL_ERR_MEMORY, "%s: no memory to read it",
				 reader->name);
	if (error == LPL_OK)
		error = read_chunk(reader);
	if (error != LPL_OK) {
		(void)failed(reader, report);
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

const struct lpl_meta *lpl_reader_meta(const struct lpl_reader *reader)
{
	return reader->meta;
}

enum lpl_error lpl_reader_next(struct lpl_reader *reader, const struct lpl_ref **refs,
			       size_t *count, const struct lpl_event **event,
			       struct lpl_report *report)
{
	const struct lpl_data *data = &reader->data;
	bool more_events;
	size_t stop;

	*refs = NULL;
	*count = 0;
	*event = NULL;
	if (reader->failure.error != LPL_OK)
		return failed(reader, report);
	if (reader->next_ref == data->ref_count && reader->next_event == data->event_count) {
		if (!reader->ended && read_chunk(reader) != LPL_OK)
			return failed(reader, report);
		if (reader->ended)
			return LPL_OK;
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
	if (reader->owned)
		(void)close(reader->fd);
	lpl_meta_free(reader->meta);
	ZSTD_freeDCtx(reader->zstd);
	lpl_index_free(&reader->index);
	lpl_data_free(&reader->data);
	free(reader->stored);
	free(reader->plain);
	free(reader);
}
