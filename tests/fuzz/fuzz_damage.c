/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the reader and `laplace repair` by traces that were damaged.
 *
 * What a guest may send (guest.h) is written as a trace: a file, or segments with their manifest,
 * closed or not.  It is then hurt in ways that the input chooses, read, and repaired:
 *
 *	known damage	bytes were changed, are missing, or too many; files are cut, missing, have
 *			each other's names.  What is delivered or saved are records that were
 *			written, in their order, and where bytes were only changed it is every
 *			chunk that has none of these.
 *	remade		a chunk says something else, and all checksums, the index and the manifest
 *			are right for that.  Nothing is known then of what it says.
 *
 * In either case what is repaired is whole: it reads to its end, it has as many records as was
 * said, and there is nothing to be repaired in it.
 */
#include <laplace/repair.h>

#include "damaged_trace.h"

#define RECORDS_MOST	(1U << 18)	/* of a trace that was remade */

/* ---- reading ---- */

struct reading {
	struct records records;		/* but for gaps, and what a segment begins with */
	uint64_t refs, events;		/* of these */
	uint64_t next_event;			/* of a segment's first events, so far */
	unsigned int damages;
	bool opened, complete;
	bool is_odd;			/* a part of a state without what precedes it */
};

static void take(struct reading *reading, const struct lpl_ref *refs, size_t count,
		 const struct lpl_event *event)
{
	for (size_t i = 0; i < count; i++)
		add_ref(&reading->records, &refs[i]);
	reading->refs += count;
	if (!event || event->tag == LPL_EVENT_GAP)
		return;
	if (event->tid == STATE_TID) {
		/* from the first one on, and none is left out before the end */
		reading->is_odd |= event->arg[0] != 0 && event->arg[0] != reading->next_event;
		reading->next_event = event->arg[0] + 1;
		return;
	}
	add_event(&reading->records, event);
	reading->events++;
}

static void read_trace(struct reading *reading, const char *name, unsigned int jobs)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;

	*reading = (struct reading){ .opened = false };
	reading->opened = lpl_reader_open(&reader, scratch_path(name), &report) == LPL_OK;
	if (!reading->opened) {
		require_reported(&report);
		return;
	}
	lpl_reader_jobs(reader, jobs);
	lpl_reader_compare_hash(reader);
	while (reading->records.count < RECORDS_MOST) {
		report.error = LPL_OK;
		if (lpl_reader_next(reader, &refs, &count, &event, &report) == LPL_OK) {
			if (count == 0 && !event)
				break;
			take(reading, refs, count, event);
			continue;
		}
		require_reported(&report);
		reading->damages++;
		if (lpl_reader_resume(reader, NULL) != LPL_OK)
			break;
	}
	reading->complete = lpl_reader_complete(reader);
	lpl_reader_close(reader);
}

static void require_same(const struct reading *one, const struct reading *other)
{
	require(one->opened == other->opened && one->complete == other->complete);
	require(one->damages == other->damages && one->records.count == other->records.count);
	for (size_t i = 0; i < one->records.count; i++)
		require(is_same(&one->records.record[i], &other->records.record[i]));
}

/* They are records that were sent, in their order, and all that are due. */
static void check_records(const struct trial *trial, const struct reading *reading)
{
	const struct records *found = &reading->records;
	size_t next = 0;

	require(!reading->is_odd);
	for (size_t i = 0; i < found->count; i++, next++) {
		for (; next < trial->sent.count; next++) {
			if (is_same(&found->record[i], &trial->sent.record[next]))
				break;
			require(!trial->sent.record[next].is_due);
		}
		require(next < trial->sent.count);
	}
	for (; next < trial->sent.count; next++)
		require(!trial->sent.record[next].is_due);
}

static void try_reading(const struct trial *trial)
{
	struct reading one, several;

	read_trace(&one, trial->file[0].name, 1);
	if (one.opened && !trial->remade)
		check_records(trial, &one);
	if (trial->how & SEVERAL_JOBS) {
		read_trace(&several, trial->file[0].name, 3);
		require_same(&one, &several);
		free(several.records.record);
	}
	free(one.records.record);
}

/* ---- repair ---- */

static bool repair(const char *from, const char *to, struct lpl_repaired *repaired)
{
	struct lpl_repair_options options = { .output = to ? scratch_path(to) : NULL };
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_repair(scratch_path(from), &options, repaired, &report) == LPL_OK)
		return true;
	require_reported(&report);
	return false;
}

static bool is_same_repair(const struct lpl_repaired *a, const struct lpl_repaired *b)
{
	return a->chunks == b->chunks && a->refs == b->refs && a->events == b->events &&
	       a->losses == b->losses && a->lost_refs == b->lost_refs &&
	       a->lost_events == b->lost_events && a->lost_more == b->lost_more &&
	       a->had_index == b->had_index;
}

/* What was sent is saved, or lost.  Where a segment has the manifest's name it is the trace. */
static void check_accounts(const struct trial *trial, const struct lpl_repaired *repaired)
{
	const bool is_other = trial->how & SEGMENTED && trial->file[0].loose;

	if (repaired->had_index && !repaired->lost_more && !is_other)
		require(repaired->refs + repaired->events + repaired->lost_refs +
			repaired->lost_events == trial->sent.count);
}

static void try_repair(const struct trial *trial)
{
	struct lpl_repaired found, saved, again;
	struct reading reading;

	if (!repair(trial->file[0].name, "saved.lpl", &saved)) {
		require(!repair(trial->file[0].name, NULL, &found));
		return;
	}
	require(repair(trial->file[0].name, NULL, &found) && is_same_repair(&found, &saved));
	read_trace(&reading, "saved.lpl", 1);
	require(reading.opened && reading.complete && reading.damages == 0);
	require(reading.refs == saved.refs);
	if (!trial->remade) {
		require(reading.events == saved.events);
		check_records(trial, &reading);
		check_accounts(trial, &saved);
	}
	free(reading.records.record);
	require(repair("saved.lpl", "again.lpl", &again) && again.losses == 0 && again.had_index);
	require(again.refs == saved.refs);
}

/* ---- the whole ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HURT_BYTES = 6 };
	struct input input = { data, size }, hurts;
	struct trial trial = { .how = input_byte(&input) };
	unsigned int count = input_byte(&input) % (HURTS_MOST + 1);

	hurts = (struct input){ input.data, count * HURT_BYTES };
	if (input.size < hurts.size)
		return 0;
	input = (struct input){ input.data + hurts.size, input.size - hurts.size };
	scratch_begin();
	write_trace(&trial, &input);
	while (hurts.size > 0) {
		struct input one = { hurts.data, HURT_BYTES };
		unsigned int what = input_byte(&one) % HURTS;
		struct file *file = &trial.file[input_byte(&one) % trial.files];

		hurts = (struct input){ hurts.data + HURT_BYTES, hurts.size - HURT_BYTES };
		if (what != REMAKE)
			hurt(&trial, what, file, &one);
		else if (file > trial.file || !(trial.how & SEGMENTED))
			trial.remade = remake(file, &one);
	}
	if (trial.remade)
		make_whole(&trial);
	else
		find_all_due(&trial);
	scratch_clear();
	for (unsigned int i = 0; i < trial.files; i++)
		scratch_store(trial.file[i].name, &trial.file[i].hurt);
	try_reading(&trial);
	try_repair(&trial);
	free_trial(&trial);
	return 0;
}
