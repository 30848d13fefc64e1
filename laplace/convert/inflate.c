/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking what was deflated, by zlib; see inflate.h. */
#include "inflate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

static bool fill_input(struct lpl_input *input)
{
	ssize_t n;

	do
		n = input->over ? 0 : read(input->fd, input->buffer, sizeof(input->buffer));
	while (n < 0 && errno == EINTR);
	input->failed |= n < 0;
	input->over |= n <= 0;
	input->at = 0;
	input->end = n > 0 ? (size_t)n : 0;
	return n > 0;
}

int lpl_input_byte(struct lpl_input *input)
{
	if (input->at == input->end && !fill_input(input))
		return -1;
	input->read++;
	return input->buffer[input->at++];
}

size_t lpl_input_bytes(struct lpl_input *input, void *bytes, size_t count)
{
	size_t done = 0;

	while (done < count && (input->at < input->end || fill_input(input))) {
		size_t now = input->end - input->at;

		if (now > count - done)
			now = count - done;
		memcpy((uint8_t *)bytes + done, input->buffer + input->at, now);
		input->at += now;
		input->read += now;
		done += now;
	}
	return done;
}

/* ---- what is packed ---- */

#ifdef LAPLACE_ZLIB

static const char ends[] = "the file ends within packed bytes: was it cut off?";
static const char damaged[] = "the packed bytes are damaged";
static const char no_memory[] = "takes more memory than there is";

const char *lpl_inflate_begin(struct lpl_inflate *inflate, struct lpl_input *input)
{
	int status;

	inflate->input = input;
	inflate->done = false;
	if (inflate->begun)
		status = inflateReset(&inflate->stream);
	else
		status = inflateInit2(&inflate->stream, -MAX_WBITS);	/* without a header of zlib's */
	inflate->begun |= status == Z_OK;
	return status == Z_OK ? NULL : no_memory;
}

void lpl_inflate_end(struct lpl_inflate *inflate)
{
	if (inflate->begun)
		(void)inflateEnd(&inflate->stream);
	inflate->begun = false;
}

static const char *step(struct lpl_inflate *packed)
{
	struct lpl_input *input = packed->input;
	z_stream *stream = &packed->stream;
	int status;

	if (input->at == input->end)
		(void)fill_input(input);	/* at the end there may be more of what was taken before */
	stream->next_in = input->buffer + input->at;
	stream->avail_in = (uInt)(input->end - input->at);
	status = inflate(stream, Z_NO_FLUSH);
	input->read += input->end - input->at - stream->avail_in;
	input->at = input->end - stream->avail_in;
	packed->done = status == Z_STREAM_END;
	return status == Z_OK || status == Z_STREAM_END ? NULL :
	       status == Z_BUF_ERROR ? ends : status == Z_MEM_ERROR ? no_memory : damaged;
}

const char *lpl_inflate_next(struct lpl_inflate *inflate, const uint8_t **bytes, size_t *count)
{
	const char *wrong = NULL;

	inflate->stream.next_out = inflate->out;
	inflate->stream.avail_out = sizeof(inflate->out);
	while (!wrong && !inflate->done && inflate->stream.avail_out == sizeof(inflate->out))
		wrong = step(inflate);
	*bytes = inflate->out;
	*count = sizeof(inflate->out) - inflate->stream.avail_out;
	return wrong;
}

uint32_t lpl_crc(uint32_t crc, const uint8_t *bytes, size_t count)
{
	return (uint32_t)crc32_z(crc, bytes, count);
}

#else

const char *lpl_inflate_begin(struct lpl_inflate *inflate, struct lpl_input *input)
{
	(void)inflate;
	(void)input;
	return "it is packed, and Laplace was built without zlib (install the package zlib1g-dev, configure and build "
	       "again)";
}

void lpl_inflate_end(struct lpl_inflate *inflate)
{
	(void)inflate;
}

const char *lpl_inflate_next(struct lpl_inflate *inflate, const uint8_t **bytes, size_t *count)
{
	(void)inflate;
	(void)bytes;
	*count = 0;
	return NULL;
}

uint32_t lpl_crc(uint32_t crc, const uint8_t *bytes, size_t count)
{
	(void)bytes;
	(void)count;
	return crc;
}

#endif
