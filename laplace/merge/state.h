/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a merge: which task runs, what each space maps, which canonical page is which.
 * Events change it (apply.c says which file has which event), resolve.c resolves references
 * against it, audit.c keeps the books when that is wanted.
 */
#ifndef LAPLACE_MERGE_STATE_H
#define LAPLACE_MERGE_STATE_H

#include <sys/queue.h>

#include <laplace/merge.h>

#include "base/map.h"
#include "object.h"
#include "pages.h"
#include "tasks.h"
#include "tree.h"

struct range {
	uint64_t first, last;	/* pages */
};

static inline struct range range_of(const struct run *run)
{
	return (struct range){ run->first, run->last };
}

/*
 * Translations are cached as in a processor, under an identifier of the space (its ASID).  It
 * names a space in one of its states and is never used again, so that a new one makes all of a
 * space's translations void at once.
 */
struct space {
	LIST_ENTRY(space) in_all;
	uint64_t number;
	uint64_t asid;
	struct tree mapped;
	struct tree unresolved;	/* pages by virtual page; never shared */
	struct range moved;	/* whence the last remap moved pages */
};

/* By what a snapshot knows a page that is there already. */
enum present_by {
	PRESENT_BY_FRAME = 1,
	PRESENT_BY_SWAP = 2
};

struct present {
	struct page *page;
	enum present_by by;
	uint64_t number;	/* the frame's, or the swap entry */
};

struct translation {
	uint64_t asid;		/* 0: free */
	uint64_t virtual_page;
	uint64_t page;		/* canonical */
	uint16_t kind;
	uint16_t writable;	/* a write needs no second look */
	uint32_t cached;	/* audit: the epoch in which its page was in the page cache */
};

/*
 * 2 MiB, which is what a core has near: a reduced trace refers to many pages in turn.  Fuzzers have
 * short streams and few places, so that pages meet in them.
 */
#ifndef TRANSLATION_BITS
#define TRANSLATION_BITS 16
#endif
#define TRANSLATIONS (1U << TRANSLATION_BITS)

/* What a stream of canonical pages says of them (canonical_pages.c). */
struct canonical_pages {
	bool given;			/* it is one */
	struct translation translation;	/* the latest; page 0: none yet */
	struct lpl_map translated;	/* its number -> (ours, kind) */
	struct lpl_map described;	/* number -> struct described_page, until it is referenced */
	LIST_HEAD(, described_page) all;
	struct described_page *last;	/* referenced last of these, or NULL */
};

struct audit;

struct lpl_merge {
	struct lpl_sink sink;
	struct lpl_merge_output *output;
	uint64_t kernel_base;		/* address */
	bool base_known;		/* by the caller, or reported */
	struct lpl_merge_stats stats;
	struct audit *audit;		/* NULL: no books are kept */
	bool gap;			/* events are missing before the next record */

	struct tasks tasks;

	LIST_HEAD(, space) all_spaces;
	struct lpl_map spaces;		/* number -> struct space, of all */
	struct space *last_space;	/* what lpl_reference_space() found last, or NULL */

	struct tree kernel;		/* page-cache frames by kernel virtual page */
	struct tree frames;		/* the same by frame */
	uint64_t kernel_asid;
	uint64_t physical_asid;

	struct tree_store store;	/* of all trees; also the pages that ended, for `leave` */
	uint64_t memory;		/* how much events may take: memory.c */
	uint64_t idle_objects;		/* that no page was seen of */
	struct lpl_map identities;	/* object and page -> canonical page */
	LIST_HEAD(, object) all_objects;
	struct lpl_map objects;		/* object -> struct object, of all */
	struct mapping *unresolved;	/* what unresolved pages lie over */

	struct lpl_map present;		/* in a snapshot: frame, swap entry -> struct page */
	struct present *present_page;	/* these pages, retained, and their keys */
	size_t present_pages, present_room;

	/* to be reported to the output, if it has `leave`, besides store.ended */
	uint64_t *left_cache;		/* canonical pages that left the page cache */
	size_t left_count, left_room;

	struct lpl_merge_watch *watch;	/* or NULL (pages.h) */

	uint64_t last_page;		/* canonical */
	uint64_t last_asid;
	uint64_t last_unique;		/* names objects that have no name */
	struct canonical_pages canonical;

	struct translation cache[TRANSLATIONS];
};

/* Nothing is known any more of what is mapped, nor of what the page cache holds. */
void lpl_merge_forget(struct lpl_merge *merge);
/* If events are missing here, what they may have changed is forgotten. */
void lpl_merge_after_gap(struct lpl_merge *merge);
/* The kernel's half of an address space begins here, as the guest reports; 0: it does not. */
void lpl_merge_take_kernel_base(struct lpl_merge *merge, uint64_t base);

/* Count an anomaly, and let the audit keep the event that showed it. */
void lpl_merge_anomaly(struct lpl_merge *merge, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event);

/* ---- spaces (spaces.c); what changes one says false when there is no memory ---- */

/* NULL: not known. */
struct space *lpl_space_find(const struct lpl_merge *merge, uint64_t number);
/* Known or made; NULL: no memory. */
struct space *lpl_space_make(struct lpl_merge *merge, uint64_t number);
void lpl_space_free(struct space *space);
/* There are none any more, as far as is known; false: an audit has no memory. */
bool lpl_spaces_forget(struct lpl_merge *merge, const struct lpl_event *event);
/* It is not known any more what is mapped in it. */
void lpl_space_clear(struct lpl_merge *merge, struct space *space);

/*
 * Bytes [start, end) of an event as pages, cut at the kernel's half; false, and an anomaly:
 * nothing is left.
 */
bool lpl_user_range(struct lpl_merge *merge, const struct lpl_event *event, uint64_t start,
		    uint64_t end, struct range *range);
/* Is anything mapped in the range? */
bool lpl_space_maps(const struct space *space, struct range range);
/* The range means something else from now on. */
bool lpl_space_put(struct lpl_merge *merge, struct space *space, struct range range,
		   tree_slot slot);
bool lpl_space_put_page(struct lpl_merge *merge, struct space *space, uint64_t at,
			struct page *page);
/* The same for a mapping like this one. */
bool lpl_space_put_mapping(struct lpl_merge *merge, struct space *space, struct range range,
			   const struct mapping *like);

/* ---- the bound on memory (memory.c) ---- */

/* Do events take more than they may? */
bool lpl_memory_is_full(const struct lpl_merge *merge);
/* All that was reported is forgotten.  false: no memory. */
bool lpl_memory_forget(struct lpl_merge *merge, const struct lpl_event *event);
/* Those that no page was seen of (objects.c). */
void lpl_objects_forget(struct lpl_merge *merge);
void lpl_object_note_reference(struct lpl_merge *merge, struct object *object);

/* ---- references (resolve.c) ---- */

/* What a reference was the first to show. */
struct effect {
	struct lpl_merge_page page;	/* its canonical page; number 0: it was known */
	bool implied_break;		/* the page was shared, and this write was allowed: it
					 * had been parted, and no event said so */
};

/*
 * A reference's translation, valid until the next; NULL: no memory.  *effect is set where there
 * is any, and otherwise left as it was.
 */
struct translation *lpl_merge_translate(struct lpl_merge *merge, const struct lpl_ref *ref,
					struct effect *effect);

/*
 * The canonical pages of as many of the next references as have a translation already, which
 * nothing is the first to show: how many.
 */
size_t lpl_merge_translate_cached(const struct lpl_merge *merge, const struct lpl_ref *refs,
				  size_t count, uint64_t *pages);

/* ---- pages that are canonical already (canonical_pages.c) ---- */

void lpl_canonical_pages_init(struct canonical_pages *pages);
void lpl_canonical_pages_free(struct canonical_pages *pages);
/* An LPL_EVENT_PAGE; false: no memory. */
bool lpl_canonical_describe(struct lpl_merge *merge, const struct lpl_event *event);
/* lpl_merge_translate() there. */
struct translation *lpl_canonical_translate(struct lpl_merge *merge, const struct lpl_ref *ref,
					    struct effect *effect);

/* The space of a user reference, known or made; NULL: no memory. */
struct space *lpl_reference_space(struct lpl_merge *merge, uint64_t number);

/* Any page may be another one from now on. */
static inline void note_change(struct lpl_merge *merge)
{
	if (merge->watch != NULL)
		merge->watch->changed = true;
}

/* What is translated under another number is void. */
static inline uint64_t new_asid(struct lpl_merge *merge)
{
	note_change(merge);
	return ++merge->last_asid;
}

/* The translations of the range under *asid are void; those of all spaces and the kernel. */
void lpl_flush_range(struct lpl_merge *merge, uint64_t *asid, uint64_t first, uint64_t last);
void lpl_flush_all(struct lpl_merge *merge);

/* ---- events ---- */

/* Make one of a mapping, a space or the page cache take effect; any other does nothing. */
typedef bool lpl_event_handler(struct lpl_merge *merge, const struct lpl_event *event);
lpl_event_handler lpl_merge_apply;

/* What it is made of.  They say only whether there was memory; anomalies are counted. */
lpl_event_handler lpl_on_map, lpl_on_unmap, lpl_on_brk, lpl_on_shm_attach, lpl_on_shm_detach;
lpl_event_handler lpl_on_remap;
lpl_event_handler lpl_on_space_duplicate, lpl_on_cow_break;
lpl_event_handler lpl_on_space_end;
lpl_event_handler lpl_on_discard, lpl_on_page_own, lpl_on_present;
lpl_event_handler lpl_on_file;
lpl_event_handler lpl_on_cache_add, lpl_on_cache_remove;
lpl_event_handler lpl_on_state, lpl_on_space_state, lpl_on_shared;

/* A snapshot begins or ends: what it found so far is no longer to be found again. */
void lpl_present_clear(struct lpl_merge *merge);
/* A state ends: the same for what had no frame, but a number of the state's. */
void lpl_present_clear_reported(struct lpl_merge *merge);

#endif
