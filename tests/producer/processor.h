/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated processor within: what its three files share.
 *
 *	memory.cc	the TLB, the stack window, and access by way of them
 *	instructions.cc	what makes these accesses, in traces, and between instructions
 *	machine.cc	what the producer asks of a machine; the run, and what always holds
 *
 * There is one, as there is one producer.  What instructions do is left to chance: there
 * is no memory and no code.
 */
#ifndef LAPLACE_TESTS_PROCESSOR_H
#define LAPLACE_TESTS_PROCESSOR_H

#include "producer.h"
#include "recorder.h"
#include "report.h"

extern "C" {
#include "machine.h"
}

#define PAGE(address)	((address) & ~UINT64_C(0xfff))
#define OFFSET(address)	((uint32_t)(address) & 0xfff)

enum {
	TLB_ENTRIES = 4,
	MOVES = 128,
	NO_HOST = 0x800,		/* in lpf: Bochs' TLB_NoHostPtr */
	READ_OK = 1, WRITE_OK = 4,	/* in access, by the system; twice that by users */
	HOST = 0x100,
	GLOBAL = 0x200,
	READ = 0, WRITE = 1, MODIFY = 3	/* rw */
};

static const uint64_t FIRST_PAGE = UINT64_C(0x7f0000400000);
static const uint64_t INVALID = ~UINT64_C(0);

struct entry {
	uint64_t lpf;
	uint32_t access;
	struct laplace_slot slot;
};

struct machine {
	struct machine_setting setting;
	struct truth *truth;
	struct random random;		/* of the present step */

	struct entry tlb[TLB_ENTRIES];
	uint64_t code_tlb[2];
	uint64_t rip, prev_rip, code_base;
	uint64_t space;
	uint32_t alignment;		/* Bochs' alignment_check_mask */
	uint64_t trace_page;
	unsigned trace_left;		/* instructions of the running trace still to come */
	bool user;
	bool linked;			/* a branch was taken: linkTrace() */
	bool leaving;			/* the run ends where the producer looks around */
	bool dying;			/* ... at the next fault */
	bool wants_checks;		/* of alignment, in user mode */
	bool two_pages;			/* and no more are used, in this step */
	unsigned faults;		/* being delivered, in this step */
	unsigned pages;			/* of the present read-modify-write; 3: open */

	/* the stack window */
	uint64_t stack_page;
	uint32_t stack_size;
	bool stack_host;

	uint64_t ticks;
	uint32_t last_sync;
	bool linkable[MOVES];		/* code was fetched there since translations changed */
	uint8_t moves[MOVES];		/* how often a page got another frame, modulo 32 */

	struct kernel_trace_record record;	/* that the next store to `trigger` sends */
};

extern struct machine m;
extern struct laplace_processor *const p;

struct exception_delivered {};	/* Bochs' longjmp to its loop */
struct run_over {};
struct failure {};		/* of laplace_die() */

/* machine.cc */
uint32_t below(uint32_t limit);		/* chance */
bool once_in(uint32_t times);
bool in_record(uint64_t address, unsigned length);	/* the kernel's */
void sync_time(uint32_t allowed);	/* Bochs' BX_SYNC_TIME_IF_SINGLE_PROCESSOR */
void end_recording(void);
void flush_comes(void);			/* if one is due, and no record is under way */
void expect_flushed(void);		/* it has come */

/* memory.cc */
uint64_t some_page(void);
uint64_t frame_by_tables(uint64_t space, uint64_t address);
uint64_t some_address(void);
unsigned some_length(void);
struct entry *entry_of(uint64_t address);
bool has_host(const struct entry *entry, uint64_t page);
void flush_tlb(bool global_too);
void invalidate_stack_cache(void);
void prefetch(uint64_t page);		/* code */
/* An access that a hook was called for, for the list of what has to be in the trace. */
void happened(bool write, uint64_t address, unsigned length, bool system);
void walk_pages(bool write);
void linear(bool write, uint64_t address, unsigned length);
/* A read-modify-write.  Of 16 bytes Bochs writes twice (write_RMW_linear_dqword). */
void modify(uint64_t address, unsigned length, bool writes);
void look(uint64_t address, unsigned length);
void system_access(uint64_t address, unsigned length, bool write);
void new_stack_write(uint64_t address);
void stack_access(bool write, uint64_t address, unsigned length);

/* instructions.cc */
[[noreturn]] void exception(void);
void play_step(const struct step *step);
void begin_last_instruction(const struct step *step);	/* which is not completed */

#endif
