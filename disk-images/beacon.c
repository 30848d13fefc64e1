/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The beacon's references.  Each access is one instruction of inline assembly
 * with its address in a register, so that the compiler neither adds, drops,
 * merges nor moves one.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "beacon.h"

static uint64_t next_number(uint64_t *state)
{
	*state = *state * 16807 % 2147483647;
	return *state;
}

static void load(uint64_t address, unsigned int bytes)
{
	uint64_t value;

	switch (bytes) {
	case 1:
		__asm__ volatile("movb (%1), %b0" : "=q"(value) : "r"(address) : "memory");
		break;
	case 2:
		__asm__ volatile("movw (%1), %w0" : "=r"(value) : "r"(address) : "memory");
		break;
	case 4:
		__asm__ volatile("movl (%1), %k0" : "=r"(value) : "r"(address) : "memory");
		break;
	default:
		__asm__ volatile("movq (%1), %q0" : "=r"(value) : "r"(address) : "memory");
	}
}

static void store(uint64_t address, unsigned int bytes, uint64_t value)
{
	switch (bytes) {
	case 1:
		__asm__ volatile("movb %b0, (%1)" : : "q"(value), "r"(address) : "memory");
		break;
	case 2:
		__asm__ volatile("movw %w0, (%1)" : : "r"(value), "r"(address) : "memory");
		break;
	case 4:
		__asm__ volatile("movl %k0, (%1)" : : "r"(value), "r"(address) : "memory");
		break;
	default:
		__asm__ volatile("movq %q0, (%1)" : : "r"(value), "r"(address) : "memory");
	}
}

static void add(uint64_t address)
{
	__asm__ volatile("addl $1, (%0)" : : "r"(address) : "memory", "cc");
}

static void copy(uint64_t from, uint64_t to, uint64_t bytes)
{
	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(bytes) : : "memory");
}

static void store_vector(uint64_t address)
{
	__asm__ volatile("movups %%xmm0, (%0)" : : "r"(address) : "memory");
}

static uint64_t at(uint64_t page, uint64_t offset)
{
	return BEACON_BASE + 4096 * page + offset;
}

/* One step from its three numbers, which beacon.h calls K, P and O. */
static void step(uint64_t kind, uint64_t place, uint64_t offset)
{
	unsigned int bytes = 1U << kind % 13 % 4;
	uint64_t page = place % BEACON_PAGES;
	uint64_t within = at(page, offset % (4097 - bytes));
	uint64_t across = at(1 + place % (BEACON_PAGES - 1), 0) - (1 + offset % 7);

	switch (kind % 13) {
	case 0: case 1: case 2: case 3:
		load(within, bytes);
		break;
	case 4: case 5: case 6: case 7:
		store(within, bytes, offset);
		break;
	case 8:
		add(at(page, offset % 4093));
		break;
	case 9:
		load(across, 8);
		break;
	case 10:
		store(across, 8, offset);
		break;
	case 11:
		copy(at(page, offset % 4000),
		     at((page + 1) % BEACON_PAGES, offset % 4000), 1 + offset % 48);
		break;
	default:
		store_vector(at(page, offset % 4081));
	}
}

static void touch(uint64_t page)
{
	load(at(page, 0), 1);
	if (page % 2 == 0)
		store(at(page, 0), 1, page);
	else
		add(at(page, 0));
}

int beacon_run(void)
{
	uint64_t state = BEACON_SEED;
	void *base = mmap((void *)BEACON_BASE, BEACON_END - BEACON_BASE,
			  PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (base == MAP_FAILED)
		return -1;
	for (uint64_t page = 0; page < BEACON_PAGES; page++)
		touch(page);
	for (int i = 0; i < BEACON_STEPS; i++) {
		uint64_t kind = next_number(&state);
		uint64_t place = next_number(&state);

		step(kind, place, next_number(&state));
	}
	return munmap(base, BEACON_END - BEACON_BASE);
}
