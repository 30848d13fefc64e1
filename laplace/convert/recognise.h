/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which format a file has, by what it begins with.  Formats that can be recognised say so in
 * their entry (format.h); recognise.c decides.
 */
#ifndef LAPLACE_CONVERT_RECOGNISE_H
#define LAPLACE_CONVERT_RECOGNISE_H

#include "sample.h"

struct lpl_format;
struct lpl_report;

/*
 * The format that is certain, or the only one that is likely; if that is not text, no other may
 * even be possible.  NULL after a complaint of `input`.  *guessed: it was not certain, and is binary.
 */
const struct lpl_format *lpl_recognise(const char *input, const struct lpl_sample *sample,
				       bool *guessed, struct lpl_report *report);

#endif
