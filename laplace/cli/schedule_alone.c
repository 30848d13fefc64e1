/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes alone on a machine; see schedule_alone.h.  All of it is integers, the same on any host. */
#include "schedule_alone.h"

#include <stdlib.h>

#include "say.h"

typedef unsigned __int128 wide;

static uint64_t rounded(wide part, wide whole)
{
	return (uint64_t)((2 * part + whole) / (2 * whole));
}

int cli_alone_run(struct cli_alone **result, struct lpl_schedule *schedule,
		  const struct lpl_machine *machine)
{
	const size_t count = lpl_schedule_processes(schedule);
	struct cli_alone *alone = calloc(count + 1, sizeof(*alone));
	struct lpl_report report = { 0 };

	*result = alone;
	if (!alone)
		return cli_complain(CLI_FAILED, "no memory for the processes");
	for (size_t i = 0; i < count; i++) {
		const struct lpl_schedule_task *process = lpl_schedule_process(schedule, i);

		if (process->serial == 0 || process->references == 0)
			continue;
		if (lpl_schedule_run_alone(schedule, machine, process->serial, &alone[i].alone, &report))
			return cli_report(&report);
		alone[i].among = process->end - process->begin;
		alone[i].known = true;
	}
	return CLI_DONE;
}

bool cli_slowdown(const struct cli_alone *alone, uint64_t *thousandths)
{
	*thousandths = 1000;
	if (!alone->known || (alone->alone == 0 && alone->among != 0))
		return false;
	if (alone->alone != 0)
		*thousandths = rounded((wide)1000 * alone->among, alone->alone);
	return true;
}

/* Times are below 2^57. */
static wide speed(const struct cli_alone *alone)
{
	return alone->among == 0 ? (wide)1 << 40 : ((wide)alone->alone << 40) / alone->among;
}

uint64_t cli_fairness(const struct cli_alone *alone, size_t count)
{
	wide most = 0, sum = 0, squares = 0, known = 0;
	unsigned int shift = 0;

	for (size_t i = 0; i < count; i++)
		if (alone[i].known && speed(&alone[i]) > most)
			most = speed(&alone[i]);
	/* the index is that of any multiple of x: with 32 bits nothing here comes near 128 */
	while (most >> shift >> 32)
		shift++;
	for (size_t i = 0; i < count; i++) {
		const wide x = alone[i].known ? speed(&alone[i]) >> shift : 0;

		known += alone[i].known;
		sum += x;
		squares += x * x;
	}
	return squares == 0 ? 0 : rounded(10000 * sum * sum, known * squares);
}
