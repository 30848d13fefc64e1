/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instructions by Zydis; see decoder.h. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#ifdef LAPLACE_ZYDIS

#include <Zydis/Zydis.h>

struct lpl_decoder {
	ZydisDecoder mode16, mode32, mode64;
	ZydisFormatter formatter;
};

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

static const ZydisDecoder *mode_of(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction)
{
	return instruction->bits == 64 ? &decoder->mode64 :
	       instruction->bits == 32 ? &decoder->mode32 : &decoder->mode16;
}

const char *lpl_disassemble(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			    char text[LPL_DISASSEMBLY_SIZE])
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(mode_of(decoder, instruction), instruction->bytes,
						 instruction->length, &decoded, operand)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&decoder->formatter, &decoded, operand,
							  decoded.operand_count_visible, text,
							  LPL_DISASSEMBLY_SIZE, instruction->address, NULL)))
		strcpy(text, "(bad)");
	return text;
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

#endif

void lpl_decoder_close(struct lpl_decoder *decoder)
{
	free(decoder);
}
