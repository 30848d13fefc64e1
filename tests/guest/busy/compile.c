/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A compiler, of units that are nothing but a number: each is a function from a
 * number to a number, drawn from the unit's own.
 *
 *	compile N		unit N, as assembler
 *	compile main UNITS	a program that hands a number from unit to unit, and
 *				writes what comes out, 8 bytes
 *	expect UNITS		writes the same without compiling anything
 *	load LIBRARY UNITS	the units have become a shared library: do they agree?
 */
#include "busy.h"

#include <dlfcn.h>

enum { OPERATIONS = 100, KINDS = 4 };

struct operation {
	unsigned int kind;
	uint64_t constant;
};

static const uint64_t first = 0x1234567;

static struct operation draw(unsigned int unit, unsigned int i)
{
	uint64_t lot = scramble((uint64_t)unit << 32 | i);

	/* as large as the processor's instructions take it */
	return (struct operation){ (unsigned int)(lot % KINDS), lot >> 33 | 1 };
}

static uint64_t apply(const struct operation *operation, uint64_t value)
{
	switch (operation->kind) {
	case 0:
		return value + operation->constant;
	case 1:
		return value ^ operation->constant;
	case 2:
		return value * operation->constant;
	default:
		return value << 13 | value >> 51;
	}
}

static void print(const struct operation *operation)
{
	static const char *const text[KINDS] = {
		"\taddq $%lu, %%rax\n", "\txorq $%lu, %%rax\n", "\timulq $%lu, %%rax, %%rax\n",
		"\trolq $13, %%rax\n",
	};

	if (operation->kind == KINDS - 1)
		printf("%s", "\trolq $13, %rax\n");
	else
		printf(text[operation->kind], (unsigned long)operation->constant);
}

static void compile_unit(unsigned int unit)
{
	printf("\t.text\n\t.globl unit%u\nunit%u:\t# %s\n\tmovq %%rdi, %%rax\n", unit, unit,
	       name_of(unit));
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		struct operation operation = draw(unit, i);

		print(&operation);
	}
	printf("\tret\n\t.data\n\t.globl units%u\nunits%u:\t.quad unit%u\n", unit, unit, unit);
}

static void compile_main(unsigned int units)
{
	printf("\t.text\n\t.globl _start\n_start:\n\tmovq $%lu, %%rdi\n", (unsigned long)first);
	for (unsigned int i = 1; i <= units; i++)
		printf("\tmovq units%u(%%rip), %%rax\n\tcall *%%rax\n\tmovq %%rax, %%rdi\n", i);
	printf("\tmovq %%rdi, result(%%rip)\n"
	       "\tmovl $1, %%eax\n\tmovl $1, %%edi\n\tleaq result(%%rip), %%rsi\n"
	       "\tmovl $8, %%edx\n\tsyscall\n"		/* write */
	       "\tmovl $60, %%eax\n\txorl %%edi, %%edi\n\tsyscall\n"	/* exit */
	       "\t.bss\nresult:\t.skip 8\n");
}

static unsigned int number(int argc, char *argv[], int i)
{
	require(i < argc && atoi(argv[i]) > 0, "how many units?");
	return (unsigned int)atoi(argv[i]);
}

void compile(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], "main") == 0)
		compile_main(number(argc, argv, 2));
	else
		compile_unit(number(argc, argv, 1));
	printf("\t.section .note.GNU-stack, \"\", @progbits\n");	/* not to be executed */
}

static uint64_t by_hand(unsigned int unit, uint64_t value)
{
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		struct operation operation = draw(unit, i);

		value = apply(&operation, value);
	}
	return value;
}

void expect(int argc, char *argv[])
{
	unsigned int units = number(argc, argv, 1);
	uint64_t value = first;

	for (unsigned int i = 1; i <= units; i++)
		value = by_hand(i, value);
	fwrite(&value, sizeof(value), 1, stdout);
}

void load(int argc, char *argv[])
{
	unsigned int units = number(argc, argv, 2);
	void *library = dlopen(argv[1], RTLD_NOW);

	if (library == NULL)
		require(false, dlerror());
	for (unsigned int i = 1; i <= units; i++) {
		uint64_t (**unit)(uint64_t);
		char name[24];

		snprintf(name, sizeof(name), "units%u", i);
		unit = dlsym(library, name);
		require(unit != NULL && (*unit)(i) == by_hand(i, i), "a unit of the library");
	}
	dlclose(library);
}
