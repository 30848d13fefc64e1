/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the numbers in a record are called and mean, and how guest text is made safe. */
#include <laplace/record.h>

char lpl_type_letter(enum lpl_type type)
{
	static const char letters[LPL_TYPES] = { 'r', 'w', 'i', 'p', 'q' };

	return (unsigned int)type < LPL_TYPES ? letters[type] : '?';
}

/* Rows are numbered as they come in the tables. */
#define ROW(tag, number, name, fence, text) ROW_##tag,
enum row {
	KTR_EVENTS(ROW, KTR_NO_ARG)
	LPL_EVENTS(ROW, KTR_NO_ARG)
};

/* No number is left out: so a tag leads to its row. */
#define FIRST_OF_OURS ROW_LPL_EVENT_TRACING
#define CHECK_KTR(tag, number, name, fence, text) \
	_Static_assert((number) == ROW_##tag + 1, "a row of KTR_EVENTS is not in its place");
#define CHECK_LPL(tag, number, name, fence, text) \
	_Static_assert((number) - LPL_EVENT_TRACING == ROW_##tag - FIRST_OF_OURS, \
		       "a row of LPL_EVENTS is not in its place");
KTR_EVENTS(CHECK_KTR, KTR_NO_ARG)
LPL_EVENTS(CHECK_LPL, KTR_NO_ARG)

#define KIND(tag_, number, name_, fence_, text_) \
	[ROW_##tag_].tag = (tag_), \
	[ROW_##tag_].name = (name_), \
	[ROW_##tag_].fence = (fence_) == KTR_FENCE, \
	[ROW_##tag_].text = (text_),
#define KIND_ARG(tag_, argument, number, name_, how_) \
	[ROW_##tag_].arg[number] = { (name_), (how_) },

static const struct lpl_event_kind kinds[LPL_EVENT_KINDS] = {
	KTR_EVENTS(KIND, KIND_ARG)
	LPL_EVENTS(KIND, KIND_ARG)
};

const struct lpl_event_kind *lpl_event_kinds(void)
{
	return kinds;
}

const struct lpl_event_kind *lpl_event_kind(uint32_t tag)
{
	if (tag - 1 < FIRST_OF_OURS)
		return &kinds[tag - 1];
	if (tag - LPL_EVENT_TRACING < LPL_EVENT_KINDS - FIRST_OF_OURS)
		return &kinds[FIRST_OF_OURS + tag - LPL_EVENT_TRACING];
	return NULL;
}

bool lpl_event_is_fence(uint32_t tag)
{
	const struct lpl_event_kind *kind = lpl_event_kind(tag);

	return kind != NULL && kind->fence;
}

bool lpl_event_maps(uint32_t tag)
{
	return (lpl_event_is_fence(tag) && tag != KTR_EXEC && tag != LPL_EVENT_RETRANSLATION) ||
	       tag == LPL_EVENT_SPACE_STATE;
}

const char *lpl_event_name(uint32_t tag)
{
	const struct lpl_event_kind *kind = lpl_event_kind(tag);

	return kind != NULL ? kind->name : NULL;
}

char *lpl_text_escape(char *out, size_t size, const char *text, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = 0;

	if (size == 0)
		return out;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool plain = byte >= 0x20 && byte < 0x7f && byte != '\\';

		/* an escape that does not fit whole ends the text */
		if (size - used <= (plain ? 1U : 4U))
			break;
		if (plain) {
			out[used++] = (char)byte;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = digits[byte >> 4];
		out[used++] = digits[byte & 15];
	}
	out[used] = '\0';
	return out;
}

void lpl_text_print_cell(FILE *table, const char *escaped)
{
	fputc('"', table);
	if (lpl_text_is_formula(*escaped))
		fprintf(table, "\\x%02x", (unsigned int)*escaped++);
	for (; *escaped != '\0'; escaped++) {
		if (*escaped == '"')
			fputc('"', table);
		fputc(*escaped, table);
	}
	fputc('"', table);
}
