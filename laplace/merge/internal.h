/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a merge: who runs, what each space maps, which canonical page is
 * which.  merge.c resolves references against it; tasks.c, mappings.c and
 * page_cache.c change it.
 */
#ifndef LAPLACE_MERGE_INTERNAL_H
#define LAPLACE_MERGE_INTERNAL_H

#include <laplace/merge.h>

#include "table.h"
#include "tree.h"

/*
 * Translations are cached under a stamp that names a space in one of its
 * states.  Stamps are never used again, so a new one forgets all of a space's
 * translations at once.
 */
struct space {
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
	uint32_t kind;
	uint32_t writable;	/* a write needs no second look */
};

#define TRANSLATIONS 8192	/* a power of two */

struct task {
	struct lpl_merge_task name;
	uint64_t space;
	bool implied;		/* its creation was not told (yet) */
};

struct lpl_merge {
	struct lpl_sink sink;
	struct lpl_merge_output *output;
	uint64_t kernel_base;		/* address */
	struct lpl_merge_stats stats;

	struct lpl_merge_task current;
	bool current_known;		/* an event has told who runs */
	struct table tasks;		/* tid -> struct task */
	uint64_t last_serial;

	struct table spaces;		/* number -> struct space */
	struct space *last_space;	/* of the last user reference; may be NULL */

	struct tree kernel;		/* page-cache frames by kernel virtual page */
	struct tree frames;		/* the same by frame */
	uint64_t kernel_stamp;
	uint64_t physical_stamp;

	struct table identities;	/* object and page -> canonical page */
	struct mapping *stray;		/* what unresolved pages lie over */
	uint64_t last_page;		/* canonical */
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

/* mapping.space_of_object, and the first word of an identity's key. */
static inline uint64_t object_class(enum object_class class, uint64_t device)
{
	return device << 8 | class;
}

struct range {
	uint64_t first, last;	/* pages */
};

/* Handles one event: says only whether there was memory; what is odd is counted. */
typedef bool handler(struct lpl_merge *merge, const struct lpl_event *event);

static inline void odd(struct lpl_merge *merge, enum lpl_merge_odd kind)
{
	merge->stats.odd[kind]++;
}

static inline uint64_t new_stamp(struct lpl_merge *merge)
{
	return ++merge->last_stamp;
}

static inline size_t translation_index(uint64_t virtual_page, uint64_t stamp)
{
	return ((virtual_page ^ stamp << 7) * UINT64_C(0x9e3779b97f4a7c15)) >> 51 &
	       (TRANSLATIONS - 1);
}

/* NULL: not known. */
struct space *merge_space(const struct lpl_merge *merge, uint64_t number);
/* Known or made; NULL: no memory. */
struct space *merge_space_make(struct lpl_merge *merge, uint64_t number);
void merge_space_end(struct lpl_merge *merge, struct space *space);

/*
 * A segment is named by its inode alone, for KTR_SHM_ATTACH knows no device; an
 * inode number with the highest bit is a segment's wherever it is told (so a
 * kernel keeps segments, numbered by id, apart from other shared memory in the
 * same file system).  A guest that does not know the file must not make two
 * unknown files one.
 */
void merge_name_object(struct lpl_merge *merge, struct mapping *mapping,
		       enum object_class class, uint64_t device, uint64_t inode);

/* Forget the translations of [first, last] under *stamp. */
void merge_forget(struct lpl_merge *merge, uint64_t *stamp, uint64_t first, uint64_t last);

/*
 * Make an event of a mapping, a space or the page cache take effect; *known: it
 * is one.  false: no memory.  (mappings.c)
 */
bool merge_mapping_event(struct lpl_merge *merge, const struct lpl_event *event, bool *known);

/* Of these, the page cache's.  (page_cache.c) */
handler merge_cache_add, merge_cache_remove;

/* The same for the events of tasks.  (tasks.c) */
bool merge_task_event(struct lpl_merge *merge, const struct lpl_event *event, bool *known);
/* Who ran when the kernel told the event, if need be against what was known before. */
bool merge_task_check(struct lpl_merge *merge, const struct lpl_event *event);
void merge_tasks_free(struct lpl_merge *merge);

#endif
