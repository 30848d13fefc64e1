/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passing an error on to the caller, where there is nothing to undo. */
#ifndef LAPLACE_BASE_TRY_H
#define LAPLACE_BASE_TRY_H

#include <laplace/error.h>

/* Return the error of a call that fails; the call has filled its report. */
#define LPL_TRY(call) \
	do { \
		const enum lpl_error lpl_try_error = (call); \
		if (lpl_try_error != LPL_OK) \
			return lpl_try_error; \
	} while (0)

#endif
