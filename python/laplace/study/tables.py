# SPDX-License-Identifier: LGPL-2.1-or-later
"""The numbers of a study as CSV: one file for each table and figure, which get their names when all of
them are whole.
"""
from __future__ import annotations

import os

from laplace import say
from laplace.output import Output, refuse_input
from laplace.study.errors import Errors
from laplace.study.model import METHODS, POLICIES, TABLE_KS, Trace, factor

_FAULTS = ("size,faults,sad_faults,sad_error,olr_faults,olr_error,sd_faults,sd_error,addresses")
_HEADINGS = {
    "table1": "trace,k,events,sad,olr,sd,addresses",
    "table2": "trace,k,method,references,text_bytes,zstd_bytes,ratio,lpl_bytes,lpl_bytes_per_reference,"
              "addresses",
    "figure2": "trace,k,sad,olr,sd,addresses",
    "choice": "trace,events,pages,method,k,references,factor,reached,addresses",
    "figure3": "trace," + _FAULTS,
    "figure4": "trace,fifo," + _FAULTS,
    "figure5": "method,ratio,samples,median,maximum",
    "figure6": "method,ratio,samples,median,maximum",
}


def _path(directory: str, name: str) -> str:
    return f"{directory}/{name}.csv"


def refuse(directory: str, trace: str) -> None:
    """Fail if one of the files would replace what is read."""
    for name in _HEADINGS:
        refuse_input(_path(directory, name), trace)


def _cell(name: str) -> str:
    """A name that could be taken for several fields, or rows, is put in quotes."""
    if not any(letter in name for letter in ',"\r\n'):
        return name
    return '"' + name.replace('"', '""') + '"'


class Tables:
    """The files of a directory, which is made."""

    def __init__(self, directory: str, overwrite: bool):
        self._directory, self._made = directory, False
        try:
            os.mkdir(directory)
            self._made = True
        except FileExistsError:
            if not os.path.isdir(directory):
                raise say.Failure(say.USAGE, f"{directory}: exists and is no directory") from None
        except OSError as error:
            say.fail_on(directory, error)
        self._outputs: dict[str, Output] = {}
        try:
            for name, heading in _HEADINGS.items():
                self._outputs[name] = Output(_path(directory, name), overwrite)
                self._put(name, heading)
        except say.Failure as failure:
            self.close(failure.status)
            raise

    def _put(self, table: str, *cells: object) -> None:
        self._outputs[table].text.append(",".join(
            f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells) + "\n")

    def close(self, status: int) -> int:
        """Give the files their names, or, when `status` is a failure, remove them."""
        # all of them are written before one gets its name
        if not all([output.write() for output in self._outputs.values()]):
            status = say.FAILED
        for output in self._outputs.values():
            status = output.close(status)
        if self._made and status in (say.FAILED, say.USAGE):
            try:
                os.rmdir(self._directory)
            except OSError:
                pass        # a directory with something in it stays
        return status

    def put_trace(self, trace: Trace) -> None:
        name, where = _cell(trace.name), trace.addresses
        for point in trace.points:
            factors = [factor(trace.events, point.kept[method]) for method in METHODS]
            self._put("figure2", name, point.k, *factors, where)
            if point.k in TABLE_KS:
                self._put("table1", name, point.k, trace.events, *factors, where)
        for size in trace.sizes:
            self._put("table2", name, size.k, size.method, size.references, size.text_bytes,
                      size.zstd_bytes, factor(size.text_bytes, size.zstd_bytes), size.lpl_bytes,
                      factor(size.lpl_bytes, size.references), where)
        for method in METHODS:
            choice = trace.choice[method]
            self._put("choice", name, trace.events, trace.pages, method, choice.k, choice.kept,
                      factor(trace.events, choice.kept), "yes" if choice.reached else "no", where)
        for policy, table, before in (("clock", "figure3", []), ("segq", "figure4", [trace.fifo])):
            for row in trace.rows[policy]:
                cells = [cell for method in METHODS
                         for cell in (row.reduced[method], row.error(method))]
                self._put(table, name, *before, row.size, row.faults, *cells, where)

    def put_errors(self, errors: dict[str, dict[str, Errors]]) -> None:
        for policy, table in zip(POLICIES, ("figure5", "figure6")):
            for method in METHODS:
                for ratio, each in errors[policy][method].bins.items():
                    self._put(table, method, ratio, each.samples, each.median, each.maximum)
