/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LRU behaviour sequences, what a memory of K pages does, and annotated LRU traces, which have its
 * hits, too.
 *
 *	3f NF		page 3f is fetched; the memory is not full
 *	40 3f		page 40 is fetched, page 3f evicted
 *	40 none		a hit, of an annotated trace only
 *	LAST		the end
 *
 * In a trace a behaviour sequence is what `lrubs:K` makes: the references that fetch, each followed
 * by an event LPL_EVENT_EVICTED where it evicts.  An annotated trace is what `annotated:K` makes,
 * all references and the same events.  Types, spaces, clocks and dirtiness are not in these formats:
 * import makes reads, in one space, of nothing dirty.
 *
 * What no memory of K pages can show is refused.  That takes the set of pages in memory, O(K), and
 * for an annotated trace their order: it shows which page is the least recently used one.  Whether
 * the order of a behaviour sequence is LRU's is left to `olr:K`, which meets it when it looks for
 * a trace with this behaviour.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "event_text.h"
#include "exporter.h"
#include "importer.h"
#include "reduce/pages.h"

struct memory {
	struct lpl_pages pages;	/* in order of recency, each with the line that fetched it */
	uint64_t not_full;	/* lines with NF */
	uint64_t last;		/* the line LAST; 0: it is still to come */
};

static struct lpl_page name_of(uint64_t number)
{
	return (struct lpl_page){ .number = number };
}

static bool has_hits(const struct lpl_importer *importer)
{
	return importer->options.format->traits & LPL_FORMAT_HITS;
}

/* The place of the page that makes room; 0 after a complaint. */
static uint32_t evict(struct lpl_importer *importer, uint64_t page)
{
	const struct memory *memory = importer->state;
	const uint64_t size = importer->options.memory;
	const uint32_t i = lpl_pages_find(&memory->pages, name_of(page));

	if (memory->pages.count < size)
		(void)lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is evicted "
					"from a memory that holds only %u of %" PRIu64 " pages "
					"(-k; the %" PRIu64 " NF so far would fill %" PRIu64 ")",
					page, memory->pages.count, size, memory->not_full,
					memory->not_full);
	else if (!i)
		(void)lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is evicted "
					"and was not in memory", page);
	else if (has_hits(importer) && i != lpl_pages_oldest(&memory->pages))
		(void)lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is evicted, "
					"but page %" PRIx64 " is the least recently used one", page,
					memory->pages.node[lpl_pages_oldest(&memory->pages)].page.number);
	else
		return i;
	return 0;
}

/* To the place of `victim`; 0: a new one. */
static bool fetch(struct lpl_importer *importer, uint64_t page, uint32_t victim)
{
	struct memory *memory = importer->state;
	uint32_t i = lpl_pages_find(&memory->pages, name_of(page));

	if (i)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is fetched "
					 "and is in memory, since line %" PRIu64, page,
					 *LPL_PAYLOAD(&memory->pages, uint64_t, i));
	i = lpl_pages_enter(&memory->pages, name_of(page), victim);
	if (!i)
		return lpl_import_no_memory(importer);
	*LPL_PAYLOAD(&memory->pages, uint64_t, i) = importer->place;
	return true;
}

/* Nothing was evicted. */
static bool grow(struct lpl_importer *importer, uint64_t page)
{
	struct memory *memory = importer->state;

	if (memory->pages.count < importer->options.memory) {
		memory->not_full++;
		return fetch(importer, page, 0);
	}
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "NF, but the memory of %" PRIu64
				 " pages (-k) is full: it has %" PRIu64 " or more",
				 importer->options.memory, memory->not_full + 1);
}

static bool hit(struct lpl_importer *importer, uint64_t page)
{
	struct memory *memory = importer->state;

	if (!has_hits(importer))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a hit, which is no part of a "
					 "behaviour sequence: --from annotated reads hits");
	if (lpl_pages_hit(&memory->pages, name_of(page)))
		return true;
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " is hit and is not in "
				 "memory", page);
}

static bool send_page(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t page)
{
	*ref = (struct lpl_ref){ .ref = importer->ref + 1, .type = LPL_READ };
	ref->instr = ref->cycle = ref->ref;
	return lpl_import_set_page(importer, ref, page) && lpl_import_ref(importer, ref);
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

/* Does a field consist of this word? */
static bool is_word(const char *at, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(at, word, length) == 0 && scan_is_end(at[length]);
}

/* The rest of the line that fetches a page and evicts another. */
static const char *read_eviction(struct lpl_importer *importer, const char *at, uint64_t fetched)
{
	struct lpl_ref ref;
	uint64_t evicted;
	uint32_t victim;

	at = scan_hex_field(at, &evicted);
	if (!at)
		return lpl_import_no_field(importer, "evicted page");
	at = lpl_import_line_end(importer, at);
	victim = at ? evict(importer, evicted) : 0;
	return victim && fetch(importer, fetched, victim) &&
	       send_page(importer, &ref, fetched) && send_evicted(importer, &ref, evicted) ? at : NULL;
}

/* ... and that which does not; `word` is what stands there. */
static const char *read_word(struct lpl_importer *importer, const char *at, const char *word,
			     uint64_t page)
{
	const bool hits = *word == 'n';
	struct lpl_ref ref;

	at = lpl_import_line_end(importer, at + strlen(word));
	return at && (hits ? hit : grow)(importer, page) && send_page(importer, &ref, page) ? at :
		NULL;
}

static const char *read_last(struct lpl_importer *importer, const char *at)
{
	((struct memory *)importer->state)->last = importer->place;
	return lpl_import_line_end(importer, at + strlen("LAST"));
}

static const char *read_behaviour(struct lpl_importer *importer, const char *at)
{
	const struct memory *memory = importer->state;
	uint64_t page;
	const char *rest;

	if (memory->last && !scan_line_end(at))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "something follows LAST, of "
					 "line %" PRIu64, memory->last);
	if (is_word(at, "LAST"))
		return read_last(importer, at);
	rest = lpl_scan_hex(at, &page);
	if (!rest || !scan_is_end(*rest) || lpl_event_is_line(at))
		return lpl_import_other_line(importer, at);
	at = scan_blanks(rest);
	if (is_word(at, "NF"))
		return read_word(importer, at, "NF", page);
	if (is_word(at, "none"))
		return read_word(importer, at, "none", page);
	return read_eviction(importer, rest, page);
}

static bool read_end(struct lpl_importer *importer)
{
	importer->result.no_last = !((struct memory *)importer->state)->last;
	return true;
}

static bool begin_memory(void *state)
{
	return lpl_pages_init_with(&((struct memory *)state)->pages, sizeof(uint64_t));
}

static void free_memory(void *state)
{
	lpl_pages_free(&((struct memory *)state)->pages);
}

/* ---- printing ---- */

/* A fetch is printed when it is known whether it evicts. */
struct fetching {
	bool is;
	struct lpl_page page;
	uint64_t number;
	struct lpl_pages pages;	/* in memory, where hits are printed */
};

/* What is fetched is in memory, in the place of `victim`. */
static bool enter(struct lpl_exporter *exporter, uint32_t victim)
{
	struct fetching *fetching = exporter->state;

	fetching->is = false;
	if (!fetching->pages.node || lpl_pages_enter(&fetching->pages, fetching->page, victim))
		return true;
	return lpl_export_refuse(exporter, LPL_ERR_MEMORY, "no memory for another page");
}

static char *write_not_full(struct lpl_exporter *exporter, char *out)
{
	struct fetching *fetching = exporter->state;

	if (!fetching->is)
		return out;
	out = lpl_put_hex(out, fetching->number);
	return enter(exporter, 0) ? stpcpy(out, " NF\n") : NULL;
}

static char *write_fetch(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct fetching *fetching = exporter->state;

	out = write_not_full(exporter, out);
	fetching->is = true;
	fetching->page = lpl_page_of(ref, exporter->page_shift);
	fetching->number = lpl_export_page(exporter, ref);
	return out;
}

static char *write_annotated(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct fetching *fetching = exporter->state;

	out = write_not_full(exporter, out);
	if (!out || !lpl_pages_find(&fetching->pages, lpl_page_of(ref, exporter->page_shift)))
		return out ? write_fetch(exporter, out, ref) : NULL;
	out = lpl_put_hex(out, lpl_export_page(exporter, ref));
	return stpcpy(out, " none\n");
}

/* Of the page that is evicted; 0: it is not there. */
static uint32_t victim_of(const struct lpl_exporter *exporter, const struct lpl_event *event)
{
	const struct fetching *fetching = exporter->state;

	return lpl_pages_find(&fetching->pages, (struct lpl_page){
		.space = event->arg[LPL_EVENT_EVICTED_SPACE],
		.number = event->arg[LPL_EVENT_EVICTED_ADDRESS] >> exporter->page_shift,
	});
}

static char *write_evicted(struct lpl_exporter *exporter, char *out, const struct lpl_event *event)
{
	struct fetching *fetching = exporter->state;
	uint32_t victim = 0;

	if (event->tag != LPL_EVENT_EVICTED)
		return NULL;
	if (!fetching->is)
		return lpl_export_refuse(exporter, LPL_ERR_DAMAGED, "an eviction follows no "
					 "fetch, after reference %" PRIu64, event->ref);
	if (fetching->pages.node)
		victim = victim_of(exporter, event);
	if (fetching->pages.node && !victim)
		return lpl_export_refuse(exporter, LPL_ERR_DAMAGED, "after reference %" PRIu64
					 " a page is evicted that was not in memory", event->ref);
	exporter->result.losses.spaces +=
		event->arg[LPL_EVENT_EVICTED_SPACE] != exporter->last.space;
	out = lpl_put_hex(out, fetching->number);
	out = put_hex_field(out, event->arg[LPL_EVENT_EVICTED_ADDRESS] >> exporter->page_shift);
	return enter(exporter, victim) ? put_newline(out) : NULL;
}

static char *write_last(struct lpl_exporter *exporter, char *out)
{
	(void)exporter;
	return stpcpy(out, "LAST\n");
}

static bool begin_hits(void *state)
{
	return lpl_pages_init(&((struct fetching *)state)->pages);
}

static void free_hits(void *state)
{
	lpl_pages_free(&((struct fetching *)state)->pages);
}

const struct lpl_format lpl_format_behaviour = {
	.name = "behaviour",
	.fields = "FETCHED EVICTED|NF",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_BEHAVIOUR | LPL_FORMAT_EVENTS,
	.read_line = read_behaviour,
	.read_end = read_end,
	.import_state = sizeof(struct memory),
	.import_begin = begin_memory,
	.import_free = free_memory,
	.write_ref = write_fetch,
	.write_event = write_evicted,
	.write_rest = write_not_full,
	.write_end = write_last,
	.export_state = sizeof(struct fetching),
};

const struct lpl_format lpl_format_annotated = {
	.name = "annotated",
	.fields = "PAGE EVICTED|NF|none",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_BEHAVIOUR | LPL_FORMAT_HITS | LPL_FORMAT_EVENTS,
	.read_line = read_behaviour,
	.read_end = read_end,
	.import_state = sizeof(struct memory),
	.import_begin = begin_memory,
	.import_free = free_memory,
	.write_ref = write_annotated,
	.write_event = write_evicted,
	.write_rest = write_not_full,
	.write_end = write_last,
	.export_state = sizeof(struct fetching),
	.export_begin = begin_hits,
	.export_free = free_hits,
};
