/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages as a log of kVMTrace reports them; see kvmtrace_pages.h.
 *
 * A page of a file is one number, the file's above the page's; in a space it has a bit more,
 * which says whether the mapping is shared.  Where there is no memory no map is left with a
 * key that has no value.
 */
#include <stdlib.h>

#include "base/array.h"
#include "kvmtrace_pages.h"

struct kvmtrace_file {
	uint64_t device, inode;
};

struct kvmtrace_space {
	uint32_t number;
	struct lpl_map at;	/* virtual page -> what is there */
};

#define ANONYMOUS 1		/* what is there; a page of a file is larger */

void lpl_kvmtrace_pages_init(struct kvmtrace_pages *pages)
{
	lpl_map_init(&pages->spaces, 1);
	lpl_map_init(&pages->files, 2);
	lpl_map_init(&pages->frame_of, 1);
	lpl_map_init(&pages->page_in, 1);
}

void lpl_kvmtrace_pages_free(struct kvmtrace_pages *pages)
{
	for (size_t i = 0; i < pages->space_count; i++)
		lpl_map_free(&pages->space[i].at);
	free(pages->space);
	free(pages->file);
	lpl_map_free(&pages->spaces);
	lpl_map_free(&pages->files);
	lpl_map_free(&pages->frame_of);
	lpl_map_free(&pages->page_in);
}

/* ---- spaces ---- */

/* Until another is made or ends; NULL: not known. */
static struct kvmtrace_space *find_space(const struct kvmtrace_pages *pages, uint32_t space)
{
	const uint64_t number = lpl_map_get(&pages->spaces, LPL_KEY(space));

	return number ? &pages->space[number - 1] : NULL;
}

/* An empty one, that was not known; NULL: no memory. */
static struct kvmtrace_space *add_space(struct kvmtrace_pages *pages, uint32_t space)
{
	struct kvmtrace_space *added;

	if (!lpl_reach(pages->space, pages->space_room, pages->space_count) ||
	    !lpl_map_put(&pages->spaces, LPL_KEY(space), pages->space_count + 1))
		return NULL;
	added = &pages->space[pages->space_count++];
	added->number = space;
	lpl_map_init(&added->at, 1);
	return added;
}

bool lpl_kvmtrace_space_known(const struct kvmtrace_pages *pages, uint32_t space)
{
	return find_space(pages, space) != NULL;
}

/* The last one takes its place. */
void lpl_kvmtrace_space_end(struct kvmtrace_pages *pages, uint32_t space)
{
	struct kvmtrace_space *ended = find_space(pages, space), *last;

	if (!ended)
		return;
	lpl_map_free(&ended->at);
	last = &pages->space[--pages->space_count];
	*lpl_map_find(&pages->spaces, LPL_KEY(last->number)) =
		(uint64_t)(ended - pages->space) + 1;
	*ended = *last;
	lpl_map_remove(&pages->spaces, LPL_KEY(space));
}

bool lpl_kvmtrace_space_copy(struct kvmtrace_pages *pages, uint32_t from, uint32_t to)
{
	const struct kvmtrace_space *parent;
	struct kvmtrace_space *child;

	lpl_kvmtrace_space_end(pages, to);
	child = add_space(pages, to);
	parent = find_space(pages, from);
	return child && (!parent || lpl_map_copy(&child->at, &parent->at));
}

int lpl_kvmtrace_space_move(struct kvmtrace_pages *pages, uint32_t space, uint64_t from,
			    uint64_t to, uint64_t count)
{
	struct kvmtrace_space *in = find_space(pages, space);
	int any = 0;

	for (uint64_t i = 0; in && i < count; i++) {
		const uint64_t moved = lpl_map_get(&in->at, LPL_KEY(from + i));

		lpl_map_remove(&in->at, LPL_KEY(to + i));
		if (!moved)
			continue;
		any = 1;
		lpl_map_remove(&in->at, LPL_KEY(from + i));
		if (!lpl_map_put(&in->at, LPL_KEY(to + i), moved))
			return -1;
	}
	return any;
}

/* ---- files ---- */

/* The file's number, from 1; 0: no memory. */
static uint64_t file_number(struct kvmtrace_pages *pages, uint64_t device, uint64_t inode)
{
	const struct lpl_key key = LPL_KEY(device, inode);
	const uint64_t known = lpl_map_get(&pages->files, key);

	if (known)
		return known;
	if (!lpl_reach(pages->file, pages->file_room, pages->file_count) ||
	    !lpl_map_put(&pages->files, key, pages->file_count + 1))
		return 0;
	pages->file[pages->file_count++] = (struct kvmtrace_file){ device, inode };
	return pages->file_count;
}

/* A page of a file as one number, above ANONYMOUS; 0: no memory. */
static uint64_t file_page(struct kvmtrace_pages *pages, const struct kvmtrace_identity *identity)
{
	uint64_t number = file_number(pages, identity->device, identity->inode);

	return number ? number << 32 | (uint32_t)identity->page : 0;
}

static struct kvmtrace_identity identity_of(const struct kvmtrace_pages *pages, uint64_t page)
{
	const struct kvmtrace_file *file = &pages->file[(page >> 32) - 1];

	return (struct kvmtrace_identity){ .device = file->device, .inode = file->inode,
					   .page = (uint32_t)page, .file = true };
}

enum kvmtrace_news lpl_kvmtrace_page(struct kvmtrace_pages *pages, uint32_t space, uint64_t at,
				     const struct kvmtrace_identity *identity, bool fresh)
{
	struct kvmtrace_space *in = find_space(pages, space);
	uint64_t is = ANONYMOUS, was, *known;

	if (!in)
		in = add_space(pages, space);
	if (identity->file) {
		is = file_page(pages, identity);
		if (!is)
			return KVMTRACE_PAGE_NO_MEMORY;
		is = is << 1 | identity->shared;
	}
	known = in ? lpl_map_reach(&in->at, LPL_KEY(at)) : NULL;
	if (!known)
		return KVMTRACE_PAGE_NO_MEMORY;
	was = *known;
	*known = is;
	/* a file's page that was dropped from memory comes back as what it was */
	if (was == is && (is != ANONYMOUS || !fresh))
		return KVMTRACE_PAGE_SAME;
	if (is == ANONYMOUS && was > ANONYMOUS && !(was & 1) && !fresh)
		return KVMTRACE_PAGE_OWN_NOW;
	return was ? KVMTRACE_PAGE_OTHER : KVMTRACE_PAGE_NEW;
}

/* ---- the page cache ---- */

int lpl_kvmtrace_cache(struct kvmtrace_pages *pages, uint64_t frame,
		       const struct kvmtrace_identity *identity,
		       struct kvmtrace_identity moved[2], uint64_t frames[2])
{
	const uint64_t page = file_page(pages, identity);
	const uint64_t before = lpl_map_get(&pages->page_in, LPL_KEY(frame));
	uint64_t was;
	int count = 0;

	if (!page)
		return KVMTRACE_NO_MEMORY;
	if (before == page)
		return KVMTRACE_CACHED;
	was = lpl_map_get(&pages->frame_of, LPL_KEY(page));
	if (!lpl_map_put(&pages->page_in, LPL_KEY(frame), page) ||
	    !lpl_map_put(&pages->frame_of, LPL_KEY(page), frame + 1))
		return KVMTRACE_NO_MEMORY;
	if (was) {
		moved[count] = identity_of(pages, page);
		frames[count++] = was - 1;
		lpl_map_remove(&pages->page_in, LPL_KEY(was - 1));
	}
	if (before) {
		moved[count] = identity_of(pages, before);
		frames[count++] = frame;
		lpl_map_remove(&pages->frame_of, LPL_KEY(before));
	}
	return count;
}
