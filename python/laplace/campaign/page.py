# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of a campaign as one page of HTML that needs nothing else: a picture for each trace that was
simulated, all of them with the same axes, side by side, and its numbers.  It has nothing in it that does not
repeat.  The pictures are drawn by `laplace plot`.  Schedules are a table.
"""
from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
from typing import Any, Iterable, NamedTuple

from laplace import say
from laplace.campaign.jobs import NOT, Job, Jobs
from laplace.campaign.results import is_timed, schedules
from laplace.campaign.store import Store
from laplace.files import read_text
from laplace.library import library
from laplace.pages import document, escaped
from laplace.say import Failure, naming


class _Point(NamedTuple):
    policy: str
    pages: float        # mean resident ones, of what is timed: a time is no size of a memory
    faults: float


def _points(jobs: Iterable[Job]) -> list[_Point]:
    return [_Point(result["policy"], float(result["mean_resident" if is_timed(result) else "size"]),
                   float(result["faults"]))
            for job in jobs if job.is_done for result in job.results]


def _of(job: Job) -> tuple[str, ...]:
    """The trace, and the section that simulates it: what a picture is of."""
    return tuple(job.labels.values())[:5]


def _name(source: str, machine: str, seed: str, reduction: str, simulation: str) -> str:
    on = "" if machine == NOT else f" on {machine}"
    of = "" if seed == NOT else f", seed {seed}"
    return f"{source}{on}{of}, {'as recorded' if reduction == 'none' else reduction}: {simulation}"


def _numbers(points: list[_Point]) -> str:
    rows = []
    for policy, pages, faults in points:
        title = escaped(policy) + (" (mean resident)" if policy in ("ws", "vmin") else "")
        rows.append(f"<tr><td>{title}</td><td>{pages:.10g}</td><td>{faults:.10g}</td></tr>\n")
    return ("<details><summary>numbers</summary><table><tr><th>policy</th><th>pages</th><th>faults</th>"
            "</tr>\n" + "".join(rows) + "</table></details>\n")


class _Plotter:
    """Pictures with the same axes, on which nothing is 0: no fault stands where one fault would, and no page
    where the smallest memory does.
    """

    def __init__(self, points: list[_Point], directory: str):
        self._least = min((point.pages for point in points if point.pages > 0), default=1.0)
        axes = list(zip(*((max(pages, self._least), max(faults, 1)) for _, pages, faults in points)))
        self._picture = directory + "/picture.svg"
        self._command = [library.program, "plot", "--overwrite", "--size=560x380",
                         "--axes=" + ",".join(f"{min(some):.17g}:{max(some):.17g}" for some in axes),
                         "-o", self._picture]

    def draw(self, name: str, points: list[_Point]) -> str:
        memories = [max(pages, self._least) for _, pages, _ in points]
        rows = [f"{point.policy},{memory:.17g},{memory:.17g},{point.faults:.17g}\n"
                for point, memory in zip(points, memories)]
        done = subprocess.run([*self._command, "--about=" + name, "curve", "-"], check=False,
                              input=os.fsencode("policy,size,mean_resident,faults\n" + "".join(rows)))
        if done.returncode:
            raise Failure(f"report.html: laplace plot has not drawn {name}")
        return read_text(self._picture)


def _figure(name: str, jobs: list[Job], plotter: _Plotter) -> str:
    text, done = f"<figure><figcaption>{escaped(name)}</figcaption>\n", sum(job.is_done for job in jobs)
    if done < len(jobs):
        text += f'<p class="dim">{done} of its {len(jobs)} jobs are done.</p>\n'
    if not all(result["exact"] for job in jobs if job.is_done for result in job.results):
        text += '<p class="dim">Not all of this is exact: see the column exact of table.csv.</p>\n'
    if done:
        text += plotter.draw(name, _points(jobs)) + _numbers(_points(jobs))
    return text + "</figure>\n"


def _schedules(jobs: Jobs) -> str:
    """Names, when all has ended, and of the other columns those that are not the same in each row."""
    rows = schedules(jobs)
    names = [name for name in (rows[0] if rows else ()) if name in ("source", "schedule", "end")
             or (name != "job" and len({row[name] for row in rows}) > 1)]

    def line(cell: str, values: Iterable[Any]) -> str:
        return "<tr>" + "".join(f"<{cell}>{escaped(str(value))}</{cell}>" for value in values) + "</tr>\n"

    body = "".join(line("td", (row[name] for name in names)) for row in rows)
    return "\n<table>" + line("th", names) + body + "</table>\n" if rows else ""


def write_page(jobs: Jobs, store: Store, title: str) -> None:
    """report.html, after results.check()."""
    prefix = "laplace-campaign."
    simulations = [job for job in jobs if job.kind == "sim"]
    with naming("report.html: its pictures"), tempfile.TemporaryDirectory(prefix=prefix) as directory:
        plotter = _Plotter(_points(simulations), directory)
        figures = "".join(_figure(_name(*of), list(some), plotter)
                          for of, some in itertools.groupby(simulations, _of))
    store.replace("report.html", document(title, f"""\
<p class="dim">{sum(job.is_done for job in jobs)} of {len(jobs)} jobs are done; laplace {say.version}.  All\
 pictures have the same axes.</p>
<div class="curves">
{figures}</div>{_schedules(jobs)}"""))
