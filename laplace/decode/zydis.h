/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A decoder as the files of this room see it, where there is Zydis. */
#ifndef LAPLACE_DECODE_ZYDIS_H
#define LAPLACE_DECODE_ZYDIS_H

#include <Zydis/Zydis.h>

#include <laplace/code.h>

struct lpl_decoder {
	ZydisDecoder mode16, mode32, mode64;
	ZydisFormatter formatter;
};

static inline bool lpl_zydis_decode(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
				    ZydisDecodedInstruction *decoded,
				    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT])
{
	const ZydisDecoder *mode = instruction->bits == 64 ? &decoder->mode64 :
				   instruction->bits == 32 ? &decoder->mode32 : &decoder->mode16;

	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(mode, instruction->bytes, instruction->length, decoded, operand));
}

#endif
