/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments that end when somebody asks for it; the others are the collector's. */
#include "bochs.h"

#include <unistd.h>

#include "option.h"
#include "recorder.h"
#include "report.h"
#include "segment.h"
#include "stream.h"

const char *laplace_next_segment(void)
{
	if (!laplace_option.segmented)
		return "the trace is not recorded in segments";
	laplace_rotate();
	return NULL;
}

void laplace_suspend(struct lpl_resume_point *point)
{
	struct lpl_collector_status status;

	laplace_rotate();
	do {
		usleep(100);
		lpl_collector_status(laplace.collector, &status);
	} while (status.flushes < laplace.flushes && !lpl_collector_failure(laplace.collector, NULL));
	if (lpl_collector_failure(laplace.collector, NULL))
		laplace_die("the collector gave up");
	lpl_collector_resume_point(laplace.collector, point);
}
