/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of traces by process, read back: what comes out of it is the canonical trace of the
 * same stream, but for what docs/formats.md says is not in the directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <laplace/convert.h>
#include <laplace/merge.h>

#include "stream.h"

static char directory[64];
static char path[96];

/* ---- a guest of many tasks ---- */

struct plot {
	const char *name;
	uint32_t tasks;		/* of ids 1 up to this, three to a process */
	uint32_t records;
	uint32_t burst;		/* references between two switches, at most */
	bool dense;		/* clocks often stand still */
	bool reduced;		/* references are missing, and some come again */
};

struct guest {
	const struct plot *plot;
	uint64_t random;
	struct lpl_sink *sinks[2];
	uint64_t ref, instr, cycle;
	uint64_t moved;		/* how often clocks moved since the last reference */
	uint32_t tid;		/* the running task */
	bool lives[512];
};

static uint32_t below(struct guest *guest, uint32_t limit)
{
	return (uint32_t)(next_random(&guest->random) % limit);
}

static uint32_t tgid_of(uint32_t tid)
{
	return tid == 0 ? 0 : (tid - 1) / 3 * 3 + 1;
}

static uint64_t space_of(uint32_t tid)
{
	return tid == 0 ? 0 : 100 + tgid_of(tid);
}

static void advance(struct guest *guest)
{
	if (guest->plot->dense && below(guest, 4))
		return;
	guest->instr += below(guest, 3);
	guest->cycle += below(guest, 3);
	guest->moved++;
}

static void put_event(struct guest *guest, struct lpl_event *event)
{
	advance(guest);
	event->ref = guest->ref;
	event->instr = guest->instr;
	event->cycle = guest->cycle;
	event->tid = guest->tid;
	event->tgid = tgid_of(guest->tid);
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sinks[i]->event(guest->sinks[i], event, NULL), LPL_OK);
}

#define PUT(guest, event_tag, ...) \
	put_event(guest, &(struct lpl_event){ .tag = (event_tag), .arg = { __VA_ARGS__ } })

static void put_text(struct guest *guest, uint32_t tag, const char *text, size_t length)
{
	struct lpl_event event = { .tag = tag, .text_length = (uint32_t)length };

	memcpy(event.text, text, length);
	put_event(guest, &event);
}

static void put_ref(struct guest *guest)
{
	struct lpl_ref ref = { .type = (uint8_t)below(guest, LPL_TYPES), .space = space_of(guest->tid) };
	/* what a reducer put in has the clocks of the one before it */
	const bool again = guest->plot->reduced && guest->ref && !guest->moved && !below(guest, 4);

	if (!again) {
		guest->ref += 1 + (guest->plot->reduced ? below(guest, 5) : 0);
		advance(guest);
	}
	guest->moved = 0;
	ref.ref = guest->ref;
	ref.instr = guest->instr;
	ref.cycle = guest->cycle;
	ref.flags = again ? LPL_SYNTHETIC : 0;
	ref.address = (uint64_t)below(guest, 64) << LPL_PAGE_SHIFT;
	ref.length = 8;
	if (guest->plot->reduced) {
		ref.flags |= LPL_PAGED;
		ref.length = 0;
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sinks[i]->refs(guest->sinks[i], &ref, 1, NULL), LPL_OK);
}

/* Any event that has a line, with values at their bounds, too. */
static void put_any(struct guest *guest)
{
	static const char *const text[] = { "", "-", "a b", " ", " 1 2", "\\x", "\n\xff", "x 1 2 " };
	const char *name = text[below(guest, 8)];
	const uint64_t value[] = { 0, 1, KTR_NONE, KTR_NONE - 1, UINT64_C(1) << 63, below(guest, 1000) };
	char full[KTR_TEXT];
	uint32_t other = 1 + below(guest, guest->plot->tasks);

	switch (below(guest, 10)) {
	case 0:
		put_text(guest, KTR_MARK, name, strlen(name));
		break;
	case 1:
		memset(full, "x\\ "[below(guest, 3)], sizeof(full));
		put_text(guest, LPL_EVENT_MARK, full, sizeof(full));
		break;
	case 2:
		PUT(guest, KTR_WAKE, other, tgid_of(other), below(guest, 2));
		break;
	case 3:
		PUT(guest, KTR_SYSCALL_EXIT, 1, 0, value[below(guest, 6)]);
		break;
	case 4:
		PUT(guest, KTR_SYSCALL_ENTER, 1, 0, value[below(guest, 6)], value[below(guest, 6)], 1,
		    2, 3, 4);
		break;
	case 5:
		PUT(guest, KTR_MPROTECT, space_of(other), value[below(guest, 6)],
		    value[below(guest, 6)], 3);
		break;
	case 6:
		PUT(guest, KTR_SWAP_OUT, 0, 0, 7, 8, 1, 1, value[below(guest, 6)], 3);
		break;
	case 7:
		PUT(guest, 4711, 1, 2, KTR_NONE, 4, 5, 6, 7, 8, 9, 10, 11, value[below(guest, 6)]);
		break;
	case 8:		/* a fence: no canonical trace has it */
		PUT(guest, KTR_MAP, space_of(other), 0x1000, 0x9000, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
		break;
	default:
		PUT(guest, LPL_EVENT_TRACING, below(guest, 2));
		break;
	}
}

static void put_switch(struct guest *guest)
{
	uint32_t next = below(guest, guest->plot->tasks + 1);

	if (next != 0 && !guest->lives[next]) {
		PUT(guest, KTR_TASK_CREATE, next, tgid_of(next), space_of(next), 0);
		guest->lives[next] = true;
	}
	if (guest->tid != 0 && !below(guest, 40)) {
		PUT(guest, KTR_EXIT, guest->tid, tgid_of(guest->tid), 256, 0);
		guest->lives[guest->tid] = false;
		next = next == guest->tid ? 0 : next;
	}
	PUT(guest, KTR_SCHEDULE, guest->tid,
	    guest->lives[guest->tid] ? KTR_STATE_SLEEPING : KTR_STATE_DEAD, next, tgid_of(next),
	    space_of(next));
	guest->tid = next;
}

static void play(struct guest *guest)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < guest->plot->records; i++) {
		if (left == 0) {
			put_switch(guest);
			left = below(guest, guest->plot->burst);
		} else if (!below(guest, 16)) {
			put_any(guest);
		} else {
			put_ref(guest);
			left--;
		}
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sinks[i]->finish(guest->sinks[i], NULL), LPL_OK);
}

/* ---- out and in ---- */

/* Of a record of the canonical trace, what the directory has; false: nothing. */
static bool keep_what_is_there(struct item *item)
{
	if (!item->is_event) {
		item->ref.flags &= LPL_PAGED | LPL_SYNTHETIC;
		return true;
	}
	item->event.space = 0;
	return item->event.tag != LPL_EVENT_PAGE;
}

static void take_apart(const struct plot *plot, uint64_t seed, bool differences,
		       struct stream *expected)
{
	struct guest guest = { .plot = plot, .random = seed, .lives = { true } };
	struct lpl_merge_output *apart, *whole;
	struct lpl_merge *merge[2];
	size_t kept = 0;

	stream_init(expected);
	assert_int_equal(lpl_merge_per_process_open(&apart, path, true, NULL), LPL_OK);
	if (differences)
		lpl_merge_per_process_differences(apart);
	assert_int_equal(lpl_merge_canonical_open(&whole, &expected->sink, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge[0], apart, NULL, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge[1], whole, NULL, NULL), LPL_OK);
	for (int i = 0; i < 2; i++)
		guest.sinks[i] = lpl_merge_sink(merge[i]);
	play(&guest);
	for (int i = 0; i < 2; i++)
		lpl_merge_close(merge[i]);
	lpl_merge_per_process_close(apart);
	lpl_merge_canonical_close(whole);
	for (size_t i = 0; i < expected->count; i++)
		if (keep_what_is_there(&expected->items[i]))
			expected->items[kept++] = expected->items[i];
	expected->count = kept;
}

static enum lpl_error read_back(struct stream *found, struct lpl_report *report)
{
	const struct lpl_import_options options = { .format = lpl_format_find("per-process"),
						    .input = path };
	struct lpl_importer *importer;
	enum lpl_error error;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	stream_init(found);
	assert_int_equal(lpl_importer_open(&importer, &options, report), LPL_OK);
	error = lpl_importer_run(importer, fd, &found->sink, report);
	assert_int_equal(error == LPL_OK, found->finished);
	lpl_importer_close(importer);
	close(fd);
	return error;
}

static void compare(const struct plot *plot, const struct stream *expected,
		    const struct stream *found)
{
	const size_t i = stream_difference(expected, found, expected->count);

	if (i < expected->count)
		fail_msg("%s: record %zu of %zu is another one (tag %u, was %u)", plot->name, i,
			 expected->count,
			 i < found->count && found->items[i].is_event ? found->items[i].event.tag : 0,
			 expected->items[i].is_event ? expected->items[i].event.tag : 0);
	assert_int_equal(found->count, expected->count);
}

static void there_and_back(void **state)
{
	static const struct plot plots[] = {
		{ "few", 5, 5000, 20, false, false },
		{ "at one time", 7, 5000, 4, true, false },
		{ "reduced", 9, 5000, 10, false, true },
		{ "reduced, at one time", 9, 5000, 3, true, true },
		{ "many", 400, 60000, 6, false, false },
		{ "long", 80, 300000, 10000, false, false },
	};
	const struct rlimit few = { 100, 100 };
	struct rlimit before;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE,
				   &(struct rlimit){ few.rlim_cur, before.rlim_max }), 0);
	for (size_t i = 0; i < sizeof(plots) / sizeof(plots[0]); i++) {
		for (uint64_t seed = 0; seed < (plots[i].records > 5000 ? 2 : 40); seed++) {
			struct stream expected, found;
			struct lpl_report report = { 0 };

			take_apart(&plots[i], seed / 2, (seed & 1) != 0, &expected);
			if (read_back(&found, &report) != LPL_OK)
				fail_msg("%s: %s", plots[i].name, report.text);
			compare(&plots[i], &expected, &found);
			free(expected.items);
			free(found.items);
		}
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- what is damaged ---- */

/* One line of one file is replaced by sed: where that is refused, and as what. */
static void damaged_lines(void **state)
{
	static const struct {
		const char *file, *change;
		enum lpl_error error;
		const char *place;
	} cases[] = {
		{ "1/1", "3s/ [0-9a-f]*$//", LPL_ERR_DAMAGED, "/1/1: line 3: " },
		{ "1/1", "3s/$/ 1/", LPL_ERR_DAMAGED, "/1/1: line 3: " },
		{ "1/1", "5,$s/^\\([rwipq]\\) [^ ]*/\\1 0/", LPL_ERR_ORDER, "/1/1: line " },
		{ "1/1", "3s/^./x/", LPL_ERR_DAMAGED, "/1/1: line 3: " },
		{ "1/1", "3s/.*//", LPL_ERR_DAMAGED, "/1/1: line 3: " },
		{ "1/1", "3s/.*/printf %070000d 0/e", LPL_ERR_DAMAGED, "/1/1: line 3: longer than " },
		{ "1/1", "$d", LPL_ERR_TRUNCATED, "/1/1: line " },
		{ "1/1", "1d", LPL_ERR_DAMAGED, "/1/1: line 1: " },
		{ "tasks.csv", "$d", LPL_ERR_TRUNCATED, "/tasks.csv: line " },
		{ "tasks.csv", "1d", LPL_ERR_FORMAT, "/tasks.csv: line 1: " },
		{ "tasks.csv", "1s/,events,version//", LPL_ERR_FORMAT, "/tasks.csv: line 1: this directory is of version 1" },
		{ "tasks.csv", "$s/,2$/,3/", LPL_ERR_DAMAGED, "/0/0: line " },
		{ "tasks.csv", "2s/,2$/,4/", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column version" },
		{ "tasks.csv", "2s/^[^,]*/../", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column directory" },
		{ "tasks.csv", "2s/^/00/", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column directory" },
		{ "tasks.csv", "2s/^[^,]*/10000/", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column directory" },
		{ "tasks.csv", "2s/,[^,]*/,4294967296/2", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column tid" },
		{ "tasks.csv", "2s/\"//", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column name" },
		{ "tasks.csv", "2s/,[a-z]*t,/,killed,/", LPL_ERR_DAMAGED, "/tasks.csv: line 2: the column end" },
		{ "tasks.csv", "$s/^0,0/0,4711/;$p;$s/^0,4711/0,0/", LPL_ERR_DAMAGED, "/0/4711: " },
	};
	static const struct plot plot = { "damaged", 5, 2000, 20, false, false };
	char command[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream expected, found;
		struct lpl_report report = { 0 };

		take_apart(&plot, 1, false, &expected);
		snprintf(command, sizeof(command), "cp %s/%s %s/before && sed -i '%s' %s/%s && ! cmp -s %s/%s %s/before",
			 path, cases[i].file, directory, cases[i].change, path, cases[i].file, path,
			 cases[i].file, directory);
		if (system(command) != 0)
			fail_msg("nothing is changed by %s", cases[i].change);
		if (read_back(&found, &report) != cases[i].error)
			fail_msg("%s: %s: %s: %s", cases[i].file, cases[i].change,
				 lpl_error_name(report.error), report.text);
		if (strncmp(report.text, path, strlen(path)) != 0 ||
		    strncmp(report.text + strlen(path), cases[i].place, strlen(cases[i].place)) != 0)
			fail_msg("%s: %s: %s", cases[i].file, cases[i].change, report.text);
		snprintf(command, sizeof(command), "rm -r %s", path);
		assert_int_equal(system(command), 0);
		free(expected.items);
		free(found.items);
	}
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/laplace-test-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/apart", directory);
	return 0;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(damaged_lines),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
