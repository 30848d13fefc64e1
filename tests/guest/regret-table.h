/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of what two numbers name. */
#ifndef LAPLACE_TESTS_REGRET_TABLE_H
#define LAPLACE_TESTS_REGRET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "regret-pages.h"

struct slot {
	uint64_t a, b;
	void *value;
	bool mark;
	bool taken;
};

struct table {
	struct slot *slot;
	size_t size, count;
};

static inline struct slot *find(struct table *table, uint64_t a, uint64_t b, bool make)
{
	size_t i;

	if (make && table->count * 2 >= table->size) {
		struct table larger = { .size = table->size ? table->size * 2 : 1024 };

		larger.slot = resized(NULL, larger.size, sizeof(*larger.slot));
		memset(larger.slot, 0, larger.size * sizeof(*larger.slot));
		for (i = 0; i < table->size; i++)
			if (table->slot[i].taken && table->slot[i].value != NULL)
				*find(&larger, table->slot[i].a, table->slot[i].b, true) = table->slot[i];
		free(table->slot);
		*table = larger;
	}
	if (table->size == 0)
		return NULL;
	i = (a * UINT64_C(0x9e3779b97f4a7c15) + b) * UINT64_C(0xd6e8feb86659fd93) >> 20;
	for (;; i++) {
		struct slot *slot = &table->slot[i & (table->size - 1)];

		if (slot->taken && slot->a == a && slot->b == b)
			return slot;
		if (!slot->taken && !make)
			return NULL;
		if (!slot->taken) {
			*slot = (struct slot){ .a = a, .b = b, .taken = true };
			table->count++;
			return slot;
		}
	}
}

static inline void *look(struct table *table, uint64_t a, uint64_t b)
{
	struct slot *slot = find(table, a, b, false);

	return slot ? slot->value : NULL;
}

static inline void empty(struct table *table)
{
	free(table->slot);
	*table = (struct table){ .size = 0 };
}

#endif
