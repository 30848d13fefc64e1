/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the numbers in a record are called, and how guest text is made safe. */
#include <laplace/record.h>

char lpl_type_letter(enum lpl_type type)
{
	static const char letters[LPL_TYPES] = { 'r', 'w', 'i', 'p', 'q' };

	return (unsigned int)type < LPL_TYPES ? letters[type] : '?';
}

static const struct {
	const char *name;
	bool fence;
} kernel_events[] = {
	[KTR_TASK_CREATE] =	{ "task-create", false },
	[KTR_SCHEDULE] =	{ "schedule", false },
	[KTR_SPACE_ASSIGN] =	{ "space-assign", false },
	[KTR_EXEC] =		{ "exec", true },
	/* the end of a task; that of its space is KTR_SPACE_END */
	[KTR_EXIT] =		{ "exit", false },
	[KTR_MAP] =		{ "map", true },
	[KTR_UNMAP] =		{ "unmap", true },
	[KTR_REMAP] =		{ "remap", true },
	[KTR_BRK] =		{ "brk", true },
	[KTR_SHM_ATTACH] =	{ "shm-attach", true },
	[KTR_SHM_DETACH] =	{ "shm-detach", true },
	[KTR_SPACE_DUPLICATE] =	{ "space-duplicate", true },
	[KTR_SPACE_END] =	{ "space-end", true },
	[KTR_COW_BREAK] =	{ "cow-break", true },
	[KTR_CACHE_ADD] =	{ "cache-add", true },
	[KTR_CACHE_REMOVE] =	{ "cache-remove", true },
	[KTR_MARK] =		{ "mark", false },
	[KTR_CONTROL] =		{ "control", false },
	[KTR_SYSCALL_ENTER] =	{ "syscall-enter", false },
	[KTR_SYSCALL_EXIT] =	{ "syscall-exit", false },
	[KTR_MPROTECT] =	{ "mprotect", false },
	[KTR_DISCARD] =		{ "discard", true },
	[KTR_PAGE_OWN] =	{ "page-own", true },
	[KTR_SWAP_OUT] =	{ "swap-out", false },
	[KTR_SWAP_IN] =		{ "swap-in", false },
	[KTR_HUGE_MAP] =	{ "huge-map", false },
	[KTR_HUGE_SPLIT] =	{ "huge-split", false },
	[KTR_FILE] =		{ "file", false },
	[KTR_PRESENT] =		{ "present", true },
	[KTR_SNAPSHOT] =	{ "snapshot", false },
};
#define KERNEL_EVENTS (sizeof(kernel_events) / sizeof(kernel_events[0]))

bool lpl_event_is_fence(uint32_t tag)
{
	return tag < KERNEL_EVENTS && kernel_events[tag].fence;
}

const char *lpl_event_name(uint32_t tag)
{
	if (tag < KERNEL_EVENTS)
		return kernel_events[tag].name;
	switch (tag) {
	case LPL_EVENT_TRACING:
		return "tracing";
	case LPL_EVENT_MARK:
		return "host-mark";	/* "mark" is the guest's */
	case LPL_EVENT_EVICTED:
		return "evicted";
	case LPL_EVENT_PAGE:
		return "page";
	case LPL_EVENT_GAP:
		return "gap";
	default:
		return NULL;
	}
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
