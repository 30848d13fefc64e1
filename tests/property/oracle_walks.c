/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where walks find their entries, by brute force; see oracle_walks.h. */
#include "oracle_walks.h"

#include <stdlib.h>

#define NOWHERE (UINT64_C(1) << 51)	/* frames from here on are made up */

static uint64_t power(uint64_t base, unsigned int exponent)
{
	return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

static uint64_t entries(const struct oracle_walks *walks)
{
	return walks->levels == 2 ? 1024 : 512;
}

/* Bytes of addresses that an entry of a table is for; table 0 has bytes. */
static uint64_t span(const struct oracle_walks *walks, unsigned int table)
{
	return 4096 * power(entries(walks), table - 1);
}

void oracle_walks_begin(struct oracle_walks *walks, const struct stream *in)
{
	/* two for each walk read, and one for each load, of which a reference has some */
	walks->list = calloc(40 * in->count + 1, sizeof(*walks->list));
	walks->count = 0;
	walks->invented = 0;
	if (walks->list == NULL)
		abort();
	oracle_cache_begin(&walks->cache);
}

void oracle_walks_end(struct oracle_walks *walks)
{
	free(walks->list);
	oracle_cache_end(&walks->cache);
}

static void add(struct oracle_walks *walks, unsigned int table, uint64_t space, uint64_t leads, uint64_t frame)
{
	walks->list[walks->count++] = (struct walks_table){ table, space, leads, frame };
}

void oracle_walks_learn(struct oracle_walks *walks, const struct stream *in, size_t at)
{
	const uint64_t space = in->item[at].ref.space, bytes = 4096 / entries(walks);
	uint64_t read[64];
	size_t first = at, reads = 0;

	while (first > 0 && (in->item[first - 1].is_event || in->item[first - 1].ref.type == LPL_WALK_READ ||
			     in->item[first - 1].ref.type == LPL_WALK_WRITE))
		first--;
	for (size_t i = first; i < at && reads < 64; i++)
		if (!in->item[i].is_event && in->item[i].ref.type == LPL_WALK_READ &&
		    in->item[i].ref.length == bytes)
			read[reads++] = in->item[i].ref.address;
	for (size_t i = 0; i < reads; i++) {
		size_t begin = i + 1;
		uint64_t leads = 0;

		/* back to where this walk begins, unless one that is nowhere lies between */
		while (begin > 0 && read[begin - 1] / 4096 != space && read[begin - 1] / 4096 < NOWHERE)
			begin--;
		if (begin == 0 || read[begin - 1] / 4096 != space || i - (begin - 1) >= walks->levels ||
		    space >= NOWHERE)
			continue;
		for (size_t j = begin - 1; j < i; j++)
			leads = leads * entries(walks) + read[j] % 4096 / bytes;
		add(walks, walks->levels - (unsigned int)(i - (begin - 1)), space, leads, read[i] / 4096);
		if (i > begin - 1)
			add(walks, walks->levels - (unsigned int)(i - (begin - 1)), KTR_NONE, leads, read[i] / 4096);
	}
}

static uint64_t frame_of(struct oracle_walks *walks, unsigned int table, uint64_t address, uint64_t space, bool global)
{
	uint64_t leads = 0;

	if (table == walks->levels && walks->translations)
		return space;
	if (table < walks->levels)
		leads = address / span(walks, table + 1) % power(entries(walks), walks->levels - table);
	if (global && table < walks->levels)
		space = KTR_NONE;
	for (size_t i = walks->count; i-- > 0;)
		if (walks->list[i].table == table && walks->list[i].space == space && walks->list[i].leads == leads)
			return walks->list[i].frame;
	add(walks, table, space, leads, NOWHERE + walks->invented);
	return NOWHERE + walks->invented++;
}

static void send(struct oracle_walks *walks, uint64_t address, uint64_t bytes, uint64_t space, uint8_t type)
{
	const struct lpl_ref ref = { .address = address, .length = (uint16_t)bytes, .space = space, .type = type };

	oracle_cache_access(&walks->cache, &ref);
}

void oracle_walks_load(struct oracle_walks *walks, unsigned int table, uint64_t address, uint64_t space, bool global)
{
	static const int at[] = { ORACLE_L1, ORACLE_L1D, ORACLE_L2, ORACLE_L3, ORACLE_MEMORY };
	static const int place[] = { 0, 0, 1, 2, 3 };
	const unsigned int of = table < walks->levels ? table : walks->levels;
	const uint64_t frame = frame_of(walks, of, address, space, global), bytes = 4096 / entries(walks);
	uint64_t hits[5];

	for (int i = 0; i < 5; i++)
		hits[i] = walks->cache.level[at[i]].references[ORACLE_READ] - walks->cache.level[at[i]].misses[ORACLE_READ];
	send(walks, frame * 4096 + address / span(walks, of) % entries(walks) * bytes, bytes, KTR_NONE, LPL_READ);
	for (int i = 0; i < 5; i++)
		walks->found[of][place[i]] += walks->cache.level[at[i]].references[ORACLE_READ] -
					      walks->cache.level[at[i]].misses[ORACLE_READ] - hits[i];
	if (frame < NOWHERE)
		walks->known[of]++;
	else
		walks->made_up[of]++;
}

void oracle_walks_access(struct oracle_walks *walks, uint64_t address, uint64_t bytes, uint64_t space, uint64_t frame,
			 uint8_t type)
{
	if (frame == KTR_NONE)
		send(walks, address, bytes, space, type);
	else
		send(walks, frame * 4096 + address % 4096, bytes, KTR_NONE, type);
}
