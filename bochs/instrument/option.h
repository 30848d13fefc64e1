/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the bochsrc's laplace option, or the command line in its place, asks for
 * (docs/bochsrc.md).  It is complete when Bochs has read the bochsrc; an unknown or
 * malformed parameter ends the program before.
 */
#ifndef LAPLACE_OPTION_H
#define LAPLACE_OPTION_H

#include <laplace/select.h>

#include "collect/collector.h"
#include "collect/windows.h"

enum laplace_start_mode {
	LAPLACE_START_ON,
	LAPLACE_START_OFF,	/* until somebody says so, or start_when comes true */
	LAPLACE_START_MARK
};

struct laplace_option {
	bool wanted;			/* it was given */
	char trace[BX_PATHNAME_LEN];
	char reduce[256];
	char kernel[BX_PATHNAME_LEN];
	char status_file[BX_PATHNAME_LEN];	/* "": none */
	char title[256], guest[256], workload[256];
	char windows[LPL_WHEN_SIZE];	/* "": none were given */
	char only[LPL_CHOICE_SIZE];	/* "": everything */
	char images[32];		/* "": none */
	bool segmented;			/* the trace is a manifest's ... */
	struct lpl_segment_size segment;	/* ... and its segments end so */
	enum lpl_pass pass;		/* of several processes that make it ... */
	long jobs;			/* so many processes, forked where a part begins; 0: one, not forked */
	bool pass_is_last;		/* ... this segment is the last */
	char part[64];			/* ... and its directory's name */
	enum laplace_start_mode start;
	/* conditions; "": none were given */
	char start_when[LPL_WHEN_SIZE], stop[LPL_WHEN_SIZE], end[LPL_WHEN_SIZE];
	char control[BX_PATHNAME_LEN];	/* the socket's path; "": there is none */
	bool walks, physical, code, overwrite, windows_only;
	enum lpl_stage stage;
	long level, ring, status_fd;
	long status_every;			/* s; 0: not given */
	long flush_seconds, flush_instructions;	/* 0: never by that */
	bool checkpoints;		/* can be made ... */
	uint64_t checkpoint_instructions;	/* ... and are, every so many; 0: when asked for */
	char snapshot[BX_PATHNAME_LEN];	/* where the machine is saved when its guest is ready; "": nowhere */
	long sync_seconds;		/* 0: at the end alone */
	bool wait_for_room;		/* when the disk is full; else the run ends */
};

extern struct laplace_option laplace_option;

/* Does this process begin with a machine that was saved: from a checkpoint, or a snapshot? */
bool laplace_option_restores(void);

/* Have Bochs take the option, with what holds when it is not given. */
void laplace_option_init(void);

#endif
