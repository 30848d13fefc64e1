/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the guest's program prints, on its way to the host (output-log.h). */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "output-log.h"

struct output {
	int disk;
	uint64_t size;		/* of the disk */
	uint64_t at;		/* where the next block goes */
	uint32_t used;		/* bytes of pieces that wait in `block` */
	uint32_t piece;		/* where the last of them begins */
	struct log_piece last;
	uint64_t since;		/* when the first of them was read, in ms */
	struct log_end end;
	_Alignas(4096) unsigned char block[LOG_BLOCK_SIZE];
};

enum output_result { OUTPUT_TAKEN, OUTPUT_NONE, OUTPUT_OVER, OUTPUT_FULL, OUTPUT_FAILED };

uint64_t output_now(void);	/* ms */

/* Take the secret, and leave none there.  False: errno says why. */
bool output_open(struct output *output, const char *device);

/*
 * Take what is in the pipe, as far as it fits into a block.  OUTPUT_NONE: nothing is there now,
 * OVER: nothing will be; FULL: it does not fit on the disk, FAILED: errno says why.
 */
enum output_result output_take(struct output *output, int pipe, uint32_t stream);

/* Milliseconds until what waits has to be written; -1: nothing waits. */
int output_due(const struct output *output);

/* Write what waits.  TAKEN, FULL or FAILED. */
enum output_result output_flush(struct output *output);

/* How it ended: the last that is written. */
bool output_close(struct output *output, enum log_how how, uint32_t status, const char *why);

#endif
