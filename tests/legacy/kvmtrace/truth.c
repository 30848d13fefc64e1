/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kvmtrace-truth TRACE LOG [OUT.lpl]: hold kVMTrace's log against the truth.
 *
 * The kernel with kVMTrace ran in our Bochs; TRACE has every reference of that run,
 * LOG is what kVMTrace wrote.  The log's time stamps are cycles of the trace.  A
 * model of the pool is played from the log's records and, for CLOCK, from the
 * trace's references; it chooses by itself what has to leave.  Then, while tracing:
 *
 *  - each record is of a page that the model has outside of the pool (but for those
 *    that say OPEN or FOLLOW), and each LEFT is of one inside;
 *  - each reference below the kernel, in any space but the reader's, is to a page
 *    that the model has inside: nothing was referenced without a record;
 *  - each record's page is referenced, by the processor's word, while it is in the
 *    pool, and the first time it is, this is the reference that faulted: in the
 *    record's mode, and mostly at its address (counted apart).  A task that was
 *    interrupted between fault and reference, until others had used up the pool,
 *    has to fault at the same address again: its next record says so.
 *
 * A wrong choice of the kernel's, or a record too many or too few, breaks one of these.
 * One thing is Bochs' and not the kernel's: an instruction that crosses a page and was
 * decoded before is executed without a look whether its second page is still there.
 * Fetches of second parts from protected pages are counted apart.
 * OUT.lpl gets the references of the second point, for curves of the truth.
 * Exit status: 0, 1 when something does not hold or failed, 2 usage.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/kvmtrace_record.h>
#include <laplace/trace.h>

#include "pool_model.h"

#define KERNEL_BASE 0xc0000000U
#define SHOWN 10	/* problems */

struct truth {
	struct kvmtrace_record *log;
	size_t records, next;
	struct pool_model pool;
	bool tracing;
	uint32_t reader;		/* its space */
	uint64_t problems;
	uint64_t references, logged, again, followed, left, all_left;
	uint64_t first_matched, unmatched;
	uint64_t interrupted;		/* records that had to come again */
	uint64_t decoded;		/* second parts of fetches, from protected pages */
	struct lpl_writer *out;
	uint64_t written;
};

static void problem(struct truth *truth, uint64_t cycle, const char *what, uint32_t space,
		    uint32_t page)
{
	if (truth->problems++ < SHOWN)
		printf("cycle %" PRIu64 ", record %zu: space %x page %x: %s\n", cycle,
		       truth->next, space, page, what);
}

static uint64_t time_of(const struct kvmtrace_record *record)
{
	return (uint64_t)record->tsc_high << 32 | record->tsc_low;
}

/* ---- the log ---- */

/* `tag` of a page in the pool: the record, from 1, that still waits for its reference. */
static bool comes_again(const struct truth *truth, size_t number)
{
	const struct kvmtrace_record *record = &truth->log[number];

	for (size_t i = number + 1; i < truth->records; i++)
		if (truth->log[i].pid == record->pid)
			return truth->log[i].kind == KVMTRACE_REFERENCE &&
			       truth->log[i].space == record->space &&
			       truth->log[i].address == record->address;
	return false;
}

static void leave(struct truth *truth, const struct pool_page *page, uint64_t cycle)
{
	truth->all_left++;
	if (page->tag && comes_again(truth, page->tag - 1))
		truth->interrupted++;
	else if (page->tag)
		problem(truth, cycle, "leaves the pool and was not referenced since its record",
			page->space, page->page);
}

static void reference_logged(struct truth *truth, const struct kvmtrace_record *record)
{
	const uint32_t page = record->address >> 12;
	struct pool_page *known = pool_model_find(&truth->pool, record->space, page), victim;

	if (record->flags & KVMTRACE_FOLLOW) {
		truth->followed++;
		if (!known != !(record->flags & KVMTRACE_OPEN))
			problem(truth, time_of(record), "OPEN is wrong", record->space, page);
		return;
	}
	if (record->flags & KVMTRACE_OPEN) {
		truth->again++;
		if (!known) {
			problem(truth, time_of(record), "said to be open", record->space, page);
			return;
		}
		known->tag = truth->next + 1;
		known->referenced = true;
		return;
	}
	truth->logged++;
	if (known) {
		problem(truth, time_of(record), "logged, but is in the pool", record->space, page);
		return;
	}
	if (pool_model_enter(&truth->pool, record->space, page, truth->next + 1, &victim))
		leave(truth, &victim, time_of(record));
}

static void page_left(struct truth *truth, const struct kvmtrace_record *record)
{
	struct pool_page *known = pool_model_find(&truth->pool, record->space,
						  record->address >> 12);

	truth->left++;
	if (!known) {
		problem(truth, time_of(record), "left, but was not in the pool", record->space,
			record->address >> 12);
		return;
	}
	leave(truth, known, time_of(record));
	pool_model_leave(&truth->pool, known);
}

static bool new_pool(struct truth *truth, const struct kvmtrace_record *record)
{
	pool_model_free(&truth->pool);
	if (pool_model_init(&truth->pool, record->is.word[1],
			    record->is.word[2] == KVMTRACE_CLOCK))
		return true;
	fprintf(stderr, "kvmtrace-truth: no memory\n");
	return false;
}

static bool play_log(struct truth *truth, uint64_t cycle)
{
	for (; truth->next < truth->records; truth->next++) {
		const struct kvmtrace_record *record = &truth->log[truth->next];

		if (time_of(record) > cycle)
			return true;
		switch (record->kind) {
		case KVMTRACE_START:
			truth->reader = record->space;
			truth->tracing = true;
			if (!new_pool(truth, record))
				return false;
			break;
		case KVMTRACE_POOL:
			if (!new_pool(truth, record))
				return false;
			break;
		case KVMTRACE_STOP:
			truth->tracing = false;
			break;
		case KVMTRACE_REFERENCE:
			reference_logged(truth, record);
			break;
		case KVMTRACE_LEFT:
			page_left(truth, record);
			break;
		case KVMTRACE_SPACE_END:
			for (size_t i = 0; i < truth->pool.count; i++)
				if (truth->pool.pages[i].space == record->space)
					problem(truth, time_of(record), "in the pool, its space ended",
						record->space, truth->pool.pages[i].page);
			break;
		default:
			break;
		}
	}
	return true;
}

/* ---- the trace ---- */

/* The first reference to a page since its record is the one that faulted. */
static void first_reference(struct truth *truth, const struct lpl_ref *ref,
			    struct pool_page *page)
{
	const struct kvmtrace_record *record = &truth->log[page->tag - 1];
	const bool user = ref->flags & LPL_USER;

	page->tag = 0;
	if (user != !!(record->flags & KVMTRACE_USER))
		problem(truth, ref->cycle, "another mode than its record", page->space, page->page);
	if (ref->address == record->address)
		truth->first_matched++;
	else
		truth->unmatched++;
}

static bool user_reference(struct truth *truth, const struct lpl_ref *ref,
			   struct lpl_report *report)
{
	struct pool_page *page = pool_model_find(&truth->pool, (uint32_t)ref->space,
						 (uint32_t)(ref->address >> 12));

	truth->references++;
	if (!page && ref->type == LPL_FETCH && (ref->flags & LPL_SECOND)) {
		truth->decoded++;
	} else if (!page) {
		problem(truth, ref->cycle, "referenced without a record", (uint32_t)ref->space,
			(uint32_t)(ref->address >> 12));
	} else {
		page->referenced = true;
		if (page->tag)
			first_reference(truth, ref, page);
	}
	if (truth->out) {
		struct lpl_sink *sink = lpl_writer_sink(truth->out);
		struct lpl_totals totals = { .total = ++truth->written };

		lpl_writer_totals(truth->out, &totals);
		return sink->refs(sink, ref, 1, report) == LPL_OK;
	}
	return true;
}

static bool play_trace(struct truth *truth, struct lpl_reader *reader, struct lpl_report *report)
{
	const struct lpl_ref *refs;
	const struct lpl_event *event;
	size_t count;

	do {
		if (lpl_reader_next(reader, &refs, &count, &event, report))
			return false;
		for (size_t i = 0; i < count; i++) {
			if (!play_log(truth, refs[i].cycle))
				return false;
			if (truth->tracing && refs[i].address < KERNEL_BASE &&
			    refs[i].space != truth->reader &&
			    !user_reference(truth, &refs[i], report))
				return false;
		}
	} while (count || event);
	return true;
}

/* ---- files ---- */

static bool load_log(struct truth *truth, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct kvmtrace_record record;
	size_t room = 0;

	if (!file) {
		fprintf(stderr, "kvmtrace-truth: %s: %s\n", path, strerror(errno));
		return false;
	}
	do {
		if (fread(&record, sizeof(record), 1, file) != 1 ||
		    record.sequence != truth->records ||
		    (record.kind == KVMTRACE_START) != !truth->records) {
			fprintf(stderr, "kvmtrace-truth: %s: record %zu is missing or is none\n",
				path, truth->records);
			break;
		}
		if (truth->records == room) {
			struct kvmtrace_record *more;

			room = room ? 2 * room : 4096;
			more = realloc(truth->log, room * sizeof(*more));
			if (!more) {
				fprintf(stderr, "kvmtrace-truth: no memory\n");
				break;
			}
			truth->log = more;
		}
		truth->log[truth->records++] = record;
	} while (record.kind != KVMTRACE_STOP);
	fclose(file);
	return truth->records && truth->log[truth->records - 1].kind == KVMTRACE_STOP;
}

static bool open_out(struct truth *truth, const char *path, struct lpl_report *report)
{
	struct lpl_meta *meta = lpl_meta_new();
	bool good = meta && !lpl_meta_set(meta, LPL_META_TITLE, "programs' references while kVMTrace traced") &&
		    !lpl_meta_set(meta, LPL_META_REDUCTION, "none") &&
		    !lpl_meta_set(meta, LPL_META_EXACT, "all") &&
		    !lpl_writer_open(&truth->out, path, meta, NULL, true, report);

	lpl_meta_free(meta);
	return good;
}

static int run(struct truth *truth, const char *trace, const char *out)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader = NULL;
	bool good = (!out || open_out(truth, out, &report)) &&
		    !lpl_reader_open(&reader, trace, &report) &&
		    play_trace(truth, reader, &report);

	lpl_reader_close(reader);
	if (good && truth->out) {
		good = !lpl_writer_close(truth->out, &report);
		truth->out = NULL;
	}
	if (!good) {
		fprintf(stderr, "kvmtrace-truth: %s\n", report.text);
		return 1;
	}
	if (truth->next < truth->records) {
		printf("%zu records are later than the trace\n", truth->records - truth->next);
		truth->problems++;
	}
	printf("records %zu: %" PRIu64 " entered, %" PRIu64 " again, %" PRIu64 " by frame, %" PRIu64
	       " left; chosen %" PRIu64 "\n", truth->records, truth->logged, truth->again,
	       truth->followed, truth->left, truth->all_left - truth->left);
	printf("references of programs %" PRIu64 "\n", truth->references);
	printf("first references at the record's address %" PRIu64 ", elsewhere %" PRIu64 "\n",
	       truth->first_matched, truth->unmatched);
	printf("records repeated, their tasks interrupted, %" PRIu64 "\n", truth->interrupted);
	printf("second parts of decoded instructions, protected %" PRIu64 "\n", truth->decoded);
	printf("problems %" PRIu64 "\n", truth->problems);
	if (!truth->references || !truth->logged)
		printf("nothing was tried\n");
	return truth->problems || !truth->references || !truth->logged;
}

int main(int argc, char **argv)
{
	struct truth truth = { 0 };
	int status;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: kvmtrace-truth TRACE LOG [OUT.lpl]\n");
		return 2;
	}
	status = load_log(&truth, argv[2]) ? run(&truth, argv[1], argc == 4 ? argv[3] : NULL) : 1;
	lpl_writer_abandon(truth.out);
	pool_model_free(&truth.pool);
	free(truth.log);
	return status;
}
