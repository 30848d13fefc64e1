/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions by ELF symbols.
 *
 * One table of symbols is read, and its names.  Symbols overlap: names for one address, labels
 * within functions, functions with a second entry.  So they are made pieces that do not: each
 * address belongs to the symbol that begins last before it and has not ended.
 */
#include "elf_code.h"

#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_file.h"

enum { BUILD_ID = 64, MOST_NOTES = 1 << 16 };

struct segment {
	uint64_t offset, size, address;
};

struct symbol {
	uint64_t first, end;		/* end 0: where the next begins, or its section ends */
	uint64_t limit;			/* where its section ends */
	unsigned int rank; /* of several at one address the lowest counts, and the first name */
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
	char *names, *section_names;
	bool whole;
	char build_id[2 * BUILD_ID + 1];
};

/* ---- segments ---- */

/* Those with code. */
static bool read_segments(struct elf_code *code, struct elf_file *file)
{
	const size_t size = file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	unsigned char *bytes = elf_file_part(file, file->segments_at, file->segments * size);

	for (uint32_t i = 0; bytes && i < file->segments; i++) {
		struct segment segment;
		uint32_t type, flags;

		if (file->is_64) {
			const Elf64_Phdr *header = (void *)(bytes + i * size);

			type = le32toh(header->p_type);
			flags = le32toh(header->p_flags);
			segment = (struct segment){ le64toh(header->p_offset),
						    le64toh(header->p_filesz),
						    le64toh(header->p_vaddr) };
		} else {
			const Elf32_Phdr *header = (void *)(bytes + i * size);

			type = le32toh(header->p_type);
			flags = le32toh(header->p_flags);
			segment = (struct segment){ le32toh(header->p_offset),
						    le32toh(header->p_filesz),
						    le32toh(header->p_vaddr) };
		}
		if (type != PT_LOAD || !(flags & PF_X))
			continue;
		if (!lpl_reach(code->segment, code->segment_room, code->segments)) {
			file->why = elf_no_memory;
			break;
		}
		code->segment[code->segments++] = segment;
	}
	free(bytes);
	return !file->why;
}

/* ---- the build ID ---- */

static void take_note(struct elf_code *code, const unsigned char *note, size_t length)
{
	for (size_t i = 0; i < length && i < BUILD_ID; i++)
		for (unsigned int half = 0; half < 2; half++)
			code->build_id[2 * i + half] =
				"0123456789abcdef"[half ? note[i] & 15 : note[i] >> 4];
}

/* Notes that are not what they should be are as none: a file has its functions without them. */
static void find_build_id(struct elf_code *code, const unsigned char *bytes, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		uint64_t name, text;

		memcpy(&header, bytes, sizeof(header));
		name = ((uint64_t)le32toh(header.n_namesz) + 3) & ~UINT64_C(3);
		text = ((uint64_t)le32toh(header.n_descsz) + 3) & ~UINT64_C(3);
		bytes += sizeof(header);
		size -= sizeof(header);
		if (name > size || text > size - name)
			return;
		if (le32toh(header.n_type) == NT_GNU_BUILD_ID && name == 4 &&
		    memcmp(bytes, "GNU", 4) == 0) {
			take_note(code, bytes + name, le32toh(header.n_descsz));
			return;
		}
		bytes += name + text;
		size -= name + text;
	}
}

static void read_build_id(struct elf_code *code, struct elf_file *file)
{
	for (uint32_t i = 0; i < file->sections && !*code->build_id; i++) {
		const struct elf_section *section = &file->section[i];
		unsigned char *bytes;

		if (section->type != SHT_NOTE || section->size > MOST_NOTES)
			continue;
		bytes = elf_file_part(file, section->offset, section->size);
		if (bytes)
			find_build_id(code, bytes, section->size);
		free(bytes);
		file->why = NULL;
	}
}

/* ---- symbols ---- */

static bool is_code(const struct elf_section *section)
{
	return (section->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) &&
	       section->address <= UINT64_MAX - section->size;
}

/* Functions before labels, and names that others link with before others. */
static unsigned int rank_of(unsigned int type, unsigned int binding)
{
	const unsigned int first = type == STT_NOTYPE ? 4 : 0;

	return first + (binding == STB_GLOBAL ? 1U : binding == STB_WEAK ? 2U : 3U);
}

static bool add(struct elf_code *code, struct elf_file *file, const struct symbol *symbol)
{
	if (!lpl_reach(code->symbol, code->symbol_room, code->symbols)) {
		file->why = elf_no_memory;
		return false;
	}
	code->symbol[code->symbols++] = *symbol;
	return true;
}

static bool add_symbol(struct elf_code *code, struct elf_file *file, const Elf64_Sym *from,
		       uint64_t names)
{
	const unsigned int type = ELF64_ST_TYPE(from->st_info);
	const uint64_t first = from->st_value;
	const struct elf_section *section;
	struct symbol symbol = { .first = first,
				 .rank = rank_of(type, ELF64_ST_BIND(from->st_info)) };

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    from->st_shndx == SHN_UNDEF || from->st_shndx >= file->sections ||
	    from->st_name >= names)
		return true;
	section = &file->section[from->st_shndx];
	symbol.name = code->names + from->st_name;
	if (!is_code(section) || !*symbol.name || first < section->address ||
	    first - section->address >= section->size)
		return true;
	symbol.limit = section->address + section->size;
	if (from->st_size && from->st_size <= symbol.limit - first)
		symbol.end = first + from->st_size;
	else if (from->st_size)
		symbol.end = symbol.limit;
	return add(code, file, &symbol);
}

static Elf64_Sym symbol_of(const struct elf_file *file, const unsigned char *bytes, size_t i)
{
	const Elf64_Sym *symbol = (const void *)bytes;
	const Elf32_Sym *symbol_32 = (const void *)bytes;

	symbol += i;
	symbol_32 += i;
	if (file->is_64)
		return (Elf64_Sym){ le32toh(symbol->st_name),  symbol->st_info,
				    symbol->st_other,          le16toh(symbol->st_shndx),
				    le64toh(symbol->st_value), le64toh(symbol->st_size) };
	return (Elf64_Sym){ le32toh(symbol_32->st_name),  symbol_32->st_info,
			    symbol_32->st_other,          le16toh(symbol_32->st_shndx),
			    le32toh(symbol_32->st_value), le32toh(symbol_32->st_size) };
}

static bool read_symbols(struct elf_code *code, struct elf_file *file,
			 const struct elf_section *table)
{
	const size_t size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const struct elf_section *names =
		table->link < file->sections ? &file->section[table->link] : NULL;
	unsigned char *bytes;

	if (table->entry != size || !names || names->type != SHT_STRTAB) {
		file->why = "is damaged: its symbols have another size, or no names";
		return false;
	}
	bytes = elf_file_part(file, table->offset, table->size);
	code->names = bytes ? elf_file_part(file, names->offset, names->size) : NULL;
	for (size_t i = 0; code->names && i < table->size / size; i++) {
		const Elf64_Sym symbol = symbol_of(file, bytes, i);

		if (!add_symbol(code, file, &symbol, names->size))
			break;
	}
	free(bytes);
	return !file->why;
}

/* Of what the linker makes, which has no symbols: ".plt", ".plt.sec" ... */
static bool name_sections(struct elf_code *code, struct elf_file *file)
{
	const struct elf_section *names =
		file->names < file->sections ? &file->section[file->names] : NULL;

	if (!names || names->type != SHT_STRTAB)
		return true;
	code->section_names = elf_file_part(file, names->offset, names->size);
	for (uint32_t i = 0; code->section_names && i < file->sections; i++) {
		const struct elf_section *section = &file->section[i];
		const uint64_t end = section->address + section->size;
		const char *name = section->name < names->size ?
			code->section_names + section->name : "";
		const struct symbol symbol = {
			.first = section->address, .end = end, .limit = end, .name = name
		};

		if (is_code(section) && section->size &&
		    strncmp(symbol.name, ".plt", 4) == 0 && !add(code, file, &symbol))
			break;
	}
	return !file->why;
}

static const struct elf_section *find_table(const struct elf_file *file, uint32_t type)
{
	for (uint32_t i = 0; i < file->sections; i++) {
		if (file->section[i].type == type)
			return &file->section[i];
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
		if (symbol->rank > 4 && symbol->first < covered)
			continue;
		if (symbol->rank && symbol->rank <= 4 && symbol->end > covered)
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

static bool read_all(struct elf_code *code, struct elf_file *file)
{
	const struct elf_section *table;

	if (!read_segments(code, file))
		return false;
	read_build_id(code, file);
	table = find_table(file, SHT_SYMTAB);
	code->whole = table != NULL;
	if (!table)
		table = find_table(file, SHT_DYNSYM);
	if ((table && !read_symbols(code, file, table)) || !name_sections(code, file))
		return false;
	if (!arrange(code))
		file->why = elf_no_memory;
	return !file->why;
}

struct elf_code *elf_code_read(int fd, const char **why)
{
	struct elf_code *code = calloc(1, sizeof(*code));
	struct elf_file file;

	*why = NULL;
	if (!code) {
		*why = elf_no_memory;
		return NULL;
	}
	if (!elf_file_open(&file, fd) || !read_all(code, &file)) {
		*why = file.why;
		elf_code_free(code);
		code = NULL;
	}
	elf_file_close(&file);
	return code;
}

void elf_code_free(struct elf_code *code)
{
	if (!code)
		return;
	free(code->segment);
	free(code->symbol);
	free(code->piece);
	free(code->names);
	free(code->section_names);
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
