/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots: a machine that has booted, saved where its guest says that it is ready, for recordings to begin with.
 *
 * A checkpoint belongs to a recording, and only that goes on from it.  A snapshot is of a machine: any recording
 * begins with it that has other disks of the same sizes, another trace and another reduction.  It is to have the
 * trace that it would have had from power-on with recording off until then.  For this
 *
 * - what the guest's kernel had reported by then (which tasks there are, what their pages are) is kept, with the
 *   counts of instructions and cycles of then, and is sent again, as if it happened.  Nothing else is in the stream
 *   while recording is off, and what the collector knows follows from the stream;
 * - a machine that is restored has lost its TLBs and the traces of instructions.  So one that is not saved loses
 *   them at the same instruction: wherever a guest says that it is ready (checkpoint.cc);
 * - the guest has read nothing of its disks that was not the same for all: what is ready is a guest
 *   that has not opened them.  This is the guest's promise; that they have the same sizes, by which it knows them, is
 *   looked at here.
 *
 * A recording that begins with a snapshot makes another when its guest says a second time that it is ready.  What
 * that guest has done with its disks by then is on them, and whoever begins with the second one gives it disks with
 * just that.
 *
 * A recording that is on before, windows of time and conditions have a past that is not kept, and are refused.  So
 * is another interval of flushes by instructions: it has a timer, and a machine's timers are numbered.
 */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "pc_system.h"
#include "cpu/cpu.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "checkpoint_inputs.h"
#include "conditions.h"
#include "option.h"
#include "report.h"
#include "snapshot.h"
#include "stream.h"

struct head {
	uint64_t records, flush_instructions;
	uint64_t disk_size[2 * BX_MAX_ATA_CHANNEL];	/* of those that are written; 0: none */
};

static std::vector<struct laplace_past> past;

void laplace_snapshot_keep(const struct kernel_trace_record *record)
{
	if (*laplace_option.snapshot)
		past.push_back({ *record, laplace_icount(), bx_pc_system.time_ticks() - BX_CPU(0)->get_icount_last_sync(),
				 !BX_CPU(0)->laplace.between });
}

void laplace_snapshot_check(bool begins, bool windows)
{
	const char *how = *laplace_option.snapshot ? "no snapshot can be made" : "no recording can begin with a snapshot";

	if (!*laplace_option.snapshot && !begins)
		return;
	if (*laplace_option.snapshot && access(laplace_option.snapshot, F_OK) == 0)
		laplace_die("snapshot=: %s is there already; a snapshot is a new directory", laplace_option.snapshot);
	if (*laplace_option.snapshot && laplace_option.start != LAPLACE_START_OFF)
		laplace_die("snapshot=: no snapshot can be made of a machine that is recorded: start=off");
	if (windows || laplace_conditions_any() || laplace_option.start == LAPLACE_START_MARK)
		laplace_die("%s where windows=, start=, stop= or end= go by what happens in the machine", how);
	if (laplace_option.checkpoints)
		laplace_die("%s where checkpoint= is asked for", how);
	if (laplace_option.stage != LPL_STAGE_FILE)
		laplace_die("%s without a trace", how);
	if (bx_dbg.debugger_active)
		laplace_die("%s in the debugger", how);
}

/* ---- the file ---- */

static void measure_disks(struct head *head)
{
	char drive[32], path[64];
	struct stat about;

	for (int i = 0; i < 2 * BX_MAX_ATA_CHANNEL; i++) {
		snprintf(drive, sizeof(drive), "ata.%d.%s", i / 2, i % 2 ? "slave" : "master");
		snprintf(path, sizeof(path), "%s.path", drive);
		head->disk_size[i] = SIM->get_param(path) && !laplace_input_is_only_read(drive) &&
				     stat(SIM->get_param_string(path)->getptr(), &about) == 0 ?
					     (uint64_t)about.st_size : 0;
	}
}

static struct head head_of_now(void)
{
	struct head head = {};

	head.records = past.size();
	head.flush_instructions = (uint64_t)laplace_option.flush_instructions;
	measure_disks(&head);
	return head;
}

static FILE *open_past(const char *directory, const char *how)
{
	char path[BX_PATHNAME_LEN + 16];

	snprintf(path, sizeof(path), "%s/past", directory);
	return fopen(path, how);
}

bool laplace_snapshot_write(const char *directory)
{
	const struct head head = head_of_now();
	FILE *file = open_past(directory, "wb");
	const bool good = file && fwrite(&head, sizeof(head), 1, file) == 1 &&
			  fwrite(past.data(), sizeof(past[0]), past.size(), file) == past.size();

	return file && fclose(file) == 0 && good;
}

/* (That its files are whole, read_point() has seen.) */
void laplace_snapshot_read(const char *directory)
{
	FILE *file = open_past(directory, "rb");
	struct head head, now = head_of_now();

	if (!file || fread(&head, sizeof(head), 1, file) != 1)
		laplace_die("the snapshot %s cannot be read: %s", directory, strerror(errno));
	past.resize(head.records);
	if (fread(past.data(), sizeof(past[0]), past.size(), file) != past.size())
		laplace_die("the snapshot %s cannot be read: %s", directory, strerror(errno));
	fclose(file);
	if (head.flush_instructions != now.flush_instructions)
		laplace_die("the snapshot %s was made with flush=%llui; a recording that begins with it needs the same",
			    directory, (unsigned long long)head.flush_instructions);
	for (int i = 0; i < 2 * BX_MAX_ATA_CHANNEL; i++)
		if (head.disk_size[i] != now.disk_size[i])
			laplace_die("the snapshot %s is of a machine of which the disk ata%d-%s has %llu bytes, "
				    "not %llu", directory, i / 2, i % 2 ? "slave" : "master",
				    (unsigned long long)head.disk_size[i],
				    (unsigned long long)now.disk_size[i]);
}

void laplace_snapshot_report(void)
{
	for (const struct laplace_past &event : past)
		laplace_emit_past(&event);
	if (*laplace_option.snapshot)
		return;		/* it is of the next one, too */
	past.clear();
	past.shrink_to_fit();
}
