/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol of the control socket: requests, and the replies to them.
 *
 * A request is one line, a verb and for `mark` a text; the reply is one JSON object and a newline:
 *
 *	flush
 *	{"laplace":1,"ok":true,"request":"flush","status":{...}}
 *	mark
 *	{"laplace":1,"ok":false,"error":"mark wants a text"}
 *
 * `laplace` is the version of the protocol; `status` is how the run was when the request had been
 * done.  A client may send requests one after the other, and gets its replies in that order.
 *
 * C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_CONTROL_REQUEST_H
#define LAPLACE_COLLECT_CONTROL_REQUEST_H

#include <stddef.h>

#include <laplace/error.h>
#include <laplace/kernel_trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LPL_CONTROL_VERSION 1

/* REQUEST(name, what follows it, what it does) */
#define LPL_REQUESTS(REQUEST) \
	REQUEST(status, "", "report the state of the run") \
	REQUEST(start, "", "record from now on") \
	REQUEST(stop, "", "record no more, for now") \
	REQUEST(mark, "TEXT", "put TEXT into the trace, as an event") \
	REQUEST(flush, "", "make all that happened so far readable in the trace") \
	REQUEST(rotate, "", "end this segment of the trace, and begin the next") \
	REQUEST(checkpoint, "", "save the machine, so that the run can be resumed here") \
	REQUEST(quit, "", "end the run, and close the trace") \
	REQUEST(help, "", "list these requests")

enum lpl_request {
#define LPL_REQUEST_NUMBER(name, text, summary) LPL_REQUEST_##name,
	LPL_REQUESTS(LPL_REQUEST_NUMBER)
#undef LPL_REQUEST_NUMBER
	LPL_REQUEST_COUNT
};

#define LPL_CONTROL_TEXT KTR_TEXT	/* bytes of a mark's text, at most */
#define LPL_CONTROL_LINE 512		/* of a request, its newline included */

struct lpl_control_request {
	enum lpl_request what;
	char text[LPL_CONTROL_TEXT + 1];	/* of a mark; else "" */
};

/*
 * Read a request's line, without its newline (a carriage return at its end is left out).
 * LPL_ERR_USAGE: it is none.
 */
enum lpl_error lpl_control_parse(struct lpl_control_request *request, const char *line,
				 size_t length, struct lpl_report *report);

const char *lpl_control_verb(enum lpl_request what);

/* Replies: a line each, to be freed; NULL: no memory.  `status` may be NULL. */
char *lpl_control_reply_done(enum lpl_request what, const char *status);
char *lpl_control_reply_failed(const char *why);
char *lpl_control_reply_help(void);

#ifdef __cplusplus
}
#endif

#endif
