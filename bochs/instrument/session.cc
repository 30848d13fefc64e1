/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collection's life: the bochsrc option, start, end.
 *
 * Bochs leaves by many doors (its quit context, panics, the debugger, power-off
 * by the guest), so the trace is closed by whichever of exit_env and atexit
 * comes first, and only once.  What was collected is in complete chunks at any
 * moment; closing adds the index and the final name.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "bxversion.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/reducer.h>

#include "producer.h"
#include "session.h"
#include "signals.h"
#include "symbol.h"

/* Does this simulator log every reference?  Else it sends windows. */
#if defined(LAPLACE_ALL)
static const bool LAPLACE_LOGS = true;
#else
static const bool LAPLACE_LOGS = false;
#endif

enum start_mode { START_ON, START_OFF, START_MARK };

static struct {
	bool wanted;			/* a laplace option was given */
	char **arguments;		/* as given, with -q, from the second one on */
	char trace[BX_PATHNAME_LEN];
	char reduce[256];
	char kernel[BX_PATHNAME_LEN];
	char title[256], guest[256], workload[256];
	enum start_mode start;
	bool walks, overwrite, windows_only;
	enum lpl_stage stage;
	long level, ring, status_fd;
	long flush_seconds, flush_instructions;	/* 0: never by that */

	struct lpl_collector *collector;
	bool closed;
	unsigned complaints;
	char problem[512];		/* why the end is not clean */
	bool told;			/* the user has read it */
	bool good_end;			/* else the exit status is 1 */
} session;

static void close_collection(void);
static void at_abrupt_exit(void);

/*
 * Leave from the middle of the simulation.  exit() would run the destructors of
 * Bochs' global objects, which log through a mutex that is gone by then.
 */
[[noreturn]] static void leave(void)
{
	static bool leaving;

	if (!leaving) {
		leaving = true;
		close_collection();
		if (SIM->get_init_done())
			bx_atexit();	/* gives the terminal back */
	}
	fflush(NULL);
	_exit(1);
}

/* ---- telling ---- */

static const unsigned COMPLAINTS_MAX = 20;

void laplace_complain(const char *format, ...)
{
	va_list arguments;

	if (++session.complaints > COMPLAINTS_MAX)
		return;
	fputs("laplace: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs(session.complaints == COMPLAINTS_MAX ? " (no more of these are shown)\n" : "\n",
	      stderr);
}

void laplace_die(const char *format, ...)
{
	struct lpl_report report;
	va_list arguments;

	memset(&report, 0, sizeof(report));
	if (session.collector && lpl_collector_failure(session.collector, &report))
		snprintf(session.problem, sizeof(session.problem), "%s", report.text);
	else {
		va_start(arguments, format);
		vsnprintf(session.problem, sizeof(session.problem), format, arguments);
		va_end(arguments);
	}
	fprintf(stderr, "laplace: %s\n", session.problem);
	session.told = true;
	leave();
}

/* ---- the option ---- */

static const char KNOWN[] =
	"trace=FILE, reduce=none|block|sad:K|window:K[+...], start=on|off|mark, "
	"kernel=auto|none|ADDRESS|FILE, walks=on|off, title=TEXT, guest=TEXT, "
	"workload=TEXT, level=1..19, ring=RECORDS, overwrite=on|off, status=FD, "
	"flush=SECONDSs|INSTRUCTIONSi|off, "
	"stage=window|ring|reduce|file";

enum origin { NOT_GIVEN, IN_BOCHSRC, ON_COMMAND_LINE };

static struct parameter {
	const char *key;
	enum origin origin;
} parameters[] = {
	{ "trace", NOT_GIVEN }, { "reduce", NOT_GIVEN }, { "start", NOT_GIVEN },
	{ "kernel", NOT_GIVEN }, { "walks", NOT_GIVEN }, { "title", NOT_GIVEN },
	{ "guest", NOT_GIVEN }, { "workload", NOT_GIVEN }, { "level", NOT_GIVEN },
	{ "ring", NOT_GIVEN }, { "overwrite", NOT_GIVEN }, { "status", NOT_GIVEN },
	{ "stage", NOT_GIVEN }, { "flush", NOT_GIVEN },
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
		session.start = START_ON;
	else if (!strcmp(v, "off"))
		session.start = START_OFF;
	else if (!strcmp(v, "mark"))
		session.start = START_MARK;
	else
		return false;
	return true;
}

/* Ns: seconds of the host; Ni: instructions; off */
static bool parse_flush(const char *v)
{
	char digits[24];
	size_t length = strlen(v);
	char unit = length ? v[length - 1] : '\0';

	session.flush_seconds = session.flush_instructions = 0;
	if (!strcmp(v, "off"))
		return true;
	if (length < 2 || length > sizeof(digits) || (unit != 's' && unit != 'i'))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)length - 1, v);
	if (unit == 's')
		return number(digits, 1, 86400, &session.flush_seconds);
	return number(digits, 100000, LONG_MAX, &session.flush_instructions);
}

static bool parse_stage(const char *v)
{
	session.windows_only = !strcmp(v, "window");
	if (session.windows_only || !strcmp(v, "ring"))
		session.stage = LPL_STAGE_RING;
	else if (!strcmp(v, "reduce"))
		session.stage = LPL_STAGE_REDUCE;
	else if (!strcmp(v, "file"))
		session.stage = LPL_STAGE_FILE;
	else
		return false;
	return true;
}

static bool parse_one(const char *key, const char *v)
{
	if (!strcmp(key, "trace"))
		return copy(session.trace, sizeof(session.trace), v);
	if (!strcmp(key, "reduce"))
		return copy(session.reduce, sizeof(session.reduce), v);
	if (!strcmp(key, "kernel"))
		return copy(session.kernel, sizeof(session.kernel), v);
	if (!strcmp(key, "title"))
		return copy(session.title, sizeof(session.title), v);
	if (!strcmp(key, "guest"))
		return copy(session.guest, sizeof(session.guest), v);
	if (!strcmp(key, "workload"))
		return copy(session.workload, sizeof(session.workload), v);
	if (!strcmp(key, "start"))
		return parse_start(v);
	if (!strcmp(key, "flush"))
		return parse_flush(v);
	if (!strcmp(key, "stage"))
		return parse_stage(v);
	if (!strcmp(key, "walks"))
		return on_off(v, &session.walks);
	if (!strcmp(key, "overwrite"))
		return on_off(v, &session.overwrite);
	if (!strcmp(key, "level"))
		return number(v, 1, 19, &session.level);
	if (!strcmp(key, "ring"))
		return number(v, 1024, 1L << 26, &session.ring);
	if (!strcmp(key, "status"))
		return number(v, 0, 1 << 20, &session.status_fd);
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

static Bit32s parse_option(const char *context, int count, char *params[])
{
	char replaced[256] = "";

	for (int i = 1; i < count; i++) {
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
	}
	if (*replaced)
		fprintf(stderr, "laplace: the command line takes the place of the bochsrc's%s\n",
			replaced);
	session.wanted = true;
	return 0;
}

static Bit32s save_option(FILE *file)
{
	if (session.wanted)
		fprintf(file, "laplace: trace=%s, reduce=%s\n", session.trace, session.reduce);
	return 0;
}

/* ---- begin ---- */

/* How often, in instructions, progress is told of what is not recorded. */
static const uint64_t PROGRESS = 10000000;

void laplace_session_poll(void)
{
	static uint64_t told;

	if (laplace_signals_stop())
		leave();
	if (laplace.state == LAPLACE_OFF && laplace_icount() - told >= PROGRESS) {
		told = laplace_icount();
		laplace_emit_totals();
	}
}

bool laplace_session_starts_at_mark(void)
{
	return session.start == START_MARK;
}

struct laplace_collection laplace_session_collection(void)
{
	return { session.collector, session.trace, session.reduce,
		 session.stage == LPL_STAGE_FILE };
}

bool laplace_session_wants_handshake(void)
{
	return session.collector && !strcmp(session.kernel, "auto");
}

static void locate_kernel(void)
{
	uint64_t address;
	char why[512], *end;

	if (!strcmp(session.kernel, "auto") || !strcmp(session.kernel, "none"))
		return;
	errno = 0;
	address = strtoull(session.kernel, &end, 16);
	if (errno || *session.kernel == '-')
		laplace_die("kernel=%s: not an address", session.kernel);
	if (*end && !laplace_symbol(session.kernel, "kernel_trace_record", &address, why,
				    sizeof(why)))
		laplace_die("kernel=%s: %s", session.kernel, why);
	if (!laplace_watch(address, false, why, sizeof(why)))
		laplace_die("kernel=%s: %s", session.kernel, why);
}

/* Whatever else the machine uses, its trace must not replace it. */
static void refuse_own(const char *what, const char *path)
{
	struct stat trace, other;

	if (stat(session.trace, &trace) == 0 && S_ISREG(trace.st_mode) &&
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

/* Of the collector's clock, or of the simulated one. */
static void flush_due(void *)
{
	laplace_ask_flush();
}

/* Bochs takes its arguments apart where they are, so they are copied before. */
static void keep_arguments(void)
{
	int count = 1;

	session.arguments = (char **)calloc((size_t)bx_startup_flags.argc + 2,
					    sizeof(*session.arguments));
	if (!session.arguments)
		laplace_die("no memory for the arguments");
	session.arguments[count++] = strdup("-q");
	for (int i = 1; i < bx_startup_flags.argc; i++)
		if (strcmp(bx_startup_flags.argv[i], "-q"))
			session.arguments[count++] = strdup(bx_startup_flags.argv[i]);
}

/*
 * One simulator sends windows and another logs every reference; they have the same
 * arguments, and are neighbours.  Nothing was opened yet.  What a menu has changed by hand
 * would be lost, so there is none.
 */
[[noreturn]] static void become(const char *name)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || strlen(name) >= sizeof(path) - (size_t)(slash + 1 - path))
		laplace_die("reduce=%s: %s cannot be looked for", session.reduce, name);
	strcpy(slash + 1, name);
	session.arguments[0] = path;
	execv(path, session.arguments);
	laplace_die("reduce=%s is recorded by another simulator, which cannot be started: %s: %s",
		    session.reduce, path, strerror(errno));
}

static void open_collection(void)
{
	struct lpl_collector_options options;
	struct lpl_report report;
	struct lpl_plan plan;

	memset(&report, 0, sizeof(report));
	memset(&options, 0, sizeof(options));
	if (lpl_plan_parse(&plan, session.reduce, &report))
		laplace_die("reduce=%s: %s", session.reduce, report.text);
	if (plan.window ? LAPLACE_LOGS : !LAPLACE_LOGS)
		become(plan.window ? "laplace-bochs" : "laplace-bochs-all");
	if (session.stage == LPL_STAGE_FILE && !*session.trace)
		laplace_die("the laplace option needs trace=FILE");
	check_images();
	if (SIM->get_param(BXPN_LOG_FILENAME))
		refuse_own("log", SIM->get_param_string(BXPN_LOG_FILENAME)->getptr());
	refuse_own("kernel", session.kernel);
	locate_kernel();

	struct lpl_meta *meta = lpl_meta_new();
	if (!meta)
		laplace_die("no memory for the header");
	set(meta, LPL_META_TITLE, session.title);
	set(meta, LPL_META_GUEST, session.guest);
	set(meta, LPL_META_WORKLOAD, session.workload);
	set(meta, LPL_META_PRODUCER, "laplace-bochs " LAPLACE_VERSION " (Bochs " VERSION ")");
	set(meta, LPL_META_ADDRESSES, "virtual");
	set(meta, LPL_META_PAGE_SIZE, "4096");
	describe_machine(meta);

	if (!laplace_signals_take(bx_dbg.debugger_active))
		laplace_die("no thread can be started that waits for signals");
	options.path = session.trace;
	options.plan = &plan;
	options.meta = meta;
	options.stage = session.stage;
	options.level = (int)session.level;
	options.ring_records = (size_t)session.ring;
	options.status_fd = (int)session.status_fd;
	options.overwrite = session.overwrite;
	options.log = LAPLACE_LOGS;
	options.flush_ns = session.stage == LPL_STAGE_FILE ?
			   (uint64_t)session.flush_seconds * 1000000000 : 0;
	options.flush_due = flush_due;
	if (lpl_collector_open(&session.collector, &options, &report))
		laplace_die("%s%s", report.text, report.error == LPL_ERR_USAGE ?
			    " (overwrite=on; laplace record: --overwrite)" : "");
	lpl_meta_free(meta);

	laplace_producer_init(session.windows_only ? NULL :
			      lpl_collector_ring(session.collector), plan.window);
	BX_CPU(0)->laplace.walks = session.walks;
	atexit(at_abrupt_exit);
	if (session.flush_instructions)
		bx_pc_system.register_timer_ticks(NULL, flush_due,
						  (Bit64u)session.flush_instructions, true, true,
						  "laplace.flush");
	if (session.start == START_ON)
		laplace_start();
}

/* ---- end ---- */

static const char *judge(void)
{
	if (*session.problem)
		return "error";
	if (laplace_signals_stop()) {
		snprintf(session.problem, sizeof(session.problem), "stopped by a signal");
		return "quit";
	}
	if (laplace.watch.malformed || laplace.watch.abandoned) {
		snprintf(session.problem, sizeof(session.problem),
			 "%llu kernel records were malformed and %llu abandoned",
			 (unsigned long long)laplace.watch.malformed,
			 (unsigned long long)laplace.watch.abandoned);
		return "error";
	}
	if (laplace.watch.fail_seen) {
		snprintf(session.problem, sizeof(session.problem),
			 "the guest says that its workload failed");
		return "fail";
	}
	if (laplace.watch.end_seen || !strcmp(session.kernel, "none"))
		return "clean";
	if (bx_dbg.debugger_active)
		return "quit";
	snprintf(session.problem, sizeof(session.problem),
		 "the machine ended before the guest said that its workload was over");
	return "error";
}

static void close_collection(void)
{
	struct lpl_report report;

	if (session.closed)
		return;
	session.closed = true;
	laplace_signals_heeded();
	if (!session.collector)
		return;
	memset(&report, 0, sizeof(report));
	if (!laplace.failed) {
		if (laplace.state == LAPLACE_SUPPRESSED)
			laplace.watch.abandoned++;
		laplace_end();
	}
	const char *end = judge();

	session.good_end = !*session.problem;
	if (!session.good_end && !session.told)
		fprintf(stderr, "laplace: %s; closing the trace\n", session.problem);
	if (lpl_collector_close(session.collector, end, session.problem, &report)) {
		session.good_end = false;
		if (!session.told)
			fprintf(stderr, "laplace: %s\n", report.text);
	}
	session.collector = NULL;
}

/*
 * Bochs itself closes the trace before it exits; the debugger alone does not, but it
 * has shut the devices down.  So if it is open somebody else calls exit(): a library
 * whose display went away.  This comes before what was registered at the start of
 * the display, which would talk to it.
 */
static void at_abrupt_exit(void)
{
	bool abrupt = session.collector && SIM->get_init_done();

	if (abrupt && !*session.problem)
		snprintf(session.problem, sizeof(session.problem),
			 "the simulator was ended from within, as by a display that went away");
	close_collection();
	if (abrupt) {
		fflush(NULL);
		_exit(1);
	}
}

static void at_exit(void)
{
	if (!session.wanted)
		return;
	close_collection();
	fflush(NULL);
	_exit(session.good_end ? 0 : 1);
}

/* ---- Bochs' callbacks ---- */

void laplace_init_env(void)
{
	laplace_producer_attach(&BX_CPU(0)->laplace);
	strcpy(session.reduce, "sad:64");
	strcpy(session.kernel, "auto");
	session.stage = LPL_STAGE_FILE;
	session.status_fd = -1;
	session.flush_seconds = 10;
	keep_arguments();
	laplace_signals_note();
	laplace_producer_init(NULL, 1);
	if (!SIM->register_addon_option("laplace", parse_option, save_option))
		laplace_die("Bochs does not take the laplace option");
	atexit(at_exit);
}

void laplace_exit_env(void)
{
	close_collection();
}

void laplace_initialize(void)
{
	if (session.wanted && !session.collector && !session.closed)
		open_collection();
}

void laplace_reset(void)
{
	laplace_forget_slots();
}
