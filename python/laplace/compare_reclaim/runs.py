# SPDX-License-Identifier: LGPL-2.1-or-later
"""The jobs of a comparison: for each combination of memory, LRU and swappiness a run, with every reference,
and what `laplace regret` says of its trace, which is removed then; all that once for each guest of a setting, so
that one that is interrupted has as many of each setting.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from typing import NamedTuple

from laplace import say
from laplace.campaign.inputs import Inputs
from laplace.campaign.jobs import INPUT, OUTPUT, Job, JobList
from laplace.campaign.settings import decimal
from laplace.campaign.store import Store
from laplace.say import wrong

_LRU = {"lists": "n", "generations": "y"}       # of lru_gen/enabled; a kernel without that has lists
_GUEST = ("cpu", "disk", "here", "kernel", "root", "seed", "swap", "timeout")       # options of laplace run
_SEEDS = 999999999      # the last
_GUEST_SEVERAL = ("env", "take", "with")
# Where the guest's shell looks for programs, and what it is itself: of another program of that name it wants the path.
_GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OF_SHELL = frozenset(
    ". : [ alias bg break cd chdir command continue counts echo eval exec exit export false fc fg getopts hash jobs"
    " kill local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset"
    " wait".split())
# What is counted is all that the run prints on standard output; what the program prints goes elsewhere.
_IN_GUEST = """
set -eu
lru=/sys/kernel/mm/lru_gen/enabled
if [ -e $lru ] || [ %(generations)s = y ]; then echo %(generations)s >$lru; fi
echo %(swappiness)d >/proc/sys/vm/swappiness
counts() {
	read -r seconds rest </proc/uptime
	echo "$1 seconds $seconds"
	while read -r name value; do
		case $name in
		pgfault | pgmajfault | pgpgin | pgpgout | pswpin | pswpout | workingset_refault_*) echo "$1 $name $value" ;;
		esac
	done </proc/vmstat
}
%(moment)scounts before
status=0
"$@" >&2 || status=$?
counts after
exit $status
"""
# Another seed alone is hardly another guest: nothing in reclaim asks for random numbers, and addresses are not random.
# So the seed also decides how many children the shell has before, up to three, which leave other page frames free and
# nothing else, and how much later the program begins, up to a tenth of a second: the kernel's clocks and threads are
# elsewhere then.  No other program does it, for that would take memory.
_LATER = """read -r random </proc/sys/kernel/random/uuid
random=$((0x${random%%-*}))
children=$((random % 4))
while [ $children -gt 0 ]; do
	(:)
	children=$((children - 1))
done
steps=$((random / 4 % 1000))
while [ $steps -gt 0 ]; do steps=$((steps - 1)); done
"""


class Setting(NamedTuple):
    memory: int
    lru: str
    swappiness: int


class Pair(NamedTuple):
    """What there is to do for a guest."""

    setting: Setting
    seed: int
    run: Job
    regret: Job


def _numbers(option: str, text: str, least: int, most: int) -> list[int]:
    numbers = []
    for word in text.split(","):
        number = decimal(word)
        if number is None or not least <= number <= most:
            raise wrong(f"--{option}: '{word}' is not a number from {least} to {most}")
        numbers.append(number)
    return _once(option, numbers)


def _once(option: str, values: list) -> list:
    for i, value in enumerate(values):
        if value in values[:i]:
            raise wrong(f"--{option}: {value} is there twice")
    return values


def settings(options: dict[str, str]) -> list[Setting]:
    """Each combination; two rows that differ in their LRU are side by side."""
    kinds = _once("lru", options["lru"].split(","))
    for kind in kinds:
        if kind not in _LRU:
            raise wrong(f"--lru: '{kind}' is neither {' nor '.join(_LRU)}")
    memories = _numbers("usable-memory", options["usable-memory"], 32, 60000)
    values = _numbers("swappiness", options["swappiness"], 0, 200)
    return [Setting(memory, kind, value)
            for memory, value, kind in itertools.product(memories, values, kinds)]


class Runs(JobList):
    def __init__(self, words: say.Options, program: list[str], inputs: Inputs, store: Store):
        options = dict(words)
        super().__init__(inputs, options.get("bochs"))
        self._store, self._keeps = store, "keep-traces" in options
        found = self._find(program[0], "root" in options)
        several = [f"--{name}={value}" for name, value in words if name in _GUEST_SEVERAL]
        # it is a shell that `laplace run' looks at
        several += [f"--with={found}"] if found else []
        program = [self._called(program[0], found), *program[1:]]
        self.settings, self.repeat = settings(options), int(options["repeat"])
        first = int(options.get("seed", "0"))
        if first + self.repeat - 1 > _SEEDS:
            raise wrong(f"--repeat: there are no {self.repeat} seeds from {first} to {_SEEDS}")
        self.pairs: list[Pair] = []
        for seed in range(first, first + self.repeat):
            # the first is what a comparison without others has
            if seed != first:
                options["seed"] = str(seed)
            guest = [f"--{name}" + (f"={options[name]}" if options[name] else "")
                     for name in _GUEST if name in options] + several
            self.pairs += [self._add_pair(setting, seed, seed == first, guest, program, [found] if found else [])
                           for setting in self.settings]

    @staticmethod
    def _find(program: str, of_root: bool) -> str | None:
        """Where it is, unless that is of another root."""
        if of_root:
            return None
        path = shutil.which(program)
        if path is None:
            raise wrong(f"{program}: there is no such program")
        return path

    @staticmethod
    def _called(program: str, found: str | None) -> str:
        """As the guest's shell finds the same."""
        if found and "/" not in program and (
                program in _OF_SHELL or shutil.which(program, path=_GUEST_PATH) != found):
            return found
        return program

    def _add_pair(self, setting: Setting, seed: int, is_first: bool, guest: list[str], program: list[str],
                  inputs: list[str]) -> Pair:
        labels = {"source": os.path.basename(program[0]),
                  **{name: str(value) for name, value in setting._asdict().items()}}
        if self.repeat > 1:
            labels["seed"] = str(seed)
        script = _IN_GUEST % {"generations": _LRU[setting.lru], "swappiness": setting.swappiness,
                              "moment": "" if is_first else _LATER}
        run = self.add(["run", "-q", "--clear-env", "-r", "none", "--events=reclaim", "-o", OUTPUT,
                        f"--usable-memory={setting.memory}", *guest, "--", "sh", "-c", script, "sh", *program],
                       labels, None, None, inputs)
        regret = self.add(["regret", "--progress=never", "--json", INPUT], labels, run, None)
        return Pair(setting, seed, self[run], self[regret])

    # ---- traces ----

    def _trace(self, pair: Pair) -> str:
        return self._store.path(pair.run.identity, "trace.lpl")

    def prepare(self) -> None:
        """A trace goes when it has been judged; where it is gone and has not been, it is made again."""
        for pair in self.pairs:
            # in this order, for others may make and judge it meanwhile
            has_run = self._store.has(pair.run.identity)
            there = os.path.exists(self._trace(pair))
            if self._store.has(pair.regret.identity):
                self.kept(pair.regret)
            elif has_run and not there:
                shutil.rmtree(self._store.path(pair.run.identity), ignore_errors=True)

    def kept(self, job: Job) -> None:
        """Of the two whichever is the later one: a run that was removed alone is made after its judgement."""
        for pair in self.pairs:
            if job in (pair.run, pair.regret) and self._store.has(pair.regret.identity) and not self._keeps:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._trace(pair))
