/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * walk-check TRACE: are the walks of a trace those that Bochs' debugger shows (`trace-mem on`, on
 * standard input, from and to the same moments)?  In long mode.
 *
 * Compared one by one, in their order: read or write, address, table; whether the entry maps a large page,
 * and which of its bits are set, by the entry's value as the debugger prints it.  For what the tables were
 * walked the debugger does not say, but it prints the access that follows; of a fetch, which it does not
 * print, the trace itself has it.  An access belongs to a walk if its address leads through the entries that the walk
 * read; where none does, the walk may have ended with a fault, and is counted.
 *
 * Prints `compared N purposes N others N`.  Exit status: 0, 1 they differ, 2 usage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/trace.h>
#include <laplace/walk.h>

enum { FAILED = 1, USAGE = 2, LARGE = 0x81, ACCESSED = 0x20, DIRTY = 0x40, TABLES = 4 };

/* A walk's reference of the trace. */
struct step {
	struct lpl_ref ref;
	struct lpl_walk walk;
	struct lpl_ref next;	/* the next reference that is none of a walk */
};

struct steps {
	struct step *step;
	size_t count, room;
	size_t open;		/* from here on `next` is still to come */
};

/* The entries of the debugger's latest walk. */
struct entries {
	uint64_t address[TABLES + 1], value[TABLES + 1];
	unsigned int last;	/* table that was read last; 0: none */
	size_t step;		/* the walk's last step */
};

struct counts {
	size_t compared, purposes, others;
};

static int failed(const char *what)
{
	fprintf(stderr, "walk-check: %s\n", what);
	return FAILED;
}

/* ---- the trace ---- */

static bool add(struct steps *steps, const struct lpl_ref *ref, const struct lpl_walk *walk)
{
	if (steps->count == steps->room) {
		steps->room = steps->room ? 2 * steps->room : 1024;
		steps->step = realloc(steps->step, steps->room * sizeof(*steps->step));
		if (!steps->step)
			return false;
	}
	steps->step[steps->count++] = (struct step){ .ref = *ref, .walk = *walk };
	return true;
}

static bool take(struct steps *steps, struct lpl_walks *walks, const struct lpl_ref *refs, size_t count)
{
	struct lpl_walk walk;

	for (size_t i = 0; i < count; i++) {
		if (lpl_walk_of(walks, &refs[i], &walk)) {
			if (!add(steps, &refs[i], &walk))
				return false;
			continue;
		}
		while (steps->open < steps->count)
			steps->step[steps->open++].next = refs[i];
	}
	return true;
}

static bool read_trace(struct steps *steps, const char *path)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;
	struct lpl_walks *walks;
	bool good = !lpl_reader_open(&reader, path, &report) && !lpl_walks_open(&walks, &report);

	while (good) {
		const struct lpl_event *event = NULL;
		const struct lpl_ref *refs;
		size_t count;

		good = !lpl_reader_next(reader, &refs, &count, &event, &report);
		if (!good || (count == 0 && !event))
			break;
		good = take(steps, walks, refs, count) && (!event || !lpl_walks_follow(walks, event, &report));
	}
	if (!good)
		(void)failed(report.text);
	return good;
}

/* ---- the debugger ---- */

static unsigned int table_of(const char *line)
{
	static const char *const name[TABLES + 1] = { "", "; PTE", "; PDE", "; PDPTE", "; PML4E" };
	const char *reason = strchr(line, ';');

	for (unsigned int table = TABLES; reason && table > 0; table--)
		if (strncmp(reason, name[table], strlen(name[table])) == 0)
			return table;
	return 0;
}

static bool differs(const struct step *step, bool write, uint64_t address, unsigned int table, uint64_t value,
		    uint64_t before)
{
	const bool large = table > 1 && (value & LARGE) == LARGE;

	return (step->ref.type == LPL_WALK_WRITE) != write || step->ref.address != address ||
	       step->walk.table != table || step->walk.large != large ||
	       step->walk.accessed != (write && value & ~before & ACCESSED) ||
	       step->walk.dirty != (write && value & ~before & DIRTY);
}

/* A reference to a page table; false: it is not what the trace has. */
static bool compare(const struct steps *steps, struct entries *entries, struct counts *counts, const char *line,
		    unsigned int table)
{
	const bool write = strstr(line, " WR]: ") != NULL;
	const char *at = strstr(line, "PHY 0x"), *colon = strstr(line, "): 0x");
	uint64_t address, value;
	char *low;

	if (!at || !colon || counts->compared == steps->count)
		return false;
	address = strtoull(at + 6, NULL, 16);
	value = strtoull(colon + 5, &low, 16) << 32;
	value |= strtoull(low, NULL, 16);
	if (table == TABLES && !write)
		memset(entries, 0, sizeof(*entries));
	if (differs(&steps->step[counts->compared], write, address, table, value, entries->value[table]) ||
	    (write && entries->address[table] != address))
		return false;
	entries->address[table] = address;
	entries->value[table] = value;
	if (!write)
		entries->last = table;
	entries->step = counts->compared++;
	return true;
}

static bool leads_there(const struct entries *entries, uint64_t address)
{
	for (unsigned int table = TABLES; table >= entries->last; table--)
		if ((entries->address[table] >> 3 & 511) != (address >> (3 + 9 * table) & 511))
			return false;
	return true;
}

/* The walk is over, and `line` is what follows; false: it was made for something else. */
static bool compare_purpose(const struct steps *steps, struct entries *entries, struct counts *counts,
			    const char *line)
{
	const struct step *step = &steps->step[entries->step];
	const char *at = strstr(line, "LIN 0x");
	const bool read = strstr(line, " RD]: ") != NULL;
	enum lpl_purpose purpose = step->walk.purpose;
	bool belongs;

	if (entries->last == 0)
		return true;
	belongs = purpose == LPL_PURPOSE_FETCH ?
		  step->next.type == LPL_FETCH && leads_there(entries, step->next.address) :
		  at && leads_there(entries, strtoull(at + 6, NULL, 16));
	entries->last = 0;
	if (!belongs) {
		counts->others++;
		return true;
	}
	counts->purposes++;
	return purpose == LPL_PURPOSE_FETCH || purpose == (read ? LPL_PURPOSE_READ : LPL_PURPOSE_WRITE);
}

static int compare_all(const struct steps *steps)
{
	static char line[4096];
	struct entries entries = { .last = 0 };
	struct counts counts = { 0 };

	while (fgets(line, sizeof(line), stdin)) {
		const unsigned int table = table_of(line);
		bool same = true;

		if (strncmp(line, "[CPU0 ", 6) != 0)
			continue;
		if (!table || (table == TABLES && strstr(line, " RD]: ")))
			same = compare_purpose(steps, &entries, &counts, line);
		if (same && table)
			same = compare(steps, &entries, &counts, line, table);
		if (!same) {
			fprintf(stderr, "walk-check: after %zu that are the same, the trace has no such one, or of "
				"another kind: %s", counts.compared, line);
			return FAILED;
		}
	}
	printf("compared %zu purposes %zu others %zu\n", counts.compared, counts.purposes, counts.others);
	return counts.compared == steps->count ? 0 : failed("the trace has more of them");
}

int main(int argc, char **argv)
{
	struct steps steps = { .step = NULL };
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: walk-check TRACE <DEBUGGER-OUTPUT\n");
		return USAGE;
	}
	status = read_trace(&steps, argv[1]) ? compare_all(&steps) : FAILED;
	free(steps.step);
	return status;
}
