/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that several processes make: the first counts, and makes checkpoints; each of the others restores one,
 * and writes the segment that begins there (collect/collector_pass.c).  All of them run at once, so the machine has to
 * be one that only reads its files, and keeps what it writes to itself.
 */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "checkpoint.h"
#include "checkpoint_inputs.h"
#include "option.h"
#include "passes.h"
#include "report.h"
#include "stream.h"

/* In a directory of this process' own: what another one leaves, which was killed or goes on, is not in its way. */
static const char *part_path(const char *file)
{
	static char path[2 * BX_PATHNAME_LEN + 64];

	snprintf(path, sizeof(path), "%s.jobs/%s/%s", laplace_option.trace, laplace_option.part, file);
	return path;
}

void laplace_passes_begin(void)
{
	if (laplace_option.pass == LPL_PASS_WHOLE)
		return;
	if (!laplace_option.checkpoint_instructions)
		laplace_die("pass=: checkpoints are made every so many instructions (checkpoint=every:N)");
	/* a request that comes from outside comes once */
	*laplace_option.control = '\0';
	if (laplace_option.pass != LPL_PASS_SEGMENT)
		return;
	if (!*laplace_option.part)
		laplace_die("pass=: what writes a segment wants part=NAME");
	/* what is to be known of this process stands beside what it writes */
	snprintf(laplace_option.status_file, sizeof(laplace_option.status_file), "%s", part_path(LPL_PART_STATUS));
}

static bool is_writable_floppy(const char *path, const char *readonly)
{
	const char *image = SIM->get_param(path) ? SIM->get_param_string(path)->getptr() : "";

	return *image && strcmp(image, "none") && !SIM->get_param_bool(readonly)->get();
}

static void check_disks(void)
{
	char name[64];

	if (is_writable_floppy(BXPN_FLOPPYA_PATH, "floppy.0.readonly") ||
	    is_writable_floppy(BXPN_FLOPPYB_PATH, "floppy.1.readonly"))
		laplace_die("pass=: several processes would write to a floppy: add write_protected=1 to its line");
	for (int i = 0; i < 2 * BX_MAX_ATA_CHANNEL; i++) {
		const char *which = i % 2 ? "slave" : "master";

		snprintf(name, sizeof(name), "ata.%d.%s.type", i / 2, which);
		if (!SIM->get_param(name) || SIM->get_param_enum(name)->get() != BX_ATA_DEVICE_DISK)
			continue;
		snprintf(name, sizeof(name), "ata.%d.%s.mode", i / 2, which);
		if (strcmp(SIM->get_param_enum(name)->get_selected(), "volatile"))
			laplace_die("pass=: several processes would write to the disk ata%d-%s: add mode=volatile to "
				    "its line", i / 2, which);
	}
}

static void check_ports(void)
{
	char name[64];

	for (int i = 1; i <= BX_N_SERIAL_PORTS; i++) {
		snprintf(name, sizeof(name), "ports.serial.%d.mode", i);
		const char *mode = SIM->get_param(name) ? SIM->get_param_enum(name)->get_selected() : "null";

		if (strcmp(mode, "null") && strcmp(mode, "file"))
			laplace_die("several processes: com%d has mode=%s, and what comes from there comes once: use file or null", i,
				    mode);
	}
	for (int i = 1; i <= BX_N_PARALLEL_PORTS; i++) {
		snprintf(name, sizeof(name), "ports.parallel.%d.file", i);
		const char *file = SIM->get_param(name) ? SIM->get_param_string(name)->getptr() : "";

		if (*file && strcmp(file, "none"))
			laplace_die("several processes would write to the file of parport%d", i);
	}
}

void laplace_passes_check_repeats(void)
{
	const Bit64s time0 = SIM->get_param_num(BXPN_CLOCK_TIME0)->get();

	if (SIM->get_param_enum(BXPN_CLOCK_SYNC)->get() != BX_CLOCK_SYNC_NONE || time0 == BX_CLOCK_TIME0_LOCAL ||
	    time0 == BX_CLOCK_TIME0_UTC)
		laplace_die("several processes: the machine has to repeat: use sync=none and a time0 in seconds in `clock:'");
	check_ports();
}

void laplace_passes_check(void)
{
	if (laplace_option.pass == LPL_PASS_WHOLE)
		return;
	laplace_passes_check_repeats();
	const char *flash = SIM->get_param_string(BXPN_ROM_FLASH_DATA)->getptr();

	if (*flash && strcmp(flash, "none"))
		laplace_die("pass=: several processes would write to flash_data");
	check_disks();
}

const char *laplace_part_path(void)
{
	const char *slash = strrchr(laplace_option.trace, '/');

	return laplace_option.pass == LPL_PASS_SEGMENT ? part_path(slash ? slash + 1 : laplace_option.trace) : NULL;
}

/*
 * It is in the state that the first pass was in: what was sent is as much, of the same kinds, and the machine has come as
 * far.
 */
static bool is_there(const struct laplace_resume_point *there, const struct laplace_resume_point *here)
{
	return there->number == here->number && there->instr == here->instr && there->on == here->on &&
	       there->wanted == here->wanted && there->started == here->started &&
	       there->stopped == here->stopped && there->windows_begun == here->windows_begun &&
	       there->references == here->references && there->tracer_refs == here->tracer_refs &&
	       there->records == here->records && there->tid == here->tid &&
	       lpl_resume_points_agree(&there->collector, &here->collector);
}

void laplace_end_segment(const char *path, const struct laplace_resume_point *here)
{
	struct laplace_resume_point there;

	if (laplace_option.pass_is_last || !laplace_read_resume_point(path, &there))
		laplace_die("the segment goes on where the first pass made no checkpoint: the machine does not repeat");
	if (!is_there(&there, here))
		laplace_die("the segment does not end as the first pass did at %s (instruction %llu, reference %llu; "
			    "here %llu, %llu): the machine does not repeat", path, (unsigned long long)there.instr,
			    (unsigned long long)there.references, (unsigned long long)here->instr,
			    (unsigned long long)here->references);
	lpl_collector_leave(laplace.collector);
	laplace.collector = NULL;
	fflush(NULL);
	const int whole = open(part_path(LPL_PART_WHOLE), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (whole < 0 || close(whole))
		laplace_die("%s: cannot be made: %s", part_path(LPL_PART_WHOLE), strerror(errno));
	_exit(0);
}
