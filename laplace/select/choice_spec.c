/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choices in words: "process:gzip+children+type:read"; select.h has the grammar. */
#include <laplace/select.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/parts.h"
#include "base/try.h"
#include "when.h"

enum { PROCESS, TASK, CHILDREN, USER, KERNEL, TYPE, RANGE, KIND, FILE_NAMED, FROM, TO, UNTIL,
       PARTS };
static const struct lpl_part parts[PARTS] = {
	[PROCESS] = { "process", "NAME", 0 }, [TASK] = { "task", "NAME", 0 },
	[CHILDREN] = { "children", NULL, 0 }, [USER] = { "user", NULL, 0 },
	[KERNEL] = { "kernel", NULL, 0 }, [TYPE] = { "type", "TYPE", 0 },
	[RANGE] = { "range", "START:END", 0 }, [KIND] = { "kind", "KIND", 0 },
	[FILE_NAMED] = { "file", "PATH", 0 }, [FROM] = { "from", "MOMENT", 0 },
	[TO] = { "to", "MOMENT", 0 }, [UNTIL] = { "until", "MOMENT", 0 }
};
static const struct lpl_parts table = { parts, PARTS, 0, NULL };

static const char *const type_name[LPL_TYPES] = {
	[LPL_READ] = "read", [LPL_WRITE] = "write", [LPL_FETCH] = "fetch",
	[LPL_WALK_READ] = "walk-read", [LPL_WALK_WRITE] = "walk-write"
};

/* ---- reading ---- */

/* 0: there is no such type. */
static unsigned int type_named(const char *name, size_t length)
{
	for (unsigned int i = 0; i < LPL_TYPES; i++)
		if ((length == 1 && name[0] == lpl_type_letter((enum lpl_type)i)) ||
		    (length == strlen(type_name[i]) && memcmp(name, type_name[i], length) == 0))
			return 1U << i;
	return 0;
}

static enum lpl_error set_types(struct lpl_choice_options *options, const char *list,
				struct lpl_report *report)
{
	for (;;) {
		const size_t length = strcspn(list, "+,");
		const unsigned int type = type_named(list, length);

		if (type == 0)
			return lpl_fail(report, LPL_ERR_USAGE, "'%.*s' is none of read, write, fetch, "
					"walk-read, walk-write", length < 40 ? (int)length : 40, list);
		options->types |= type;
		if (list[length] == '\0')
			return LPL_OK;
		list += length + 1;
	}
}

static size_t prefix(const char *number)
{
	return strncmp(number, "0x", 2) == 0 ? 2 : 0;
}

static enum lpl_error set_range(struct lpl_choice_options *options, const char *value,
				struct lpl_report *report)
{
	const char *end = lpl_scan_hex(value + prefix(value), &options->address);

	if (end != NULL && *end == ':')
		end = lpl_scan_hex(end + 1 + prefix(end + 1), &options->address_end);
	else
		end = NULL;
	if (end == NULL || *end != '\0')
		return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is not START:END, two hexadecimal "
				"addresses", value);
	if (options->address_end <= options->address)
		return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' ends before it begins", value);
	return LPL_OK;
}

static enum lpl_error set_name(const char **name, const char *value, struct lpl_report *report)
{
	if (*value == '\0')
		return lpl_fail(report, LPL_ERR_USAGE, "nothing is named");
	*name = value;
	return LPL_OK;
}

static enum lpl_error set(struct lpl_choice_options *options, int part, const char *value,
			  struct lpl_report *report)
{
	switch (part) {
	case PROCESS:
		return set_name(&options->process, value, report);
	case TASK:
		return set_name(&options->task, value, report);
	case CHILDREN:
		options->children = true;
		break;
	case USER:
		options->modes |= LPL_CHOOSE_USER;
		break;
	case KERNEL:
		options->modes |= LPL_CHOOSE_KERNEL;
		break;
	case TYPE:
		return set_types(options, value, report);
	case RANGE:
		return set_range(options, value, report);
	case KIND:
		return set_name(&options->kinds, value, report);
	case FILE_NAMED:
		return set_name(&options->file, value, report);
	case FROM:
		return lpl_moment_parse(&options->from, value, LPL_TO_CHOOSE, report);
	case TO:
	case UNTIL:
		return lpl_moment_parse(&options->to, value, LPL_TO_CHOOSE, report);
	default:
		break;
	}
	return LPL_OK;
}

enum lpl_error lpl_choice_set(struct lpl_choice_options *options, const char *name,
			      const char *value, struct lpl_report *report)
{
	for (int part = 0; part < PARTS; part++)
		if (strcmp(parts[part].name, name) == 0)
			return set(options, part, value, report);
	return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is no choice", name);
}

enum lpl_error lpl_choice_parse(struct lpl_choice_options *options, char words[LPL_CHOICE_SIZE],
				const char *spec, struct lpl_report *report)
{
	struct lpl_part_value values[PARTS];

	*options = (struct lpl_choice_options){ .process = NULL };
	if (strlen(spec) >= LPL_CHOICE_SIZE)
		return lpl_fail(report, LPL_ERR_USAGE, "a choice is at most %d bytes long",
				LPL_CHOICE_SIZE - 1);
	LPL_TRY(lpl_parts_parse(&table, spec, values, report));
	if (values[TO].text != NULL && values[UNTIL].text != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "until: and to: do not go together");
	for (int part = 0; part < PARTS; part++) {
		const struct lpl_part_value *value = &values[part];

		if (value->text != NULL) {	/* shorter than the specification, all together */
			memcpy(words, value->text, value->length);
			words[value->length] = '\0';
		}
		if (value->text != NULL || value->plain)
			LPL_TRY(set(options, part, words, report));
		words += value->text != NULL ? value->length + 1 : 0;
	}
	if (options->children && !options->process && !options->task)
		return lpl_fail(report, LPL_ERR_USAGE, "children of whom?  a process or a task is "
				"missing");
	return LPL_OK;
}

/* ---- saying it ---- */

static void give(struct lpl_part_value *value, const char *text)
{
	if (text != NULL && text[0] != '\0')
		*value = (struct lpl_part_value){ .text = text, .length = strlen(text) };
}

/* Of what it was made from, of which texts may hold what looks like a part. */
static bool means_the_same(const struct lpl_part_value values[PARTS], const char *spec)
{
	struct lpl_part_value read[PARTS];

	if (lpl_parts_parse(&table, spec, read, NULL))
		return false;
	for (int part = 0; part < PARTS; part++)
		if (read[part].plain != values[part].plain ||
		    read[part].length != values[part].length)
			return false;
	return true;
}

enum lpl_error lpl_choice_say(char spec[LPL_CHOICE_SIZE], const struct lpl_choice_options *options,
			      struct lpl_report *report)
{
	struct lpl_part_value values[PARTS] = {
		[CHILDREN].plain = options->children,
		[USER].plain = (options->modes & LPL_CHOOSE_USER) != 0,
		[KERNEL].plain = (options->modes & LPL_CHOOSE_KERNEL) != 0
	};
	char types[64] = "", range[40] = "", from[LPL_WHEN_SIZE], to[LPL_WHEN_SIZE];

	give(&values[PROCESS], options->process);
	give(&values[TASK], options->task);
	for (unsigned int i = 0; i < LPL_TYPES; i++)
		if (options->types >> i & 1)
			snprintf(types + strlen(types), sizeof(types) - strlen(types), "%s%s",
				 types[0] ? "+" : "", type_name[i]);
	give(&values[TYPE], types);
	if (options->address_end)
		snprintf(range, sizeof(range), "%" PRIx64 ":%" PRIx64, options->address,
			 options->address_end);
	give(&values[RANGE], range);
	give(&values[KIND], options->kinds);
	give(&values[FILE_NAMED], options->file);
	if (lpl_moment_say(from, &options->from, report) || lpl_moment_say(to, &options->to, report))
		return LPL_ERR_USAGE;
	give(&values[FROM], from);
	give(&values[TO], to);
	if (lpl_parts_print(&table, values, spec, LPL_CHOICE_SIZE, NULL))
		return lpl_fail(report, LPL_ERR_USAGE, "to say what is chosen takes more than %d bytes",
				LPL_CHOICE_SIZE - 1);
	if (spec[0] != '\0' && !means_the_same(values, spec))
		return lpl_fail(report, LPL_ERR_USAGE, "'%.80s' would be read as another choice: a name "
				"has a word of it in it", spec);
	return LPL_OK;
}

bool lpl_choice_beyond_tasks(const struct lpl_choice_options *options)
{
	return options->modes != 0 || options->types != 0 || options->address_end != 0 ||
	       options->kinds != NULL || options->file != NULL ||
	       options->from.kind != LPL_MOMENT_NONE || options->to.kind != LPL_MOMENT_NONE;
}

bool lpl_choice_chooses(const struct lpl_choice_options *options)
{
	return options->process || options->task || lpl_choice_beyond_tasks(options);
}

enum lpl_trace_part lpl_choice_part(const struct lpl_choice_options *options, uint64_t page_size)
{
	if (options->process || options->task || options->modes || options->types ||
	    options->from.kind || options->to.kind)
		return LPL_PART_REFERENCES;
	/* the rest of a page at the range's ends is as good as what is in it */
	if (page_size == 0 ? options->address_end != 0 :
	    options->address % page_size != 0 || options->address_end % page_size != 0)
		return LPL_PART_REFERENCES;
	return lpl_choice_chooses(options) ? LPL_PART_PAGES : LPL_PART_ALL;
}
