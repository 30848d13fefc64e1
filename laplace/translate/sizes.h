/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of the pages that a translation can be by, as numbers of bits, and pages by number. */
#ifndef LAPLACE_TRANSLATE_SIZES_H
#define LAPLACE_TRANSLATE_SIZES_H

#include <laplace/translation.h>

enum { TRANSLATION_SIZES = 5 };

static const unsigned int translation_shift[TRANSLATION_SIZES] = {
	LPL_PAGE_SHIFT, 21, 22, 30, LPL_NO_PAGING
};

/* Without paging addresses are below this. */
#define WITHOUT_PAGING	(UINT64_C(1) << 32)

static inline uint64_t translation_page(uint64_t address, unsigned int shift)
{
	return shift == LPL_NO_PAGING ? 0 : address >> shift;
}

/* Can a page of this size contain the address? */
static inline bool translation_reaches(unsigned int shift, uint64_t address)
{
	return shift != LPL_NO_PAGING || address < WITHOUT_PAGING;
}

#endif
