/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints: the machine is saved together with the point that the collection has reached,
 * so that a run that was cut off can be resumed there.
 *
 * What a restored machine has lost (the TLBs, the traces of instructions, what a window
 * holds, a reducer's memory) a run that nothing disturbs has to lose at the same instruction, or
 * their traces would differ.  There are many such things, and each would have to be thought of.
 * So a run that makes a checkpoint does what one that is resumed does: when all is saved, the
 * simulator becomes a new process that restores it (exec, so that its number is the same).
 * Both then are the same program in the same state by construction.
 *
 * It happens between two instructions, when Bochs has heeded all events, at the first such
 * place at or after the instruction that was asked for; and neither between a kernel record's
 * begin and its trigger nor within a repeated string instruction, which would be fetched again.
 * Before it the trace begins a new segment, so that no file has both what precedes a checkpoint and
 * what follows it.
 *
 * A checkpoint is a directory beside the trace, TRACE.checkpoint.NNNNNN.  It is made under
 * another name, synced, and renamed; the last two are kept.  One that could not be made takes no
 * number, so the numbers count those that were.
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "checkpoint.h"
#include "checkpoint_files.h"
#include "checkpoint_inputs.h"
#include "conditions.h"
#include "option.h"
#include "recorder.h"
#include "report.h"
#include "segment.h"
#include "signals.h"
#include "snapshot.h"
#include "stream.h"
#include "time_windows.h"
#include "watch.h"

static struct {
	int timer;
	bool due, asked, ready;
	bool has_point;			/* that which is restored, which was made by: */
	uint64_t program;
	struct laplace_resume_point point;
	const struct laplace_checkpoint_hooks *hooks;
} checkpoint;

static const char PART[] = ".part";
static const uint64_t SOON = 10000;	/* instructions, when it cannot be now */
enum { NAME_SIZE = BX_PATHNAME_LEN + 64 };	/* of the path of a checkpoint */

/* ---- when ---- */

static void set_timer(uint64_t ticks)
{
	bx_pc_system.activate_timer_ticks((unsigned)checkpoint.timer, ticks, false);
}

static void comes(void *)
{
	BX_CPU_C *cpu = BX_CPU(0);

	if (cpu->get_instruction_pointer() != cpu->prev_rip) {
		set_timer(SOON);	/* an instruction has begun, and goes on */
		return;
	}
	checkpoint.due = true;
	cpu->async_event = 1;		/* Bochs leaves its traces, and looks for events */
}

/* The timer counts cycles, of which there are never fewer than instructions. */
static void set_next(void)
{
	uint64_t every = laplace_option.checkpoint_instructions;

	if (every)
		set_timer(every - laplace_icount() % every);
}

const char *laplace_ask_checkpoint(void)
{
	if (!laplace_option.checkpoints)
		return "no checkpoints can be made (checkpoint=on, or every:N)";
	checkpoint.asked = true;
	set_timer(1);
	return NULL;
}

/* ---- files ---- */

static void name_directory(char *path, size_t size, uint64_t number, const char *ending)
{
	snprintf(path, size, "%s.checkpoint.%06llu%s", laplace_option.trace,
		 (unsigned long long)number, ending);
}

/* The number of TRACE.checkpoint.NNNNNN, or of one that was being made or removed; 0: it is none. */
static uint64_t number_in(const char *name, const char *base)
{
	static const char mark[] = ".checkpoint.";
	const size_t length = strlen(base);

	if (strncmp(name, base, length) || strncmp(name + length, mark, sizeof(mark) - 1))
		return 0;
	name += length + sizeof(mark) - 1;
	const size_t digits = strspn(name, "0123456789");

	return digits >= 6 && (!name[digits] || !strcmp(name + digits, PART)) ?
		       strtoull(name, NULL, 10) : 0;
}

/* All that are there. */
static void for_each(void (*visit)(const char *path, uint64_t number))
{
	char folder[NAME_SIZE], path[NAME_SIZE + 256];
	const char *trace = laplace_option.trace, *slash = strrchr(trace, '/');
	struct dirent *entry;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - trace) : 2,
		 slash ? trace : "./");
	DIR *directory = opendir(folder);

	while (directory && (entry = readdir(directory))) {
		const uint64_t number = number_in(entry->d_name, slash ? slash + 1 : trace);

		if (!number)
			continue;
		snprintf(path, sizeof(path), "%s%s", folder, entry->d_name);
		visit(path, number);
	}
	if (directory)
		closedir(directory);
}

/* Of its own name there is never a part of one. */
static void remove_checkpoint(const char *path, uint64_t number)
{
	char partial[NAME_SIZE];

	name_directory(partial, sizeof(partial), number, PART);
	if ((strcmp(path, partial) && (!laplace_remove_directory(partial) ||
				       (rename(path, partial) && errno != ENOENT))) ||
	    !laplace_remove_directory(partial))
		laplace_complain("the old checkpoint %s cannot be removed: %s", path, strerror(errno));
}

/* Of one that another process makes segments from, or has them made from, others know when it may go. */
static void remove_if_other(const char *path, uint64_t number);
static void remove_others(void)
{
	if (laplace_option.pass == LPL_PASS_WHOLE)
		for_each(remove_if_other);
}

/*
 * The last two are kept.  Where a run was killed before it had removed others, they are still there.
 * And where it is taken up at the last but one, the last is of a trace that is no longer there.
 */
static void remove_if_other(const char *path, uint64_t number)
{
	if (number + 2 <= checkpoint.point.number || number > checkpoint.point.number)
		remove_checkpoint(path, number);
}

/* ---- those of another recording ---- */

static void refuse(const char *path, uint64_t)
{
	struct stat about;

	if (!laplace_option.overwrite)
		laplace_die("%s is there already, the checkpoint of another recording, and would be "
			    "taken for one of this; choose another name for the trace, or allow "
			    "overwriting (overwrite=on; laplace record: --overwrite)", path);
	if (lstat(path, &about) || !S_ISDIR(about.st_mode))
		laplace_die("%s has the name of a checkpoint, and is none; remove it", path);
}

static void remove_other(const char *path, uint64_t)
{
	if (!laplace_remove_directory(path))
		laplace_die("the old checkpoint %s cannot be removed: %s", path, strerror(errno));
}

void laplace_checkpoints_make_way(bool removes)
{
	if (laplace_option.stage == LPL_STAGE_FILE && laplace_option.pass != LPL_PASS_SEGMENT && !laplace_resumes())
		for_each(removes ? remove_other : refuse);
}

/* ---- the resume point ---- */

/*
 * What a file with a resume point begins with: which build made it, and what belongs to it.  It is read by the same
 * program only, and Bochs takes what is in its own files for right.
 */
struct point_header {
	char magic[16];
	uint64_t size, program;
	uint64_t point, others;		/* in a number: what follows, and the other files */
};
static const char MAGIC[16] = "laplace place", POINT[] = "place";

static uint64_t this_program(void)
{
	uint64_t number;

	return laplace_digest_file("/proc/self/exe", &number) ? number : 0;
}

bool laplace_read_resume_point(const char *directory, struct laplace_resume_point *point)
{
	struct point_header header;
	char path[NAME_SIZE + 16];

	snprintf(path, sizeof(path), "%s/%s", directory, POINT);
	FILE *file = fopen(path, "rb");
	const bool read = file && fread(&header, sizeof(header), 1, file) == 1 &&
			  fread(point, sizeof(*point), 1, file) == 1;

	if (file)
		fclose(file);
	return read;
}

static bool write_point(const char *directory)
{
	const struct laplace_resume_point *point = &checkpoint.point;
	struct point_header header = {};
	char path[NAME_SIZE + 16];

	memcpy(header.magic, MAGIC, sizeof(header.magic));
	header.size = sizeof(*point);
	header.program = this_program();
	header.point = XXH3_64bits(point, sizeof(*point));
	if (!laplace_digest_files(directory, POINT, &header.others))
		return false;
	snprintf(path, sizeof(path), "%s/%s", directory, POINT);
	FILE *file = fopen(path, "wb");
	bool good = file && fwrite(&header, sizeof(header), 1, file) == 1 &&
		    fwrite(point, sizeof(*point), 1, file) == 1;

	return file && fclose(file) == 0 && good;
}

/* The guest's tasks and memory, for the segments to come; of a snapshot what they follow from. */
static const char *guest_path(const char *directory)
{
	static char path[NAME_SIZE + 16];

	snprintf(path, sizeof(path), "%s/guest", directory);
	return path;
}

static bool write_guest(const char *directory)
{
	struct lpl_report report;

	if (*laplace_option.snapshot)
		return laplace_snapshot_write(directory);
	memset(&report, 0, sizeof(report));
	if (lpl_collector_save_guest(laplace.collector,
				     guest_path(directory), &report) == LPL_OK)
		return true;
	laplace_complain("%s", report.text);
	return false;
}

static const char *kind(void)
{
	return laplace_resumes() ? "checkpoint" : "snapshot";
}

[[noreturn]] static void refuse_build(const char *directory)
{
	laplace_die("the %s %s was made by another build of laplace-bochs, which alone can go on from it", kind(),
		    directory);
}

/* Ends the program unless all files are those that it was made of. */
static void read_point(const char *directory, FILE *file)
{
	struct point_header header;
	uint64_t others;

	if (fread(&header, sizeof(header), 1, file) != 1 ||
	    memcmp(header.magic, MAGIC, sizeof(header.magic)))
		laplace_die("%s is no checkpoint: its file '%s' is not what one has", directory, POINT);
	if (header.size != sizeof(checkpoint.point))
		refuse_build(directory);
	checkpoint.program = header.program;
	const bool whole = fread(&checkpoint.point, sizeof(checkpoint.point), 1, file) == 1 &&
			   getc(file) == EOF && !ferror(file);

	if (!laplace_digest_files(directory, POINT, &others))
		laplace_die("the %s %s cannot be read: %s", kind(), directory, strerror(errno));
	if (!whole || others != header.others ||
	    header.point != XXH3_64bits(&checkpoint.point, sizeof(checkpoint.point)))
		laplace_die("the %s %s is damaged: its files are not those that it was made of%s", kind(), directory,
			    laplace_resumes() ? "; the one before it may be whole (laplace record --resume takes its "
						"directory)" : "");
}

/*
 * Bochs is about to take what is in its files for right, from the configuration on.  A machine
 * without a resume point is one that Bochs itself has saved; no recording goes on from it.
 */
void laplace_before_restore(const char *directory)
{
	char path[NAME_SIZE + 16];

	snprintf(path, sizeof(path), "%s/%s", directory, POINT);
	FILE *file = fopen(path, "rb");

	checkpoint.has_point = file != NULL;
	if (!file && errno != ENOENT)
		laplace_die("%s is no checkpoint: %s cannot be read: %s", directory, path,
			    strerror(errno));
	if (!file)
		return;
	read_point(directory, file);
	fclose(file);
}

bool laplace_resumes(void)
{
	return laplace_option_restores() && !(checkpoint.has_point && checkpoint.point.number == 0);
}

/* Bochs writes without looking whether it can; the patches have it report failures. */
static bool all_saved;
static int save_error;			/* of the first that was not */

bool laplace_saved(bool good)
{
	if (!good && all_saved) {
		all_saved = false;
		save_error = errno;
	}
	return good;
}

/* A snapshot's disks are those of the recording that begins with it. */
bool laplace_saves_disks(void)
{
	return !*laplace_option.snapshot;
}

/* Under its final name there is a whole one or none. */
static bool save_as(const char *partial, const char *final)
{
	all_saved = true;
	return laplace_remove_directory(partial) && mkdir(partial, 0777) == 0 &&
	       SIM->save_state(partial) && all_saved && laplace_inputs_write(partial) &&
	       write_guest(partial) && write_point(partial) && laplace_sync_files(partial) &&
	       laplace_remove_directory(final) &&
	       rename(partial, final) == 0 && laplace_sync_parent(final);
}

/* ---- becoming a new process ---- */

/* Nothing of Bochs' files goes along; whoever reads the status still does. */
static void close_others(int kept)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != laplace_option.status_fd && fd != kept)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	if (directory)
		closedir(directory);
}

[[noreturn]] static void go_on_from(char *path, int kept)
{
	char program[] = "/proc/self/exe", quick[] = "-q", unlock[] = "-unlock", restore[] = "-r";
	char status[64], *arguments[] = { program, quick, unlock, restore, path, NULL, NULL };

	if (laplace_option.status_fd >= 0) {
		snprintf(status, sizeof(status), "laplace: status=%ld", laplace_option.status_fd);
		arguments[5] = status;
	}

	fflush(NULL);
	close_others(kept);
	execv(program, arguments);
	laplace_die("the simulator cannot be started again to go on from %s: %s", path,
		    strerror(errno));
}

/* ---- making one ---- */

static void note_point(void)
{
	struct laplace_resume_point *point = &checkpoint.point;
	const struct laplace_watch *watch = &laplace.watch;

	point->number++;
	point->instr = laplace_icount();
	point->on = laplace.state == LAPLACE_ON;
	point->wanted = laplace_is_wanted();
	point->windows_begun = laplace_time_windows_begun();
	laplace_conditions_where(&point->started, &point->stopped);
	point->known = watch->known;
	point->end_seen = watch->end_seen;
	point->fail_seen = watch->fail_seen;
	point->address = watch->address;
	point->hello = watch->hello;
	point->low = watch->low;
	point->records = watch->records;
	point->malformed = watch->malformed;
	point->abandoned = watch->abandoned;
	point->tid = watch->tid;
	point->tgid = watch->tgid;
}

static bool save(const char *final)
{
	char partial[NAME_SIZE];
	int problem;

	snprintf(partial, sizeof(partial), "%s%s", final, PART);
	if (save_as(partial, final))
		return true;
	problem = all_saved ? errno : save_error;
	laplace_remove_directory(partial);	/* it takes room */
	errno = problem ? problem : EIO;
	return false;
}

static void make(void)
{
	char path[NAME_SIZE];
	struct laplace_resume_point *point = &checkpoint.point;

	BX_CPU(0)->laplace.between = true;
	note_point();
	laplace_pause();
	point->references = laplace_references();
	point->tracer_refs = laplace.tracer_refs;
	laplace_suspend(&point->collector);
	name_directory(path, sizeof(path), point->number, "");
	if (laplace_option.pass == LPL_PASS_SEGMENT)
		checkpoint.hooks->segment_ends(path, point);
	if (!save(path)) {
		if (laplace_option.pass == LPL_PASS_COUNT) {
			laplace_complain("the checkpoint %s cannot be made: %s", path, strerror(errno));
			lpl_collector_leave(laplace.collector);
			fflush(NULL);
			_exit(1);
		}
		laplace_complain("the checkpoint %s cannot be made, and the run goes on without: %s",
				 path, strerror(errno));
		point->number--;
		lpl_collector_checkpoint_failed(laplace.collector);
		laplace_continue(point->references, point->tracer_refs, point->on);
		checkpoint.asked = false;
		checkpoint.hooks->failed("the checkpoint could not be made");
		set_next();
		return;
	}
	remove_others();
	if (laplace_signals_leave()) {
		/* What is closed is a run that goes on, and ends. */
		laplace_continue(point->references, point->tracer_refs, point->on);
		laplace_end_run("quit", "by a signal");
	}
	const int kept = checkpoint.hooks->leave();

	lpl_collector_leave(laplace.collector);
	laplace.collector = NULL;
	go_on_from(path, kept);
}

/* ---- a guest that is ready ---- */

void laplace_guest_is_ready(void)
{
	checkpoint.ready = true;
	BX_CPU(0)->async_event = 1;
}

[[noreturn]] static void make_snapshot(void)
{
	const char *directory = laplace_option.snapshot;
	static char message[BX_PATHNAME_LEN + 64];

	BX_CPU(0)->laplace.between = true;
	note_point();
	checkpoint.point.number = 0;
	if (laplace.state != LAPLACE_OFF)
		laplace_die("snapshot=%s: recording is on, and what was recorded would be lost", directory);
	if (!save(directory))
		laplace_die("the snapshot %s cannot be made: %s", directory, strerror(errno));
	snprintf(message, sizeof(message), "since the machine is saved: %s", directory);
	laplace_end_run("clean", message);
}

static void take_ready(void)
{
	BX_CPU_C *cpu = BX_CPU(0);

	if (laplace_record_is_open() || laplace.state == LAPLACE_SUPPRESSED) {
		cpu->async_event = 1;		/* once more */
		return;
	}
	checkpoint.ready = false;
	if (*laplace_option.snapshot)
		make_snapshot();
	flushICaches();
	cpu->handleCpuContextChange();
}

void laplace_checkpoint_if_due(void)
{
	uint64_t every = laplace_option.checkpoint_instructions;

	if (checkpoint.ready)
		take_ready();
	if (!checkpoint.due)
		return;
	checkpoint.due = false;
	if (laplace_record_is_open() || laplace.state == LAPLACE_SUPPRESSED)
		set_timer(SOON);
	else if (!checkpoint.asked && laplace_icount() / every == checkpoint.point.instr / every)
		set_next();		/* cycles ran faster than instructions */
	else
		make();
}

/* ---- going on ---- */

void laplace_restored(void)
{
	const struct laplace_resume_point *point = &checkpoint.point;
	struct laplace_watch *watch = &laplace.watch;

	if (!laplace_option.wanted)
		return;
	watch->known = point->known;
	watch->end_seen = point->end_seen;
	watch->fail_seen = point->fail_seen;
	watch->address = point->address;
	watch->hello = (unsigned)point->hello;
	watch->low = (uint32_t)point->low;
	watch->records = point->records;
	watch->malformed = point->malformed;
	watch->abandoned = point->abandoned;
	watch->tid = (uint32_t)point->tid;
	watch->tgid = (uint32_t)point->tgid;
	BX_CPU(0)->laplace.between = true;
	if (!laplace_resumes()) {
		laplace_snapshot_report();
		laplace_stream_restart();
		laplace_continue(0, 0, false);
		laplace_want(laplace_option.start == LAPLACE_START_ON);
		return;
	}
	laplace_stream_restart();
	laplace_time_windows_continue(point->wanted, point->windows_begun);
	laplace_continue(point->references, point->tracer_refs, point->on);
	laplace_conditions_continue(point->started, point->stopped);
	set_next();
	remove_others();
}

/* A copy of it, or one that was moved, still names the trace where it was made: that is another one. */
static void check_where(const char *directory)
{
	char path[NAME_SIZE];
	struct stat named, given;

	name_directory(path, sizeof(path), checkpoint.point.number, "");
	if (stat(path, &named) || stat(directory, &given) || named.st_dev != given.st_dev ||
	    named.st_ino != given.st_ino)
		laplace_die("the checkpoint %s is of the trace %s, and not where that has it: it "
			    "was moved or copied", directory, laplace_option.trace);
}

void laplace_checkpoint_resume(struct lpl_collector_options *options)
{
	if (!laplace_option_restores())
		return;
	const char *directory = SIM->get_param_string(BXPN_RESTORE_PATH)->getptr();

	if (!checkpoint.has_point)
		laplace_die("%s is no checkpoint: it has no '%s'", directory, POINT);
	/* not sooner: another simulator continues a trace of every reference (become()) */
	if (checkpoint.program != this_program())
		refuse_build(directory);
	if (laplace_resumes())
		check_where(directory);
	laplace_inputs_compare(directory);
	if (!laplace_resumes()) {
		laplace_snapshot_read(directory);
		options->begin_instr = checkpoint.point.instr;
		return;
	}
	options->resume_point = &checkpoint.point.collector;
	options->resume_guest = guest_path(directory);
	options->resume_instr = checkpoint.point.instr;
}

void laplace_checkpoints_begin(const struct laplace_checkpoint_hooks *hooks)
{
	checkpoint.hooks = hooks;
	if (laplace_option.stage != LPL_STAGE_FILE)
		return;
	checkpoint.timer = bx_pc_system.register_timer_ticks(NULL, comes, 1, false, false,
							     "laplace.checkpoint");
	if (laplace_option_restores())
		return;
	if (laplace_option.checkpoints || *laplace_option.snapshot)
		laplace_inputs_begin();
	set_next();
}
