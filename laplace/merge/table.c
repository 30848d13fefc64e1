/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table from three words to one. */
#include "table.h"

#include <stdlib.h>
#include <sys/random.h>

#define TABLE_FIRST_SIZE 64

void table_init(struct table *table)
{
	*table = (struct table){ 0 };
	/* without randomness only the resistance to chosen keys is lost */
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = 0x9e3779b97f4a7c15U;
}

void table_free(struct table *table)
{
	free(table->entries);
	table->entries = NULL;
	table->size = 0;
	table->count = 0;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93U;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93U;
	return x ^ x >> 32;
}

static size_t home(const struct table *table, struct table_key key)
{
	return mix(mix(mix(key.a ^ table->seed) + key.b) + key.c) & (table->size - 1);
}

static bool equal(struct table_key x, struct table_key y)
{
	return x.a == y.a && x.b == y.b && x.c == y.c;
}

/* The key's place, or the free one where it belongs. */
static size_t probe(const struct table *table, struct table_key key)
{
	size_t i = home(table, key);

	while (table->entries[i].value != 0 && !equal(table->entries[i].key, key))
		i = (i + 1) & (table->size - 1);
	return i;
}

uint64_t table_get(const struct table *table, struct table_key key)
{
	return table->size == 0 ? 0 : table->entries[probe(table, key)].value;
}

static bool grow(struct table *table)
{
	struct table old = *table;
	size_t size = old.size == 0 ? TABLE_FIRST_SIZE : old.size * 2;
	struct table_entry *entries = calloc(size, sizeof(*entries));

	if (entries == NULL)
		return false;
	table->entries = entries;
	table->size = size;
	for (size_t i = 0; i < old.size; i++)
		if (old.entries[i].value != 0)
			entries[probe(table, old.entries[i].key)] = old.entries[i];
	free(old.entries);
	return true;
}

bool table_put(struct table *table, struct table_key key, uint64_t value)
{
	size_t i;

	if (table->count >= table->size - table->size / 4 && !grow(table))
		return false;
	i = probe(table, key);
	if (table->entries[i].value == 0)
		table->count++;
	table->entries[i] = (struct table_entry){ .key = key, .value = value };
	return true;
}

void table_remove(struct table *table, struct table_key key)
{
	size_t mask = table->size - 1;
	size_t hole, i;

	if (table->size == 0)
		return;
	hole = probe(table, key);
	if (table->entries[hole].value == 0)
		return;
	table->count--;
	/* close the gap: move back what may stand nearer to its home */
	for (i = (hole + 1) & mask; table->entries[i].value != 0; i = (i + 1) & mask) {
		size_t distance = (i - home(table, table->entries[i].key)) & mask;

		if (distance >= ((i - hole) & mask)) {
			table->entries[hole] = table->entries[i];
			hole = i;
		}
	}
	table->entries[hole].value = 0;
}
