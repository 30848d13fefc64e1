/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel events as lines: a capital letter for the kind, for some followed by a small
 * one; the cycle, the id of the task that told it, and then what the kind has.
 *
 * The table below is the format: a field is a letter and the argument it prints.
 * x is hexadecimal, d decimal, s the same with a sign, l (decimal) the length of the
 * range that begins in this argument and ends in the next.  KTR_NONE is "-".  A text
 * comes last, escaped; "-" stands for none.
 */
#include "event_line.h"

#include <string.h>

#include "base/digits.h"

struct line_format {
	char letters[3];	/* empty: not a known event */
	bool text;
	const char *fields;	/* pairs: how, and the argument's number in hex */
};

static const struct line_format kernel_lines[] = {
	[KTR_TASK_CREATE] =	{ "F", true, "d0d1x2x3" },
	[KTR_SCHEDULE] =	{ "S", true, "x1d2d3x4" },
	[KTR_SPACE_ASSIGN] =	{ "A", false, "d0d1x2" },
	[KTR_EXEC] =		{ "X", true, "d0d1x2x3x4" },
	[KTR_EXIT] =		{ "E", false, "d0d1d2d3" },
	[KTR_MAP] =		{ "M", true, "x1l1x0x3d4x5x6x7d8" },
	[KTR_UNMAP] =		{ "U", false, "x1l1x0" },
	[KTR_REMAP] =		{ "V", false, "x1l1x3l3x0" },
	[KTR_BRK] =		{ "B", false, "x1x2x0" },
	[KTR_SHM_ATTACH] =	{ "H", false, "x1l1x0d3x4" },
	[KTR_SHM_DETACH] =	{ "D", false, "x1x0" },
	[KTR_SPACE_DUPLICATE] =	{ "Y", false, "x0x1" },
	[KTR_SPACE_END] =	{ "Z", false, "x0" },
	[KTR_COW_BREAK] =	{ "C", false, "x1x0x2x3" },
	[KTR_CACHE_ADD] =	{ "P", false, "x0x1x2x3d4x5" },
	[KTR_CACHE_REMOVE] =	{ "Q", false, "x0x1x2x3d4" },
	[KTR_MARK] =		{ "K", true, "" },
	[KTR_CONTROL] =		{ "G", false, "d0" },
	[KTR_SYSCALL_ENTER] =	{ "L", true, "d0d1x2x3x4x5x6x7" },
	[KTR_SYSCALL_EXIT] =	{ "R", true, "d0d1s2" },
	[KTR_MPROTECT] =	{ "J", false, "x1l1x0x3" },
	[KTR_DISCARD] =		{ "Ud", false, "x1l1x0" },
	[KTR_PAGE_OWN] =	{ "Co", false, "x1x0x2d3" },
	[KTR_SWAP_OUT] =	{ "W", false, "x1x0x2x3d4x5x6x7" },
	[KTR_SWAP_IN] =		{ "I", false, "x1x0x2x3d4x5x6x7" },
	[KTR_HUGE_MAP] =	{ "Mh", false, "x1x0x2d3" },
	[KTR_HUGE_SPLIT] =	{ "Uh", false, "x1x0x2d3" },
	[KTR_FILE] =		{ "Pf", true, "x0x1d2x3x4" },
	[KTR_PRESENT] =		{ "Cp", false, "x1l1x0x3x4" },
	[KTR_SNAPSHOT] =	{ "Gs", false, "d0" },
};
#define KERNEL_LINES (sizeof(kernel_lines) / sizeof(kernel_lines[0]))

/* The tag, then all arguments. */
static const struct line_format unknown_line = { "O", true, "x0x1x2x3x4x5x6x7x8x9xaxb" };

static const struct line_format *format_of(uint32_t tag)
{
	static const struct line_format tracing = { "T", false, "d0" };
	static const struct line_format host_mark = { "N", true, "" };
	static const struct line_format gap = { "Ng", false, "d0d1" };

	if (tag == LPL_EVENT_TRACING)
		return &tracing;
	if (tag == LPL_EVENT_MARK)
		return &host_mark;
	if (tag == LPL_EVENT_GAP)
		return &gap;
	if (tag < KERNEL_LINES && kernel_lines[tag].letters[0] != '\0')
		return &kernel_lines[tag];
	return &unknown_line;
}

static char *put_argument(char *out, char how, const uint64_t *arg)
{
	*out++ = ' ';
	if (how == 'l')
		return lpl_put_decimal(out, arg[1] - arg[0]);
	if (*arg == KTR_NONE && how != 's') {
		*out++ = '-';
		return out;
	}
	if (how == 's' && *arg >> 63 != 0) {
		*out++ = '-';
		return lpl_put_decimal(out, -*arg);
	}
	return how == 'x' ? lpl_put_hex(out, *arg) : lpl_put_decimal(out, *arg);
}

char *put_event_line(char *out, const struct lpl_event *event)
{
	const struct line_format *format = format_of(event->tag);
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;

	out = stpcpy(out, format->letters);
	*out++ = ' ';
	out = lpl_put_hex(out, event->cycle);
	*out++ = ' ';
	out = lpl_put_decimal(out, event->tid);
	if (format == &unknown_line) {
		*out++ = ' ';
		out = lpl_put_decimal(out, event->tag);
	}
	for (const char *field = format->fields; *field != '\0'; field += 2) {
		unsigned int number = field[1] <= '9' ? field[1] - '0' : field[1] - 'a' + 10;

		out = put_argument(out, field[0], &event->arg[number]);
	}
	if (format->text) {
		*out++ = ' ';
		if (length == 0)
			*out++ = '-';
		lpl_text_escape(out, 4 * KTR_TEXT + 1, event->text, length);
		out += length == 0 ? 0 : strlen(out);
	}
	*out++ = '\n';
	return out;
}
