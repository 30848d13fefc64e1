/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a manifest (docs/format.md, section 11): what each says, as text and back.
 *
 * A line is a JSON object; its last member is a checksum of what precedes it.  So a line that
 * passes is one that a writer wrote, and all that is left to find out is what it says.
 */
#ifndef LAPLACE_CONTAINER_MANIFEST_LINE_H
#define LAPLACE_CONTAINER_MANIFEST_LINE_H

#include <laplace/trace.h>

#include "chunk.h"

/* What every manifest begins with, and nothing else that is a trace. */
#define LPL_MANIFEST_MAGIC	"{\"laplace-segments\":"
#define LPL_MANIFEST_VERSION	1
/* Longer lines are no manifest's: each byte of a header may become five, and a little more. */
#define LPL_MANIFEST_LINE_MAX	(6 * LPL_PLAIN_META_MAX)

/* A segment that is complete. */
struct lpl_segment_facts {
	uint64_t number;		/* from 1 on */
	uint64_t bytes;			/* of the file */
	uint64_t index;			/* where in it its INDEX chunk begins */
	uint64_t checksum;		/* the header checksum of that */
	struct lpl_clocks first, last;	/* of its records; without any, the last before it */
	uint64_t refs_so_far, events_so_far;	/* up to its end, in the whole trace */
};

/* A line, with its newline, to be freed.  NULL: no memory. */
char *lpl_manifest_begin_line(const char *base, const struct lpl_meta *meta);
char *lpl_manifest_segment_line(const char *base, const struct lpl_segment_facts *facts);
char *lpl_manifest_end_line(uint64_t segments);

enum lpl_manifest_line {
	LPL_MANIFEST_BAD,		/* not as a writer writes it */
	LPL_MANIFEST_NEWER,		/* a first line of another version */
	LPL_MANIFEST_BEGIN,
	LPL_MANIFEST_SEGMENT,
	LPL_MANIFEST_END
};

/*
 * What is `line`, without its newline?  Of a BEGIN *base is the name that those of the segments
 * begin with, the caller's to free, and `meta` gets the header, if it is not NULL.  Of a SEGMENT
 * `facts` are filled in, and of an END facts->number: how many there are.
 */
enum lpl_manifest_line lpl_manifest_read(const char *line, char **base, struct lpl_meta *meta,
					 struct lpl_segment_facts *facts);

#endif
