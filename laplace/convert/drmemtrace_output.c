/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of an export for DynamoRIO's drmemtrace; see drmemtrace_export.h.
 *
 * The directory grows as PATH.part, with files that have numbers for names, and gets its name when all is whole and
 * on the disk.  A file is open only while a full buffer is added to it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/try.h"
#include "drmemtrace_export.h"
#include "fields.h"

enum { NAME = 160 };

static char *part_name(char name[NAME], const struct drmemtrace_thread *thread)
{
	(void)snprintf(name, NAME, "%llu", (unsigned long long)thread->serial);
	return name;
}

static int open_part(const struct lpl_drmemtrace *made, const char *name, int how)
{
	return openat(made->directory, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | how, 0666);
}

/* `over`: of what is packed, this part is. */
static bool write_out(struct drmemtrace_thread *thread, struct lpl_drmemtrace *made, bool over)
{
	struct lpl_zip *zip = thread->zip;
	char name[NAME], where[LPL_NAME_SIZE];
	const int fd = open_part(made, part_name(name, thread), zip ? 0 : O_APPEND);
	bool good = fd >= 0;
	int why;

	if (!zip)
		good = good && lpl_write_all(fd, thread->buffer, thread->used, LPL_HERE);
	else
		good = good && lpl_zip_write(zip, fd, thread->buffer, thread->used) && (!over || lpl_zip_next(zip, fd));
	why = errno;
	if (fd >= 0)
		(void)close(fd);
	made->result.bytes += zip ? 0 : thread->used;
	thread->used = 0;
	if (good)
		return true;
	errno = why;
	lpl_short_name(where, made->part);
	(void)lpl_fail(made->report, LPL_ERR_IO, "%s/trace/%s", where, name);
	return false;
}

bool lpl_drmemtrace_flush(struct drmemtrace_thread *thread, void *context)
{
	return write_out(thread, context, false);
}

bool lpl_drmemtrace_next_part(struct drmemtrace_thread *thread, void *context)
{
	return write_out(thread, context, true);
}

static enum lpl_error not_there(const struct lpl_drmemtrace *made, const char *name, const char *what,
				struct lpl_report *report)
{
	char where[LPL_NAME_SIZE];

	lpl_short_name(where, made->part);
	return lpl_fail(report, LPL_ERR_IO, "%s/trace/%s: %s", where, name, what);
}

/* What kind of file it is, which is known at the end; and the end of what is packed. */
static bool complete(const struct lpl_drmemtrace *made, const struct drmemtrace_thread *thread, int fd)
{
	uint8_t head[LPL_ZIP_HEAD];
	char type[8];

	_Static_assert(DR_TYPE_AT + sizeof(type) <= sizeof(head), "it can be changed in a zip");
	put_le64(type, DR_TYPE | (made->kernel ? DR_WHOLE_SYSTEM : 0) | (made->numbers ? DR_NUMBERS : 0));
	if (!thread->zip)
		return lpl_write_all(fd, type, sizeof(type), DR_TYPE_AT);
	memcpy(head, lpl_zip_head(thread->zip), sizeof(head));
	memcpy(head + DR_TYPE_AT, type, sizeof(type));
	return lpl_zip_end(thread->zip, fd, head);
}

enum lpl_error lpl_drmemtrace_finish_file(struct lpl_drmemtrace *made, const struct drmemtrace_thread *thread,
					  struct lpl_report *report)
{
	const char *ending = thread->zip ? ".zip" : "";
	char part[NAME], name[NAME];
	const int fd = open_part(made, part_name(part, thread), 0);

	if (fd < 0 || !complete(made, thread, fd) || fsync(fd) != 0) {
		if (fd >= 0)
			(void)close(fd);
		return not_there(made, part, "cannot be completed", report);
	}
	(void)close(fd);
	if (thread->zip)
		made->result.bytes += lpl_zip_size(thread->zip);
	(void)snprintf(name, sizeof(name), "drmemtrace.%s.%u.%u.trace%s", *thread->name ? thread->name :
		       thread->tid == DRMEMTRACE_IDLE ? "idle" : "unknown", thread->tgid, thread->tid, ending);
	if (faccessat(made->directory, name, F_OK, 0) == 0)
		(void)snprintf(name, sizeof(name), "drmemtrace.%s-%llu.%u.%u.trace%s", thread->name,
			       (unsigned long long)thread->serial, thread->tgid, thread->tid, ending);
	if (renameat(made->directory, part, made->directory, name) != 0)
		return not_there(made, part, "cannot be renamed", report);
	return LPL_OK;
}

enum lpl_error lpl_drmemtrace_sync(const struct lpl_drmemtrace *made, struct lpl_report *report)
{
	if (fsync(made->directory) != 0 && errno != EINVAL && errno != EROFS)
		return not_there(made, "", "cannot be synced", report);
	return LPL_OK;
}

enum lpl_error lpl_drmemtrace_write_templates(struct lpl_drmemtrace *made, const char *name, bool calls, uint64_t *count,
					      struct lpl_report *report)
{
	const int fd = openat(made->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	const int64_t written = fd < 0 ? -1 :
		lpl_drmemtrace_templates_write(calls ? &made->calls : &made->switches, calls, fd, &made->result.bytes);
	const bool good = written >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		(void)close(fd);
	if (!good)
		return not_there(made, name, "cannot be written", report);
	*count = (uint64_t)written;
	if (!written)
		(void)unlinkat(made->directory, name, 0);
	return LPL_OK;
}

/* All that is in the directory "trace" is ours: it was made here. */
void lpl_drmemtrace_remove_files(const struct lpl_drmemtrace *made)
{
	const int fd = dup(made->directory);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!directory && fd >= 0)
		(void)close(fd);
	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (*entry->d_name != '.')
			(void)unlinkat(made->directory, entry->d_name, 0);
	(void)closedir(directory);
}

enum lpl_error lpl_drmemtrace_make_directories(struct lpl_drmemtrace *made, struct lpl_report *report)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	char name[LPL_NAME_SIZE];

	LPL_TRY(lpl_refuse_existing(made->path, "exists; the trace's files go into a directory that is made for them",
				report));
	LPL_TRY(lpl_refuse_existing(made->part, LPL_LEFT_PART "; remove it", report));
	lpl_short_name(name, made->part);
	if (mkdir(made->part, 0777) != 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be made", name);
	made->top = open(made->part, how);
	if (made->top >= 0 && mkdirat(made->top, "trace", 0777) == 0)
		made->directory = openat(made->top, "trace", how);
	return made->directory >= 0 ? LPL_OK : lpl_fail(report, LPL_ERR_IO, "%s/trace: cannot be made", name);
}
