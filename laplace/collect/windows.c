/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time (windows.h): what a specification says, and whether a moment is within one.
 *
 * Windows of instructions follow from the count alone: that they are periodic, and what their
 * number is, is arithmetic.  The others are a state that what the kernel says moves: `open`, for
 * marks until a deadline, if they have one.  A task is known by what the scheduler says of the
 * next one, and by its exec, which gives it another name without a switch.  Calls are those of
 * tasks, which sleep in them while others run; so there is a set of who is in one, and the
 * scheduler tells whether the one that runs is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/windows.h>

#include "base/digits.h"
#include "base/map.h"

#define NAME_MAX_BYTES 15	/* of a task's name that Linux keeps */

/* What a part of a specification says; the first four say what opens windows. */
enum part { EVERY, MARK, TASK, SYSCALL, OPENERS, LENGTH = OPENERS, FROM, COUNT, UNTIL, PARTS };

static const struct {
	const char *name;
	bool number;		/* else a text */
	unsigned int with;	/* of which openers it may stand, a bit each */
} parts[PARTS] = {
	[EVERY] =	{ "every", true, 1U << EVERY },
	[MARK] =	{ "mark", false, 1U << MARK },
	[TASK] =	{ "task", false, 1U << TASK },
	[SYSCALL] =	{ "syscall", false, 1U << SYSCALL },
	[LENGTH] =	{ "length", true, 1U << EVERY | 1U << MARK },
	[FROM] =	{ "from", true, 1U << EVERY },
	[COUNT] =	{ "count", true, 1U << EVERY | 1U << MARK },
	[UNTIL] =	{ "until", false, 1U << MARK },
};

struct text {
	const char *at;
	size_t length;
};

struct lpl_windows {
	char spec[LPL_WINDOWS_SIZE];
	enum part opener;
	uint64_t number[PARTS];		/* of those that are numbers; 0: not given */
	struct text text[PARTS];	/* of the others, within `source` */
	char source[LPL_WINDOWS_SIZE];
	bool is_number;			/* a task or a call is given by its number: */
	uint64_t wanted;

	bool open;			/* not of EVERY */
	uint64_t deadline;		/* of an open mark's */
	uint64_t opened;		/* by marks so far */
	struct lpl_map in_call;		/* tids of those who are in the call */
};

/* ---- a specification ---- */

/* The part that begins here, as in "length:"; PARTS: none does. */
static enum part part_at(const char *at)
{
	for (int part = 0; part < PARTS; part++) {
		size_t length = strlen(parts[part].name);

		if (strncmp(at, parts[part].name, length) == 0 && at[length] == ':')
			return (enum part)part;
	}
	return PARTS;
}

/* Where the value ends that begins here: at a separator with a part behind it, or the end. */
static const char *value_end(const char *at)
{
	for (; *at; at++) {
		if ((*at == '+' || *at == ',') && part_at(at + 1) != PARTS)
			break;
	}
	return at;
}

/* 1G, 250k, 10000; 0 and what is beyond 64 bits is none. */
static bool parse_number(struct text value, uint64_t *number)
{
	static const char units[] = "kMGT";
	const char *end = lpl_scan_decimal(value.at, number);
	size_t digits = end != NULL ? (size_t)(end - value.at) : 0, thousands = 0;

	if (digits == 0 || *number == 0 || value.length > digits + 1)
		return false;
	if (value.length > digits) {
		const char *unit = strchr(units, *end);

		if (unit == NULL)
			return false;
		thousands = (size_t)(unit - units) + 1;
	}
	for (; thousands > 0; thousands--) {
		if (__builtin_mul_overflow(*number, (uint64_t)1000, number))
			return false;
	}
	return true;
}

static enum lpl_error take_part(struct lpl_windows *w, enum part part, struct text value,
				struct lpl_report *report)
{
	if (w->text[part].at != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: is given twice",
				parts[part].name);
	w->text[part] = value;
	if (value.length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "nothing follows %s:",
				parts[part].name);
	if (parts[part].number && !parse_number(value, &w->number[part]))
		return lpl_fail(report, LPL_ERR_USAGE, "%s:%.*s is no number from 1 on, "
				"as 10M or 250000", parts[part].name, (int)value.length, value.at);
	return LPL_OK;
}

/* Cut it into its parts. */
static enum lpl_error parse(struct lpl_windows *w, struct lpl_report *report)
{
	const char *at = w->source;

	for (;;) {
		enum part part = part_at(at);
		struct text value;
		enum lpl_error error;

		if (part == PARTS)
			return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is none of every:N, "
					"length:N, from:N, count:N, mark:TEXT, until:TEXT, "
					"task:NAME, syscall:NAME", at);
		value.at = at + strlen(parts[part].name) + 1;
		at = value_end(value.at);
		value.length = (size_t)(at - value.at);
		error = take_part(w, part, value, report);
		if (error || !*at)
			return error;
		at++;
	}
}

/* What opens windows is said once, and what else is said goes with it. */
static enum lpl_error check(struct lpl_windows *w, struct lpl_report *report)
{
	w->opener = OPENERS;
	for (int part = 0; part < OPENERS; part++) {
		if (w->text[part].at == NULL)
			continue;
		if (w->opener != OPENERS)
			return lpl_fail(report, LPL_ERR_USAGE, "%s: and %s: do not go "
					"together", parts[w->opener].name, parts[part].name);
		w->opener = (enum part)part;
	}
	if (w->opener == OPENERS)
		return lpl_fail(report, LPL_ERR_USAGE, "when?  Say every:, mark:, task: or "
				"syscall:");
	for (int part = 0; part < PARTS; part++) {
		if (w->text[part].at != NULL && !(parts[part].with & 1U << w->opener))
			return lpl_fail(report, LPL_ERR_USAGE, "%s: does not go with %s:",
					parts[part].name, parts[w->opener].name);
	}
	if (w->opener == EVERY && w->number[LENGTH] == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "how long?  every: wants length:");
	if (w->opener == EVERY && w->number[LENGTH] > w->number[EVERY])
		return lpl_fail(report, LPL_ERR_USAGE, "a length of %" PRIu64 " is more than "
				"every %" PRIu64, w->number[LENGTH], w->number[EVERY]);
	if (w->text[UNTIL].at != NULL && w->number[LENGTH] != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "until: and length: do not go "
				"together");
	return LPL_OK;
}

/* Numbers without units are longer. */
static enum lpl_error print_spec(struct lpl_windows *w, struct lpl_report *report)
{
	size_t used = 0;

	for (int part = 0; part < PARTS; part++) {
		const struct text *text = &w->text[part];
		int length;

		if (text->at == NULL)
			continue;
		if (parts[part].number)
			length = snprintf(w->spec + used, sizeof(w->spec) - used, "%s%s:%" PRIu64,
					  used ? "+" : "", parts[part].name, w->number[part]);
		else
			length = snprintf(w->spec + used, sizeof(w->spec) - used, "%s%s:%.*s",
					  used ? "+" : "", parts[part].name, (int)text->length,
					  text->at);
		used += (size_t)length;
		if (used >= sizeof(w->spec))
			return lpl_fail(report, LPL_ERR_USAGE, "longer than %d bytes",
					LPL_WINDOWS_SIZE - 1);
	}
	return LPL_OK;
}

enum lpl_error lpl_windows_open(struct lpl_windows **windows, const char *spec,
				struct lpl_report *report)
{
	struct lpl_windows *w = calloc(1, sizeof(*w));
	enum lpl_error error = LPL_OK;

	*windows = NULL;
	if (w == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for windows");
	lpl_map_init(&w->in_call, 1);
	if ((size_t)snprintf(w->source, sizeof(w->source), "%s", spec) >= sizeof(w->source))
		error = lpl_fail(report, LPL_ERR_USAGE, "longer than %d bytes",
				 LPL_WINDOWS_SIZE - 1);
	if (!error)
		error = parse(w, report);
	if (!error)
		error = check(w, report);
	if (!error)
		error = print_spec(w, report);
	if (error) {
		lpl_windows_close(w);
		return error;
	}
	w->deadline = LPL_WINDOWS_NEVER;
	/* the value of the part that opens stands last, or before a plus: digits end there */
	if (w->opener == TASK || w->opener == SYSCALL) {
		const struct text *value = &w->text[w->opener];
		const char *end = lpl_scan_decimal(value->at, &w->wanted);

		w->is_number = end == value->at + value->length;
	}
	*windows = w;
	return LPL_OK;
}

void lpl_windows_close(struct lpl_windows *w)
{
	if (w == NULL)
		return;
	lpl_map_free(&w->in_call);
	free(w);
}

const char *lpl_windows_spec(const struct lpl_windows *w)
{
	return w->spec;
}

bool lpl_windows_need_kernel(const struct lpl_windows *w)
{
	return w->opener != EVERY;
}

/* ---- the time ---- */

static uint64_t add_or_never(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? LPL_WINDOWS_NEVER : sum;
}

static bool periodic_at(const struct lpl_windows *w, uint64_t instr, uint64_t *next)
{
	const uint64_t every = w->number[EVERY], count = w->number[COUNT];
	uint64_t number, begin;

	*next = w->number[FROM];
	if (instr < *next)
		return false;
	number = (instr - *next) / every;
	*next = LPL_WINDOWS_NEVER;
	if (count != 0 && number >= count)
		return false;
	begin = w->number[FROM] + number * every;
	if (instr - begin < w->number[LENGTH]) {
		*next = add_or_never(begin, w->number[LENGTH]);
		return true;
	}
	if (count == 0 || number + 1 < count)
		*next = add_or_never(begin, every);
	return false;
}

bool lpl_windows_at(struct lpl_windows *w, uint64_t instr, uint64_t *next)
{
	if (w->opener == EVERY)
		return periodic_at(w, instr, next);
	if (w->open && instr >= w->deadline)
		w->open = false;
	*next = w->open ? w->deadline : LPL_WINDOWS_NEVER;
	return w->open;
}

/* ---- the kernel ---- */

static bool says(const struct kernel_trace_record *record, struct text text)
{
	return record->text_length == text.length &&
	       memcmp(record->text, text.at, text.length) == 0;
}

static void hear_mark(struct lpl_windows *w, const struct kernel_trace_record *record,
		      uint64_t instr)
{
	if (w->open) {
		w->open = w->text[UNTIL].at == NULL || !says(record, w->text[UNTIL]);
		return;
	}
	if (!says(record, w->text[MARK]) ||
	    (w->number[COUNT] != 0 && w->opened == w->number[COUNT]))
		return;
	w->open = true;
	w->opened++;
	w->deadline = w->number[LENGTH] != 0 ? add_or_never(instr, w->number[LENGTH]) :
					       LPL_WINDOWS_NEVER;
}

/* As far as Linux keeps names. */
static bool is_wanted_name(const struct lpl_windows *w, const char *name, size_t length)
{
	const struct text *wanted = &w->text[TASK];
	size_t most = wanted->length < NAME_MAX_BYTES ? wanted->length : NAME_MAX_BYTES;

	return !w->is_number && (length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES) == most &&
	       memcmp(name, wanted->at, most) == 0;
}

/* What exec makes of a task's name: the last part of the image's path. */
static bool executes_wanted(const struct lpl_windows *w, const struct kernel_trace_record *record)
{
	const char *slash = memrchr(record->text, '/', record->text_length);
	const char *name = slash != NULL ? slash + 1 : record->text;

	return is_wanted_name(w, name, record->text_length - (size_t)(name - record->text));
}

static void hear_task(struct lpl_windows *w, const struct kernel_trace_record *record)
{
	if (record->tag == KTR_SCHEDULE)
		w->open = w->is_number ? record->arg[KTR_SCHEDULE_NEXT_TID] == w->wanted :
					 is_wanted_name(w, record->text, record->text_length);
	else if (record->tag == KTR_EXEC && !w->is_number)
		w->open = executes_wanted(w, record);
}

/* Numbers are those of 64-bit programs. */
static bool is_wanted_call(const struct lpl_windows *w, const struct kernel_trace_record *record)
{
	if (w->is_number)
		return record->arg[KTR_SYSCALL_NUMBER] == w->wanted &&
		       record->arg[KTR_SYSCALL_ABI] == KTR_ABI_64;
	return says(record, w->text[SYSCALL]);
}

static enum lpl_error hear_call(struct lpl_windows *w, const struct kernel_trace_record *record,
				struct lpl_report *report)
{
	switch (record->tag) {
	case KTR_SYSCALL_ENTER:
		if (!is_wanted_call(w, record))
			break;
		w->open = true;
		if (!lpl_map_put(&w->in_call, LPL_KEY(record->tid), 1))
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for who is in a call");
		break;
	case KTR_SYSCALL_EXIT:
		if (is_wanted_call(w, record) &&
		    lpl_map_remove(&w->in_call, LPL_KEY(record->tid)))
			w->open = false;
		break;
	case KTR_EXIT:
		(void)lpl_map_remove(&w->in_call, LPL_KEY(record->arg[KTR_EXIT_TID]));
		break;
	case KTR_SCHEDULE:
		w->open = lpl_map_get(&w->in_call,
				      LPL_KEY(record->arg[KTR_SCHEDULE_NEXT_TID])) != 0;
		break;
	default:
		break;
	}
	return LPL_OK;
}

enum lpl_error lpl_windows_hear(struct lpl_windows *w, const struct kernel_trace_record *record,
				uint64_t instr, struct lpl_report *report)
{
	uint64_t next;

	/* a mark's time may be over, and nobody has looked */
	(void)lpl_windows_at(w, instr, &next);
	if (w->opener == MARK && record->tag == KTR_MARK)
		hear_mark(w, record, instr);
	else if (w->opener == TASK)
		hear_task(w, record);
	else if (w->opener == SYSCALL)
		return hear_call(w, record, report);
	return LPL_OK;
}
