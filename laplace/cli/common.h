/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All that subcommands share. */
#ifndef LAPLACE_CLI_COMMON_H
#define LAPLACE_CLI_COMMON_H

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"

#endif
