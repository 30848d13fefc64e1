/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compressed caching; see sim_compressed.h. */
#include "sim_compressed.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include <laplace/compressed_cache.h>
#include <laplace/image.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "pass.h"
#include "progress.h"
#include "say.h"
#include "trace_kind.h"

#define STANDARD_CODEC "zstd"

static bool is_one(const char *policy)
{
	return strncmp(policy, "cc", 2) == 0 && (policy[2] == '\0' || strchr(":,", policy[2]));
}

bool cli_is_compressed(const char *policies)
{
	for (const char *at = policies; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (is_one(at))
			return true;
	return false;
}

/* ---- what to simulate ---- */

struct sizes {
	struct lpl_sizes pages, pool;	/* pool: in bytes; none: as the first level */
};

static int parse_sizes(struct sizes *sizes, const struct cli_compressed *options, uint64_t images)
{
	const struct lpl_sizes_base of_pages = { .page_size = LPL_IMAGE_BYTES }, of_bytes = { .page_size = 1 };
	struct lpl_report report = { 0 };
	char as_images[24];

	snprintf(as_images, sizeof(as_images), "%" PRIu64, images);
	if (lpl_sizes_parse_of(&sizes->pages, options->sizes ? options->sizes : as_images, &of_pages,
			       &report))
		return cli_report(&report);
	if (options->pool && lpl_sizes_parse_of(&sizes->pool, options->pool, &of_bytes, &report))
		return cli_complain(CLI_USAGE, "--pool: '%s' is no list of bytes, as 65536,1M,4M",
				    options->pool);
	if (sizes->pages.all || sizes->pool.all)
		return cli_complain(CLI_USAGE, "compressed caching has no result for all sizes; name some");
	return CLI_DONE;
}

static int add_codec(struct lpl_compressed_cache *cache, const char *policy, const struct sizes *sizes)
{
	const char *codec = policy[2] == ':' ? policy + 3 : STANDARD_CODEC;
	struct lpl_report report = { 0 };

	if (!is_one(policy))
		return cli_complain(CLI_USAGE, "policy '%s': compressed caching (cc) is simulated alone",
				    policy);
	for (size_t i = 0; i < sizes->pages.count; i++) {
		const uint64_t pages = sizes->pages.size[i];
		const uint64_t as_much = pages > UINT64_MAX / LPL_IMAGE_BYTES ? UINT64_MAX : pages * LPL_IMAGE_BYTES;
		const uint64_t *pool = sizes->pool.count ? sizes->pool.size : &as_much;
		const size_t pools = sizes->pool.count ? sizes->pool.count : 1;

		for (size_t j = 0; j < pools; j++)
			if (lpl_compressed_cache_add(cache, codec, pages, pool[j], &report))
				return cli_report(&report);
	}
	return CLI_DONE;
}

/* ---- results ---- */

/* Every number of a result, as a column and as a member. */
#define NUMBERS(NUMBER) \
	NUMBER(references) NUMBER(faults) NUMBER(evictions) NUMBER(dirty_evictions) NUMBER(pool) \
	NUMBER(cold_faults) NUMBER(pool_hits) NUMBER(store_faults) NUMBER(filled) NUMBER(compressed) \
	NUMBER(rejected) NUMBER(unknown) NUMBER(pool_evictions) NUMBER(pool_most) \
	NUMBER(bytes_compressed) NUMBER(bytes_packed) NUMBER(bytes_decompressed) NUMBER(bytes_written) \
	NUMBER(bytes_read) NUMBER(huge) NUMBER(end_filled) NUMBER(end_compressed) NUMBER(end_huge) \
	NUMBER(end_bytes)

/* How many times smaller; false: nothing was compressed. */
static bool ratio_of(uint64_t in, uint64_t out, double *ratio)
{
	*ratio = out ? (double)in / (double)out : 0;
	return out != 0;
}

static json_t *over_time(const struct lpl_compressed_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->samples; i++) {
		const struct lpl_compressed_sample *sample = &result->sample[i];
		double ratio;
		json_t *object = json_pack("{s:o, s:o, s:o}", "reference", cli_json(sample->ref),
					   "faults", cli_json(sample->faults),
					   "pool_hits", cli_json(sample->pool_hits));

		if (ratio_of(sample->evicted * LPL_IMAGE_BYTES, sample->bytes, &ratio))
			json_object_set_new(object, "ratio", json_real(ratio));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *result_json(const struct lpl_compressed_result *result)
{
	json_t *object = json_pack("{s:o, s:o}", "policy", json_sprintf("cc:%s", result->codec),
				   "size", cli_json(result->pages));
	double ratio;

#define MEMBER(name) json_object_set_new(object, #name, cli_json(result->name));
	NUMBERS(MEMBER)
#undef MEMBER
	if (ratio_of(result->bytes_compressed, result->bytes_packed, &ratio))
		json_object_set_new(object, "ratio", json_real(ratio));
	json_object_set_new(object, "exact", json_boolean(result->exact));
	json_object_set_new(object, "over_time", over_time(result));
	return object;
}

static void print_result(const struct lpl_compressed_result *result)
{
	double ratio;

	printf("cc:%s,%" PRIu64, result->codec, result->pages);
#define COLUMN(name) printf(",%" PRIu64, result->name);
	NUMBERS(COLUMN)
#undef COLUMN
	putchar(',');
	if (ratio_of(result->bytes_compressed, result->bytes_packed, &ratio))
		printf("%.6g", ratio);
	printf(",%s\n", result->exact ? "yes" : "no");
}

static void warn(const struct lpl_compressed_cache *cache, const struct cli_compressed *options,
		 uint64_t images)
{
	const char *trace = options->trace;
	bool inexact = false;
	uint64_t unknown = 0;

	for (size_t i = 0; i < lpl_compressed_cache_count(cache); i++) {
		const struct lpl_compressed_result *result = lpl_compressed_cache_result(cache, i);

		inexact |= !result->exact;
		unknown = result->unknown > unknown ? result->unknown : unknown;
	}
	if (inexact && lpl_choice_chooses(options->choice))
		cli_complain(0, "warning: %s: its images are of what a memory of all references evicts; of a part "
			     "of them no result is exact", trace);
	else if (inexact)
		cli_complain(0, "warning: %s: its images are of what a memory of %" PRIu64 " pages evicts; "
			     "results marked `no' are not exact", trace, images);
	if (unknown)
		cli_complain(0, "warning: %s: of %" PRIu64 " pages evicted it is not known what they held; they "
			     "went to the store", trace, unknown);
}

static int print_results(const struct lpl_compressed_cache *cache, bool json)
{
	json_t *array = json ? json_array() : NULL;

	if (!json) {
		fputs("policy,size", stdout);
#define NAME(name) fputs("," #name, stdout);
		NUMBERS(NAME)
#undef NAME
		puts(",ratio,exact");
	}
	for (size_t i = 0; i < lpl_compressed_cache_count(cache); i++) {
		const struct lpl_compressed_result *result = lpl_compressed_cache_result(cache, i);

		if (json)
			json_array_append_new(array, result_json(result));
		else
			print_result(result);
	}
	return json ? cli_print_json(stdout, array) : CLI_DONE;
}

/* ---- the pass ---- */

static int run(struct lpl_compressed_cache *cache, struct lpl_reader *reader,
	       const struct cli_compressed *options, uint64_t images)
{
	struct cli_progress progress;
	struct cli_pass pass = { .reader = reader, .path = options->trace, .progress = &progress,
				 .choice = options->choice, .renumbers = true,
				 .sink = lpl_compressed_cache_sink(cache) };
	int status;

	cli_progress_start(&progress, options->progress);
	status = cli_pass_run(&pass);
	if (status != CLI_DONE && status != CLI_DAMAGED)
		return status;
	warn(cache, options, images);
	return print_results(cache, options->json) ? CLI_FAILED : status;
}

static int check(const struct lpl_meta *meta, const char *trace, uint64_t *images)
{
	const struct cli_trace_kind kind = cli_trace_kind(meta);

	*images = lpl_images_of(lpl_meta_get(meta, LPL_META_IMAGES));
	if (!*images || kind.is_canonical)
		return cli_complain(CLI_USAGE, "%s: has no page images; `laplace record --images evict:K' "
				    "records them", trace);
	if (kind.page_size != LPL_IMAGE_BYTES)
		return cli_complain(CLI_USAGE, "%s: has pages of %" PRIu64 " bytes, but images are of %d",
				    trace, kind.page_size, LPL_IMAGE_BYTES);
	if (kind.behaviour || lpl_reduction_records(kind.reduction))
		return cli_complain(CLI_USAGE, "%s: was reduced by %s, and is no reference trace: images are "
				    "simulated with references", trace, kind.reduction);
	return CLI_DONE;
}

static int open_cache(struct lpl_compressed_cache **cache, const struct lpl_meta *meta, uint64_t images,
		      const struct cli_compressed *options)
{
	const struct lpl_compressed_options how = {
		.images = images, .reduction = lpl_meta_get(meta, LPL_META_REDUCTION),
		.part = lpl_choice_part(options->choice, LPL_IMAGE_BYTES), .huge = options->huge
	};
	struct lpl_report report = { 0 };

	return lpl_compressed_cache_open(cache, &how, &report) ? cli_report(&report) : CLI_DONE;
}

int cli_sim_compressed(const struct cli_compressed *options)
{
	struct lpl_compressed_cache *cache = NULL;
	struct sizes sizes = { .pages = { .count = 0 } };
	struct lpl_reader *reader;
	char *rest = options->policies, *policy;
	uint64_t images = 0;
	int status = cli_reader_open(&reader, options->trace);

	if (status)
		return status;
	lpl_reader_jobs(reader, options->jobs);
	status = check(lpl_reader_meta(reader), options->trace, &images);
	if (!status)
		status = parse_sizes(&sizes, options, images);
	if (!status)
		status = open_cache(&cache, lpl_reader_meta(reader), images, options);
	while (!status && (policy = strsep(&rest, ",")))
		status = add_codec(cache, policy, &sizes);
	if (!status)
		status = run(cache, reader, options, images);
	lpl_compressed_cache_close(cache);
	lpl_sizes_free(&sizes.pages);
	lpl_sizes_free(&sizes.pool);
	lpl_reader_close(reader);
	return status;
}
