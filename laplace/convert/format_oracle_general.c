/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oracleGeneral, the format of the cache simulator libCacheSim: 24 bytes a request,
 * packed, little-endian.
 *
 *	time 32		seconds; here cycles / 2^20
 *	id 64		of the object: the page, and the space in the top 12 bits
 *	size 32		in bytes: the page size
 *	next 64		the number of the next request for this object, counted
 *			from 1; -1: there is none
 *
 * What the next request is is known when it comes: it is then put into the record
 * before, which is why this is written to files only.  Memory is at most 43 bytes for each
 * page, 64 while the map grows.
 *
 * A page has 52 bits, a space may have more than 12: a trace of such a space loses
 * it, and one of several is refused, for their pages would look alike.
 */
#include <inttypes.h>

#include "base/map.h"
#include "exporter.h"
#include "importer.h"

#define BYTES 24
#define NEXT_OFFSET 16		/* of `next` in a record */
#define SPACE_SHIFT 52
#define SPACES (UINT64_C(1) << 12)
#define TIME_SHIFT 20

static const uint8_t *read_request(struct lpl_importer *importer, const uint8_t *at,
				   const uint8_t *end)
{
	struct lpl_ref ref = { .type = LPL_READ, .ref = importer->ref + 1 };
	uint64_t id;
	uint32_t size;

	if (end - at < BYTES)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
					 "record, after %d of its %d bytes", (int)(end - at),
					 BYTES);
	ref.cycle = (uint64_t)scan_le32(at) << TIME_SHIFT;
	id = scan_le64(at + 4);
	size = scan_le32(at + 12);
	ref.instr = ref.ref;
	ref.space = id >> SPACE_SHIFT;
	importer->result.sizes |= size != 1U << importer->page_shift;
	return lpl_import_check_clock(importer, "time", ref.cycle, importer->cycle) &&
	       lpl_import_set_page(importer, &ref, id & ((UINT64_C(1) << SPACE_SHIFT) - 1)) &&
	       lpl_import_ref(importer, &ref) ? at + BYTES : NULL;
}

/* ---- printing ---- */

struct requests {
	struct lpl_map last;	/* the last request of each object, from 1 */
	uint64_t count;
};

static bool make_id(struct lpl_exporter *exporter, const struct lpl_ref *ref, uint64_t *id)
{
	*id = lpl_export_page(exporter, ref);
	if (ref->space < SPACES)
		*id |= ref->space << SPACE_SHIFT;
	if (!exporter->result.losses.spaces ||
	    (ref->space < SPACES && exporter->last.space < SPACES))
		return true;
	return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "has several address spaces, "
				 "and their pages would look alike; `laplace merge --format "
				 "canonical' makes one of them");
}

/* The previous request for this object gets the number of this one. */
static bool write_next(struct lpl_exporter *exporter, uint64_t before, uint64_t number)
{
	char next[8];

	put_le64(next, number);
	return lpl_export_rewrite(exporter, (before - 1) * BYTES + NEXT_OFFSET, next,
				  sizeof(next));
}

static char *write_request(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct requests *requests = exporter->state;
	uint64_t id, *last;

	if (ref->cycle >> TIME_SHIFT > UINT32_MAX)
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "cycle %" PRIu64 " is too "
					 "late for this format", ref->cycle);
	if (!make_id(exporter, ref, &id))
		return NULL;
	last = lpl_map_reach(&requests->last, LPL_KEY(id));
	if (!last) {
		(void)lpl_fail(exporter->report, LPL_ERR_MEMORY, "no memory for %zu pages",
			       requests->last.count);
		return NULL;
	}
	requests->count++;
	if (*last && !write_next(exporter, *last, requests->count))
		return NULL;
	*last = requests->count;
	out = put_le32(out, (uint32_t)(ref->cycle >> TIME_SHIFT));
	out = put_le64(out, id);
	out = put_le32(out, (uint32_t)1 << exporter->page_shift);
	return put_le64(out, UINT64_MAX);
}

static char *begin_requests(struct lpl_exporter *exporter, char *out)
{
	lpl_map_init(&((struct requests *)exporter->state)->last, 1);
	return out;
}

static void free_requests(void *state)
{
	lpl_map_free(&((struct requests *)state)->last);
}

const struct lpl_format lpl_format_oracle_general = {
	.name = "oracleGeneral",
	.fields = "time 32, id 64, size 32, next 64 bits",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_PAGES | LPL_FORMAT_SEEKS | LPL_WITH_CYCLE |
		  LPL_WITH_SPACE,
	.read_record = read_request,
	.record_bytes = BYTES,
	.write_begin = begin_requests,
	.write_ref = write_request,
	.export_state = sizeof(struct requests),
	.export_free = free_requests,
};
