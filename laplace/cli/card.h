/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace's card: what the appendix of a paper has to say about it.
 */
#ifndef LAPLACE_CLI_CARD_H
#define LAPLACE_CLI_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <laplace/trace.h>

struct card {
	const char *path;
	const struct lpl_meta *meta;
	const char *state;		/* "complete", or why it is not */
	const char *missing;		/* of what it was made from; NULL: nothing */
	uint64_t bytes, segments, events;
	uint64_t kept, before;		/* references; before 0: not known */
	uint64_t first_instruction, last_instruction;
	uint64_t tracer;		/* references of the tracer's own, which were left out */
};

/*
 * A section an object, in the order in which they are shown; NULL: no memory.  *status is an exit
 * status: the file is read once more, for its hash.
 */
json_t *card_json(const struct card *card, int *status);

/* The same for people, on standard output; frees it. */
void card_print(json_t *card);

#endif
