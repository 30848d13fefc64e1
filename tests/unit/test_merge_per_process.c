/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merge format per-process: the directory, its files and its index. */
#include "merge_keeper.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPLATE "/tmp/laplace-test-XXXXXX"
static char directory[] = TEMPLATE;

/* A merge into OUT in the test's directory. */
struct run {
	char path[64];
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	uint64_t cycle, ref;
};

/* All tests are run with one thread, then with several. */
static unsigned int jobs = 1;

static enum lpl_error run_open(struct run *run, const char *name, bool overwrite)
{
	struct lpl_report report = { 0 };
	enum lpl_error error;

	*run = (struct run){ .cycle = 0xff };
	snprintf(run->path, sizeof(run->path), "%s/%s", directory, name);
	error = lpl_merge_per_process_open(&run->output, run->path, overwrite, &report);
	assert_int_equal(report.error, error);
	if (error != LPL_OK) {
		assert_null(run->output);
		assert_non_null(strstr(report.text, run->path));
		return error;
	}
	assert_int_equal(lpl_merge_per_process_jobs(run->output, jobs, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&run->merge, run->output, NULL, NULL), LPL_OK);
	run->sink = lpl_merge_sink(run->merge);
	return LPL_OK;
}

static void run_close(struct run *run)
{
	lpl_merge_close(run->merge);
	lpl_merge_per_process_close(run->output);
}

static void run_finish(struct run *run)
{
	assert_int_equal(run->sink->finish(run->sink, NULL), LPL_OK);
	run_close(run);
}

static void ref(struct run *run, enum lpl_type type, uint64_t space, uint64_t address,
		uint16_t length)
{
	struct lpl_ref reference = { .type = type, .space = space, .address = address,
				     .length = length };

	reference.cycle = ++run->cycle;
	reference.ref = ++run->ref;
	reference.instr = 16 * run->ref;

	assert_int_equal(run->sink->refs(run->sink, &reference, 1, NULL), LPL_OK);
}

static void send(struct run *run, uint32_t tid, uint32_t tgid, const char *text, uint32_t tag,
		       const uint64_t *arg, size_t args)
{
	struct lpl_event event = { .ref = run->ref, .instr = 16 * run->ref + 1,
				   .cycle = run->cycle, .tag = tag, .tid = tid, .tgid = tgid };

	memcpy(event.arg, arg, args * sizeof(*arg));
	event.text_length = (uint32_t)strlen(text);
	memcpy(event.text, text, event.text_length);
	assert_int_equal(run->sink->event(run->sink, &event, NULL), LPL_OK);
}

#define SAY(run, tid, tgid, text, tag, ...)                                         \
	send(run, tid, tgid, text, tag, (const uint64_t[]){ __VA_ARGS__ },          \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void path_of(char path[128], const char *below)
{
	snprintf(path, 128, "%s/%s", directory, below);
}

static bool exists(const char *below)
{
	char path[128];
	struct stat status;

	path_of(path, below);
	return lstat(path, &status) == 0;
}

/* A file's text; the caller's until the next call. */
static const char *text_of(const char *below)
{
	static char text[1 << 22];
	char path[128];
	FILE *file;

	path_of(path, below);
	file = fopen(path, "r");
	if (file == NULL)
		fail_msg("%s is not there", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void put(const char *below, const char *text)
{
	char path[128];
	FILE *file;

	path_of(path, below);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_directory(const char *below)
{
	char path[128];

	path_of(path, below);
	assert_int_equal(mkdir(path, 0777), 0);
}

static void make_link(const char *target, const char *below)
{
	char path[128];

	path_of(path, below);
	assert_int_equal(symlink(target, path), 0);
}

static void drop(const char *below)
{
	char path[128];

	path_of(path, below);
	assert_int_equal(unlink(path), 0);
}

static int setup_directory(void **state)
{
	(void)state;
	strcpy(directory, TEMPLATE);
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

#define COLUMNS \
	"directory,file,tid,tgid,parent,first_cycle,last_cycle,references,end,exit_code,name"
#define HEADING COLUMNS ",events,version\n"

/* Two processes, one of two threads, and the kernel; every kind of reference. */
static void lines_and_index(void **state)
{
	struct run run;

	(void)state;
	assert_int_equal(run_open(&run, "lines", false), LPL_OK);
	ref(&run, LPL_FETCH, 7, UINT64_C(0xffff888000001000), 3);
	SAY(&run, 0, 0, "init", KTR_TASK_CREATE, 1, 1, 7);
	SAY(&run, 0, 0, "init", KTR_SCHEDULE, 0, 0, 1, 1, 7);
	SAY(&run, 1, 1, "a,\"b\\\n", KTR_MAP, 7, 0x10000, 0x14000, 3, KTR_MAP_FILE_SHARED, 0x800011,
	    KTR_NONE, 2);
	ref(&run, LPL_WRITE, 7, 0x13ffe, 8);
	ref(&run, LPL_READ, 7, 0x10000, 0);
	SAY(&run, 1, 1, "", KTR_SPACE_DUPLICATE, 7, 8);
	SAY(&run, 1, 1, "init", KTR_TASK_CREATE, 20, 20, 8, 0x11);
	SAY(&run, 1, 1, "a,\"b\\\n", KTR_SCHEDULE, 1, 1, 20, 20, 8);
	ref(&run, LPL_WALK_READ, 8, 0x5000, 8);
	SAY(&run, 20, 20, "worker", KTR_TASK_CREATE, 21, 20, 8, 0x10100);
	SAY(&run, 20, 20, "", KTR_EXIT, 21, 20, 9, 0);
	SAY(&run, 20, 20, "", KTR_SPACE_END, 8);
	SAY(&run, 20, 20, "", KTR_EXIT, 20, 20, 256, 1);
	SAY(&run, 20, 20, "init", KTR_SCHEDULE, 20, 0x80, 1, 1, 7);
	ref(&run, LPL_WALK_WRITE, 7, 0x5000, 8);
	assert_true(exists("lines.part"));
	assert_false(exists("lines"));
	run_finish(&run);
	assert_false(exists("lines.part"));
	assert_string_equal(text_of("lines/0/0"),
		"i 100 3 ffff888000001 1 10 1\n"
		"F 100 0 1 1 7 0 init 11 1\n"
		"S 100 0 0 1 1 7 init 11 1\n");
	assert_string_equal(text_of("lines/1/1"),
		"M 100 1 10000 16384 7 3 2 800011 - 2 0 a,\"b\\x5c\\x0a 11 1\n"
		"w 101 8 13 2 20 2\n"
		"r 102 0 10 3 30 3\n"
		"Y 102 1 7 8 31 3\n"
		"F 102 1 20 20 8 11 init 31 3\n"
		"S 102 1 1 20 20 8 a,\"b\\x5c\\x0a 31 3\n"
		"q 104 8 5 4 50 5\n");
	assert_string_equal(text_of("lines/2/2"),
		"p 103 8 5 4 40 4\n"
		"F 103 20 21 20 8 10100 worker 41 4\n"
		"E 103 20 21 20 9 0 41 4\n"
		"Z 103 20 8 41 4\n"
		"E 103 20 20 20 256 1 41 4\n"
		"S 103 20 80 1 1 7 init 41 4\n");
	assert_string_equal(text_of("lines/2/3"), "");
	assert_string_equal(text_of("lines/tasks.csv"), HEADING
		"2,3,21,20,2,,,0,exit,9,\"worker\",0,2\n"
		"2,2,20,20,1,259,259,1,exit,256,\"a,\"\"b\\x5c\\x0a\",5,2\n"
		"1,1,1,1,,256,260,3,left,,\"init\",4,2\n"
		"0,0,0,0,,256,256,1,left,,\"\",2,2\n");
}

/* Lines by hand, of events with a value of its own for every argument: 101 (65 in hex), 102 ... */
static const struct line {
	uint32_t tag;
	const char *line;
} known_lines[] = {
	{ KTR_TASK_CREATE, "F 1f 3 101 102 67 68 x" },
	{ KTR_SCHEDULE, "S 1f 3 66 103 104 69 x" },
	{ KTR_SPACE_ASSIGN, "A 1f 3 101 102 67" },
	{ KTR_EXEC, "X 1f 3 101 102 67 68 69 x" },
	{ KTR_EXIT, "E 1f 3 101 102 103 104" },
	{ KTR_MAP, "M 1f 3 66 1 65 68 105 6a 6b 6c 109 x" },
	{ KTR_UNMAP, "U 1f 3 66 1 65" },
	{ KTR_REMAP, "V 1f 3 66 1 68 1 65" },
	{ KTR_BRK, "B 1f 3 66 67 65" },
	{ KTR_SHM_ATTACH, "H 1f 3 66 1 65 104 69" },
	{ KTR_SHM_DETACH, "D 1f 3 66 65" },
	{ KTR_SPACE_DUPLICATE, "Y 1f 3 65 66" },
	{ KTR_SPACE_END, "Z 1f 3 65" },
	{ KTR_COW_BREAK, "C 1f 3 66 65 67 68" },
	{ KTR_CACHE_ADD, "P 1f 3 65 66 67 68 105 6a" },
	{ KTR_CACHE_REMOVE, "Q 1f 3 65 66 67 68 105" },
	{ KTR_MARK, "K 1f 3 x" },
	{ KTR_CONTROL, "G 1f 3 101" },
	{ KTR_SYSCALL_ENTER, "L 1f 3 101 102 67 68 69 6a 6b 6c x" },
	{ KTR_SYSCALL_EXIT, "R 1f 3 101 102 103 x" },
	{ KTR_MPROTECT, "J 1f 3 66 1 65 68" },
	{ KTR_DISCARD, "Ud 1f 3 66 1 65" },
	{ KTR_PAGE_OWN, "Co 1f 3 66 65 67 104" },
	{ KTR_SWAP_OUT, "W 1f 3 66 65 67 68 105 6a 6b 6c" },
	{ KTR_SWAP_IN, "I 1f 3 66 65 67 68 105 6a 6b 6c" },
	{ KTR_HUGE_MAP, "Mh 1f 3 66 65 67 104" },
	{ KTR_HUGE_SPLIT, "Uh 1f 3 66 65 67 104" },
	{ KTR_FILE, "Pf 1f 3 65 66 103 68 69 x" },
	{ KTR_PRESENT, "Cp 1f 3 66 1 65 68 69" },
	{ KTR_SNAPSHOT, "Gs 1f 3 101" },
	{ KTR_WAKE, "Sw 1f 3 101 102 103" },
	{ LPL_EVENT_TRACING, "T 1f 3 101" },
	{ LPL_EVENT_MARK, "N 1f 3 x" },
	{ 4711, "O 1f 3 4711 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 x" },
};

/* That of an event which is not among them: all of its arguments in order, or those of `O`. */
static void plain_line(char out[512], uint32_t tag, const char *letters)
{
	const struct lpl_event_kind *kind = lpl_event_kind(tag);
	const bool other = strcmp(letters, "O") == 0;

	out += sprintf(out, "%s 1f 3", letters);
	if (other)
		out += sprintf(out, " %u", tag);
	for (int i = 0; i < KTR_ARGS && (other || kind->arg[i].name != NULL); i++)
		out += sprintf(out, other || kind->arg[i].how == KTR_HEX ? " %x" : " %d", 101 + i);
	if (other || kind->text[0] != '\0')
		sprintf(out, " x");
}

static void expected_line(char out[512], uint32_t tag, const char *written)
{
	char letters[3] = "";

	for (size_t i = 0; i < sizeof(known_lines) / sizeof(*known_lines); i++) {
		if (known_lines[i].tag == tag) {
			strcpy(out, known_lines[i].line);
			return;
		}
	}
	assert_int_equal(sscanf(written, "%2[A-Za-z] ", letters), 1);
	/* no other event's */
	for (size_t i = 0; i < sizeof(known_lines) / sizeof(*known_lines); i++)
		if (strcmp(letters, "O") != 0)
			assert_int_not_equal(strncmp(known_lines[i].line, written, strlen(letters) + 1), 0);
	plain_line(out, tag, letters);
}

/* One line of each kind of event. */
static void every_event(void **state)
{
	static const uint32_t not_kernels[] = { LPL_EVENT_TRACING, LPL_EVENT_MARK, 4711 };
	const size_t tags = KTR_TAGS + sizeof(not_kernels) / sizeof(*not_kernels);
	char line[512], expected[1024], path[64];
	const char *before;
	struct run run;

	(void)state;
	for (size_t i = 1; i < tags; i++) {
		const uint32_t tag = i < KTR_TAGS ? (uint32_t)i : not_kernels[i - KTR_TAGS];

		/* a stream of its own for each, as some of them change which task runs */
		snprintf(path, sizeof(path), "event-%zu", i);
		assert_int_equal(run_open(&run, path, false), LPL_OK);
		run.cycle = 0x1f;
		run.ref = 2;
		SAY(&run, 3, 3, "", KTR_MARK, 0);
		if (tag == KTR_SCHEDULE)
			SAY(&run, 3, 3, "", KTR_SCHEDULE, 3, 1, 101, 101, 0);
		SAY(&run, 3, 3, "x", tag, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112);
		run_finish(&run);
		snprintf(path, sizeof(path), "event-%zu/0/%d", i, tag == KTR_SCHEDULE ? 2 : 1);
		before = tag == KTR_SCHEDULE ? "" : "K 1f 3 - 21 2\n";
		expected_line(line, tag, text_of(path) + strlen(before));
		snprintf(expected, sizeof(expected), "%s%s 21 2\n", before, line);
		assert_string_equal(text_of(path), expected);
	}
}

/* A kernel thread that becomes a program goes on in another file. */
static void a_task_may_move(void **state)
{
	struct run run;

	(void)state;
	assert_int_equal(run_open(&run, "move", false), LPL_OK);
	SAY(&run, 0, 0, "kworker", KTR_TASK_CREATE, 5, 5, 0, 0);
	SAY(&run, 0, 0, "kworker", KTR_SCHEDULE, 0, 0, 5, 5, 0);
	ref(&run, LPL_READ, 0, UINT64_C(0xffff888000001000), 8);
	SAY(&run, 5, 5, "", KTR_SPACE_ASSIGN, 5, 5, 9);
	SAY(&run, 5, 5, "/sbin/modprobe", KTR_EXEC, 5, 5, 9, 1, 2);
	ref(&run, LPL_READ, 9, UINT64_C(0xffff888000001000), 8);
	run_finish(&run);
	assert_string_equal(text_of("move/0/1"),
			    "r 100 8 ffff888000001 1 10 1\nA 100 5 5 5 9 11 1\n");
	assert_string_equal(text_of("move/1/1"),
			    "X 100 5 5 5 9 1 2 /sbin/modprobe 11 1\n"
			    "r 101 8 ffff888000001 1 20 2\n");
	assert_string_equal(text_of("move/tasks.csv"), HEADING
		"0,1,5,5,,256,256,1,moved,,\"kworker\",1,2\n"
		"1,1,5,5,,256,257,1,left,,\"modprobe\",1,2\n"
		"0,0,0,0,,255,255,0,left,,\"\",2,2\n");
}

/* It says which tasks there are, and has no line; what follows is theirs. */
static void a_state_is_no_tasks_doing(void **state)
{
	struct run run;

	(void)state;
	assert_int_equal(run_open(&run, "state", false), LPL_OK);
	SAY(&run, 0, 0, "", LPL_EVENT_STATE, 1);
	SAY(&run, 0, 0, "", LPL_EVENT_SPACE_STATE, 9);
	SAY(&run, 0, 0, "", KTR_MAP, 9, 0x1000, 0x3000);
	SAY(&run, 0, 0, "", LPL_EVENT_SPACE_STATE, 10);
	SAY(&run, 0, 0, "", LPL_EVENT_SHARED, 10, 9, 0x1000, 0x3000);
	SAY(&run, 0, 0, "sh", LPL_EVENT_TASK_STATE, 7, 7, 9, 0, 7, 0, 0, 0, 0, 1, 1, KTR_NONE);
	SAY(&run, 0, 0, "ls", LPL_EVENT_TASK_STATE, 8, 8, 10, 7, 8, 0, 0, 0, 0, 1, 1, KTR_NONE);
	SAY(&run, 0, 0, "", LPL_EVENT_STATE, 0, 0, LPL_STATE_NO_SNAPSHOT, 7, 0);
	ref(&run, LPL_READ, 9, 0x1000, 8);
	SAY(&run, 7, 7, "", KTR_SCHEDULE, 7, 0, 8, 8, 10);
	ref(&run, LPL_READ, 10, 0x1000, 8);
	ref(&run, LPL_WRITE, 10, 0x2000, 8);
	run_finish(&run);
	assert_string_equal(text_of("state/1/1"), "r 100 8 1 1 10 1\nS 100 7 0 8 8 a - 11 1\n");
	assert_string_equal(text_of("state/2/2"), "r 101 8 1 1 20 2\nw 102 8 2 2 30 3\n");
	assert_string_equal(text_of("state/tasks.csv"), HEADING
		"1,1,7,7,,256,256,1,left,,\"sh\",1,2\n"
		"2,2,8,8,1,257,258,2,left,,\"ls\",0,2\n"
		"0,0,0,0,,,,0,left,,\"\",0,2\n");
}

/* Many more tasks than there may be open files; every one keeps its order. */
static void thousands_of_tasks(void **state)
{
	enum { TASKS = 1500, SWITCHES = 30000 };
	const struct rlimit few = { 128, 128 };
	struct rlimit before;
	uint64_t *last = calloc(TASKS + 1, sizeof(*last));
	uint64_t *count = calloc(TASKS + 1, sizeof(*count));
	uint64_t x = 11, total = 0;
	uint32_t current = 0;
	struct run run;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE,
				   &(struct rlimit){ few.rlim_cur, before.rlim_max }), 0);
	assert_int_equal(run_open(&run, "many", false), LPL_OK);
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		SAY(&run, 0, 0, "t", KTR_TASK_CREATE, tid, (tid - 1) / 3 * 3 + 1,
		    100 + (tid - 1) / 3, 0);
	for (int i = 0; i < SWITCHES; i++) {
		uint32_t next;

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		next = 1 + (x >> 33) % TASKS;
		SAY(&run, current, 0, "t", KTR_SCHEDULE, current, 1, next, (next - 1) / 3 * 3 + 1,
		    0);
		current = next;
		for (uint64_t j = x >> 60; j > 0; j--) {
			ref(&run, LPL_READ, 100 + (next - 1) / 3, (uint64_t)next << 12, 8);
			count[next]++;
		}
	}
	run_finish(&run);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		char path[64], type[2], wanted[24];
		uint64_t cycle, page, canonical, instr, number;
		const char *at;
		uint64_t found = 0;

		/* made in order: serials are the ids, three to a process */
		snprintf(path, sizeof(path), "many/%" PRIu32 "/%" PRIu32, (tid - 1) / 3 + 1, tid);
		snprintf(wanted, sizeof(wanted), "%" PRIx32, tid);
		for (at = text_of(path); *at != '\0'; at = strchr(at, '\n') + 1) {
			if (*at == 'S')
				continue;
			assert_int_equal(sscanf(at, "%1[r] %" SCNx64 " 8 %" SCNx64 " %" SCNx64
						" %" SCNx64 " %" SCNx64 "\n", type, &cycle, &page,
						&canonical, &instr, &number), 6);
			assert_int_equal(number, cycle - 0xff);
			assert_int_equal(instr, 16 * number);
			assert_int_equal(page, tid);
			assert_true(cycle > last[tid]);
			last[tid] = cycle;
			found++;
		}
		assert_int_equal(found, count[tid]);
		total += found;
	}
	assert_int_equal(total, run.cycle - 0xff);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	free(last);
	free(count);
}

/* More than a buffer holds, into one file. */
static void long_files(void **state)
{
	char path[128];
	struct stat status;
	struct run run;

	(void)state;
	assert_int_equal(run_open(&run, "long", false), LPL_OK);
	run.cycle = 0xffffffff;
	run.ref = 0x100000;
	for (int i = 0; i < 50000; i++)
		ref(&run, LPL_READ, 1, UINT64_C(0xffff888000001000), 8);
	run_finish(&run);
	path_of(path, "long/0/0");
	assert_int_equal(stat(path, &status), 0);
	/* r 100000000 8 ffff888000001 1 1000010 100001 */
	assert_int_equal(status.st_size, 50000 * (1 + 1 + 9 + 1 + 1 + 1 + 13 + 1 + 1 + 1 + 7 + 1 + 6 + 1));
}

/* What is there is replaced only when that was asked for, and only when it is ours. */
static void what_is_there_is_kept(void **state)
{
	struct run run;

	(void)state;
	put("file", "precious");
	assert_int_equal(run_open(&run, "file", false), LPL_ERR_USAGE);
	assert_int_equal(run_open(&run, "file", true), LPL_ERR_USAGE);
	assert_string_equal(text_of("file"), "precious");
	make_directory("empty");
	assert_int_equal(run_open(&run, "empty", true), LPL_ERR_USAGE);
	assert_true(exists("empty"));

	assert_int_equal(run_open(&run, "ours/", false), LPL_OK);
	ref(&run, LPL_READ, 1, UINT64_C(0xffff888000001000), 8);
	run_finish(&run);
	assert_int_equal(run_open(&run, "ours", false), LPL_ERR_USAGE);
	assert_int_equal(run_open(&run, "ours", true), LPL_OK);
	run_finish(&run);
	assert_false(exists("ours/0/1"));
	assert_string_equal(text_of("ours/0/0"), "");

	/* so it was in version 1 */
	put("ours/tasks.csv", COLUMNS "\n");
	assert_int_equal(run_open(&run, "ours", true), LPL_OK);
	run_finish(&run);

	/* somebody's file in it, at any level */
	put("ours/notes", "precious");
	assert_int_equal(run_open(&run, "ours", true), LPL_ERR_USAGE);
	assert_string_equal(text_of("ours/notes"), "precious");
	assert_true(exists("ours/0/0"));
	assert_false(exists("ours.part"));
	drop("ours/notes");
	put("ours/0/notes", "precious");
	assert_int_equal(run_open(&run, "ours", true), LPL_ERR_USAGE);
	assert_true(exists("ours/0/notes"));
	/* an index that is not ours */
	make_directory("theirs");
	put("theirs/tasks.csv", "name,age\n");
	assert_int_equal(run_open(&run, "theirs", true), LPL_ERR_USAGE);
	/* a link to one that is */
	assert_int_equal(run_open(&run, "good", false), LPL_OK);
	run_finish(&run);
	make_link("good", "link");
	assert_int_equal(run_open(&run, "link", true), LPL_ERR_USAGE);
	assert_true(exists("good/tasks.csv"));
}

static void what_is_not_finished_goes(void **state)
{
	struct run run;

	(void)state;
	assert_int_equal(run_open(&run, "half", false), LPL_OK);
	ref(&run, LPL_READ, 1, UINT64_C(0xffff888000001000), 8);
	assert_true(exists("half.part/0/0"));
	run_close(&run);
	assert_false(exists("half.part"));
	assert_false(exists("half"));
	/* left by a run that was killed */
	make_directory("half.part");
	put("half.part/tasks.csv", HEADING);
	make_directory("half.part/3");
	put("half.part/3/4", "r 1");
	assert_int_equal(run_open(&run, "half", false), LPL_ERR_USAGE);
	assert_true(exists("half.part/3/4"));
	assert_int_equal(run_open(&run, "half", true), LPL_OK);
	assert_false(exists("half.part/3"));
	/* somebody made it meanwhile */
	make_directory("half");
	put("half/notes", "precious");
	assert_int_equal(run.sink->finish(run.sink, NULL), LPL_ERR_USAGE);
	run_close(&run);
	assert_true(exists("half/notes"));
	assert_string_equal(text_of("half.part/0/0"), "");
	/* nowhere to put it */
	assert_int_equal(run_open(&run, "no/such/place", false), LPL_ERR_IO);
	lpl_merge_per_process_close(NULL);
}

/* No room: that is reported, and what was written is removed. */
static void a_full_disk(void **state)
{
	struct lpl_ref reference = { .address = UINT64_C(0xffff888000001000), .length = 8 };
	struct lpl_report report = { 0 };
	struct rlimit before;
	struct run run;
	int error = LPL_OK;

	(void)state;
	assert_int_equal(run_open(&run, "full", false), LPL_OK);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100000, before.rlim_max }), 0);
	for (int i = 0; i < 100000 && error == LPL_OK; i++) {
		reference.ref++;
		error = run.sink->refs(run.sink, &reference, 1, &report);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(error, LPL_ERR_FULL);
	assert_non_null(strstr(report.text, "full.part/0/0: cannot be written"));
	run_close(&run);
	assert_false(exists("full.part"));
	assert_false(exists("full"));
}

/* Whatever comes, each record has one line, and the index has all. */
static void everything_is_written(void **state)
{
	const uint64_t records = 20000;
	uint64_t x = 5, references = 0, lines = 0, counted = 0, count;
	char command[256], path[128];
	const char *at;
	struct run run;
	FILE *pipe;

	(void)state;
	assert_int_equal(run_open(&run, "all", false), LPL_OK);
	for (uint64_t i = 0; i < records; i++) {
		uint64_t arg[KTR_ARGS];

		for (int j = 0; j < KTR_ARGS; j++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			arg[j] = x >> 36 & 7;
		}
		if (x >> 40 & 1) {
			ref(&run, x >> 41 & 3, x >> 43 & 3, x >> 30 & 0xffff, 4);
			references++;
		} else {
			send(&run, x >> 43 & 7, x >> 46 & 3, x >> 49 & 1 ? "\n" : "",
				   (x >> 50) % 33, arg, KTR_ARGS);
		}
	}
	run_finish(&run);
	path_of(path, "all");
	snprintf(command, sizeof(command), "cat %s/*/* | wc -l", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%" SCNu64, &lines), 1);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(lines, records);
	for (at = strchr(text_of("all/tasks.csv"), '\n') + 1; *at != '\0';
	     at = strchr(at, '\n') + 1) {
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		for (char *comma = strstr(line, ",,"); comma != NULL; comma = strstr(line, ",,")) {
			memmove(comma + 2, comma + 1, strlen(comma));
			comma[1] = '0';
		}
		assert_int_equal(sscanf(line, "%*u,%*u,%*u,%*u,%*u,%*u,%*u,%" SCNu64 ",", &count),
				 1);
		counted += count;
	}
	assert_int_equal(counted, references);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_index),
		cmocka_unit_test(every_event),
		cmocka_unit_test(a_task_may_move),
		cmocka_unit_test(a_state_is_no_tasks_doing),
		cmocka_unit_test(thousands_of_tasks),
		cmocka_unit_test(long_files),
		cmocka_unit_test(what_is_there_is_kept),
		cmocka_unit_test(what_is_not_finished_goes),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(everything_is_written),
	};

	int failed = cmocka_run_group_tests(tests, setup_directory, remove_directory);

	jobs = 3;
	return failed + cmocka_run_group_tests(tests, setup_directory, remove_directory);
}
