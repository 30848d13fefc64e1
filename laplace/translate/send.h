/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a map of translations knows, as events: for a reader that begins in the middle of a trace. */
#ifndef LAPLACE_TRANSLATE_SEND_H
#define LAPLACE_TRANSLATE_SEND_H

#include <laplace/translation.h>

/*
 * Send `sink` an event LPL_EVENT_TRANSLATION for each report that is known, in the order of the reports: a map
 * that follows these is the same.  Their clocks are 0.  LPL_ERR_MEMORY, or what the sink returns.
 */
enum lpl_error lpl_translations_send(const struct lpl_translations *map, struct lpl_sink *sink,
				     struct lpl_report *report);

#endif
