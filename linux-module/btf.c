/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading BTF: see btf.h. */
#include "btf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BTF_MAGIC 0xeb9f
#define BTF_HEADER 24			/* bytes of it that are known */
#define BTF_TYPE 12			/* before what a kind adds */
#define BTF_INT_SIGNED 1
#define BTF_INT_BOOL 4

/* Qualifiers, typedefs and structures in one another: no kernel has as many; it ends a circle. */
#define BTF_DEPTH 64

static uint32_t read32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static enum btf_kind kind_at(const unsigned char *at)
{
	return (enum btf_kind)(at[7] & 31);
}

static uint32_t parts_at(const unsigned char *at)
{
	return (uint32_t)at[4] | (uint32_t)at[5] << 8;
}

/* The bytes that one part of this kind takes, after a head of its own. */
static size_t part_size(enum btf_kind kind)
{
	switch (kind) {
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_DATASEC:
	case BTF_ENUM64:
		return 12;
	case BTF_ENUM:
	case BTF_FUNC_PROTO:
		return 8;
	default:
		return 0;
	}
}

static size_t head_size(enum btf_kind kind)
{
	switch (kind) {
	case BTF_INT:
	case BTF_VAR:
	case BTF_DECL_TAG:
		return BTF_TYPE + 4;
	case BTF_ARRAY:
		return BTF_TYPE + 12;
	default:
		return BTF_TYPE;
	}
}

/* Whether the word after a type's name is another type, and not a size. */
static bool has_target(enum btf_kind kind)
{
	switch (kind) {
	case BTF_PTR:
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_FUNC:
	case BTF_FUNC_PROTO:
	case BTF_VAR:
	case BTF_DECL_TAG:
	case BTF_TYPE_TAG:
		return true;
	default:
		return false;
	}
}

static bool refuse(struct btf *btf, const char *what, size_t offset)
{
	snprintf(btf->problem, sizeof(btf->problem), "%s, at byte %zu of its types", what, offset);
	btf_close(btf);
	return false;
}

/* Where each type begins. */
static bool find_types(struct btf *btf, size_t size)
{
	const unsigned char *at = btf->types;
	size_t left = size, room = 0, bytes;

	while (left > 0) {
		if (left < BTF_TYPE || kind_at(at) == BTF_VOID || kind_at(at) >= BTF_KINDS)
			return refuse(btf, left < BTF_TYPE ? "it is cut off" : "it is of no known kind",
				      size - left);
		bytes = head_size(kind_at(at)) + parts_at(at) * part_size(kind_at(at));
		if (bytes > left)
			return refuse(btf, "it is cut off", size - left);
		if (btf->count + 1 >= room) {
			const unsigned char **type;

			room = room ? 2 * room : 1024;
			type = realloc(btf->type, room * sizeof(*type));
			if (!type)
				return refuse(btf, "there is not enough memory", size - left);
			btf->type = type;
		}
		btf->type[++btf->count] = at;
		at += bytes;
		left -= bytes;
	}
	return btf->count > 0 || refuse(btf, "it has none", 0);
}

static bool is_sound_part(const struct btf *btf, enum btf_kind kind, const unsigned char *part)
{
	switch (kind) {
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_FUNC_PROTO:
		return read32(part) < btf->strings_size && read32(part + 4) <= btf->count;
	case BTF_ENUM:
	case BTF_ENUM64:
		return read32(part) < btf->strings_size;
	case BTF_DATASEC:
		return read32(part) <= btf->count;
	default:
		return true;
	}
}

/* Whether all that a type names is there. */
static bool is_sound(const struct btf *btf, const unsigned char *at)
{
	enum btf_kind kind = kind_at(at);
	uint32_t i;

	if (read32(at) >= btf->strings_size || (has_target(kind) && read32(at + 8) > btf->count))
		return false;
	if (kind == BTF_ARRAY && (read32(at + 12) > btf->count || read32(at + 16) > btf->count))
		return false;
	/* a function is nothing without its prototype */
	if (kind == BTF_FUNC && btf_kind(btf, read32(at + 8)) != BTF_FUNC_PROTO)
		return false;
	for (i = 0; i < parts_at(at); i++)
		if (!is_sound_part(btf, kind, at + head_size(kind) + i * part_size(kind)))
			return false;
	return true;
}

bool btf_open(struct btf *btf, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t header, types, types_size, strings, strings_size;
	uint32_t i;

	memset(btf, 0, sizeof(*btf));
	if (size < BTF_HEADER || bytes[0] != (BTF_MAGIC & 0xff) || bytes[1] != BTF_MAGIC >> 8)
		return refuse(btf, "it does not begin as BTF does", 0);
	header = read32(bytes + 4);
	types = read32(bytes + 8);
	types_size = read32(bytes + 12);
	strings = read32(bytes + 16);
	strings_size = read32(bytes + 20);
	if (bytes[2] != 1 || header < BTF_HEADER || header > size ||
	    types + types_size > size - header ||
	    strings + strings_size > size - header)
		return refuse(btf, "its header is damaged, or of a later version", 0);
	btf->types = bytes + header + types;
	btf->strings = (const char *)bytes + header + strings;
	btf->strings_size = strings_size;
	if (strings_size == 0 || btf->strings[0] != '\0' || btf->strings[strings_size - 1] != '\0')
		return refuse(btf, "its names are damaged", 0);
	if (!find_types(btf, types_size))
		return false;
	for (i = 1; i <= btf->count; i++)
		if (!is_sound(btf, btf->type[i]))
			return refuse(btf, "it refers to what is not there",
				      (size_t)(btf->type[i] - btf->types));
	return true;
}

void btf_close(struct btf *btf)
{
	free(btf->type);
	btf->type = NULL;
	btf->count = 0;
}

enum btf_kind btf_kind(const struct btf *btf, uint32_t type)
{
	return type ? kind_at(btf->type[type]) : BTF_VOID;
}

const char *btf_name(const struct btf *btf, uint32_t type)
{
	return type ? btf->strings + read32(btf->type[type]) : "";
}

uint32_t btf_target(const struct btf *btf, uint32_t type)
{
	return has_target(btf_kind(btf, type)) ? read32(btf->type[type] + 8) : 0;
}

uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name)
{
	uint32_t i;

	for (i = 1; i <= btf->count; i++)
		if (btf_kind(btf, i) == kind && strcmp(btf_name(btf, i), name) == 0)
			return i;
	return 0;
}

static bool is_qualifier(enum btf_kind kind)
{
	return kind == BTF_CONST || kind == BTF_VOLATILE || kind == BTF_RESTRICT ||
	       kind == BTF_TYPE_TAG;
}

/* Without qualifiers, and with `through` without typedefs. */
static uint32_t bare(const struct btf *btf, uint32_t type, bool through)
{
	int depth;

	for (depth = 0; depth < BTF_DEPTH; depth++) {
		if (!is_qualifier(btf_kind(btf, type)) &&
		    !(through && btf_kind(btf, type) == BTF_TYPEDEF))
			return type;
		type = btf_target(btf, type);
	}
	return 0;
}

static bool size_within(const struct btf *btf, uint32_t type, uint64_t *size, int depth)
{
	const unsigned char *at;

	type = bare(btf, type, true);
	if (type == 0 || depth == 0)
		return false;
	at = btf->type[type];
	switch (kind_at(at)) {
	case BTF_INT:
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_FLOAT:
		*size = read32(at + 8);
		return true;
	case BTF_PTR:
		*size = 8;
		return true;
	case BTF_ARRAY:
		if (!size_within(btf, read32(at + 12), size, depth - 1))
			return false;
		*size *= read32(at + 20);
		return true;
	default:
		return false;
	}
}

bool btf_size(const struct btf *btf, uint32_t type, uint64_t *size)
{
	return size_within(btf, type, size, BTF_DEPTH);
}

uint32_t btf_parts(const struct btf *btf, uint32_t type)
{
	return type ? parts_at(btf->type[type]) : 0;
}

struct btf_part btf_part(const struct btf *btf, uint32_t type, uint32_t index)
{
	const unsigned char *at = btf->type[type];
	enum btf_kind kind = kind_at(at);
	const unsigned char *part = at + head_size(kind) + index * part_size(kind);
	struct btf_part found = {
		.name = btf->strings + read32(part),
		.type = read32(part + 4),
	};

	if (kind != BTF_STRUCT && kind != BTF_UNION)
		return found;
	found.bit = read32(part + 8);
	if (at[7] & 128) {		/* the structure has bit fields */
		found.bits = (uint32_t)found.bit >> 24;
		found.bit &= 0xffffff;
	}
	return found;
}

/* `left` is how many members are still looked at: structures in a circle have no end. */
static bool member_within(const struct btf *btf, uint32_t type, const char *name,
			  struct btf_part *member, uint32_t *left, int depth)
{
	enum btf_kind kind = btf_kind(btf, type);
	struct btf_part part;
	uint32_t i;

	if ((kind != BTF_STRUCT && kind != BTF_UNION) || depth == 0)
		return false;
	for (i = 0; i < btf_parts(btf, type) && *left > 0; i++) {
		(*left)--;
		part = btf_part(btf, type, i);
		if (strcmp(part.name, name) == 0) {
			*member = part;
			return true;
		}
		if (part.name[0] == '\0' &&
		    member_within(btf, bare(btf, part.type, false), name, member, left, depth - 1)) {
			member->bit += part.bit;
			return true;
		}
	}
	return false;
}

bool btf_member(const struct btf *btf, uint32_t type, const char *name, struct btf_part *member)
{
	uint32_t left = UINT16_MAX;

	return member_within(btf, type, name, member, &left, BTF_DEPTH);
}

static bool is_named(const char *name, const char *c, size_t length)
{
	return strlen(name) == length && memcmp(name, c, length) == 0;
}

/* C's integers, which compilers call by several names: what they are. */
static bool is_int(const struct btf *btf, uint32_t type, const char *c, size_t length)
{
	static const struct {
		const char *name;
		uint32_t size;
		unsigned int encoding;
	} known[] = {
		{ "int", 4, BTF_INT_SIGNED }, { "unsigned int", 4, 0 },
		{ "long", 8, BTF_INT_SIGNED }, { "unsigned long", 8, 0 },
		{ "bool", 1, BTF_INT_BOOL },
	};
	uint32_t detail = read32(btf->type[type] + BTF_TYPE);
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length && memcmp(known[i].name, c, length) == 0)
			return read32(btf->type[type] + 8) == known[i].size &&
			       (detail & 0xff) == 8 * known[i].size &&
			       (detail >> 24 & 15) == known[i].encoding;
	return is_named(btf_name(btf, type), c, length);
}

static bool is_within(const struct btf *btf, uint32_t type, const char *c, size_t length, int depth)
{
	static const struct {
		enum btf_kind kind;
		const char *word;
	} tagged[] = {
		{ BTF_STRUCT, "struct " }, { BTF_FWD, "struct " }, { BTF_UNION, "union " },
		{ BTF_ENUM, "enum " },
	};
	size_t i, word;

	type = bare(btf, type, false);
	if (depth == 0)
		return false;
	if (length > 0 && c[length - 1] == '*') {
		length--;
		while (length > 0 && c[length - 1] == ' ')
			length--;
		type = bare(btf, type, true);
		return btf_kind(btf, type) == BTF_PTR &&
		       is_within(btf, btf_target(btf, type), c, length, depth - 1);
	}
	switch (btf_kind(btf, type)) {
	case BTF_VOID:
		return is_named("void", c, length);
	case BTF_TYPEDEF:
		return is_named(btf_name(btf, type), c, length) ||
		       is_within(btf, btf_target(btf, type), c, length, depth - 1);
	case BTF_INT:
		return is_int(btf, type, c, length);
	default:
		break;
	}
	for (i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++) {
		word = strlen(tagged[i].word);
		if (btf_kind(btf, type) == tagged[i].kind && length > word &&
		    memcmp(c, tagged[i].word, word) == 0)
			return is_named(btf_name(btf, type), c + word, length - word);
	}
	return false;
}

bool btf_is(const struct btf *btf, uint32_t type, const char *c)
{
	return is_within(btf, type, c, strlen(c), BTF_DEPTH);
}

void btf_write(const struct btf *btf, uint32_t type, char *text, size_t room)
{
	static const char *const word[BTF_KINDS] = {
		[BTF_STRUCT] = "struct ", [BTF_UNION] = "union ", [BTF_ENUM] = "enum ",
		[BTF_FWD] = "struct ",
	};
	char stars[BTF_DEPTH + 2] = "";
	size_t count = 0;
	const char *name;

	type = bare(btf, type, false);
	while (btf_kind(btf, type) == BTF_PTR && count < BTF_DEPTH) {
		stars[count++] = '*';
		type = bare(btf, btf_target(btf, type), false);
	}
	name = btf_name(btf, type);
	if (btf_kind(btf, type) == BTF_VOID)
		name = "void";
	else if (name[0] == '\0')
		name = btf_kind(btf, type) == BTF_FUNC_PROTO ? "(function)" : "(without a name)";
	snprintf(text, room, "%s%s%s%s",
		 word[btf_kind(btf, type)] ? word[btf_kind(btf, type)] : "", name,
		 count ? " " : "", stars);
}
