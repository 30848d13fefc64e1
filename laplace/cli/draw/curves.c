/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves out of the CSV that `laplace sim` prints: of each policy; with --by, of each policy and each
 * of the processes or tasks that ran, as far as a picture can hold them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/say.h"
#include "curves.h"
#include "series.h"

#define MAX_COLUMNS 64
#define MOST_BY 8		/* curves of a file made by --by: those with the most faults */

/* Where the columns are that a curve needs. */
struct columns {
	int policy, size, faults;
	int mean_resident;	/* -1: there is none */
	int runner, name;	/* of --by; -1: there are none */
};

/* One field, within quotes or not, in place; `*rest' is after its comma, or NULL. */
static char *cut_field(char **rest)
{
	char *field = *rest + 1, *to = field, *from = field;

	if (**rest != '"')
		return strsep(rest, ",");
	while (*from && (*from != '"' || *++from == '"'))
		*to++ = *from++;
	*rest = *from == ',' ? from + 1 : NULL;
	*to = '\0';
	return field;
}

/* Cut a line at its commas.  Returns the number of fields. */
static int split(char *line, char **field)
{
	int count = 0;
	char *rest = line;

	line[strcspn(line, "\r\n")] = '\0';
	while (rest && count < MAX_COLUMNS)
		field[count++] = cut_field(&rest);
	return count;
}

static int find_column(char **field, int count, const char *name)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(field[i], name) == 0)
			return i;
	}
	return -1;
}

static bool read_number(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(*number) && *number >= 0;
}

/* The curve of that name; made when it is new.  NULL: no memory. */
static struct curve *curve_named(struct curves *curves, const char *name)
{
	struct curve *curve;

	for (size_t i = 0; i < curves->count; i++) {
		if (strcmp(curves->curve[i].name, name) == 0)
			return &curves->curve[i];
	}
	if (!lpl_reach(curves->curve, curves->room, curves->count))
		return NULL;
	curve = &curves->curve[curves->count];
	curve->name = strdup(name);
	if (!curve->name)
		return NULL;
	curves->count++;
	return curve;
}

/* To the curve of that name.  false: no memory. */
static bool add_point(struct curves *curves, const char *name, struct point point)
{
	struct curve *curve = curve_named(curves, name);

	if (!curve || !lpl_reach(curve->point, curve->room, curve->count))
		return false;
	curve->point[curve->count++] = point;
	return true;
}

/* Is the policy's size a time, in references, and its memory in mean_resident? */
static bool is_timed(const char *policy)
{
	return strcmp(policy, "ws") == 0 || strcmp(policy, "vmin") == 0;
}

/* How much memory a row is of.  Complains; returns an exit status. */
static int read_memory(char **field, const struct columns *columns, double *pages,
		       const char *path, int number)
{
	const char *policy = field[columns->policy];

	if (!is_timed(policy))
		return read_number(field[columns->size], pages) && *pages >= 1 ? CLI_DONE :
			cli_complain(CLI_DAMAGED, "%s:%d: size and faults are no numbers", path,
				     number);
	return columns->mean_resident >= 0 &&
	       read_number(field[columns->mean_resident], pages) && *pages > 0 ? CLI_DONE :
		cli_complain(CLI_DAMAGED, "%s:%d: the size of %s is a time: it is drawn by "
			     "mean_resident, which is not a number above 0 here", path, number,
			     policy);
}

/* " cc1 (93)", " all", " unknown"; of a function its name and that of its file: " main (cc1)" */
static void say_runner(char *text, size_t size, const char *id, const char *name)
{
	const char *slash = strrchr(id, '/');

	if (slash)
		id = slash + 1;
	if (*id && *name)
		snprintf(text, size, " %.300s (%.20s)", name, id);
	else
		snprintf(text, size, " %.300s", *name ? name : id);
}

static int add_row(struct curves *curves, char **field, int count,
		   const struct columns *columns, const char *prefix,
		   const char *path, int number)
{
	char name[600], runner[330] = "";
	struct point point = { 0 };
	int status;

	if (columns->policy >= count || columns->size >= count || columns->faults >= count ||
	    columns->mean_resident >= count || columns->runner >= count || columns->name >= count)
		return cli_complain(CLI_DAMAGED, "%s:%d: has fewer columns than the heading",
				    path, number);
	status = read_memory(field, columns, &point.pages, path, number);
	if (status)
		return status;
	if (!read_number(field[columns->faults], &point.faults))
		return cli_complain(CLI_DAMAGED, "%s:%d: size and faults are no numbers",
				    path, number);
	if (columns->runner >= 0)
		say_runner(runner, sizeof(runner), field[columns->runner], field[columns->name]);
	snprintf(name, sizeof(name), "%s%s%s%s", prefix, field[columns->policy],
		 is_timed(field[columns->policy]) ? " (mean resident)" : "", runner);
	if (!add_point(curves, name, point))
		return cli_complain(CLI_FAILED, "no memory for the curves");
	return CLI_DONE;
}

static int read_heading(char **field, int count, struct columns *columns, const char *path)
{
	columns->runner = find_column(field, count, "process");
	if (columns->runner < 0)
		columns->runner = find_column(field, count, "task");
	columns->name = find_column(field, count, "name");
	if (columns->runner < 0) {
		columns->runner = find_column(field, count, "file");
		columns->name = find_column(field, count, "function");
	}
	columns->policy = find_column(field, count, "policy");
	columns->size = find_column(field, count, "size");
	columns->faults = find_column(field, count, "faults");
	columns->mean_resident = find_column(field, count, "mean_resident");
	if (columns->policy < 0 || columns->size < 0 || columns->faults < 0 ||
	    (columns->runner >= 0 && columns->name < 0))
		return cli_complain(CLI_DAMAGED, "%s: its first line does not name the columns "
				    "policy, size and faults: not a result of laplace sim", path);
	return CLI_DONE;
}

static double all_faults(const struct curve *curve)
{
	double faults = 0;

	for (size_t i = 0; i < curve->count; i++)
		faults += curve->point[i].faults;
	return faults;
}

static int by_faults(const void *a, const void *b)
{
	double one = all_faults(a), other = all_faults(b);

	return one < other ? 1 : one > other ? -1 : strcmp(((const struct curve *)a)->name,
							   ((const struct curve *)b)->name);
}

static void free_curve(struct curve *curve)
{
	free(curve->name);
	free(curve->point);
}

/* Of the curves from `first` on, which are of a file made by --by. */
static void keep_most(struct curves *curves, size_t first, const char *path)
{
	const size_t read = curves->count - first;

	qsort(&curves->curve[first], read, sizeof(*curves->curve), by_faults);
	if (read <= MOST_BY)
		return;
	cli_complain(0, "%s: of %zu curves, the %d with the most faults are drawn", path, read,
		     MOST_BY);
	while (curves->count > first + MOST_BY) {
		free_curve(&curves->curve[--curves->count]);
		curves->curve[curves->count] = (struct curve){ .name = NULL };
	}
}

static int read_rows(struct curves *curves, FILE *file, const char *path, const char *prefix)
{
	struct columns columns = { -1, -1, -1, -1, -1, -1 };
	const size_t first = curves->count;
	char *line = NULL, *field[MAX_COLUMNS];
	size_t size = 0;
	int number = 0, rows = 0, status = CLI_DONE;

	while (!status && getline(&line, &size, file) >= 0) {
		int count;

		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		count = split(line, field);
		if (columns.size < 0) {
			status = read_heading(field, count, &columns, path);
		} else {
			status = add_row(curves, field, count, &columns, prefix, path, number);
			rows++;
		}
	}
	free(line);
	if (!status && ferror(file))
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (!status && !rows)
		return cli_complain(CLI_DAMAGED, "%s: has no results in it", path);
	if (!status && columns.runner >= 0)
		keep_most(curves, first, path);
	return status;
}

int curves_read(struct curves *curves, const char *path, bool several_files)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	const char *slash = strrchr(path, '/');
	char prefix[200] = "";
	int status;

	if (!file)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	if (several_files)
		snprintf(prefix, sizeof(prefix), "%.180s ", slash ? slash + 1 : path);
	status = read_rows(curves, file, path, prefix);
	if (!standard)
		fclose(file);
	return status;
}

void curves_free(struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++)
		free_curve(&curves->curve[i]);
	free(curves->curve);
}

/* ---- what drawing needs ---- */

bool curves_mark(struct marks *marks, size_t i, size_t j, double x, double next)
{
	const bool is_lonely = next - x >= marks->apart;

	if (j == 0)
		marks->last = x - marks->apart * (1 - series_offset(i));
	if (x - marks->last < marks->apart && !(j == 0 && is_lonely))
		return false;
	marks->last = x;
	return true;
}
