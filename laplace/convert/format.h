/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a format is made of.  Each is a file format_NAME.c of this room, which knows its lines
 * or records both ways and ends in its entry; formats.c has the table of entries.  What formats
 * share is beside them: importer.h for reading, exporter.h for writing, fields.h for both.
 */
#ifndef LAPLACE_CONVERT_FORMAT_H
#define LAPLACE_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/convert.h>

#include "sample.h"

struct lpl_format {
	const char *name;
	const char *fields;	/* of a line or record, for people */
	unsigned int traits;	/* enum lpl_format_trait */

	/* Is a file of this format, which is not named?  NULL: that is never said. */
	enum lpl_recognition (*recognise)(const struct lpl_sample *sample);

	/*
	 * Import: read one line, which ends in a newline, or one record, of which
	 * `record_bytes` are there unless the input ends before.  Returns that
	 * newline, or what follows the record; NULL after lpl_import_refuse().
	 */
	const char *(*read_line)(struct lpl_importer *importer, const char *at);
	const uint8_t *(*read_record)(struct lpl_importer *importer, const uint8_t *at,
				      const uint8_t *end);
	size_t record_bytes;
	/* Or read a whole directory, `importer->fd`; false after lpl_import_refuse(). */
	bool (*read_directory)(struct lpl_importer *importer);
	/* The input is over: false after lpl_import_refuse().  May be NULL. */
	bool (*read_end)(struct lpl_importer *importer);
	size_t import_state;	/* bytes of zeroed memory that reading needs; 0: none */
	bool (*import_begin)(void *state);	/* may be NULL; false: no memory */
	void (*import_free)(void *state);	/* of what the state owns; may be NULL */

	/*
	 * Export: each writes to `out`, where EXPORT_ROOM bytes are free, and returns what
	 * follows; NULL after lpl_export_refuse().  All but write_ref may be NULL.
	 */
	char *(*write_begin)(struct lpl_exporter *exporter, char *out);
	char *(*write_ref)(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref);
	/* NULL, without a complaint, for an event that means nothing to the format */
	char *(*write_event)(struct lpl_exporter *exporter, char *out,
			     const struct lpl_event *event);
	/* an event as a line, without the newline; NULL: as lpl_event_write() has it */
	char *(*write_event_line)(char *out, const struct lpl_event *event);
	/* what is held back until more is known; before a line of an event, and at the end */
	char *(*write_rest)(struct lpl_exporter *exporter, char *out);
	/* once, after everything else */
	char *(*write_end)(struct lpl_exporter *exporter, char *out);
	size_t export_state;
	bool (*export_begin)(void *state);	/* may be NULL; false: no memory */
	void (*export_free)(void *state);
};

#endif
