/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See kvmtrace_pages.h. */
#include <stdlib.h>
#include <string.h>

#include "kvmtrace_pages.h"

struct kvmtrace_file {
	uint64_t device, inode;
};

/* The pages of a space, by virtual page, as page_code() has them. */
struct kvmtrace_space {
	struct idmap at;
};

#define ANONYMOUS 1	/* a page of a file is larger */

/* ---- spaces ---- */

static struct kvmtrace_space *find_space(struct kvmtrace_pages *pages, uint32_t space)
{
	const uint64_t *value;

	if (!pages->spaces.room)
		return NULL;
	value = idmap_find(&pages->spaces, space);
	return value ? (struct kvmtrace_space *)(uintptr_t)*value : NULL;
}

static struct kvmtrace_space *make_space(struct kvmtrace_pages *pages, uint32_t space)
{
	struct kvmtrace_space *made = find_space(pages, space);
	uint64_t *value;

	if (made)
		return made;
	value = idmap_reach(&pages->spaces, space);
	made = value ? calloc(1, sizeof(*made)) : NULL;
	if (made)
		*value = (uintptr_t)made;
	return made;
}

static void free_space(struct kvmtrace_space *space)
{
	idmap_free(&space->at);
	free(space);
}

bool lpl_kvmtrace_space_known(struct kvmtrace_pages *pages, uint32_t space)
{
	return find_space(pages, space) != NULL;
}

void lpl_kvmtrace_space_end(struct kvmtrace_pages *pages, uint32_t space)
{
	struct kvmtrace_space *gone = find_space(pages, space);

	if (gone) {
		idmap_remove(&pages->spaces, space);
		free_space(gone);
	}
}

bool lpl_kvmtrace_space_copy(struct kvmtrace_pages *pages, uint32_t from, uint32_t to)
{
	struct kvmtrace_space *parent = find_space(pages, from), *child;
	struct idmap at;

	lpl_kvmtrace_space_end(pages, to);
	child = make_space(pages, to);
	if (!child || !parent)
		return child != NULL;
	at = parent->at;
	if (at.room) {
		at.slot = malloc(at.room * sizeof(*at.slot));
		if (!at.slot)
			return false;
		memcpy(at.slot, parent->at.slot, at.room * sizeof(*at.slot));
	}
	child->at = at;
	return true;
}

int lpl_kvmtrace_space_move(struct kvmtrace_pages *pages, uint32_t space, uint64_t from, uint64_t to,
			uint64_t count)
{
	struct kvmtrace_space *moved = find_space(pages, space);
	int any = 0;

	for (uint64_t i = 0; moved && i < count; i++) {
		const uint64_t *old = idmap_find(&moved->at, from + i);
		uint64_t code = old ? *old : 0, *new;

		idmap_remove(&moved->at, to + i);
		if (!code)
			continue;
		any = 1;
		idmap_remove(&moved->at, from + i);
		new = idmap_reach(&moved->at, to + i);
		if (!new)
			return -1;
		*new = code;
	}
	return any;
}

/* ---- files ---- */

/* The file's number, from 1; 0: no memory. */
static uint64_t file_number(struct kvmtrace_pages *pages, uint64_t device, uint64_t inode)
{
	/* numbers are dense, so that they fit where an inode's is added */
	uint64_t *number = idmap_reach(&pages->devices, device);

	if (!number)
		return 0;
	if (!*number)
		*number = pages->devices.count;
	/* an inode is 32 bits and the mark of a segment, the highest */
	number = idmap_reach(&pages->inodes, *number << 33 | inode >> 63 << 32 | (uint32_t)inode);
	if (!number || *number)
		return number ? *number : 0;
	if (pages->file_count == pages->file_room) {
		size_t room = pages->file_room ? 2 * pages->file_room : 64;
		struct kvmtrace_file *files = realloc(pages->files, room * sizeof(*files));

		if (!files)
			return 0;
		pages->files = files;
		pages->file_room = room;
	}
	pages->files[pages->file_count++] = (struct kvmtrace_file){ device, inode };
	*number = pages->file_count;
	return *number;
}

/* A page of a file as one number, above ANONYMOUS; 0: no memory. */
static uint64_t file_page(struct kvmtrace_pages *pages, const struct kvmtrace_identity *identity)
{
	uint64_t number = file_number(pages, identity->device, identity->inode);

	return number ? number << 32 | (uint32_t)identity->page : 0;
}

static struct kvmtrace_identity identity_of(const struct kvmtrace_pages *pages, uint64_t page)
{
	const struct kvmtrace_file *file = &pages->files[(page >> 32) - 1];

	return (struct kvmtrace_identity){ .device = file->device, .inode = file->inode,
					   .page = (uint32_t)page, .file = true };
}

enum kvmtrace_news lpl_kvmtrace_page(struct kvmtrace_pages *pages, uint32_t space, uint64_t at,
				     const struct kvmtrace_identity *identity, bool fresh)
{
	struct kvmtrace_space *in = make_space(pages, space);
	uint64_t code = ANONYMOUS, before, *known;

	if (identity->file) {
		code = file_page(pages, identity);
		if (!code)
			return KVMTRACE_PAGE_NO_MEMORY;
		code = code << 1 | identity->shared;
	}
	known = in ? idmap_reach(&in->at, at) : NULL;
	if (!known)
		return KVMTRACE_PAGE_NO_MEMORY;
	before = *known;
	*known = code;
	/* a file's page that was dropped from memory comes back as what it was */
	if (before == code && (code != ANONYMOUS || !fresh))
		return KVMTRACE_PAGE_SAME;
	if (code == ANONYMOUS && before > ANONYMOUS && !(before & 1) && !fresh)
		return KVMTRACE_PAGE_OWN_NOW;
	return before ? KVMTRACE_PAGE_OTHER : KVMTRACE_PAGE_NEW;
}

/* ---- the page cache ---- */

int lpl_kvmtrace_cache(struct kvmtrace_pages *pages, uint64_t frame,
		       const struct kvmtrace_identity *identity,
		       struct kvmtrace_identity gone[2], uint64_t frames[2])
{
	const uint64_t page = file_page(pages, identity);
	uint64_t *in = page ? idmap_reach(&pages->page_in, frame) : NULL;
	uint64_t *where = in ? idmap_reach(&pages->frame_of, page) : NULL;
	uint64_t before, was;
	int count = 0;

	if (!where)
		return KVMTRACE_NO_MEMORY;
	before = *in;
	was = *where;
	if (before == page)
		return KVMTRACE_CACHED;
	*in = page;
	*where = frame + 1;
	if (was) {
		gone[count] = identity_of(pages, page);
		frames[count++] = was - 1;
		idmap_remove(&pages->page_in, was - 1);
	}
	if (before) {
		gone[count] = identity_of(pages, before);
		frames[count++] = frame;
		idmap_remove(&pages->frame_of, before);
	}
	return count;
}

void lpl_kvmtrace_pages_free(struct kvmtrace_pages *pages)
{
	for (size_t i = 0; i < pages->spaces.room; i++)
		if (pages->spaces.slot[i].value)
			free_space((struct kvmtrace_space *)(uintptr_t)pages->spaces.slot[i].value);
	idmap_free(&pages->spaces);
	idmap_free(&pages->devices);
	idmap_free(&pages->inodes);
	idmap_free(&pages->frame_of);
	idmap_free(&pages->page_in);
	free(pages->files);
}

/* ---- tasks ---- */

bool lpl_kvmtrace_task_set(struct kvmtrace_tasks *tasks, uint32_t pid, uint32_t tgid, uint32_t space)
{
	uint64_t *value = idmap_reach(&tasks->by_pid, pid);
	struct kvmtrace_task *task;

	if (!value)
		return false;
	if (!*value) {
		task = malloc(sizeof(*task));
		if (!task) {
			tasks->by_pid.count--;
			return false;
		}
		*value = (uintptr_t)task;
	}
	task = (struct kvmtrace_task *)(uintptr_t)*value;
	*task = (struct kvmtrace_task){ tgid, space };
	return true;
}

const struct kvmtrace_task *kvmtrace_task(struct kvmtrace_tasks *tasks, uint32_t pid)
{
	const uint64_t *value = idmap_find(&tasks->by_pid, pid);

	return value ? (const struct kvmtrace_task *)(uintptr_t)*value : NULL;
}

void lpl_kvmtrace_task_gone(struct kvmtrace_tasks *tasks, uint32_t pid)
{
	const uint64_t *value = idmap_find(&tasks->by_pid, pid);

	if (value) {
		free((struct kvmtrace_task *)(uintptr_t)*value);
		idmap_remove(&tasks->by_pid, pid);
	}
}

void lpl_kvmtrace_tasks_free(struct kvmtrace_tasks *tasks)
{
	for (size_t i = 0; i < tasks->by_pid.room; i++)
		free((struct kvmtrace_task *)(uintptr_t)tasks->by_pid.slot[i].value);
	idmap_free(&tasks->by_pid);
}
