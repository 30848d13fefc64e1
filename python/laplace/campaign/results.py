# SPDX-License-Identifier: LGPL-2.1-or-later
"""The results of the jobs: what simulations and schedules printed (laplace sim --json, laplace schedule
--json), read again and gathered into tables.  table.csv, table.json and schedules.csv have what repeats, the
results, in the order of the jobs; times.csv has what does not, how long each took and where.  So the tables
of two runs of a campaign, wherever they ran, are the same byte for byte.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Any, Iterator

from laplace.campaign.inputs import hash_file
from laplace.campaign.jobs import NOT, Job, Jobs, State
from laplace.campaign.store import Store
from laplace.files import read_text
from laplace.say import Failure, complain, json_text

_COLUMNS = ("source", "machine", "seed", "reduction", "simulation", "policy", "size", "references", "faults",
            "evictions", "dirty_evictions", "mean_resident", "space_time", "miss_ratio", "exact", "job",
            "addresses")
_TYPES = {"policy": str, "reduction": str, "exact": bool,
          **dict.fromkeys(("size", "references", "faults", "evictions", "dirty_evictions"), int)}
_SCHEDULED = {     # as they print it: the machine, and what became of it
    "machine": ("scheduler", "cpus", "quantum", "quantum_is_instructions", "switch_cycles", "memory", "policy",
                "pages", "window", "fault_cycles", "write_cycles", "devices"),
    "result": ("end", "busy", "switching", "idle", "idle_paging", "switches", "references", "faults",
               "cold_faults", "joined", "evictions", "dirty_evictions", "deactivations", "device_busy")}
_SCHEDULE_COLUMNS = ("source", "machine", "seed", "reduction", "schedule", *_SCHEDULED["machine"],
                     *_SCHEDULED["result"], "job")
_TIMES = ("number,job,kind,source,machine,seed,reduction,simulation,policy,trace_bytes,seconds,user_seconds,"
          "system_seconds,memory_kb,host\n")
_USUAL = re.compile("(?![-+])[a-z0-9:+-]*")      # a word that a reduction has


def _is_result(result: Any) -> bool:
    return isinstance(result, dict) and all(type(result.get(name)) is kind for name, kind in _TYPES.items())


def _is_schedule(result: Any) -> bool:
    return isinstance(result, dict) and all(
        set(names) <= set(result.get(part, ())) for part, names in _SCHEDULED.items())


def read_printed(store: Store, job: Job) -> str | None:
    """What a job printed, that is done.  None: it is not that any more."""
    path = store.path(job.identity, "stdout")
    try:
        whole = hash_file(path) == read_text(store.path(job.identity, "sum"))[:32]
        return read_text(path) if whole else None
    except (OSError, Failure):
        return None


def _read(store: Store, job: Job) -> list[dict[str, Any]] | None:
    """None: that is not what the job printed."""
    printed = read_printed(store, job)
    try:
        results = json.loads(printed or "")
    except ValueError:
        return None
    if job.kind == "schedule":
        return [results] if _is_schedule(results) else None
    return results if isinstance(results, list) and results and all(map(_is_result, results)) else None


def complain_of_damage(store: Store, job: Job, what: str) -> None:
    complain(f"{store.path(job.identity, 'stdout')}: is not what the {what} printed; remove its directory, and"
             " it is made again")


def check(jobs: Jobs, store: Store) -> bool:
    """Read what is done.  False: something is not whole, which is said, and it becomes State.DAMAGED."""
    whole = True
    for job in jobs:
        if job.kind not in ("sim", "schedule") or not job.is_done:
            continue
        results = _read(store, job)
        if results is None:
            complain_of_damage(store, job, "simulation" if job.kind == "sim" else job.kind)
            job.state, whole = State.DAMAGED, False
        else:
            job.results = results
    return whole


def is_timed(result: dict[str, Any]) -> bool:
    """Its size is a time; what was resident is the memory."""
    return "mean_resident" in result and "space_time" in result


def _rows(jobs: Jobs) -> Iterator[dict[str, Any]]:
    """As table.json has them: without what there is not.  (An earlier version did not say `addresses'.)"""
    for job in jobs:
        for result in job.results if job.is_done and job.kind == "sim" else ():
            of_job = {**{name: job.labels[name] for name in ("source", "machine", "seed", "simulation")},
                      "job": job.identity}
            yield {name: of_job[name] if name in of_job else result[name] for name in _COLUMNS
                   if name in of_job or name in result}


def schedules(jobs: Jobs) -> list[dict[str, Any]]:
    """A row of schedules.csv for each that is done."""
    return [{**{name: job.labels[name] for name in _SCHEDULE_COLUMNS[:5]}, "job": job.identity,
             **{name: result[part][name] for part, names in _SCHEDULED.items() for name in names}}
            for job in jobs if job.is_done and job.kind == "schedule" for result in job.results]


def _cell(name: str, row: dict[str, Any]) -> str:
    """A header may say anything; what is no word that a reduction has is quoted, and no formula."""
    value = row.get(name, "")
    if name == "reduction" and not _USUAL.fullmatch(value):
        if value[0] in "=+-@":
            value = f"\\x{ord(value[0]):02x}{value[1:]}"
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format(value, {"mean_resident": ".6f", "miss_ratio": ".6g"}.get(name, "")) if value != "" else ""


def _times(store: Store, number: int, job: Job) -> str:
    trace_bytes, times = 0, []
    with contextlib.suppress(OSError):
        trace_bytes = os.stat(store.path(job.identity, "trace.lpl")).st_size
    with contextlib.suppress(OSError):
        times = [line.partition(" ")[2] for line in read_text(store.path(job.identity, "times")).splitlines()]
    labels = [job.labels.get(name, NOT) for name in _COLUMNS[:6]]
    return ",".join([str(number), job.identity, job.kind, *labels, str(trace_bytes), *times]) + "\n"


def tables(jobs: Jobs) -> list[str]:
    """Those with results: schedules.csv only where there are such."""
    return ["table.csv"] + (["schedules.csv"] if any(job.kind == "schedule" for job in jobs) else [])


def _csv(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> str:
    lines = [",".join(_cell(name, row) for name in columns) + "\n" for row in rows]
    return ",".join(columns) + "\n" + "".join(lines)


def write_tables(jobs: Jobs, store: Store) -> None:
    """All of them, of what is done, after check()."""
    rows = list(_rows(jobs))
    store.replace("table.csv", _csv(_COLUMNS, rows))
    if "schedules.csv" in tables(jobs):
        store.replace("schedules.csv", _csv(_SCHEDULE_COLUMNS, schedules(jobs)))
    store.replace("table.json", json_text(rows, 1))
    times = [_times(store, number, job) for number, job in enumerate(jobs, 1) if job.is_done]
    store.replace("times.csv", _TIMES + "".join(times))
