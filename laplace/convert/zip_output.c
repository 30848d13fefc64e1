/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of zip, out; see zip_output.h.  A part's own header has room for its sizes and its CRC, which are filled in when
 * it is over.  What stays as it is of the first part is a block of deflate (RFC 1951, 3.2.4) that is not packed, of
 * which the bytes stand in the file; the CRC of the whole is that of it and of the rest, combined.
 */
#include "zip_output.h"

#ifdef LAPLACE_ZLIB

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/array.h"
#include "base/output.h"

enum {
	LEVEL = 4,
	NAME = 14,		/* chunk.00000000 */
	NAME_SIZE = 32,		/* for what snprintf() may write */
	SIZES = 20,		/* the extra field with a part's sizes ... */
	PLACE = 8,		/* ... and where it is */
	LOCAL = 30, LISTED = 46, END = 56 + 20 + 22,
	STORED = 5,		/* a block's beginning */
	ZIP64_VERSION = 45,		/* which has zip64 */
	NEW_YEAR = 0x21		/* 1980-01-01, which is no date */
};
#define NO_SIZE UINT32_MAX	/* it is in the extra field */

struct part {
	uint64_t offset, size, packed;
	uint32_t crc;
};

struct lpl_zip {
	z_stream stream;
	struct part *part;	/* the last one goes on */
	size_t parts, room;
	uint64_t at;		/* where the file ends */
	uint8_t head[LPL_ZIP_HEAD];
	size_t headed;
	uint8_t out[32768];
};

static uint8_t *put(uint8_t *out, uint64_t value, int bytes)
{
	for (; bytes > 0; bytes--, value >>= 8)
		*out++ = (uint8_t)value;
	return out;
}

static bool write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
	return lpl_write_all(fd, bytes, count, (off_t)offset);
}

static bool add(struct lpl_zip *zip, int fd, const void *bytes, size_t count)
{
	if (!write_at(fd, bytes, count, zip->at))
		return false;
	zip->at += count;
	return true;
}

/* ---- parts ---- */

/* What the two descriptions of a part have in common; sizes are elsewhere. */
static uint8_t *put_part(uint8_t *out, const struct part *part, unsigned int extra)
{
	out = put(out, ZIP64_VERSION, 2);
	out = put(out, 0, 2);
	out = put(out, Z_DEFLATED, 2);
	out = put(out, (uint64_t)NEW_YEAR << 16, 4);
	out = put(out, part->crc, 4);
	out = put(out, NO_SIZE, 4);
	out = put(out, NO_SIZE, 4);
	out = put(out, NAME, 2);
	return put(out, extra, 2);
}

static uint8_t *put_name(uint8_t *out, size_t number)
{
	char name[NAME_SIZE];

	(void)snprintf(name, sizeof(name), "chunk.%08zu", number);
	memcpy(out, name, NAME);
	return out + NAME;
}

static uint8_t *put_sizes(uint8_t *out, const struct part *part, unsigned int more)
{
	out = put(out, 1, 2);
	out = put(out, SIZES - 4 + more, 2);
	out = put(out, part->size, 8);
	return put(out, part->packed, 8);
}

static bool write_local(struct lpl_zip *zip, int fd, size_t number)
{
	uint8_t bytes[LOCAL + NAME + SIZES], *out = put(bytes, 0x04034b50, 4);
	const struct part *part = &zip->part[number];

	out = put_part(out, part, SIZES);
	out = put_name(out, number);
	out = put_sizes(out, part, 0);
	return write_at(fd, bytes, (size_t)(out - bytes), part->offset);
}

static bool begin_part(struct lpl_zip *zip, int fd)
{
	if (!lpl_reach(zip->part, zip->room, zip->parts)) {
		errno = ENOMEM;
		return false;
	}
	zip->part[zip->parts++] = (struct part){ .offset = zip->at };
	if (!write_local(zip, fd, zip->parts - 1))
		return false;
	zip->at += LOCAL + NAME + SIZES;
	return deflateReset(&zip->stream) == Z_OK;
}

static bool pack(struct lpl_zip *zip, int fd, const void *bytes, size_t count, int how)
{
	struct part *part = &zip->part[zip->parts - 1];
	int status;

	zip->stream.next_in = (z_const Bytef *)bytes;
	zip->stream.avail_in = (uInt)count;
	do {
		zip->stream.next_out = zip->out;
		zip->stream.avail_out = sizeof(zip->out);
		status = deflate(&zip->stream, how);
		if (!add(zip, fd, zip->out, sizeof(zip->out) - zip->stream.avail_out))
			return false;
	} while (how == Z_FINISH ? status != Z_STREAM_END : zip->stream.avail_out == 0);
	if (count)	/* of none crc32() returns where it begins */
		part->crc = (uint32_t)crc32(part->crc, bytes, (uInt)count);
	part->size += count;
	return true;
}

static bool end_part(struct lpl_zip *zip, int fd)
{
	struct part *part = &zip->part[zip->parts - 1];

	if (!pack(zip, fd, NULL, 0, Z_FINISH))
		return false;
	part->packed = zip->at - part->offset - (LOCAL + NAME + SIZES);
	return write_local(zip, fd, zip->parts - 1);
}

/* ---- the first bytes ---- */

/* They are a block by themselves; the CRC is of what comes after them, until the end. */
static bool write_head(struct lpl_zip *zip, int fd)
{
	uint8_t block[STORED + LPL_ZIP_HEAD], *out = block;

	*out++ = 0;
	out = put(out, LPL_ZIP_HEAD, 2);
	out = put(out, (uint16_t)~LPL_ZIP_HEAD, 2);
	memcpy(out, zip->head, LPL_ZIP_HEAD);
	return add(zip, fd, block, sizeof(block));
}

static bool change_head(struct lpl_zip *zip, int fd, const uint8_t head[LPL_ZIP_HEAD])
{
	struct part *first = &zip->part[0];

	first->crc = (uint32_t)crc32_combine(crc32(0, head, LPL_ZIP_HEAD), first->crc, (z_off_t)first->size);
	first->size += LPL_ZIP_HEAD;
	return write_at(fd, head, LPL_ZIP_HEAD, first->offset + LOCAL + NAME + SIZES + STORED) &&
	       write_local(zip, fd, 0);
}

/* ---- all of it ---- */

bool lpl_can_zip(void)
{
	return true;
}

struct lpl_zip *lpl_zip_open(void)
{
	struct lpl_zip *zip = calloc(1, sizeof(*zip));

	/* without a header and a trailer of zlib's own */
	if (zip && deflateInit2(&zip->stream, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(zip);
		return NULL;
	}
	return zip;
}

void lpl_zip_close(struct lpl_zip *zip)
{
	if (!zip)
		return;
	(void)deflateEnd(&zip->stream);
	free(zip->part);
	free(zip);
}

bool lpl_zip_write(struct lpl_zip *zip, int fd, const void *bytes, size_t count)
{
	const uint8_t *from = bytes;

	if (!zip->parts && !begin_part(zip, fd))
		return false;
	if (zip->headed < LPL_ZIP_HEAD) {
		const size_t left = LPL_ZIP_HEAD - zip->headed, now = count < left ? count : left;

		memcpy(zip->head + zip->headed, from, now);
		zip->headed += now;
		from += now;
		count -= now;
		if (zip->headed < LPL_ZIP_HEAD)
			return true;
		if (!write_head(zip, fd))
			return false;
	}
	return !count || pack(zip, fd, from, count, Z_NO_FLUSH);
}

bool lpl_zip_next(struct lpl_zip *zip, int fd)
{
	return end_part(zip, fd) && begin_part(zip, fd);
}

/* What is in the file, at its end: each part, and where this list is. */
static bool write_list(struct lpl_zip *zip, int fd)
{
	const uint64_t first = zip->at;
	uint8_t bytes[END], *out;

	_Static_assert(LISTED + NAME + SIZES + PLACE <= END, "fits");
	for (size_t i = 0; i < zip->parts; i++) {
		out = put(bytes, 0x02014b50, 4);
		out = put(out, ZIP64_VERSION, 2);
		out = put_part(out, &zip->part[i], SIZES + PLACE);
		out = put(out, 0, 10);		/* no comment, one disk, no attributes ... */
		out = put(out, NO_SIZE, 4);	/* ... and where it is */
		out = put_name(out, i);
		out = put_sizes(out, &zip->part[i], PLACE);
		out = put(out, zip->part[i].offset, 8);
		if (!add(zip, fd, bytes, (size_t)(out - bytes)))
			return false;
	}
	out = put(bytes, 0x06064b50, 4);
	out = put(out, 44, 8);			/* what follows of it */
	out = put(out, ZIP64_VERSION, 2);
	out = put(out, ZIP64_VERSION, 2);
	out = put(out, 0, 8);			/* disks */
	out = put(out, zip->parts, 8);
	out = put(out, zip->parts, 8);
	out = put(out, zip->at - first, 8);
	out = put(out, first, 8);
	out = put(out, 0x07064b50, 4);
	out = put(out, 0, 4);
	out = put(out, zip->at, 8);
	out = put(out, 1, 4);
	out = put(out, 0x06054b50, 4);
	out = put(out, 0, 4);
	out = put(out, UINT32_MAX, 4);		/* parts: see above ... */
	out = put(out, NO_SIZE, 4);
	out = put(out, NO_SIZE, 4);
	out = put(out, 0, 2);			/* ... and no comment */
	return add(zip, fd, bytes, (size_t)(out - bytes));
}

bool lpl_zip_end(struct lpl_zip *zip, int fd, const uint8_t head[LPL_ZIP_HEAD])
{
	return end_part(zip, fd) && change_head(zip, fd, head) && write_list(zip, fd);
}

uint64_t lpl_zip_size(const struct lpl_zip *zip)
{
	return zip->at;
}

const uint8_t *lpl_zip_head(const struct lpl_zip *zip)
{
	return zip->head;
}

#else

bool lpl_can_zip(void)
{
	return false;
}

struct lpl_zip *lpl_zip_open(void)
{
	return NULL;
}

void lpl_zip_close(struct lpl_zip *zip)
{
	(void)zip;
}

bool lpl_zip_write(struct lpl_zip *zip, int fd, const void *bytes, size_t count)
{
	(void)zip, (void)fd, (void)bytes, (void)count;
	return false;
}

bool lpl_zip_next(struct lpl_zip *zip, int fd)
{
	(void)zip, (void)fd;
	return false;
}

bool lpl_zip_end(struct lpl_zip *zip, int fd, const uint8_t head[LPL_ZIP_HEAD])
{
	(void)zip, (void)fd, (void)head;
	return false;
}

uint64_t lpl_zip_size(const struct lpl_zip *zip)
{
	(void)zip;
	return 0;
}

const uint8_t *lpl_zip_head(const struct lpl_zip *zip)
{
	(void)zip;
	return NULL;
}

#endif
