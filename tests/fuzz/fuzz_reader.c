/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the reader of trace files.
 *
 * The first byte chooses what the rest is.  No fuzzer guesses a checksum, or writes what a
 * compressor would; so besides a file as it is there are two forms that are made whole first:
 *
 *	file	as it is
 *	sealed	a file; its chunks get the right checksums
 *	plain	a file with payloads that are not compressed, each up to where the next chunk
 *		begins.  They are compressed, the chunks get the right sizes and checksums,
 *		and unless bit 0 of the file's second byte is set also a place in the stream: each
 *		continues the one before it, and an index agrees with them.
 *
 * Damage is passed over, as by `laplace verify`.  One thread or several, and whether hashes are
 * compared, must make no difference to what is delivered before the first damage.  Where not all
 * of each chunk is asked for, order has to hold.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "container/reader_open.h"

#include "whole_file.h"

enum { AS_FILE, AS_SEALED, AS_PLAIN, WAYS };
enum { AS_GIVEN = 1, SEVERAL_JOBS = 2, COMPARE_HASH = 4, ASK = 8 };	/* the second byte */

#define RECORDS_MOST (1U << 20)	/* more take long, and show nothing new */

/* ---- reading them ---- */

struct delivered {
	uint64_t records, sum;
	uint64_t before_damage;		/* the sum as it was at the first damage, or the end */
};

static void add_to_sum(struct delivered *delivered, uint64_t number)
{
	delivered->sum = (delivered->sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_refs(struct delivered *delivered, const struct lpl_ref *refs, size_t count,
		       uint64_t *last)
{
	for (size_t i = 0; i < count; i++) {
		bool repeats = refs[i].ref == *last && (refs[i].flags & LPL_SYNTHETIC);

		require((refs[i].ref > *last || repeats) && refs[i].type < LPL_TYPES);
		*last = refs[i].ref;
		add_to_sum(delivered, refs[i].ref ^ refs[i].address);
	}
	delivered->records += count;
}

static enum lpl_need answer(void *context, const struct lpl_chunk *chunk)
{
	(void)context;
	return (enum lpl_need)(chunk->sequence % (LPL_NEED_NOTHING + 1));
}

static void read_file(const uint8_t *file, size_t size, unsigned int jobs, unsigned int how,
		      struct delivered *delivered)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_packing packing;
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	bool damaged = false;
	uint64_t last = 0;
	size_t count;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	*delivered = (struct delivered){ .records = 0 };
	require(fd >= 0 && write(fd, file, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	if (lpl_reader_open_fd(&reader, fd, true, "memory", &report) != LPL_OK) {
		require_reported(&report);
		return;
	}
	lpl_reader_jobs(reader, jobs);
	if (how & COMPARE_HASH)
		lpl_reader_compare_hash(reader);
	if (how & ASK)
		lpl_reader_ask(reader, answer, NULL);
	/* damage is passed over; order holds all the same */
	while (delivered->records < RECORDS_MOST) {
		report.error = LPL_OK;
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			require_reported(&report);
			if (!damaged)
				delivered->before_damage = delivered->sum;
			damaged = true;
			if (lpl_reader_resume(reader, NULL) != LPL_OK)
				break;
			continue;
		}
		if (count == 0 && !event)
			break;
		check_refs(delivered, refs, count, &last);
		if (event) {
			require(event->ref >= last && event->text_length <= KTR_TEXT);
			last = event->ref;
			delivered->records++;
			add_to_sum(delivered, event->ref ^ event->tag);
		}
	}
	if (!damaged)
		delivered->before_damage = delivered->sum;
	require(lpl_reader_bytes(reader) <= size);
	if (lpl_reader_packing(reader, &packing))
		require(packing.stored <= size);
	lpl_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lpl_chunk_header nothing_before = { .kind = 0 };
	struct delivered delivered, again;
	unsigned int how;
	uint8_t *file;

	if (size < 2)
		return 0;
	how = data[1];
	file = copy_of(data + 2, size -= 2);
	if (data[0] % WAYS == AS_SEALED)
		whole_sealed(file, size);
	if (data[0] % WAYS == AS_PLAIN) {
		uint8_t *plain = file;

		file = whole_compressed(plain, &size, how & AS_GIVEN ? NULL : &nothing_before);
		free(plain);
	}
	read_file(file, size, 1, how & COMPARE_HASH, &delivered);
	if (how & ASK)
		read_file(file, size, 1, ASK, &again);
	if (how & SEVERAL_JOBS) {
		read_file(file, size, 3, how & COMPARE_HASH, &again);
		require(again.before_damage == delivered.before_damage &&
			again.sum == delivered.sum && again.records == delivered.records);
	}
	free(file);
	return 0;
}
