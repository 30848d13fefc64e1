/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See regret-pages.h. */
#include "regret-pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kind_name[] = { "anonymous", "file", "shm" };
const char *const reclaimer_name[] = { "kswapd", "direct", "cgroup", "other" };

void *resized(void *memory, size_t count, size_t size)
{
	memory = realloc(memory, count * size);
	if (memory == NULL) {
		fputs("regret-check: no memory\n", stderr);
		exit(2);
	}
	return memory;
}

void *with_room(void *array, uint64_t count, size_t size)
{
	return (count & (count - 1)) == 0 ? resized(array, count ? 2 * count : 1, size) : array;
}

/* ---- the two trees ---- */

static void add_uses(struct books *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= MOMENTS; i += i & -i)
		b->used_since[i]++;
	for (uint32_t i = to + 1; i <= MOMENTS; i += i & -i)
		b->used_since[i]--;
}

static uint32_t uses_since(const struct books *b, uint32_t at)
{
	uint32_t sum = 0;

	for (; at > 0; at -= at & -at)
		sum += b->used_since[at];
	return sum;
}

static int64_t least_room(const struct books *b, uint32_t node, uint32_t low, uint32_t high, uint32_t from, uint32_t to)
{
	uint32_t middle = low + (high - low) / 2;
	int64_t left = INT64_MAX, right = INT64_MAX;

	if (from <= low && high <= to)
		return b->room[node];
	if (from <= middle)
		left = least_room(b, 2 * node, low, middle, from, to);
	if (to > middle)
		right = least_room(b, 2 * node + 1, middle + 1, high, from, to);
	return (left < right ? left : right) + b->more[node];
}

static void add_room(struct books *b, uint32_t node, uint32_t low, uint32_t high, uint32_t from, uint32_t to, int64_t by)
{
	uint32_t middle = low + (high - low) / 2;

	if (from <= low && high <= to) {
		b->room[node] += by;
		if (low < high)
			b->more[node] += by;
		return;
	}
	if (from <= middle)
		add_room(b, 2 * node, low, middle, from, to, by);
	if (to > middle)
		add_room(b, 2 * node + 1, middle + 1, high, from, to, by);
	b->room[node] = b->more[node] + (b->room[2 * node] < b->room[2 * node + 1] ? b->room[2 * node] : b->room[2 * node + 1]);
}

/* ---- what happens to a page ---- */

static bool can_go(const struct books *b, const struct page *p)
{
	return p->file == 0 || b->device[b->file[p->file].on].taken;
}

enum kind kind_of(const struct books *b, const struct page *p)
{
	return p->file ? b->file[p->file].kind : ANONYMOUS;
}

static struct counts *counts_of(struct books *b, const struct page *p)
{
	if (p->file)
		return &b->file[p->file].counts;
	return p->process != NO_PROCESS ? &b->process[p->process].counts : NULL;
}

const char *kept(struct books *b, const char *text)
{
	for (size_t i = 0; i < b->texts; i++)
		if (strcmp(b->text[i], text) == 0)
			return b->text[i];
	b->text = with_room(b->text, b->texts, sizeof(*b->text));
	b->text[b->texts] = resized(NULL, strlen(text) + 1, 1);
	return strcpy(b->text[b->texts++], text);
}

#define COUNT(p, what) \
	do { \
		b->all.what++; \
		b->by_kind[kind_of(b, p)].what++; \
		if (counts_of(b, p)) \
			counts_of(b, p)->what++; \
	} while (0)

struct page *new_page(struct books *b)
{
	b->page = with_room(b->page, b->pages, sizeof(struct page *));
	b->page[b->pages] = resized(NULL, 1, sizeof(struct page));
	*b->page[b->pages] = (struct page){ .process = NO_PROCESS };
	return b->page[b->pages++];
}

void arrive(struct books *b, struct page *p, bool by_event)
{
	if (p->resident)
		return;
	p->resident = true;
	p->from = b->moment + 1;
	if (!p->begun) {
		p->begun = true;
		p->since = b->moment;
	}
	if (can_go(b, p) && ++b->resident > b->most_resident)
		b->most_resident = b->resident;
	if (by_event && can_go(b, p)) {
		p->fresh = true;
		b->brought_at = with_room(b->brought_at, b->all.brought, sizeof(*b->brought_at));
		b->brought_at[b->all.brought] = b->now.cycle;
		COUNT(p, brought);
	}
	for (uint32_t e = p->waiting; e != 0 && !b->eviction[e].back; e = b->eviction[e].before) {
		b->eviction[e].back = true;
		b->by_reclaimer[b->eviction[e].reclaimer].back++;
		COUNT(p, back);
	}
}

/* Resident up to now. */
static void close_span(const struct books *b, struct page *p)
{
	if (p->from > b->moment)
		return;
	p->span = with_room(p->span, p->spans, sizeof(*p->span));
	p->span[p->spans++] = (struct span){ p->from, b->moment };
	p->from = b->moment + 1;
}

void leave(struct books *b, struct page *p)
{
	if (!p->resident)
		return;
	p->resident = false;
	if (!can_go(b, p))
		return;
	b->resident--;
	close_span(b, p);
}

static void resolve(struct books *b, struct page *p, enum outcome all)
{
	while (p->waiting != 0) {
		struct eviction *e = &b->eviction[p->waiting];
		/* where tracing was off nothing could have shown a use since then */
		const enum outcome outcome = all == NEVER && e->blind ? CUT : all;
		uint64_t distance, bits = 0;

		p->waiting = e->before;
		e->outcome = outcome;
		e->kind = kind_of(b, p);
		e->by = b->task[e->task].name;
		if (p->file)
			e->name = b->file[p->file].name;
		else if (p->process != NO_PROCESS)
			e->name = b->process[p->process].name;
		COUNT(p, evicted);
		COUNT(p, outcome[outcome]);
		b->by_reclaimer[e->reclaimer].evicted++;
		b->by_reclaimer[e->reclaimer].outcome[outcome]++;
		if (e->dirty == 1) {
			COUNT(p, written);
			b->by_reclaimer[e->reclaimer].written++;
		}
		if (outcome != USED)
			continue;
		e->next = b->now;
		b->process[b->task[b->running].process].missed++;
		e->rank = e->resident - uses_since(b, e->moment);
		if (e->rank > 0) {
			COUNT(p, better);
			b->by_reclaimer[e->reclaimer].better++;
		}
		b->by_rank[e->rank == 0 ? 0 : e->rank == e->resident ? 11 : (e->rank * 10 + e->resident - 1) / e->resident]++;
		for (distance = b->now.ref - e->at.ref; distance >> bits; bits++)
			;
		b->by_distance[bits]++;
	}
}

void end(struct books *b, struct page *p)
{
	leave(b, p);
	resolve(b, p, ENDED);
	p->over = true;
	p->ended = b->now.ref;
}

static void remember(const struct books *b, struct page *p)
{
	p->last = b->now;
	if (p->uses > 0 && p->history[p->uses - 1].since == b->moment && p->history[p->uses - 1].cuts == b->cuts) {
		p->history[p->uses - 1].last = b->now;
		return;
	}
	p->history = with_room(p->history, p->uses, sizeof(*p->history));
	p->history[p->uses++] = (struct uses){ b->moment, b->cuts, b->now, b->now };
}

void use(struct books *b, struct page *p)
{
	uint32_t from;

	if (p->since == b->moment && p->last.ref != 0 && p->resident && !p->fresh && p->waiting == 0) {
		remember(b, p);
		return;
	}
	arrive(b, p, false);
	from = p->since + 1;
	if (can_go(b, p)) {
		uint32_t since = p->file ? b->device[b->file[p->file].on].since : 0;

		close_span(b, p);
		for (; p->used < p->spans; p->used++)
			add_uses(b, p->span[p->used].from, p->span[p->used].to);
		if (from < since)
			from = since;
		if (from <= b->moment) {
			if (least_room(b, 1, 0, MOMENTS - 1, from, b->moment) > 0) {
				add_room(b, 1, 0, MOMENTS - 1, from, b->moment, -1);
			} else {
				b->optimal_at = with_room(b->optimal_at, b->all.optimal, sizeof(*b->optimal_at));
				b->optimal_at[b->all.optimal] = b->now.cycle;
				COUNT(p, optimal);
			}
		}
	}
	resolve(b, p, USED);
	p->fresh = false;
	remember(b, p);
	p->since = b->moment;
	p->from = b->moment + 1;
}

void evict(struct books *b, struct page *p, uint64_t reclaimer, uint64_t dirty)
{
	const uint32_t by = reclaimer < RECLAIMERS - 1 ? (uint32_t)reclaimer : RECLAIMERS - 1;
	const bool unused = p->fresh && !b->off;

	if ((b->evictions & (b->evictions - 1)) == 0)
		b->eviction = resized(b->eviction, 2 * b->evictions, sizeof(*b->eviction));
	if (!p->left)	/* it was there until now, if that was not known */
		arrive(b, p, false);
	leave(b, p);
	p->left = false;
	if (unused) {
		COUNT(p, unused);
		b->by_reclaimer[by].unused++;
	}
	b->process[b->task[b->running].process].reclaimed++;
	b->eviction[b->evictions] = (struct eviction){
		.page = p, .before = p->waiting, .moment = b->moment + 1, .cuts = b->cuts, .reclaimer = by,
		.task = b->running, .dirty = dirty, .at = b->now, .unused = unused, .blind = b->off
	};
	if (!b->off)
		b->eviction[b->evictions].last = p->last;
	p->fresh = false;
	p->waiting = b->evictions++;
}

/* ---- files ---- */

static uint32_t device_of(struct books *b, uint64_t number)
{
	uint32_t i;

	for (i = 0; i < b->devices; i++)
		if (b->device[i].number == number)
			return i;
	b->device = resized(b->device, ++b->devices, sizeof(*b->device));
	b->device[i] = (struct device){ .number = number, .taken = number >> 20 != 0 };
	return i;
}

/* Segments are named without their device. */
static uint64_t named_device(uint64_t on, uint64_t inode)
{
	return inode & SEGMENT ? 0 : on;
}

uint32_t known_file(const struct books *b, uint64_t on, uint64_t inode)
{
	uint32_t i = b->files - 1;

	while (i > 0 && (b->file[i].device != named_device(on, inode) || b->file[i].inode != inode))
		i--;
	return i;
}

uint32_t file_of(struct books *b, uint64_t on, uint64_t inode, bool new)
{
	const uint32_t known = new ? 0 : known_file(b, on, inode);

	if (known != 0)
		return known;
	if ((b->files & (b->files - 1)) == 0)
		b->file = resized(b->file, 2 * (size_t)b->files, sizeof(*b->file));
	b->file[b->files] = (struct file){
		.device = named_device(on, inode), .inode = inode,
		.kind = inode & SEGMENT ? SHARED : OF_FILE, .on = device_of(b, on)
	};
	return b->files++;
}

/* From the next moment on. */
void device_is_taken(struct books *b, uint32_t on)
{
	if (b->device[on].taken)
		return;
	b->device[on].taken = true;
	b->device[on].since = b->moment + 1;
	for (size_t i = 0; i < b->pages; i++)
		if (b->page[i]->file && b->file[b->page[i]->file].on == on && b->page[i]->resident) {
			b->page[i]->from = b->moment + 1;
			b->resident++;
		}
	if (b->resident > b->most_resident)
		b->most_resident = b->resident;
}

/* ---- all of it ---- */

bool next_moment(struct books *b, uint32_t first)
{
	if (++b->moment == MOMENTS)
		return false;
	for (uint32_t i = first; i < b->evictions; i++)
		b->eviction[i].resident = b->resident;
	add_room(b, 1, 0, MOMENTS - 1, b->moment, b->moment, (int64_t)b->resident);
	return true;
}

/* Nothing that comes says anything of what was before. */
static void cut(struct books *b, bool forget)
{
	b->cuts++;
	for (size_t i = 0; i < b->pages; i++) {
		struct page *p = b->page[i];

		if (p->over)
			continue;
		if (p->left) {
			end(b, p);
			continue;
		}
		resolve(b, p, CUT);
		if (forget)
			leave(b, p);
		else if (p->resident && can_go(b, p))
			close_span(b, p);
		p->used = p->spans;
		p->fresh = false;
		p->last = (struct clocks){ .ref = 0 };
		p->begun = p->resident;
		p->since = b->moment;
	}
}

void miss_records(struct books *b, bool events)
{
	cut(b, events);
	b->shown_cuts++;
	if (events)	/* as it goes on */
		b->off = false;
}

void switch_tracing(struct books *b, bool on)
{
	if (on) {
		cut(b, false);
		b->shown_cuts += b->moment > 0;
	}
	b->off = !on;
}

void close_books(struct books *b)
{
	for (size_t i = 0; i < b->pages; i++) {
		resolve(b, b->page[i], b->page[i]->left ? ENDED : NEVER);
		leave(b, b->page[i]);
	}
}

struct books *books_new(void)
{
	struct books *b = resized(NULL, 1, sizeof(*b));

	memset(b, 0, sizeof(*b));
	b->files = b->evictions = 1;
	b->file = resized(NULL, 2, sizeof(*b->file));
	b->eviction = resized(NULL, 2, sizeof(*b->eviction));
	b->process = resized(NULL, 1, sizeof(*b->process));
	b->process[b->processes++] = (struct process){ .number = 0 };
	b->task = resized(NULL, 1, sizeof(*b->task));
	b->task[b->tasks++] = (struct task){ .lives = true };
	return b;
}

void books_free(struct books *b)
{
	for (size_t i = 0; i < b->pages; i++) {
		free(b->page[i]->span);
		free(b->page[i]->history);
		free(b->page[i]);
	}
	for (size_t i = 0; i < b->texts; i++)
		free(b->text[i]);
	free(b->text);
	free(b->page);
	free(b->brought_at);
	free(b->optimal_at);
	free(b->process);
	free(b->task);
	free(b->owner);
	free(b->eviction);
	free(b->file);
	free(b->device);
	free(b);
}
