/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is in a file of gzip (RFC 1952) or zip; see unpack.h.  The parts of a zip are read one after the
 * other, as they stand before its list of contents, so that nothing has to be searched for; the CRC of
 * each part is compared.
 */
#include "unpack.h"

#include <string.h>

static const char cut_off[] = "the file ends within a packed part: was it cut off?";
static const char no_part[] = "something else than a packed part stands where one begins";
static const char differs[] = "the CRC of a packed part is another one: the file is damaged";

static uint32_t le(const uint8_t *bytes, int count)
{
	uint32_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

static bool skip(struct lpl_input *input, size_t count)
{
	while (count > 0 && lpl_input_byte(input) >= 0)
		count--;
	return count == 0;
}

static bool skip_text(struct lpl_input *input)
{
	int byte;

	do
		byte = lpl_input_byte(input);
	while (byte > 0);
	return byte == 0;
}

static const char *begin_inflating(struct lpl_unpack *unpack)
{
	unpack->crc = unpack->size = 0;
	unpack->state = UNPACK_INFLATING;
	return lpl_inflate_begin(&unpack->inflate, &unpack->input);
}

/* ---- gzip ---- */

static const char *begin_gzip(struct lpl_unpack *unpack)
{
	enum { HEADER_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };
	struct lpl_input *input = &unpack->input;
	uint8_t header[10], extra[2];
	const size_t got = lpl_input_bytes(input, header, sizeof(header));

	if (got == 0) {
		unpack->state = UNPACK_OVER;
		return NULL;
	}
	if (got < sizeof(header))
		return cut_off;
	if (header[0] != 0x1f || header[1] != 0x8b || header[2] != 8)
		return no_part;
	if ((header[3] & EXTRA) && (lpl_input_bytes(input, extra, 2) < 2 || !skip(input, le(extra, 2))))
		return cut_off;
	if (((header[3] & NAME) && !skip_text(input)) || ((header[3] & COMMENT) && !skip_text(input)) ||
	    ((header[3] & HEADER_CRC) && !skip(input, 2)))
		return cut_off;
	return begin_inflating(unpack);
}

static const char *end_gzip(struct lpl_unpack *unpack)
{
	uint8_t trailer[8];

	if (lpl_input_bytes(&unpack->input, trailer, sizeof(trailer)) < sizeof(trailer))
		return cut_off;
	unpack->state = UNPACK_BETWEEN;
	return le(trailer, 4) == unpack->crc && le(trailer + 4, 4) == unpack->size ? NULL : differs;
}

/* ---- zip ---- */

enum { ZIP_ENCRYPTED = 1, ZIP_SIZES_FOLLOW = 8, ZIP_STORED = 0, ZIP_DEFLATED = 8 };

static const char *begin_zip(struct lpl_unpack *unpack)
{
	struct lpl_input *input = &unpack->input;
	uint8_t header[30];
	uint32_t method;

	if (lpl_input_bytes(input, header, 4) < 4)
		return cut_off;
	if (memcmp(header, "PK\1\2", 4) == 0 || memcmp(header, "PK\5\6", 4) == 0) {
		unpack->state = UNPACK_OVER;	/* the list of contents */
		return NULL;
	}
	if (memcmp(header, "PK\3\4", 4) != 0)
		return no_part;
	if (lpl_input_bytes(input, header + 4, 26) < 26 ||
	    !skip(input, le(header + 26, 2) + le(header + 28, 2)))
		return cut_off;
	unpack->flags = le(header + 6, 2);
	method = le(header + 8, 2);
	if (unpack->flags & ZIP_ENCRYPTED)
		return "a packed part is encrypted";
	if (method != ZIP_DEFLATED && (method != ZIP_STORED || (unpack->flags & ZIP_SIZES_FOLLOW)))
		return "a part is packed by another method than deflating";
	unpack->said = le(header + 14, 4);
	unpack->stored = le(header + 18, 4);
	if (method == ZIP_DEFLATED)
		return begin_inflating(unpack);
	unpack->crc = unpack->size = 0;
	unpack->state = UNPACK_STORED;
	return NULL;
}

/* Where sizes follow, they may have 4 bytes or 8: the next part says, for it begins as any does. */
static const char *end_zip(struct lpl_unpack *unpack)
{
	struct lpl_input *input = &unpack->input;
	uint8_t after[24];
	size_t got = 16;

	unpack->state = UNPACK_BETWEEN;
	if (!(unpack->flags & ZIP_SIZES_FOLLOW))
		return unpack->said == unpack->crc ? NULL : differs;
	if (lpl_input_bytes(input, after, got) < got)
		return cut_off;
	if (memcmp(after, "PK\7\10", 4) != 0)
		return "the sizes after a packed part are missing";
	/* of 8 bytes: the upper half of the packed size, then the size */
	if (le(after + 12, 4) != unpack->size && !skip(input, 8))
		return cut_off;
	return le(after + 4, 4) == unpack->crc ? NULL : differs;
}

/* ---- either ---- */

void lpl_unpack_begin(struct lpl_unpack *unpack, int fd)
{
	struct lpl_input *input = &unpack->input;
	const uint8_t *head = input->buffer;

	memset(unpack, 0, sizeof(*unpack));
	input->fd = fd;
	/* what the first bytes are stays in the buffer, to be read again */
	if (lpl_input_byte(input) >= 0) {
		input->at--;
		input->read--;
	}
	if (input->end >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		unpack->kind = UNPACK_GZIP;
	else if (input->end >= 4 && memcmp(head, "PK\3\4", 4) == 0)
		unpack->kind = UNPACK_ZIP;
}

void lpl_unpack_end(struct lpl_unpack *unpack)
{
	lpl_inflate_end(&unpack->inflate);
}

static const char *read_on(struct lpl_unpack *unpack)
{
	const char *wrong;

	if (unpack->state == UNPACK_BETWEEN)
		return unpack->kind == UNPACK_GZIP ? begin_gzip(unpack) : begin_zip(unpack);
	wrong = lpl_inflate_next(&unpack->inflate, &unpack->bytes, &unpack->count);
	if (wrong)
		return wrong;
	unpack->crc = lpl_crc(unpack->crc, unpack->bytes, unpack->count);
	unpack->size += (uint32_t)unpack->count;
	if (unpack->count)
		return NULL;
	return unpack->kind == UNPACK_GZIP ? end_gzip(unpack) : end_zip(unpack);
}

/* Of a part that was not packed. */
static const char *read_stored(struct lpl_unpack *unpack, uint8_t *bytes, size_t wanted, size_t *got)
{
	const size_t now = wanted < unpack->stored ? wanted : (size_t)unpack->stored;

	*got = lpl_input_bytes(&unpack->input, bytes, now);
	if (*got < now)
		return cut_off;
	unpack->crc = lpl_crc(unpack->crc, bytes, now);
	unpack->stored -= now;
	return unpack->stored ? NULL : end_zip(unpack);
}

static const char *read_packed(struct lpl_unpack *unpack, uint8_t *bytes, size_t wanted, size_t *got)
{
	*got = 0;
	if (unpack->state == UNPACK_STORED)
		return read_stored(unpack, bytes, wanted, got);
	if (!unpack->count)
		return read_on(unpack);
	*got = wanted < unpack->count ? wanted : unpack->count;
	memcpy(bytes, unpack->bytes, *got);
	unpack->bytes += *got;
	unpack->count -= *got;
	return NULL;
}

const char *lpl_unpack_read(struct lpl_unpack *unpack, void *bytes, size_t wanted, size_t *got)
{
	const char *wrong = NULL;
	size_t now;

	*got = 0;
	if (unpack->kind == UNPACK_PLAIN)
		*got = lpl_input_bytes(&unpack->input, bytes, wanted);
	while (unpack->kind != UNPACK_PLAIN && !wrong && *got < wanted && unpack->state != UNPACK_OVER) {
		wrong = read_packed(unpack, (uint8_t *)bytes + *got, wanted - *got, &now);
		*got += now;
	}
	return unpack->input.failed ? "" : wrong;
}
