# SPDX-License-Identifier: LGPL-2.1-or-later
"""The numbers of a comparison: a row for each guest, of what its kernel counted while the program ran, and of
what `laplace regret` says.  docs/reclaim.md defines them.  A row has no numbers where there is no result.
"""
from __future__ import annotations

import json
import re
from typing import Any, Callable

from laplace.campaign.jobs import Job, State
from laplace.campaign.results import complain_of_damage, read_printed
from laplace.campaign.store import Store
from laplace.compare_reclaim.runs import Pair, Runs

_LINE = re.compile(r"(before|after) ([a-z_]{1,40}) ([0-9]{1,18})(?:\.([0-9]{2}))?")
_COUNTED = ("seconds", "pgfault", "pgmajfault", "pgpgin", "pgpgout", "pswpin", "pswpout",
            "workingset_refault_anon", "workingset_refault_file")
_JUDGED = ("evicted", "used", "ended", "never", "cut", "better", "written", "read_back", "optimal",
           "brought", "unused")
_RECLAIMERS = ("kswapd", "direct", "cgroup", "other")
Row = dict[str, Any]


def share(part: int, whole: int) -> float:
    """In percent."""
    return 100 * part / whole if whole else 0.0


# ---- what the jobs printed, which may be anything ----

def _counts(text: str) -> dict[str, int] | None:
    """What grew meanwhile; seconds in hundredths."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if not match or (match[4] is None) == (match[2] == "seconds"):
            return None
        value = int(match[3]) if match[4] is None else int(match[3]) * 100 + int(match[4])
        counts[match[2]] = counts.get(match[2], 0) + (value if match[1] == "after" else -value)
    return counts if set(_COUNTED) <= set(counts) and min(counts.values()) >= 0 else None


def _judged(text: str) -> dict[str, Any] | None:
    try:
        result = json.loads(text)
    except ValueError:
        return None
    parts = [result.get(name) for name in ("all", "by_reclaimer")] if isinstance(result, dict) else [None]
    if not all(isinstance(part, dict) for part in parts):
        return None
    numbers = [parts[0].get(name) for name in _JUDGED]
    for name in _RECLAIMERS:
        of = parts[1].get(name)
        numbers.append(of.get("evicted") if isinstance(of, dict) else None)
    return result if all(type(number) is int for number in numbers) else None


def _numbers(counts: dict[str, int], judged: dict[str, Any]) -> Row:
    every, by = judged["all"], judged["by_reclaimer"]
    avoidable = every["read_back"] - every["optimal"]
    return {
        "seconds": counts["seconds"] / 100, "faults": counts["pgfault"], "major_faults": counts["pgmajfault"],
        "read_kib": counts["pgpgin"], "written_kib": counts["pgpgout"], "swapped_in": counts["pswpin"],
        "swapped_out": counts["pswpout"],
        "refaults": counts["workingset_refault_anon"] + counts["workingset_refault_file"],
        "evicted": every["evicted"], **{name: by[name]["evicted"] for name in _RECLAIMERS},
        "direct_percent": share(by["direct"]["evicted"], every["evicted"]),
        "used": every["used"], "ended": every["ended"], "never": every["never"], "cut": every["cut"],
        "regrettable": every["better"], "written": every["written"], "read_back": every["read_back"],
        "optimal": every["optimal"], "avoidable": avoidable,
        "avoidable_percent": share(avoidable, every["read_back"]), "brought": every["brought"],
        "unused": every["unused"]}


NUMBERS = tuple(_numbers(dict.fromkeys(_COUNTED, 0), {
    "all": dict.fromkeys(_JUDGED, 0), "by_reclaimer": dict.fromkeys(_RECLAIMERS, {"evicted": 0})}))


def _parsed(store: Store, job: Job, parse: Callable[[str], Any], what: str) -> Any:
    """None: that is not what it printed, which is said."""
    text = read_printed(store, job)
    result = None if text is None else parse(text)
    if result is None:
        complain_of_damage(store, job, what)
        job.state = State.DAMAGED
    return result


def _row(pair: Pair, store: Store) -> Row:
    row: Row = {**pair.setting._asdict(), "seed": pair.seed, "state": State.TO_DO.value}
    if pair.run.is_done and pair.regret.is_done:
        counts = _parsed(store, pair.run, _counts, "guest counted, and the run")
        judged = _parsed(store, pair.regret, _judged, "judgement")
        if counts is not None and judged is not None:
            row.update(_numbers(counts, judged), state=State.DONE.value)
    states = {pair.run.state, pair.regret.state}
    for state in (State.DAMAGED, State.FAILED):
        if state in states:
            row["state"] = state.value
            break
    row.update(run=pair.run.identity, regret=pair.regret.identity)
    return row


def rows(runs: Runs, store: Store) -> list[Row]:
    """Those of a setting follow each other."""
    several = len(runs.settings)
    return [_row(pair, store) for i in range(several) for pair in runs.pairs[i::several]]


# ---- as a table ----

_CSV = ("memory", "lru", "swappiness", "seed", "state", *NUMBERS, "run", "regret")


def cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def csv(table: list[Row]) -> str:
    lines = [",".join(cell(row.get(name, "")) for name in _CSV) + "\n" for row in table]
    return ",".join(_CSV) + "\n" + "".join(lines)
