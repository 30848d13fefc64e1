/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The subcommands: a function each, in a file of its name.  argv[0] is "laplace NAME"; what
 * is returned is an exit status (say.h).
 */
#ifndef LAPLACE_CLI_COMMANDS_H
#define LAPLACE_CLI_COMMANDS_H

/* COMMAND(NAME, what it does), in the order in which the usage lists them; compare_reclaim is called compare-reclaim */
#define CLI_COMMANDS(COMMAND) \
	COMMAND(run, "run a program in a guest and collect a trace of it") \
	COMMAND(record, "run a machine and collect a trace of it") \
	COMMAND(ctl, "steer a run that is going on") \
	COMMAND(top, "look on while a collection runs") \
	COMMAND(info, "show what is in a trace") \
	COMMAND(cat, "print a trace's records as text") \
	COMMAND(import, "make a trace of another program's") \
	COMMAND(export, "write a trace in another format") \
	COMMAND(reduce, "drop references that simulations do not need") \
	COMMAND(merge, "give references their canonical pages") \
	COMMAND(sim, "count the faults of replacement policies") \
	COMMAND(schedule, "run a trace's threads on another machine") \
	COMMAND(report, "show on one page what ran and what memory it used") \
	COMMAND(regret, "compare what reclaim evicted with what would have been best") \
	COMMAND(compare_reclaim, "run a program with little memory, under both kinds of LRU, beside OPT") \
	COMMAND(study, "measure what reductions save and what they cost") \
	COMMAND(campaign, "make many runs and simulations, here or by Slurm") \
	COMMAND(plot, "draw the results of sim, and what report shows") \
	COMMAND(verify, "check that a trace is whole") \
	COMMAND(reproduce, "make a trace again from its header") \
	COMMAND(doctor, "say what is missing to run a guest") \
	COMMAND(repair, "save what is whole of a damaged trace")

#define CLI_DECLARE(name, summary) int cmd_##name(int argc, char **argv);
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

#endif
