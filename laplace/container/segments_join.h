/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace in segments that several processes write (segments.h: lpl_segments_open_alone()): how it begins, and how it
 * becomes one.
 */
#ifndef LAPLACE_CONTAINER_SEGMENTS_JOIN_H
#define LAPLACE_CONTAINER_SEGMENTS_JOIN_H

#include <laplace/trace.h>

/* PATH.part, with what the trace is, and no segments.  Errors as lpl_segments_open(). */
enum lpl_error lpl_segments_begin(const char *path, const struct lpl_meta *meta, bool overwrite,
				  struct lpl_report *report);
/* What the trace is that PATH.part begins; *meta is the caller's to free. */
enum lpl_error lpl_segments_meta(const char *path, struct lpl_meta **meta, struct lpl_report *report);
/*
 * The segments 1 to `count` are beside PATH.part, and line[i] is that of segment i + 1: they are looked at, and
 * the manifest gets its name.  LPL_ERR_DAMAGED: they are not one trace; then, as after any failure, all stays as it
 * is, and may be joined later.
 */
enum lpl_error lpl_segments_join(const char *path, char *const *line, size_t count, bool overwrite,
				 struct lpl_report *report);

#endif
