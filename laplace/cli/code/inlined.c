/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inlined functions, by libdw (DWARF 2 to 5).
 *
 * In the tree of a unit's entries an inlined subroutine lies in the function, or in the inlined
 * subroutine, that has its code, and it has ranges of addresses of its own.  So what an address was
 * written in is the deepest one that has it.
 *
 * libdw opens files by itself if they are asked for what lies in them: what several share
 * (`.gnu_debugaltlink'), and units split off (`.dwo').  The first is given to it before it has to
 * look; entries of the second are not come to.
 *
 * A file may refer to the same ranges from every entry, and not say where entries end: what is small
 * takes hours then.  So there are limits, which no compiler comes near.
 */
#include "inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { MOST_DEPTH = 256, MOST_RANGES = 1 << 24, MOST_NAME = 4096 };
#define MOST_BYTES	(UINT64_C(4) << 30)
/* At most a range for so many bytes of debug information, and so many entries passed for each. */
enum { BYTES_A_RANGE = 4, STEPS_A_BYTE = 16 };
/* What the units' abbreviations have, each unit's its own, is at most so many times as much. */
enum { ABBREVIATIONS_A_BYTE = 4 };

static const char no_memory[] = "takes more memory than there is",
		  damaged[] = "is damaged: its debug information is none";

/* ---- what is kept ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The copy of a name, of at most so many bytes; NULL: no memory. */
static const char *keep(struct inlined *inlined, const char *name)
{
	char *copy = strndup(name, MOST_NAME);
	char **found = copy ? tsearch(copy, &inlined->names, by_text) : NULL;

	if (!found || *found != copy)
		free(copy);
	return found ? *found : NULL;
}

void inlined_free(struct inlined *inlined)
{
	tdestroy(inlined->names, free);
	free(inlined->range);
	*inlined = (struct inlined){ .ranges = 0 };
}

/* ---- the file's bytes ---- */

enum { MOST_PLACES = 16 };

/* What is being read. */
struct reading {
	struct inlined *inlined;
	/* where names are, among the entries and beside them: of the file, and of another */
	struct { const char *first; size_t size; } place[MOST_PLACES];
	size_t places;
	uint64_t ranges, most_ranges, steps, most_steps, abbreviations, most_abbreviations;
};

/* The uncompressed size of a section; a section that lies says more. */
static uint64_t size_of(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	static const char magic[] = "ZLIB";
	GElf_Chdr compressed;
	uint64_t size = gelf_getchdr(section, &compressed) ? compressed.ch_size : header->sh_size;
	Elf_Data *data;

	if (name[1] != 'z' || header->sh_size < 12)
		return size;
	/* as it was done before ELF files had a way of their own */
	data = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset, 12, ELF_T_BYTE);
	if (data && memcmp(data->d_buf, magic, strlen(magic)) == 0) {
		uint64_t said = 0;

		for (int i = 4; i < 12; i++)
			said = said << 8 | ((const unsigned char *)data->d_buf)[i];
		size = said > size ? said : size;
	}
	return size;
}

/*
 * The name of a section with debug information: .debug_info, .zdebug_info, .gnu.debuglto_.debug_info.  NULL: it
 * is none, or its bytes are elsewhere.
 */
static const char *debug_name(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
		return NULL;
	name = elf_strptr(elf, names, header->sh_name);
	return name && strstr(name, "debug_") ? name : NULL;
}

/* What a file's debug information has when it is not compressed. */
static uint64_t bytes_of(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = debug_name(elf, section, &header);
		const uint64_t size = name ? size_of(elf, section, &header, name) : 0;

		if (size > MOST_BYTES)
			return size;
		bytes += size;
	}
	return bytes;
}

static bool has_names(const char *section)
{
	static const char *const names[] = { "debug_info", "debug_types", "debug_str", "debug_line_str" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(section, names[i]))
			return true;
	return false;
}

/* Where libdw has a file's entries and names: what is compressed is not any more. */
static void note_places(struct reading *reading, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) && reading->places < MOST_PLACES) {
		GElf_Shdr header;
		const char *name = debug_name(elf, section, &header);
		Elf_Data *data = name && has_names(name) ? elf_rawdata(section, NULL) : NULL;

		if (!data)
			continue;
		reading->place[reading->places].first = data->d_buf;
		reading->place[reading->places++].size = data->d_size;
	}
}

/* ---- entries ---- */

/* NULL: none, or its end is not where names are, which libdw does not look at in all cases. */
static const char *string_of(const struct reading *reading, Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);
	const uintptr_t at = (uintptr_t)text;

	for (size_t i = 0; text && i < reading->places; i++) {
		const uintptr_t first = (uintptr_t)reading->place[i].first;

		if (at >= first && at - first < reading->place[i].size)
			return memchr(text, '\0', reading->place[i].size - (at - first)) ? text : NULL;
	}
	return NULL;
}

/* As symbols have it: mangled, where a language does that. */
static const char *name_of(const struct reading *reading, Dwarf_Die *entry)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (size_t i = 0; !name && i < sizeof(names) / sizeof(*names); i++)
		name = string_of(reading, dwarf_attr_integrate(entry, names[i], &attribute));
	return name;
}

/* The ranges of an inlined subroutine. */
static const char *add(struct reading *reading, Dwarf_Die *entry, unsigned int depth)
{
	struct inlined *inlined = reading->inlined;
	const char *name = name_of(reading, entry), *kept = name && *name ? keep(inlined, name) : NULL;
	Dwarf_Addr base, first, end;
	ptrdiff_t at = 0;

	if (!name || !*name)
		return NULL;		/* its code is that of what it lies in */
	if (!kept)
		return no_memory;
	while ((at = dwarf_ranges(entry, at, &base, &first, &end)) > 0) {
		if (++reading->ranges > reading->most_ranges)
			return "is damaged: its debug information has too many ranges";
		if (first >= end)
			continue;
		if (inlined->ranges >= MOST_RANGES)
			return "has more than 16 million inlined functions";
		if (!lpl_reach(inlined->range, inlined->room, inlined->ranges))
			return no_memory;
		inlined->range[inlined->ranges++] =
			(struct inlined_range){ first, end, depth, kept };
	}
	return at < 0 ? damaged : NULL;
}

/* All entries of a unit, from its root down; a path of them is on a stack. */
static const char *read_unit(struct reading *reading, const Dwarf_Die *root)
{
	Dwarf_Die path[MOST_DEPTH];
	unsigned int around[MOST_DEPTH] = { 0 };	/* inlined ones that one lies in */
	uint64_t entries = 0, before[MOST_DEPTH] = { 0 };
	size_t last = 0;

	path[0] = *root;
	for (;;) {
		const bool is_inlined = dwarf_tag(&path[last]) == DW_TAG_inlined_subroutine;
		const unsigned int depth = around[last] + is_inlined;
		const char *why = is_inlined ? add(reading, &path[last], depth) : NULL;
		int none;

		before[last] = entries++;

		if (why)
			return why;
		if (last + 1 == MOST_DEPTH)
			return "is damaged: its debug information is nested too deeply";
		none = dwarf_child(&path[last], &path[last + 1]);
		if (!none) {
			around[++last] = depth;
			continue;
		}
		/* the next one, of this or of what this lies in */
		while (none > 0 && last > 0) {
			/* it passes what lies in this one, unless that says where it ends */
			reading->steps += entries - before[last];
			if (reading->steps > reading->most_steps)
				return "is damaged: its debug information is nested too deeply";
			none = dwarf_siblingof(&path[last], &path[last]);
			last -= none > 0;
		}
		if (none)
			return none < 0 ? damaged : NULL;
	}
}

/* Libdw reads a unit's abbreviations for it alone, even if all units have the same ones. */
static const char *take_abbreviations(struct reading *reading, Dwarf_Die *root)
{
	Dwarf_Off at = 0;
	size_t length;

	for (;;) {
		const Dwarf_Abbrev *one = dwarf_getabbrev(root, at, &length);

		if (!one || one == DWARF_END_ABBREV)
			return NULL;
		at += length;
		reading->abbreviations += length;
		if (reading->abbreviations > reading->most_abbreviations)
			return "is damaged: its debug information has too many abbreviations";
	}
}

/* All units of a file; or no more of them than their abbreviations. */
static const char *read_units(struct reading *reading, Dwarf *dwarf, bool entries)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die root;
	uint8_t type;
	int end;

	while (!(end = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &root, NULL))) {
		const char *why = take_abbreviations(reading, &root);

		if (!why && entries && (type == DW_UT_compile || type == DW_UT_partial))
			why = read_unit(reading, &root);
		if (why)
			return why;
	}
	return end < 0 ? damaged : NULL;
}

/* ---- the file ---- */

/* Another file, which this one refers to. */
struct shared {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
};

static void close_shared(struct shared *shared)
{
	dwarf_end(shared->dwarf);
	elf_end(shared->elf);
	if (shared->fd >= 0)
		close(shared->fd);
}

/* NULL, with no file, if there is none that `dwarf` refers to. */
static const char *open_shared(struct shared *shared, Dwarf *dwarf,
			       const struct inlined_beside *beside)
{
	const char *name, *other;
	const void *id, *found;
	const ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	if (length < 0)
		return damaged;
	if (!length)
		return NULL;
	shared->fd = beside->open(beside->context, name);
	if (shared->fd >= 0)
		shared->elf = elf_begin(shared->fd, ELF_C_READ, NULL);
	if (!shared->elf)
		return "needs debug information of another file, which is not here";
	if (dwelf_elf_gnu_build_id(shared->elf, &found) != length || memcmp(id, found, (size_t)length) != 0)
		return "needs debug information of another file, which is not the one that is here";
	if (bytes_of(shared->elf) <= MOST_BYTES)
		shared->dwarf = dwarf_begin_elf(shared->elf, DWARF_C_READ, NULL);
	/* that one refers to no third */
	return shared->dwarf && !dwelf_dwarf_gnu_debugaltlink(shared->dwarf, &other, &id) ? NULL : damaged;
}

const char *inlined_read(struct inlined *inlined, Elf *elf, const struct inlined_beside *beside)
{
	const uint64_t bytes = bytes_of(elf);
	struct reading reading = { .inlined = inlined, .most_ranges = bytes / BYTES_A_RANGE,
				   .most_steps = bytes * STEPS_A_BYTE,
				   .most_abbreviations = bytes * ABBREVIATIONS_A_BYTE };
	struct shared shared = { .fd = -1 };
	Dwarf *dwarf;
	const char *why;

	if (bytes > MOST_BYTES)
		return "has more than 4 GiB of debug information";
	if (!bytes)
		return NULL;
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!dwarf)
		return damaged;
	why = open_shared(&shared, dwarf, beside);
	if (!why) {
		note_places(&reading, elf);
		if (shared.dwarf) {
			dwarf_setalt(dwarf, shared.dwarf);
			note_places(&reading, shared.elf);
			why = read_units(&reading, shared.dwarf, false);
		}
		if (!why)
			why = read_units(&reading, dwarf, true);
	}
	dwarf_end(dwarf);
	close_shared(&shared);
	return why;
}
