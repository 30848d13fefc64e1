/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes or tasks have a simulation's faults, ranked. */
#include "sim_runners.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One that ran, and the faults of one result that are its. */
struct share {
	const struct lpl_runner *runner;
	bool known;
	uint64_t size;			/* of its memory, or of everybody's */
	uint64_t references;
	uint64_t faults, cold;		/* cold: so many of them are first references */
};

bool cli_runner_unit(const char *name, enum lpl_runner_unit *unit)
{
	*unit = strcmp(name, "task") == 0 ? LPL_RUNNER_TASK : LPL_RUNNER_PROCESS;
	return *unit == LPL_RUNNER_TASK || strcmp(name, "process") == 0;
}

/* Of equals, the one that made a reference first, which precedes in the library's array. */
static int by_faults(const void *a, const void *b)
{
	const struct share *one = a, *other = b;

	if (one->faults != other->faults)
		return one->faults > other->faults ? -1 : 1;
	if (one->references != other->references)
		return one->references > other->references ? -1 : 1;
	return one->runner < other->runner ? -1 : one->runner > other->runner;
}

/* Of number `i`: what the memory that all share charges to it, or what its own memory has. */
static struct share share_of(const struct cli_runners *runners, size_t index, size_t result, size_t i)
{
	const struct lpl_runner *runner;
	const struct lpl_result *results;
	size_t count;

	if (runners->local) {
		results = lpl_local_process_results(runners->local, i, index, &count);
		return (struct share){
			lpl_local_process(runners->local, i), true, results[result].size,
			results[result].references, results[result].faults,
			lpl_local_process_cold(runners->local, i)
		};
	}
	runner = lpl_runners_at(runners->runners, i);
	results = lpl_simulator_results(runners->simulator, index, &count);
	return (struct share){
		runner, i != 0, results[result].size, runner->references,
		lpl_simulator_charged(runners->simulator, index, result, (uint32_t)i),
		lpl_simulator_charged_cold(runners->simulator, (uint32_t)i)
	};
}

/*
 * The processes or tasks that made a reference, in the order of their faults, and after them the
 * sum; NULL: no memory.
 */
static struct share *rank(const struct cli_runners *runners, size_t index, size_t result,
			  size_t *count)
{
	const size_t all = runners->local ? (size_t)lpl_local_processes(runners->local) :
		lpl_runners_count(runners->runners);
	struct share *share = calloc(all + 1, sizeof(*share));

	*count = 0;
	for (size_t i = 0; share && i < all; i++) {
		share[*count] = share_of(runners, index, result, i);
		*count += share[*count].references != 0;
	}
	if (share)
		share[*count] = (struct share){ .runner = NULL };
	for (size_t i = 0; share && i < *count; i++) {
		share[*count].references += share[i].references;
		share[*count].faults += share[i].faults;
		share[*count].cold += share[i].cold;
	}
	if (share)
		qsort(share, *count, sizeof(*share), by_faults);
	return share;
}

static double percent(uint64_t faults, const struct share *sum)
{
	return 100 * (double)faults / (double)sum->faults;
}

/* As RFC 4180 has it: a guest's name may hold what separates columns. */
static void print_name(const char *name)
{
	if (!strpbrk(name, ",\"")) {
		fputs(name, stdout);
		return;
	}
	putchar('"');
	for (; *name; name++)
		printf("%s%c", *name == '"' ? "\"" : "", *name);
	putchar('"');
}

void cli_runners_heading(const struct cli_runners *runners)
{
	printf("policy,size,%s,name,references,faults,percent,cold_faults,refaults,addresses\n",
	       runners->by);
}

/* The number is left out where it is not known; so is the size of different ones together (0). */
static void print(const struct share *share, size_t count, const char *policy, uint64_t size,
		  const char *addresses)
{
	for (size_t i = 0; i < count; i++) {
		const struct lpl_runner *runner = share[i].runner;

		printf("%s,%" PRIu64 ",", policy, share[i].size);
		if (share[i].known)
			printf("%" PRIu32, runner->id);
		putchar(',');
		print_name(runner->name);
		printf(",%" PRIu64 ",%" PRIu64 ",%.4g,%" PRIu64 ",%" PRIu64 ",%s\n",
		       share[i].references, share[i].faults, percent(share[i].faults, &share[count]),
		       share[i].cold, share[i].faults - share[i].cold, addresses);
	}
	printf("%s,", policy);
	if (size)
		printf("%" PRIu64, size);
	printf(",all,,%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%s\n",
	       share[count].references, share[count].faults, count ? "100" : "", share[count].cold,
	       share[count].faults - share[count].cold, addresses);
}

static json_t *as_json(const struct share *share, size_t count, const struct cli_runners *runners)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct lpl_runner *runner = share[i].runner;
		json_t *object = json_object();

		if (share[i].known)
			json_object_set_new(object, runners->by, json_integer((json_int_t)runner->id));
		json_object_set_new(object, "name", json_string(runner->name));
		if (runners->has_frames)
			json_object_set_new(object, "size", json_integer((json_int_t)share[i].size));
		json_object_set_new(object, "references",
				    json_integer((json_int_t)share[i].references));
		json_object_set_new(object, "faults", json_integer((json_int_t)share[i].faults));
		json_object_set_new(object, "percent",
				    json_real(percent(share[i].faults, &share[count])));
		json_object_set_new(object, "cold_faults", json_integer((json_int_t)share[i].cold));
		json_object_set_new(object, "refaults",
				    json_integer((json_int_t)(share[i].faults - share[i].cold)));
		json_array_append_new(array, object);
	}
	return array;
}

bool cli_runners_add(const struct cli_runners *runners, size_t index, size_t result,
		      const char *policy, json_t *object)
{
	const bool tasks = strcmp(runners->by, "task") == 0;
	size_t count, results;
	const struct lpl_result *all = runners->local ?
		lpl_local_results(runners->local, index, &results) :
		lpl_simulator_results(runners->simulator, index, &results);
	struct share *share = rank(runners, index, result, &count);

	if (!share)
		return false;
	if (object)
		json_object_set_new(object, tasks ? "tasks" : "processes",
				    as_json(share, count, runners));
	else
		print(share, count, policy, all[result].size, runners->addresses);
	free(share);
	return true;
}
