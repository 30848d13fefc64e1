/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of a trace in segments are called (docs/format.md, section 11): beside the
 * manifest "run.lpl" stand "run.000001.lpl", "run.000002.lpl" and so on.
 */
#ifndef LAPLACE_CONTAINER_SEGMENT_NAMES_H
#define LAPLACE_CONTAINER_SEGMENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/error.h>

/* What all names begin with, as a path: that of the manifest without ".lpl".  NULL: no memory. */
char *lpl_segments_stem(const char *manifest);
/* The last part of it, within it. */
const char *lpl_segments_base(const char *stem);
/* The path of segment `number` (from 1 on); followed by ".part", if `part`.  NULL: no memory. */
char *lpl_segment_path(const char *stem, uint64_t number, bool part);

/*
 * May segments be written so?  Nothing is there that has the name of one, but for the first `old`
 * of them: LPL_ERR_USAGE names it.
 */
enum lpl_error lpl_segments_are_free(const char *stem, uint64_t old, struct lpl_report *report);

#endif
