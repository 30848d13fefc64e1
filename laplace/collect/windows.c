/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time (windows.h): what a specification says, and whether a moment is within one.
 *
 * Windows of instructions follow from the count alone: that they are periodic, and what their
 * number is, is arithmetic.  The others are a state that what the kernel says moves: `open`, for
 * marks until a deadline, if they have one.  A task is known by what the scheduler says of the
 * next one, and by its exec, which gives it another name without a switch.  Calls are those of
 * tasks, which sleep in them while others run; so there is a set of who is in one, and the
 * scheduler says whether the one that runs is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/map.h"
#include "base/parts.h"
#include "windows.h"

#define NAME_MAX_BYTES 15	/* of a task's name that Linux keeps */

/* What a part of a specification says; the first four say what opens windows. */
enum part { EVERY, MARK, TASK, SYSCALL, OPENERS, LENGTH = OPENERS, FROM, COUNT, UNTIL, PARTS };

static const struct lpl_part parts[PARTS] = {
	[EVERY] = { "every", "N" }, [MARK] = { "mark", "TEXT" }, [TASK] = { "task", "NAME" },
	[SYSCALL] = { "syscall", "NAME" }, [LENGTH] = { "length", "N" }, [FROM] = { "from", "N" },
	[COUNT] = { "count", "N" }, [UNTIL] = { "until", "TEXT" },
};

/* With which openers each may stand, a bit each. */
static const unsigned int goes_with[PARTS] = {
	[EVERY] = 1U << EVERY, [MARK] = 1U << MARK, [TASK] = 1U << TASK,
	[SYSCALL] = 1U << SYSCALL, [LENGTH] = 1U << EVERY | 1U << MARK, [FROM] = 1U << EVERY,
	[COUNT] = 1U << EVERY | 1U << MARK, [UNTIL] = 1U << MARK,
};

struct lpl_windows {
	char spec[LPL_WINDOWS_SIZE];
	enum part opener;
	struct lpl_part_value said[PARTS];	/* within `source` */
	char source[LPL_WINDOWS_SIZE];
	bool is_number;			/* a task or a call is given by its number: */
	uint64_t wanted;

	bool open;			/* not of EVERY */
	uint64_t deadline;		/* of an open mark's */
	uint64_t opened;		/* by marks so far */
	struct lpl_map in_call;		/* tids of those who are in the call */
};

/* ---- a specification ---- */

/* What opens windows is said once, and what else is said goes with it. */
static enum lpl_error check(struct lpl_windows *w, struct lpl_report *report)
{
	w->opener = OPENERS;
	for (int part = 0; part < OPENERS; part++) {
		if (w->said[part].text == NULL)
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
		if (w->said[part].text != NULL && !(goes_with[part] & 1U << w->opener))
			return lpl_fail(report, LPL_ERR_USAGE, "%s: does not go with %s:",
					parts[part].name, parts[w->opener].name);
	}
	if (w->opener == EVERY && w->said[LENGTH].number == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "how long?  every: wants length:");
	if (w->opener == EVERY && w->said[LENGTH].number > w->said[EVERY].number)
		return lpl_fail(report, LPL_ERR_USAGE, "a length of %" PRIu64 " is more than "
				"every %" PRIu64, w->said[LENGTH].number, w->said[EVERY].number);
	if (w->said[UNTIL].text != NULL && w->said[LENGTH].number != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "until: and length: do not go "
				"together");
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
		error = lpl_parts_parse(parts, PARTS, w->source, w->said, report);
	if (!error)
		error = check(w, report);
	if (!error)
		error = lpl_parts_print(parts, PARTS, w->said, w->spec, sizeof(w->spec),
					report);
	if (error) {
		lpl_windows_close(w);
		return error;
	}
	w->deadline = LPL_WINDOWS_NEVER;
	/* the value of the part that opens stands last, or before a plus: digits end there */
	if (w->opener == TASK || w->opener == SYSCALL) {
		const struct lpl_part_value *value = &w->said[w->opener];
		const char *end = lpl_scan_decimal(value->text, &w->wanted);

		w->is_number = end == value->text + value->length;
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
	const uint64_t every = w->said[EVERY].number, count = w->said[COUNT].number;
	uint64_t number, begin;

	*next = w->said[FROM].number;
	if (instr < *next)
		return false;
	number = (instr - *next) / every;
	*next = LPL_WINDOWS_NEVER;
	if (count != 0 && number >= count)
		return false;
	begin = w->said[FROM].number + number * every;
	if (instr - begin < w->said[LENGTH].number) {
		*next = add_or_never(begin, w->said[LENGTH].number);
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

static bool says(const struct kernel_trace_record *record, struct lpl_part_value value)
{
	return record->text_length == value.length &&
	       memcmp(record->text, value.text, value.length) == 0;
}

static void hear_mark(struct lpl_windows *w, const struct kernel_trace_record *record,
		      uint64_t instr)
{
	if (w->open) {
		w->open = w->said[UNTIL].text == NULL || !says(record, w->said[UNTIL]);
		return;
	}
	if (!says(record, w->said[MARK]) ||
	    (w->said[COUNT].number != 0 && w->opened == w->said[COUNT].number))
		return;
	w->open = true;
	w->opened++;
	w->deadline = LPL_WINDOWS_NEVER;
	if (w->said[LENGTH].number != 0)
		w->deadline = add_or_never(instr, w->said[LENGTH].number);
}

/* As far as Linux keeps names. */
static bool is_wanted_name(const struct lpl_windows *w, const char *name, size_t length)
{
	const struct lpl_part_value *wanted = &w->said[TASK];
	size_t most = wanted->length < NAME_MAX_BYTES ? wanted->length : NAME_MAX_BYTES;

	return !w->is_number && (length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES) == most &&
	       memcmp(name, wanted->text, most) == 0;
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
	return says(record, w->said[SYSCALL]);
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

enum lpl_error lpl_windows_take(struct lpl_windows *w, const struct kernel_trace_record *record,
				uint64_t instr, struct lpl_report *report)
{
	uint64_t next;

	/* a mark's time may be over, and it was not looked at */
	(void)lpl_windows_at(w, instr, &next);
	if (w->opener == MARK && record->tag == KTR_MARK)
		hear_mark(w, record, instr);
	else if (w->opener == TASK)
		hear_task(w, record);
	else if (w->opener == SYSCALL)
		return hear_call(w, record, report);
	return LPL_OK;
}
