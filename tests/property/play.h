/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulating a stream, for tests; whatever fails there fails the test. */
#ifndef LAPLACE_TESTS_PLAY_H
#define LAPLACE_TESTS_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/simulator.h>

#include "oracle.h"

/* A simulator without policies; `reduction` may be NULL. */
static inline struct lpl_simulator *new_simulator(unsigned int jobs, const char *reduction)
{
	struct lpl_simulator_options options = {.jobs = jobs, .reduction = reduction};
	struct lpl_report report = {0};
	struct lpl_simulator *simulator;

	assert_int_equal(lpl_simulator_open(&simulator, &options, &report), LPL_OK);
	return simulator;
}

/* `sizes` NULL: those of the library's choosing. */
static inline void add_policy(struct lpl_simulator *simulator, const char *policy,
			      const char *sizes)
{
	struct lpl_report report = {0};
	struct lpl_sizes parsed = {0};

	if (sizes != NULL)
		assert_int_equal(lpl_sizes_parse(&parsed, sizes, &report), LPL_OK);
	if (lpl_simulator_add(simulator, policy, sizes != NULL ? &parsed : NULL, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_sizes_free(&parsed);
}

static inline void send_all(struct lpl_simulator *simulator, const struct stream *in,
			    size_t batch)
{
	struct lpl_report report = {0};

	if (stream_send(in, lpl_simulator_sink(simulator), batch, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* A simulator of one policy that has seen the stream. */
static inline struct lpl_simulator *simulate(const char *policy, const char *sizes,
					     const struct stream *in, size_t batch)
{
	struct lpl_simulator *simulator = new_simulator(1, NULL);

	add_policy(simulator, policy, sizes);
	send_all(simulator, in, batch);
	return simulator;
}

static inline bool result_equal(const struct lpl_result *result, const struct counts *counts)
{
	return result->references == counts->references && result->faults == counts->faults &&
	       result->evictions == counts->evictions &&
	       result->dirty_evictions == counts->dirty_evictions;
}

#endif
