/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References to page tables, when the processor walks them.
 *
 * Bochs says of each why it is made, and so of which table the entry is, and has the entry at hand.  What
 * the tables are walked for is said where a walk begins.  Which bits a write sets is found by comparison with
 * what the same walk has read.  The purpose and the bits are in the reference; of which table a frame is, and
 * which entries map large pages, is in an event where that is new (laplace/translate/walks.h).
 */
#ifndef LAPLACE_WALKS_H
#define LAPLACE_WALKS_H

void laplace_walks_open(void);
void laplace_walks_close(void);

#endif
