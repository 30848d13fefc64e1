/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies as they are asked for: names, options, sizes, exactness. */
#include "entry.h"

#include "base/digits.h"
#include "curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of our choosing; no longer a list than a pass can bear. */
enum { MOST_DEMAND_BITS = 24, MOST_BITS = 62 };

/* Policies that play all sizes in one pass; the others are demand paging. */
static const struct whole {
	const char *name;
	enum lpl_kind kind;
	struct lpl_player *(*open)(const struct lpl_sizes *sizes, uint32_t largest);
} wholes[] = {
	{"lru", LPL_KIND_LRU, lpl_lru_new},
	{"opt", LPL_KIND_OPT, lpl_opt_new},
	{"ws", LPL_KIND_TIMED, lpl_ws_new},
	{"vmin", LPL_KIND_TIMED, lpl_vmin_new},
};
enum { WHOLES = sizeof(wholes) / sizeof(wholes[0]) };

static const struct lpl_policy *const demands[] = {
	&lpl_policy_clock, &lpl_policy_segq, &lpl_policy_fbr, &lpl_policy_glru,
	&lpl_policy_eelru,
};
enum { DEMANDS = sizeof(demands) / sizeof(demands[0]) };

static enum lpl_error no_memory(const char *spec, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "policy '%.80s': no memory", spec);
}

/* ---- names and options ---- */

static bool is_named(const char *spec, const char *name)
{
	size_t length = strlen(name);

	return strncmp(spec, name, length) == 0 &&
	       (spec[length] == '\0' || spec[length] == ':');
}

static const struct whole *find_whole(const char *spec)
{
	for (size_t i = 0; i < WHOLES; i++)
		if (is_named(spec, wholes[i].name))
			return &wholes[i];
	return NULL;
}

static const struct lpl_policy *find_demand(const char *spec)
{
	for (size_t i = 0; i < DEMANDS; i++)
		if (is_named(spec, demands[i]->name))
			return demands[i];
	return NULL;
}

static enum lpl_error unknown_policy(const char *spec, struct lpl_report *report)
{
	char list[128];
	size_t used = 0;

	for (size_t i = 0; i < WHOLES + DEMANDS && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i == 0 ? "" : ", ",
					 i < WHOLES ? wholes[i].name : demands[i - WHOLES]->name);
	return lpl_fail(report, LPL_ERR_USAGE, "policy '%.40s': not one of %s", spec, list);
}

static size_t options_of(const struct lpl_policy *policy)
{
	size_t count = 0;

	while (policy->options != NULL && policy->options[count].name != NULL)
		count++;
	return count;
}

static enum lpl_error unknown_option(const struct lpl_entry *entry, struct lpl_report *report)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < entry->options && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s=N",
					 i == 0 ? "" : ", ", entry->policy->options[i].name);
	return entry->options == 0 ?
		lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': it has no options",
			 entry->spec) :
		lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': its options are %s, joined by "
			 "colons", entry->spec, list);
}

/* One `name=number` of `length` characters. */
static enum lpl_error set_option(struct lpl_entry *entry, const char *text, size_t length,
				 struct lpl_report *report)
{
	const char *sign = memchr(text, '=', length);
	size_t name = sign != NULL ? (size_t)(sign - text) : length;

	for (size_t i = 0; i < entry->options; i++) {
		const struct lpl_policy_option *option = &entry->policy->options[i];
		uint64_t number = 0;

		if (strlen(option->name) != name || memcmp(option->name, text, name) != 0)
			continue;
		if (sign == NULL || lpl_scan_decimal(sign + 1, &number) != text + length ||
		    number < option->least || number > option->most)
			return lpl_fail(report, LPL_ERR_USAGE,
					"policy '%.80s': %s is a number from %" PRIu64 " to %"
					PRIu64, entry->spec, option->name, option->least,
					option->most);
		entry->option[i] = number;
		return LPL_OK;
	}
	return unknown_option(entry, report);
}

/* What comes behind the name, each option after a colon. */
static enum lpl_error set_options(struct lpl_entry *entry, struct lpl_report *report)
{
	const char *text = entry->spec + strcspn(entry->spec, ":");
	size_t count = entry->policy != NULL ? options_of(entry->policy) : 0;

	if (count != 0) {
		entry->option = calloc(count, sizeof(*entry->option));
		if (entry->option == NULL)
			return no_memory(entry->spec, report);
		entry->options = count;
		for (size_t i = 0; i < count; i++)
			entry->option[i] = entry->policy->options[i].otherwise;
	}
	while (*text == ':') {
		size_t length = strcspn(text + 1, ":");
		enum lpl_error error = set_option(entry, text + 1, length, report);

		if (error != LPL_OK)
			return error;
		text += 1 + length;
	}
	return LPL_OK;
}

/* ---- exactness ---- */

static uint64_t lru_part(const struct lpl_entry *entry, uint64_t size)
{
	const struct lpl_memory memory = {.size = size, .option = entry->option};

	return entry->policy->lru_part == NULL ? 0 : entry->policy->lru_part(&memory);
}

static bool is_exact(const struct lpl_entry *entry, uint64_t size,
		     const struct lpl_exactness *exactness)
{
	switch (entry->kind) {
	case LPL_KIND_LRU:
		return exactness->lru != 0 && size >= exactness->lru;
	case LPL_KIND_OPT:
		return exactness->opt != 0 && size >= exactness->opt;
	case LPL_KIND_TIMED:
		return exactness->ws != 0 && size >= exactness->ws;
	case LPL_KIND_DEMAND:
		break;
	}
	return (exactness->demand != 0 && size >= exactness->demand) ||
	       (exactness->lru != 0 && lru_part(entry, size) >= exactness->lru);
}

uint64_t lpl_entry_exact_from(const struct lpl_entry *entry,
			      const struct lpl_exactness *exactness)
{
	uint64_t below = 0;	/* too small */
	uint64_t size = 1;

	while (!is_exact(entry, size, exactness)) {
		if (size > UINT64_MAX / 4)
			return 0;
		below = size;
		size *= 2;
	}
	while (size - below > 1) {
		uint64_t middle = below + (size - below) / 2;

		if (is_exact(entry, middle, exactness))
			size = middle;
		else
			below = middle;
	}
	return size;
}

/* ---- sizes and players ---- */

static bool copy_sizes(struct lpl_sizes *to, const struct lpl_sizes *from)
{
	*to = (struct lpl_sizes){.all = from->all};
	if (from->all || from->count == 0)
		return true;
	to->size = malloc(from->count * sizeof(*to->size));
	if (to->size == NULL)
		return false;
	memcpy(to->size, from->size, from->count * sizeof(*to->size));
	to->count = from->count;
	return true;
}

/* Powers of two, from the first that is exact if one is. */
static bool choose_sizes(struct lpl_entry *entry, const struct lpl_exactness *exactness)
{
	unsigned int most = entry->kind == LPL_KIND_DEMAND ? MOST_DEMAND_BITS : MOST_BITS;
	uint64_t from = lpl_entry_exact_from(entry, exactness);
	unsigned int bits = 0;

	if (from == 0 && entry->kind != LPL_KIND_TIMED)
		from = exactness->lru;
	while (bits < most && UINT64_C(1) << bits < from)
		bits++;
	entry->chosen = true;
	entry->sizes.size = malloc((most + 1 - bits) * sizeof(*entry->sizes.size));
	if (entry->sizes.size == NULL)
		return false;
	for (; bits <= most; bits++)
		entry->sizes.size[entry->sizes.count++] = UINT64_C(1) << bits;
	return true;
}

static enum lpl_error open_whole(struct lpl_entry *entry, const struct whole *whole,
				 struct lpl_report *report)
{
	const struct lpl_sizes *sizes = &entry->sizes;
	uint64_t largest = sizes->count != 0 ? sizes->size[sizes->count - 1] : 1;

	if (sizes->all || largest > LPL_DEPTH_NONE)
		largest = LPL_DEPTH_NONE;
	entry->player = calloc(1, sizeof(*entry->player));
	if (entry->player != NULL)
		entry->player[0] = whole->open(sizes, (uint32_t)largest);
	if (entry->player == NULL || entry->player[0] == NULL)
		return no_memory(entry->spec, report);
	entry->players = 1;
	return LPL_OK;
}

/* A memory for each size; of sizes of our choosing those too small for the policy go. */
static enum lpl_error open_demand(struct lpl_entry *entry, struct lpl_report *report)
{
	struct lpl_sizes *sizes = &entry->sizes;
	struct lpl_report last = {0};
	size_t kept = 0;

	entry->player = calloc(sizes->count + 1, sizeof(struct lpl_player *));
	if (entry->player == NULL)
		return no_memory(entry->spec, report);
	for (size_t i = 0; i < sizes->count; i++) {
		struct lpl_report tried = {0};
		enum lpl_error error = lpl_demand_open(&entry->player[kept], entry->policy,
						       sizes->size[i], entry->option, &tried);

		if (error == LPL_OK) {
			sizes->size[kept++] = sizes->size[i];
			entry->players = kept;
			continue;
		}
		last = tried;
		if (!entry->chosen || error != LPL_ERR_USAGE)
			return lpl_fail(report, error, "%s", last.text);
	}
	sizes->count = kept;
	return kept == 0 && last.error != LPL_OK ?
		lpl_fail(report, last.error, "%s", last.text) : LPL_OK;
}

static enum lpl_error open_players(struct lpl_entry *entry, const struct whole *whole,
				   const struct lpl_sizes *sizes,
				   const struct lpl_exactness *exactness, size_t memories,
				   struct lpl_report *report)
{
	if (sizes != NULL && sizes->all && entry->kind != LPL_KIND_LRU &&
	    entry->kind != LPL_KIND_OPT)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': gives no result for all sizes in one pass, as lru "
				"and opt do; ask for some (16,64,256, or 16:4096:*2)", entry->spec);
	if (sizes == NULL ? !choose_sizes(entry, exactness) : !copy_sizes(&entry->sizes, sizes))
		return no_memory(entry->spec, report);
	if (whole != NULL)
		return open_whole(entry, whole, report);
	if (entry->sizes.count > memories)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': %zu sizes are too many; a pass plays at most %d "
				"of all policies but lru, opt, ws and vmin", entry->spec,
				entry->sizes.count, LPL_MOST_MEMORIES);
	return open_demand(entry, report);
}

enum lpl_error lpl_entry_open(struct lpl_entry **entry, const char *spec,
			      const struct lpl_policy *policy, const struct lpl_sizes *sizes,
			      const struct lpl_exactness *exactness, size_t memories,
			      struct lpl_report *report)
{
	const struct whole *whole = policy == NULL ? find_whole(spec) : NULL;
	struct lpl_entry *opened;
	enum lpl_error error;

	*entry = NULL;
	if (policy == NULL && whole == NULL) {
		policy = find_demand(spec);
		if (policy == NULL)
			return unknown_policy(spec, report);
	}
	opened = calloc(1, sizeof(*opened));
	if (opened == NULL)
		return no_memory(spec, report);
	opened->kind = whole != NULL ? whole->kind : LPL_KIND_DEMAND;
	opened->policy = policy;
	opened->spec = strdup(spec);
	error = opened->spec != NULL ? set_options(opened, report) : no_memory(spec, report);
	if (error == LPL_OK)
		error = open_players(opened, whole, sizes, exactness, memories, report);
	if (error != LPL_OK)
		lpl_entry_close(opened);
	else
		*entry = opened;
	return error;
}

void lpl_entry_close(struct lpl_entry *entry)
{
	if (entry == NULL)
		return;
	for (size_t i = 0; i < entry->players; i++)
		entry->player[i]->close(entry->player[i]);
	lpl_sizes_free(&entry->sizes);
	free(entry->player);
	free(entry->result);
	free(entry->option);
	free(entry->spec);
	free(entry);
}

/* ---- results ---- */

/* Sizes of our own choosing: as many as there are until nothing more changes. */
static size_t needed(const struct lpl_entry *entry, uint64_t pages)
{
	for (size_t i = 0; i < entry->results; i++) {
		const struct lpl_result *result = &entry->result[i];

		if (result->timed ? result->faults == pages : result->size >= pages)
			return i + 1;
	}
	return entry->results;
}

/* One array of them all; that of a single player is taken over. */
static bool take_results(struct lpl_entry *entry)
{
	struct lpl_player *first = entry->players != 0 ? entry->player[0] : NULL;

	if (entry->kind != LPL_KIND_DEMAND && first != NULL) {
		entry->result = first->result;
		entry->results = first->results;
		first->result = NULL;
		return true;
	}
	entry->result = calloc(entry->players + 1, sizeof(*entry->result));
	if (entry->result == NULL)
		return false;
	while (entry->results < entry->players) {
		entry->result[entry->results] = entry->player[entry->results]->result[0];
		entry->results++;
	}
	return true;
}

bool lpl_entry_gather(struct lpl_entry *entry, uint64_t references, uint64_t pages,
		      const struct lpl_exactness *exactness)
{
	if (!take_results(entry))
		return false;
	for (size_t i = 0; i < entry->results; i++) {
		entry->result[i].references = references;
		entry->result[i].exact = is_exact(entry, entry->result[i].size, exactness);
	}
	if (entry->chosen)
		entry->results = needed(entry, pages);
	return true;
}
