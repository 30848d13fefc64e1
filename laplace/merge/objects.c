/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files, segments and the like: what names them, and what is known of them. */
#include "object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state.h"

void lpl_object_name(struct lpl_merge *merge, struct mapping *mapping,
		     enum object_class class, uint64_t device, uint64_t inode)
{
	if (merge->tasks.in_state && device == LPL_STATE_NAMELESS) {
		class = OBJECT_UNIQUE;
		device = 0;
		if (merge->last_unique < inode)
			merge->last_unique = inode;
	} else if ((class == OBJECT_FILE && inode == 0) || inode == KTR_NONE) {
		class = OBJECT_UNIQUE;
		device = 0;
		inode = ++merge->last_unique;
	} else if ((inode & KTR_INODE_SYSV) != 0) {
		class = OBJECT_SEGMENT;
	}
	if (class == OBJECT_SEGMENT)
		device = 0;
	mapping->domain = object_domain(class, device);
	mapping->object = inode;
}

static struct lpl_key object_key(const struct mapping *mapping)
{
	return LPL_KEY(mapping->domain, mapping->object);
}

uint64_t lpl_object_identity(const struct mapping *mapping, const struct object *object)
{
	/* incarnations count above the bits of devices */
	return mapping->domain + (object == NULL ? 0 : object->incarnation << 40);
}

struct object *lpl_object_find(const struct lpl_merge *merge, const struct mapping *mapping)
{
	return (struct object *)(uintptr_t)lpl_map_get(&merge->objects, object_key(mapping));
}

struct object *lpl_object_make(struct lpl_merge *merge, const struct mapping *mapping)
{
	struct object *object = lpl_object_find(merge, mapping);

	if (object != NULL)
		return object;
	object = calloc(1, sizeof(*object));
	if (object == NULL)
		return NULL;
	if (!lpl_map_put(&merge->objects, object_key(mapping), (uintptr_t)object)) {
		free(object);
		return NULL;
	}
	LIST_INSERT_HEAD(&merge->all_objects, object, in_all);
	object->domain = mapping->domain;
	object->number = mapping->object;
	object->cached.store = &merge->store;
	merge->idle_objects++;
	return object;
}

/* One that no page was seen of is freed: its name may be reported again. */
void lpl_objects_forget(struct lpl_merge *merge)
{
	struct object *object = LIST_FIRST(&merge->all_objects);

	while (object != NULL) {
		struct object *next = LIST_NEXT(object, in_all);

		if (!object->referenced) {
			(void)lpl_map_remove(&merge->objects,
					     LPL_KEY(object->domain, object->number));
			lpl_object_free(merge, object);
		}
		object = next;
	}
}

void lpl_object_note_reference(struct lpl_merge *merge, struct object *object)
{
	assert(object->referenced || merge->idle_objects > 0);
	if (!object->referenced)
		merge->idle_objects--;
	object->referenced = true;
}

void lpl_object_free(struct lpl_merge *merge, struct object *object)
{
	assert(object->referenced || merge->idle_objects > 0);
	merge->idle_objects -= !object->referenced;
	LIST_REMOVE(object, in_all);
	lpl_tree_free(&object->cached);
	free(object->page);
	free(object->name);
	free(object);
}

bool lpl_object_add_page(struct object *object, uint64_t page, uint64_t canonical)
{
	if (!lpl_reach(object->page, object->page_room, object->pages))
		return false;
	object->page[object->pages++] = (struct object_page){ page, canonical };
	return true;
}

static bool set_name(struct object *object, const struct lpl_event *event)
{
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
	char *name = malloc(length);

	if (name == NULL)
		return false;
	memcpy(name, event->text, length);
	free(object->name);
	object->name = name;
	object->name_length = length;
	return true;
}

/*
 * A file has come into use.  Another generation of its inode's number is another
 * file: the one before was deleted, so nothing shows it any more.  Where events are
 * missing translations of it may be left.
 */
bool lpl_on_file(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .sharing = MAPPING_SHARED };
	uint64_t generation = event->arg[KTR_FILE_GENERATION];
	struct object *object;

	lpl_object_name(merge, &mapping, OBJECT_FILE, event->arg[KTR_FILE_DEVICE],
			event->arg[KTR_FILE_INODE]);
	if (class_of(&mapping) == OBJECT_UNIQUE)
		return true;
	object = lpl_object_make(merge, &mapping);
	if (object == NULL)
		return false;
	if (object->has_generation && object->generation != generation) {
		object->incarnation++;
		object->pages = 0;
		object->memory = false;
		lpl_flush_all(merge);
	}
	/* a state says by a mapping, after this, what is shared memory */
	if (merge->tasks.in_state)
		object->memory = false;
	object->has_generation = true;
	object->generation = generation;
	object->file_kind = event->arg[KTR_FILE_KIND];
	object->own_device = event->arg[KTR_FILE_OWN_DEVICE];
	/* a path says more than the last part of one */
	return merge->output->page == NULL || event->text_length == 0 || set_name(object, event);
}

/* The first name is as good as any other. */
bool lpl_object_note_map(struct lpl_merge *merge, const struct mapping *mapping,
			 const struct lpl_event *event)
{
	bool name = merge->output->page != NULL && event->text_length > 0;
	bool memory = event->arg[KTR_MAP_KIND] == KTR_MAP_ANONYMOUS_SHARED;
	struct object *object;

	if ((!name && !memory) || mapping->sharing == MAPPING_ANONYMOUS ||
	    class_of(mapping) == OBJECT_UNIQUE)
		return true;
	object = lpl_object_make(merge, mapping);
	if (object == NULL)
		return false;
	object->memory |= memory;
	return !name || object->name != NULL || set_name(object, event);
}

