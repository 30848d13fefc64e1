/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a thread executed, on its way into a file of DynamoRIO's drmemtrace.
 *
 * Where an instruction went on is known at the thread's next one, and where an interrupt was taken, of a branch,
 * when it returns: until then records wait.
 */
#ifndef LAPLACE_CONVERT_DRMEMTRACE_THREAD_H
#define LAPLACE_CONVERT_DRMEMTRACE_THREAD_H

#include <laplace/convert.h>
#include <laplace/merge.h>

#include "decode/decoder.h"
#include "zip_output.h"

#define DRMEMTRACE_NONE SIZE_MAX
#define DRMEMTRACE_KNOWN 16384		/* instructions of which a reader of the file has the bytes */
#define DRMEMTRACE_PAGES 4096		/* pages of which it has the frame */
#define DRMEMTRACE_BUFFER 65536

/* clients/drcachesim/common/trace_entry.h there: types, and `size` of a marker */
enum {
	DR_READ = 0, DR_WRITE = 1, DR_INSTRUCTION = 10, DR_JUMP = 11, DR_INDIRECT_JUMP = 12, DR_CALL = 14,
	DR_INDIRECT_CALL = 15, DR_RETURN = 16, DR_THREAD = 22, DR_THREAD_EXIT = 23, DR_PROCESS = 24, DR_HEADER = 25,
	DR_FOOTER = 26, DR_MARKER = 28, DR_NO_FETCH = 29, DR_SYSENTER = 31, DR_ENCODING = 47, DR_TAKEN = 48,
	DR_UNTAKEN = 49
};
/* of DR_FILE_TYPE: OFFLINE_FILE_TYPE_ARCH_X86_64 and _ENCODINGS; _SYSCALL_NUMBERS; _KERNEL_SYSCALL_TRACE_TEMPLATES;
 * _WHOLE_SYSTEM; where it is in a file */
enum { DR_TYPE = 0x40 | 0x200, DR_NUMBERS = 0x400, DR_TEMPLATES = 0x4000, DR_WHOLE_SYSTEM = 0x40000, DR_TYPE_AT = 28 };
enum {
	DR_FORMAT = 7,			/* TRACE_ENTRY_VERSION_RETIRED_INSTRUCTIONS_ONLY */
	DR_LINE_BYTES = 64, DR_PAGE_BYTES = 4096	/* which it says of the processor */
};

enum {
	DR_KERNEL_EVENT = 0, DR_KERNEL_XFER = 1, DR_TIMESTAMP = 2, DR_CPU = 3, DR_FILE_TYPE = 9, DR_CACHE_LINE = 10,
	DR_VERSION = 12, DR_WINDOW = 14, DR_PHYSICAL = 15, DR_VIRTUAL = 17, DR_PAGE_SIZE = 18, DR_PART_SIZE = 20, DR_PART_ENDS = 21, DR_ORDINAL = 22, DR_SYSTEM_CALL = 25,
	DR_CALL_BEGINS = 27, DR_CALL_ENDS = 28, DR_BRANCH_TARGET = 29, DR_SWITCH_BEGINS = 34, DR_SWITCH_ENDS = 35, DR_UNCOMPLETED = 41,
	DR_HARDWARE_EVENT = 43, DR_HARDWARE_RETURN = 44
};

/* An access to memory, whole. */
struct drmemtrace_access {
	uint64_t address;
	uint64_t frame;			/* of 4096 bytes, + 1; 0: not known */
	uint32_t length;
	bool write;
};

/* An instruction that was executed, and what it referred to. */
struct drmemtrace_step {
	struct lpl_instruction instruction;
	uint64_t frame;			/* as above, of its first byte */
	struct lpl_decoded decoded;
	bool after_gap;			/* it is not known what precedes it */
	bool interrupted;		/* after it, or in the middle of it, the processor went to a handler ... */
	bool faulted;			/* ... because it could not complete */
	bool calls;			/* the kernel, with this number */
	uint32_t number;
	struct drmemtrace_access *access;
	size_t count, room;
};

/* What waits: an entry, and what is known of it. */
struct drmemtrace_record {
	uint16_t type, size;
	uint64_t address;		/* or value */
	uint64_t target;		/* of a branch: direct, or where it went */
	uint64_t frame;			/* of an access, or an instruction */
	uint8_t branch;			/* enum lpl_branch */
	bool left_out, repeats;
	uint8_t bytes[LPL_INSTRUCTION_MAX];
};

/* What was interrupted. */
struct drmemtrace_frame {
	bool user, open;		/* open: where it goes on is not known yet ... */
	bool restarts;			/* ... but that it can be but here */
	uint64_t pc;
	size_t marker, before;		/* of an open one: its record, and that of the instruction before */
};

struct drmemtrace_bytes {
	uint64_t address;
	uint8_t length, bytes[LPL_INSTRUCTION_MAX];
};

struct drmemtrace_page {
	uint64_t page, frame;
};

/* What is being cut out of a thread's records (drmemtrace_templates.h). */
struct drmemtrace_cut {
	bool active, of_switch;
	bool interrupted, marred;	/* it is of no use, or of less */
	uint32_t key;
	unsigned int depth;		/* of handlers */
	uint64_t instructions;
	char *bytes;
	size_t used, room;
};

struct drmemtrace_thread {
	uint32_t tid, tgid;
	uint64_t serial;
	char name[LPL_TASK_NAME + 1];
	bool begun;			/* the file has its beginning */
	bool switched;			/* to it, since its last instruction: the time is to be said */
	bool executes;			/* another program, or its first one, since it was in the kernel */
	uint64_t time;			/* of its last instruction */
	uint64_t gap;			/* how many there were in the trace when it ran last */
	uint64_t windows;
	struct drmemtrace_record *record;
	size_t count, room;
	size_t last;			/* the last instruction's; DRMEMTRACE_NONE: there was none, or a gap since */
	struct drmemtrace_step before;	/* that instruction; without what it referred to */
	struct drmemtrace_frame *frame;
	size_t frames, frames_room;
	size_t call;			/* of these, up to that of a system call that goes on; 0: none does */
	uint32_t number;		/* its number */
	uint64_t *signal;		/* where handlers of signals, that have not returned, interrupted it */
	size_t signals, signals_room;
	struct drmemtrace_bytes *known;
	struct drmemtrace_page *page;
	bool of_template;		/* each instruction has its bytes, and nothing a frame */
	struct drmemtrace_cut cut;
	struct lpl_zip *zip;		/* NULL: it is not packed */
	uint64_t part_size, parts;	/* instructions of each part, or 0; how many are over */
	uint64_t instructions;		/* in this one */
	uint64_t records, stamp;	/* that tools get, from the beginning on; the last marker of the time */
	char *buffer;
	size_t used;
	/* where the buffer goes when it is full */
	bool (*flush)(struct drmemtrace_thread *thread, void *context);
	bool (*next_part)(struct drmemtrace_thread *thread, void *context);	/* flushed, and the part ended */
	void *context;
	struct lpl_losses *losses;
};

/* Did it refer to less than what it has operands for? */
static inline bool drmemtrace_is_short(const struct drmemtrace_step *step)
{
	return !step->decoded.repeats && step->count < step->decoded.reads + step->decoded.writes;
}

/* Where it went on is not in the instruction. */
static inline bool drmemtrace_is_indirect(unsigned int branch)
{
	return branch == LPL_BRANCH_INDIRECT_JUMP || branch == LPL_BRANCH_INDIRECT_CALL ||
	       branch == LPL_BRANCH_RETURN || branch == LPL_BRANCH_SYSTEM_RETURN;
}

/* drmemtrace_records.c: an entry; and what waits, as far as it is known.  false: flush() failed. */
bool lpl_drmemtrace_put(struct drmemtrace_thread *thread, unsigned int type, unsigned int size, uint64_t address);
bool lpl_drmemtrace_write_settled(struct drmemtrace_thread *thread);

/* The next instruction of the thread; `time` in microseconds.  false: no memory, or flush() failed. */
bool lpl_drmemtrace_step(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, uint64_t time);
/* What is left; then the end of the file. */
bool lpl_drmemtrace_end(struct drmemtrace_thread *thread);
void lpl_drmemtrace_free(struct drmemtrace_thread *thread);

#endif
