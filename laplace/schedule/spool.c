/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The temporary file of chained blocks. */
#include "spool.h"

#include <stdlib.h>
#include <string.h>

#include "base/try.h"

/* ---- the file ---- */

enum lpl_error lpl_spool_open(struct lpl_spool **spool, const char *directory,
			      struct lpl_report *report)
{
	struct lpl_spool *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*spool = NULL;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory");
	error = lpl_temporary_open(&opened->file, directory, report);
	if (error != LPL_OK)
		free(opened);
	else
		*spool = opened;
	return error;
}

void lpl_spool_close(struct lpl_spool *spool)
{
	if (spool == NULL)
		return;
	for (size_t i = 0; i < LPL_SPOOL_BUFFERS; i++)
		free(spool->buffer[i].bytes);
	lpl_temporary_close(&spool->file);
	free(spool);
}

static size_t place_of(uint64_t block)
{
	return (size_t)(block - 1) * LPL_SPOOL_BLOCK;
}

static enum lpl_error write_block(const struct lpl_spool *spool, size_t i,
				  struct lpl_report *report)
{
	const struct lpl_spool_buffer *buffer = &spool->buffer[i];

	return lpl_temporary_write(&spool->file, buffer->bytes, lpl_spool_header(buffer)->used,
				   place_of(spool->block[i]), report);
}

static enum lpl_error read_block(const struct lpl_spool *spool, size_t i,
				 struct lpl_report *report)
{
	const struct lpl_spool_buffer *buffer = &spool->buffer[i];
	size_t got;

	/* the last one of all ends early */
	LPL_TRY(lpl_temporary_read(&spool->file, buffer->bytes, LPL_SPOOL_BLOCK,
				   place_of(spool->block[i]), &got, report));
	return got >= sizeof(struct lpl_spool_header) && got >= lpl_spool_header(buffer)->used ?
		LPL_OK : lpl_fail(report, LPL_ERR_INTERNAL, "schedule: the temporary file is short");
}

/* ---- buffers ---- */

/* An unused one, with nothing in it. */
static enum lpl_error find_buffer(struct lpl_spool *spool, size_t *found,
				  struct lpl_report *report)
{
	size_t best = LPL_SPOOL_BUFFERS;

	for (size_t i = 0; i < LPL_SPOOL_BUFFERS; i++)
		if (spool->buffer[i].pins == 0 &&
		    (best == LPL_SPOOL_BUFFERS ||
		     spool->buffer[i].last_used < spool->buffer[best].last_used))
			best = i;
	if (best == LPL_SPOOL_BUFFERS)
		return lpl_fail(report, LPL_ERR_INTERNAL, "schedule: all buffers are in use");
	if (spool->buffer[best].bytes == NULL)
		spool->buffer[best].bytes = malloc(LPL_SPOOL_BLOCK + LPL_SPOOL_SLACK);
	if (spool->buffer[best].bytes == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory");
	if (spool->block[best] != 0 && spool->buffer[best].changed)
		LPL_TRY(write_block(spool, best, report));
	spool->block[best] = 0;
	spool->buffer[best].changed = false;
	*found = best;
	return LPL_OK;
}

static struct lpl_spool_buffer *use(struct lpl_spool *spool, size_t i)
{
	spool->buffer[i].last_used = ++spool->uses;
	spool->buffer[i].pins++;
	return &spool->buffer[i];
}

enum lpl_error lpl_spool_pin(struct lpl_spool *spool, uint64_t block,
			     struct lpl_spool_buffer **buffer, struct lpl_report *report)
{
	size_t i = 0;

	while (i < LPL_SPOOL_BUFFERS && spool->block[i] != block)
		i++;
	if (i == LPL_SPOOL_BUFFERS) {
		enum lpl_error error;

		LPL_TRY(find_buffer(spool, &i, report));
		spool->block[i] = block;
		error = read_block(spool, i, report);
		if (error != LPL_OK) {
			spool->block[i] = 0;
			return error;
		}
	}
	*buffer = use(spool, i);
	return LPL_OK;
}

/* ---- writing ---- */

static void chain_on(struct lpl_chain *chain, struct lpl_spool_buffer *buffer)
{
	chain->buffer = buffer;
	chain->at = buffer->bytes + lpl_spool_header(buffer)->used;
	chain->end = buffer->bytes + LPL_SPOOL_BLOCK;
	buffer->changed = true;
}

enum lpl_error lpl_chain_extend(struct lpl_spool *spool, struct lpl_chain *chain, size_t size,
				struct lpl_report *report)
{
	struct lpl_spool_buffer *buffer;
	size_t i;

	if (chain->buffer == NULL && chain->last != 0) {
		LPL_TRY(lpl_spool_pin(spool, chain->last, &buffer, report));
		chain_on(chain, buffer);
		if ((size_t)(chain->end - chain->at) >= size)
			return LPL_OK;
	}
	LPL_TRY(find_buffer(spool, &i, report));
	buffer = use(spool, i);
	spool->block[i] = ++spool->blocks;
	*lpl_spool_header(buffer) = (struct lpl_spool_header){.used = sizeof(struct lpl_spool_header)};
	if (chain->buffer != NULL) {
		lpl_spool_header(chain->buffer)->next = spool->blocks;
		lpl_chain_pause(chain);
	} else {
		chain->first = spool->blocks;
	}
	chain->last = spool->blocks;
	chain_on(chain, buffer);
	return LPL_OK;
}

void lpl_chain_pause(struct lpl_chain *chain)
{
	if (chain->buffer == NULL)
		return;
	lpl_spool_header(chain->buffer)->used = lpl_chain_offset(chain);
	lpl_spool_unpin(chain->buffer);
	chain->buffer = NULL;
	chain->at = chain->end = NULL;
}

/* ---- reading ---- */

static void cursor_on(struct lpl_cursor *cursor, struct lpl_spool_buffer *buffer)
{
	cursor->buffer = buffer;
	cursor->at = buffer->bytes + cursor->offset;
	cursor->end = buffer->bytes + lpl_spool_header(buffer)->used;
}

enum lpl_error lpl_cursor_resume(struct lpl_spool *spool, struct lpl_cursor *cursor,
				 struct lpl_report *report)
{
	struct lpl_spool_buffer *buffer;

	if (cursor->buffer != NULL || cursor->block == 0)
		return LPL_OK;
	if (spool->block[cursor->last] == cursor->block)
		buffer = use(spool, cursor->last);
	else
		LPL_TRY(lpl_spool_pin(spool, cursor->block, &buffer, report));
	cursor->last = (size_t)(buffer - spool->buffer);
	cursor_on(cursor, buffer);
	return LPL_OK;
}

void lpl_cursor_pause(struct lpl_cursor *cursor)
{
	if (cursor->buffer == NULL)
		return;
	cursor->offset = (uint32_t)(cursor->at - cursor->buffer->bytes);
	lpl_spool_unpin(cursor->buffer);
	cursor->buffer = NULL;
}

enum lpl_error lpl_cursor_turn(struct lpl_spool *spool, struct lpl_cursor *cursor, bool *ends,
			       struct lpl_report *report)
{
	const uint64_t next = cursor->block != 0 ? lpl_spool_header(cursor->buffer)->next : 0;

	*ends = next == 0;
	if (next == 0)
		return LPL_OK;
	lpl_cursor_pause(cursor);
	cursor->block = next;
	cursor->offset = sizeof(struct lpl_spool_header);
	return lpl_cursor_resume(spool, cursor, report);
}
