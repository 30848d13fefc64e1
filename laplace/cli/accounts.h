/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace's accounts, as `laplace info` prints them: what making it cost, in time and bytes. */
#ifndef LAPLACE_CLI_ACCOUNTS_H
#define LAPLACE_CLI_ACCOUNTS_H

#include <jansson.h>

#include <laplace/trace.h>

/* 0: not known. */
struct accounts {
	struct lpl_accounts recording;
	uint64_t wait_ns;
	uint64_t before, kept;		/* references */
	uint64_t packed, bytes;		/* of the payloads before compression; of the file */
};

void accounts_print(const struct accounts *accounts);
/* The caller's. */
json_t *accounts_json(const struct accounts *accounts);

#endif
