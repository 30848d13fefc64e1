/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codecs of pages; see page_codec.h. */
#include "page_codec.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#if defined(LAPLACE_LZ4)
#include <lz4.h>
#endif
#if defined(LAPLACE_LZO)
#include <lzo/lzo1x.h>
#endif

#include <laplace/image.h>

#include "base/try.h"

/* What any of them makes of a page that it cannot compress is not much longer than that. */
#define ROOM (2 * LPL_IMAGE_BYTES)

struct lpl_page_codec {
	const struct method *method;
	ZSTD_CCtx *zstd;
	int level;
	void *work;		/* lzo's */
	uint8_t out[ROOM];
};

/* One library's: bytes; 0: it could not. */
struct method {
	const char *name;
	const char *package;	/* that the library was built without; NULL: none */
	enum lpl_error (*open)(struct lpl_page_codec *codec, const char *options,
			       struct lpl_report *report);
	size_t (*compress)(struct lpl_page_codec *codec, const uint8_t *bytes);
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a codec");
}

#if defined(LAPLACE_LZ4) || defined(LAPLACE_LZO)
static enum lpl_error no_options(const char *name, const char *options, struct lpl_report *report)
{
	return options == NULL ? LPL_OK : lpl_fail(report, LPL_ERR_USAGE, "the codec %s has no level",
						   name);
}
#endif

/* ---- zstd ---- */

enum { ZSTD_LEAST = -7, ZSTD_MOST = 19 };

static enum lpl_error open_zstd(struct lpl_page_codec *codec, const char *options,
				struct lpl_report *report)
{
	char *end = NULL;
	const long level = options != NULL ? strtol(options, &end, 10) : 3;

	if (options != NULL && (end == options || *end != '\0' || level < ZSTD_LEAST ||
				level > ZSTD_MOST || level == 0))
		return lpl_fail(report, LPL_ERR_USAGE, "zstd:%.40s: the level is from 1 to %d, or from -1 to %d",
				options, ZSTD_MOST, ZSTD_LEAST);
	codec->level = (int)level;
	codec->zstd = ZSTD_createCCtx();
	return codec->zstd != NULL ? LPL_OK : no_memory(report);
}

static size_t compress_zstd(struct lpl_page_codec *codec, const uint8_t *bytes)
{
	const size_t size = ZSTD_compressCCtx(codec->zstd, codec->out, ROOM, bytes, LPL_IMAGE_BYTES,
					      codec->level);

	return ZSTD_isError(size) ? 0 : size;
}

/* ---- lz4 ---- */

#if defined(LAPLACE_LZ4)
static enum lpl_error open_lz4(struct lpl_page_codec *codec, const char *options,
			       struct lpl_report *report)
{
	(void)codec;
	return no_options("lz4", options, report);
}

static size_t compress_lz4(struct lpl_page_codec *codec, const uint8_t *bytes)
{
	const int size = LZ4_compress_default((const char *)bytes, (char *)codec->out, LPL_IMAGE_BYTES,
					      ROOM);

	return size > 0 ? (size_t)size : 0;
}
#endif

/* ---- lzo ---- */

#if defined(LAPLACE_LZO)
static enum lpl_error open_lzo(struct lpl_page_codec *codec, const char *options,
			       struct lpl_report *report)
{
	LPL_TRY(no_options("lzo", options, report));
	codec->work = calloc(1, LZO1X_1_MEM_COMPRESS);
	return codec->work != NULL && lzo_init() == LZO_E_OK ? LPL_OK : no_memory(report);
}

static size_t compress_lzo(struct lpl_page_codec *codec, const uint8_t *bytes)
{
	lzo_uint size = ROOM;

	return lzo1x_1_compress(bytes, LPL_IMAGE_BYTES, codec->out, &size, codec->work) == LZO_E_OK ?
		       size : 0;
}
#endif

/* ---- all of them ---- */

static const struct method methods[] = {
	{ "zstd", NULL, open_zstd, compress_zstd },
#if defined(LAPLACE_LZ4)
	{ "lz4", NULL, open_lz4, compress_lz4 },
#else
	{ "lz4", "liblz4-dev", NULL, NULL },
#endif
#if defined(LAPLACE_LZO)
	{ "lzo", NULL, open_lzo, compress_lzo },
#else
	{ "lzo", "liblzo2-dev", NULL, NULL },
#endif
};

static const struct method *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strlen(methods[i].name) == length && strncmp(methods[i].name, name, length) == 0)
			return &methods[i];
	return NULL;
}

enum lpl_error lpl_page_codec_open(struct lpl_page_codec **result, const char *name,
				   struct lpl_report *report)
{
	const size_t length = strcspn(name, ":");
	const struct method *method = find(name, length);
	struct lpl_page_codec *codec;
	enum lpl_error error;

	*result = NULL;
	if (method == NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "no codec '%.40s': there are zstd, zstd:LEVEL, lz4 and "
				"lzo", name);
	if (method->package != NULL)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: this laplace was built without it; install "
				"the package %s, configure and build again", method->name,
				method->package);
	codec = calloc(1, sizeof(*codec));
	if (codec == NULL)
		return no_memory(report);
	codec->method = method;
	error = method->open(codec, name[length] == ':' ? name + length + 1 : NULL, report);
	if (error != LPL_OK) {
		lpl_page_codec_close(codec);
		return error;
	}
	*result = codec;
	return LPL_OK;
}

void lpl_page_codec_close(struct lpl_page_codec *codec)
{
	if (codec == NULL)
		return;
	ZSTD_freeCCtx(codec->zstd);
	free(codec->work);
	free(codec);
}

uint32_t lpl_page_codec_size(struct lpl_page_codec *codec, const uint8_t *bytes)
{
	const size_t size = codec->method->compress(codec, bytes);

	return size == 0 || size > LPL_IMAGE_BYTES ? LPL_IMAGE_BYTES : (uint32_t)size;
}
