# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace study: which traces can be studied, and the order in which all is done."""
from __future__ import annotations

import contextlib
import os
from ctypes import byref, c_size_t, c_void_p

from laplace import say
from laplace.files import Files, refuse_input
from laplace.library import Addressing, Exactness, Pointer, call, library
from laplace.say import wrong
from laplace.study import report
from laplace.study.experiments import reduce, simulate
from laplace.study.model import Study, Trace, sum_up
from laplace.study.reading import open_reader


def _find_reference(reader: Pointer, path: str) -> None:
    refs, count, event = c_void_p(), c_size_t(), c_void_p()
    while not count.value:
        call("lpl_reader_next", reader, byref(refs), byref(count), byref(event))
        if not count.value and not event:
            raise wrong(f"{path}: has no references")


def _decide_addresses(trace: Trace, wanted: str, meta: Pointer) -> None:
    """Canonical pages if they can be had and are exact, unless something else is wanted."""
    found, path = Addressing(), trace.path
    library.lpl_addressing_of(byref(found), os.fsencode(path), meta)
    why = os.fsdecode(found.why)
    trace.convert = not found.canonical if wanted == "canonical" else wanted == "auto" and found.exact
    trace.addresses = "canonical" if found.canonical or trace.convert else "virtual"
    if found.canonical and wanted == "virtual":
        raise wrong(f"{path}: {why}: its virtual ones are in the trace that it was made from")
    if trace.convert and not found.can:
        raise wrong(f"{path}: {why}: there are no canonical pages to be had of it")
    if wanted == "auto" and found.maps and not found.exact:
        say.complain(f"warning: {path}: {why}: its pages are virtual ones, and a page that several address"
                     " spaces share counts once for each")
    if trace.reduction is not None and trace.convert and not found.exact:
        trace.reduction += b"+merged"


def _check(trace: Trace, addresses: str) -> None:
    path, exactness = trace.path, Exactness()
    if path == "-":
        raise wrong("a trace is read several times: it has to be a file")
    with contextlib.ExitStack() as stack:
        reader = open_reader(path, stack)
        meta = library.lpl_reader_meta(reader)
        trace.reduction = library.lpl_meta_get(meta, b"reduction")
        # exact for CLOCK and the like: that is what blocking leaves a trace
        if not library.lpl_reduction_exactness(trace.reduction, byref(exactness)) or exactness.demand != 1:
            raise wrong(f"{path}: has been reduced already, by {os.fsdecode(trace.reduction or b'(null)')}; a"
                        " study wants the trace as it was recorded (record --reduce none), or reduced by"
                        " `block'")
        if not library.lpl_reader_size(reader):
            raise wrong(f"{path}: a trace is read several times: it has to be a file, not a pipe")
        _find_reference(reader, path)
        _decide_addresses(trace, addresses, meta)


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
    paths = [value for name, value in words if name == "trace"]
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise wrong(f"{path}: is named twice")
        study.traces.append(Trace(path, _name(path, paths)))
        _check(study.traces[-1], options.get("addresses", "auto"))
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
