/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files, segments and the like: what names them, and what is known of them beyond the mappings
 * that show them.
 */
#ifndef LAPLACE_MERGE_OBJECT_H
#define LAPLACE_MERGE_OBJECT_H

#include <sys/queue.h>

#include <laplace/merge.h>

#include "tree.h"

/* What kind of thing an object is; devices and inodes repeat between them. */
enum object_class {
	OBJECT_FILE = 1,	/* device, inode */
	OBJECT_SEGMENT,		/* inode */
	OBJECT_NAMED,		/* a special mapping: hash of its name */
	OBJECT_UNIQUE,		/* a shared mapping of nothing known */
	OBJECT_KERNEL,
	OBJECT_PHYSICAL
};

#define OBJECT_CLASS_BITS 8

/* An object's number (inode) is its own within its class, and there its device. */
static inline uint64_t object_domain(enum object_class class, uint64_t device)
{
	return device << OBJECT_CLASS_BITS | class;
}

static inline enum object_class class_of(const struct mapping *mapping)
{
	return mapping->domain & ((1U << OBJECT_CLASS_BITS) - 1);
}

static inline uint64_t device_of(const struct mapping *mapping)
{
	return mapping->domain >> OBJECT_CLASS_BITS;
}

struct object_page {
	uint64_t number;	/* in the object */
	uint64_t canonical;
};

struct object {
	LIST_ENTRY(object) in_all;
	uint64_t domain, number;	/* as in a mapping that shows it */
	bool referenced;		/* a page of it was, at any time */
	struct object_page *page;	/* that were referenced, where outputs have `leave` */
	size_t pages, page_room;
	struct tree cached;	/* audit: its pages in the page cache -> their frames */
	bool memory;		/* it was mapped as shared memory: not a file in a directory */
	bool has_generation;	/* KTR_FILE gave it: */
	uint64_t generation;	/* of its number */
	uint64_t file_kind, own_device;	/* likewise */
	uint64_t incarnation;	/* how many files had the number before */
	uint32_t name_length;
	char *name;		/* NULL: not known, or not asked for */
};

/*
 * Name the object that a mapping shows.  A segment is named by its inode alone, for
 * KTR_SHM_ATTACH knows no device; an inode number with the highest bit is a segment's wherever
 * it is given (so a kernel keeps segments, numbered by id, apart from other shared memory in the
 * same file system).  A guest that does not know the file must not make two unknown files one.
 */
void lpl_object_name(struct lpl_merge *merge, struct mapping *mapping,
		     enum object_class class, uint64_t device, uint64_t inode);

/* What is known of the object a mapping shows; NULL: nothing. */
struct object *lpl_object_find(const struct lpl_merge *merge, const struct mapping *mapping);
/* Known or made; NULL: no memory. */
struct object *lpl_object_make(struct lpl_merge *merge, const struct mapping *mapping);
void lpl_object_free(struct lpl_merge *merge, struct object *object);

/* The first word of the keys of an object's pages (merge->identities); `object` may be NULL. */
uint64_t lpl_object_identity(const struct mapping *mapping, const struct object *object);
/* A page of it was referenced.  false: no memory. */
bool lpl_object_add_page(struct object *object, uint64_t page, uint64_t canonical);
/* What KTR_MAP, which makes a mapping, says about its object.  false: no memory. */
bool lpl_object_note_map(struct lpl_merge *merge, const struct mapping *mapping,
			 const struct lpl_event *event);

#endif
