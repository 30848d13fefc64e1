/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that a machine reads and a checkpoint does not hold: ROMs, CDs, floppies, and the base of
 * a disk that keeps only what was written to it.  A machine that goes on with others than it was
 * saved with reads what it never read, and its trace looks as if all were well.  So a checkpoint
 * has a list of them, with a digest of what is in each, and they have to be the same.
 *
 * They are read through once, when the machine starts.  After that a file that has the same number, size
 * and times as before is the same; one that has not is read again, and may be a copy.  What is not a
 * regular file (a drive of the host's) would be read as a whole each time: it is not looked at.
 */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

#include "checkpoint_files.h"
#include "checkpoint_inputs.h"
#include "report.h"

/* A file's stamp: as long as it is the same, what is in the file is, too. */
struct stamp {
	uint64_t device, inode, size, modified[2], changed[2];
};

struct input {
	char name[32];			/* of the device, as in the bochsrc */
	const char *path;
	bool writable;			/* by the machine */
	bool regular;			/* else the two below are 0 */
	struct stamp stamp;
	uint64_t digest;
};

enum { INPUTS_MAX = 32 };
static struct input inputs[INPUTS_MAX];
static int count;

/* ---- all of them ---- */

static void add(const char *name, const char *parameter, bool writable)
{
	const char *path = SIM->get_param(parameter) ? SIM->get_param_string(parameter)->getptr() : "";

	if (!*path || !strcmp(path, "none"))
		return;
	if (count == INPUTS_MAX)
		laplace_die("checkpoint=: the machine has too many files");
	snprintf(inputs[count].name, sizeof(inputs[count].name), "%s", name);
	inputs[count].path = path;
	inputs[count++].writable = writable;
}

bool laplace_input_is_only_read(const char *drive)
{
	char parameter[64];

	snprintf(parameter, sizeof(parameter), "%s.type", drive);
	if (!SIM->get_param(parameter))
		return false;
	const long type = SIM->get_param_enum(parameter)->get();

	snprintf(parameter, sizeof(parameter), "%s.mode", drive);
	const char *mode = SIM->get_param_enum(parameter)->get_selected();

	return type == BX_ATA_DEVICE_CDROM ||
	       (type == BX_ATA_DEVICE_DISK && (!strcmp(mode, "undoable") || !strcmp(mode, "volatile")));
}

static void list(void)
{
	char name[32], drive[32], parameter[64];

	count = 0;
	add("romimage", BXPN_ROM_PATH, false);
	add("flash_data", BXPN_ROM_FLASH_DATA, true);
	add("vgaromimage", BXPN_VGA_ROM_PATH, false);
	for (int i = 1; i <= BX_N_OPTROM_IMAGES; i++) {
		snprintf(name, sizeof(name), "optromimage%d", i);
		snprintf(parameter, sizeof(parameter), "%s.%d.file", BXPN_OPTROM_BASE, i);
		add(name, parameter, false);
	}
	add("floppya", BXPN_FLOPPYA_PATH, true);
	add("floppyb", BXPN_FLOPPYB_PATH, true);
	for (int i = 0; i < 2 * BX_MAX_ATA_CHANNEL; i++) {
		const char *which = i % 2 ? "slave" : "master";

		snprintf(name, sizeof(name), "ata%d-%s", i / 2, which);
		snprintf(drive, sizeof(drive), "ata.%d.%s", i / 2, which);
		snprintf(parameter, sizeof(parameter), "%s.path", drive);
		if (laplace_input_is_only_read(drive))
			add(name, parameter, false);
	}
}

/* ---- what is in them ---- */

static uint64_t seconds(const struct timespec &time)
{
	return (uint64_t)time.tv_sec;
}

static bool take_stamp(const char *path, struct stamp *stamp)
{
	struct stat about;

	if (stat(path, &about) || !S_ISREG(about.st_mode))
		return false;
	*stamp = { about.st_dev, about.st_ino, (uint64_t)about.st_size,
		   { seconds(about.st_mtim), (uint64_t)about.st_mtim.tv_nsec },
		   { seconds(about.st_ctim), (uint64_t)about.st_ctim.tv_nsec } };
	return true;
}

/* As it is now, with the digest of one that has the stamp it had before.  false: it cannot be read. */
static bool look_at(const struct input &before, struct input *now)
{
	*now = before;
	now->stamp = {};
	now->digest = 0;
	now->regular = take_stamp(before.path, &now->stamp);
	if (now->regular && before.regular && !memcmp(&now->stamp, &before.stamp, sizeof(now->stamp)))
		now->digest = before.digest;
	else if (now->regular && !laplace_digest_file(before.path, &now->digest))
		return false;
	return true;
}

static bool are_same(const struct input &one, const struct input &other)
{
	return one.regular == other.regular && one.stamp.size == other.stamp.size &&
	       one.digest == other.digest;
}

void laplace_inputs_begin(void)
{
	list();
	for (int i = 0; i < count; i++) {
		const struct input before = inputs[i];

		if (!look_at(before, &inputs[i]))
			laplace_die("checkpoint=: %s: %s cannot be read: %s", before.name, before.path,
				    strerror(errno));
	}
}

/* ---- a checkpoint's list ---- */

enum { LIST_PATH_SIZE = BX_PATHNAME_LEN + 80 };

static FILE *open_list(const char *directory, const char *how)
{
	char path[LIST_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/inputs", directory);
	return fopen(path, how);
}

bool laplace_inputs_write(const char *directory)
{
	FILE *file = open_list(directory, "w");

	for (int i = 0; file && i < count; i++) {
		struct input now;
		const bool read = look_at(inputs[i], &now);
		const struct stamp &s = now.stamp;

		if (!read || (!now.writable && !are_same(now, inputs[i]))) {
			laplace_complain("%s: %s %s", now.name, now.path, read ?
					 "was changed while the machine used it" : "cannot be read");
			fclose(file);
			errno = EIO;
			return false;
		}
		inputs[i] = now;
		fprintf(file, "%s %d %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now.name, now.regular,
			now.digest, s.device, s.inode, s.size, s.modified[0], s.modified[1],
			s.changed[0], s.changed[1]);
	}
	if (!file)
		laplace_complain("%s: the list of the machine's files cannot be written: %s", directory,
				 strerror(errno));
	const bool good = file && !ferror(file);

	return file && fclose(file) == 0 && good;
}

/* Of the list: true and the next one. */
static bool next(FILE *file, struct input *input)
{
	struct stamp *s = &input->stamp;
	int regular;

	*input = {};
	if (fscanf(file, "%31s %d %" SCNx64, input->name, &regular, &input->digest) != 3 ||
	    fscanf(file, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64, &s->device, &s->inode, &s->size, &s->modified[0], &s->modified[1],
		   &s->changed[0], &s->changed[1]) != 7)
		return false;
	input->regular = regular != 0;
	return true;
}

void laplace_inputs_compare(const char *directory)
{
	FILE *file = open_list(directory, "r");
	struct input before, now;

	list();
	for (int i = 0; i < count; i++) {
		if (!file || !next(file, &before) || strcmp(before.name, inputs[i].name))
			laplace_die("the checkpoint %s has not the list of this machine's files", directory);
		before.path = inputs[i].path;
		before.writable = inputs[i].writable;
		if (!look_at(before, &now))
			laplace_die("%s: %s cannot be read: %s", now.name, now.path, strerror(errno));
		if (!are_same(before, now))
			laplace_die("%s: %s is not what the machine had when the checkpoint %s was made "
				    "(%" PRIu64 " bytes, XXH3 %016" PRIx64 "; now %" PRIu64
				    " bytes, %016" PRIx64 "); nothing was changed: put back what was "
				    "there, and resume", now.name, now.path, directory,
				    before.stamp.size, before.digest, now.stamp.size, now.digest);
		inputs[i] = now;
	}
	fclose(file);
}
