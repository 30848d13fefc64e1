/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequences of a kernel's instructions, cut out of threads; see drmemtrace_templates.h. */
#include "drmemtrace_templates.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/output.h"
#include "fields.h"

enum {
	ENTRY = 12,
	KEPT = 31,			/* of one key, from which one is chosen */
	MOST = 1 << 22			/* bytes of one */
};

/* ---- what is kept ---- */

void lpl_drmemtrace_templates_init(struct drmemtrace_templates *templates)
{
	*templates = (struct drmemtrace_templates){ 0 };
	lpl_map_init(&templates->kept, 1);
}

void lpl_drmemtrace_templates_free(struct drmemtrace_templates *templates)
{
	for (size_t i = 0; i < templates->count; i++)
		free(templates->sequence[i].bytes);
	free(templates->sequence);
	lpl_map_free(&templates->kept);
}

/* The cut is over: its bytes are the sequence's from here on. */
static bool keep(struct drmemtrace_templates *templates, struct drmemtrace_cut *cut)
{
	const struct lpl_key key = LPL_KEY((uint64_t)cut->key * 2 + cut->marred);
	const uint64_t kept = lpl_map_get(&templates->kept, key);

	cut->active = false;
	if (cut->interrupted || !cut->instructions || kept >= KEPT)
		return true;
	if (!lpl_reserve(templates->sequence, templates->room, templates->count) ||
	    !lpl_map_put(&templates->kept, key, kept + 1))
		return false;
	templates->sequence[templates->count] = (struct drmemtrace_sequence){
		.key = cut->key, .marred = cut->marred, .order = templates->count,
		.instructions = cut->instructions, .bytes = cut->bytes, .used = cut->used
	};
	templates->count++;
	cut->bytes = NULL;
	cut->used = cut->room = 0;
	return true;
}

/* ---- cutting ---- */

static char *put(char *out, unsigned int type, unsigned int size, uint64_t value)
{
	*out++ = (char)(type & 0xff);
	*out++ = (char)(type >> 8);
	*out++ = (char)(size & 0xff);
	*out++ = (char)(size >> 8);
	put_le64(out, value);
	return out + 8;
}

static void begin(struct drmemtrace_cut *cut, uint32_t key, bool of_switch)
{
	char *bytes = cut->bytes;
	const size_t room = cut->room;

	*cut = (struct drmemtrace_cut){ .active = true, .of_switch = of_switch, .key = key, .bytes = bytes, .room = room };
}

void lpl_drmemtrace_cut_switch(struct drmemtrace_cut *cut, uint32_t kind)
{
	begin(cut, kind, true);
}

void lpl_drmemtrace_cut_free(struct drmemtrace_cut *cut)
{
	free(cut->bytes);
	cut->bytes = NULL;
}

static bool append(struct drmemtrace_cut *cut, const char *entry)
{
	if (cut->used + ENTRY > MOST) {
		cut->interrupted = true;
		return true;
	}
	for (unsigned int i = 0; i < ENTRY; i++) {
		if (!lpl_reserve(cut->bytes, cut->room, cut->used))
			return false;
		cut->bytes[cut->used++] = entry[i];
	}
	return true;
}

/*
 * A reader takes one window for another by its number, and one template may be put in twice, with nothing of the kind
 * in between: two markers, of which one is another number than the last one, whatever that was.
 */
static bool append_gap(struct drmemtrace_cut *cut)
{
	char entry[ENTRY];

	put(entry, DR_MARKER, DR_WINDOW, 1);
	if (!append(cut, entry))
		return false;
	put(entry, DR_MARKER, DR_WINDOW, 0);
	return append(cut, entry);
}

/* The kernel's entry and its return are no part of a template; what comes in between is an interrupt. */
static bool take_marker(struct drmemtrace_templates *templates, struct drmemtrace_cut *cut, unsigned int kind,
			const char *entry)
{
	switch (kind) {
	case DR_HARDWARE_EVENT:
		cut->interrupted |= cut->depth++ > 0;
		return true;
	case DR_HARDWARE_RETURN:
		cut->depth -= cut->depth > 0;
		return !cut->of_switch || cut->depth || keep(templates, cut);
	case DR_CALL_ENDS:
		return cut->of_switch || keep(templates, cut);
	case DR_TIMESTAMP:
	case DR_CPU:
		cut->marred = true;
		return true;
	case DR_WINDOW:			/* without a handler: of the file's beginning */
		cut->marred |= cut->depth > 0;
		return !cut->depth || append_gap(cut);
	case DR_BRANCH_TARGET:
		return append(cut, entry);
	default:
		return true;
	}
}

static bool take_entry(struct drmemtrace_templates *templates, struct drmemtrace_cut *cut, const char *entry)
{
	const uint8_t *byte = (const uint8_t *)entry;
	const unsigned int type = byte[0] | (unsigned int)byte[1] << 8, size = byte[2] | (unsigned int)byte[3] << 8;

	if (type == DR_MARKER && size == DR_CALL_BEGINS && !cut->of_switch) {
		begin(cut, byte[4] | (uint32_t)byte[5] << 8 | (uint32_t)byte[6] << 16 | (uint32_t)byte[7] << 24, false);
		return true;
	}
	if (!cut->active)
		return true;
	if (type == DR_MARKER)
		return take_marker(templates, cut, size, entry);
	if (type >= DR_THREAD && type <= DR_FOOTER)
		return true;
	cut->instructions += type >= DR_INSTRUCTION && type != DR_ENCODING && type != DR_NO_FETCH;
	return append(cut, entry);
}

bool lpl_drmemtrace_cut(struct drmemtrace_templates *templates, struct drmemtrace_thread *thread)
{
	for (size_t at = 0; at < thread->used; at += ENTRY)
		if (!take_entry(templates, &thread->cut, thread->buffer + at))
			return false;
	thread->used = 0;
	return true;
}

/* ---- the file ---- */

static int compare(const void *one, const void *other)
{
	const struct drmemtrace_sequence *a = one, *b = other;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->marred != b->marred)
		return a->marred ? 1 : -1;
	if (a->instructions != b->instructions)
		return a->instructions < b->instructions ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int compare_lengths(const void *one, const void *other)
{
	const struct drmemtrace_sequence *const *a = one, *const *b = other;

	if ((*a)->instructions != (*b)->instructions)
		return (*a)->instructions < (*b)->instructions ? -1 : 1;
	return (*a)->key < (*b)->key ? -1 : 1;
}

/* The median of those of a key; *next: the first of the next key. */
static const struct drmemtrace_sequence *choose(const struct drmemtrace_templates *templates, size_t first, size_t *next)
{
	const struct drmemtrace_sequence *all = templates->sequence;
	size_t end = first;

	while (end < templates->count && all[end].key == all[first].key && all[end].marred == all[first].marred)
		end++;
	*next = end;
	while (*next < templates->count && all[*next].key == all[first].key)
		++*next;
	return &all[first + (end - first - 1) / 2];
}

static bool write_bytes(int fd, const char *bytes, size_t count, uint64_t *total)
{
	*total += count;
	return lpl_write_all(fd, bytes, count, LPL_HERE);
}

static bool write_one(int fd, const struct drmemtrace_sequence *sequence, uint32_t key, bool calls, uint64_t *bytes)
{
	char entry[ENTRY];

	put(entry, DR_MARKER, calls ? DR_CALL_BEGINS : DR_SWITCH_BEGINS, key);
	if (!write_bytes(fd, entry, ENTRY, bytes) || !write_bytes(fd, sequence->bytes, sequence->used, bytes))
		return false;
	put(entry, DR_MARKER, calls ? DR_CALL_ENDS : DR_SWITCH_ENDS, key);
	return write_bytes(fd, entry, ENTRY, bytes);
}

static bool write_beginning(int fd, uint64_t *bytes)
{
	char header[8 * ENTRY], *out = header;

	out = put(out, DR_HEADER, 0, DR_FORMAT);
	out = put(out, DR_MARKER, DR_VERSION, DR_FORMAT);
	out = put(out, DR_MARKER, DR_FILE_TYPE, DR_TYPE | DR_TEMPLATES);
	out = put(out, DR_THREAD, 4, 1);
	out = put(out, DR_PROCESS, 4, 1);
	out = put(out, DR_MARKER, DR_CACHE_LINE, DR_LINE_BYTES);
	out = put(out, DR_MARKER, DR_PAGE_SIZE, DR_PAGE_BYTES);
	out = put(out, DR_MARKER, DR_TIMESTAMP, 1);
	return write_bytes(fd, header, (size_t)(out - header), bytes);
}

static bool write_end(int fd, uint64_t *bytes)
{
	char end[2 * ENTRY];

	put(put(end, DR_THREAD_EXIT, 4, 1), DR_FOOTER, 0, 0);
	return write_bytes(fd, end, sizeof(end), bytes);
}

int64_t lpl_drmemtrace_templates_write(struct drmemtrace_templates *templates, bool calls, int fd, uint64_t *bytes)
{
	const struct drmemtrace_sequence **chosen;
	size_t count = 0, next;
	bool good;

	if (!templates->count)
		return 0;
	chosen = calloc(templates->count, sizeof(*chosen));
	if (!chosen)
		return -1;
	qsort(templates->sequence, templates->count, sizeof(*templates->sequence), compare);
	good = write_beginning(fd, bytes);
	for (size_t i = 0; i < templates->count && good; i = next) {
		chosen[count] = choose(templates, i, &next);
		good = write_one(fd, chosen[count], chosen[count]->key, calls, bytes);
		count++;
	}
	qsort(chosen, count, sizeof(struct drmemtrace_sequence *), compare_lengths);
	if (good && calls)
		good = write_one(fd, chosen[(count - 1) / 2], DR_ANY_CALL, true, bytes);
	/* readers want both kinds */
	if (good && !calls && count == 1)
		good = write_one(fd, chosen[0], DR_SWITCH_THREAD + DR_SWITCH_PROCESS - chosen[0]->key, false, bytes);
	good = good && write_end(fd, bytes);
	free(chosen);
	return good ? (int64_t)count : -1;
}
