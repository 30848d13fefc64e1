# SPDX-License-Identifier: LGPL-2.1-or-later
"""The study: the experiments of section 7 of "Flexible Reference Trace Reduction for VM Simulations"
(Kaplan, Smaragdakis, Wilson) on any traces.

    computes   reading: one reading of a trace: the original, blocked
               reductions: tables 1 and 2, figure 2, the choice of K
               measure: how large a reduced trace is, for table 2
               simulations: figures 3 and 4
               errors: figures 5 and 6, over all traces
    prints     tables (CSV), report (text and JSON)
    asks       main: of which traces, in which order

What is computed goes into the Trace (model), and from there into what is printed; nothing flows back.
"""
