/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table, which is made once and written as text, in HTML or in JSON, row by row.
 */
#ifndef LAPLACE_CLI_REPORT_TABLE_H
#define LAPLACE_CLI_REPORT_TABLE_H

#include <jansson.h>

#include "cli/surveyed_trace.h"
#include "json_writer.h"

struct cell {
	enum {
		CELL_UNKNOWN, CELL_NUMBER,
		CELL_ID,		/* a number that counts nothing */
		CELL_REAL,
		CELL_SHARE,		/* 1 is 100 % */
		CELL_SERIES,		/* for programs alone, ... */
		CELL_NUMBERS,		/* ... as this */
		CELL_TEXT,
		CELL_CUT,		/* text; where it is longer than a column its end is cut, ... */
		CELL_PATH,		/* ... or its beginning, which says less */
		CELL_SPAN		/* text in the place of two cells */
	} type;
	unsigned int count;		/* digits after the point; bins; numbers */
	union {
		uint64_t number;
		double real;
		const struct lpl_time_series *series;
		const uint64_t *numbers;
		const char *text;
	};
	const char *(*name)(unsigned int i);	/* of a number */
};

#define CELL(kind, ...)		((struct cell){ .type = CELL_##kind, __VA_ARGS__ })
#define cell_number(value)	CELL(NUMBER, .number = (value))
#define cell_id(value)		CELL(ID, .number = (value))
#define cell_real(value, digits) CELL(REAL, .count = (digits), .real = (value))
#define cell_share(part, whole)	CELL(SHARE, .real = share_of(part, whole))
#define cell_text(value)	CELL(TEXT, .text = (value))
#define cell_series(values, bins) CELL(SERIES, .count = (bins), .series = (values))
#define cell_numbers(values, most, names) CELL(NUMBERS, .count = (most), .numbers = (values), .name = (names))
/* It, if that is known. */
#define cell_if(known, cell)	((known) ? (cell) : CELL(UNKNOWN, .count = 0))

/*
 * A cell of a row, and what each form calls its column; NULL where it leaves it out.  A title `html' that
 * begins with a blank is that of a column of text; `width` is that of text, below 0 where cells begin at
 * the left.
 */
struct entry {
	const char *json, *html, *text;
	int width;
	struct cell cell;
};

#define ALL(json, html, text, width, cell) ((struct entry){ json, html, text, width, cell })
#define NO_JSON(html, text, width, cell) ALL(NULL, html, text, width, cell)
#define NO_TEXT(json, html, cell)	ALL(json, html, NULL, 0, cell)
#define JSON(json, cell)		ALL(json, NULL, NULL, 0, cell)
#define HTML(html, cell)		ALL(NULL, html, NULL, 0, cell)
#define TEXT(text, width, cell)		ALL(NULL, NULL, text, width, cell)
#define NOTHING				JSON(NULL, cell_text(NULL))

struct table {
	enum table_form { TABLE_TEXT, TABLE_HTML, TABLE_JSON } form;
	FILE *out;			/* of text and HTML */
	struct json_writer *json;	/* ... of JSON, which is in an array */
	bool in_titles;			/* its own: the row that comes is for the titles */
};

/* The first row, of whatever record, gives the titles alone. */
void table_begin(struct table *table);
void table_row(struct table *table, const struct entry *entry, size_t count);
#define TABLE_ROW(table, ...) table_row(table, (const struct entry[]){ __VA_ARGS__ }, \
	sizeof((const struct entry[]){ __VA_ARGS__ }) / sizeof(struct entry))
/* So many rows are not shown. */
void table_end(struct table *table, uint64_t more);

/* NULL: no memory. */
json_t *cell_json(struct cell cell);

#endif
