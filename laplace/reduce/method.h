/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Methods of reduction: what each one claims, and what makes a stage of it.
 *
 * A method is described by a struct lpl_method at the end of its own file.  All that other files
 * have to know of it is there: no code asks which method it is.
 */
#ifndef LAPLACE_REDUCE_METHOD_H
#define LAPLACE_REDUCE_METHOD_H

#include <laplace/reducer.h>

#include "stage.h"

/* The methods, in the order in which they are listed: lpl_method_NAME. */
#define LPL_METHODS(METHOD) \
	METHOD(none) \
	METHOD(block) \
	METHOD(window) \
	METHOD(sad) \
	METHOD(sad2) \
	METHOD(sad2_fix) \
	METHOD(sad_ws) \
	METHOD(sd) \
	METHOD(irg) \
	METHOD(glass_cao) \
	METHOD(in_out) \
	METHOD(replay) \
	METHOD(olr) \
	METHOD(lrubs) \
	METHOD(annotated) \
	METHOD(fence) \
	METHOD(unfence) \
	METHOD(chosen) \
	METHOD(merged) \
	METHOD(scheduled)

/* What is there between a reference that is dropped and those that are kept around it? */
enum lpl_drops {
	LPL_DROPS_NOTHING,
	LPL_DROPS_IN_RUN,	/* no event, and no reference to another page */
	LPL_DROPS_IN_WINDOW,	/* no event that changes what a page means */
	LPL_DROPS_ANYWHERE	/* anything, unless the method has a fenced form */
};

/* What simulations are exact for, from the method's number on; see struct lpl_exactness. */
enum lpl_claim {
	LPL_CLAIM_LRU = 1, LPL_CLAIM_OPT = 2, LPL_CLAIM_DEMAND = 4, LPL_CLAIM_WS = 8,
	LPL_CLAIM_ANY_ORDER = 16	/* see lpl_reduction_any_order() */
};

/* Do the methods after this one respect changes of mapping? */
enum lpl_fencing { LPL_FENCING_AS_BEFORE, LPL_FENCING_BEGINS, LPL_FENCING_ENDS };

/* May windows of K pages, which cost a simulator next to nothing, stand for the method? */
enum lpl_windows {
	LPL_WINDOWS_NO,
	LPL_WINDOWS_FIRST,	/* before the method itself: the result is as exact */
	LPL_WINDOWS_ALL		/* instead of it: it does nothing else */
};

struct lpl_method {
	const char *name;
	const char *letter;	/* of its number, for people: K, TAU ... */
	enum lpl_unit unit;	/* of its number; that of bytes may be left out */
	enum lpl_drops drops;
	unsigned int claims;	/* LPL_CLAIM_*; if it drops nothing, all is exact */
	enum lpl_fencing fencing;
	enum lpl_windows windows;
	bool unmentioned;	/* leaves no mark in a trace's header */
	bool adds_references;	/* LPL_SYNTHETIC ones, with the clocks of others */
	bool makes_behaviour;	/* a behaviour sequence, instead of references */
	bool makes_records;	/* of active periods, instead of references, and ... */
	bool reads_records;	/* ... makes references of them */
	bool annotates;		/* references, with the evictions of a memory of K pages */
	/* Make a stage; NULL: no memory.  Methods without one stand in descriptions only. */
	lpl_stage_new *open;
	lpl_stage_new *open_fenced;	/* of a form that respects changes of mapping */
	lpl_stage_new *open_behaviour;	/* of what a method with makes_behaviour made */
};

#define LPL_DECLARE_METHOD(name) extern const struct lpl_method lpl_method_##name;
LPL_METHODS(LPL_DECLARE_METHOD)
#undef LPL_DECLARE_METHOD

/* The method that has these `length` characters as its name; NULL: none has. */
const struct lpl_method *lpl_method_find(const char *name, size_t length);

#endif
