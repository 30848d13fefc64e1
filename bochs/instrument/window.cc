/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The current window; see window.h. */
#include "window.h"

#include <cstdlib>
#include <cstring>

#include "collect/collector.h"

bool laplace_window_init(struct laplace_window *w, uint32_t pages_max)
{
	uint32_t buckets = 64;

	while (buckets < 4 * pages_max)
		buckets *= 2;
	laplace_window_free(w);
	w->pages_max = pages_max;
	w->bucket_mask = buckets - 1;
	w->page = (struct laplace_page *)calloc(pages_max, sizeof(*w->page));
	w->fetched = (struct laplace_page **)calloc(pages_max, sizeof(struct laplace_page *));
	w->bucket = (uint32_t *)calloc(buckets, sizeof(*w->bucket));
	w->record = (struct lpl_ring_record *)calloc(2 * (size_t)pages_max, sizeof(*w->record));
	return w->page && w->fetched && w->bucket && w->record;
}

void laplace_window_free(struct laplace_window *w)
{
	free(w->page);
	free(w->fetched);
	free(w->bucket);
	free(w->record);
	w->page = NULL;
	w->fetched = NULL;
	w->bucket = NULL;
	w->record = NULL;
}

/* ---- pages ---- */

/*
 * A table of our own: it has a fixed size, of 4 bytes a place, and is emptied at once when the window
 * ends.  With the library's map (laplace/base/map.h), which is not public, a reference that comes here
 * would take ten times the instructions: `bench/tables` has both.
 */
static uint32_t bucket_of(const struct laplace_window *w, uint64_t page, uint64_t space)
{
	uint64_t h = (page ^ space * UINT64_C(0x9e3779b97f4a7c15)) *
		     UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(h >> 32) & w->bucket_mask;
}

/* What is kept of a reference. */
static uint64_t kept(const struct laplace_processor *p, uint64_t clock, unsigned type)
{
	return laplace_number_of(p, clock) << 3 | (clock & LAPLACE_USER ? 4 : 0) | type;
}

/* This reference is the page's last, unless a later one is known. */
static void note_last(const struct laplace_processor *p, struct laplace_page *page,
		      uint64_t clock, unsigned type)
{
	uint64_t last = kept(p, clock, type);

	if (last >> 3 > page->last >> 3) {
		page->last = last;
		page->last_instr = laplace_instr_of(p, clock);
	}
	page->wrote |= type == LPL_WRITE && last >> 3 > page->first >> 3;
}

struct laplace_page *laplace_touch(struct laplace_window *w, const struct laplace_processor *p,
				   uint64_t page, uint64_t space, uint64_t clock,
				   unsigned type)
{
	uint32_t b = bucket_of(w, page, space);
	struct laplace_page *entered;
	uint64_t instr;

	for (; w->bucket[b]; b = (b + 1) & w->bucket_mask) {
		struct laplace_page *known = &w->page[w->bucket[b] - 1];

		if (known->page == page && known->space == space) {
			note_last(p, known, clock, type);
			return known;
		}
	}
	if (w->pages == w->pages_max)
		return NULL;
	entered = &w->page[w->pages];
	w->bucket[b] = ++w->pages;
	instr = laplace_instr_of(p, clock);
	entered->fetch = 0;
	entered->page = page;
	entered->space = space;
	entered->first = entered->last = kept(p, clock, type);
	entered->first_instr = entered->last_instr = instr;
	entered->first_cycle = laplace_cycle_at(instr);
	entered->cycle_known = ~UINT64_C(0);
	entered->wrote = false;
	entered->place = 0;
	return entered;
}

void laplace_enter_code(struct laplace_window *w, struct laplace_page *page, uint64_t clock)
{
	if (!page->fetch && page != &w->nowhere)
		w->fetched[w->fetched_count++] = page;
	page->fetch = clock;
}

/* ---- slots ---- */

void laplace_open(struct laplace_window *w, const struct laplace_processor *p,
		  struct laplace_slot *slot, struct laplace_page *page)
{
	slot->read = slot->write = 0;
	slot->page = page;
	if (slot == &p->stack)
		return;
	if (w->slots == LAPLACE_SLOTS) {	/* the TLB was filled anew many times */
		while (w->slots) {
			struct laplace_slot *old = w->slot[--w->slots];

			if (old != slot) {
				laplace_gather(p, old);
				laplace_close_slot(old);
			}
		}
	}
	w->slot[w->slots++] = slot;
}

static void take_times(const struct laplace_processor *p, struct laplace_slot *slot)
{
	if (!slot->page)
		return;
	if (slot->read)
		note_last(p, slot->page, slot->read, LPL_READ);
	if (slot->write)
		note_last(p, slot->page, slot->write, LPL_WRITE);
	slot->read = slot->write = 0;
}

void laplace_gather(const struct laplace_processor *p, struct laplace_slot *slot)
{
	take_times(p, slot);
	slot->page = NULL;
}

void laplace_gather_all(struct laplace_window *w, struct laplace_processor *p)
{
	take_times(p, &p->stack);
	for (uint32_t i = 0; i < w->slots; i++)
		take_times(p, w->slot[i]);
	for (uint32_t i = 0; i < w->fetched_count; i++)
		note_last(p, w->fetched[i], w->fetched[i]->fetch, LPL_FETCH);
}

void laplace_close_all(struct laplace_window *w, struct laplace_processor *p)
{
	if (p->stack.page) {
		laplace_gather(p, &p->stack);
		laplace_close_stack();
	}
	while (w->slots) {
		struct laplace_slot *slot = w->slot[--w->slots];

		if (slot->page) {
			laplace_gather(p, slot);
			laplace_close_slot(slot);
		}
	}
	while (w->fetched_count) {
		struct laplace_page *page = w->fetched[--w->fetched_count];

		note_last(p, page, page->fetch, LPL_FETCH);
		page->fetch = 0;
	}
	p->modified = &p->lost;
}

uint64_t laplace_fold(struct laplace_processor *p)
{
	uint64_t now = p->clock & LAPLACE_INSTR_MASK, data = p->clock & LAPLACE_DATA_MASK;
	/* the history is by the clock's low byte, and reaches back */
	uint64_t begin = LAPLACE_ONE_INSTR << 20, begin_data = LAPLACE_BIAS + (data & 0xff);
	uint64_t moved = (begin | begin_data) - (now | data);

	p->base_instr += (now - begin) >> LAPLACE_INSTR_SHIFT;
	p->base_data += data - begin_data;
	p->clock += moved;
	for (uint64_t &clock : p->history)
		clock += moved;
	return moved;
}

/* ---- the end ---- */

void laplace_send_window(struct laplace_window *w)
{
	struct lpl_ring_record *record = w->record;

	for (uint32_t i = 0; i < w->pages; i++) {
		const struct laplace_page *p = &w->page[i];
		uint64_t cycle = p->cycle_known == p->last_instr ? p->last_cycle :
				 laplace_cycle_at(p->last_instr);

		*record++ = { { p->first, p->first_instr, p->first_cycle,
				LPL_WIRE_KIND(LPL_WIRE_PAGE) | p->page } };
		*record++ = { { p->last, p->last_instr, cycle,
				(p->space == LAPLACE_WALK_SPACE ? LPL_WIRE_WALK : p->space) |
				(p->wrote ? LPL_WIRE_WROTE : 0) } };
	}
	laplace_send(w->record, 2 * (size_t)w->pages);
	memset(w->bucket, 0, (w->bucket_mask + 1) * sizeof(w->bucket[0]));
	w->pages = 0;
	w->events = 0;
}
