# SPDX-License-Identifier: LGPL-2.1-or-later
"""Campaigns: many runs, reductions and simulations that a small file asks for (docs/campaigns.md).

main asks for a file (settings) that is expanded into jobs, each with the hashes of its inputs; runner makes
them here, slurm elsewhere; store keeps what is done, results and page show it.
"""
