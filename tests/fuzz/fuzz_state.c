/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the state of a guest (merge/guest_state.h) by what a guest may send (guest.h).  The first
 * byte chooses what is tried, the second how:
 *
 *	cut	the stream is cut after so many records: the state and the rest are merged as the
 *		whole is (docs/merging.md, "A state").  The state may be handed on before by way of
 *		another one, as where a run is taken up.
 *	sent	events of states among the others, and few of everything before it is forgotten:
 *		they take no more memory than they may, whoever sends them.
 *	files	the stream is written as segments: alone, each begins with the state as of then,
 *		which a run that is taken up reads from a file.
 */
#include "../property/cut.h"

#include "base/array.h"
#include "collect/state_keeper.h"
#include "container/chunk.h"
#include "container/segments.h"

#include "guest.h"
#include "scratch.h"

enum { CUT, SENT, FILES, WAYS };

static void send_all(struct guest *guest, struct lpl_sink *sink)
{
	guest->sink = sink;
	guest_run(guest);
	guest->sink = NULL;
}

/* ---- cut ---- */

struct cutter {
	struct lpl_sink sink;		/* first */
	struct cut *cut;
	unsigned int until_cut;		/* records */
	unsigned int relays;		/* how often the state is handed on */
};

static enum lpl_error relay_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct lpl_state **state = (struct lpl_state **)(sink + 1);

	return lpl_state_take(*state, event, report);
}

/* What knows of the guest only what the state has sent. */
static void relay(struct lpl_state **state)
{
	struct {
		struct lpl_sink sink;
		struct lpl_state *state;
	} next = { .sink = { .event = relay_event } };

	require(lpl_state_new(&next.state, NULL, NULL) == LPL_OK);
	require(lpl_state_send(*state, &next.sink, NULL) == LPL_OK);
	lpl_state_free(*state);
	*state = next.state;
}

/* What a state has left out, which it reports, may be different then. */
static void cut_if_due(struct cutter *cutter)
{
	if (cutter->until_cut-- > 0 || cutter->cut->is_cut ||
	    lpl_state_left_out(cutter->cut->state) > 0)
		return;
	for (; cutter->relays > 0; cutter->relays--)
		relay(&cutter->cut->state);
	cut_here(cutter->cut);
}

static enum lpl_error cut_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			       struct lpl_report *report)
{
	struct cutter *cutter = (struct cutter *)sink;

	(void)report;
	for (size_t i = 0; i < count; i++) {
		cut_if_due(cutter);
		cut_ref(cutter->cut, &refs[i]);
	}
	return LPL_OK;
}

static enum lpl_error cut_one_event(struct lpl_sink *sink, const struct lpl_event *event,
				    struct lpl_report *report)
{
	struct cutter *cutter = (struct cutter *)sink;

	(void)report;
	/* what is missing takes effect only with the next record that is one */
	if (event->tag != LPL_EVENT_GAP)
		cut_if_due(cutter);
	cut_event(cutter->cut, event);
	return LPL_OK;
}

static enum lpl_error cut_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	cut_finish(((struct cutter *)sink)->cut);
	return LPL_OK;
}

static void try_cut(struct guest *guest)
{
	struct cutter cutter = {
		.sink = { cut_refs, cut_one_event, cut_end }, .cut = cut_open(true, true)
	};
	unsigned int how = input_byte(&guest->input);

	cutter.until_cut = how & 63;
	cutter.relays = how >> 6;
	/* a page that a write shows to be kept may be two (guest_state.h) */
	cutter.cut->may_split = true;
	guest->is_orderly = true;
	send_all(guest, &cutter.sink);
	if (cutter.cut->why[0] != '\0')
		fprintf(stderr, "%s\n", cutter.cut->why);
	require(cutter.cut->why[0] == '\0');
	cut_close(cutter.cut);
}

/* ---- sent ---- */

struct taker {
	struct lpl_sink sink;		/* first */
	struct lpl_state *state;
	uint64_t events;
};

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	return lpl_state_refs(((struct taker *)sink)->state, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	return lpl_state_take(((struct taker *)sink)->state, event, report);
}

static enum lpl_error count_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct taker *taker = (struct taker *)sink;

	(void)report;
	require(event->tag < LPL_EVENT_TAGS && event->text_length <= KTR_TEXT);
	taker->events++;
	return LPL_OK;
}

static enum lpl_error nothing_more(struct lpl_sink *sink, struct lpl_report *report)
{
	struct taker *taker = (struct taker *)sink;

	taker->sink.event = count_event;
	return lpl_state_send(taker->state, sink, report);
}

static void try_sent(struct guest *guest)
{
	struct taker taker = { .sink = { take_refs, take_event, nothing_more } };
	unsigned int how = input_byte(&guest->input);
	const struct lpl_state_options options = {
		.pieces = how & 1 ? 0 : 1000, .tasks = how & 2 ? 0 : 3
	};

	guest->sends_states = true;
	require(lpl_state_new(&taker.state, &options, NULL) == LPL_OK);
	send_all(guest, &taker.sink);
	require(taker.events >= 2);
	lpl_state_free(taker.state);
}

/* ---- files ---- */

#define SEGMENTS_MOST 5

struct sent_events {
	struct lpl_sink sink;		/* first: what is sent goes there */
	struct lpl_event *event;	/* owned */
	size_t count, room;
};

struct recording {
	struct lpl_sink sink;		/* first */
	struct lpl_segments *segments;
	struct lpl_state *state;	/* as the recording's keeper has it, but our own */
	struct sent_events sent[SEGMENTS_MOST];	/* by segment; of the first, nothing */
	unsigned int part, until_next;	/* records */
};

static enum lpl_error keep_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct sent_events *sent = (struct sent_events *)sink;

	(void)report;
	require(lpl_reach(sent->event, sent->room, sent->count));
	sent->event[sent->count++] = *event;
	return LPL_OK;
}

static void send_state(struct lpl_state *state, struct sent_events *sent)
{
	sent->sink.event = keep_event;
	require(lpl_state_send(state, &sent->sink, NULL) == LPL_OK);
}

static struct lpl_sink *next_sink(struct recording *recording)
{
	const uint64_t number = lpl_segments_number(recording->segments);

	if (recording->until_next-- == 0 && number < SEGMENTS_MOST) {
		recording->until_next = recording->part;
		send_state(recording->state, &recording->sent[number]);
		require(lpl_segments_rotate(recording->segments, NULL) == LPL_OK);
	}
	return lpl_writer_sink(lpl_segments_writer(recording->segments));
}

static enum lpl_error record_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	struct lpl_ref ref = refs[0];

	require(count == 1);
	ref.flags &= (uint8_t)~LPL_PAGED;
	ref.length = 1;
	sink = next_sink((struct recording *)sink);
	return sink->refs(sink, &ref, 1, report);
}

static enum lpl_error record_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct recording *recording = (struct recording *)sink;
	struct lpl_sink *next = next_sink(recording);

	require(lpl_state_take(recording->state, event, NULL) == LPL_OK);
	return next->event(next, event, report);
}

static enum lpl_error record_end(struct lpl_sink *sink, struct lpl_report *report)
{
	return lpl_segments_close(((struct recording *)sink)->segments, report);
}

static bool says_the_same(const struct lpl_event *a, const struct lpl_event *b)
{
	return a->tag == b->tag && a->text_length == b->text_length &&
	       memcmp(a->arg, b->arg, sizeof(a->arg)) == 0 &&
	       memcmp(a->text, b->text, a->text_length) == 0;
}

/* The file begins with what was sent then, in chunks of this kind, and no others are of it. */
static void check_file(const char *name, const struct sent_events *sent, uint32_t kind)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;

	require(lpl_reader_open(&reader, scratch_path(name), &report) == LPL_OK);
	for (size_t i = 0; i < sent->count; i++) {
		require(lpl_reader_next(reader, &refs, &count, &event, &report) == LPL_OK);
		require(count == 0 && event && says_the_same(event, &sent->event[i]));
		require(lpl_reader_chunk(reader)->kind == kind);
	}
	require(lpl_reader_next(reader, &refs, &count, &event, &report) == LPL_OK);
	require((count == 0 && !event) || lpl_reader_chunk(reader)->kind != kind);
	lpl_reader_close(reader);
}

/* What a run that is taken up begins with. */
static void check_saved(struct lpl_guest_keeper *keeper)
{
	struct lpl_guest_keeper loaded;
	struct sent_events sent = { .count = 0 };

	require(lpl_guest_keeper_save(keeper, scratch_path("guest"), NULL) == LPL_OK);
	send_state(keeper->state, &sent);
	check_file("guest", &sent, LPL_CHUNK_DATA);
	free(sent.event);
	require(lpl_guest_keeper_open(&loaded, NULL) == LPL_OK);
	require(lpl_guest_keeper_load(&loaded, scratch_path("guest"), NULL) == LPL_OK);
	lpl_guest_keeper_close(&loaded);
}

static void try_files(struct guest *guest)
{
	const struct lpl_writer_options options = { .chunk_refs = 4 };
	struct recording recording = { .sink = { record_refs, record_event, record_end } };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_guest_keeper keeper;
	char name[32];

	recording.part = recording.until_next = 1 + (input_byte(&guest->input) & 63);
	scratch_begin();
	require(meta && lpl_guest_keeper_open(&keeper, NULL) == LPL_OK);
	require(lpl_state_new(&recording.state, NULL, NULL) == LPL_OK);
	require(lpl_segments_open(&recording.segments, scratch_path("trace.lpl"), meta, &options,
				  &keeper.keeper, false, NULL) == LPL_OK);
	lpl_meta_free(meta);
	guest->is_orderly = true;
	send_all(guest, &recording.sink);
	for (unsigned int i = 1; i < SEGMENTS_MOST && recording.sent[i].count > 0; i++) {
		(void)snprintf(name, sizeof(name), "trace.%06u.lpl", i + 1);
		check_file(name, &recording.sent[i], LPL_CHUNK_STATE);
	}
	check_saved(&keeper);
	for (unsigned int i = 0; i < SEGMENTS_MOST; i++)
		free(recording.sent[i].event);
	lpl_guest_keeper_close(&keeper);
	lpl_state_free(recording.state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest guest = { .input = { data, size } };

	switch (input_byte(&guest.input) % WAYS) {
	case CUT:
		try_cut(&guest);
		break;
	case SENT:
		try_sent(&guest);
		break;
	default:
		try_files(&guest);
		break;
	}
	return 0;
}
