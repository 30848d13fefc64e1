/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of numbers (docs/format.md, section 4.1): one number when all are
 * equal, LEB128 otherwise.  Written and read in batches.
 */
#ifndef LAPLACE_CODEC_COLUMN_H
#define LAPLACE_CODEC_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column being written.  Its memory is that of the longest one possible. */
struct lpl_column {
	uint8_t *bytes;		/* owned */
	uint8_t *end;		/* of what is written; bytes while constant */
	uint64_t constant;	/* the value so far, while `varies` is false */
	size_t count;
	bool varies;
};

bool lpl_column_init(struct lpl_column *column, size_t count_max); /* false: no memory */
void lpl_column_free(struct lpl_column *column);
void lpl_column_clear(struct lpl_column *column);
/* No more than count_max in all. */
void lpl_column_append(struct lpl_column *column, const uint64_t *values, size_t count);
/* The most bytes lpl_column_store() can need for `count` numbers. */
size_t lpl_column_bound(size_t count);
/* Write the finished column (of at least one number); returns the byte after it. */
uint8_t *lpl_column_store(const struct lpl_column *column, uint8_t *out);

/* A column being read. */
struct lpl_column_cursor {
	const uint8_t *at, *end;
	uint64_t constant;
	bool varies;
};

/* Returns the byte after the column, NULL when it is malformed. */
const uint8_t *lpl_column_open(struct lpl_column_cursor *cursor, const uint8_t *in,
			       const uint8_t *end);
/* The next `count` numbers; false when they are not there. */
bool lpl_column_read(struct lpl_column_cursor *cursor, uint64_t *values, size_t count);
/*
 * Nothing was read of it yet: does it hold a number and then count - 1 times another, which may be the
 * same?  Found without looking at them one by one.
 */
bool lpl_column_steady(const struct lpl_column_cursor *cursor, size_t count, uint64_t numbers[2]);
/* Was all of it read? */
bool lpl_column_done(const struct lpl_column_cursor *cursor);

#endif
