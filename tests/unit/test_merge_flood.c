/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Guests that report ever more: the merge's memory is always within its bound, what it gave up is
 * counted, and the books of what is left add up.
 *
 * Each flood runs in a process of its own.  The largest size of that is what is compared: with the
 * merge's when it has been sent next to nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <laplace/merge.h>

enum { MEGABYTE = 1 << 20, BOUND = 16 * MEGABYTE, PRESENT_PAGES = 1 << 14 };

struct flood {
	struct lpl_sink *sink;
	uint64_t events;
};

static void put(struct flood *flood, uint32_t tag, const char *text, uint64_t a, uint64_t b,
		uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
	struct lpl_event event = { .tag = tag, .tid = 1, .tgid = 1,
				   .arg = { a, b, c, d, e, f, g } };

	event.text_length = (uint32_t)strlen(text);
	memcpy(event.text, text, event.text_length);
	event.ref = event.instr = event.cycle = flood->events++;
	if (flood->sink->event(flood->sink, &event, NULL) != LPL_OK)
		_exit(2);
}

static void refer(struct flood *flood, uint64_t space, uint64_t address)
{
	struct lpl_ref ref = { .ref = ++flood->events, .space = space, .address = address,
			       .type = LPL_WRITE, .length = 4, .flags = LPL_USER };

	ref.instr = ref.cycle = ref.ref;
	if (flood->sink->refs(flood->sink, &ref, 1, NULL) != LPL_OK)
		_exit(2);
}

/* ---- the floods: each takes some hundred megabytes where nothing is forgotten ---- */

static void tasks(struct flood *flood)
{
	for (uint32_t tid = 2; tid < 700000; tid++)
		put(flood, KTR_TASK_CREATE, "fork bomb", tid, tid, 0, 0, 0, 0, 0);
}

static void spaces(struct flood *flood)
{
	for (uint64_t space = 2; space < 900000; space++)
		put(flood, KTR_SPACE_ASSIGN, "", 1, 1, space, 0, 0, 0, 0);
}

/* Small ones far apart: paths of the tree have nothing in common. */
static void mappings(struct flood *flood)
{
	for (uint64_t i = 1; i < 200000; i++) {
		uint64_t page = i * UINT64_C(0x9e3779b97f4a7c15) >> 17;	/* of 2^47 */

		page &= ~UINT64_C(0xfff);
		put(flood, KTR_MAP, "", 7, page, page + 4096, 3, KTR_MAP_ANONYMOUS, 0, 0);
	}
}

/* A snapshot without end, of pages that no other space has. */
static void present(struct flood *flood)
{
	uint64_t bytes = (uint64_t)PRESENT_PAGES << 12;

	put(flood, KTR_SNAPSHOT, "", 1, 0, 0, 0, 0, 0, 0);
	for (uint64_t i = 0; i < 200; i++) {
		put(flood, KTR_MAP, "", 7, i * bytes, (i + 1) * bytes, 3,
		    KTR_MAP_ANONYMOUS, 0, 0);
		put(flood, KTR_PRESENT, "", 7, i * bytes, (i + 1) * bytes, i * PRESENT_PAGES, i *
		    PRESENT_PAGES, 0, 0);
	}
}

static void files(struct flood *flood)
{
	char name[KTR_TEXT];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (uint64_t inode = 1; inode < 400000; inode++)
		put(flood, KTR_FILE, name, 8, inode, 1, 0, 0, 0, 0);
}

static void cached_pages(struct flood *flood)
{
	for (uint64_t i = 1; i < 300000; i++) {
		uint64_t frame = (i * UINT64_C(0x9e3779b97f4a7c15)) >> 24;

		put(flood, KTR_CACHE_ADD, "", 8, 3, i * 7, frame, 1, KTR_NONE, 0);
	}
}

static void nothing(struct flood *flood)
{
	put(flood, KTR_TASK_CREATE, "sh", 2, 2, 7, 0, 0, 0, 0);
}

/* ---- a merge in a process of its own ---- */

static enum lpl_error take_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				     struct lpl_report *report)
{
	(void)output;
	(void)merged;
	(void)report;
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* So that all that an output may ask for is kept. */
static enum lpl_error take_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	(void)output;
	(void)page;
	(void)report;
	return LPL_OK;
}

/* Exits with 0 if something was forgotten, 1 if nothing was; 2 or more: it went wrong. */
static void run(void (*send)(struct flood *flood), uint64_t memory)
{
	struct lpl_merge_output output = { .reference = take_reference, .finish = take_finish,
					   .page = take_page };
	const struct lpl_merge_options options = { .memory = memory, .audit = true,
						   .problems = 1 };
	const struct lpl_merge_audit *books;
	struct lpl_merge *merge;
	struct flood flood;
	uint64_t forgotten;

	if (lpl_merge_open(&merge, &output, &options, NULL) != LPL_OK)
		_exit(2);
	flood = (struct flood){ .sink = lpl_merge_sink(merge) };
	send(&flood);
	/* it goes on: what is reported from here on counts */
	put(&flood, KTR_TASK_CREATE, "after", 9, 9, 77, 0, 0, 0, 0);
	put(&flood, KTR_MAP, "", 77, 0x1000, 0x2000, 3, KTR_MAP_ANONYMOUS, 0, 0);
	refer(&flood, 77, 0x1000);
	if (flood.sink->finish(flood.sink, NULL) != LPL_OK)
		_exit(2);
	forgotten = lpl_merge_stats(merge)->forgotten;
	books = lpl_merge_audit(merge);
	if (lpl_merge_stats(merge)->references[LPL_PAGE_ANONYMOUS] != 1)
		_exit(3);
	if (books->references != 1 || books->by_kind != 1 || books->by_task != 1 ||
	    books->tasks != books->tasks_ended + books->tasks_live ||
	    books->spaces != books->spaces_ended + books->spaces_live ||
	    books->cache_added != books->cache_removed + books->cache_displaced +
				  books->cache_lost + books->cache_held)
		_exit(4);
	lpl_merge_close(merge);
	_exit(forgotten == 0);
}

/* Returns the largest size of such a process, in bytes. */
static uint64_t size_of(void (*send)(struct flood *flood), uint64_t memory, int expected)
{
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child == 0)
		run(send, memory);
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static void try(void (*send)(struct flood *flood))
{
	uint64_t least = size_of(nothing, BOUND, 1);
	uint64_t most = size_of(send, BOUND, 0);
	uint64_t unbounded = size_of(send, UINT64_MAX, 1);

	print_message("%llu kB, unbounded %llu kB, with nothing sent %llu kB\n",
		      (unsigned long long)most / 1024, (unsigned long long)unbounded / 1024,
		      (unsigned long long)least / 1024);
	/* a sanitizer keeps what was freed */
	if (getenv("SANITIZED") == NULL)
		assert_true(most - least <= BOUND + 16 * MEGABYTE);
	assert_true(unbounded - least > 4 * BOUND);	/* else it would be no flood */
}

#define FLOOD(name) \
	static void floods_of_##name(void **state) \
	{ \
		(void)state; \
		try(name); \
	}
FLOOD(tasks)
FLOOD(spaces)
FLOOD(mappings)
FLOOD(present)
FLOOD(files)
FLOOD(cached_pages)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floods_of_tasks), cmocka_unit_test(floods_of_spaces),
		cmocka_unit_test(floods_of_mappings), cmocka_unit_test(floods_of_present),
		cmocka_unit_test(floods_of_files), cmocka_unit_test(floods_of_cached_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
