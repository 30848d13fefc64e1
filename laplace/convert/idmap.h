/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map from numbers to numbers other than 0: open addressing, linear probing,
 * between a quarter and half full.  At most 64 bytes for each number that was in
 * it at once, and half as much again while it grows.
 */
#ifndef LAPLACE_CONVERT_IDMAP_H
#define LAPLACE_CONVERT_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key, value;	/* value 0: free */
};

struct idmap {
	struct idmap_slot *slot;
	size_t room, count;		/* room: a power of two, or 0 at first */
};

/*
 * The value of `key`, until the map is changed.  It is 0 when the key was not
 * there, and has to be set.  NULL: no memory.
 */
uint64_t *idmap_reach(struct idmap *map, uint64_t key);
/* NULL: it is not there. */
const uint64_t *idmap_find(const struct idmap *map, uint64_t key);
/* false: it was not there. */
bool idmap_remove(struct idmap *map, uint64_t key);
void idmap_free(struct idmap *map);

#endif
