/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oracle of oracle_regret.h. */
#include "oracle_regret.h"

#include <stdlib.h>
#include <string.h>

#include <laplace/regret.h>

static bool names(const struct log_line *line, uint32_t page)
{
	for (size_t i = 0; i < line->pages; i++)
		if (line->page[i] == page)
			return true;
	return false;
}

/* The page leaves the page cache at this line: does it end there? */
static bool ends_by_leaving(const struct regret_log *log, size_t line, uint32_t page)
{
	for (size_t i = line + 1; i < log->lines; i++) {
		if (log->line[i].is == DEED_CUT)
			return true;
		if (names(&log->line[i], page))
			return log->line[i].is != DEED_RECLAIM && log->line[i].is != DEED_KEEP;
	}
	return true;
}

/* Is the page another one from the line after this on?  A cut is looked for apart. */
static bool ends_at(const struct regret_log *log, size_t line, uint32_t page)
{
	const struct log_line *at = &log->line[line];

	if (!names(at, page))
		return false;
	return at->is == DEED_END || (at->is == DEED_LEAVE && ends_by_leaving(log, line, page));
}

/* The line of its next use in the same life; log->lines: there is none, and *outcome says why. */
static size_t next_use(const struct regret_log *log, size_t line, uint32_t page, int *outcome)
{
	for (size_t i = line + 1; i < log->lines; i++) {
		if (log->line[i].is == DEED_USE && names(&log->line[i], page)) {
			*outcome = LPL_REGRET_USED;
			return i;
		}
		if (ends_at(log, i, page) || log->line[i].is == DEED_CUT) {
			*outcome = log->line[i].is == DEED_CUT ? LPL_REGRET_CUT : LPL_REGRET_ENDED;
			return log->lines;
		}
	}
	*outcome = LPL_REGRET_NEVER;
	return log->lines;
}

static uint64_t last_use(const struct regret_log *log, size_t line, uint32_t page)
{
	for (size_t i = line; i-- > 0;) {
		if (log->line[i].is == DEED_USE && names(&log->line[i], page))
			return log->line[i].ref;
		if (ends_at(log, i, page) || log->line[i].is == DEED_CUT)
			return 0;
	}
	return 0;
}

/* May the page be evicted, as far as is known at this line? */
static bool counts(const struct regret_log *log, size_t line, uint32_t page)
{
	if (log->device[page] == 0)
		return true;
	for (size_t i = 0; i <= line; i++)
		if (log->line[i].is == DEED_TAKES && log->line[i].device == log->device[page])
			return true;
	return false;
}

/* What is resident right after this line, when log->resident was so before it. */
static void step(struct regret_log *log, size_t line)
{
	const struct log_line *at = &log->line[line];

	if (at->is == DEED_CUT && at->forget)
		memset(log->resident, 0, sizeof(log->resident));
	for (size_t i = 0; i < at->pages; i++)
		log->resident[at->page[i]] = at->is == DEED_USE || at->is == DEED_ENTER ||
					     at->is == DEED_BRING || at->is == DEED_KEEP;
}

/* Is the page in memory before this line, where it is in swap's cache, or to be reclaimed, too? */
static bool has_frame(const struct regret_log *log, size_t line, uint32_t page)
{
	for (size_t i = line; i-- > 0;) {
		const enum deed is = log->line[i].is;

		if (is == DEED_CUT && log->line[i].forget)
			return false;
		if (names(&log->line[i], page))
			return is == DEED_USE || is == DEED_ENTER || is == DEED_BRING || is == DEED_KEEP;
	}
	return false;
}

static bool is_brought(const struct regret_log *log, size_t line, uint32_t page)
{
	return log->line[line].is == DEED_BRING && names(&log->line[line], page) &&
	       !has_frame(log, line, page) && counts(log, line, page);
}

/* Was it brought before this line, and neither used nor another page since? */
static bool is_unused(const struct regret_log *log, size_t line, uint32_t page)
{
	for (size_t i = line; i-- > 0;) {
		if (is_brought(log, i, page))
			return true;
		if (log->line[i].is == DEED_CUT || ends_at(log, i, page) ||
		    (names(&log->line[i], page) &&
		     (log->line[i].is == DEED_USE || log->line[i].is == DEED_RECLAIM)))
			return false;
	}
	return false;
}

static void look_at(struct regret_log *log, struct regret_answer *answer)
{
	const size_t line = answer->line;
	size_t latest = 0;
	int outcome;
	const size_t next = next_use(log, line, answer->page, &outcome);

	answer->outcome = outcome;
	answer->evicted = log->line[line].ref;
	answer->last = last_use(log, line, answer->page);
	answer->unused = is_unused(log, line, answer->page);
	answer->next = next < log->lines ? log->line[next].ref : 0;
	for (uint32_t page = 0; page < log->pages; page++) {
		size_t use;

		if (!log->resident[page] || !counts(log, line, page))
			continue;
		answer->resident++;
		use = next_use(log, line, page, &outcome);
		if (next == log->lines || use <= next)
			continue;
		answer->rank++;
		if (use > latest) {
			latest = use;
			answer->best = page;
			answer->best_next = use < log->lines ? log->line[use].ref : 0;
		}
	}
	/* back: it is mentioned as one that is there, before it ends */
	for (size_t i = line + 1; i < log->lines; i++) {
		const struct log_line *at = &log->line[i];

		if (at->is == DEED_CUT || (names(at, answer->page) && at->is == DEED_END))
			break;
		if (names(at, answer->page) && at->is != DEED_LEAVE) {
			answer->is_back = true;
			break;
		}
	}
}

struct regret_answer *regret_oracle(struct regret_log *log, size_t *count)
{
	struct regret_answer *answer = calloc(LOG_LINES, sizeof(*answer));

	*count = 0;
	log->brought = 0;
	memset(log->resident, 0, sizeof(log->resident));
	for (size_t line = 0; line < log->lines && answer; line++) {
		for (size_t i = 0; i < log->line[line].pages; i++)
			log->brought += is_brought(log, line, log->line[line].page[i]);
		step(log, line);
		for (size_t i = 0; i < log->line[line].pages && log->line[line].is == DEED_RECLAIM; i++) {
			answer[*count] = (struct regret_answer){ .line = line,
								 .page = log->line[line].page[i] };
			look_at(log, &answer[(*count)++]);
		}
	}
	return answer;
}

/* ---- OPT ---- */

static size_t room(const struct regret_log *log, size_t line)
{
	size_t resident = 0;

	for (uint32_t page = 0; page < log->pages; page++)
		resident += log->resident[page] && counts(log, line, page);
	return resident;
}

/* Nothing is known any more of what OPT holds of a page, but that it is there, or not. */
static void begin_anew(struct regret_log *log, uint32_t page, bool is_there)
{
	log->anchored[page] = log->held[page] = is_there;
}

/* Was it in the page cache when it left, and was reclaimed afterwards?  Then it is there still. */
static bool is_leaving(const struct regret_log *log, size_t line, uint32_t page)
{
	for (size_t i = line; i-- > 0;)
		if (names(&log->line[i], page))
			return log->line[i].is == DEED_LEAVE && !ends_by_leaving(log, i, page);
	return false;
}

static void drop_furthest(struct regret_log *log, size_t line)
{
	uint32_t furthest = 0;
	size_t latest = 0;

	for (uint32_t page = 0; page < log->pages; page++) {
		int outcome;
		size_t use;

		if (!log->held[page] || !counts(log, line, page))
			continue;
		use = next_use(log, line, page, &outcome) + 1;
		if (use > latest) {
			latest = use;
			furthest = page;
		}
	}
	log->held[furthest] = false;
}

static void at_moment(struct regret_log *log, size_t line)
{
	size_t held = 0;

	for (uint32_t page = 0; page < log->pages; page++)
		held += log->held[page] && counts(log, line, page);
	for (const size_t most = room(log, line); held > most; held--)
		drop_furthest(log, line);
}

uint64_t regret_oracle_belady(struct regret_log *log)
{
	uint64_t reads = 0;

	memset(log->resident, 0, sizeof(log->resident));
	memset(log->held, 0, sizeof(log->held));
	memset(log->anchored, 0, sizeof(log->anchored));
	for (size_t line = 0; line < log->lines; line++) {
		const struct log_line *at = &log->line[line];

		step(log, line);
		if (at->is == DEED_CUT)
			for (uint32_t page = 0; page < log->pages; page++)
				begin_anew(log, page, log->resident[page]);
		for (uint32_t page = 0; page < log->pages && at->is == DEED_TAKES; page++)
			if (log->device[page] == at->device)
				begin_anew(log, page, log->resident[page] ||
						      is_leaving(log, line, page));
		for (size_t i = 0; i < at->pages; i++) {
			const uint32_t page = at->page[i];

			if (ends_at(log, line, page)) {
				begin_anew(log, page, false);
			} else if (!log->anchored[page]) {
				begin_anew(log, page, true);
			} else if (at->is == DEED_USE && !log->held[page]) {
				reads += counts(log, line, page);
				log->held[page] = true;
			}
		}
		if (at->is == DEED_RECLAIM)
			at_moment(log, line);
	}
	return reads;
}

/* ---- all choices ---- */

#define MOST_INTERVALS 14

struct interval {
	size_t first, last;	/* lines of moments, between which it is */
};

/* Successive uses (or where the page came first) with moments between them. */
static size_t find_intervals(struct regret_log *log, struct interval *interval)
{
	size_t count = 0;

	for (uint32_t page = 0; page < log->pages; page++) {
		size_t begun = SIZE_MAX;

		for (size_t line = 0; line < log->lines; line++) {
			const struct log_line *at = &log->line[line];
			bool moment = false;

			if (at->is == DEED_CUT || (at->is == DEED_TAKES && log->device[page]))
				return SIZE_MAX;
			if (!names(at, page))
				continue;
			if (ends_at(log, line, page)) {
				begun = SIZE_MAX;
				continue;
			}
			if (begun == SIZE_MAX)
				begun = line;
			if (at->is != DEED_USE)
				continue;
			for (size_t i = begun; i < line; i++)
				moment |= log->line[i].is == DEED_RECLAIM;
			if (moment && counts(log, line, page)) {
				if (count == MOST_INTERVALS)
					return SIZE_MAX;
				interval[count++] = (struct interval){ begun, line };
			}
			begun = line;
		}
	}
	return count;
}

uint64_t regret_oracle_exhaustive(struct regret_log *log)
{
	struct interval interval[MOST_INTERVALS];
	const size_t count = find_intervals(log, interval);
	unsigned int allowed = 0, most = 0;
	bool *fits;

	if (count == SIZE_MAX)
		return UINT64_MAX;
	fits = malloc(sizeof(*fits) << count);
	if (!fits)
		return UINT64_MAX;
	memset(fits, true, sizeof(*fits) << count);
	memset(log->resident, 0, sizeof(log->resident));
	for (size_t line = 0; line < log->lines; line++) {
		size_t most_held;

		step(log, line);
		if (log->line[line].is != DEED_RECLAIM)
			continue;
		most_held = room(log, line);
		for (size_t choice = 0; choice < (size_t)1 << count; choice++) {
			size_t held = 0;

			for (size_t i = 0; i < count; i++)
				held += (choice >> i & 1) && interval[i].first <= line &&
					line < interval[i].last;
			fits[choice] &= held <= most_held;
		}
	}
	for (size_t choice = 0; choice < (size_t)1 << count; choice++) {
		allowed = (unsigned int)__builtin_popcountll(choice);
		if (fits[choice] && allowed > most)
			most = allowed;
	}
	free(fits);
	return count - most;
}
