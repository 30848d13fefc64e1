# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a campaign comes to: each source on each machine with each seed is traced once; that trace is reduced
in each way, and what that leaves is simulated by each policy, at so many sizes a job, and scheduled on each
machine.  This order never depends on anything but the file.
"""
from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field
from typing import Any, Iterable

from laplace import say
from laplace.campaign.inputs import Inputs, hash_text
from laplace.campaign.settings import SOURCES, Campaign, Section, decimal, divide, machines, split
from laplace.say import Failure, complain, escaped, wrong

_SEED = "{seed}"
_RECORDED = "sad:64"    # as of laplace run and laplace record
NOT = "-"               # what a job has not
# words that stand for the paths of what a job reads and writes, which are no part of what it is
INPUT, OUTPUT = "\1", "\2"
_NO_PART = {INPUT: "in\n", OUTPUT: "out\n"}


class State(enum.Enum):
    TO_DO = "to do"
    RUNNING = "running"
    DONE = "done"           # before we began
    MADE = "made"           # by us
    FAILED = "failed"
    DAMAGED = "damaged"     # done, but its result is not what it was any more
    WAITING = "waiting"     # cannot be begun: what it needs is not to be had


@dataclass(eq=False)
class Job:
    words: list[str]        # `laplace` and its arguments
    # what it is of, for people: source, then what distinguishes it
    labels: dict[str, str]
    needs: int | None       # the job that makes the trace it reads
    trace: str | None       # the file that it reads, where no job makes it
    inputs: list[str]       # what else goes into it, by what its source says
    how: list[str] = field(default_factory=list)    # options that make no other result
    about: str = ""         # what the identity is a hash of
    identity: str = ""
    states: list[str] = field(default_factory=list)     # of the files that go in, when it began
    state: State = State.TO_DO
    results: list[dict[str, Any]] = field(default_factory=list)     # of a simulation or schedule that is done

    @property
    def kind(self) -> str:
        """As the subcommands: run, record, reduce, sim, schedule."""
        return self.words[0]

    @property
    def command(self) -> list[str]:
        """The words, with how it is made."""
        return [self.words[0], *self.how, *self.words[1:]]

    @property
    def is_done(self) -> bool:
        return self.state in (State.DONE, State.MADE)

    @property
    def is_over(self) -> bool:
        return self.state not in (State.TO_DO, State.RUNNING)

    def __str__(self) -> str:
        """In a line: "sim gzip machine=small seed=1 ..."."""
        labels = [f"{name}={value}" for name, value in self.labels.items()]
        return " ".join([self.kind, self.labels["source"], *labels[1:]])


def _seeded(text: str, seed: str) -> str:
    return text if seed == NOT else text.replace(_SEED, seed)


def _options(section: Section | None, seed: str, how: bool = False) -> list[str]:
    """Those that a section has for a subcommand, or of these those that make no other result."""
    return [_seeded(f"--{setting.key.name}" + ("" if setting.key.flag else f"={setting.value}"), seed)
            for setting in (section.settings if section else ())
            if setting.key.option and setting.key.how == how and not (setting.key.flag and setting.value == "no")]


class JobList(list):
    """Jobs in an order in which each stands after what it needs.  Paths are those of the current directory."""

    def __init__(self, inputs: Inputs, bochs: str | None):
        super().__init__()
        self._inputs, self._bochs = inputs, bochs

    def find(self, name: str) -> Job | None:
        """By its number, from 1 on, or its identity."""
        for job in self:
            if job.identity == name:
                return job
        number = decimal(name)
        # an identity may have no letters in it
        return self[number - 1] if number and len(name) < 32 and number <= len(self) else None

    def changed(self, job: Job, ran: bool) -> str | None:
        """What is not as the identity has it, before a job begins and (`ran`) when it ended."""
        self._inputs.take_states()
        try:
            now = self._about(job)
        except Failure as failure:
            complain(failure.text)
            now = None
        before, job.states = job.states, self._inputs.take_states()
        if now is None:
            return "what goes into it"
        if now == job.about:
            touched = [state for state in job.states if ran and state not in before]
            return escaped(touched[0].partition(" ")[2]) if touched else None
        return _first_change(job, now)

    def kept(self, job: Job) -> None:
        """Its result has its name."""

    # ---- what a job is ----

    def _about(self, job: Job) -> str:
        """All that goes in, as a text of lines."""
        lines = [f"laplace {say.version}\n"]
        lines += [_NO_PART.get(word) or f"word {escaped(word)}\n" for word in job.words]
        if job.needs is not None:
            lines.append(f"trace {self[job.needs].identity}\n")
        elif job.trace is not None:
            lines += self._inputs.file(job.trace, None)
        else:
            lines += self._inputs.recording(job.words, job.inputs, self._bochs)
        return "".join(lines)

    def add(self, words: list[str], labels: dict[str, str], needs: int | None, trace: str | None,
             inputs: Iterable[str] = (), how: Iterable[str] = ()) -> int:
        job = Job(words, labels, needs, trace, list(inputs), how=list(how))
        job.about = self._about(job)
        job.identity = hash_text(job.about)
        self.append(job)
        return len(self) - 1


class Jobs(JobList):
    """Those of a campaign."""

    def __init__(self, campaign: Campaign, file: str, inputs: Inputs, bochs: str | None):
        super().__init__(inputs, bochs)
        self._campaign = campaign
        for source in campaign.of_kind(*SOURCES):
            self._add_source(source)
        if not self:
            raise wrong(f"{file}: comes to no jobs: traces that are there already are neither reduced nor"
                        " simulated nor scheduled")

    # ---- the expansion ----

    def _add_source(self, source: Section) -> None:
        # a trace was made already, and an image says which machine it is for
        is_program = source.kind == "program"
        machines = [machine for machine in self._campaign.of_kind("machine")
                    if is_program and source.lists("machines", machine.name)]
        seeds = [NOT]
        # does the seed change anything?  If not, once is enough
        if is_program and any(_SEED in setting.value for setting in source.settings):
            seeds = split(self._campaign.whole("seeds") or "")
            if not seeds:
                raise wrong(f"{source} has {_SEED} in it, but [campaign] has no seeds")
        for machine in machines or [None]:
            for seed in seeds:
                self._add_trace(source, machine, seed)

    def _add_trace(self, source: Section, machine: Section | None, seed: str) -> None:
        labels = {"source": source.name, "machine": machine.name if machine else NOT, "seed": seed,
                  "reduction": "none"}
        trace = source.get("file")
        made = None if trace else self._add_recording(source, machine, labels)
        for reduction in split(self._campaign.whole("reductions") or "none"):
            reduced = {**labels, "reduction": reduction}
            if reduction == "none":
                self._add_uses(reduced, made, trace)
            else:
                words = ["reduce", "--progress=never", "--jobs=1", "-m", reduction, "-o", OUTPUT, INPUT]
                self._add_uses(reduced, self.add(words, reduced, made, trace), None)

    def _add_recording(self, source: Section, machine: Section | None, labels: dict[str, str]) -> int:
        seed, made = labels["seed"], ["-r", source.get("record") or _RECORDED, "-o", OUTPUT]
        if source.kind == "program":    # its own words come last, after all options
            words = ["run", "-q", "--clear-env", *made, *_options(machine, seed), *_options(source, seed),
                     "--", *(_seeded(word, seed) for word in source.words("command"))]
        else:
            words = ["record", "--progress=never", *made, *_options(source, seed), source.get("bochsrc")]
        return self.add(words, labels, None, None, (_seeded(word, seed) for word in source.words("inputs")),
                        _options(source, seed, how=True))

    def _add_uses(self, labels: dict[str, str], needs: int | None, trace: str | None) -> None:
        self._add_simulations(labels, needs, trace)
        for section in self._campaign.of_kind("schedule"):
            for options in machines(section) if section.lists("sources", labels["source"]) else ():
                words = ["schedule", "--progress=never", "--jobs=1", "--json",
                         *(f"--{name}={word}" for name, word in options.items()), INPUT]
                self.add(words, {**labels, "schedule": section.name, **options}, needs, trace)

    def _add_simulations(self, labels: dict[str, str], needs: int | None, trace: str | None) -> None:
        for section in self._campaign.of_kind("simulation"):
            if not section.lists("sources", labels["source"]):
                continue
            for policy in section.words("policies"):
                for sizes in divide(section.get("sizes"), section.get("sizes-per-job")):
                    words = ["sim", "--progress=never", "--jobs=1", "--json", "-p", policy,
                             *(["-s", sizes] if sizes else []), *_options(section, labels["seed"]), INPUT]
                    of = {**labels, "simulation": section.name, "policy": policy, "sizes": sizes or NOT}
                    self.add(words, of, needs, trace)


def _first_change(job: Job, now: str) -> str:
    """The file that is meant by the first line that differs: a missing one, and not the next."""
    same = len(os.path.commonprefix([job.about, now]))
    same = job.about.rfind("\n", 0, same) + 1
    before, after = job.about[same:].partition("\n")[0], now[same:].partition("\n")[0]
    words = (before if after in job.about[same:] else after).split(" ", 2)
    return words[2] if words[0] == "input" and len(words) == 3 else job.trace or "what goes into it"
