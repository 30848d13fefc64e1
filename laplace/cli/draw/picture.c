/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of pictures; see picture.h. */
#include "picture.h"

#include "cli/say.h"

int picture_begin(struct picture *picture, enum picture_format format, FILE *out)
{
	static char program[] = "rsvg-convert", zoom[] = "--zoom=2", png[] = "--format=png";
	char *argv[] = { program, zoom, png, NULL };
	int status;

	*picture = (struct picture){ .format = format, .out = out };
	if (format != PICTURE_PNG)
		return CLI_DONE;
	status = filter_start(&picture->filter, argv, out, "rsvg-convert is not in $PATH: a PNG needs it "
			      "(Debian has it in librsvg2-bin); .svg does without");
	picture->format = PICTURE_SVG;
	picture->out = picture->filter.in;
	picture->is_filtered = true;
	return status;
}

int picture_end(struct picture *picture)
{
	return picture->is_filtered ? filter_end(&picture->filter) : CLI_DONE;
}
