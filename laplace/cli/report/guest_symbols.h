/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbols of the kernel that `laplace run' booted, as it has listed them (guest-program/symbols.sh). */
#ifndef LAPLACE_CLI_REPORT_GUEST_SYMBOLS_H
#define LAPLACE_CLI_REPORT_GUEST_SYMBOLS_H

#include <laplace/trace.h>

#include "symbols.h"

/*
 * Of a trace with this header.  NULL: it is not by `laplace run', or its guest's symbols are not on this
 * machine, which is said on stderr.
 */
struct symbols *guest_symbols(const char *path, const struct lpl_meta *meta);

#endif
