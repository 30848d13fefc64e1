// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The structures that the module reads: where the headers that it is compiled with have each
 * member, the kernel has it, too.
 */
#include "laplace.h"

#include <linux/binfmts.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/mmzone.h>
#include <linux/path.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <linux/vmstat.h>

#define LPL_CHECK(structure, member, offset, bytes)						\
	static_assert(offsetof(struct structure, member) == (offset) &&				\
		      sizeof(((struct structure *)NULL)->member) == (bytes),			\
		      "struct " #structure "'s member " #member					\
		      " is elsewhere in the kernel than in its headers");

LPL_MEMBERS(LPL_CHECK)
