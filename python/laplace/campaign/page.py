# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of a campaign as one page of HTML that needs nothing else: a picture for each trace that was
simulated, all of them with the same axes, side by side, and its numbers.  It has nothing in it
that does not repeat.  The pictures are drawn by `laplace plot`.
"""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from laplace.campaign.jobs import NOT, Job, Jobs
from laplace.campaign.results import is_timed
from laplace.campaign.store import Store
from laplace.say import FAILED, Failure, fail_on

_STYLE = (
    "body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
    "background:#fff;max-width:1500px;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.6em;margin:0 0 .2em}.dim{color:#666}"
    ".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:1em}"
    "figure{margin:0}figcaption{font-weight:600}svg{max-width:100%;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:.15em .6em;border-bottom:1px solid #eee}"
    "th:first-child,td:first-child{text-align:left}")
_PLACES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_MOST_NAME = 1023   # bytes

Point = tuple[float, float]     # pages (mean resident ones, of what is timed), faults


@dataclass
class _Panel:
    """The simulations of one trace by one section."""

    first: Job
    curves: dict[str, list[Point]] = field(default_factory=dict)    # by policy
    jobs: int = 0
    done: int = 0
    inexact: bool = False       # some of it

    def name(self) -> str:
        job = self.first
        machine = "" if job.machine == NOT else f" on {job.machine}"
        seed = "" if job.seed == NOT else f", seed {job.seed}"
        reduction = "as recorded" if job.reduction == "none" else job.reduction
        name = f"{job.source}{machine}{seed}, {reduction}: {job.simulation}"
        return os.fsdecode(os.fsencode(name)[:_MOST_NAME])

    def add(self, job: Job) -> None:
        self.jobs += 1
        self.done += job.is_done
        for result in job.results if job.is_done else ():
            self.inexact |= not result["exact"]
            # a time is no size of a memory: what was resident is
            pages = result["mean_resident"] if is_timed(result) else result["size"]
            self.curves.setdefault(result["policy"], []).append((float(pages), float(result["faults"])))


def _escaped(text: str) -> str:
    def place(match: re.Match[str]) -> str:
        letter = match[0]
        if letter in _PLACES:
            return _PLACES[letter]
        # a control character, or no UTF-8, with which it would be no XML
        return " " if letter < "\x80" else "?" * len(os.fsencode(letter))
    return re.sub('[&<>"\0-\x1f\x7f-\x9f\udc80-\udcff]', place, text)


def _title(policy: str) -> str:
    return policy + (" (mean resident)" if policy in ("ws", "vmin") else "")


def _numbers(panel: _Panel) -> str:
    rows = [f"<tr><td>{_escaped(_title(policy))}</td><td>{pages:.10g}</td><td>{faults:.10g}</td></tr>\n"
            for policy, points in panel.curves.items() for pages, faults in points]
    return ("<details><summary>numbers</summary><table><tr><th>policy</th><th>pages</th><th>faults</th>"
            "</tr>\n" + "".join(rows) + "</table></details>\n")


class _Plotter:
    """Pictures with the same axes, on which nothing is 0: no fault stands where one fault would, and no page
    where the smallest memory does.
    """

    def __init__(self, program: str, panels: list[_Panel], directory: str):
        points = [point for panel in panels for some in panel.curves.values() for point in some]
        self._least = min((pages for pages, _ in points if pages > 0), default=1.0)
        pages = [max(point[0], self._least) for point in points]
        faults = [max(point[1], 1) for point in points]
        ends = [f"{min(some):.17g}:{max(some):.17g}" for some in (pages, faults)] if points else []
        self._command = [program, "plot", "--overwrite", "--size=560x380", "--axes=" + ",".join(ends),
                         "-o", directory + "/picture.svg"]
        self._picture = directory + "/picture.svg"

    def draw(self, panel: _Panel) -> str:
        rows = []
        for policy, points in panel.curves.items():
            for pages, faults in points:
                memory = f"{max(pages, self._least):.17g}"
                rows.append(f"{policy},{memory},{memory},{faults:.17g}\n")
        done = subprocess.run([*self._command, "--about=" + panel.name(), "curve", "-"], check=False,
                              input=os.fsencode("policy,size,mean_resident,faults\n" + "".join(rows)))
        if done.returncode:
            raise Failure(FAILED, f"report.html: laplace plot has not drawn {panel.name()}")
        with open(self._picture, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()


def _put(panel: _Panel, plotter: _Plotter) -> str:
    text = f"<figure><figcaption>{_escaped(panel.name())}</figcaption>\n"
    if panel.done < panel.jobs:
        text += f'<p class="dim">{panel.done} of its {panel.jobs} jobs are done.</p>\n'
    if panel.inexact:
        text += ('<p class="dim">Not all of this is exact: see the column exact of table.csv.</p>\n')
    if panel.done:
        text += plotter.draw(panel) + _numbers(panel)
    return text + "</figure>\n"


def write_page(jobs: Jobs, store: Store, title: str, program: str, version: str) -> None:
    """report.html, after results.check()."""
    panels: dict[tuple[str, ...], _Panel] = {}
    for job in jobs:
        if job.kind == "sim":
            of = (job.source, job.machine, job.seed, job.reduction, job.simulation)
            panels.setdefault(of, _Panel(job)).add(job)
    done = sum(job.is_done for job in jobs)
    try:
        with tempfile.TemporaryDirectory(prefix="laplace-campaign.") as directory:
            plotter = _Plotter(program, list(panels.values()), directory)
            figures = "".join(_put(panel, plotter) for panel in panels.values())
    except OSError as error:
        fail_on("report.html: its pictures", error)
    store.replace("report.html", (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{_escaped(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{_escaped(title)}"
        f'</h1>\n<p class="dim">{done} of {len(jobs)} jobs are done; laplace {version}.  All pictures have'
        f' the same axes.</p>\n<div class="curves">\n{figures}</div></body></html>\n'))
