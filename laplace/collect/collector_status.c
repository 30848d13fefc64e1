/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a collector reports of itself: its numbers on request, lines of status for a watcher, and
 * to a person that the disk is full, while it waits for room.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/host.h"
#include "collector_struct.h"

#define STATUS_NS 500000000U	/* between two lines of status to a descriptor */
#define ROOM_NAP_NS 100000000	/* between looks for room on a full disk */

/* ---- status ---- */

void lpl_collector_status(const struct lpl_collector *c, struct lpl_collector_status *status)
{
	/* in this order: no more can be kept than there were */
	const uint64_t kept = c->writer ? lpl_writer_refs(c->writer) : 0;

	atomic_thread_fence(memory_order_acquire);
	*status = (struct lpl_collector_status){
		.references = lpl_collector_references(c),
		.instructions = lpl_collector_instructions(c),
		.events = lpl_collector_events(c),
		.kept = kept,
		.bytes = c->writer ? lpl_writer_bytes(c->writer) : 0,
		.wait_ns = lpl_collector_wait_ns(c),
		.elapsed_ns = lpl_now_ns() - c->start_ns,
		.flushes = atomic_load_explicit(&c->flushes, memory_order_relaxed),
		.tracer_refs = atomic_load_explicit(&c->log.tracer_known, memory_order_relaxed),
		.syncs = atomic_load_explicit(&c->syncs, memory_order_relaxed),
		.sync_ns = atomic_load_explicit(&c->sync_time_ns, memory_order_relaxed),
		.waiting_for_room = atomic_load_explicit(&c->waiting_for_room,
							 memory_order_relaxed),
		.room_wait_ns = atomic_load_explicit(&c->room_wait_ns, memory_order_relaxed),
		.segment = c->segments ? lpl_segments_number(c->segments) : 0,
		.tracing = c->status.tracing,
	};
}

char *lpl_collector_status_line(struct lpl_collector *c, struct lpl_pace *pace)
{
	struct lpl_collector_status now;

	lpl_collector_status(c, &now);
	return lpl_status_line(&c->status, &now, pace, (struct lpl_status_end){ .state = NULL });
}

void lpl_collector_event(void *context, const struct lpl_event *event)
{
	struct lpl_collector *c = context;

	lpl_status_event(&c->status, event);
}

static void complain(const struct lpl_collector *c, const char *text)
{
	if (c->complain)
		c->complain(c->context, text);
}

static void write_descriptor(struct lpl_collector *c, const struct lpl_collector_status *now,
			     struct lpl_status_end end)
{
	char *line = lpl_status_line(&c->status, now, &c->pace, end);

	if (line && !lpl_status_write(c->status_fd, line))
		c->status_fd = -1;
	free(line);
}

/* That it cannot be written is reported, but it is no reason to stop collecting. */
static void write_file(struct lpl_collector *c, const struct lpl_collector_status *now,
		       struct lpl_status_end end)
{
	char *line = lpl_status_line(&c->status, now, &c->file_pace, end);
	char text[128];

	if (line && !lpl_status_file_append(&c->status_file, line)) {
		snprintf(text, sizeof(text), "the status file cannot be written: %s",
			 strerror(errno));
		complain(c, text);
	}
	free(line);
}

void lpl_collector_report_all(struct lpl_collector *c, const struct lpl_collector_status *now,
			      struct lpl_status_end end)
{
	if (c->status_fd >= 0)
		write_descriptor(c, now, end);
	if (c->status_file.fd >= 0)
		write_file(c, now, end);
}

void lpl_collector_report_if_due(struct lpl_collector *c, uint64_t now)
{
	const struct lpl_status_end running = { .state = "running" };
	struct lpl_collector_status status;

	if (c->status_fd >= 0 && now >= c->status_at) {
		lpl_collector_status(c, &status);
		write_descriptor(c, &status, running);
		c->status_at = now + STATUS_NS;
	}
	if (c->status_file.fd >= 0 && now >= c->file_at) {
		lpl_collector_status(c, &status);
		write_file(c, &status, running);
		c->file_at = now + c->file_ns;
	}
}

/* ---- a full disk ---- */

bool lpl_collector_wait_for_room(void *context, const struct lpl_report *why)
{
	struct lpl_collector *c = context;
	char text[LPL_REPORT_SIZE + 128];
	uint64_t begin = lpl_now_ns(), now;

	if (!why) {
		atomic_store_explicit(&c->waiting_for_room, false, memory_order_relaxed);
		complain(c, "there is room again: the recording goes on");
		return true;
	}
	if (!c->wait_for_room || (c->is_ending && c->is_ending(c->context)))
		return false;
	if (!atomic_load_explicit(&c->waiting_for_room, memory_order_relaxed)) {
		atomic_store_explicit(&c->waiting_for_room, true, memory_order_relaxed);
		(void)snprintf(text, sizeof(text), "%s.  The recording waits until there is room; "
			       "to end it and close its trace, send it SIGTERM", why->text);
		complain(c, text);
	}
	(void)nanosleep(&(struct timespec){ .tv_nsec = ROOM_NAP_NS }, NULL);
	now = lpl_now_ns();
	atomic_fetch_add_explicit(&c->room_wait_ns, now - begin, memory_order_relaxed);
	lpl_collector_report_if_due(c, now);
	return true;
}
