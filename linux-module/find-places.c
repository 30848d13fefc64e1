/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find-places RELEASE CONFIG <VMLINUX >FOUND: look up what the module expects of a kernel
 * (places.h) in that kernel's own type information, and write where it is, as a header.
 *
 * VMLINUX is the kernel as it runs, an ELF file with a section .BTF and the banner by which the
 * module knows that kernel again.  CONFIG has lines CONFIG_NAME=y.
 * Exit status: 0; 1 the kernel lacks something, or has it in a way that the module does not
 * know, and what is said by name; 2 usage; 3 it cannot be read as such a kernel.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "btf.h"
#include "places.h"

#include <ctype.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REGISTERS 6			/* that arguments are passed in */
#define LARGEST (1UL << 30)		/* a kernel has some tens of megabytes */

static const char *release;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "kernel %s: ", release);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* All of the standard input; NULL when that cannot be had. */
static unsigned char *read_all(size_t *size)
{
	unsigned char *data = NULL, *larger;
	size_t room = 0, got;

	for (*size = 0;; *size += got) {
		if (*size == room) {
			room = room ? 2 * room : 1UL << 24;
			larger = room <= LARGEST ? realloc(data, room) : NULL;
			if (!larger)
				break;
			data = larger;
		}
		got = fread(data + *size, 1, room - *size, stdin);
		if (got == 0) {
			if (ferror(stdin))
				break;
			return data;
		}
	}
	free(data);
	return NULL;
}

/* A section of a 64-bit ELF file, if it is one and has it. */
static const unsigned char *find_section(const unsigned char *data, size_t size,
					 const char *name, size_t *section_size)
{
	size_t length = strlen(name) + 1;
	Elf64_Shdr section, names;
	Elf64_Ehdr head;
	size_t i;

	if (size < sizeof(head) || memcmp(data, ELFMAG, SELFMAG) != 0 ||
	    data[EI_CLASS] != ELFCLASS64)
		return NULL;
	memcpy(&head, data, sizeof(head));
	if (head.e_shentsize != sizeof(section) || head.e_shoff > size ||
	    head.e_shstrndx >= head.e_shnum ||
	    head.e_shnum * sizeof(section) > size - head.e_shoff)
		return NULL;
	memcpy(&names, data + head.e_shoff + head.e_shstrndx * sizeof(names), sizeof(names));
	if (names.sh_offset > size || names.sh_size > size - names.sh_offset)
		return NULL;
	for (i = 0; i < head.e_shnum; i++) {
		memcpy(&section, data + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_name >= names.sh_size || length > names.sh_size - section.sh_name ||
		    memcmp(data + names.sh_offset + section.sh_name, name, length) != 0)
			continue;
		if (section.sh_type == SHT_NOBITS || section.sh_offset > size ||
		    section.sh_size > size - section.sh_offset)
			return NULL;
		*section_size = section.sh_size;
		return data + section.sh_offset;
	}
	return NULL;
}

/*
 * What `uname -v` says of the kernel, the end of its banner: "Linux version RELEASE
 * (user@host) (compiler, linker) #1 SMP ...".
 */
static bool find_version(const unsigned char *data, size_t size, char *version, size_t room)
{
	static const char begin[] = "Linux version ";
	size_t length = strlen(release);
	const char *at = (const char *)data, *end = at + size, *line, *number;

	while ((at = memmem(at, (size_t)(end - at), begin, sizeof(begin) - 1))) {
		at += sizeof(begin) - 1;
		if ((size_t)(end - at) <= length || memcmp(at, release, length) != 0 || at[length] != ' ')
			continue;
		line = memchr(at, '\n', (size_t)(end - at) < 1024 ? (size_t)(end - at) : 1024);
		number = line ? memmem(at, (size_t)(line - at), ") #", 3) : NULL;
		/* until it is linked, a kernel has a banner without its number, too */
		if (!number || !isdigit((unsigned char)number[3]) || (size_t)(line - number) - 2 >= room)
			continue;
		memcpy(version, number + 2, (size_t)(line - number) - 2);
		version[line - number - 2] = '\0';
		return !strpbrk(version, "\"\\") && strlen(version) == (size_t)(line - number) - 2;
	}
	return false;
}

/* Whether a word is one of several that bars separate. */
static bool is_among(const char *words, const char *word)
{
	size_t length = strlen(word);
	const char *at = words;

	while (length > 0) {
		if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == '\0'))
			return true;
		at = strchr(at, '|');
		if (!at)
			break;
		at++;
	}
	return false;
}

/* The next of several words; false after the last. */
static bool next_word(const char **words, const char *separator, char *word, size_t room)
{
	const char *end;
	size_t length;

	if (!*words)
		return false;
	end = strstr(*words, separator);
	length = end ? (size_t)(end - *words) : strlen(*words);
	if (length >= room)
		length = room - 1;
	memcpy(word, *words, length);
	word[length] = '\0';
	*words = end ? end + strlen(separator) : NULL;
	return true;
}

static bool is_type(const struct btf *btf, uint32_t type, const char *types)
{
	char c[80];

	while (next_word(&types, "|", c, sizeof(c)))
		if (btf_is(btf, type, c))
			return true;
	return false;
}

/* Where a row leads in this kernel: `arg` is each one's number from 1 on, 0 for none. */
struct found {
	bool there;			/* a function or tracepoint of that name */
	bool fits;
	unsigned int arg[PLACE_ARGS];
	char unlike[160];		/* why it does not fit */
};

static bool unlike(struct found *found, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool unlike(struct found *found, const char *format, ...)
{
	va_list arguments;
	char *c;

	va_start(arguments, format);
	vsnprintf(found->unlike, sizeof(found->unlike), format, arguments);
	va_end(arguments);
	/* it goes into a string of C's */
	for (c = found->unlike; (c = strpbrk(c, "\"\\\n")); c++)
		*c = '?';
	return false;
}

/* Whether an argument takes one register, as long as there are any. */
static bool takes_register(const struct btf *btf, uint32_t type)
{
	uint64_t size;

	return btf_size(btf, type, &size) && size > 0 && size <= 8;
}

static bool find_arg(const struct btf *btf, uint32_t proto, const struct place_arg *arg,
		     struct found *found, unsigned int *number)
{
	uint32_t i;

	*number = 0;
	for (i = 0; i < btf_parts(btf, proto); i++) {
		struct btf_part part = btf_part(btf, proto, i);

		if (!is_type(btf, part.type, arg->type) ||
		    (arg->name && !is_among(arg->name, part.name)))
			continue;
		if (*number)
			return unlike(found, "it has more than one argument of type %s", arg->type);
		*number = i + 1;
	}
	if (!*number && arg->optional)
		return true;
	if (!*number)
		return unlike(found, "it has no argument %s%sof type %s", arg->name ? arg->name : "",
			      arg->name ? " " : "", arg->type);
	if (*number > REGISTERS)
		return unlike(found, "its argument %u is not passed in a register", *number);
	for (i = 0; i < *number; i++)
		if (!takes_register(btf, btf_part(btf, proto, i).type))
			return unlike(found, "its argument %u is not passed in a register", i + 1);
	return true;
}

static bool find_function(const struct btf *btf, const struct place *place, struct found *found)
{
	uint32_t function, proto;
	char name[80], type[80];
	size_t i;

	/* of a part of a function there is no type information but the whole one's */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(place->function, "."), place->function);
	function = btf_find(btf, BTF_FUNC, name);
	if (!function)
		return unlike(found, "there is no such function");
	found->there = true;
	proto = btf_target(btf, function);
	if (place->returned && !is_type(btf, btf_target(btf, proto), place->returned)) {
		btf_write(btf, btf_target(btf, proto), type, sizeof(type));
		return unlike(found, "it returns %s and not %s", type, place->returned);
	}
	for (i = 0; i < PLACE_ARGS && place->arg[i].part; i++)
		if (!find_arg(btf, proto, &place->arg[i], found, &found->arg[i]))
			return false;
	return true;
}

/* The type of what may be attached to it, with `void *data` before the arguments. */
static bool find_tracepoint(const struct btf *btf, const struct place *place, struct found *found)
{
	const char *types = place->tracepoint;
	uint32_t type, proto, count, i = 1;
	char name[80], c[80];

	snprintf(name, sizeof(name), "btf_trace_%s", place->function);
	type = btf_find(btf, BTF_TYPEDEF, name);
	if (!type)
		return unlike(found, "there is no such tracepoint");
	found->there = true;
	proto = btf_target(btf, btf_target(btf, type));
	if (btf_kind(btf, proto) != BTF_FUNC_PROTO)
		return unlike(found, "it is none");
	count = btf_parts(btf, proto);
	while (next_word(&types, ", ", c, sizeof(c))) {
		if (i >= count || !is_type(btf, btf_part(btf, proto, i).type, c))
			return unlike(found, "its argument %u is not %s", i, c);
		i++;
	}
	if (i != count)
		return unlike(found, "it has %u arguments and not %u", count - 1, i - 1);
	return true;
}

/* Whether an event may be without a place, as the kernel is configured. */
static bool may_lack(const char *config, const char *options)
{
	char word[80], line[96];

	if (!options)
		return false;
	if (!*options)
		return true;
	while (next_word(&options, " ", word, sizeof(word))) {
		snprintf(line, sizeof(line), "\nCONFIG_%s=y\n", word);
		if (!strstr(config, line))
			return true;
	}
	return false;
}

static void write_place(const struct place *place, const struct found *found, bool optional)
{
	size_t i;

	printf("#define LPL_AT_%s .event = \"%s\", .name = \"%s\"",
	       place->id ? place->id : place->function, place->event, place->function);
	if (optional)
		printf(", .optional = true");
	if (!found->fits)
		printf(", .unlike = \"%s\"", found->unlike);
	for (i = 0; found->fits && i < PLACE_ARGS; i++)
		if (found->arg[i])
			printf(", .arg[LPL_ARG_%s] = %u", place->arg[i].part, found->arg[i]);
	putchar('\n');
}

/* Whether a part was in the table before row `row`, argument `column`. */
static bool is_seen(const char *part, size_t row, size_t column)
{
	size_t i, j;

	for (i = 0; i <= row; i++)
		for (j = 0; j < (i < row ? PLACE_ARGS : column) && places[i].arg[j].part; j++)
			if (strcmp(places[i].arg[j].part, part) == 0)
				return true;
	return false;
}

/* The parts that arguments play, each once. */
static void write_parts(void)
{
	size_t i, j;

	printf("enum lpl_part {\n");
	for (i = 0; i < COUNT(places); i++)
		for (j = 0; j < PLACE_ARGS && places[i].arg[j].part; j++)
			if (!is_seen(places[i].arg[j].part, i, j))
				printf("\tLPL_ARG_%s,\n", places[i].arg[j].part);
	printf("\tLPL_ARGS\n};\n");
}

/* The rows of an event, which follow one another: whether it has a place. */
static bool check_event(const struct found *found, size_t first, size_t end, const char *config)
{
	bool there = false;
	size_t i;

	for (i = first; i < end; i++) {
		if (found[i].fits)
			return true;
		there = there || found[i].there;
	}
	if (!there && may_lack(config, places[first].config))
		return true;
	for (i = first; i < end; i++)
		say("%s: %s", places[i].function, found[i].unlike);
	if (places[first].choice) {
		say("so the module knows no place where it could see %s: events=%s cannot be chosen",
		    places[first].event, places[first].choice);
		return true;
	}
	say("so the module knows no place where it could see %s", places[first].event);
	return false;
}

static bool find_places(const struct btf *btf, const char *config)
{
	struct found found[COUNT(places)];
	size_t i, first = 0;
	bool good = true;

	memset(found, 0, sizeof(found));
	for (i = 0; i < COUNT(places); i++) {
		found[i].fits = places[i].tracepoint ? find_tracepoint(btf, &places[i], &found[i]) :
						       find_function(btf, &places[i], &found[i]);
		write_place(&places[i], &found[i], may_lack(config, places[i].config));
	}
	for (i = 1; i <= COUNT(places); i++) {
		if (i < COUNT(places) && strcmp(places[i].event, places[first].event) == 0)
			continue;
		good = check_event(found, first, i, config) && good;
		first = i;
	}
	return good;
}

/* Where a member is in this kernel. */
struct found_member {
	bool there;
	char structure[80];
	uint64_t offset, size;
};

static bool find_member(const struct btf *btf, const struct place_member *wanted,
			struct found_member *found)
{
	const char *structures = wanted->structure;
	struct btf_part part;
	uint32_t id = 0;
	char type[80];

	while (!id && next_word(&structures, "|", found->structure, sizeof(found->structure)))
		id = btf_find(btf, BTF_STRUCT, found->structure);
	found->there = id && btf_member(btf, id, wanted->member, &part);
	if (!found->there) {
		if (wanted->optional)
			return true;
		if (id)
			say("struct %s has no member %s", found->structure, wanted->member);
		else
			say("there is no struct %s", wanted->structure);
		return false;
	}
	if (part.bits || part.bit % 8 || !btf_size(btf, part.type, &found->size)) {
		say("struct %s's member %s has no address or no size", found->structure, wanted->member);
		return false;
	}
	if (wanted->type && !is_type(btf, part.type, wanted->type)) {
		btf_write(btf, part.type, type, sizeof(type));
		say("struct %s's member %s is of type %s and not %s", found->structure, wanted->member,
		    type, wanted->type);
		return false;
	}
	found->offset = part.bit / 8;
	return true;
}

static bool find_members(const struct btf *btf)
{
	struct found_member found[COUNT(place_members)];
	bool good = true;
	size_t i;

	memset(found, 0, sizeof(found));
	for (i = 0; i < COUNT(place_members); i++) {
		good = find_member(btf, &place_members[i], &found[i]) && good;
		if (place_members[i].private)
			printf("#define LPL_OFFSET_%s_%s %llu\n", found[i].structure,
			       place_members[i].member, (unsigned long long)found[i].offset);
		if (place_members[i].optional)
			printf("#define LPL_HAS_%s_%s %d\n", found[i].structure, place_members[i].member,
			       found[i].there);
	}
	printf("#define LPL_MEMBERS(AT)");
	for (i = 0; i < COUNT(place_members); i++)
		if (found[i].there && !place_members[i].private)
			printf(" \\\n\tAT(%s, %s, %llu, %llu)", found[i].structure,
			       place_members[i].member, (unsigned long long)found[i].offset,
			       (unsigned long long)found[i].size);
	putchar('\n');
	return good;
}

/* The lines of a file, with one more line's end before the first. */
static char *read_config(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL, *lines;
	size_t room = 0;
	ssize_t length;

	if (!file)
		return NULL;
	length = getdelim(&text, &room, '\0', file);
	fclose(file);
	if (length < 0) {
		free(text);
		return NULL;
	}
	if (asprintf(&lines, "\n%s", text) < 0)
		lines = NULL;
	free(text);
	return lines;
}

/* All that is to be found, from the vmlinux in memory; returns the exit status. */
static int find(const unsigned char *data, size_t size, const char *config)
{
	const unsigned char *types;
	size_t types_size = 0;
	char version[256];
	struct btf btf;
	bool good;

	if (!find_version(data, size, version, sizeof(version))) {
		say("its image cannot be read, or is of another kernel: it has no such banner");
		return 3;
	}
	types = find_section(data, size, ".BTF", &types_size);
	if (!types) {
		say("it has no type information (CONFIG_DEBUG_INFO_BTF), without which the module "
		    "would have to guess");
		return 1;
	}
	if (!btf_open(&btf, types, types_size)) {
		say("its type information cannot be read: %s", btf.problem);
		return 3;
	}
	printf("/* Where things are in Linux %s (find-places.c). */\n", release);
	printf("#define LPL_KERNEL_VERSION \"%s\"\n", version);
	write_parts();
	good = find_places(&btf, config);
	good = find_members(&btf) && good;
	btf_close(&btf);
	if (fflush(stdout) || ferror(stdout)) {
		say("what was found cannot be written");
		return 1;
	}
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	unsigned char *data = NULL;
	char *config;
	int status = 3;
	size_t size;

	if (argc != 3) {
		fprintf(stderr, "usage: find-places RELEASE CONFIG <VMLINUX >FOUND\n");
		return 2;
	}
	release = argv[1];
	config = read_config(argv[2]);
	if (!config)
		say("%s cannot be read", argv[2]);
	else if (!(data = read_all(&size)))
		say("its image cannot be read");
	else
		status = find(data, size, config);
	free(data);
	free(config);
	return status;
}
