/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a log of kVMTrace has reported of pages so far: which one is at each address of each space,
 * and which page of a file is in each frame.  A call that adds a page returns whether it is new.
 *
 * At most 43 bytes for each page of a space that lives, and twice that for each of a file in
 * memory; half as much again while a map grows.
 */
#ifndef LAPLACE_CONVERT_KVMTRACE_PAGES_H
#define LAPLACE_CONVERT_KVMTRACE_PAGES_H

#include "base/map.h"

/* What a page is: of a file (or a segment), or anonymous. */
struct kvmtrace_identity {
	uint64_t device, inode, page;
	bool file, shared;
};

struct kvmtrace_pages {
	struct lpl_map spaces;		/* space -> its index in `space`, + 1 */
	struct kvmtrace_space *space;
	size_t space_count, space_room;
	struct lpl_map files;		/* device, inode -> the file's index in `file`, + 1 */
	struct kvmtrace_file *file;
	size_t file_count, file_room;

	struct lpl_map frame_of;	/* page of a file -> frame + 1 */
	struct lpl_map page_in;		/* frame -> page of a file */
};

void lpl_kvmtrace_pages_init(struct kvmtrace_pages *pages);
void lpl_kvmtrace_pages_free(struct kvmtrace_pages *pages);

/* ---- spaces ---- */

enum kvmtrace_news {
	KVMTRACE_PAGE_SAME,
	KVMTRACE_PAGE_NEW,		/* the first there */
	KVMTRACE_PAGE_OTHER,		/* another page than before */
	KVMTRACE_PAGE_OWN_NOW,		/* was a file's, and is now a copy of it */
	KVMTRACE_PAGE_NO_MEMORY
};

/* This page is there now; `fresh`: since just now. */
enum kvmtrace_news lpl_kvmtrace_page(struct kvmtrace_pages *pages, uint32_t space, uint64_t at,
				     const struct kvmtrace_identity *identity, bool fresh);
bool lpl_kvmtrace_space_known(const struct kvmtrace_pages *pages, uint32_t space);
void lpl_kvmtrace_space_end(struct kvmtrace_pages *pages, uint32_t space);
/* What is known of one is true of the other; false: no memory. */
bool lpl_kvmtrace_space_copy(struct kvmtrace_pages *pages, uint32_t from, uint32_t to);
/* Pages go elsewhere.  1, or 0 when none of them is known; -1: no memory. */
int lpl_kvmtrace_space_move(struct kvmtrace_pages *pages, uint32_t space, uint64_t from,
			    uint64_t to, uint64_t count);

/* ---- the page cache ---- */

enum { KVMTRACE_CACHED = -1, KVMTRACE_NO_MEMORY = -2 };

/*
 * The file's page is in this frame.  KVMTRACE_CACHED: as before.  Else the number of
 * those that are no longer where they were, 0 to 2: which pages, and in which frames.
 */
int lpl_kvmtrace_cache(struct kvmtrace_pages *pages, uint64_t frame,
		       const struct kvmtrace_identity *identity,
		       struct kvmtrace_identity moved[2], uint64_t frames[2]);

#endif
