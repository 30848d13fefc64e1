/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The producer of windows: the simulator thread's half of the pipeline, which watches references
 * and fills the ring.  One instance; all of it belongs to the simulator's thread.  This is for the
 * files that it is made of (producer.cc, stream_windows.cc, cycles.cc, and machine.cc, which is
 * Bochs'); the others see stream.h.
 */
#ifndef LAPLACE_PRODUCER_H
#define LAPLACE_PRODUCER_H

#include "images.h"
#include "stream.h"
#include "window.h"

/* Where the cycle counter ran ahead: from `instr` on, cycle = instr + offset. */
struct laplace_jump {
	uint64_t instr, offset;
};

enum {
	LAPLACE_JUMPS = 1024
};

struct laplace_producer {
	struct laplace_window window;
	struct lpl_ring *ring;		/* NULL: windows are thrown away (to measure) */
	bool uncounted;			/* the clock has one data reference less until the
					 * next fetch */

	/* the latest slow read that a write may follow: a part for each page */
	struct {
		uint32_t parts;		/* 0: it was written */
		struct {
			struct laplace_slot *slot;
			uint64_t address;
			unsigned how;	/* of the read */
		} part[2];
	} modified;

	struct laplace_jump jump[LAPLACE_JUMPS];
	uint32_t jumps;

	/* until the code page is entered: fetches after this instruction enter it */
	uint64_t entered_after;
	uint64_t repeated_first;	/* an instruction of several counts: its first */
	uint8_t code[LAPLACE_CODE_PAGES];	/* which pages of code the processor finds */
	uint32_t codes;
	/* one instruction that made more references than the history holds */
	struct {
		uint64_t instr, clock;
	} many;

	struct laplace_images images;
	uint64_t resume_number;		/* when not ON: references so far */
};

extern struct laplace_producer laplace_producer;

/* Is this on the page of the kernel's record, where each access has to be seen? */
static inline bool laplace_is_watched(uint64_t address)
{
	return laplace.watch.known && (address ^ laplace.watch.address) >> 12 == 0;
}

/* The number of the latest reference, when recording; an instruction not fetched yet does not count. */
static inline uint64_t laplace_number_now(void)
{
	const struct laplace_processor *p = laplace.processor;
	bool unfetched = p->between && !laplace_producer.uncounted;

	return laplace_number_of(p, p->clock) - unfetched;
}

/* producer.cc */
/* So many references were made until now. */
void laplace_window_end(uint64_t references);
/* All fetches up to this instruction count have happened: account for them. */
void laplace_fetched_until(uint64_t latest);
void laplace_between_instructions(void);
void laplace_space_changed(void);

/* One record to the collector. */
void laplace_emit(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* cycles.cc */
void laplace_add_jump(uint64_t instr, uint64_t offset);
void laplace_sync_cycles(void);		/* look whether the cycle counter has jumped */
void laplace_drop_old_jumps(void);

/*
 * What the producer asks of the simulated machine, besides laplace_machine_is_between(): machine.cc
 * asks Bochs; a unit test has a machine of its own.
 */
/* Let references to this page use the TLB entry with this slot; false: they may not. */
bool laplace_machine_opens(struct laplace_slot *slot, uint64_t address);
void laplace_machine_stack(uint32_t size);	/* of the stack window from now on */
uint64_t laplace_machine_space(void);		/* the address space: CR3 >> 12 */
uint64_t laplace_machine_code(uint64_t rip);	/* linear address of an offset of the code segment */
uint64_t laplace_machine_rip(void);		/* that offset, of the instruction that is executed */
uint64_t laplace_machine_cycle_offset(void);	/* cycles less instructions */
void laplace_machine_folded(uint32_t moved);	/* this was added to what counts instructions */

#endif
