/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests as lines, and replies as lines of JSON; see control_request.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_request.h"

static const struct {
	const char *verb, *text, *summary;
} requests[LPL_REQUEST_COUNT] = {
#define REQUEST(name, text, summary) { #name, text, summary },
	LPL_REQUESTS(REQUEST)
#undef REQUEST
};

const char *lpl_control_verb(enum lpl_request what)
{
	assert((unsigned int)what < LPL_REQUEST_COUNT);
	return requests[what].verb;
}

/* ---- requests ---- */

static enum lpl_error take_text(struct lpl_control_request *request, const char *text,
				size_t length, struct lpl_report *report)
{
	const char *verb = requests[request->what].verb;

	if (requests[request->what].text[0] == '\0')
		return length == 0 ? LPL_OK : lpl_fail(report, LPL_ERR_USAGE,
						       "nothing follows %s", verb);
	if (length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "%s wants a text", verb);
	if (length > LPL_CONTROL_TEXT)
		return lpl_fail(report, LPL_ERR_USAGE, "the text is longer than %d bytes",
				LPL_CONTROL_TEXT);
	memcpy(request->text, text, length);
	return LPL_OK;
}

enum lpl_error lpl_control_parse(struct lpl_control_request *request, const char *line,
				 size_t length, struct lpl_report *report)
{
	size_t verb, text;

	*request = (struct lpl_control_request){ .what = LPL_REQUEST_COUNT };
	if (length > 0 && line[length - 1] == '\r')
		length--;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return lpl_fail(report, LPL_ERR_USAGE,
					"a request holds no control characters");
	}
	for (verb = 0; verb < length && line[verb] != ' '; verb++)
		;
	for (int what = 0; what < LPL_REQUEST_COUNT; what++) {
		if (strlen(requests[what].verb) == verb &&
		    memcmp(requests[what].verb, line, verb) == 0)
			request->what = (enum lpl_request)what;
	}
	if (request->what == LPL_REQUEST_COUNT)
		return lpl_fail(report, LPL_ERR_USAGE, "no request '%.*s'; try help",
				verb < 40 ? (int)verb : 40, line);
	text = verb < length ? verb + 1 : verb;
	return take_text(request, line + text, length - text, report);
}

/* ---- replies ---- */

/* For a string of JSON: what a person would not see is not passed on. */
static void quote(char *quoted, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n < size - 3; text++) {
		if (*text == '"' || *text == '\\')
			quoted[n++] = '\\';
		quoted[n++] = *text >= ' ' && *text < 0x7f ? *text : '?';
	}
	quoted[n] = '\0';
}

char *lpl_control_reply_done(enum lpl_request what, const char *status)
{
	/* the status may be a whole line */
	const int length = status != NULL ? (int)strcspn(status, "\n") : 0;
	char *line;

	return asprintf(&line, "{\"laplace\":%d,\"ok\":true,\"request\":\"%s\"%s%.*s}\n",
			LPL_CONTROL_VERSION, requests[what].verb,
			length ? ",\"status\":" : "", length, length ? status : "") < 0 ? NULL : line;
}

char *lpl_control_reply_failed(const char *why)
{
	char quoted[2 * LPL_REPORT_SIZE + 8], *line;

	quote(quoted, sizeof(quoted), why);
	return asprintf(&line, "{\"laplace\":%d,\"ok\":false,\"error\":\"%s\"}\n",
			LPL_CONTROL_VERSION, quoted) < 0 ? NULL : line;
}

char *lpl_control_reply_help(void)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "{\"laplace\":%d,\"ok\":true,\"request\":\"help\",\"requests\":{",
		LPL_CONTROL_VERSION);
	for (int what = 0; what < LPL_REQUEST_COUNT; what++)
		fprintf(out, "%s\"%s%s%s\":\"%s\"", what ? "," : "", requests[what].verb,
			requests[what].text[0] ? " " : "", requests[what].text,
			requests[what].summary);
	fputs("}}\n", out);
	if (fclose(out) != 0) {
		free(line);
		return NULL;
	}
	return line;
}
