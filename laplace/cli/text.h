/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records as text: a sink that prints each of them as one line.
 */
#ifndef LAPLACE_CLI_TEXT_H
#define LAPLACE_CLI_TEXT_H

#include <laplace/error.h>
#include <laplace/record.h>

enum text_format {
	TEXT_RAW,	/* r CYCLE LENGTH SPACE ADDRESS */
	TEXT_DIFF,	/* the same, each against the line before it */
	TEXT_SAD,	/* r CYCLE INSTRUCTION REFERENCE SPACE PAGE */
	TEXT_SAD_DIFF,	/* the same, each against the line before it */
	TEXT_PAGES,	/* r PAGE */
	TEXT_CSV,	/* every field, with a line of names */
	TEXT_FORMATS
};

/* "raw", "diff", "sad", "sad-diff", "pages", "csv" */
extern const char *const text_format_name[TEXT_FORMATS];

#define TEXT_LINE 4096		/* more than any line is long */
#define TEXT_BUFFER (16 * TEXT_LINE)

struct text_printer {
	struct lpl_sink sink;
	enum text_format format;
	bool events;		/* print them, too */
	int fd;
	bool headed;		/* the line of names is out */
	/* the last line's values; all 0 before the first */
	uint64_t cycle, instr, ref, space, address;
	/* what was lost by printing in this format */
	bool lengthless;	/* a length was asked of a page reference */
	bool spaces_mixed;	/* pages of several spaces look alike */
	bool any;
	size_t used;
	char buffer[TEXT_BUFFER];
};

void text_printer_init(struct text_printer *printer, enum text_format format,
		       bool events, int fd);

#endif
