/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time (windows.h): whether a moment is within one.
 *
 * Windows of instructions follow from the count alone: periods, and how many there are, are
 * arithmetic.  The others are a state, `open`, until a deadline if they have one, which changes with
 * the kernel's events.  A task is known from the scheduler's events, which describe the next one,
 * and from its exec, which gives it another name without a switch.  Tasks sleep in system calls while
 * others run; so there is a set of the tasks in a call, and the scheduler's events show whether the
 * one that runs is among them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/map.h"
#include "windows.h"

#define NAME_MAX_BYTES 15	/* of a task's name that Linux keeps */

struct lpl_windows {
	struct lpl_interval said;
	bool is_number;			/* a task or a call is given by its number: */
	uint64_t wanted;

	bool open;			/* not of those that follow from the count alone */
	uint64_t deadline;		/* of an open one's; LPL_WINDOWS_NEVER: it has none */
	uint64_t opened;		/* so far */
	struct lpl_map in_call;		/* tids of the tasks in the call */
};

enum lpl_error lpl_windows_open(struct lpl_windows **windows, const char *spec,
				struct lpl_report *report)
{
	struct lpl_windows *w = calloc(1, sizeof(*w));
	const char *wanted;
	enum lpl_error error;

	*windows = NULL;
	if (w == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for windows");
	lpl_map_init(&w->in_call, 1);
	error = lpl_interval_parse(&w->said, spec, LPL_TO_RECORD, report);
	if (error) {
		lpl_windows_close(w);
		return error;
	}
	w->deadline = LPL_WINDOWS_NEVER;
	wanted = w->said.task ? w->said.task : w->said.syscall;
	w->is_number = wanted && lpl_parse_decimal(wanted, &w->wanted);
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
	return w->said.spec;
}

/* Are they opened by events of the kernel? */
static bool open_by_event(const struct lpl_windows *w)
{
	return w->said.task || w->said.syscall || lpl_moment_is_event(w->said.from.kind);
}

bool lpl_windows_need_kernel(const struct lpl_windows *w)
{
	return open_by_event(w) || lpl_moment_is_event(w->said.until.kind);
}

/* ---- the time ---- */

static uint64_t add_or_never(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? LPL_WINDOWS_NEVER : sum;
}

/* Of one that begins there, by the count alone. */
static uint64_t end_of(const struct lpl_windows *w, uint64_t begin)
{
	if (w->said.until.kind == LPL_MOMENT_INSTRUCTION)
		return w->said.until.number;
	return w->said.length ? add_or_never(begin, w->said.length) : LPL_WINDOWS_NEVER;
}

/* Windows that follow from the count; without `every`, one. */
static bool counted_at(const struct lpl_windows *w, uint64_t instr, uint64_t *next)
{
	const uint64_t every = w->said.every, count = every ? w->said.count : 1;
	uint64_t number, begin;

	*next = w->said.from.number;
	if (instr < *next)
		return false;
	number = every ? (instr - *next) / every : 0;
	begin = *next + number * every;
	*next = LPL_WINDOWS_NEVER;
	if (count != 0 && number >= count)
		return false;
	if (instr < end_of(w, begin)) {
		*next = end_of(w, begin);
		return true;
	}
	if (count == 0 || number + 1 < count)
		*next = add_or_never(begin, every);
	return false;
}

bool lpl_windows_at(struct lpl_windows *w, uint64_t instr, uint64_t *next)
{
	if (!lpl_windows_need_kernel(w))
		return counted_at(w, instr, next);
	if (!open_by_event(w) && !w->opened && instr >= w->said.from.number) {
		w->open = true;
		w->opened++;
	}
	if (w->open && instr >= w->deadline)
		w->open = false;
	*next = w->open ? w->deadline : open_by_event(w) || w->opened ? LPL_WINDOWS_NEVER :
		w->said.from.number;
	return w->open;
}

/* ---- the kernel ---- */

static bool is_moment(const struct lpl_moment *moment, const struct kernel_trace_record *record)
{
	return lpl_moment_comes(moment, record->tag, record->text, record->text_length);
}

static void take_moment(struct lpl_windows *w, const struct kernel_trace_record *record,
			uint64_t instr)
{
	if (w->open) {
		w->open = !is_moment(&w->said.until, record);
		return;
	}
	if (!is_moment(&w->said.from, record) ||
	    (w->said.count != 0 && w->opened == w->said.count))
		return;
	w->open = true;
	w->opened++;
	w->deadline = end_of(w, instr);
}

/* As far as Linux keeps names. */
static bool is_wanted_name(const struct lpl_windows *w, const char *name, size_t length)
{
	size_t most = strnlen(w->said.task, NAME_MAX_BYTES);

	return !w->is_number && (length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES) == most &&
	       memcmp(name, w->said.task, most) == 0;
}

/* What exec makes of a task's name: the last part of the image's path. */
static bool executes_wanted(const struct lpl_windows *w, const struct kernel_trace_record *record)
{
	const char *slash = memrchr(record->text, '/', record->text_length);
	const char *name = slash != NULL ? slash + 1 : record->text;

	return is_wanted_name(w, name, record->text_length - (size_t)(name - record->text));
}

static void take_task(struct lpl_windows *w, const struct kernel_trace_record *record)
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
	return record->text_length == strlen(w->said.syscall) &&
	       memcmp(record->text, w->said.syscall, record->text_length) == 0;
}

static enum lpl_error take_call(struct lpl_windows *w, const struct kernel_trace_record *record,
				struct lpl_report *report)
{
	switch (record->tag) {
	case KTR_SYSCALL_ENTER:
		if (!is_wanted_call(w, record))
			break;
		w->open = true;
		if (!lpl_map_put(&w->in_call, LPL_KEY(record->tid), 1))
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the tasks in a call");
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
	if (w->said.syscall)
		return take_call(w, record, report);
	if (w->said.task)
		take_task(w, record);
	else
		take_moment(w, record, instr);
	return LPL_OK;
}
