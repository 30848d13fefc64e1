/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel events as lines: a capital letter for the kind, for some followed by a small
 * one; the cycle, the id of the task that reported it, then what the kind has, and in the end
 * the other two clocks.
 *
 * The table below is the format: which arguments stand in a line, by their numbers in hex, in
 * which order; `l` is the length (decimal) of the range that begins in the argument before it
 * and ends in the next.  How one is printed, and whether there is a text, the table of events
 * says (lpl_event_kind()).  KTR_NONE is "-".  A text comes after the arguments, escaped; it may
 * have blanks.  "-" stands for none.
 */
#include "event_line.h"

#include <assert.h>
#include <string.h>

#include "base/digits.h"
#include "record/unescape.h"

struct line_format {
	char letters[3];	/* empty: no format of its own */
	char fields[10];
};

static const struct line_format kernel_lines[KTR_TAGS] = {
	[KTR_TASK_CREATE] =	{ "F", "0123" },
	[KTR_SCHEDULE] =	{ "S", "1234" },
	[KTR_SPACE_ASSIGN] =	{ "A", "012" },
	[KTR_EXEC] =		{ "X", "01234" },
	[KTR_EXIT] =		{ "E", "0123" },
	[KTR_MAP] =		{ "M", "1l0345678" },
	[KTR_UNMAP] =		{ "U", "1l0" },
	[KTR_REMAP] =		{ "V", "1l3l0" },
	[KTR_BRK] =		{ "B", "120" },
	[KTR_SHM_ATTACH] =	{ "H", "1l034" },
	[KTR_SHM_DETACH] =	{ "D", "10" },
	[KTR_SPACE_DUPLICATE] =	{ "Y", "01" },
	[KTR_SPACE_END] =	{ "Z", "0" },
	[KTR_COW_BREAK] =	{ "C", "1023" },
	[KTR_CACHE_ADD] =	{ "P", "012345" },
	[KTR_CACHE_REMOVE] =	{ "Q", "01234" },
	[KTR_MARK] =		{ "K", "" },
	[KTR_CONTROL] =		{ "G", "0" },
	[KTR_SYSCALL_ENTER] =	{ "L", "01234567" },
	[KTR_SYSCALL_EXIT] =	{ "R", "012" },
	[KTR_MPROTECT] =	{ "J", "1l03" },
	[KTR_DISCARD] =		{ "Ud", "1l0" },
	[KTR_PAGE_OWN] =	{ "Co", "1023" },
	[KTR_SWAP_OUT] =	{ "W", "10234567" },
	[KTR_SWAP_IN] =		{ "I", "10234567" },
	[KTR_HUGE_MAP] =	{ "Mh", "1023" },
	[KTR_HUGE_SPLIT] =	{ "Uh", "1023" },
	[KTR_FILE] =		{ "Pf", "01234" },
	[KTR_PRESENT] =		{ "Cp", "1l034" },
	[KTR_SNAPSHOT] =	{ "Gs", "0" },
	[KTR_WAKE] =		{ "Sw", "012" },
	[KTR_PASS] =		{ "Sp", "012" },
};

static const struct {
	uint32_t tag;
	struct line_format format;
} our_lines[] = {
	{ LPL_EVENT_TRACING, { "T", "0" } },
	{ LPL_EVENT_MARK, { "N", "" } },
	{ LPL_EVENT_GAP, { "Ng", "01" } },
};

#define OUR_LINES (sizeof(our_lines) / sizeof(our_lines[0]))

/* NULL: the event has none, and its line is complete. */
static const struct line_format *format_of(uint32_t tag)
{
	for (size_t i = 0; i < OUR_LINES; i++)
		if (our_lines[i].tag == tag)
			return &our_lines[i].format;
	return tag < KTR_TAGS && kernel_lines[tag].letters[0] != '\0' ? &kernel_lines[tag] : NULL;
}

/* ---- out ---- */

static char *put_argument(char *out, uint64_t value, enum ktr_how how)
{
	*out++ = ' ';
	if (value == KTR_NONE && how != KTR_SIGNED) {
		*out++ = '-';
		return out;
	}
	if (how == KTR_SIGNED && value >> 63 != 0) {
		*out++ = '-';
		value = -value;
	}
	return how == KTR_HEX ? lpl_put_hex(out, value) : lpl_put_decimal(out, value);
}

static char *put_fields(char *out, const struct lpl_event *event,
			const struct lpl_event_kind *kind, const char *fields)
{
	unsigned int number = 0;

	for (; *fields != '\0'; fields++) {
		if (*fields == 'l') {
			*out++ = ' ';
			out = lpl_put_decimal(out, event->arg[number + 1] - event->arg[number]);
			continue;
		}
		number = lpl_digit[(uint8_t)*fields];
		out = put_argument(out, event->arg[number], kind->arg[number].how);
	}
	return out;
}

static char *put_text(char *out, const struct lpl_event *event)
{
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;

	*out++ = ' ';
	if (length == 0) {
		*out++ = '-';
		return out;
	}
	if (length == 1 && event->text[0] == '-')
		return stpcpy(out, "\\x2d");
	lpl_text_escape(out, 4 * KTR_TEXT + 1, event->text, length);
	return out + strlen(out);
}

char *lpl_put_event_line(char *out, const struct lpl_event *event)
{
	const struct line_format *format = format_of(event->tag);

	out = stpcpy(out, format != NULL ? format->letters : "O");
	*out++ = ' ';
	out = lpl_put_hex(out, event->cycle);
	*out++ = ' ';
	out = lpl_put_decimal(out, event->tid);
	if (format != NULL) {
		const struct lpl_event_kind *kind = lpl_event_kind(event->tag);

		out = put_fields(out, event, kind, format->fields);
		if (kind->text[0] != '\0')
			out = put_text(out, event);
	} else {
		*out++ = ' ';
		out = lpl_put_decimal(out, event->tag);
		for (unsigned int i = 0; i < KTR_ARGS; i++)
			out = put_argument(out, event->arg[i], KTR_HEX);
		out = put_text(out, event);
	}
	*out++ = ' ';
	out = lpl_put_hex(out, event->instr);
	*out++ = ' ';
	out = lpl_put_hex(out, event->ref);
	*out++ = '\n';
	return out;
}

/* ---- in ---- */

/* The event that these letters stand for; 0: none, or any (`O`). */
static uint32_t tag_of(const char letters[3])
{
	for (size_t i = 0; i < OUR_LINES; i++)
		if (strcmp(our_lines[i].format.letters, letters) == 0)
			return our_lines[i].tag;
	for (uint32_t tag = 1; tag < KTR_TAGS; tag++)
		if (strcmp(kernel_lines[tag].letters, letters) == 0)
			return tag;
	return 0;
}

/* A blank and an argument.  Whoever scans on sees that it ends there. */
static const char *scan_argument(const char *at, uint64_t *value, enum ktr_how how)
{
	const bool minus = at[0] == ' ' && at[1] == '-';

	if (*at++ != ' ')
		return NULL;
	if (minus && how != KTR_SIGNED) {
		*value = KTR_NONE;
		return at + 1;
	}
	at += minus;
	at = how == KTR_HEX ? lpl_scan_hex(at, value) : lpl_scan_decimal(at, value);
	if (at != NULL && minus)
		*value = -*value;
	return at;
}

static const char *scan_id(const char *at, uint32_t *id)
{
	uint64_t value = 0;

	at = scan_argument(at, &value, KTR_DECIMAL);
	*id = (uint32_t)value;
	return value == *id ? at : NULL;
}

static const char *scan_fields(const char *at, struct lpl_event *event,
			       const struct lpl_event_kind *kind, const char *fields)
{
	unsigned int number = 0;

	for (; *fields != '\0' && at != NULL; fields++) {
		if (*fields == 'l') {
			at = scan_argument(at, &event->arg[number + 1], KTR_DECIMAL);
			event->arg[number + 1] += event->arg[number];
			continue;
		}
		number = lpl_digit[(uint8_t)*fields];
		at = scan_argument(at, &event->arg[number], kind->arg[number].how);
	}
	return at;
}

/* A blank and a text, which may have blanks itself: it ends before the last two fields. */
static const char *scan_text(const char *at, const char *newline, struct lpl_event *event)
{
	const char *end = newline;

	if (*at++ != ' ')
		return NULL;
	for (int clocks = 2; clocks > 0; clocks--) {
		end = memrchr(at, ' ', (size_t)(end - at));
		if (end == NULL)
			return NULL;
	}
	if (end - at == 1 && *at == '-')
		return end;
	return end > at && lpl_text_unescape(event, at, end) ? end : NULL;
}

const char *lpl_scan_event_line(const char *at, struct lpl_event *event)
{
	const char *newline = rawmemchr(at, '\n');
	const struct line_format *format;
	const struct lpl_event_kind *kind;
	char letters[3] = "";

	*event = (struct lpl_event){ 0 };
	for (int i = 0; i < 2 && *at != ' ' && *at != '\n'; i++)
		letters[i] = *at++;
	event->tag = tag_of(letters);
	if (letters[0] == '\0' || (event->tag == 0 && strcmp(letters, "O") != 0))
		return NULL;
	at = scan_argument(at, &event->cycle, KTR_HEX);
	if (at != NULL)
		at = scan_id(at, &event->tid);
	if (at != NULL && event->tag == 0) {
		at = scan_id(at, &event->tag);
		for (unsigned int i = 0; i < KTR_ARGS && at != NULL; i++)
			at = scan_argument(at, &event->arg[i], KTR_HEX);
		if (at != NULL)
			at = scan_text(at, newline, event);
	} else if (at != NULL) {
		format = format_of(event->tag);
		kind = lpl_event_kind(event->tag);
		assert(format != NULL && kind != NULL);	/* tag_of() has found them */
		at = scan_fields(at, event, kind, format->fields);
		if (at != NULL && kind->text[0] != '\0')
			at = scan_text(at, newline, event);
	}
	if (at != NULL)
		at = scan_argument(at, &event->instr, KTR_HEX);
	if (at != NULL)
		at = scan_argument(at, &event->ref, KTR_HEX);
	return at == newline ? at : NULL;
}
