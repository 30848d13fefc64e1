/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instructions by Zydis; see decoder.h. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#ifdef LAPLACE_ZYDIS

#include "zydis.h"

/* Numbers as objdump has them. */
static bool set_style(ZydisFormatter *formatter)
{
	return ZYAN_SUCCESS(ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_ATT)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS,
						      ZYDIS_SIGNEDNESS_UNSIGNED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
						      ZYDIS_PADDING_DISABLED));
}

static bool begin(struct lpl_decoder *decoder)
{
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder->mode16, ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16)) &&
	       ZYAN_SUCCESS(ZydisDecoderInit(&decoder->mode32, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32)) &&
	       ZYAN_SUCCESS(ZydisDecoderInit(&decoder->mode64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
	       set_style(&decoder->formatter);
}

enum lpl_error lpl_decoder_open(struct lpl_decoder **decoder, struct lpl_report *report)
{
	*decoder = calloc(1, sizeof(**decoder));
	if (*decoder != NULL && begin(*decoder))
		return LPL_OK;
	free(*decoder);
	*decoder = NULL;
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory to decode instructions");
}

/* The operands: those that are written in its text, and those that are not. */
struct operands {
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
		   ZydisDecodedInstruction *decoded, struct operands *operands)
{
	return instruction->bits && lpl_zydis_decode(decoder, instruction, decoded, operands->operand);
}

const char *lpl_disassemble(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			    char text[LPL_DISASSEMBLY_SIZE])
{
	ZydisDecodedInstruction decoded;
	struct operands operands;

	if (!decode(decoder, instruction, &decoded, &operands) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&decoder->formatter, &decoded, operands.operand,
							  decoded.operand_count_visible, text,
							  LPL_DISASSEMBLY_SIZE, instruction->address, NULL)))
		strcpy(text, "(bad)");
	return text;
}

static bool has_target(const ZydisDecodedInstruction *decoded, const struct operands *operands)
{
	return decoded->operand_count_visible > 0 && operands->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       operands->operand[0].imm.is_relative;
}

static enum lpl_branch branch_of(const ZydisDecodedInstruction *decoded, bool direct)
{
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return LPL_BRANCH_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? LPL_BRANCH_JUMP : LPL_BRANCH_INDIRECT_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return direct ? LPL_BRANCH_CALL : LPL_BRANCH_INDIRECT_CALL;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return LPL_BRANCH_SYSTEM_CALL;
	case ZYDIS_CATEGORY_SYSRET:
		return LPL_BRANCH_SYSTEM_RETURN;
	case ZYDIS_CATEGORY_RET:
		return decoded->mnemonic == ZYDIS_MNEMONIC_RET ? LPL_BRANCH_RETURN : LPL_BRANCH_SYSTEM_RETURN;
	default:
		return LPL_BRANCH_NONE;
	}
}

/* It has an operand in memory, and does not refer to it. */
static bool is_hint(const ZydisDecodedInstruction *decoded)
{
	return decoded->meta.category == ZYDIS_CATEGORY_NOP || decoded->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       decoded->meta.category == ZYDIS_CATEGORY_PREFETCH;
}

/* Of what it finds where it saves the processor's state, it reads what was saved there: that is no operand. */
static bool saves_state(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
		return true;
	default:
		return false;
	}
}

static void count_memory(const ZydisDecodedInstruction *decoded, const struct operands *operands,
			 struct lpl_decoded *result)
{
	for (unsigned int i = 0; i < decoded->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands->operand[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		result->reads += (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		result->writes += (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	}
}

bool lpl_decode(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
		struct lpl_decoded *result)
{
	const ZydisInstructionAttributes repeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						   ZYDIS_ATTRIB_HAS_REPNE;
	ZydisDecodedInstruction decoded;
	struct operands operands;

	*result = (struct lpl_decoded){ 0 };
	if (!decode(decoder, instruction, &decoded, &operands))
		return false;
	if (has_target(&decoded, &operands) &&
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operands.operand[0], instruction->address,
						   &result->target)))
		return false;
	result->branch = branch_of(&decoded, has_target(&decoded, &operands));
	result->repeats = (decoded.attributes & repeats) != 0;
	if (!is_hint(&decoded))
		count_memory(&decoded, &operands, result);
	if (saves_state(&decoded))
		result->reads = 0;
	return true;
}

#else

enum lpl_error lpl_decoder_open(struct lpl_decoder **decoder, struct lpl_report *report)
{
	*decoder = NULL;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "instructions cannot be decoded: Laplace was built without Zydis "
			"(install the package libzydis-dev, configure and build again)");
}

const char *lpl_disassemble(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			    char text[LPL_DISASSEMBLY_SIZE])
{
	(void)decoder;
	(void)instruction;
	text[0] = '\0';
	return text;
}

bool lpl_decode(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
		struct lpl_decoded *decoded)
{
	(void)decoder;
	(void)instruction;
	*decoded = (struct lpl_decoded){ 0 };
	return false;
}

#endif

void lpl_decoder_close(struct lpl_decoder *decoder)
{
	free(decoder);
}
