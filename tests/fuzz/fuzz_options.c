/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing what people write: reductions, windows of time, sizes, policies, caches, TLBs, kinds of
 * pages, choices, meta data, conditions, requests at the control socket.  The first byte chooses which; the rest is a
 * text, of two parts where a newline is.
 *
 * What is accepted has a canonical form, which is accepted, too, and is its own; what is not
 * accepted is refused with a reason.
 */
#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "collect/collector.h"
#include "select/when.h"
#include "collect/control_request.h"
#include "collect/windows.h"
#include "container/meta.h"
#include "sim/cache.h"
#include "sim/tlb.h"

#include "../cli/shown.h"
#include "fuzz.h"

static void reduction(char *before, char *spec)
{
	char form[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	char again[LPL_SPEC_SIZE], exact_again[LPL_SPEC_SIZE];
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_exactness exactness;

	(void)lpl_reduction_exactness(before, &exactness);
	(void)lpl_reduction_fenced(before);
	(void)lpl_reduction_page_size(before);
	(void)lpl_reduction_behaviour(before);
	if (lpl_reducer_describe(before, spec, form, exact, &report)) {
		require_reported(&report);
		return;
	}
	require(strlen(form) < LPL_SPEC_SIZE && strlen(exact) < LPL_SPEC_SIZE);
	/* what a header says is known to its readers */
	require(lpl_reduction_exactness(form, &exactness) || strcmp(exact, "unknown") == 0);
	if (strcmp(before, "none") == 0) {
		require(!lpl_reducer_describe("none", form, again, exact_again, &report));
		require(strcmp(form, again) == 0 && strcmp(exact, exact_again) == 0);
	}
}

static void plan(char *spec)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_plan plan;

	if (lpl_plan_parse(&plan, spec, &report))
		require_reported(&report);
	else
		require(plan.window <= LPL_PLAN_WINDOW_MAX && plan.reduction[0]);
}

static void windows(char *spec)
{
	struct lpl_report report = { .error = LPL_OK };
	struct kernel_trace_record record = { .tag = KTR_MARK };
	struct lpl_windows *windows, *again;
	uint64_t instr = 0, next;

	if (lpl_windows_open(&windows, spec, &report)) {
		require_reported(&report);
		return;
	}
	require(!lpl_windows_open(&again, lpl_windows_spec(windows), &report));
	require(strcmp(lpl_windows_spec(windows), lpl_windows_spec(again)) == 0);
	for (int i = 0; i < 8; i++) {
		(void)lpl_windows_at(windows, instr, &next);
		require(next > instr);
		record.text_length = (uint32_t)i;
		memcpy(record.text, "a\0b\nxyz", 7);
		require(!lpl_windows_take(windows, &record, instr, &report));
		if (next == LPL_WINDOWS_NEVER)
			break;
		instr = next;
	}
	lpl_windows_close(windows);
	lpl_windows_close(again);
}

static void sizes(char *spec)
{
	const struct lpl_sizes_base bases[] = { { 0, 0 }, { 4096, 12345 }, { 1, UINT64_MAX } };

	for (size_t of = 0; of < sizeof(bases) / sizeof(bases[0]); of++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_sizes sizes;

		if (lpl_sizes_parse_of(&sizes, spec, &bases[of], &report)) {
			require_reported(&report);
			continue;
		}
		require(sizes.all || (sizes.count > 0 && sizes.size[0] > 0));
		for (size_t i = 1; !sizes.all && i < sizes.count; i++)
			require(sizes.size[i] > sizes.size[i - 1]);
		lpl_sizes_free(&sizes);
	}
}

/* Parsed alone: memory of many lines takes what it takes. */
static void cache(char *before, char *spec)
{
	const struct lpl_cache_options options = { .reduction = before };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_cache parsed = { .by_type = false };

	if (lpl_cache_parse(&parsed, spec, &report) ||
	    lpl_cache_check(&parsed, spec, &options, &report)) {
		require_reported(&report);
		return;
	}
	for (int i = 0; i < LPL_CACHE_STORES; i++) {
		const struct lpl_cache_store *store = &parsed.store[i];

		require(store->sets * store->level.ways * store->level.line == store->level.size);
	}
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		require(parsed.first[i] && parsed.first[i]->level.ways);
}

static void tlb(const char *spec)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_tlb parsed = { .tags = false };

	if (lpl_tlb_parse(&parsed, spec, &report)) {
		require_reported(&report);
		return;
	}
	for (int i = 0; i < LPL_TLB_STORES; i++) {
		const struct lpl_tlb_store *store = &parsed.store[i];

		for (size_t j = 0; j < store->arrays; j++)
			require(store->array[j].sets * store->array[j].ways == store->array[j].entries);
		for (int j = 0; j < LPL_TLB_PAGES && store->arrays && i < LPL_TLB_PDE; j++)
			require(store->of[j] && (store->of[j]->sizes >> store->as[j] & 1));
	}
	for (int i = 0; i < LPL_CACHE_ACCESSES; i++)
		require(parsed.first[i] && parsed.first[i]->arrays);
	require(parsed.tables >= 2 && parsed.tables <= 5);
}

static void policy(char *name, char *spec)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_simulator *simulator;
	struct lpl_sizes sizes;

	/* memories of many pages take what they take */
	if (strlen(spec) > 3 || lpl_sizes_parse(&sizes, spec, &report))
		return;
	require(!lpl_simulator_open(&simulator, NULL, &report));
	if (lpl_simulator_add(simulator, name, &sizes, &report))
		require_reported(&report);
	lpl_simulator_close(simulator);
	lpl_sizes_free(&sizes);
}

static enum lpl_error nothing(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static void kinds(char *list)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_sink end = { .finish = nothing };
	struct lpl_kinds *kinds;

	if (lpl_kinds_open(&kinds, list, NULL, &end, &report))
		require_reported(&report);
	else
		lpl_kinds_close(kinds);
}

/* As in a trace's header: what is read can be written, and is read again. */
static void meta(const char *text)
{
	struct lpl_meta *meta = lpl_meta_new(), *again = lpl_meta_new();

	require(meta && again);
	if (lpl_meta_decode(meta, text, strlen(text)) == LPL_OK) {
		size_t size = lpl_meta_size(meta);
		char *out = malloc(size + 1);

		require(out != NULL);
		lpl_meta_encode(meta, out);
		require(lpl_meta_decode(again, out, size) == LPL_OK);
		require(lpl_meta_count(meta) == lpl_meta_count(again));
		for (size_t i = 0; i < lpl_meta_count(meta); i++) {
			const char *key, *value, *other_key, *other_value;

			lpl_meta_at(meta, i, &key, &value);
			lpl_meta_at(again, i, &other_key, &other_value);
			require(strcmp(key, other_key) == 0 && strcmp(value, other_value) == 0);
		}
		free(out);
	}
	lpl_meta_free(meta);
	lpl_meta_free(again);
}

/* A specification has a whole form, which stands for the same. */
static void conditions(const char *spec, enum lpl_when_use use)
{
	struct kernel_trace_record record = { .tag = KTR_MARK };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_conditions c, again;
	char said[LPL_WHEN_SIZE];

	if (lpl_conditions_parse(&c, spec, use, &report)) {
		require_reported(&report);
		require(c.spec[0] == '\0' && !lpl_conditions_need_kernel(&c));
		return;
	}
	require(lpl_conditions_parse(&again, c.spec, use, &report) == LPL_OK);
	require(strcmp(c.spec, again.spec) == 0);
	for (int i = 0; i < LPL_MOMENT_KINDS; i++) {
		const enum lpl_moment_kind which = (enum lpl_moment_kind)i;

		require(c.number[i] == again.number[i] && strcmp(c.text[i], again.text[i]) == 0);
		require(strlen(lpl_condition_say(&c, which, said)) < LPL_WHEN_SIZE);
		require(lpl_condition_holds(&c, which, UINT64_MAX) ==
			(c.number[i] != LPL_NEVER));
		require(!lpl_condition_holds(&c, which, 0));
	}
	record.text_length = (uint32_t)strnlen(c.text[LPL_MOMENT_MARK], KTR_TEXT);
	memcpy(record.text, c.text[LPL_MOMENT_MARK], record.text_length);
	require(lpl_conditions_take(&c, &record) ==
		(c.text[LPL_MOMENT_MARK][0] != '\0' && strlen(c.text[LPL_MOMENT_MARK]) <= KTR_TEXT ?
			 LPL_MOMENT_MARK : LPL_MOMENT_NONE));
}

static void segment_size(const char *spec)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_segment_size size;

	if (lpl_segment_size_parse(&size, spec, &report))
		require_reported(&report);
	else
		require(size.bytes >= LPL_SEGMENT_LEAST || size.instructions >= LPL_SEGMENT_LEAST);
}

/* What is chosen can be said, and is chosen again by that. */
static void choice(const char *spec)
{
	char words[LPL_CHOICE_SIZE], said[LPL_CHOICE_SIZE], again[LPL_CHOICE_SIZE];
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_sink end = { .finish = nothing };
	struct lpl_choice_options options;
	struct lpl_choice *choice;

	if (lpl_choice_parse(&options, words, spec, &report)) {
		require_reported(&report);
		return;
	}
	if (lpl_choice_open(&choice, &options, &end, &report))
		require_reported(&report);
	lpl_choice_close(choice);
	/* whole numbers are longer than those with units */
	if (lpl_choice_say(said, &options, &report))
		return;
	require(lpl_choice_parse(&options, words, said, &report) == LPL_OK);
	require(lpl_choice_say(again, &options, &report) == LPL_OK);
	require(strcmp(said, again) == 0);
}

/* The reply to any line is one line of JSON. */
static void request(const uint8_t *data, size_t size)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_control_request asked;
	uint8_t *line = copy_of(data, size);
	char *reply;

	if (lpl_control_parse(&asked, (const char *)line, size, &report)) {
		require_reported(&report);
		reply = lpl_control_reply_failed(report.text);
	} else {
		require(asked.what < LPL_REQUEST_COUNT);
		require((asked.text[0] != '\0') == (asked.what == LPL_REQUEST_mark));
		reply = asked.what == LPL_REQUEST_help ? lpl_control_reply_help() :
			lpl_control_reply_done(asked.what, "{\"a\":1}\n");
	}
	require(reply && strchr(reply, '\n') == reply + strlen(reply) - 1);
	require(shown_json(reply, strlen(reply)) == NULL);
	free(reply);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { REDUCTION, REDUCTION_AGAIN, PLAN, WINDOWS, SIZES, POLICY, KINDS, META,
	       TO_START, TO_STOP, TO_END, SEGMENT_SIZE, REQUEST, CHOICE, CACHE, TLB, PARSERS };
	char *text, *rest, *second;

	if (size == 0)
		return 0;
	text = string_of(data + 1, size - 1);
	rest = string_of(data + 1, size - 1);
	second = rest;
	(void)strsep(&second, "\n");
	switch (data[0] % PARSERS) {
	case REDUCTION:
		reduction((char[]){ "none" }, text);
		break;
	case REDUCTION_AGAIN:
		if (second)
			reduction(rest, second);
		break;
	case PLAN:
		plan(text);
		break;
	case WINDOWS:
		windows(text);
		break;
	case SIZES:
		sizes(text);
		break;
	case POLICY:
		if (second)
			policy(rest, second);
		break;
	case CACHE:
		if (second)
			cache(rest, second);
		break;
	case TLB:
		tlb(text);
		break;
	case KINDS:
		kinds(text);
		break;
	case META:
		meta(text);
		break;
	case TO_START:
		conditions(text, LPL_TO_START);
		break;
	case TO_STOP:
		conditions(text, LPL_TO_STOP);
		break;
	case TO_END:
		conditions(text, LPL_TO_END);
		break;
	case SEGMENT_SIZE:
		segment_size(text);
		break;
	case CHOICE:
		choice(text);
		break;
	default:
		request(data + 1, size - 1);
		break;
	}
	free(text);
	free(rest);
	return 0;
}
