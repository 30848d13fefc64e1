/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The current window: its pages, what was kept of their references, and what is open.
 *
 * Nothing here knows Bochs: a unit test drives it with a machine of its own.
 */
#ifndef LAPLACE_WINDOW_H
#define LAPLACE_WINDOW_H

#include "ring/ring.h"

#include "hooks.h"

/*
 * A page of the window.  What is kept of a reference, `first` and `last`, is its
 * number << 3, with the mode (4: user) and the type (enum lpl_type) below it.
 */
struct laplace_page {
	uint64_t fetch;		/* the clock at its last fetch, if that is not in `last` */
	uint64_t page, space;	/* identity; walks have a space of their own */
	uint64_t first, last;
	uint64_t first_instr, last_instr;
	uint64_t first_cycle;
	uint64_t last_cycle;	/* when cycle_known is last_instr */
	uint64_t cycle_known;
	bool wrote;		/* a write followed the first reference */
	uint32_t place;		/* in the memory that evicts pages (images.h); 0: not yet */
};

#define LAPLACE_WALK_SPACE	(~UINT64_C(0))

enum {
	LAPLACE_SLOTS = 4096
};

struct laplace_window {
	struct laplace_page *page;
	uint32_t pages, pages_max;
	uint32_t *bucket;		/* hash table of page index + 1 */
	uint32_t bucket_mask;
	uint32_t events, events_max;	/* so many end it */
	struct laplace_page nowhere;	/* where references go that are not recorded */
	struct laplace_slot *slot[LAPLACE_SLOTS];	/* those opened, but for the stack's */
	uint32_t slots;
	/* pages with a `fetch` that may hold a time */
	struct laplace_page **fetched;
	uint32_t fetched_count;
	struct lpl_ring_record *record;	/* two a page, when it is sent */
};

bool laplace_window_init(struct laplace_window *w, uint32_t pages_max);
void laplace_window_free(struct laplace_window *w);

/*
 * The struct of a page, entered with this reference as its first if need be.  NULL:
 * the window is full, and has to end before this reference.
 */
struct laplace_page *laplace_touch(struct laplace_window *w, const struct laplace_processor *p,
				   uint64_t page, uint64_t space, uint64_t clock,
				   unsigned type);
/* Fetches may leave the clock with this page from now on; `clock` is that of one. */
void laplace_enter_code(struct laplace_window *w, struct laplace_page *page, uint64_t clock);
/* References may use this slot from now on. */
void laplace_open(struct laplace_window *w, const struct laplace_processor *p,
		  struct laplace_slot *slot, struct laplace_page *page);
/* Take the times from a slot, which is not used any more. */
void laplace_gather(const struct laplace_processor *p, struct laplace_slot *slot);
/* Take all times, and leave open what is. */
void laplace_gather_all(struct laplace_window *w, struct laplace_processor *p);
/* Close all slots, the stack's too, with their times gathered, and those of fetches. */
void laplace_close_all(struct laplace_window *w, struct laplace_processor *p);
/* Move what the clock holds to its bases; all is closed.  Returns what was added to the clock. */
uint64_t laplace_fold(struct laplace_processor *p);
/* Send the pages, and begin a new window; all is closed. */
void laplace_send_window(struct laplace_window *w);

/* ---- what it asks of others ---- */

void laplace_close_slot(struct laplace_slot *slot);	/* references must come by the slow path */
void laplace_close_stack(void);
uint64_t laplace_cycle_at(uint64_t instr);
void laplace_send(const struct lpl_ring_record *records, size_t count);

#endif
