/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The grammar of moments and intervals (when.h); docs/moments.md has it for people.
 *
 *	moments  = moment { plus moment }		the first of them counts
 *	moment   = ( "instructions:" | "references:" | "cycles:" | "bytes:" ) number
 *		 | ( "seconds:" | "uptime:" ) seconds | "mark:" text | "exec:" name
 *	interval = part { plus part }
 *	part     = "from:" moment | ( "until:" | "to:" ) moment | "length:" number
 *		 | "every:" number | "count:" number | "task:" name | "syscall:" name
 *	plus     = "+" | ","
 *	number   = digit { digit } [ "k" | "M" | "G" | "T" ]	thousands; not 0
 *	seconds  = digit { digit } [ "k" | "M" | "G" | "T" | "." { digit } ]
 *
 * A text or a name ends where a plus and another word follow, or at the end.  Older words for parts:
 *
 *	"mark:" text	is "from:mark:" text
 *	"until:" text	is "until:mark:" text, if it is no moment
 *	"from:" number	is "from:instructions:" number
 *
 * In choices (choice_spec.c) "from:", "until:" and "to:" are words among others.
 */
#include "when.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parts.h"
#include "base/try.h"
#include "file_name.h"

static const char *const use_name[LPL_WHEN_USES] = {
	"the start", "the stop", "the end", "segments", "windows", "checkpoints", "choices"
};
enum {
	START = 1U << LPL_TO_START, STOP = 1U << LPL_TO_STOP, END = 1U << LPL_TO_END,
	CUT = 1U << LPL_TO_CUT, RECORD = 1U << LPL_TO_RECORD, SAVE = 1U << LPL_TO_SAVE,
	CHOOSE = 1U << LPL_TO_CHOOSE
};

/* Conditions and intervals are kept as they are said; a moment is not. */
static enum lpl_error check_length(const char *spec, struct lpl_report *report)
{
	return strlen(spec) < LPL_WHEN_SIZE ? LPL_OK :
	       lpl_fail(report, LPL_ERR_USAGE, "longer than %d bytes", LPL_WHEN_SIZE - 1);
}

/* ---- moments ---- */

/*
 * In the order in which they are said.  Nothing has been recorded, or written, before recording starts;
 * and to stop by the host's clock would make a trace that no other run has, in a run that goes on.
 */
enum { KINDS = LPL_MOMENT_KINDS - 1 };
static const struct lpl_part kinds[KINDS] = {
	{ "instructions", "N", START | STOP | END | CUT | RECORD | CHOOSE },
	{ "references", "N", STOP | END | CHOOSE },
	{ "cycles", "N", CHOOSE },
	{ "bytes", "N", END | CUT },
	{ "seconds", "S", END | CHOOSE },
	{ "uptime", "S", CHOOSE },
	{ "mark", "TEXT", START | STOP | END | RECORD | CHOOSE },
	{ "exec", "NAME", START | STOP | END | RECORD | CHOOSE },
};
static const enum lpl_moment_kind kind_of[KINDS] = {
	LPL_MOMENT_INSTRUCTION, LPL_MOMENT_REFERENCE, LPL_MOMENT_CYCLE, LPL_MOMENT_BYTES,
	LPL_MOMENT_TIME, LPL_MOMENT_UPTIME, LPL_MOMENT_MARK, LPL_MOMENT_EXEC
};

static struct lpl_parts kinds_for(enum lpl_when_use use)
{
	return (struct lpl_parts){ kinds, KINDS, 1U << use, use_name[use] };
}

bool lpl_moment_is_event(enum lpl_moment_kind kind)
{
	return kind == LPL_MOMENT_MARK || kind == LPL_MOMENT_EXEC;
}

/* A list of moments, by row of `kinds`. */
static enum lpl_error parse_list(struct lpl_part_value said[KINDS], const char *spec,
				 enum lpl_when_use use, struct lpl_report *report)
{
	const struct lpl_parts table = kinds_for(use);
	enum lpl_error error = lpl_parts_parse(&table, spec, said, report);

	/* of seconds: it begins then; and what never comes is no condition */
	for (int i = 0; i < KINDS && !error && use != LPL_TO_CHOOSE; i++)
		if (said[i].text && (said[i].number == 0 || said[i].number == LPL_NEVER) &&
		    !lpl_moment_is_event(kind_of[i]))
			error = lpl_fail(report, LPL_ERR_USAGE, "%s:%.*s is no number from 1 on",
					 kinds[i].name, (int)said[i].length, said[i].text);
	return error;
}

enum lpl_error lpl_moment_parse(struct lpl_moment *moment, const char *spec, enum lpl_when_use use,
				struct lpl_report *report)
{
	struct lpl_part_value said[KINDS] = { 0 };
	enum lpl_error error = parse_list(said, spec, use, report);

	*moment = (struct lpl_moment){ LPL_MOMENT_NONE, 0, NULL };
	for (int i = 0; i < KINDS && !error; i++) {
		if (said[i].text == NULL)
			continue;
		if (moment->kind != LPL_MOMENT_NONE)
			error = lpl_fail(report, LPL_ERR_USAGE, "'%.40s' are two moments", spec);
		*moment = (struct lpl_moment){ kind_of[i], said[i].number, said[i].text };
	}
	return error;
}

enum lpl_error lpl_moment_say(char spec[LPL_WHEN_SIZE], const struct lpl_moment *moment,
			      struct lpl_report *report)
{
	const struct lpl_parts table = kinds_for(LPL_TO_CHOOSE);
	const char *text = lpl_moment_is_event(moment->kind) && moment->text ? moment->text : "";
	struct lpl_part_value said[KINDS] = { 0 };

	for (int i = 0; i < KINDS; i++) {
		if (kind_of[i] == moment->kind)
			said[i] = (struct lpl_part_value){ text, strlen(text), moment->number, false };
	}
	return lpl_parts_print(&table, said, spec, LPL_WHEN_SIZE, report);
}

bool lpl_moment_comes(const struct lpl_moment *moment, uint32_t tag, const char *text, size_t length)
{
	if (moment->kind == LPL_MOMENT_EXEC)
		return tag == KTR_EXEC && lpl_is_file(moment->text, text, length);
	return moment->kind == LPL_MOMENT_MARK && (tag == KTR_MARK || tag == LPL_EVENT_MARK) &&
	       length == strlen(moment->text) && memcmp(text, moment->text, length) == 0;
}

/* ---- conditions ---- */

void lpl_conditions_clear(struct lpl_conditions *c)
{
	memset(c, 0, sizeof(*c));
	for (int kind = 0; kind < LPL_MOMENT_KINDS; kind++)
		c->number[kind] = LPL_NEVER;
}

enum lpl_error lpl_conditions_parse(struct lpl_conditions *c, const char *spec,
				    enum lpl_when_use use, struct lpl_report *report)
{
	const struct lpl_parts table = kinds_for(use);
	struct lpl_part_value said[KINDS] = { 0 };
	enum lpl_error error = check_length(spec, report);

	lpl_conditions_clear(c);
	if (!error)
		error = parse_list(said, spec, use, report);
	if (!error)
		error = lpl_parts_print(&table, said, c->spec, sizeof(c->spec), report);
	if (error)
		c->spec[0] = '\0';
	for (int i = 0; i < KINDS && !error; i++) {
		if (lpl_moment_is_event(kind_of[i]) && said[i].text)
			memcpy(c->text[kind_of[i]], said[i].text, said[i].length);
		else if (said[i].text)
			c->number[kind_of[i]] = said[i].number;
	}
	return error;
}

bool lpl_conditions_need_kernel(const struct lpl_conditions *c)
{
	return c->text[LPL_MOMENT_MARK][0] != '\0' || c->text[LPL_MOMENT_EXEC][0] != '\0';
}

bool lpl_condition_holds(const struct lpl_conditions *c, enum lpl_moment_kind which, uint64_t now)
{
	return c->number[which] != LPL_NEVER && now >= c->number[which];
}

static struct lpl_moment moment_of(const struct lpl_conditions *c, enum lpl_moment_kind which)
{
	return (struct lpl_moment){ which, c->number[which], c->text[which] };
}

enum lpl_moment_kind lpl_conditions_take(const struct lpl_conditions *c,
					 const struct kernel_trace_record *record)
{
	const enum lpl_moment_kind which =
		record->tag == KTR_EXEC ? LPL_MOMENT_EXEC : LPL_MOMENT_MARK;
	const struct lpl_moment moment = moment_of(c, which);

	return c->text[which][0] != '\0' && lpl_moment_comes(&moment, record->tag, record->text,
							    record->text_length) ?
		       which : LPL_MOMENT_NONE;
}

char *lpl_condition_say(const struct lpl_conditions *c, enum lpl_moment_kind which,
			char said[LPL_WHEN_SIZE])
{
	const struct lpl_moment moment = moment_of(c, which);

	(void)lpl_moment_say(said, &moment, NULL);	/* no longer than the whole */
	return said;
}

/* ---- intervals ---- */

enum part { EVERY, MARK, TASK, SYSCALL, LENGTH, FROM, COUNT, UNTIL, TO, PARTS };
static const struct lpl_part parts[PARTS] = {
	[EVERY] = { "every", "N", RECORD | SAVE }, [MARK] = { "mark", "TEXT", RECORD },
	[TASK] = { "task", "NAME", RECORD }, [SYSCALL] = { "syscall", "NAME", RECORD },
	[LENGTH] = { "length", "N", RECORD }, [FROM] = { "from", "MOMENT", RECORD },
	[COUNT] = { "count", "N", RECORD }, [UNTIL] = { "until", "MOMENT", RECORD },
	[TO] = { "to", "MOMENT", RECORD }
};

/* With which of those that follow each does not go, a bit each. */
static const unsigned int excludes[PARTS] = {
	[EVERY] = 1U << MARK | 1U << TASK | 1U << SYSCALL | 1U << UNTIL | 1U << TO,
	[MARK] = 1U << TASK | 1U << SYSCALL | 1U << FROM, [TASK] = ~0U, [SYSCALL] = ~0U,
	[LENGTH] = 1U << UNTIL | 1U << TO, [UNTIL] = 1U << TO
};

/* A value as a string of its own, at *words, which is moved past it; NULL: there is none. */
static const char *keep(char **words, const struct lpl_part_value *value)
{
	char *kept = *words;

	if (value->text == NULL)
		return NULL;
	memcpy(kept, value->text, value->length);
	kept[value->length] = '\0';
	*words += value->length + 1;
	return kept;
}

static enum lpl_error check_parts(const struct lpl_part_value said[PARTS], struct lpl_report *report)
{
	for (int i = 0; i < PARTS; i++) {
		for (int other = i + 1; other < PARTS; other++)
			if (said[i].text && said[other].text && (excludes[i] & 1U << other))
				return lpl_fail(report, LPL_ERR_USAGE, "%s: and %s: do not go together",
						parts[i].name, parts[other].name);
	}
	return LPL_OK;
}

static enum lpl_error check_window(const struct lpl_interval *i, struct lpl_report *report)
{
	const bool by_event = lpl_moment_is_event(i->from.kind);

	if (!i->every && !i->task && !i->syscall && !i->from.kind && !i->until.kind)
		return lpl_fail(report, LPL_ERR_USAGE, "when?  Say from:, every:, task: or syscall:");
	if (i->every && !i->length)
		return lpl_fail(report, LPL_ERR_USAGE, "how long?  every: wants length:");
	if (i->every && i->length > i->every)
		return lpl_fail(report, LPL_ERR_USAGE, "a length of %" PRIu64 " is more than "
				"every %" PRIu64, i->length, i->every);
	if (i->every && by_event)
		return lpl_fail(report, LPL_ERR_USAGE, "every: counts from:instructions:N on");
	if (i->count && !i->every && !by_event)
		return lpl_fail(report, LPL_ERR_USAGE, "count: of what?  This comes once");
	if (i->until.kind == LPL_MOMENT_INSTRUCTION && i->until.number <= i->from.number)
		return lpl_fail(report, LPL_ERR_USAGE, "it ends before it begins");
	return LPL_OK;
}

/*
 * Of a part with a moment as its value, or, as in older specifications, with what follows `old`,
 * the kind.  Its value becomes what is said again, in `again`.
 */
static enum lpl_error take_moment(struct lpl_moment *moment, struct lpl_part_value *said, const char *text,
				  const char *old, char again[LPL_WHEN_SIZE], enum lpl_when_use use,
				  struct lpl_report *report)
{
	const struct lpl_parts table = kinds_for(use);
	char whole[LPL_WHEN_SIZE + 16];

	if (lpl_parts_begin(&table, text))
		old = "";
	snprintf(whole, sizeof(whole), "%s%s", old, text);
	LPL_TRY(lpl_moment_parse(moment, whole, use, report));
	LPL_TRY(lpl_moment_say(again, moment, report));
	moment->text = *old ? text : strchr(text, ':') + 1;
	said->text = again + strlen(old);
	said->length = strlen(said->text);
	return LPL_OK;
}

enum lpl_error lpl_interval_parse(struct lpl_interval *interval, const char *spec,
				  enum lpl_when_use use, struct lpl_report *report)
{
	const struct lpl_parts table = { parts, PARTS, 1U << use, use_name[use] };
	char from[LPL_WHEN_SIZE], until[LPL_WHEN_SIZE], *words = interval->words;
	struct lpl_part_value said[PARTS] = { 0 };
	const char *text[PARTS];

	memset(interval, 0, sizeof(*interval));
	LPL_TRY(check_length(spec, report));
	LPL_TRY(lpl_parts_parse(&table, spec, said, report));
	LPL_TRY(check_parts(said, report));
	for (int part = 0; part < PARTS; part++)
		text[part] = keep(&words, &said[part]);
	interval->length = said[LENGTH].number;
	interval->every = said[EVERY].number;
	interval->count = said[COUNT].number;
	interval->task = text[TASK];
	interval->syscall = text[SYSCALL];
	if (text[MARK])
		interval->from = (struct lpl_moment){ LPL_MOMENT_MARK, 0, text[MARK] };
	if (text[FROM])
		LPL_TRY(take_moment(&interval->from, &said[FROM], text[FROM], *text[FROM] >= '0' &&
				    *text[FROM] <= '9' ? "instructions:" : "", from, use, report));
	for (int part = UNTIL; part <= TO; part++)
		if (text[part])
			LPL_TRY(take_moment(&interval->until, &said[part], text[part], "mark:",
					    until, use, report));
	if (use == LPL_TO_RECORD)
		LPL_TRY(check_window(interval, report));
	return lpl_parts_print(&table, said, interval->spec, LPL_WHEN_SIZE, report);
}
