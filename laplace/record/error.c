/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors as values: their names, their reports and their exit statuses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <laplace/error.h>

const char *lpl_error_name(enum lpl_error error)
{
	switch (error) {
	case LPL_OK:			return "ok";
	case LPL_ERR_USAGE:		return "usage";
	case LPL_ERR_UNSUPPORTED:	return "unsupported";
	case LPL_ERR_MEMORY:		return "memory";
	case LPL_ERR_IO:		return "io";
	case LPL_ERR_FULL:		return "full";
	case LPL_ERR_FORMAT:		return "format";
	case LPL_ERR_DAMAGED:		return "damaged";
	case LPL_ERR_TRUNCATED:		return "truncated";
	case LPL_ERR_ORDER:		return "order";
	case LPL_ERR_INTERNAL:		return "internal";
	}
	return "unknown";
}

enum lpl_error lpl_fail(struct lpl_report *report, enum lpl_error error,
			const char *format, ...)
{
	int system_errno = errno;
	va_list arguments;
	size_t used;

	if (!report || report->error != LPL_OK)
		return error;
	report->error = error;
	va_start(arguments, format);
	(void)vsnprintf(report->text, sizeof(report->text), format, arguments);
	va_end(arguments);
	report->system_errno = 0;
	if (error == LPL_ERR_IO || error == LPL_ERR_FULL) {
		char buffer[128];

		report->system_errno = system_errno;
		used = strlen(report->text);
		if (system_errno != 0)
			(void)snprintf(report->text + used, sizeof(report->text) - used,
				       ": %s", strerror_r(system_errno, buffer, sizeof(buffer)));
	}
	errno = system_errno;
	return error;
}

int lpl_error_status(enum lpl_error error)
{
	switch (error) {
	case LPL_OK:
		return 0;
	case LPL_ERR_USAGE:
		return 2;
	case LPL_ERR_FORMAT:
	case LPL_ERR_DAMAGED:
	case LPL_ERR_TRUNCATED:
	case LPL_ERR_ORDER:
		return 3;
	case LPL_ERR_UNSUPPORTED:
	case LPL_ERR_MEMORY:
	case LPL_ERR_IO:
	case LPL_ERR_FULL:
	case LPL_ERR_INTERNAL:
		break;
	}
	return 1;
}
