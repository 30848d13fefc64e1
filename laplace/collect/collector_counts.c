/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far the collector has counted, whichever of the two streams it has. */
#include "collector_struct.h"

uint64_t lpl_collector_references(const struct lpl_collector *c)
{
	return atomic_load_explicit(c->has_log ? &c->log.references : &c->stream.references,
				    memory_order_relaxed);
}

uint64_t lpl_collector_instructions(const struct lpl_collector *c)
{
	return atomic_load_explicit(c->has_log ? &c->log.instructions : &c->stream.instructions,
				    memory_order_relaxed);
}

uint64_t lpl_collector_events(const struct lpl_collector *c)
{
	return atomic_load_explicit(c->has_log ? &c->log.events : &c->stream.events_taken,
				    memory_order_relaxed);
}

uint64_t lpl_collector_tracer_refs(const struct lpl_collector *c)
{
	return c->has_log ? c->log.tracer_refs : c->stream.tracer_refs;
}

struct lpl_totals *lpl_collector_totals(struct lpl_collector *c)
{
	return c->has_log ? &c->refs.totals : &c->stream.totals;
}

uint64_t lpl_collector_wait_ns(const struct lpl_collector *c)
{
	return c->earlier_wait_ns + lpl_ring_wait_ns(c->ring);
}
