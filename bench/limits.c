/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limits TRACE SIZE: what this machine takes at least for what a tracer and a simulator cannot do without.
 *
 * TRACE has page references of canonical pages, reduced by `block`.  They are put into memory as numbers of four bytes,
 * dense from 0.  Prints a line for each limit,
 *
 *	what		nanoseconds of processor time for each, the least of the rounds
 *
 *	store	a word of eight bytes is stored in a ring of 1 MiB, in order: what a tracer does for a reference
 *	load	a page's number is read from memory, in order
 *	stamp	and its time of last use is stored, in a table
 *	lru	and a list of SIZE pages is kept in order of use, and misses are counted: all of LRU but what a trace is
 *
 * and what it came to, which is for `lru` how many misses there were.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <laplace/trace.h>

enum { ROUNDS = 5, RING = 1 << 17, PAGE_SHIFT = 12 };

struct pages {
	uint32_t *number;	/* of each reference */
	size_t count;
	uint32_t distinct;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *why)
{
	fprintf(stderr, "limits: %s\n", why);
	exit(1);
}

static void *must(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

/* ---- pages ---- */

/* Their numbers by open addressing: key is a page and 1 more, 0 where there is none. */
struct table {
	uint64_t *key;
	uint32_t *number;
	size_t mask;
	uint32_t used;
};

static void grow(struct table *table)
{
	const struct table old = *table;

	table->mask = old.key ? 2 * old.mask + 1 : 0xffff;
	table->key = must(calloc(table->mask + 1, sizeof(*table->key)));
	table->number = must(calloc(table->mask + 1, sizeof(*table->number)));
	for (size_t i = 0; old.key && i <= old.mask; i++) {
		size_t at = (old.key[i] * 0x9e3779b97f4a7c15) >> 32 & table->mask;

		if (!old.key[i])
			continue;
		while (table->key[at])
			at = (at + 1) & table->mask;
		table->key[at] = old.key[i];
		table->number[at] = old.number[i];
	}
	free(old.key);
	free(old.number);
}

static uint32_t number_of(struct table *table, uint64_t page)
{
	const uint64_t key = page + 1;
	size_t at = (key * 0x9e3779b97f4a7c15) >> 32 & table->mask;

	while (table->key[at] && table->key[at] != key)
		at = (at + 1) & table->mask;
	if (table->key[at])
		return table->number[at];
	if (2 * (size_t)table->used > table->mask) {
		grow(table);
		return number_of(table, page);
	}
	table->key[at] = key;
	table->number[at] = table->used;
	return table->used++;
}

static void load(struct pages *pages, const char *path)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	struct lpl_reader *reader;
	const struct lpl_ref *refs;
	struct table table = { 0 };
	uint32_t space = 0;
	size_t room = 0, count;

	grow(&table);
	if (lpl_reader_open(&reader, path, &report))
		die(report.text);
	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			die(report.text);
		if (pages->count + count > room) {
			room = 2 * room + count;
			pages->number = must(realloc(pages->number, room * sizeof(*pages->number)));
		}
		if (count > 0 && pages->count == 0)
			space = refs[0].space;
		for (size_t i = 0; i < count; i++) {
			if (refs[i].space != space)
				die("the trace has several address spaces: it is not one of canonical pages");
			pages->number[pages->count++] = number_of(&table, refs[i].address >> PAGE_SHIFT);
		}
	} while (count > 0 || event);
	lpl_reader_close(reader);
	pages->distinct = table.used;
	free(table.key);
	free(table.number);
}

/* ---- limits ---- */

/* Each does its work once and returns something that depends on all of it, or a compiler would leave it out. */

static uint64_t store(const struct pages *pages, uint32_t size)
{
	static uint64_t volatile ring[RING];

	(void)size;
	for (size_t i = 0; i < pages->count; i++)
		ring[i % RING] = i;
	return ring[0];
}

static uint64_t add_up(const struct pages *pages, uint32_t size)
{
	uint64_t sum = 0;

	(void)size;
	for (size_t i = 0; i < pages->count; i++)
		sum += pages->number[i];
	return sum;
}

static uint64_t stamp(const struct pages *pages, uint32_t size)
{
	uint64_t *last = must(calloc(pages->distinct, sizeof(*last))), sum = 0;

	(void)size;
	for (size_t i = 0; i < pages->count; i++)
		last[pages->number[i]] = i;
	for (uint32_t page = 0; page < pages->distinct; page++)
		sum += last[page];
	free(last);
	return sum;
}

/* A ring of pages in order of use, through the head, which is the number after the last page's. */
struct link {
	uint32_t older, newer;
	bool resident;
};

static void take_out(struct link *link, uint32_t page)
{
	link[link[page].older].newer = link[page].newer;
	link[link[page].newer].older = link[page].older;
}

static uint64_t lru(const struct pages *pages, uint32_t size)
{
	struct link *link = must(calloc((size_t)pages->distinct + 1, sizeof(*link)));
	const uint32_t head = pages->distinct;
	uint64_t misses = 0;

	link[head] = (struct link){ .older = head, .newer = head };
	for (size_t i = 0; i < pages->count; i++) {
		const uint32_t page = pages->number[i], newest = link[head].older;

		if (page == newest)
			continue;
		if (link[page].resident) {
			take_out(link, page);
		} else if (misses++ >= size) {
			const uint32_t oldest = link[head].newer;

			take_out(link, oldest);
			link[oldest].resident = false;
		}
		link[page] = (struct link){ .older = link[head].older, .newer = head, .resident = true };
		link[link[page].older].newer = page;
		link[head].older = page;
	}
	free(link);
	return misses;
}

static const struct work {
	const char *what;
	uint64_t (*run)(const struct pages *pages, uint32_t size);
} works[] = { { "store", store }, { "load", add_up }, { "stamp", stamp }, { "lru", lru } };
enum { WORKS = sizeof(works) / sizeof(works[0]) };

/* Round after round, so that what the machine does meanwhile with so much memory is the same for all. */
static void measure(const struct pages *pages, uint32_t size)
{
	double least[WORKS] = { 0 };
	uint64_t result[WORKS];

	for (int i = 0; i < ROUNDS * WORKS; i++) {
		const double begin = seconds();

		result[i % WORKS] = works[i % WORKS].run(pages, size);
		const double taken = seconds() - begin;

		if (i < WORKS || taken < least[i % WORKS])
			least[i % WORKS] = taken;
	}
	for (int i = 0; i < WORKS; i++)
		printf("%s %.4f\nresult of %s %" PRIu64 "\n", works[i].what, least[i] / (double)pages->count * 1e9,
		       works[i].what, result[i]);
}

int main(int argc, char **argv)
{
	struct pages pages = { 0 };
	unsigned long size;
	char *end;

	if (argc != 3 || (size = strtoul(argv[2], &end, 10)) == 0 || *end != '\0' || size > UINT32_MAX) {
		fputs("usage: limits TRACE SIZE\n", stderr);
		return 2;
	}
	load(&pages, argv[1]);
	if (pages.count == 0)
		die("the trace has no references");
	printf("references %zu\npages %" PRIu32 "\n", pages.count, pages.distinct);
	measure(&pages, (uint32_t)size);
	free(pages.number);
	return 0;
}
