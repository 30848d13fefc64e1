# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace study: the order in which all is done."""
from __future__ import annotations

import contextlib
import os

from laplace import say
from laplace.files import Files, refuse_input
from laplace.study import report
from laplace.study.experiments import reduce, simulate
from laplace.study.model import Study, Trace, sum_up


def _name(path: str, paths: list[str]) -> str:
    """By its file's name, less .lpl; where another has the same, by its path."""
    name = os.path.basename(path)
    if [os.path.basename(other) for other in paths].count(name) > 1:
        return path
    return name.removesuffix(".lpl") or name


def main(words: say.Options) -> int:
    options = dict(words)
    jobs = int(options.get("jobs", 0)) or len(os.sched_getaffinity(0))
    study = Study(int(options["factor"]), int(options["sizes"]), jobs, options.get("progress", "auto"))
    # of each trace what the command has found it to be, too
    paths, *found = ([value for name, value in words if name == key]
                     for key in ("trace", "counted", "convert", "reduction"))
    study.traces = [Trace(path, _name(path, paths), counted, convert, os.fsencode(reduction))
                    for path, counted, convert, reduction in zip(paths, *found)]
    with contextlib.ExitStack() as stack:
        files = None
        if "output" in options:
            for path in paths:
                for name in report.HEADINGS:
                    refuse_input(f"{options['output']}/{name}", path)
            files = Files(options["output"], report.HEADINGS, "overwrite" in options)
            stack.callback(files.abandon)
        for trace in study.traces:
            reduce(study, trace)
            simulate(study, trace)
        errors = sum_up(study)
        say.put((report.json if "json" in options else report.text)(study, errors))
        if files:
            files.commit(report.csv(study, errors))
    return say.DAMAGED if any(trace.damaged for trace in study.traces) else say.DONE
