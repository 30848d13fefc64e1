/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace's file, read in its order; source.h says what for. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "source.h"

static enum lpl_error truncated(const struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	return lpl_fail(&chunk->failure, LPL_ERR_TRUNCATED,
			"%s: ends at offset %" PRIu64 ", within chunk %u, which began at offset %"
			PRIu64 "; what precedes it is whole", source->name, source->position,
			(unsigned int)source->sequence, chunk->offset);
}

/* Read up to `size` bytes; fewer only at the end of the file. */
static enum lpl_error read_bytes(struct lpl_source *source, uint8_t *out, size_t size,
				 size_t *done, struct lpl_report *report)
{
	*done = 0;
	while (*done < size) {
		ssize_t count = read(source->fd, out + *done, size - *done);

		if (count == 0)
			break;
		if (count < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {	/* a pipe somebody made so */
				(void)poll(&(struct pollfd){ source->fd, POLLIN, 0 }, 1, -1);
				continue;
			}
			return lpl_fail(report, LPL_ERR_IO,
					"%s: cannot be read at offset %" PRIu64, source->name,
					source->position);
		}
		*done += (size_t)count;
		source->position += (uint64_t)count;
	}
	return LPL_OK;
}

/* Does the chunk follow the one before it? */
static bool continues(const struct lpl_source *source, const struct lpl_chunk_header *header)
{
	const struct lpl_chunk_header *before = &source->before;

	return lpl_clocks_equal(&header->base, &before->last) &&
	       header->refs_so_far == before->refs_so_far + header->refs &&
	       header->events_so_far == before->events_so_far + header->events;
}

static bool precede(const struct lpl_clocks *one, const struct lpl_clocks *other)
{
	return one->ref <= other->ref && one->instr <= other->instr &&
	       one->cycle <= other->cycle;
}

/* What is wrong with a header whose checksum is right; NULL: nothing. */
static const char *header_fault(const struct lpl_source *source,
				const struct lpl_chunk_header *header)
{
	bool records = header->refs > 0 || header->events > 0;
	size_t refs_max = header->kind == LPL_CHUNK_RUNS ? LPL_RUN_CHUNK_REFS_MAX :
							   LPL_CHUNK_REFS_MAX;
	size_t plain_max = header->kind == LPL_CHUNK_HEADER ? LPL_PLAIN_META_MAX : LPL_PLAIN_MAX;

	if (header->sequence != source->sequence)
		return "its sequence number is not the next one";
	if ((header->kind == LPL_CHUNK_HEADER) != (header->sequence == 0))
		return "a chunk of this kind cannot stand here";
	if (header->stored > LPL_STORED_MAX || header->plain > plain_max)
		return "its size is above the limit";
	if (header->refs > refs_max || header->events > LPL_CHUNK_EVENTS_MAX)
		return "its number of records is above the limit";
	if (records != lpl_chunk_has_records(header->kind))
		return "its number of records is wrong for its kind";
	if (!continues(source, header))
		return "it does not continue the chunk before it";
	/* else the next one would continue from there, even if this one's records are damaged */
	if (!precede(&header->base, &header->first) || !precede(&header->first, &header->last))
		return "its clocks run backwards";
	if (!records && (!lpl_clocks_equal(&header->first, &header->base) ||
			 !lpl_clocks_equal(&header->last, &header->base)))
		return "it has clocks but no records";
	if (header->kind == LPL_CHUNK_HEADER && header->refs_before != 0)
		return "its totals are wrong for its kind";
	return NULL;
}

/* Read and check a chunk's header.  At the end of the file `*end` is set instead. */
static enum lpl_error read_header(struct lpl_source *source, struct lpl_loaded_chunk *chunk,
				  bool *end)
{
	struct lpl_chunk_header *header = &chunk->header;
	uint8_t *bytes = source->head;
	const char *fault;
	size_t count, compared;
	uint64_t found;
	enum lpl_error error;

	error = read_bytes(source, bytes + source->head_bytes,
			   LPL_CHUNK_HEADER_BYTES - source->head_bytes, &count, &chunk->failure);
	source->head_bytes = count += source->head_bytes;
	if (error != LPL_OK)
		return error;
	*end = count == 0;
	if (*end)
		return LPL_OK;
	compared = count < LPL_CHUNK_MAGIC_BYTES ? count : LPL_CHUNK_MAGIC_BYTES;
	if (memcmp(bytes, lpl_chunk_magic, compared) != 0) {
		if (chunk->offset == 0)
			return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
					"%s: not a Laplace trace", source->name);
		return lpl_chunk_damaged(chunk, source->name, source->sequence,
					 "it does not begin like a chunk");
	}
	if (count < LPL_CHUNK_HEADER_BYTES)
		return truncated(source, chunk);
	found = lpl_chunk_decode(header, bytes);
	if (found != header->checksum)
		return lpl_chunk_mismatch(chunk, source->name, source->sequence, "header",
					  header->checksum, found);
	if (!lpl_chunk_version_known(header))
		return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
				"%s: version %u of the format is not known (only %d is); a newer"
				" Laplace may read it", source->name, header->version,
				LPL_FORMAT_VERSION);
	if (header->kind < LPL_CHUNK_HEADER || header->kind > LPL_CHUNK_RUNS)
		return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
				"%s: chunk %u at offset %" PRIu64 ": kind %u is not known; a newer"
				" Laplace may read it", source->name,
				(unsigned int)source->sequence, chunk->offset, header->kind);
	fault = header_fault(source, header);
	return fault ? lpl_chunk_damaged(chunk, source->name, source->sequence, fault) : LPL_OK;
}

/* Read the payload that belongs to the header, and look for what must not follow. */
static enum lpl_error read_payload(struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	enum lpl_error error;
	uint8_t byte;
	size_t count;

	if (!lpl_loaded_chunk_reserve(chunk))
		return lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for chunk %u",
				source->name, (unsigned int)source->sequence);
	error = read_bytes(source, chunk->stored, header->stored, &count, &chunk->failure);
	chunk->end = source->position;
	if (error != LPL_OK)
		return error;
	if (count < header->stored)
		return truncated(source, chunk);
	if (header->kind != LPL_CHUNK_INDEX)
		return LPL_OK;
	error = read_bytes(source, &byte, 1, &count, &chunk->failure);
	chunk->trailed = count != 0;
	return error;
}

bool lpl_source_read(struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	bool end = false;

	chunk->failure.error = LPL_OK;
	chunk->trailed = false;
	chunk->offset = source->position - source->head_bytes;
	if (read_header(source, chunk, &end) != LPL_OK) {
		chunk->end = source->position;
		source->all_read = true;
		return true;
	}
	if (end && source->sequence == 0)
		(void)lpl_fail(&chunk->failure, LPL_ERR_TRUNCATED, "%s: is empty", source->name);
	if (end) {
		source->all_read = true;
		return source->sequence == 0;
	}
	source->head_bytes = 0;
	if (read_payload(source, chunk) != LPL_OK || chunk->header.kind == LPL_CHUNK_INDEX)
		source->all_read = true;
	source->before = chunk->header;
	source->sequence++;
	return true;
}

/* ---- going on after damage ---- */

/* Does the chunk stand further on in the stream than all that was read? */
static bool is_further(const struct lpl_source *source, const struct lpl_chunk_header *header)
{
	const struct lpl_chunk_header *before = &source->before;

	return header->kind != LPL_CHUNK_HEADER && header->sequence > before->sequence &&
	       header->base.ref >= before->last.ref && header->base.instr >= before->last.instr &&
	       header->base.cycle >= before->last.cycle && header->refs <= header->refs_so_far &&
	       header->events <= header->events_so_far &&
	       header->refs_so_far - header->refs >= before->refs_so_far &&
	       header->events_so_far - header->events >= before->events_so_far;
}

/* Let the chunk be the next one.  false: it is not even a possible one. */
static bool continue_with(struct lpl_source *source, const struct lpl_chunk_header *header)
{
	struct lpl_chunk_header before = source->before;
	uint32_t sequence = source->sequence;

	source->sequence = header->sequence;
	source->before.sequence = header->sequence - 1;
	source->before.last = header->base;
	source->before.refs_so_far = header->refs_so_far - header->refs;
	source->before.events_so_far = header->events_so_far - header->events;
	if (!header_fault(source, header))
		return true;
	source->before = before;
	source->sequence = sequence;
	return false;
}

/* Does the chunk in `head` have a header to go on with? */
static bool can_continue(struct lpl_source *source)
{
	struct lpl_chunk_header header;

	return source->head_bytes == LPL_CHUNK_HEADER_BYTES &&
	       memcmp(source->head, lpl_chunk_magic, LPL_CHUNK_MAGIC_BYTES) == 0 &&
	       lpl_chunk_decode(&header, source->head) == header.checksum &&
	       lpl_chunk_version_known(&header) && is_further(source, &header) &&
	       continue_with(source, &header);
}

enum lpl_error lpl_source_find(struct lpl_source *source, struct lpl_report *report)
{
	size_t left, count;
	enum lpl_error error;

	while (!can_continue(source)) {
		uint8_t *at = memchr(source->head + 1, lpl_chunk_magic[0], source->head_bytes - 1);

		left = at ? (size_t)(source->head + source->head_bytes - at) : 0;
		if (at)
			memmove(source->head, at, left);
		error = read_bytes(source, source->head + left, LPL_CHUNK_HEADER_BYTES - left,
				   &count, report);
		source->head_bytes = left + count;
		if (error != LPL_OK || count == 0)
			return error;	/* the end: there is none */
	}
	source->all_read = false;
	return LPL_OK;
}

bool lpl_source_ready(const struct lpl_source *source)
{
	return source->regular || poll(&(struct pollfd){ source->fd, POLLIN, 0 }, 1, 0) > 0;
}
