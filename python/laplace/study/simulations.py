# SPDX-License-Identifier: LGPL-2.1-or-later
"""CLOCK and SEGQ on the original and on the reduced traces, at many sizes of memory: what figures 3 to 6
are made of.

Memories are as many sizes as wanted, evenly from the smallest of the three reduction memories up to 30
times the largest, or to where every page fits.  SEGQ begins above its first segment, which has twice
SAD's K, as in the paper.
"""
from __future__ import annotations

import contextlib
from ctypes import byref, c_size_t, c_uint64, c_void_p

from laplace.library import SimulatorOptions, Sizes, call, library, opened
from laplace.study.model import METHODS, RATIOS, Row, Study, Trace
from laplace.study.reading import read

_FIFO_TIMES = 2     # SAD's K


def _space_out(first: int, last: int, wanted: int) -> list[int]:
    """Evenly from `first` to `last`; fewer where there are not so many."""
    span = last - first
    count = min(span + 1, wanted)
    if count < 2:
        return [first] if count == 1 else []
    return [first + span * i // (count - 1) for i in range(count)]


def _choose_sizes(study: Study, trace: Trace) -> dict[str, list[int]]:
    ks = [choice.k for choice in trace.choice.values()]
    # a memory of all pages has nothing to replace
    last = min(max(ks) * RATIOS, trace.pages - 1)
    trace.fifo = _FIFO_TIMES * trace.choice["sad"].k
    return {"clock": _space_out(min(ks), last, study.sizes),
            "segq": _space_out(trace.fifo + 1, last, study.sizes)}


def _simulator(policies: dict[str, list[int]], jobs: int, stack: contextlib.ExitStack) -> c_void_p:
    simulator = opened("lpl_simulator_open", byref(SimulatorOptions(jobs=jobs)))
    stack.callback(library.lpl_simulator_close, simulator)
    for policy, sizes in policies.items():
        call("lpl_simulator_add", simulator, policy.encode(),
             byref(Sizes(size=(c_uint64 * len(sizes))(*sizes), count=len(sizes))))
    return simulator


def _faults(simulator: c_void_p, policy: int) -> list[int]:
    count = c_size_t()
    results = library.lpl_simulator_results(simulator, policy, byref(count))
    return [results[i].faults for i in range(count.value)]


def simulate(study: Study, trace: Trace) -> None:
    """Fill `fifo` and `rows`, after reduce()."""
    sizes = {name: some for name, some in _choose_sizes(study, trace).items() if some}
    if not sizes:
        return
    policies = {f"segq:fifo={trace.fifo}" if name == "segq" else name: some
                for name, some in sizes.items()}
    with contextlib.ExitStack() as stack:
        # what is reduced is soon done
        original = _simulator(policies, study.jobs, stack)
        reduced, sinks = {}, [library.lpl_simulator_sink(original)]
        for method in METHODS:
            reduced[method] = _simulator(policies, 1, stack)
            reducer = opened("lpl_reducer_open", b"block", f"{method}:{trace.choice[method].k}".encode(),
                             library.lpl_simulator_sink(reduced[method]))
            stack.callback(library.lpl_reducer_close, reducer)
            sinks.append(library.lpl_reducer_sink(reducer))
        read(study, trace, "figures 3 to 6", False, sinks)
        for place, (name, some) in enumerate(sizes.items()):
            of_method = {method: _faults(reduced[method], place) for method in METHODS}
            trace.rows[name] = [Row(size, faults, {method: of_method[method][i] for method in METHODS})
                                for i, (size, faults) in enumerate(zip(some, _faults(original, place)))]
