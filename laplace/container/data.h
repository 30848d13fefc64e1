/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload of a DATA chunk (docs/format.md, section 4): references as
 * columns, events, totals.  Knows nothing of files, compression or checksums.
 */
#ifndef LAPLACE_CONTAINER_DATA_H
#define LAPLACE_CONTAINER_DATA_H

#include <laplace/record.h>
#include <laplace/trace.h>

#include "codec/column.h"
#include "chunk.h"

enum lpl_columns {
	LPL_COLUMN_KIND, LPL_COLUMN_LENGTH, LPL_COLUMN_REF, LPL_COLUMN_INSTR,
	LPL_COLUMN_CYCLE, LPL_COLUMN_SPACE, LPL_COLUMN_ADDRESS, LPL_COLUMNS
};

/* After so many a writer ends a chunk; fuzzers have fewer, for their streams are short. */
#ifndef LPL_CHUNK_EVENTS_WRITTEN
#define LPL_CHUNK_EVENTS_WRITTEN 4096
#endif
#define LPL_BATCH 256		/* references taken through the columns at a time */
#define LPL_TYPE_SLOTS 8	/* LPL_TYPES, rounded up so that any 3 bits index it */

/* The most bytes an event takes: 11 fixed numbers, the arguments, the text. */
#define LPL_EVENT_BYTES_MAX ((11 + KTR_ARGS) * 10 + KTR_TEXT)
#define LPL_TOTALS_NUMBERS (LPL_TYPES + 3)

/* May a reference with this number follow a record with that one? */
static inline bool lpl_ref_follows(uint64_t ref, uint64_t flags, uint64_t before)
{
	return (ref > before) | ((ref == before) & ((flags & LPL_SYNTHETIC) != 0));
}

/*
 * What stands where records are missing, after the one with these clocks or with those of the
 * last one missing; KTR_NONE: it is not known how many.
 */
static inline struct lpl_event lpl_gap_event(const struct lpl_clocks *at, uint64_t refs,
					     uint64_t events)
{
	return (struct lpl_event){
		.tag = LPL_EVENT_GAP, .ref = at->ref, .instr = at->instr, .cycle = at->cycle,
		.arg = { [LPL_EVENT_GAP_REFERENCES] = refs, [LPL_EVENT_GAP_EVENTS] = events }
	};
}

/* ---- writing ---- */

struct lpl_data_encoder {
	struct lpl_column columns[LPL_COLUMNS];
	uint8_t *events, *events_end;
	size_t refs_max, events_max;
	size_t refs, event_count;
	size_t event_position;		/* of the last event */
	uint64_t base_space;
	uint64_t predicted[LPL_TYPE_SLOTS];
	struct lpl_clocks base, first, last;	/* of this chunk's records */
	struct lpl_clocks last_ref;	/* of the last reference, or base */
	uint64_t last_space;		/* survives the chunk */
};

bool lpl_data_encoder_init(struct lpl_data_encoder *encoder, size_t refs_max,
			   size_t events_max);	/* false: no memory */
void lpl_data_encoder_free(struct lpl_data_encoder *encoder);
/* Begin a chunk, after the records that another encoder (or this one) has taken. */
void lpl_data_encoder_follow(struct lpl_data_encoder *encoder,
			     const struct lpl_data_encoder *before);
/*
 * Take references, at most as many as there is room for.  Records that break
 * an invariant are LPL_ERR_ORDER or LPL_ERR_USAGE, and nothing is taken of the
 * batch of LPL_BATCH they are in.
 */
enum lpl_error lpl_data_encode_refs(struct lpl_data_encoder *encoder,
				    const struct lpl_ref *refs, size_t count,
				    struct lpl_report *report);
enum lpl_error lpl_data_encode_event(struct lpl_data_encoder *encoder,
				     const struct lpl_event *event,
				     struct lpl_report *report);
/* References were packed elsewhere: there are so many now, with these clocks. */
void lpl_data_encoder_moved(struct lpl_data_encoder *encoder, size_t refs,
			    const struct lpl_clocks *first, const struct lpl_clocks *last);
/* The most bytes lpl_data_encode_end() can need. */
size_t lpl_data_bound(const struct lpl_data_encoder *encoder);
/* Write the payload; returns its size. */
size_t lpl_data_encode_end(const struct lpl_data_encoder *encoder,
			   const struct lpl_totals *totals, uint8_t *out);

/* ---- reading ---- */

/*
 * References that are alike but for their clocks and address, which grow by the same from each to the
 * next: columns of one number, after another in the first place.  They are not made before they are
 * asked for, since a file of a few hundred bytes may hold a million.
 */
struct lpl_steady {
	struct lpl_ref first;
	struct lpl_clocks step;
	uint64_t address_step;
};

static inline struct lpl_ref lpl_steady_ref(const struct lpl_steady *steady, uint64_t i)
{
	struct lpl_ref ref = steady->first;

	ref.ref += i * steady->step.ref;
	ref.instr += i * steady->step.instr;
	ref.cycle += i * steady->step.cycle;
	ref.address += i * steady->address_step;
	return ref;
}

/* `count` of them, from that numbered `from` on (the first is 0). */
static inline void lpl_steady_expand(const struct lpl_steady *steady, uint64_t from, size_t count,
				     struct lpl_ref *refs)
{
	for (size_t i = 0; i < count; i++)
		refs[i] = lpl_steady_ref(steady, from + i);
}

struct lpl_data {
	bool is_steady;			/* its references are these, and not in `refs` */
	struct lpl_steady steady;
	struct lpl_ref *refs;		/* owned, as are the arrays below */
	struct lpl_event *events;
	uint32_t *positions;		/* references before each event */
	uint32_t *step_positions;	/* likewise of steps, where these are made */
	size_t refs_room, events_room, positions_room, step_positions_room;
	size_t ref_count, event_count;
	struct lpl_totals totals;	/* without wait_ns and accounts */
};

/*
 * Decode the payload of the chunk that `header` describes and check every
 * invariant within it, the header's clocks and counts included.
 * LPL_ERR_DAMAGED with the cause alone (the caller knows the place),
 * LPL_ERR_MEMORY.  `data` starts as zeros and is reused from chunk to chunk.
 */
enum lpl_error lpl_data_decode(struct lpl_data *data, const struct lpl_chunk_header *header,
			       const uint8_t *payload, size_t size,
			       struct lpl_report *cause);
void lpl_data_free(struct lpl_data *data);

/* Its reference i, from 0. */
static inline struct lpl_ref lpl_data_ref(const struct lpl_data *data, size_t i)
{
	return data->is_steady ? lpl_steady_ref(&data->steady, i) : data->refs[i];
}

/* How far an event lies after the references or the event before it; false: malformed. */
bool lpl_event_position(const uint8_t *at, const uint8_t *end, uint64_t *step);
/*
 * One event, relative to the clocks of the record before it, which become its own; returns the
 * byte after it, NULL: it is malformed or out of order.
 */
const uint8_t *lpl_event_decode(struct lpl_event *event, struct lpl_clocks *before,
				const uint8_t *at, const uint8_t *end);
/*
 * Both payloads begin so: what the header counts, at most `refs_max` references, can be in so
 * many bytes, and there is room for the events.
 */
enum lpl_error lpl_data_begin(struct lpl_data *data, const struct lpl_chunk_header *header,
			      size_t refs_max, size_t bytes, struct lpl_report *cause);
/*
 * And end so: the header's clocks and counts are checked against its records; these are the clocks
 * of their first reference, if there is any, and of the last record.
 */
enum lpl_error lpl_data_end(struct lpl_data *data, const struct lpl_chunk_header *header,
			    const struct lpl_clocks *first_ref, const struct lpl_clocks *last,
			    struct lpl_report *cause);

/* ---- totals, as DATA and INDEX hold them ---- */

/* References before reduction, which chunk headers hold: the total, or the sum of the types. */
uint64_t lpl_totals_before(const struct lpl_totals *totals);
/* Do the types, if they were counted, add up to that? */
bool lpl_totals_agree(const struct lpl_totals *totals, uint64_t before);
/* May they stand after those in a file: has no number become less that both have? */
bool lpl_totals_follow(const struct lpl_totals *totals, const struct lpl_totals *before);
/* All but `total`, which the chunk header has. */
uint8_t *lpl_totals_put(uint8_t *out, const struct lpl_totals *totals);
const uint8_t *lpl_totals_get(const uint8_t *in, const uint8_t *end,
			      struct lpl_totals *totals);

#endif
