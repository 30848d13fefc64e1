/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace info --card: one object, which is printed as JSON or as text.
 */
#include "card.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

#include "hash.h"
#include "recipe.h"
#include "say.h"
#include "trace_kind.h"

static void add(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, cli_json_text(text));
}

static void add_number(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

/* One of several: a list. */
static void append(json_t *object, const char *key, json_t *value)
{
	json_t *list = json_object_get(object, key);

	if (!list) {
		list = json_array();
		json_object_set_new(object, key, list);
	}
	json_array_append_new(list, value);
}

/* ---- the file ---- */

static json_t *trace_section(const struct card *card, int *status)
{
	json_t *section = json_object();
	char hash[HASH_SIZE] = "";

	add(section, "file", card->path);
	add_number(section, "bytes", card->bytes);
	if (card->segments)
		add_number(section, "segments", card->segments);
	*status = strcmp(card->path, "-") == 0 ? CLI_DONE : hash_file(hash, card->path);
	add(section, card->segments ? "XXH3-128 of the manifest" : "XXH3-128", hash);
	add(section, "state", card->state);
	add(section, "missing", card->missing);
	if (card->before)
		add_number(section, "references made", card->before);
	add_number(section, "references kept", card->kept);
	if (card->tracer)
		add_number(section, "tracer's own references, left out", card->tracer);
	add_number(section, "kernel events", card->events);
	if (card->kept) {
		add_number(section, "first instruction", card->first_instruction);
		add_number(section, "last instruction", card->last_instruction);
	}
	return section;
}

/* ---- what it is exact for ---- */

static void add_exact(json_t *list, const char *what, const char *unit, uint64_t from)
{
	char text[160];

	if (from == 0)
		return;
	snprintf(text, sizeof(text), "%s: the same as before reduction, from %" PRIu64 " %s on", what,
		 from, unit);
	json_array_append_new(list, json_string(text));
}

/* What schedule says of such a trace, too. */
static void add_any_order(json_t *list, uint64_t pages)
{
	char text[160];

	snprintf(text, sizeof(text), "in another order of threads: LRU queues of %" PRIu64 " pages for processes "
		 "of one thread that share no page, and nothing else", pages);
	json_array_append_new(list, json_string(text));
}

static void add_whole(json_t *list, const struct card *card)
{
	const bool chosen = lpl_meta_get(card->meta, LPL_META_ONLY) != NULL;
	char text[160];

	snprintf(text, sizeof(text), "every reference %sis there, in its order",
		 chosen ? "that was chosen " : "");
	if (!chosen && card->before > card->kept)
		snprintf(text, sizeof(text), "%" PRIu64 " of the references made are not there, though "
			 "nothing reduced them", card->before - card->kept);
	json_array_append_new(list, json_string(text));
}

/* A reduction's steps are joined by +; of `only', what was chosen later stands after a semicolon. */
static const char *when_chosen(const char *reduction, const char *only)
{
	const char *at = reduction ? strstr(reduction, "+chosen") : NULL;

	if (!at || (at[7] != '\0' && at[7] != '+'))
		return "chosen before it";
	return only && strchr(only, ';') ? "chosen, some after it" : "chosen after it";
}

static json_t *exact_section(const struct card *card)
{
	const struct cli_trace_kind kind = cli_trace_kind(card->meta);
	const char *reduction = kind.reduction;
	const char *only = lpl_meta_get(card->meta, LPL_META_ONLY);
	json_t *section = json_object();
	json_t *list = json_array();
	struct lpl_exactness exactness;
	bool known = lpl_reduction_exactness(reduction, &exactness);

	add(section, "reduction", reduction ? reduction : "none");
	add(section, when_chosen(reduction, only), only);
	add(section, "scheduled again on", lpl_meta_get(card->meta, LPL_META_SCHEDULE));
	if (!known)
		json_array_append_new(list, json_string("not known: a method of another version"));
	else if (kind.is_whole)
		add_whole(list, card);
	else if (exactness.lru == 0 && exactness.opt == 0 && exactness.demand == 0 && exactness.ws == 0)
		json_array_append_new(list, json_string("no simulation: results are estimates"));
	if (known && json_array_size(list) == 0) {
		add_exact(list, "faults of LRU", "pages", exactness.lru);
		add_exact(list, "faults of OPT", "pages", exactness.opt);
		add_exact(list, "faults of policies that act on faults alone", "pages", exactness.demand);
		add_exact(list, "faults of the working set and of VMIN", "references of tau", exactness.ws);
		if (!kind.is_whole && card->events && kind.any_order)
			add_any_order(list, kind.any_order);
	}
	json_object_set_new(section, "exact", list);
	return section;
}

/* ---- what it was made of ---- */

#define TOO_LONG "too-long "	/* a recipe begins so that lacks the command */

/* "HASH PATH", or "NAME VALUE". */
static json_t *pair(char *value, const char *first, const char *second)
{
	char *rest = strchr(value, ' ');
	json_t *object = json_object();

	if (rest)
		*rest++ = '\0';
	recipe_decode(value);
	add(object, first, value);
	if (rest) {
		recipe_decode(rest);
		add(object, second, rest);
	}
	return object;
}

/* A recipe's keys, and where they are shown. */
static void add_line(json_t *ran, json_t *machine, const char *key, char *value)
{
	static const char *const hashed[] = { "program", "file", "root", "firmware", "simulator" };

	for (size_t i = 0; i < sizeof(hashed) / sizeof(hashed[0]); i++) {
		if (strcmp(key, hashed[i]) == 0) {
			append(i < 3 ? ran : machine, key, pair(value, "sha256", "path"));
			return;
		}
	}
	if (strcmp(key, "option") == 0) {
		append(ran, "options", pair(value, "name", "value"));
	} else if (strcmp(key, "input") == 0) {
		json_object_set_new(ran, "standard input", pair(value, "bytes", "sha256"));
	} else if (strcmp(key, "argument") == 0) {
		recipe_decode(value);
		append(ran, "arguments", cli_json_text(value));
	} else if (strcmp(key, "directory") == 0) {
		recipe_decode(value);
		add(ran, "directory", value);
	} else if (strcmp(key, "too-long") == 0) {
		add(ran, "command", "was too long for a header");
	} else if (strcmp(key, "guest") == 0 || strcmp(key, "disk") == 0) {
		json_object_set_new(machine, key, pair(value, "sha256", "path"));
	} else {
		recipe_decode(value);
		add(machine, key, value);
	}
}

/* The line of the bochsrc that begins so; what follows. */
static void add_of_bochsrc(json_t *machine, const char *key, const char *bochsrc, const char *begin)
{
	const char *at = strstr(bochsrc, begin);
	const char *end;
	char text[256];

	if (!at)
		return;
	at += strlen(begin);
	end = strstr(at, "\\n");
	snprintf(text, sizeof(text), "%.*s", (int)(end ? end - at : 200), at);
	add(machine, key, text);
}

static void add_made_of(json_t *card, const struct lpl_meta *meta)
{
	const char *bochsrc = lpl_meta_get(meta, LPL_META_MACHINE);
	char *recipe = recipe_text(meta);
	json_t *machine = json_object();
	json_t *ran = json_object();
	char *rest = recipe, *line;

	add(ran, "title", lpl_meta_get(meta, LPL_META_TITLE));
	add(ran, "workload", lpl_meta_get(meta, LPL_META_WORKLOAD));
	add(ran, "guest", lpl_meta_get(meta, LPL_META_GUEST));
	add(machine, "producer", lpl_meta_get(meta, LPL_META_PRODUCER));
	if (bochsrc) {
		add_of_bochsrc(machine, "processor", bochsrc, "\\ncpu: ");
		add_of_bochsrc(machine, "memory", bochsrc, "\\nmemory: ");
	}
	while (rest && (line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');

		if (value) {
			*value++ = '\0';
			add_line(ran, machine, line, value);
		}
	}
	json_object_set_new(card, "what ran", ran);
	json_object_set_new(card, "machine", machine);
	free(recipe);
}

json_t *card_json(const struct card *card, int *status)
{
	json_t *object = json_object();
	json_t *commands = json_object();
	char *recipe = recipe_text(card->meta);

	json_object_set_new(object, "trace", trace_section(card, status));
	json_object_set_new(object, "exactness", exact_section(card));
	add_made_of(object, card->meta);
	add(commands, "to verify it", "laplace verify TRACE");
	add(commands, "to make it again",
	    !recipe ? "it does not say what it was made of: laplace run leaves traces that do" :
	    strncmp(recipe, TOO_LONG, strlen(TOO_LONG)) == 0 ?
		"its command was too long for a header" :
	    recipe_was_derived(card->meta) ?
		"it was derived from the trace that `laplace reproduce TRACE' shows how to make" :
		"laplace reproduce TRACE");
	json_object_set_new(object, "commands", commands);
	free(recipe);
	return object;
}

/* ---- text ---- */

static void print_value(json_t *value)
{
	const char *key;
	json_t *item;
	bool first = true;

	if (json_is_integer(value)) {
		printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	} else if (json_is_string(value)) {
		const char *text = json_string_value(value);
		char *shown = malloc(4 * strlen(text) + 1);

		fputs(shown ? lpl_text_escape(shown, 4 * strlen(text) + 1, text, strlen(text)) : "?",
		      stdout);
		free(shown);
	} else if (json_is_object(value)) {
		json_object_foreach(value, key, item) {
			if (!first)
				putchar(' ');
			first = false;
			print_value(item);
		}
	}
}

void card_print(json_t *card)
{
	const char *name, *key;
	json_t *section, *value, *item;
	size_t i;

	json_object_foreach(card, name, section) {
		printf("%s\n", name);
		json_object_foreach(section, key, value) {
			if (!json_is_array(value)) {
				printf("  %-24s ", key);
				print_value(value);
				putchar('\n');
				continue;
			}
			json_array_foreach(value, i, item) {
				printf("  %-24s ", i ? "" : key);
				print_value(item);
				putchar('\n');
			}
		}
	}
	json_decref(card);
}
