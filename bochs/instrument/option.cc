/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bochsrc's laplace option: read, checked, kept; see option.h. */
#include "bochs.h"
#include "gui/siminterface.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "checkpoint.h"
#include "option.h"
#include "producer.h"

struct laplace_option laplace_option;

static const char KNOWN[] =
	"trace=FILE, reduce=none|block|sad:K|window:K[+...], start=on|off|mark|CONDITIONS, "
	"stop=CONDITIONS, end=CONDITIONS (instructions:N+references:N+mark:TEXT+exec:NAME, for the "
	"end also bytes:N+seconds:N), control=SOCKET, "
	"kernel=auto|none|ADDRESS|FILE, walks=on|off, title=TEXT, guest=TEXT, "
	"workload=TEXT, level=1..19, ring=RECORDS, overwrite=on|off, status=FD, "
	"flush=SECONDSs|INSTRUCTIONSi|off, checkpoint=every:N|on|off, sync=SECONDS, on-full=wait|stop, "
	"status-file=FILE, status-every=SECONDS, "
	"windows=every:N+length:N|mark:TEXT+until:TEXT|task:NAME|syscall:NAME, "
	"only=process:NAME|task:NAME|children|user|kernel|type:TYPE|range:START:END|from:MOMENT|to:MOMENT"
	"[+...], "
	"segment=bytes:N|instructions:N, stage=window|ring|reduce|file";

static const uint64_t CHECKPOINT_LEAST = 1000000;	/* instructions */

enum origin { NOT_GIVEN, IN_BOCHSRC, ON_COMMAND_LINE };

static struct parameter {
	const char *key;
	enum origin origin = NOT_GIVEN;
	std::string value = "";		/* as given */
} parameters[] = {
	{ "trace" }, { "reduce" }, { "start" }, { "kernel" }, { "walks" }, { "title" },
	{ "guest" }, { "workload" }, { "level" }, { "ring" }, { "overwrite" }, { "status" },
	{ "status-file" }, { "status-every" }, { "stage" }, { "flush" }, { "windows" },
	{ "checkpoint" }, { "segment" }, { "sync" }, { "on-full" }, { "stop" }, { "end" }, { "control" },
	{ "only" },
};

static bool number(const char *text, long low, long high, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	return !errno && end != text && !*end && *out >= low && *out <= high;
}

static bool on_off(const char *text, bool *out)
{
	*out = !strcmp(text, "on") || !strcmp(text, "1");
	return *out || !strcmp(text, "off") || !strcmp(text, "0");
}

static bool copy(char *out, size_t size, const char *text)
{
	return *text && (size_t)snprintf(out, size, "%s", text) < size;
}

static bool parse_start(const char *v)
{
	if (!strcmp(v, "on"))
		laplace_option.start = LAPLACE_START_ON;
	else if (!strcmp(v, "off"))
		laplace_option.start = LAPLACE_START_OFF;
	else if (!strcmp(v, "mark"))
		laplace_option.start = LAPLACE_START_MARK;
	else {
		/* what is wrong with conditions is told when the run begins */
		laplace_option.start = LAPLACE_START_OFF;
		return strchr(v, ':') &&
		       copy(laplace_option.start_when, sizeof(laplace_option.start_when), v);
	}
	return true;
}

/* Ns: seconds of the host; Ni: instructions; off */
static bool parse_flush(const char *v)
{
	char digits[24];
	size_t length = strlen(v);
	char unit = length ? v[length - 1] : '\0';

	laplace_option.flush_seconds = laplace_option.flush_instructions = 0;
	if (!strcmp(v, "off"))
		return true;
	if (length < 2 || length > sizeof(digits) || (unit != 's' && unit != 'i'))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)length - 1, v);
	if (unit == 's')
		return number(digits, 1, 86400, &laplace_option.flush_seconds);
	return number(digits, 100000, LONG_MAX, &laplace_option.flush_instructions);
}

static bool parse_on_full(const char *v)
{
	laplace_option.wait_for_room = !strcmp(v, "wait");
	return laplace_option.wait_for_room || !strcmp(v, "stop");
}

static bool parse_segment(const char *v)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_segment_size_parse(&laplace_option.segment, v, &report))
		laplace_die("segment=%s: %s", v, report.text);
	laplace_option.segmented = true;
	return true;
}

/* every:N instructions, as numbers of segments are written; on demand; off */
static bool parse_checkpoint(const char *v)
{
	struct lpl_segment_size size = {};
	std::string spec = "instructions:";

	laplace_option.checkpoints = strcmp(v, "off") != 0;
	laplace_option.checkpoint_instructions = 0;
	if (!strcmp(v, "off") || !strcmp(v, "on"))
		return true;
	if (strncmp(v, "every:", 6) ||
	    lpl_segment_size_parse(&size, (spec + (v + 6)).c_str(), NULL) || size.bytes ||
	    size.instructions < CHECKPOINT_LEAST)
		return false;
	laplace_option.checkpoint_instructions = size.instructions;
	return true;
}

static bool parse_stage(const char *v)
{
	laplace_option.windows_only = !strcmp(v, "window");
	if (laplace_option.windows_only || !strcmp(v, "ring"))
		laplace_option.stage = LPL_STAGE_RING;
	else if (!strcmp(v, "reduce"))
		laplace_option.stage = LPL_STAGE_REDUCE;
	else if (!strcmp(v, "file"))
		laplace_option.stage = LPL_STAGE_FILE;
	else
		return false;
	return true;
}

static bool parse_one(const char *key, const char *v)
{
	if (!strcmp(key, "trace"))
		return copy(laplace_option.trace, sizeof(laplace_option.trace), v);
	if (!strcmp(key, "reduce"))
		return copy(laplace_option.reduce, sizeof(laplace_option.reduce), v);
	if (!strcmp(key, "kernel"))
		return copy(laplace_option.kernel, sizeof(laplace_option.kernel), v);
	if (!strcmp(key, "title"))
		return copy(laplace_option.title, sizeof(laplace_option.title), v);
	if (!strcmp(key, "guest"))
		return copy(laplace_option.guest, sizeof(laplace_option.guest), v);
	if (!strcmp(key, "workload"))
		return copy(laplace_option.workload, sizeof(laplace_option.workload), v);
	if (!strcmp(key, "windows"))
		return copy(laplace_option.windows, sizeof(laplace_option.windows), v);
	if (!strcmp(key, "only"))
		return copy(laplace_option.only, sizeof(laplace_option.only), v);
	if (!strcmp(key, "status-file"))
		return copy(laplace_option.status_file, sizeof(laplace_option.status_file), v);
	if (!strcmp(key, "status-every"))
		return number(v, 1, 86400, &laplace_option.status_every);
	if (!strcmp(key, "start"))
		return parse_start(v);
	if (!strcmp(key, "stop"))
		return copy(laplace_option.stop, sizeof(laplace_option.stop), v);
	if (!strcmp(key, "end"))
		return copy(laplace_option.end, sizeof(laplace_option.end), v);
	if (!strcmp(key, "control"))
		return copy(laplace_option.control, sizeof(laplace_option.control), v);
	if (!strcmp(key, "flush"))
		return parse_flush(v);
	if (!strcmp(key, "sync"))
		return number(v, 0, 86400, &laplace_option.sync_seconds);
	if (!strcmp(key, "on-full"))
		return parse_on_full(v);
	if (!strcmp(key, "stage"))
		return parse_stage(v);
	if (!strcmp(key, "checkpoint"))
		return parse_checkpoint(v);
	if (!strcmp(key, "segment"))
		return parse_segment(v);
	if (!strcmp(key, "walks"))
		return on_off(v, &laplace_option.walks);
	if (!strcmp(key, "overwrite"))
		return on_off(v, &laplace_option.overwrite);
	if (!strcmp(key, "level"))
		return number(v, 1, 19, &laplace_option.level);
	if (!strcmp(key, "ring"))
		return number(v, 1024, 1L << 26, &laplace_option.ring);
	if (!strcmp(key, "status"))
		return number(v, 0, 1 << 20, &laplace_option.status_fd);
	return false;
}

/*
 * Bochs takes the blanks away, so that what follows a forgotten comma sticks to the
 * value before it: the parameter that is found there, or NULL.  A directory may be
 * named so; and what follows a trace's usual ending is no part of its name, were it
 * a parameter that there is or not.
 */
static const char *stuck_to(const char *key, const char *value)
{
	const char *ending = strcmp(key, "trace") ? NULL : strstr(value, ".lpl");

	for (const struct parameter &p : parameters) {
		size_t length = strlen(p.key);

		for (const char *at = strstr(value, p.key); at; at = strstr(at + 1, p.key))
			if (at > value && !strchr(" \t/", at[-1]) && at[length] == '=')
				return at;
	}
	return ending && strchr(ending, '=') && !strchr(ending, '/') ? ending + 4 : NULL;
}

/*
 * A parameter is given once in the bochsrc, in one line or several.  The command
 * line, where `laplace record` says what it wants, goes before it.
 */
static void note_origin(const char *context, struct parameter *p, char *replaced, size_t size)
{
	enum origin origin = strcmp(context, "cmdline args") ? IN_BOCHSRC : ON_COMMAND_LINE;
	size_t used = strlen(replaced);

	if (p->origin == origin)
		laplace_die("%s: laplace: %s= is given twice", context, p->key);
	if (p->origin == IN_BOCHSRC)
		snprintf(replaced + used, size - used, " %s=", p->key);
	p->origin = origin;
}

/*
 * `windows=every:1G,length:10M`: Bochs cuts it at the comma.  What follows such a value and has
 * a colon where a parameter has its = is another part of it.
 */
static const struct in_parts {
	const char *key;
	char *value;			/* all parts; "": there are none */
	size_t size;
} in_parts[] = {
	{ "windows", laplace_option.windows, sizeof(laplace_option.windows) },
	{ "start", laplace_option.start_when, sizeof(laplace_option.start_when) },
	{ "stop", laplace_option.stop, sizeof(laplace_option.stop) },
	{ "end", laplace_option.end, sizeof(laplace_option.end) },
};

static bool is_another_part(const char *previous, const char *param)
{
	for (const struct in_parts &parameter : in_parts) {
		const size_t used = strlen(parameter.value), name = strlen(parameter.key);

		if (strncmp(previous, parameter.key, name) || previous[name] != '=' || !used ||
		    param[strcspn(param, ":=")] != ':')
			continue;
		snprintf(parameter.value + used, parameter.size - used, ",%s", param);
		if (used + strlen(param) + 1 >= parameter.size)
			laplace_die("laplace: %s= is too long", parameter.key);
		return true;
	}
	return false;
}

static Bit32s parse_option(const char *context, int count, char *params[])
{
	char replaced[256] = "";
	const char *previous = "";

	for (int i = 1; i < count; i++) {
		if (is_another_part(previous, params[i]))
			continue;
		previous = params[i];
		const char *equals = strchr(params[i], '='), *stuck;
		size_t length = equals ? (size_t)(equals - params[i]) : strlen(params[i]);
		struct parameter *parameter = NULL;

		for (struct parameter &p : parameters)
			if (!strncmp(p.key, params[i], length) && !p.key[length])
				parameter = &p;
		if (!equals || !parameter)
			laplace_die("%s: laplace: unknown parameter '%s'; known are: %s", context,
				    params[i], KNOWN);
		stuck = stuck_to(parameter->key, equals + 1);
		if (stuck)
			laplace_die("%s: laplace: in '%s' a comma seems to be missing before '%s' "
				    "(a text that is meant so is quoted, with a blank there; a path "
				    "has to be another)", context, params[i], stuck);
		if (!parse_one(parameter->key, equals + 1))
			laplace_die("%s: laplace: the value of '%s' is not valid; known are: %s",
				    context, params[i], KNOWN);
		note_origin(context, parameter, replaced, sizeof(replaced));
		parameter->value = equals + 1;
	}
	if (*replaced && !laplace_checkpoint_restores())
		fprintf(stderr, "laplace: the command line takes the place of the bochsrc's%s\n",
			replaced);
	laplace_option.wanted = true;
	return 0;
}

/* As it was given, whole. */
static const char *given_value(const struct parameter &p)
{
	for (const struct in_parts &parts : in_parts)
		if (!strcmp(p.key, parts.key) && *parts.value)
			return parts.value;
	return p.value.c_str();
}

/* A checkpoint's bochsrc: all that was given; a descriptor is told by who starts the process. */
static Bit32s save_option(FILE *file)
{
	const char *before = "laplace: ";

	for (const struct parameter &p : parameters) {
		if (p.origin == NOT_GIVEN || !strcmp(p.key, "status"))
			continue;
		fprintf(file, "%s%s=\"%s\"", before, p.key, given_value(p));
		before = ", ";
	}
	if (laplace_option.wanted)
		fputc('\n', file);
	return 0;
}

void laplace_option_init(void)
{
	strcpy(laplace_option.reduce, "sad:64");
	strcpy(laplace_option.kernel, "auto");
	laplace_option.stage = LPL_STAGE_FILE;
	laplace_option.status_fd = -1;
	laplace_option.flush_seconds = 10;
	laplace_option.sync_seconds = 30;
	laplace_option.wait_for_room = true;
	if (!SIM->register_addon_option("laplace", parse_option, save_option))
		laplace_die("Bochs does not take the laplace option");
}
