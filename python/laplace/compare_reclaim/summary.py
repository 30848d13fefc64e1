# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the guests of each setting come to: of each number the middle, the least and the most; and where one kind of
LRU has less in all of its guests than the other in any.
"""
from __future__ import annotations

import itertools
import statistics
from collections import Counter
from typing import Any, Callable, NamedTuple

from laplace.compare_reclaim.rows import NUMBERS, Row, cell
from laplace.compare_reclaim.runs import Setting


class Spread(NamedTuple):
    """Of a number, in the guests that are done."""

    median: float
    least: float
    most: float


class Summary(NamedTuple):
    setting: Setting
    states: list[str]               # of its guests
    numbers: dict[str, Spread]      # empty: none is done

    @property
    def done(self) -> int:
        return self.states.count("done")

    @property
    def state(self) -> str:
        """Of all of them."""
        if len(self.states) == 1 or self.done == len(self.states):
            return self.states[0]
        others = Counter(state for state in self.states if state != "done")
        return ", ".join([f"{self.done} of {len(self.states)} done",
                          *(f"{count} {state}" for state, count in others.items())])


def _spread(values: list[float]) -> Spread:
    median, kind = statistics.median(values), type(values[0])
    # of whole numbers it is a whole one where it can be
    return Spread(kind(median) if kind(median) == median else median, min(values), max(values))


def summaries(table: list[Row]) -> list[Summary]:
    """In the order of the table, in which those of a setting follow each other."""
    found = []
    for setting, of_setting in itertools.groupby(table, lambda row: Setting(*(row[name] for name in Setting._fields))):
        rows = list(of_setting)
        done = [row for row in rows if row["state"] == "done"]
        numbers = {name: _spread([row[name] for row in done]) for name in NUMBERS} if done else {}
        found.append(Summary(setting, [row["state"] for row in rows], numbers))
    return found


def as_json(summary: Summary) -> dict[str, Any]:
    return {**summary.setting._asdict(), "guests": len(summary.states), "done": summary.done,
            **{name: spread._asdict() for name, spread in summary.numbers.items()}}


# ---- as text ----

class _Column(NamedTuple):
    name: str
    head: str
    shown: Callable[[Any], str] = str
    unit: str = ""


def _mebibytes(kib: float) -> str:
    return f"{kib / 1024:.1f}"


# Those of the text; the tables have all.
_COLUMNS = (
    _Column("seconds", "seconds", "{:.2f}".format), _Column("major_faults", "major faults"),
    _Column("read_kib", "read, MiB", _mebibytes), _Column("written_kib", "written, MiB", _mebibytes),
    _Column("evicted", "evicted"), _Column("direct_percent", "direct", "{:.0f}".format, " %"),
    _Column("read_back", "read back"), _Column("optimal", "OPT reads"),
    _Column("avoidable_percent", "avoidable", "{:.0f}".format, " %"))
_COMPARED = tuple(column for column in _COLUMNS if column.name in ("seconds", "major_faults", "read_back"))


def shown(spread: Spread, as_text: Callable[[Any], str]) -> str:
    """The middle, and from where to where the others are if that is anything else."""
    median, least, most = map(as_text, spread)
    return median if least == most else f"{median} ({least}-{most})"


def _lines(table: list[list[str]], left: set[int]) -> list[str]:
    widths = [max(map(len, cells)) for cells in zip(*table)]
    return ["  ".join(f"{text:{'<' if i in left else '>'}{width}}" for i, (text, width)
                      in enumerate(zip(line, widths))) for line in table]


def _lower(column: _Column, of_lru: dict[str, Summary]) -> str:
    """The kind of LRU that has less of it in each of its guests than the other in any."""
    if any(summary.done < len(summary.states) for summary in of_lru.values()):
        return "not all done"
    spreads = {lru: summary.numbers[column.name] for lru, summary in of_lru.items()}
    for one, other in itertools.permutations(spreads):
        if spreads[one].most < spreads[other].least:
            return one
    return "no difference shown"


def _differences(of_settings: list[Summary]) -> str:
    pairs: dict[tuple[int, int], dict[str, Summary]] = {}
    for summary in of_settings:
        setting = summary.setting
        pairs.setdefault((setting.memory, setting.swappiness), {})[setting.lru] = summary
    if len(of_settings[0].states) == 1 or len(of_settings) == len(pairs):
        return ""
    table = [["MiB", "swappiness", *(column.head for column in _COMPARED)]]
    for (memory, swappiness), of_lru in pairs.items():
        table.append([str(memory), str(swappiness), *(_lower(column, of_lru) for column in _COMPARED)])
    lines = _lines(table, {2, 3, 4})
    return ("\nLESS IN EACH GUEST of this LRU than in any of the other\n"
            + "".join(line.rstrip() + "\n" for line in lines))


def text(of_settings: list[Summary]) -> str:
    table = [["MiB", "LRU", "swappiness", *(column.head for column in _COLUMNS)]]
    for summary in of_settings:
        memory, lru, swappiness = summary.setting
        table.append([str(memory), lru, str(swappiness), *(
            shown(summary.numbers[column.name], column.shown) + column.unit if summary.numbers else "-"
            for column in _COLUMNS)])
    notes = ["", *("" if summary.state == "done" else f"  {summary.state}" for summary in of_settings)]
    lines = _lines(table, {1})
    return "".join(line + note + "\n" for line, note in zip(lines, notes)) + _differences(of_settings)


# ---- as the page has them, which has what the table has ----

HEADS = (*Setting._fields, "state", *NUMBERS)


def cells(summary: Summary) -> list[str]:
    numbers = [shown(summary.numbers[name], cell) if summary.numbers else "" for name in NUMBERS]
    return [*map(str, summary.setting), summary.state, *numbers]
