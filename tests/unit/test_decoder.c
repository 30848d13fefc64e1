/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What instructions do (decode/decoder.h), as the processor's manual has them: where they go on, whether a
 * prefix repeats them, and how many operands they have in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "decode/decoder.h"

static const struct {
	const char *bytes;
	unsigned int length, bits;
	struct lpl_decoded expected;
} known[] = {
	{ "\x90", 1, 64, { LPL_BRANCH_NONE, 0, false, 0, 0 } },			/* nop */
	{ "\x8d\x04\x24", 3, 64, { LPL_BRANCH_NONE, 0, false, 0, 0 } },		/* lea (%rsp), %eax */
	{ "\x0f\x1f\x00", 3, 64, { LPL_BRANCH_NONE, 0, false, 0, 0 } },		/* nop (%rax) */
	{ "\x0f\x18\x08", 3, 64, { LPL_BRANCH_NONE, 0, false, 0, 0 } },		/* prefetcht0 (%rax) */
	{ "\x8b\x45\xfc", 3, 64, { LPL_BRANCH_NONE, 0, false, 1, 0 } },		/* mov -4(%rbp), %eax */
	{ "\x01\x18", 2, 64, { LPL_BRANCH_NONE, 0, false, 1, 1 } },		/* add %ebx, (%rax) */
	{ "\xff\x30", 2, 64, { LPL_BRANCH_NONE, 0, false, 1, 1 } },		/* push (%rax) */
	{ "\x5d", 1, 64, { LPL_BRANCH_NONE, 0, false, 1, 0 } },			/* pop %rbp */
	{ "\xa4", 1, 64, { LPL_BRANCH_NONE, 0, false, 1, 1 } },			/* movsb */
	{ "\xf3\xa4", 2, 64, { LPL_BRANCH_NONE, 0, true, 1, 1 } },		/* rep movsb */
	{ "\xf3\x48\xab", 3, 64, { LPL_BRANCH_NONE, 0, true, 0, 1 } },		/* rep stosq */
	{ "\xf2\xae", 2, 64, { LPL_BRANCH_NONE, 0, true, 1, 0 } },		/* repne scasb */
	{ "\xf3\xa6", 2, 64, { LPL_BRANCH_NONE, 0, true, 2, 0 } },		/* repe cmpsb */
	{ "\xf3\x90", 2, 64, { LPL_BRANCH_NONE, 0, false, 0, 0 } },		/* pause */
	{ "\x48\x0f\xae\x27", 4, 64, { LPL_BRANCH_NONE, 0, false, 0, 1 } },	/* xsave64 (%rdi) */
	{ "\xeb\xfe", 2, 64, { LPL_BRANCH_JUMP, 0x1000, false, 0, 0 } },
	{ "\xe9\x00\x01\x00\x00", 5, 64, { LPL_BRANCH_JUMP, 0x1105, false, 0, 0 } },
	{ "\xff\xe0", 2, 64, { LPL_BRANCH_INDIRECT_JUMP, 0, false, 0, 0 } },	/* jmp *%rax */
	{ "\xff\x20", 2, 64, { LPL_BRANCH_INDIRECT_JUMP, 0, false, 1, 0 } },	/* jmp *(%rax) */
	{ "\x74\x10", 2, 64, { LPL_BRANCH_CONDITIONAL, 0x1012, false, 0, 0 } },	/* je */
	{ "\x0f\x85\xfa\xff\xff\xff", 6, 64, { LPL_BRANCH_CONDITIONAL, 0x1000, false, 0, 0 } },
	{ "\xe2\x02", 2, 64, { LPL_BRANCH_CONDITIONAL, 0x1004, false, 0, 0 } },	/* loop */
	{ "\xe3\x02", 2, 64, { LPL_BRANCH_CONDITIONAL, 0x1004, false, 0, 0 } },	/* jrcxz */
	{ "\xe8\x00\x00\x00\x00", 5, 64, { LPL_BRANCH_CALL, 0x1005, false, 0, 1 } },
	{ "\xff\xd0", 2, 64, { LPL_BRANCH_INDIRECT_CALL, 0, false, 0, 1 } },	/* call *%rax */
	{ "\xff\x10", 2, 64, { LPL_BRANCH_INDIRECT_CALL, 0, false, 1, 1 } },	/* call *(%rax) */
	{ "\xc3", 1, 64, { LPL_BRANCH_RETURN, 0, false, 1, 0 } },
	{ "\xc2\x08\x00", 3, 64, { LPL_BRANCH_RETURN, 0, false, 1, 0 } },
	{ "\xf3\xc3", 2, 64, { LPL_BRANCH_RETURN, 0, false, 1, 0 } },		/* rep ret */
	{ "\x0f\x05", 2, 64, { LPL_BRANCH_SYSTEM_CALL, 0, false, 0, 0 } },	/* syscall */
	{ "\x0f\x34", 2, 64, { LPL_BRANCH_SYSTEM_CALL, 0, false, 0, 0 } },	/* sysenter */
	{ "\x48\x0f\x07", 3, 64, { LPL_BRANCH_SYSTEM_RETURN, 0, false, 0, 0 } },	/* sysretq */
	{ "\x74\x10", 2, 16, { LPL_BRANCH_CONDITIONAL, 0x1012, false, 0, 0 } },
	{ "\xea\x00\x10\x00\xf0", 5, 16, { LPL_BRANCH_INDIRECT_JUMP, 0, false, 0, 0 } },	/* jmp $0xf000, $0x1000 */
};

/* Of these only where they go on: how their stack is counted is a matter of taste. */
static const struct {
	const char *bytes;
	unsigned int length;
	enum lpl_branch branch;
} system_branches[] = {
	{ "\x48\xcf", 2, LPL_BRANCH_SYSTEM_RETURN },	/* iretq */
	{ "\x48\x0f\x35", 3, LPL_BRANCH_SYSTEM_RETURN },	/* sysexitq */
	{ "\xcd\x80", 2, LPL_BRANCH_SYSTEM_CALL },	/* int $0x80 */
	{ "\xcc", 1, LPL_BRANCH_SYSTEM_CALL },		/* int3 */
};

static struct lpl_decoder *decoder;

static struct lpl_instruction instruction_of(const char *bytes, unsigned int length, unsigned int bits)
{
	struct lpl_instruction instruction = { .address = 0x1000, .length = length, .bits = bits };

	memcpy(instruction.bytes, bytes, length);
	return instruction;
}

static void test_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct lpl_instruction instruction =
			instruction_of(known[i].bytes, known[i].length, known[i].bits);
		const struct lpl_decoded *expected = &known[i].expected;
		struct lpl_decoded decoded;

		if (!lpl_decode(decoder, &instruction, &decoded))
			fail_msg("instruction %zu is not decoded", i);
		if (decoded.branch != expected->branch || decoded.target != expected->target ||
		    decoded.repeats != expected->repeats || decoded.reads != expected->reads ||
		    decoded.writes != expected->writes)
			fail_msg("instruction %zu: branch %d to %lx, repeats %d, %u reads, %u writes", i,
				 (int)decoded.branch, (unsigned long)decoded.target, decoded.repeats,
				 decoded.reads, decoded.writes);
	}
}

static void test_system_branches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(system_branches) / sizeof(system_branches[0]); i++) {
		const struct lpl_instruction instruction =
			instruction_of(system_branches[i].bytes, system_branches[i].length, 64);
		struct lpl_decoded decoded;

		assert_true(lpl_decode(decoder, &instruction, &decoded));
		assert_int_equal(decoded.branch, system_branches[i].branch);
		assert_int_equal(decoded.target, 0);
	}
}

static void test_none(void **state)
{
	const struct lpl_instruction none[] = {
		instruction_of("\x0f\x0b\x90", 1, 64),	/* ends too early */
		instruction_of("\x06", 1, 64),		/* is none in 64-bit mode */
		instruction_of("\x90", 1, 0),		/* not known */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct lpl_decoded decoded = { .branch = LPL_BRANCH_CALL, .target = 1, .reads = 1 };

		assert_false(lpl_decode(decoder, &none[i], &decoded));
		assert_int_equal(decoded.branch, LPL_BRANCH_NONE);
		assert_int_equal(decoded.target, 0);
		assert_int_equal(decoded.reads, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_system_branches),
		cmocka_unit_test(test_none),
	};
	int status;

	if (lpl_decoder_open(&decoder, NULL) == LPL_ERR_UNSUPPORTED) {
		print_message("Laplace was built without Zydis\n");
		return 77;
	}
	status = cmocka_run_group_tests(tests, NULL, NULL);
	lpl_decoder_close(decoder);
	return status;
}
