#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""curves.py TRACE [-o PICTURE] [--process NAME]...: a trace in two pictures.

On the left how many references miss in memories of every size: of all, and of processes by
themselves.  On the right when which pages were referenced.  The trace is read a block at a time,
so it may be larger than memory.  Wants NumPy and matplotlib, and laplace_trace (docs/python.md).
"""
import argparse

import matplotlib
import numpy

matplotlib.use("Agg")   # a file, no window
from matplotlib import pyplot   # noqa: E402

import laplace_trace            # noqa: E402

COLUMNS, ROWS = 240, 160        # of the map


def draw_curves(axes, trace, processes):
    for name in [None, *processes]:
        select = f"process:{name}" if name else None
        for policy, table in trace.curves(["lru", "opt"], "all", select).items():
            axes.plot(table["size"], table["faults"], label=f"{name or 'all'}, {policy}",
                      linestyle="-" if policy == "lru" else "--")
    axes.set(xscale="log", yscale="log", xlabel="pages of memory", ylabel="faults",
             title="Faults by size of memory")
    axes.legend()


def map_of(trace):
    """References by time and place.  Places are all pages that are referenced, side by side."""
    pages, first, last = numpy.empty(0, numpy.uint64), None, 0
    for block in trace.references(["instruction", "address"]):
        pages = numpy.union1d(pages, block["address"] >> numpy.uint64(12))
        first = int(block["instruction"][0]) if first is None else first
        last = int(block["instruction"][-1])
    counts = numpy.zeros((ROWS, COLUMNS))
    for block in trace.references(["instruction", "address"]):
        place = numpy.searchsorted(pages, block["address"] >> numpy.uint64(12))
        moment = (block["instruction"] - numpy.uint64(first)).astype(numpy.int64)
        column = moment * COLUMNS // (last - first + 1)
        numpy.add.at(counts, (place * ROWS // len(pages), column), 1)
    return counts, (first or 0, last, 0, len(pages))


def draw_map(axes, trace):
    counts, extent = map_of(trace)
    axes.imshow(numpy.log1p(counts), origin="lower", aspect="auto", cmap="magma", extent=extent)
    axes.set(xlabel="instructions", ylabel="pages, by address", title="What was referenced when")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("-o", "--output", default="curves.png", help="the picture: .png, .svg ...")
    parser.add_argument("--process", action="append", default=[], help="one more pair of curves")
    arguments = parser.parse_args()
    trace = laplace_trace.Trace(arguments.trace)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    draw_curves(left, trace, arguments.process)
    draw_map(right, trace)
    figure.suptitle(trace.meta.get("workload", arguments.trace))
    figure.savefig(arguments.output)
    print(f"{arguments.output}: {arguments.trace}")


if __name__ == "__main__":
    main()
