/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options by which references are chosen; see options.h. */
#include <inttypes.h>
#include <string.h>

#include "options.h"

enum { KEY_PROCESS = 0x300, KEY_CHILDREN, KEY_TASK, KEY_USER, KEY_KERNEL, KEY_TYPE, KEY_RANGE };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Only some of the references:", 2 },
	{ "process", KEY_PROCESS, "NAME|PID", 0,
	  "Made by processes of this name, or number, and by the kernel on their behalf", 2 },
	{ "children", KEY_CHILDREN, NULL, 0, "And by those that they made", 2 },
	{ "task", KEY_TASK, "NAME|TID", 0, "Made by tasks, that is threads, of this name or number", 2 },
	{ "user", KEY_USER, NULL, 0, "Made in user mode", 2 },
	{ "kernel", KEY_KERNEL, NULL, 0, "Made in kernel mode", 2 },
	{ "type", KEY_TYPE, "TYPE[,...]", 0,
	  "read, write, fetch, walk-read, walk-write, or their letters: r, w, i, p, q", 2 },
	{ "range", KEY_RANGE, "START:END", 0,
	  "To addresses, in hexadecimal, from the one to below the other", 2 },
	{ 0 }
};

/* 0: there is no such type. */
static unsigned int type_named(const char *name, size_t length)
{
	static const char *const names[LPL_TYPES] = {
		[LPL_READ] = "read", [LPL_WRITE] = "write", [LPL_FETCH] = "fetch",
		[LPL_WALK_READ] = "walk-read", [LPL_WALK_WRITE] = "walk-write"
	};

	for (unsigned int i = 0; i < LPL_TYPES; i++) {
		if ((length == 1 && name[0] == lpl_type_letter((enum lpl_type)i)) ||
		    (length == strlen(names[i]) && memcmp(name, names[i], length) == 0))
			return 1U << i;
	}
	return 0;
}

static unsigned int parse_types(struct argp_state *state, const char *list)
{
	unsigned int types = 0;

	for (;;) {
		size_t length = strcspn(list, ",");
		unsigned int type = type_named(list, length);

		if (type == 0)
			argp_error(state, "--type: '%.*s' is none of read, write, fetch, walk-read, "
				   "walk-write", (int)length, list);
		types |= type;
		if (list[length] == '\0')
			return types;
		list += length + 1;
	}
}

static void parse_range(struct argp_state *state, const char *text,
			struct lpl_choice_options *choice)
{
	const char *between = strchr(text, ':');
	char start[32] = "";

	if (between && between - text < (ptrdiff_t)sizeof(start))
		memcpy(start, text, (size_t)(between - text));
	if (start[0] == '\0')
		argp_error(state, "--range is START:END, not '%s'", text);
	else if (strcmp(start, "0") != 0 && strcmp(start, "0x0") != 0)	/* an address here */
		choice->address = cli_address(state, "--range", start);
	if (between)
		choice->address_end = cli_address(state, "--range", between + 1);
	if (choice->address_end <= choice->address)
		argp_error(state, "--range: '%s' ends before it begins", text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct lpl_choice_options *choice = state->input;

	switch (key) {
	case KEY_PROCESS:
		if (*arg == '\0')
			argp_error(state, "--process: nobody is named");
		choice->process = arg;
		break;
	case KEY_CHILDREN:
		choice->children = true;
		break;
	case KEY_TASK:
		if (*arg == '\0')
			argp_error(state, "--task: nobody is named");
		choice->task = arg;
		break;
	case KEY_USER:
		choice->modes |= LPL_CHOOSE_USER;
		break;
	case KEY_KERNEL:
		choice->modes |= LPL_CHOOSE_KERNEL;
		break;
	case KEY_TYPE:
		choice->types |= parse_types(state, arg);
		break;
	case KEY_RANGE:
		parse_range(state, arg, choice);
		break;
	case ARGP_KEY_END:
		if (choice->children && !choice->process && !choice->task)
			argp_error(state, "--children is for --process or --task");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp cli_choice_argp = { option_table, parse_option, NULL, NULL, NULL, NULL, NULL };

/* A range of addresses is one of pages, of which all references are chosen. */
bool cli_chooses_inexactly(const struct lpl_choice_options *choice)
{
	return choice->process || choice->task || choice->modes || choice->types;
}

bool cli_chooses(const struct lpl_choice_options *choice)
{
	return cli_chooses_inexactly(choice) || choice->address_end;
}
