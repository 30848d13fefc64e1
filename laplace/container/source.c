/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace's file, read in its order; source.h says what for. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "source.h"

void lpl_source_take(struct lpl_source *source, int fd)
{
	struct stat status;
	off_t at = lseek(fd, 0, SEEK_CUR);

	source->fd = fd;
	source->regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	source->limit = source->regular && at >= 0 && at < status.st_size ?
				(uint64_t)(status.st_size - at) : 0;
}

/* Is the next byte beyond the file's end, as it was when it was taken? */
static bool is_past_limit(const struct lpl_source *source)
{
	return source->limit > 0 && source->position >= source->limit;
}

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
			if (errno == EAGAIN) {	/* a pipe that does not block */
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

	/* a segment that is read alone begins anywhere */
	if (header->kind == LPL_CHUNK_HEADER && lpl_chunk_goes_on(header) &&
	    !source->manifest)
		return header->refs_so_far > 0 || header->events_so_far > 0;
	return lpl_clocks_equal(&header->base, &before->last) &&
	       header->refs_so_far == before->refs_so_far + header->refs &&
	       header->events_so_far ==
		       before->events_so_far + lpl_chunk_counted_events(header);
}

/* Does the segment's first record have the clocks that the manifest gives? */
static bool begins_as_named(const struct lpl_source *source,
			    const struct lpl_chunk_header *header)
{
	return !source->manifest || !source->named || !source->first_due ||
	       header->kind == LPL_CHUNK_STATE || !lpl_chunk_has_records(header->kind) ||
	       lpl_clocks_equal(&header->first, &source->manifest->at.first);
}

/* An index ends a file; for a segment that is named, the manifest says where. */
static bool ends_as_named(const struct lpl_source *source, const struct lpl_chunk_header *header)
{
	return !source->manifest || !source->named || header->kind != LPL_CHUNK_INDEX ||
	       source->position - LPL_CHUNK_HEADER_BYTES == source->manifest->at.index;
}

/* What is wrong with a header that has the right checksum; NULL: nothing. */
static const char *header_fault(const struct lpl_source *source,
				const struct lpl_chunk_header *header)
{
	bool records = header->refs > 0 || header->events > 0;
	size_t refs_max = header->kind == LPL_CHUNK_RUNS ? LPL_BLOCK_CHUNK_REFS_MAX :
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
	if (records != lpl_chunk_has_records(header->kind) ||
	    (header->kind == LPL_CHUNK_STATE && header->refs > 0))
		return "its number of records is wrong for its kind";
	if (!continues(source, header))
		return header->kind == LPL_CHUNK_HEADER && source->manifest ?
		       "it does not continue the segment before it" :
		       "it does not continue the chunk before it";
	if (!begins_as_named(source, header))
		return "it does not begin where the manifest says";
	if (!ends_as_named(source, header))
		return "an index stands where the manifest says that the segment goes on";
	/* else the next one would continue from there, even if this one's records are damaged */
	if (!lpl_clocks_ordered(&header->base, &header->first) ||
	    !lpl_clocks_ordered(&header->first, &header->last))
		return "its clocks run backwards";
	if (!records && (!lpl_clocks_equal(&header->first, &header->base) ||
			 !lpl_clocks_equal(&header->last, &header->base)))
		return "it has clocks but no records";
	if (header->kind == LPL_CHUNK_HEADER && !lpl_chunk_goes_on(header) &&
	    header->refs_before != 0)
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

	*end = source->head_bytes == 0 && is_past_limit(source);
	if (*end)
		return LPL_OK;
	error = read_bytes(source, bytes + source->head_bytes,
			   LPL_CHUNK_HEADER_BYTES - source->head_bytes, &count, &chunk->failure);
	source->head_bytes = count += source->head_bytes;
	LPL_TRY(error);
	*end = count == 0;
	if (*end)
		return LPL_OK;
	compared = count < LPL_CHUNK_MAGIC_BYTES ? count : LPL_CHUNK_MAGIC_BYTES;
	if (memcmp(bytes, lpl_chunk_magic, compared) != 0) {
		if (chunk->offset == 0 && lpl_is_manifest(bytes, count))
			return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
					"%s: a manifest of segments is read by its name, for they"
					" stand beside it", source->name);
		if (chunk->offset == 0 && !source->manifest)
			return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
					"%s: not a Laplace trace", source->name);
		return lpl_chunk_damaged(chunk, source->sequence,
					 "it does not begin like a chunk");
	}
	if (count < LPL_CHUNK_HEADER_BYTES)
		return truncated(source, chunk);
	found = lpl_chunk_decode(header, bytes);
	if (found != header->checksum)
		return lpl_chunk_mismatch(chunk, source->sequence, "header",
					  header->checksum, found);
	if (!lpl_chunk_version_known(header))
		return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
				"%s: version %u of the format is not known; a newer Laplace may read it",
				source->name, header->version);
	if (header->kind < LPL_CHUNK_HEADER || header->kind > LPL_CHUNK_STATE)
		return lpl_fail(&chunk->failure, LPL_ERR_FORMAT,
				"%s: chunk %u at offset %" PRIu64 ": kind %u is not known; a newer"
				" Laplace may read it", source->name,
				(unsigned int)source->sequence, chunk->offset, header->kind);
	fault = header_fault(source, header);
	return fault ? lpl_chunk_damaged(chunk, source->sequence, fault) : LPL_OK;
}

static void widen_span(struct lpl_source *source, const struct lpl_chunk *facts)
{
	struct lpl_span *span = &source->span;

	if (!source->has_span) {
		span->first_ref = facts->first_ref;
		span->first_instr = facts->first_instr;
		span->first_cycle = facts->first_cycle;
	}
	source->has_span = true;
	span->last_ref = facts->last_ref;
	span->last_instr = facts->last_instr;
	span->last_cycle = facts->last_cycle;
}

/* How much of the chunk is needed; its header is taken note of. */
static enum lpl_need ask(struct lpl_source *source, const struct lpl_loaded_chunk *chunk)
{
	const uint32_t kind = chunk->header.kind;
	struct lpl_chunk facts;

	if (kind == LPL_CHUNK_STATE || !lpl_chunk_has_records(kind))
		return LPL_NEED_ALL;
	facts = lpl_loaded_chunk_facts(chunk);
	widen_span(source, &facts);
	return source->need ? source->need(source->need_context, &facts) : LPL_NEED_ALL;
}

/* Leave the payload where it is; false: the file cannot do that, or has not all of it. */
static bool step_over(struct lpl_source *source, const struct lpl_chunk_header *header)
{
	if (source->limit < source->position + header->stored ||
	    lseek(source->fd, (off_t)header->stored, SEEK_CUR) < 0)
		return false;
	source->position += header->stored;
	return true;
}

/* Read the payload that belongs to the header, and look for what must not follow. */
static enum lpl_error read_payload(struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	enum lpl_error error;
	uint8_t byte;
	size_t count;

	chunk->need = ask(source, chunk);
	if (chunk->need == LPL_NEED_NOTHING && step_over(source, header)) {
		chunk->end = source->position;
		return LPL_OK;
	}
	if (!lpl_loaded_chunk_reserve(chunk))
		return lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for chunk %u",
				source->name, (unsigned int)source->sequence);
	error = read_bytes(source, chunk->stored, header->stored, &count, &chunk->failure);
	chunk->end = source->position;
	LPL_TRY(error);
	if (count < header->stored)
		return truncated(source, chunk);
	if (header->kind != LPL_CHUNK_INDEX)
		return LPL_OK;
	error = read_bytes(source, &byte, 1, &count, &chunk->failure);
	chunk->trailed = count != 0;
	return error;
}

/* What is read next has to follow this segment. */
static void continue_after(struct lpl_chunk_header *before, const struct lpl_segment_facts *segment)
{
	before->last = segment->last;
	before->refs_so_far = segment->refs_so_far;
	before->events_so_far = segment->events_so_far;
}

/* The next file of a trace in segments.  false: there is none, or it cannot be read. */
static bool next_segment(struct lpl_source *source, struct lpl_report *failure)
{
	struct lpl_manifest *manifest = source->manifest;
	struct lpl_chunk_header *before = &source->before;
	enum lpl_segment_kind kind;
	int fd;

	if (source->fd >= 0)
		(void)close(source->fd);
	if (source->named)	/* whatever could be read of it */
		continue_after(before, &manifest->at);
	source->fd = -1;
	kind = lpl_manifest_next(manifest, &fd, source->name, failure);
	if (fd >= 0)
		lpl_source_take(source, fd);
	source->named = kind == LPL_SEGMENT_NAMED;
	source->passing = kind == LPL_SEGMENT_BAD;
	source->over = false;
	source->first_due = true;
	source->position = 0;
	source->sequence = 0;
	source->head_bytes = 0;
	before->sequence = 0;
	if (source->passing)	/* the one after it has to follow what is missing */
		continue_after(before, &manifest->at);
	return source->fd >= 0;
}

/* The chunk is of this file. */
static void place(const struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	memcpy(chunk->name, source->name, sizeof(chunk->name));
	chunk->segment = source->manifest ? source->manifest->at.number : 0;
	chunk->before = source->manifest ? source->manifest->passed : 0;
	chunk->offset = source->position - source->head_bytes;
}

/* An INDEX was read: nothing more is in the file. */
static void end_file(struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	chunk->final = !source->manifest || lpl_manifest_is_over(source->manifest);
	if (source->manifest)
		source->over = true;
	else
		source->all_read = true;
}

bool lpl_source_read(struct lpl_source *source, struct lpl_loaded_chunk *chunk)
{
	bool end = false;

	chunk->failure.error = LPL_OK;
	chunk->trailed = chunk->final = false;
	if (source->over && !next_segment(source, &chunk->failure)) {
		place(source, chunk);
		chunk->end = 0;
		source->all_read = true;
		return source->passing;
	}
	place(source, chunk);
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
	if (chunk->header.kind != LPL_CHUNK_STATE && lpl_chunk_has_records(chunk->header.kind))
		source->first_due = false;
	if (read_payload(source, chunk) != LPL_OK)
		source->all_read = true;
	else if (chunk->header.kind == LPL_CHUNK_INDEX)
		end_file(source, chunk);
	source->before = chunk->header;
	source->sequence++;
	return true;
}

/* ---- continuing after damage ---- */

/* Is the chunk further on in the stream than all that was read? */
static bool is_further(const struct lpl_source *source, const struct lpl_chunk_header *header)
{
	const struct lpl_chunk_header *before = &source->before;

	return header->kind != LPL_CHUNK_HEADER && header->sequence > before->sequence &&
	       header->base.ref >= before->last.ref && header->base.instr >= before->last.instr &&
	       header->base.cycle >= before->last.cycle && header->refs <= header->refs_so_far &&
	       lpl_chunk_counted_events(header) <= header->events_so_far &&
	       lpl_chunk_base_refs(header) >= before->refs_so_far &&
	       lpl_chunk_base_events(header) >= before->events_so_far;
}

/* Let the chunk be the next one.  false: it is not even a possible one. */
static bool continue_with(struct lpl_source *source, const struct lpl_chunk_header *header)
{
	struct lpl_chunk_header before = source->before;
	uint32_t sequence = source->sequence;

	source->sequence = header->sequence;
	source->before.sequence = header->sequence - 1;
	source->before.last = header->base;
	source->before.refs_so_far = lpl_chunk_base_refs(header);
	source->before.events_so_far = lpl_chunk_base_events(header);
	source->first_due = false;	/* what was missed may have been the first */
	if (!header_fault(source, header))
		return true;
	source->before = before;
	source->sequence = sequence;
	return false;
}

/* Does the chunk in `head` have a header to continue with? */
static bool can_continue(struct lpl_source *source)
{
	struct lpl_chunk_header header;

	return source->head_bytes == LPL_CHUNK_HEADER_BYTES &&
	       memcmp(source->head, lpl_chunk_magic, LPL_CHUNK_MAGIC_BYTES) == 0 &&
	       lpl_chunk_decode(&header, source->head) == header.checksum &&
	       lpl_chunk_version_known(&header) && is_further(source, &header) &&
	       continue_with(source, &header);
}

void lpl_source_pass_over(struct lpl_source *source)
{
	source->passing = false;
	source->over = true;
	source->head_bytes = 0;
	source->all_read = false;
}

enum lpl_error lpl_source_find(struct lpl_source *source, struct lpl_report *report)
{
	size_t left, count;
	enum lpl_error error;

	if (source->passing) {
		lpl_source_pass_over(source);
		return LPL_OK;
	}
	while (!can_continue(source)) {
		assert(source->head_bytes > 0 && source->head_bytes <= LPL_CHUNK_HEADER_BYTES);
		uint8_t *at = memchr(source->head + 1, lpl_chunk_magic[0], source->head_bytes - 1);

		left = at ? (size_t)(source->head + source->head_bytes - at) : 0;
		if (at)
			memmove(source->head, at, left);
		count = 0;
		error = is_past_limit(source) ? LPL_OK :
			read_bytes(source, source->head + left, LPL_CHUNK_HEADER_BYTES - left,
				   &count, report);
		source->head_bytes = left + count;
		if (error == LPL_OK && count == 0 && source->manifest) {
			lpl_source_pass_over(source);
			return LPL_OK;
		}
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
