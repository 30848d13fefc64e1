/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depths of stack policies.
 *
 * A stack policy (LRU, OPT) keeps pages in one order such that a memory of s
 * pages holds exactly the first s.  The depth of a reference is its page's place
 * in that order just before, from 1; the reference faults at the sizes below
 * its depth.
 */
#ifndef LAPLACE_SIM_DEPTH_H
#define LAPLACE_SIM_DEPTH_H

#include <stdint.h>

/* The depth of a first reference; pages are fewer. */
#define LPL_DEPTH_NONE UINT32_MAX

#endif
