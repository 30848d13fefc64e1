/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages that owe a write: a reference to them was dropped, it was a write, and no
 * reference kept since then says so.
 */
#ifndef LAPLACE_REDUCE_OWED_H
#define LAPLACE_REDUCE_OWED_H

#include "pages.h"

struct lpl_owed {
	struct lpl_pages pages;	/* that ever owed one */
	bool *owes;		/* by page number */
	size_t capacity;
};

bool lpl_owed_init(struct lpl_owed *owed);	/* false: no memory */
void lpl_owed_free(struct lpl_owed *owed);

/* The page owes a write from now on.  false: no memory. */
bool lpl_owed_add(struct lpl_owed *owed, struct lpl_page page);
/* Did it owe one?  No longer. */
bool lpl_owed_pay(struct lpl_owed *owed, struct lpl_page page);

#endif
