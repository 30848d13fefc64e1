/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work of the common kinds, on more memory than the pools that it is measured with:
 * sorting, a tree that is built and searched, files that are copied by processes.
 */
#include "workload.h"

/* ---- sort: quicksort of 4 MB of numbers, three times ---- */

#define NUMBERS		(1 << 20)
#define SHORT		12	/* what insertion is better at */

static void insertion(u32 *from, u32 *to)
{
	u32 *at, *gap, value;

	for (at = from + 1; at < to; at++) {
		value = *at;
		for (gap = at; gap > from && gap[-1] > value; gap--)
			*gap = gap[-1];
		*gap = value;
	}
}

static void sort(u32 *from, u32 *to)
{
	while (to - from > SHORT) {
		u32 pivot = from[(to - from) / 2], *low = from, *high = to - 1, swap;

		while (low <= high) {
			while (*low < pivot)
				low++;
			while (*high > pivot)
				high--;
			if (low <= high) {
				swap = *low;
				*low++ = *high;
				*high-- = swap;
			}
		}
		/* the smaller part by a call, so that the stack is never large */
		if (high + 1 - from < to - low) {
			sort(from, high + 1);
			from = low;
		} else {
			sort(low, to);
			to = high + 1;
		}
	}
	insertion(from, to);
}

int sort_run(void)
{
	u32 *numbers = pages_of(NUMBERS / (PAGE / 4)), random = 1, round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < NUMBERS; i++)
			numbers[i] = next_random(&random);
		sort(numbers, numbers + NUMBERS);
		for (i = 1; i < NUMBERS; i++)
			if (numbers[i - 1] > numbers[i])
				return wrong("the order");
	}
	return 0;
}

/* ---- tree: 6 MB of nodes at random, searched for what is mostly asked for ---- */

#define NODES	(6 << 20 >> 4)
#define SEARCHES 200000

struct node {
	u32 key, left, right, count;
};

static u32 reach(struct node *nodes, u32 *used, u32 key)
{
	u32 at = 1, *link;

	if (*used == 1) {
		nodes[1].key = key;
		return (*used)++;
	}
	while (nodes[at].key != key) {
		link = key < nodes[at].key ? &nodes[at].left : &nodes[at].right;
		if (!*link && *used < NODES) {
			nodes[*used].key = key;
			*link = (*used)++;
		}
		if (!*link)
			return 0;
		at = *link;
	}
	return at;
}

int tree_run(void)
{
	struct node *nodes = (struct node *)pages_of(NODES * sizeof(*nodes) / PAGE);
	u32 used = 1, random = 1, found = 0, i, seed;

	while (used < NODES)
		nodes[reach(nodes, &used, next_random(&random))].count++;
	for (i = 0; i < SEARCHES; i++) {
		/* nine of ten searches are for one of the first thousand keys */
		if (next_random(&random) % 10)
			seed = nodes[1 + next_random(&random) % 1000].key;
		else
			seed = nodes[1 + next_random(&random) % (NODES - 1)].key;
		found += reach(nodes, &used, seed) != 0;
	}
	return found == SEARCHES ? 0 : wrong("the tree");
}

/* ---- copy: processes that copy a file of 1 MB by read and write, and end ---- */

#define FILE_PAGES	256
#define COPIES		24

static int copy(const char *from, const char *to)
{
	u32 *buffer = pages_of(2), i;
	long in = must("open", CALL3(open, from, O_RDONLY, 0));
	long out = must("open", CALL3(open, to, O_RDWR | O_CREAT | O_TRUNC, 0600)), n;

	while ((n = must("read", CALL3(read, in, buffer, 2 * PAGE))) > 0) {
		for (i = 0; i < (u32)n / 4; i++)
			buffer[i]++;
		if (must("write", CALL3(write, out, buffer, n)) != n)
			return wrong("a write");
	}
	CALL1(close, in);
	CALL1(close, out);
	return 0;
}

int copy_run(void)
{
	static const char *const names[] = { "/tmp/one", "/tmp/two" };
	u32 *page = pages_of(1), i;
	long fd = must("open", CALL3(open, names[0], O_RDWR | O_CREAT | O_TRUNC, 0600));
	int child;

	for (i = 0; i < FILE_PAGES; i++)
		must("write", CALL3(write, fd, page, PAGE));
	CALL1(close, fd);
	for (i = 0; i < COPIES; i++) {
		child = (int)must("fork", CALL0(fork));
		if (child == 0)
			CALL1(exit, copy(names[i % 2], names[1 - i % 2]));
		if (wait_for(child) != 0)
			return wrong("a copy");
	}
	fd = must("open", CALL3(open, names[COPIES % 2], O_RDONLY, 0));
	must("read", CALL3(read, fd, page, PAGE));
	return page[0] == COPIES && page[PAGE / 4 - 1] == COPIES ? 0 : wrong("the copies");
}
