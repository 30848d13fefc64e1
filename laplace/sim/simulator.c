/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulator: numbers the pages of a stream and tells them to a policy. */
#include <laplace/simulator.h>

#include "../reduce/pages.h"
#include "policy.h"

#include <stdlib.h>
#include <string.h>

struct lpl_simulator {
	struct lpl_sink sink;		/* first */
	struct lpl_policy *policy;
	struct lpl_sizes sizes;		/* own copy */
	struct lpl_pages pages;
	uint64_t references;
	/* references to one page in a row, not told yet; page 0: none */
	struct lpl_page run_page;
	uint32_t run;
	bool run_written;
	struct lpl_result *results;
	size_t result_count;
};

static const struct {
	const char *name;
	struct lpl_policy *(*open)(uint32_t largest);
} policies[] = {
	{"lru", lpl_lru_new},
	{"opt", lpl_opt_new},
};

static enum lpl_error end_run(struct lpl_simulator *simulator, struct lpl_report *report)
{
	struct lpl_policy *policy = simulator->policy;

	return simulator->run == 0 ? LPL_OK :
		policy->reference(policy, simulator->run, simulator->run_written, report);
}

static int simulator_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
			  struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;

	for (size_t i = 0; i < count; i++) {
		struct lpl_page page = lpl_page_of(&refs[i]);
		bool write = lpl_is_write(&refs[i]);
		enum lpl_error error;

		simulator->references++;
		if (simulator->run != 0 && lpl_same_page(page, simulator->run_page)) {
			simulator->run_written |= write;
			continue;
		}
		error = end_run(simulator, report);
		if (error != LPL_OK)
			return error;
		simulator->run = lpl_pages_find(&simulator->pages, page);
		if (simulator->run == 0)
			simulator->run = lpl_pages_add(&simulator->pages, page);
		if (simulator->run == 0)
			return lpl_fail(report, LPL_ERR_MEMORY,
					"simulation: no memory for %u distinct pages",
					simulator->pages.count);
		simulator->run_page = page;
		simulator->run_written = write;
	}
	return LPL_OK;
}

static int simulator_event(struct lpl_sink *sink, const struct lpl_event *event,
			   struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static int simulator_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_simulator *simulator = (struct lpl_simulator *)sink;
	enum lpl_error error = end_run(simulator, report);

	if (error == LPL_OK)
		error = simulator->policy->finish(simulator->policy, report);
	if (error != LPL_OK)
		return error;
	simulator->run = 0;
	simulator->results = lpl_curve_results(&simulator->policy->curve, &simulator->sizes,
					       simulator->references, &simulator->result_count);
	return simulator->results != NULL ? LPL_OK :
		lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory for the results");
}

static struct lpl_policy *open_policy(const char *name, uint32_t largest, bool *known)
{
	*known = false;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(policies[i].name, name) == 0) {
			*known = true;
			return policies[i].open(largest);
		}
	}
	return NULL;
}

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

static uint32_t largest_size(const struct lpl_sizes *sizes)
{
	uint64_t largest = sizes->count != 0 ? sizes->size[sizes->count - 1] : 1;

	return sizes->all || largest > LPL_DEPTH_NONE ? LPL_DEPTH_NONE : (uint32_t)largest;
}

enum lpl_error lpl_simulator_open(struct lpl_simulator **simulator,
				  const char *policy, const struct lpl_sizes *sizes,
				  struct lpl_report *report)
{
	struct lpl_simulator *opened = calloc(1, sizeof(*opened));
	bool known = true;

	*simulator = NULL;
	if (opened != NULL)
		opened->policy = open_policy(policy, largest_size(sizes), &known);
	if (!known) {
		free(opened);
		return lpl_fail(report, LPL_ERR_USAGE,
				"policy '%.40s': not one of lru, opt", policy);
	}
	if (opened == NULL || opened->policy == NULL || !lpl_pages_init(&opened->pages) ||
	    !copy_sizes(&opened->sizes, sizes)) {
		lpl_simulator_close(opened);
		return lpl_fail(report, LPL_ERR_MEMORY, "simulation: no memory");
	}
	opened->sink = (struct lpl_sink){simulator_refs, simulator_event, simulator_finish};
	*simulator = opened;
	return LPL_OK;
}

struct lpl_sink *lpl_simulator_sink(struct lpl_simulator *simulator)
{
	return &simulator->sink;
}

const struct lpl_result *lpl_simulator_results(const struct lpl_simulator *simulator,
					       size_t *count)
{
	*count = simulator->result_count;
	return simulator->results;
}

uint64_t lpl_simulator_pages(const struct lpl_simulator *simulator)
{
	return simulator->pages.count;
}

void lpl_simulator_close(struct lpl_simulator *simulator)
{
	if (simulator == NULL)
		return;
	if (simulator->policy != NULL)
		simulator->policy->close(simulator->policy);
	lpl_sizes_free(&simulator->sizes);
	lpl_pages_free(&simulator->pages);
	free(simulator->results);
	free(simulator);
}
