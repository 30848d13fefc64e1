/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of a trace of DynamoRIO's drmemtrace, one for each thread (or, where it was sharded by core, for
 * each core), on their way in.  drmemtrace_files.c finds and reads them, format_drmemtrace.c has what their
 * records say.
 */
#ifndef LAPLACE_CONVERT_DRMEMTRACE_H
#define LAPLACE_CONVERT_DRMEMTRACE_H

#include "base/map.h"
#include "importer.h"
#include "unpack.h"

#define DRMEMTRACE_ENTRY 12	/* bytes: type 16, size 16, address 64 */
#define DRMEMTRACE_ENTRIES 512	/* read at a time */

struct drmemtrace_entry {
	unsigned int type, size;
	uint64_t address;	/* or whatever the type has there */
};

struct drmemtrace_file {
	char *name;		/* below the directory; NULL: the input is the file */
	int fd;
	bool over;
	uint64_t time;		/* its last timestamp, in microseconds; 0: it had none */
	uint32_t tid;		/* of the thread that its entries are of, and its process; 0: none yet */
	uint32_t pid;
	uint64_t cpu;
	bool kernel;		/* what it has now are instructions of the kernel ... */
	uint64_t handlers;	/* ... or in so many handlers, one in the other */
	uint64_t last_pc, next_pc;
	uint64_t offset;	/* of the next entry, in what was unpacked */
	size_t at, end;		/* in `bytes` */
	struct lpl_unpack unpack;
	uint8_t bytes[DRMEMTRACE_ENTRY * DRMEMTRACE_ENTRIES];
};

struct drmemtrace {
	struct drmemtrace_file **file;
	size_t count, room;
	struct lpl_map process;		/* of a thread: tid -> pid */
	struct lpl_map begun;		/* threads that events have named */
	uint32_t running;		/* tid; 0: none */
	uint64_t cpu;			/* that it runs on */
	bool exited;			/* it has */
	bool has_base;
	uint64_t base;			/* the time of cycle 0 */
};

/* All files of the input, a directory or a file.  False after a complaint, as below. */
bool lpl_drmemtrace_open(struct lpl_importer *importer);

/* The next entry; *more: there is one. */
bool lpl_drmemtrace_entry(struct lpl_importer *importer, struct drmemtrace_file *file,
			  struct drmemtrace_entry *entry, bool *more);

/* What is wrong with the last entry of a file.  Returns false. */
bool lpl_drmemtrace_refuse(struct lpl_importer *importer, const struct drmemtrace_file *file,
			   enum lpl_error error, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));

void lpl_drmemtrace_close(struct drmemtrace *trace);

#endif
