/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files, segments and the like: what names them, and what is known of them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

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

static struct table_key object_key(const struct mapping *mapping)
{
	return (struct table_key){ mapping->space_of_object, mapping->object, 0 };
}

struct object *merge_object(const struct lpl_merge *merge, const struct mapping *mapping)
{
	return (struct object *)(uintptr_t)table_get(&merge->objects, object_key(mapping));
}

struct object *merge_object_make(struct lpl_merge *merge, const struct mapping *mapping)
{
	struct object *object = merge_object(merge, mapping);

	if (object != NULL)
		return object;
	object = calloc(1, sizeof(*object));
	if (object == NULL)
		return NULL;
	if (!table_put(&merge->objects, object_key(mapping), (uintptr_t)object)) {
		free(object);
		return NULL;
	}
	return object;
}

void object_free(struct object *object)
{
	if (object == NULL)
		return;
	tree_free(&object->cached);
	free(object->name);
	free(object);
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
	merge->kernel_stamp = new_stamp(merge);
	for (size_t i = 0; i < merge->spaces.size; i++) {
		struct space *space = (struct space *)(uintptr_t)merge->spaces.entries[i].value;

		if (space != NULL)
			space->stamp = new_stamp(merge);
	}
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

