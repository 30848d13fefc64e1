/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What formats with instructions share; see instructions.h. */
#include "instructions.h"

bool lpl_instructions_open(void *state)
{
	struct lpl_instructions *instructions = state;

	return lpl_code_open(&instructions->code, NULL) == LPL_OK;
}

void lpl_instructions_free(void *state)
{
	struct lpl_instructions *instructions = state;

	lpl_code_close(instructions->code);
	lpl_decoder_close(instructions->decoder);
}

char *lpl_instructions_begin(struct lpl_exporter *exporter, char *out)
{
	struct lpl_instructions *instructions = exporter->state;

	if (!lpl_has_code(exporter->options.meta))
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, LPL_NO_CODE);
	return lpl_decoder_open(&instructions->decoder, exporter->report) == LPL_OK ? out : NULL;
}

/* NULL: it is written as any other event, where events are. */
char *lpl_instructions_follow(struct lpl_exporter *exporter, char *out, const struct lpl_event *event)
{
	struct lpl_instructions *instructions = exporter->state;

	(void)out;
	(void)lpl_code_follow(instructions->code, event, exporter->report);
	return NULL;
}
