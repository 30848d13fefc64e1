# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a trace can be reduced: table 1 and figure 2, table 2, and for each method the K that makes the
trace as much smaller as figures 3 to 6 want it.

Stack deletion keeps what faults in an LRU memory of K pages, so one pass of an LRU simulation shows its
size for every K.  SAD and OLR have to be run.  What they leave shrinks as K grows, so the K for a given
size is looked for between two that are known, several at one reading; the first are those of figure 2.
"""
from __future__ import annotations

import bisect
import contextlib
from ctypes import byref, c_size_t

from laplace import say
from laplace.library import SimulatorOptions, Sizes, call, library, opened
from laplace.study.measure import ByteMeasure, Measure
from laplace.study.model import TABLE_KS, Choice, Point, Size, Study, Trace, factor
from laplace.study.reading import read

_FIRST_K = 5
_LAST_FACTOR = 10000    # figure 2 ends where stack deletion is beyond it
_MOST_POINTS = 40       # K doubles: enough for 2^40 pages
_MOST_STEPS = 8         # K's tried at one reading, of each method
_CLOSE_ENOUGH = 0.01    # to the size wanted, as a fraction of it
_RUN = ("sad", "olr")


def _run(study: Study, trace: Trace, what: str, wanted: list[tuple[str, int]],
         tables: bool) -> list[Size]:
    """Reduce by each method and K at one reading."""
    with contextlib.ExitStack() as stack:
        measures, sinks = [], []
        for method, k in wanted:
            measure = ByteMeasure() if tables and k in TABLE_KS else Measure()
            stack.callback(measure.close)
            reducer = opened("lpl_reducer_open", b"block", f"{method}:{k}".encode(), measure.address)
            stack.callback(library.lpl_reducer_close, reducer)
            measures.append(measure)
            sinks.append(library.lpl_reducer_sink(reducer))
        read(study, trace, what, True, sinks)
        return [Size(k, method, measure.references, measure.text_bytes, measure.zstd_bytes,
                     measure.lpl_bytes) for (method, k), measure in zip(wanted, measures)]


def _read_curve(study: Study, trace: Trace) -> None:
    with contextlib.ExitStack() as stack:
        simulator = opened("lpl_simulator_open", byref(SimulatorOptions(jobs=1)))
        stack.callback(library.lpl_simulator_close, simulator)
        call("lpl_simulator_add", simulator, b"lru", byref(Sizes(all=True)))
        read(study, trace, "LRU", True, [library.lpl_simulator_sink(simulator)])
        if not trace.events:
            raise say.Failure(say.USAGE, f"{trace.path}: has no references")
        count = c_size_t()
        results = library.lpl_simulator_results(simulator, 0, byref(count))
        trace.pages = library.lpl_simulator_pages(simulator)
        trace.lru = [0] + [results[i].faults for i in range(count.value)]
    # of a blocked trace a memory of one page lets nothing go
    trace.lru[1] = trace.events


def _kept_by_sd(trace: Trace, k: int) -> int:
    return trace.lru[k] if k < len(trace.lru) else trace.pages


# ---- figure 2, and the tables, which are a part of it ----

def _list_ks(trace: Trace) -> list[int]:
    """From 5 on, doubling, until nothing is left to be learned."""
    ks = [_FIRST_K]
    while len(ks) < _MOST_POINTS:
        last = ks[-1]
        if last >= TABLE_KS[-1] and (last >= trace.pages or factor(
                trace.events, _kept_by_sd(trace, last)) > _LAST_FACTOR):
            break
        ks.append(2 * last)
    return ks


def _run_points(study: Study, trace: Trace) -> None:
    ks = _list_ks(trace)
    sizes = _run(study, trace, "tables 1 and 2, figure 2", [(method, k) for k in ks for method in _RUN],
                 True)
    trace.points = [Point(k, {"sd": _kept_by_sd(trace, k)}) for k in ks]
    for i, size in enumerate(sizes):
        trace.points[i // len(_RUN)].kept[size.method] = size.references
    trace.sizes = [size for size in sizes if size.k in TABLE_KS]


# ---- the K for a factor ----

def _miss(kept: int, wanted: float) -> float:
    """How many times larger or smaller than wanted."""
    times = kept / wanted
    return times if times > 1 else 1 / times


class _Search:
    """What is known of a method: sizes by rising K; the wanted one may lie in a gap."""

    def __init__(self, trace: Trace, method: str, wanted: float):
        self.method, self.wanted = method, wanted
        self.known = [(1, trace.lru[1])]
        for point in trace.points:
            self.add(point.k, point.kept[method])

    def add(self, k: int, kept: int) -> None:
        bisect.insort(self.known, (k, kept))

    def nearest(self) -> tuple[int, int]:
        """To what is wanted; of several the smallest K."""
        return min(self.known, key=lambda known: _miss(known[1], self.wanted))

    def next_ks(self) -> list[int]:
        """To try, in the gap where the wanted size is; none: that is settled."""
        if _miss(self.nearest()[1], self.wanted) <= 1 + _CLOSE_ENOUGH:
            return []
        above = next((i for i, (_, kept) in enumerate(self.known) if kept <= self.wanted), None)
        if not above:
            return []
        low = self.known[above - 1][0]
        gap = self.known[above][0] - low
        count = min(gap - 1, _MOST_STEPS)
        return [low + gap * (i + 1) // (count + 1) for i in range(count)]

    def choice(self) -> Choice:
        # a step of K may be a large one, where K is small
        return Choice(*self.nearest(), self.known[-1][1] <= self.wanted)


def _choose_ks(study: Study, trace: Trace) -> None:
    wanted = trace.events / study.factor
    searches = {method: _Search(trace, method, wanted) for method in _RUN}
    while True:
        trials = [(method, k) for method in _RUN for k in searches[method].next_ks()]
        if not trials:
            break
        for size in _run(study, trace, "choice of K", trials, False):
            searches[size.method].add(size.k, size.references)
    for method in _RUN:
        trace.choice[method] = searches[method].choice()
    # stack deletion's size is known for every K
    k = min(range(1, len(trace.lru)), key=lambda k: _miss(trace.lru[k], wanted))
    trace.choice["sd"] = Choice(k, trace.lru[k], trace.pages <= wanted)


def reduce(study: Study, trace: Trace) -> None:
    _read_curve(study, trace)
    _run_points(study, trace)
    _choose_ks(study, trace)
