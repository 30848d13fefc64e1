# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace study: which traces can be studied, and the order in which all is done."""
from __future__ import annotations

import contextlib
import os
from ctypes import byref, c_size_t, c_void_p

from laplace import say
from laplace.command import Command, processors
from laplace.library import Addressing, Exactness, call, library
from laplace.say import USAGE, Failure
from laplace.study import report
from laplace.study.errors import sum_up
from laplace.study.model import Study, Trace
from laplace.study.reading import open_reader
from laplace.study.reductions import reduce
from laplace.study.simulations import simulate
from laplace.study.tables import Tables, refuse


def _find_reference(reader: c_void_p, path: str) -> None:
    refs, count, event = c_void_p(), c_size_t(), c_void_p()
    while True:
        call("lpl_reader_next", reader, byref(refs), byref(count), byref(event))
        if count.value:
            return
        if not event:
            raise Failure(USAGE, f"{path}: has no references")


def _decide_addresses(trace: Trace, wanted: str, meta: c_void_p) -> None:
    """Canonical pages if they can be had and are exact, unless something else is wanted."""
    found, path = Addressing(), trace.path
    library.lpl_addressing_of(byref(found), os.fsencode(path), meta)
    why = os.fsdecode(found.why)
    trace.convert = not found.canonical if wanted == "canonical" else wanted == "auto" and found.exact
    trace.addresses = "canonical" if found.canonical or trace.convert else "virtual"
    if found.canonical and wanted == "virtual":
        raise Failure(USAGE, f"{path}: {why}: its virtual ones are in the trace that it was made from")
    if trace.convert and not found.can:
        raise Failure(USAGE, f"{path}: {why}: there are no canonical pages to be had of it")
    if wanted == "auto" and found.maps and not found.exact:
        say.complain(f"warning: {path}: {why}: its pages are virtual ones, and a page that several"
                     " address spaces share counts once for each")
    trace.reduction = library.lpl_meta_get(meta, b"reduction")
    if trace.reduction is not None and trace.convert and not found.exact:
        trace.reduction += b"+merged"


def _check(trace: Trace, addresses: str) -> None:
    path, exactness = trace.path, Exactness()
    if path == "-":
        raise Failure(USAGE, "a trace is read several times: it has to be a file")
    with contextlib.ExitStack() as stack:
        reader = open_reader(path, stack)
        meta = library.lpl_reader_meta(reader)
        reduction = library.lpl_meta_get(meta, b"reduction")
        # exact for CLOCK and the like: that is what blocking leaves a trace
        if (not library.lpl_reduction_exactness(reduction, byref(exactness))
                or exactness.demand != 1):
            raise Failure(USAGE, f"{path}: has been reduced already, by"
                                 f" {os.fsdecode(reduction or b'(null)')}; a study wants the trace as it was"
                                 " recorded (record --reduce none), or reduced by `block'")
        if not library.lpl_reader_size(reader):
            raise Failure(USAGE, f"{path}: a trace is read several times: it has to be a file, not a"
                                 " pipe")
        _find_reference(reader, path)
        _decide_addresses(trace, addresses, meta)


def _name(path: str, paths: list[str]) -> str:
    """By its file's name, less .lpl; where another has the same, by its path."""
    name = path.rpartition("/")[2]
    if sum(other.rpartition("/")[2] == name for other in paths) > 1:
        return path
    return name[:-4] if len(name) > 4 and name.endswith(".lpl") else name


def _study_all(study: Study, tables: Tables | None, as_json: bool) -> int:
    for trace in study.traces:
        reduce(study, trace)
        simulate(study, trace)
        if tables:
            tables.put_trace(trace)
    errors = sum_up(study)
    if tables:
        tables.put_errors(errors)
    say.put(report.json(study, errors) if as_json else report.text(study, errors))
    return say.DAMAGED if any(trace.damaged for trace in study.traces) else say.DONE


def main(command: Command) -> int:
    study = Study(command.number("factor", 100), command.number("sizes", 40),
                  command.number("jobs", processors()), command.get("progress") or "auto")
    paths = command.all("trace")
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise Failure(USAGE, f"{path}: is named twice")
        study.traces.append(Trace(path, _name(path, paths)))
        _check(study.traces[-1], command.get("addresses") or "auto")
    directory = command.get("output")
    if directory is None:
        return _study_all(study, None, command.has("json"))
    for path in paths:
        refuse(directory, path)
    tables = Tables(directory, command.has("overwrite"))
    try:
        status = _study_all(study, tables, command.has("json"))
    except Failure as failure:
        if failure.text is not None:
            say.complain(failure.text)
        status = failure.status
    return tables.close(status)
