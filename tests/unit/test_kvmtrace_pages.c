/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of the pages in a log of kVMTrace (convert/kvmtrace_pages.h), step by step, and
 * that a map has nothing in it but what was added when memory runs out at any of these steps.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "convert/kvmtrace_pages.h"

/* ---- memory that runs out: calls come by here (--wrap) ---- */

static long allocations = -1;	/* that still work; negative: all */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool is_full(void)
{
	return allocations == 0 || (allocations > 0 && allocations-- == 0);
}

void *__wrap_malloc(size_t size)
{
	return is_full() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_full() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return is_full() ? NULL : __real_realloc(memory, size);
}

/* ---- pages ---- */

static const struct kvmtrace_identity anonymous;

static struct kvmtrace_identity file(uint64_t inode, uint64_t page, bool shared)
{
	return (struct kvmtrace_identity){ .device = 3 << 20, .inode = inode, .page = page,
					   .file = true, .shared = shared };
}

static void a_page_is_news_once(void **unused)
{
	const struct kvmtrace_identity private = file(42, 3, false), shared = file(42, 3, true);
	const struct kvmtrace_identity segment = file(UINT64_C(1) << 63 | 42, 3, true);
	struct kvmtrace_pages pages = { .space_count = 0 };

	(void)unused;
	lpl_kvmtrace_pages_init(&pages);
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 7, &anonymous, true), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 7, &anonymous, false), KVMTRACE_PAGE_SAME);
	/* nothing was there any more: memory of that kind has no identity that could stay */
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 7, &anonymous, true), KVMTRACE_PAGE_OTHER);
	/* another address, another space */
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 8, &private, true), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 12, 8, &private, true), KVMTRACE_PAGE_NEW);
	/* a file's page that was dropped comes back as what it was */
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 8, &private, true), KVMTRACE_PAGE_SAME);
	/* copied by a write, where the mapping is private */
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 8, &anonymous, false),
			 KVMTRACE_PAGE_OWN_NOW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 12, 8, &shared, false), KVMTRACE_PAGE_OTHER);
	assert_int_equal(lpl_kvmtrace_page(&pages, 12, 8, &anonymous, false),
			 KVMTRACE_PAGE_OTHER);
	/* a segment's number is not a file's */
	assert_int_equal(lpl_kvmtrace_page(&pages, 12, 9, &shared, true), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 12, 9, &segment, false), KVMTRACE_PAGE_OTHER);
	lpl_kvmtrace_pages_free(&pages);
}

static void spaces_come_and_go(void **unused)
{
	enum { SPACES = 40 };
	struct kvmtrace_pages pages = { .space_count = 0 };

	(void)unused;
	lpl_kvmtrace_pages_init(&pages);
	for (uint32_t space = 1; space <= SPACES; space++) {
		const struct kvmtrace_identity own = file(space, 0, true);

		assert_false(lpl_kvmtrace_space_known(&pages, space));
		assert_int_equal(lpl_kvmtrace_page(&pages, space, 1, &own, true),
				 KVMTRACE_PAGE_NEW);
	}
	/* in the order of their first pages, the last first, and from the middle */
	for (uint32_t space = 1; space <= SPACES; space += 3)
		lpl_kvmtrace_space_end(&pages, space);
	lpl_kvmtrace_space_end(&pages, SPACES - 1);
	lpl_kvmtrace_space_end(&pages, 1000);
	for (uint32_t space = 1; space <= SPACES; space++) {
		const struct kvmtrace_identity own = file(space, 0, true);
		const bool ended = space % 3 == 1 || space == SPACES - 1;

		assert_true(lpl_kvmtrace_space_known(&pages, space) != ended);
		assert_int_equal(lpl_kvmtrace_page(&pages, space, 1, &own, true),
				 ended ? KVMTRACE_PAGE_NEW : KVMTRACE_PAGE_SAME);
	}
	lpl_kvmtrace_pages_free(&pages);
}

static void pages_are_copied_and_moved(void **unused)
{
	const struct kvmtrace_identity page = file(42, 3, true);
	struct kvmtrace_pages pages = { .space_count = 0 };

	(void)unused;
	lpl_kvmtrace_pages_init(&pages);
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 5, &page, true), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 6, &page, true), KVMTRACE_PAGE_NEW);
	/* what was known of the child before is forgotten */
	assert_true(lpl_kvmtrace_space_copy(&pages, 11, 22));
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 5, &page, false), KVMTRACE_PAGE_SAME);
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 6, &page, false), KVMTRACE_PAGE_NEW);
	/* and what happens to it is its own affair */
	assert_int_equal(lpl_kvmtrace_space_move(&pages, 22, 5, 105, 2), 1);
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 105, &page, false), KVMTRACE_PAGE_SAME);
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 5, &page, false), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_page(&pages, 11, 5, &page, false), KVMTRACE_PAGE_SAME);
	/* nothing is there, and then nothing is where it comes to */
	assert_int_equal(lpl_kvmtrace_space_move(&pages, 22, 50, 106, 1), 0);
	assert_int_equal(lpl_kvmtrace_page(&pages, 22, 106, &page, false), KVMTRACE_PAGE_NEW);
	assert_int_equal(lpl_kvmtrace_space_move(&pages, 33, 1, 2, 1), 0);
	assert_true(lpl_kvmtrace_space_copy(&pages, 33, 44));
	assert_true(lpl_kvmtrace_space_known(&pages, 44));
	lpl_kvmtrace_pages_free(&pages);
}

static void a_frame_has_one_page(void **unused)
{
	const struct kvmtrace_identity one = file(1, 10, true), two = file(2, 20, true);
	struct kvmtrace_pages pages = { .space_count = 0 };
	struct kvmtrace_identity moved[2];
	uint64_t frames[2];

	(void)unused;
	lpl_kvmtrace_pages_init(&pages);
	assert_int_equal(lpl_kvmtrace_cache(&pages, 0, &one, moved, frames), 0);
	assert_int_equal(lpl_kvmtrace_cache(&pages, 0, &one, moved, frames), KVMTRACE_CACHED);
	assert_int_equal(lpl_kvmtrace_cache(&pages, 5, &two, moved, frames), 0);
	/* `one` goes where `two` is: both are no longer where they were */
	assert_int_equal(lpl_kvmtrace_cache(&pages, 5, &one, moved, frames), 2);
	assert_int_equal(moved[0].inode, 1);
	assert_int_equal(moved[0].page, 10);
	assert_int_equal(frames[0], 0);
	assert_int_equal(moved[1].inode, 2);
	assert_int_equal(moved[1].page, 20);
	assert_int_equal(frames[1], 5);
	assert_int_equal(lpl_kvmtrace_cache(&pages, 0, &two, moved, frames), 0);
	lpl_kvmtrace_pages_free(&pages);
}

/* ---- when memory runs out ---- */

/* Are there so many keys in the map as have a value? */
static void check_count(const struct lpl_map *map)
{
	size_t count = 0;

	for (size_t i = 0; i < map->room; i++)
		count += map->place[i * (map->words + 1) + map->words] != 0;
	assert_int_equal(map->count, count);
}

/* Enough of everything that each map and array is made, and grows. */
static bool add_many(struct kvmtrace_pages *pages)
{
	for (uint32_t i = 0; i < 200; i++) {
		const struct kvmtrace_identity page = file(i, i, false);
		struct kvmtrace_identity moved[2];
		uint64_t frames[2];

		if (lpl_kvmtrace_page(pages, i, 1, &page, true) == KVMTRACE_PAGE_NO_MEMORY ||
		    lpl_kvmtrace_page(pages, 0, i, &anonymous, true) == KVMTRACE_PAGE_NO_MEMORY ||
		    lpl_kvmtrace_cache(pages, i, &page, moved, frames) == KVMTRACE_NO_MEMORY ||
		    !lpl_kvmtrace_space_copy(pages, 0, 1000 + i) ||
		    lpl_kvmtrace_space_move(pages, 0, i, 500 + i, 1) < 0)
			return false;
	}
	return true;
}

static void nothing_is_left_half_done(void **unused)
{
	bool enough;
	long most = 0;

	(void)unused;
	do {
		struct kvmtrace_pages pages = { .space_count = 0 };

		lpl_kvmtrace_pages_init(&pages);
		allocations = most++;
		enough = add_many(&pages);
		allocations = -1;
		check_count(&pages.spaces);
		check_count(&pages.files);
		check_count(&pages.frame_of);
		check_count(&pages.page_in);
		assert_int_equal(pages.spaces.count, pages.space_count);
		assert_int_equal(pages.files.count, pages.file_count);
		lpl_kvmtrace_pages_free(&pages);
	} while (!enough);
	assert_true(most > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_news_once),
		cmocka_unit_test(spaces_come_and_go),
		cmocka_unit_test(pages_are_copied_and_moved),
		cmocka_unit_test(a_frame_has_one_page),
		cmocka_unit_test(nothing_is_left_half_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
