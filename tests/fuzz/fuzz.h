/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fuzzers share.  Each is one file with the entry point that libFuzzer calls, and is
 * linked with libFuzzer, or with main.c, which runs files through it.
 */
#ifndef LAPLACE_TESTS_FUZZ_H
#define LAPLACE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What does not hold is a finding. */
#define require(holds) \
	((holds) ? (void)0 : require_failed(#holds, __FILE__, __LINE__))
static inline _Noreturn void require_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

/* A failure of what was given hostile input: it says why, and is not our own fault. */
static inline void require_reported(const struct lpl_report *report)
{
	require(report->error != LPL_OK && report->error != LPL_ERR_INTERNAL && report->text[0]);
}

/* The input, taken byte by byte; after its end there are zeros. */
struct input {
	const uint8_t *data;
	size_t size;
};

static inline unsigned int input_byte(struct input *input)
{
	if (input->size == 0)
		return 0;
	input->size--;
	return *input->data++;
}

/* A copy of its own size, so that what reads beyond it is seen. */
static inline uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	require(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* ... as a string, which a 0 within ends before. */
static inline char *string_of(const uint8_t *data, size_t size)
{
	char *string = malloc(size + 1);

	require(string != NULL);
	if (size)
		memcpy(string, data, size);
	string[size] = '\0';
	return string;
}

#endif
