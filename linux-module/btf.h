/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading BTF, the description that a kernel carries of its own types and functions
 * (Documentation/bpf/btf.rst in the kernel's sources).
 *
 * btf_open() looks at every type once; after it, whatever a type refers to is there.
 */
#ifndef LAPLACE_BTF_H
#define LAPLACE_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum btf_kind {
	BTF_VOID,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KINDS
};

/* What btf_open() was given has to stay. */
struct btf {
	const unsigned char *types;
	const char *strings;
	size_t strings_size;
	const unsigned char **type;	/* by number; 0 is void */
	uint32_t count;
	char problem[160];		/* why it could not be opened */
};

bool btf_open(struct btf *btf, const void *data, size_t size);
void btf_close(struct btf *btf);

/* A type's kind, name ("" for none), and what it refers to or returns. */
enum btf_kind btf_kind(const struct btf *btf, uint32_t type);
const char *btf_name(const struct btf *btf, uint32_t type);
uint32_t btf_target(const struct btf *btf, uint32_t type);

/* The first of a kind and name; 0: there is none. */
uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name);

/* Its size in bytes, and whether it has one that is known. */
bool btf_size(const struct btf *btf, uint32_t type, uint64_t *size);

/* How many parameters or members it has, and one of them. */
struct btf_part {
	const char *name;
	uint32_t type;
	uint64_t bit;			/* of a member, within the structure */
	uint32_t bits;			/* of a bit field, or 0 */
};

uint32_t btf_parts(const struct btf *btf, uint32_t type);
struct btf_part btf_part(const struct btf *btf, uint32_t type, uint32_t index);

/* A structure's or union's member, also one of a structure without a name in it. */
bool btf_member(const struct btf *btf, uint32_t type, const char *name, struct btf_part *member);

/*
 * Whether a type is the one that is written as in C: "struct mm_struct *", "pte_t", "unsigned
 * long", "bool", "void".  Qualifiers do not count, and a typedef is also what it stands for.
 */
bool btf_is(const struct btf *btf, uint32_t type, const char *c);

/* The type as it is written in C, without qualifiers. */
void btf_write(const struct btf *btf, uint32_t type, char *text, size_t room);

#endif
