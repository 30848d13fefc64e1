/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job is made from that no other job makes. */
#ifndef LAPLACE_CLI_CAMPAIGN_JOB_INPUTS_H
#define LAPLACE_CLI_CAMPAIGN_JOB_INPUTS_H

#include "campaign.h"

/* Tell them in `about`, by their hashes.  Complains; returns an exit status. */
int job_inputs_tell(struct inputs *inputs, FILE *about, const struct job *job);

#endif
