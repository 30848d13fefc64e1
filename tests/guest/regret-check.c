/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace cat --events --format sad TRACE | regret-check CSV
 *
 * What docs/reclaim.md defines, worked out anew from the text of a whole trace (regret-guest.h,
 * regret-tasks.h, regret-pages.h), and held against what `laplace regret --csv` says of each evicted page.
 * The sums and the worst (regret-worst.h) are printed, a line for each value, as `NAME VALUE`; NAME is the
 * way to the value in what `laplace regret --json` prints, with device, inode and generation for the place
 * of a file, and its number for that of a process.
 *
 * Nothing of liblaplace is used.  Traces that begin with a state are refused.
 *
 * Exit status: 0 the same, 1 they differ, 2 usage, or the text is not what it should be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regret-tasks.h"
#include "regret-worst.h"

#define NONE UINT64_MAX
#define SHOWN 10			/* differences */
#define LATELY 4096
#define LONGEST (UINT32_C(1) << 20)	/* text that is read at once */

static const char *const outcome_name[] = { "used", "ended", "never", "cut" };

/* What was referenced lately is found again without a search, until an event comes. */
struct lately {
	uint64_t space, at, write, changes;
	struct page *page;
};

struct check {
	struct guest guest;
	struct books *b;
	uint64_t line, changes, odd;
	struct lately lately[LATELY];
	unsigned char digit[256];	/* one more than its value; 255: it is none */
	char text[LONGEST + 1];
};

static void die(const struct check *c, const char *what, const char *line)
{
	fprintf(stderr, "regret-check: line %" PRIu64 ": %s: %s\n", c->line, what, line);
	exit(2);
}

/* ---- text ---- */

/* The number after a blank or a comma. */
static uint64_t field(const struct check *c, const char **at, unsigned int base, const char *line)
{
	const char *from = *at + 1, *to = from;
	uint64_t value = 0;
	unsigned int digit;

	if (**at != ' ' && **at != ',')
		die(c, "not a record", line);
	while ((digit = c->digit[(unsigned char)*to]) <= base) {
		value = value * base + digit - 1;
		to++;
	}
	if (to == from)
		die(c, "not a number", line);
	*at = to;
	return value;
}

static void take_clocks(struct check *c, const char **at, const char *line)
{
	c->b->now.cycle = field(c, at, 16, line);
	if (c->line == 1)
		c->b->first_cycle = c->b->now.cycle;
	c->b->now.instr = field(c, at, 16, line);
	c->b->now.ref = field(c, at, 16, line);
}

static void take_event(struct check *c, const char *line)
{
	struct event e = { .tid = 0 };
	const char *at = line + 2, *wrong;
	size_t length = strcspn(at, " ");

	if (length >= sizeof(e.name))
		die(c, "not a name", line);
	memcpy(e.name, at, length);
	at += length;
	take_clocks(c, &at, line);
	e.space = field(c, &at, 16, line);
	e.tid = field(c, &at, 10, line);
	e.tgid = field(c, &at, 10, line);
	for (int i = 0; i < 12; i++)
		e.a[i] = field(c, &at, 16, line);
	if (*at++ != ' ')
		die(c, "no text", line);
	e.text = at;
	c->changes++;
	if (event_is_odd(&e)) {
		c->odd++;
		return;
	}
	task_event(c->b, &e);
	wrong = guest_event(&c->guest, &e);
	if (wrong != NULL)
		die(c, wrong, line);
}

static void take_line(struct check *c, const char *line)
{
	const char *at = line + 1;
	const uint64_t write = line[0] == 'w';
	uint64_t in, where;
	struct lately *l;

	c->line++;
	if (line[0] == 'E') {
		take_event(c, line);
		return;
	}
	if (line[0] == '\0' || strchr("rwipq", line[0]) == NULL)
		die(c, "not a record", line);
	take_clocks(c, &at, line);
	if (line[0] == 'p' || line[0] == 'q')
		return;
	in = field(c, &at, 16, line);
	where = field(c, &at, 16, line);
	l = &c->lately[(where ^ where >> 12 ^ in << 5) % LATELY];
	if (l->changes != c->changes || l->at != where || l->space != in || l->write != write)
		*l = (struct lately){ in, where, write, c->changes, guest_page(&c->guest, in, where, write) };
	if (l->page != NULL)
		use(c->b, l->page);
}

static void take_text(struct check *c)
{
	size_t kept = 0;
	ssize_t got;

	while ((got = read(STDIN_FILENO, c->text + kept, LONGEST - kept)) != 0) {
		char *from = c->text, *newline;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die(c, "cannot be read", strerror(errno));
		kept += (size_t)got;
		while ((newline = memchr(from, '\n', kept - (size_t)(from - c->text))) != NULL) {
			*newline = '\0';
			take_line(c, from);
			from = newline + 1;
		}
		kept -= (size_t)(from - c->text);
		memmove(c->text, from, kept);
	}
	if (kept > 0 || c->line == 0)
		die(c, "the last line is cut off, or too long", "");
}

/* ---- what came of it ---- */

static void write_clocks(FILE *out, const struct clocks *c)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c->ref, c->instr, c->cycle);
}

/* There was such a use. */
static void write_use(FILE *out, const struct clocks *c)
{
	if (c->ref == 0)
		fputs(",,,", out);
	else
		write_clocks(out, c);
}

/* In quotes where it has to be. */
static void write_cell(FILE *out, const char *text)
{
	if (text == NULL)
		return;
	if (strpbrk(text, ",\"") == NULL) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text != '\0'; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

/* A line of `laplace regret --csv`. */
static void write_line(const struct books *b, char *line, size_t size, uint32_t number)
{
	FILE *out = fmemopen(line, size, "w");
	const struct eviction *e = &b->eviction[number];
	const struct page *p = e->page;
	const struct file *file = &b->file[p->file];
	const struct task *task = &b->task[e->task];

	fprintf(out, "%u,%u,%s,", number, e->moment, kind_name[e->kind]);
	if (p->file)
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,", file->device, file->inode & ~SEGMENT,
			file->generation, p->offset);
	else
		fprintf(out, ",,,,%" PRIu64 ",%" PRIu64 ",", p->space, p->virtual_page);
	write_cell(out, !p->file && p->process == 0 ? "kernel" : e->name);
	fprintf(out, ",%s,", outcome_name[e->outcome]);
	if (e->outcome == USED)
		fprintf(out, "%" PRIu64, e->rank);
	fprintf(out, ",%" PRIu64, e->resident);
	write_clocks(out, &e->at);
	write_use(out, &e->last);
	write_use(out, &e->next);
	fprintf(out, ",%d,%s,%" PRIu64 ",%" PRIu64 ",", e->back, reclaimer_name[e->reclaimer], task->tid, task->tgid);
	write_cell(out, e->by);
	fputc(',', out);
	if (e->dirty != NONE)
		fprintf(out, "%" PRIu64, e->dirty);
	fputc('\0', out);
	fclose(out);
}

static uint64_t compare(const struct check *c, const char *path)
{
	char line[4096], mine[4096];
	FILE *csv = fopen(path, "r");
	const uint32_t evictions = c->b->evictions;
	uint64_t different = 0, compared = 0;
	bool *seen = resized(NULL, evictions, sizeof(*seen));

	memset(seen, 0, evictions * sizeof(*seen));
	if (csv == NULL || fgets(line, sizeof(line), csv) == NULL)
		die(c, "cannot be read", path);
	while (fgets(line, sizeof(line), csv) != NULL) {
		uint64_t n = strtoull(line, NULL, 10);

		line[strcspn(line, "\n")] = '\0';
		mine[0] = '\0';
		if (n > 0 && n < evictions && !seen[n]) {
			seen[n] = true;
			write_line(c->b, mine, sizeof(mine), (uint32_t)n);
		}
		compared++;
		if (strcmp(line, mine) != 0 && different++ < SHOWN)
			fprintf(stderr, "laplace regret: %s\n          here: %s\n", line, mine);
	}
	fclose(csv);
	for (uint32_t i = 1; i < evictions; i++)
		if (!seen[i] && different++ < SHOWN) {
			write_line(c->b, mine, sizeof(mine), i);
			fprintf(stderr, "laplace regret: nothing\n          here: %s\n", mine);
		}
	free(seen);
	fprintf(stderr, "%" PRIu64 " evictions compared, %" PRIu64 " differ\n", compared, different);
	return different;
}

static void print_counts(const char *of, const struct counts *c, bool is_reclaimer)
{
	printf("%s.evicted %" PRIu64 "\n", of, c->evicted);
	for (int i = 0; i < OUTCOMES; i++)
		printf("%s.%s %" PRIu64 "\n", of, outcome_name[i], c->outcome[i]);
	printf("%s.better %" PRIu64 "\n%s.written %" PRIu64 "\n%s.read_back %" PRIu64 "\n", of, c->better, of, c->written, of,
	       c->back);
	printf("%s.unused %" PRIu64 "\n", of, c->unused);
	if (!is_reclaimer)
		printf("%s.optimal %" PRIu64 "\n%s.brought %" PRIu64 "\n", of, c->optimal, of, c->brought);
}

static void print_sums(const struct check *c)
{
	const struct guest *g = &c->guest;
	char name[100];
	const struct books *b = c->b;
	unsigned int distances = 65;

	printf("moments %u\nreclaimed %" PRIu64 "\nunknown %" PRIu64 "\ndropped %" PRIu64 "\nodd %" PRIu64
	       "\ncuts %" PRIu64 "\nmost_resident %" PRIu64 "\n",
	       b->moment, g->reclaimed, g->unknown, g->dropped, c->odd, b->shown_cuts, b->most_resident);
	print_counts("all", &b->all, false);
	for (int i = 0; i < KINDS; i++) {
		snprintf(name, sizeof(name), "by_kind.%s", kind_name[i]);
		print_counts(name, &b->by_kind[i], false);
	}
	for (int i = 0; i < RECLAIMERS; i++) {
		snprintf(name, sizeof(name), "by_reclaimer.%s", reclaimer_name[i]);
		print_counts(name, &b->by_reclaimer[i], true);
	}
	for (int i = 0; i < 12; i++)
		printf("by_rank.%d %" PRIu64 "\n", i, b->by_rank[i]);
	while (distances > 0 && b->by_distance[distances - 1] == 0)
		distances--;
	for (unsigned int i = 0; i < distances; i++)
		printf("by_distance.%u %" PRIu64 "\n", i, b->by_distance[i]);
	for (uint32_t i = 1; i < b->files; i++) {
		snprintf(name, sizeof(name), "files.%" PRIu64 ".%" PRIu64 ".%" PRIu64, b->file[i].device, b->file[i].inode & ~SEGMENT,
			 b->file[i].generation);
		if (!b->file[i].counts.evicted && !b->file[i].counts.optimal)
			continue;
		print_counts(name, &b->file[i].counts, false);
		printf("%s.kind \"%s\"\n", name, kind_name[b->file[i].kind]);
		print_text(name, ".name", b->file[i].name);
	}
	for (uint32_t i = 0; i < b->processes; i++) {
		const struct process *p = &b->process[i];

		if (!p->counts.evicted && !p->counts.optimal && !p->reclaimed && !p->missed)
			continue;
		snprintf(name, sizeof(name), "processes.%" PRIu64, p->number);
		print_counts(name, &p->counts, false);
		printf("%s.tgid %" PRIu64 "\n%s.reclaimed %" PRIu64 "\n%s.missed %" PRIu64 "\n", name, p->tgid, name,
		       p->reclaimed, name, p->missed);
		print_text(name, ".name", p->name);
	}
}

/* Intervals of a power of two of cycles, as short as 64 of them can be that have the whole trace. */
static void print_times(const struct books *b)
{
	struct counts interval[64] = { 0 };
	uint64_t shift = 0, last;
	char name[100];

	while ((b->now.cycle - b->first_cycle) >> shift >= 64)
		shift++;
	last = (b->now.cycle - b->first_cycle) >> shift;
	for (uint32_t i = 1; i < b->evictions; i++) {
		const struct eviction *e = &b->eviction[i];
		struct counts *of = &interval[(e->at.cycle - b->first_cycle) >> shift];

		of->evicted++;
		of->outcome[e->outcome]++;
		of->better += e->rank > 0;
		of->written += e->dirty == 1;
		of->back += e->back;
		of->unused += e->unused;
	}
	for (uint64_t i = 0; i < b->all.brought; i++)
		interval[(b->brought_at[i] - b->first_cycle) >> shift].brought++;
	for (uint64_t i = 0; i < b->all.optimal; i++)
		interval[(b->optimal_at[i] - b->first_cycle) >> shift].optimal++;
	printf("time.first_cycle %" PRIu64 "\ntime.cycles %" PRIu64 "\n", b->first_cycle, UINT64_C(1) << shift);
	for (uint64_t i = 0; i <= last; i++) {
		snprintf(name, sizeof(name), "time.intervals.%" PRIu64, i);
		print_counts(name, &interval[i], false);
	}
}

int main(int argc, char **argv)
{
	struct check *c;
	uint64_t different;

	if (argc != 2) {
		fputs("usage: regret-check CSV\n", stderr);
		return 2;
	}
	c = resized(NULL, 1, sizeof(*c));
	memset(c, 0, sizeof(*c));
	c->b = books_new();
	c->changes = 1;
	guest_open(&c->guest, c->b);
	memset(c->digit, 255, sizeof(c->digit));
	for (unsigned char i = 0; i < 16; i++)
		c->digit[(unsigned char)"0123456789abcdef"[i]] = i + 1;
	take_text(c);
	close_books(c->b);
	print_sums(c);
	print_times(c->b);
	print_worst(c->b);
	different = compare(c, argv[1]);
	guest_close(&c->guest);
	books_free(c->b);
	free(c);
	return different != 0;
}
