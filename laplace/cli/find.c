/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where other programs are; see find.h.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"
#include "say.h"

static bool is_program(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static bool can_be_read(const char *path)
{
	return access(path, R_OK) == 0;
}

/* FOLDER/NAME when that is what is looked for, to be freed; or NULL. */
static char *there_is(const char *folder, size_t length, const char *name,
		      bool (*is)(const char *path))
{
	char *path;

	if (asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0)
		return NULL;
	if (is(path))
		return path;
	free(path);
	return NULL;
}

static char *program_in(const char *folder, size_t length, const char *name)
{
	return there_is(folder, length, name, is_program);
}

char *find_in_path(const char *name)
{
	const char *folder = getenv("PATH");

	while (folder && *folder) {
		size_t length = strcspn(folder, ":");
		char *path = length ? program_in(folder, length, name) : NULL;

		if (path)
			return path;
		folder += length + (folder[length] == ':');
	}
	return NULL;
}

bool find_self(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* The first of FOLDER/NAME, FOLDER beside this program; NULL: none. */
static char *find_beside(const char *const folders[], size_t count, const char *name,
			 bool (*is)(const char *path))
{
	char self[PATH_MAX], folder[PATH_MAX + 64], *path = NULL;
	const char *slash = find_self(self) ? strrchr(self, '/') : NULL;

	for (size_t i = 0; slash && i < count && !path; i++) {
		snprintf(folder, sizeof(folder), "%.*s%s", (int)(slash - self), self, folders[i]);
		path = there_is(folder, strlen(folder), name, is);
	}
	return path;
}

/* A program, as installed or in a build directory. */
static char *find_near(const char *name)
{
	static const char *const place[] = {
		"", "/../libexec/laplace", "/../libexec", "/../build/bochs"
	};
	char *path = find_beside(place, sizeof(place) / sizeof(place[0]), name, is_program);

#ifdef LAPLACE_LIBEXECDIR
	if (!path)
		path = program_in(LAPLACE_LIBEXECDIR, strlen(LAPLACE_LIBEXECDIR), name);
#endif
	return path;
}

char *find_shared(const char *name)
{
	static const char *const place[] = { "/../share/laplace", "/.." };
	const char *named = getenv("LAPLACE_DATADIR");
	char *path;

	if (named && *named)
		return program_in(named, strlen(named), name);
	path = find_beside(place, sizeof(place) / sizeof(place[0]), name, is_program);
#ifdef LAPLACE_PKGDATADIR
	if (!path)
		path = program_in(LAPLACE_PKGDATADIR, strlen(LAPLACE_PKGDATADIR), name);
#endif
	return path;
}

/* The last place is Debian's, for what python3-laplace brings. */
char *find_modules(const char *name)
{
	static const char *const place[] = {
		"/../share/laplace/python", "/../python", "/../lib/python3/dist-packages"
	};
	const char *named = getenv("LAPLACE_DATADIR");
	char folder[PATH_MAX], *path = NULL;

	if (named && *named) {
		snprintf(folder, sizeof(folder), "%s/python", named);
		path = there_is(folder, strlen(folder), name, can_be_read);
	}
	if (!path)
		path = find_beside(place, sizeof(place) / sizeof(place[0]), name, can_be_read);
#ifdef LAPLACE_PYMODULEDIR
	if (!path)
		path = there_is(LAPLACE_PYMODULEDIR, strlen(LAPLACE_PYMODULEDIR), name, can_be_read);
#endif
	return path;
}

/* A path that somebody named has to be right. */
static int take_named(char **path, const char *named, const char *by)
{
	if (!is_program(named))
		return cli_complain(CLI_FAILED, "%s (named by %s): %s", named, by,
				    access(named, F_OK) < 0 ? strerror(errno)
							    : "is not a program");
	*path = strdup(named);
	return *path ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
}

char *find_bochs_quietly(void)
{
	const char *named = getenv("LAPLACE_BOCHS");
	char *path;

	if (named && *named)
		return is_program(named) ? strdup(named) : NULL;
	path = find_near("laplace-bochs");
	return path ? path : find_in_path("laplace-bochs");
}

int find_bochs(char **path, const char *given)
{
	const char *named = getenv("LAPLACE_BOCHS");

	if (given)
		return take_named(path, given, "--bochs");
	if (named && *named)
		return take_named(path, named, "LAPLACE_BOCHS");
	*path = find_bochs_quietly();
	if (!*path)
		return cli_complain(CLI_FAILED, "laplace-bochs is neither installed with laplace "
				    "nor in $PATH; --bochs or LAPLACE_BOCHS name it");
	return CLI_DONE;
}

int cli_become(const char *name, char **argv, int failed)
{
	char self[PATH_MAX], *script = find_shared(name);

	if (!find_self(self))
		return cli_complain(failed, "/proc/self/exe: %s", strerror(errno));
	if (!script)
		return cli_complain(failed, "%s is not installed with laplace; LAPLACE_DATADIR names "
				    "the directory that has it", name);
	if (setenv("LAPLACE", self, 1) < 0)
		return cli_complain(failed, "no memory");
	/* which a program would inherit */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	argv[0] = script;
	execv(script, argv);
	return cli_complain(failed, "%s: %s", script, strerror(errno));
}
