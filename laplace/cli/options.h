/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options that several subcommands have, as tables.
 */
#ifndef LAPLACE_CLI_OPTIONS_H
#define LAPLACE_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <laplace/select.h>
#include <laplace/trace.h>

#include "option_table.h"
#include "sim/policies.h"

enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER };

/* For CLI_WITH() and what they are read into: */
extern const struct cli_option cli_json_options[];	/* --json: bool */
extern const struct cli_option cli_progress_options[];	/* --progress=WHEN: enum cli_when */
extern const struct cli_option cli_overwrite_options[];	/* --overwrite: bool */
extern const struct cli_option cli_jobs_options[];	/* --jobs=N: unsigned int; 0: not given */
/* --process, --children, --task and so on: struct lpl_choice_options, of zeros at first */
extern const struct cli_option cli_choice_options[];

#define CLI_POLICY(name) #name " "
#define CLI_POLICIES LPL_ONE_PASS_POLICIES(CLI_POLICY) LPL_DEMAND_POLICIES(CLI_POLICY)

/* Rows that several tables have, as they are. */
#define CLI_LEVEL(config, member, ...) { "level", CLI_NUMBER, 'l', CLI_INTO(config, member), .argument = "N", \
	.least = 1, .most = 19, .wrong = "%n is %l to %m", \
	.help = "Compression level of zstd, %l to %m (3)", __VA_ARGS__ }
#define CLI_KERNEL_BASE(config, member, in_group) { "kernel-base", CLI_ADDRESS, CLI_INTO(config, member), \
	.argument = "ADDRESS", .group = (in_group), \
	.help = "Where the kernel's half of an address space begins (what the guest says, else " \
	"8000000000000000); a 32-bit Linux has c0000000" }

#define CLI_KERNEL_TEXT(config, member) { "kernel-text", CLI_ADDRESS, CLI_INTO(config, member), \
	.argument = "ADDRESS", \
	.help = "With --symbols: where the guest's kernel has its _text, if it was moved when it booted " \
	"(KASLR)" }

/* What there are functions by, and where they are inlined. */
#define CLI_INLINED(config, member, with) { "inlined", CLI_FLAG, CLI_INTO(config, member), \
	.help = "With " with ": code is of the function that it was written in, not of the one that " \
	"this is inlined in: by the debug information (DWARF) of the files, and of a vmlinux" }

/*
 * What is said of the references chosen of a trace: its own meta, what was chosen, and if it was
 * reduced, that the rest is exact for nothing.  To be freed.  Returns an exit status.
 */
int cli_choice_meta(struct lpl_meta **chosen, const struct lpl_meta *meta,
		    const struct lpl_choice_options *choice);

/* How many threads that is. */
unsigned int cli_jobs(unsigned int asked);

#endif
