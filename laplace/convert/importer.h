/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An import as formats see it; <laplace/convert.h> has the rest.
 *
 * importer.c finds lines and records and hands them to the format, which gives back references
 * and events (import_stream.c).  There the clocks are made that a format does not have, what
 * crosses a page is divided, and no clock runs backwards.  Where it all goes is a sink: the
 * caller's, or the trace file's of import_trace.c.  Memory is a buffer, a batch of references
 * and what the format keeps.
 */
#ifndef LAPLACE_CONVERT_IMPORTER_H
#define LAPLACE_CONVERT_IMPORTER_H

#include <assert.h>

#include "fields.h"
#include "format.h"

#define IMPORT_BATCH 1024
#define IMPORT_BUFFER (1U << 20)	/* no line is longer */
#define IMPORT_LENGTH 64		/* of a reference; longer accesses are several */
#define IMPORT_LENGTH_MAX 4096		/* of an access */
#define IMPORT_BELOW 96			/* the longest path below an input */

/* What has been read of the file, but for a directory. */
struct import_input {
	char *buffer;		/* IMPORT_BUFFER, and room for a newline */
	size_t start, end;	/* what has been read and not yet used */
	bool over;		/* the file has ended */
};

struct lpl_importer {
	struct lpl_import_options options;
	struct lpl_import_result result;
	struct lpl_report *report;	/* of the call that is going on ... */
	struct lpl_report own_report;	/* ... or this one, which is not read */
	struct lpl_sink *sink;
	int fd;
	struct import_input input;
	void *state;			/* the format's */
	unsigned int page_shift;	/* of the pages that it has */
	uint64_t place;			/* the line's number, or the record's offset */
	const char *line;		/* where it begins; NULL: there is none */
	char below[IMPORT_BELOW];	/* the file, where the input is a directory */
	/* the last reference, all 0 before the first */
	struct lpl_ref last;
	/* the clocks of the last record, which may be an event */
	uint64_t ref, instr, cycle;
	uint64_t fetches;		/* instructions begun, where they make the clock */
	size_t count;
	struct lpl_ref batch[IMPORT_BATCH];
};

/* ---- what is wrong with the input; each returns NULL or false, after a complaint ---- */

/* Of this line or record. */
void *lpl_import_refuse(struct lpl_importer *importer, enum lpl_error error,
			const char *format, ...) __attribute__((format(printf, 3, 4), cold));
/* ... because there is no such field. */
void *lpl_import_no_field(struct lpl_importer *importer, const char *field)
	__attribute__((cold));
void *lpl_import_no_memory(struct lpl_importer *importer);

/* The newline, if nothing else follows. */
const char *lpl_import_bad_end(struct lpl_importer *importer) __attribute__((cold));
static inline const char *lpl_import_line_end(struct lpl_importer *importer, const char *at)
{
	at = scan_line_end(at);
	return at ? at : lpl_import_bad_end(importer);
}

/*
 * The end of a line that does not begin as the format's lines do: an empty one, or an event
 * where the format has them.  Else it is refused.
 */
const char *lpl_import_other_line(struct lpl_importer *importer, const char *at)
	__attribute__((cold));

/* Is this time not before the last record's? */
bool lpl_import_check_clock(struct lpl_importer *importer, const char *name, uint64_t time,
			    uint64_t before);

/* ---- references and events, in order; false after an error ---- */

/* Send on the batch. */
bool lpl_import_flush(struct lpl_importer *importer);
/* What the sink returned is an error, which it may not have reported, or LPL_OK. */
bool lpl_import_sent(struct lpl_importer *importer, enum lpl_error error);

/* An event; its clocks have been checked. */
bool lpl_import_event(struct lpl_importer *importer, const struct lpl_event *event);

/* A reference that is valid and in order. */
static inline bool lpl_import_ref(struct lpl_importer *importer, const struct lpl_ref *ref)
{
	assert(importer->count < IMPORT_BATCH);
	importer->batch[importer->count++] = *ref;
	importer->last = *ref;
	importer->ref = ref->ref;
	importer->instr = ref->instr;
	importer->cycle = ref->cycle;
	return importer->count < IMPORT_BATCH || lpl_import_flush(importer);
}

/* An access that has to be divided (or refused). */
bool lpl_import_parts(struct lpl_importer *importer, const struct lpl_ref *ref,
		      uint64_t length);

/* An access of any length; `ref` lacks the length, and its number. */
static inline bool lpl_import_access(struct lpl_importer *importer, struct lpl_ref *ref,
				     uint64_t length)
{
	const uint64_t offset = ref->address & ((1U << LPL_PAGE_SHIFT) - 1);

	ref->ref = importer->ref + 1;
	if (length - 1 >= IMPORT_LENGTH || offset + length > 1U << LPL_PAGE_SHIFT)
		return lpl_import_parts(importer, ref, length);
	ref->length = (uint16_t)length;
	return lpl_import_ref(importer, ref);
}

/* A reference with all clocks given: they are checked. */
bool lpl_import_timed_ref(struct lpl_importer *importer, struct lpl_ref *ref);

/*
 * The same, where a number that comes again is one that a reducer put in, at the time of what it
 * was put after it: nothing else may repeat one.
 */
bool lpl_import_numbered_ref(struct lpl_importer *importer, struct lpl_ref *ref);

/* A reference with all given, and checked; it lacks the length. */
bool lpl_import_whole_ref(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t length);

/* The page of this number becomes the address. */
bool lpl_import_set_page(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t page);

/*
 * The instruction that a reference of this type belongs to, by the fetches so
 * far: how many were completed before it.
 */
static inline uint64_t lpl_import_instruction(struct lpl_importer *importer, unsigned int type)
{
	importer->fetches += type == LPL_FETCH;
	return importer->fetches ? importer->fetches - 1 : 0;
}

/* ---- within the importer ---- */

/* All of `fd`, and then finish().  `report` is there already; what it says is returned. */
enum lpl_error lpl_import_read(struct lpl_importer *importer, int fd, struct lpl_sink *sink);
/* Of the format; 0 where it is still to be recognised. */
static inline unsigned int import_traits(const struct lpl_import_options *options)
{
	return options->format ? options->format->traits : 0;
}

/* From here on the format is known, if it was not; false after a complaint. */
bool lpl_import_recognise(struct lpl_importer *importer, int fd, struct lpl_report *report);

/*
 * What the input was reduced by before, where that is plain from the start; NULL: its first
 * reference will show whether it was.
 */
const char *lpl_import_reduction(const struct lpl_import_options *options);

/* It was reduced by this: the result's reduction, exact and page size follow. */
enum lpl_error lpl_import_describe(struct lpl_importer *importer, const char *reduction,
				   struct lpl_report *report);

/* The header of the trace; the caller's to free.  NULL after an error. */
struct lpl_meta *lpl_import_meta(const struct lpl_importer *importer, struct lpl_report *report);

#endif
