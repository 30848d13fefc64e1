/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References, as a log of kVMTrace has them.
 *
 * A record of a reference says what its page is: so much of a mapping is made known to
 * `laplace merge` as is needed, by events before the reference, a page at a time, when a page
 * is new or is another one than before.  A record of a read() or write() is a reference of the
 * kernel's to the frame, at its address in the kernel.
 */
#include <inttypes.h>

#include "kvmtrace_log.h"

#define PAGE (UINT64_C(1) << LPL_PAGE_SHIFT)

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

static uint64_t frame_of(const struct kvmtrace_record *record)
{
	return record->is.word[3];
}

/* ---- the page cache ---- */

static bool send_cache_event(struct lpl_importer *importer, struct lpl_event *event,
			     const struct kvmtrace_identity *identity, uint64_t frame)
{
	event->arg[KTR_CACHE_DEVICE] = identity->device;
	event->arg[KTR_CACHE_INODE] = identity->inode;
	event->arg[KTR_CACHE_OFFSET] = identity->page;
	event->arg[KTR_CACHE_FRAME] = frame;
	event->arg[KTR_CACHE_PAGES] = 1;
	return lpl_import_event(importer, event);
}

/* A file's page is in this frame from now on, if it was not before. */
static bool cache(struct lpl_importer *importer, const struct kvmtrace_record *record,
		  const struct kvmtrace_identity *identity)
{
	struct kvmtrace_log *log = importer->state;
	const uint64_t frame = frame_of(record);
	struct lpl_event event = kvmtrace_event(importer, record, KTR_CACHE_REMOVE);
	struct kvmtrace_identity moved[2];
	uint64_t frames[2];
	const int count = lpl_kvmtrace_cache(&log->pages, frame, identity, moved, frames);

	if (count == KVMTRACE_CACHED)
		return true;
	if (count == KVMTRACE_NO_MEMORY)
		return lpl_import_no_memory(importer);
	for (int i = 0; i < count; i++) {
		if (!send_cache_event(importer, &event, &moved[i], frames[i]))
			return false;
	}
	event.tag = KTR_CACHE_ADD;
	event.arg[KTR_CACHE_ADD_ADDRESS] = KVMTRACE_KERNEL_BASE + (frame << LPL_PAGE_SHIFT);
	return send_cache_event(importer, &event, identity, frame);
}

/* ---- mappings ---- */

static uint64_t map_kind(const struct kvmtrace_record *record,
			 const struct kvmtrace_identity *identity)
{
	if (!identity->file)
		return KTR_MAP_ANONYMOUS;
	if (record->flags & KVMTRACE_SYSV)
		return KTR_MAP_SHM;
	return identity->shared ? KTR_MAP_FILE_SHARED : KTR_MAP_FILE_PRIVATE;
}

/* An event of the page that is referenced. */
static struct lpl_event page_event(const struct lpl_importer *importer,
				   const struct kvmtrace_record *record, uint32_t tag)
{
	struct lpl_event event = kvmtrace_event(importer, record, tag);

	event.arg[KTR_RANGE_SPACE] = record->space;
	event.arg[KTR_RANGE_START] = record->address & ~(PAGE - 1);
	event.arg[KTR_RANGE_END] = event.arg[KTR_RANGE_START] + PAGE;
	return event;
}

static bool map(struct lpl_importer *importer, const struct kvmtrace_record *record,
		const struct kvmtrace_identity *identity)
{
	struct lpl_event event = page_event(importer, record, KTR_MAP);

	/* what else is allowed there is not recorded */
	event.arg[KTR_MAP_PROT] =
		KTR_PROT_READ | (record->flags & KVMTRACE_WRITE ? KTR_PROT_WRITE : 0);
	event.arg[KTR_MAP_KIND] = map_kind(record, identity);
	event.arg[KTR_MAP_DEVICE] = identity->device;
	event.arg[KTR_MAP_INODE] = identity->inode;
	event.arg[KTR_MAP_OFFSET] = identity->page;
	return lpl_import_event(importer, &event);
}

static bool unmap(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	const struct lpl_event event = page_event(importer, record, KTR_UNMAP);

	return lpl_import_event(importer, &event);
}

/*
 * Does the space have the page for itself from now on, and is it the old one?  A write that
 * brings a page back from swap may leave no other space to share it with, of which the log says no
 * more; if one is left, the write faults again and is logged as a copy.
 */
static bool keeps(const struct kvmtrace_record *record)
{
	const unsigned int swapped_in = KVMTRACE_SWAPIN | KVMTRACE_WRITE;
	const unsigned int otherwise = KVMTRACE_SHARED | KVMTRACE_COPIED;

	return (record->flags & KVMTRACE_KEPT) ||
	       (record->flags & (swapped_in | otherwise)) == swapped_in;
}

static bool break_sharing(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = kvmtrace_event(importer, record, KTR_COW_BREAK);

	event.arg[KTR_COW_BREAK_SPACE] = record->space;
	event.arg[KTR_COW_BREAK_ADDRESS] = record->address & ~(PAGE - 1);
	event.arg[KTR_COW_BREAK_OLD_FRAME] = keeps(record) ? frame_of(record) : KTR_NONE;
	event.arg[KTR_COW_BREAK_NEW_FRAME] = frame_of(record);
	return lpl_import_event(importer, &event);
}

/* What is at this address, if it is not what it was. */
static bool send_page_events(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
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
		return lpl_import_no_memory(importer);
	}
}

/* ---- references ---- */

static bool send_ref(struct lpl_importer *importer, const struct kvmtrace_record *record,
		     uint64_t page)
{
	struct lpl_ref ref = {
		.ref = importer->ref + 1, .cycle = kvmtrace_time(record), .space = record->space,
		.type = record->flags & KVMTRACE_WRITE ? LPL_WRITE : LPL_READ,
		.flags = record->flags & KVMTRACE_USER ? LPL_USER : 0,
	};

	ref.instr = ref.ref;
	return lpl_import_set_page(importer, &ref, page) && lpl_import_ref(importer, &ref);
}

bool lpl_kvmtrace_reference(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	if (record->address >= KVMTRACE_KERNEL_BASE)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a program's page at %" PRIx32
					 ", which is the kernel's", record->address);
	return send_page_events(importer, record) &&
	       send_ref(importer, record, record->address >> LPL_PAGE_SHIFT);
}

bool lpl_kvmtrace_file(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	const struct kvmtrace_identity identity = identity_of(record);

	return cache(importer, record, &identity) &&
	       send_ref(importer, record,
			(KVMTRACE_KERNEL_BASE >> LPL_PAGE_SHIFT) + frame_of(record));
}
