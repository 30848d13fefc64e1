/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink that prints a stream in a format, for `laplace cat` and `export`.
 */
#ifndef LAPLACE_CONVERT_PRINTER_H
#define LAPLACE_CONVERT_PRINTER_H

#include <stdbool.h>
#include <stddef.h>

#include <laplace/error.h>
#include <laplace/trace.h>

#include "format.h"

#define PRINTER_ROOM 4096		/* more than anything printed at once */
#define PRINTER_BUFFER (1U << 20)

struct printer_options {
	const struct format *format;
	const struct lpl_meta *meta;	/* of the trace; used while it is opened */
	const char *path;		/* of the trace, for messages */
	const char *output;		/* likewise */
	int fd;
	bool events;			/* print them, too */
	bool tell_events;		/* ... or say that they were left out */
};

struct printer {
	struct lpl_sink sink;
	struct printer_options options;
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
	char buffer[PRINTER_BUFFER];
};

/*
 * LPL_ERR_UNSUPPORTED when the format cannot tell what the trace is.  `printer`
 * is a sink; its finish() writes out what is held back.
 */
enum lpl_error printer_open(struct printer **printer, const struct printer_options *options,
			    struct lpl_report *report);
void printer_close(struct printer *printer);	/* NULL is fine */

/* Say on stderr what the format could not. */
void printer_tell_losses(const struct printer *printer);

/* ---- for the formats ---- */

/* Give up, because the format cannot say this.  Returns NULL. */
void *printer_refuse(struct printer *printer, enum lpl_error error,
		     const char *format, ...) __attribute__((format(printf, 3, 4), cold));

/* Replace bytes that were printed before, `offset` from the file's beginning. */
bool printer_patch(struct printer *printer, uint64_t offset, const void *bytes, size_t count);

static inline uint64_t printer_page(const struct printer *printer, const struct lpl_ref *ref)
{
	return ref->address >> printer->page_shift;
}

/* Load, store or fetch, for formats that know no others. */
static inline unsigned int printer_plain_type(struct printer *printer,
					      const struct lpl_ref *ref)
{
	if (ref->type != LPL_WALK_READ && ref->type != LPL_WALK_WRITE)
		return ref->type;
	printer->walks = true;
	return ref->type == LPL_WALK_READ ? LPL_READ : LPL_WRITE;
}

#endif
