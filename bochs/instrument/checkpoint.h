/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine saved with the collection's resume point, and taken up again; see checkpoint.cc. */
#ifndef LAPLACE_CHECKPOINT_H
#define LAPLACE_CHECKPOINT_H

#include <cstdint>

#include "collect/collector.h"

/* What a checkpoint holds besides Bochs' machine. */
struct laplace_resume_point {
	uint64_t number;		/* of the checkpoint, from 1: so many were made; 0: a snapshot */
	uint64_t instr;			/* when it was made */
	struct lpl_resume_point collector;
	bool on;			/* it is recorded */
	bool wanted;			/* see laplace_want() */
	bool started, stopped;		/* conditions have come true */
	uint64_t windows_begun;
	uint64_t references, tracer_refs;	/* until then */
	/* the kernel's record, as in struct laplace_watch; and which task runs */
	bool known, end_seen, fail_seen;
	uint64_t address, hello, low, records, malformed, abandoned;
	uint64_t tid, tgid;
};

/* Does this process go on from a checkpoint, with its trace, and not begin with a snapshot? */
bool laplace_resumes(void);

/* That of the checkpoint in this directory; false: there is none. */
bool laplace_read_resume_point(const char *directory, struct laplace_resume_point *point);

/* Before Bochs reads anything of it; ends the program if it is not whole. */
void laplace_before_restore(const char *directory);
/*
 * What the collector goes on with then; else nothing is changed.  Ends the program if the
 * checkpoint cannot be used.
 */
void laplace_checkpoint_resume(struct lpl_collector_options *options);
/*
 * A recording that begins must not be taken up at the checkpoint of an older one of its name: what
 * is there ends the program, unless it may be overwritten.  `removes`: then it goes.
 */
void laplace_checkpoints_make_way(bool removes);
/* What others do about one. */
struct laplace_checkpoint_hooks {
	/* It was not made: whoever asked for it gets the reason. */
	void (*failed)(const char *problem);
	/*
	 * It was, and another program is executed in this process: the descriptor that it has to
	 * have; -1: none.
	 */
	int (*leave)(void);
	/* Where a process writes one segment, it ends here, where the first pass made this one. */
	void (*segment_ends)(const char *path, const struct laplace_resume_point *here);
};
/* From power-on, or from a restored checkpoint: make them as the option says. */
void laplace_checkpoints_begin(const struct laplace_checkpoint_hooks *hooks);
/* One is to be made soon.  Returns why there can be none, or NULL. */
const char *laplace_ask_checkpoint(void);
/*
 * The guest says that it has booted.  Before the next instruction the machine is saved, where a snapshot is to be
 * made, and the run ends; else it loses what one that begins with a snapshot has lost.
 */
void laplace_guest_is_ready(void);

#endif
