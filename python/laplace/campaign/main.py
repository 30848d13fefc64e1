# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace campaign: the file is read, expanded into jobs, and what is not done of these is made, here or by
Slurm; then all that is done is gathered.  Each of these may be done again at any time, by several at once.

All of it happens in the directory of FILE, so that paths in it mean the same from everywhere.
"""
from __future__ import annotations

import collections
import os
from typing import Any

from laplace import say
from laplace.campaign import page, results, slurm
from laplace.campaign.inputs import Inputs
from laplace.campaign.jobs import Job, Jobs, State
from laplace.campaign.runner import Runner, signal_name
from laplace.campaign.settings import Campaign
from laplace.campaign.store import Store
from laplace.say import DAMAGED, DONE, FAILED, Failure, complain, naming, wrong

_LARGEST_FILE = 1 << 20     # bytes; a slip of the pen, else


def _keep_places() -> None:
    """Where other programs are is named by these, perhaps from here; traces have it as it was said."""
    for name in ("LAPLACE_BOCHS", "LAPLACE_DATADIR"):
        if os.environ.get(name):
            os.environ[name] = os.path.join(os.getcwd(), os.environ[name])


def _read_text(path: str) -> str:
    with naming(path), open(path, "rb") as file:
        text = file.read(_LARGEST_FILE + 1)
    if len(text) > _LARGEST_FILE or b"\0" in text:
        raise Failure(f"{path}: is no campaign: it is larger than 1 MB, or has null bytes in it")
    return os.fsdecode(text)


class _Asked:
    """A campaign's jobs, and what is to be done with them."""

    def __init__(self, options: dict[str, str], jobs: Jobs, store: Store, title: str, file: str):
        self._options, self._jobs, self._store, self._title, self._file = options, jobs, store, title, file

    def carry_out(self) -> int:
        options, jobs, store = self._options, self._jobs, self._store
        for job in jobs:
            job.state = State.DONE if store.has(job.identity) else State.TO_DO
        if "dry-run" in options:
            self._put(f"{self._list(True)}jobs: {len(jobs)}; done: {self._done()}\n")
            return DONE
        if "gather" in options:
            if self._done() < len(jobs):
                complain(f"{len(jobs) - self._done()} of {len(jobs)} jobs are not done")
            return self._gather()
        if "job" in options:
            return self._make_one(options["job"])
        store.replace("manifest", self._list(False))
        if "slurm" in options:
            slurm.write(jobs, store, self._file, options["slurm"], "submit" in options)
            return DONE
        return self._make_all()

    def _done(self) -> int:
        return sum(job.is_done for job in self._jobs)

    def _list(self, with_state: bool) -> str:
        """One line a job; the order is that of FILE."""
        lines = []
        for number, job in enumerate(self._jobs, 1):
            state = f"{job.state.value}: " if with_state else ""
            needs = "" if job.needs is None else f" needs={job.needs + 1}"
            lines.append(f"{number} {job.identity} {state}{job}{needs}\n")
        return "".join(lines)

    def _put(self, text: str) -> None:
        """Or the jobs as JSON, if that was wished."""
        rows: list[dict[str, Any]] = [
            {"number": number, "identity": job.identity, "state": job.state.value, "kind": job.kind,
             **job.labels, **({} if job.needs is None else {"needs": job.needs + 1})}
            for number, job in enumerate(self._jobs, 1)]
        table = {"directory": self._store.directory, "jobs": rows}
        say.put(say.json_text(table, 2) + "\n" if "json" in self._options else text)

    def _gather(self) -> int:
        whole = results.check(self._jobs, self._store)
        results.write_tables(self._jobs, self._store)
        page.write_page(self._jobs, self._store, self._title)
        where = self._store.directory
        tables = [f"{where}/{name}" for name in results.tables(self._jobs)]
        has = "has" if len(tables) == 1 else "have"
        self._put(say.shown(f"{' and '.join(tables)} {has} the results, {where}/report.html shows them") + "\n")
        return DAMAGED if not whole else DONE if self._done() == len(self._jobs) else FAILED

    def _run(self, at_once: int, only: Job | None = None) -> int:
        progress = say.Progress(self._options.get("progress", "auto"))
        return Runner(self._jobs, self._store, at_once, progress, only).run()

    def _make_one(self, name: str) -> int:
        job = self._jobs.find(name)
        if job is None:
            raise wrong(f"there is no job {name}; if there was one, what goes into it has changed since")
        ended_by = self._run(1, job)
        if job.state is State.WAITING:
            needed = f"job {job.needs + 1} ({self._jobs[job.needs].identity})"
            complain(f"job {job.identity} needs {needed}, which is not done")
        elif ended_by:
            complain(f"stopped by {signal_name(ended_by)}")
        return DONE if job.is_done else FAILED

    def _make_all(self) -> int:
        ended_by = self._run(int(self._options.get("jobs", 0)) or len(os.sched_getaffinity(0)))
        if ended_by:
            raise Failure(f"stopped by {signal_name(ended_by)}: {self._done()} of {len(self._jobs)} jobs are"
                          " done; run it again for the rest")
        if "json" not in self._options:
            count = collections.Counter(job.state for job in self._jobs)
            say.put(f"jobs: {len(self._jobs)}; done before: {count[State.DONE]}, made now:"
                    f" {count[State.MADE]}, failed: {count[State.FAILED]}, not begun:"
                    f" {count[State.WAITING] + count[State.TO_DO]}\n")
        return self._gather()


def main(words: say.Options) -> int:
    options = dict(words)
    named, bochs = options["file"], options.get("bochs")
    with naming(named):
        file = os.path.realpath(named, strict=True)
    directory = os.path.realpath(options.get("output", file.removesuffix(".campaign") + ".results"))
    campaign = Campaign(_read_text(file), named)
    _keep_places()
    bochs = bochs and os.path.join(os.getcwd(), bochs)
    with naming(file):
        os.chdir(os.path.dirname(file))
    with Inputs(directory) as inputs:
        jobs = Jobs(campaign, named, inputs, bochs)
        store = Store(directory, "dry-run" not in options)
        title = campaign.whole("title") or os.path.basename(file)
        return _Asked(options, jobs, store, title, file).carry_out()
