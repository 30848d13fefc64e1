/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What making a trace cost: its recording, and what is left of it after each stage. */
#include <inttypes.h>
#include <stdio.h>

#include "accounts.h"

/* What is left of a trace after a stage of its making. */
struct stage {
	const char *name, *what;
	uint64_t refs;		/* 0: not known, as in all that follows */
	uint64_t bytes;
};

enum { STAGES = 4 };

static void describe_stages(const struct accounts *accounts, struct stage stage[STAGES])
{
	const struct lpl_accounts *recording = &accounts->recording;

	stage[0] = (struct stage){ "sent", "to the collector's thread",
				   recording->sent_refs, recording->sent_bytes };
	stage[1] = (struct stage){ "reduced", "", accounts->kept, 0 };
	stage[2] = (struct stage){ "packed", "with events, before compression",
				   accounts->kept, accounts->packed };
	stage[3] = (struct stage){ "compressed", "the file", accounts->kept, accounts->bytes };
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* A reference; -1: not known. */
static double bits(uint64_t bytes, uint64_t refs)
{
	return bytes && refs ? 8 * share(bytes, refs) : -1;
}

/* ---- text ---- */

static void print_bits(uint64_t bytes, uint64_t refs)
{
	double value = bits(bytes, refs);

	if (value < 0)
		printf(" %11s", "-");
	else
		printf(" %11.3g", value);
}

static void print_number(int width, uint64_t value)
{
	if (value)
		printf(" %*" PRIu64, width, value);
	else
		printf(" %*s", width, "-");
}

static void print_recording(const struct accounts *accounts)
{
	const struct lpl_accounts *recording = &accounts->recording;
	double seconds = (double)recording->elapsed_ns / 1e9;

	if (recording->elapsed_ns)
		printf("%-16s %" PRIu64 " instructions in %.3f s, %.1f million a second, of "
		       "which the simulator waited %.3f s (%.1f%%)\n", "recording",
		       recording->instructions, seconds,
		       (double)recording->instructions / 1e6 / seconds,
		       (double)accounts->wait_ns / 1e9,
		       100 * share(accounts->wait_ns, recording->elapsed_ns));
	else if (recording->instructions)
		printf("%-16s %" PRIu64 " instructions; no host time is in a trace that is to "
		       "repeat byte for byte\n", "recording", recording->instructions);
	else if (accounts->wait_ns)	/* all that older ones have */
		printf("%-16s the simulator waited %.3f s for the reducer\n", "recording",
		       (double)accounts->wait_ns / 1e9);
}

static void print_stages(const struct accounts *accounts)
{
	struct stage stage[STAGES];

	describe_stages(accounts, stage);
	printf("%-16s %20s %16s %23s\n", "stages", "", "", "bits a reference");
	printf("  %-14s %20s %16s %11s %11s\n", "", "references", "bytes", "made", "here");
	printf("  %-14s", "made");
	print_number(20, accounts->before);
	printf(" %16s %11s %11s\n", "-", "-", "-");
	for (size_t i = 0; i < STAGES; i++) {
		printf("  %-14s", stage[i].name);
		print_number(20, stage[i].refs);
		print_number(16, stage[i].bytes);
		print_bits(stage[i].bytes, accounts->before);
		print_bits(stage[i].bytes, stage[i].refs);
		printf("%s%s\n", *stage[i].what ? "  " : "", stage[i].what);
	}
}

void accounts_print(const struct accounts *accounts)
{
	print_recording(accounts);
	print_stages(accounts);
}

/* ---- JSON ---- */

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* null: not known */
static json_t *known(uint64_t value)
{
	return value ? number(value) : json_null();
}

static json_t *bits_json(uint64_t bytes, uint64_t refs)
{
	double value = bits(bytes, refs);

	return value < 0 ? json_null() : json_real(value);
}

json_t *accounts_json(const struct accounts *accounts)
{
	const struct lpl_accounts *recording = &accounts->recording;
	json_t *stages = json_object();
	struct stage stage[STAGES];

	describe_stages(accounts, stage);
	for (size_t i = 0; i < STAGES; i++)
		json_object_set_new(stages, stage[i].name,
			json_pack("{s:o, s:o, s:o, s:o}", "references", known(stage[i].refs),
				  "bytes", known(stage[i].bytes),
				  "bits_per_reference_made",
				  bits_json(stage[i].bytes, accounts->before),
				  "bits_per_reference",
				  bits_json(stage[i].bytes, stage[i].refs)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}",
		"instructions", known(recording->instructions),
		"elapsed_ns", known(recording->elapsed_ns),
		"wait_ns", recording->elapsed_ns ? number(accounts->wait_ns) :
						   known(accounts->wait_ns),
		"instructions_per_second", recording->elapsed_ns ?
			json_real(1e9 * share(recording->instructions, recording->elapsed_ns)) :
			json_null(),
		"stages", stages);
}
