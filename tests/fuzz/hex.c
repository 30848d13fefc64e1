/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inputs of fuzzers as text, so that they can be kept with the sources:
 *
 *	hex pack FILE...	print files in hex, the smallest first; each but once
 *	hex unpack DIRECTORY	from standard input: the files that were printed, by number
 *	hex chunks TRACE DIRECTORY	inputs of fuzz_reader, fuzz_data and fuzz_blocks, made of a
 *				trace: its plain form (fuzz_reader.c), and each chunk's payload
 *
 * In the text a file is some lines, an empty line ends it, and # begins a line of comment.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "container/chunk.h"

#define LARGEST (1 << 20)	/* bytes of an input */
#define LINE_BYTES 40

struct bytes {
	uint8_t *byte;		/* owned */
	size_t size;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "hex: %s: %s\n", what, errno ? strerror(errno) : "is malformed");
	exit(1);
}

static bool read_whole(const char *path, struct bytes *bytes)
{
	FILE *file = fopen(path, "rb");

	bytes->byte = malloc(LARGEST);
	if (!file || !bytes->byte)
		return false;
	bytes->size = fread(bytes->byte, 1, LARGEST, file);
	return !ferror(file) && fclose(file) == 0;
}

static bool write_whole(const char *directory, const char *prefix, unsigned int number,
			const uint8_t *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s%03u", directory, prefix, number);
	file = fopen(path, "wb");
	return file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0;
}

/* ---- pack ---- */

static int by_size(const void *a, const void *b)
{
	const struct bytes *one = a, *other = b;

	if (one->size != other->size)
		return one->size < other->size ? -1 : 1;
	return memcmp(one->byte, other->byte, one->size);
}

static int pack(char **path, size_t count)
{
	struct bytes *file = calloc(count + 1, sizeof(*file));

	if (!file)
		fail("pack");
	for (size_t i = 0; i < count; i++)
		if (!read_whole(path[i], &file[i]))
			fail(path[i]);
	qsort(file, count, sizeof(*file), by_size);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && by_size(&file[i], &file[i - 1]) == 0)
			continue;
		for (size_t k = 0; k < file[i].size; k++)
			printf("%02x%s", file[i].byte[k],
			       (k + 1) % LINE_BYTES == 0 && k + 1 < file[i].size ? "\n" : "");
		printf("\n\n");
	}
	if (fflush(stdout) != 0)
		fail("standard output");
	return 0;
}

/* ---- unpack ---- */

/* The bytes of a line, after those that there are; false: it is no hex. */
static bool take_line(struct bytes *bytes, const char *line)
{
	unsigned int byte;

	for (; !isspace((unsigned char)*line) && *line; line += 2) {
		if (!isxdigit((unsigned char)line[0]) || !isxdigit((unsigned char)line[1]) ||
		    bytes->size == LARGEST || sscanf(line, "%2x", &byte) != 1)
			return false;
		bytes->byte[bytes->size++] = (uint8_t)byte;
	}
	return true;
}

static int unpack(const char *directory)
{
	struct bytes bytes = { malloc(LARGEST), 0 };
	unsigned int number = 0;
	char line[4096];

	if (!bytes.byte)
		fail("unpack");
	for (;;) {
		bool more = fgets(line, sizeof(line), stdin) != NULL;

		if ((!more || line[0] == '\n') && bytes.size > 0) {
			if (!write_whole(directory, "", number++, bytes.byte, bytes.size))
				fail(directory);
			bytes.size = 0;
		}
		if (!more)
			break;
		errno = 0;
		if (line[0] != '#' && !take_line(&bytes, line))
			fail("standard input");
	}
	free(bytes.byte);
	if (ferror(stdin))
		fail("standard input");
	return 0;
}

/* ---- chunks ---- */

/* What fuzz_data and fuzz_blocks read: header and payload, for blocks after the payload's length. */
static bool write_payload(const char *directory, unsigned int number, const uint8_t *head,
			  const uint8_t *plain, const struct lpl_chunk_header *header)
{
	static uint8_t out[3 + LPL_CHUNK_HEADER_BYTES + LARGEST];
	bool has_blocks = header->kind == LPL_CHUNK_RUNS;
	uint8_t *at = out;

	for (int shift = 0; has_blocks && shift < 24; shift += 8)
		*at++ = (uint8_t)(header->plain >> shift);
	memcpy(at, head, LPL_CHUNK_HEADER_BYTES);
	memcpy(at + LPL_CHUNK_HEADER_BYTES, plain, header->plain);
	at += LPL_CHUNK_HEADER_BYTES + header->plain;
	return write_whole(directory, has_blocks ? "blocks" : "data", number, out, (size_t)(at - out));
}

static int chunks(const char *path, const char *directory)
{
	static uint8_t plain[2 + LARGEST] = { 2, 0 };	/* as fuzz_reader.c has it */
	struct lpl_chunk_header header;
	struct bytes file;
	size_t size = 2, at = 0;

	if (!read_whole(path, &file))
		fail(path);
	errno = 0;
	for (unsigned int i = 0; file.size - at >= LPL_CHUNK_HEADER_BYTES; i++) {
		const uint8_t *head = file.byte + at;
		uint8_t *payload = plain + size + LPL_CHUNK_HEADER_BYTES;

		(void)lpl_chunk_decode(&header, head);
		at += LPL_CHUNK_HEADER_BYTES + header.stored;
		if (at > file.size || header.plain > LARGEST - size - LPL_CHUNK_HEADER_BYTES)
			fail(path);
		memcpy(plain + size, head, LPL_CHUNK_HEADER_BYTES);
		if (ZSTD_decompress(payload, header.plain, head + LPL_CHUNK_HEADER_BYTES,
				    header.stored) != header.plain)
			fail(path);
		if (lpl_chunk_has_records(header.kind) &&
		    !write_payload(directory, i, head, payload, &header))
			fail(directory);
		size += LPL_CHUNK_HEADER_BYTES + header.plain;
	}
	free(file.byte);
	if (!write_whole(directory, "plain", 0, plain, size))
		fail(directory);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "pack") == 0)
		return pack(argv + 2, (size_t)argc - 2);
	if (argc == 3 && strcmp(argv[1], "unpack") == 0)
		return unpack(argv[2]);
	if (argc == 4 && strcmp(argv[1], "chunks") == 0)
		return chunks(argv[2], argv[3]);
	fprintf(stderr, "usage: hex pack FILE... | unpack DIRECTORY | chunks TRACE DIRECTORY\n");
	return 2;
}
