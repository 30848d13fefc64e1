/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reducers on trial. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int try_reduce(const char *before, const char *spec, const struct stream *in, size_t batch,
	       struct stream *out, struct lpl_report *report)
{
	struct lpl_reducer *reducer;
	struct collector collector;
	int error;

	collector_init(&collector, out);
	*report = (struct lpl_report){0};
	error = lpl_reducer_open(&reducer, before, spec, &collector.sink, report);
	if (error != LPL_OK)
		return error;
	error = stream_send(in, lpl_reducer_sink(reducer), batch, report);
	lpl_reducer_close(reducer);
	return error;
}

void reduce_further(const char *before, const char *spec, const struct stream *in, size_t batch,
		    struct stream *out)
{
	struct lpl_report report;

	if (try_reduce(before, spec, in, batch, out, &report) != LPL_OK || !out->finished) {
		(void)fprintf(stderr, "%s: %s\n", spec, report.text);
		abort();
	}
}

void reduce_stream(const char *spec, const struct stream *in, size_t batch, struct stream *out)
{
	reduce_further(NULL, spec, in, batch, out);
}

void reduce_trial(const struct stream *in, const struct trial *trial, struct stream *out)
{
	struct stream between = {0};

	if (trial->before != NULL) {
		reduce_further(NULL, trial->before, in, trial->batch, &between);
		in = &between;
	}
	reduce_further(trial->before, trial->spec, in, trial->batch, out);
	stream_free(&between);
}

bool differs_from_oracle(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream expected = {0};
	struct stream got = {0};
	size_t place;
	bool differs;

	trial->oracle(in, trial, &expected);
	reduce_trial(in, trial, &got);
	differs = !stream_equal(&expected, &got, &place);
	stream_free(&expected);
	stream_free(&got);
	return differs;
}

static void merge_pages(struct stream *stream, uint32_t to)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct lpl_ref *ref = &stream->item[i].ref;
		bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;

		if (stream->item[i].is_event)
			continue;
		ref->address = (ref->address / 4096 * 7 + (walk ? 3 : ref->space)) % to * 4096;
		ref->type = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
		ref->space = 0;
	}
}

void before_and_after(const struct stream *in, const struct trial *trial, struct stream *before,
		      struct stream *after)
{
	reduce_stream("none", in, trial->batch, before);
	reduce_trial(in, trial, after);
	if (trial->merged != 0) {
		merge_pages(before, trial->merged);
		merge_pages(after, trial->merged);
	}
}

void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		struct trial *trial, uint64_t seed, unsigned int number)
{
	struct stream got = {0};

	if (!fails(in, trial))
		return;
	stream_shrink(in, fails, trial);
	reduce_trial(in, trial, &got);
	(void)fprintf(stderr,
		      "LAPLACE_TEST_SEED=%llu, case %u, %s after %s in batches of %zu, "
		      "merged to %u:\n",
		      (unsigned long long)seed, number, trial->spec,
		      trial->before == NULL ? "none" : trial->before, trial->batch, trial->merged);
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

void expect_pages(const char *spec, const char *in, const char *expected)
{
	struct stream stream = {0};
	struct stream out = {0};
	char got[64] = "";

	for (const char *page = in; *page != '\0'; page++)
		stream_add_page(&stream, (uint64_t)*page, LPL_READ);
	reduce_stream(spec, &stream, 3, &out);
	for (size_t i = 0; i < out.count && i + 1 < sizeof(got); i++)
		got[i] = (char)(out.item[i].ref.address / 4096);
	if (strcmp(got, expected) != 0) {
		(void)fprintf(stderr, "%s: %s becomes %s, not %s\n", spec, in, got, expected);
		abort();
	}
	stream_free(&stream);
	stream_free(&out);
}

enum lpl_error refuse_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			   struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	return lpl_fail(report, LPL_ERR_FULL, "no");
}
