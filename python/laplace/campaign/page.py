# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of a campaign as one page of HTML that needs nothing else: a picture for each trace that was
simulated, all of them with the same axes, side by side, and its numbers.  It has nothing in it that does not
repeat.  The pictures are drawn by `laplace plot`.
"""
from __future__ import annotations

import html
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from laplace import say
from laplace.files import read_text
from laplace.campaign.jobs import NOT, Job, Jobs
from laplace.campaign.results import is_timed
from laplace.campaign.store import Store
from laplace.library import library
from laplace.say import Failure, naming

_STYLE = (
    "body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
    "background:#fff;max-width:1500px;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.6em;margin:0 0 .2em}.dim{color:#666}"
    ".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:1em}"
    "figure{margin:0}figcaption{font-weight:600}svg{max-width:100%;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:.15em .6em;border-bottom:1px solid #eee}"
    "th:first-child,td:first-child{text-align:left}")


@dataclass
class _Panel:
    """The simulations of one trace by one section."""

    name: str
    # by policy: pages (mean resident ones, of what is timed), faults
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    jobs: int = 0
    done: int = 0
    inexact: bool = False       # some of it

    def add(self, job: Job) -> None:
        self.jobs += 1
        self.done += job.is_done
        for result in job.results if job.is_done else ():
            self.inexact |= not result["exact"]
            # a time is no size of a memory: what was resident is
            pages = result["mean_resident" if is_timed(result) else "size"]
            self.curves.setdefault(result["policy"], []).append((float(pages), float(result["faults"])))


def _name(source: str, machine: str, seed: str, reduction: str, simulation: str) -> str:
    on = "" if machine == NOT else f" on {machine}"
    of = "" if seed == NOT else f", seed {seed}"
    return f"{source}{on}{of}, {'as recorded' if reduction == 'none' else reduction}: {simulation}"


def _panels(jobs: Jobs) -> list[_Panel]:
    panels: dict[tuple[str, ...], _Panel] = {}
    for job in jobs:
        if job.kind == "sim":
            of = tuple(list(job.labels.values())[:5])
            panels.setdefault(of, _Panel(_name(*of))).add(job)
    return list(panels.values())


def _escaped(text: str) -> str:
    """With a control character, or no UTF-8, it would be no XML."""
    text = html.escape(re.sub("[\0-\x1f\x7f]", " ", text), False).replace('"', "&quot;")
    return re.sub("[\x80-\x9f\udc80-\udcff]", lambda match: "?" * len(os.fsencode(match[0])), text)


def _numbers(panel: _Panel) -> str:
    rows = []
    for policy, points in panel.curves.items():
        title = _escaped(policy) + (" (mean resident)" if policy in ("ws", "vmin") else "")
        rows += [f"<tr><td>{title}</td><td>{pages:.10g}</td><td>{faults:.10g}</td></tr>\n"
                 for pages, faults in points]
    return ("<details><summary>numbers</summary><table><tr><th>policy</th><th>pages</th><th>faults</th>"
            "</tr>\n" + "".join(rows) + "</table></details>\n")


class _Plotter:
    """Pictures with the same axes, on which nothing is 0: no fault stands where one fault would, and no page
    where the smallest memory does.
    """

    def __init__(self, panels: list[_Panel], directory: str):
        points = [point for panel in panels for some in panel.curves.values() for point in some]
        self._least = min((pages for pages, _ in points if pages > 0), default=1.0)
        axes = list(zip(*((max(pages, self._least), max(faults, 1)) for pages, faults in points)))
        self._picture = directory + "/picture.svg"
        self._command = [library.program, "plot", "--overwrite", "--size=560x380",
                         "--axes=" + ",".join(f"{min(some):.17g}:{max(some):.17g}" for some in axes),
                         "-o", self._picture]

    def draw(self, panel: _Panel) -> str:
        rows = [f"{policy},{max(pages, self._least):.17g},{max(pages, self._least):.17g},{faults:.17g}\n"
                for policy, points in panel.curves.items() for pages, faults in points]
        done = subprocess.run([*self._command, "--about=" + panel.name, "curve", "-"], check=False,
                              input=os.fsencode("policy,size,mean_resident,faults\n" + "".join(rows)))
        if done.returncode:
            raise Failure(f"report.html: laplace plot has not drawn {panel.name}")
        return read_text(self._picture)


def _figure(panel: _Panel, plotter: _Plotter) -> str:
    text = f"<figure><figcaption>{_escaped(panel.name)}</figcaption>\n"
    if panel.done < panel.jobs:
        text += f'<p class="dim">{panel.done} of its {panel.jobs} jobs are done.</p>\n'
    if panel.inexact:
        text += '<p class="dim">Not all of this is exact: see the column exact of table.csv.</p>\n'
    if panel.done:
        text += plotter.draw(panel) + _numbers(panel)
    return text + "</figure>\n"


def write_page(jobs: Jobs, store: Store, title: str) -> None:
    """report.html, after results.check()."""
    panels, title, prefix = _panels(jobs), _escaped(title), "laplace-campaign."
    with naming("report.html: its pictures"), tempfile.TemporaryDirectory(prefix=prefix) as directory:
        plotter = _Plotter(panels, directory)
        figures = "".join(_figure(panel, plotter) for panel in panels)
    store.replace("report.html", f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
<title>{title}</title><style>{_STYLE}</style></head><body>
<h1>{title}</h1>
<p class="dim">{sum(job.is_done for job in jobs)} of {len(jobs)} jobs are done; laplace {say.version}.  All\
 pictures have the same axes.</p>
<div class="curves">
{figures}</div></body></html>
""")
