/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made-up guests that map, touch, fork, write, truncate, free and reclaim pages at random, in an order of
 * events that Linux has, and others.  What happens to which page, which the guest knows by itself, is
 * written down in a log (oracle_regret.h).
 */
#ifndef LAPLACE_TESTS_REGRET_GUEST_H
#define LAPLACE_TESTS_REGRET_GUEST_H

#include <string.h>

#include <laplace/regret.h>

#include "oracle_regret.h"

#define SPACES	3
#define ANONYMOUS 6		/* pages of a space */
#define FILES	4
#define OFFSETS	6		/* pages of a file */
#define SHARED	3		/* this file is shared memory */
#define NONE	UINT32_MAX
#define BATCH	24		/* references that come at once, at most */
#define AT_ANONYMOUS UINT64_C(0x10000)
#define AT_FILE	UINT64_C(0x400000)	/* and the next 0x100000 bytes on */
#define ALIAS	UINT64_C(0xffff888000000000)

struct guest_file {
	uint64_t device, inode, generation;
	uint32_t page[OFFSETS];		/* as the log has it; NONE: not named yet */
	bool cached[OFFSETS], aliased[OFFSETS];	/* there; at an address of the kernel's, too */
	uint64_t frame[OFFSETS], slot[OFFSETS];	/* slot 0: none */
};

struct trial {
	struct regret_log log;
	struct lpl_regret *regret;
	struct lpl_sink *sink;
	uint64_t state, clock, frames, slots;
	bool takes[FILES];
	struct guest_file file[FILES];
	bool lives[SPACES];
	uint32_t of[SPACES][ANONYMOUS];	/* the page there; NONE: not touched */
	unsigned int sharers[LOG_PAGES];
	uint64_t slot[LOG_PAGES];
	struct lpl_ref batch[BATCH];	/* references that are still to be sent */
	size_t batched;
	/* what the regret reported, by number less 1 */
	struct lpl_regret_eviction *heard;
	size_t heards;
};

/* A page that was not there before; `device` is one of which reclaim takes no pages as yet, or 0. */
uint32_t new_page(struct trial *trial, uint64_t device);
struct log_line *write_down(struct trial *trial, enum deed deed);
void write_page(struct trial *trial, enum deed deed, uint32_t page);
void send(struct trial *trial, uint32_t tag, const uint64_t arg[8]);
#define SEND(trial, tag, ...) send(trial, tag, (const uint64_t[8]){ __VA_ARGS__ })
/* References are sent with those that follow, before an event at the latest. */
void send_references(struct trial *trial);
void refer(struct trial *trial, uint64_t space, uint64_t address, enum lpl_type type);

/* The guest does something; `cuts`: records are missing now and then. */
void act(struct trial *trial, unsigned int cuts);

#endif
