/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace is, as its header has it: asked once, and then known. */
#ifndef LAPLACE_CLI_TRACE_KIND_H
#define LAPLACE_CLI_TRACE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/trace.h>

struct cli_trace_kind {
	const char *reduction;		/* the header's; NULL: it has none */
	bool is_whole;			/* nothing was reduced, or nothing is known of it */
	bool is_canonical;		/* its pages are; else they are virtual */
	uint64_t any_order;		/* lpl_reduction_any_order() of its canonical pages */
	uint64_t behaviour;		/* K of a behaviour sequence; 0: it is none */
	uint64_t page_size;		/* in bytes; 0: not known (lpl_page_size()) */
	uint64_t cycles_a_second;	/* of the guest's time; 0: not known */
};
struct cli_trace_kind cli_trace_kind(const struct lpl_meta *meta);

/* Has such a trace canonical pages, or can they be had of it?  Complains.  Returns an exit status. */
int cli_check_has_canonical(const struct cli_trace_kind *kind, const char *path);
/* Only the latter. */
int cli_check_mergeable(const struct cli_trace_kind *kind, const char *path);

#endif
