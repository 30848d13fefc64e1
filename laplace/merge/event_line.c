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

#include <string.h>

#include "base/digits.h"

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
};

/* NULL: the event has none, and its line is complete. */
static const struct line_format *format_of(uint32_t tag)
{
	static const struct line_format tracing = { "T", "0" };
	static const struct line_format host_mark = { "N", "" };
	static const struct line_format gap = { "Ng", "01" };

	if (tag == LPL_EVENT_TRACING)
		return &tracing;
	if (tag == LPL_EVENT_MARK)
		return &host_mark;
	if (tag == LPL_EVENT_GAP)
		return &gap;
	return tag < KTR_TAGS && kernel_lines[tag].letters[0] != '\0' ? &kernel_lines[tag] : NULL;
}

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
