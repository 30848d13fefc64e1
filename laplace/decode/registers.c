/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of instructions; see registers.h. */
#include "registers.h"

#ifdef LAPLACE_ZYDIS

#include "zydis.h"

enum {
	READS = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD,
	WRITES = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE
};

/* Pin's number; 0: none that is counted. */
static uint8_t number_of(ZydisRegister found)
{
	/* by Zydis' ids: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... */
	static const uint8_t general[] = { 10, 9, 8, 7, 6, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18 };
	const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, found);
	const ZydisRegister counted = whole != ZYDIS_REGISTER_NONE ? whole : found;
	const ZyanI8 id = ZydisRegisterGetId(counted);

	switch (ZydisRegisterGetClass(counted)) {
	case ZYDIS_REGCLASS_GPR64:
		return id >= 0 && id < (int)sizeof(general) ? general[id] : 0;
	case ZYDIS_REGCLASS_FLAGS:
		return LPL_REGISTER_FLAGS;
	case ZYDIS_REGCLASS_IP:
		return LPL_REGISTER_IP;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return (uint8_t)(LPL_REGISTER_VECTOR + (id & 31));
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		return (uint8_t)(LPL_REGISTER_X87 + (id & 7));
	case ZYDIS_REGCLASS_MASK:
		return (uint8_t)(LPL_REGISTER_MASK + (id & 7));
	default:
		return 0;
	}
}

static bool decides(uint8_t number)
{
	return number == LPL_REGISTER_SP || number == LPL_REGISTER_FLAGS || number == LPL_REGISTER_IP;
}

/* Once; one that decides about branches goes before those that do not. */
static void add(uint8_t list[LPL_REGISTERS], unsigned int *count, uint8_t number)
{
	unsigned int at = *count;

	for (unsigned int i = 0; i < *count; i++)
		if (list[i] == number)
			return;
	if (number == 0 || at == LPL_REGISTERS)
		return;
	for (; decides(number) && at > 0 && !decides(list[at - 1]); at--)
		list[at] = list[at - 1];
	list[at] = number;
	++*count;
}

static void add_operand(struct lpl_registers *registers, const ZydisDecodedOperand *operand)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		add(registers->read, &registers->reads, number_of(operand->mem.base));
		add(registers->read, &registers->reads, number_of(operand->mem.index));
	}
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	if (operand->actions & READS)
		add(registers->read, &registers->reads, number_of(operand->reg.value));
	if (operand->actions & WRITES)
		add(registers->written, &registers->writes, number_of(operand->reg.value));
}

/* Where a branch finds its target, if that is no register. */
static const ZydisDecodedOperand *target_in_memory(const ZydisDecodedInstruction *decoded,
						   const ZydisDecodedOperand *operand)
{
	const bool branches = decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
			      decoded->meta.category == ZYDIS_CATEGORY_CALL;

	return branches && decoded->operand_count && operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? &operand[0] : NULL;
}

bool lpl_find_registers(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			struct lpl_registers *registers)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	const ZydisDecodedOperand *target;

	*registers = (struct lpl_registers){ .reads = 0 };
	if (instruction->bits == 0 || !lpl_zydis_decode(decoder, instruction, &decoded, operand))
		return false;
	target = target_in_memory(&decoded, operand);
	if (target != NULL)
		add(registers->read, &registers->reads, LPL_REGISTER_MEMORY);
	for (unsigned int i = 0; i < decoded.operand_count; i++)
		if (&operand[i] != target || number_of(operand[i].mem.base) != LPL_REGISTER_IP)
			add_operand(registers, &operand[i]);
	return true;
}

#else

bool lpl_find_registers(const struct lpl_decoder *decoder, const struct lpl_instruction *instruction,
			struct lpl_registers *registers)
{
	(void)decoder;
	(void)instruction;
	*registers = (struct lpl_registers){ .reads = 0 };
	return false;
}

#endif
