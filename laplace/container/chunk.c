/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a chunk header. */
#include <endian.h>
#include <string.h>
#include <xxhash.h>

#include "chunk.h"

const uint8_t lpl_chunk_magic[LPL_CHUNK_MAGIC_BYTES] = {
	0x89, 'L', 'P', 'L', '\r', '\n', 0x1a, '\n'
};

uint64_t lpl_checksum(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}

static uint8_t *put16(uint8_t *out, uint16_t value)
{
	value = htole16(value);
	return (uint8_t *)memcpy(out, &value, sizeof(value)) + sizeof(value);
}

static uint8_t *put32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	return (uint8_t *)memcpy(out, &value, sizeof(value)) + sizeof(value);
}

static uint8_t *put64(uint8_t *out, uint64_t value)
{
	value = htole64(value);
	return (uint8_t *)memcpy(out, &value, sizeof(value)) + sizeof(value);
}

static uint8_t *put_clocks(uint8_t *out, const struct lpl_clocks *clocks)
{
	return put64(put64(put64(out, clocks->ref), clocks->instr), clocks->cycle);
}

void lpl_chunk_encode(struct lpl_chunk_header *header, uint8_t *out)
{
	uint8_t *at = out;

	memcpy(at, lpl_chunk_magic, LPL_CHUNK_MAGIC_BYTES);
	at = put16(at + LPL_CHUNK_MAGIC_BYTES, header->version);
	at = put16(at, header->kind);
	at = put32(at, header->sequence);
	at = put32(at, header->stored);
	at = put32(at, header->plain);
	at = put32(at, header->refs);
	at = put32(at, header->events);
	at = put_clocks(at, &header->base);
	at = put_clocks(at, &header->first);
	at = put_clocks(at, &header->last);
	at = put64(at, header->refs_so_far);
	at = put64(at, header->events_so_far);
	at = put64(at, header->refs_before);
	at = put64(at, header->payload_checksum);
	header->checksum = lpl_checksum(out, (size_t)(at - out));
	put64(at, header->checksum);
}

static const uint8_t *get16(const uint8_t *in, uint16_t *value)
{
	memcpy(value, in, sizeof(*value));
	*value = le16toh(*value);
	return in + sizeof(*value);
}

static const uint8_t *get32(const uint8_t *in, uint32_t *value)
{
	memcpy(value, in, sizeof(*value));
	*value = le32toh(*value);
	return in + sizeof(*value);
}

static const uint8_t *get64(const uint8_t *in, uint64_t *value)
{
	memcpy(value, in, sizeof(*value));
	*value = le64toh(*value);
	return in + sizeof(*value);
}

static const uint8_t *get_clocks(const uint8_t *in, struct lpl_clocks *clocks)
{
	return get64(get64(get64(in, &clocks->ref), &clocks->instr), &clocks->cycle);
}

uint64_t lpl_chunk_decode(struct lpl_chunk_header *header, const uint8_t *in)
{
	const uint8_t *at = in + LPL_CHUNK_MAGIC_BYTES;

	at = get16(at, &header->version);
	at = get16(at, &header->kind);
	at = get32(at, &header->sequence);
	at = get32(at, &header->stored);
	at = get32(at, &header->plain);
	at = get32(at, &header->refs);
	at = get32(at, &header->events);
	at = get_clocks(at, &header->base);
	at = get_clocks(at, &header->first);
	at = get_clocks(at, &header->last);
	at = get64(at, &header->refs_so_far);
	at = get64(at, &header->events_so_far);
	at = get64(at, &header->refs_before);
	at = get64(at, &header->payload_checksum);
	get64(at, &header->checksum);
	return lpl_checksum(in, LPL_CHUNK_HEADER_BYTES - sizeof(uint64_t));
}
