/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an address space maps: a radix tree over virtual page numbers; spaces
 * share its nodes.
 *
 * A slot is empty, a mapping (uniform over all the slot covers: a range of any
 * size costs a few slots on the paths to its ends), a page, or a node of
 * smaller slots.  Nodes, mappings and pages count their references.
 *
 * Fork shares the whole tree by one reference to its root.  A change to one
 * space copies the nodes on its path first (lpl_tree_set).  As every change of a
 * mapping does so, a node that two spaces share means the same in both; so a
 * page that is first touched after a fork can be put into the shared node, and
 * all sharers have it (lpl_tree_fill; what is copied keeps untouched pages in common, too).
 * And "is this page shared" has an exact answer: whether a node on its path, or the page, has
 * two references.
 */
#ifndef LAPLACE_MERGE_TREE_H
#define LAPLACE_MERGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/merge.h>

/* What distinguishes one page of a mapping from another, and what a write does. */
enum mapping_sharing {
	MAPPING_ANONYMOUS,	/* each page an object of its own, parted by writes */
	MAPPING_PRIVATE,	/* of a file; a written page becomes anonymous */
	MAPPING_SHARED		/* of an object; writes part nothing */
};

/*
 * What all trees of a merge, their nodes, mappings and pages take of the host's memory, and
 * the pages that nothing refers to any more, if they are to be reported.
 */
struct tree_store {
	uint64_t bytes;
	bool keeps_ended;
	struct page *ended;		/* a list; not in `bytes` */
};

struct mapping {
	uint64_t refs;
	struct tree_store *store;
	enum lpl_page_kind kind;
	enum mapping_sharing sharing;
	uint64_t domain;		/* in which the object's number is its own: object.h */
	uint64_t object;		/* inode */
	uint64_t delta;			/* page of the object = virtual page + delta */
	uint64_t alias;			/* frames: kernel virtual page = frame + alias; also of
					 * what the kernel sees there */
	bool aliased;
};

/* An anonymous page.  It remembers what it lies over: a remap may extend that. */
struct page {
	uint32_t refs;
	uint32_t other_refs;		/* of these, not by trees: they do not share it */
	uint64_t canonical;		/* 0 until the first reference */
	struct mapping *origin;
	uint64_t object_page;
	union {
		struct page *predecessor;	/* retained: it has the same canonical page */
		struct page *next_ended;		/* when nothing refers to it any more */
	};
};

typedef uintptr_t tree_slot;
#define TREE_EMPTY ((tree_slot)0)

struct tree {
	struct tree_node *root;		/* NULL: empty */
	struct tree_store *store;
};

static inline tree_slot slot_of_mapping(struct mapping *mapping)
{
	return (tree_slot)mapping | 2;
}

static inline tree_slot slot_of_page(struct page *page)
{
	return (tree_slot)page | 3;
}

static inline bool slot_is_mapping(tree_slot slot)
{
	return (slot & 3) == 2;
}

static inline bool slot_is_page(tree_slot slot)
{
	return (slot & 3) == 3;
}

static inline struct mapping *slot_mapping(tree_slot slot)
{
	return (struct mapping *)(slot & ~(tree_slot)3);
}

static inline struct page *slot_page(tree_slot slot)
{
	return (struct page *)(slot & ~(tree_slot)3);
}

/* The mapping in a slot that is not empty, or the one its page lies over. */
static inline struct mapping *slot_origin(tree_slot slot)
{
	return slot_is_page(slot) ? slot_page(slot)->origin : slot_mapping(slot);
}

/*
 * What is mapped at `at` where the slot was found, as a mapping of its own: beneath
 * pages that a write made anonymous it is the file still.
 */
static inline struct mapping mapping_beneath(tree_slot slot, uint64_t at)
{
	struct mapping mapping = *slot_origin(slot);

	if (slot_is_page(slot))
		mapping.delta = slot_page(slot)->object_page - at;
	if (mapping.kind == LPL_PAGE_FILE && mapping.sharing == MAPPING_ANONYMOUS)
		mapping.sharing = MAPPING_PRIVATE;
	return mapping;
}

/* Do two mappings put the same page of one object at any address? */
static inline bool mapping_same_pages(const struct mapping *one,
				      const struct mapping *other)
{
	return one->domain == other->domain &&
	       one->object == other->object && one->delta == other->delta;
}

/*
 * Frames were reported at addresses of the kernel's own: is what it sees there still these
 * frames?  Another one may have been reported there since.
 */
static inline bool mapping_shows_frames(const struct mapping *seen, const struct mapping *frames)
{
	return seen->domain == frames->domain && seen->object == frames->object &&
	       seen->alias == frames->alias && seen->delta == frames->delta - frames->alias;
}

/* A copy of `like` with one reference, the caller's; NULL: no memory. */
struct mapping *lpl_mapping_new(struct tree_store *store, const struct mapping *like);
/* A fresh page over `origin` (retained), with the caller's reference. */
struct page *lpl_page_new(struct mapping *origin, uint64_t object_page);
/* A fresh page over what is in `slot` (not empty) at the virtual page `at`. */
struct page *lpl_page_like(tree_slot slot, uint64_t at);
/* A fresh page takes over the canonical page of another, which is over only with it. */
void lpl_page_succeed(struct page *page, struct page *predecessor);
/* Take and drop a reference to a mapping or page. */
void lpl_slot_retain(tree_slot slot);
void lpl_slot_release(tree_slot slot);

/* All ranges are [first, last], of page numbers below 2^52. */
#define TREE_LAST ((UINT64_C(1) << 52) - 1)

/* The mapping or page at `page`; *shared: another tree has it through the same nodes. */
tree_slot lpl_tree_find(const struct tree *tree, uint64_t page, bool *shared);

/*
 * Put `slot` (a mapping or TREE_EMPTY over the range, or a page with
 * first == last) in this tree alone.  The tree takes its own references.
 * false: no memory; the tree remains valid, the range is partly changed.
 */
bool lpl_tree_set(struct tree *tree, uint64_t first, uint64_t last, tree_slot slot);

/* Put a page in place of a mapping, in all trees that share the mapping's node. */
bool lpl_tree_fill(struct tree *tree, uint64_t at, struct page *page);

/*
 * Call `visit` for every maximal slot that is not empty, clipped to the range,
 * in rising order, until it returns other than 0; that is returned.
 */
typedef int tree_visit(void *context, uint64_t first, uint64_t last, tree_slot slot);
int lpl_tree_walk(const struct tree *tree, uint64_t first, uint64_t last,
	      tree_visit *visit, void *context);

/*
 * The same in two passes at once: `enter` is called for each node before what is in it, and
 * says whether to go on with that.  `shared`: another way leads to it, too.
 */
struct tree_walker {
	void *context;
	bool (*enter)(void *context, const struct tree_node *node, uint64_t first, uint64_t last,
		      bool shared);
	tree_visit *visit;
};
int lpl_tree_walk_nodes(const struct tree *tree, const struct tree_walker *walker);

/*
 * `to` has in the range what `from` has there, and shares it: pages, and places where there
 * may be some.  false: no memory; both remain valid, and `from` means what it did.
 */
bool lpl_tree_share_range(struct tree *to, struct tree *from, uint64_t first, uint64_t last);

/* `to` (empty) shares all of `from`. */
void lpl_tree_share(struct tree *to, const struct tree *from);
void lpl_tree_free(struct tree *tree);

/* The contents of a range, kept apart: adjacent slots of one mapping are joined. */
struct run {
	uint64_t first, last;
	tree_slot slot;
};

struct runs {
	struct run *run;
	size_t count, room;
};

/* false: no memory.  The runs hold references; lpl_runs_free() in either case. */
bool lpl_tree_collect(const struct tree *tree, uint64_t first, uint64_t last, struct runs *runs);
void lpl_runs_free(struct runs *runs);

#endif
