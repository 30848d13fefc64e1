# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is known of each trace of a study."""
from __future__ import annotations

from dataclasses import dataclass, field

METHODS = ("sad", "olr", "sd")
POLICIES = ("clock", "segq")
TABLE_KS = (5, 20)      # those of the paper
RATIOS = 30             # of simulated to reduction memory, at most
SAFE_ERROR = 2.0        # percent; the paper's measure


@dataclass
class Study:
    factor: int         # of the reduced traces in figures 3 to 6
    sizes: int          # of memory, in figures 3 and 4
    jobs: int
    progress: str
    traces: list[Trace] = field(default_factory=list)


@dataclass
class Point:
    """Figure 2: the references that are left at one reduction memory."""

    k: int
    kept: dict[str, int]


@dataclass
class Size:
    """Table 2: a reduced trace as a text, as that text compressed, as a trace."""

    k: int
    method: str
    references: int
    text_bytes: int
    zstd_bytes: int
    lpl_bytes: int


@dataclass
class Choice:
    """The K that makes a trace about so much smaller as was asked for."""

    k: int
    kept: int
    reached: bool       # else it is the nearest there is


@dataclass
class Row:
    """Figures 3 and 4: faults of one memory, on the original and on what was reduced."""

    size: int
    faults: int = 0
    reduced: dict[str, int] = field(default_factory=dict)

    def error(self, method: str) -> float:
        """In percent."""
        return 100 * float(abs(self.reduced[method] - self.faults)) / self.faults


@dataclass
class Trace:
    path: str
    name: str           # in tables
    convert: bool = False           # its pages are made canonical
    addresses: str = ""             # "virtual" or "canonical": what counts
    reduction: bytes | None = None  # of what is read
    damaged: bool = False           # what can be read of it is studied
    gaps: bool = False              # it says that records are missing in it
    events: int = 0                 # references of the original
    pages: int = 0
    lru: list[int] = field(default_factory=list)    # [K]: faults of an LRU memory, from 1 on
    points: list[Point] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    choice: dict[str, Choice] = field(default_factory=dict)
    fifo: int = 0                   # SEGQ's first segment
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in POLICIES})


def factor(before: int, after: int) -> float:
    """How many times smaller."""
    return before / after if after else 0.0
