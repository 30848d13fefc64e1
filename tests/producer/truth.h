/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The truth about a run of a processor: every reference that is to be recorded, one by
 * one, with its clocks, as docs/references.md defines them.
 *
 * Whoever plays the processor says what happens in plain words; nothing here is clever.
 * What is in a trace reduced to windows follows by the definition of windows
 * (laplace/reduce/window.c), which truth_windows() applies to the whole list.
 */
#ifndef LAPLACE_TESTS_TRUTH_H
#define LAPLACE_TESTS_TRUTH_H

#include <laplace/kernel_trace_record.h>

#include "oracle.h"

/* Stands in the stream, as an event, where it was flushed. */
#define TRUTH_FLUSH UINT32_C(0xffff0000)

enum truth_state {
	TRUTH_OFF,
	TRUTH_ON,
	TRUTH_TRACER		/* between a kernel record's begin and its trigger */
};

/* What TOTALS records say. */
struct truth_totals {
	struct truth_total {
		uint64_t references, tracer_refs, instr;
	} *total;
	size_t count, room;
};

/* Where a reference was made, and how often memory had been written by then. */
struct truth_place {
	uint64_t frame, writes;
};

/* An eviction: the page of one reference, just before another. */
struct truth_image {
	struct lpl_ref victim, fault;
	struct truth_place place;	/* the victim's frame at its last reference, writes at the fault */
};

struct truth {
	struct stream stream;		/* what is recorded, unreduced */
	enum truth_state state;
	uint64_t number;		/* references recorded so far */
	uint64_t tracer_refs;		/* left out as the tracer's own */
	uint64_t tracer_now;		/* for the record that is not complete yet */
	uint64_t instr, cycle;		/* of what happens now */
	uint64_t waited;		/* cycles in which no instruction was counted */
	uint64_t space;
	bool user;			/* mode */
	struct truth_totals totals;
	/* of the references recorded, by number from 1 on; where their pages are, the machine says */
	struct truth_place *place;
	size_t places;
	uint64_t (*frame_of)(uint64_t space, uint64_t address);
	uint64_t writes;		/* to memory, until now; the machine counts them */
};

void truth_totals_add(struct truth_totals *totals, uint64_t references, uint64_t tracer_refs,
		      uint64_t instr);

void truth_begin(struct truth *truth);		/* all at 0; keeps its memory */
void truth_free(struct truth *truth);

/* A read or a write; `system`: made by the processor itself. */
void truth_data(struct truth *truth, bool write, uint64_t address, bool system);
void truth_walk(struct truth *truth, bool write, uint64_t address);
/* An instruction is begun; `second`: it reaches into this page, too, if that is not 0. */
void truth_fetch(struct truth *truth, uint64_t address, uint64_t second);
/* A reference to the kernel's record, which is never recorded. */
void truth_record_reference(struct truth *truth);

void truth_count(struct truth *truth);		/* an instruction */
/* What will be counted as one is an exception that met none: to the tracer it is one. */
void truth_no_instruction(struct truth *truth);
/* Cycles without instructions: until the present instruction is over, or right now. */
void truth_cycles_later(struct truth *truth, uint64_t cycles);
void truth_cycles_now(struct truth *truth, uint64_t cycles);

void truth_event(struct truth *truth, const struct kernel_trace_record *record);
void truth_mark(struct truth *truth, const char *text);
void truth_flush(struct truth *truth);
void truth_add_totals(struct truth *truth);
void truth_start(struct truth *truth);
void truth_stop(struct truth *truth);
void truth_record_begins(struct truth *truth);
void truth_record_ends(struct truth *truth);

/* What an LRU memory of so many pages evicts, in order; returns how many of `most` there are. */
size_t truth_images(const struct truth *truth, uint32_t pages, struct truth_image *image, size_t most);

/* What windows of so many pages keep of it. */
void truth_windows(const struct truth *truth, uint32_t pages, struct stream *out);

#endif
