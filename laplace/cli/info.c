/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace info: what is in a trace.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include <jansson.h>

#include <laplace/counts.h>
#include <laplace/image.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "accounts.h"
#include "card.h"
#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "say.h"

struct options {
	struct lpl_choice_options choice;
	bool json, card;
	enum cli_when progress;
	const char *trace;
};

/* All that is known about one trace. */
struct info {
	const char *path;
	const char *chosen;		/* which references of it; "": all */
	const struct lpl_meta *meta;
	struct lpl_totals totals;	/* before reduction */
	uint64_t before;		/* their number; 0: not known */
	bool types_before;		/* were they counted by type? */
	const struct lpl_counts *tally;
	struct lpl_image_counts images;
	double second;			/* in cycles; 0: not known */
	uint64_t origin;		/* the cycle at which the recording began */
	uint64_t bytes, chunks;
	uint64_t segments;		/* 0: it is one file */
	struct accounts accounts;
	bool complete;
	const char *trouble;		/* why it is not; NULL */
	const struct cli_gaps *gaps;	/* of what it was made from */
	bool damaged;
	struct lpl_packing packing;	/* chunks 0: there is none */
};

static const struct cli_option option_table[] = {
	{ "card", CLI_FLAG, CLI_INTO(struct options, card),
	  .help = "Print what the appendix of a paper needs: what ran, on which machine, what "
	  "made it, hashes, what it is exact for"},
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(choice, struct options, choice),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Show what TRACE is and what is in it."
	"\v"
	"An incomplete trace (its recording was killed) is no failure: that is said, and "
	"what is there is shown.  A damaged one is shown up to the damage, with status 3.",
	option_table, 0
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* ---- text ---- */

/* A value may hold any byte but newline: no terminal is to be driven by it. */
static void print_meta(const struct lpl_meta *meta)
{
	const char *key, *value;
	char text[1024];

	for (size_t i = 0; i < lpl_meta_count(meta); i++) {
		size_t length;
		const char *end;

		lpl_meta_at(meta, i, &key, &value);
		/* a machine description is long: its first line will do, --json has it all */
		length = strnlen(value, 200);
		end = strcmp(key, LPL_META_MACHINE) == 0 ? strstr(value, "\\n") : NULL;
		if (end && (size_t)(end - value) < length)
			length = (size_t)(end - value);
		lpl_text_escape(text, sizeof(text), value, length);
		printf("%-16s %s%s\n", key, text, value[length] ? " ..." : "");
	}
}

static void print_event_count(void *context, const char *name, uint64_t count)
{
	(void)context;
	printf("  %-14s %" PRIu64 "\n", name, count);
}

static void print_references(const struct info *info)
{
	static const char *const type_name[LPL_TYPES] = {
		"reads", "writes", "fetches", "walk reads", "walk writes"
	};
	const struct lpl_counts *tally = info->tally;
	char percent[CLI_PERCENT_SIZE];

	printf("%-16s %20s %20s\n", "references", "kept", "before reduction");
	for (int i = 0; i < LPL_TYPES; i++) {
		if (!tally->refs[i] && !info->totals.refs[i])
			continue;
		printf("  %-14s %20" PRIu64, type_name[i], tally->refs[i]);
		if (info->types_before)
			printf(" %20" PRIu64 "\n", info->totals.refs[i]);
		else
			puts("");
	}
	printf("  %-14s %20" PRIu64, "all", tally->all_refs);
	if (info->before)
		printf(" %20" PRIu64 "   %s kept", info->before,
		       cli_percent(percent, 4, tally->all_refs, info->before));
	printf("\n  %-14s %20" PRIu64, "in user mode", tally->user_refs);
	if (info->totals.user_refs)
		printf(" %20" PRIu64, info->totals.user_refs);
	puts("");
	if (info->totals.tracer_refs)
		printf("  %-14s %20s %20" PRIu64 "   left out\n", "tracer's own", "",
		       info->totals.tracer_refs);
}

static void print_images(const struct info *info)
{
	const struct lpl_image_counts *images = &info->images;

	if (!images->images)
		return;
	printf("%-16s %" PRIu64 ": %" PRIu64 " of zeros, %" PRIu64 " of another word, %" PRIu64 " stored in %"
	       PRIu64 " contents", "page images", images->images, images->zero, images->filled,
	       images->stored, images->contents);
	if (images->lost)
		printf(" (%" PRIu64 " more are lost)", images->lost);
	printf(", %" PRIu64 " unknown\n", images->unknown);
}

/* A clock in seconds, since `origin`. */
static double seconds(const struct info *info, const struct lpl_ref *ref, uint64_t origin)
{
	return (double)(ref->cycle - origin) / info->second;
}

static void print_clocks(const struct info *info)
{
	const struct lpl_counts *tally = info->tally;
	const struct lpl_ref *first = &tally->first, *last = &tally->last;

	if (!tally->all_refs)
		return;
	printf("%-16s %20s %20s\n", "clocks", "first", "last");
	printf("  %-14s %20" PRIu64 " %20" PRIu64 "\n", "reference", first->ref, last->ref);
	printf("  %-14s %20" PRIu64 " %20" PRIu64 "\n", "instruction",
	       first->instr, last->instr);
	printf("  %-14s %20" PRIu64 " %20" PRIu64 "\n", "cycle", first->cycle, last->cycle);
	if (info->second <= 0)
		return;
	printf("  %-14s %20.6f %20.6f   since the recording began\n", "seconds",
	       seconds(info, first, info->origin), seconds(info, last, info->origin));
	printf("  %-14s %20.6f %20.6f   since the machine was switched on\n", "uptime",
	       seconds(info, first, 0), seconds(info, last, 0));
}

/* More are printed by --json alone. */
#define WINDOWS_MAX 20

/* That of one that was recorded as a whole is what all of the rest says. */
static void print_windows(const struct info *info)
{
	const struct lpl_counts *tally = info->tally;
	uint64_t instructions = 0;

	if (tally->windows < 2 && !lpl_meta_get(info->meta, LPL_META_WINDOWS))
		return;
	for (size_t i = 0; i < tally->windows; i++)
		instructions += tally->window[i].last_instr - tally->window[i].first_instr;
	printf("%-16s %zu, of %" PRIu64 " instructions in all\n", "recorded in", tally->windows,
	       instructions);
	for (size_t i = 0; i < tally->windows && i < WINDOWS_MAX; i++) {
		const struct lpl_recorded_window *w = &tally->window[i];

		if (i == 0)
			printf("  %6s %20s %16s %16s %14s  %s\n", "window", "from instruction",
			       "instructions", "references", "kept", "task");
		printf("  %6zu %20" PRIu64 " %16" PRIu64 " %16" PRIu64 " %14" PRIu64 "  ", i + 1,
		       w->first_instr, w->last_instr - w->first_instr,
		       w->last_ref - w->first_ref, w->kept);
		if (w->tasks_known)
			printf("%" PRIu32 "\n", w->tid);
		else
			puts("not known: the guest's kernel had reported nothing");
	}
	if (tally->windows > WINDOWS_MAX)
		printf("  and %zu more (--json has all)\n", tally->windows - WINDOWS_MAX);
}

static void print_size(const struct info *info)
{
	const struct lpl_counts *tally = info->tally;

	printf("%-16s %" PRIu64 " in %" PRIu64 " chunks", "bytes", info->bytes, info->chunks);
	if (info->segments)
		printf(" of %" PRIu64 " segments", info->segments);
	if (tally->all_refs && !*info->chosen)
		printf("; %.3g bits per reference kept",
		       8 * share(info->bytes, tally->all_refs));
	if (info->before && !*info->chosen)
		printf(", %.3g per reference made", 8 * share(info->bytes, info->before));
	puts("");
}

/* Where the bytes of packed blocks are; the heading is older than their name. */
static void print_packing(const struct info *info)
{
	const struct lpl_packing *packing = &info->packing;

	if (packing->chunks == 0)
		return;
	printf("%-16s %20s %20s\n", "packed runs", "bytes", "bits per reference");
	for (unsigned int i = 0; lpl_packing_part(i); i++)
		printf("  %-14s %20" PRIu64 " %20.4f\n", lpl_packing_part(i), packing->part[i],
		       8 * share(packing->part[i], packing->refs));
	printf("  %-14s %20" PRIu64 " %20.4f\n", "in the file", packing->stored,
	       8 * share(packing->stored, packing->refs));
}

static void print_info(const struct info *info)
{
	char path[4 * PATH_MAX], gaps[CLI_GAPS_SIZE];	/* a byte may become four */

	lpl_text_escape(path, sizeof(path), info->path, strlen(info->path));
	printf("%-16s %s\n", "file", path);
	print_meta(info->meta);
	if (*info->chosen)
		printf("%-16s %s\n", "chosen", lpl_text_escape(path, sizeof(path), info->chosen,
							       strlen(info->chosen)));
	print_references(info);
	printf("%-16s %" PRIu64 "\n", "events", info->tally->events.all);
	lpl_event_counts_each(&info->tally->events, print_event_count, NULL);
	print_images(info);
	print_clocks(info);
	print_windows(info);
	printf("%-16s %zu\n", "address spaces", info->tally->spaces);
	print_size(info);
	print_packing(info);
	if (!*info->chosen)	/* what they cost is not counted separately */
		accounts_print(&info->accounts);
	if (info->gaps->count)
		printf("%-16s made from a damaged or incomplete trace: in %s\n", "missing",
		       cli_gaps_text(gaps, info->gaps));
	if (info->complete)
		printf("%-16s complete\n", "state");
	else
		printf("%-16s %s: %s\n", "state", info->damaged ? "damaged" : "incomplete",
		       info->trouble);
}

/* ---- JSON ---- */

static json_t *references_json(const struct info *info)
{
	json_t *types = json_object();
	json_t *object = json_object();

	for (int i = 0; i < LPL_TYPES; i++) {
		const char letter[2] = { lpl_type_letter((enum lpl_type)i), 0 };
		json_t *type = json_object();

		json_object_set_new(type, "kept", cli_json(info->tally->refs[i]));
		if (info->types_before)
			json_object_set_new(type, "before", cli_json(info->totals.refs[i]));
		json_object_set_new(types, letter, type);
	}
	json_object_set_new(object, "kept", cli_json(info->tally->all_refs));
	if (info->before) {
		json_object_set_new(object, "before", cli_json(info->before));
		json_object_set_new(object, "kept_share",
				    json_real(share(info->tally->all_refs,
						    info->before)));
	}
	json_object_set_new(object, "user_kept", cli_json(info->tally->user_refs));
	if (info->totals.user_refs)
		json_object_set_new(object, "user_before", cli_json(info->totals.user_refs));
	json_object_set_new(object, "tracer", cli_json(info->totals.tracer_refs));
	json_object_set_new(object, "by_type", types);
	return object;
}

static json_t *clocks_json(const struct info *info)
{
	const struct lpl_counts *tally = info->tally;
	const struct lpl_ref *first = &tally->first, *last = &tally->last;
	json_t *clocks = json_pack("{s:[o,o], s:[o,o], s:[o,o]}",
			 "reference", cli_json(tally->first.ref), cli_json(tally->last.ref),
			 "instruction", cli_json(tally->first.instr), cli_json(tally->last.instr),
			 "cycle", cli_json(tally->first.cycle), cli_json(tally->last.cycle));

	if (info->second > 0)
		json_object_update_new(clocks, json_pack(
			"{s:[f,f], s:[f,f]}",
			"seconds", seconds(info, first, info->origin),
			seconds(info, last, info->origin),
			"uptime", seconds(info, first, 0), seconds(info, last, 0)));
	return clocks;
}

static json_t *packing_json(const struct lpl_packing *packing)
{
	json_t *object = json_object();
	json_t *parts = json_object();

	for (unsigned int i = 0; lpl_packing_part(i); i++)
		json_object_set_new(parts, lpl_packing_part(i),
				    json_pack("{s:o, s:f}", "bytes", cli_json(packing->part[i]),
					      "bits_per_reference",
					      8 * share(packing->part[i], packing->refs)));
	json_object_set_new(object, "chunks", cli_json(packing->chunks));
	json_object_set_new(object, "references", cli_json(packing->refs));
	json_object_set_new(object, "bytes", cli_json(packing->stored));
	json_object_set_new(object, "bytes_before_compression", cli_json(packing->plain));
	json_object_set_new(object, "parts", parts);
	return object;
}

static json_t *windows_json(const struct lpl_counts *tally)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tally->windows; i++) {
		const struct lpl_recorded_window *w = &tally->window[i];
		json_t *window = json_pack("{s:[o,o], s:o, s:o}",
					   "instruction", cli_json(w->first_instr),
					   cli_json(w->last_instr),
					   "references", cli_json(w->last_ref - w->first_ref),
					   "kept", cli_json(w->kept));

		json_object_set_new(window, "task", w->tasks_known ? cli_json(w->tid) : json_null());
		json_array_append_new(list, window);
	}
	return list;
}

static json_t *images_json(const struct lpl_image_counts *images)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "images", cli_json(images->images),
			 "zero", cli_json(images->zero), "filled", cli_json(images->filled),
			 "stored", cli_json(images->stored), "contents", cli_json(images->contents),
			 "lost", cli_json(images->lost), "unknown", cli_json(images->unknown));
}

static json_t *info_json(const struct info *info)
{
	struct lpl_exactness exactness;
	const struct lpl_counts *tally = info->tally;
	json_t *object = json_object();

	(void)lpl_reduction_exactness(lpl_meta_get(info->meta, LPL_META_REDUCTION), &exactness);
	json_object_set_new(object, "file", cli_json_text(info->path));
	json_object_set_new(object, "state",
			    json_string(info->complete ? "complete" :
					info->damaged ? "damaged" : "incomplete"));
	if (info->trouble)
		json_object_set_new(object, "trouble", cli_json_text(info->trouble));
	json_object_set_new(object, "meta", cli_json_meta(info->meta));
	if (*info->chosen)
		json_object_set_new(object, "chosen", cli_json_text(info->chosen));
	/* 0: not exact at any size, or not known */
	json_object_set_new(object, "exact_from_pages", cli_json(exactness.lru));
	json_object_set_new(object, "references", references_json(info));
	json_object_set_new(object, "events", cli_json(tally->events.all));
	json_object_set_new(object, "events_by_name", cli_json_events(&tally->events));
	if (info->images.images)
		json_object_set_new(object, "page_images", images_json(&info->images));
	if (tally->all_refs)
		json_object_set_new(object, "clocks", clocks_json(info));
	json_object_set_new(object, "windows", windows_json(tally));
	json_object_set_new(object, "spaces", cli_json(tally->spaces));
	json_object_set_new(object, "missing",
			    json_pack("{s:o, s:o, s:o, s:b}", "places", cli_json(info->gaps->count),
				      "references", cli_json(info->gaps->refs),
				      "events", cli_json(info->gaps->events),
				      "more", info->gaps->more));
	json_object_set_new(object, "bytes", cli_json(info->bytes));
	json_object_set_new(object, "chunks", cli_json(info->chunks));
	if (info->segments)
		json_object_set_new(object, "segments", cli_json(info->segments));
	if (tally->all_refs && !*info->chosen)
		json_object_set_new(object, "bits_per_reference",
				    json_real(8 * share(info->bytes, tally->all_refs)));
	if (info->packing.chunks)
		json_object_set_new(object, "packed_runs", packing_json(&info->packing));
	json_object_set_new(object, "wait_ns", cli_json(info->totals.wait_ns));
	if (!*info->chosen)
		json_object_set_new(object, "accounts", accounts_json(&info->accounts));
	return object;
}

/* ---- the whole ---- */

/* Counts of all, and of images. */
struct tally {
	struct lpl_counts counts;
	enum lpl_error (*count_event)(struct lpl_sink *sink, const struct lpl_event *event,
				      struct lpl_report *report);
	struct lpl_image_reader reader;
	struct lpl_image_counts images;
};

static enum lpl_error count_image(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct tally *tally = (struct tally *)sink;
	struct lpl_image image;

	if (lpl_image_take(&tally->reader, event, &image))
		lpl_image_count(&tally->images, &image);
	return tally->count_event(sink, event, report);
}

static void init_tally(struct tally *tally)
{
	lpl_counts_init(&tally->counts);
	tally->count_event = tally->counts.sink.event;
	tally->counts.sink.event = count_image;
	lpl_image_reader_init(&tally->reader);
	tally->images = (struct lpl_image_counts){ 0 };
}

static enum lpl_error count_folded(struct lpl_sink *sink, const struct lpl_ref refs[3],
				   uint64_t count, struct lpl_report *report)
{
	return lpl_counts_fold((struct lpl_counts *)sink, refs, count, report);
}

static int print_card(const struct info *info, bool json)
{
	char gaps[CLI_GAPS_SIZE], state[512];
	int status;
	struct card card = {
		.path = info->path, .meta = info->meta,
		.missing = info->gaps->count ? cli_gaps_text(gaps, info->gaps) : NULL,
		.bytes = info->bytes, .segments = info->segments,
		.events = info->tally->events.all, .kept = info->tally->all_refs,
		.before = info->before, .tracer = info->totals.tracer_refs,
		.first_instruction = info->tally->first.instr,
		.last_instruction = info->tally->last.instr,
	};

	snprintf(state, sizeof(state), "%s%s%s",
		 info->complete ? "complete" : info->damaged ? "damaged" : "incomplete",
		 info->trouble ? ": " : "", info->trouble ? info->trouble : "");
	card.state = state;
	json_t *object = card_json(&card, &status);
	if (json)
		return cli_print_json(stdout, object) ? CLI_FAILED : status;
	card_print(object);
	return status;
}

int cmd_info(int argc, char **argv)
{
	struct options options = { 0 };
	struct lpl_report trouble = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	struct lpl_reader *reader;
	struct tally tally;
	struct lpl_span span;
	struct info info;
	char chosen[LPL_CHOICE_SIZE];
	int status;

	cli_parse(&usage, argc, argv, &options);
	if (lpl_choice_say(chosen, &options.choice, &trouble))
		return cli_report(&trouble);
	if (options.card && *chosen)
		return cli_complain(CLI_USAGE, "--card is of the whole trace: choose none of its "
				    "references");
	status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	init_tally(&tally);
	cli_progress_start(&progress, options.progress);
	pass = (struct cli_pass){ .reader = reader, .path = options.trace,
				  .sink = &tally.counts.sink, .folded = count_folded,
				  .progress = &progress,
				  .choice = &options.choice, .trouble = &trouble };
	status = cli_pass_run(&pass);
	if (status == CLI_DONE || status == CLI_DAMAGED) {
		info = (struct info){
			.path = options.trace,
			.meta = lpl_reader_meta(reader),
			.chosen = chosen,
			.tally = &tally.counts,
			.images = tally.images,
			.gaps = &pass.recorded_gaps,
			.bytes = lpl_reader_bytes(reader),
			.chunks = pass.chunks,
			.segments = lpl_reader_segments(reader),
			.complete = status == CLI_DONE,
			.trouble = status == CLI_DONE ? NULL : trouble.text,
			.damaged = status != CLI_DONE && trouble.error != LPL_ERR_TRUNCATED,
		};
		if (cli_pass_totals(&pass, &info.totals))
			info.before = cli_refs_before(&info.totals);
		info.second = (double)lpl_cycles_a_second(info.meta);
		info.origin = lpl_reader_span(reader, &span) ? span.first_cycle : 0;
		(void)lpl_reader_packing(reader, &info.packing);
		for (int i = 0; i < LPL_TYPES; i++)
			info.types_before |= info.totals.refs[i] != 0;
		if (lpl_reader_size(reader))
			info.bytes = lpl_reader_size(reader);
		info.accounts = (struct accounts){
			.recording = info.totals.recording, .wait_ns = info.totals.wait_ns,
			.before = info.before, .kept = tally.counts.all_refs, .packed = pass.packed,
			.bytes = info.bytes,
		};
		if (options.card) {
			if (print_card(&info, options.json))
				status = CLI_FAILED;
		} else if (options.json) {
			if (cli_print_json(stdout, info_json(&info)))
				status = CLI_FAILED;
		} else {
			print_info(&info);
		}
		if (status == CLI_DAMAGED && !info.damaged)
			status = CLI_DONE;
		else if (status == CLI_DAMAGED)
			cli_report(&trouble);
	}
	lpl_counts_free(&tally.counts);
	lpl_reader_close(reader);
	return status;
}
