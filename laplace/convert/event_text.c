/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel events as lines; see event_text.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "fields.h"
#include "importer.h"
#include "record/unescape.h"

/*
 * All numbers in hex but the ids, "-" for no text.  Clocks are whole, also among
 * differences, and do not count for the next difference.
 */
char *lpl_event_write(char *out, const struct lpl_event *event)
{
	const char *name = lpl_event_name(event->tag);
	char text[4 * KTR_TEXT + 1];
	size_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;

	*out++ = 'E';
	*out++ = ' ';
	if (name) {
		out = stpcpy(out, name);
	} else {
		out = stpcpy(out, "tag-");
		out = lpl_put_decimal(out, event->tag);
	}
	out = put_hex_field(out, event->cycle);
	out = put_hex_field(out, event->instr);
	out = put_hex_field(out, event->ref);
	out = put_hex_field(out, event->space);
	out = put_decimal_field(out, event->tid);
	out = put_decimal_field(out, event->tgid);
	for (size_t i = 0; i < KTR_ARGS; i++) {
		*out++ = i ? ',' : ' ';
		out = lpl_put_hex(out, event->arg[i]);
	}
	*out++ = ' ';
	lpl_text_escape(text, sizeof(text), event->text, length);
	if (strcmp(text, "-") == 0)
		return stpcpy(out, "\\x2d");
	return stpcpy(out, text[0] ? text : "-");
}

/*
 * Whoever takes the line for cells, between commas or semicolons, shall find no formula in
 * the text, which is a guest's.  Numbers are none.
 */
char *lpl_event_write_comment(char *out, const struct lpl_event *event)
{
	char line[EVENT_TEXT + 1];
	const char *at = line;

	*lpl_event_write(line, event) = '\0';
	for (*out++ = '#'; *at; at++) {
		if (at > line && (at[-1] == ',' || at[-1] == ';') && lpl_text_is_formula(*at))
			out += sprintf(out, "\\x%02x", (unsigned int)*at);
		else
			*out++ = *at;
	}
	return out;
}

/* ---- reading ---- */

static bool find_tag(const char *name, size_t length, uint32_t *tag)
{
	const struct lpl_event_kind *kinds = lpl_event_kinds();
	uint64_t number;

	for (size_t i = 0; i < LPL_EVENT_KINDS; i++) {
		*tag = kinds[i].tag;
		/* there may be a null byte in what was read */
		if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0)
			return true;
	}
	if (length <= 4 || memcmp(name, "tag-", 4) != 0 ||
	    lpl_scan_decimal(name + 4, &number) != name + length || number > UINT32_MAX)
		return false;
	*tag = (uint32_t)number;
	return true;
}

static const char *read_id(const char *at, uint32_t *id)
{
	uint64_t number;

	at = scan_decimal_field(at, &number);
	if (!at || number > UINT32_MAX)
		return NULL;
	*id = (uint32_t)number;
	return at;
}

static const char *read_args(const char *at, struct lpl_event *event)
{
	if (*at != ' ')
		return NULL;
	for (size_t i = 0; i < KTR_ARGS; i++) {
		at = lpl_scan_hex(at + 1, &event->arg[i]);
		if (!at)
			return NULL;
		if (*at != ',')
			return scan_is_end(*at) ? at : NULL;
	}
	return NULL;
}

/* The rest of the line, blanks and all; bytes as lpl_text_escape() writes them. */
static const char *read_text(const char *at, struct lpl_event *event)
{
	const char *newline, *end;

	if (*at++ != ' ')
		return NULL;
	end = newline = rawmemchr(at, '\n');
	if (end > at && end[-1] == '\r')
		end--;
	if (end - at == 1 && *at == '-')
		return newline;
	return lpl_text_unescape(event, at, end) ? newline : NULL;
}

/* Clocks that the format does not have are those of the reference before. */
static bool set_clocks(struct lpl_importer *importer, struct lpl_event *event)
{
	const unsigned int traits = importer->options.format->traits;

	if (!(traits & LPL_WITH_REF))
		event->ref = importer->ref;
	if (!(traits & LPL_WITH_INSTR))
		event->instr = importer->instr;
	if (!(traits & LPL_WITH_CYCLE))
		event->cycle = importer->cycle;
	return lpl_import_check_clock(importer, "reference", event->ref, importer->ref) &&
	       lpl_import_check_clock(importer, "instruction", event->instr, importer->instr) &&
	       lpl_import_check_clock(importer, "cycle", event->cycle, importer->cycle);
}

bool lpl_event_is_line(const char *at)
{
	if (at[0] != 'E' || at[1] != ' ')
		return false;
	at = scan_blanks(at + 1);
	while (!scan_is_end(*at))
		at++;
	return !scan_line_end(at);
}

static const char *scan_clocks(const char *at, struct lpl_event *event)
{
	at = scan_hex_field(at, &event->cycle);
	if (at)
		at = scan_hex_field(at, &event->instr);
	return at ? scan_hex_field(at, &event->ref) : NULL;
}

const char *lpl_event_scan(const char *at, struct lpl_event *event, const char **wrong)
{
	const char *name;

	at = name = scan_blanks(at);
	while (!scan_is_end(*at))
		at++;
	*wrong = "no event is called that";
	if (!find_tag(name, (size_t)(at - name), &event->tag))
		return NULL;
	*wrong = "malformed (an event is " EVENT_FIELDS ")";
	at = scan_clocks(at, event);
	if (at)
		at = scan_hex_field(at, &event->space);
	if (at)
		at = read_id(at, &event->tid);
	if (at)
		at = read_id(at, &event->tgid);
	if (at)
		at = read_args(at, event);
	return at ? read_text(at, event) : NULL;
}

const char *lpl_event_read(struct lpl_importer *importer, const char *at)
{
	struct lpl_event event = { 0 };
	const char *wrong;

	at = lpl_event_scan(at, &event, &wrong);
	if (!at)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "%s", wrong);
	return set_clocks(importer, &event) && lpl_import_event(importer, &event) ? at : NULL;
}
