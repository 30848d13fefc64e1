/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` against its definitions (docs/report.md, "Physical memory"), by brute force:
 * what forks do to frames, and how far pages lie in memory as in their spaces.
 *
 * Spaces use pages, move them, fork and end at random.  A log has what each did, under a number that is never
 * used again, and every answer is found by going through all of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <laplace/survey.h>

#define NUMBERS 5		/* of spaces at once */
#define PAGES 40		/* in two regions of 2 MB */
#define LINES 600
#define FIRST UINT64_C(492)	/* their first page */

struct line {
	enum { USE, FORK, END } is;
	int space, child;	/* numbers that are never used again */
	unsigned int page;
	uint64_t frame;
};

struct trial {
	struct line line[2 * LINES + NUMBERS];
	size_t lines;
	int space[NUMBERS], spaces;		/* which has the number; -1: none */
	uint64_t frame[NUMBERS][PAGES];		/* as the processor has it; 0: not mapped */
	uint64_t reported[NUMBERS][PAGES];	/* as the trace has it */
	uint64_t new_frame, state, clock;
	struct lpl_survey *survey;
	struct lpl_sink *sink;
};

static uint32_t roll(struct trial *trial, uint32_t below)
{
	trial->state = trial->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((trial->state >> 33) % below);
}

/* ---- the guest ---- */

static void send(struct trial *trial, uint32_t tag, uint64_t space, const uint64_t arg[4])
{
	struct lpl_event event = { .tag = tag, .ref = trial->clock, .cycle = trial->clock, .space = space };

	memcpy(event.arg, arg, 4 * sizeof(*arg));
	assert_int_equal(trial->sink->event(trial->sink, &event, NULL), LPL_OK);
}

static void write_down(struct trial *trial, struct line line)
{
	assert_true(trial->lines < sizeof(trial->line) / sizeof(trial->line[0]));
	trial->line[trial->lines++] = line;
}

static int space_of(struct trial *trial, unsigned int number)
{
	if (trial->space[number] < 0)
		trial->space[number] = trial->spaces++;
	return trial->space[number];
}

/* Often where a large page would have it, or next to the page before, so that there is something to be counted. */
static uint64_t choose_frame(struct trial *trial, unsigned int number, unsigned int page)
{
	switch (roll(trial, 4)) {
	case 0:
		return ++trial->new_frame;
	case 1:
		if (page > 0 && trial->frame[number][page - 1])
			return trial->frame[number][page - 1] + 1;
		/* fall through */
	default:
		return (1 + number) * 4096 + FIRST + page;
	}
}

static void use(struct trial *trial, unsigned int number, unsigned int page)
{
	const uint64_t address = (FIRST + page) << LPL_PAGE_SHIFT;
	const struct lpl_ref ref = {
		.ref = ++trial->clock, .cycle = trial->clock, .type = (uint8_t)roll(trial, 3), .length = 1,
		.space = number + 1, .address = address
	};
	uint64_t *frame = &trial->frame[number][page];

	if (*frame == 0)
		*frame = choose_frame(trial, number, page);
	if (trial->reported[number][page] != *frame)
		send(trial, LPL_EVENT_RETRANSLATION, number + 1,
		     (const uint64_t[]){ address, *frame, LPL_PAGE_SHIFT, 0 });
	trial->reported[number][page] = *frame;
	assert_int_equal(trial->sink->refs(trial->sink, &ref, 1, NULL), LPL_OK);
	write_down(trial, (struct line){ USE, space_of(trial, number), 0, page, *frame });
}

static void end(struct trial *trial, unsigned int number)
{
	if (trial->space[number] >= 0)
		write_down(trial, (struct line){ .is = END, .space = trial->space[number] });
	trial->space[number] = -1;
	memset(trial->frame[number], 0, sizeof(trial->frame[number]));
}

static void fork_space(struct trial *trial, unsigned int parent, unsigned int child)
{
	end(trial, child);
	memcpy(trial->frame[child], trial->frame[parent], sizeof(trial->frame[child]));
	send(trial, KTR_SPACE_DUPLICATE, parent + 1, (const uint64_t[]){ parent + 1, child + 1, 0, 0 });
	write_down(trial, (struct line){ FORK, space_of(trial, parent), space_of(trial, child), 0, 0 });
}

static void step(struct trial *trial)
{
	const unsigned int number = roll(trial, NUMBERS), other = roll(trial, NUMBERS);
	const unsigned int page = roll(trial, roll(trial, 2) ? 4 : PAGES);

	switch (roll(trial, 40)) {
	case 0:
		if (number != other)
			fork_space(trial, number, other);
		break;
	case 1:
		send(trial, KTR_SPACE_END, number + 1, (const uint64_t[]){ number + 1, 0, 0, 0 });
		end(trial, number);
		break;
	case 2: case 3: case 4:
		if (trial->frame[number][page])
			trial->frame[number][page] = choose_frame(trial, number, page);
		break;
	default:
		use(trial, number, page);
	}
}

/* ---- forks, by definition ---- */

/* The frame of the last use of a page in a space before a line; 0: none. */
static uint64_t frame_before(const struct trial *trial, int space, unsigned int page, size_t before)
{
	while (before-- > 0) {
		const struct line *line = &trial->line[before];

		if (line->is == USE && line->space == space && line->page == page)
			return line->frame;
	}
	return 0;
}

/* Is it one of the last four frames in which the space had the page? */
static bool had(const struct trial *trial, int space, unsigned int page, uint64_t frame, size_t before)
{
	uint64_t last = 0;
	int frames = 0;

	while (before-- > 0 && frames <= 4) {
		const struct line *line = &trial->line[before];

		if (line->is != USE || line->space != space || line->page != page)
			continue;
		frames += line->frame != last;
		last = line->frame;
		if (frames <= 4 && last == frame)
			return true;
	}
	return false;
}

static void count_child(const struct trial *trial, size_t fork, unsigned int page,
			struct lpl_survey_forks *forks)
{
	const int child = trial->line[fork].child, parent = trial->line[fork].space;
	uint64_t first = 0;
	bool copied = false;

	for (size_t i = fork; i < trial->lines; i++) {
		const struct line *line = &trial->line[i];

		if (line->is != USE || line->space != child || line->page != page)
			continue;
		if (first == 0) {
			first = line->frame;
			copied = !had(trial, parent, page, first, i);
		}
		copied |= line->frame != first;
	}
	forks->kept += first != 0 && !copied;
	forks->copied += copied;
}

/* Before it forks again. */
static bool parent_left(const struct trial *trial, size_t fork, unsigned int page)
{
	const int parent = trial->line[fork].space;

	for (size_t i = fork + 1; i < trial->lines; i++) {
		const struct line *line = &trial->line[i];

		if (line->space != parent)
			continue;
		if (line->is == FORK)
			return false;
		if (line->is == USE && line->page == page &&
		    line->frame != frame_before(trial, parent, page, i))
			return true;
	}
	return false;
}

static void check_forks(const struct trial *trial)
{
	struct lpl_survey_forks forks = { .count = 0 };
	uint64_t moved = 0;

	for (size_t i = 0; i < trial->lines; i++) {
		const struct line *line = &trial->line[i];

		if (line->is == USE) {
			const uint64_t before = frame_before(trial, line->space, line->page, i);

			moved += before != 0 && before != line->frame;
		}
		if (line->is != FORK)
			continue;
		forks.count++;
		for (unsigned int page = 0; page < PAGES; page++) {
			if (!frame_before(trial, line->space, page, i))
				continue;
			forks.pages++;
			count_child(trial, i, page, &forks);
			forks.left_by_parents += parent_left(trial, i, page);
		}
	}
	assert_memory_equal(&trial->survey->frames->forks, &forks, sizeof(forks));
	assert_int_equal(trial->survey->frames->moved, moved);
}

/* ---- contiguity, by definition ---- */

static unsigned int class_of(unsigned int length)
{
	static const unsigned int least[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
	unsigned int class = 9;

	while (length < least[class])
		class--;
	return class;
}

static bool goes_on(const uint64_t frame[PAGES], int page)
{
	return page >= 0 && page + 1 < PAGES && frame[page] && frame[page + 1] == frame[page] + 1;
}

static void add_space(const struct trial *trial, int space, struct lpl_survey_contiguity *sum)
{
	uint64_t frame[PAGES];

	for (unsigned int page = 0; page < PAGES; page++)
		frame[page] = frame_before(trial, space, page, trial->lines);
	for (int page = 0; page < PAGES; page++) {
		unsigned int length = 1;

		for (int i = page; goes_on(frame, i); i++)
			length++;
		for (int i = page; goes_on(frame, i - 1); i--)
			length++;
		sum->pages[class_of(length)] += frame[page] != 0;
	}
	for (uint64_t region = 0; region < 2; region++) {
		uint64_t used = 0, large = UINT64_MAX;
		bool in_place = true;

		for (unsigned int page = 0; page < PAGES; page++) {
			if ((FIRST + page) / 512 != region || !frame[page])
				continue;
			used++;
			if (large == UINT64_MAX)
				large = frame[page] / 512;
			in_place &= frame[page] / 512 == large && frame[page] % 512 == (FIRST + page) % 512;
		}
		sum->regions += used != 0;
		sum->regions_in_place += used != 0 && in_place;
		sum->pages_in_place += in_place ? used : 0;
	}
}

static void check_contiguity(const struct trial *trial)
{
	struct lpl_survey_contiguity sum = { .regions = 0 };
	uint64_t by_run[LPL_SURVEY_RUNS] = { 0 }, frames = 0;
	static bool used[1 << 17];

	memset(used, 0, sizeof(used));
	for (int space = 0; space < trial->spaces; space++)
		add_space(trial, space, &sum);
	assert_memory_equal(&trial->survey->frames->contiguity, &sum, sizeof(sum));
	for (size_t i = 0; i < trial->lines; i++) {
		if (trial->line[i].is == USE)
			used[trial->line[i].frame] = true;
	}
	for (size_t frame = 1, length = 0; frame < sizeof(used); frame++) {
		length = used[frame] ? length + 1 : 0;
		frames += used[frame];
		if (used[frame] && (frame + 1 == sizeof(used) || !used[frame + 1]))
			by_run[class_of((unsigned int)length)] += length;
	}
	assert_int_equal(trial->survey->frames->all, frames);
	assert_memory_equal(trial->survey->frames->by_run, by_run, sizeof(by_run));
}

static void run(uint64_t seed)
{
	const struct lpl_survey_options options = { .frames = true };
	static struct trial trial;

	memset(&trial, 0, sizeof(trial));
	trial.state = seed;
	trial.new_frame = 1 << 16;
	for (int i = 0; i < NUMBERS; i++)
		trial.space[i] = -1;
	assert_int_equal(lpl_survey_open(&trial.survey, &options, NULL), LPL_OK);
	trial.sink = lpl_survey_sink(trial.survey);
	for (int i = 0; i < LINES; i++)
		step(&trial);
	assert_int_equal(trial.sink->finish(trial.sink, NULL), LPL_OK);
	print_message("# seed %d\n", (int)seed);
	check_forks(&trial);
	check_contiguity(&trial);
	lpl_survey_close(trial.survey);
}

static void is_as_defined(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(is_as_defined) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
