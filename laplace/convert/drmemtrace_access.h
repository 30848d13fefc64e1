/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the references that were made while an instruction was executed are its operands', as DynamoRIO's tools
 * compare them, and which are the processor's own.
 */
#ifndef LAPLACE_CONVERT_DRMEMTRACE_ACCESS_H
#define LAPLACE_CONVERT_DRMEMTRACE_ACCESS_H

#include "drmemtrace_thread.h"

/*
 * What the processor refers to by itself when it goes to a handler: where that is, of the interrupt table, and
 * descriptors; then it pushes five words, or six.  Where that begins among them; `count` if it does not.
 */
size_t lpl_drmemtrace_delivery(const struct drmemtrace_access *access, size_t count);

/*
 * As many reads, or writes, as there are operands: what is more is the processor's own, unless one operand is a
 * large area.  How many were left out.
 */
size_t lpl_drmemtrace_fit(struct drmemtrace_step *step, bool write, unsigned int operands);

#endif
