/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index: a table of data chunks, thinned so that it is always small. */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/varint.h"
#include "data.h"
#include "index.h"

#define ENTRY_NUMBERS 6
_Static_assert(ENTRY_NUMBERS * LPL_VARINT_MAX == LPL_INDEX_ENTRY_MAX, "an entry's numbers");
#define ACCOUNTS_NUMBERS 4

/* Keep every second entry. */
static void drop_every_second(struct lpl_index *index)
{
	assert(index->count == LPL_INDEX_ENTRIES_MAX);
	index->stride *= 2;
	index->count = (index->count + 1) / 2;
	for (size_t i = 1; i < index->count; i++)
		index->entries[i] = index->entries[2 * i];
}

bool lpl_index_add(struct lpl_index *index, const struct lpl_chunk_header *header,
		   uint64_t offset)
{
	uint64_t link[2] = { htole64(index->chain), htole64(header->checksum) };

	if (index->stride == 0)
		index->stride = 1;
	if (header->kind == LPL_CHUNK_DATA ||
	    (header->kind == LPL_CHUNK_RUNS && !index->without_runs)) {
		if (index->chunks % index->stride == 0 && index->count == LPL_INDEX_ENTRIES_MAX)
			drop_every_second(index);
		if (index->chunks % index->stride == 0) {
			if (!lpl_reach(index->entries, index->room, index->count))
				return false;
			index->entries[index->count++] = (struct lpl_index_entry){
				.offset = offset,
				.refs = lpl_chunk_base_refs(header),
				.events = lpl_chunk_base_events(header),
				.base = header->base,
			};
		}
		index->chunks++;
	}
	index->chain = lpl_checksum(link, sizeof(link));
	return true;
}

void lpl_index_free(struct lpl_index *index)
{
	free(index->entries);
	memset(index, 0, sizeof(*index));
}

size_t lpl_index_bound(const struct lpl_index *index)
{
	return LPL_VARINT_MAX * (2 + ENTRY_NUMBERS * index->count + LPL_TOTALS_NUMBERS + 1 +
				 ACCOUNTS_NUMBERS) +
	       sizeof(index->chain);
}

bool lpl_index_has_accounts(const struct lpl_totals *totals)
{
	const struct lpl_accounts *recording = &totals->recording;

	return recording->instructions || recording->elapsed_ns || recording->sent_bytes ||
	       recording->sent_refs;
}

static uint8_t *put_accounts(uint8_t *at, const struct lpl_accounts *recording)
{
	at = lpl_varint_put(at, recording->instructions);
	at = lpl_varint_put(at, recording->elapsed_ns);
	at = lpl_varint_put(at, recording->sent_bytes);
	return lpl_varint_put(at, recording->sent_refs);
}

static const uint8_t *get_accounts(const uint8_t *at, const uint8_t *end,
				   struct lpl_accounts *recording)
{
	uint64_t *const number[ACCOUNTS_NUMBERS] = {
		&recording->instructions, &recording->elapsed_ns, &recording->sent_bytes,
		&recording->sent_refs
	};

	for (int i = 0; at && i < ACCOUNTS_NUMBERS; i++)
		at = lpl_varint_get(at, end, number[i]);
	return at;
}

size_t lpl_index_encode(const struct lpl_index *index, const struct lpl_totals *totals,
			uint8_t *out)
{
	struct lpl_index_entry before = { 0 };
	uint64_t chain = htole64(index->chain);
	uint8_t *at = out;

	at = lpl_varint_put(at, index->stride);
	at = lpl_varint_put(at, index->chunks);
	for (size_t i = 0; i < index->count; i++) {
		const struct lpl_index_entry *entry = &index->entries[i];

		at = lpl_varint_put(at, entry->offset - before.offset);
		at = lpl_varint_put(at, entry->refs - before.refs);
		at = lpl_varint_put(at, entry->events - before.events);
		at = lpl_varint_put(at, entry->base.ref - before.base.ref);
		at = lpl_varint_put(at, entry->base.instr - before.base.instr);
		at = lpl_varint_put(at, entry->base.cycle - before.base.cycle);
		before = *entry;
	}
	at = lpl_totals_put(at, totals);
	at = lpl_varint_put(at, totals->wait_ns);
	if (lpl_index_has_accounts(totals))
		at = put_accounts(at, &totals->recording);
	memcpy(at, &chain, sizeof(chain));
	at += sizeof(chain);
	assert((size_t)(at - out) <= lpl_index_bound(index));
	return (size_t)(at - out);
}

/* What stands after the table, up to the chain, which has to be the rest. */
static const uint8_t *get_end(const uint8_t *at, const uint8_t *end, bool accounts,
			      struct lpl_totals *totals)
{
	at = lpl_totals_get(at, end, totals);
	if (at)
		at = lpl_varint_get(at, end, &totals->wait_ns);
	if (at && accounts)
		at = get_accounts(at, end, &totals->recording);
	return at && end - at == (ptrdiff_t)sizeof(uint64_t) ? at : NULL;
}

bool lpl_index_totals(const uint8_t *payload, size_t size, bool accounts,
		      struct lpl_totals *totals)
{
	const uint8_t *at = payload, *end = payload + size;
	uint64_t stride, chunks, entries, number;

	memset(totals, 0, sizeof(*totals));
	at = lpl_varint_get(at, end, &stride);
	if (at)
		at = lpl_varint_get(at, end, &chunks);
	if (!at || stride == 0)
		return false;
	entries = chunks / stride + (chunks % stride != 0);
	if (entries > LPL_INDEX_ENTRIES_MAX)
		return false;
	for (uint64_t i = 0; at && i < ENTRY_NUMBERS * entries; i++)
		at = lpl_varint_get(at, end, &number);
	return at && get_end(at, end, accounts, totals);
}

bool lpl_index_check(const struct lpl_index *index, const uint8_t *payload, size_t size,
		     bool accounts, struct lpl_totals *totals)
{
	const uint8_t *at = payload, *end = payload + size;
	struct lpl_index_entry before = { 0 };
	uint64_t stride, chunks, chain;
	struct lpl_totals found = { 0 };

	at = lpl_varint_get(at, end, &stride);
	if (at)
		at = lpl_varint_get(at, end, &chunks);
	if (!at || stride != index->stride || chunks != index->chunks)
		return false;
	for (size_t i = 0; i < index->count; i++) {
		const struct lpl_index_entry *entry = &index->entries[i];
		uint64_t expected[ENTRY_NUMBERS] = {
			entry->offset - before.offset, entry->refs - before.refs,
			entry->events - before.events, entry->base.ref - before.base.ref,
			entry->base.instr - before.base.instr,
			entry->base.cycle - before.base.cycle
		};

		for (int k = 0; k < ENTRY_NUMBERS; k++) {
			uint64_t number;

			at = lpl_varint_get(at, end, &number);
			if (!at || number != expected[k])
				return false;
		}
		before = *entry;
	}
	at = get_end(at, end, accounts, &found);
	if (!at)
		return false;
	memcpy(&chain, at, sizeof(chain));
	if (le64toh(chain) != index->chain)
		return false;
	*totals = found;
	return true;
}
