/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The directory of results, which several processes and machines may share:
 *
 *	jobs/IDENTITY/		a result, whole
 *	making/IDENTITY.HOST.PID/	one that is being made
 *	failed/IDENTITY/	what the last attempt left
 *	locks/IDENTITY		held by flock() by who makes it
 *
 * Two things are relied on.  A directory is renamed at once, and not onto one that has something
 * in it: so a result is whole, and the first one stays.  And a lock is seen by all that share the
 * directory: so nothing is made twice at the same time.  Where a lock is lost (a server that
 * forgets), a job is made twice, and the second result, which is the same, is thrown away.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "campaign.h"
#include "cli/say.h"

static const char *const part[] = { "", "/jobs", "/making", "/failed", "/locks" };
#define PARTS (sizeof(part) / sizeof(part[0]))

int store_open(struct store *store, const char *directory, bool make)
{
	struct utsname about;

	*store = (struct store){ .directory = strdup(directory) };
	if (uname(&about) == 0)
		store->host = strdup(about.nodename);
	if (!store->directory || !store->host)
		return cli_complain(CLI_FAILED, "no memory");
	for (size_t i = 0; make && i < PARTS; i++) {
		char *path;

		if (asprintf(&path, "%s%s", directory, part[i]) < 0)
			return cli_complain(CLI_FAILED, "no memory");
		if (mkdir(path, 0777) < 0 && errno != EEXIST) {
			int status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));

			free(path);
			return status;
		}
		free(path);
	}
	return CLI_DONE;
}

void store_close(struct store *store)
{
	free(store->directory);
	free(store->host);
	*store = (struct store){ .directory = NULL };
}

char *store_path(const struct store *store, const struct job *job, const char *file, bool failed)
{
	char *path;

	if (asprintf(&path, "%s/%s/%s%s%s", store->directory, failed ? "failed" : "jobs",
		     job->identity, *file ? "/" : "", file) < 0)
		return NULL;
	return path;
}

bool store_has(const struct store *store, const struct job *job)
{
	char *path = store_path(store, job, "", false);
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

/* ---- directories, with what is in them ---- */

static void remove_tree_at(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0)
			remove_tree_at(fd, entry->d_name);
	}
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* What others began of this job and did not end, for they hold no lock any more. */
static void remove_left(const struct store *store, const struct job *job)
{
	DIR *directory;
	const struct dirent *entry;
	char *path;

	if (asprintf(&path, "%s/making", store->directory) < 0)
		return;
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, job->identity, JOB_IDENTITY_SIZE - 1) == 0)
			remove_tree_at(dirfd(directory), entry->d_name);
	}
	if (directory)
		closedir(directory);
	free(path);
}

/* Names and bytes are on the disk: of a directory of files, and its own. */
static int sync_tree(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = fd < 0;
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int file = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

		if (file >= 0) {
			failed |= fsync(file) < 0 && errno != EINVAL;
			close(file);
		}
	}
	if (directory)
		closedir(directory);
	return failed;
}

/* ---- one job ---- */

static enum claimed cannot(struct claim *claim, const char *path)
{
	cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (claim->lock >= 0)
		close(claim->lock);
	free(claim->directory);
	*claim = (struct claim){ .lock = -1 };
	return CLAIM_FAILED;
}

enum claimed store_claim(const struct store *store, const struct job *job, struct claim *claim)
{
	enum claimed failed = CLAIM_OURS;
	char *path;

	*claim = (struct claim){ .lock = -1 };
	if (asprintf(&path, "%s/locks/%s", store->directory, job->identity) < 0)
		return cannot(claim, "locks");
	claim->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (claim->lock < 0)
		failed = cannot(claim, path);
	else if (flock(claim->lock, LOCK_EX | LOCK_NB) < 0)
		failed = errno == EWOULDBLOCK ? CLAIM_OTHERS : cannot(claim, path);
	free(path);
	if (failed == CLAIM_OURS && store_has(store, job))
		failed = CLAIM_DONE;	/* while we came */
	if (failed != CLAIM_OURS) {
		if (claim->lock >= 0)
			close(claim->lock);
		claim->lock = -1;
		return failed;
	}
	remove_left(store, job);
	if (asprintf(&claim->directory, "%s/making/%s.%s.%ld", store->directory, job->identity,
		     store->host, (long)getpid()) < 0)
		claim->directory = NULL;
	if (!claim->directory || mkdir(claim->directory, 0777) < 0)
		return cannot(claim, claim->directory ? claim->directory : "making");
	return CLAIM_OURS;
}

static void end_claim(struct claim *claim)
{
	close(claim->lock);
	free(claim->directory);
	*claim = (struct claim){ .lock = -1 };
}

int store_keep(const struct store *store, const struct job *job, struct claim *claim)
{
	char *path = store_path(store, job, "", false), *failed = store_path(store, job, "", true);
	int status = CLI_DONE;

	if (!path || !failed)
		status = cli_complain(CLI_FAILED, "no memory");
	else if (sync_tree(claim->directory))
		status = cli_complain(CLI_FAILED, "%s: %s", claim->directory, strerror(errno));
	else if (rename(claim->directory, path) == 0)
		remove_tree_at(AT_FDCWD, failed);	/* it does not fail any more */
	else if (errno == EEXIST || errno == ENOTEMPTY)
		remove_tree_at(AT_FDCWD, claim->directory);	/* somebody was faster */
	else
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	free(path);
	free(failed);
	end_claim(claim);
	return status;
}

void store_drop(const struct store *store, const struct job *job, struct claim *claim, bool keep)
{
	char *path = keep ? store_path(store, job, "", true) : NULL;

	if (path) {
		remove_tree_at(AT_FDCWD, path);
		if (rename(claim->directory, path) < 0)
			cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	} else {
		remove_tree_at(AT_FDCWD, claim->directory);
	}
	free(path);
	end_claim(claim);
}

/* ---- files of the whole ---- */

int store_begin(struct store_text *text)
{
	*text = (struct store_text){ .size = 0 };
	text->out = open_memstream(&text->bytes, &text->size);
	return text->out ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
}

/* Under its name there is always a whole one. */
static int replace(const struct store *store, const char *name, const struct store_text *text)
{
	char *path, *temporary = NULL;
	int status = CLI_DONE;
	FILE *file = NULL;

	if (asprintf(&path, "%s/%s", store->directory, name) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	if (asprintf(&temporary, "%s.%s.%ld", path, store->host, (long)getpid()) < 0)
		temporary = NULL;
	else
		file = fopen(temporary, "we");
	if (!file || fwrite(text->bytes, 1, text->size, file) != text->size || fflush(file) != 0 ||
	    fsync(fileno(file)) < 0)
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (file && fclose(file) != 0 && !status)
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (!status && rename(temporary, path) < 0)
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (status && temporary)
		unlink(temporary);
	free(temporary);
	free(path);
	return status;
}

int store_end(const struct store *store, struct store_text *text, const char *name, int status)
{
	if (fclose(text->out) != 0 && !status)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status)
		status = replace(store, name, text);
	free(text->bytes);
	return status;
}
