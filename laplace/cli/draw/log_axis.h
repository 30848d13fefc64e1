/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a logarithmic axis has its ticks, and how the numbers at them are written: of faults at
 * powers of ten, of memory at powers of two, so that they are round in pages and in bytes.
 */
#ifndef LAPLACE_CLI_DRAW_LOG_AXIS_H
#define LAPLACE_CLI_DRAW_LOG_AXIS_H

#include <stdbool.h>
#include <stddef.h>

struct log_axis {
	double low, high;	/* 0 < low < high */
};

/* 0 at the low end, 1 at the high one. */
double log_axis_place(const struct log_axis *axis, double value);

struct log_tick {
	double value;
	bool labelled;		/* or between two that are */
};
#define LOG_TICKS 160

/* Those within the axis, by rising value; at most `most` (at least 2) have labels. */
size_t log_axis_of_memory(const struct log_axis *axis, size_t most, struct log_tick tick[LOG_TICKS]);
size_t log_axis_of_faults(const struct log_axis *axis, size_t most, struct log_tick tick[LOG_TICKS]);

/* The round distance at which there are at most some `most` ticks on an axis that is not logarithmic. */
double axis_step(double length, double most);

#define LOG_LABEL 24
/* "0.5", "64", "16384", "256Ki" pages */
char *log_axis_pages(char text[LOG_LABEL], double pages);
/* "2K", "256K", "1.5M", "64M": powers of 1024, as programs that print memory write them */
char *log_axis_bytes(char text[LOG_LABEL], double bytes);
/* "500", "10k", "2.5M": powers of 1000 */
char *log_axis_count(char text[LOG_LABEL], double count);

#endif
