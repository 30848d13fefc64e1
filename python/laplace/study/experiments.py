# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a trace can be reduced: table 1 and figure 2, table 2, and for each method the K that makes the
trace as much smaller as figures 3 to 6 want it; and CLOCK and SEGQ on the original and on the reduced traces,
at many sizes of memory: what these figures are made of.

Stack deletion keeps what faults in an LRU memory of K pages, so one pass of an LRU simulation shows its size
for every K.  SAD and OLR have to be run.  What they leave shrinks as K grows, so the K for a given size is
looked for between two that are known, several at one reading; the first are those of figure 2.

Memories are as many sizes as wanted, evenly from the smallest of the three reduction memories up to 30 times
the largest, or to where every page fits.  SEGQ begins above its first segment, which has twice SAD's K, as in
the paper.
"""
from __future__ import annotations

import bisect
import contextlib
from ctypes import byref, c_size_t, c_uint64
from typing import Any

from laplace.library import Pointer, SimulatorOptions, Sizes, call, library, opened
from laplace.study.measure import ByteMeasure
from laplace.study.model import METHODS, RATIOS, TABLE_KS, Choice, Row, Size, Study, Trace
from laplace.study.reading import PythonSink, open_reducer, read

_FIRST_K = 5
_LAST_FACTOR = 10000    # figure 2 ends where stack deletion is beyond it
_MOST_POINTS = 40       # K doubles: enough for 2^40 pages
_MOST_STEPS = 8         # K's tried at one reading, of each method
_CLOSE_ENOUGH = 0.01    # to the size wanted, as a fraction of it
_FIFO_TIMES = 2         # SAD's K
_RUN = ("sad", "olr")


# ---- stack deletion ----

def _simulator(policies: dict[str, Any], jobs: int, stack: contextlib.ExitStack) -> Pointer:
    """Of policies by name, with their sizes."""
    simulator = opened(stack, "simulator", byref(SimulatorOptions(jobs=jobs)))
    for policy, sizes in policies.items():
        call("lpl_simulator_add", simulator, policy.encode(), byref(sizes))
    return simulator


def _faults(simulator: Pointer, policy: int) -> list[int]:
    count = c_size_t()
    results = library.lpl_simulator_results(simulator, c_size_t(policy), byref(count))
    return [results[i].faults for i in range(count.value)]


def _read_curve(study: Study, trace: Trace) -> None:
    with contextlib.ExitStack() as stack:
        simulator = _simulator({"lru": Sizes(all=True)}, 1, stack)
        read(study, trace, "LRU", True, [library.lpl_simulator_sink(simulator)])
        trace.pages = library.lpl_simulator_pages(simulator)
        trace.lru = [0, *_faults(simulator, 0)]
    # of a blocked trace a memory of one page lets nothing go
    trace.lru[1] = trace.events


def _kept_by_sd(trace: Trace, k: int) -> int:
    return trace.lru[k] if k < len(trace.lru) else trace.pages


# ---- figure 2, and the tables, which are a part of it ----

def _run(study: Study, trace: Trace, what: str, wanted: list[tuple[str, int]],
         tables: bool) -> list[tuple[str, int, PythonSink]]:
    """Reduce by each method and K at one reading."""
    with contextlib.ExitStack() as stack:
        made = [(method, k, ByteMeasure(stack) if tables and k in TABLE_KS else PythonSink())
                for method, k in wanted]
        read(study, trace, what, True, [open_reducer(b"block", f"{method}:{k}", measure.pointer, stack)
                                        for method, k, measure in made])
    return made


def _list_ks(trace: Trace) -> list[int]:
    """From 5 on, doubling, until no more is to be found."""
    ks = [_FIRST_K]
    while len(ks) < _MOST_POINTS and (ks[-1] < TABLE_KS[-1] or (
            ks[-1] < trace.pages and trace.factor(_kept_by_sd(trace, ks[-1])) <= _LAST_FACTOR)):
        ks.append(2 * ks[-1])
    return ks


def _run_points(study: Study, trace: Trace) -> None:
    ks = _list_ks(trace)
    trace.points = {k: {"sd": _kept_by_sd(trace, k)} for k in ks}
    wanted = [(method, k) for k in ks for method in _RUN]
    for method, k, measure in _run(study, trace, "tables 1 and 2, figure 2", wanted, True):
        trace.points[k][method] = measure.references
        if isinstance(measure, ByteMeasure):
            trace.sizes.append(Size(k, method, measure.references, measure.text_bytes, measure.zstd_bytes,
                                    measure.lpl_bytes))


# ---- the K for a factor ----

def _miss(kept: int, wanted: float) -> float:
    """How many times larger or smaller than wanted."""
    times = kept / wanted
    return times if times > 1 else 1 / times


def _nearest(known: list[tuple[int, int]], wanted: float) -> tuple[int, int]:
    """The K, and what it keeps; of several the smallest K."""
    return min(known, key=lambda point: _miss(point[1], wanted))


def _next_ks(known: list[tuple[int, int]], wanted: float) -> list[int]:
    """To try, in the gap where the wanted size is; none: that is settled."""
    above = next((i for i, (_, kept) in enumerate(known) if kept <= wanted), None)
    if not above or _miss(_nearest(known, wanted)[1], wanted) <= 1 + _CLOSE_ENOUGH:
        return []
    low = known[above - 1][0]
    gap = known[above][0] - low
    count = min(gap - 1, _MOST_STEPS)
    return [low + gap * (i + 1) // (count + 1) for i in range(count)]


def _choose_ks(study: Study, trace: Trace) -> None:
    wanted = trace.events / study.factor
    # what each method keeps, by rising K
    known = {method: [(1, trace.lru[1]), *((k, kept[method]) for k, kept in trace.points.items())]
             for method in _RUN}
    while trials := [(method, k) for method in _RUN for k in _next_ks(known[method], wanted)]:
        for method, k, measure in _run(study, trace, "choice of K", trials, False):
            bisect.insort(known[method], (k, measure.references))
    for method in _RUN:     # a step of K may be a large one, where K is small
        trace.choice[method] = Choice(*_nearest(known[method], wanted), known[method][-1][1] <= wanted)
    # stack deletion's size is known for every K
    trace.choice["sd"] = Choice(*_nearest(list(enumerate(trace.lru))[1:], wanted), trace.pages <= wanted)


def reduce(study: Study, trace: Trace) -> None:
    """Fill `points`, `sizes` and `choice`."""
    _read_curve(study, trace)
    _run_points(study, trace)
    _choose_ks(study, trace)


# ---- the memories ----

def _space_out(first: int, last: int, wanted: int) -> list[int]:
    """Evenly from `first` to `last`; fewer where there are not so many."""
    span = last - first
    count = min(span + 1, wanted)
    return [first + span * i // max(count - 1, 1) for i in range(count)]


def simulate(study: Study, trace: Trace) -> None:
    """Fill `fifo` and `rows`, after reduce()."""
    ks = [choice.k for choice in trace.choice.values()]
    trace.fifo = _FIFO_TIMES * trace.choice["sad"].k
    # a memory of all pages has nothing to replace
    last = min(max(ks) * RATIOS, trace.pages - 1)
    sizes = {"clock": _space_out(min(ks), last, study.sizes),
             "segq": _space_out(trace.fifo + 1, last, study.sizes)}
    sizes = {name: some for name, some in sizes.items() if some}
    if not sizes:
        return
    policies = {f"segq:fifo={trace.fifo}" if name == "segq" else name:
                Sizes(size=(c_uint64 * len(some))(*some), count=len(some)) for name, some in sizes.items()}
    with contextlib.ExitStack() as stack:
        # what is reduced is soon done
        original = _simulator(policies, study.jobs, stack)
        reduced = {method: _simulator(policies, 1, stack) for method in METHODS}
        sinks = [open_reducer(b"block", f"{method}:{trace.choice[method].k}",
                              library.lpl_simulator_sink(simulator), stack)
                 for method, simulator in reduced.items()]
        read(study, trace, "figures 3 to 6", False, [library.lpl_simulator_sink(original), *sinks])
        for place, (name, some) in enumerate(sizes.items()):
            columns = [_faults(reduced[method], place) for method in METHODS]
            trace.rows[name] = [Row(size, faults, dict(zip(METHODS, each)))
                                for size, faults, *each in zip(some, _faults(original, place), *columns)]
