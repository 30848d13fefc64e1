/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

/* System.map: "ADDRESS TYPE NAME" per line, hexadecimal, sorted by address. */
static bool find_in_map(FILE *file, const char *name, uint64_t *address)
{
	char line[512], symbol[256], type;
	unsigned long long at;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %255s", &at, &type, symbol) == 3 &&
		    !strcmp(symbol, name)) {
			*address = at;
			return true;
		}
	return false;
}

static bool find_in_elf(int fd, const char *name, uint64_t *address)
{
	bool found = false;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *section = NULL; elf && !found && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    !header.sh_entsize)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 0; data && !found && (uint64_t)i < header.sh_size / header.sh_entsize;
		     i++) {
			GElf_Sym symbol;
			const char *text = gelf_getsym(data, i, &symbol) ?
				elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;

			if (text && !strcmp(text, name)) {
				*address = symbol.st_value;
				found = true;
			}
		}
	}
	if (elf)
		elf_end(elf);
	return found;
}

bool laplace_symbol(const char *path, const char *name, uint64_t *address, char *why,
		    unsigned size)
{
	char magic[4] = "";
	FILE *file = fopen(path, "rb");

	if (!file) {
		snprintf(why, size, "%s; give an address, a System.map or a vmlinux",
			 strerror(errno));
		return false;
	}
	bool elf = fread(magic, 1, 4, file) == 4 && !memcmp(magic, "\177ELF", 4);
	rewind(file);
	bool found = elf ? find_in_elf(fileno(file), name, address) :
			   find_in_map(file, name, address);
	fclose(file);
	if (!found)
		snprintf(why, size, "no symbol '%s' in this %s", name,
			 elf ? "ELF file (is it stripped?)" : "System.map");
	return found;
}
