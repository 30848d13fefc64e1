/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of a manifest, both ways. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/record.h>

#include "base/digits.h"
#include "manifest_line.h"
#include "segment_names.h"

#define CHECK		",\"check\":\""	/* sixteen hexadecimal digits and "} follow */
#define CHECK_DIGITS	16

/* ---- writing ---- */

/* Any bytes as a string: in ASCII, what is not printable as \xHH, as everywhere in Laplace. */
static bool put_string(FILE *out, const char *text)
{
	size_t length = strlen(text), size = 4 * length + 1;
	char *escaped = malloc(size);

	if (!escaped)
		return false;
	lpl_text_escape(escaped, size, text, length);
	(void)fputc('"', out);
	for (const char *at = escaped; *at; at++) {
		if (*at == '"' || *at == '\\')
			(void)fputc('\\', out);
		(void)fputc(*at, out);
	}
	(void)fputc('"', out);
	free(escaped);
	return true;
}

/* A line is gathered in memory: `put` is true until something fails. */
struct line {
	FILE *out;
	char *text;
	size_t size;
	bool put;
};

static bool begin_line(struct line *line)
{
	line->text = NULL;
	line->out = open_memstream(&line->text, &line->size);
	line->put = line->out != NULL;
	return line->put;
}

/* With the checksum of all that is in it so far. */
static char *end_line(struct line *line)
{
	if (line->put && fflush(line->out) == 0)
		(void)fprintf(line->out, CHECK "%016" PRIx64 "\"}\n",
			      lpl_checksum(line->text, line->size));
	line->put = line->put && ferror(line->out) == 0;
	if (fclose(line->out) == 0 && line->put)
		return line->text;
	free(line->text);
	return NULL;
}

char *lpl_manifest_begin_line(const char *base, const struct lpl_meta *meta)
{
	struct line line;

	if (!begin_line(&line))
		return NULL;
	(void)fprintf(line.out, LPL_MANIFEST_MAGIC "%d,\"base\":", LPL_MANIFEST_VERSION);
	line.put = put_string(line.out, base);
	(void)fputs(",\"header\":{", line.out);
	for (size_t i = 0; line.put && i < lpl_meta_count(meta); i++) {
		const char *key, *value;

		lpl_meta_at(meta, i, &key, &value);
		(void)fprintf(line.out, "%s\"%s\":", i > 0 ? "," : "", key);
		line.put = put_string(line.out, value);
	}
	(void)fputc('}', line.out);
	return end_line(&line);
}

static void put_clocks(FILE *out, const char *name, const struct lpl_clocks *clocks)
{
	(void)fprintf(out, ",\"%s_reference\":%" PRIu64 ",\"%s_instruction\":%" PRIu64
		      ",\"%s_cycle\":%" PRIu64, name, clocks->ref, name, clocks->instr, name,
		      clocks->cycle);
}

char *lpl_manifest_segment_line(const char *base, const struct lpl_segment_facts *facts)
{
	char *file = lpl_segment_path(base, facts->number, false);
	struct line line;

	if (!file || !begin_line(&line)) {
		free(file);
		return NULL;
	}
	(void)fprintf(line.out, "{\"segment\":%" PRIu64 ",\"file\":", facts->number);
	line.put = put_string(line.out, file);
	free(file);
	(void)fprintf(line.out, ",\"bytes\":%" PRIu64 ",\"index\":%" PRIu64
		      ",\"checksum\":\"%016" PRIx64 "\"", facts->bytes, facts->index,
		      facts->checksum);
	put_clocks(line.out, "first", &facts->first);
	put_clocks(line.out, "last", &facts->last);
	(void)fprintf(line.out, ",\"references\":%" PRIu64 ",\"events\":%" PRIu64,
		      facts->refs_so_far, facts->events_so_far);
	return end_line(&line);
}

char *lpl_manifest_end_line(uint64_t segments)
{
	struct line line;

	if (!begin_line(&line))
		return NULL;
	(void)fprintf(line.out, "{\"closed\":%" PRIu64, segments);
	return end_line(&line);
}

/* ---- reading ---- */

/* Does the line end with the right checksum?  *size: of what precedes that. */
static bool is_checked(const char *line, size_t *size)
{
	const size_t tail = strlen(CHECK) + CHECK_DIGITS + strlen("\"}");
	size_t length = strlen(line);
	const char *at;
	uint64_t found;

	if (length <= tail)
		return false;
	*size = length - tail;
	at = line + *size;
	if (strncmp(at, CHECK, strlen(CHECK)) != 0)
		return false;
	at += strlen(CHECK);
	return lpl_scan_hex(at, &found) == at + CHECK_DIGITS &&
	       strcmp(at + CHECK_DIGITS, "\"}") == 0 && found == lpl_checksum(line, *size);
}

/* What follows a string that begins at `at`, with its quote; NULL: it has no end. */
static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if (*at == '\\')
			at++;
		if (*at == '\0')
			return NULL;
	}
	return at + 1;
}

/* What follows a value: a comma or a closing brace; NULL: it has no end. */
static const char *skip_value(const char *at)
{
	size_t depth = 0;

	while (at && *at != '\0') {
		if (depth == 0 && (*at == ',' || *at == '}'))
			return at;
		if (*at == '{' || *at == '[')
			depth++;
		else if ((*at == '}' || *at == ']') && depth > 0)
			depth--;
		at = *at == '"' ? skip_string(at) : at + 1;
	}
	return NULL;
}

/* The value of an object's member; NULL: it has none of that name. */
static const char *member(const char *object, const char *name)
{
	size_t length = strlen(name);
	const char *at = *object == '{' ? object + 1 : NULL;

	while (at && *at == '"') {
		const char *key = at + 1, *end = skip_string(at);

		if (!end || *end != ':')
			return NULL;
		if ((size_t)(end - key) == length + 1 && strncmp(key, name, length) == 0)
			return end + 1;
		at = skip_value(end + 1);
		if (!at || *at != ',')
			return NULL;
		at++;
	}
	return NULL;
}

static bool get_number(const char *object, const char *name, uint64_t *number)
{
	const char *at = member(object, name);

	at = at ? lpl_scan_decimal(at, number) : NULL;
	return at && (*at == ',' || *at == '}' || *at == '\0');
}

/* The string at `at`, as it was before it was written; NULL: malformed, or no memory. */
static char *get_string(const char *at)
{
	const char *end = skip_string(at);
	char *text = end ? malloc((size_t)(end - at)) : NULL, *out = text;

	for (at++; text && at < end - 1; at++) {
		unsigned int high, low;

		if (*at != '\\') {
			*out++ = *at;
			continue;
		}
		if (*++at == '"') {
			*out++ = '"';
			continue;
		}
		/* \\xHH: bytes that no text has are not 0, which would end it */
		high = at[0] == '\\' && at[1] == 'x' ? lpl_digit[(uint8_t)at[2]] : 16;
		low = high < 16 ? lpl_digit[(uint8_t)at[3]] : 16;
		if (low == 16 || (high | low) == 0) {
			free(text);
			return NULL;
		}
		*out++ = (char)(high << 4 | low);
		at += 3;
	}
	if (text)
		*out = '\0';
	return text;
}

/* All members of the header. */
static bool get_meta(const char *at, struct lpl_meta *meta)
{
	if (*at++ != '{')
		return false;
	while (*at == '"') {
		const char *end = skip_string(at);
		char *key = end && *end == ':' ? get_string(at) : NULL;
		char *value = key ? get_string(end + 1) : NULL;
		bool set = value && lpl_meta_set(meta, key, value) == LPL_OK;

		free(key);
		free(value);
		at = set ? skip_string(end + 1) : NULL;
		if (!at)
			return false;
		at += *at == ',';
	}
	return *at == '}';
}

static enum lpl_manifest_line get_begin(const char *line, char **base, struct lpl_meta *meta)
{
	const char *name = member(line, "base"), *header = member(line, "header");
	uint64_t version;

	if (!get_number(line, "laplace-segments", &version))
		return LPL_MANIFEST_BAD;
	if (version != LPL_MANIFEST_VERSION)
		return LPL_MANIFEST_NEWER;
	if (!name || !header || (meta && !get_meta(header, meta)))
		return LPL_MANIFEST_BAD;
	*base = get_string(name);
	/* a name, and not a way to somewhere else */
	if (*base && **base != '\0' && !strchr(*base, '/'))
		return LPL_MANIFEST_BEGIN;
	free(*base);
	*base = NULL;
	return LPL_MANIFEST_BAD;
}

static bool get_clocks(const char *line, const char *name, struct lpl_clocks *clocks)
{
	char key[32];

	(void)snprintf(key, sizeof(key), "%s_reference", name);
	if (!get_number(line, key, &clocks->ref))
		return false;
	(void)snprintf(key, sizeof(key), "%s_instruction", name);
	if (!get_number(line, key, &clocks->instr))
		return false;
	(void)snprintf(key, sizeof(key), "%s_cycle", name);
	return get_number(line, key, &clocks->cycle);
}

static bool get_facts(const char *line, struct lpl_segment_facts *facts)
{
	const char *checksum = member(line, "checksum");

	return checksum && *checksum == '"' &&
	       lpl_scan_hex(checksum + 1, &facts->checksum) == checksum + 1 + CHECK_DIGITS &&
	       get_number(line, "bytes", &facts->bytes) &&
	       get_number(line, "index", &facts->index) &&
	       get_clocks(line, "first", &facts->first) &&
	       get_clocks(line, "last", &facts->last) &&
	       get_number(line, "references", &facts->refs_so_far) &&
	       get_number(line, "events", &facts->events_so_far);
}

enum lpl_manifest_line lpl_manifest_read(const char *line, char **base, struct lpl_meta *meta,
					 struct lpl_segment_facts *facts)
{
	size_t size;

	*base = NULL;
	*facts = (struct lpl_segment_facts){ .number = 0 };
	if (!is_checked(line, &size))
		return LPL_MANIFEST_BAD;
	if (member(line, "laplace-segments"))
		return get_begin(line, base, meta);
	if (get_number(line, "closed", &facts->number))
		return LPL_MANIFEST_END;
	return get_number(line, "segment", &facts->number) && get_facts(line, facts) ?
	       LPL_MANIFEST_SEGMENT : LPL_MANIFEST_BAD;
}
