/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small simulated processor for the producer of references (bochs/instrument): it plays
 * a script, calls the hooks where patched Bochs calls them, and says what happened.
 */
#ifndef LAPLACE_TESTS_MACHINE_H
#define LAPLACE_TESTS_MACHINE_H

#include "ring/ring.h"
#include "truth.h"

enum step_kind {
	/* instructions */
	STEP_PLAIN,		/* `size` accesses, of all kinds */
	STEP_JUMP,		/* the same, and a branch taken */
	STEP_LONG,		/* many accesses */
	STEP_STRING,		/* a repeated one, in `size` iterations at most */
	STEP_STRINGS,		/* a repeated one of very many fast iterations */
	STEP_THRASH,		/* many instructions that need one entry of the TLB in turns */
	STEP_SPACE,		/* loads CR3 */
	STEP_INVALIDATE,	/* a page's entry in the TLB */
	STEP_RETURN,		/* to another mode, perhaps */
	STEP_FAR_JUMP,		/* to another base of the code segment */
	STEP_SOFT_INTERRUPT,
	STEP_FAULT,		/* after `size` accesses an exception */
	STEP_HALT,		/* and waits for an interrupt */
	STEP_RIGHTS,		/* alignment checks on or off, the FPU's state */
	STEP_RECORD_BEGIN,	/* the kernel's stores to its record */
	STEP_RECORD_END,
	STEP_RECORD_CONTROL,	/* ... that asks for something */
	/* between instructions */
	STEP_INTERRUPT,
	STEP_FETCH_FAULT,
	STEP_EVENT_LOOP,	/* Bochs looks for events; there are none */
	STEP_ASK_FLUSH,		/* another thread does */
	STEP_DEBUGGER,		/* a command */
	STEP_MARKS,		/* very many marks of the debugger */
	STEP_KINDS
};

/* What a frame holds after so many writes to memory, until the next call; NULL: it is no memory. */
const uint8_t *machine_memory(uint64_t frame, uint64_t writes);

/* All that is random in it comes from `seed`. */
struct step {
	enum step_kind kind;
	uint32_t size;
	uint64_t seed;
};

struct machine_setting {
	uint64_t seed;			/* of the pages' nature */
	uint32_t window;		/* pages */
	uint32_t pages;			/* that there are */
	uint32_t images;		/* pages of the memory that evicts them; 0: no images */
	uint32_t instr, data;		/* that the clock begins with; 0: as it does */
	bool walks;			/* are recorded */
	bool debugger;			/* is active: every instruction is a trace, none is open */
	bool recording;			/* from the start; else from a mark */
	enum {
		END_BETWEEN,		/* two instructions */
		END_WITHIN,		/* one */
		END_AT_TRACE,		/* where a trace begins and the producer looks around */
		END_IN_FAULT,		/* which was not delivered: a triple fault ends a machine */
		ENDS
	} end;
};

/*
 * Play it.  Records go to `ring`, which drain() is called to empty now and then.  NULL, or
 * what went wrong: a complaint of the producer, or an invariant that did not hold.
 */
const char *machine_play(const struct machine_setting *setting, const struct step *step,
			 size_t steps, struct truth *truth, struct lpl_ring *ring,
			 void (*drain)(void *context), void *context);

#endif
