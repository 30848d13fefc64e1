/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may be shown to people and to their programs, whatever a guest has called itself: text
 * that no terminal obeys, JSON and CSV that parse, HTML and SVG that are balanced and have no
 * elements but ours.  Each returns what is wrong, or NULL.
 */
#ifndef LAPLACE_TESTS_SHOWN_H
#define LAPLACE_TESTS_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

/* Valid UTF-8 without control characters, but for newlines and tabs. */
static inline const char *shown_text(const char *text, size_t size)
{
	json_t *string = json_stringn(text, size);	/* NULL: no UTF-8 */

	if (!string)
		return "is not UTF-8";
	json_decref(string);
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '\n' || byte == '\t')
			continue;
		if (byte < ' ' || byte == 0x7f)
			return "has a control character";
		/* U+0080 to U+009f */
		if (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			return "has a control character of two bytes";
		/* U+200e, U+200f, U+202a to U+202e: what is written is read in another order */
		if (byte == 0xe2 && (unsigned char)text[i + 1] == 0x80 &&
		    strchr("\x8e\x8f\xaa\xab\xac\xad\xae", text[i + 2]))
			return "turns the direction of text";
	}
	return NULL;
}

/* One JSON value, no key of an object twice. */
static inline const char *shown_json(const char *text, size_t size)
{
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

	if (!json)
		return "is no JSON";
	json_decref(json);
	return shown_text(text, size);
}

/* RFC 4180, but for its ends of lines: all records have as many fields as the first. */
static inline const char *shown_csv(const char *text, size_t size)
{
	size_t fields = 1, first = 0;
	bool is_quoted = false;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"') {
			is_quoted = !is_quoted;
		} else if (!is_quoted && text[i] == ',') {
			fields++;
		} else if (!is_quoted && text[i] == '\n') {
			if (first != 0 && fields != first)
				return "has records of different lengths";
			first = fields;
			fields = 1;
		}
	}
	return is_quoted ? "ends within quotes" : shown_text(text, size);
}

/* ---- HTML and SVG ---- */

#define SHOWN_DEEP 64

/* The length of the element's name at `at`; 0: none that we write. */
static inline size_t shown_element(const char *at, const char *end)
{
	static const char *const known[] = {
		"!DOCTYPE", "?xml", "html", "head", "meta", "title", "style", "body", "h1", "h2", "p",
		"div", "b", "span", "ul", "li", "table", "tr", "th", "td", "figure", "figcaption",
		"details", "summary", "svg", "g", "rect", "line",
		"polyline", "path", "text"
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = strlen(known[i]);

		if ((size_t)(end - at) > length && strncmp(at, known[i], length) == 0 &&
		    at[length] != '\0' && strchr(" >/\n", at[length]))
			return length;
	}
	return 0;
}

/* Where the tag that begins at `at` ends, quotes respected; NULL: nowhere. */
static inline const char *shown_tag_end(const char *at, const char *end)
{
	bool is_quoted = false;

	for (; at < end; at++) {
		if (*at == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && *at == '<')
			return NULL;
		else if (!is_quoted && *at == '>')
			return at;
	}
	return NULL;
}

static inline const char *shown_markup(const char *text, size_t size)
{
	const char *end = text + size, *at = text, *open[SHOWN_DEEP], *close;
	size_t length[SHOWN_DEEP], depth = 0, name;

	while ((at = memchr(at, '<', (size_t)(end - at)))) {
		bool is_end = at[1] == '/';

		at += 1 + is_end;
		name = shown_element(at, end);
		close = shown_tag_end(at, end);
		if (name == 0 || !close)
			return "has an element that is not ours";
		if (is_end && (depth == 0 || length[depth - 1] != name ||
			       strncmp(open[depth - 1], at, name) != 0))
			return "ends another element than it began";
		if (is_end) {
			depth--;
		} else if (close[-1] != '/' && *at != '!' && *at != '?' &&
			   strncmp(at, "meta", 4) != 0) {
			if (depth == SHOWN_DEEP)
				return "is nested too deep";
			open[depth] = at;
			length[depth++] = name;
		}
		at = close;
	}
	return depth == 0 ? shown_text(text, size) : "does not end what it began";
}

#endif
