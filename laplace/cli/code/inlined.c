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

static const char no_memory[] = "takes more memory than there is",
		  damaged[] = "is damaged: its debug information is none";

/* ---- what is kept ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The copy of a name; NULL: no memory. */
static const char *keep(struct inlined *inlined, const char *name)
{
	char **found = tfind(name, &inlined->names, by_text), *copy;

	if (found)
		return *found;
	copy = strndup(name, MOST_NAME);
	if (copy && !tsearch(copy, &inlined->names, by_text)) {
		free(copy);
		return NULL;
	}
	return copy;
}

void inlined_free(struct inlined *inlined)
{
	tdestroy(inlined->names, free);
	free(inlined->range);
	*inlined = (struct inlined){ .ranges = 0 };
}

/* ---- entries ---- */

/* As symbols have it: mangled, where a language does that. */
static const char *name_of(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute));

	if (!name)
		name = dwarf_formstring(
			dwarf_attr_integrate(entry, DW_AT_MIPS_linkage_name, &attribute));
	return name ? name : dwarf_diename(entry);
}

/* The ranges of an inlined subroutine. */
static const char *add(struct inlined *inlined, Dwarf_Die *entry, unsigned int depth)
{
	const char *name = name_of(entry), *kept = name && *name ? keep(inlined, name) : NULL;
	Dwarf_Addr base, first, end;
	ptrdiff_t at = 0;

	if (!name || !*name)
		return NULL;		/* its code is that of what it lies in */
	if (!kept)
		return no_memory;
	while ((at = dwarf_ranges(entry, at, &base, &first, &end)) > 0) {
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
static const char *read_unit(struct inlined *inlined, const Dwarf_Die *root)
{
	Dwarf_Die path[MOST_DEPTH];
	unsigned int around[MOST_DEPTH] = { 0 };	/* inlined ones that one lies in */
	size_t last = 0;

	path[0] = *root;
	for (;;) {
		const bool is_inlined = dwarf_tag(&path[last]) == DW_TAG_inlined_subroutine;
		const unsigned int depth = around[last] + is_inlined;
		const char *why = is_inlined ? add(inlined, &path[last], depth) : NULL;
		int none;

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
			none = dwarf_siblingof(&path[last], &path[last]);
			last -= none > 0;
		}
		if (none)
			return none < 0 ? damaged : NULL;
	}
}

static const char *read_units(struct inlined *inlined, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die root;
	uint8_t type;
	int end;

	while (!(end = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &root, NULL))) {
		const char *why =
			type == DW_UT_compile || type == DW_UT_partial ? read_unit(inlined, &root) : NULL;

		if (why)
			return why;
	}
	return end < 0 ? damaged : NULL;
}

/* ---- the file ---- */

/* What its debug information has when it is not compressed; a section that lies says more. */
static uint64_t bytes_of(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr compressed;
		const char *name;
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    !(name = elf_strptr(elf, names, header.sh_name)) ||
		    strncmp(name, ".debug_", strlen(".debug_")) != 0)
			continue;
		size = gelf_getchdr(section, &compressed) ? compressed.ch_size : header.sh_size;
		if (size > MOST_BYTES)
			return size;
		bytes += size;
	}
	return bytes;
}

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
		if (shared.dwarf)
			dwarf_setalt(dwarf, shared.dwarf);
		why = read_units(inlined, dwarf);
	}
	dwarf_end(dwarf);
	close_shared(&shared);
	return why;
}
