/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a merge: who runs, what each space maps, which canonical page is
 * which.  resolve.c resolves references against it; tasks.c, mappings.c and
 * page_cache.c change it; audit.c keeps the books, when that is wanted.
 */
#ifndef LAPLACE_MERGE_INTERNAL_H
#define LAPLACE_MERGE_INTERNAL_H

#include <sys/queue.h>

#include <laplace/merge.h>

#include "base/map.h"
#include "tasks.h"
#include "tree.h"

/*
 * Translations are cached under a stamp that names a space in one of its
 * states.  Stamps are never used again, so a new one forgets all of a space's
 * translations at once.
 */
struct space {
	LIST_ENTRY(space) in_all;
	uint64_t number;
	uint64_t stamp;
	struct tree mapped;
	struct tree unresolved;	/* pages by virtual page; never shared */
	uint64_t moved_first;	/* whence the last remap moved pages */
	uint64_t moved_last;
};

struct translation {
	uint64_t stamp;		/* 0: free */
	uint64_t virtual_page;
	uint64_t page;		/* canonical */
	uint16_t kind;
	uint16_t writable;	/* a write needs no second look */
	uint32_t cached;	/* audit: the epoch in which its page was in the page cache */
};

/* 2 MiB, which is what a core has near: a reduced trace goes about in many pages. */
#define TRANSLATION_BITS 16
#define TRANSLATIONS (1U << TRANSLATION_BITS)

struct object_page {
	uint64_t number;	/* in the object */
	uint64_t canonical;
};

/* What is known of a file or the like, beyond its pages. */
struct object {
	LIST_ENTRY(object) in_all;
	struct object_page *page;	/* that were referenced, where `leave` is asked for */
	size_t pages, page_room;
	struct tree cached;	/* audit: its pages in the page cache -> their frames */
	bool memory;		/* it was mapped as shared memory: no file of anybody's */
	bool told;		/* by KTR_FILE, and so: */
	uint64_t generation;	/* of its number */
	uint64_t incarnation;	/* how many files had the number before */
	uint32_t name_length;
	char *name;		/* NULL: not known, or not asked for */
};

/* Where an incarnation goes in the first word of an identity's key: above devices. */
#define INCARNATION_SHIFT 40

struct audit;

struct lpl_merge {
	struct lpl_sink sink;
	struct lpl_merge_output *output;
	uint64_t kernel_base;		/* address */
	bool base_known;		/* by the caller, or told */
	struct lpl_merge_stats stats;
	struct audit *audit;		/* NULL: no books are kept */
	const struct lpl_event *event;	/* the one that is taking effect */
	bool forget;			/* events are missing before the next record */

	struct tasks tasks;

	LIST_HEAD(, space) all_spaces;
	struct lpl_map spaces;		/* number -> struct space, of all */
	struct space *last_space;	/* of the last user reference; may be NULL */

	struct tree kernel;		/* page-cache frames by kernel virtual page */
	struct tree frames;		/* the same by frame */
	uint64_t kernel_stamp;
	uint64_t physical_stamp;

	struct lpl_map identities;	/* object and page -> canonical page */
	LIST_HEAD(, object) all_objects;
	struct lpl_map objects;		/* object -> struct object, of all */
	struct lpl_map present;		/* in a snapshot: frames and swap entries -> pages */
	struct page **kept;		/* these pages */
	size_t kept_count, kept_room;
	struct mapping *stray;		/* what unresolved pages lie over */
	struct page *dead;		/* their canonical pages are over; to be told */
	struct {
		uint64_t *page;		/* canonical */
		size_t count, room;
	} uncached;			/* left the page cache; to be told */
	uint64_t last_page;		/* canonical */
	uint64_t last_told;		/* of these, the last that the output knows */
	struct lpl_merge_page fresh;	/* what last_page is */
	uint64_t last_stamp;
	uint64_t last_unique;		/* names objects that have no name */

	struct translation cache[TRANSLATIONS];
};

/* What kind of thing a key's object is; devices and inodes repeat between them. */
enum object_class {
	OBJECT_FILE = 1,	/* device, inode */
	OBJECT_SEGMENT,		/* inode */
	OBJECT_NAMED,		/* a special mapping: hash of its name */
	OBJECT_UNIQUE,		/* a shared mapping of nothing known */
	OBJECT_KERNEL,
	OBJECT_PHYSICAL
};

#define OBJECT_CLASS_BITS 8

/* mapping.space_of_object, and the first word of an identity's key. */
static inline uint64_t object_class(enum object_class class, uint64_t device)
{
	return device << OBJECT_CLASS_BITS | class;
}

static inline enum object_class class_of(const struct mapping *mapping)
{
	return mapping->space_of_object & ((1U << OBJECT_CLASS_BITS) - 1);
}

struct range {
	uint64_t first, last;	/* pages */
};

/* Handles one event: says only whether there was memory; what is odd is counted. */
typedef bool handler(struct lpl_merge *merge, const struct lpl_event *event);

/* Count, and let the audit keep the event that is taking effect. */
void merge_odd(struct lpl_merge *merge, enum lpl_merge_anomaly kind);

static inline uint64_t new_stamp(struct lpl_merge *merge)
{
	return ++merge->last_stamp;
}

static inline size_t translation_index(uint64_t virtual_page, uint64_t stamp)
{
	return ((virtual_page ^ stamp << 7) * UINT64_C(0x9e3779b97f4a7c15)) >>
	       (64 - TRANSLATION_BITS);
}

/* NULL: not known. */
struct space *merge_space(const struct lpl_merge *merge, uint64_t number);
/* Known or made; NULL: no memory. */
struct space *merge_space_make(struct lpl_merge *merge, uint64_t number);
/* false: no memory. */
bool merge_space_end(struct lpl_merge *merge, uint64_t number);

/*
 * A segment is named by its inode alone, for KTR_SHM_ATTACH knows no device; an
 * inode number with the highest bit is a segment's wherever it is told (so a
 * kernel keeps segments, numbered by id, apart from other shared memory in the
 * same file system).  A guest that does not know the file must not make two
 * unknown files one.
 */
void merge_name_object(struct lpl_merge *merge, struct mapping *mapping,
		       enum object_class class, uint64_t device, uint64_t inode);

/* What is known of the object a mapping shows; NULL: nothing.  (objects.c) */
struct object *merge_object(const struct lpl_merge *merge, const struct mapping *mapping);
/* Known or made; NULL: no memory. */
struct object *merge_object_make(struct lpl_merge *merge, const struct mapping *mapping);
void object_free(struct object *object);
/* A page of it was referenced.  false: no memory. */
bool object_note_page(struct object *object, uint64_t page, uint64_t canonical);
/* The first word of the identities' keys of an object's pages. */
uint64_t merge_identity(const struct mapping *mapping, const struct object *object);
/* What a mapping that is made tells of its object.  false: no memory. */
bool merge_note_object(struct lpl_merge *merge, const struct mapping *mapping,
		       const struct lpl_event *event);
/* KTR_FILE */
handler merge_file;

/* Forget the translations of [first, last] under *stamp. */
void merge_forget(struct lpl_merge *merge, uint64_t *stamp, uint64_t first, uint64_t last);

/* A reference's translation, valid until the next; NULL: no memory.  (resolve.c) */
struct translation *merge_translate(struct lpl_merge *merge, const struct lpl_ref *ref);

/*
 * Make an event of a mapping, a space or the page cache take effect; *known: it
 * is one.  false: no memory.  (mappings.c)
 */
bool merge_mapping_event(struct lpl_merge *merge, const struct lpl_event *event, bool *known);

/* Of these, the page cache's.  (page_cache.c) */
handler merge_cache_add, merge_cache_remove;

/* Of these, those of pages that are a space's own, or no longer.  (own_pages.c) */
handler merge_discard, merge_page_own, merge_present;
/* A snapshot begins, or ends. */
void merge_snapshot(struct lpl_merge *merge, bool begins);

/* What the handlers share (mappings.c); those that put something: false, no memory. */

/* Bytes [start, end) as pages, cut at the kernel's half; false (and odd): nothing left. */
bool merge_user_range(struct lpl_merge *merge, uint64_t start, uint64_t end,
		      struct range *range);
/* The range means something else from now on. */
bool merge_put(struct lpl_merge *merge, struct space *space, struct range range,
	       tree_slot slot);
bool merge_put_page(struct lpl_merge *merge, struct space *space, uint64_t at,
		    struct page *page);
/* The same for a mapping like this one. */
bool merge_put_mapping(struct lpl_merge *merge, struct space *space, struct range range,
		       const struct mapping *like);

/* ---- the audit (audit.c); all but open and free want merge->audit ---- */

/* `problems` of each kind are kept.  NULL: no memory. */
struct audit *audit_open(uint32_t problems);
void audit_free(struct audit *audit);

void audit_odd(struct lpl_merge *merge, enum lpl_merge_anomaly kind, const struct lpl_event *event);
/* A reference with its translation, which is in the cache of translations. */
void audit_reference(struct lpl_merge *merge, const struct lpl_ref *ref,
		     struct translation *translation);
void audit_event(struct lpl_merge *merge, const struct lpl_event *event);
/* A snapshot begins, or is complete. */
void audit_snapshot(struct lpl_merge *merge, bool begins);
void audit_task_over(struct lpl_merge *merge, const struct lpl_merge_task *task);
/* A space's number is used (again), and no longer.  false: no memory. */
void audit_space_begins(struct lpl_merge *merge, uint64_t number);
bool audit_space_over(struct lpl_merge *merge, uint64_t number, bool used);
enum cache_change {
	CACHE_ADDED,
	CACHE_AGAIN,		/* they were there, and will be added anew */
	CACHE_DISPLACED,
	CACHE_REMOVED
};

/* What happened to frames that hold, or held, pages by this mapping.  false: no memory. */
bool audit_cache(struct lpl_merge *merge, enum cache_change change, struct range frames,
		 struct mapping *mapping);
/* Nobody knows any more what is in the page cache.  Called while it is still there. */
void audit_forget(struct lpl_merge *merge);
/* The stream is over. */
void audit_close(struct lpl_merge *merge);

#endif
