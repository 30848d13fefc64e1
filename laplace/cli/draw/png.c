/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG out of SVG; see png.h. */
#include "png.h"

int png_begin(struct filter *filter, FILE *out)
{
	static char program[] = "rsvg-convert", zoom[] = "--zoom=2", format[] = "--format=png";
	char *argv[] = { program, zoom, format, NULL };

	return filter_start(filter, argv, out, "rsvg-convert is not in $PATH: a PNG needs it (Debian "
			    "has it in librsvg2-bin); .svg does without");
}

int png_end(struct filter *filter)
{
	return filter_end(filter);
}
