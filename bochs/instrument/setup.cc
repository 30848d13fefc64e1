/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is looked at before a collection begins: whether the machine's files are there, and none of
 * them is the trace; where the guest's kernel has its record; and what the trace's header says.
 */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "bxversion.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "option.h"
#include "report.h"
#include "setup.h"
#include "symbol.h"
#include "version.h"
#include "watch.h"

/* ---- the machine's files ---- */

/* Whatever else the machine uses, its trace must not replace it. */
static void refuse_own(const char *what, const char *path)
{
	struct stat trace, other;

	if (stat(laplace_option.trace, &trace) == 0 && S_ISREG(trace.st_mode) &&
	    stat(path, &other) == 0 && trace.st_dev == other.st_dev &&
	    trace.st_ino == other.st_ino)
		laplace_die("%s: %s is the trace, too, which would take its place", what, path);
}

static void check_image(const char *device, const char *path_name)
{
	if (!SIM->get_param(path_name))
		return;
	const char *path = SIM->get_param_string(path_name)->getptr();
	if (!*path || !strcmp(path, "none"))
		return;
	if (access(path, R_OK))
		laplace_die("%s: the image %s cannot be read: %s", device, path, strerror(errno));
	refuse_own(device, path);
}

/* Bochs itself only logs that an image is missing, and boots without it. */
static void check_images(void)
{
	check_image("floppya", BXPN_FLOPPYA_PATH);
	check_image("floppyb", BXPN_FLOPPYB_PATH);
	for (int channel = 0; channel < BX_MAX_ATA_CHANNEL; channel++)
		for (int device = 0; device < 2; device++) {
			const char *name = device ? "slave" : "master";
			char what[32], path_name[64];

			snprintf(what, sizeof(what), "ata%d-%s", channel, name);
			snprintf(path_name, sizeof(path_name), "ata.%d.%s.path", channel, name);
			check_image(what, path_name);
		}
}

void laplace_check_files(void)
{
	check_images();
	if (SIM->get_param(BXPN_LOG_FILENAME))
		refuse_own("log", SIM->get_param_string(BXPN_LOG_FILENAME)->getptr());
	refuse_own("kernel", laplace_option.kernel);
}

/* ---- the guest's kernel ---- */

void laplace_locate_kernel(void)
{
	uint64_t address;
	char why[512], *end;

	if (!strcmp(laplace_option.kernel, "auto") || !strcmp(laplace_option.kernel, "none"))
		return;
	errno = 0;
	address = strtoull(laplace_option.kernel, &end, 16);
	if (errno || *laplace_option.kernel == '-')
		laplace_die("kernel=%s: not an address", laplace_option.kernel);
	if (*end && !laplace_symbol(laplace_option.kernel, "kernel_trace_record", &address, why,
				    sizeof(why)))
		laplace_die("kernel=%s: %s", laplace_option.kernel, why);
	if (!laplace_watch_record(address, false, why, sizeof(why)))
		laplace_die("kernel=%s: %s", laplace_option.kernel, why);
}

/* ---- the header ---- */

static void set(struct lpl_meta *meta, const char *key, const char *value)
{
	if (*value && lpl_meta_set(meta, key, value))
		laplace_die("the header's %s cannot be set to '%s'", key, value);
}

/* The bochsrc's text, with its newlines escaped, for the trace's header. */
static void describe_machine(struct lpl_meta *meta)
{
	const char *path = NULL;

	for (int i = 1; i + 1 < bx_startup_flags.argc; i++)
		if (!strcmp(bx_startup_flags.argv[i], "-f"))
			path = bx_startup_flags.argv[i + 1];
	FILE *file = path ? fopen(path, "r") : NULL;
	if (!file)
		return;

	static char text[65536];
	size_t n = 0;
	int c;
	while ((c = getc(file)) != EOF && n < sizeof(text) - 2) {
		if (c == '\n' || c == '\\') {
			text[n++] = '\\';
			text[n++] = c == '\n' ? 'n' : '\\';
		} else if (c)
			text[n++] = (char)c;
	}
	fclose(file);
	text[n] = '\0';
	set(meta, LPL_META_MACHINE, text);
}

struct lpl_meta *laplace_header(const struct lpl_windows *windows)
{
	struct lpl_meta *meta = lpl_meta_new();

	if (!meta)
		laplace_die("no memory for the header");
	set(meta, LPL_META_TITLE, laplace_option.title);
	set(meta, LPL_META_GUEST, laplace_option.guest);
	set(meta, LPL_META_WORKLOAD, laplace_option.workload);
	set(meta, LPL_META_PRODUCER, "laplace-bochs " LAPLACE_VERSION " (Bochs " VERSION ")");
	set(meta, LPL_META_ADDRESSES, "virtual");
	set(meta, LPL_META_PAGE_SIZE, "4096");
	set(meta, LPL_META_IMAGES, laplace_option.images);
	set(meta, LPL_META_TRANSLATIONS, laplace_option.physical ? "kept" : "");
	set(meta, LPL_META_CODE, laplace_option.code ? LPL_CODE_KEPT : "");
	set(meta, LPL_META_WALKS, laplace_option.walks ? LPL_WALKS_DESCRIBED : "");
	set(meta, LPL_META_WINDOWS, windows ? lpl_windows_spec(windows) : "");
	describe_machine(meta);
	return meta;
}
