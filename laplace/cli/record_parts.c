/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that stand beside a trace while several processes make it; see record_parts.h.
 *
 * A segment gets its name by a rename when all of it is on the disk; that it has it is known from a file `kept`, which
 * is made after that.  So whatever is cut off is done once more.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "collect/collector.h"
#include "container/manifest_line.h"
#include "record_parts.h"
#include "say.h"

static const char COMMAND[] = "command", END[] = "end", KEPT[] = "kept", LINE[] = ".line";

/* ---- names ---- */

bool record_part_path(char path[PATH_MAX], const char *trace, const char *part, const char *file)
{
	return snprintf(path, PATH_MAX, "%s.jobs/%s%s%s", trace, part, *file ? "/" : "", file) < PATH_MAX;
}

static bool interval_path(char path[PATH_MAX], const char *trace, uint64_t interval, const char *file)
{
	char part[RECORD_PART_SIZE];

	snprintf(part, sizeof(part), "%06" PRIu64, interval);
	return record_part_path(path, trace, part, file);
}

bool record_checkpoint_path(char path[PATH_MAX], const char *trace, uint64_t number)
{
	return snprintf(path, PATH_MAX, "%s.checkpoint.%06" PRIu64, trace, number) < PATH_MAX;
}

bool record_has_checkpoint(const char *trace, uint64_t number)
{
	char path[PATH_MAX];

	return record_checkpoint_path(path, trace, number) && access(path, F_OK) == 0;
}

/* A file of all of it. */
static bool own_path(char path[PATH_MAX], const char *trace, const char *file)
{
	return snprintf(path, PATH_MAX, "%s.jobs%s%s", trace, *file ? "/" : "", file) < PATH_MAX;
}

static int cannot(const char *path, const char *what)
{
	return cli_complain(CLI_FAILED, "%s: cannot be %s: %s", path, what, strerror(errno));
}

void record_find_checkpoints(const char *trace, uint64_t *first, uint64_t *last)
{
	static const char mark[] = ".checkpoint.";
	const char *slash = strrchr(trace, '/'), *base = slash ? slash + 1 : trace;
	const size_t length = strlen(base);
	char folder[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	*first = *last = 0;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - trace) : 2, slash ? trace : "./");
	directory = opendir(folder);
	while (directory && (entry = readdir(directory))) {
		const char *digits = entry->d_name + length + strlen(mark);

		if (strncmp(entry->d_name, base, length) != 0 ||
		    strncmp(entry->d_name + length, mark, strlen(mark)) != 0 ||
		    strlen(digits) < 6 || digits[strspn(digits, "0123456789")])
			continue;
		const uint64_t number = strtoull(digits, NULL, 10);

		*first = !*first || number < *first ? number : *first;
		*last = number > *last ? number : *last;
	}
	if (directory)
		closedir(directory);
}

/* ---- files ---- */

/* A directory with files and such directories; one that is not there is gone.  A link is none. */
static bool remove_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool good = true;
	char inner[PATH_MAX];

	if (!directory)
		return errno == ENOENT;
	while (good && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		good = unlinkat(fd, entry->d_name, 0) == 0 || errno == ENOENT ||
		       (errno == EISDIR && snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) <
						   (int)sizeof(inner) && remove_all(inner));
	}
	closedir(directory);
	return good && (rmdir(path) == 0 || errno == ENOENT);
}

/* All of it or nothing, and on the disk. */
static int write_file(const char *path, const char *bytes, size_t size)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_output output;

	if (lpl_output_open(&output, path, true, &report) != LPL_OK)
		return cli_report(&report);
	if (lpl_output_write(&output, bytes, size, &report) == LPL_OK)
		(void)lpl_output_commit(&output, &report);
	else
		lpl_output_discard(&output);
	return report.error == LPL_OK ? CLI_DONE : cli_report(&report);
}

/* With a byte of zero after it; to be freed; NULL: see errno. */
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t got = file ? getdelim(&text, &room, EOF, file) : -1;

	if (file)
		fclose(file);
	if (got < 0) {
		free(text);
		return NULL;
	}
	*size = (size_t)got;
	return text;
}

/* ---- the whole ---- */

bool record_parts_are_there(const char *trace)
{
	char path[PATH_MAX];

	return own_path(path, trace, COMMAND) && access(path, F_OK) == 0;
}

int record_parts_find(const char *given, char trace[PATH_MAX])
{
	const char *slash = strrchr(given, '/');
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - given) : 1, slash ? given : ".") <
		    (int)sizeof(folder) && realpath(folder, trace)) {
		const size_t length = strlen(trace);

		if (snprintf(trace + length, PATH_MAX - length, "%s%s", strcmp(trace, "/") ? "/" : "",
			     slash ? slash + 1 : given) < (int)(PATH_MAX - length) &&
		    record_parts_are_there(trace))
			return CLI_DONE;
	}
	return cli_complain(CLI_FAILED, "%s: no recording of that name was begun with --jobs", given);
}

int record_parts_lock(const char *trace, int *lock)
{
	char path[PATH_MAX];

	*lock = own_path(path, trace, "") ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (*lock < 0 || !lpl_part_is_locked(*lock))
		return CLI_DONE;
	(void)close(*lock);
	*lock = -1;
	return cli_complain(CLI_FAILED, "%s: is being made by another laplace record --jobs", trace);
}

int record_parts_make_way(const char *trace, bool overwrite)
{
	char path[PATH_MAX];
	int lock, status = record_parts_lock(trace, &lock);

	if (status)
		return status;
	if (!own_path(path, trace, ""))
		status = cli_complain(CLI_USAGE, "%s: the path is too long", trace);
	else if (!record_parts_are_there(trace))
		(void)rmdir(path);	/* cut off when it had hardly begun; what has something in it may be anybody's */
	else if (!overwrite)
		status = cli_complain(CLI_FAILED, "%s: is there already, of a recording with --jobs that did not end; "
				      "--resume goes on with it, --overwrite removes it", path);
	else if (!remove_all(path))
		status = cannot(path, "removed");
	if (lock >= 0)
		(void)close(lock);
	return status;
}

int record_checkpoints_make_way(const char *trace, bool overwrite)
{
	struct lpl_report report = { .error = LPL_OK };
	char path[PATH_MAX];
	struct stat about;
	uint64_t first, last;

	/* of one that is being recorded nothing is removed */
	if (overwrite && lpl_output_try(trace, true, &report) != LPL_OK)
		return cli_report(&report);
	for (;;) {
		record_find_checkpoints(trace, &first, &last);
		if (!first || !record_checkpoint_path(path, trace, first) || lstat(path, &about) < 0)
			return CLI_DONE;
		if (!S_ISDIR(about.st_mode))
			return cli_complain(CLI_FAILED, "%s has the name of a checkpoint, and is none; remove it", path);
		if (!overwrite)
			return cli_complain(CLI_FAILED, "%s is there already, the checkpoint of another recording, and "
					    "would be taken for one of this; choose another name for the trace, or "
					    "--overwrite", path);
		record_checkpoint_remove(trace, first);
		if (record_has_checkpoint(trace, first))
			return CLI_FAILED;
	}
}

void record_parts_give_up(const char *trace, bool part)
{
	char path[PATH_MAX];

	if (own_path(path, trace, "") && !remove_all(path))
		(void)cannot(path, "removed");
	if (!part)
		return;
	if (snprintf(path, sizeof(path), "%s.part", trace) < (int)sizeof(path))
		(void)unlink(path);
	/* which was being made */
	record_checkpoint_remove(trace, 1);
}

int record_parts_begin(const char *trace, char *const *command)
{
	char path[PATH_MAX], *text = NULL;
	size_t size = 0;
	FILE *out;
	int status;

	if (!own_path(path, trace, ""))
		return cli_complain(CLI_USAGE, "%s: the path is too long", trace);
	if (mkdir(path, 0777) < 0)
		return cannot(path, "made");
	out = open_memstream(&text, &size);
	for (; out && *command; command++)
		(void)fwrite(*command, 1, strlen(*command) + 1, out);
	if (!out || fclose(out) != 0)
		return cli_complain(CLI_FAILED, "no memory");
	status = own_path(path, trace, COMMAND) ? write_file(path, text, size) : CLI_FAILED;
	free(text);
	if (status)
		record_parts_give_up(trace, false);
	return status;
}

/* What was begun elsewhere names its files there. */
static bool is_of(const char *line, const char *trace)
{
	static const char begin[] = "laplace: trace=\"";
	const size_t length = strlen(trace);

	return strncmp(line, begin, strlen(begin)) == 0 && strncmp(line + strlen(begin), trace, length) == 0 &&
	       line[strlen(begin) + length] == '"';
}

int record_parts_command(const char *trace, char ***command)
{
	char path[PATH_MAX], *text, **word;
	size_t size, words = 0;

	if (!own_path(path, trace, COMMAND) || !(text = read_file(path, &size)))
		return cli_complain(CLI_FAILED, "%s: is no recording that was begun with --jobs", trace);
	for (size_t i = 0; i < size; i++)
		words += text[i] == '\0';
	word = calloc(words + 1, sizeof(*word));
	if (!word || words == 0) {
		free(text);
		free(word);
		return cli_complain(CLI_FAILED, "%s: cannot be read", path);
	}
	for (size_t i = 0, at = 0; i < words; i++) {
		word[i] = text + at;
		at += strlen(text + at) + 1;
	}
	if (!is_of(word[words - 1], trace)) {
		free(text);
		free(word);
		return cli_complain(CLI_FAILED, "%s: was moved or copied, and can only be gone on with where it was "
				    "begun", trace);
	}
	*command = word;
	return CLI_DONE;
}

bool record_parts_are_forked(const char *trace)
{
	char path[PATH_MAX], *text;
	size_t size;

	if (!own_path(path, trace, COMMAND) || !(text = read_file(path, &size)))
		return false;
	/* of the others it is the last word; this one has no other */
	const bool forked = is_of(text, trace) && strstr(text, ", jobs=") != NULL;

	free(text);
	return forked;
}

/* ---- an interval ---- */

int record_part_try(const char *trace, uint64_t interval, char part[RECORD_PART_SIZE])
{
	char path[PATH_MAX], suffix[] = ".XXXXXX";
	const mode_t mask = umask(0);

	(void)umask(mask);
	snprintf(part, RECORD_PART_SIZE, "%06" PRIu64 "%s", interval, suffix);
	if (!record_part_path(path, trace, part, ""))
		return cli_complain(CLI_USAGE, "%s: the path is too long", trace);
	if (!mkdtemp(path) || chmod(path, 0777 & ~mask) < 0)
		return cannot(path, "made");
	snprintf(part, RECORD_PART_SIZE, "%s", strrchr(path, '/') + 1);
	return CLI_DONE;
}

void record_part_discard(const char *trace, const char *part)
{
	char path[PATH_MAX];

	if (record_part_path(path, trace, part, ""))
		(void)remove_all(path);
}

void record_parts_discard_tries(const char *trace)
{
	char path[PATH_MAX];
	DIR *directory = own_path(path, trace, "") ? opendir(path) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (*entry->d_name != '.' && strchr(entry->d_name, '.'))
			record_part_discard(trace, entry->d_name);
	if (directory)
		closedir(directory);
}

bool record_part_is_whole(const char *trace, const char *part)
{
	char path[PATH_MAX];

	return record_part_path(path, trace, part, LPL_PART_WHOLE) && access(path, F_OK) == 0;
}

/* The line that its segment has in the manifest, the only file of that ending; false: it has none. */
static bool find_line(char path[PATH_MAX], const char *trace, uint64_t interval)
{
	DIR *directory = interval_path(path, trace, interval, "") ? opendir(path) : NULL;
	struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory))) {
		const size_t length = strlen(entry->d_name);

		found = length > strlen(LINE) && strcmp(entry->d_name + length - strlen(LINE), LINE) == 0 &&
			interval_path(path, trace, interval, entry->d_name);
	}
	if (directory)
		closedir(directory);
	return found;
}

/* Its segment, if it has one, gets its name. */
static int keep(const char *trace, uint64_t interval)
{
	struct lpl_report report = { .error = LPL_OK };
	char from[PATH_MAX], to[PATH_MAX];
	const char *slash = strrchr(trace, '/');

	if (find_line(from, trace, interval)) {
		from[strlen(from) - strlen(LINE)] = '\0';
		if (snprintf(to, sizeof(to), "%.*s%s", slash ? (int)(slash + 1 - trace) : 0, trace,
			     strrchr(from, '/') + 1) >= (int)sizeof(to))
			return cli_complain(CLI_USAGE, "%s: the path is too long", trace);
		if (rename(from, to) < 0)
			return cannot(from, "renamed");
		if (lpl_sync_name(to, to, &report) != LPL_OK)
			return cli_report(&report);
	}
	return interval_path(to, trace, interval, KEPT) ? write_file(to, "", 0) : CLI_FAILED;
}

int record_part_keep(const char *trace, uint64_t interval, const char *part)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (!record_part_path(from, trace, part, "") || !interval_path(to, trace, interval, ""))
		return cli_complain(CLI_USAGE, "%s: the path is too long", trace);
	/* what has the name was cut off when it was about to be kept */
	if (!remove_all(to))
		return cannot(to, "removed");
	return rename(from, to) < 0 ? cannot(from, "renamed") : keep(trace, interval);
}

/* A process that writes a part says that it is whole; but the first part is that of the process that runs the machine. */
static bool is_whole(const char *trace, uint64_t interval)
{
	char path[PATH_MAX];

	return find_line(path, trace, interval) &&
	       (interval == 0 || (interval_path(path, trace, interval, LPL_PART_WHOLE) && access(path, F_OK) == 0));
}

int record_parts_take(const char *trace, uint64_t *count)
{
	int status = CLI_DONE;

	for (*count = 0; !status && is_whole(trace, *count); ++*count)
		if (!record_part_is_kept(trace, *count))
			status = keep(trace, *count);
	return status;
}

bool record_part_is_kept(const char *trace, uint64_t interval)
{
	char path[PATH_MAX];

	return interval_path(path, trace, interval, KEPT) && access(path, F_OK) == 0;
}

/* One that is being made, or removed: of its own name there is never a part of one. */
static bool checkpoint_part(char part[PATH_MAX], const char *trace, uint64_t number)
{
	return snprintf(part, PATH_MAX, "%s.checkpoint.%06" PRIu64 ".part", trace, number) < PATH_MAX;
}

void record_checkpoints_discard(const char *trace, uint64_t last)
{
	char part[PATH_MAX];

	for (uint64_t i = 1; i <= last; i++)
		if (checkpoint_part(part, trace, i) && !remove_all(part))
			(void)cannot(part, "removed");
}

void record_checkpoint_remove(const char *trace, uint64_t number)
{
	char path[PATH_MAX], part[PATH_MAX];

	if (!record_checkpoint_path(path, trace, number) || !checkpoint_part(part, trace, number))
		return;
	if (!remove_all(part) || (rename(path, part) < 0 && errno != ENOENT) || !remove_all(part))
		(void)cannot(path, "removed");
}

/* ---- the end ---- */

int record_parts_end(const char *trace, const struct cli_collection *end, uint64_t checkpoints)
{
	char path[PATH_MAX], text[160];
	const int size = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", end->end,
				  checkpoints, end->instructions, end->references, end->events);

	return own_path(path, trace, END) ? write_file(path, text, (size_t)size) : CLI_FAILED;
}

bool record_parts_ended(const char *trace, struct cli_collection *end, uint64_t *checkpoints)
{
	char path[PATH_MAX];
	FILE *file = own_path(path, trace, END) ? fopen(path, "re") : NULL;
	const bool read = file && fscanf(file, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, end->end,
					 checkpoints, &end->instructions, &end->references, &end->events) == 5;

	if (file)
		fclose(file);
	end->ended = read;
	return read;
}

static int join_lines(const char *trace, char **line, size_t count, bool overwrite)
{
	struct lpl_report report = { .error = LPL_OK };

	return lpl_collector_join(trace, line, count, overwrite, &report) == LPL_OK ? CLI_DONE : cli_report(&report);
}

bool record_parts_are_joined(const char *trace)
{
	char part[PATH_MAX];

	/* it has the other name until it is whole */
	return snprintf(part, sizeof(part), "%s.part", trace) < (int)sizeof(part) && access(part, F_OK) < 0 &&
	       access(trace, F_OK) == 0;
}

/* All that stood beside the trace; the command goes first: without it there is nothing to go on with. */
static int remove_rest(const char *trace, uint64_t intervals)
{
	char path[PATH_MAX];

	for (uint64_t i = 1; i < intervals; i++)
		if (record_has_checkpoint(trace, i))
			record_checkpoint_remove(trace, i);
	if (own_path(path, trace, COMMAND))
		(void)unlink(path);
	return own_path(path, trace, "") && !remove_all(path) ? cannot(path, "removed") : CLI_DONE;
}

/* The last segment says how much there is up to its end. */
static int compare(const char *trace, const char *line, const struct cli_collection *counted)
{
	struct lpl_segment_facts facts = { .refs_so_far = 0 };
	char *text = line ? strndup(line, strcspn(line, "\n")) : NULL, *base = NULL;
	const bool known = !line || (text && lpl_manifest_read(text, &base, NULL, &facts) == LPL_MANIFEST_SEGMENT);

	free(text);
	if (known && facts.refs_so_far == counted->references && facts.events_so_far == counted->events)
		return CLI_DONE;
	return cli_complain(CLI_FAILED, "%s: its segments have %" PRIu64 " references and %" PRIu64 " events, and not the %"
			    PRIu64 " and %" PRIu64 " that the first pass counted; they stay, and so does %s.jobs", trace,
			    facts.refs_so_far, facts.events_so_far, counted->references, counted->events, trace);
}

int record_parts_join(const char *trace, uint64_t intervals, const struct cli_collection *counted, bool overwrite)
{
	char **line, path[PATH_MAX];
	size_t count = 0, size;
	int status;

	if (record_parts_are_joined(trace))
		return remove_rest(trace, intervals);
	line = calloc(intervals + 1, sizeof(*line));
	status = line ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
	for (uint64_t i = 0; !status && i < intervals; i++) {
		if (!find_line(path, trace, i))
			continue;
		line[count] = read_file(path, &size);
		if (!line[count++])
			status = cannot(path, "read");
	}
	if (!status && counted)
		status = compare(trace, count > 0 ? line[count - 1] : NULL, counted);
	if (!status)
		status = join_lines(trace, line, count, overwrite);
	for (size_t i = 0; line && i < count; i++)
		free(line[i]);
	free(line);
	return status ? status : remove_rest(trace, intervals);
}
