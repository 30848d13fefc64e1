/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See regret-guest.h. */
#include "regret-guest.h"
#include "regret-tasks.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT64_MAX
#define KERNEL (UINT64_C(1) << 63)

#define MOST UINT64_C(262144)	/* pages of an event: those of 1 GB */

static void on_map(struct guest *g, const struct event *e)
{
	size_t in = space_of(g, e->a[0]);
	struct region r = { e->a[1] >> 12, e->a[2] >> 12, (int)e->a[4], 0, 0, 0 };

	unmap_pages(g, in, r.from, r.to);
	if (e->a[8] != 0)
		r.what = R_SPECIAL;
	if (r.what == R_SPECIAL) {
		put_region(g, in, r);
		return;
	}
	if (r.what == R_ANONYMOUS || r.what == R_STACK || r.what == R_HEAP) {
		r.family = g->families++;
	} else {
		r.file = file_of(g->b, e->a[5], e->a[6], false);
		r.offset = e->a[7] - r.from;
		r.family = r.what == R_PRIVATE ? g->families++ : 0;
		name_file(g, r.file, g->b->file[r.file].name == NULL ? e->text : "-");
		if (r.what == R_SHM || r.what == R_ANONYMOUS_SHARED)
			g->b->file[r.file].kind = SHARED;
	}
	put_region(g, in, r);
}

static void on_remap(struct guest *g, const struct event *e)
{
	size_t in = space_of(g, e->a[0]), count, moved = 0;
	uint64_t from = e->a[1] >> 12, to = e->a[2] >> 12, there = e->a[3] >> 12, up_to = e->a[4] >> 12;
	struct region *parts;
	struct page **p = resized(NULL, to - from + 1, sizeof(struct page *));
	bool *mark = resized(NULL, to - from + 1, sizeof(bool));

	/* what is seen there is held while it moves */
	for (uint64_t i = from; i < to; i++, moved++) {
		struct slot *slot = find(&g->shown, in, i, false);

		p[moved] = slot ? slot->value : NULL;
		mark[moved] = slot && slot->mark;
		if (p[moved])
			p[moved]->places++;
	}
	count = take_regions(g, in, from, to, &parts);
	hide_pages(g, in, from, to);
	unmap_pages(g, in, there, up_to);
	for (size_t i = 0; i < count; i++) {
		struct region r = parts[i];

		r.from += there - from;
		r.to += there - from;
		r.offset -= there - from;
		if (r.to > up_to)
			r.to = up_to;
		put_region(g, in, r);
		if (parts[i].to == to && up_to > r.to) {	/* it grows */
			r.from = r.to;
			r.to = up_to;
			if (r.family)
				r.family = g->families++;
			put_region(g, in, r);
		}
	}
	for (size_t i = 0; i < moved; i++) {
		if (p[i] == NULL)
			continue;
		if (there + i < up_to) {
			show_page(g, in, there + i, p[i]);
			find(&g->shown, in, there + i, true)->mark = mark[i];
		}
		if (--p[i]->places == 0)
			end(g->b, p[i]);
	}
	free(p);
	free(mark);
	free(parts);
}

static void on_fork(struct guest *g, const struct event *e)
{
	size_t parent = space_of(g, e->a[0]), child, count = 0;
	struct slot *copy = NULL;

	for (size_t i = 0; i < g->spaces; i++)
		if (g->space[i].alive && g->space[i].number == e->a[1])
			end_space(g, i);
	child = space_of(g, e->a[1]);
	for (size_t i = 0; i < g->space[parent].regions; i++)
		put_region(g, child, g->space[parent].region[i]);
	for (size_t i = 0; i < g->shown.size; i++)
		if (g->shown.slot[i].value && g->shown.slot[i].a == parent) {
			g->shown.slot[i].mark = false;
			if ((count & (count - 1)) == 0)
				copy = resized(copy, count ? 2 * count : 1, sizeof(*copy));
			copy[count++] = g->shown.slot[i];
		}
	for (size_t i = 0; i < count; i++)
		show_page(g, child, copy[i].b, copy[i].value);
	free(copy);
}

static void on_brk(struct guest *g, const struct event *e)
{
	size_t in = space_of(g, e->a[0]);
	uint64_t old = (e->a[1] + 4095) >> 12, new = (e->a[2] + 4095) >> 12;

	if (new < old)
		unmap_pages(g, in, new, old);
	for (; old < new; old++)	/* a map may have had it */
		if (region_at(g, in, old) == NULL)
			put_region(g, in, (struct region){ old, old + 1, R_HEAP, 0, 0, g->families++ });
}

static void on_space_end(struct guest *g, const struct event *e)
{
	end_space(g, space_of(g, e->a[0]));
}

static void on_cow_break(struct guest *g, const struct event *e)
{
	size_t in = space_of(g, e->a[0]);
	uint64_t at = e->a[1] >> 12;
	struct slot *slot = find(&g->shown, in, at, false);

	if (region_at(g, in, at) == NULL)
		return;
	if (e->a[2] == e->a[3] && slot && slot->value) {
		slot->mark = true;
		return;
	}
	show_page(g, in, at, own_page(g));
}

/* Other forks, which had nothing there either, are not to find what comes to be there. */
static void on_page_own(struct guest *g, const struct event *e)
{
	const size_t in = space_of(g, e->a[0]);

	for (uint64_t i = 0, at = e->a[1] >> 12; i < e->a[3]; i++, at++) {
		const struct page *p = look(&g->shown, in, at);
		const struct region *r = region_at(g, in, at);

		if (r != NULL && has_own(r) && (p == NULL || p->places != 1))
			show_page(g, in, at, own_page(g));
	}
}

static void on_discard(struct guest *g, const struct event *e)
{
	const size_t in = space_of(g, e->a[0]);
	const uint64_t from = e->a[1] >> 12, to = e->a[2] >> 12;
	struct region *parts;
	size_t count;

	hide_pages(g, in, from, to);
	count = take_regions(g, in, from, to, &parts);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].family)
			parts[i].family = g->families++;
		put_region(g, in, parts[i]);
	}
	free(parts);
}

static void on_present(struct guest *g, const struct event *e)
{
	size_t in = space_of(g, e->a[0]);
	uint64_t from = e->a[1] >> 12, to = e->a[2] >> 12;

	for (uint64_t i = 0; from + i < to; i++) {
		bool frame = e->a[3] != NONE;
		uint64_t at = (frame ? e->a[3] : e->a[4]) + i;
		struct slot *slot = find(&g->in_frame, frame, at, true);

		if (slot->value == NULL)
			slot->value = own_page(g);
		show_page(g, in, from + i, slot->value);
		if (!frame)
			find(&g->in_swap, 0, at, true)->value = slot->value;
	}
}

static void on_cache_add(struct guest *g, const struct event *e)
{
	uint32_t of = file_of(g->b, e->a[0], e->a[1], false);

	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct page *p = in_file(g, of, e->a[2] + i, true);

		arrive(g->b, p, true);
		if (e->a[5] != NONE) {
			p->alias = (e->a[5] >> 12) + i;
			find(&g->in_kernel, 0, p->alias, true)->value = p;
		}
	}
}

static void on_cache_remove(struct guest *g, const struct event *e)
{
	uint32_t of = file_of(g->b, e->a[0], e->a[1], false);

	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct page *p = look(&g->contents, of, e->a[2] + i);
		struct slot *slot;

		if (p == NULL || !p->resident)	/* a segment's mark may be missing by now */
			p = look(&g->contents, known_file(g->b, 0, e->a[1] | SEGMENT), e->a[2] + i);
		if (p == NULL || !p->resident)
			continue;
		slot = find(&g->in_kernel, 0, p->alias, false);
		if (slot && slot->value == p)
			slot->value = NULL;
		leave(g->b, p);
		p->left = true;
	}
}

static void on_swap_out(struct guest *g, const struct event *e)
{
	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct slot *slot = find(&g->in_swap, 0, e->a[2] + i, true);
		struct page *p = slot->value;

		if (e->a[6] != NONE) {
			p = in_file(g, file_of(g->b, e->a[5], e->a[6], false), e->a[7] + i, false);
			device_is_taken(g->b, g->b->file[p->file].on);
			p->left = false;	/* the page cache, but not memory */
		} else {
			struct page *there = seen_at(g, space_of(g, e->a[0]), (e->a[1] >> 12) + i, false);

			/*
			 * A space that has ended shows nothing, but its pages still go to swap.  Others may share
			 * this one; if they do not, it is known no more.
			 */
			if (there == NULL) {
				if (p != NULL && p->swapped != e->a[3] + i)
					slot->value = NULL;
				continue;
			}
			p = there;
			name_page(g, p, e->a[0], (e->a[1] >> 12) + i);
		}
		slot->value = p;
		p->swapped = e->a[3] + i;
		arrive(g->b, p, false);
	}
}

/* What its entry names: at its address there may be a copy by now. */
static void on_swap_in(struct guest *g, const struct event *e)
{
	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct page *p = look(&g->in_swap, 0, e->a[2] + i);

		if (p != NULL && !p->over)
			arrive(g->b, p, true);
	}
}

/* A page as reclaim names it. */
static struct page *named(struct guest *g, const struct event *e, uint64_t i, bool anew)
{
	if (e->a[1] != NONE)
		return in_file(g, file_of(g->b, e->a[0], e->a[1], false), e->a[2] + i, anew);
	return e->a[5] == NONE ? NULL : look(&g->in_swap, 0, e->a[5] + i);
}

static void on_reclaim(struct guest *g, const struct event *e)
{
	uint32_t first = g->b->evictions;

	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct page *p = named(g, e, i, false);

		g->reclaimed++;
		if (e->a[1] == NONE && e->a[5] == NONE) {
			g->dropped++;
		} else if (p == NULL || p->over) {
			g->unknown++;
		} else {
			if (p->file)
				device_is_taken(g->b, g->b->file[p->file].on);
			evict(g->b, p, e->a[6], e->a[7]);
		}
	}
	if (!next_moment(g->b, first))
		g->wrong = "there are too many moments";
}

static void on_refault(struct guest *g, const struct event *e)
{
	for (uint64_t i = 0; i < e->a[4]; i++) {
		struct page *p = named(g, e, i, true);

		if (p != NULL && !p->over)
			arrive(g->b, p, true);
	}
}

static void on_file(struct guest *g, const struct event *e)
{
	uint32_t of = file_of(g->b, e->a[0], e->a[1], false);

	if (g->b->file[of].known && g->b->file[of].generation != e->a[3])
		of = file_of(g->b, e->a[0], e->a[1], true);
	g->b->file[of].known = true;
	name_file(g, of, e->text);
	g->b->file[of].generation = e->a[3];
}

static void on_snapshot(struct guest *g, const struct event *e)
{
	if (e->a[0] != 0)
		forget_spaces(g);
	empty(&g->in_frame);
}

static void on_unmap(struct guest *g, const struct event *e)
{
	unmap_pages(g, space_of(g, e->a[0]), e->a[1] >> 12, e->a[2] >> 12);
}

static void on_shm_detach(struct guest *g, const struct event *e)
{
	const size_t in = space_of(g, e->a[0]);
	const struct region *r = region_at(g, in, e->a[1] >> 12);

	if (r != NULL)
		unmap_pages(g, in, r->from, r->to);
}

static void on_gap(struct guest *g, const struct event *e)
{
	miss_records(g->b, e->a[1] != 0);
	if (e->a[1] == 0)
		return;
	forget_spaces(g);
	empty(&g->in_swap);
	empty(&g->in_frame);
}

static void on_tracing(struct guest *g, const struct event *e)
{
	switch_tracing(g->b, e->a[0] != 0);
}

static void on_state(struct guest *g, const struct event *e)
{
	(void)e;
	g->wrong = "it begins with a state";
}

bool event_is_odd(const struct event *e)
{
	static const char *const with_pages[] = { "cache-add", "cache-remove", "reclaim", "refault", "swap-in", "swap-out" };

	for (size_t i = 0; i < sizeof(with_pages) / sizeof(with_pages[0]); i++)
		if (strcmp(e->name, with_pages[i]) == 0)
			return e->a[4] == 0 || e->a[4] > MOST;
	return false;
}

const char *guest_event(struct guest *g, const struct event *e)
{
	static const struct {
		const char *name;
		void (*take)(struct guest *g, const struct event *e);
	} events[] = {
		{ "brk", on_brk }, { "cache-add", on_cache_add }, { "cache-remove", on_cache_remove },
		{ "cow-break", on_cow_break }, { "discard", on_discard }, { "file", on_file }, { "gap", on_gap },
		{ "map", on_map }, { "page-own", on_page_own }, { "present", on_present }, { "reclaim", on_reclaim },
		{ "refault", on_refault }, { "remap", on_remap }, { "shm-detach", on_shm_detach },
		{ "snapshot", on_snapshot }, { "space-duplicate", on_fork }, { "space-end", on_space_end },
		{ "state", on_state }, { "swap-in", on_swap_in }, { "swap-out", on_swap_out }, { "tracing", on_tracing },
		{ "unmap", on_unmap }
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(e->name, events[i].name) == 0)
			events[i].take(g, e);
	return g->wrong;
}

struct page *guest_page(struct guest *g, uint64_t space, uint64_t at, bool write)
{
	struct page *p;

	if (at >= KERNEL >> 12)
		return look(&g->in_kernel, 0, at);
	p = seen_at(g, space_of(g, space), at, write);
	if (p != NULL)
		name_page(g, p, space, at);
	return p;
}

void guest_open(struct guest *g, struct books *b)
{
	*g = (struct guest){ .b = b, .families = 1 };
}

void guest_close(struct guest *g)
{
	for (size_t i = 0; i < g->spaces; i++)
		free(g->space[i].region);
	free(g->space);
	free(g->shown.slot);
	free(g->contents.slot);
	free(g->in_kernel.slot);
	free(g->in_swap.slot);
	free(g->in_frame.slot);
}
