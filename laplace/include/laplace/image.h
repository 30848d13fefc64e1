/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images: what a page held when a memory of K pages would have evicted it.
 *
 * A trace recorded with images has an event LPL_EVENT_IMAGE at each eviction of an LRU memory of K
 * pages, and the contents once, in events before the first image that has them (docs/format.md,
 * section 12).  An image belongs to the last reference to its page that stands before it.
 *
 *	lpl_image_reader_init(&images);
 *	(at each event) if (lpl_image_take(&images, event, &image)) ...
 */
#ifndef LAPLACE_IMAGE_H
#define LAPLACE_IMAGE_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LPL_IMAGE_BYTES	4096	/* in an image */
#define LPL_IMAGE_NAME_SIZE 33	/* lpl_image_name() and a NUL */

struct lpl_image_hash {
	uint64_t low, high;	/* XXH3 of 128 bits, no seed */
};

struct lpl_image {
	uint64_t space, address;	/* of the page; space KTR_NONE: a page table, address physical */
	uint64_t frame;			/* physical page; KTR_NONE: not known */
	enum lpl_image_kind kind;
	uint64_t word;			/* LPL_IMAGE_FILLED */
	struct lpl_image_hash hash;	/* LPL_IMAGE_STORED */
	/*
	 * LPL_IMAGE_STORED: its LPL_IMAGE_BYTES bytes, until the next call, where they stand in the
	 * trace.  NULL: an image before it with this hash has them; or they are `lost`, as the trace was
	 * damaged.
	 */
	const uint8_t *bytes;
	bool lost;
};

/* The parts of the image to come; nothing in it is for the caller. */
struct lpl_image_reader {
	uint8_t bytes[LPL_IMAGE_BYTES];
	uint32_t parts;
	bool damaged;
};

void lpl_image_reader_init(struct lpl_image_reader *reader);
/*
 * Each event of a stream in turn.  true: it is an image, which *image describes.  An image that cannot
 * be one (of an unknown kind) is LPL_IMAGE_UNKNOWN, and contents that are not those of the hash are
 * lost.
 */
bool lpl_image_take(struct lpl_image_reader *reader, const struct lpl_event *event,
		    struct lpl_image *image);

/* The hash of LPL_IMAGE_BYTES bytes. */
struct lpl_image_hash lpl_image_hash(const uint8_t *bytes);
/* Is it one word of eight bytes again and again?  Which one, in *word. */
bool lpl_image_is_filled(const uint8_t *bytes, uint64_t *word);
/* A hash as 32 hexadecimal digits, as xxh128sum prints it. */
void lpl_image_name(char name[LPL_IMAGE_NAME_SIZE], struct lpl_image_hash hash);

/* How many images there are, and what they take.  All 0 at first. */
struct lpl_image_counts {
	uint64_t images;	/* of all kinds */
	uint64_t unknown, zero, filled, stored;	/* `filled` with another word than 0 */
	uint64_t contents;	/* distinct ones in the trace (or again, after a while) */
	uint64_t lost;
};
void lpl_image_count(struct lpl_image_counts *counts, const struct lpl_image *image);

/*
 * Images as files: a sink that makes a directory with a file for each content that is stored, by its
 * name (lpl_image_name()), and images.csv, which has all images in order; its last column is that name, or
 * the word of a filled page.  finish() gives it its name, which is PATH.part before; what was left when
 * something failed keeps that.
 *
 * LPL_ERR_USAGE: PATH is there already; LPL_ERR_MEMORY; LPL_ERR_IO or LPL_ERR_FULL: it cannot be made, with
 * *files to be closed.
 */
struct lpl_image_files;
enum lpl_error lpl_image_files_open(struct lpl_image_files **files, const char *path,
				    struct lpl_report *report);
struct lpl_sink *lpl_image_files_sink(struct lpl_image_files *files);
void lpl_image_files_close(struct lpl_image_files *files);	/* NULL is fine */

/*
 * The K of a trace's images, by its LPL_META_IMAGES ("evict:64"); 0: it has none, `images` being NULL
 * or something else.
 */
uint64_t lpl_images_of(const char *images);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
