/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file side of a reader: chunks as they stand in the file, or in the files of a trace in
 * segments, one after the other.  Headers are checked here, for they say whether a chunk
 * continues the one before it; payloads are not looked at.
 */
#ifndef LAPLACE_CONTAINER_SOURCE_H
#define LAPLACE_CONTAINER_SOURCE_H

#include "base/output.h"
#include "loaded_chunk.h"
#include "manifest.h"

struct lpl_source {
	int fd;				/* of the present file; -1: there is none */
	bool regular;			/* a file: reading never waits for a writer */
	uint64_t limit;			/* of a file, its size when it was taken; 0: unknown */
	char name[LPL_NAME_SIZE];
	uint64_t position;		/* in the file */
	uint32_t sequence;		/* of the next chunk */
	struct lpl_chunk_header before;	/* of the last chunk read */
	bool all_read;			/* or nothing more can be */
	struct lpl_manifest *manifest;	/* owned by the reader; NULL: the trace is one file */
	bool over;			/* the present segment: the next one is due */
	bool named;			/* that segment is in the manifest */
	bool first_due;			/* none of its records was read yet */
	bool passing;			/* it could not be opened: to be passed over */
	/* how much of a chunk with records; NULL: all of it */
	enum lpl_need (*need)(void *context, const struct lpl_chunk *chunk);
	void *need_context;
	/* from the first record that is not of STATE to the last one so far */
	struct lpl_span span;
	bool has_span;
	/* the next chunk's header, as much of it as was read already */
	uint8_t head[LPL_CHUNK_HEADER_BYTES];
	size_t head_bytes;
};

/*
 * Read from here; a source owns no descriptor.  A file that is being written may grow as fast as
 * it is read, and reading has to end: so no chunk is read that begins after what is there now.
 */
void lpl_source_take(struct lpl_source *source, int fd);
/*
 * The next chunk, and what is wrong with it, which is left in the chunk; false: there is
 * none.  A wrong header or an error ends the reading.
 */
bool lpl_source_read(struct lpl_source *source, struct lpl_loaded_chunk *chunk);
/* Is there something to read without waiting for a writer? */
bool lpl_source_ready(const struct lpl_source *source);
/* Did a header end the reading? */
static inline bool lpl_source_stopped(const struct lpl_source *source)
{
	return source->all_read && (source->head_bytes > 0 || source->passing);
}
/* Of a trace in segments: nothing more of this one, the next is due. */
void lpl_source_pass_over(struct lpl_source *source);
/*
 * Then look for a chunk to continue with, which is further on in the stream, from that header
 * on: it may be good, and only in a wrong place.  LPL_OK when there is none, too.  After the last
 * one of a segment the next segment is read.
 */
enum lpl_error lpl_source_find(struct lpl_source *source, struct lpl_report *report);

#endif
