/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON that is written as it is made, in the form of cli_print_json(): of a long array there is never more
 * in memory than one member.
 */
#ifndef LAPLACE_CLI_REPORT_JSON_WRITER_H
#define LAPLACE_CLI_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

struct json_writer {
	FILE *out;
	unsigned int depth;
	bool begun;			/* there is something in what was begun last */
	bool failed;			/* something was left out, for want of memory */
};

/* An object or an array, by its bracket; `name` is NULL in an array, and of the whole. */
void json_writer_begin(struct json_writer *writer, const char *name, char bracket);
void json_writer_end(struct json_writer *writer, char bracket);
/* Frees `value`. */
void json_writer_put(struct json_writer *writer, const char *name, json_t *value);

#endif
