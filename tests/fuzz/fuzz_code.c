/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the reader of a guest's ELF files, and of their debug information.  Whatever is found of
 * one, places follow each other without a gap or an overlap, as far as an address can be found in them.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "cli/code/elf_code.h"
#include "cli/code/inlined.h"

#include "fuzz.h"

enum { MOST_PLACES = 10000 };

static int file_of(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("code", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static struct elf_code *code_of(int fd)
{
	const char *why;
	struct elf_code *code = elf_code_read(fd, &why);

	require(code ? !why : why && *why);
	return code;
}

/* From one place to the next, from an address on. */
static void walk(const struct elf_code *code, uint64_t address)
{
	for (int i = 0; i < MOST_PLACES; i++) {
		const struct code_place place = elf_code_find(code, address);

		require(place.first <= address && address <= place.last);
		require(!place.name || *place.name);
		if (place.name)		/* the whole of it is readable */
			require(strlen(place.name) > 0);
		for (uint64_t at = place.first; at != place.last && at - place.first < 3; at++)
			require(elf_code_find(code, at).first == place.first);
		require(elf_code_find(code, place.last).name == place.name);
		if (place.last == UINT64_MAX)
			return;
		address = place.last + 1;
	}
}

/* What is beside a file: the other one. */
static int open_other(void *context, const char *name)
{
	require(strlen(name) < SIZE_MAX);
	return dup(*(int *)context);
}

static void inline_in(struct elf_code *code, int fd, int other)
{
	const struct inlined_beside beside = { open_other, &other };
	const char *why;

	if (elf_code_inline(code, fd, &beside, &why))
		require(!why);
	walk(code, 0);
}

/*
 * One after the other, in two parts: the second may have the first one's symbols, and debug
 * information that they share.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t part = size > 2 ? (size_t)(data[0] << 8 | data[1]) : 0;
	struct elf_code *code, *debug;
	uint64_t address;
	int fd, other;

	if (size < 2)
		return 0;
	data += 2;
	size -= 2;
	if (part > size)
		return 0;
	fd = file_of(data, size - part);
	other = file_of(data + (size - part), part);
	code = code_of(fd);
	debug = code_of(other);
	if (code) {
		walk(code, 0);
		for (uint64_t offset = 0; offset < 1 << 14; offset += 512)
			if (elf_code_address(code, offset, &address))
				(void)elf_code_find(code, address);
		require(strlen(elf_code_build_id(code)) <= 128);
	}
	if (code && debug && elf_code_take_symbols(code, debug)) {
		walk(code, 0);
		inline_in(code, other, fd);
	} else if (code) {
		inline_in(code, fd, other);
	}
	elf_code_free(code);
	elf_code_free(debug);
	close(fd);
	close(other);
	return 0;
}
