/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records as text; see text.h.  The numbers are written by hand: a trace has
 * hundreds of millions of them, and printf would take most of the time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

const char *const text_format_name[TEXT_FORMATS] = {
	"raw", "diff", "sad", "sad-diff", "pages", "csv"
};

static char *put_hex(char *out, uint64_t value)
{
	static const char digit[] = "0123456789abcdef";
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*out++ = digit[value >> shift & 15];
	return out;
}

static char *put_decimal(char *out, uint64_t value)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*out++ = digits[--n];
	return out;
}

static char *put_hex_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return put_hex(out, value);
}

static char *put_decimal_field(char *out, uint64_t value)
{
	*out++ = ' ';
	return put_decimal(out, value);
}

/* ' + 3f' or ' - 3f' */
static char *put_signed_field(char *out, uint64_t value, uint64_t before)
{
	bool forward = value >= before;

	*out++ = ' ';
	*out++ = forward ? '+' : '-';
	return put_hex_field(out, forward ? value - before : before - value);
}

/*
 * The new space, or 0 for the same as before.  Space 0 exists (a machine
 * before paging is on): a change back to it is written 00.
 */
static char *put_space_change(char *out, uint64_t space, uint64_t before)
{
	out = put_hex_field(out, space == before ? 0 : space);
	if (space == 0 && before != 0)
		*out++ = '0';
	return out;
}

static int flush(struct text_printer *printer, struct lpl_report *report)
{
	size_t done = 0;

	while (done < printer->used) {
		ssize_t n = write(printer->fd, printer->buffer + done, printer->used - done);

		if (n < 0 && errno != EINTR)
			return lpl_fail(report, LPL_ERR_IO, "standard output");
		if (n > 0)
			done += (size_t)n;
	}
	printer->used = 0;
	return LPL_OK;
}

/* Where the next line goes; NULL after an error. */
static char *line_start(struct text_printer *printer, struct lpl_report *report)
{
	if (TEXT_BUFFER - printer->used < TEXT_LINE && flush(printer, report))
		return NULL;
	return printer->buffer + printer->used;
}

static void line_end(struct text_printer *printer, char *out)
{
	*out++ = '\n';
	printer->used = (size_t)(out - printer->buffer);
}

static int put_heading(struct text_printer *printer, struct lpl_report *report)
{
	static const char names[] =
		"type,reference,instruction,cycle,space,address,length,user,second,paged";
	char *out;

	if (printer->format != TEXT_CSV || printer->headed)
		return LPL_OK;
	out = line_start(printer, report);
	if (!out)
		return report->error;
	memcpy(out, names, sizeof(names) - 1);
	line_end(printer, out + sizeof(names) - 1);
	printer->headed = true;
	return LPL_OK;
}

static char *put_csv(char *out, const struct lpl_ref *ref)
{
	const uint64_t field[] = {
		ref->ref, ref->instr, ref->cycle, ref->space, ref->address, ref->length,
		(ref->flags & LPL_USER) != 0, (ref->flags & LPL_SECOND) != 0,
		(ref->flags & LPL_PAGED) != 0,
	};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		*out++ = ',';
		out = put_decimal(out, field[i]);
	}
	return out;
}

static char *put_ref(struct text_printer *printer, char *out, const struct lpl_ref *ref)
{
	const uint64_t page = ref->address >> LPL_PAGE_SHIFT;

	*out++ = lpl_type_letter(ref->type);
	switch (printer->format) {
	case TEXT_RAW:
		out = put_hex_field(out, ref->cycle);
		out = put_decimal_field(out, ref->length);
		out = put_hex_field(out, ref->space);
		out = put_hex_field(out, ref->address);
		break;
	case TEXT_DIFF:
		out = put_hex_field(out, ref->cycle - printer->cycle);
		out = put_decimal_field(out, ref->length);
		out = put_space_change(out, ref->space, printer->space);
		out = put_signed_field(out, ref->address, printer->address);
		break;
	case TEXT_SAD:
		out = put_hex_field(out, ref->cycle);
		out = put_hex_field(out, ref->instr);
		out = put_hex_field(out, ref->ref);
		out = put_hex_field(out, ref->space);
		out = put_hex_field(out, page);
		break;
	case TEXT_SAD_DIFF:
		out = put_hex_field(out, ref->cycle - printer->cycle);
		out = put_hex_field(out, ref->instr - printer->instr);
		out = put_hex_field(out, ref->ref - printer->ref);
		out = put_space_change(out, ref->space, printer->space);
		out = put_signed_field(out, page, printer->address >> LPL_PAGE_SHIFT);
		break;
	case TEXT_PAGES:
		out = put_hex_field(out, page);
		break;
	case TEXT_CSV:
		out = put_csv(out, ref);
		break;
	case TEXT_FORMATS:
		break;
	}
	return out;
}

static int print_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct text_printer *printer = (struct text_printer *)sink;

	if (put_heading(printer, report))
		return report->error;
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		char *out = line_start(printer, report);

		if (!out)
			return report->error;
		line_end(printer, put_ref(printer, out, ref));
		printer->lengthless |= (ref->flags & LPL_PAGED) != 0;
		printer->spaces_mixed |= printer->any && ref->space != printer->space;
		printer->any = true;
		printer->cycle = ref->cycle;
		printer->instr = ref->instr;
		printer->ref = ref->ref;
		printer->space = ref->space;
		printer->address = ref->address;
	}
	return LPL_OK;
}

/*
 * E NAME CYCLE INSTRUCTION REFERENCE SPACE TID TGID ARG,ARG... TEXT; numbers in
 * hex but the two ids, "-" for no text.  In CSV the line is a comment.  Clocks
 * are whole, also among differences, and do not count for the next difference.
 */
static char *put_event(char *out, const struct lpl_event *event)
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
		out = put_decimal(out, event->tag);
	}
	out = put_hex_field(out, event->cycle);
	out = put_hex_field(out, event->instr);
	out = put_hex_field(out, event->ref);
	out = put_hex_field(out, event->space);
	out = put_decimal_field(out, event->tid);
	out = put_decimal_field(out, event->tgid);
	for (size_t i = 0; i < KTR_ARGS; i++) {
		*out++ = i ? ',' : ' ';
		out = put_hex(out, event->arg[i]);
	}
	*out++ = ' ';
	lpl_text_escape(text, sizeof(text), event->text, length);
	return stpcpy(out, text[0] ? text : "-");
}

static int print_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct text_printer *printer = (struct text_printer *)sink;
	char *out;

	if (!printer->events)
		return LPL_OK;
	if (put_heading(printer, report))
		return report->error;
	out = line_start(printer, report);
	if (!out)
		return report->error;
	if (printer->format == TEXT_CSV)
		*out++ = '#';
	line_end(printer, put_event(out, event));
	return LPL_OK;
}

static int print_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct text_printer *printer = (struct text_printer *)sink;

	if (put_heading(printer, report))
		return report->error;
	return flush(printer, report);
}

void text_printer_init(struct text_printer *printer, enum text_format format,
		       bool events, int fd)
{
	memset(printer, 0, sizeof(*printer));
	printer->sink = (struct lpl_sink){ print_refs, print_event, print_finish };
	printer->format = format;
	printer->events = events;
	printer->fd = fd;
}
