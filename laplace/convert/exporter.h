/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink that writes a stream in a format, as formats see it; <laplace/convert.h> has the
 * rest.
 */
#ifndef LAPLACE_CONVERT_EXPORTER_H
#define LAPLACE_CONVERT_EXPORTER_H

#include "fields.h"
#include "format.h"

#define LPL_NO_CODE	"does not have the bytes of instructions: it was not recorded with --code, or is reduced"
#define EXPORT_ROOM 4096		/* more than anything written at once */
#define EXPORT_BUFFER (1U << 20)

struct lpl_exporter {
	struct lpl_sink sink;
	struct lpl_export_options options;
	struct lpl_export_result result;	/* `bytes`: before those in the buffer */
	struct lpl_report *report;	/* of the call that is going on ... */
	struct lpl_report own_report;	/* ... or this one, which is not read */
	void *state;			/* the format's */
	unsigned int page_shift;
	uint64_t cycles_a_second;	/* of the trace; 0: it does not say */
	bool begun, any;
	struct lpl_ref last;		/* the one written before; all 0 before the first */
	bool placed;			/* one that is no walk was, ... */
	uint64_t space;			/* ... the last one in this space */
	size_t used;
	char buffer[EXPORT_BUFFER];
};

/* Give up, because the format cannot say this.  Returns NULL. */
void *lpl_export_refuse(struct lpl_exporter *exporter, enum lpl_error error,
			const char *format, ...) __attribute__((format(printf, 3, 4), cold));

/* Replace bytes that were written before, `offset` from the file's beginning. */
bool lpl_export_rewrite(struct lpl_exporter *exporter, uint64_t offset, const void *bytes,
			size_t count);

static inline uint64_t lpl_export_page(const struct lpl_exporter *exporter,
				       const struct lpl_ref *ref)
{
	return ref->address >> exporter->page_shift;
}

/* Load, store or fetch, for formats that know no others. */
static inline unsigned int lpl_export_plain_type(struct lpl_exporter *exporter,
						 const struct lpl_ref *ref)
{
	if (ref->type != LPL_WALK_READ && ref->type != LPL_WALK_WRITE)
		return ref->type;
	exporter->result.losses.walks++;
	return ref->type == LPL_WALK_READ ? LPL_READ : LPL_WRITE;
}

/* Load or store, for formats in which a fetch is a load. */
static inline unsigned int lpl_export_read_or_write(struct lpl_exporter *exporter,
						    const struct lpl_ref *ref)
{
	if (ref->type != LPL_FETCH)
		return lpl_export_plain_type(exporter, ref);
	exporter->result.losses.fetches++;
	return LPL_READ;
}

#endif
