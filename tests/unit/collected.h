/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of recordings in segments share: how they are made, and looked at a segment alone. */
#ifndef LAPLACE_TESTS_COLLECTED_H
#define LAPLACE_TESTS_COLLECTED_H

#include "sender.h"

/* SPEC, what of it the collector does, and how the stream comes to it. */
static const struct {
	const char *spec, *rest;
	bool windows;
	bool keeps;	/* beyond a flush: what depends on references to come */
} methods[] = {
	{ "none", "none", false, false }, { "none+none", "none", false, false },
	{ "sad-ws:500", "sad-ws:500", false, false }, { "window:9", "none", true, false },
	{ "sad:9", "fence+sad:9", true, false }, { "sad2-fix:9", "sad2-fix:9", false, true },
	{ "irg:300", "irg:300", false, true }, { "window:9+olr:9", "olr:9", true, true },
};
#define METHODS (sizeof(methods) / sizeof(methods[0]))

/* Of `asked` the ring's size, that of the segments, the pass, how often to sync, and a point to resume at. */
static inline enum lpl_error open_segments(struct lpl_collector **collector, const char *spec,
					   const char *name,
					   const struct lpl_collector_options *asked,
					   struct lpl_report *report)
{
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_plan plan;
	struct lpl_collector_options options = {
		.path = in_directory(name), .plan = &plan, .meta = meta, .stage = LPL_STAGE_FILE,
		.ring_records = asked->ring_records, .status_fd = -1, .overwrite = true,
		.segmented = true, .segment = asked->segment, .pass = asked->pass, .sync_ns = asked->sync_ns,
		.resume_point = asked->resume_point, .resume_guest = asked->resume_guest,
	};
	enum lpl_error error;

	assert_non_null(meta);
	assert_int_equal(lpl_meta_set(meta, LPL_META_TITLE, "a test"), LPL_OK);
	assert_int_equal(lpl_plan_parse(&plan, spec, report), LPL_OK);
	options.log = plan.window == 0;
	error = lpl_collector_open(collector, &options, report);
	lpl_meta_free(meta);
	return error;
}

static inline struct lpl_collector *start_segments(const char *spec, const char *name,
						   const struct lpl_collector_options *asked)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_collector *collector;

	if (open_segments(&collector, spec, name, asked, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return collector;
}

/* Of the trace "BASE.lpl". */
static inline const char *segment_name(const char *base, unsigned int number)
{
	static char name[64];

	(void)snprintf(name, sizeof(name), "%s.%06u.lpl", base, number);
	return name;
}

static inline unsigned int count_segments(const char *base)
{
	unsigned int count = 0;

	while (exists(segment_name(base, count + 1)))
		count++;
	return count;
}

static inline bool is_state(const struct item *item, uint64_t begins)
{
	return item->is_event && item->event.tag == LPL_EVENT_STATE &&
	       item->event.arg[LPL_EVENT_STATE_BEGINS] == begins;
}

/* Without the state that a segment begins with, for readers of it alone; it has to be there. */
static inline void drop_state(struct stream *stream)
{
	size_t end = 0;

	assert_true(stream->count > 0 && is_state(&stream->items[0], 1));
	while (!is_state(&stream->items[end], 0))
		assert_true(++end < stream->count);
	stream->count -= end + 1;
	memmove(stream->items, stream->items + end + 1, stream->count * sizeof(*stream->items));
}

static inline void assert_same_file(const char *one, const char *other)
{
	char command[512];

	(void)snprintf(command, sizeof(command), "cmp -s %s %s", in_directory(one),
		       in_directory(other));
	assert_int_equal(system(command), 0);
}

#endif
