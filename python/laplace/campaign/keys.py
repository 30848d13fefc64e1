# SPDX-License-Identifier: LGPL-2.1-or-later
"""The keys of a campaign's file.  All that can be known to be wrong with a value without running anything
is found here: by the library, where it is the library's.
"""
from __future__ import annotations

import ctypes
import os
import re
from ctypes import byref, c_uint64
from dataclasses import dataclass
from typing import Callable

from laplace.library import (CHOICE_SIZE, PAGE_SIZE, SPEC_SIZE, ChoiceOptions, Plan, Sizes, SizesBase,
                             call, library, opened)
from laplace.say import USAGE, Failure

KINDS = ("campaign", "program", "trace", "image", "machine", "simulation")
SOURCES = ("program", "trace", "image")     # of traces; they share their names
MOST_NAME = 64
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MOST_NAME - 1}}}")
_QUOTED = r'"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"'
_WORD = re.compile(rf'(?:{_QUOTED}|[^" \t])+')
_RANGES = {"memory": (80, 65536), "disk": (1, 1000000), "swap": (0, 65536), "timeout": (1, 1000000)}

Check = Callable[[str, str], None]      # of a key's name and value; fails with what is wrong


def wrong(text: str) -> Failure:
    return Failure(USAGE, text)


def clip(text: str, most: int = 100) -> str:
    return os.fsdecode(os.fsencode(text)[:most])


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def decimal(text: str) -> int | None:
    """A number of 64 bits: nothing but digits."""
    number = int(text) if re.fullmatch("[0-9]+", text) else None
    return number if number is not None and number < 1 << 64 else None


def split(value: str) -> list[str]:
    """The words of a value: blanks are between them; within "..." they are not, and \\" and \\\\ stand
    for the second character.
    """
    # what is left over begins with a quote that no other one closes
    if _WORD.sub("", value).strip(" \t"):
        raise wrong('a " is not closed')
    return [re.sub(_QUOTED, lambda match: re.sub(r'\\(["\\])', r"\1", match[1]), word[0])
            for word in _WORD.finditer(value)]


# ---- what a value may be ----

def _words(_name: str, value: str) -> None:
    split(value)


def _each(check: Callable[[str], None]) -> Check:
    """Each word of a list; a word twice would be the same job twice."""
    def checked(_name: str, value: str) -> None:
        words = split(value)
        for i, word in enumerate(words):
            check(word)
            if word in words[:i]:
                raise wrong(f"'{clip(word)}' stands there twice")
    return checked


def _seed(word: str) -> None:
    if decimal(word) is None:
        raise wrong(f"a seed is a number, not '{clip(word)}'")


def _names(name: str, value: str) -> None:
    """Whether there are sections of these names is seen in the end."""
    def one(word: str) -> None:
        if not is_name(word):
            raise wrong(f"'{clip(word)}' is no name")
    if '"' in value:
        raise wrong("names are not quoted")
    _each(one)(name, value)


def _reduction(word: str) -> None:
    if word != "none":
        form, exact = (ctypes.create_string_buffer(SPEC_SIZE) for _ in range(2))
        call("lpl_reducer_describe", b"none", os.fsencode(word), form, exact)


def _record(_name: str, value: str) -> None:
    if value != "none":
        call("lpl_plan_parse", byref(Plan()), os.fsencode(value))


def _policy(word: str) -> None:
    if "," in word:
        raise wrong(f"'{clip(word)}': blanks are between policies")


def _number(name: str, value: str) -> None:
    if not decimal(value):
        raise wrong(f"{name} is a number from 1 on, not '{clip(value)}'")


def _machine(name: str, value: str) -> None:
    """As `laplace run` takes it (guest-program/run)."""
    (least, most), number = _RANGES[name], decimal(value)
    if number is None or not least <= number <= most:
        raise wrong(f"'{clip(value)}' is not a number from {least} to {most}")


def _choice(name: str, value: str) -> None:
    """Which references: as `laplace sim` takes it."""
    call("lpl_choice_set", byref(ChoiceOptions()), name.encode(), os.fsencode(value))


def _only(_name: str, value: str) -> None:
    call("lpl_choice_parse", byref(ChoiceOptions()), ctypes.create_string_buffer(CHOICE_SIZE),
         os.fsencode(value))


def _addresses(name: str, value: str) -> None:
    if value not in ("auto", "virtual", "canonical"):
        raise wrong(f"{name} is auto, virtual or canonical, not '{clip(value)}'")


def _yes(name: str, value: str) -> None:
    if value not in ("yes", "no"):
        raise wrong(f"{name} is yes or no, not '{clip(value)}'")


# ---- policies and sizes, which the simulator knows ----

@dataclass
class SizeList:
    all: bool
    memory: bool    # some were in bytes or percent
    sizes: list[int]


def parse_sizes(value: str) -> SizeList:
    """As they will be in a trace that is not there yet: of so many pages that any percentage is one or
    more.
    """
    sizes, base = Sizes(), SizesBase(PAGE_SIZE, 1 << 32)
    call("lpl_sizes_parse_of", byref(sizes), os.fsencode(value), byref(base))
    result = SizeList(sizes.all, sizes.memory, [] if sizes.all else sizes.size[:sizes.count])
    library.lpl_sizes_free(byref(sizes))
    return result


def _sizes(_name: str, value: str) -> None:
    parse_sizes(value)


def _try_policy(policy: str, sizes: SizeList | None, part: slice = slice(None)) -> None:
    simulator = opened("lpl_simulator_open", None)
    try:
        tried = sizes.sizes[part] if sizes else []
        how = sizes and Sizes(sizes.all, sizes.memory, (c_uint64 * len(tried))(*tried), len(tried))
        call("lpl_simulator_add", simulator, os.fsencode(policy), how and byref(how))
    finally:
        library.lpl_simulator_close(simulator)


def check_policies(policies: str, value: str | None, each: str | None) -> None:
    """The policies of a simulation, with the sizes that each job has."""
    sizes = parse_sizes(value) if value else None
    if each and sizes and sizes.memory:
        raise wrong(f"sizes '{clip(value, 80)}': sizes-per-job divides sizes in pages; in bytes or % they"
                    " are known when the trace is")
    for policy in split(policies):
        if not sizes or sizes.all:
            _try_policy(policy, sizes)
        else:   # they ascend, so the first job's and the last size are enough
            _try_policy(policy, sizes, slice(int(each) if each else None))
            _try_policy(policy, sizes, slice(-1, None))


# ---- the table ----

@dataclass(frozen=True)
class Key:
    kind: str
    name: str
    check: Check | None = None      # None: nothing is looked at
    option: bool = False            # it is the subcommand's option of that name; else it is for us
    repeats: bool = False

    @property
    def flag(self) -> bool:
        """An option that has no value; that of the key is yes or no."""
        return self.check is _yes


# docs/campaigns.md has them in this order.
KEYS = (
    Key("campaign", "title"),
    Key("campaign", "reductions", _each(_reduction)),
    Key("campaign", "seeds", _each(_seed)),
    Key("program", "command", _words),
    Key("program", "record", _record),
    Key("program", "machines", _names),
    Key("program", "inputs", _words, repeats=True),
    Key("program", "env", option=True, repeats=True),
    Key("program", "with", option=True, repeats=True),
    Key("program", "take", option=True, repeats=True),
    Key("program", "root", option=True),
    Key("program", "only", _only, option=True),
    Key("program", "timeout", _machine, option=True),
    Key("program", "init", _yes, option=True),
    Key("program", "walks", _yes, option=True),
    Key("program", "whole", _yes, option=True),
    Key("program", "here", _yes, option=True),
    Key("program", "observe", _yes, option=True),
    Key("trace", "file"),
    Key("image", "bochsrc"),
    Key("image", "record", _record),
    Key("image", "inputs", _words, repeats=True),
    Key("image", "start", option=True),
    Key("image", "stop", option=True),
    Key("image", "end", option=True),
    Key("image", "windows", option=True),
    Key("image", "only", _only, option=True),
    Key("image", "walks", _yes, option=True),
    Key("machine", "memory", _machine, option=True),
    Key("machine", "cpu", option=True),
    Key("machine", "disk", _machine, option=True),
    Key("machine", "swap", _machine, option=True),
    Key("machine", "kernel", option=True),
    Key("simulation", "policies", _each(_policy)),
    Key("simulation", "sources", _names),
    Key("simulation", "sizes", _sizes),
    Key("simulation", "sizes-per-job", _number),
    Key("simulation", "local", _yes, option=True),
    Key("simulation", "addresses", _addresses, option=True),
    Key("simulation", "process", _choice, option=True),
    Key("simulation", "children", _yes, option=True),
    Key("simulation", "task", _choice, option=True),
    Key("simulation", "user", _yes, option=True),
    Key("simulation", "kernel", _yes, option=True),
    *(Key("simulation", name, _choice, option=True)
      for name in ("type", "range", "kind", "file", "from", "to")),
)
REQUIRED = {"program": "command", "trace": "file", "image": "bochsrc", "simulation": "policies"}


def find_key(kind: str, name: str) -> Key:
    of_kind = [key for key in KEYS if key.kind == kind]
    for key in of_kind:
        if key.name == name:
            return key
    raise wrong(f"a {kind} has no key '{clip(name, 60)}'; it may have "
                + ", ".join(key.name for key in of_kind))
