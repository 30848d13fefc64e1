/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time: the parts of a long run that are recorded.
 *
 *	every:N+length:L[+from:F][+count:C]	instructions F to F + L, F + N to F + N + L ...
 *	[from:MOMENT][+until:MOMENT|+length:L][+count:C]
 *						from a count of instructions, a mark or an exec to
 *						another, or for so many instructions, or to the
 *						end; by events again at the next
 *	task:NAME, task:TID			while a task of that name, or the one of that
 *						number, has the processor
 *	syscall:NAME, syscall:NUMBER		while one that is in that call has it
 *
 * select/when.c has the grammar.  N, L and F are instruction counts since power-on, C is a number of
 * windows.  Only the guest's kernel can report marks, images, tasks and calls, and of calls only those
 * that its module was asked to report.
 *
 * This knows nothing of a simulator.  It is given the time and the kernel's events, and answers
 * whether that is within a window; so the same run always gives the same windows.  C++ may
 * include this header.  (Not to be confused with the windows of so many pages by which
 * `window:K` reduces.)
 */
#ifndef LAPLACE_COLLECT_WINDOWS_H
#define LAPLACE_COLLECT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/error.h>
#include <laplace/kernel_trace_record.h>

#include "select/when.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "Not by itself": no instruction count at which a window begins or ends. */
#define LPL_WINDOWS_NEVER UINT64_MAX

struct lpl_windows;

/*
 * Read a specification.  LPL_ERR_USAGE: it is none, and the report says what is wrong with it;
 * LPL_ERR_MEMORY.  *windows is NULL then.
 */
enum lpl_error lpl_windows_open(struct lpl_windows **windows, const char *spec,
				struct lpl_report *report);
void lpl_windows_close(struct lpl_windows *windows);	/* NULL is fine */

/* The specification, with plus signs and whole numbers; owned by windows. */
const char *lpl_windows_spec(const struct lpl_windows *windows);

/* Do they depend on what the guest's kernel reports? */
bool lpl_windows_need_kernel(const struct lpl_windows *windows);

/*
 * Is the instruction with this count (0 is the first since power-on) within a window?  *next is
 * the next count at which the answer changes without an event of the kernel, or LPL_WINDOWS_NEVER.
 * Counts do not run backwards from call to call.
 */
bool lpl_windows_at(struct lpl_windows *windows, uint64_t instr, uint64_t *next);

/*
 * The kernel reports this event, at that instruction count.  A window that an event opens begins
 * with that event, and one that an event closes ends after it.  LPL_ERR_MEMORY: the answers may be
 * wrong from here on.
 */
enum lpl_error lpl_windows_take(struct lpl_windows *windows,
				const struct kernel_trace_record *record, uint64_t instr,
				struct lpl_report *report);

#ifdef __cplusplus
}
#endif

#endif
