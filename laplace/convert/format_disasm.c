/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions, with what they refer to: of a trace that has their bytes.
 *
 *	u SPACE ADDRESS  BYTES  INSTRUCTION	executed by a user (k: the kernel)
 *		r ADDRESS,LENGTH		what it read, wrote (w), ...
 *
 * Spaces, addresses and bytes are hexadecimal.  An instruction is known when what follows its fetch is, for it may
 * go on on another page.
 */
#include <string.h>

#include "instructions.h"

enum { COLUMN = 22 };		/* from the bytes to the text, at least */

struct known {
	struct lpl_instruction instruction;
	char text[LPL_DISASSEMBLY_SIZE];
};

struct disassembly {
	struct lpl_instructions instructions;
	struct known known[LPL_INSTRUCTIONS_KNOWN];
};

static const char *text_of(struct disassembly *disassembly)
{
	const struct lpl_instruction *now = &disassembly->instructions.now;
	struct known *known = &disassembly->known[now->address % LPL_INSTRUCTIONS_KNOWN];

	if (!lpl_same_instruction(&known->instruction, now)) {
		known->instruction = *now;
		lpl_disassemble(disassembly->instructions.decoder, now, known->text);
	}
	return known->text;
}

/* 15 bytes at most, and the longest instruction's text: far less than the room that there is. */
static char *write_instruction(struct lpl_exporter *exporter, char *out)
{
	static const char digits[] = "0123456789abcdef";
	struct disassembly *disassembly = exporter->state;
	struct lpl_instruction *instruction = &disassembly->instructions.now;
	char *bytes;

	if (instruction->length == 0)
		return out;
	*out++ = instruction->user ? 'u' : 'k';
	*out++ = ' ';
	out = lpl_put_hex(out, instruction->space);
	*out++ = ' ';
	out = lpl_put_hex(out, instruction->address);
	*out++ = ' ';
	*out++ = ' ';
	bytes = out;
	for (unsigned int i = 0; i < instruction->length && instruction->bits; i++) {
		*out++ = digits[instruction->bytes[i] >> 4];
		*out++ = digits[instruction->bytes[i] & 15];
	}
	do
		*out++ = ' ';
	while (out < bytes + COLUMN);
	out = stpcpy(out, instruction->bits ? text_of(disassembly) : "?");
	instruction->length = 0;
	return put_newline(out);
}

static char *write_data(char *out, const struct lpl_ref *ref)
{
	*out++ = '\t';
	*out++ = lpl_type_letter(ref->type);
	*out++ = ' ';
	out = lpl_put_hex(out, ref->address);
	*out++ = ',';
	return put_newline(lpl_put_decimal(out, ref->length));
}

static char *write_disassembly(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct disassembly *disassembly = exporter->state;

	if (ref->type != LPL_FETCH || !(ref->flags & LPL_SECOND))
		out = write_instruction(exporter, out);
	if (ref->type != LPL_FETCH)
		return write_data(out, ref);
	(void)lpl_code_fetch(disassembly->instructions.code, ref, &disassembly->instructions.now);
	return out;
}

const struct lpl_format lpl_format_disasm = {
	.name = "disasm",
	.fields = "u|k SPACE ADDRESS BYTES INSTRUCTION, and r|w|p|q ADDRESS,LENGTH of each of its data references",
	.traits = LPL_FORMAT_EXPORT_ONLY | LPL_FORMAT_CODE | LPL_FORMAT_EVENTS | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES | LPL_WITH_MODE,
	.write_begin = lpl_instructions_begin,
	.write_ref = write_disassembly,
	.write_event = lpl_instructions_follow,
	.write_rest = write_instruction,
	.export_state = sizeof(struct disassembly),
	.export_begin = lpl_instructions_open,
	.export_free = lpl_instructions_free,
};
