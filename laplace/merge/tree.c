/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Radix trees of mappings and pages, with shared nodes. */
#include "tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

#define FAN_BITS 4
#define FAN (1U << FAN_BITS)

struct tree_node {
	uint32_t refs;
	uint32_t shift;		/* a slot covers 1 << shift pages */
	struct tree_store *store;
	tree_slot slot[FAN];
};

/* Memory of the store's; malloc()'s own part is counted, too, as far as is known. */
#define OVERHEAD 16

static void *store_alloc(struct tree_store *store, size_t size)
{
	void *bytes = malloc(size);

	if (bytes != NULL)
		store->bytes += size + OVERHEAD;
	return bytes;
}

static void store_forget(struct tree_store *store, size_t size)
{
	assert(store->bytes >= size + OVERHEAD);
	store->bytes -= size + OVERHEAD;
}

static struct tree_node *slot_node(tree_slot slot)
{
	return (struct tree_node *)(slot & ~(tree_slot)3);
}

static bool slot_is_node(tree_slot slot)
{
	return (slot & 3) == 1;
}

static tree_slot slot_of_node(struct tree_node *node)
{
	return (tree_slot)node | 1;
}

struct mapping *lpl_mapping_new(struct tree_store *store, const struct mapping *like)
{
	struct mapping *mapping = store_alloc(store, sizeof(*mapping));

	if (mapping != NULL) {
		*mapping = *like;
		mapping->store = store;
		mapping->refs = 1;
	}
	return mapping;
}

struct page *lpl_page_new(struct mapping *origin, uint64_t object_page)
{
	struct page *page = store_alloc(origin->store, sizeof(*page));

	if (page != NULL) {
		*page = (struct page){ .refs = 1, .origin = origin, .object_page = object_page };
		origin->refs++;
	}
	return page;
}

struct page *lpl_page_like(tree_slot slot, uint64_t at)
{
	struct mapping *origin = slot_origin(slot);

	return lpl_page_new(origin, slot_is_page(slot) ? slot_page(slot)->object_page :
						     at + origin->delta);
}

void lpl_page_succeed(struct page *page, struct page *predecessor)
{
	struct page *before = predecessor->predecessor;

	assert(page->canonical == 0 && page->predecessor == NULL);
	if (predecessor->canonical == 0)
		return;
	/* one that nothing else refers to is left out, or a chain of them would grow */
	if (before != NULL && before->refs == 1) {
		predecessor->predecessor = before->predecessor;
		before->predecessor = NULL;
		before->canonical = 0;
		lpl_slot_release(slot_of_page(before));
	}
	page->canonical = predecessor->canonical;
	page->predecessor = predecessor;
	predecessor->other_refs++;
	predecessor->refs++;
}

void lpl_slot_retain(tree_slot slot)
{
	if (slot_is_node(slot))
		slot_node(slot)->refs++;
	else if (slot_is_mapping(slot))
		slot_mapping(slot)->refs++;
	else if (slot_is_page(slot))
		slot_page(slot)->refs++;
}

static void mapping_release(struct mapping *mapping)
{
	assert(mapping->refs > 0);
	if (--mapping->refs == 0) {
		store_forget(mapping->store, sizeof(*mapping));
		free(mapping);
	}
}

/* Nothing refers to it: its canonical page is over, unless a predecessor has it, too. */
static void page_end(struct page *page)
{
	struct tree_store *store = page->origin->store;
	struct page *predecessor = page->predecessor;

	mapping_release(page->origin);
	store_forget(store, sizeof(*page));
	if (predecessor == NULL && store->keeps_ended && page->canonical != 0) {
		page->next_ended = store->ended;
		store->ended = page;
		return;
	}
	free(page);
	if (predecessor != NULL) {
		predecessor->other_refs--;
		lpl_slot_release(slot_of_page(predecessor));
	}
}

/* Recursion is as deep as the tree is high (at most 13 nodes), and then along predecessors. */
void lpl_slot_release(tree_slot slot)
{
	if (slot_is_node(slot)) {
		struct tree_node *node = slot_node(slot);

		assert(node->refs > 0);
		if (--node->refs == 0) {
			for (unsigned int i = 0; i < FAN; i++)
				lpl_slot_release(node->slot[i]);
			store_forget(node->store, sizeof(*node));
			free(node);
		}
	} else if (slot_is_mapping(slot)) {
		mapping_release(slot_mapping(slot));
	} else if (slot_is_page(slot)) {
		struct page *page = slot_page(slot);

		assert(page->refs > 0);
		if (--page->refs == 0)
			page_end(page);
	}
}

/* A node with `slot` in all of its slots. */
static struct tree_node *node_new(struct tree_store *store, unsigned int shift, tree_slot slot)
{
	struct tree_node *node = store_alloc(store, sizeof(*node));

	if (node == NULL)
		return NULL;
	node->refs = 1;
	node->shift = shift;
	node->store = store;
	for (unsigned int i = 0; i < FAN; i++) {
		node->slot[i] = slot;
		lpl_slot_retain(slot);
	}
	return node;
}

/* The last page a node's slots reach. */
static uint64_t node_reach(const struct tree_node *node)
{
	return (UINT64_C(1) << (node->shift + FAN_BITS)) - 1;
}

tree_slot lpl_tree_find(const struct tree *tree, uint64_t page, bool *shared)
{
	const struct tree_node *node = tree->root;
	tree_slot slot;

	*shared = false;
	if (node == NULL || page > node_reach(node))
		return TREE_EMPTY;
	for (;;) {
		*shared |= node->refs > 1;
		slot = node->slot[page >> node->shift & (FAN - 1)];
		if (!slot_is_node(slot))
			break;
		node = slot_node(slot);
	}
	/* this tree has it */
	assert(!slot_is_page(slot) || slot_page(slot)->refs > slot_page(slot)->other_refs);
	if (slot_is_page(slot))
		*shared |= slot_page(slot)->refs - slot_page(slot)->other_refs > 1;
	return slot;
}

/* Put a node of smaller slots where one slot was, meaning the same. */
static bool split(struct tree_store *store, tree_slot *slot, unsigned int shift)
{
	struct tree_node *child = node_new(store, shift - FAN_BITS, *slot);

	assert(shift >= FAN_BITS && !slot_is_node(*slot) && !slot_is_page(*slot));
	if (child == NULL)
		return false;
	lpl_slot_release(*slot);
	*slot = slot_of_node(child);
	return true;
}

/*
 * A node is about to be copied.  Anonymous pages in it that were not touched yet
 * are shared by those that fork shared them with, and must remain so whichever
 * touches them first: a mapping of them in two nodes would make two pages of
 * each.  So they become pages, or a common node of smaller slots.
 */
static bool keep_together(struct tree_node *node, uint64_t base)
{
	for (unsigned int i = 0; i < FAN; i++) {
		tree_slot *slot = &node->slot[i];
		struct mapping *mapping = slot_mapping(*slot);
		struct page *page;

		if (!slot_is_mapping(*slot) || mapping->sharing != MAPPING_ANONYMOUS)
			continue;
		if (node->shift > 0) {
			if (!split(node->store, slot, node->shift))
				return false;
			continue;
		}
		page = lpl_page_new(mapping, base + i + mapping->delta);
		if (page == NULL)
			return false;
		lpl_slot_release(*slot);
		*slot = slot_of_page(page);
	}
	return true;
}

/*
 * Make the node in *slot this tree's own: copy it when others hold it too.
 * `base` is the first page it covers.
 */
static bool own(tree_slot *slot, uint64_t base)
{
	struct tree_node *node = slot_node(*slot);
	struct tree_node *copy;

	if (node->refs == 1)
		return true;
	if (!keep_together(node, base))
		return false;
	copy = store_alloc(node->store, sizeof(*copy));
	if (copy == NULL)
		return false;
	*copy = *node;
	copy->refs = 1;
	for (unsigned int i = 0; i < FAN; i++)
		lpl_slot_retain(copy->slot[i]);
	node->refs--;
	*slot = slot_of_node(copy);
	return true;
}

/* Put one mapping (or nothing) for a node that holds it in all slots. */
static void collapse(tree_slot *slot)
{
	const struct tree_node *node = slot_node(*slot);
	tree_slot first = node->slot[0];

	if (slot_is_node(first) || slot_is_page(first))
		return;
	for (unsigned int i = 1; i < FAN; i++)
		if (node->slot[i] != first)
			return;
	lpl_slot_retain(first);
	lpl_slot_release(*slot);
	*slot = first;
}

/* lpl_tree_set() below the node in *at; first and last count from its first page, base. */
static bool set_below(tree_slot *at, uint64_t base, uint64_t first, uint64_t last,
		      tree_slot value)
{
	struct tree_node *node;
	unsigned int shift;
	uint64_t size;

	if (!own(at, base))
		return false;
	node = slot_node(*at);
	shift = node->shift;
	size = UINT64_C(1) << shift;
	assert(node->refs == 1 && first <= last && last <= node_reach(node));
	for (uint64_t i = first >> shift; i <= last >> shift; i++) {
		uint64_t from = i << shift > first ? 0 : first & (size - 1);
		uint64_t to = (i + 1) << shift <= last ? size - 1 : last & (size - 1);
		tree_slot *slot = &node->slot[i];

		if (from == 0 && to == size - 1) {
			tree_slot old = *slot;

			lpl_slot_retain(value);
			*slot = value;
			lpl_slot_release(old);
			continue;
		}
		if (*slot == value)
			continue;
		if (!slot_is_node(*slot) && !split(node->store, slot, shift))
			return false;
		if (!set_below(slot, base + (i << shift), from, to, value))
			return false;
		collapse(slot);
	}
	return true;
}

/* Let the tree have a root that covers the page. */
static bool reach_page(struct tree *tree, uint64_t page)
{
	if (tree->root == NULL)
		tree->root = node_new(tree->store, 0, TREE_EMPTY);
	if (tree->root == NULL)
		return false;
	while (page > node_reach(tree->root)) {
		struct tree_node *higher = node_new(tree->store, tree->root->shift + FAN_BITS,
						    TREE_EMPTY);

		if (higher == NULL)
			return false;
		higher->slot[0] = slot_of_node(tree->root);
		tree->root = higher;
	}
	return true;
}

bool lpl_tree_set(struct tree *tree, uint64_t first, uint64_t last, tree_slot value)
{
	tree_slot root;
	bool done;

	assert(last <= TREE_LAST && (!slot_is_page(value) || first == last));
	if (tree->root == NULL && value == TREE_EMPTY)
		return true;
	if (value == TREE_EMPTY && last > node_reach(tree->root))
		last = node_reach(tree->root);
	if (first > last)
		return true;
	if (!reach_page(tree, last))
		return false;
	root = slot_of_node(tree->root);
	done = set_below(&root, 0, first, last, value);
	tree->root = slot_node(root);
	return done;
}

bool lpl_tree_fill(struct tree *tree, uint64_t at, struct page *page)
{
	struct tree_node *node = tree->root;
	tree_slot *slot;

	for (;;) {
		slot = &node->slot[at >> node->shift & (FAN - 1)];
		if (node->shift == 0)
			break;
		if (!slot_is_node(*slot) && !split(node->store, slot, node->shift))
			return false;
		node = slot_node(*slot);
	}
	assert(slot_is_mapping(*slot));
	lpl_slot_release(*slot);
	*slot = slot_of_page(page);
	lpl_slot_retain(*slot);
	return true;
}

/* `base` is the first page the node covers. */
static int walk_below(const struct tree_node *node, uint64_t base, uint64_t first,
		      uint64_t last, tree_visit *visit, void *context)
{
	for (unsigned int i = 0; i < FAN; i++) {
		uint64_t from = base + ((uint64_t)i << node->shift);
		uint64_t to = from + (UINT64_C(1) << node->shift) - 1;
		tree_slot slot = node->slot[i];
		int stop;

		if (slot == TREE_EMPTY || to < first)
			continue;
		if (from > last)
			break;
		if (slot_is_node(slot))
			stop = walk_below(slot_node(slot), from, first, last, visit, context);
		else
			stop = visit(context, from < first ? first : from,
				     to > last ? last : to, slot);
		if (stop != 0)
			return stop;
	}
	return 0;
}

int lpl_tree_walk(const struct tree *tree, uint64_t first, uint64_t last,
	      tree_visit *visit, void *context)
{
	return tree->root == NULL ? 0 : walk_below(tree->root, 0, first, last, visit, context);
}

static int walk_nodes_below(const struct tree_node *node, uint64_t base,
			    const struct tree_walker *walker)
{
	if (!walker->enter(walker->context, node, base, base + node_reach(node), node->refs > 1))
		return 0;
	for (unsigned int i = 0; i < FAN; i++) {
		uint64_t from = base + ((uint64_t)i << node->shift);
		tree_slot slot = node->slot[i];
		int stop = 0;

		if (slot_is_node(slot))
			stop = walk_nodes_below(slot_node(slot), from, walker);
		else if (slot != TREE_EMPTY)
			stop = walker->visit(walker->context, from,
					     from + (UINT64_C(1) << node->shift) - 1, slot);
		if (stop != 0)
			return stop;
	}
	return 0;
}

int lpl_tree_walk_nodes(const struct tree *tree, const struct tree_walker *walker)
{
	return tree->root == NULL ? 0 : walk_nodes_below(tree->root, 0, walker);
}

/* ---- what two trees share ---- */

/*
 * What a slot covers wholly is to be shared.  A mapping of pages that were not touched becomes a
 * node, or a page: in one place, so that the first to touch one does it for both.
 */
static bool make_sharable(tree_slot *slot, unsigned int shift, uint64_t first)
{
	struct page *page;

	if (!slot_is_mapping(*slot) || slot_mapping(*slot)->sharing != MAPPING_ANONYMOUS)
		return true;
	if (shift > 0)
		return split(slot_mapping(*slot)->store, slot, shift);
	page = lpl_page_like(*slot, first);
	if (page == NULL)
		return false;
	lpl_slot_release(*slot);
	*slot = slot_of_page(page);
	return true;
}

/* lpl_tree_share_range() in two nodes that cover the same pages, from `base` on. */
static bool share_below(tree_slot *to, tree_slot *from, uint64_t base, uint64_t first,
			uint64_t last)
{
	struct tree_node *source = slot_node(*from), *target;
	unsigned int shift = source->shift;
	uint64_t size = UINT64_C(1) << shift;

	if (*to == *from)
		return true;
	if (!own(to, base))
		return false;
	target = slot_node(*to);
	assert(target->shift == shift && base <= first && first <= last);
	for (uint64_t i = (first - base) >> shift; i <= (last - base) >> shift; i++) {
		uint64_t begin = base + (i << shift), end = begin + size - 1;
		tree_slot old;

		if (first <= begin && end <= last) {
			if (!make_sharable(&source->slot[i], shift, begin))
				return false;
			old = target->slot[i];
			lpl_slot_retain(source->slot[i]);
			target->slot[i] = source->slot[i];
			lpl_slot_release(old);
			continue;
		}
		if ((!slot_is_node(source->slot[i]) && !split(source->store, &source->slot[i], shift)) ||
		    (!slot_is_node(target->slot[i]) && !split(target->store, &target->slot[i], shift)) ||
		    !share_below(&target->slot[i], &source->slot[i], begin,
				 begin < first ? first : begin, end > last ? last : end))
			return false;
	}
	return true;
}

bool lpl_tree_share_range(struct tree *to, struct tree *from, uint64_t first, uint64_t last)
{
	tree_slot target, source;
	bool done;

	if (!reach_page(to, last) || !reach_page(from, last) ||
	    !reach_page(to, node_reach(from->root)) || !reach_page(from, node_reach(to->root)))
		return false;
	target = slot_of_node(to->root);
	source = slot_of_node(from->root);
	done = share_below(&target, &source, 0, first, last);
	to->root = slot_node(target);
	return done;
}

void lpl_tree_share(struct tree *to, const struct tree *from)
{
	to->root = from->root;
	if (to->root != NULL)
		to->root->refs++;
}

void lpl_tree_free(struct tree *tree)
{
	if (tree->root != NULL)
		lpl_slot_release(slot_of_node(tree->root));
	tree->root = NULL;
}

static int collect(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	struct runs *runs = context;
	struct run *previous = runs->count == 0 ? NULL : &runs->run[runs->count - 1];

	if (previous != NULL && previous->slot == slot && previous->last + 1 == first &&
	    slot_is_mapping(slot)) {
		previous->last = last;
		return 0;
	}
	if (!lpl_reach(runs->run, runs->room, runs->count))
		return -1;
	lpl_slot_retain(slot);
	runs->run[runs->count++] = (struct run){ first, last, slot };
	return 0;
}

bool lpl_tree_collect(const struct tree *tree, uint64_t first, uint64_t last, struct runs *runs)
{
	return lpl_tree_walk(tree, first, last, collect, runs) == 0;
}

void lpl_runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		lpl_slot_release(runs->run[i].slot);
	free(runs->run);
	*runs = (struct runs){ 0 };
}
