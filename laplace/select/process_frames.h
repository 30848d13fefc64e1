/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memories of different sizes for different processes, as they are written: `gzip=64,731=2M,*=128`. */
#ifndef LAPLACE_SELECT_PROCESS_FRAMES_H
#define LAPLACE_SELECT_PROCESS_FRAMES_H

#include <laplace/select.h>
#include <laplace/simulator.h>

/* What one of them gives to whom. */
struct frames_of {
	char *name;		/* as a process is called, or NULL: it is of those with this number */
	uint64_t id;
	uint64_t size;		/* in pages */
	bool found;		/* there was such a process */
	const char *text;	/* in `spec` below */
};

struct process_frames {
	char *spec;		/* a copy, cut into names */
	struct frames_of *of;
	size_t count, room;
	uint64_t others;	/* pages for each other process */
	struct lpl_sizes sizes;	/* all of them, sorted, each once */
};

/* Errors: LPL_ERR_USAGE, LPL_ERR_MEMORY.  In either case it is to be freed. */
enum lpl_error lpl_process_frames_parse(struct process_frames *frames, const char *spec, uint64_t page_size,
				struct lpl_report *report);
void lpl_process_frames_free(struct process_frames *frames);

/* The pages of a process: those by its number before those by its name, and these before `*`. */
uint64_t lpl_process_frames_of(struct process_frames *frames, const struct lpl_runner *process);

#endif
