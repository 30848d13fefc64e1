/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is done to a chunk between its reading and its delivery, on any thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "piece.h"

bool lpl_piece_init(struct lpl_piece *piece)
{
	piece->zstd = ZSTD_createDCtx();
	return piece->zstd != NULL;
}

void lpl_piece_free(struct lpl_piece *piece)
{
	ZSTD_freeDCtx(piece->zstd);
	lpl_data_free(&piece->data);
	free(piece->stored);
	free(piece->plain);
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

bool lpl_piece_reserve(struct lpl_piece *piece)
{
	return reserve(&piece->stored, &piece->stored_room, piece->header.stored) &&
	       reserve(&piece->plain, &piece->plain_room, piece->header.plain);
}

enum lpl_error lpl_piece_damaged(struct lpl_piece *piece, const char *name, uint32_t sequence,
				 const char *cause)
{
	return lpl_fail(&piece->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s; what precedes it is"
			" whole", name, (unsigned int)sequence, piece->offset, cause);
}

enum lpl_error lpl_piece_mismatch(struct lpl_piece *piece, const char *name, uint32_t sequence,
				  const char *what, uint64_t expected, uint64_t found)
{
	return lpl_fail(&piece->failure, LPL_ERR_DAMAGED,
			"%s: chunk %u at offset %" PRIu64 " is damaged: %s checksum: expected"
			" %016" PRIx64 ", found %016" PRIx64 "; what precedes it is whole",
			name, (unsigned int)sequence, piece->offset, what, expected, found);
}

static enum lpl_error decompress(struct lpl_piece *piece, const char *name)
{
	const struct lpl_chunk_header *header = &piece->header;
	uint64_t found = lpl_checksum(piece->stored, header->stored);
	size_t count;

	if (found != header->payload_checksum)
		return lpl_piece_mismatch(piece, name, header->sequence, "payload",
					  header->payload_checksum, found);
	if (ZSTD_findFrameCompressedSize(piece->stored, header->stored) != header->stored ||
	    ZSTD_getFrameContentSize(piece->stored, header->stored) != header->plain)
		return lpl_piece_damaged(piece, name, header->sequence,
					 "its payload is not one zstd frame of its size");
	count = ZSTD_decompressDCtx(piece->zstd, piece->plain, header->plain,
				    piece->stored, header->stored);
	if (ZSTD_isError(count) || count != header->plain)
		return lpl_piece_damaged(piece, name, header->sequence,
					 "its payload cannot be decompressed");
	return LPL_OK;
}

void lpl_piece_decode(struct lpl_piece *piece, const char *name)
{
	const struct lpl_chunk_header *header = &piece->header;
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error;

	if (piece->failure.error != LPL_OK || decompress(piece, name) != LPL_OK ||
	    header->kind != LPL_CHUNK_DATA)
		return;
	error = lpl_data_decode(&piece->data, header, piece->plain, header->plain, &cause);
	if (error == LPL_ERR_DAMAGED)
		(void)lpl_piece_damaged(piece, name, header->sequence, cause.text);
	else if (error != LPL_OK)
		(void)lpl_fail(&piece->failure, error, "%s: chunk %u: %s", name,
			       (unsigned int)header->sequence, cause.text);
}
