/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction of a fetch: its translation, and the code that is there; see <laplace/code.h>. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include <laplace/trace.h>
#include <laplace/translation.h>

#include "base/try.h"

struct lpl_code {
	struct lpl_translations *translations;
	struct lpl_blocks *blocks;
};

bool lpl_has_code(const struct lpl_meta *meta)
{
	const char *code = lpl_meta_get(meta, LPL_META_CODE), *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);

	return code != NULL && strcmp(code, LPL_CODE_KEPT) == 0 && lpl_has_translations(meta) &&
	       (reduction == NULL || strcmp(reduction, "none") == 0);
}

enum lpl_error lpl_code_open(struct lpl_code **code, struct lpl_report *report)
{
	struct lpl_code *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*code = NULL;
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for code");
	error = lpl_translations_open(&made->translations, report);
	if (error == LPL_OK)
		error = lpl_blocks_open(&made->blocks, report);
	if (error != LPL_OK)
		lpl_code_close(made);
	else
		*code = made;
	return error;
}

void lpl_code_close(struct lpl_code *code)
{
	if (code == NULL)
		return;
	lpl_translations_close(code->translations);
	lpl_blocks_close(code->blocks);
	free(code);
}

struct lpl_translations *lpl_code_translations(struct lpl_code *code)
{
	return code->translations;
}

enum lpl_error lpl_code_follow(struct lpl_code *code, const struct lpl_event *event,
			       struct lpl_report *report)
{
	LPL_TRY(lpl_translations_follow(code->translations, event, report));
	return lpl_blocks_follow(code->blocks, event, report);
}

/* How the part was decoded; 0: not known. */
static unsigned int read_part(const struct lpl_code *code, const struct lpl_ref *fetch, uint8_t *bytes)
{
	const uint64_t offset = fetch->address & ((1U << LPL_PAGE_SHIFT) - 1);
	struct lpl_translation found;

	if (!lpl_translate(code->translations, fetch->space, fetch->address, &found))
		return 0;
	return lpl_blocks_read(code->blocks, (found.frame << LPL_PAGE_SHIFT) + offset, fetch->length, bytes);
}

bool lpl_code_fetch(const struct lpl_code *code, const struct lpl_ref *fetch,
		    struct lpl_instruction *instruction)
{
	const bool second = fetch->flags & LPL_SECOND && instruction->length != 0;
	unsigned int bits = 0;

	if (!second)
		*instruction = (struct lpl_instruction){
			.address = fetch->address, .space = fetch->space, .instr = fetch->instr,
			.user = fetch->flags & LPL_USER
		};
	if (instruction->length + fetch->length <= LPL_INSTRUCTION_MAX)
		bits = read_part(code, fetch, instruction->bytes + instruction->length);
	if (!second)
		instruction->bits = bits;
	else if (bits == 0)
		instruction->bits = 0;
	instruction->length += fetch->length;
	return bits != 0;
}
