/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files, segments and the like: what names them, and what is known of them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void merge_name_object(struct lpl_merge *merge, struct mapping *mapping,
		       enum object_class class, uint64_t device, uint64_t inode)
{
	if ((class == OBJECT_FILE && inode == 0) || inode == KTR_NONE) {
		class = OBJECT_UNIQUE;
		device = 0;
		inode = ++merge->last_unique;
	} else if ((inode & KTR_INODE_SYSV) != 0) {
		class = OBJECT_SEGMENT;
	}
	if (class == OBJECT_SEGMENT)
		device = 0;
	mapping->space_of_object = object_class(class, device);
	mapping->object = inode;
}

static struct lpl_key object_key(const struct mapping *mapping)
{
	return LPL_KEY(mapping->space_of_object, mapping->object);
}

struct object *merge_object(const struct lpl_merge *merge, const struct mapping *mapping)
{
	return (struct object *)(uintptr_t)lpl_map_get(&merge->objects, object_key(mapping));
}

struct object *merge_object_make(struct lpl_merge *merge, const struct mapping *mapping)
{
	struct object *object = merge_object(merge, mapping);

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
	return object;
}

void object_free(struct object *object)
{
	LIST_REMOVE(object, in_all);
	tree_free(&object->cached);
	free(object->page);
	free(object->name);
	free(object);
}

bool object_note_page(struct object *object, uint64_t page, uint64_t canonical)
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

static void forget_all(struct lpl_merge *merge)
{
	struct space *space;

	merge->kernel_stamp = new_stamp(merge);
	LIST_FOREACH(space, &merge->all_spaces, in_all)
		space->stamp = new_stamp(merge);
}

/*
 * A file has come into use.  Another generation of its inode's number is another
 * file: the one before was deleted, so nothing shows it any more.  Where events are
 * missing translations of it may be left.
 */
bool merge_file(struct lpl_merge *merge, const struct lpl_event *event)
{
	struct mapping mapping = { .sharing = MAPPING_SHARED };
	struct object *object;

	merge_name_object(merge, &mapping, OBJECT_FILE, event->arg[0], event->arg[1]);
	if (class_of(&mapping) == OBJECT_UNIQUE)
		return true;
	object = merge_object_make(merge, &mapping);
	if (object == NULL)
		return false;
	if (object->told && object->generation != event->arg[3]) {
		object->incarnation++;
		object->pages = 0;
		object->memory = false;
		forget_all(merge);
	}
	object->told = true;
	object->generation = event->arg[3];
	/* a path says more than the last part of one */
	return merge->output->page == NULL || event->text_length == 0 || set_name(object, event);
}

/* What a mapping tells of its object.  The first name is as good as any other. */
bool merge_note_object(struct lpl_merge *merge, const struct mapping *mapping,
			const struct lpl_event *event)
{
	bool name = merge->output->page != NULL && event->text_length > 0;
	bool memory = event->arg[4] == KTR_MAP_ANONYMOUS_SHARED;
	struct object *object;

	if ((!name && !memory) || mapping->sharing == MAPPING_ANONYMOUS ||
	    class_of(mapping) == OBJECT_UNIQUE)
		return true;
	object = merge_object_make(merge, mapping);
	if (object == NULL)
		return false;
	object->memory |= memory;
	return !name || object->name != NULL || set_name(object, event);
}

