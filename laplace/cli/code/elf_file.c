/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file's headers.  Each part is read after it was seen to lie in the file; nothing is mapped,
 * as a file may become shorter meanwhile.
 */
#include "elf_file.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES	(UINT64_C(256) << 20)	/* of a table */

const char elf_no_memory[] = "takes more memory than there is";

void *elf_file_part(struct elf_file *file, uint64_t at, uint64_t size)
{
	char *part;
	size_t got = 0;

	if (at > file->size || size > file->size - at) {
		file->why = "is damaged: a table lies beyond its end";
		return NULL;
	}
	if (size > MOST_BYTES) {
		file->why = "is damaged: a table has more than 256 MiB";
		return NULL;
	}
	part = malloc(size + 1);
	if (!part) {
		file->why = elf_no_memory;
		return NULL;
	}
	while (got < size) {
		const ssize_t now = pread(file->fd, part + got, size - got, (off_t)(at + got));

		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0) {
			file->why = "cannot be read";
			free(part);
			return NULL;
		}
		got += (size_t)now;
	}
	part[size] = '\0';
	return part;
}

static bool read_header(struct elf_file *file)
{
	static const unsigned char magic[] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3 };
	unsigned char *bytes = elf_file_part(file, 0, file->size < sizeof(Elf64_Ehdr) ?
					 sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr));
	const Elf64_Ehdr *header = (void *)bytes;
	const Elf32_Ehdr *header_32 = (void *)bytes;
	uint16_t type, segment, section;

	if (!bytes || memcmp(bytes, magic, sizeof(magic)) != 0 || bytes[EI_DATA] != ELFDATA2LSB) {
		file->why = "is no ELF file of a PC";
		free(bytes);
		return false;
	}
	file->is_64 = bytes[EI_CLASS] == ELFCLASS64 && file->size >= sizeof(*header);
	type = le16toh(header->e_type);
	if (file->is_64) {
		file->segments_at = le64toh(header->e_phoff);
		file->sections_at = le64toh(header->e_shoff);
		file->segments = le16toh(header->e_phnum);
		file->sections = le16toh(header->e_shnum);
		file->names = le16toh(header->e_shstrndx);
		segment = le16toh(header->e_phentsize);
		section = le16toh(header->e_shentsize);
	} else {
		file->segments_at = le32toh(header_32->e_phoff);
		file->sections_at = le32toh(header_32->e_shoff);
		file->segments = le16toh(header_32->e_phnum);
		file->sections = le16toh(header_32->e_shnum);
		file->names = le16toh(header_32->e_shstrndx);
		segment = le16toh(header_32->e_phentsize);
		section = le16toh(header_32->e_shentsize);
	}
	free(bytes);
	if (type != ET_EXEC && type != ET_DYN)
		file->why = "is neither a program nor a shared object";
	else if ((file->segments &&
		  segment != (file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) ||
		 (file->sections &&
		  section != (file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))))
		file->why = "is damaged: its headers have another size";
	return !file->why;
}

static struct elf_section section_of(const struct elf_file *file, const unsigned char *bytes,
				     size_t i)
{
	const Elf64_Shdr *header = (const void *)bytes;
	const Elf32_Shdr *header_32 = (const void *)bytes;

	header += i;
	header_32 += i;
	if (file->is_64)
		return (struct elf_section){
			.name = le32toh(header->sh_name), .type = le32toh(header->sh_type),
			.link = le32toh(header->sh_link), .flags = le64toh(header->sh_flags),
			.address = le64toh(header->sh_addr), .offset = le64toh(header->sh_offset),
			.size = le64toh(header->sh_size), .entry = le64toh(header->sh_entsize)
		};
	return (struct elf_section){
		.name = le32toh(header_32->sh_name), .type = le32toh(header_32->sh_type),
		.link = le32toh(header_32->sh_link), .flags = le32toh(header_32->sh_flags),
		.address = le32toh(header_32->sh_addr), .offset = le32toh(header_32->sh_offset),
		.size = le32toh(header_32->sh_size), .entry = le32toh(header_32->sh_entsize)
	};
}

static bool read_sections(struct elf_file *file)
{
	const size_t size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	unsigned char *bytes = elf_file_part(file, file->sections_at, file->sections * size);

	file->section = bytes ? calloc((size_t)file->sections + 1, sizeof(*file->section)) : NULL;
	if (bytes && !file->section)
		file->why = elf_no_memory;
	for (uint32_t i = 0; file->section && i < file->sections; i++)
		file->section[i] = section_of(file, bytes, i);
	free(bytes);
	return !file->why;
}

bool elf_file_open(struct elf_file *file, int fd)
{
	struct stat about;

	*file = (struct elf_file){ .fd = fd };
	if (fstat(fd, &about)) {
		file->why = "cannot be read";
		return false;
	}
	file->size = about.st_size > 0 ? (uint64_t)about.st_size : 0;
	return read_header(file) && read_sections(file);
}

void elf_file_close(struct elf_file *file)
{
	free(file->section);
}
