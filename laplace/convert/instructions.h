/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What formats with instructions share: the trace's code, a decoder, and the instruction that is going on. */
#ifndef LAPLACE_CONVERT_INSTRUCTIONS_H
#define LAPLACE_CONVERT_INSTRUCTIONS_H

#include "decode/decoder.h"
#include "exporter.h"

/* Instructions of which a format keeps what it has found out, by address: most were executed before. */
#define LPL_INSTRUCTIONS_KNOWN 8192

/* The beginning of such a format's state. */
struct lpl_instructions {
	struct lpl_code *code;
	struct lpl_decoder *decoder;
	struct lpl_instruction now;	/* of length 0: there is none */
};

/* Members of struct lpl_format: export_begin, export_free, write_begin and write_event. */
bool lpl_instructions_open(void *state);
void lpl_instructions_free(void *state);
char *lpl_instructions_begin(struct lpl_exporter *exporter, char *out);
char *lpl_instructions_follow(struct lpl_exporter *exporter, char *out, const struct lpl_event *event);

#endif
