# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a campaign comes to: each source on each machine with each seed is traced once; that trace is reduced
in each way, and what that leaves is simulated by each policy, at so many sizes a job.  This order never
depends on anything but the file.
"""
from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field
from typing import Any

from laplace.campaign import job_inputs
from laplace.campaign.inputs import Inputs, hasher
from laplace.campaign.keys import SOURCES, decimal, parse_sizes, split
from laplace.campaign.settings import Campaign, Section
from laplace.say import USAGE, Failure, complain, escaped

_SEED = "{seed}"
_RECORDED = "sad:64"    # as of laplace run and laplace record
NOT = "-"               # what a job has not
# Words that stand for the paths of what a job reads and writes, which are no part of what it is.
INPUT, OUTPUT = "\1", "\2"


class State(enum.Enum):
    TO_DO = "to do"
    RUNNING = "running"
    DONE = "done"           # before we began
    MADE = "made"           # by us
    FAILED = "failed"
    DAMAGED = "damaged"     # done, but its result is not what it was any more
    WAITING = "waiting"     # cannot be begun: what it needs is not to be had


@dataclass
class Job:
    kind: str               # as the subcommands: run, record, reduce, sim
    words: list[str]        # `laplace` and its arguments
    needs: int | None       # the job whose trace it reads
    trace: str | None       # the file that it reads, where no job makes it
    # what it is of, for people
    source: str
    machine: str
    seed: str
    reduction: str
    simulation: str = NOT
    policy: str = NOT
    sizes: str = NOT
    inputs: list[str] = field(default_factory=list)     # what else goes into it, by what its source says
    about: str = ""         # what the identity is a hash of
    identity: str = ""
    states: list[str] = field(default_factory=list)     # of the files that go in, when it began
    state: State = State.TO_DO
    results: list[dict[str, Any]] = field(default_factory=list)     # of a simulation that is done

    def __str__(self) -> str:
        """In a line: "sim gzip small 1 sad:64 curves lru 16,32"."""
        text = (f"{self.kind} {self.source} machine={self.machine} seed={self.seed}"
                f" reduction={self.reduction}")
        if self.kind == "sim":
            text += f" simulation={self.simulation} policy={self.policy} sizes={self.sizes}"
        return text

    @property
    def is_done(self) -> bool:
        return self.state in (State.DONE, State.MADE)

    @property
    def is_over(self) -> bool:
        return self.state not in (State.TO_DO, State.RUNNING)


@dataclass
class _Reads:
    """A trace that jobs read: of a job; or a file; or nothing is read."""

    job: int | None = None
    file: str | None = None
    reduction: str = "none"


def _seeded(text: str, seed: str) -> str:
    return text if seed == NOT else text.replace(_SEED, seed)


def _options(section: Section | None, seed: str) -> list[str]:
    """Those that a section has for a subcommand."""
    words = []
    for setting in section.settings if section else ():
        key = setting.key
        if key.option and not (key.flag and setting.value == "no"):
            words.append(_seeded(f"--{key.name}" + ("" if key.flag else f"={setting.value}"), seed))
    return words


class Jobs(list):
    """Those of a campaign, in an order in which each job stands after what it needs.

    Paths are those of the current directory.
    """

    def __init__(self, campaign: Campaign, file: str, inputs: Inputs, version: str, bochs: str | None):
        super().__init__()
        self._campaign, self._inputs, self._version, self._bochs = campaign, inputs, version, bochs
        self._reductions = split(campaign.whole("reductions") or "none")
        self._simulations = campaign.of_kind("simulation")
        self._seeds = split(campaign.whole("seeds") or "")
        for source in campaign.of_kind(*SOURCES):
            self._add_source(source)
        if not self:
            raise Failure(USAGE, f"{file}: comes to no jobs: traces that are there already are neither"
                                 " reduced nor simulated")

    def find(self, name: str) -> int | None:
        """By its number, from 1 on, or its identity."""
        for i, job in enumerate(self):
            if job.identity == name:
                return i
        number = decimal(name)
        # an identity may have no letters in it
        if number is None or len(name) >= 32 or not 1 <= number <= len(self):
            return None
        return number - 1

    def changed(self, job: Job, ran: bool) -> str | None:
        """What is not as the identity has it, before a job begins and (`ran`) when it ended."""
        self._inputs.take_states()
        try:
            now = self._tell(job)
        except Failure as failure:
            complain(failure.text or "")
            now = None
        before, job.states = job.states, self._inputs.take_states()
        if now is None or (now == job.about and ran and before != job.states):
            return "what goes into it"
        return None if now == job.about else _first_change(job, now)

    # ---- what a job is ----

    def _tell(self, job: Job) -> str:
        """All that goes in, as a text of lines."""
        lines = [f"laplace {self._version}\n"]
        for word in job.words:
            lines.append("in\n" if word == INPUT else "out\n" if word == OUTPUT
                         else f"word {escaped(word)}\n")
        if job.needs is not None:
            lines.append(f"trace {self[job.needs].identity}\n")
        else:
            lines += job_inputs.describe(self._inputs, job, self._bochs)
        return "".join(lines)

    def _add(self, job: Job) -> int:
        job.about = self._tell(job)
        job.identity = hasher().of_text(job.about)
        self.append(job)
        return len(self) - 1

    # ---- the expansion ----

    def _add_source(self, source: Section) -> None:
        machines: list[Section | None] = [
            machine for machine in self._campaign.of_kind("machine")
            if source.kind == "program" and source.lists("machines", machine.name)]
        # a trace was made already, and an image says which machine it is for
        for machine in machines or [None]:
            # does the seed change anything?  If not, once is enough
            if source.kind != "program" or not any(_SEED in setting.value for setting in source.settings):
                self._add_trace(source, machine, NOT)
                continue
            if not self._seeds:
                raise Failure(USAGE, f"[program {source.name}] has {_SEED} in it, but [campaign] has no"
                                     " seeds")
            for seed in self._seeds:
                self._add_trace(source, machine, seed)

    def _add_trace(self, source: Section, machine: Section | None, seed: str) -> None:
        of = (source.name, machine.name if machine else NOT, seed)
        if source.kind == "trace":
            self._add_reductions(_Reads(file=source.get("file")), of)
            return
        record = source.get("record") or _RECORDED
        if source.kind == "program":    # its own words come last, after all options
            words = ["run", "-q", "--clear-env", "-r", record, "-o", OUTPUT, *_options(machine, seed),
                     *_options(source, seed), "--",
                     *(_seeded(word, seed) for word in source.words("command"))]
        else:
            words = ["record", "--progress=never", "-r", record, "-o", OUTPUT, *_options(source, seed),
                     source.get("bochsrc")]
        self._add_reductions(_Reads(self._add(Job(
            words[0], words, None, None, *of, "none",
            inputs=[_seeded(word, seed) for word in source.words("inputs")]))), of)

    def _add_reductions(self, trace: _Reads, of: tuple[str, str, str]) -> None:
        for reduction in self._reductions:
            if reduction == "none":
                self._add_simulations(trace, of)
                continue
            words = ["reduce", "--progress=never", "--jobs=1", "-m", reduction, "-o", OUTPUT, INPUT]
            job = self._add(Job("reduce", words, trace.job, trace.file, *of, reduction))
            self._add_simulations(_Reads(job, None, reduction), of)

    def _add_simulations(self, trace: _Reads, of: tuple[str, str, str]) -> None:
        for section in self._simulations:
            if not section.lists("sources", of[0]):
                continue
            for policy in section.words("policies"):
                for sizes in _divided(section):
                    words = ["sim", "--progress=never", "--jobs=1", "--json", "-p", policy,
                             *(["-s", sizes] if sizes else []), *_options(section, of[2]), INPUT]
                    self._add(Job("sim", words, trace.job, trace.file, *of, trace.reduction,
                                  section.name, policy, sizes or NOT))


def _divided(section: Section) -> list[str | None]:
    """The sizes of a simulation, as its jobs have them."""
    sizes, each = section.get("sizes"), section.get("sizes-per-job")
    if not each:
        return [sizes]
    some, count = [str(size) for size in parse_sizes(sizes).sizes], int(each)
    return [",".join(some[i:i + count]) for i in range(0, len(some), count)]


def _named_in(line: str) -> str | None:
    """The file that a line is about, where it has a name."""
    words = line.split(" ", 2)
    return words[2] if words[0] == "input" and len(words) == 3 else None


def _first_change(job: Job, now: str) -> str:
    """By the first line that differs: where a line is missing, that one is meant and not the next."""
    same = len(os.path.commonprefix([job.about, now]))
    same = job.about.rfind("\n", 0, same) + 1
    before, after = job.about[same:], now[same:]
    line = after.partition("\n")[0]
    return (_named_in((before if line in before else after).partition("\n")[0])
            or job.trace or "what goes into it")
