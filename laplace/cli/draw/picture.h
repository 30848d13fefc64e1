/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of pictures. */
#ifndef LAPLACE_CLI_DRAW_PICTURE_H
#define LAPLACE_CLI_DRAW_PICTURE_H

#include <stdio.h>
#include <sys/types.h>

/* With characters, ..., as the numbers that are drawn. */
enum picture_format { PICTURE_TEXT, PICTURE_SVG, PICTURE_PNG, PICTURE_CSV };

struct picture {
	enum picture_format format;	/* to be drawn: not PICTURE_PNG, which rsvg-convert makes of SVG */
	FILE *out;
	pid_t converter;		/* 0: there is none */
};

/* A PNG has twice the size, so that it is sharp.  Complains; returns an exit status. */
int picture_begin(struct picture *picture, enum picture_format format, FILE *out);
int picture_end(struct picture *picture);

#endif
