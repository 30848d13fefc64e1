/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording that several processes make, each of which is forked where its part begins (jobs=); see forks.cc. */
#ifndef LAPLACE_FORKS_H
#define LAPLACE_FORKS_H

#include "collect/collector.h"

/* A collector is opened for a part of the trace, of which a manifest PATH would name the file. */
struct laplace_part {
	enum lpl_pass pass;
	const char *path;
	const struct lpl_resume_point *point;	/* where it begins; NULL: with the recording */
	const char *guest;			/* a file: the guest's state there */
	uint64_t instr;
};

/* Before anything is opened: may it be recorded so?  Ends the program if not.  `open` replaces the collector. */
void laplace_forks_begin(void (*open)(const struct laplace_part *part));
/* The part that the first process writes itself; NULL: it writes all. */
const char *laplace_forks_first_part(void);

/* Where a trace of instructions begins: whatever is due. */
void laplace_forks_look(void);
/* The run is to end soon, and what was run until here is to be in the trace. */
void laplace_forks_stop(void);
/* The run has ended: what was not to come to its end ends at once. */
void laplace_forks_closing(void);
/*
 * The run has ended, and its collector is about to be closed: the others come to their end.  Where they do not, that is
 * a problem of `size` bytes.
 */
void laplace_forks_end(char *problem, size_t size);
/* The collector is closed: what is not the first process ends. */
void laplace_forks_closed(bool good);

/* On any thread of any of them: does none wait for room any more; and what is not for its log alone. */
bool laplace_forks_ending(void);
void laplace_forks_say(const char *text);

#endif
