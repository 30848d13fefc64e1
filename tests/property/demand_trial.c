/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trials of policies of demand paging. */
#include "demand_trial.h"

#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POLICIES = 40 };

bool demand_differs(const struct lpl_simulator *simulator, size_t index,
		    const struct demand_policy *policy, const struct trace *trace)
{
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(simulator, index, &count);
	bool differs = count == 0;

	for (size_t i = 0; i < count && !differs; i++) {
		struct counts expected = policy->oracle(trace, result[i].size);

		differs = !result_equal(&result[i], &expected) || result[i].timed ||
			!result[i].exact;
	}
	return differs;
}

bool demand_trial_differs(const struct stream *in, void *context)
{
	const struct demand_trial *trial = context;
	struct lpl_simulator *simulator = simulate(trial->policy->spec, trial->sizes, in,
						   trial->batch);
	struct trace trace;
	bool found;

	trace_of(in, &trace);
	found = demand_differs(simulator, 0, trial->policy, &trace);
	trace_free(&trace);
	lpl_simulator_close(simulator);
	return found;
}

/* Some sizes from the least on; few of them change anything above what the pages need. */
static void random_sizes(struct random *random, const struct demand_policy *policy, char *sizes,
			 size_t room)
{
	int used = 0;

	for (unsigned int i = 0; i < 4; i++)
		used += snprintf(sizes + used, room - (size_t)used, "%llu,",
				 (unsigned long long)policy->least + random_below(random, 14));
	(void)snprintf(sizes + used, room - (size_t)used, "%s",
		       random_below(random, 4) != 0 ? "8" : "30,1000,18446744073709551615");
}

void demand_compare(const struct demand_policy *policies, size_t count, struct stream *in,
		    struct random *random, uint64_t seed, unsigned int number)
{
	struct lpl_simulator *simulator = new_simulator(1, NULL);
	char sizes[MOST_POLICIES][128];
	size_t batch = 1 + random_below(random, 99);
	struct trace trace;

	assert_in_range(count, 1, MOST_POLICIES);
	for (size_t i = 0; i < count; i++) {
		random_sizes(random, &policies[i], sizes[i], sizeof(sizes[i]));
		add_policy(simulator, policies[i].spec, sizes[i]);
	}
	send_all(simulator, in, batch);
	trace_of(in, &trace);
	for (size_t i = 0; i < count; i++) {
		struct demand_trial trial = {&policies[i], sizes[i], batch};

		if (!demand_differs(simulator, i, &policies[i], &trace))
			continue;
		(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s, sizes %s:\n",
			      (unsigned long long)seed, number, policies[i].spec, sizes[i]);
		if (demand_trial_differs(in, &trial)) {
			stream_shrink(in, demand_trial_differs, &trial);
			stream_print("not simulated rightly", in);
		} else {
			(void)fprintf(stderr, "but by itself it is right\n");
		}
		fail();
	}
	trace_free(&trace);
	lpl_simulator_close(simulator);
}

void demand_expect(const char *policy, const char *pages, uint64_t size, uint64_t faults,
		   uint64_t evictions, uint64_t dirty_evictions)
{
	struct counts expected = {strlen(pages), faults, evictions, dirty_evictions};
	struct stream in = {0};
	struct lpl_simulator *simulator;
	const struct lpl_result *result;
	char sizes[32];
	size_t count;

	for (const char *page = pages; *page != '\0'; page++)	/* lower case: a write */
		stream_add_page(&in, (uint64_t)(*page | 0x20),
				*page >= 'a' ? LPL_WRITE : LPL_READ);
	(void)snprintf(sizes, sizeof(sizes), "%llu", (unsigned long long)size);
	simulator = simulate(policy, sizes, &in, 7);
	result = lpl_simulator_results(simulator, 0, &count);
	assert_int_equal(count, 1);
	if (!result_equal(result, &expected))
		fail_msg("%s of %s, size %s: %llu faults, %llu evictions, %llu dirty", policy,
			 pages, sizes, (unsigned long long)result->faults,
			 (unsigned long long)result->evictions,
			 (unsigned long long)result->dirty_evictions);
	lpl_simulator_close(simulator);
	stream_free(&in);
}
