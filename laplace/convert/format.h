/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats other than our own: what `laplace cat`, `import` and `export` read
 * and write.  docs/formats.md specifies them.
 *
 * Each format is a file of this room that knows its lines or records both ways;
 * what they share is beside it: importer.c turns what is read into a stream,
 * printer.c is the sink that writes.
 */
#ifndef LAPLACE_CONVERT_FORMAT_H
#define LAPLACE_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/record.h>

struct importer;
struct printer;

enum format_trait {
	FORMAT_BINARY = 0x01,
	FORMAT_PAGES = 0x02,	/* tells pages: the page size counts */
	FORMAT_REDUCED = 0x04,	/* may stand for a reduced trace and does not say so */
	FORMAT_EVENTS = 0x08,	/* may have events between its lines */
	FORMAT_SEEKS = 0x10,	/* is completed as it is written: goes to files only */
	FORMAT_WHOLE = 0x20,	/* tells every field */
	FORMAT_READ_ONLY = 0x40,	/* is not written: has no `put` */
	/* the clocks that it tells; others are made when it is imported */
	TELLS_REF = 0x100,
	TELLS_INSTR = 0x200,
	TELLS_CYCLE = 0x400,
	/* ... and what else not all of them tell */
	TELLS_SPACE = 0x800,
	TELLS_LENGTH = 0x1000
};

struct format {
	const char *name;
	const char *fields;	/* of a line or record, for people */
	unsigned int traits;	/* enum format_trait */

	/*
	 * Import: read one line, which ends in a newline, or one record, of which
	 * `record_bytes` are there unless the input ends before.  Returns that
	 * newline, or what follows the record; NULL after importer_refuse().
	 */
	const char *(*read_line)(struct importer *importer, const char *at);
	const uint8_t *(*read_record)(struct importer *importer, const uint8_t *at,
				      const uint8_t *end);
	size_t record_bytes;
	/* The input is over: false after importer_refuse().  May be NULL. */
	bool (*read_end)(struct importer *importer);
	size_t import_state;	/* bytes of zeroed memory that reading needs; 0: none */
	void (*import_free)(void *state);	/* of what the state owns; may be NULL */

	/*
	 * Print: each writes to `out`, where PRINTER_ROOM bytes are free, and
	 * returns what follows; NULL after printer_refuse().  Only `put` must be.
	 */
	char *(*begin)(struct printer *printer, char *out);
	char *(*put)(struct printer *printer, char *out, const struct lpl_ref *ref);
	/* NULL, without a complaint, for an event that means nothing to the format */
	char *(*put_event)(struct printer *printer, char *out, const struct lpl_event *event);
	char *(*end)(struct printer *printer, char *out);	/* what was held back; repeatable */
	size_t print_state;
	void (*print_free)(void *state);
};

/* NULL: no such format. */
const struct format *format_find(const char *name);
/* "raw, diff, sad", for messages: those that have none of the traits `without`. */
#define FORMAT_LIST_SIZE 256
char *format_list(char list[FORMAT_LIST_SIZE], unsigned int without);

extern const struct format format_raw, format_diff, format_raw18;
extern const struct format format_sad, format_sad_diff;
extern const struct format format_pages, format_time_passed;
extern const struct format format_behaviour;
extern const struct format format_csv;
extern const struct format format_din;
extern const struct format format_kvmtrace;
extern const struct format format_lackey;
extern const struct format format_npy;
extern const struct format format_oracle_general;
extern const struct format format_pdats, format_pdats2;

#endif
