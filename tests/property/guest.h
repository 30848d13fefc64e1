/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small guest: random streams of references and of the events a kernel sends, over a
 * few spaces, pages, files, segments and frames, so that addresses change their
 * meaning all the time.
 *
 * A write that parts a page from its sharers is reported before (KTR_COW_BREAK), if its
 * space has referenced the page since it got its meaning: processors fault there.
 * A first reference may be a write that parts sharers though nothing was reported.
 */
#ifndef LAPLACE_TESTS_GUEST_H
#define LAPLACE_TESTS_GUEST_H

#include "oracle.h"

struct plot {
	size_t count;		/* of records; what is reported of writes comes on top */
	uint32_t quiet;		/* one in so many is an event */
	bool silent;		/* writes that part sharers are not reported */
	bool wild;		/* the kernel maps memory in several places */
	bool snapshot;		/* it begins with what exists already */
};

struct plot random_plot(struct random *random);
/* The stream, in place of what was in `out`. */
void play_guest(struct random *random, const struct plot *plot, struct stream *out);

/* Is every write reported that has to be?  What is shrunk has to remain such a stream. */
bool guest_reports_all(const struct stream *stream);

#endif
