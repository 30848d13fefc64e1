/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON that is written as it is made; see json_writer.h. */
#include <string.h>

#include "json_writer.h"

#define INDENT 2

static void new_line(const struct json_writer *writer)
{
	fprintf(writer->out, "\n%*s", (int)(INDENT * writer->depth), "");
}

/* What stands before a member. */
static void introduce(struct json_writer *writer, const char *name)
{
	if (writer->begun)
		fputc(',', writer->out);
	if (writer->depth)
		new_line(writer);
	if (name)
		fprintf(writer->out, "\"%s\": ", name);
	writer->begun = true;
}

void json_writer_begin(struct json_writer *writer, const char *name, char bracket)
{
	introduce(writer, name);
	fputc(bracket, writer->out);
	writer->depth++;
	writer->begun = false;
}

void json_writer_end(struct json_writer *writer, char bracket)
{
	writer->depth--;
	if (writer->begun)
		new_line(writer);
	fputc(bracket, writer->out);
	writer->begun = true;
}

/* Lines of a value, which stand further to the right here; a string has none. */
static int put_lines(const char *text, size_t size, void *context)
{
	const struct json_writer *writer = context;
	const char *end = text + size, *line;

	for (; (line = memchr(text, '\n', (size_t)(end - text))) != NULL; text = line + 1) {
		fwrite(text, 1, (size_t)(line - text), writer->out);
		new_line(writer);
	}
	fwrite(text, 1, (size_t)(end - text), writer->out);
	return 0;
}

void json_writer_put(struct json_writer *writer, const char *name, json_t *value)
{
	if (!value) {
		writer->failed = true;
		return;
	}
	introduce(writer, name);
	if (json_dump_callback(value, put_lines, writer,
			       JSON_INDENT(INDENT) | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY) < 0)
		writer->failed = true;
	json_decref(value);
}
