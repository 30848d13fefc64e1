/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys of a campaign's file.  All that can be known to be wrong with a value without running
 * anything is found here: by the library, where it is the library's.
 */
#include <ctype.h>
#include <string.h>

#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/simulator.h>

#include "base/digits.h"
#include "cli/addresses.h"
#include "collect/collector.h"
#include "keys.h"

bool campaign_is_name(const char *name)
{
	return strlen(name) <= CAMPAIGN_MOST_NAME && isalnum((unsigned char)name[0]) &&
	       name[strspn(
		       name,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
		       '\0';
}

/* ---- what a value may be ---- */

static enum lpl_error check_words(const char *name, const char *value, struct lpl_report *report)
{
	struct campaign_words words = { .count = 0 };
	enum lpl_error error = campaign_words_split(&words, value, report);

	(void)name;
	campaign_words_free(&words);
	return error;
}

/* Each word of a list, by `check`; a word twice would be the same job twice. */
static enum lpl_error check_each(const char *value, struct lpl_report *report,
				 enum lpl_error (*check)(const char *word,
							 struct lpl_report *report))
{
	struct campaign_words words = { .count = 0 };
	enum lpl_error error = campaign_words_split(&words, value, report);

	for (size_t i = 0; !error && i < words.count; i++) {
		error = check(words.word[i], report);
		for (size_t j = 0; !error && j < i; j++) {
			if (strcmp(words.word[i], words.word[j]) == 0)
				error = lpl_fail(report, LPL_ERR_USAGE,
						 "'%.100s' stands there twice", words.word[i]);
		}
	}
	campaign_words_free(&words);
	return error;
}

/* Seeds go into commands, and into names of columns. */
static enum lpl_error one_seed(const char *word, struct lpl_report *report)
{
	uint64_t number;

	return lpl_parse_decimal(word, &number) ? LPL_OK :
		lpl_fail(report, LPL_ERR_USAGE, "a seed is a number, not '%.100s'", word);
}

static enum lpl_error check_seeds(const char *name, const char *value, struct lpl_report *report)
{
	(void)name;
	return check_each(value, report, one_seed);
}

/* Whether there are sections of these names is seen in the end. */
static enum lpl_error one_name(const char *word, struct lpl_report *report)
{
	return campaign_is_name(word) ?
		       LPL_OK :
		       lpl_fail(report, LPL_ERR_USAGE, "'%.100s' is no name", word);
}

static enum lpl_error check_names(const char *name, const char *value, struct lpl_report *report)
{
	(void)name;
	return strchr(value, '"') ? lpl_fail(report, LPL_ERR_USAGE, "names are not quoted") :
		check_each(value, report, one_name);
}

static enum lpl_error one_reduction(const char *word, struct lpl_report *report)
{
	char form[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];

	if (strcmp(word, "none") == 0)
		return LPL_OK;
	return lpl_reducer_describe("none", word, form, exact, report);
}

static enum lpl_error check_reductions(const char *name, const char *value,
				       struct lpl_report *report)
{
	(void)name;
	return check_each(value, report, one_reduction);
}

static enum lpl_error check_record(const char *name, const char *value, struct lpl_report *report)
{
	struct lpl_plan plan;

	(void)name;
	return strcmp(value, "none") == 0 ? LPL_OK : lpl_plan_parse(&plan, value, report);
}

/* Which policies there are, and of which sizes, the simulator knows.  `sizes`: NULL: it chooses. */
static enum lpl_error try_policy(const char *policy, const struct lpl_sizes *sizes,
				 struct lpl_report *report)
{
	struct lpl_simulator *simulator;
	enum lpl_error error = lpl_simulator_open(&simulator, NULL, report);

	if (!error)
		error = lpl_simulator_add(simulator, policy, sizes, report);
	lpl_simulator_close(simulator);
	return error;
}

/*
 * As they will be in a trace that is not there yet: of so many pages that any percentage is one
 * or more.
 */
static enum lpl_error parse_sizes(struct lpl_sizes *sizes, const char *value,
				  struct lpl_report *report)
{
	const struct lpl_sizes_base base = { UINT64_C(1) << LPL_PAGE_SHIFT, UINT64_C(1) << 32 };

	return lpl_sizes_parse_of(sizes, value, &base, report);
}

/* As many sizes as a job has: they ascend, so the first job's and the last size tell for all. */
static enum lpl_error try_sizes(const char *policy, const struct lpl_sizes *sizes, size_t each,
				struct lpl_report *report)
{
	struct lpl_sizes first = *sizes, last = *sizes;
	enum lpl_error error;

	if (sizes->all)
		return try_policy(policy, sizes, report);
	if (each < first.count)
		first.count = each;
	last.size += last.count - 1;
	last.count = 1;
	error = try_policy(policy, &first, report);
	return error ? error : try_policy(policy, &last, report);
}

enum lpl_error campaign_check_policies(const struct campaign_section *simulation,
				       struct lpl_report *report)
{
	const char *value = campaign_value(simulation, "sizes");
	const char *each = campaign_value(simulation, "sizes-per-job");
	struct campaign_words words = { .count = 0 };
	struct lpl_sizes sizes = { .count = 0 };
	uint64_t count = SIZE_MAX;
	enum lpl_error error = campaign_words_split(&words, campaign_value(simulation, "policies"),
						    report);

	if (each)
		(void)lpl_parse_decimal(each, &count);
	if (!error && value)
		error = parse_sizes(&sizes, value, report);
	if (!error && each && sizes.memory)
		error = lpl_fail(report, LPL_ERR_USAGE, "sizes '%.80s': sizes-per-job divides sizes "
				 "in pages; in bytes or %% they are known when the trace is", value);
	for (size_t i = 0; !error && i < words.count; i++)
		error = value ? try_sizes(words.word[i], &sizes, count, report) :
				try_policy(words.word[i], NULL, report);
	lpl_sizes_free(&sizes);
	campaign_words_free(&words);
	return error;
}

static enum lpl_error one_policy(const char *word, struct lpl_report *report)
{
	return strchr(word, ',') ? lpl_fail(report, LPL_ERR_USAGE,
					    "'%.100s': blanks are between policies", word) :
				   LPL_OK;
}

static enum lpl_error check_policies(const char *name, const char *value,
				     struct lpl_report *report)
{
	(void)name;
	return check_each(value, report, one_policy);
}

static enum lpl_error check_sizes(const char *name, const char *value, struct lpl_report *report)
{
	struct lpl_sizes sizes = { .count = 0 };
	enum lpl_error error = parse_sizes(&sizes, value, report);

	(void)name;
	if (!error)
		lpl_sizes_free(&sizes);
	return error;
}

static enum lpl_error check_number(const char *name, const char *value, struct lpl_report *report)
{
	uint64_t number;

	return lpl_parse_decimal(value, &number) && number > 0 ?
		       LPL_OK :
		       lpl_fail(report, LPL_ERR_USAGE, "%s is a number from 1 on, not '%.100s'",
				name, value);
}

/* As `laplace run' takes it (guest-program/run). */
static enum lpl_error check_machine(const char *name, const char *value, struct lpl_report *report)
{
	static const struct {
		const char *name;
		uint64_t least, most;
	} range[] = {
		{ "memory", 80, 65536 }, { "disk", 1, 1000000 }, { "swap", 0, 65536 },
		{ "timeout", 1, 1000000 }
	};
	uint64_t number;
	size_t i = 0;

	while (strcmp(range[i].name, name) != 0)
		i++;
	return lpl_parse_decimal(value, &number) && number >= range[i].least &&
			       number <= range[i].most ?
		       LPL_OK :
		       lpl_fail(report, LPL_ERR_USAGE, "'%.100s' is not a number from %d to %d",
				value, (int)range[i].least, (int)range[i].most);
}

/* Which references: as `laplace sim' takes it. */
static enum lpl_error check_choice(const char *name, const char *value, struct lpl_report *report)
{
	struct lpl_choice_options options = { 0 };

	return lpl_choice_set(&options, name, value, report);
}

static enum lpl_error check_only(const char *name, const char *value, struct lpl_report *report)
{
	struct lpl_choice_options options;
	char words[LPL_CHOICE_SIZE];

	(void)name;
	return lpl_choice_parse(&options, words, value, report);
}

static enum lpl_error check_addresses(const char *name, const char *value,
				      struct lpl_report *report)
{
	enum cli_addresses addresses;

	return cli_addresses_named(&addresses, value) ? LPL_OK :
		lpl_fail(report, LPL_ERR_USAGE, "%s is auto, virtual or canonical, not '%.100s'",
			 name, value);
}

static enum lpl_error check_yes(const char *name, const char *value, struct lpl_report *report)
{
	return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0 ? LPL_OK :
		lpl_fail(report, LPL_ERR_USAGE, "%s is yes or no, not '%.100s'", name, value);
}

#define FOR_US(kind, name, repeats, check) { name, NULL, check, kind, false, repeats }
#define OPTION(kind, name, repeats, check) { name, "--" name, check, kind, false, repeats }
#define FLAG(kind, name) { name, "--" name, check_yes, kind, true, false }

/* docs/campaigns.md tells them in this order. */
static const struct campaign_key keys[] = {
	FOR_US(CAMPAIGN_WHOLE, "title", false, NULL),
	FOR_US(CAMPAIGN_WHOLE, "reductions", false, check_reductions),
	FOR_US(CAMPAIGN_WHOLE, "seeds", false, check_seeds),
	FOR_US(CAMPAIGN_PROGRAM, "command", false, check_words),
	FOR_US(CAMPAIGN_PROGRAM, "record", false, check_record),
	FOR_US(CAMPAIGN_PROGRAM, "machines", false, check_names),
	FOR_US(CAMPAIGN_PROGRAM, "inputs", true, check_words),
	OPTION(CAMPAIGN_PROGRAM, "env", true, NULL),
	OPTION(CAMPAIGN_PROGRAM, "with", true, NULL),
	OPTION(CAMPAIGN_PROGRAM, "root", false, NULL),
	OPTION(CAMPAIGN_PROGRAM, "only", false, check_only),
	OPTION(CAMPAIGN_PROGRAM, "timeout", false, check_machine),
	FLAG(CAMPAIGN_PROGRAM, "init"),
	FLAG(CAMPAIGN_PROGRAM, "walks"),
	FLAG(CAMPAIGN_PROGRAM, "whole"),
	FOR_US(CAMPAIGN_TRACE, "file", false, NULL),
	FOR_US(CAMPAIGN_IMAGE, "bochsrc", false, NULL),
	FOR_US(CAMPAIGN_IMAGE, "record", false, check_record),
	FOR_US(CAMPAIGN_IMAGE, "inputs", true, check_words),
	OPTION(CAMPAIGN_IMAGE, "start", false, NULL),
	OPTION(CAMPAIGN_IMAGE, "stop", false, NULL),
	OPTION(CAMPAIGN_IMAGE, "end", false, NULL),
	OPTION(CAMPAIGN_IMAGE, "windows", false, NULL),
	OPTION(CAMPAIGN_IMAGE, "only", false, check_only),
	FLAG(CAMPAIGN_IMAGE, "walks"),
	OPTION(CAMPAIGN_MACHINE, "memory", false, check_machine),
	OPTION(CAMPAIGN_MACHINE, "cpu", false, NULL),
	OPTION(CAMPAIGN_MACHINE, "disk", false, check_machine),
	OPTION(CAMPAIGN_MACHINE, "swap", false, check_machine),
	OPTION(CAMPAIGN_MACHINE, "kernel", false, NULL),
	FOR_US(CAMPAIGN_SIMULATION, "policies", false, check_policies),
	FOR_US(CAMPAIGN_SIMULATION, "sources", false, check_names),
	FOR_US(CAMPAIGN_SIMULATION, "sizes", false, check_sizes),
	FOR_US(CAMPAIGN_SIMULATION, "sizes-per-job", false, check_number),
	FLAG(CAMPAIGN_SIMULATION, "local"),
	OPTION(CAMPAIGN_SIMULATION, "addresses", false, check_addresses),
	OPTION(CAMPAIGN_SIMULATION, "process", false, check_choice),
	FLAG(CAMPAIGN_SIMULATION, "children"),
	OPTION(CAMPAIGN_SIMULATION, "task", false, check_choice),
	FLAG(CAMPAIGN_SIMULATION, "user"),
	FLAG(CAMPAIGN_SIMULATION, "kernel"),
	OPTION(CAMPAIGN_SIMULATION, "type", false, check_choice),
	OPTION(CAMPAIGN_SIMULATION, "range", false, check_choice),
	OPTION(CAMPAIGN_SIMULATION, "kind", false, check_choice),
	OPTION(CAMPAIGN_SIMULATION, "file", false, check_choice),
	OPTION(CAMPAIGN_SIMULATION, "from", false, check_choice),
	OPTION(CAMPAIGN_SIMULATION, "to", false, check_choice)
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

const struct campaign_key *campaign_find_key(enum campaign_kind kind, const char *name)
{
	for (size_t i = 0; i < KEYS; i++) {
		if (keys[i].kind == kind && strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

void campaign_list_keys(enum campaign_kind kind, char *list, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < KEYS && used < size; i++) {
		if (keys[i].kind == kind)
			used += (size_t)snprintf(list + used, size - used, "%s%s",
						 used ? ", " : "", keys[i].name);
	}
}
