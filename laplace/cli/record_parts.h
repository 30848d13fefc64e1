/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands beside a trace while several processes make it: the directory TRACE.jobs, with what was asked for, a
 * directory for each interval between two checkpoints, and how the first pass ended.  It is enough to go on with
 * after whatever has happened, and goes when the trace is whole.
 *
 * Interval 0 begins at power-on, and K at checkpoint K.
 */
#ifndef LAPLACE_CLI_RECORD_PARTS_H
#define LAPLACE_CLI_RECORD_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collection.h"

/* The directory of a part: NNNNNN, of an interval; of each try to trace one, with a dot and more. */
#define RECORD_PART_SIZE 32
/* TRACE.jobs/NAME, and a file in it, "" for none; false: the path is too long. */
bool record_part_path(char path[PATH_MAX], const char *trace, const char *part, const char *file);
/* TRACE.checkpoint.NNNNNN, likewise; and is there one? */
bool record_checkpoint_path(char path[PATH_MAX], const char *trace, uint64_t number);
bool record_has_checkpoint(const char *trace, uint64_t number);
/* The first and the last number of those that are there, both 0 if there are none. */
void record_find_checkpoints(const char *trace, uint64_t *first, uint64_t *last);

/*
 * What is left of such a recording is removed, if it may be overwritten, and is in the way otherwise; so is one that
 * is being made, and a checkpoint that would be taken for one of the recording that is to begin.  This and what follows
 * returns a status, and complains.
 */
int record_parts_make_way(const char *trace, bool overwrite);
int record_checkpoints_make_way(const char *trace, bool overwrite);
/* Begin, with this command, a program's arguments up to NULL, after the two before. */
int record_parts_begin(const char *trace, char *const *command);
/*
 * It is ours until *lock is closed, which is -1 for none: one process at a time makes a trace so.  Where there is no such
 * directory nothing is done.
 */
int record_parts_lock(const char *trace, int *lock);
/* What was begun came to nothing: its directory goes, and, if `part`, the manifest that has no segment. */
void record_parts_give_up(const char *trace, bool part);
/* The command that it began with, to be freed with its first word, which is all of its text. */
int record_parts_command(const char *trace, char ***command);
/* Does it make no checkpoints?  (What cannot be read does.) */
bool record_parts_are_forked(const char *trace);
/* The absolute path of the trace that is being made so. */
int record_parts_find(const char *given, char trace[PATH_MAX]);
bool record_parts_are_there(const char *trace);

/*
 * An interval is about to be traced: a directory that no other try has, nor had, for what was started on another host may
 * go on to write after all that is known of it has ended.
 */
int record_part_try(const char *trace, uint64_t interval, char part[RECORD_PART_SIZE]);
/* It came to nothing; what cannot be removed yet is in the way of nothing. */
void record_part_discard(const char *trace, const char *part);
/* So did all tries of which nothing is known any more. */
void record_parts_discard_tries(const char *trace);
/* Does the process that traced it say that all of it is there? */
bool record_part_is_whole(const char *trace, const char *part);
/* It was traced: the directory gets the interval's name, and the segment, if there is one, its own. */
int record_part_keep(const char *trace, uint64_t interval, const char *part);
/* Those that were, from the first one on, of a recording by forked processes: so many. */
int record_parts_take(const char *trace, uint64_t *count);
bool record_part_is_kept(const char *trace, uint64_t interval);
/* No run goes on from it any more. */
void record_checkpoint_remove(const char *trace, uint64_t number);
/* Nor from what was cut off while one of them, up to this one, was made or removed. */
void record_checkpoints_discard(const char *trace, uint64_t last);

/* How the first pass ended, and after how many checkpoints; to remember it, and whether it is known. */
int record_parts_end(const char *trace, const struct cli_collection *end, uint64_t checkpoints);
bool record_parts_ended(const char *trace, struct cli_collection *end, uint64_t *checkpoints);

/*
 * All intervals were traced: the trace gets its name, and all else goes.  `counted`: how many references and events there
 * have to be; NULL: that is not known.
 */
int record_parts_join(const char *trace, uint64_t intervals, const struct cli_collection *counted, bool overwrite);
/* Has it its name already, and only the rest was not removed yet? */
bool record_parts_are_joined(const char *trace);

#endif
