/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the events of a guest's kernel say of its pages. */
#ifndef LAPLACE_TESTS_REGRET_GUEST_PAGES_H
#define LAPLACE_TESTS_REGRET_GUEST_PAGES_H

#include "regret-spaces.h"

struct event {
	char name[24];
	uint64_t space, tid, tgid;
	uint64_t a[12];
	const char *text;	/* escaped; "-": none */
};

void guest_open(struct guest *g, struct books *b);
void guest_close(struct guest *g);
/* It is about no page, or about more than can be: nothing is to be made of it. */
bool event_is_odd(const struct event *e);
/* NULL, or what is wrong. */
const char *guest_event(struct guest *g, const struct event *e);
/* Which page a reference is to; NULL: none that reclaim takes. */
struct page *guest_page(struct guest *g, uint64_t space, uint64_t at, bool write);

#endif
