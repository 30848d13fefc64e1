# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace campaign: the file is read, expanded into jobs, and what is not done of these is made, here or by
Slurm; then all that is done is gathered.  Each of these may be done again at any time, by several at once.

All of it happens in the directory of FILE, so that paths in it mean the same from everywhere.
"""
from __future__ import annotations

import os
from typing import Any

from laplace import say
from laplace.campaign import page, results, slurm
from laplace.campaign.inputs import Inputs
from laplace.campaign.jobs import Job, Jobs, State
from laplace.campaign.runner import Runner, Tally, signal_name
from laplace.campaign.settings import Campaign
from laplace.campaign.store import Store
from laplace.command import Command, processors
from laplace.say import DAMAGED, DONE, FAILED, USAGE, Failure, complain

_LARGEST_FILE = 1 << 20     # bytes; a slip of the pen, else


# ---- paths ----

def _absolute(path: str) -> str:
    """Of what need not be there, in a directory that is."""
    try:
        return os.path.realpath(path, strict=True)
    except OSError:
        pass
    stripped = path.rstrip("/")
    try:
        parent = os.path.realpath(os.path.dirname(stripped) or ".", strict=True)
    except OSError as error:
        say.fail_on(path, error)
    return f"{parent}/{os.path.basename(stripped)}"


def _results_of(file: str) -> str:
    """FILE without .campaign, and with .results."""
    suffix = ".campaign"
    return (file[:-len(suffix)] if len(file) > len(suffix) and file.endswith(suffix) else file) + ".results"


def _keep_places() -> None:
    """Where other programs are is named by these, perhaps from here; traces have it as it was said."""
    for name in ("LAPLACE_BOCHS", "LAPLACE_DATADIR"):
        value = os.environ.get(name)
        if value and not value.startswith("/"):
            os.environ[name] = f"{os.getcwd()}/{value}"


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        say.fail_on(path, error)
    if len(text) > _LARGEST_FILE or b"\0" in text:
        raise Failure(FAILED, f"{path}: is no campaign: it is larger than 1 MB, or has null bytes in it")
    return os.fsdecode(text)


# ---- what can be asked for ----

class _Asked:
    """A campaign's jobs, and what is to be done with them."""

    def __init__(self, command: Command, jobs: Jobs, store: Store, title: str, file: str):
        self.command, self.jobs, self.store, self.title, self.file = command, jobs, store, title, file
        self.json = command.has("json")

    def carry_out(self) -> int:
        command = self.command
        if command.has("dry-run"):
            return self._dry_run()
        if command.has("gather"):
            return self._gather_only()
        job = command.get("job")
        if job is not None:
            return self._make_one(job)
        self.store.replace("manifest", self._list(False))
        options = command.get("slurm")
        if options is not None:
            slurm.write(self.jobs, self.store, self.file, options, command.has("submit"), command.program)
            return DONE
        return self._make_all()

    def _done(self) -> int:
        return sum(job.is_done for job in self.jobs)

    def _look(self) -> None:
        for job in self.jobs:
            job.state = State.DONE if self.store.has(job.identity) else State.TO_DO

    def _list(self, with_state: bool) -> str:
        """One line a job; the order is that of FILE."""
        lines = []
        for number, job in enumerate(self.jobs, 1):
            state = f"{job.state.value}: " if with_state else ""
            needs = "" if job.needs is None else f" needs={job.needs + 1}"
            lines.append(f"{number} {job.identity} {state}{job}{needs}\n")
        return "".join(lines)

    def _job_json(self, number: int, job: Job) -> dict[str, Any]:
        row = {"number": number, "identity": job.identity, "state": job.state.value, "kind": job.kind,
                "source": job.source, "machine": job.machine, "seed": job.seed,
                "reduction": say.text_for_json(job.reduction)}
        if job.kind == "sim":
            row.update(simulation=job.simulation, policy=say.text_for_json(job.policy),
                        sizes=say.text_for_json(job.sizes))
        if job.needs is not None:
            row["needs"] = job.needs + 1
        return row

    def _put_json(self) -> None:
        say.put(say.json_text({"directory": say.text_for_json(self.store.directory),
                               "jobs": [self._job_json(number, job)
                                        for number, job in enumerate(self.jobs, 1)]}, 2) + "\n")

    def _dry_run(self) -> int:
        self._look()
        if self.json:
            self._put_json()
        else:
            say.put(f"{self._list(True)}jobs: {len(self.jobs)}; done: {self._done()}\n")
        return DONE

    def _gather(self) -> int:
        whole = results.check(self.jobs, self.store)
        results.write_tables(self.jobs, self.store)
        page.write_page(self.jobs, self.store, self.title, self.command.program, self.command.version)
        if self.json:
            self._put_json()
        else:
            directory = self.store.directory
            say.put(say.shown(f"{directory}/table.csv has the results, {directory}/report.html shows them")
                    + "\n")
        if not whole:
            return DAMAGED
        return DONE if self._done() == len(self.jobs) else FAILED

    def _gather_only(self) -> int:
        self._look()
        left = len(self.jobs) - self._done()
        if left:
            complain(f"{left} of {len(self.jobs)} jobs are not done")
        return self._gather()

    def _run(self, at_once: int, only: int | None) -> Tally:
        return Runner(self.jobs, self.store, self.command.program, at_once,
                      self.command.get("progress") or "auto", only).run()

    def _make_one(self, name: str) -> int:
        only = self.jobs.find(name)
        if only is None:
            raise Failure(USAGE, f"there is no job {name}; if there was one, what goes into it has changed"
                                 " since")
        job, tally = self.jobs[only], self._run(1, only)
        if job.state is State.WAITING:
            complain(f"job {job.identity} needs job {job.needs + 1} ({self.jobs[job.needs].identity}), which"
                     " is not done")
        elif tally.signal:
            complain(f"stopped by {signal_name(tally.signal)}")
        return DONE if job.is_done else FAILED

    def _make_all(self) -> int:
        tally = self._run(self.command.number("jobs", processors()), None)
        if tally.signal:
            raise Failure(FAILED, f"stopped by {signal_name(tally.signal)}: {self._done()} of"
                                  f" {len(self.jobs)} jobs are done; run it again for the rest")
        if not self.json:
            say.put(f"jobs: {len(self.jobs)}; done before: {tally.done}, made now: {tally.made}, failed:"
                    f" {tally.failed}, not begun: {tally.waiting}\n")
        return self._gather()


def main(command: Command) -> int:
    named = command.get("file") or ""
    try:
        file = os.path.realpath(named, strict=True)
    except OSError as error:
        say.fail_on(named, error)
    output, bochs = command.get("output"), command.get("bochs")
    directory = _results_of(file) if output is None else _absolute(output)
    campaign = Campaign(_read_text(file), named)
    _keep_places()
    bochs = bochs and os.path.join(os.getcwd(), bochs)
    try:
        os.chdir(os.path.dirname(file))
    except OSError as error:
        say.fail_on(file, error)
    inputs = Inputs(directory)
    try:
        jobs = Jobs(campaign, named, inputs, command.version, bochs)
        store = Store(directory, not command.has("dry-run"))
        title = campaign.whole("title") or os.path.basename(file)
        return _Asked(command, jobs, store, title, file).carry_out()
    finally:
        inputs.close()
