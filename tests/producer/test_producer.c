/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The producer of references, without Bochs: scripts are played on a small simulated
 * processor (machine.h), which calls the hooks of bochs/instrument; what comes out of the
 * ring has to be what the definition of windows keeps of all that happened (truth.h),
 * record for record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/ring_stream.h"
#include <laplace/image.h>

#include "machine.h"

#define CASES 4000
#define STEPS_MAX 160

struct script {
	struct machine_setting setting;
	struct step step[STEPS_MAX];
	size_t steps;
};

/* What was read from the ring. */
struct received {
	struct lpl_ring *ring;
	struct lpl_ring_stream parser;
	struct collector collector;
	struct stream stream;
	struct truth_totals totals;
	uint64_t window_references;	/* that the latest WINDOW had */
	size_t window_end;		/* where it ended in the stream */
	bool windows_fit;		/* no WINDOW counted less than it had */
};

/* ---- what comes out ---- */

/*
 * How many references there were is sent with a window: at least those that it has.  More,
 * when it ends while some are on the way that it had no room for.
 */
static void check_window(struct received *got, uint64_t references)
{
	for (size_t i = got->window_end; i < got->stream.count; i++)
		got->windows_fit &= got->stream.item[i].is_event ||
				    got->stream.item[i].ref.ref <= references;
	got->windows_fit &= references >= got->window_references;
	got->window_references = references;
	got->window_end = got->stream.count;
}

static enum lpl_error flushed(void *context, bool rotate, struct lpl_report *report)
{
	(void)context, (void)rotate;
	(void)report;
	return LPL_OK;
}

static void drain(void *context)
{
	struct received *got = context;
	const struct lpl_ring_record *record;
	struct lpl_report report;
	size_t count;

	lpl_ring_publish(got->ring);
	while ((count = lpl_ring_peek(got->ring, 0, &record)) != 0) {
		for (size_t i = 0; i < count; i++) {
			bool plain = !got->parser.payload_records && !lpl_window_awaits(&got->parser.order);
			uint64_t kind = record[i].word[3] >> 56;

			assert_int_equal(lpl_ring_stream_take(&got->parser, &record[i], 1,
							      &report), LPL_OK);
			if (plain && kind == LPL_WIRE_TOTALS)
				truth_totals_add(&got->totals, record[i].word[0],
						 record[i].word[1], record[i].word[2]);
			if (plain && kind == LPL_WIRE_WINDOW)
				check_window(got, record[i].word[0]);
		}
		lpl_ring_release(got->ring, count);
	}
}

static void receive_begin(struct received *got, struct lpl_ring *ring)
{
	*got = (struct received){ .ring = ring, .stream = got->stream, .totals = got->totals,
				  .windows_fit = true };
	stream_clear(&got->stream);
	got->totals.count = 0;
	collector_init(&got->collector, &got->stream);
	got->parser.out = &got->collector.sink;
	got->parser.flush = flushed;
}

static void receive_end(struct received *got)
{
	struct lpl_report report;

	assert_int_equal(lpl_ring_stream_deliver(&got->parser, &report), LPL_OK);
	lpl_ring_stream_free(&got->parser);
}

/* ---- a case ---- */

static struct truth truth;
static struct received got;
static struct stream expected, rest;
static struct lpl_ring *ring;

static void print_record(const char *what, const struct stream *stream, size_t i)
{
	const struct item *item = &stream->item[i];

	if (i >= stream->count)
		(void)fprintf(stderr, "  %s: nothing\n", what);
	else if (item->is_event)
		(void)fprintf(stderr, "  %s: event %#x, ref %llu, instr %llu, cycle %llu\n", what,
			      item->event.tag, (unsigned long long)item->event.ref,
			      (unsigned long long)item->event.instr,
			      (unsigned long long)item->event.cycle);
	else
		(void)fprintf(stderr, "  %s: %llu: %c%s %llx:%llx, instr %llu, cycle %llu\n",
			      what, (unsigned long long)item->ref.ref,
			      lpl_type_letter((enum lpl_type)item->ref.type),
			      item->ref.flags & LPL_USER ? " user" : "",
			      (unsigned long long)item->ref.space,
			      (unsigned long long)item->ref.address >> 12,
			      (unsigned long long)item->ref.instr,
			      (unsigned long long)item->ref.cycle);
}

static void print_totals(const char *what, const struct truth_totals *totals)
{
	(void)fprintf(stderr, "  %s:", what);
	for (size_t i = 0; i < totals->count; i++)
		(void)fprintf(stderr, " %llu+%llu at %llu",
			      (unsigned long long)totals->total[i].references,
			      (unsigned long long)totals->total[i].tracer_refs,
			      (unsigned long long)totals->total[i].instr);
	(void)fprintf(stderr, "\n");
}

/* ---- images ---- */

enum { IMAGES_MOST = 1 << 16 };

/* The bytes of an image that has its contents, or had them before. */
static const uint8_t *bytes_of(const struct lpl_image *image, const struct lpl_image_hash *hash,
			       const uint8_t *wanted)
{
	static uint64_t filled[LPL_IMAGE_BYTES / sizeof(uint64_t)];

	if (image->kind == LPL_IMAGE_UNKNOWN)
		return NULL;
	for (size_t i = 0; i < LPL_IMAGE_BYTES / sizeof(uint64_t); i++)
		filled[i] = image->word;
	if (image->kind == LPL_IMAGE_FILLED)
		return (const uint8_t *)filled;
	if (image->bytes)
		return image->bytes;
	/* test_images looks whether it had them */
	return memcmp(hash, &image->hash, sizeof(*hash)) == 0 ? wanted : NULL;
}

static bool is_image(const struct lpl_event *event, const struct lpl_image *image,
		     const struct truth_image *wanted)
{
	const struct lpl_ref *victim = &wanted->victim, *fault = &wanted->fault;
	const uint8_t *bytes = machine_memory(wanted->place.frame, wanted->place.writes), *got_bytes;
	const bool walk = victim->type == LPL_WALK_READ || victim->type == LPL_WALK_WRITE;
	const struct lpl_image_hash hash = bytes ? lpl_image_hash(bytes) : (struct lpl_image_hash){ 0, 0 };

	got_bytes = bytes_of(image, &hash, bytes);
	return !image->lost && event->ref == fault->ref - 1 && event->instr == fault->instr &&
	       event->cycle == fault->cycle && image->address == (victim->address & ~UINT64_C(0xfff)) &&
	       image->space == (walk ? KTR_NONE : victim->space) && image->frame == wanted->place.frame &&
	       (bytes ? got_bytes && memcmp(bytes, got_bytes, LPL_IMAGE_BYTES) == 0 : !got_bytes);
}

/* Leaves what else was sent in `rest`.  False: the images are not those that there should be. */
static bool images_are_right(const struct script *script, struct stream *rest, bool print)
{
	static struct truth_image wanted[IMAGES_MOST];
	size_t count = script->setting.images ?
		       truth_images(&truth, script->setting.images, wanted, IMAGES_MOST) : 0, seen = 0;
	struct lpl_image_reader reader;
	struct lpl_image image;

	stream_clear(rest);
	lpl_image_reader_init(&reader);
	for (size_t i = 0; i < got.stream.count; i++) {
		const struct item *item = &got.stream.item[i];

		if (!item->is_event)
			stream_add_ref(rest, &item->ref);
		else if (lpl_image_take(&reader, &item->event, &image)) {
			if (seen >= count || !is_image(&item->event, &image, &wanted[seen])) {
				if (print)
					(void)fprintf(stderr, "image %zu of %zu is wrong: at %llu, frame %llx "
						      "(%llx), page %llx (%llx)\n", seen, count,
						      (unsigned long long)item->event.ref,
						      (unsigned long long)image.frame,
						      (unsigned long long)wanted[seen].place.frame,
						      (unsigned long long)image.address,
						      (unsigned long long)wanted[seen].victim.address);
				return false;
			}
			seen++;
		} else if (item->event.tag != LPL_EVENT_IMAGE_PART)
			stream_add_event(rest, &item->event);
	}
	if (print && seen != count)
		(void)fprintf(stderr, "%zu images of %zu\n", seen, count);
	return seen == count;
}

/* Is what comes out anything but what should? */
static bool fails(const struct script *script, bool print)
{
	const char *why;
	size_t place;

	truth_begin(&truth);
	receive_begin(&got, ring);
	why = machine_play(&script->setting, script->step, script->steps, &truth, ring, drain,
			   &got);
	receive_end(&got);
	if (why != NULL) {
		if (print)
			(void)fprintf(stderr, "%s\n", why);
		return true;
	}
	if (!images_are_right(script, &rest, print))
		return true;
	stream_clear(&expected);
	truth_windows(&truth, script->setting.window, &expected);
	if (!stream_equal(&expected, &rest, &place)) {
		if (print) {
			(void)fprintf(stderr, "record %zu differs:\n", place);
			print_record("expected", &expected, place);
			print_record("got", &rest, place);
		}
		return true;
	}
	if (truth.totals.count != got.totals.count ||
	    memcmp(truth.totals.total, got.totals.total,
		   got.totals.count * sizeof(*got.totals.total)) != 0) {
		if (print) {
			(void)fprintf(stderr, "totals differ:\n");
			print_totals("expected", &truth.totals);
			print_totals("got", &got.totals);
		}
		return true;
	}
	if (print && !got.windows_fit)
		(void)fprintf(stderr, "a window counted another number of references\n");
	return !got.windows_fit;
}

static enum step_kind random_kind(struct random *random)
{
	/* what is rare, and once in how many steps */
	static const struct {
		enum step_kind kind;
		uint32_t once_in;
	} rare[] = {
		{ STEP_STRINGS, 2000 }, { STEP_THRASH, 8000 }, { STEP_MARKS, 4000 },
		{ STEP_LONG, 300 },
	};

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (random_below(random, rare[i].once_in) == 0)
			return rare[i].kind;
	if (random_below(random, 2) == 0)
		return random_below(random, 3) == 0 ? STEP_JUMP : STEP_PLAIN;
	for (;;) {
		enum step_kind kind = (enum step_kind)random_below(random, STEP_KINDS);

		if (kind != STEP_STRINGS && kind != STEP_THRASH && kind != STEP_MARKS &&
		    kind != STEP_LONG)
			return kind;
	}
}

static void random_script(struct random *random, struct script *script)
{
	static const uint32_t windows[] = { 1, 2, 3, 3, 4, 7, 64, 64 };
	static const uint32_t pages[] = { 2, 3, 5, 8, 8, 20, 100 };
	bool nearly_full = random_below(random, 3) == 0;

	script->setting = (struct machine_setting){
		.seed = random_next(random),
		.window = windows[random_below(random, 8)],
		.pages = pages[random_below(random, 7)],
		.walks = random_below(random, 3) == 0,
		.debugger = random_below(random, 10) == 0,
		.recording = random_below(random, 4) != 0,
		.end = random_below(random, ENDS),
	};
	if (nearly_full) {
		script->setting.instr = UINT32_MAX - random_below(random, 300);
		script->setting.data = (1U << 29) - 1 - random_below(random, 500);
	}
	script->steps = 1 + random_below(random, random_below(random, 2) == 0 ? 12 : STEPS_MAX);
	for (size_t i = 0; i < script->steps; i++) {
		struct step *step = &script->step[i];

		step->kind = random_kind(random);
		step->size = random_below(random, 5);
		step->seed = random_next(random);
	}
	/* so many jumps of the cycle counter in one window are rare, and soon forgotten */
	if (random_below(random, 20) == 0) {
		script->setting.window = 64;
		script->setting.pages = 20;
		script->step[script->steps - 1].kind = STEP_STRINGS;
	}
	/* (a string's elements are made at once, so it cannot be one page that is in memory) */
	if (random_below(random, 3) == 0)
		script->setting.images = (script->setting.window < 2 ? 2 : script->setting.window) +
					 random_below(random, 4);
}

/* Leave steps out, or let them be smaller, as long as it still fails. */
static void shrink(struct script *script)
{
	struct script smaller;

	for (size_t count = script->steps; count > 0; count /= 2) {
		for (size_t at = 0; at + count <= script->steps;) {
			smaller = *script;
			smaller.steps -= count;
			memmove(smaller.step + at, smaller.step + at + count,
				(smaller.steps - at) * sizeof(smaller.step[0]));
			if (fails(&smaller, false))
				*script = smaller;
			else
				at += count;
		}
	}
	for (size_t at = 0; at < script->steps; at++) {
		while (script->step[at].size > 0) {
			smaller = *script;
			smaller.step[at].size--;
			if (!fails(&smaller, false))
				break;
			*script = smaller;
		}
	}
}

static void print_script(const struct script *script)
{
	const struct machine_setting *s = &script->setting;

	(void)fprintf(stderr,
		      "windows of %u, images of %u, %u pages, clock at %u and %u%s%s%s, end %d; "
		      "steps (kind, size):",
		      s->window, s->images, s->pages, s->instr, s->data, s->walks ? ", walks" : "",
		      s->debugger ? ", debugger" : "", s->recording ? ", recording" : "",
		      (int)s->end);
	for (size_t i = 0; i < script->steps; i++)
		(void)fprintf(stderr, " %d,%u", (int)script->step[i].kind, script->step[i].size);
	(void)fprintf(stderr, "\n");
}

static void windows_are_exact(void **state)
{
	static struct script script;
	struct random random = { random_seed() };

	(void)state;
	for (unsigned int i = 0; i < CASES; i++) {
		random_script(&random, &script);
		if (!fails(&script, false))
			continue;
		shrink(&script);
		(void)fails(&script, true);
		stream_print("what happened", &truth.stream);
		print_script(&script);
		fail_msg("LAPLACE_TEST_SEED=%llu, case %u", (unsigned long long)random_seed(), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_exact),
	};
	int failed;

	ring = lpl_ring_new(1 << 20);
	if (ring == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	truth_free(&truth);
	stream_free(&got.stream);
	free(got.totals.total);
	stream_free(&expected);
	stream_free(&rest);
	lpl_ring_free(ring);
	return failed;
}
