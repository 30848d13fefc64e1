/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of kVMTrace, our patch to Linux 2.4.20; <laplace/kvmtrace_record.h> has
 * its records.  Read, not written.
 *
 * A record of a reference tells whose page it is: so much of a mapping is made
 * known to `laplace merge` as is needed, by events before the reference, a page at a
 * time, when a page is new or is another one than before.  kvmtrace_pages.c keeps
 * that.  A record of a read() or write() is a reference of the kernel's to the frame,
 * at its address in the kernel.  Cycles are those of the time stamp counter.
 */
#include <inttypes.h>
#include <string.h>

#include <laplace/kvmtrace_record.h>

#include "fields.h"
#include "importer.h"
#include "kvmtrace_pages.h"

#define BYTES sizeof(struct kvmtrace_record)
#define KERNEL_BASE UINT64_C(0xc0000000)
#define CLONE_VM 0x100

struct log {
	struct kvmtrace_pages pages;
	struct kvmtrace_tasks tasks;
	uint32_t next;		/* sequence number */
	bool begun, over;
	bool in_snapshot;	/* of the tasks that exist at START */
	uint32_t running;	/* pid; 0: nobody yet */
	bool running_exited;
};

static uint16_t le16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static struct kvmtrace_record parse(const uint8_t *at)
{
	struct kvmtrace_record record = {
		.sequence = scan_le32(at), .kind = le16(at + 4), .flags = le16(at + 6),
		.tsc_low = scan_le32(at + 8), .tsc_high = scan_le32(at + 12),
		.pid = scan_le32(at + 16), .tgid = scan_le32(at + 20),
		.space = scan_le32(at + 24), .address = scan_le32(at + 28),
	};

	if (record.kind == KVMTRACE_EXEC || record.kind == KVMTRACE_TASK)
		memcpy(record.is.name, at + 32, KVMTRACE_NAME);
	else
		for (unsigned int i = 0; i < 4; i++)
			record.is.word[i] = scan_le32(at + 32 + 4 * i);
	return record;
}

static uint64_t time_of(const struct kvmtrace_record *record)
{
	return (uint64_t)record->tsc_high << 32 | record->tsc_low;
}

static bool no_memory(struct lpl_importer *importer)
{
	(void)lpl_fail(importer->report, LPL_ERR_MEMORY, "no memory");
	return false;
}

/* ---- events ---- */

static struct lpl_event event_of(const struct lpl_importer *importer,
				 const struct kvmtrace_record *record, uint32_t tag)
{
	return (struct lpl_event){
		.ref = importer->ref, .instr = importer->instr, .cycle = time_of(record),
		.tag = tag, .tid = record->pid, .tgid = record->tgid, .space = record->space,
	};
}

static void set_text(struct lpl_event *event, const char name[KVMTRACE_NAME])
{
	event->text_length = (uint32_t)strnlen(name, KVMTRACE_NAME);
	memcpy(event->text, name, event->text_length);
}

/* The task that a record speaks of is the one that runs. */
static bool run(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	const struct kvmtrace_task *task, *before;
	struct lpl_event event;

	if (record->pid == log->running)
		return true;
	before = kvmtrace_task(&log->tasks, log->running);
	task = kvmtrace_task(&log->tasks, record->pid);
	event = event_of(importer, record, KTR_SCHEDULE);
	event.tid = log->running;
	event.tgid = before ? before->tgid : 0;
	event.space = before ? before->space : 0;
	event.arg[0] = log->running;
	event.arg[1] = log->running_exited ? KTR_STATE_DEAD : KTR_STATE_RUNNABLE;
	event.arg[2] = record->pid;
	event.arg[3] = record->tgid;
	event.arg[4] = task ? task->space : record->space;
	log->running = record->pid;
	log->running_exited = false;
	return lpl_import_event(importer, &event);
}

static bool set_task(struct lpl_importer *importer, uint32_t pid, uint32_t tgid, uint32_t space)
{
	struct log *log = importer->state;

	return lpl_kvmtrace_task_set(&log->tasks, pid, tgid, space) || no_memory(importer);
}

static bool snapshot(struct lpl_importer *importer, const struct kvmtrace_record *record, bool begins)
{
	struct log *log = importer->state;
	struct lpl_event event = event_of(importer, record, KTR_SNAPSHOT);

	log->in_snapshot = begins;
	event.tid = event.tgid = 0;
	event.space = 0;
	event.arg[0] = begins;
	event.arg[1] = KERNEL_BASE;
	return lpl_import_event(importer, &event);
}

static bool task_told(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = event_of(importer, record, KTR_TASK_CREATE);

	event.tid = event.tgid = 0;
	event.space = 0;
	event.arg[0] = record->pid;
	event.arg[1] = record->tgid;
	event.arg[2] = record->space;
	set_text(&event, record->is.name);
	return set_task(importer, record->pid, record->tgid, record->space) &&
	       lpl_import_event(importer, &event);
}

static bool forked(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	const uint32_t *word = record->is.word;
	struct lpl_event event = event_of(importer, record, KTR_SPACE_DUPLICATE);

	if (!(word[3] & CLONE_VM) && word[2] == record->space) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "space %" PRIx32 " is its own copy", word[2]);
		return false;
	}
	if (!(word[3] & CLONE_VM) && lpl_kvmtrace_space_known(&log->pages, record->space)) {
		event.arg[0] = record->space;
		event.arg[1] = word[2];
		if (!lpl_kvmtrace_space_copy(&log->pages, record->space, word[2]))
			return no_memory(importer);
		if (!lpl_import_event(importer, &event))
			return false;
	}
	event = event_of(importer, record, KTR_TASK_CREATE);
	memcpy(event.arg, (uint64_t[]){ word[0], word[1], word[2], word[3] }, 4 * sizeof(uint64_t));
	return set_task(importer, word[0], word[1], word[2]) &&
	       lpl_import_event(importer, &event);
}

static bool executed(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = event_of(importer, record, KTR_EXEC);

	event.arg[0] = record->pid;
	event.arg[1] = record->tgid;
	event.arg[2] = record->space;
	event.arg[4] = KTR_NONE;
	set_text(&event, record->is.name);
	return set_task(importer, record->pid, record->tgid, record->space) &&
	       lpl_import_event(importer, &event);
}

static bool exited(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	struct lpl_event event = event_of(importer, record, KTR_EXIT);

	event.arg[0] = record->pid;
	event.arg[1] = record->tgid;
	event.arg[2] = record->is.word[0];
	event.arg[3] = record->is.word[1];
	log->running_exited = true;
	lpl_kvmtrace_task_gone(&log->tasks, record->pid);
	return lpl_import_event(importer, &event);
}

static bool space_ended(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	struct lpl_event event = event_of(importer, record, KTR_SPACE_END);

	event.arg[0] = record->space;
	return !lpl_kvmtrace_space_known(&log->pages, record->space) ||
	       (lpl_kvmtrace_space_end(&log->pages, record->space), lpl_import_event(importer, &event));
}

static bool remapped(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	const uint64_t from = record->address, to = record->is.word[0], bytes = record->is.word[1];
	struct lpl_event event = event_of(importer, record, KTR_REMAP);

	if (from + bytes > KERNEL_BASE || to + bytes > KERNEL_BASE || !bytes) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "%" PRIx64 " bytes are moved from %" PRIx64
				  " to %" PRIx64, bytes, from, to);
		return false;
	}
	event.arg[0] = record->space;
	event.arg[1] = from;
	event.arg[2] = from + bytes;
	event.arg[3] = to;
	event.arg[4] = to + bytes;
	switch (lpl_kvmtrace_space_move(&log->pages, record->space, from >> LPL_PAGE_SHIFT,
					to >> LPL_PAGE_SHIFT, bytes >> LPL_PAGE_SHIFT)) {
	case 0:
		return true;	/* of pages that nobody has heard of */
	case 1:
		return lpl_import_event(importer, &event);
	default:
		return no_memory(importer);
	}
}

/* ---- references ---- */

static struct kvmtrace_identity identity_of(const struct kvmtrace_record *record)
{
	const uint32_t *word = record->is.word;

	return (struct kvmtrace_identity){
		.device = (uint64_t)(word[0] >> 8) << 20 | (word[0] & 0xff),
		.inode = word[1] | (record->flags & KVMTRACE_SYSV ? KTR_INODE_SYSV : 0),
		.page = word[2],
		.file = word[0] || word[1],
		.shared = record->flags & KVMTRACE_SHARED,
	};
}

/* A file's page is in this frame from now on, if it was not before. */
static bool cache(struct lpl_importer *importer, const struct kvmtrace_record *record,
		  const struct kvmtrace_identity *identity)
{
	struct log *log = importer->state;
	struct kvmtrace_identity gone[2];
	uint64_t frames[2];
	struct lpl_event event = event_of(importer, record, KTR_CACHE_REMOVE);
	const uint64_t frame = record->is.word[3];
	int displaced = lpl_kvmtrace_cache(&log->pages, frame, identity, gone, frames);

	if (displaced == KVMTRACE_CACHED)
		return true;
	if (displaced == KVMTRACE_NO_MEMORY)
		return no_memory(importer);
	for (int i = 0; i < displaced; i++) {
		memcpy(event.arg, (uint64_t[]){ gone[i].device, gone[i].inode, gone[i].page,
						frames[i], 1 }, 5 * sizeof(uint64_t));
		if (!lpl_import_event(importer, &event))
			return false;
	}
	event.tag = KTR_CACHE_ADD;
	memcpy(event.arg, (uint64_t[]){ identity->device, identity->inode, identity->page, frame, 1,
					KERNEL_BASE + (frame << LPL_PAGE_SHIFT) }, 6 * sizeof(uint64_t));
	return lpl_import_event(importer, &event);
}

static uint64_t map_kind(const struct kvmtrace_record *record,
			 const struct kvmtrace_identity *identity)
{
	if (!identity->file)
		return KTR_MAP_ANONYMOUS;
	if (record->flags & KVMTRACE_SYSV)
		return KTR_MAP_SHM;
	return identity->shared ? KTR_MAP_FILE_SHARED : KTR_MAP_FILE_PRIVATE;
}

static bool map(struct lpl_importer *importer, const struct kvmtrace_record *record,
		const struct kvmtrace_identity *identity)
{
	struct lpl_event event = event_of(importer, record, KTR_MAP);
	const uint64_t start = record->address & ~((UINT64_C(1) << LPL_PAGE_SHIFT) - 1);

	event.arg[0] = record->space;
	event.arg[1] = start;
	event.arg[2] = start + (UINT64_C(1) << LPL_PAGE_SHIFT);
	/* what else is allowed there is not told */
	event.arg[3] = KTR_PROT_READ | (record->flags & KVMTRACE_WRITE ? KTR_PROT_WRITE : 0);
	event.arg[4] = map_kind(record, identity);
	event.arg[5] = identity->device;
	event.arg[6] = identity->inode;
	event.arg[7] = identity->page;
	return lpl_import_event(importer, &event);
}

static bool unmap(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = event_of(importer, record, KTR_UNMAP);

	event.arg[0] = record->space;
	event.arg[1] = record->address & ~((UINT64_C(1) << LPL_PAGE_SHIFT) - 1);
	event.arg[2] = event.arg[1] + (UINT64_C(1) << LPL_PAGE_SHIFT);
	return lpl_import_event(importer, &event);
}

/*
 * Does the space have the page for itself from now on, and it is the old one?  A write that
 * brings a page back from swap may leave nobody to share it with, of which the log says no
 * more; if somebody is left, the write faults again and is logged as a copy.
 */
static bool keeps(const struct kvmtrace_record *record)
{
	const unsigned int all = KVMTRACE_SWAPIN | KVMTRACE_WRITE | KVMTRACE_SHARED | KVMTRACE_COPIED;

	return (record->flags & KVMTRACE_KEPT) ||
	       (record->flags & all) == (KVMTRACE_SWAPIN | KVMTRACE_WRITE);
}

static bool break_sharing(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = event_of(importer, record, KTR_COW_BREAK);

	event.arg[0] = record->space;
	event.arg[1] = record->address & ~((UINT64_C(1) << LPL_PAGE_SHIFT) - 1);
	event.arg[2] = keeps(record) ? record->is.word[3] : KTR_NONE;
	event.arg[3] = record->is.word[3];
	return lpl_import_event(importer, &event);
}

/* What is at this address, if it is not what it was. */
static bool tell_page(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;
	const struct kvmtrace_identity identity = identity_of(record);
	const bool broken = (record->flags & KVMTRACE_COPIED) || keeps(record);

	if (identity.file && !cache(importer, record, &identity))
		return false;
	switch (lpl_kvmtrace_page(&log->pages, record->space, record->address >> LPL_PAGE_SHIFT,
				  &identity, record->flags & KVMTRACE_FRESH)) {
	case KVMTRACE_PAGE_OTHER:
		return unmap(importer, record) && map(importer, record, &identity);
	case KVMTRACE_PAGE_NEW:
		return map(importer, record, &identity);
	case KVMTRACE_PAGE_OWN_NOW:
		return break_sharing(importer, record);
	case KVMTRACE_PAGE_SAME:
		return !broken || identity.file || break_sharing(importer, record);
	default:
		return no_memory(importer);
	}
}

static bool put_page(struct lpl_importer *importer, const struct kvmtrace_record *record,
		     uint64_t space, uint64_t page)
{
	struct lpl_ref ref = {
		.ref = importer->ref + 1, .cycle = time_of(record), .space = space,
		.type = record->flags & KVMTRACE_WRITE ? LPL_WRITE : LPL_READ,
		.flags = record->flags & KVMTRACE_USER ? LPL_USER : 0,
	};

	ref.instr = ref.ref;
	return lpl_import_set_page(importer, &ref, page) && lpl_import_ref(importer, &ref);
}

static bool referenced(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	if (record->address >= KERNEL_BASE) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a program's page at %" PRIx32
				  ", which is the kernel's", record->address);
		return false;
	}
	return tell_page(importer, record) &&
	       put_page(importer, record, record->space, record->address >> LPL_PAGE_SHIFT);
}

static bool file_referenced(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	const struct kvmtrace_identity identity = identity_of(record);

	return cache(importer, record, &identity) &&
	       put_page(importer, record, record->space,
			(KERNEL_BASE >> LPL_PAGE_SHIFT) + record->is.word[3]);
}

/* ---- the log ---- */

static bool started(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;

	if (log->begun || record->address != KVMTRACE_MAGIC) {
		lpl_import_refuse(importer, LPL_ERR_FORMAT, "this is not where a log of kVMTrace "
				  "begins");
		return false;
	}
	if (record->is.word[0] != KVMTRACE_VERSION || record->is.word[3] != BYTES) {
		lpl_import_refuse(importer, LPL_ERR_FORMAT, "a log of version %" PRIu32 " with records "
				  "of %" PRIu32 " bytes (known is version %d with %zu)",
				  record->is.word[0], record->is.word[3], KVMTRACE_VERSION, BYTES);
		return false;
	}
	log->begun = true;
	return snapshot(importer, record, true);
}

static bool stopped(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;

	log->over = true;
	importer->unread = record->is.word[3];
	if (!record->is.word[0])
		return true;
	lpl_import_refuse(importer, LPL_ERR_DAMAGED, "kVMTrace says that it lost %" PRIu32 " records",
			  record->is.word[0]);
	return false;
}

static bool take(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct log *log = importer->state;

	if (log->in_snapshot && record->kind != KVMTRACE_TASK && record->kind != KVMTRACE_START &&
	    !snapshot(importer, record, false))
		return false;
	switch (record->kind) {
	case KVMTRACE_START:
		return started(importer, record);
	case KVMTRACE_STOP:
		return stopped(importer, record);
	case KVMTRACE_POOL:
	case KVMTRACE_LEFT:
		/* of the pool's books alone */
		return true;
	case KVMTRACE_TASK:
		return task_told(importer, record);
	case KVMTRACE_SPACE_END:
		return space_ended(importer, record);
	case KVMTRACE_REFERENCE:
		return run(importer, record) && referenced(importer, record);
	case KVMTRACE_FILE:
		return run(importer, record) && file_referenced(importer, record);
	case KVMTRACE_FORK:
		return run(importer, record) && forked(importer, record);
	case KVMTRACE_EXEC:
		return run(importer, record) && executed(importer, record);
	case KVMTRACE_EXIT:
		return run(importer, record) && exited(importer, record);
	case KVMTRACE_REMAP:
		return run(importer, record) && remapped(importer, record);
	default:
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a record of kind %u, which there is not",
				  record->kind);
		return false;
	}
}

static const uint8_t *read_record(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end)
{
	struct log *log = importer->state;
	struct kvmtrace_record record;

	if (log->over)		/* what a disk holds behind it */
		return end;
	if (end - at < (ptrdiff_t)BYTES)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a record, "
					 "after %d of its %zu bytes", (int)(end - at), BYTES);
	record = parse(at);
	if (!log->begun && record.kind != KVMTRACE_START)
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "this is not where a log of kVMTrace "
					 "begins");
	if (record.sequence != log->next)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "record %" PRIu32 " where %" PRIu32
					 " is due", record.sequence, log->next);
	log->next++;
	if (!lpl_import_check_clock(importer, "cycle", time_of(&record), importer->cycle) ||
	    !take(importer, &record))
		return NULL;
	return at + BYTES;
}

static bool read_end(struct lpl_importer *importer)
{
	struct log *log = importer->state;

	if (log->over)
		return true;
	lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the log ends without its last record: tracing "
			  "was not stopped, or not all was written");
	return false;
}

static void free_log(void *state)
{
	struct log *log = state;

	lpl_kvmtrace_pages_free(&log->pages);
	lpl_kvmtrace_tasks_free(&log->tasks);
}

const struct lpl_format lpl_format_kvmtrace = {
	.name = "kvmtrace",
	.fields = "a record of 48 bytes",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_REDUCED | LPL_FORMAT_IMPORT_ONLY | LPL_TELLS_CYCLE | LPL_TELLS_SPACE,
	.read_record = read_record,
	.read_end = read_end,
	.record_bytes = BYTES,
	.import_state = sizeof(struct log),
	.import_free = free_log,
};
