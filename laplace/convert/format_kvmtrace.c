/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of kVMTrace, our patch to Linux 2.4.20; <laplace/kvmtrace_record.h> has its records.
 * Read, not written.
 *
 * Here is the log itself: its records' bytes and numbers, where it begins and ends.  What their
 * fields mean is in kvmtrace_tasks.c and kvmtrace_refs.c.  Cycles are of the time stamp counter.
 */
#include <inttypes.h>
#include <string.h>

#include "kvmtrace_log.h"

#define BYTES sizeof(struct kvmtrace_record)

static struct kvmtrace_record parse(const uint8_t *at)
{
	struct kvmtrace_record record = {
		.sequence = scan_le32(at), .kind = scan_le16(at + 4), .flags = scan_le16(at + 6),
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

static bool start(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	const uint32_t version = record->is.word[0], bytes = record->is.word[3];

	if (log->begun || record->address != KVMTRACE_MAGIC)
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "this is not where a log of "
					 "kVMTrace begins");
	if (version != KVMTRACE_VERSION || bytes != BYTES)
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "a log of version %" PRIu32
					 " with records of %" PRIu32 " bytes (known is version %d "
					 "with %zu)", version, bytes, KVMTRACE_VERSION, BYTES);
	log->begun = true;
	return lpl_kvmtrace_snapshot(importer, record, true);
}

static bool stop(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	const uint32_t lost = record->is.word[0];

	log->over = true;
	importer->result.unread = record->is.word[3];
	return !lost || lpl_import_refuse(importer, LPL_ERR_DAMAGED, "kVMTrace says that it lost "
					  "%" PRIu32 " records", lost);
}

static bool take(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	const struct kvmtrace_log *log = importer->state;

	if (log->in_snapshot && record->kind != KVMTRACE_TASK && record->kind != KVMTRACE_START &&
	    !lpl_kvmtrace_snapshot(importer, record, false))
		return false;
	switch (record->kind) {
	case KVMTRACE_START:
		return start(importer, record);
	case KVMTRACE_STOP:
		return stop(importer, record);
	case KVMTRACE_POOL:
	case KVMTRACE_LEFT:
		/* of the pool's books alone */
		return true;
	case KVMTRACE_TASK:
		return lpl_kvmtrace_task(importer, record);
	case KVMTRACE_SPACE_END:
		return lpl_kvmtrace_space(importer, record);
	}
	/* what a task did */
	if (record->kind > KVMTRACE_REMAP || !record->kind)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a record of kind %u, which "
					 "there is not", record->kind);
	if (!lpl_kvmtrace_run(importer, record))
		return false;
	switch (record->kind) {
	case KVMTRACE_REFERENCE:
		return lpl_kvmtrace_reference(importer, record);
	case KVMTRACE_FILE:
		return lpl_kvmtrace_file(importer, record);
	case KVMTRACE_FORK:
		return lpl_kvmtrace_fork(importer, record);
	case KVMTRACE_EXEC:
		return lpl_kvmtrace_exec(importer, record);
	case KVMTRACE_EXIT:
		return lpl_kvmtrace_exit(importer, record);
	default:
		return lpl_kvmtrace_remap(importer, record);
	}
}

static const uint8_t *read_record(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end)
{
	struct kvmtrace_log *log = importer->state;
	struct kvmtrace_record record;

	if (log->over)		/* what a disk holds after it */
		return end;
	if (end - at < (ptrdiff_t)BYTES)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
					 "record, after %d of its %zu bytes", (int)(end - at),
					 BYTES);
	record = parse(at);
	if (!log->begun && record.kind != KVMTRACE_START)
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "this is not where a log of "
					 "kVMTrace begins");
	if (record.sequence != log->next)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "record %" PRIu32 " where %"
					 PRIu32 " is due", record.sequence, log->next);
	log->next++;
	if (!lpl_import_check_clock(importer, "cycle", kvmtrace_time(&record), importer->cycle) ||
	    !take(importer, &record))
		return NULL;
	return at + BYTES;
}

static bool read_end(struct lpl_importer *importer)
{
	const struct kvmtrace_log *log = importer->state;

	return log->over || lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the log ends without "
					      "its last record: tracing was not stopped, or not "
					      "all was written");
}

static bool begin_log(void *state)
{
	struct kvmtrace_log *log = state;

	lpl_kvmtrace_pages_init(&log->pages);
	lpl_kvmtrace_tasks_init(&log->tasks);
	return true;
}

static void free_log(void *state)
{
	struct kvmtrace_log *log = state;

	lpl_kvmtrace_pages_free(&log->pages);
	lpl_kvmtrace_tasks_free(&log->tasks);
}

const struct lpl_format lpl_format_kvmtrace = {
	.name = "kvmtrace",
	.fields = "a record of 48 bytes",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_REDUCED | LPL_FORMAT_IMPORT_ONLY |
		  LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_WRITES | LPL_WITH_MODE,
	.read_record = read_record,
	.read_end = read_end,
	.record_bytes = BYTES,
	.import_state = sizeof(struct kvmtrace_log),
	.import_begin = begin_log,
	.import_free = free_log,
};
