/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions by ELF symbols.
 *
 * One table of symbols is read, and its names.  Symbols overlap: names for one address, labels
 * within functions, functions with a second entry.  So they are made pieces that do not: each
 * address belongs to the symbol that begins last before it and has not ended.
 */
#include "elf_code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#include "inlined.h"

enum { BUILD_ID = 64, MOST_NOTES = 1 << 16, FIRST_LABEL = 4 };
#define MOST_BYTES	(UINT64_C(256) << 20)	/* of a table */

static const char no_memory[] = "takes more memory than there is";

struct segment {
	uint64_t offset, size, address;
};

struct symbol {
	uint64_t first, end;		/* end 0: where the next begins, or its section ends */
	uint64_t limit;			/* where its section ends */
	/* of several at one address the lowest counts, and the first name; or how deep it is inlined */
	unsigned int rank;
	const char *name;
};

struct piece {
	uint64_t first, last;
	const char *name;
};

struct elf_code {
	struct segment *segment;
	size_t segments, segment_room;
	struct symbol *symbol;
	size_t symbols, symbol_room;
	struct piece *piece;		/* by address */
	size_t pieces, piece_room;
	char *names;
	struct inlined inlined;
	bool whole;
	char build_id[2 * BUILD_ID + 1];
};

/* ---- the file ---- */

/* NULL: what kind of file it is, and its headers. */
static const char *open_elf(Elf *elf, GElf_Ehdr *header)
{
	size_t sections, segments;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, header) ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB)
		return "is no ELF file of a PC";
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return "is neither a program nor a shared object";
	/* where a table lies beyond the file's end, libelf finds it empty */
	if (elf_getshdrnum(elf, &sections) || elf_getphdrnum(elf, &segments) ||
	    (!sections && header->e_shoff) || segments < header->e_phnum)
		return "is damaged: a table lies beyond its end";
	return NULL;
}

/* What a section holds; NULL and `why`: it is not all there. */
static Elf_Data *data_of(Elf_Scn *section, const GElf_Shdr *header, const char **why)
{
	Elf_Data *data = NULL;

	if (header->sh_size > MOST_BYTES)
		*why = "is damaged: a table has more than 256 MiB";
	else if (!(data = elf_getdata(section, NULL)))
		*why = "is damaged: a table lies beyond its end";
	return data;
}

/* ---- segments ---- */

/* Those with code. */
static const char *read_segments(struct elf_code *code, Elf *elf)
{
	GElf_Phdr header;

	for (int i = 0; gelf_getphdr(elf, i, &header); i++) {
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		if (!lpl_reach(code->segment, code->segment_room, code->segments))
			return no_memory;
		code->segment[code->segments++] =
			(struct segment){ header.p_offset, header.p_filesz, header.p_vaddr };
	}
	return NULL;
}

/* ---- the build ID ---- */

static void take_note(struct elf_code *code, const unsigned char *note, size_t length)
{
	for (size_t i = 0; i < length && i < BUILD_ID; i++)
		for (unsigned int half = 0; half < 2; half++)
			code->build_id[2 * i + half] =
				"0123456789abcdef"[half ? note[i] & 15 : note[i] >> 4];
}

static void find_build_id(struct elf_code *code, Elf_Data *notes)
{
	size_t at = 0, next, name, text;
	GElf_Nhdr note;

	for (; (next = gelf_getnote(notes, at, &note, &name, &text)) > 0; at = next) {
		const unsigned char *bytes = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name, "GNU", sizeof("GNU")) != 0)
			continue;
		take_note(code, bytes + text, note.n_descsz);
		return;
	}
}

/* Notes that are not what they should be are as none: a file has its functions without them. */
static void read_build_id(struct elf_code *code, Elf *elf)
{
	Elf_Scn *section = NULL;

	while (!*code->build_id && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *notes;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    header.sh_size <= MOST_NOTES && (notes = elf_getdata(section, NULL)))
			find_build_id(code, notes);
	}
}

/* ---- symbols ---- */

static bool is_code(const GElf_Shdr *section)
{
	return (section->sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) &&
	       section->sh_addr <= UINT64_MAX - section->sh_size;
}

/* Functions before labels, and names that others link with before others. */
static unsigned int rank_of(unsigned int type, unsigned int binding)
{
	const unsigned int first = type == STT_NOTYPE ? FIRST_LABEL : 0;

	return first + (binding == STB_GLOBAL ? 1U : binding == STB_WEAK ? 2U : 3U);
}

static bool add(struct elf_code *code, const struct symbol *symbol)
{
	if (!lpl_reach(code->symbol, code->symbol_room, code->symbols))
		return false;
	code->symbol[code->symbols++] = *symbol;
	return true;
}

/* false: there is no memory for it. */
static bool add_symbol(struct elf_code *code, Elf *elf, const GElf_Sym *from, uint64_t names)
{
	const unsigned int type = GELF_ST_TYPE(from->st_info);
	const uint64_t first = from->st_value;
	struct symbol symbol = { .first = first,
				 .rank = rank_of(type, GELF_ST_BIND(from->st_info)) };
	GElf_Shdr section;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    from->st_shndx == SHN_UNDEF || from->st_name >= names ||
	    !gelf_getshdr(elf_getscn(elf, from->st_shndx), &section))
		return true;
	symbol.name = code->names + from->st_name;
	if (!is_code(&section) || !*symbol.name || first < section.sh_addr ||
	    first - section.sh_addr >= section.sh_size)
		return true;
	symbol.limit = section.sh_addr + section.sh_size;
	if (from->st_size && from->st_size <= symbol.limit - first)
		symbol.end = first + from->st_size;
	else if (from->st_size)
		symbol.end = symbol.limit;
	return add(code, &symbol);
}

/* They remain when the file is closed. */
static const char *copy_names(struct elf_code *code, Elf *elf, const GElf_Shdr *table,
			      uint64_t *size)
{
	Elf_Scn *section = elf_getscn(elf, table->sh_link);
	const char *why = "is damaged: its symbols have no names";
	Elf_Data *names;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
		return why;
	names = data_of(section, &header, &why);
	if (!names)
		return why;
	*size = names->d_size;
	code->names = malloc(names->d_size + 1);
	if (!code->names)
		return no_memory;
	if (names->d_size)
		memcpy(code->names, names->d_buf, names->d_size);
	code->names[names->d_size] = '\0';
	return NULL;
}

static const char *read_symbols(struct elf_code *code, Elf *elf, Elf_Scn *section,
				const GElf_Shdr *table)
{
	uint64_t names;
	const char *why = copy_names(code, elf, table, &names);
	Elf_Data *data = why ? NULL : data_of(section, table, &why);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		if (!add_symbol(code, elf, &symbol, names))
			return no_memory;
	}
	return why;
}

/* All of the file's symbols; or those that others link with, if it has no others. */
static const char *read_table(struct elf_code *code, Elf *elf)
{
	Elf_Scn *section = NULL, *found = NULL;
	GElf_Shdr header, table;

	while (!code->whole && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && (header.sh_type != SHT_DYNSYM || found)))
			continue;
		code->whole = header.sh_type == SHT_SYMTAB;
		found = section;
		table = header;
	}
	return found ? read_symbols(code, elf, found, &table) : NULL;
}

/* Of what the linker makes, which has no symbols: ".plt", ".plt.sec" ... */
static const char *name_sections(struct elf_code *code, Elf *elf)
{
	static const char plt[] = ".plt";
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		struct symbol symbol = { .name = plt };

		if (!gelf_getshdr(section, &header) || !is_code(&header) || !header.sh_size ||
		    !(name = elf_strptr(elf, names, header.sh_name)) ||
		    strncmp(name, plt, strlen(plt)) != 0)
			continue;
		symbol.first = header.sh_addr;
		symbol.end = symbol.limit = header.sh_addr + header.sh_size;
		if (!add(code, &symbol))
			return no_memory;
	}
	return NULL;
}

/* ---- pieces ---- */

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *other = b;

	if (one->first != other->first)
		return one->first < other->first ? -1 : 1;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return one->name < other->name ? -1 : one->name > other->name;
}

/* One of those at each address, beside a section; of labels those that lie in no function. */
static void choose(struct elf_code *code)
{
	size_t kept = 0;
	uint64_t covered = 0;		/* functions reach so far */

	for (size_t i = 0; i < code->symbols; i++) {
		const struct symbol *symbol = &code->symbol[i];
		const struct symbol *last = kept ? &code->symbol[kept - 1] : NULL;

		if (last && last->rank && last->first == symbol->first)
			continue;
		if (symbol->rank > FIRST_LABEL && symbol->first < covered)
			continue;
		if (symbol->rank && symbol->rank <= FIRST_LABEL && symbol->end > covered)
			covered = symbol->end;
		code->symbol[kept++] = *symbol;
	}
	code->symbols = kept;
}

static void set_ends(struct elf_code *code)
{
	for (size_t i = 0; i < code->symbols; i++) {
		struct symbol *symbol = &code->symbol[i];

		if (symbol->end)
			continue;
		symbol->end = symbol->limit;
		if (i + 1 < code->symbols && code->symbol[i + 1].first < symbol->end)
			symbol->end = code->symbol[i + 1].first;
	}
}

/* From `*at` up to `end`, where that lies after it. */
static bool add_piece(struct elf_code *code, uint64_t *at, uint64_t end, const char *name)
{
	if (*at >= end)
		return true;
	if (!lpl_reach(code->piece, code->piece_room, code->pieces))
		return false;
	code->piece[code->pieces++] = (struct piece){ *at, end - 1, name };
	*at = end;
	return true;
}

/* What has begun and not ended lies on a stack, the last to begin on top. */
static bool make_pieces(struct elf_code *code)
{
	const struct symbol **open = calloc(code->symbols + 1, sizeof(struct symbol *));
	size_t depth = 0;
	uint64_t at = 0;
	bool enough = open != NULL;

	for (size_t i = 0; enough && i <= code->symbols; i++) {
		const struct symbol *next = i < code->symbols ? &code->symbol[i] : NULL;

		for (; enough && depth && (!next || open[depth - 1]->end <= next->first); depth--)
			enough = add_piece(code, &at, open[depth - 1]->end, open[depth - 1]->name);
		if (!next)
			break;
		if (enough && depth)
			enough = add_piece(code, &at, next->first, open[depth - 1]->name);
		at = next->first;
		open[depth++] = next;
	}
	free(open);
	return enough;
}

static bool arrange(struct elf_code *code)
{
	if (code->symbols)
		qsort(code->symbol, code->symbols, sizeof(*code->symbol), by_address);
	choose(code);
	set_ends(code);
	return make_pieces(code);
}

/* ---- all of it ---- */

static const char *read_all(struct elf_code *code, Elf *elf)
{
	GElf_Ehdr header;
	const char *why = open_elf(elf, &header);

	if (!why)
		why = read_segments(code, elf);
	if (!why)
		why = read_table(code, elf);
	if (!why)
		why = name_sections(code, elf);
	if (!why && !arrange(code))
		why = no_memory;
	if (!why)
		read_build_id(code, elf);
	return why;
}

struct elf_code *elf_code_read(int fd, const char **why)
{
	struct elf_code *code = calloc(1, sizeof(*code));
	Elf *elf = NULL;

	/* not mapped: the file may become shorter meanwhile */
	if (code && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	*why = !code ? no_memory : !elf ? "cannot be read" : read_all(code, elf);
	elf_end(elf);
	if (!*why)
		return code;
	elf_code_free(code);
	return NULL;
}

void elf_code_free(struct elf_code *code)
{
	if (!code)
		return;
	free(code->segment);
	free(code->symbol);
	free(code->piece);
	free(code->names);
	inlined_free(&code->inlined);
	free(code);
}

bool elf_code_is_whole(const struct elf_code *code)
{
	return code->whole;
}

const char *elf_code_build_id(const struct elf_code *code)
{
	return code->build_id;
}

bool elf_code_take_symbols(struct elf_code *code, struct elf_code *debug)
{
	struct elf_code before = *code;

	if (!*code->build_id || strcmp(code->build_id, debug->build_id) != 0 || !debug->whole)
		return false;
	*code = *debug;
	code->segment = before.segment;
	code->segments = before.segments;
	code->segment_room = before.segment_room;
	before.segment = debug->segment;
	before.segments = debug->segments;
	before.segment_room = debug->segment_room;
	*debug = before;
	return true;
}

/* What pieces there are becomes symbols once more, with those that are inlined on top. */
static bool divide(struct elf_code *code)
{
	code->symbols = 0;
	for (size_t i = 0; i < code->pieces; i++) {
		const struct piece *piece = &code->piece[i];

		if (!add(code, &(struct symbol){ .first = piece->first, .end = piece->last + 1,
						 .name = piece->name }))
			return false;
	}
	for (size_t i = 0; i < code->inlined.ranges; i++) {
		const struct inlined_range *range = &code->inlined.range[i];

		if (!add(code, &(struct symbol){ .first = range->first, .end = range->end,
						 .rank = range->depth, .name = range->name }))
			return false;
	}
	qsort(code->symbol, code->symbols, sizeof(*code->symbol), by_address);
	code->pieces = 0;
	return make_pieces(code);
}

bool elf_code_inline(struct elf_code *code, int fd, const struct inlined_beside *beside,
		     const char **why)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	*why = elf ? inlined_read(&code->inlined, elf, beside) : "cannot be read";
	elf_end(elf);
	if (!*why && code->inlined.ranges && !divide(code))
		*why = no_memory;
	return !*why && code->inlined.ranges;
}

void elf_code_move(struct elf_code *code, uint64_t first)
{
	const uint64_t shift = code->pieces ? first - code->piece[0].first : 0;

	for (size_t i = 0; i < code->pieces; i++) {
		code->piece[i].first += shift;
		code->piece[i].last += shift;
	}
	for (size_t i = 0; i < code->segments; i++)
		code->segment[i].address += shift;
}

bool elf_code_address(const struct elf_code *code, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < code->segments; i++) {
		const struct segment *segment = &code->segment[i];

		if (offset < segment->offset || offset - segment->offset >= segment->size)
			continue;
		*address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

struct code_place elf_code_find(const struct elf_code *code, uint64_t address)
{
	size_t first = 0, left = code->pieces;	/* those that begin at or before it: first */
	struct code_place place = { .first = 0, .last = UINT64_MAX };

	while (left) {
		const size_t half = left / 2;

		if (code->piece[first + half].first <= address) {
			first += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	if (first && address <= code->piece[first - 1].last)
		return (struct code_place){ .name = code->piece[first - 1].name,
					    .first = code->piece[first - 1].first,
					    .last = code->piece[first - 1].last };
	if (first)
		place.first = code->piece[first - 1].last + 1;
	if (first < code->pieces)
		place.last = code->piece[first].first - 1;
	return place;
}
