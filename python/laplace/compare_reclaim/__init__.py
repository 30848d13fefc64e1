# SPDX-License-Identifier: LGPL-2.1-or-later
"""One program in guests with little memory, under both kinds of LRU, and what would have been best
(docs/reclaim.md).

Each combination of what is asked for is a run, or several, and a judgement of each trace by `laplace regret` (runs),
made and kept as a campaign's jobs are; the numbers of each are a row (rows), and those of a setting's runs are summed
up (summary), as text and as a page (page).
"""
