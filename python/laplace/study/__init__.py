# SPDX-License-Identifier: LGPL-2.1-or-later
"""The study: the experiments of section 7 of "Flexible Reference Trace Reduction for VM Simulations" (Kaplan,
Smaragdakis, Wilson) on any traces.

    computes   reading: one reading of a trace: the original, blocked
               measure: how large a reduced trace is
               experiments: tables 1 and 2, figures 2 to 4, the choice of K
    prints     report (text, JSON and CSV)
    asks       main: of which traces, in which order

What is computed goes into the Trace (model), and from there into figures 5 and 6 and what is printed; nothing
flows back.
"""
