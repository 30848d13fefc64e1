/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * image-check: page images of which it is known what they have to be.
 *
 *	image-check words TRACE START END
 *		each image of a page from START to END, in order: ADDRESS FRAME KIND WORD OTHER, with the
 *		word of 16 bits that most of the page consists of (`-': it does not), and the word at 16
 *	image-check file TRACE START END FILE OFFSET
 *		pages from START to END show FILE from OFFSET on: prints how many images are equal to what is
 *		there, and how many are not
 *
 * Addresses and offsets are hexadecimal.  Exit status: 0, 1 it failed, 2 usage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/image.h>
#include <laplace/trace.h>

enum { FAILED = 1, USAGE = 2, CONTENTS = 1 << 16 };

struct check {
	struct lpl_sink sink;
	struct lpl_image_reader reader;
	uint64_t start, end;
	FILE *file;			/* NULL: print words */
	long offset;
	/* contents seen, by hash, to be found again */
	struct lpl_image_hash hash[CONTENTS];
	uint8_t (*bytes)[LPL_IMAGE_BYTES];
	size_t contents;
	uint64_t equal, different, unknown;
};

/* NULL: it is not known what the page held. */
static const uint8_t *bytes_of(struct check *check, const struct lpl_image *image)
{
	static uint64_t filled[LPL_IMAGE_BYTES / sizeof(uint64_t)];

	if (image->kind == LPL_IMAGE_FILLED) {
		for (size_t i = 0; i < LPL_IMAGE_BYTES / sizeof(uint64_t); i++)
			filled[i] = image->word;
		return (const uint8_t *)filled;
	}
	if (image->bytes && check->contents < CONTENTS) {
		check->hash[check->contents] = image->hash;
		memcpy(check->bytes[check->contents++], image->bytes, LPL_IMAGE_BYTES);
	}
	for (size_t i = 0; image->kind == LPL_IMAGE_STORED && i < check->contents; i++)
		if (memcmp(&check->hash[i], &image->hash, sizeof(image->hash)) == 0)
			return check->bytes[i];
	return NULL;
}

static void print_words(const struct lpl_image *image, const uint8_t *bytes)
{
	uint16_t word[LPL_IMAGE_BYTES / 2];
	size_t same = 0;

	printf("%" PRIx64 " %" PRIx64 " %d ", image->address, image->frame, (int)image->kind);
	if (bytes == NULL) {
		puts("? ?");
		return;
	}
	memcpy(word, bytes, sizeof(word));
	for (size_t i = 0; i < LPL_IMAGE_BYTES / 2; i++)
		same += word[i] == word[0];
	if (same >= LPL_IMAGE_BYTES / 2 - 1)
		printf("%x %x\n", word[0], word[8]);
	else
		printf("- %x\n", word[8]);
}

static void compare(struct check *check, const struct lpl_image *image, const uint8_t *bytes)
{
	uint8_t there[LPL_IMAGE_BYTES] = { 0 };

	if (bytes == NULL)
		check->unknown++;
	else if (fseek(check->file, check->offset + (long)(image->address - check->start), SEEK_SET) == 0 &&
		 fread(there, 1, sizeof(there), check->file) == sizeof(there) &&
		 memcmp(there, bytes, sizeof(there)) == 0)
		check->equal++;
	else
		check->different++;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count, (void)report;
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct check *check = (struct check *)sink;
	struct lpl_image image;
	const uint8_t *bytes;

	(void)report;
	if (!lpl_image_take(&check->reader, event, &image))
		return LPL_OK;
	bytes = bytes_of(check, &image);
	if (image.space == KTR_NONE || image.address < check->start || image.address >= check->end)
		return LPL_OK;
	if (check->file)
		compare(check, &image, bytes);
	else
		print_words(&image, bytes);
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

int main(int argc, char **argv)
{
	static struct check check;
	struct lpl_reader *reader;
	struct lpl_report report;

	if (argc != 5 && argc != 7) {
		fputs("usage: image-check words TRACE START END\n"
		      "       image-check file TRACE START END FILE OFFSET\n", stderr);
		return USAGE;
	}
	check.sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	check.start = strtoull(argv[3], NULL, 16);
	check.end = strtoull(argv[4], NULL, 16);
	check.bytes = malloc((size_t)CONTENTS * LPL_IMAGE_BYTES);
	if (argc == 7) {
		check.file = fopen(argv[5], "rb");
		check.offset = strtol(argv[6], NULL, 16);
	}
	if (!check.bytes || (argc == 7 && !check.file)) {
		perror("image-check");
		return FAILED;
	}
	if (lpl_reader_open(&reader, argv[2], &report) ||
	    lpl_reader_run(reader, &check.sink, &report)) {
		fprintf(stderr, "image-check: %s\n", report.text);
		return FAILED;
	}
	if (check.file)
		printf("equal %" PRIu64 " different %" PRIu64 " unknown %" PRIu64 "\n", check.equal,
		       check.different, check.unknown);
	lpl_reader_close(reader);
	free(check.bytes);
	if (check.file)
		fclose(check.file);
	return 0;
}
