/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a small guest does, at random. */
#include "guest.h"

#include <stdlib.h>
#include <string.h>

enum { SPACES = 3, PAGES = 6, FRAMES = 5, INODES = 3 };

#define SPACE(s) (0x100 + (uint64_t)(s))
#define BASE UINT64_C(0x10000)			/* the first user page */
#define KERNEL UINT64_C(0xffff888000000)	/* the kernel's page of frame 0 */
#define FRAME UINT64_C(0x100)			/* the first frame */
#define ADDRESS(page) ((uint64_t)(page) << 12)

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

/* ---- what has to be reported ---- */

/* A page of a space, as far as a write has to be reported. */
struct cell {
	bool private;		/* written, it may have to be parted */
	bool seen;		/* referenced since it got its meaning */
	bool parted;		/* or written first of all */
};

struct guest {
	struct cell cell[SPACES][PAGES];
};

static struct cell *find_cell(struct guest *guest, uint64_t space, uint64_t page)
{
	if (space < SPACE(0) || space >= SPACE(SPACES) || page < BASE || page >= BASE + PAGES)
		return NULL;
	return &guest->cell[space - SPACE(0)][page - BASE];
}

static void guest_event(struct guest *guest, const struct stream *stream, size_t at)
{
	const struct lpl_event *event = &stream->item[at].event;
	const uint64_t *arg = event->arg;

	if (event->tag == KTR_SPACE_DUPLICATE) {
		uint64_t parent = arg[KTR_SPACE_DUPLICATE_PARENT];
		uint64_t child = arg[KTR_SPACE_DUPLICATE_CHILD];

		if (parent != child)
			memcpy(guest->cell[child - SPACE(0)], guest->cell[parent - SPACE(0)],
			       sizeof(guest->cell[0]));
	}
	for (uint64_t space = SPACE(0); space < SPACE(SPACES); space++) {
		for (uint64_t page = BASE; page < BASE + PAGES; page++) {
			struct lpl_ref ref = {.space = space, .address = ADDRESS(page)};
			struct cell *cell = find_cell(guest, space, page);

			if (event->tag == LPL_EVENT_TRACING || !oracle_affects(stream, at, &ref))
				continue;
			cell->seen = false;
			cell->parted = event->tag == KTR_COW_BREAK;
			if (event->tag == KTR_MAP)
				cell->private = arg[KTR_MAP_KIND] == KTR_MAP_ANONYMOUS ||
						arg[KTR_MAP_KIND] == KTR_MAP_FILE_PRIVATE ||
						arg[KTR_MAP_KIND] == KTR_MAP_SPECIAL;
			else if (event->tag == KTR_REMAP || event->tag == KTR_BRK)
				cell->private = true;
		}
	}
}

/* Would the processor fault at this write, so that the kernel has something to report? */
static bool guest_faults(struct guest *guest, const struct lpl_ref *ref)
{
	struct cell *cell = find_cell(guest, ref->space, ref->address / 4096);

	return !is_walk(ref) && cell != NULL && ref->type == LPL_WRITE && cell->private &&
	       cell->seen && !cell->parted;
}

static void guest_reference(struct guest *guest, const struct lpl_ref *ref)
{
	struct cell *cell = find_cell(guest, ref->space, ref->address / 4096);

	if (is_walk(ref) || cell == NULL)
		return;
	cell->seen = true;
	cell->parted |= ref->type == LPL_WRITE;
}

bool guest_reports_all(const struct stream *stream)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	bool all_reported = true;

	if (guest == NULL)
		abort();
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];

		if (item->is_event) {
			guest_event(guest, stream, i);
			continue;
		}
		all_reported &= !guest_faults(guest, &item->ref);
		guest_reference(guest, &item->ref);
	}
	free(guest);
	return all_reported;
}

/* ---- what it does, at random ---- */

struct script {
	struct random random;
	struct guest guest;
	struct stream *out;
	uint64_t space;		/* that runs */
	uint64_t page;		/* that was referenced last */
	uint64_t attached;	/* where a segment was, and in which space */
	uint64_t attached_in;
	const struct plot *plot;
};

static uint32_t roll(struct script *script, uint32_t limit)
{
	return random_below(&script->random, limit);
}

#define SEND(script, event_tag, ...) \
	send_event(script, &(struct lpl_event){.tag = (event_tag), .arg = {__VA_ARGS__}})

static void send_event(struct script *script, struct lpl_event *event)
{
	struct stream *out = script->out;

	for (size_t i = out->count; i-- > 0 && event->ref == 0;)
		if (!out->item[i].is_event)
			event->ref = out->item[i].ref.ref;
	stream_add_event(out, event);
	guest_event(&script->guest, out, out->count - 1);
}

static uint64_t some_space(struct script *script)
{
	return roll(script, 3) != 0 ? script->space : SPACE(roll(script, SPACES));
}

static void some_range(struct script *script, uint64_t *start, uint64_t *end)
{
	uint64_t first = roll(script, PAGES);
	uint64_t count = 1 + roll(script, roll(script, 2) != 0 ? 1 : PAGES - (uint32_t)first);

	*start = ADDRESS(BASE + first);
	*end = ADDRESS(BASE + first + count);
}

static void do_map(struct script *script)
{
	static const uint64_t kinds[11] = {
		KTR_MAP_ANONYMOUS, KTR_MAP_ANONYMOUS, KTR_MAP_FILE_PRIVATE, KTR_MAP_FILE_PRIVATE,
		KTR_MAP_FILE_PRIVATE, KTR_MAP_FILE_SHARED, KTR_MAP_FILE_SHARED, KTR_MAP_SHM,
		KTR_MAP_SPECIAL, KTR_MAP_ANONYMOUS_SHARED, 99,
	};
	uint64_t start, end;

	some_range(script, &start, &end);
	SEND(script, KTR_MAP, some_space(script), start, end, 3, kinds[roll(script, 11)], 0,
	     1 + roll(script, INODES), roll(script, 3));
}

static void do_unmap(struct script *script)
{
	uint64_t start, end;

	some_range(script, &start, &end);
	SEND(script, KTR_UNMAP, some_space(script), start, end);
}

static void do_remap(struct script *script)
{
	uint64_t old, old_end, new, new_end;

	some_range(script, &old, &old_end);
	some_range(script, &new, &new_end);
	if (roll(script, 3) == 0)
		new = old;
	SEND(script, KTR_REMAP, some_space(script), old, old_end, new,
	     new_end > new ? new_end : new + 4096);
}

static void do_brk(struct script *script)
{
	uint64_t start, end;

	some_range(script, &start, &end);
	start -= roll(script, 4096);
	end -= roll(script, 4096);
	if (roll(script, 2) == 0)
		SEND(script, KTR_BRK, some_space(script), end, start);
	else
		SEND(script, KTR_BRK, some_space(script), start, end);
}

static void do_segment(struct script *script)
{
	uint64_t start, end;
	uint64_t segment = 1 + roll(script, INODES);

	some_range(script, &start, &end);
	if (roll(script, 2) == 0) {
		SEND(script, KTR_SHM_DETACH, script->attached_in, script->attached);
		return;
	}
	script->attached = start;
	script->attached_in = some_space(script);
	SEND(script, KTR_SHM_ATTACH, script->attached_in, start, end, segment, segment);
}

static void do_cache(struct script *script)
{
	uint64_t frame = FRAME + roll(script, FRAMES);
	uint64_t count = 1 + roll(script, 2);
	uint64_t address = ADDRESS(KERNEL + frame);
	uint64_t inode = 1 + roll(script, INODES), offset = roll(script, 3);

	if (roll(script, 5) == 0)
		address = KTR_NONE;
	else if (script->plot->wild && roll(script, 6) == 0)
		address = ADDRESS(KERNEL + FRAME + roll(script, FRAMES));
	if (roll(script, 3) == 0)
		SEND(script, KTR_CACHE_REMOVE, 0, inode, offset, frame, count);
	else
		SEND(script, KTR_CACHE_ADD, 0, inode, offset, frame, count, address);
}

static void do_event(struct script *script)
{
	uint64_t start, end;

	some_range(script, &start, &end);
	switch (roll(script, 18)) {
	case 0: case 1: case 2: case 3:
		do_map(script);
		break;
	case 4:
		do_unmap(script);
		break;
	case 5:
		do_remap(script);
		break;
	case 6:
		do_brk(script);
		break;
	case 7: case 16:
		do_segment(script);
		break;
	case 8: case 9:
		SEND(script, KTR_SPACE_DUPLICATE, some_space(script), SPACE(roll(script, SPACES)));
		break;
	case 10:
		SEND(script, KTR_COW_BREAK, some_space(script), start, 1, 1 + roll(script, 2));
		break;
	case 11:
		SEND(script, roll(script, 4) != 0 ? KTR_SCHEDULE : LPL_EVENT_TRACING, 1, 1);
		break;
	case 12:
		if (roll(script, 2) == 0)
			SEND(script, KTR_SPACE_END, some_space(script));
		else
			SEND(script, KTR_EXEC, 1, 1, some_space(script));
		break;
	case 17:
		if (roll(script, 2) == 0)
			SEND(script, KTR_DISCARD, some_space(script), start, end);
		else
			SEND(script, KTR_PAGE_OWN, some_space(script), start, 1,
			     (end - start) / 4096);
		break;
	default:
		do_cache(script);
		break;
	}
}

/* What exists already: mappings, and pages in them that forks have shared. */
static void do_snapshot(struct script *script)
{
	SEND(script, KTR_SNAPSHOT, 1);
	for (uint64_t space = SPACE(0); space < SPACE(SPACES); space++) {
		uint64_t start, end, kind = roll(script, 2) != 0 ? KTR_MAP_ANONYMOUS :
								   KTR_MAP_FILE_PRIVATE;

		some_range(script, &start, &end);
		SEND(script, KTR_MAP, space, ADDRESS(BASE), ADDRESS(BASE + PAGES), 3, kind, 0,
		     1 + roll(script, INODES), 0);
		SEND(script, KTR_PRESENT, space, start, end, FRAME + roll(script, FRAMES),
		     KTR_NONE);
		some_range(script, &start, &end);
		SEND(script, KTR_PRESENT, space, start, end, KTR_NONE,
		     KTR_SWAP_ENTRY(1, roll(script, 3)));
	}
	SEND(script, KTR_SNAPSHOT, 0);
}

/* Mostly the page of before, or one of the few of the space that runs. */
static void do_reference(struct script *script)
{
	static const uint8_t types[] = {LPL_READ, LPL_READ, LPL_WRITE, LPL_FETCH};
	size_t count = script->out->count;
	struct lpl_ref ref = {.type = types[roll(script, 4)], .length = 4};

	for (size_t i = count; i-- > 0 && ref.ref == 0;)
		ref.ref = script->out->item[i].is_event ? 0 : script->out->item[i].ref.ref;
	ref.ref++;
	ref.instr = ref.ref;
	ref.cycle = ref.ref;
	if (roll(script, 8) == 0)
		script->space = SPACE(roll(script, SPACES));
	if (roll(script, 3) != 0)
		script->page = roll(script, 4) != 0 ? BASE + roll(script, PAGES) :
						      KERNEL + FRAME + roll(script, FRAMES);
	ref.space = script->space;
	ref.address = ADDRESS(script->page);
	if (roll(script, 20) == 0) {
		ref.type = roll(script, 2) != 0 ? LPL_WALK_READ : LPL_WALK_WRITE;
		ref.address = ADDRESS(FRAME + roll(script, 2));
	}
	if (!script->plot->silent && guest_faults(&script->guest, &ref))
		SEND(script, KTR_COW_BREAK, ref.space, ref.address, 1, 1 + roll(script, 2));
	guest_reference(&script->guest, &ref);
	stream_add_ref(script->out, &ref);
}

void play_guest(struct random *random, const struct plot *plot, struct stream *out)
{
	struct script *script = calloc(1, sizeof(*script));

	if (script == NULL)
		abort();
	script->random = *random;
	script->out = out;
	script->space = SPACE(0);
	script->page = BASE;
	script->plot = plot;
	stream_clear(out);
	if (plot->snapshot)
		do_snapshot(script);
	for (size_t i = 0; i < plot->count; i++) {
		if (roll(script, plot->quiet) == 0)
			do_event(script);
		else
			do_reference(script);
	}
	*random = script->random;
	free(script);
}

struct plot random_plot(struct random *random)
{
	return (struct plot){
		.count = 1 + random_below(random, 120), .quiet = 2 + random_below(random, 12),
		.wild = random_below(random, 4) == 0, .snapshot = random_below(random, 4) == 0,
	};
}
