/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink that prints a stream in a format, for `laplace cat` and `export`.
 */
#ifndef LAPLACE_CONVERT_EXPORTER_H
#define LAPLACE_CONVERT_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>

#include <laplace/error.h>
#include <laplace/trace.h>

#include "format.h"

#define EXPORT_ROOM 4096		/* more than anything printed at once */
#define EXPORT_BUFFER (1U << 20)

struct lpl_export_options {
	const struct lpl_format *format;
	const struct lpl_meta *meta;	/* of the trace; used while it is opened */
	const char *path;		/* of the trace, for messages */
	const char *output;		/* likewise */
	int fd;
	bool events;			/* print them, too */
	bool tell_events;		/* ... or say that they were left out */
};

struct lpl_exporter {
	struct lpl_sink sink;
	struct lpl_export_options options;
	struct lpl_report *report;	/* of the call that is going on */
	void *state;			/* the format's */
	unsigned int page_shift;
	bool begun, any;
	struct lpl_ref last;		/* the one printed before; all 0 before the first */
	/* what was lost by printing in this format */
	bool paged;			/* of references to pages, what they were */
	bool spaces_mixed;		/* which space a page is of */
	bool walks;			/* that references are of page tables */
	uint64_t events_left_out;
	uint64_t refs;			/* printed */
	uint64_t written;		/* bytes, before those in the buffer */
	size_t used;
	char buffer[EXPORT_BUFFER];
};

/*
 * LPL_ERR_UNSUPPORTED when the format cannot tell what the trace is.  `exporter`
 * is a sink; its finish() writes out what is held back.
 */
enum lpl_error lpl_exporter_open(struct lpl_exporter **exporter, const struct lpl_export_options *options,
				 struct lpl_report *report);
void lpl_exporter_close(struct lpl_exporter *exporter);	/* NULL is fine */

/* Say on stderr what the format could not. */
void lpl_exporter_tell_losses(const struct lpl_exporter *exporter);

/* ---- for the formats ---- */

/* Give up, because the format cannot say this.  Returns NULL. */
void *lpl_export_refuse(struct lpl_exporter *exporter, enum lpl_error error,
			const char *format, ...) __attribute__((format(printf, 3, 4), cold));

/* Replace bytes that were printed before, `offset` from the file's beginning. */
bool lpl_export_rewrite(struct lpl_exporter *exporter, uint64_t offset, const void *bytes, size_t count);

static inline uint64_t lpl_export_page(const struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	return ref->address >> exporter->page_shift;
}

/* Load, store or fetch, for formats that know no others. */
static inline unsigned int lpl_export_plain_type(struct lpl_exporter *exporter,
						 const struct lpl_ref *ref)
{
	if (ref->type != LPL_WALK_READ && ref->type != LPL_WALK_WRITE)
		return ref->type;
	exporter->walks = true;
	return ref->type == LPL_WALK_READ ? LPL_READ : LPL_WRITE;
}

#endif
