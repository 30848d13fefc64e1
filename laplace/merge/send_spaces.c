/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the spaces of a guest map, and what they share, as events (send_state.c).
 *
 * Forks share nodes of trees, and the first to touch a page in a shared node does it for
 * all.  So a node that several spaces have is sent for the first of them alone, which is its
 * *owner*, and of each other one that it shares the node's range (LPL_EVENT_SHARED): what is in
 * common is sent once, however large it is.  A page that several places have by other ways
 * (it lies in nodes that were parted since, or was moved) gets a number, and KTR_PRESENT gives
 * it at each place.
 *
 * For each space in turn come
 *
 *	LPL_EVENT_SPACE_STATE	that it is there
 *	KTR_MAP			what is mapped; for pages that a write made the space's own, the
 *				file beneath them
 *	KTR_PAGE_OWN		which pages of files these are
 *	KTR_PRESENT		its numbered pages
 *	LPL_EVENT_SHARED	the nodes that it has from owners
 *
 * all but the last in its own nodes only.  The last comes last because a page that is put into
 * a shared node parts it.  A page that only this space has and that is of no file is no
 * news: it is as one that was not touched yet.
 */
#include "state_sender.h"

#include <stdlib.h>

#include "base/array.h"

/* Places in a row at which the mapping, and what is beneath it, go on in the same way. */
struct stretch {
	uint64_t first, last;		/* pages; first > last: none yet */
	struct mapping mapping;		/* of a KTR_MAP */
	uint64_t number;		/* of the first page, of a KTR_PRESENT */
};

struct spaces_sender {
	struct sender *sender;
	struct space *space;
	struct space nowhere;		/* none of the guest's */
	struct lpl_map owner;		/* shared node -> struct space */
	struct lpl_map number;		/* page -> its number, from 1 */
	struct lpl_map key;		/* page -> its first key in a snapshot, an index + 1 */
	size_t *next_key;		/* the same for the next key of the page; 0: none */
	struct stretch stretch;
};

static const struct stretch no_stretch = { .first = 1, .last = 0 };

static uint64_t address_of(uint64_t page)
{
	return page << LPL_PAGE_SHIFT;
}

/* The end of a range that ends with this page, in the programs' half. */
static uint64_t end_of(const struct spaces_sender *spaces, uint64_t last)
{
	uint64_t base = spaces->sender->merge->kernel_base;

	return last >= base >> LPL_PAGE_SHIFT ? base : address_of(last + 1);
}

/* Does the kernel's half begin before this page?  Then what is mapped there is not seen. */
static bool is_hidden(const struct spaces_sender *spaces, uint64_t page)
{
	return page >= spaces->sender->merge->kernel_base >> LPL_PAGE_SHIFT;
}

/* ---- nodes ---- */

/* The space itself, where it is the first to have the node. */
static const struct space *owner_of(struct spaces_sender *spaces, const struct tree_node *node)
{
	uint64_t *owner = lpl_map_reach(&spaces->owner, LPL_KEY((uintptr_t)node));

	if (owner == NULL) {
		lpl_sender_no_memory(spaces->sender);
		return spaces->space;
	}
	if (*owner == 0)
		*owner = (uintptr_t)spaces->space;
	return (const struct space *)(uintptr_t)*owner;
}

static bool enter_own(void *context, const struct tree_node *node, uint64_t first, uint64_t last,
		      bool shared)
{
	struct spaces_sender *spaces = context;

	(void)last;
	return !is_hidden(spaces, first) &&
	       (!shared || owner_of(spaces, node) == spaces->space);
}

static bool send_shared(void *context, const struct tree_node *node, uint64_t first,
			uint64_t last, bool shared)
{
	struct spaces_sender *spaces = context;
	const struct space *owner;

	if (is_hidden(spaces, first))
		return false;
	owner = shared ? owner_of(spaces, node) : spaces->space;
	if (owner == spaces->space)
		return true;
	SEND(spaces->sender, LPL_EVENT_SHARED,
	     [LPL_EVENT_SHARED_SPACE] = spaces->space->number,
	     [LPL_EVENT_SHARED_OTHER] = owner->number,
	     [LPL_EVENT_SHARED_START] = address_of(first),
	     [LPL_EVENT_SHARED_END] = end_of(spaces, last));
	return false;
}

static int pass_by(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	(void)context;
	(void)first;
	(void)last;
	(void)slot;
	return 0;
}

static void walk(struct spaces_sender *spaces, tree_visit *visit)
{
	const struct tree_walker walker = { spaces, enter_own, visit };

	spaces->stretch = no_stretch;
	(void)lpl_tree_walk_nodes(&spaces->space->mapped, &walker);
}

/* ---- mappings ---- */

static enum ktr_map_kind kind_of(const struct mapping *mapping)
{
	switch (mapping->kind) {
	case LPL_PAGE_FILE:
		return mapping->sharing == MAPPING_SHARED ? KTR_MAP_FILE_SHARED :
							    KTR_MAP_FILE_PRIVATE;
	case LPL_PAGE_SHM:
		return class_of(mapping) == OBJECT_SEGMENT ? KTR_MAP_SHM :
							     KTR_MAP_ANONYMOUS_SHARED;
	case LPL_PAGE_SPECIAL:
		return KTR_MAP_SPECIAL;
	default:
		return KTR_MAP_ANONYMOUS;
	}
}

static void send_mapping(struct spaces_sender *spaces)
{
	const struct stretch *stretch = &spaces->stretch;
	const struct mapping *mapping = &stretch->mapping;
	const struct object *object;
	struct object_name name;

	if (stretch->first > stretch->last)
		return;
	name = lpl_sent_name(mapping);
	object = lpl_object_find(spaces->sender->merge, mapping);
	lpl_send_event(spaces->sender, KTR_MAP, (const uint64_t[KTR_ARGS]){
		[KTR_MAP_SPACE] = spaces->space->number,
		[KTR_MAP_START] = address_of(stretch->first),
		[KTR_MAP_END] = end_of(spaces, stretch->last),
		[KTR_MAP_KIND] = kind_of(mapping),
		[KTR_MAP_DEVICE] = name.device,
		[KTR_MAP_INODE] = name.inode,
		[KTR_MAP_OFFSET] = stretch->first + mapping->delta
	}, object != NULL ? object->name : NULL, object != NULL ? object->name_length : 0);
}

/* Where there is no object, nothing distinguishes one page of it from another. */
static struct mapping sent_mapping(tree_slot slot, uint64_t at)
{
	struct mapping mapping = mapping_beneath(slot, at);

	if (mapping.domain == 0)
		mapping.delta = 0;
	return mapping;
}

static int visit_mapping(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	struct spaces_sender *spaces = context;
	struct stretch *stretch = &spaces->stretch;
	struct mapping mapping = sent_mapping(slot, first);

	if (stretch->first > stretch->last || stretch->last + 1 != first ||
	    stretch->mapping.kind != mapping.kind || stretch->mapping.sharing != mapping.sharing ||
	    !mapping_same_pages(&stretch->mapping, &mapping)) {
		send_mapping(spaces);
		stretch->first = first;
		stretch->mapping = mapping;
	}
	stretch->last = last;
	return spaces->sender->error;
}

/* ---- pages of files that are the space's own ---- */

static void send_own(struct spaces_sender *spaces)
{
	const struct stretch *stretch = &spaces->stretch;

	if (stretch->first > stretch->last || is_hidden(spaces, stretch->first))
		return;
	SEND(spaces->sender, KTR_PAGE_OWN,
	     [KTR_PAGE_OWN_SPACE] = spaces->space->number,
	     [KTR_PAGE_OWN_ADDRESS] = address_of(stretch->first),
	     [KTR_PAGE_OWN_FRAME] = KTR_NONE,
	     [KTR_PAGE_OWN_PAGES] = (end_of(spaces, stretch->last) >> LPL_PAGE_SHIFT) -
				    stretch->first);
}

static int visit_own(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	struct spaces_sender *spaces = context;
	struct stretch *stretch = &spaces->stretch;

	if (slot_origin(slot)->kind != LPL_PAGE_FILE ||
	    (!slot_is_page(slot) && slot_mapping(slot)->sharing != MAPPING_ANONYMOUS))
		return 0;
	if (stretch->first > stretch->last || stretch->last + 1 != first) {
		send_own(spaces);
		stretch->first = first;
	}
	stretch->last = last;
	return spaces->sender->error;
}

/* ---- pages that are in several places ---- */

enum { PRESENT_AT_ONCE = 1 << 16 };	/* pages that one event may name */

static void send_present(struct spaces_sender *spaces)
{
	const struct stretch *stretch = &spaces->stretch;

	if (stretch->first <= stretch->last)
		SEND(spaces->sender, KTR_PRESENT, [KTR_RANGE_SPACE] = spaces->space->number,
		     [KTR_RANGE_START] = address_of(stretch->first),
		     [KTR_RANGE_END] = end_of(spaces, stretch->last),
		     [KTR_PRESENT_FRAME] = LPL_STATE_PAGES + stretch->number,
		     [KTR_PRESENT_SLOT] = KTR_NONE);
	spaces->stretch = no_stretch;
}

/*
 * By its names in a snapshot the page may be reported again, until the next one begins.
 * Each event names the page by one such key and by its number.
 */
static void send_keys(struct spaces_sender *spaces, uint64_t at, uint64_t number, size_t key)
{
	const uint64_t named = LPL_STATE_PAGES + number;

	send_present(spaces);
	SEND(spaces->sender, KTR_PRESENT, spaces->space->number, address_of(at),
	     address_of(at + 1), named, named);
	for (; key != 0; key = spaces->next_key[key - 1]) {
		const struct present *known = &spaces->sender->merge->present_page[key - 1];
		bool by_frame = known->by == PRESENT_BY_FRAME;

		SEND(spaces->sender, KTR_PRESENT, spaces->space->number, address_of(at),
		     address_of(at + 1), by_frame ? known->number : named,
		     by_frame ? named : known->number);
	}
}

static int visit_present(void *context, uint64_t first, uint64_t last, tree_slot slot)
{
	struct spaces_sender *spaces = context;
	struct stretch *stretch = &spaces->stretch;
	const struct page *page = slot_is_page(slot) ? slot_page(slot) : NULL;
	uint64_t *number;
	size_t key;

	(void)last;
	if (page == NULL)
		return 0;
	key = lpl_map_get(&spaces->key, LPL_KEY((uintptr_t)page));
	if (page->refs - page->other_refs <= 1 && key == 0)
		return 0;
	number = lpl_map_reach(&spaces->number, LPL_KEY((uintptr_t)page));
	if (number == NULL) {
		lpl_sender_no_memory(spaces->sender);
		return -1;
	}
	if (*number == 0) {
		*number = spaces->number.count;
		if (key != 0) {
			send_keys(spaces, first, *number, key);
			return spaces->sender->error;
		}
	}
	if (stretch->first > stretch->last || stretch->last + 1 != first ||
	    stretch->number + (first - stretch->first) != *number ||
	    first - stretch->first == PRESENT_AT_ONCE) {
		send_present(spaces);
		*stretch = (struct stretch){ .first = first, .number = *number };
	}
	stretch->last = first;
	return spaces->sender->error;
}

/*
 * A page that is nowhere mapped any more may still be reported again by its keys, and is then
 * none of those that are.  It is sent in a space that the guest does not have, which ends at once.
 */
static void send_unmapped(struct spaces_sender *spaces)
{
	const struct lpl_merge *merge = spaces->sender->merge;

	spaces->space = &spaces->nowhere;
	for (size_t i = 0; i < merge->present_pages; i++) {
		const struct lpl_key page = LPL_KEY((uintptr_t)merge->present_page[i].page);
		tree_slot slot = slot_of_page(merge->present_page[i].page);

		if (lpl_map_get(&spaces->number, page) != 0)
			continue;
		spaces->stretch = (struct stretch){ .mapping = sent_mapping(slot, 0) };
		send_mapping(spaces);
		spaces->stretch = no_stretch;
		(void)visit_own(spaces, 0, 0, slot);
		send_own(spaces);
		spaces->stretch = no_stretch;
		(void)visit_present(spaces, 0, 0, slot);
		SEND(spaces->sender, KTR_SPACE_END, spaces->nowhere.number);
	}
}

/* Which keys lead to which page. */
static void find_keys(struct spaces_sender *spaces)
{
	const struct lpl_merge *merge = spaces->sender->merge;

	if (merge->present_pages == 0)
		return;
	spaces->next_key = calloc(merge->present_pages, sizeof(*spaces->next_key));
	for (size_t i = 0; i < merge->present_pages; i++) {
		struct lpl_key page = LPL_KEY((uintptr_t)merge->present_page[i].page);
		uint64_t *first = spaces->next_key == NULL ? NULL :
							     lpl_map_reach(&spaces->key, page);

		if (first == NULL) {
			lpl_sender_no_memory(spaces->sender);
			return;
		}
		spaces->next_key[i] = *first;
		*first = i + 1;
	}
}

/* ---- spaces ---- */

static void send_space(struct spaces_sender *spaces, struct space *space)
{
	const struct tree_walker sharing = { spaces, send_shared, pass_by };
	bool moved = space->moved.first <= space->moved.last;

	spaces->space = space;
	SEND(spaces->sender, LPL_EVENT_SPACE_STATE, space->number,
	     moved ? address_of(space->moved.first) : 0,
	     moved ? end_of(spaces, space->moved.last) : 0);
	walk(spaces, visit_mapping);
	send_mapping(spaces);
	walk(spaces, visit_own);
	send_own(spaces);
	walk(spaces, visit_present);
	send_present(spaces);
	(void)lpl_tree_walk_nodes(&space->mapped, &sharing);
}

void lpl_send_spaces(struct sender *sender)
{
	struct spaces_sender spaces = { .sender = sender,
					.nowhere.number = sender->nowhere };
	struct space *space;

	lpl_map_init(&spaces.owner, 1);
	lpl_map_init(&spaces.number, 1);
	lpl_map_init(&spaces.key, 1);
	find_keys(&spaces);
	LIST_FOREACH(space, &sender->merge->all_spaces, in_all) {
		if (sender->error != LPL_OK)
			break;
		send_space(&spaces, space);
	}
	send_unmapped(&spaces);
	free(spaces.next_key);
	lpl_map_free(&spaces.owner);
	lpl_map_free(&spaces.number);
	lpl_map_free(&spaces.key);
}
