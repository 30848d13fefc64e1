/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bochsrc's laplace option: read, checked, kept; see option.h. */
#include "bochs.h"
#include "gui/siminterface.h"
#include "param_names.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "option.h"
#include "report.h"

struct laplace_option laplace_option;

static const uint64_t CHECKPOINT_LEAST = 1000000;	/* instructions */

enum origin { NOT_GIVEN, IN_BOCHSRC, ON_COMMAND_LINE };

struct parameter {
	const char *key;
	const char *values, *help;	/* what they are, and what for: for people */
	bool (*read)(const struct parameter &parameter, const char *value);	/* is it valid? */
	void *member;			/* where it goes */
	long low, high;			/* of a number; of a text, its room */
	/*
	 * `windows=every:1G,length:10M': Bochs cuts it at the comma.  What follows such a value and has
	 * a colon where a parameter has its = is another part of it, and goes into `member', too.
	 */
	bool in_parts = false;
	enum origin origin = NOT_GIVEN;
	std::string value = "";		/* as given */
};

static bool read_number(const char *text, long low, long high, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	return !errno && end != text && !*end && *out >= low && *out <= high;
}

static bool number(const struct parameter &p, const char *v)
{
	return read_number(v, p.low, p.high, (long *)p.member);
}

static bool on_off(const struct parameter &p, const char *v)
{
	bool *on = (bool *)p.member;

	*on = !strcmp(v, "on") || !strcmp(v, "1");
	return *on || !strcmp(v, "off") || !strcmp(v, "0");
}

static bool text(const struct parameter &p, const char *v)
{
	return *v && snprintf((char *)p.member, (size_t)p.high, "%s", v) < p.high;
}

/* What is wrong with conditions is reported when the run begins. */
static bool start(const struct parameter &p, const char *v)
{
	laplace_option.start = !strcmp(v, "on") ? LAPLACE_START_ON :
			       !strcmp(v, "mark") ? LAPLACE_START_MARK : LAPLACE_START_OFF;
	return laplace_option.start != LAPLACE_START_OFF || !strcmp(v, "off") ||
	       (strchr(v, ':') && text(p, v));
}

/* Ns: seconds of the host; Ni: instructions; off */
static bool flush(const struct parameter &, const char *v)
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
		return read_number(digits, 1, 86400, &laplace_option.flush_seconds);
	return read_number(digits, 100000, LONG_MAX, &laplace_option.flush_instructions);
}

static bool on_full(const struct parameter &, const char *v)
{
	laplace_option.wait_for_room = !strcmp(v, "wait");
	return laplace_option.wait_for_room || !strcmp(v, "stop");
}

static bool segment(const struct parameter &, const char *v)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_segment_size_parse(&laplace_option.segment, v, &report))
		laplace_die("segment=%s: %s", v, report.text);
	laplace_option.segmented = true;
	return true;
}

/* every:N instructions; on demand; off */
static bool checkpoint(const struct parameter &, const char *v)
{
	struct lpl_interval interval;

	laplace_option.checkpoints = strcmp(v, "off") != 0;
	laplace_option.checkpoint_instructions = 0;
	if (!strcmp(v, "off") || !strcmp(v, "on"))
		return true;
	if (lpl_interval_parse(&interval, v, LPL_TO_SAVE, NULL) ||
	    interval.every < CHECKPOINT_LEAST)
		return false;
	laplace_option.checkpoint_instructions = interval.every;
	return true;
}

static bool pass(const struct parameter &, const char *v)
{
	laplace_option.pass_is_last = !strcmp(v, "last");
	if (laplace_option.pass_is_last || !strcmp(v, "segment"))
		laplace_option.pass = LPL_PASS_SEGMENT;
	else if (!strcmp(v, "count"))
		laplace_option.pass = LPL_PASS_COUNT;
	else
		return false;
	return true;
}

static bool stage(const struct parameter &, const char *v)
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

#define INTO(member) laplace_option.member, 0, (long)sizeof(laplace_option.member)
#define NUMBER(member, low, high) number, &laplace_option.member, low, high
#define ON_OFF(member) on_off, &laplace_option.member, 0, 0
#define OWN(read) read, NULL, 0, 0

/*
 * All there are, in the order in which they are listed where one is wrong, and in laplace-bochs(1), which
 * docs/man/generate makes of this text.
 */
static struct parameter parameters[] = {
	{ "trace", "FILE", "The trace to write; required", text, INTO(trace) },
	{ "reduce", "none|block|sad:K|window:K[+...]",
	  "What to keep: every reference (none), or a reduction of it (sad:64)", text, INTO(reduce) },
	{ "start", "on|off|mark|CONDITIONS",
	  "Trace from power-on, when asked to (off), from the guest's first mark (mark), or from when a "
	  "condition holds (on)", start, INTO(start_when), true },
	{ "stop", "CONDITIONS", "Trace until one of these holds", text, INTO(stop), true },
	{ "end", "CONDITIONS (instructions:N+references:N+mark:TEXT+exec:NAME, for the end also "
	  "bytes:N+seconds:S)", "End the run when one of these holds", text, INTO(end), true },
	{ "control", "SOCKET", "Let others steer the run through this Unix socket", text, INTO(control) },
	{ "kernel", "auto|none|ADDRESS|FILE",
	  "Where the guest's kernel_trace_record is: where its module says (auto, the default), nowhere "
	  "(none), at a hexadecimal address, or where a System.map or vmlinux has the symbol",
	  text, INTO(kernel) },
	{ "walks", "on|off", "Trace the processor's references to page tables, too (off)", ON_OFF(walks) },
	{ "physical", "on|off", "Trace where in physical memory references go, and when the TLB is flushed, "
	  "too (off)", ON_OFF(physical) },
	{ "code", "on|off", "Trace the bytes of the instructions that are executed, and what physical=on does, too "
	  "(off)", ON_OFF(code) },
	{ "title", "TEXT", "Kept in the trace's header", text, INTO(title) },
	{ "guest", "TEXT", "The guest's kernel and image, kept there, too", text, INTO(guest) },
	{ "workload", "TEXT", "What it runs, kept there, too", text, INTO(workload) },
	{ "level", "1..19", "Compression level of zstd (3)", NUMBER(level, 1, 19) },
	{ "ring", "RECORDS",
	  "Room between the simulator's thread and the reducer's, in records of 32 bytes, 1024 to 2^26 "
	  "(65536)", NUMBER(ring, 1024, 1L << 26) },
	{ "overwrite", "on|off", "Replace an existing trace (off)", ON_OFF(overwrite) },
	{ "status", "FD",
	  "Write the run's status, a line of JSON, to this file descriptor twice a second",
	  NUMBER(status_fd, 0, 1 << 20) },
	{ "flush", "SECONDSs|INSTRUCTIONSi|off",
	  "How often everything that has happened is made readable: by the host's time, or the "
	  "machine's (10s)", OWN(flush) },
	{ "checkpoint", "every:N|on|off",
	  "Save the machine every so many instructions, or when asked to, so that a run that is cut off "
	  "can be resumed (off)", OWN(checkpoint) },
	{ "snapshot", "DIR",
	  "Save the machine there, and end, when the guest says that it is ready (laplace-ctl ready); "
	  "recordings can begin with it", text, INTO(snapshot) },
	{ "sync", "SECONDS",
	  "How often what was written is forced to the disk (30); with 0, only when the trace is closed",
	  NUMBER(sync_seconds, 0, 86400) },
	{ "on-full", "wait|stop",
	  "When the disk is full, wait for room, or end the run and close the trace (wait)",
	  OWN(on_full) },
	{ "status-file", "FILE", "Append lines of the status to this file", text, INTO(status_file) },
	{ "status-every", "SECONDS", "How often that is done (10)", NUMBER(status_every, 1, 86400) },
	{ "windows", "every:N+length:N|from:MOMENT+until:MOMENT|task:NAME|syscall:NAME",
	  "Trace only in windows of time", text, INTO(windows), true },
	{ "only", "process:NAME|task:NAME|children|user|kernel|type:TYPE|range:START:END|from:MOMENT|"
	  "until:MOMENT[+...]", "Record only some of the references, chosen before they are reduced",
	  text, INTO(only) },
	{ "images", "evict:K",
	  "Keep what each page holds when an LRU memory of K pages would evict it", text, INTO(images) },
	{ "segment", "bytes:N|instructions:N", "Cut the trace into files of that size", OWN(segment) },
	{ "jobs", "N", "Trace in so many processes: the first only counts, and forks another wherever the trace is cut "
	  "(segment=instructions:N)", NUMBER(jobs, 1, 1024) },
	{ "pass", "count|segment|last", "A part in what `laplace record --jobs` makes: count and make checkpoints, or write "
	  "the segment from one checkpoint to the next, or to the end", OWN(pass) },
	{ "part", "NAME", "The directory in TRACE.jobs that a segment of `pass' is written to", text, INTO(part) },
	{ "stage", "window|ring|reduce|file",
	  "Go no further than this stage, to measure what it costs (file)", OWN(stage) },
};

static std::string known_parameters(void)
{
	std::string known;

	for (const struct parameter &p : parameters)
		known += (known.empty() ? "" : ", ") + std::string(p.key) + "=" + p.values;
	return known;
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

static bool is_another_part(const char *previous, const char *param)
{
	for (const struct parameter &p : parameters) {
		char *value = (char *)p.member;
		const size_t name = strlen(p.key);

		if (!p.in_parts || strncmp(previous, p.key, name) || previous[name] != '=' || !*value ||
		    param[strcspn(param, ":=")] != ':')
			continue;
		const size_t used = strlen(value), size = (size_t)p.high;

		snprintf(value + used, size - used, ",%s", param);
		if (used + strlen(param) + 1 >= size)
			laplace_die("laplace: %s= is too long", p.key);
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
				    params[i], known_parameters().c_str());
		stuck = stuck_to(parameter->key, equals + 1);
		if (stuck)
			laplace_die("%s: laplace: in '%s' a comma seems to be missing before '%s' "
				    "(a text that is meant so is quoted, with a blank there; a path "
				    "has to be another)", context, params[i], stuck);
		if (!parameter->read(*parameter, equals + 1))
			laplace_die("%s: laplace: the value of '%s' is not valid; known are: %s",
				    context, params[i], known_parameters().c_str());
		note_origin(context, parameter, replaced, sizeof(replaced));
		parameter->value = equals + 1;
	}
	if (*replaced && !laplace_option_restores())
		fprintf(stderr, "laplace: the command line takes the place of the bochsrc's%s\n",
			replaced);
	laplace_option.wanted = true;
	return 0;
}

/* As it was given, whole. */
static const char *given_value(const struct parameter &p)
{
	if (p.in_parts && *(const char *)p.member)
		return (const char *)p.member;
	return p.value.c_str();
}

/*
 * A checkpoint's bochsrc: all that was given; whatever starts the process gives a descriptor.  A snapshot is of
 * the machine alone, and has nothing.
 */
static Bit32s save_option(FILE *file)
{
	const char *before = "laplace: ";

	if (*laplace_option.snapshot)
		return 0;
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

bool laplace_option_restores(void)
{
	return SIM->get_param_bool(BXPN_RESTORE_FLAG)->get();
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
