/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The directory of pages in memory: growth, entering, forgetting. */
#include "directory.h"

#include <stdlib.h>

enum { FIRST_BITS = 5, MOST_BITS = 31 };

static bool make_places(struct lpl_directory *directory, unsigned int bits)
{
	struct lpl_directory old = *directory;

	directory->place = calloc((size_t)1 << bits, sizeof(*directory->place));
	if (directory->place == NULL) {
		*directory = old;
		return false;
	}
	directory->mask = (UINT32_C(1) << bits) - 1;
	directory->shift = 32 - bits;
	directory->count = 0;
	if (old.place != NULL)
		for (size_t i = 0; i <= old.mask; i++)
			if (old.place[i].page != 0)
				(void)lpl_directory_enter(directory, old.place[i].page,
							  old.place[i].frame);
	free(old.place);
	return true;
}

bool lpl_directory_init(struct lpl_directory *directory)
{
	*directory = (struct lpl_directory){0};
	return make_places(directory, FIRST_BITS);
}

void lpl_directory_free(struct lpl_directory *directory)
{
	free(directory->place);
	*directory = (struct lpl_directory){0};
}

bool lpl_directory_enter(struct lpl_directory *directory, uint32_t page, uint32_t frame)
{
	unsigned int bits = 32 - directory->shift;
	uint32_t i;

	if (directory->count > directory->mask / 2 &&
	    (bits == MOST_BITS || !make_places(directory, bits + 1)))
		return false;
	i = lpl_directory_home(directory, page);
	while (directory->place[i].page != 0)
		i = (i + 1) & directory->mask;
	directory->place[i].page = page;
	directory->place[i].frame = frame;
	directory->count++;
	return true;
}

void lpl_directory_forget(struct lpl_directory *directory, uint32_t page)
{
	uint32_t hole = lpl_directory_home(directory, page);
	uint32_t i;

	while (directory->place[hole].page != page)
		hole = (hole + 1) & directory->mask;
	for (i = (hole + 1) & directory->mask; directory->place[i].page != 0;
	     i = (i + 1) & directory->mask) {
		uint32_t home = lpl_directory_home(directory, directory->place[i].page);

		/* it may move to the hole if that is on the way from its home */
		if (((i - home) & directory->mask) >= ((i - hole) & directory->mask)) {
			directory->place[hole] = directory->place[i];
			hole = i;
		}
	}
	directory->place[hole].page = 0;
	directory->count--;
}
