/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STATE chunks, with which a segment begins (docs/format.md, section 11). */
#ifndef LAPLACE_CONTAINER_STATE_CHUNK_H
#define LAPLACE_CONTAINER_STATE_CHUNK_H

#include "writer.h"

/*
 * Put what the writer's keeper sends after the header of the writer's file, in as many chunks as
 * it takes; none if it sends nothing.  `totals`: as of the end of the file before.
 */
enum lpl_error lpl_state_chunk_put(struct lpl_writer *writer, const struct lpl_totals *totals);

#endif
