/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An LRU memory: faults.  Hits, which are hot, are in lru_memory.h. */
#include "lru_memory.h"

#include <assert.h>

bool lpl_lru_memory_init(struct lpl_lru_memory *memory, uint32_t limit, unsigned int shift)
{
	memory->limit = limit;
	memory->shift = shift;
	return lpl_pages_init_with(&memory->pages, sizeof(struct lpl_frame));
}

void lpl_lru_memory_free(struct lpl_lru_memory *memory)
{
	lpl_pages_free(&memory->pages);
}

bool lpl_lru_memory_fetch(struct lpl_lru_memory *memory, const struct lpl_ref *ref,
			  uint32_t victim, struct lpl_fault *fault)
{
	struct lpl_pages *pages = &memory->pages;

	assert(victim != 0 || pages->count < memory->limit);
	*fault = (struct lpl_fault){.evicts = victim != 0};
	if (victim != 0) {
		fault->victim = pages->node[victim].page;
		fault->evicted = *lpl_lru_memory_frame(memory, victim);
	}
	fault->frame = lpl_pages_enter(pages, lpl_page_of(ref, memory->shift), victim);
	if (fault->frame == 0)
		return false;
	lpl_lru_memory_frame(memory, fault->frame)->dirty = lpl_is_write(ref);
	return true;
}
