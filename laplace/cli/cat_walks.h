/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `laplace cat --walks`: references to page tables alone, with all that is known of each, as a table. */
#ifndef LAPLACE_CLI_CAT_WALKS_H
#define LAPLACE_CLI_CAT_WALKS_H

#include "pass.h"

/* Runs the pass, of which the sink is still to be set; an exit status. */
int cli_cat_walks(struct cli_pass *pass);

#endif
