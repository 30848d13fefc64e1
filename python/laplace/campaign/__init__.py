# SPDX-License-Identifier: LGPL-2.1-or-later
"""Campaigns: many runs, reductions and simulations that a small file asks for (docs/campaigns.md).

    reads     settings: the file, as sections of settings, each with its line, and what these may be
    expands   jobs: what these come to, a job each
              inputs: the files that go into it, and their hashes
    keeps     store: the directory of results: what is done, who is making what
    runs      runner: several jobs at once, here
              slurm: scripts with which Slurm runs them
    reports   results: what it led to, as tables; page: as a report
    asks      main: what is wanted

A job is known by its identity: a hash of its command and of all that goes into it.  Its result is a
directory of that name, which appears when it is whole.  So what is done need not be remembered: it is
there or not, whichever process or machine made it, and however that ended.
"""
