/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats other than our own: what `laplace cat`, `import` and `export` read
 * and write.  docs/formats.md specifies them.
 *
 * Each format is a file of this room that knows its lines or records both ways;
 * what they share is beside it: importer.c turns what is read into a stream,
 * exporter.c is the sink that writes.
 */
#ifndef LAPLACE_CONVERT_FORMAT_H
#define LAPLACE_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/record.h>

struct lpl_importer;
struct lpl_exporter;

enum lpl_format_trait {
	LPL_FORMAT_BINARY = 0x01,
	LPL_FORMAT_PAGES = 0x02,	/* tells pages: the page size counts */
	LPL_FORMAT_REDUCED = 0x04,	/* may stand for a reduced trace and does not say so */
	LPL_FORMAT_EVENTS = 0x08,	/* may have events between its lines */
	LPL_FORMAT_SEEKS = 0x10,	/* is completed as it is written: goes to files only */
	LPL_FORMAT_WHOLE = 0x20,	/* tells every field */
	LPL_FORMAT_IMPORT_ONLY = 0x40,	/* is not written: has no `put` */
	/* the clocks that it tells; others are made when it is imported */
	LPL_TELLS_REF = 0x100,
	LPL_TELLS_INSTR = 0x200,
	LPL_TELLS_CYCLE = 0x400,
	/* ... and what else not all of them tell */
	LPL_TELLS_SPACE = 0x800,
	LPL_TELLS_LENGTH = 0x1000
};

struct lpl_format {
	const char *name;
	const char *fields;	/* of a line or record, for people */
	unsigned int traits;	/* enum lpl_format_trait */

	/*
	 * Import: read one line, which ends in a newline, or one record, of which
	 * `record_bytes` are there unless the input ends before.  Returns that
	 * newline, or what follows the record; NULL after lpl_import_refuse().
	 */
	const char *(*read_line)(struct lpl_importer *importer, const char *at);
	const uint8_t *(*read_record)(struct lpl_importer *importer, const uint8_t *at,
				      const uint8_t *end);
	size_t record_bytes;
	/* The input is over: false after lpl_import_refuse().  May be NULL. */
	bool (*read_end)(struct lpl_importer *importer);
	size_t import_state;	/* bytes of zeroed memory that reading needs; 0: none */
	void (*import_free)(void *state);	/* of what the state owns; may be NULL */

	/*
	 * Print: each writes to `out`, where EXPORT_ROOM bytes are free, and
	 * returns what follows; NULL after lpl_export_refuse().  Only `put` must be.
	 */
	char *(*begin)(struct lpl_exporter *exporter, char *out);
	char *(*put)(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref);
	/* NULL, without a complaint, for an event that means nothing to the format */
	char *(*put_event)(struct lpl_exporter *exporter, char *out, const struct lpl_event *event);
	char *(*end)(struct lpl_exporter *exporter, char *out);	/* what was held back; repeatable */
	size_t print_state;
	void (*print_free)(void *state);
};

/* NULL: no such format. */
const struct lpl_format *lpl_format_find(const char *name);
/* "raw, diff, sad", for messages: those that have none of the traits `without`. */
#define LPL_FORMAT_LIST_SIZE 256
char *lpl_format_list(char list[LPL_FORMAT_LIST_SIZE], unsigned int without);

extern const struct lpl_format lpl_format_raw, lpl_format_diff, lpl_format_raw18;
extern const struct lpl_format lpl_format_sad, lpl_format_sad_diff;
extern const struct lpl_format lpl_format_pages, lpl_format_time_passed;
extern const struct lpl_format lpl_format_behaviour;
extern const struct lpl_format lpl_format_csv;
extern const struct lpl_format lpl_format_din;
extern const struct lpl_format lpl_format_kvmtrace;
extern const struct lpl_format lpl_format_lackey;
extern const struct lpl_format lpl_format_npy;
extern const struct lpl_format lpl_format_oracle_general;
extern const struct lpl_format lpl_format_pdats, lpl_format_pdats2;

#endif
