/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of a kernel's type information (linux-module/btf.h), with what is written here byte
 * by byte, as the kernel's documentation has it: what it says, and that nothing damaged is followed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* with it: its object would lie among what guests are made from */
#include "../../linux-module/btf.c"	/* NOLINT(bugprone-suspicious-include) */

#include <stdlib.h>
#include <string.h>

#define ROOM 1024

struct image {
	unsigned char types[ROOM], bytes[2 * ROOM];
	size_t types_size, size;
	char strings[ROOM];
	uint32_t strings_size;
};

static void put(struct image *image, uint32_t word)
{
	int i;

	for (i = 0; i < 4; i++)
		image->types[image->types_size++] = (unsigned char)(word >> 8 * i);
}

/* A name's place, of which there is one for each use. */
static uint32_t name(struct image *image, const char *text)
{
	uint32_t at = image->strings_size;

	if (!*text)
		return 0;
	strcpy(image->strings + at, text);
	image->strings_size += (uint32_t)strlen(text) + 1;
	return at;
}

static void type(struct image *image, const char *text, uint32_t kind, uint32_t parts, uint32_t word)
{
	put(image, name(image, text));
	put(image, kind << 24 | parts);
	put(image, word);
}

static void part(struct image *image, const char *text, uint32_t of)
{
	put(image, name(image, text));
	put(image, of);
}

/* Header, types, names, one after the other. */
static void finish(struct image *image)
{
	const uint32_t word[] = { 0x0001eb9f, 24, 0, (uint32_t)image->types_size,
				  (uint32_t)image->types_size, image->strings_size };
	size_t i;

	for (i = 0; i < 24; i++)
		image->bytes[i] = (unsigned char)(word[i / 4] >> i % 4 * 8);
	memcpy(image->bytes + 24, image->types, image->types_size);
	memcpy(image->bytes + 24 + image->types_size, image->strings, image->strings_size);
	image->size = 24 + image->types_size + image->strings_size;
}

enum {
	LONG = 1, BOOL, NUMBER, MM, MM_POINTER, INNER, VMA, VMA_CONST, VMA_POINTER, PROTO, UNMAP, ARRAY,
	OTHER, FLAGS, TAG, TYPES
};

/*
 * typedef unsigned long number;
 * struct mm { long; };  struct vma { number start; const struct { struct mm *mm; _Bool bit : 1; }; };
 * bool unmap(struct mm *mm, const struct vma *vma, number end);  struct vma array[3];
 */
static void build(struct image *image)
{
	memset(image, 0, sizeof(*image));
	image->strings_size = 1;
	type(image, "long unsigned int", BTF_INT, 0, 8);
	put(image, 64);
	type(image, "_Bool", BTF_INT, 0, 1);
	put(image, 4U << 24 | 8);
	type(image, "number", BTF_TYPEDEF, 0, LONG);
	type(image, "mm", BTF_STRUCT, 1, 8);
	part(image, "", LONG);
	put(image, 0);
	type(image, "", BTF_PTR, 0, MM);
	type(image, "", BTF_STRUCT, 2 | 1U << 31, 16);
	part(image, "mm", MM_POINTER);
	put(image, 0);
	part(image, "bit", BOOL);
	put(image, 1U << 24 | 64);
	type(image, "vma", BTF_STRUCT, 2, 24);
	part(image, "start", NUMBER);
	put(image, 0);
	part(image, "", INNER);
	put(image, 64);
	type(image, "", BTF_CONST, 0, VMA);
	type(image, "", BTF_PTR, 0, VMA_CONST);
	type(image, "", BTF_FUNC_PROTO, 3, BOOL);
	part(image, "mm", MM_POINTER);
	part(image, "vma", VMA_POINTER);
	part(image, "end", NUMBER);
	type(image, "unmap", BTF_FUNC, 1, PROTO);
	type(image, "", BTF_ARRAY, 0, 0);
	put(image, VMA);
	put(image, LONG);
	put(image, 3);
	type(image, "other", BTF_FWD, 0, 0);
	type(image, "flags", BTF_ENUM, 1, 4);
	part(image, "FLAG", 1);
	type(image, "tag", BTF_DECL_TAG, 0, UNMAP);
	put(image, 0);
	finish(image);
}

static void test_whole(void **state)
{
	struct image image;
	struct btf_part found;
	uint64_t size;
	struct btf btf;
	char text[40];

	(void)state;
	build(&image);
	assert_true(btf_open(&btf, image.bytes, image.size));
	assert_int_equal(btf.count, TYPES - 1);
	assert_int_equal(btf_find(&btf, BTF_FUNC, "unmap"), UNMAP);
	assert_int_equal(btf_find(&btf, BTF_STRUCT, "unmap"), 0);
	assert_int_equal(btf_target(&btf, UNMAP), PROTO);
	assert_true(btf_is(&btf, btf_target(&btf, PROTO), "bool"));
	assert_int_equal(btf_parts(&btf, PROTO), 3);
	found = btf_part(&btf, PROTO, 1);
	assert_string_equal(found.name, "vma");
	assert_true(btf_is(&btf, found.type, "struct vma *"));
	assert_false(btf_is(&btf, found.type, "struct vma"));
	assert_false(btf_is(&btf, found.type, "struct vma **"));
	assert_false(btf_is(&btf, found.type, "struct mm *"));
	assert_false(btf_is(&btf, found.type, "union vma *"));
	found = btf_part(&btf, PROTO, 2);
	assert_true(btf_is(&btf, found.type, "number"));
	assert_true(btf_is(&btf, found.type, "unsigned long"));
	assert_false(btf_is(&btf, found.type, "long"));
	assert_false(btf_is(&btf, found.type, "unsigned int"));
	assert_true(btf_is(&btf, 0, "void"));
	assert_true(btf_is(&btf, OTHER, "struct other"));
	assert_true(btf_is(&btf, FLAGS, "enum flags"));

	assert_true(btf_member(&btf, VMA, "start", &found));
	assert_int_equal(found.bit, 0);
	assert_true(btf_member(&btf, VMA, "mm", &found));
	assert_int_equal(found.bit, 64);
	assert_int_equal(found.bits, 0);
	assert_true(btf_is(&btf, found.type, "struct mm *"));
	assert_true(btf_member(&btf, VMA, "bit", &found));
	assert_int_equal(found.bit, 128);
	assert_int_equal(found.bits, 1);
	assert_false(btf_member(&btf, VMA, "end", &found));
	assert_false(btf_member(&btf, LONG, "start", &found));
	assert_true(btf_size(&btf, VMA_CONST, &size) && size == 24);
	assert_true(btf_size(&btf, ARRAY, &size) && size == 72);
	assert_true(btf_size(&btf, VMA_POINTER, &size) && size == 8);
	assert_false(btf_size(&btf, PROTO, &size));
	assert_false(btf_size(&btf, OTHER, &size));
	btf_write(&btf, VMA_POINTER, text, sizeof(text));
	assert_string_equal(text, "struct vma *");
	btf_write(&btf, 0, text, sizeof(text));
	assert_string_equal(text, "void");
	btf_close(&btf);
}

/* Ask all that can be asked; `bytes` end where a reader's own memory does. */
static bool ask(const unsigned char *bytes, size_t size)
{
	unsigned char *exact = malloc(size ? size : 1);
	struct btf_part found;
	uint64_t bytes_of;
	struct btf btf;
	char text[40];
	uint32_t i, j;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	if (!btf_open(&btf, exact, size)) {
		assert_true(strlen(btf.problem) > 0);
		free(exact);
		return false;
	}
	for (i = 0; i <= btf.count; i++) {
		enum btf_kind kind = btf_kind(&btf, i);

		(void)btf_find(&btf, kind, btf_name(&btf, i));
		(void)btf_size(&btf, i, &bytes_of);
		(void)btf_is(&btf, i, "struct vma *");
		(void)btf_is(&btf, btf_target(&btf, i), "unsigned long");
		(void)btf_member(&btf, i, "nothing", &found);
		btf_write(&btf, i, text, sizeof(text));
		if (kind != BTF_STRUCT && kind != BTF_UNION && kind != BTF_FUNC_PROTO)
			continue;
		for (j = 0; j < btf_parts(&btf, i); j++) {
			found = btf_part(&btf, i, j);
			(void)strlen(found.name);
			(void)btf_kind(&btf, found.type);
		}
	}
	btf_close(&btf);
	free(exact);
	return true;
}

static void test_cut_off(void **state)
{
	struct image image;
	size_t size;

	(void)state;
	build(&image);
	assert_true(ask(image.bytes, image.size));
	for (size = 0; size < image.size; size++)
		assert_false(ask(image.bytes, size));
	/* more after it is no damage: a section may be padded */
	assert_true(ask(image.bytes, image.size + 8));
}

static void test_any_byte(void **state)
{
	const unsigned char change[] = { 0x01, 0x02, 0x10, 0x20, 0x80, 0xff };
	struct image image;
	size_t i, j;

	(void)state;
	build(&image);
	for (i = 0; i < image.size; i++) {
		for (j = 0; j < sizeof(change); j++) {
			image.bytes[i] ^= change[j];
			(void)ask(image.bytes, image.size);
			image.bytes[i] ^= change[j];
		}
	}
}

/* What refers to what is not there, each in turn. */
static void test_dangling(void **state)
{
	static const struct {
		uint32_t kind, parts, word, more[3];
		size_t count;
	} bad[] = {
		{ BTF_PTR, 0, 3, { 0 }, 0 },
		{ BTF_TYPEDEF, 0, UINT32_MAX, { 0 }, 0 },
		{ BTF_FUNC, 0, 1, { 0 }, 0 },		/* no prototype */
		{ BTF_FUNC, 0, 0, { 0 }, 0 },
		{ BTF_ARRAY, 0, 0, { 3, 1, 1 }, 3 },
		{ BTF_ARRAY, 0, 0, { 1, 3, 1 }, 3 },
		{ BTF_STRUCT, 1, 8, { 0, 3, 0 }, 3 },
		{ BTF_STRUCT, 1, 8, { 10000, 1, 0 }, 3 },
		{ BTF_FUNC_PROTO, 1, 0, { 0, 3 }, 2 },
		{ BTF_FUNC_PROTO, 2, 0, { 0, 1 }, 2 },	/* the second is missing */
		{ BTF_KINDS, 0, 0, { 0 }, 0 },
		{ BTF_VOID, 0, 0, { 0 }, 0 },
	};
	struct image image;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&image, 0, sizeof(image));
		image.strings_size = 1;
		type(&image, "int", BTF_INT, 0, 4);
		put(&image, 1U << 24 | 32);
		type(&image, "", bad[i].kind, bad[i].parts, bad[i].word);
		for (j = 0; j < bad[i].count; j++)
			put(&image, bad[i].more[j]);
		finish(&image);
		assert_false(ask(image.bytes, image.size));
	}
}

/* Types that contain themselves: every question has an answer. */
static void test_circles(void **state)
{
	static const uint32_t kinds[] = { BTF_PTR, BTF_TYPEDEF, BTF_CONST, BTF_TYPE_TAG };
	struct image image;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		memset(&image, 0, sizeof(image));
		image.strings_size = 1;
		type(&image, "a", kinds[i], 0, 2);
		type(&image, "b", kinds[i], 0, 1);
		finish(&image);
		assert_true(ask(image.bytes, image.size));
	}
	memset(&image, 0, sizeof(image));
	image.strings_size = 1;
	type(&image, "", BTF_STRUCT, 4, 8);
	for (i = 0; i < 4; i++) {
		part(&image, "", 1);
		put(&image, 0);
	}
	type(&image, "", BTF_ARRAY, 0, 0);
	put(&image, 2);
	put(&image, 2);
	put(&image, 2);
	finish(&image);
	assert_true(ask(image.bytes, image.size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_any_byte),
		cmocka_unit_test(test_dangling),
		cmocka_unit_test(test_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
