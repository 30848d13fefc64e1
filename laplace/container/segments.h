/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace that is written as segments (docs/format.md, section 11): one trace file after the
 * other, and a manifest that names those that are complete.
 *
 * One writer writes all of them, and is sent one stream: at a rotation its file ends, and it
 * continues with another.  Counts of references and events and totals continue, too; a file's index
 * and hash are its own.
 */
#ifndef LAPLACE_CONTAINER_SEGMENTS_H
#define LAPLACE_CONTAINER_SEGMENTS_H

#include <laplace/trace.h>

#include "keeper.h"

struct lpl_segments;
struct lpl_writer_place;

/*
 * PATH is the manifest's.  It grows as "PATH.part" by a line a segment, and gets its name at the
 * end.  What is written has to be a file: LPL_ERR_USAGE for "-", a device or a pipe; likewise if
 * PATH or "PATH.part" is there, or anything that has the name of a segment.  With `overwrite` the
 * segments that an old manifest of that name names, and those it would find, are removed, and
 * nothing else.  `keeper` (NULL: none) is not owned.  Other errors as those of
 * lpl_writer_open().
 */
enum lpl_error lpl_segments_open(struct lpl_segments **segments, const char *path,
				 const struct lpl_meta *meta,
				 const struct lpl_writer_options *options,
				 struct lpl_state_keeper *keeper, bool overwrite,
				 struct lpl_report *report);
/*
 * Continue a trace, the recording of which ended after the beginning of segment `number`:
 * what the manifest "PATH.part" (or, of one that was closed, PATH) names from there on, and what
 * is found there, is removed, and that segment begins anew at `place`, which is where the one
 * before it ended.  `overwrite`: as it was opened.  LPL_ERR_USAGE: there is no such manifest, or it is
 * of another trace, or another process writes it; nothing is changed then.
 */
enum lpl_error lpl_segments_continue(struct lpl_segments **segments, const char *path,
				     const struct lpl_writer_options *options,
				     struct lpl_state_keeper *keeper, uint64_t number,
				     const struct lpl_writer_place *place, bool overwrite,
				     struct lpl_report *report);
/*
 * One segment alone, which is to be the one with this number of the trace with the manifest PATH: as the file
 * that a manifest OWN would name, and beside it, as "FILE.line", its line of the manifest, which is
 * written last.  `place`: where the segment before it ended, and `meta` is not looked at, as PATH.part has it;
 * NULL: it is the first.
 */
enum lpl_error lpl_segments_open_alone(struct lpl_segments **segments, const char *path, const char *own,
				       const struct lpl_meta *meta,
				       const struct lpl_writer_options *options,
				       struct lpl_state_keeper *keeper, uint64_t number,
				       const struct lpl_writer_place *place, struct lpl_report *report);
/* Where to send the stream; owned by the segments, and not to be closed. */
struct lpl_writer *lpl_segments_writer(struct lpl_segments *segments);

/* The number of the present segment, from 1 on; from any thread. */
uint64_t lpl_segments_number(const struct lpl_segments *segments);
/* Bytes written to it so far; and was it sent nothing yet? */
uint64_t lpl_segments_bytes(const struct lpl_segments *segments);
bool lpl_segments_is_empty(const struct lpl_segments *segments);

/*
 * All that the writer was sent becomes the end of a segment, which is complete, on the disk and
 * in the manifest then; what is sent from here on belongs to the next one.  Nothing happens in a
 * segment that has no records yet.  After one that is alone nothing may be sent any more.
 */
enum lpl_error lpl_segments_rotate(struct lpl_segments *segments, struct lpl_report *report);

/*
 * As lpl_writer_close(), for the last segment and the manifest.  After an earlier error both keep
 * their ".part", but for a full disk (lpl_writer_options, `ends_when_full`).
 */
enum lpl_error lpl_segments_close(struct lpl_segments *segments, struct lpl_report *report);
/* Give up: what is complete is kept, and the rest as ".part".  NULL is fine. */
void lpl_segments_abandon(struct lpl_segments *segments);

#endif
