/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All of the library's interface, for programs that do not care which header has what.  C++ may
 * include it.
 */
#ifndef LAPLACE_LAPLACE_H
#define LAPLACE_LAPLACE_H

#include <laplace/cache.h>
#include <laplace/code.h>
#include <laplace/compressed_cache.h>
#include <laplace/convert.h>
#include <laplace/counts.h>
#include <laplace/error.h>
#include <laplace/huge.h>
#include <laplace/image.h>
#include <laplace/kernel_trace_record.h>
#include <laplace/kvmtrace_record.h>
#include <laplace/merge.h>
#include <laplace/policy.h>
#include <laplace/record.h>
#include <laplace/reducer.h>
#include <laplace/regret.h>
#include <laplace/repair.h>
#include <laplace/schedule.h>
#include <laplace/select.h>
#include <laplace/simulator.h>
#include <laplace/survey.h>
#include <laplace/tlb.h>
#include <laplace/trace.h>
#include <laplace/translation.h>
#include <laplace/walk.h>

#endif
