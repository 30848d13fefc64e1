/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread's records as a file of DynamoRIO's drmemtrace has them; see drmemtrace_thread.h. */
#include <string.h>

#include "drmemtrace_thread.h"
#include "fields.h"

enum {
	ENTRY = 12,
	PAGE = 4096
};

/* Does a tool get it from a reader?  What is there twice, for readers that skip parts, is not counted. */
static bool is_shown(unsigned int type, unsigned int size)
{
	if (type == DR_MARKER)
		return size != DR_BRANCH_TARGET && size != DR_ORDINAL;
	return type < DR_THREAD || type == DR_THREAD_EXIT || (type > DR_MARKER && type != DR_ENCODING);
}

bool lpl_drmemtrace_put(struct drmemtrace_thread *thread, unsigned int type, unsigned int size, uint64_t address)
{
	char *out;

	if (DRMEMTRACE_BUFFER - thread->used < ENTRY && !thread->flush(thread, thread->context))
		return false;
	out = thread->buffer + thread->used;
	*out++ = (char)(type & 0xff);
	*out++ = (char)(type >> 8);
	*out++ = (char)(size & 0xff);
	*out++ = (char)(size >> 8);
	put_le64(out, address);
	thread->used += ENTRY;
	thread->records += is_shown(type, size);
	if (type == DR_MARKER && size == DR_TIMESTAMP)
		thread->stamp = address;
	return true;
}

static bool put_beginning(struct drmemtrace_thread *thread)
{
	return lpl_drmemtrace_put(thread, DR_HEADER, 0, DR_FORMAT) && lpl_drmemtrace_put(thread, DR_MARKER, DR_VERSION, DR_FORMAT) &&
	       lpl_drmemtrace_put(thread, DR_MARKER, DR_FILE_TYPE, DR_TYPE) && lpl_drmemtrace_put(thread, DR_THREAD, 4, thread->tid) &&
	       lpl_drmemtrace_put(thread, DR_PROCESS, 4, thread->tgid) && lpl_drmemtrace_put(thread, DR_MARKER, DR_CACHE_LINE, DR_LINE_BYTES) &&
	       (!thread->part_size || lpl_drmemtrace_put(thread, DR_MARKER, DR_PART_SIZE, thread->part_size)) &&
	       lpl_drmemtrace_put(thread, DR_MARKER, DR_PAGE_SIZE, DR_PAGE_BYTES) && lpl_drmemtrace_put(thread, DR_MARKER, DR_WINDOW, 0);
}

/* A reader keeps the bytes of each address: they are there once, and again when they are others. */
static bool put_bytes(struct drmemtrace_thread *thread, const struct drmemtrace_record *record)
{
	struct drmemtrace_bytes *known = &thread->known[(record->address ^ record->address >> 14) % DRMEMTRACE_KNOWN];

	if (!thread->of_template && known->address == record->address && known->length == record->size &&
	    memcmp(known->bytes, record->bytes, record->size) == 0)
		return true;
	*known = (struct drmemtrace_bytes){ .address = record->address, .length = (uint8_t)record->size };
	memcpy(known->bytes, record->bytes, record->size);
	for (unsigned int at = 0; at < record->size; at += 8) {
		const unsigned int size = record->size - at < 8 ? record->size - at : 8;
		uint64_t bytes = 0;

		for (unsigned int i = 0; i < size; i++)
			bytes |= (uint64_t)record->bytes[at + i] << 8 * i;
		if (!lpl_drmemtrace_put(thread, DR_ENCODING, size, bytes))
			return false;
	}
	return true;
}

/* Where it is in physical memory, where a reader of the file does not know that. */
static bool put_frame(struct drmemtrace_thread *thread, const struct drmemtrace_record *record)
{
	const uint64_t page = record->address / PAGE;
	struct drmemtrace_page *known = &thread->page[page % DRMEMTRACE_PAGES];

	if (!record->frame || thread->of_template || (known->page == page && known->frame == record->frame))
		return true;
	*known = (struct drmemtrace_page){ .page = page, .frame = record->frame };
	return lpl_drmemtrace_put(thread, DR_MARKER, DR_PHYSICAL, (record->frame - 1) * PAGE + record->address % PAGE) &&
	       lpl_drmemtrace_put(thread, DR_MARKER, DR_VIRTUAL, record->address);
}

static bool is_instruction(const struct drmemtrace_record *record)
{
	return record->type >= DR_INSTRUCTION && record->type != DR_MARKER;
}

/*
 * Each part can be read without those before: it begins with what tools have got by then, and the time, which a reader
 * that comes from the part before leaves out, and has its own encodings and pages.
 */
static bool begin_part(struct drmemtrace_thread *thread)
{
	uint64_t records;

	if (!lpl_drmemtrace_put(thread, DR_MARKER, DR_PART_ENDS, thread->parts++) || !thread->next_part(thread, thread->context))
		return false;
	memset(thread->known, 0, DRMEMTRACE_KNOWN * sizeof(*thread->known));
	memset(thread->page, 0, DRMEMTRACE_PAGES * sizeof(*thread->page));
	thread->instructions = 0;
	records = thread->records;
	if (!lpl_drmemtrace_put(thread, DR_MARKER, DR_ORDINAL, records) ||
	    !lpl_drmemtrace_put(thread, DR_MARKER, DR_TIMESTAMP, thread->stamp) || !lpl_drmemtrace_put(thread, DR_MARKER, DR_CPU, 0))
		return false;
	thread->records = records;
	return true;
}

static bool put_record(struct drmemtrace_thread *thread, const struct drmemtrace_record *record)
{
	uint64_t address = record->address;

	if (record->left_out)
		return true;
	if (thread->part_size && is_instruction(record) && record->type != DR_NO_FETCH) {
		if (thread->instructions == thread->part_size && !begin_part(thread))
			return false;
		thread->instructions++;
	}
	if (!put_frame(thread, record))
		return false;
	if (is_instruction(record)) {
		if (!put_bytes(thread, record))
			return false;
		if (drmemtrace_is_indirect(record->branch) &&
		    !lpl_drmemtrace_put(thread, DR_MARKER, DR_BRANCH_TARGET, record->target))
			return false;
	} else if (record->type == DR_MARKER && record->size == DR_WINDOW) {
		address = ++thread->windows;
		thread->losses->gaps++;
	}
	return lpl_drmemtrace_put(thread, record->type, record->size, address);
}

/* Up to here nothing more will be known. */
static size_t settled(const struct drmemtrace_thread *thread)
{
	size_t end = thread->last != DRMEMTRACE_NONE ? thread->last : thread->count;

	for (size_t i = 0; i < thread->frames; i++)
		if (thread->frame[i].open && thread->frame[i].before < end)
			end = thread->frame[i].before;
	return end;
}

bool lpl_drmemtrace_write_settled(struct drmemtrace_thread *thread)
{
	const size_t end = settled(thread);

	if (!thread->begun && !put_beginning(thread))
		return false;
	thread->begun = true;
	for (size_t i = 0; i < end; i++)
		if (!put_record(thread, &thread->record[i]))
			return false;
	if (end)
		memmove(thread->record, thread->record + end, (thread->count - end) * sizeof(*thread->record));
	thread->count -= end;
	if (thread->last != DRMEMTRACE_NONE)
		thread->last -= end;
	for (size_t i = 0; i < thread->frames; i++) {
		if (!thread->frame[i].open)
			continue;
		thread->frame[i].before -= end;
		thread->frame[i].marker -= end;
	}
	return true;
}
