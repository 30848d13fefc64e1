/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shared library that all parts use: a function, and a table of addresses, for
 * which the dynamic linker writes to its private pages of the file.
 */
#include "busy.h"

uint64_t scramble(uint64_t number)
{
	number += 0x9e3779b97f4a7c15U;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9U;
	number = (number ^ number >> 27) * 0x94d049bb133111ebU;
	return number ^ number >> 31;
}

static const char *const names[] = {
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta",
};

const char *name_of(unsigned int number)
{
	return names[number % (sizeof(names) / sizeof(names[0]))];
}
