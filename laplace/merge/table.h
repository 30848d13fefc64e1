/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table from three words to one: open addressing, linear probing. */
#ifndef LAPLACE_MERGE_TABLE_H
#define LAPLACE_MERGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_key {
	uint64_t a, b, c;
};

struct table_entry {
	struct table_key key;
	uint64_t value;		/* 0: a free place */
};

struct table {
	struct table_entry *entries;
	size_t size;		/* a power of two, or 0 */
	size_t count;
	uint64_t seed;		/* keys are guest input: nobody shall choose collisions */
};

void table_init(struct table *table);
void table_free(struct table *table);

/* The value; 0 when absent. */
uint64_t table_get(const struct table *table, struct table_key key);
/* Set or replace; value must not be 0.  false: no memory, nothing changed. */
bool table_put(struct table *table, struct table_key key, uint64_t value);
/* Remove if present. */
void table_remove(struct table *table, struct table_key key);

#endif
