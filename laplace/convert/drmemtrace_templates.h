/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Templates for the scheduler of DynamoRIO's drmemtrace: what a kernel executed in a system call of each number, and
 * in a switch to another thread, cut out of the records of threads (drmemtrace_thread.h).
 *
 * Of those of one number the one of median length is chosen, of the first of them: without an interrupt, and, if there
 * is one, where neither another thread ran in between nor instructions are missing.
 */
#ifndef LAPLACE_CONVERT_DRMEMTRACE_TEMPLATES_H
#define LAPLACE_CONVERT_DRMEMTRACE_TEMPLATES_H

#include "base/map.h"
#include "drmemtrace_thread.h"

/* switch_type_t there; and the number of the template for system calls that have none */
enum { DR_SWITCH_THREAD = 1, DR_SWITCH_PROCESS = 2, DR_ANY_CALL = 0x0fffffff };

/* Entries, as they are in a file. */
struct drmemtrace_sequence {
	uint32_t key;			/* the number, or the kind of switch */
	bool marred;			/* by another thread, or by a gap */
	uint64_t order, instructions;
	char *bytes;
	size_t used;
};

struct drmemtrace_templates {
	struct drmemtrace_sequence *sequence;
	size_t count, room;
	struct lpl_map kept;		/* of each key, marred or not, so many */
};

void lpl_drmemtrace_templates_init(struct drmemtrace_templates *templates);
void lpl_drmemtrace_templates_free(struct drmemtrace_templates *templates);

/* A switch of this kind begins; the thread's records are those of its file from here on. */
void lpl_drmemtrace_cut_switch(struct drmemtrace_cut *cut, uint32_t kind);
void lpl_drmemtrace_cut_free(struct drmemtrace_cut *cut);
/* What is in the thread's buffer is looked through.  false: no memory. */
bool lpl_drmemtrace_cut(struct drmemtrace_templates *templates, struct drmemtrace_thread *thread);

/*
 * A file of those that are chosen, by ascending numbers; `calls`: of system calls, the one for all others among them.
 * Of switches, where there is one kind it is there as the other one, too.  Returns how many were found, 0 without a file; -1 after an error of write, for which errno is set.
 */
int64_t lpl_drmemtrace_templates_write(struct drmemtrace_templates *templates, bool calls, int fd, uint64_t *bytes);

#endif
