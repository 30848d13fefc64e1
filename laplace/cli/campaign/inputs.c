/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What files hold, as hashes.  A file that was hashed before is known again by its name, size,
 * inode and times of change, as make knows what is new.  Two kinds are known only to the process
 * that hashed them: those that changed just now, because they may change once more within the same
 * tick of their clock; and those of images, which are often made so that no time in them tells
 * when anything was written.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/major.h>

#include <xxhash.h>

#include <laplace/record.h>
#include <laplace/trace.h>

#include "base/array.h"
#include "campaign.h"
#include "cli/say.h"

#define SETTLED 3		/* seconds after which a file's times tell whether it changes */
#define DEEPEST 64		/* directories within directories */

struct known {
	char *path;		/* absolute */
	char hash[HASH_SIZE], state[96];
	bool lasts;		/* what has this state later holds the same */
};

struct inputs {
	struct known *known;	/* in the order of their paths */
	size_t count, room;
	bool changed;
	char *results;		/* the directory, by its absolute path */
	uint64_t states;
	bool of_word;		/* what is told is what a word names */
};

/* ---- what is known ---- */

/* Where it is, or (*found false) where it would be. */
static size_t find_known(const struct inputs *inputs, const char *path, bool *found)
{
	size_t low = 0, high = inputs->count;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, inputs->known[middle].path);

		*found = order == 0;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *found ? high : low;
}

static bool remember(struct inputs *inputs, const struct known *known)
{
	bool found;
	size_t at = find_known(inputs, known->path, &found);

	if (!found) {
		char *path = strdup(known->path);

		if (!path || !lpl_reach(inputs->known, inputs->room, inputs->count)) {
			free(path);
			return false;
		}
		for (size_t i = inputs->count; i > at; i--)
			inputs->known[i] = inputs->known[i - 1];
		inputs->known[at].path = path;
		inputs->count++;
	}
	memcpy(inputs->known[at].hash, known->hash, sizeof(known->hash));
	memcpy(inputs->known[at].state, known->state, sizeof(known->state));
	inputs->known[at].lasts = known->lasts;
	return true;
}

/* A line is HASH SIZE INODE MTIME CTIME PATH; what is no such line is not used. */
static void read_known(struct inputs *inputs, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, file)) > 0) {
		struct known known = { .lasts = true };
		int path = 0;

		if (line[length - 1] != '\n')
			break;
		line[length - 1] = '\0';
		if (sscanf(line, "%32[0-9a-f] %95[0-9.-] %n", known.hash, known.state, &path) < 2 ||
		    strlen(known.hash) != HASH_SIZE - 1 || line[path] != '/')
			continue;
		known.path = line + path;
		if (!remember(inputs, &known))
			break;
	}
	free(line);
}

struct inputs *inputs_open(const char *directory)
{
	struct inputs *inputs = calloc(1, sizeof(*inputs));
	char *path;
	FILE *file;

	if (!inputs)
		return NULL;
	inputs->results = strdup(directory);
	if (!inputs->results || asprintf(&path, "%s/inputs", directory) < 0) {
		free(inputs->results);
		free(inputs);
		return NULL;
	}
	file = fopen(path, "re");
	if (file) {
		read_known(inputs, file);
		fclose(file);
	}
	free(path);
	return inputs;
}

static void write_known(const struct inputs *inputs)
{
	struct store store;
	struct store_text text;

	if (store_begin(&text))
		return;
	for (size_t i = 0; i < inputs->count; i++) {
		const struct known *known = &inputs->known[i];

		if (known->lasts && !strchr(known->path, '\n'))
			fprintf(text.out, "%s %s %s\n", known->hash, known->state, known->path);
	}
	(void)store_end(&store, &text, "inputs", store_open(&store, inputs->results, false));
	store_close(&store);
}

void inputs_close(struct inputs *inputs)
{
	if (inputs->changed && access(inputs->results, W_OK) == 0)
		write_known(inputs);
	for (size_t i = 0; i < inputs->count; i++)
		free(inputs->known[i].path);
	free(inputs->known);
	free(inputs->results);
	free(inputs);
}

/* ---- telling ---- */

/* Of an image: read-only, as squashfs is, on a loop device, or by a program of somebody's. */
static bool is_of_image(const char *path, const struct stat *about)
{
	struct statfs system;

	return major(about->st_dev) == LOOP_MAJOR || statfs(path, &system) < 0 ||
	       (system.f_flags & ST_RDONLY) || system.f_type == FUSE_SUPER_MAGIC;
}

static void say_state(struct known *known, const struct stat *about)
{
	time_t now = time(NULL);

	snprintf(known->state, sizeof(known->state),
		 "%" PRIu64 "-%" PRIu64 "-%lld.%09ld-%lld.%09ld", (uint64_t)about->st_size,
		 (uint64_t)about->st_ino, (long long)about->st_mtim.tv_sec,
		 about->st_mtim.tv_nsec, (long long)about->st_ctim.tv_sec,
		 about->st_ctim.tv_nsec);
	known->lasts = about->st_mtim.tv_sec + SETTLED < now &&
		       about->st_ctim.tv_sec + SETTLED < now && !is_of_image(known->path, about);
}

static int hash_known(struct inputs *inputs, char hash[HASH_SIZE], const char *path,
		      const struct stat *about)
{
	struct known known = { .path = realpath(path, NULL) };
	int status = known.path ? CLI_DONE :
				  cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	bool found = false;
	size_t at;

	if (status)
		return status;
	say_state(&known, about);
	inputs->states = XXH3_64bits_withSeed(known.state, strlen(known.state), inputs->states);
	at = find_known(inputs, known.path, &found);
	/* once that it lasts can be said, it is hashed again */
	if (found && strcmp(inputs->known[at].state, known.state) == 0 &&
	    inputs->known[at].lasts == known.lasts) {
		memcpy(hash, inputs->known[at].hash, HASH_SIZE);
	} else {
		status = hash_file(known.hash, known.path);
		memcpy(hash, known.hash, HASH_SIZE);
		if (!status && !remember(inputs, &known))
			status = cli_complain(CLI_FAILED, "no memory");
		inputs->changed = true;
	}
	free(known.path);
	return status;
}

static int tell_path(struct inputs *inputs, FILE *about, const char *path, const char *name,
		     int depth);

static int tell_file(struct inputs *inputs, FILE *about, const char *path, const char *name,
		     const struct stat *status)
{
	size_t size = name ? 4 * strlen(name) + 1 : 1;
	char hash[HASH_SIZE], *shown = calloc(1, size);
	int result = shown ? hash_known(inputs, hash, path, status) :
			     cli_complain(CLI_FAILED, "no memory");

	if (!result)
		fprintf(about, "input %s%s%s\n", hash, name ? " " : "",
			name ? lpl_text_escape(shown, size, name, strlen(name)) : "");
	free(shown);
	return result;
}

static int is_no_dot(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Is an absolute path that of a directory, or of something in it? */
static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 &&
	       (directory[length - 1] == '/' || path[length] == '/' || path[length] == '\0');
}

/* Then what is made would go in. */
static bool holds_results(const struct inputs *inputs, const char *path)
{
	char *directory = realpath(path, NULL);
	bool holds = directory && is_below(inputs->results, directory);

	free(directory);
	return holds;
}

/* Each machine has its own of these. */
static bool is_of_machine(const char *path)
{
	static const char *const own[] = { "/proc", "/sys", "/dev", "/run" };
	char *where = realpath(path, NULL);
	bool is = where && strcmp(where, "/") == 0;

	for (size_t i = 0; where && !is && i < sizeof(own) / sizeof(own[0]); i++)
		is = is_below(where, own[i]);
	free(where);
	return is;
}

/* The results themselves, within what a word names. */
static bool is_left_out(const struct inputs *inputs, const char *path)
{
	char *where = inputs->of_word ? realpath(path, NULL) : NULL;
	bool is = where && strcmp(where, inputs->results) == 0;

	free(where);
	return is;
}

static int tell_directory(struct inputs *inputs, FILE *about, const char *path, const char *name,
			  int depth)
{
	struct dirent **entry;
	bool left_out = is_left_out(inputs, path);
	int count = left_out ? 0 : scandir(path, &entry, is_no_dot, by_bytes);
	int status = count >= 0 ? CLI_DONE :
				  cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));

	if (left_out)
		return CLI_DONE;
	if (!inputs->of_word && holds_results(inputs, path))
		status = cli_complain(CLI_FAILED,
				      "%s: is an input, and holds the results (%s): put these "
				      "elsewhere (-o)",
				      path, inputs->results);
	else if (depth > DEEPEST)
		status = cli_complain(CLI_FAILED, "%s: directories are too deep", path);
	for (int i = 0; i < count; i++) {
		char *below = NULL, *below_name = NULL;

		if (!status &&
		    (asprintf(&below, "%s/%s", path, entry[i]->d_name) < 0 ||
		     asprintf(&below_name, "%s/%s", name ? name : "", entry[i]->d_name) < 0))
			status = cli_complain(CLI_FAILED, "no memory");
		if (!status)
			status = tell_path(inputs, about, below, below_name, depth + 1);
		free(below);
		free(below_name);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
	return status;
}

/* Below a directory links are what they lead to only if that is a file: no circles. */
static int tell_path(struct inputs *inputs, FILE *about, const char *path, const char *name,
		     int depth)
{
	struct stat status, link;

	if (lstat(path, &link) < 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (depth && S_ISLNK(link.st_mode) && is_of_machine(path))
		return CLI_DONE;
	if (stat(path, &status) < 0)
		return depth ? CLI_DONE :
			       cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (S_ISREG(status.st_mode))
		return tell_file(inputs, about, path, name, &status);
	if (S_ISDIR(status.st_mode) && !(depth && S_ISLNK(link.st_mode)))
		return tell_directory(inputs, about, path, name, depth);
	return depth ? CLI_DONE :
		       cli_complain(CLI_FAILED, "%s: is neither a file nor a directory", path);
}

struct segment_teller {
	struct inputs *inputs;
	FILE *about;
	const char *trace;
	int status;
};

/* Each file of a trace but the first, which is told already; those that are not there are not. */
static int tell_segment(void *context, const char *file)
{
	struct segment_teller *teller = context;

	if (strcmp(file, teller->trace) != 0 && access(file, F_OK) == 0)
		teller->status = tell_path(teller->inputs, teller->about, file, NULL, 0);
	return teller->status;
}

int inputs_tell(struct inputs *inputs, FILE *about, const char *path, const char *name)
{
	struct segment_teller teller = { inputs, about, path, CLI_DONE };
	int status = tell_path(inputs, about, path, name, 0);

	if (!status && lpl_trace_files(path, tell_segment, &teller) && !teller.status)
		teller.status = cli_complain(CLI_FAILED, "%s: no memory", path);
	return status ? status : teller.status;
}

int inputs_tell_word(struct inputs *inputs, FILE *about, const char *word)
{
	int status = CLI_DONE;

	inputs->of_word = true;
	if (!is_of_machine(word))
		status = inputs_tell(inputs, about, word, word);
	inputs->of_word = false;
	return status;
}

uint64_t inputs_states(struct inputs *inputs)
{
	uint64_t states = inputs->states;

	inputs->states = 0;
	return states;
}
