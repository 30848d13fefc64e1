/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large a reduced trace is: in references; as a text of one page number in
 * hex a line, the paper's format; as that text compressed by zstd; and as one of
 * our trace files.  Nothing of it is kept.
 */
#include <stdlib.h>

#include <zstd.h>

#include "study.h"

enum { LEVEL = 3, LINE = 17, TEXT_LINES = 512 };

struct study_sizer {
	struct lpl_sink sink;		/* first */
	struct study_size size;
	/* only what is measured in bytes has these */
	struct lpl_writer *writer;
	ZSTD_CCtx *zstd;
	char text[TEXT_LINES * LINE];
	char scratch[16384];
};

static int no_zstd(size_t result, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(result));
}

/* What the compressor gives is counted and thrown away. */
static int compress(struct study_sizer *sizer, const char *text, size_t length,
		    ZSTD_EndDirective directive, struct lpl_report *report)
{
	ZSTD_inBuffer in = { text, length, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { sizer->scratch, sizeof(sizer->scratch), 0 };

		left = ZSTD_compressStream2(sizer->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return no_zstd(left, report);
		sizer->size.zstd_bytes += out.pos;
	} while (directive == ZSTD_e_end ? left != 0 : in.pos < in.size);
	sizer->size.text_bytes += length;
	return LPL_OK;
}

/* The page's number and a newline.  Returns where it ends. */
static char *put_page(char *end, uint64_t page)
{
	int digits = 1;

	while (digits < 16 && page >> 4 * digits)
		digits++;
	for (int i = digits; i-- > 0;)
		*end++ = "0123456789abcdef"[page >> 4 * i & 15];
	*end++ = '\n';
	return end;
}

static int count_text(struct study_sizer *sizer, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	while (count) {
		char *end = sizer->text;
		size_t part = count < TEXT_LINES ? count : TEXT_LINES;
		int error;

		for (size_t i = 0; i < part; i++)
			end = put_page(end, refs[i].address >> LPL_PAGE_SHIFT);
		error = compress(sizer, sizer->text, (size_t)(end - sizer->text),
				 ZSTD_e_continue, report);
		if (error)
			return error;
		refs += part;
		count -= part;
	}
	return LPL_OK;
}

static int sizer_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct study_sizer *sizer = (struct study_sizer *)sink;
	struct lpl_sink *trace;
	int error;

	sizer->size.references += count;
	if (!sizer->writer)
		return LPL_OK;
	trace = lpl_writer_sink(sizer->writer);
	error = trace->refs(trace, refs, count, report);
	return error ? error : count_text(sizer, refs, count, report);
}

static int sizer_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static int sizer_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct study_sizer *sizer = (struct study_sizer *)sink;
	struct lpl_sink *trace;
	int error;

	if (!sizer->writer)
		return LPL_OK;
	trace = lpl_writer_sink(sizer->writer);
	error = trace->finish(trace, report);
	if (!error)
		error = lpl_writer_flush(sizer->writer, report);
	if (!error)
		error = compress(sizer, NULL, 0, ZSTD_e_end, report);
	sizer->size.lpl_bytes = lpl_writer_bytes(sizer->writer);
	return error;
}

static int open_bytes(struct study_sizer *sizer)
{
	struct lpl_report report = { 0 };
	struct lpl_meta *meta = lpl_meta_new();
	size_t result;
	int status = CLI_DONE;

	sizer->zstd = ZSTD_createCCtx();
	if (!meta || !sizer->zstd) {
		lpl_meta_free(meta);
		return cli_complain(CLI_FAILED, "no memory");
	}
	result = ZSTD_CCtx_setParameter(sizer->zstd, ZSTD_c_compressionLevel, LEVEL);
	if ((ZSTD_isError(result) && no_zstd(result, &report)) ||
	    lpl_writer_open(&sizer->writer, "/dev/null", meta, NULL, true, &report))
		status = cli_report(&report);
	lpl_meta_free(meta);
	return status;
}

int study_sizer_open(struct study_sizer **sizer, bool measured)
{
	*sizer = calloc(1, sizeof(**sizer));
	if (!*sizer)
		return cli_complain(CLI_FAILED, "no memory");
	(*sizer)->sink = (struct lpl_sink){ sizer_refs, sizer_event, sizer_finish };
	return measured ? open_bytes(*sizer) : CLI_DONE;
}

struct lpl_sink *study_sizer_sink(struct study_sizer *sizer)
{
	return &sizer->sink;
}

void study_sizer_read(const struct study_sizer *sizer, struct study_size *size)
{
	*size = sizer->size;
}

void study_sizer_close(struct study_sizer *sizer)
{
	if (!sizer)
		return;
	lpl_writer_abandon(sizer->writer);
	ZSTD_freeCCtx(sizer->zstd);
	free(sizer);
}
