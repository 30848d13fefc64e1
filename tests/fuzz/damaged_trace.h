/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace that is written from what a guest may send (guest.h), a file or segments with their
 * manifest, and hurt as fuzz_damage.c says; and which of its records are whole then.
 */
#ifndef LAPLACE_FUZZ_DAMAGED_TRACE_H
#define LAPLACE_FUZZ_DAMAGED_TRACE_H

#include "container/data.h"
#include "container/manifest_line.h"
#include "container/segments.h"

#include "guest.h"
#include "scratch.h"
#include "whole_file.h"

enum { RUNS = 1, SEGMENTED = 2, CLOSED = 4, STATES = 8, SEVERAL_JOBS = 16 };
enum { FLIP, CUT, TAKE_OUT, PUT_IN, OVERWRITE, REMOVE, SWAP, MAKE_PART, REMAKE, HURTS };

#define SEGMENTS_MOST	6
#define HURTS_MOST	6
#define STATE_TID		987654321	/* its events are of a state, ... */
#define STATE_EVENTS		(LPL_CHUNK_EVENTS_WRITTEN + 3)	/* ... of two chunks */

struct record {
	struct lpl_clocks at;
	uint64_t what, more;
	bool is_event;
	bool is_due;			/* it was written, and its chunk is as it was */
};

struct records {
	struct record *record;		/* owned */
	size_t count, room;
};

/* A file of the trace, number 0 the manifest or the only one. */
struct file {
	char name[32];
	struct bytes written, hurt;
	struct bytes plain;		/* of one that is remade */
	bool loose;			/* nothing has to be saved of it */
};

struct trial {
	struct lpl_sink sink;		/* first: between the guest and the writer */
	unsigned int how;
	unsigned int until_next, part;	/* records before the next rotation, and of each segment */
	struct lpl_writer *writer;
	struct lpl_segments *segments;	/* NULL: the trace is one file */
	struct records sent;
	struct file *file;		/* owned */
	unsigned int files;
	bool remade;
};

static void add_record(struct records *records, const struct record *record)
{
	if (records->count == records->room) {
		records->room = records->room ? 2 * records->room : 256;
		records->record = realloc(records->record,
					  records->room * sizeof(*records->record));
		require(records->record != NULL);
	}
	records->record[records->count++] = *record;
}

static void add_ref(struct records *records, const struct lpl_ref *ref)
{
	add_record(records, &(struct record){
		.at = { ref->ref, ref->instr, ref->cycle }, .what = ref->address,
		.more = ref->space << 24 | (uint64_t)ref->type << 16 | ref->length,
	});
}

static void add_event(struct records *records, const struct lpl_event *event)
{
	uint64_t more = (uint64_t)event->tid << 32 | event->text_length;

	for (int i = 0; i < KTR_ARGS; i++)
		more = more * 31 + event->arg[i];
	add_record(records, &(struct record){
		.at = { event->ref, event->instr, event->cycle }, .what = event->tag,
		.more = more, .is_event = true,
	});
}

static bool is_same(const struct record *a, const struct record *b)
{
	return lpl_clocks_equal(&a->at, &b->at) && a->what == b->what && a->more == b->more &&
	       a->is_event == b->is_event;
}

/* ---- writing ---- */

static void rotate_if_due(struct trial *trial)
{
	if (trial->segments && trial->until_next-- == 0) {
		trial->until_next = trial->part;
		if (lpl_segments_number(trial->segments) < SEGMENTS_MOST)
			require(lpl_segments_rotate(trial->segments, NULL) == LPL_OK);
		trial->writer = lpl_segments_writer(trial->segments);
	}
}

static enum lpl_error send_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct trial *trial = (struct trial *)sink;
	struct lpl_ref ref = refs[0];

	(void)report;
	require(count == 1);
	ref.length = ref.flags & LPL_PAGED ? 0 : 4;
	if (ref.flags & LPL_PAGED)
		ref.address &= ~((UINT64_C(1) << LPL_PAGE_SHIFT) - 1);
	rotate_if_due(trial);
	add_ref(&trial->sent, &ref);
	sink = lpl_writer_sink(trial->writer);
	return sink->refs(sink, &ref, 1, NULL);
}

/* Gaps are what damage makes: a trace that was not damaged has none. */
static enum lpl_error send_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct trial *trial = (struct trial *)sink;
	struct lpl_event one = *event;

	(void)report;
	if (event->tag == LPL_EVENT_GAP)
		return LPL_OK;
	one.arg[KTR_ARGS - 1] = trial->sent.count;	/* no two are the same */
	rotate_if_due(trial);
	add_event(&trial->sent, &one);
	sink = lpl_writer_sink(trial->writer);
	return sink->event(sink, &one, NULL);
}

static enum lpl_error nothing_more(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static enum lpl_error ignore(struct lpl_state_keeper *keeper, const struct lpl_event *event,
			     struct lpl_report *report)
{
	(void)keeper;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error send(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
			   struct lpl_report *report)
{
	struct lpl_event event = { .tag = KTR_MARK, .tid = STATE_TID };

	(void)keeper;
	for (; event.arg[0] < STATE_EVENTS; event.arg[0]++)
		require(sink->event(sink, &event, report) == LPL_OK);
	return LPL_OK;
}

/* The name of a segment of trace.lpl, or of that if the number is 0. */
static void set_name(struct file *file, unsigned int number, bool part)
{
	const char *end = part ? ".part" : "";

	if (number == 0)
		(void)snprintf(file->name, sizeof(file->name), "trace.lpl%s", end);
	else
		(void)snprintf(file->name, sizeof(file->name), "trace.%06u.lpl%s", number, end);
}

static void load_files(struct trial *trial)
{
	bool closed = trial->how & CLOSED;

	trial->file = calloc(trial->files, sizeof(*trial->file));
	require(trial->files > 0 && trial->file != NULL);
	for (unsigned int i = 0; i < trial->files; i++) {
		struct file *file = &trial->file[i];

		set_name(file, i, !closed && (i == 0 || i + 1 == trial->files));
		file->written = scratch_load(file->name);
		require(file->written.data != NULL);
		file->hurt.size = file->written.size;
		file->hurt.data = copy_of(file->written.data, file->written.size);
	}
}

static void write_trace(struct trial *trial, struct input *input)
{
	struct lpl_writer_options options = { .blocks = trial->how & RUNS };
	struct lpl_state_keeper keeper = { ignore, send };
	struct guest guest = { .sink = &trial->sink, .is_orderly = true };
	struct lpl_meta *meta = lpl_meta_new();

	options.chunk_refs = 1 + (input_byte(input) & 7);
	trial->until_next = trial->part = 1 + (input_byte(input) & 31);
	trial->sink = (struct lpl_sink){ send_refs, send_event, nothing_more };
	require(meta && lpl_meta_set(meta, LPL_META_TITLE, "damage") == LPL_OK);
	if (trial->how & SEGMENTED)
		require(lpl_segments_open(&trial->segments, scratch_path("trace.lpl"), meta,
					  &options, trial->how & STATES ? &keeper : NULL, false,
					  NULL) == LPL_OK);
	else
		require(lpl_writer_open(&trial->writer, scratch_path("trace.lpl"), meta, &options,
					false, NULL) == LPL_OK);
	if (trial->segments)
		trial->writer = lpl_segments_writer(trial->segments);
	lpl_meta_free(meta);
	guest.input = *input;
	guest_run(&guest);
	trial->files = trial->segments ? 1 + (unsigned int)lpl_segments_number(trial->segments) : 1;
	require(lpl_writer_flush(trial->writer, NULL) == LPL_OK);
	if (trial->segments && trial->how & CLOSED)
		require(lpl_segments_close(trial->segments, NULL) == LPL_OK);
	else if (trial->segments)
		lpl_segments_abandon(trial->segments);
	else if (trial->how & CLOSED)
		require(lpl_writer_close(trial->writer, NULL) == LPL_OK);
	else
		lpl_writer_abandon(trial->writer);
	load_files(trial);
}

/* ---- known damage ---- */

/* Bytes [from, to) of the file are these instead. */
static void replace(struct bytes *bytes, size_t from, size_t to, const uint8_t *by, size_t size)
{
	struct bytes made = { malloc(bytes->size - (to - from) + size + 1), 0 };

	require(made.data != NULL);
	memcpy(made.data, bytes->data, from);
	if (size > 0)
		memcpy(made.data + from, by, size);
	memcpy(made.data + from + size, bytes->data + to, bytes->size - to);
	made.size = bytes->size - (to - from) + size;
	free(bytes->data);
	*bytes = made;
}

static void swap(struct file *one, struct file *other)
{
	struct bytes bytes = one->hurt;

	one->hurt = other->hurt;
	other->hurt = bytes;
	one->loose = other->loose = true;
}

static size_t place(struct input *input)
{
	const size_t high = input_byte(input);

	return high << 8 | input_byte(input);
}

static void hurt(struct trial *trial, unsigned int what, struct file *file, struct input *input)
{
	struct bytes *bytes = &file->hurt;
	size_t at = place(input), from = place(input), length;

	if (!bytes->data || bytes->size == 0)
		return;
	at %= bytes->size;
	from %= bytes->size;
	length = bytes->size - (at > from ? at : from);
	file->loose |= what != FLIP;
	switch (what) {
	case FLIP:
		bytes->data[at] ^= 1 + from % 255;
		break;
	case CUT:
		bytes->size = at;
		break;
	case TAKE_OUT:
		replace(bytes, at, at + length, NULL, 0);
		break;
	case PUT_IN:
		replace(bytes, at, at, bytes->data + from, length);
		break;
	case OVERWRITE:
		memmove(bytes->data + at, bytes->data + from, length);
		break;
	case REMOVE:
		free(bytes->data);
		*bytes = (struct bytes){ NULL, 0 };
		break;
	case SWAP:
		swap(file, &trial->file[from % trial->files]);
		break;
	default:	/* a name that it had before, or would have later */
		set_name(file, (unsigned int)(file - trial->file), !strstr(file->name, ".part"));
		break;
	}
}

/* ---- made whole again ---- */

/* Change a byte of the file's plain form (whole_file.h). */
static bool remake(struct file *file, struct input *input)
{
	size_t at = place(input);

	if (!file->plain.data)
		file->plain.data = whole_plain(file->written.data, file->written.size,
					       &file->plain.size);
	if (file->plain.size > 0)
		file->plain.data[at % file->plain.size] ^= (uint8_t)input_byte(input);
	return true;
}

/* What a manifest says of the file, from its INDEX's header.  `before`: the one before that. */
static struct lpl_segment_facts facts_of(const struct bytes *bytes,
					 const struct lpl_chunk_header *before,
					 const struct lpl_chunk_header *index)
{
	struct lpl_segment_facts facts = {
		.bytes = bytes->size, .checksum = index->checksum,
		.index = bytes->size - index->stored - LPL_CHUNK_HEADER_BYTES,
		.first = before->last, .last = index->last,
		.refs_so_far = index->refs_so_far, .events_so_far = index->events_so_far
	};
	struct lpl_chunk_header header;

	for (size_t at = 0; at < facts.index; at += LPL_CHUNK_HEADER_BYTES + header.stored) {
		(void)lpl_chunk_decode(&header, bytes->data + at);
		if (header.kind != LPL_CHUNK_STATE && lpl_chunk_has_records(header.kind)) {
			facts.first = header.first;
			break;
		}
	}
	return facts;
}

static void put_line(FILE *manifest, char *line)
{
	require(line && fputs(line, manifest) >= 0);
	free(line);
}

/* All of it, so that each segment follows the one before it, and its manifest. */
static void make_whole(struct trial *trial)
{
	struct lpl_chunk_header last = { .kind = 0 };
	struct lpl_meta *meta = lpl_meta_new();
	struct bytes manifest = { NULL, 0 };
	FILE *out = open_memstream((char **)&manifest.data, &manifest.size);
	unsigned int named = 0;

	require(meta && out);
	put_line(out, lpl_manifest_begin_line("trace", meta));
	lpl_meta_free(meta);
	for (unsigned int i = (trial->how & SEGMENTED) ? 1 : 0; i < trial->files; i++) {
		const struct lpl_chunk_header before = last;
		struct file *file = &trial->file[i];
		struct lpl_segment_facts facts;

		if (!file->plain.data)
			file->plain.data = whole_plain(file->written.data, file->written.size,
						       &file->plain.size);
		free(file->hurt.data);
		file->hurt.size = file->plain.size;
		file->hurt.data = whole_compressed(file->plain.data, &file->hurt.size, &last);
		if (last.kind != LPL_CHUNK_INDEX || named + 1 != i)
			continue;
		facts = facts_of(&file->hurt, &before, &last);
		facts.number = ++named;
		put_line(out, lpl_manifest_segment_line("trace", &facts));
	}
	if (trial->how & CLOSED)
		put_line(out, lpl_manifest_end_line(named));
	require(fclose(out) == 0);
	if (!(trial->how & SEGMENTED)) {
		free(manifest.data);
		return;
	}
	free(trial->file[0].hurt.data);
	trial->file[0].hurt = manifest;
}

/* ---- what has to be there ---- */

/* Of the file's chunks those that have the bytes that were written: their records are due. */
static void find_due(struct trial *trial, const struct file *file)
{
	const uint8_t *was = file->written.data, *is = file->hurt.data;
	struct lpl_chunk_header header;
	size_t size;

	for (size_t at = 0; at < file->written.size; at += size) {
		(void)lpl_chunk_decode(&header, was + at);
		size = LPL_CHUNK_HEADER_BYTES + header.stored;
		if (header.kind == LPL_CHUNK_STATE || !lpl_chunk_has_records(header.kind) ||
		    memcmp(was + at, is + at, size) != 0)
			continue;
		const uint64_t end = header.refs_so_far + header.events_so_far;

		require(end <= trial->sent.count);
		for (uint64_t i = end - header.refs - header.events; i < end; i++)
			trial->sent.record[i].is_due = true;
	}
}

/* Is the chunk by which the manifest knows the file, or that says what an unnamed one is? */
static bool is_known(const struct trial *trial, const struct file *file)
{
	const size_t head = LPL_CHUNK_HEADER_BYTES;
	struct lpl_chunk_header header;
	size_t at = 0;

	if (!(trial->how & SEGMENTED))
		return true;
	(void)lpl_chunk_decode(&header, file->written.data);
	if (memcmp(file->written.data, file->hurt.data, head + header.stored) != 0)
		return false;
	while (at + head + header.stored < file->written.size) {
		at += head + header.stored;
		(void)lpl_chunk_decode(&header, file->written.data + at);
	}
	return header.kind != LPL_CHUNK_INDEX ||
	       memcmp(file->written.data + at, file->hurt.data + at, head) == 0;
}

static void find_all_due(struct trial *trial)
{
	const struct file *first = &trial->file[0];
	const bool whole = !first->loose && (!(trial->how & SEGMENTED) ||
		memcmp(first->written.data, first->hurt.data, first->written.size) == 0);

	for (unsigned int i = (trial->how & SEGMENTED) ? 1 : 0; i < trial->files && whole; i++)
		if (!trial->file[i].loose && is_known(trial, &trial->file[i]))
			find_due(trial, &trial->file[i]);
}

static void free_trial(struct trial *trial)
{
	for (unsigned int i = 0; i < trial->files; i++) {
		free(trial->file[i].written.data);
		free(trial->file[i].hurt.data);
		free(trial->file[i].plain.data);
	}
	free(trial->file);
	free(trial->sent.record);
}

#endif
