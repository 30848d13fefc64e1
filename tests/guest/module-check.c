/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's side of module-smoke: reads the guest's log, in which the
 * module's events and what the guest knows of itself alternate (see
 * module-guest/guest.h), and holds one against the other.
 *
 *	- every event the guest expects is there, with its values, and none that
 *	  it refuses;
 *	- what happens to pages happens where something is mapped;
 *	- the mappings that follow from the events are those in /proc/PID/maps,
 *	  and nothing is mapped twice;
 *	- every event comes from the task that was scheduled last, in the
 *	  address space that this task was given.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/kernel_trace_record.h>

#define ARGS 9		/* that the module logs */
#define MAX 65536

struct event {
	char name[32];		/* as the module logs it: a tag without its KTR_ */
	uint32_t tag;
	uint64_t tid, tgid, space;
	uint64_t arg[ARGS];
	char text[300];
};

struct range {
	uint64_t space, start, end;
};

/* What the events said so far. */
struct check {
	struct event *event;	/* since the mark */
	size_t events;
	struct range *range;	/* mapped, by the events */
	size_t ranges;
	struct range *truth;	/* mapped, by /proc/PID/maps */
	size_t truths;
	uint64_t space[MAX];	/* of each task */
	uint64_t old_space[MAX];	/* that it had before */
	bool exited[MAX];
	uint64_t running;	/* task, or ~0 when not yet known */
	char mark[256];
	bool strict, done, missed_none;
	unsigned int line, errors, expected, refused, compared, total;
};

static void wrong(struct check *check, const char *what, const char *line)
{
	printf("line %u, %s: %s: %s\n", check->line, check->mark, what, line);
	check->errors++;
}

static void *room(void *array, size_t count, size_t size)
{
	/* Grow at powers of two. */
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		abort();
	return array;
}

static void add(struct range **array, size_t *count, struct range range)
{
	*array = room(*array, *count, sizeof(**array));
	(*array)[(*count)++] = range;
}

/* Returns whether any of it was mapped. */
static bool cut(struct check *check, uint64_t space, uint64_t start, uint64_t end)
{
	struct range *old = check->range;
	size_t count = check->ranges;
	bool any = false;

	check->range = NULL;
	check->ranges = 0;
	for (size_t i = 0; i < count; i++) {
		struct range r = old[i];

		if (r.space != space || r.end <= start || r.start >= end) {
			add(&check->range, &check->ranges, r);
			continue;
		}
		any = true;
		if (r.start < start)
			add(&check->range, &check->ranges,
			    (struct range){ space, r.start, start });
		if (r.end > end)
			add(&check->range, &check->ranges,
			    (struct range){ space, end, r.end });
	}
	free(old);
	return any;
}

/* Whether all of it is mapped. */
static bool covered(const struct check *check, uint64_t space, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < check->ranges && start < end; i++) {
		const struct range *r = &check->range[i];

		if (r->space == space && r->start <= start && r->end > start) {
			start = r->end;
			i = (size_t)-1;		/* what follows may stand before */
		}
	}
	return start >= end;
}

/* Events of pages, as the range they are about: false when there is none. */
static bool range_of(const struct event *e, struct range *range)
{
	uint64_t pages;

	switch (e->tag) {
	case KTR_MPROTECT:
	case KTR_DISCARD:
	case KTR_PRESENT:
		*range = (struct range){ e->arg[KTR_RANGE_SPACE], e->arg[KTR_RANGE_START],
					 e->arg[KTR_RANGE_END] };
		return true;
	case KTR_PAGE_OWN:
	case KTR_HUGE_MAP:
	case KTR_HUGE_SPLIT:
		pages = e->arg[KTR_PAGES_PAGES];
		break;
	case KTR_SWAP_OUT:
	case KTR_SWAP_IN:
		pages = e->arg[KTR_SWAP_PAGES];
		break;
	case KTR_COW_BREAK:
		pages = 1;
		break;
	default:
		return false;
	}
	/* all of these begin with a space and an address */
	range->space = e->arg[KTR_PAGES_SPACE];
	range->start = e->arg[KTR_PAGES_ADDRESS];
	range->end = range->start + 4096 * pages;
	/* shared memory in swap belongs to no space */
	return range->space != 0;
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorted, neighbours joined, of one space. */
static struct range *normal(const struct range *from, size_t count, uint64_t space,
			    size_t *result)
{
	struct range *to = NULL;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (from[i].space == space)
			add(&to, &n, from[i]);
	if (n)
		qsort(to, n, sizeof(*to), compare);
	*result = 0;
	for (size_t i = 0; i < n; i++) {
		if (*result && to[*result - 1].end >= to[i].start)
			to[*result - 1].end = to[i].end;
		else
			to[(*result)++] = to[i];
	}
	return to;
}

static void compare_maps(struct check *check, uint64_t pid, const char *line)
{
	uint64_t space = check->space[pid % MAX];
	size_t said, known;
	struct range *a = normal(check->range, check->ranges, space, &said);
	struct range *b;

	for (size_t i = 0; i < check->truths; i++)
		check->truth[i].space = space;
	b = normal(check->truth, check->truths, space, &known);
	check->compared++;
	if (!known || said != known || memcmp(a, b, said * sizeof(*a))) {
		wrong(check, "the events' mappings are not the kernel's", line);
		for (size_t i = 0; i < said || i < known; i++) {
			printf("\t");
			if (i < said)
				printf("%" PRIx64 "-%" PRIx64, a[i].start, a[i].end);
			else
				printf("\t\t\t");
			if (i < known)
				printf("\t%" PRIx64 "-%" PRIx64, b[i].start, b[i].end);
			printf("\n");
		}
	}
	free(a);
	free(b);
	free(check->truth);
	check->truth = NULL;
	check->truths = 0;
}

static void schedule(struct check *check, const struct event *e, const char *line)
{
	uint64_t previous = e->arg[KTR_SCHEDULE_PREVIOUS_TID];
	uint64_t next = e->arg[KTR_SCHEDULE_NEXT_TID];
	uint64_t space = e->arg[KTR_SCHEDULE_NEXT_SPACE];

	if (previous != e->tid && next != e->tid)
		wrong(check, "another task than this one is left", line);
	if (check->strict && space && space != check->space[next % MAX])
		wrong(check, "the next task has another space", line);
	check->running = next;
}

static void duplicate(struct check *check, uint64_t parent, uint64_t child, const char *line)
{
	if (cut(check, child, 0, UINT64_MAX))
		wrong(check, "duplicated into a space in use", line);
	for (size_t i = 0, n = check->ranges; i < n; i++)
		if (check->range[i].space == parent)
			add(&check->range, &check->ranges,
			    (struct range){ child, check->range[i].start,
					    check->range[i].end });
}

/*
 * An exec reports the task's new space just before the kernel changes to it: an interrupt in
 * between still finds the old one.
 */
static bool in_its_space(const struct check *check, const struct event *e)
{
	if (e->space == check->space[e->tid % MAX])
		return true;
	return e->tag == KTR_WAKE && e->arg[KTR_WAKE_CONTEXT] == KTR_CONTEXT_INTERRUPT &&
	       e->space == check->old_space[e->tid % MAX];
}

static void assign(struct check *check, const struct event *e)
{
	const uint64_t tid = e->arg[KTR_SPACE_ASSIGN_TID] % MAX;

	check->old_space[tid] = check->space[tid];
	check->space[tid] = e->arg[KTR_SPACE_ASSIGN_SPACE];
}

static void apply(struct check *check, const struct event *e, const char *line)
{
	const uint64_t *arg = e->arg;
	struct range range;

	/* A thread that executes goes on as its leader, which has exited. */
	if (e->tid != check->running && e->tid == e->tgid &&
	    check->exited[e->tid % MAX]) {
		check->exited[e->tid % MAX] = false;
		check->running = e->tid;
	}
	if (check->running != ~0ULL && e->tid != check->running)
		wrong(check, "from a task that does not run", line);
	if (e->space && check->strict && !in_its_space(check, e))
		wrong(check, "in a space that is not its task's", line);

	if (range_of(e, &range)) {
		if (range.start >= range.end)
			wrong(check, "an empty range", line);
		if (!covered(check, range.space, range.start, range.end))
			wrong(check, "nothing is mapped there", line);
		return;
	}
	switch (e->tag) {
	case KTR_TASK_CREATE:
		check->space[arg[KTR_TASK_CREATE_TID] % MAX] = arg[KTR_TASK_CREATE_SPACE];
		check->exited[arg[KTR_TASK_CREATE_TID] % MAX] = false;
		break;
	case KTR_EXIT:
		check->exited[arg[KTR_EXIT_TID] % MAX] = true;
		break;
	case KTR_SPACE_ASSIGN:
		assign(check, e);
		break;
	case KTR_SCHEDULE:
		schedule(check, e, line);
		break;
	case KTR_MAP:
		range = (struct range){ arg[KTR_MAP_SPACE], arg[KTR_MAP_START],
					arg[KTR_MAP_END] };
		if (range.start >= range.end)
			wrong(check, "an empty range", line);
		if (cut(check, range.space, range.start, range.end) && check->strict)
			wrong(check, "mapped twice", line);
		add(&check->range, &check->ranges, range);
		break;
	case KTR_UNMAP:
		cut(check, arg[KTR_UNMAP_SPACE], arg[KTR_UNMAP_START], arg[KTR_UNMAP_END]);
		break;
	case KTR_REMAP:
		range = (struct range){ arg[KTR_REMAP_SPACE], arg[KTR_REMAP_NEW_START],
					arg[KTR_REMAP_NEW_END] };
		if (!cut(check, range.space, arg[KTR_REMAP_OLD_START], arg[KTR_REMAP_OLD_END]))
			wrong(check, "nothing there to move", line);
		if (cut(check, range.space, range.start, range.end))
			wrong(check, "moved onto another mapping", line);
		add(&check->range, &check->ranges, range);
		break;
	case KTR_SPACE_DUPLICATE:
		duplicate(check, arg[KTR_SPACE_DUPLICATE_PARENT],
			  arg[KTR_SPACE_DUPLICATE_CHILD], line);
		break;
	case KTR_SPACE_END:
		cut(check, arg[KTR_SPACE_END_SPACE], 0, UINT64_MAX);
		break;
	default:
		break;
	}
}

/* Its tag; 0 when no event is called that. */
static uint32_t tag_of(const char *name)
{
#define TAG_NAME(tag, number, name, fence, text) [number] = #tag,
	static const char *const names[KTR_TAGS] = { KTR_EVENTS(TAG_NAME, KTR_NO_ARG) };

	for (uint32_t tag = 1; tag < KTR_TAGS; tag++)
		if (!strcmp(names[tag] + strlen("KTR_"), name))
			return tag;
	return 0;
}

static bool parse_event(const char *line, struct event *e)
{
	const char *quote;

	memset(e, 0, sizeof(*e));
	if (sscanf(line, "%31s %" SCNu64 " %" SCNu64 " %" SCNx64 ": %" SCNx64
			 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
			 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   e->name, &e->tid, &e->tgid, &e->space, &e->arg[0], &e->arg[1],
		   &e->arg[2], &e->arg[3], &e->arg[4], &e->arg[5], &e->arg[6],
		   &e->arg[7], &e->arg[8]) != 13)
		return false;
	e->tag = tag_of(e->name);
	quote = strchr(line, '"');
	if (!quote)
		return false;
	snprintf(e->text, sizeof(e->text), "%s", quote + 1);
	if (*e->text)
		e->text[strlen(e->text) - 1] = '\0';
	return true;
}

/* A field of an expectation: any, the space of a task, or a number. */
static bool field_matches(const struct check *check, const char *word, uint64_t value)
{
	if (!strcmp(word, "-"))
		return true;
	if (*word == '@')
		return value == check->space[strtoull(word + 1, NULL, 10) % MAX];
	return value == strtoull(word, NULL, 16);
}

/* "EVENT FIELD... "TEXT"" against one event; EVENT/TID where it matters which task reported it. */
static bool matches(const struct check *check, const struct event *e, const char *expectation)
{
	char copy[512], *quote, *slash, *word, *rest;
	size_t i = 0;

	snprintf(copy, sizeof(copy), "%s", expectation);
	quote = strchr(copy, '"');
	if (quote) {
		quote[strlen(quote) - 1] = '\0';
		if (strcmp(quote + 1, e->text))
			return false;
		*quote = '\0';
	}
	word = strtok_r(copy, " ", &rest);
	if (!word)
		return false;
	slash = strchr(word, '/');
	if (slash) {
		*slash = '\0';
		if (strtoull(slash + 1, NULL, 10) != e->tid)
			return false;
	}
	if (strcmp(word, e->name))
		return false;
	while ((word = strtok_r(NULL, " ", &rest))) {
		if (i == ARGS)
			return false;
		if (!field_matches(check, word, e->arg[i]))
			return false;
		i++;
	}
	return true;
}

/* Whether there was one since the mark. */
static bool found_in(const struct check *check, const char *expectation)
{
	for (size_t i = 0; i < check->events; i++)
		if (matches(check, &check->event[i], expectation))
			return true;
	return false;
}

static void own_line(struct check *check, const char *line)
{
	uint64_t pid, start, end;

	if (!strncmp(line, "mark ", 5)) {
		snprintf(check->mark, sizeof(check->mark), "%.255s", line + 5);
		check->events = 0;
		free(check->event);
		check->event = NULL;
	} else if (!strncmp(line, "expect ", 7)) {
		check->expected++;
		if (!found_in(check, line + 7))
			wrong(check, "no such event", line + 7);
	} else if (!strncmp(line, "refuse ", 7)) {
		check->refused++;
		if (found_in(check, line + 7))
			wrong(check, "an event too many", line + 7);
	} else if (sscanf(line, "maps %" SCNu64 " %" SCNx64 " %" SCNx64, &pid, &start, &end) == 3) {
		add(&check->truth, &check->truths, (struct range){ 0, start, end });
	} else if (sscanf(line, "mapped %" SCNu64, &pid) == 1) {
		compare_maps(check, pid, line);
	} else if (!strcmp(line, "strict")) {
		check->strict = true;
	} else if (!strcmp(line, "unloaded")) {
		/* A module that is loaded again does not know which task runs. */
		check->running = ~0ULL;
		check->strict = false;
	} else if (!strcmp(line, "done")) {
		check->done = true;
	} else {
		wrong(check, "the guest failed", line);
	}
}

int main(void)
{
	static struct check check = { .running = ~0ULL };
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		struct event event;
		char *text;

		check.line++;
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "check: ", strlen("check: "))) {
			own_line(&check, line + strlen("check: "));
		} else if ((text = strstr(line, "laplace: ")) &&
			   parse_event(text + strlen("laplace: "), &event)) {
			apply(&check, &event, text);
			check.event = room(check.event, check.events, sizeof(event));
			check.event[check.events++] = event;
			check.total++;
		} else if (!strcmp(line, "missed 0")) {
			check.missed_none = true;
		} else if (strstr(line, "laplace: log: ") || strstr(line, "were not seen") ||
			   strstr(line, "WARNING:") || strstr(line, "BUG:") ||
			   strstr(line, "Oops")) {
			wrong(&check, "the kernel complains", line);
		}
	}
	printf("%u events, %u expectations, %u refusals, %u comparisons of mappings, %u errors\n",
	       check.total, check.expected, check.refused, check.compared, check.errors);
	if (!check.missed_none)
		printf("the module did not say that it missed nothing\n");
	if (!check.done)
		printf("the guest did not come to its end\n");
	if (check.expected < 120 || check.refused < 15 || check.compared < 20)
		printf("the guest hardly said anything\n");
	return check.errors || !check.done || !check.missed_none || check.expected < 120 ||
	       check.refused < 15 || check.compared < 20;
}
