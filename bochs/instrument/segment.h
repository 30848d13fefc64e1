/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a segment of the trace, when somebody asks for it; see segment.cc. */
#ifndef LAPLACE_INSTRUMENT_SEGMENT_H
#define LAPLACE_INSTRUMENT_SEGMENT_H

#include "collect/collector.h"

/* Begin the next segment.  Returns why that cannot be done, or NULL. */
const char *laplace_next_segment(void);
/* For a checkpoint: all records are on their way to the disk, and the next segment begins here. */
void laplace_suspend(struct lpl_resume_point *point);

#endif
