/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large a reduced trace is: in references; as a text of one page number in
 * hex a line, the paper's format; as that text compressed by zstd; and as one of
 * our trace files.  Nothing of it is kept.
 */
#include <stdlib.h>

#include <zstd.h>

#include <laplace/trace.h>

#include "base/digits.h"
#include "cli/say.h"
#include "study.h"

enum { LEVEL = 3, LINE = LPL_HEX_DIGITS + 1, TEXT_LINES = 512 };

struct study_measure {
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
static int compress(struct study_measure *measure, const char *text, size_t length,
		    ZSTD_EndDirective directive, struct lpl_report *report)
{
	ZSTD_inBuffer in = { text, length, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { measure->scratch, sizeof(measure->scratch), 0 };

		left = ZSTD_compressStream2(measure->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return no_zstd(left, report);
		measure->size.zstd_bytes += out.pos;
	} while (directive == ZSTD_e_end ? left != 0 : in.pos < in.size);
	measure->size.text_bytes += length;
	return LPL_OK;
}

static int count_text(struct study_measure *measure, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	while (count) {
		char *end = measure->text;
		size_t part = count < TEXT_LINES ? count : TEXT_LINES;
		int error;

		for (size_t i = 0; i < part; i++) {
			end = lpl_put_hex(end, refs[i].address >> LPL_PAGE_SHIFT);
			*end++ = '\n';
		}
		error = compress(measure, measure->text, (size_t)(end - measure->text),
				 ZSTD_e_continue, report);
		if (error)
			return error;
		refs += part;
		count -= part;
	}
	return LPL_OK;
}

static int measure_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			struct lpl_report *report)
{
	struct study_measure *measure = (struct study_measure *)sink;
	struct lpl_sink *trace;
	int error;

	measure->size.references += count;
	if (!measure->writer)
		return LPL_OK;
	trace = lpl_writer_sink(measure->writer);
	error = trace->refs(trace, refs, count, report);
	return error ? error : count_text(measure, refs, count, report);
}

static int measure_event(struct lpl_sink *sink, const struct lpl_event *event,
			 struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static int measure_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct study_measure *measure = (struct study_measure *)sink;
	struct lpl_sink *trace;
	int error;

	if (!measure->writer)
		return LPL_OK;
	trace = lpl_writer_sink(measure->writer);
	error = trace->finish(trace, report);
	if (!error)
		error = lpl_writer_flush(measure->writer, report);
	if (!error)
		error = compress(measure, NULL, 0, ZSTD_e_end, report);
	measure->size.lpl_bytes = lpl_writer_bytes(measure->writer);
	return error;
}

static int open_bytes(struct study_measure *measure)
{
	struct lpl_report report = { 0 };
	struct lpl_meta *meta = lpl_meta_new();
	size_t result;
	int status = CLI_DONE;

	measure->zstd = ZSTD_createCCtx();
	if (!meta || !measure->zstd) {
		lpl_meta_free(meta);
		return cli_complain(CLI_FAILED, "no memory");
	}
	result = ZSTD_CCtx_setParameter(measure->zstd, ZSTD_c_compressionLevel, LEVEL);
	if ((ZSTD_isError(result) && no_zstd(result, &report)) ||
	    lpl_writer_open(&measure->writer, "/dev/null", meta, NULL, true, &report))
		status = cli_report(&report);
	lpl_meta_free(meta);
	return status;
}

int study_measure_open(struct study_measure **measure, bool bytes)
{
	*measure = calloc(1, sizeof(**measure));
	if (!*measure)
		return cli_complain(CLI_FAILED, "no memory");
	(*measure)->sink = (struct lpl_sink){ measure_refs, measure_event, measure_finish };
	return bytes ? open_bytes(*measure) : CLI_DONE;
}

struct lpl_sink *study_measure_sink(struct study_measure *measure)
{
	return &measure->sink;
}

void study_measure_read(const struct study_measure *measure, struct study_size *size)
{
	*size = measure->size;
}

void study_measure_close(struct study_measure *measure)
{
	if (!measure)
		return;
	lpl_writer_abandon(measure->writer);
	ZSTD_freeCCtx(measure->zstd);
	free(measure);
}
