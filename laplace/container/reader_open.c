/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader of one file, or of a manifest's: opening and closing it, and what it is asked. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/try.h"
#include "meta.h"
#include "reader_open.h"
#include "reader_parts.h"

/* The first chunk, which has no records. */
static enum lpl_error read_meta(struct lpl_reader *reader, struct lpl_loaded_chunk *chunk)
{
	const struct lpl_chunk_header *header = &chunk->header;
	enum lpl_error error = LPL_OK;

	(void)lpl_source_read(&reader->source, chunk);
	lpl_loaded_chunk_decode(chunk);
	if (chunk->failure.error != LPL_OK)
		return chunk->failure.error;
	error = lpl_meta_decode(reader->meta, (const char *)chunk->plain, header->plain);
	if (error == LPL_ERR_DAMAGED)
		return lpl_chunk_damaged(chunk, header->sequence,
					 "it does not consist of key=value lines");
	if (error != LPL_OK || !lpl_reader_count_chunk(reader, header, chunk->offset))
		return lpl_fail(&chunk->failure, LPL_ERR_MEMORY, "%s: no memory for its header",
				reader->source.name);
	reader->last = *header;
	reader->consumed = chunk->end;
	return LPL_OK;
}

/* A reader, with nothing to read yet. */
static struct lpl_reader *create(const char *name)
{
	struct lpl_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->source.fd = -1;
	reader->jobs = 1;
	reader->stateless = true;
	lpl_short_name(reader->source.name, name);
	return reader;
}

enum lpl_error lpl_reader_open_fd(struct lpl_reader **result, int fd, bool owned,
				  const char *name, struct lpl_report *report)
{
	struct lpl_reader *reader = create(name);
	struct lpl_loaded_chunk chunk = { .offset = 0 };

	*result = NULL;
	if (!reader) {
		if (owned)
			(void)close(fd);
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", name);
	}
	lpl_source_take(&reader->source, fd);
	reader->size = reader->source.limit;
	reader->owned = owned;
	reader->meta = lpl_meta_new();
	if (!reader->meta || !lpl_loaded_chunk_init(&chunk))
		(void)lpl_fail(&chunk.failure, LPL_ERR_MEMORY, "%s: no memory to read it",
			       reader->source.name);
	else
		(void)read_meta(reader, &chunk);
	reader->failure = chunk.failure;
	lpl_loaded_chunk_free(&chunk);
	if (reader->failure.error != LPL_OK) {
		enum lpl_error error = lpl_reader_failed(reader, report);

		lpl_reader_close(reader);
		return error;
	}
	*result = reader;
	return LPL_OK;
}

/* The trace of a manifest; its segments are opened as they are read. */
static enum lpl_error open_segments(struct lpl_reader **result, int fd, const char *path,
				    struct lpl_report *report)
{
	struct lpl_manifest *manifest;
	struct lpl_reader *reader;

	LPL_TRY(lpl_manifest_open(&manifest, fd, path, NULL, report));
	reader = create(path);
	if (!reader) {
		lpl_manifest_close(manifest);
		return lpl_fail(report, LPL_ERR_MEMORY, "%s: no memory to read it", path);
	}
	reader->source.manifest = manifest;
	reader->source.over = true;
	reader->source.regular = true;
	reader->owned = true;
	reader->size = manifest->bytes;
	reader->meta = manifest->meta;
	*result = reader;
	return LPL_OK;
}

enum lpl_error lpl_reader_open(struct lpl_reader **reader, const char *path,
			       struct lpl_report *report)
{
	char name[LPL_NAME_SIZE], part[PATH_MAX];
	int fd;

	*reader = NULL;
	if (strcmp(path, "-") == 0)
		return lpl_reader_open_fd(reader, STDIN_FILENO, false, "(standard input)",
					  report);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int why = errno;
		bool begun = why == ENOENT &&
			     snprintf(part, sizeof(part), "%s.part", path) < (int)sizeof(part) &&
			     access(part, F_OK) == 0;

		lpl_short_name(name, path);
		errno = why;
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be opened%s", name, begun ?
				" (what is being recorded, or was cut off, has .part after its "
				"name)" : "");
	}
	if (lpl_is_manifest_file(fd))
		return open_segments(reader, fd, path, report);
	return lpl_reader_open_fd(reader, fd, true, path, report);
}

void lpl_reader_jobs(struct lpl_reader *reader, unsigned int jobs)
{
	if (!reader->queue)
		reader->jobs = jobs;
}

void lpl_reader_fold(struct lpl_reader *reader)
{
	reader->folding = true;
}

uint64_t lpl_reader_folded(const struct lpl_reader *reader)
{
	return reader->folded;
}

void lpl_reader_step(struct lpl_reader *reader)
{
	if (!reader->queue)
		reader->stepping = true;
}

const struct lpl_page_steps *lpl_reader_stepped(const struct lpl_reader *reader)
{
	return reader->stepped ? &reader->steps : NULL;
}

void lpl_reader_compare_hash(struct lpl_reader *reader)
{
	lpl_stream_hash_init(&reader->hash);
	reader->hashing = true;
}

void lpl_reader_ask(struct lpl_reader *reader,
		    enum lpl_need (*need)(void *context, const struct lpl_chunk *chunk),
		    void *context)
{
	reader->source.need = need;
	reader->source.need_context = context;
}

bool lpl_reader_span(const struct lpl_reader *reader, struct lpl_span *span)
{
	*span = reader->source.span;
	return reader->source.has_span;
}

const char *lpl_packing_part(unsigned int part)
{
	static const char *const names[LPL_PACKING_PARTS] = {
		"flow", "shape", "hits", "misses", "traces", "codes", "states", "rest"
	};

	return part < LPL_PACKING_PARTS ? names[part] : NULL;
}

bool lpl_reader_packing(const struct lpl_reader *reader, struct lpl_packing *packing)
{
	*packing = reader->packing;
	return packing->chunks > 0;
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

uint64_t lpl_reader_segments(const struct lpl_reader *reader)
{
	return reader->segments;
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
	/* the manifest does not name the last one yet */
	return reader->size > 0 && reader->consumed > reader->size ? reader->consumed :
								     reader->size;
}

void lpl_reader_close(struct lpl_reader *reader)
{
	if (!reader)
		return;
	lpl_work_queue_free(reader->queue);	/* its threads first: they use what follows */
	for (unsigned int i = 0; reader->slot && i < lpl_work_queue_slots(reader->jobs); i++)
		lpl_loaded_chunk_free(&reader->slot[i]);
	free(reader->slot);
	free(reader->expanded);
	free(reader->unhashed);
	if (reader->owned && reader->source.fd >= 0)
		(void)close(reader->source.fd);
	if (reader->source.manifest)
		lpl_manifest_close(reader->source.manifest);	/* with the header */
	else
		lpl_meta_free(reader->meta);
	lpl_index_free(&reader->index);
	lpl_index_free(&reader->old_index);
	free(reader);
}
