/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The beacon: a known sequence of references, for a test to find in a trace.
 *
 * The exerciser maps BEACON_PAGES pages of zeroed, private, anonymous memory at
 * BEACON_BASE and makes exactly the references below to them, in this order and
 * no others.  The test computes the same list by a program of its own
 * (tests/guest/beacon-expect) from this description, and looks for it in the
 * raw trace among the user-mode data references of that task to
 * [BEACON_BASE, BEACON_END).
 *
 * First each page is touched, in ascending order: a 1-byte load at(page, 0), then
 * at the same address a 1-byte store if the page's number is even and an addl
 * if it is odd (at() and addl are below).  Each of these accesses faults, and
 * counts once, when it is retried.  Nothing after them faults.
 *
 * Numbers come from the generator of Park and Miller,
 *
 *	x(0) = BEACON_SEED,  x(n+1) = 16807 * x(n) mod (2^31 - 1),
 *
 * and x(1) is the first one used.  Each of BEACON_STEPS steps takes three
 * numbers, K, P and O, and makes one access by one machine instruction:
 *
 *	kind = K mod 13, page = P mod BEACON_PAGES,
 *	at(page, offset) = BEACON_BASE + 4096 * page + offset
 *
 *	kind	access			address
 *	0..3	load, 1 2 4 8 bytes	at(page, O mod (4097 - bytes))
 *	4..7	store, 1 2 4 8 bytes	at(page, O mod (4097 - bytes))
 *	8	addl: 4-byte read,	at(page, O mod 4093)
 *		then write
 *	9	8-byte load across	at(p, -(1 + O mod 7)) where
 *		a page boundary		p = 1 + P mod (BEACON_PAGES - 1)
 *	10	8-byte store, as 9	as 9
 *	11	rep movsb of		from at(page, O mod 4000) to
 *		1 + O mod 48 bytes	at((page + 1) mod BEACON_PAGES, O mod 4000)
 *	12	movups: 16-byte store	at(page, O mod 4081)
 *
 * As references: kinds 0 to 7 and 12 make one; kind 8 a read and a write of the
 * same four bytes; kinds 9 and 10 two of the same direction, first the part
 * in the lower page, then the rest; kind 11 a 1-byte read and a 1-byte write
 * alternately, at ascending addresses.
 *
 * (Without the touching, a rep movsb that faults at its destination would read
 * its source a second time when it is retried, on some processors.)
 */
#ifndef BEACON_H
#define BEACON_H

#define BEACON_BASE	0x100000000000UL
#define BEACON_PAGES	64
#define BEACON_END	(BEACON_BASE + 4096UL * BEACON_PAGES)
#define BEACON_SEED	20040114U
#define BEACON_STEPS	4096

/* Written as user marks around it, where there is a tracer to write to. */
#define BEACON_MARK_BEGIN	"beacon-begin"
#define BEACON_MARK_END		"beacon-end"

/* Map, make the references, unmap.  0, or -1 with errno. */
int beacon_run(void);

#endif
