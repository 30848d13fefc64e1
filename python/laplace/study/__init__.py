# SPDX-License-Identifier: LGPL-2.1-or-later
"""The study: the experiments of section 7 of "Flexible Reference Trace Reduction for VM Simulations" (Kaplan,
Smaragdakis, Wilson) on any traces.

main asks for experiments, each of which reads a trace once (reading).  What they find goes into the Trace
(model), and from there into figures 5 and 6 and what is printed (report); nothing flows back.
"""
