# SPDX-License-Identifier: LGPL-2.1-or-later
"""A comparison as one page of HTML that needs nothing else: a picture for each of some numbers, over memory,
with a line for each kind of LRU and swappiness, through the middle of its guests, and bars from the least to the
most; and all numbers.
"""
from __future__ import annotations

import itertools
import math
from typing import Iterable, NamedTuple

from laplace import say
from laplace.compare_reclaim.summary import HEADS, Spread, Summary, cells, shown
from laplace.pages import document, escaped

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 320, 70, 20, 20, 45
_COLOURS = {"lists": "#1f77b4", "generations": "#d95f02"}
_DASHES = ("", "6 3", "2 3", "8 3 2 3")         # of swappiness
_NAMES = {"lists": "two lists", "generations": "generations"}


class _Picture(NamedTuple):
    title: str
    name: str
    unit: float = 1             # what it is divided by
    optimal: bool = False       # with OPT's, thin

    def of(self, summary: Summary) -> Spread:
        return Spread(*(value / self.unit for value in summary.numbers[self.name]))


_PICTURES = (
    _Picture("The guest's seconds", "seconds"),
    _Picture("Pages that were read back, and what OPT reads (thin)", "read_back", optimal=True),
    _Picture("Major faults", "major_faults"),
    _Picture("Read from the disk, MiB", "read_kib", 1024),
    _Picture("Written to the disk, MiB", "written_kib", 1024),
    _Picture("Evicted pages", "evicted"))


def _step(most: float) -> float:
    """Between two lines: 1, 2 or 5 of a power of ten."""
    power = 10.0 ** math.floor(math.log10(most / 4))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most / 4)


class _Field:
    """Where a point is; both axes begin at 0, but for memory."""

    def __init__(self, memories: list[int], most: float):
        self._least, self._span = memories[0], max(memories[-1] - memories[0], 1)
        self.step = _step(most or 1)
        self.most = self.step * math.ceil((most or 1) / self.step)

    def x(self, memory: float) -> str:
        return f"{_LEFT + 12 + (memory - self._least) / self._span * (_WIDTH - _LEFT - _RIGHT - 24):.1f}"

    def y(self, value: float) -> str:
        return f"{_HEIGHT - _BOTTOM - value / self.most * (_HEIGHT - _TOP - _BOTTOM):.1f}"


def _axes(field: _Field, memories: list[int]) -> str:
    text = ""
    for i in range(round(field.most / field.step) + 1):
        y, value = field.y(i * field.step), f"{i * field.step:.10g}"
        text += (f'<path d="M{_LEFT} {y}H{_WIDTH - _RIGHT}" stroke="#ddd"/>'
                 f'<text x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{value}</text>\n')
    middle = 'text-anchor="middle"'
    for memory in memories:
        text += f'<text x="{field.x(memory)}" y="{_HEIGHT - _BOTTOM + 18}" {middle}>{memory}</text>\n'
    return text + f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 6}" {middle}>MiB for the program</text>\n'


def _line(field: _Field, points: list[tuple[int, float]], style: str) -> str:
    path = "M" + "L".join(f"{field.x(memory)} {field.y(value)}" for memory, value in points)
    return f'<path d="{path}" fill="none" {style}/>\n'


def _points(field: _Field, points: list[tuple[int, Spread]], lru: str, style: str) -> str:
    """With a bar where there is anything between the least and the most; one shows through another."""
    text = ""
    for memory, spread in points:
        x, title = field.x(memory), f"{memory} MiB: {shown(spread, '{:.10g}'.format)}"
        if spread.least != spread.most:
            text += (f'<path d="M{x} {field.y(spread.least)}V{field.y(spread.most)}" stroke="{_COLOURS[lru]}"'
                     ' stroke-width="6" stroke-opacity="0.3"/>\n')
        text += (f'<circle cx="{x}" cy="{field.y(spread.median)}" r="3" fill="#fff" {style}><title>{title}</title>'
                 "</circle>\n")
    return text


def _stroke(lru: str, swappiness: int) -> str:
    """By which of them it is."""
    return f'stroke="{_COLOURS[lru]}" stroke-dasharray="{_DASHES[swappiness % len(_DASHES)]}"'


def _draw(picture: _Picture, done: list[Summary]) -> str:
    memories = sorted({summary.setting.memory for summary in done})
    field = _Field(memories, max(picture.of(summary).most for summary in done))
    text = (f'<figure><figcaption>{picture.title}</figcaption>\n<svg viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            f' role="img" aria-label="{picture.title}" font-size="12">\n{_axes(field, memories)}')
    swappinesses = sorted({summary.setting.swappiness for summary in done})
    for lru, (i, swappiness) in itertools.product(_COLOURS, enumerate(swappinesses)):
        some = sorted((summary for summary in done if summary.setting[1:] == (lru, swappiness)),
                      key=lambda summary: summary.setting.memory)
        if not some:
            continue
        style = f'{_stroke(lru, i)} stroke-width='
        points = [(summary.setting.memory, picture.of(summary)) for summary in some]
        text += _line(field, [(memory, spread.median) for memory, spread in points], style + '"2"')
        text += _points(field, points, lru, style + '"2"')
        if picture.optimal:
            optimal = [(summary.setting.memory, summary.numbers["optimal"].median) for summary in some]
            text += _line(field, optimal, style + '"0.8"')
    return text + "</svg></figure>\n"


def _legend(done: list[Summary]) -> str:
    swappinesses = sorted({summary.setting.swappiness for summary in done})
    text = ""
    for lru, (i, swappiness) in itertools.product(_COLOURS, enumerate(swappinesses)):
        of = f", swappiness {swappiness}" if len(swappinesses) > 1 else ""
        text += ('<svg width="40" height="10" style="display:inline"><path d="M0 5H40" stroke-width="2"'
                 f" {_stroke(lru, i)}/></svg> {_NAMES[lru]}{of} &#160; ")
    return f"<p>{text}</p>\n"


def _table(settings: list[Summary]) -> str:
    def line(cell: str, values: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{cell}>{escaped(value)}</{cell}>" for value in values) + "</tr>\n"

    return "<table>" + line("th", HEADS) + "".join(line("td", cells(summary)) for summary in settings) + "</table>\n"


def page(settings: list[Summary], command: str) -> str:
    done = [summary for summary in settings if summary.numbers]
    pictures = "".join(_draw(picture, done) for picture in _PICTURES) if done else ""
    legend = _legend(done) if done else ""
    return document(f"Reclaim: {command}", (
        f'<p class="dim">{sum(summary.done for summary in settings)} of'
        f' {sum(len(summary.states) for summary in settings)} runs are done; laplace {say.version}.  docs/reclaim.md of'
        f' Laplace says what each number means.</p>\n{legend}<div class="curves">\n{pictures}</div>\n'
        + _table(settings)))
