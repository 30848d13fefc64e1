/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces of DynamoRIO's drmemtrace, as drraw2trace leaves them (clients/drcachesim/common/trace_entry.h
 * there): entries of 12 bytes, where the type says what the other fields are.
 *
 * Each thread has a file, with timestamps among its entries.  Of all files the one with the lowest
 * timestamp goes on, up to its next: the order in which they were traced.  A thread is a task here, and a
 * process's number its address space; which thread runs is said by events.
 */
#include <inttypes.h>
#include <string.h>

#include "drmemtrace.h"

#define NEWEST_VERSION 7

enum {
	READ = 0,
	WRITE = 1,
	PREFETCH = 2,			/* ... to 9: kinds of them */
	INSTRUCTION = 10,		/* ... to 16: kinds of them */
	BUNDLE = 17,			/* lengths of the instructions that follow the last one */
	FLUSH = 18,			/* ... to 21: of a range of a cache, and its end */
	THREAD = 22,			/* from here on: its id */
	THREAD_EXIT = 23,
	PROCESS = 24,			/* of the thread before: its id */
	HEADER = 25,			/* the version */
	FOOTER = 26,
	HARDWARE_PREFETCH = 27,
	MARKER = 28,			/* `size` says of what, `address` has a value */
	NO_FETCH = 29,			/* an instruction that is repeated without being fetched */
	MAYBE_FETCH = 30,		/* ... or may be */
	SYSENTER = 31,
	PREFETCH_MORE = 32,		/* ... to 46: kinds of them */
	ENCODING = 47,			/* bytes of the next instruction */
	TAKEN_JUMP = 48,
	UNTAKEN_JUMP = 49,
};

enum {
	TIMESTAMP = 2,			/* microseconds since 1601 */
	CPU = 3,
	FILE_TYPE = 9,
	FORMAT_VERSION = 12,
	SYSTEM_CALL_BEGINS = 27,	/* instructions of the kernel, up to the other one */
	SYSTEM_CALL_ENDS = 28,
	CONTEXT_SWITCH_BEGINS = 34,
	CONTEXT_SWITCH_ENDS = 35,
	HARDWARE_EVENT = 43,		/* an interrupt, an exception, a system call begins; they may be nested */
	HARDWARE_RETURN = 44,
};

/* of FILE_TYPE */
enum { FILTERED = 0x181, BITS_32 = 0x30 };

/* ---- events ---- */

static uint64_t cycle_of(struct lpl_importer *importer, const struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;

	if (!trace->has_base)
		trace->base = file->time;
	trace->has_base = true;
	/* what comes out of turn, as in a file with several threads, is of the time that it is by then */
	return file->time > trace->base && file->time - trace->base > importer->cycle ?
		       file->time - trace->base : importer->cycle;
}

static struct lpl_event event_of(struct lpl_importer *importer, const struct drmemtrace_file *file,
				 uint32_t tag)
{
	return (struct lpl_event){
		.ref = importer->ref, .instr = importer->instr, .cycle = cycle_of(importer, file),
		.tag = tag, .tid = file->tid, .tgid = file->pid, .space = file->pid,
	};
}

/* The program's, of a file drmemtrace.NAME.PID.NUMBER.trace. */
static void set_name(struct lpl_event *event, const struct drmemtrace_file *file)
{
	static const char prefix[] = "drmemtrace.";
	const char *name = file->name, *end;

	if (name && strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return;
	name += sizeof(prefix) - 1;
	end = strstr(name, ".trace");
	for (int i = 0; i < 2 && end; i++)
		end = memrchr(name, '.', (size_t)(end - name));
	if (!end || end == name || end - name > KTR_TEXT)
		return;
	event->text_length = (uint32_t)(end - name);
	memcpy(event->text, name, event->text_length);
}

static bool begin_thread(struct lpl_importer *importer, const struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;
	struct lpl_event event = event_of(importer, file, KTR_TASK_CREATE);

	if (lpl_map_get(&trace->begun, LPL_KEY(file->tid)))
		return true;
	if (!lpl_map_put(&trace->begun, LPL_KEY(file->tid), 1))
		return lpl_import_no_memory(importer);
	event.tid = event.tgid = 0;
	event.space = 0;
	event.arg[KTR_TASK_TID] = file->tid;
	event.arg[KTR_TASK_TGID] = file->pid;
	event.arg[KTR_TASK_SPACE] = file->pid;
	set_name(&event, file);
	return lpl_import_event(importer, &event);
}

static bool schedule(struct lpl_importer *importer, const struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;
	struct lpl_event event;

	if (!begin_thread(importer, file))
		return false;
	event = event_of(importer, file, KTR_SCHEDULE);
	event.tid = trace->running;
	event.tgid = (uint32_t)lpl_map_get(&trace->process, LPL_KEY(trace->running));
	event.space = event.tgid;
	event.arg[KTR_SCHEDULE_PREVIOUS_TID] = trace->running;
	event.arg[KTR_SCHEDULE_PREVIOUS_STATE] = trace->exited ? KTR_STATE_DEAD : KTR_STATE_RUNNABLE;
	event.arg[KTR_SCHEDULE_NEXT_TID] = file->tid;
	event.arg[KTR_SCHEDULE_NEXT_TGID] = file->pid;
	event.arg[KTR_SCHEDULE_NEXT_SPACE] = file->pid;
	trace->running = file->tid;
	trace->exited = false;
	return lpl_import_event(importer, &event);
}

/* A mark, because an event of ours knows one processor. */
static bool mark_cpu(struct lpl_importer *importer, const struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;
	struct lpl_event event = event_of(importer, file, LPL_EVENT_MARK);

	trace->cpu = file->cpu;
	event.text_length = (uint32_t)(lpl_put_decimal(stpcpy(event.text, "cpu "), file->cpu) - event.text);
	return lpl_import_event(importer, &event);
}

/* Before anything that a thread did: it is the one that runs. */
static bool run_thread(struct lpl_importer *importer, const struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;

	if (!file->tid || !file->pid)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "nothing says of which "
					     "%s this is", file->tid ? "process" : "thread");
	if (file->tid != trace->running && !schedule(importer, file))
		return false;
	return file->cpu == trace->cpu || file->cpu == UINT64_MAX || mark_cpu(importer, file);
}

static bool exit_thread(struct lpl_importer *importer, struct drmemtrace_file *file)
{
	struct drmemtrace *trace = importer->state;
	struct lpl_event event;

	if (!run_thread(importer, file))
		return false;
	event = event_of(importer, file, KTR_EXIT);
	event.arg[KTR_EXIT_TID] = file->tid;
	event.arg[KTR_EXIT_TGID] = file->pid;
	trace->exited = true;
	lpl_map_remove(&trace->begun, LPL_KEY(file->tid));
	return lpl_import_event(importer, &event);
}

/* ---- references ---- */

static bool access_memory(struct lpl_importer *importer, const struct drmemtrace_file *file,
			  uint64_t address, uint64_t size, unsigned int type)
{
	struct lpl_ref ref = { .type = (uint8_t)type, .flags = file->kernel || file->handlers ? 0 : LPL_USER,
			       .address = address };

	if (!run_thread(importer, file))
		return false;
	/* of an instruction that saves the processor's state, say */
	importer->result.unsized += size == 0;
	size += size == 0;
	if (size > IMPORT_LENGTH_MAX || address + (size - 1) < address)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "an access to %" PRIu64
					     " bytes from %" PRIx64 " on", size, address);
	ref.space = file->pid;
	ref.cycle = cycle_of(importer, file);
	ref.instr = lpl_import_instruction(importer, type);
	return lpl_import_access(importer, &ref, size);
}

/* An instruction without a size says only where the program is. */
static bool take_instruction(struct lpl_importer *importer, struct drmemtrace_file *file,
			     uint64_t address, unsigned int size, bool fetched)
{
	file->last_pc = address;
	file->next_pc = address + size;
	return !size || !fetched || access_memory(importer, file, address, size, LPL_FETCH);
}

/* Each byte is the length of an instruction. */
static bool take_bundle(struct lpl_importer *importer, struct drmemtrace_file *file,
			const struct drmemtrace_entry *entry)
{
	if (entry->size > 8)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "a bundle of %u instructions",
					     entry->size);
	for (unsigned int i = 0; i < entry->size; i++)
		if (!take_instruction(importer, file, file->next_pc, entry->address >> (8 * i) & 0xff, true))
			return false;
	return true;
}

/* ---- what is said of the trace ---- */

static bool check_version(struct lpl_importer *importer, const struct drmemtrace_file *file,
			  uint64_t version)
{
	if (version >> 32)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_UNSUPPORTED, "is no trace of drmemtrace, "
					     "or one of a 32-bit processor, which has other entries");
	return version <= NEWEST_VERSION ||
	       lpl_drmemtrace_refuse(importer, file, LPL_ERR_UNSUPPORTED, "is of version %" PRIu64
				     "; versions up to %d are known", version, NEWEST_VERSION);
}

static bool check_file_type(struct lpl_importer *importer, const struct drmemtrace_file *file,
			    uint64_t type)
{
	if (type & BITS_32)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_UNSUPPORTED, "is of a 32-bit processor");
	return !(type & FILTERED) || importer->options.reduction ||
	       lpl_drmemtrace_refuse(importer, file, LPL_ERR_USAGE, "references were left out, by a cache, as "
				     "they were recorded (L0_filter): --reduction unknown imports what is left");
}

static bool take_marker(struct lpl_importer *importer, struct drmemtrace_file *file,
			const struct drmemtrace_entry *entry)
{
	switch (entry->size) {
	case CPU:
		file->cpu = entry->address;
		return true;
	case FILE_TYPE:
		return check_file_type(importer, file, entry->address);
	case FORMAT_VERSION:
		return check_version(importer, file, entry->address);
	case SYSTEM_CALL_BEGINS:
	case CONTEXT_SWITCH_BEGINS:
		file->kernel = true;
		return true;
	case SYSTEM_CALL_ENDS:
	case CONTEXT_SWITCH_ENDS:
		file->kernel = false;
		return true;
	case HARDWARE_EVENT:
		file->handlers++;
		return true;
	case HARDWARE_RETURN:
		file->handlers -= file->handlers != 0;
		return true;
	default:
		return true;
	}
}

static bool set_thread(struct lpl_importer *importer, struct drmemtrace_file *file, uint64_t tid)
{
	struct drmemtrace *trace = importer->state;

	if (tid - 1 >= UINT32_MAX)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "a thread with the id %" PRIu64,
					     tid);
	file->tid = (uint32_t)tid;
	file->pid = (uint32_t)lpl_map_get(&trace->process, LPL_KEY(tid));
	return true;
}

static bool set_process(struct lpl_importer *importer, struct drmemtrace_file *file, uint64_t pid)
{
	struct drmemtrace *trace = importer->state;

	if (pid - 1 >= UINT32_MAX || !file->tid)
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "a process with the id %" PRIu64
					     " of %s thread", pid, file->tid ? "a" : "no");
	file->pid = (uint32_t)pid;
	return lpl_map_put(&trace->process, LPL_KEY(file->tid), pid) || lpl_import_no_memory(importer);
}

/* ---- entries ---- */

static bool is_prefetch(unsigned int type)
{
	return (type >= PREFETCH && type < INSTRUCTION) || type == HARDWARE_PREFETCH ||
	       (type >= PREFETCH_MORE && type < ENCODING);
}

static bool is_instruction(unsigned int type)
{
	return (type >= INSTRUCTION && type < BUNDLE) || type == SYSENTER || type == TAKEN_JUMP ||
	       type == UNTAKEN_JUMP || type == MAYBE_FETCH || type == NO_FETCH;
}

/* What is no reference. */
static bool take_other(struct lpl_importer *importer, struct drmemtrace_file *file,
		       const struct drmemtrace_entry *entry)
{
	switch (entry->type) {
	case THREAD:
		return set_thread(importer, file, entry->address);
	case THREAD_EXIT:
		return set_thread(importer, file, entry->address) && exit_thread(importer, file);
	case PROCESS:
		return set_process(importer, file, entry->address);
	case HEADER:
		return check_version(importer, file, entry->address);
	case MARKER:
		return take_marker(importer, file, entry);
	case FOOTER:
	case ENCODING:
		return true;
	case FLUSH:
	case FLUSH + 2:
		importer->result.flushes++;
		return true;
	case FLUSH + 1:
	case FLUSH + 3:
		return true;
	default:
		return lpl_drmemtrace_refuse(importer, file, LPL_ERR_DAMAGED, "an entry of type %u",
					     entry->type);
	}
}

static bool take(struct lpl_importer *importer, struct drmemtrace_file *file,
		 const struct drmemtrace_entry *entry)
{
	const unsigned int type = entry->type;

	if (type == READ || type == WRITE)
		return access_memory(importer, file, entry->address, entry->size,
				     type == READ ? LPL_READ : LPL_WRITE);
	if (is_instruction(type))
		return take_instruction(importer, file, entry->address, entry->size,
					type != NO_FETCH &&
					!(type == MAYBE_FETCH && entry->address == file->last_pc));
	if (type == BUNDLE)
		return take_bundle(importer, file, entry);
	if (!is_prefetch(type))
		return take_other(importer, file, entry);
	importer->result.prefetches++;
	return true;
}

/* ---- all files ---- */

/* Up to the next timestamp, which is taken. */
static bool run(struct lpl_importer *importer, struct drmemtrace_file *file)
{
	struct drmemtrace_entry entry;
	bool more;

	for (;;) {
		if (!lpl_drmemtrace_entry(importer, file, &entry, &more))
			return false;
		if (!more)
			break;
		if (file->offset == DRMEMTRACE_ENTRY && entry.type != HEADER)
			return lpl_drmemtrace_refuse(importer, file, LPL_ERR_FORMAT, "does not begin as a trace "
						     "of drmemtrace");
		if (entry.type == MARKER && entry.size == TIMESTAMP && entry.address > file->time) {
			file->time = entry.address;
			return true;
		}
		if (!take(importer, file, &entry))
			return false;
	}
	file->over = true;
	return file->offset || lpl_drmemtrace_refuse(importer, file, LPL_ERR_TRUNCATED, "is empty");
}

/* The one with the lowest timestamp, of several the first; NULL: all are over. */
static struct drmemtrace_file *next_file(const struct drmemtrace *trace)
{
	struct drmemtrace_file *next = NULL;

	for (size_t i = 0; i < trace->count; i++) {
		struct drmemtrace_file *file = trace->file[i];

		if (!file->over && (!next || file->time < next->time))
			next = file;
	}
	return next;
}

static bool read_files(struct lpl_importer *importer)
{
	struct drmemtrace_file *file;

	if (!lpl_drmemtrace_open(importer))
		return false;
	while ((file = next_file(importer->state)))
		if (!run(importer, file))
			return false;
	return true;
}

static bool begin(void *state)
{
	struct drmemtrace *trace = state;

	lpl_map_init(&trace->process, 1);
	lpl_map_init(&trace->begun, 1);
	trace->cpu = UINT64_MAX;
	return true;
}

static void end(void *state)
{
	lpl_drmemtrace_close(state);
}

const struct lpl_format lpl_format_drmemtrace = {
	.name = "drmemtrace",
	.fields = "type 16, size 16, address 64 bits",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_DIRECTORY | LPL_FORMAT_EITHER | LPL_FORMAT_CODE | LPL_WITH_LENGTH |
		  LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_WRITES | LPL_WITH_FETCHES | LPL_WITH_MODE,
	.read_directory = read_files,
	.import_state = sizeof(struct drmemtrace),
	.import_begin = begin,
	.import_free = end,
};
