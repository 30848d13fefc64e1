/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests at random; see regret_guest.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "regret_guest.h"

static uint32_t roll(struct trial *trial, uint32_t below)
{
	trial->state = trial->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((trial->state >> 33) % below);
}

struct log_line *write_down(struct trial *trial, enum deed deed)
{
	struct log_line *line = &trial->log.line[trial->log.lines++];

	assert_true(trial->log.lines <= LOG_LINES);
	*line = (struct log_line){ .is = deed, .ref = trial->clock };
	return line;
}

void write_page(struct trial *trial, enum deed deed, uint32_t page)
{
	struct log_line *line = write_down(trial, deed);

	line->pages = 1;
	line->page[0] = page;
}

void send_references(struct trial *trial)
{
	struct lpl_report report = { 0 };

	if (trial->batched)
		assert_int_equal(trial->sink->refs(trial->sink, trial->batch, trial->batched, &report),
				 LPL_OK);
	trial->batched = 0;
}

void send(struct trial *trial, uint32_t tag, const uint64_t arg[8])
{
	struct lpl_event event = { .tag = tag, .ref = trial->clock, .cycle = trial->clock * 3,
				   .instr = trial->clock, .tid = 50, .tgid = 50 };
	struct lpl_report report = { 0 };

	send_references(trial);
	memcpy(event.arg, arg, 8 * sizeof(*arg));
	assert_int_equal(trial->sink->event(trial->sink, &event, &report), LPL_OK);
}

void refer(struct trial *trial, uint64_t space, uint64_t address, enum lpl_type type)
{
	if (trial->batched == BATCH)
		send_references(trial);
	trial->batch[trial->batched++] = (struct lpl_ref){
		.ref = ++trial->clock, .instr = trial->clock, .cycle = trial->clock * 3,
		.address = address, .space = space, .type = (uint8_t)type, .length = 4,
		.flags = address < ALIAS && type < LPL_WALK_READ ? LPL_USER : 0
	};
}

uint32_t new_page(struct trial *trial, uint64_t device)
{
	assert_true(trial->log.pages < LOG_PAGES);
	trial->log.device[trial->log.pages] = device;
	return trial->log.pages++;
}

static uint64_t space_number(unsigned int space)
{
	return 0x100 + space;
}

/* ---- anonymous pages ---- */

static void drop(struct trial *trial, unsigned int space, unsigned int at)
{
	const uint32_t page = trial->of[space][at];

	trial->of[space][at] = NONE;
	if (page != NONE && --trial->sharers[page] == 0)
		write_page(trial, DEED_END, page);
}

static void touch(struct trial *trial, unsigned int space, unsigned int at, bool write)
{
	uint32_t *page = &trial->of[space][at];

	if (*page == NONE || (write && trial->sharers[*page] > 1)) {
		const uint32_t old = *page;

		*page = new_page(trial, 0);
		trial->sharers[*page] = 1;
		if (old != NONE)
			trial->sharers[old]--;
	}
	refer(trial, space_number(space), AT_ANONYMOUS + (at << 12), write ? LPL_WRITE : LPL_READ);
	write_page(trial, DEED_USE, *page);
}

static void begin_space(struct trial *trial, unsigned int space)
{
	const uint64_t number = space_number(space);

	trial->lives[space] = true;
	SEND(trial, KTR_TASK_CREATE, 60 + space, 60 + space, number);
	SEND(trial, KTR_MAP, number, AT_ANONYMOUS, AT_ANONYMOUS + (ANONYMOUS << 12), 3,
	     KTR_MAP_ANONYMOUS, 0, KTR_NONE, 0);
	for (unsigned int i = 0; i < FILES; i++)
		SEND(trial, KTR_MAP, number, AT_FILE + i * 0x100000,
		     AT_FILE + i * 0x100000 + (OFFSETS << 12), 3,
		     i == SHARED ? KTR_MAP_ANONYMOUS_SHARED : KTR_MAP_FILE_SHARED,
		     trial->file[i].device, trial->file[i].inode, 0);
}

static void end_space(struct trial *trial, unsigned int space)
{
	trial->lives[space] = false;
	SEND(trial, KTR_SPACE_END, space_number(space));
	for (unsigned int i = 0; i < ANONYMOUS; i++)
		drop(trial, space, i);
}

/* What was not touched would be shared, and become one page when it is: so all is touched before. */
static void fork_space(struct trial *trial, unsigned int space, unsigned int child)
{
	for (unsigned int i = 0; i < ANONYMOUS; i++)
		if (trial->of[space][i] == NONE)
			touch(trial, space, i, true);
	SEND(trial, KTR_SPACE_DUPLICATE, space_number(space), space_number(child));
	trial->lives[child] = true;
	for (unsigned int i = 0; i < ANONYMOUS; i++) {
		trial->of[child][i] = trial->of[space][i];
		trial->sharers[trial->of[space][i]]++;
	}
}

/* All that map the page lose it; it is still in the swap cache. */
static void swap_out(struct trial *trial, uint32_t page, uint64_t slot)
{
	trial->slot[page] = slot;
	for (unsigned int i = 0; i < SPACES; i++)
		for (unsigned int j = 0; j < ANONYMOUS; j++)
			if (trial->of[i][j] == page) {
				SEND(trial, KTR_SWAP_OUT, space_number(i), AT_ANONYMOUS + (j << 12),
				     slot, 7, 1, 0, KTR_NONE, 0);
				write_page(trial, DEED_ENTER, page);
			}
}

/* One page, or two next to each other of one event; now and then not taken after all. */
static void reclaim_anonymous(struct trial *trial, unsigned int space, unsigned int at)
{
	const uint64_t slot = trial->slots += 3, dirty = roll(trial, 2);
	struct log_line *line;
	unsigned int pages = 1;

	if (trial->of[space][at] == NONE) {
		/* never referenced: it was there before the trace, or so it seems */
		trial->of[space][at] = new_page(trial, 0);
		trial->sharers[trial->of[space][at]] = 1;
	}
	swap_out(trial, trial->of[space][at], slot);
	if (at + 1 < ANONYMOUS && trial->of[space][at + 1] != NONE &&
	    trial->of[space][at + 1] != trial->of[space][at] && roll(trial, 3) == 0)
		swap_out(trial, trial->of[space][at + pages++], slot + 1);
	if (roll(trial, 6) == 0)
		return;
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, 7, pages, slot, roll(trial, 5), dirty);
	line = write_down(trial, DEED_RECLAIM);
	line->pages = pages;
	for (unsigned int i = 0; i < pages; i++)
		line->page[i] = trial->of[space][at + i];
}

static void come_back(struct trial *trial, unsigned int space, unsigned int at)
{
	const uint32_t page = trial->of[space][at];

	if (page == NONE || trial->slot[page] == 0)
		return;
	if (roll(trial, 2))
		SEND(trial, KTR_SWAP_IN, space_number(space), AT_ANONYMOUS + (at << 12),
		     trial->slot[page], 9, 1, 0, KTR_NONE, 0);
	else
		SEND(trial, KTR_REFAULT, 0, KTR_NONE, 0, 9, 1, trial->slot[page], 0);
	write_page(trial, DEED_BRING, page);
}

/* ---- files ---- */

static uint32_t page_of_file(struct trial *trial, struct guest_file *file, unsigned int at)
{
	if (file->page[at] == NONE)
		file->page[at] = new_page(trial, file->device >> 20 ? 0 : file->device);
	return file->page[at];
}

static void add(struct trial *trial, struct guest_file *file, unsigned int at)
{
	if (file->cached[at])
		return;
	file->frame[at] = ++trial->frames;
	SEND(trial, KTR_CACHE_ADD, file->device, file->inode, at, file->frame[at], 1,
	     ALIAS + (file->frame[at] << 12));
	file->cached[at] = file->aliased[at] = true;
	write_page(trial, DEED_BRING, page_of_file(trial, file, at));
}

static void remove_page(struct trial *trial, struct guest_file *file, unsigned int at)
{
	SEND(trial, KTR_CACHE_REMOVE, file->device, file->inode, at, file->frame[at], 1);
	if (file->cached[at])
		write_page(trial, DEED_LEAVE, page_of_file(trial, file, at));
	file->cached[at] = file->aliased[at] = false;
}

static void takes(struct trial *trial, unsigned int number)
{
	if (trial->takes[number])
		return;
	trial->takes[number] = true;
	write_down(trial, DEED_TAKES)->device = trial->file[number].device;
}

static void use_file(struct trial *trial, unsigned int space, unsigned int number, unsigned int at)
{
	struct guest_file *file = &trial->file[number];

	/* a reference alone shows that it is there, too */
	if (roll(trial, 20))
		add(trial, file, at);
	if (file->aliased[at] && roll(trial, 3) == 0)
		refer(trial, space_number(space), ALIAS + (file->frame[at] << 12) + 8, LPL_READ);
	else
		refer(trial, space_number(space), AT_FILE + number * 0x100000 + (at << 12),
		      (enum lpl_type)roll(trial, 2));
	file->cached[at] = true;
	write_page(trial, DEED_USE, page_of_file(trial, file, at));
}

/* As Linux does, with the events of the page cache before, or in the other order; up to three pages. */
static void reclaim_file(struct trial *trial, unsigned int number, unsigned int at)
{
	struct guest_file *file = &trial->file[number];
	const bool before = roll(trial, 2);
	unsigned int pages = 1;
	struct log_line *line;

	if (!file->cached[at] && roll(trial, 10))
		return;
	while (at + pages < OFFSETS && pages < 3 && file->cached[at + pages] && roll(trial, 3) == 0)
		pages++;
	for (unsigned int i = 0; i < pages && before; i++)
		remove_page(trial, file, at + i);
	takes(trial, number);
	SEND(trial, KTR_RECLAIM, file->device, file->inode, at, file->frame[at], pages, KTR_NONE,
	     roll(trial, 5), roll(trial, 2));
	for (unsigned int i = 0; i < pages; i++)
		(void)page_of_file(trial, file, at + i);
	line = write_down(trial, DEED_RECLAIM);
	line->pages = pages;
	for (unsigned int i = 0; i < pages; i++) {
		line->page[i] = file->page[at + i];
		if (!before) {
			file->cached[at + i] = false;
			remove_page(trial, file, at + i);
		}
	}
}

static void reclaim_shared(struct trial *trial, unsigned int at)
{
	struct guest_file *file = &trial->file[SHARED];

	if (!file->cached[at])
		return;
	remove_page(trial, file, at);
	file->slot[at] = trial->slots += 3;
	takes(trial, SHARED);
	SEND(trial, KTR_SWAP_OUT, 0, 0, file->slot[at], file->frame[at], 1, file->device, file->inode,
	     at);
	write_page(trial, DEED_KEEP, page_of_file(trial, file, at));
	if (roll(trial, 5) == 0)
		return;
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, file->frame[at], 1, file->slot[at], 0, 1);
	write_page(trial, DEED_RECLAIM, page_of_file(trial, file, at));
}

/* Deleted, and another file gets its number. */
static void replace_file(struct trial *trial, struct guest_file *file)
{
	for (unsigned int i = 0; i < OFFSETS; i++) {
		if (file->cached[i])
			remove_page(trial, file, i);
		file->page[i] = NONE;
	}
	SEND(trial, KTR_FILE, file->device, file->inode, KTR_FILE_REGULAR, ++file->generation);
}

static void cut(struct trial *trial)
{
	if (roll(trial, 2)) {
		SEND(trial, LPL_EVENT_GAP, 1, 0);
		write_down(trial, DEED_CUT);
		return;
	}
	SEND(trial, LPL_EVENT_TRACING, 0);
	SEND(trial, LPL_EVENT_TRACING, 1);
	write_down(trial, DEED_CUT);
}

/* ---- a guest ---- */

void act(struct trial *trial, unsigned int cuts)
{
	const unsigned int space = roll(trial, SPACES), at = roll(trial, ANONYMOUS);
	const unsigned int number = roll(trial, FILES), offset = roll(trial, OFFSETS);
	struct guest_file *file = &trial->file[number];

	if (!trial->lives[space]) {
		const unsigned int parent = roll(trial, SPACES);

		if (trial->lives[parent] && roll(trial, 2))
			fork_space(trial, parent, space);
		else
			begin_space(trial, space);
		return;
	}
	switch (roll(trial, 40)) {
	case 0:
		if (roll(trial, 8) == 0)
			end_space(trial, space);
		break;
	case 1:
		SEND(trial, KTR_DISCARD, space_number(space), AT_ANONYMOUS + (at << 12),
		     AT_ANONYMOUS + ((at + 1) << 12));
		drop(trial, space, at);
		break;
	case 2:
		add(trial, file, offset);
		break;
	case 3:
		if (file->cached[offset])	/* truncated */
			remove_page(trial, file, offset);
		break;
	case 4 ... 8:
		reclaim_anonymous(trial, space, at);
		break;
	case 9 ... 14:
		if (number == SHARED)
			reclaim_shared(trial, offset);
		else
			reclaim_file(trial, number, offset);
		break;
	case 15:
		come_back(trial, space, at);
		break;
	case 16:
		if (number == 1 && roll(trial, 4) == 0)
			replace_file(trial, file);
		break;
	case 17:
		refer(trial, space_number(space), ALIAS * 2 - 4096 * (1 + roll(trial, 3)), LPL_READ);
		refer(trial, 0, 4096 * roll(trial, 3), LPL_WALK_READ);
		break;
	case 18:
		if (cuts && roll(trial, cuts) == 0)
			cut(trial);
		break;
	case 19 ... 28:
		use_file(trial, space, number, offset);
		break;
	default:
		touch(trial, space, at, roll(trial, 3) == 0);
	}
}
