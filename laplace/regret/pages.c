/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pages there are, of which files and processes; and the tasks that reclaim. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "merge/pages.h"

#define MAJOR_SHIFT 20	/* of a device */

void lpl_regret_pages_init(struct lpl_regret *regret)
{
	lpl_map_init(&regret->by_offset, 2);
	lpl_map_init(&regret->by_slot, 1);
	lpl_map_init(&regret->by_inode, 2);
	lpl_map_init(&regret->takes, 1);
	lpl_map_init(&regret->by_process, 1);
	lpl_map_init(&regret->by_space, 1);
	lpl_map_init(&regret->by_task, 1);
	regret->pages = 1;
}

void lpl_regret_pages_free(struct lpl_regret *regret)
{
	struct lpl_map *const map[] = {
		&regret->by_offset, &regret->by_slot, &regret->by_inode, &regret->takes,
		&regret->by_process, &regret->by_space, &regret->by_task
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		lpl_map_free(map[i]);
	for (size_t i = 1; i < regret->pages && regret->page; i++) {
		struct stay *next;

		for (struct stay *stay = regret->page[i].stay; stay; stay = next) {
			next = stay->next;
			free(stay);
		}
	}
	for (size_t i = 0; i < regret->files; i++)
		free((char *)regret->file[i].name);
	for (size_t i = 0; i < regret->processes; i++)
		free((char *)regret->process[i].name);
	for (size_t i = 0; i < regret->tasks; i++)
		free(regret->task[i].name);
	free(regret->page);
	free(regret->latest);
	free(regret->file);
	free(regret->process);
	free(regret->task);
	free(regret->left);
	free(regret->taken);
}

bool lpl_regret_rename(char const **name, const char *text, size_t length)
{
	char escaped[4 * KTR_TEXT + 1];
	char *copy;

	lpl_text_escape(escaped, sizeof(escaped), text, length < KTR_TEXT ? length : KTR_TEXT);
	if (*name && strcmp(*name, escaped) == 0)
		return true;
	copy = strdup(escaped);
	if (!copy)
		return false;
	free((char *)*name);
	*name = copy;
	return true;
}

/* ---- files ---- */

/* Segments have no device that all events know (KTR_INODE_SYSV). */
void lpl_regret_normalise(uint64_t *device, uint64_t *inode)
{
	if (*inode != KTR_NONE && (*inode & KTR_INODE_SYSV))
		*device = 0;
}

/* In the map, 2 (number + 1), and 1 if it has a generation. */
static uint64_t *reach_file(struct lpl_regret *regret, uint64_t device, uint64_t inode)
{
	uint64_t *place = lpl_map_reach(&regret->by_inode, LPL_KEY(device, inode));

	if (!place || *place)
		return place;
	if (!lpl_reach(regret->file, regret->file_room, regret->files)) {
		(void)lpl_map_remove(&regret->by_inode, LPL_KEY(device, inode));
		return NULL;
	}
	regret->file[regret->files] = (struct lpl_regret_file){
		.kind = inode & KTR_INODE_SYSV ? LPL_PAGE_SHM : LPL_PAGE_FILE,
		.device = device, .inode = inode
	};
	*place = 2 * ++regret->files;
	return place;
}

uint32_t lpl_regret_file(struct lpl_regret *regret, uint64_t device, uint64_t inode)
{
	const uint64_t *place = reach_file(regret, device, inode);

	return place ? (uint32_t)(*place / 2) : 0;
}

bool lpl_regret_name_file(struct lpl_regret *regret, const struct lpl_event *event)
{
	uint64_t device = event->arg[KTR_FILE_DEVICE], inode = event->arg[KTR_FILE_INODE];
	const uint64_t generation = event->arg[KTR_FILE_GENERATION];
	struct lpl_regret_file *file;
	uint64_t *place;

	if (inode == KTR_NONE)
		return true;
	lpl_regret_normalise(&device, &inode);
	place = reach_file(regret, device, inode);
	if (place && (*place & 1) && regret->file[*place / 2 - 1].generation != generation) {
		(void)lpl_map_remove(&regret->by_inode, LPL_KEY(device, inode));
		place = reach_file(regret, device, inode);
	}
	if (!place)
		return false;
	*place |= 1;
	file = &regret->file[*place / 2 - 1];
	file->generation = generation;
	return event->text_length == 0 ||
	       lpl_regret_rename(&file->name, event->text, event->text_length);
}

bool lpl_regret_note_map(struct lpl_regret *regret, const struct lpl_event *event)
{
	uint64_t device = event->arg[KTR_MAP_DEVICE], inode = event->arg[KTR_MAP_INODE];
	uint32_t file;

	if (event->arg[KTR_MAP_KIND] != KTR_MAP_ANONYMOUS_SHARED || inode == KTR_NONE || inode == 0 ||
	    event->arg[KTR_MAP_PAGE_BYTES] != 0)
		return true;
	lpl_regret_normalise(&device, &inode);
	file = lpl_regret_file(regret, device, inode);
	if (!file)
		return false;
	regret->file[file - 1].kind = LPL_PAGE_SHM;
	return true;
}

bool lpl_regret_takes(const struct lpl_regret *regret, uint64_t device)
{
	return device >> MAJOR_SHIFT != 0 || lpl_map_get(&regret->takes, LPL_KEY(device)) != 0;
}

/* ---- pages ---- */

static uint32_t new_page(struct lpl_regret *regret, struct page page)
{
	uint32_t number = regret->free_page;

	if (number) {
		regret->free_page = regret->page[number].next_free;
	} else {
		if (regret->pages >= UINT32_MAX ||
		    !lpl_reach(regret->page, regret->page_room, regret->pages))
			return 0;
		number = (uint32_t)regret->pages++;
	}
	page.slot = KTR_NONE;
	page.begun = NO_BOUNDARY;
	regret->page[number] = page;
	return number;
}

uint32_t lpl_regret_find_page(struct lpl_regret *regret, uint64_t device, uint64_t inode,
			      uint64_t offset)
{
	const uint64_t file = lpl_map_get(&regret->by_inode, LPL_KEY(device, inode)) / 2;

	return file ? (uint32_t)lpl_map_get(&regret->by_offset, LPL_KEY(file, offset)) : 0;
}

uint32_t lpl_regret_file_page(struct lpl_regret *regret, uint64_t device, uint64_t inode,
			      uint64_t offset)
{
	const uint32_t file = lpl_regret_file(regret, device, inode);
	uint64_t *place = file ? lpl_map_reach(&regret->by_offset, LPL_KEY(file, offset)) : NULL;

	if (!place)
		return 0;
	if (*place == 0) {
		*place = new_page(regret, (struct page){
			.kind = LPL_PAGE_FILE, .at = offset, .owner = file - 1, .counted = lpl_regret_takes(regret, device)
		});
		if (*place == 0)
			(void)lpl_map_remove(&regret->by_offset, LPL_KEY(file, offset));
	}
	return place ? (uint32_t)lpl_map_get(&regret->by_offset, LPL_KEY(file, offset)) : 0;
}

static uint32_t meet_anonymous(struct lpl_regret *regret, const struct lpl_merge_page *page)
{
	const struct lpl_merge_task *running = lpl_merge_running(regret->merge);
	uint32_t owner;

	/* a space may be of two processes, as after vfork() */
	if (running->space == page->space) {
		owner = lpl_regret_process(regret, running->process, running->tgid);
		if (!owner)
			return 0;
	} else {
		owner = (uint32_t)lpl_map_get(&regret->by_space, LPL_KEY(page->space));
	}
	return new_page(regret, (struct page){
		.kind = LPL_PAGE_ANONYMOUS, .canonical = page->page, .at = page->virtual_page,
		.space = page->space, .owner = owner ? owner - 1 : NO_OWNER, .counted = true
	});
}

static uint32_t meet_of_file(struct lpl_regret *regret, const struct lpl_merge_page *page)
{
	uint64_t device = page->device, inode = page->inode;
	struct lpl_regret_file *file;
	struct page *met;
	uint32_t number;

	lpl_regret_normalise(&device, &inode);
	number = lpl_regret_file_page(regret, device, inode, page->offset);
	if (!number)
		return 0;
	met = &regret->page[number];
	if (met->canonical)
		regret->latest[met->canonical].page = 0;
	met->canonical = page->page;
	file = &regret->file[met->owner];
	file->kind = page->kind;
	return !page->name_length || file->name ||
	       lpl_regret_rename(&file->name, page->name, page->name_length) ? number : 0;
}

bool lpl_regret_meet(struct lpl_regret *regret, const struct lpl_merge_page *page)
{
	struct latest *latest;
	uint32_t number = 0;

	if (!lpl_reach(regret->latest, regret->latest_room, page->page))
		return false;
	latest = &regret->latest[page->page];
	*latest = (struct latest){ .boundary = NO_BOUNDARY };
	if (page->kind == LPL_PAGE_ANONYMOUS)
		number = meet_anonymous(regret, page);
	else if ((page->kind == LPL_PAGE_FILE || page->kind == LPL_PAGE_SHM) &&
		 page->inode != KTR_NONE)
		number = meet_of_file(regret, page);
	else
		return true;
	latest->page = number;
	return number != 0;
}

static void drop_slot(struct lpl_regret *regret, uint32_t number)
{
	struct page *page = &regret->page[number];

	if (page->slot != KTR_NONE &&
	    lpl_map_get(&regret->by_slot, LPL_KEY(page->slot)) == number)
		(void)lpl_map_remove(&regret->by_slot, LPL_KEY(page->slot));
	page->slot = KTR_NONE;
}

bool lpl_regret_set_slot(struct lpl_regret *regret, uint32_t number, uint64_t slot, uint64_t frame)
{
	regret->page[number].frame = frame;
	if (regret->page[number].slot == slot &&
	    lpl_map_get(&regret->by_slot, LPL_KEY(slot)) == number)
		return true;
	drop_slot(regret, number);
	regret->page[number].slot = slot;
	return lpl_map_put(&regret->by_slot, LPL_KEY(slot), number);
}

void lpl_regret_lose_slot(struct lpl_regret *regret, uint64_t slot, uint64_t frame)
{
	const uint32_t number = (uint32_t)lpl_map_get(&regret->by_slot, LPL_KEY(slot));

	if (number && regret->page[number].frame != frame)
		drop_slot(regret, number);
}

void lpl_regret_forget_slots(struct lpl_regret *regret)
{
	lpl_map_free(&regret->by_slot);
	lpl_map_init(&regret->by_slot, 1);
	for (size_t i = 1; i < regret->pages; i++)
		regret->page[i].slot = KTR_NONE;
}

void lpl_regret_free_page(struct lpl_regret *regret, uint32_t number)
{
	struct page *page = &regret->page[number];

	drop_slot(regret, number);
	regret->latest[page->canonical].page = 0;
	*page = (struct page){ .kind = LPL_PAGE_KINDS, .next_free = regret->free_page };
	regret->free_page = number;
}

struct lpl_regret_page lpl_regret_describe(const struct lpl_regret *regret, const struct page *page)
{
	struct lpl_regret_page named = { .kind = (enum lpl_page_kind)page->kind,
					.process = KTR_NONE };
	const struct lpl_regret_file *file;

	if (page->kind == LPL_PAGE_ANONYMOUS) {
		named.space = page->space;
		named.virtual_page = page->at;
		if (page->owner != NO_OWNER)
			named.process = page->owner;
		return named;
	}
	file = &regret->file[page->owner];
	named.kind = file->kind;
	named.device = file->device;
	named.inode = file->inode;
	named.generation = file->generation;
	named.name = file->name;
	named.offset = page->at;
	return named;
}

/* ---- processes and tasks ---- */

uint32_t lpl_regret_process(struct lpl_regret *regret, uint64_t number, uint32_t tgid)
{
	uint64_t *place = lpl_map_reach(&regret->by_process, LPL_KEY(number));

	if (!place || *place)
		return place ? (uint32_t)*place : 0;
	if (!lpl_reach(regret->process, regret->process_room, regret->processes)) {
		(void)lpl_map_remove(&regret->by_process, LPL_KEY(number));
		return 0;
	}
	regret->process[regret->processes] = (struct lpl_regret_process){
		.number = number, .tgid = number ? tgid : 0
	};
	*place = ++regret->processes;
	return (uint32_t)*place;
}

uint32_t lpl_regret_task(struct lpl_regret *regret, const struct lpl_merge_task *task)
{
	/* the idle task and boot have 0 */
	uint64_t *place = lpl_map_reach(&regret->by_task, LPL_KEY(task->serial));

	if (!place || *place)
		return place ? (uint32_t)*place : 0;
	if (!lpl_reach(regret->task, regret->task_room, regret->tasks)) {
		(void)lpl_map_remove(&regret->by_task, LPL_KEY(task->serial));
		return 0;
	}
	regret->task[regret->tasks] = (struct task){ .tid = task->tid, .tgid = task->tgid };
	*place = ++regret->tasks;
	return (uint32_t)*place;
}

bool lpl_regret_note_task(struct lpl_regret *regret, const struct lpl_merge_task *task)
{
	const uint32_t number = lpl_regret_task(regret, task);
	const uint32_t process = lpl_regret_process(regret, task->process, task->tgid);
	struct lpl_regret_process *of;
	struct task *noted;

	if (!number || !process)
		return false;
	noted = &regret->task[number - 1];
	noted->tid = task->tid;
	noted->tgid = task->tgid;
	noted->process = process - 1;
	of = &regret->process[process - 1];
	if (task->name_length > 0) {
		const char *name = noted->name;

		if (!lpl_regret_rename(&name, task->name, task->name_length))
			return false;
		noted->name = (char *)name;
	}
	if (of->number && noted->name && (!of->name || task->tid == task->tgid) &&
	    !lpl_regret_rename(&of->name, noted->name, strlen(noted->name)))
		return false;
	if (task->space == noted->space || task->process == 0)
		return true;
	noted->space = task->space;
	return task->space == 0 || lpl_map_get(&regret->by_space, LPL_KEY(task->space)) != 0 ||
	       lpl_map_put(&regret->by_space, LPL_KEY(task->space), process);
}

void lpl_regret_forget_spaces(struct lpl_regret *regret)
{
	lpl_map_free(&regret->by_space);
	lpl_map_init(&regret->by_space, 1);
	for (size_t i = 0; i < regret->tasks; i++)
		regret->task[i].space = 0;
}

void lpl_regret_end_space(struct lpl_regret *regret, uint64_t space)
{
	(void)lpl_map_remove(&regret->by_space, LPL_KEY(space));
}
