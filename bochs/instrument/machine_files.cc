/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that are open while the machine runs, where Bochs is patched to ask for them. */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"

#include <cstdint>
#include <cstdio>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "option.h"
#include "report.h"

/* A restored machine's memory is read from where it was saved; NULL: it may be written to, if not all fits. */
FILE *laplace_open_memory(const char *path)
{
	const bool fits = SIM->get_param_num(BXPN_HOST_MEM_SIZE)->get() >= SIM->get_param_num(BXPN_MEM_SIZE)->get();

	return fits ? fopen(path, "rb") : NULL;
}

/*
 * A block of a snapshot's memory is mapped: it is shared with other recordings that begin with it, and this one's own from its
 * first write on; what the guest does not touch is not read.  Nothing changes a snapshot that is
 * complete.  What an interrupted recording goes on from is made anew while it runs: false, as where it cannot be mapped.
 */
bool laplace_map_memory(FILE *file, uint64_t offset, void *block, size_t size)
{
	enum { PAGE = 4096, MOST_BLOCKS = 1 << 14 };	/* a process has so many mappings, four times over */
	static unsigned int blocks;
	struct stat about;

	if (laplace_resumes() || !file || blocks >= MOST_BLOCKS || (offset | size | (uintptr_t)block) % PAGE ||
	    fstat(fileno(file), &about) || (uint64_t)about.st_size < offset + size)
		return false;
	blocks++;
	return mmap(block, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fileno(file), (off_t)offset) != MAP_FAILED;
}

/* The serial port's: to be continued after so many bytes, if there are so many; without any it is a new one. */
FILE *laplace_open_output(const char *path, uint64_t length)
{
	/* the first pass keeps what the guest sends */
	if (laplace_option.pass == LPL_PASS_SEGMENT)
		return fopen("/dev/null", "wb");

	FILE *file = length ? fopen(path, "r+b") : NULL;

	if (file && (fseeko(file, 0, SEEK_END) || (uint64_t)ftello(file) < length ||
		     ftruncate(fileno(file), (off_t)length) || fseeko(file, 0, SEEK_END))) {
		laplace_complain("%s has not the %llu bytes that it had at the checkpoint", path,
				 (unsigned long long)length);
		fclose(file);
		file = NULL;
	}
	return file ? file : fopen(path, "wb");
}
