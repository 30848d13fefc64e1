/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies as they are asked for: names, options, sizes, exactness. */
#include "request.h"

#include "base/digits.h"
#include "base/try.h"
#include "curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of our choosing; no longer a list than a pass can bear. */
enum { MOST_DEMAND_BITS = 24, MOST_BITS = 62 };

#define ADDRESS(name) &lpl_policy_##name,

static const struct lpl_one_pass_policy *const one_pass[] = { LPL_ONE_PASS_POLICIES(ADDRESS) };
static const struct lpl_policy *const demand[] = { LPL_DEMAND_POLICIES(ADDRESS) };

enum {
	ONE_PASS = sizeof(one_pass) / sizeof(one_pass[0]),
	DEMAND = sizeof(demand) / sizeof(demand[0])
};

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

static const struct lpl_one_pass_policy *find_one_pass(const char *spec)
{
	for (size_t i = 0; i < ONE_PASS; i++)
		if (is_named(spec, one_pass[i]->name))
			return one_pass[i];
	return NULL;
}

static const struct lpl_policy *find_demand(const char *spec)
{
	for (size_t i = 0; i < DEMAND; i++)
		if (is_named(spec, demand[i]->name))
			return demand[i];
	return NULL;
}

static enum lpl_error unknown_policy(const char *spec, struct lpl_report *report)
{
	char list[256];
	size_t used = 0;

	for (size_t i = 0; i < ONE_PASS + DEMAND && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i == 0 ? "" : ", ", i < ONE_PASS ? one_pass[i]->name :
					 demand[i - ONE_PASS]->name);
	return lpl_fail(report, LPL_ERR_USAGE, "policy '%.40s': not one of %s", spec, list);
}

static size_t options_of(const struct lpl_policy *policy)
{
	size_t count = 0;

	while (policy->options != NULL && policy->options[count].name != NULL)
		count++;
	return count;
}

static enum lpl_error unknown_option(const struct lpl_request *request, struct lpl_report *report)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < request->options && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s=N",
					 i == 0 ? "" : ", ", request->policy->options[i].name);
	return request->options == 0 ?
		lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': it has no options",
			 request->spec) :
		lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': its options are %s, joined by "
			 "colons", request->spec, list);
}

/* Is an option of the name that `text` begins with, of `name` characters, in `spec` before that? */
static bool is_before(const char *spec, const char *text, size_t name)
{
	for (const char *at = spec + strcspn(spec, ":") + 1; at < text; at += strcspn(at, ":") + 1)
		if (memcmp(at, text, name) == 0 && at[name] == '=')
			return true;
	return false;
}

/* One `name=number` of `length` characters. */
static enum lpl_error set_option(struct lpl_request *request, const char *text, size_t length,
				 struct lpl_report *report)
{
	const char *sign = memchr(text, '=', length);
	size_t name = sign != NULL ? (size_t)(sign - text) : length;

	for (size_t i = 0; i < request->options; i++) {
		const struct lpl_policy_option *option = &request->policy->options[i];
		uint64_t number = 0;

		if (strlen(option->name) != name || memcmp(option->name, text, name) != 0)
			continue;
		if (sign == NULL || lpl_scan_decimal(sign + 1, &number) != text + length ||
		    number < option->least || number > option->most)
			return lpl_fail(report, LPL_ERR_USAGE,
					"policy '%.80s': %s is a number from %" PRIu64 " to %"
					PRIu64, request->spec, option->name, option->least,
					option->most);
		if (is_before(request->spec, text, name))
			return lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': %s comes twice",
					request->spec, option->name);
		request->option[i] = number;
		return LPL_OK;
	}
	return unknown_option(request, report);
}

/* What comes after the name, each option after a colon. */
static enum lpl_error set_options(struct lpl_request *request, struct lpl_report *report)
{
	const char *text = request->spec + strcspn(request->spec, ":");
	size_t count = request->policy != NULL ? options_of(request->policy) : 0;

	if (count != 0) {
		request->option = calloc(count, sizeof(*request->option));
		if (request->option == NULL)
			return no_memory(request->spec, report);
		request->options = count;
		for (size_t i = 0; i < count; i++)
			request->option[i] = request->policy->options[i].otherwise;
	}
	while (*text == ':') {
		size_t length = strcspn(text + 1, ":");

		LPL_TRY(set_option(request, text + 1, length, report));
		text += 1 + length;
	}
	return LPL_OK;
}

/* ---- exactness ---- */

static uint64_t lru_part(const struct lpl_request *request, uint64_t size)
{
	const struct lpl_memory memory = {.size = size, .option = request->option};

	return request->policy->lru_part == NULL ? 0 : request->policy->lru_part(&memory);
}

static bool is_exact(const struct lpl_request *request, uint64_t size,
		     const struct lpl_exactness *exactness)
{
	switch (request->exact_as) {
	case LPL_EXACT_AS_LRU:
		return exactness->lru != 0 && size >= exactness->lru;
	case LPL_EXACT_AS_OPT:
		return exactness->opt != 0 && size >= exactness->opt;
	case LPL_EXACT_AS_WS:
		return exactness->ws != 0 && size >= exactness->ws;
	case LPL_EXACT_AS_DEMAND:
		break;
	}
	return (exactness->demand != 0 && size >= exactness->demand) ||
	       (exactness->lru != 0 && lru_part(request, size) >= exactness->lru);
}

uint64_t lpl_request_exact_from(const struct lpl_request *request,
				const struct lpl_exactness *exactness)
{
	uint64_t below = 0;	/* too small */
	uint64_t size = 1;

	while (!is_exact(request, size, exactness)) {
		if (size > UINT64_MAX / 4)
			return 0;
		below = size;
		size *= 2;
	}
	while (size - below > 1) {
		uint64_t middle = below + (size - below) / 2;

		if (is_exact(request, middle, exactness))
			size = middle;
		else
			below = middle;
	}
	return size;
}

/* ---- sizes and simulations ---- */

static bool copy_sizes(struct lpl_sizes *to, const struct lpl_sizes *from)
{
	*to = (struct lpl_sizes){.all = from->all, .memory = from->memory};
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
static bool choose_sizes(struct lpl_request *request, const struct lpl_exactness *exactness)
{
	unsigned int most = request->one_pass == NULL ? MOST_DEMAND_BITS : MOST_BITS;
	uint64_t from = lpl_request_exact_from(request, exactness);
	unsigned int bits = 0;

	if (from == 0 && request->exact_as != LPL_EXACT_AS_WS)
		from = exactness->lru;
	while (bits < most && UINT64_C(1) << bits < from)
		bits++;
	request->chosen = true;
	request->sizes.size = malloc((most + 1 - bits) * sizeof(*request->sizes.size));
	if (request->sizes.size == NULL)
		return false;
	for (; bits <= most; bits++)
		request->sizes.size[request->sizes.count++] = UINT64_C(1) << bits;
	return true;
}

static enum lpl_error open_one_pass(struct lpl_request *request, struct lpl_report *report)
{
	const struct lpl_sizes *sizes = &request->sizes;
	uint64_t largest = sizes->count != 0 ? sizes->size[sizes->count - 1] : 1;

	if (sizes->all || largest > LPL_DEPTH_NONE)
		largest = LPL_DEPTH_NONE;
	request->simulation = calloc(1, sizeof(*request->simulation));
	if (request->simulation != NULL)
		request->simulation[0] = request->one_pass->open(sizes, (uint32_t)largest);
	if (request->simulation == NULL || request->simulation[0] == NULL)
		return no_memory(request->spec, report);
	request->simulations = 1;
	return LPL_OK;
}

/* A memory for each size; of sizes of our choosing those too small for the policy go. */
static enum lpl_error open_demand(struct lpl_request *request, struct lpl_report *report)
{
	struct lpl_sizes *sizes = &request->sizes;
	struct lpl_report last = {0};
	size_t kept = 0;

	request->simulation = calloc(sizes->count + 1, sizeof(struct lpl_simulation *));
	if (request->simulation == NULL)
		return no_memory(request->spec, report);
	for (size_t i = 0; i < sizes->count; i++) {
		struct lpl_report tried = {0};
		enum lpl_error error = lpl_demand_open(&request->simulation[kept], request->policy,
						       sizes->size[i], request->option, &tried);

		if (error == LPL_OK) {
			sizes->size[kept++] = sizes->size[i];
			request->simulations = kept;
			continue;
		}
		last = tried;
		if (!request->chosen || error != LPL_ERR_USAGE)
			return lpl_fail(report, error, "%s", last.text);
	}
	sizes->count = kept;
	return kept == 0 && last.error != LPL_OK ?
		lpl_fail(report, last.error, "%s", last.text) : LPL_OK;
}

static enum lpl_error open_simulations(struct lpl_request *request,
				       const struct lpl_sizes *sizes,
				       const struct lpl_exactness *exactness, size_t memories,
				       struct lpl_report *report)
{
	if (sizes != NULL && sizes->all && request->exact_as != LPL_EXACT_AS_LRU &&
	    request->exact_as != LPL_EXACT_AS_OPT)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': gives no result for all sizes in one pass, as "
				"lru and opt do; ask for some (16,64,256, or 16:4096:*2)",
				request->spec);
	if (sizes != NULL && sizes->memory && request->exact_as == LPL_EXACT_AS_WS)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': its sizes are times, in references, and no memory: "
				"neither bytes nor %%; ask for some (1000,100000, or "
				"1000:1000000:*10)", request->spec);
	if (sizes == NULL ? !choose_sizes(request, exactness) :
	    !copy_sizes(&request->sizes, sizes))
		return no_memory(request->spec, report);
	if (request->one_pass != NULL)
		return open_one_pass(request, report);
	if (request->sizes.count > memories)
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.80s': %zu sizes are too many; a pass plays at most %d "
				"of all policies but lru, opt, ws and vmin", request->spec,
				request->sizes.count, LPL_MOST_MEMORIES);
	return open_demand(request, report);
}

enum lpl_error lpl_request_open(struct lpl_request **request, const char *spec,
				const struct lpl_policy *policy, const struct lpl_sizes *sizes,
				const struct lpl_exactness *exactness, size_t memories,
				struct lpl_report *report)
{
	const struct lpl_one_pass_policy *found = policy == NULL ? find_one_pass(spec) : NULL;
	struct lpl_request *opened;
	enum lpl_error error;

	*request = NULL;
	if (policy == NULL && found == NULL) {
		policy = find_demand(spec);
		if (policy == NULL)
			return unknown_policy(spec, report);
	}
	opened = calloc(1, sizeof(*opened));
	if (opened == NULL)
		return no_memory(spec, report);
	opened->exact_as = found != NULL ? found->exact_as : LPL_EXACT_AS_DEMAND;
	opened->one_pass = found;
	opened->policy = policy;
	opened->spec = strdup(spec);
	error = opened->spec != NULL ? set_options(opened, report) : no_memory(spec, report);
	if (error == LPL_OK)
		error = open_simulations(opened, sizes, exactness, memories, report);
	if (error != LPL_OK)
		lpl_request_close(opened);
	else
		*request = opened;
	return error;
}

enum lpl_error lpl_request_share(struct lpl_request *request, struct lpl_report *report)
{
	const struct lpl_sizes *sizes = &request->sizes;

	if (sizes->all)
		return lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': to charge its faults to "
				"processes or tasks, sizes have to be given, one by one or as a "
				"range", request->spec);
	for (size_t i = 0; i < request->simulations; i++) {
		struct lpl_simulation *simulation = request->simulation[i];

		/* taus are identified by their numbers, as depths */
		simulation->shares = request->policy != NULL ?
			lpl_shares_new(&sizes->size[i], 1) :
			lpl_shares_new(request->exact_as == LPL_EXACT_AS_WS ? NULL : sizes->size,
				       sizes->count);
		if (simulation->shares == NULL)
			return no_memory(request->spec, report);
		if (simulation->curve != NULL)
			simulation->curve->shares = simulation->shares;
	}
	return LPL_OK;
}

void lpl_request_close(struct lpl_request *request)
{
	if (request == NULL)
		return;
	for (size_t i = 0; i < request->simulations; i++) {
		lpl_shares_free(request->simulation[i]->shares);
		request->simulation[i]->close(request->simulation[i]);
	}
	lpl_sizes_free(&request->sizes);
	free(request->simulation);
	free(request->result);
	free(request->option);
	free(request->spec);
	free(request);
}

/* ---- results ---- */

/* Sizes of our own choosing: as many as there are until nothing more changes. */
static size_t needed(const struct lpl_request *request, uint64_t pages)
{
	for (size_t i = 0; i < request->results; i++) {
		const struct lpl_result *result = &request->result[i];

		if (result->timed ? result->faults == pages : result->size >= pages)
			return i + 1;
	}
	return request->results;
}

/* One array of them all; that of a single simulation is taken over. */
static bool take_results(struct lpl_request *request)
{
	struct lpl_simulation *first = request->simulations != 0 ? request->simulation[0] : NULL;

	if (request->one_pass != NULL && first != NULL) {
		request->result = first->result;
		request->results = first->results;
		first->result = NULL;
		return true;
	}
	request->result = calloc(request->simulations + 1, sizeof(*request->result));
	if (request->result == NULL)
		return false;
	while (request->results < request->simulations) {
		size_t i = request->results++;

		request->result[i] = request->simulation[i]->result[0];
	}
	return true;
}

bool lpl_request_gather(struct lpl_request *request, uint64_t references, uint64_t pages,
			const struct lpl_exactness *exactness)
{
	if (!take_results(request))
		return false;
	for (size_t i = 0; i < request->results; i++) {
		request->result[i].references = references;
		request->result[i].exact = is_exact(request, request->result[i].size, exactness);
	}
	if (request->chosen)
		request->results = needed(request, pages);
	return true;
}

uint64_t lpl_request_charged(const struct lpl_request *request, size_t result, uint32_t owner)
{
	return request->policy != NULL ?
		lpl_shares_faults(request->simulation[result]->shares, owner, 0) :
		lpl_shares_faults(request->simulation[0]->shares, owner, result);
}
