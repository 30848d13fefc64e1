/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Import: a text or binary file, read as a stream of references for a sink.
 *
 * The importer finds lines and records and hands them to the format, which
 * gives back references through lpl_import_ref() and its relatives.  These make
 * the clocks that a format does not tell, split what crosses a page, and see
 * that no clock runs backwards.  Memory is a buffer, a batch of references and
 * what the format keeps.
 */
#ifndef LAPLACE_CONVERT_IMPORTER_H
#define LAPLACE_CONVERT_IMPORTER_H

#include <stdbool.h>

#include <laplace/error.h>
#include <laplace/record.h>

#include "fields.h"
#include "format.h"

#define IMPORT_BATCH 1024
#define IMPORT_BUFFER (1U << 20)	/* no line is longer */
#define IMPORT_LENGTH 64		/* of a reference; longer accesses are several */
#define IMPORT_LENGTH_MAX 4096		/* of an access */

struct lpl_import_options {
	const char *path;		/* for messages */
	int fd;
	const struct lpl_format *format;
	struct lpl_sink *sink;
	unsigned int page_shift;	/* of the pages that it tells */
	uint64_t memory;		/* pages; of a behaviour sequence */
	/* called now and then; may be NULL */
	void (*progress)(const struct lpl_importer *importer, void *context);
	void *context;
};

struct lpl_importer {
	struct lpl_import_options options;
	struct lpl_report *report;
	void *state;			/* the format's */
	uint64_t bytes;			/* read from the file */
	uint64_t place;			/* the line's number, or the record's offset */
	const char *line;		/* where it begins */
	/* the last reference, all 0 before the first */
	struct lpl_ref last;
	/* the clocks of the last record, which may be an event */
	uint64_t ref, instr, cycle;
	uint64_t fetches;		/* instructions begun, where they make the clock */
	uint64_t refs, events;		/* sent */
	/* what was noticed, to be told at the end */
	bool unended;			/* the last line has no newline */
	bool paged;			/* references to whole pages in a format for all */
	uint64_t unknown;		/* references of a type that is told to be unknown */
	uint64_t skipped;		/* records that are no references */
	uint64_t foreign;		/* lines of somebody else, between the format's own ... */
	uint64_t first_foreign;		/* ... the first of them */
	bool sizes;			/* objects are not of a page's size */
	uint64_t unread;		/* seconds; tracing ended as nobody read for so long */
	size_t count;
	struct lpl_ref batch[IMPORT_BATCH];
};

/* NULL: no memory. */
struct lpl_importer *lpl_importer_new(const struct lpl_import_options *options);
void lpl_importer_free(struct lpl_importer *importer);

/*
 * Read to the end and finish() the sink.  When the input is wrong, everything
 * before that place has been sent.
 */
enum lpl_error lpl_importer_run(struct lpl_importer *importer, struct lpl_report *report);

/* ---- for the formats ---- */

/* Complain of this line or record.  Returns NULL. */
void *lpl_import_refuse(struct lpl_importer *importer, enum lpl_error error,
			const char *format, ...) __attribute__((format(printf, 3, 4), cold));
/* ... because there is no such field. */
void *lpl_import_no_field(struct lpl_importer *importer, const char *field)
	__attribute__((cold));

/* The newline, if nothing else follows; NULL when that was refused. */
const char *lpl_import_bad_end(struct lpl_importer *importer) __attribute__((cold));
static inline const char *lpl_import_line_end(struct lpl_importer *importer, const char *at)
{
	at = scan_line_end(at);
	return at ? at : lpl_import_bad_end(importer);
}

/*
 * A line that does not begin as the format's lines do: an empty one, or an event
 * where the format has them.  Else it is refused.
 */
const char *lpl_import_other_line(struct lpl_importer *importer, const char *at)
	__attribute__((cold));

/* Send the batch on; false after an error. */
bool lpl_import_flush(struct lpl_importer *importer);
/* An event; its clocks have been checked. */
bool lpl_import_event(struct lpl_importer *importer, const struct lpl_event *event);
/* Is this time before the last record's?  Then it was refused. */
bool lpl_import_check_clock(struct lpl_importer *importer, const char *name, uint64_t time,
			    uint64_t before);

/* A reference that is valid and in order. */
static inline bool lpl_import_ref(struct lpl_importer *importer, const struct lpl_ref *ref)
{
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

/*
 * The instruction that a reference of this type belongs to, by the fetches so
 * far: how many were completed before it.
 */
static inline uint64_t lpl_import_instruction(struct lpl_importer *importer, unsigned int type)
{
	importer->fetches += type == LPL_FETCH;
	return importer->fetches ? importer->fetches - 1 : 0;
}

/* The page of this number becomes the address; false: refused. */
bool lpl_import_set_page(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t page);

/* A reference whose clocks are all told: they are checked. */
bool lpl_import_timed_ref(struct lpl_importer *importer, struct lpl_ref *ref);

/* A reference of which everything is told, and is checked; it lacks the length. */
bool lpl_import_full_ref(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t length);

#endif
