/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing manifests of segments as text.  The input is one; each line of it gets the right
 * checksum (no fuzzer guesses one), or, if it begins with a point, is left as it is without that.
 *
 * What is accepted says the same when it is written again.  There are no segments beside it: so
 * much of it is read as can be, and the rest is damage, or is not there.
 */
#include <inttypes.h>

#include <laplace/repair.h>

#include "container/manifest.h"

#include "scratch.h"

/* ---- lines ---- */

static bool is_same_facts(const struct lpl_segment_facts *a, const struct lpl_segment_facts *b)
{
	return a->number == b->number && a->bytes == b->bytes && a->index == b->index &&
	       a->checksum == b->checksum && lpl_clocks_equal(&a->first, &b->first) &&
	       lpl_clocks_equal(&a->last, &b->last) && a->refs_so_far == b->refs_so_far &&
	       a->events_so_far == b->events_so_far;
}

static void require_same_meta(const struct lpl_meta *one, const struct lpl_meta *other)
{
	require(lpl_meta_count(one) == lpl_meta_count(other));
	for (size_t i = 0; i < lpl_meta_count(one); i++) {
		const char *key, *value, *other_key, *other_value;

		lpl_meta_at(one, i, &key, &value);
		lpl_meta_at(other, i, &other_key, &other_value);
		require(strcmp(key, other_key) == 0 && strcmp(value, other_value) == 0);
	}
}

/* A line that was accepted: written again, and read again, it is the same. */
static void check_again(enum lpl_manifest_line kind, const char *base, const struct lpl_meta *meta,
			const struct lpl_segment_facts *facts)
{
	struct lpl_meta *meta_again = lpl_meta_new();
	struct lpl_segment_facts facts_again;
	char *line, *base_again;

	if (kind == LPL_MANIFEST_BEGIN)
		line = lpl_manifest_begin_line(base, meta);
	else if (kind == LPL_MANIFEST_SEGMENT)
		line = lpl_manifest_segment_line("trace", facts);
	else
		line = lpl_manifest_end_line(facts->number);
	require(meta_again && line && strchr(line, '\n') == line + strlen(line) - 1);
	*strchr(line, '\n') = '\0';
	require(lpl_manifest_read(line, &base_again, meta_again, &facts_again) == kind);
	if (kind == LPL_MANIFEST_BEGIN) {
		require(strcmp(base, base_again) == 0);
		require_same_meta(meta, meta_again);
	} else {
		require(is_same_facts(facts, &facts_again));
	}
	lpl_meta_free(meta_again);
	free(base_again);
	free(line);
}

static void check_line(const char *line)
{
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_segment_facts facts;
	char *base;
	enum lpl_manifest_line kind;

	require(meta != NULL);
	kind = lpl_manifest_read(line, &base, meta, &facts);
	if (kind != LPL_MANIFEST_BAD && kind != LPL_MANIFEST_NEWER)
		check_again(kind, base, meta, &facts);
	free(base);
	lpl_meta_free(meta);
}

/* ---- the whole ---- */

/* A line of the input as one of a manifest, without its end; owned by the caller. */
static char *sealed(const uint8_t *line, size_t size)
{
	char *text = string_of(line, size), *whole;

	if (text[0] == '.') {
		whole = strdup(text + 1);
		require(whole != NULL);
	} else {
		require(asprintf(&whole, "%s,\"check\":\"%016" PRIx64 "\"}", text,
				 lpl_checksum(text, strlen(text))) >= 0);
	}
	free(text);
	return whole;
}

static void store_manifest(const uint8_t *data, size_t size)
{
	FILE *out = fopen(scratch_path("trace.lpl"), "wb");
	const uint8_t *end = data + size;

	require(out != NULL);
	while (data < end) {
		const uint8_t *stop = memchr(data, '\n', (size_t)(end - data));
		size_t length = (size_t)((stop ? stop : end) - data);
		char *line = sealed(data, length);

		check_line(line);
		/* the last one is whole only if the input's is */
		require(fprintf(out, "%s%s", line, stop ? "\n" : "") >= 0);
		free(line);
		data += length + (stop ? 1 : 0);
	}
	require(fclose(out) == 0);
}

static int count_file(void *context, const char *file)
{
	require(strncmp(file, scratch_directory, strlen(scratch_directory)) == 0);
	++*(unsigned int *)context;
	return 0;
}

/* No record is delivered, for there are none. */
static void read_manifest(void)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;

	if (lpl_reader_open(&reader, scratch_path("trace.lpl"), &report) != LPL_OK) {
		require_reported(&report);
		return;
	}
	for (;;) {
		report.error = LPL_OK;
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			require(report.error == LPL_ERR_DAMAGED);
			if (lpl_reader_resume(reader, NULL) != LPL_OK)
				break;
			continue;
		}
		require(count == 0 && (!event || event->tag == LPL_EVENT_GAP));
		if (!event)
			break;
	}
	lpl_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_repair_options options = { .output = NULL };
	struct lpl_repaired repaired;
	unsigned int files = 0;

	scratch_begin();
	store_manifest(data, size);
	read_manifest();
	require(lpl_trace_files(scratch_path("trace.lpl"), count_file, &files) == 0 && files > 0);
	if (lpl_repair(scratch_path("trace.lpl"), &options, &repaired, &report) != LPL_OK)
		require_reported(&report);
	else
		require(repaired.chunks == 0 && repaired.refs == 0 && repaired.events == 0);
	return 0;
}
