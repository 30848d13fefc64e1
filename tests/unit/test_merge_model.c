/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The post-processor against a brute-force model: every virtual page of a few
 * small spaces is a cell of an array that says what is there, and every
 * operation does to the cells, one by one, what merge.h says of it.  Canonical
 * numbers are given at first references, so the two must agree on every number; and
 * on which pages have left memory, after every step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>

#define SPACES 5
#define PAGES 40		/* of a space; they straddle nodes of any fan-out */
#define BASE 0x7f0u		/* the first of them */
#define FRAMES 24
#define DEVICES 2
#define INODES 3
#define OBJECT_PAGES 4096
#define TOKENS 200000
#define KERNEL_PAGE (UINT64_C(0xffff888000000) + 0x35)
#define SHIFT LPL_PAGE_SHIFT

enum cell_kind { NOTHING, ANONYMOUS, PRIVATE, SHARED, SEGMENT };

struct cell {
	enum cell_kind kind;
	uint32_t device, inode;
	int32_t page;		/* of the object */
	uint32_t token;		/* of ANONYMOUS, and of PRIVATE once broken: cells with
				 * one token are one page */
};

struct frame {
	bool held, aliased;
	uint32_t device, inode;
	int32_t page;
};

struct model {
	bool live[SPACES];
	struct cell cell[SPACES][PAGES];
	uint64_t stray[SPACES][PAGES];
	struct frame frame[FRAMES];
	uint64_t of_token[TOKENS];
	uint64_t of_file[DEVICES][INODES][OBJECT_PAGES];
	uint64_t of_segment[INODES][OBJECT_PAGES];
	uint64_t of_kernel[FRAMES], of_physical[FRAMES];
	uint32_t tokens;
	uint64_t pages;		/* canonical numbers given */
	uint32_t space, page;		/* where something changed last */
	uint64_t uncached;	/* the sum of the pages that left the page cache */
	uint64_t state;		/* of the generator */
};

#define NUMBERS 2048		/* more than a run has references */

struct answer {
	struct lpl_merge_output output;
	uint64_t page;
	enum lpl_page_kind kind;
	bool here[NUMBERS];	/* anonymous or unresolved, and not reported as removed */
	uint64_t uncached;
};

static enum lpl_error keep(struct lpl_merge_output *output, const struct lpl_merged *merged,
			   struct lpl_report *report)
{
	struct answer *answer = (struct answer *)output;

	(void)report;
	answer->page = merged->page;
	answer->kind = merged->kind;
	assert_true(merged->page < NUMBERS);
	if (merged->kind == LPL_PAGE_ANONYMOUS || merged->kind == LPL_PAGE_UNRESOLVED)
		answer->here[merged->page] = true;
	return LPL_OK;
}

static enum lpl_error leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
			    struct lpl_report *report)
{
	struct answer *answer = (struct answer *)output;

	(void)report;
	assert_true(page < NUMBERS);
	if (!for_ever) {
		answer->uncached += page;
		return LPL_OK;
	}
	assert_true(answer->here[page]);
	answer->here[page] = false;
	return LPL_OK;
}

static enum lpl_error end(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static uint32_t roll(struct model *m, uint32_t below)
{
	m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((m->state >> 33) % below);
}

static uint32_t token(struct model *m)
{
	assert_true(m->tokens + 1 < TOKENS);
	return ++m->tokens;
}

static uint64_t number(struct model *m, uint64_t *place)
{
	if (*place == 0)
		*place = ++m->pages;
	return *place;
}

static void clear(struct model *m, uint32_t s, uint32_t from, uint32_t to)
{
	for (uint32_t v = from; v < to; v++) {
		m->cell[s][v] = (struct cell){ 0 };
		m->stray[s][v] = 0;
	}
}

/* `to` exclusive; page is that of `from`. */
static void fill(struct model *m, uint32_t s, uint32_t from, uint32_t to, struct cell like)
{
	clear(m, s, from, to);
	for (uint32_t v = from; v < to; v++) {
		struct cell *cell = &m->cell[s][v];

		*cell = like;
		cell->page = like.page + (int32_t)(v - from);
		cell->token = like.kind == ANONYMOUS ? token(m) : 0;
	}
}

static bool others_have(const struct model *m, uint32_t s, uint32_t v, uint32_t wanted)
{
	for (uint32_t i = 0; i < SPACES; i++)
		for (uint32_t j = 0; j < PAGES; j++)
			if ((i != s || j != v) && m->cell[i][j].token == wanted)
				return true;
	return false;
}

static uint64_t model_user(struct model *m, uint32_t s, uint32_t v, bool write,
			   enum lpl_page_kind *kind)
{
	struct cell *cell = &m->cell[s][v];

	m->live[s] = true;
	*kind = LPL_PAGE_UNRESOLVED;
	if (cell->kind == NOTHING)
		return number(m, &m->stray[s][v]);
	if (cell->kind == SEGMENT) {
		*kind = LPL_PAGE_SHM;
		return number(m, &m->of_segment[cell->inode][cell->page]);
	}
	if (write && cell->kind == PRIVATE && cell->token == 0)
		cell->token = token(m);
	if (cell->token == 0) {
		*kind = LPL_PAGE_FILE;
		return number(m, &m->of_file[cell->device][cell->inode - 1][cell->page]);
	}
	if (write && others_have(m, s, v, cell->token))
		cell->token = token(m);
	*kind = LPL_PAGE_ANONYMOUS;
	return number(m, &m->of_token[cell->token]);
}

static void model_cow(struct model *m, uint32_t s, uint32_t v, bool kept)
{
	struct cell *cell = &m->cell[s][v];
	uint64_t old = cell->token == 0 ? 0 : m->of_token[cell->token];

	if (cell->kind != ANONYMOUS && cell->kind != PRIVATE)
		return;
	cell->token = token(m);
	if (kept)
		m->of_token[cell->token] = old;
}

static void model_remap(struct model *m, uint32_t s, uint32_t old, uint32_t old_end,
			uint32_t new, uint32_t new_end)
{
	uint32_t length = old_end - old, size = new_end - new;
	struct cell moved[PAGES];
	struct cell last = m->cell[s][old_end - 1];
	bool any = false;

	for (uint32_t v = old; v < old_end; v++)
		any |= m->cell[s][v].kind != NOTHING;
	if (!any)
		return;
	memcpy(moved, &m->cell[s][old], length * sizeof(*moved));
	if (old == new) {
		if (size < length)
			clear(m, s, new_end, old_end);
	} else {
		clear(m, s, old, old_end);
		clear(m, s, new, new_end);
		for (uint32_t i = 0; i < length && i < size; i++)
			m->cell[s][new + i] = moved[i];
	}
	if (size > length && last.kind != NOTHING) {
		last.page++;
		fill(m, s, new + length, new_end, last);
	}
}

/* What the space had for itself is dropped; the file is there again. */
static void model_discard(struct model *m, uint32_t s, uint32_t from, uint32_t to)
{
	for (uint32_t v = from; v < to; v++) {
		struct cell *cell = &m->cell[s][v];

		if (cell->kind == ANONYMOUS)
			cell->token = token(m);
		else if (cell->kind == PRIVATE)
			cell->token = 0;
	}
}

/* It has a page of its own; one that no other space has is kept. */
static void model_own(struct model *m, uint32_t s, uint32_t from, uint32_t to)
{
	for (uint32_t v = from; v < to; v++) {
		struct cell *cell = &m->cell[s][v];

		if ((cell->kind == ANONYMOUS || cell->kind == PRIVATE) &&
		    (cell->token == 0 || others_have(m, s, v, cell->token)))
			cell->token = token(m);
	}
}

static void model_detach(struct model *m, uint32_t s, uint32_t at)
{
	uint32_t inode = m->cell[s][at].inode;

	if (m->cell[s][at].kind != SEGMENT || m->cell[s][at].page != 0)
		return;
	for (uint32_t v = at; v < PAGES; v++) {
		const struct cell *cell = &m->cell[s][v];

		if (cell->kind == SEGMENT && cell->inode == inode &&
		    cell->page == (int32_t)(v - at))
			clear(m, s, v, v + 1);
	}
}

static void model_duplicate(struct model *m, uint32_t parent, uint32_t child)
{
	m->live[child] = true;
	if (parent == child)
		return;
	clear(m, child, 0, PAGES);
	if (m->live[parent])
		memcpy(m->cell[child], m->cell[parent], sizeof(m->cell[child]));
}

static void send_event(struct lpl_sink *sink, uint32_t tag, const uint64_t *arg, size_t args)
{
	struct lpl_event event = { .tag = tag };

	memcpy(event.arg, arg, args * sizeof(*arg));
	assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
}

#define SEND(sink, tag, ...)                                                        \
	send_event(sink, tag, (const uint64_t[]){ __VA_ARGS__ },                          \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static uint64_t address(uint32_t v)
{
	return (uint64_t)(BASE + v) << SHIFT;
}

static void random_range(struct model *m, uint32_t *from, uint32_t *to)
{
	*from = roll(m, PAGES);
	*to = *from + 1 + roll(m, roll(m, 2) ? PAGES - *from : 1 + (PAGES - *from) / 8);
	m->page = *from + roll(m, *to - *from);
}

static void do_map(struct model *m, struct lpl_sink *sink, uint32_t s)
{
	struct cell like = { .device = roll(m, DEVICES), .inode = 1 + roll(m, INODES),
			     .page = (int32_t)roll(m, 8) };
	uint64_t kind = 0;
	uint32_t from, to;

	random_range(m, &from, &to);
	m->live[s] = true;
	switch (roll(m, 5)) {
	case 0:
		kind = roll(m, 2) ? KTR_MAP_ANONYMOUS : KTR_MAP_STACK;
		like.kind = ANONYMOUS;
		break;
	case 1:
		kind = KTR_MAP_FILE_PRIVATE;
		like.kind = PRIVATE;
		break;
	case 2:
		kind = KTR_MAP_FILE_SHARED;
		like.kind = SHARED;
		break;
	case 3:
		/* what is mapped already is left as it is */
		like = (struct cell){ .kind = ANONYMOUS };
		for (uint32_t v = from; v < to; v++)
			if (m->cell[s][v].kind == NOTHING)
				fill(m, s, v, v + 1, like);
		SEND(sink, KTR_BRK, s + 1, address(from) - roll(m, 4096),
		     address(to) - roll(m, 4096));
		return;
	default:
		like = (struct cell){ .kind = SEGMENT, .inode = roll(m, INODES) };
		fill(m, s, from, to, like);
		SEND(sink, KTR_SHM_ATTACH, s + 1, address(from), address(to), like.inode,
		     like.inode);
		return;
	}
	fill(m, s, from, to, like);
	SEND(sink, KTR_MAP, s + 1, address(from), address(to), 3, kind, like.device, like.inode,
	     (uint64_t)like.page);
}

static void do_unmap(struct model *m, struct lpl_sink *sink, uint32_t s)
{
	uint32_t from, to;

	random_range(m, &from, &to);
	if (roll(m, 4) == 0) {
		model_detach(m, s, from);
		SEND(sink, KTR_SHM_DETACH, s + 1, address(from));
	} else {
		clear(m, s, from, to);
		SEND(sink, KTR_UNMAP, s + 1, address(from), address(to));
	}
}

static void do_remap(struct model *m, struct lpl_sink *sink, uint32_t s)
{
	uint32_t old, old_end, new, new_end;

	random_range(m, &old, &old_end);
	random_range(m, &new, &new_end);
	if (roll(m, 3) == 0) {
		new = old;
		new_end = new + 1 + roll(m, PAGES - new);
	}
	model_remap(m, s, old, old_end, new, new_end);
	SEND(sink, KTR_REMAP, s + 1, address(old), address(old_end), address(new),
	     address(new_end));
}

static void do_own(struct model *m, struct lpl_sink *sink, uint32_t s)
{
	uint32_t from, to;

	random_range(m, &from, &to);
	if (roll(m, 2) == 0) {
		model_discard(m, s, from, to);
		SEND(sink, KTR_DISCARD, s + 1, address(from), address(to));
	} else {
		model_own(m, s, from, to);
		SEND(sink, KTR_PAGE_OWN, s + 1, address(from) + roll(m, 4096), 77, to - from);
	}
}

/* What was in the frame is there no more, unless it comes again. */
static void model_uncache(struct model *m, const struct frame *frame, const struct frame *next)
{
	if (frame->held && (next == NULL || frame->device != next->device ||
			    frame->inode != next->inode || frame->page != next->page))
		m->uncached += m->of_file[frame->device][frame->inode - 1][frame->page];
}

static void do_cache(struct model *m, struct lpl_sink *sink)
{
	uint32_t first = roll(m, FRAMES), count = 1 + roll(m, roll(m, 2) ? FRAMES - first : 1);
	struct frame like = { .held = true, .aliased = roll(m, 5) != 0,
			      .device = roll(m, DEVICES), .inode = 1 + roll(m, INODES),
			      .page = (int32_t)roll(m, 8) };

	if (roll(m, 2) && m->frame[first].held) {
		like = m->frame[first];
		for (uint32_t i = 0; i < count; i++) {
			struct frame *frame = &m->frame[first + i];

			if (frame->held && frame->device == like.device &&
			    frame->inode == like.inode && frame->page == like.page + (int32_t)i) {
				model_uncache(m, frame, NULL);
				*frame = (struct frame){ 0 };
			}
		}
		SEND(sink, KTR_CACHE_REMOVE, like.device, like.inode, (uint64_t)like.page,
		     first + 100, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct frame next = like;

		next.page += (int32_t)i;
		model_uncache(m, &m->frame[first + i], &next);
		m->frame[first + i] = next;
	}
	SEND(sink, KTR_CACHE_ADD, like.device, like.inode, (uint64_t)like.page, first + 100,
	     count, like.aliased ? (KERNEL_PAGE + first) << SHIFT : KTR_NONE);
}

static void do_reference(struct model *m, struct lpl_sink *sink, const struct answer *answer)
{
	struct lpl_ref ref = { .type = roll(m, 3), .space = 1 + roll(m, SPACES),
			       .flags = roll(m, 2) };
	enum lpl_page_kind kind;
	uint32_t v = roll(m, PAGES), f = roll(m, FRAMES);
	const struct frame *frame = &m->frame[f];
	uint64_t page;

	switch (roll(m, 8)) {
	case 0:
		ref.type = roll(m, 2) ? LPL_WALK_READ : LPL_WALK_WRITE;
		ref.address = (uint64_t)(f + 100) << SHIFT;
		kind = LPL_PAGE_PHYSICAL;
		page = number(m, &m->of_physical[f]);
		break;
	case 1:
		ref.address = (KERNEL_PAGE + f) << SHIFT;
		if (frame->held && frame->aliased) {
			kind = LPL_PAGE_CACHE;
			page = number(m, &m->of_file[frame->device][frame->inode - 1]
						    [frame->page]);
		} else {
			kind = LPL_PAGE_KERNEL;
			page = number(m, &m->of_kernel[f]);
		}
		break;
	default:
		if (roll(m, 2) == 0) {
			ref.space = m->space + 1;
			v = m->page;
		}
		ref.address = address(v);
		page = model_user(m, (uint32_t)ref.space - 1, v, ref.type == LPL_WRITE, &kind);
		break;
	}
	ref.address += roll(m, 1 << SHIFT);
	assert_int_equal(sink->refs(sink, &ref, 1, NULL), LPL_OK);
	assert_int_equal(answer->kind, kind);
	assert_int_equal(answer->page, page);
}

static void do_event(struct model *m, struct lpl_sink *sink)
{
	uint32_t s = roll(m, SPACES), t = roll(m, SPACES), v = roll(m, PAGES);
	uint64_t new_frame = 1 + roll(m, 2);

	m->space = s;
	switch (roll(m, 14)) {
	case 0:
	case 1:
	case 2:
		do_map(m, sink, s);
		break;
	case 3:
		do_unmap(m, sink, s);
		break;
	case 4:
	case 6:
		do_remap(m, sink, s);
		break;
	case 5:
		model_duplicate(m, s, t);
		SEND(sink, KTR_SPACE_DUPLICATE, s + 1, t + 1);
		break;
	case 7:
		if (roll(m, 2) == 0) {
			clear(m, s, 0, PAGES);
			m->live[s] = false;
			SEND(sink, KTR_SPACE_END, s + 1);
		}
		break;
	case 8:
	case 9:
		model_cow(m, s, v, new_frame == 1);
		SEND(sink, KTR_COW_BREAK, s + 1, address(v) + roll(m, 4096), 1, new_frame);
		break;
	case 10:
	case 11:
		do_own(m, sink, s);
		break;
	default:
		do_cache(m, sink);
		break;
	}
}

/* A page is there as long as any cell has it. */
static void check_leaves(const struct model *m, const struct answer *answer)
{
	bool here[NUMBERS] = { false };

	for (uint32_t s = 0; s < SPACES; s++) {
		for (uint32_t v = 0; v < PAGES; v++) {
			here[m->of_token[m->cell[s][v].token]] = true;
			here[m->stray[s][v]] = true;
		}
	}
	here[0] = false;
	assert_memory_equal(here, answer->here, sizeof(here));
	assert_int_equal(answer->uncached, m->uncached);
}

/* One run of `steps`, of which one in `quiet` is an event. */
static void run(uint64_t seed, uint32_t steps, uint32_t quiet)
{
	struct model *m = calloc(1, sizeof(*m));
	struct answer answer = { .output = { .reference = keep, .finish = end,
					     .leave = leave } };
	struct lpl_merge *merge;
	struct lpl_sink *sink;

	assert_non_null(m);
	m->state = seed;
	assert_int_equal(lpl_merge_open(&merge, &answer.output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	for (uint32_t i = 0; i < steps; i++) {
		if (roll(m, quiet) == 0)
			do_event(m, sink);
		else
			do_reference(m, sink, &answer);
		check_leaves(m, &answer);
	}
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	lpl_merge_close(merge);
	free(m);
}

static void agrees_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		run(seed, 1000, 2);
		run(seed + 1000, 1000, 5);
		run(seed + 2000, 1000, 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_the_model) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
