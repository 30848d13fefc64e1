/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages, in the words of the public headers: what all oracles mean by them. */
#ifndef LAPLACE_TESTS_PAGE_H
#define LAPLACE_TESTS_PAGE_H

#include <laplace/record.h>

static inline bool walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

static inline bool is_write(const struct lpl_ref *ref)
{
	return ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
}

static inline bool same(const struct lpl_ref *a, const struct lpl_ref *b)
{
	if (walk(a) != walk(b) || a->address / 4096 != b->address / 4096)
		return false;
	return walk(a) || a->space == b->space;
}

static inline struct lpl_ref paged(struct lpl_ref ref, bool write)
{
	ref.address -= ref.address % 4096;
	ref.length = 0;
	ref.flags = (uint8_t)(LPL_PAGED | ((ref.flags & LPL_USER) != 0 ? LPL_USER : 0));
	if (write)
		ref.type = walk(&ref) ? LPL_WALK_WRITE : LPL_WRITE;
	return ref;
}

#endif
