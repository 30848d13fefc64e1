/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See regret-spaces.h. */
#include "regret-spaces.h"
#include "regret-tasks.h"

#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

struct page *in_file(struct guest *g, uint32_t of, uint64_t offset, bool anew)
{
	struct slot *slot = find(&g->contents, of, offset, true);
	struct page *p = slot->value;

	if (p != NULL && p->left && !p->over && anew)
		end(g->b, p);
	if (p != NULL && p->over)
		p = NULL;
	if (p == NULL) {
		p = slot->value = new_page(g->b);
		p->file = of;
		p->offset = offset;
	}
	return p;
}

void name_file(struct guest *g, uint32_t of, const char *name)
{
	if (strcmp(name, "-") != 0)
		g->b->file[of].name = kept(g->b, name);
}

/* ---- spaces ---- */

size_t space_of(struct guest *g, uint64_t number)
{
	size_t i;

	for (i = 0; i < g->spaces; i++)
		if (g->space[i].alive && g->space[i].number == number)
			return i;
	g->space = resized(g->space, ++g->spaces, sizeof(*g->space));
	g->space[i] = (struct space){ .number = number, .alive = true };
	return i;
}

struct region *region_at(const struct guest *g, size_t in, uint64_t at)
{
	for (size_t i = 0; i < g->space[in].regions; i++)
		if (g->space[in].region[i].from <= at && at < g->space[in].region[i].to)
			return &g->space[in].region[i];
	return NULL;
}

void put_region(struct guest *g, size_t in, struct region region)
{
	struct space *s = &g->space[in];

	if (region.from >= region.to)
		return;
	s->region = resized(s->region, s->regions + 1, sizeof(region));
	s->region[s->regions++] = region;
}

void show_page(struct guest *g, size_t in, uint64_t at, struct page *p)
{
	struct slot *slot = find(&g->shown, in, at, p != NULL);
	struct page *old;

	if (slot == NULL)
		return;
	old = slot->value;
	slot->value = p;
	slot->mark = false;
	if (p != NULL)
		p->places++;
	if (old != NULL && --old->places == 0)
		end(g->b, old);
}

void hide_pages(struct guest *g, size_t in, uint64_t from, uint64_t to)
{
	if (to - from < g->shown.size) {
		for (; from < to; from++)
			show_page(g, in, from, NULL);
		return;
	}
	for (size_t i = 0; i < g->shown.size; i++)
		if (g->shown.slot[i].value && g->shown.slot[i].a == in && g->shown.slot[i].b >= from && g->shown.slot[i].b < to)
			show_page(g, in, g->shown.slot[i].b, NULL);
}

size_t take_regions(struct guest *g, size_t in, uint64_t from, uint64_t to, struct region **parts)
{
	size_t count = 0;

	*parts = NULL;
	for (size_t i = 0; i < g->space[in].regions; ) {
		struct region r = g->space[in].region[i], part = r;

		if (r.to <= from || r.from >= to) {
			i++;
			continue;
		}
		g->space[in].region[i] = g->space[in].region[--g->space[in].regions];
		part.from = r.from > from ? r.from : from;
		part.to = r.to < to ? r.to : to;
		*parts = resized(*parts, count + 1, sizeof(part));
		(*parts)[count++] = part;
		put_region(g, in, (struct region){ r.from, part.from, r.what, r.file, r.offset, r.family });
		put_region(g, in, (struct region){ part.to, r.to, r.what, r.file, r.offset, r.family });
		i = 0;
	}
	return count;
}

void unmap_pages(struct guest *g, size_t in, uint64_t from, uint64_t to)
{
	struct region *parts;

	take_regions(g, in, from, to, &parts);
	free(parts);
	hide_pages(g, in, from, to);
}

struct page *own_page(struct guest *g)
{
	struct page *p = new_page(g->b);

	return p;
}

/* Anonymous memory is touched for the first time: it is one page in all forks that have nothing there yet. */
static struct page *touch(struct guest *g, size_t in, uint64_t at, const struct region *r)
{
	struct page *p = own_page(g);
	uint32_t family = r->family;
	uint64_t place = at + r->offset;

	show_page(g, in, at, p);
	for (size_t i = 0; i < g->spaces; i++) {
		if (!g->space[i].alive || i == in)
			continue;
		for (size_t j = 0; j < g->space[i].regions; j++) {
			struct region *other = &g->space[i].region[j];
			uint64_t there = place - other->offset;

			if (other->family == family && there >= other->from && there < other->to && !look(&g->shown, i, there))
				show_page(g, i, there, p);
		}
	}
	return p;
}

void name_page(const struct guest *g, struct page *p, uint64_t in, uint64_t at)
{
	if (p->named)
		return;
	p->named = true;
	p->space = in;
	p->virtual_page = at;
	p->process = process_in(g->b, in);
}

bool has_own(const struct region *r)
{
	return r->what == R_ANONYMOUS || r->what == R_PRIVATE || r->what == R_STACK || r->what == R_HEAP;
}

struct page *seen_at(struct guest *g, size_t in, uint64_t at, bool write)
{
	struct slot *slot = find(&g->shown, in, at, false);
	struct region *r;
	struct page *p;

	if (slot != NULL && slot->value != NULL) {
		p = slot->value;
		if (!write || p->places == 1 || slot->mark)
			return p;
		p = own_page(g);
		show_page(g, in, at, p);
		return p;
	}
	r = region_at(g, in, at);
	if (r == NULL || r->what == R_SPECIAL)
		return NULL;
	if (has_own(r) && r->what != R_PRIVATE)
		return touch(g, in, at, r);
	if (r->what == R_PRIVATE && write) {
		p = own_page(g);
		show_page(g, in, at, p);
		return p;
	}
	if (r->file == 0)
		return NULL;
	return in_file(g, r->file, at + r->offset, true);
}

void end_space(struct guest *g, size_t in)
{
	unmap_pages(g, in, 0, UINT64_MAX >> 12);
	g->space[in].alive = false;
}

void forget_spaces(struct guest *g)
{
	for (size_t i = 0; i < g->spaces; i++)
		if (g->space[i].alive)
			end_space(g, i);
	empty(&g->in_kernel);
}
