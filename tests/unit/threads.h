/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random guests of many tasks that create, wake and wait for each other, as streams of references
 * and of the events that a kernel sends; and streams by hand, a record a call.
 */
#ifndef LAPLACE_TESTS_THREADS_H
#define LAPLACE_TESTS_THREADS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <laplace/record.h>

#include "stream.h"

#define THREADS 40

/* Where the stream goes, and its clocks. */
struct guest {
	struct lpl_sink *sink;
	uint64_t ref, instr, cycle;
	uint64_t state;			/* of the random numbers */
	uint32_t runs;			/* tid; 0: the idle task */
	uint32_t tids;			/* given so far */
	bool wakes;			/* it reports them */
	bool waits[THREADS + 1], lives[THREADS + 1];
};

static inline uint64_t guest_roll(struct guest *guest, uint64_t below)
{
	return next_random(&guest->state) % below;
}

/* Threads are of processes of four. */
static inline uint32_t guest_tgid(uint32_t tid)
{
	return tid == 0 ? 0 : (tid - 1) / 4 * 4 + 1;
}

static inline uint64_t guest_space(uint32_t tid)
{
	return tid == 0 ? 0 : 100 + guest_tgid(tid);
}

static inline void guest_ref(struct guest *guest, uint64_t cycles, uint64_t page,
			     enum lpl_type type)
{
	struct lpl_ref ref;

	guest->cycle += cycles;
	guest->instr += cycles / 2;
	guest->ref++;
	ref = (struct lpl_ref){
		.ref = guest->ref, .instr = guest->instr, .cycle = guest->cycle,
		.address = page << LPL_PAGE_SHIFT, .space = guest_space(guest->runs),
		.type = (uint8_t)type, .flags = LPL_USER, .length = 4
	};
	assert_int_equal(guest->sink->refs(guest->sink, &ref, 1, NULL), LPL_OK);
}

static inline void guest_event(struct guest *guest, uint64_t cycles, uint32_t tag,
			       const uint64_t *arg, size_t args, const char *text)
{
	struct lpl_event event = {
		.ref = guest->ref, .tag = tag, .tid = guest->runs,
		.tgid = guest_tgid(guest->runs), .space = guest_space(guest->runs)
	};

	guest->cycle += cycles;
	guest->instr += cycles / 2;
	event.instr = guest->instr;
	event.cycle = guest->cycle;
	memcpy(event.arg, arg, args * sizeof(*arg));
	event.text_length = (uint32_t)strlen(text);
	memcpy(event.text, text, event.text_length);
	assert_int_equal(guest->sink->event(guest->sink, &event, NULL), LPL_OK);
}

#define GUEST_EVENT(guest, cycles, text, tag, ...) \
	guest_event(guest, cycles, tag, (const uint64_t[]){__VA_ARGS__}, \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), text)

static inline void guest_finish(struct guest *guest)
{
	assert_int_equal(guest->sink->finish(guest->sink, NULL), LPL_OK);
}

static inline void guest_schedule(struct guest *guest, uint64_t cycles, uint64_t state,
				  uint32_t to)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "t%u", to);
	GUEST_EVENT(guest, cycles, name, KTR_SCHEDULE, guest->runs, state, to, guest_tgid(to),
		    guest_space(to));
	if (guest->runs != 0) {
		guest->waits[guest->runs] = state != 0 && state != KTR_STATE_DEAD;
		if (state == KTR_STATE_DEAD)
			guest->lives[guest->runs] = false;
	}
	guest->runs = to;
}

static inline void guest_wake(struct guest *guest, uint64_t cycles, uint32_t tid,
			      enum ktr_context context)
{
	GUEST_EVENT(guest, cycles, "", KTR_WAKE, tid, guest_tgid(tid), context);
	guest->waits[tid] = false;
}

static inline uint32_t guest_create(struct guest *guest, uint64_t cycles)
{
	const uint32_t tid = ++guest->tids;
	char name[16];

	(void)snprintf(name, sizeof(name), "t%u", tid);
	GUEST_EVENT(guest, cycles, name, KTR_TASK_CREATE, tid, guest_tgid(tid),
		    guest_space(tid), guest_tgid(tid) == guest_tgid(guest->runs) ? 0x100 : 0);
	guest->lives[tid] = true;
	guest->waits[tid] = false;
	return tid;
}

static inline void guest_begin(struct guest *guest, struct lpl_sink *sink, uint64_t seed)
{
	*guest = (struct guest){.sink = sink, .state = seed, .ref = 1000, .instr = 5000,
				.cycle = 70000};
}

/* ---- random ones ---- */

/* A task that can run, or the idle task. */
static inline uint32_t guest_runnable(struct guest *guest)
{
	const uint32_t from = (uint32_t)guest_roll(guest, THREADS);

	for (uint32_t i = 0; i < THREADS; i++) {
		const uint32_t tid = (from + i) % THREADS + 1;

		if (tid != guest->runs && guest->lives[tid] && !guest->waits[tid])
			return tid;
	}
	return 0;
}

static inline void guest_switch(struct guest *guest)
{
	const uint64_t how = guest_roll(guest, 20);
	const uint32_t to = guest_runnable(guest);

	if (guest->runs == 0 || how < 8)
		guest_schedule(guest, guest_roll(guest, 9), KTR_STATE_RUNNABLE, to);
	else if (how < 18)
		guest_schedule(guest, guest_roll(guest, 9), KTR_STATE_SLEEPING, to);
	else if (guest->tids > 5) {
		GUEST_EVENT(guest, 1, "", KTR_EXIT, guest->runs, guest_tgid(guest->runs), 0, 0);
		guest_schedule(guest, 2, KTR_STATE_DEAD, to);
	}
}

/* Some that wait are woken, by whoever runs or an interrupt; also those that do not wait. */
static inline void guest_wake_some(struct guest *guest)
{
	const uint32_t tid = (uint32_t)guest_roll(guest, THREADS) + 1;

	if (tid == guest->runs || tid > guest->tids || !guest->lives[tid])
		return;
	if (guest->wakes)
		guest_wake(guest, guest_roll(guest, 5), tid,
			   guest_roll(guest, 2) != 0 ? KTR_CONTEXT_TASK : KTR_CONTEXT_INTERRUPT);
	guest->waits[tid] = false;
}

static inline void play_threads(struct lpl_sink *sink, uint64_t seed, size_t records)
{
	struct guest guest;

	guest_begin(&guest, sink, seed);
	guest.wakes = guest_roll(&guest, 4) != 0;
	for (; guest.tids < 6; guest.lives[guest.tids] = true)
		guest.tids++;
	for (size_t i = 0; i < records; i++) {
		const uint64_t what = guest_roll(&guest, 100);

		if (what < 80)
			guest_ref(&guest, guest_roll(&guest, 12),
				  16 + guest_roll(&guest, 6) * guest_roll(&guest, 6),
				  (enum lpl_type)guest_roll(&guest, LPL_TYPES));
		else if (what < 88)
			guest_switch(&guest);
		else if (what < 96)
			guest_wake_some(&guest);
		else if (what < 98 && guest.tids < THREADS && guest.runs != 0)
			(void)guest_create(&guest, guest_roll(&guest, 3));
		else
			GUEST_EVENT(&guest, 3, "here", KTR_MARK, 0);
	}
	guest_finish(&guest);
}

#endif
