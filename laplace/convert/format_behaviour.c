/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LRU behaviour sequences: what a memory of K pages does, and nothing else.
 *
 *	3f NF		page 3f is fetched; the memory is not full
 *	40 3f		page 40 is fetched, page 3f evicted
 *
 * In a trace it is what `lrubs:K` makes: the references that fetch, each followed by
 * an event LPL_EVENT_EVICTED where it evicts.  Types, spaces, clocks and dirtiness
 * are not in this format: import makes reads, in one space, of nothing dirty.
 *
 * A sequence that no memory of K pages can show is refused.  That takes the set of
 * pages in memory, O(K); whether the order is LRU's is left to `olr:K`, which meets
 * it when it looks for a trace with this behaviour.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "event_text.h"
#include "exporter.h"
#include "importer.h"

struct memory {
	struct lpl_map pages;	/* each with the line that fetched it */
	uint64_t not_full;	/* lines with NF */
};

static bool evict(struct lpl_importer *importer, uint64_t page)
{
	struct memory *memory = importer->state;
	const uint64_t size = importer->options.memory;

	if (memory->pages.count < size)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is evicted "
					 "from a memory that holds only %zu of %" PRIu64 " pages "
					 "(-k; the %" PRIu64 " NF so far would fill %" PRIu64 ")",
					 page, memory->pages.count, size, memory->not_full,
					 memory->not_full);
	if (lpl_map_remove(&memory->pages, LPL_KEY(page)))
		return true;
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is evicted and was "
				 "not in memory", page);
}

static bool fetch(struct lpl_importer *importer, uint64_t page)
{
	struct memory *memory = importer->state;
	uint64_t *line = lpl_map_reach(&memory->pages, LPL_KEY(page));

	if (!line) {
		(void)lpl_fail(importer->report, LPL_ERR_MEMORY, "no memory for %zu pages",
			       memory->pages.count);
		return false;
	}
	if (*line)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is fetched "
					 "and is in memory, since line %" PRIu64, page, *line);
	*line = importer->place;
	return true;
}

/* Nothing was evicted. */
static bool grow(struct lpl_importer *importer)
{
	struct memory *memory = importer->state;

	if (memory->pages.count < importer->options.memory) {
		memory->not_full++;
		return true;
	}
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "NF, but the memory of %" PRIu64
				 " pages (-k) is full: it has %" PRIu64 " or more",
				 importer->options.memory, memory->not_full + 1);
}

static bool send_evicted(struct lpl_importer *importer, const struct lpl_ref *ref,
			 uint64_t evicted)
{
	struct lpl_event event = {
		.ref = ref->ref, .instr = ref->instr, .cycle = ref->cycle,
		.tag = LPL_EVENT_EVICTED,
	};
	struct lpl_ref page = { 0 };

	if (!lpl_import_set_page(importer, &page, evicted))
		return false;
	event.arg[LPL_EVENT_EVICTED_ADDRESS] = page.address;
	return lpl_import_event(importer, &event);
}

static const char *read_behaviour(struct lpl_importer *importer, const char *at)
{
	struct lpl_ref ref = { .ref = importer->ref + 1, .type = LPL_READ };
	uint64_t fetched, evicted;
	const char *rest;

	rest = lpl_scan_hex(at, &fetched);
	if (!rest || !scan_is_end(*rest) || lpl_event_is_line(at))
		return lpl_import_other_line(importer, at);
	ref.instr = ref.cycle = ref.ref;
	at = scan_blanks(rest);
	if (at[0] == 'N' && at[1] == 'F' && scan_is_end(at[2])) {
		at = lpl_import_line_end(importer, at + 2);
		return at && grow(importer) && fetch(importer, fetched) &&
		       lpl_import_set_page(importer, &ref, fetched) &&
		       lpl_import_ref(importer, &ref) ? at : NULL;
	}
	at = scan_hex_field(rest, &evicted);
	if (!at)
		return lpl_import_no_field(importer, "evicted page");
	at = lpl_import_line_end(importer, at);
	return at && evict(importer, evicted) && fetch(importer, fetched) &&
	       lpl_import_set_page(importer, &ref, fetched) && lpl_import_ref(importer, &ref) &&
	       send_evicted(importer, &ref, evicted) ? at : NULL;
}

static void begin_memory(void *state)
{
	lpl_map_init(&((struct memory *)state)->pages, 1);
}

static void free_memory(void *state)
{
	lpl_map_free(&((struct memory *)state)->pages);
}

/* ---- printing ---- */

/* A fetch is printed when it is known whether it evicts. */
struct fetching {
	bool is;
	uint64_t page;
};

static char *write_not_full(struct lpl_exporter *exporter, char *out)
{
	struct fetching *fetching = exporter->state;

	if (!fetching->is)
		return out;
	fetching->is = false;
	out = lpl_put_hex(out, fetching->page);
	return stpcpy(out, " NF\n");
}

static char *write_fetch(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct fetching *fetching = exporter->state;

	out = write_not_full(exporter, out);
	*fetching = (struct fetching){ true, lpl_export_page(exporter, ref) };
	return out;
}

static char *write_evicted(struct lpl_exporter *exporter, char *out, const struct lpl_event *event)
{
	struct fetching *fetching = exporter->state;

	if (event->tag != LPL_EVENT_EVICTED)
		return NULL;
	if (!fetching->is)
		return lpl_export_refuse(exporter, LPL_ERR_DAMAGED, "an eviction follows no "
					 "fetch, after reference %" PRIu64, event->ref);
	fetching->is = false;
	exporter->result.losses.spaces +=
		event->arg[LPL_EVENT_EVICTED_SPACE] != exporter->last.space;
	out = lpl_put_hex(out, fetching->page);
	out = put_hex_field(out, event->arg[LPL_EVENT_EVICTED_ADDRESS] >> exporter->page_shift);
	return put_newline(out);
}

const struct lpl_format lpl_format_behaviour = {
	.name = "behaviour",
	.fields = "FETCHED EVICTED|NF",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_BEHAVIOUR | LPL_FORMAT_EVENTS,
	.read_line = read_behaviour,
	.import_state = sizeof(struct memory),
	.import_begin = begin_memory,
	.import_free = free_memory,
	.write_ref = write_fetch,
	.write_event = write_evicted,
	.write_rest = write_not_full,
	.export_state = sizeof(struct fetching),
};
