# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of the jobs: what simulations printed (laplace sim --json), read again and gathered into tables.
table.csv and table.json have what repeats, the results, in the order of the jobs; times.csv has what does
not, how long each took and where.  So the tables of two runs of a campaign, wherever they ran, are the same
byte for byte.
"""
from __future__ import annotations

import json
import os
import re
from typing import Any

from laplace.campaign.inputs import hasher
from laplace.campaign.jobs import Job, Jobs, State
from laplace.campaign.store import Store
from laplace.say import Failure, complain, json_text

_HEADING = ("source,machine,seed,reduction,simulation,policy,size,references,faults,evictions,"
            "dirty_evictions,mean_resident,space_time,miss_ratio,exact,job,addresses\n")
_TIMES = ("number,job,kind,source,machine,seed,reduction,simulation,policy,trace_bytes,seconds,"
          "user_seconds,system_seconds,memory_kb,host\n")
_COUNTS = ("size", "references", "faults", "evictions", "dirty_evictions")
_USUAL = re.compile("(?![-+])[a-z0-9:+-]*")      # a word that a reduction has


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_result(result: Any) -> bool:
    return (isinstance(result, dict) and isinstance(result.get("policy"), str)
            and isinstance(result.get("reduction"), str) and isinstance(result.get("exact"), bool)
            and all(_is_count(result.get(name)) for name in _COUNTS))


def is_timed(result: dict[str, Any]) -> bool:
    """Its size is a time; what was resident is the memory."""
    return isinstance(result.get("mean_resident"), (int, float)) and _is_count(result.get("space_time"))


def _read(store: Store, job: Job) -> list[dict[str, Any]] | None:
    """None: that is not what the job printed."""
    path = store.path(job.identity, "stdout")
    try:
        with open(store.path(job.identity, "sum"), encoding="ascii", errors="replace") as file:
            if not os.access(path, os.R_OK) or hasher().of_file(path) != file.read(32):
                return None
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except (OSError, ValueError, Failure):
        return None
    whole = isinstance(results, list) and results and all(_is_result(result) for result in results)
    return results if whole else None


def check(jobs: Jobs, store: Store) -> bool:
    """Read what is done.  false: something is not whole, which is said, and it becomes State.DAMAGED."""
    whole = True
    for job in jobs:
        if job.kind != "sim" or not job.is_done:
            continue
        results = _read(store, job)
        if results is None:
            complain(f"{store.path(job.identity, 'stdout')}: is not what the simulation printed; remove its"
                     " directory, and it is made again")
            job.state, whole = State.DAMAGED, False
        else:
            job.results = results
    return whole


# ---- results ----

def _reduction_cell(text: str) -> str:
    """A header may say anything; what is no word that a reduction has is quoted, and no formula."""
    if _USUAL.fullmatch(text):
        return text
    if text[:1] in ("=", "+", "-", "@"):
        text = f"\\x{ord(text[0]):02x}" + text[1:]
    return '"' + text.replace('"', '""') + '"'


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


def _addresses(result: dict[str, Any]) -> str:
    """An earlier version did not say."""
    addresses = result.get("addresses")
    return addresses if isinstance(addresses, str) else ""


def _csv(job: Job, result: dict[str, Any]) -> str:
    timed = ([f"{result['mean_resident']:.6f}", str(result["space_time"])] if is_timed(result)
             else ["", ""])
    ratio = f"{_number(result['miss_ratio']):.6g}" if "miss_ratio" in result else ""
    return ",".join([job.source, job.machine, job.seed, _reduction_cell(result["reduction"]),
                     job.simulation, result["policy"], *(str(result[name]) for name in _COUNTS), *timed,
                     ratio, "yes" if result["exact"] else "no", job.identity, _addresses(result)]) + "\n"


def _json(job: Job, result: dict[str, Any]) -> dict[str, Any]:
    row = {"source": job.source, "machine": job.machine, "seed": job.seed,
           "reduction": result["reduction"], "simulation": job.simulation, "policy": result["policy"],
           **{name: result[name] for name in _COUNTS}}
    if is_timed(result):
        row["mean_resident"], row["space_time"] = float(result["mean_resident"]), result["space_time"]
    if "miss_ratio" in result:
        row["miss_ratio"] = _number(result["miss_ratio"])
    row["exact"], row["job"] = result["exact"], job.identity
    if _addresses(result):
        row["addresses"] = _addresses(result)
    return row


# ---- times ----

def _times_row(store: Store, number: int, job: Job) -> str:
    try:
        trace_bytes = os.stat(store.path(job.identity, "trace.lpl")).st_size
    except OSError:
        trace_bytes = 0
    try:
        with open(store.path(job.identity, "times"), encoding="utf-8", errors="surrogateescape") as file:
            times = [line.partition(" ")[2] for line in file.read().splitlines()]
    except OSError:
        times = []
    return ",".join([str(number), job.identity, job.kind, job.source, job.machine, job.seed, job.reduction,
                     job.simulation, job.policy, str(trace_bytes), *times]) + "\n"


def write_tables(jobs: Jobs, store: Store) -> None:
    """table.csv, table.json and times.csv of what is done, after check()."""
    rows = [(job, result) for job in jobs if job.is_done for result in job.results]
    store.replace("table.csv", _HEADING + "".join(_csv(*row) for row in rows))
    store.replace("table.json", json_text([_json(*row) for row in rows], 1))
    store.replace("times.csv", _TIMES + "".join(_times_row(store, number, job)
                                                for number, job in enumerate(jobs, 1) if job.is_done))
