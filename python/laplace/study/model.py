# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is known of each trace of a study, and of all of them: how wrong the faults of a reduced trace are."""
from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

METHODS = ("sad", "olr", "sd")
POLICIES = ("clock", "segq")
TABLE_KS = (5, 20)      # those of the paper
RATIOS = 30             # of simulated to reduction memory, at most
SAFE_ERROR = 2.0        # percent; the paper's measure
_LEAST_FAULTS = 100     # of the original, for a size to count


@dataclass
class Study:
    factor: int         # of the reduced traces in figures 3 to 6
    sizes: int          # of memory, in figures 3 and 4
    jobs: int
    progress: str
    traces: list[Trace] = field(default_factory=list)


class Size(NamedTuple):
    """Table 2: a reduced trace as a text, as that text compressed, as a trace."""

    k: int
    method: str
    references: int
    text_bytes: int
    zstd_bytes: int
    lpl_bytes: int


class Choice(NamedTuple):
    """The K that makes a trace about so much smaller as was asked for."""

    k: int
    kept: int
    reached: bool       # else it is the nearest there is


class Row(NamedTuple):
    """Figures 3 and 4: faults of one memory, on the original and on what was reduced."""

    size: int
    faults: int
    reduced: dict[str, int]

    def error(self, method: str) -> float:
        """In percent."""
        return 100 * float(abs(self.reduced[method] - self.faults)) / self.faults


@dataclass
class Trace:
    path: str
    name: str           # in tables
    addresses: str      # "virtual" or "canonical": what counts
    convert: str        # what its pages are made: "canonical", "physical", or "": nothing
    reduction: bytes    # of what is read
    damaged: bool = False           # what can be read of it is studied
    gaps: bool = False              # it says that records are missing in it
    events: int = 0                 # references of the original
    pages: int = 0
    lru: list[int] = field(default_factory=list)    # [K]: faults of an LRU memory, from 1 on
    # figure 2: by K and method, what is left
    points: dict[int, dict[str, int]] = field(default_factory=dict)
    sizes: list[Size] = field(default_factory=list)
    choice: dict[str, Choice] = field(default_factory=dict)
    fifo: int = 0                   # SEGQ's first segment
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in POLICIES})

    def factor(self, kept: int) -> float:
        """How many times smaller that is."""
        return ratio(self.events, kept)


def ratio(one: int, other: int) -> float:
    return one / other if other else 0.0


# ---- figures 5 and 6 ----

class Bin(NamedTuple):
    """Errors where a memory is so many times the reduction memory, in percent."""

    samples: int
    median: float
    maximum: float


@dataclass
class Errors:
    """Of one policy and method, over all traces."""

    bins: dict[int, Bin] = field(default_factory=dict)  # by ratio, where there are samples
    safe_ratio: int | None = None   # from here on no error is above SAFE_ERROR
    samples: int = 0
    within: int = 0                 # those not above it


def _sum_up(study: Study, policy: str, method: str) -> Errors:
    result = Errors()
    by_ratio: dict[int, list[float]] = {}
    for trace in study.traces:
        k = trace.choice[method].k
        for row in trace.rows[policy]:
            # below K nothing is promised; a few faults are no measure
            if row.size >= k and row.faults >= _LEAST_FAULTS:
                error = row.error(method)
                result.samples += 1
                result.within += error <= SAFE_ERROR
                by_ratio.setdefault((2 * row.size + k) // (2 * k), []).append(error)    # rounded, halves up
    result.bins = {times: Bin(len(errors), median(errors), max(errors))
                   for times, errors in sorted(by_ratio.items()) if 1 <= times <= RATIOS}
    # nothing at all is no proof
    for times in reversed(result.bins):
        if result.bins[times].maximum > SAFE_ERROR:
            break
        result.safe_ratio = times
    return result


def sum_up(study: Study) -> dict[str, dict[str, Errors]]:
    """By policy and method."""
    return {policy: {method: _sum_up(study, policy, method) for method in METHODS} for policy in POLICIES}
