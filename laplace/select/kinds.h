/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A choice by kind without a stream through it: for whoever finds the pages itself. */
#ifndef LAPLACE_SELECT_KINDS_H
#define LAPLACE_SELECT_KINDS_H

#include <stdbool.h>

#include <laplace/select.h>

/* What a page is, by an LPL_EVENT_PAGE. */
enum lpl_error lpl_kinds_note(struct lpl_kinds *kinds, const struct lpl_event *event,
			      struct lpl_report *report);
/* Is it chosen?  Not if nothing said what it is. */
bool lpl_kinds_want(struct lpl_kinds *kinds, uint64_t page);

#endif
