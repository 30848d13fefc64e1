/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reducers on trial. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

#include <laplace/reducer.h>

void reduce_stream(const char *spec, const struct stream *in, size_t batch, struct stream *out)
{
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct collector collector;

	collector_init(&collector, out);
	if (lpl_reducer_open(&reducer, NULL, spec, &collector.sink, &report) != LPL_OK ||
	    stream_send(in, lpl_reducer_sink(reducer), batch, &report) != LPL_OK ||
	    !out->finished) {
		(void)fprintf(stderr, "%s: %s\n", spec, report.text);
		abort();
	}
	lpl_reducer_close(reducer);
}

bool differs_from_oracle(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream expected = {0};
	struct stream got = {0};
	size_t place;
	bool differs;

	trial->oracle(in, trial, &expected);
	reduce_stream(trial->spec, in, trial->batch, &got);
	differs = !stream_equal(&expected, &got, &place);
	stream_free(&expected);
	stream_free(&got);
	return differs;
}

void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		struct trial *trial, uint64_t seed, unsigned int number)
{
	struct stream got = {0};

	if (!fails(in, trial))
		return;
	stream_shrink(in, fails, trial);
	reduce_stream(trial->spec, in, trial->batch, &got);
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s in batches of %zu:\n",
		      (unsigned long long)seed, number, trial->spec, trial->batch);
	stream_print("this stream", in);
	stream_print("is reduced to", &got);
	if (trial->oracle != NULL) {
		stream_clear(&got);
		trial->oracle(in, trial, &got);
		stream_print("and should be", &got);
	}
	stream_free(&got);
	abort();
}
