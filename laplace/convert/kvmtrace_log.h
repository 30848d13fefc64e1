/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log of kVMTrace on its way in, for the three files that take its records:
 * format_kvmtrace.c reads them, kvmtrace_tasks.c has those of tasks and their spaces,
 * kvmtrace_refs.c those of references.
 */
#ifndef LAPLACE_CONVERT_KVMTRACE_LOG_H
#define LAPLACE_CONVERT_KVMTRACE_LOG_H

#include <laplace/kvmtrace_record.h>

#include "importer.h"
#include "kvmtrace_pages.h"

#define KVMTRACE_KERNEL_BASE UINT64_C(0xc0000000)

/* The living tasks: pid -> tgid + 1, and -> space + 1. */
struct kvmtrace_tasks {
	struct lpl_map tgid, space;
};

struct kvmtrace_log {
	struct kvmtrace_pages pages;
	struct kvmtrace_tasks tasks;
	uint32_t next;		/* sequence number */
	bool begun, over;
	bool in_snapshot;	/* of the tasks that exist at START */
	uint32_t running;	/* pid; 0: none yet */
	bool running_exited;
};

static inline uint64_t kvmtrace_time(const struct kvmtrace_record *record)
{
	return (uint64_t)record->tsc_high << 32 | record->tsc_low;
}

/* An event of this record's moment, task and space; without arguments. */
static inline struct lpl_event kvmtrace_event(const struct lpl_importer *importer,
					      const struct kvmtrace_record *record, uint32_t tag)
{
	return (struct lpl_event){
		.ref = importer->ref, .instr = importer->instr, .cycle = kvmtrace_time(record),
		.tag = tag, .tid = record->pid, .tgid = record->tgid, .space = record->space,
	};
}

/*
 * What records of the same names report.  All: false after an error.
 */

/* Before any record that a task made: it is the one that runs. */
bool lpl_kvmtrace_run(struct lpl_importer *importer, const struct kvmtrace_record *record);

/* The list of tasks that exist already begins, or has ended. */
bool lpl_kvmtrace_snapshot(struct lpl_importer *importer, const struct kvmtrace_record *record,
			   bool begins);
bool lpl_kvmtrace_task(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_fork(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_exec(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_exit(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_space(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_remap(struct lpl_importer *importer, const struct kvmtrace_record *record);

bool lpl_kvmtrace_reference(struct lpl_importer *importer, const struct kvmtrace_record *record);
bool lpl_kvmtrace_file(struct lpl_importer *importer, const struct kvmtrace_record *record);

void lpl_kvmtrace_tasks_init(struct kvmtrace_tasks *tasks);
void lpl_kvmtrace_tasks_free(struct kvmtrace_tasks *tasks);

#endif
