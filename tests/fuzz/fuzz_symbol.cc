/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the search for a kernel's symbol: the input is a System.map or an ELF file.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], why[128] = "";
	uint64_t address = 0;
	int fd = memfd_create("symbols", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!laplace_symbol(path, "kernel_trace_record", &address, why, sizeof(why)) &&
	    !strlen(why))
		abort();
	close(fd);
	return 0;
}
