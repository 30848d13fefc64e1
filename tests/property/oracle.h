/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracles: reductions and policies by brute force, from their definitions in the
 * papers, with nothing shared with the library; and the streams to try them on.
 *
 * Everything here is quadratic or worse, on purpose: it says what is meant.
 */
#ifndef LAPLACE_TESTS_ORACLE_H
#define LAPLACE_TESTS_ORACLE_H

#include <laplace/record.h>

/* One record of a stream: a reference or an event. */
struct item {
	bool is_event;
	struct lpl_ref ref;
	struct lpl_event event;
};

struct stream {
	struct item *item;
	size_t count, capacity;
	bool finished;		/* finish() has come through */
};

void stream_clear(struct stream *stream);	/* keeps its memory */
void stream_free(struct stream *stream);
void stream_add_ref(struct stream *stream, const struct lpl_ref *ref);
void stream_add_event(struct stream *stream, const struct lpl_event *event);
/* A reference without an event's clutter: the next `ref`, one instruction each. */
void stream_add_page(struct stream *stream, uint64_t page, enum lpl_type type);

/* A sink that appends what it gets to a stream. */
struct collector {
	struct lpl_sink sink;
	struct stream *stream;
};
void collector_init(struct collector *collector, struct stream *stream);

/*
 * Send a stream to a sink, references in batches of up to `batch`, and finish
 * it.  Returns the first error.
 */
enum lpl_error stream_send(const struct stream *stream, struct lpl_sink *sink, size_t batch,
			   struct lpl_report *report);

/* Are two streams equal, record for record?  *place: the first difference. */
bool stream_equal(const struct stream *a, const struct stream *b, size_t *place);

/* -- reductions -- */

void oracle_block(const struct stream *in, struct stream *out);
void oracle_window(const struct stream *in, uint32_t pages, struct stream *out);
void oracle_sad(const struct stream *in, uint64_t pages, struct stream *out);

/*
 * (oracle_fence.c)  May record `at`, an event, give the page of `ref` another
 * meaning?  And a reduction by a method to which each generation of a page is
 * another page: a new one begins with such an event.
 */
bool oracle_affects(const struct stream *stream, size_t at, const struct lpl_ref *ref);
typedef void oracle_method(const struct stream *in, uint64_t number, struct stream *out);
void oracle_fenced(const struct stream *in, oracle_method *method, uint64_t number,
		   struct stream *out);

/* -- policies, at one size -- */

/* The references of a stream, its pages numbered from 0 in the order of their first references. */
struct trace {
	uint32_t *page;
	bool *write;
	struct lpl_ref *of;	/* by page: a reference to it */
	size_t count;
	uint32_t pages;		/* distinct */
};
void trace_of(const struct stream *in, struct trace *trace);
void trace_free(struct trace *trace);

struct counts {
	uint64_t references, faults, evictions, dirty_evictions;
};
struct counts oracle_lru(const struct trace *trace, uint64_t size);
/* Among pages never used again, the least recently used goes first. */
struct counts oracle_opt(const struct trace *trace, uint64_t size);
bool counts_equal(struct counts a, struct counts b);	/* references excepted */

/* -- when something is found -- */

/* Take records away as long as `fails` still holds. */
void stream_shrink(struct stream *stream, bool (*fails)(const struct stream *, void *),
		   void *context);
void stream_print(const char *what, const struct stream *stream);	/* on stderr */

/* -- random streams -- */

struct random {
	uint64_t state;
};
uint64_t random_next(struct random *random);
uint32_t random_below(struct random *random, uint32_t limit);	/* [0, limit) */

/* LAPLACE_TEST_SEED, or a fixed default. */
uint64_t random_seed(void);

enum shape {
	SHAPE_UNIFORM,		/* over a few pages */
	SHAPE_LOOP_K,		/* round and round K pages */
	SHAPE_LOOP_K1,		/* K + 1 pages */
	SHAPE_RUNS,		/* long runs of one page */
	SHAPE_DISTINCT,		/* never a page twice */
	SHAPE_PHASES,		/* a small set, then another */
	SHAPE_PALINDROME,	/* up and down again */
	SHAPE_MIXED,		/* all of these in turn */
	SHAPES
};
/* Append `count` references of a shape, with events (some of them fences) if wanted. */
void random_stream(struct random *random, enum shape shape, uint32_t pages, size_t count,
		   bool events, struct stream *stream);

#endif
