/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that are open while the machine runs, where Bochs is patched to ask for them. */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"

#include <cstdio>
#include <unistd.h>

#include "option.h"
#include "report.h"

/* A restored machine's memory is read from where it was saved; NULL: it may be written to, if not all fits. */
FILE *laplace_open_memory(const char *path)
{
	const bool fits = SIM->get_param_num(BXPN_HOST_MEM_SIZE)->get() >= SIM->get_param_num(BXPN_MEM_SIZE)->get();

	return fits ? fopen(path, "rb") : NULL;
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
