/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys that a campaign's file may have, and what their values may be. */
#ifndef LAPLACE_CLI_CAMPAIGN_KEYS_H
#define LAPLACE_CLI_CAMPAIGN_KEYS_H

#include "campaign.h"

#define CAMPAIGN_MOST_NAME 64

/* NULL: there is none. */
const struct campaign_key *campaign_find_key(enum campaign_kind kind, const char *name);
/* "a, b, c": those that a section may have. */
void campaign_list_keys(enum campaign_kind kind, char *list, size_t size);
/* Is each of its policies one, and of its sizes?  LPL_ERR_USAGE, LPL_ERR_MEMORY. */
enum lpl_error campaign_check_policies(const struct campaign_section *simulation,
				       struct lpl_report *report);
/* May a section be called so? */
bool campaign_is_name(const char *name);

#endif
