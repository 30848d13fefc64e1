# SPDX-License-Identifier: LGPL-2.1-or-later
"""The campaign's file as sections of settings.  Each is checked as it comes, so that the message says in
which line something is wrong; and all that can be known to be wrong with a value without running anything is:
by the library, where it is the library's, and by the command's tables of options, where these say.  (No
ConfigParser: it does not know the lines of values, nor keys that are there several times.)
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import re
import subprocess
from ctypes import byref
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, NamedTuple

from laplace.library import (CHOICE_SIZE, PAGE_SIZE, SPEC_SIZE, ChoiceOptions, Plan, Sizes, SizesBase, call,
                             library, opened)
from laplace.say import Failure, naming, wrong

SOURCES = ("program", "trace", "image")     # of traces; they share their names
_BLANK = " \t"
_MOST_NAME = 64
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{_MOST_NAME - 1}}}")
_QUOTED = r'"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"'
_WORD = re.compile(rf'(?:{_QUOTED}|[^" \t])+')


def _clip(text: str, most: int = 100) -> str:
    return os.fsdecode(os.fsencode(text)[:most])


def decimal(text: str) -> int | None:
    """A number of 64 bits: nothing but digits."""
    match = re.fullmatch("0*([0-9]{1,20})", text)   # (Python refuses to convert thousands of digits)
    return int(match[1]) if match and int(match[1]) < 1 << 64 else None


def split(value: str) -> list[str]:
    """The words of a value: blanks are between them; within "..." they are not, and \\" and \\\\ stand for
    the second character.
    """
    # what is left over begins with a quote that no other one closes
    if _WORD.sub("", value).strip(_BLANK):
        raise wrong('a " is not closed')
    return [re.sub(_QUOTED, lambda match: re.sub(r'\\(["\\])', r"\1", match[1]), word[0])
            for word in _WORD.finditer(value)]


# ---- what a value may be: functions that fail with what is wrong with it ----

def _each(check: Callable[[str], object]) -> Callable[[str], None]:
    """Each word of a list; a word twice would be the same job twice."""
    def checked(value: str) -> None:
        words = split(value)
        for i, word in enumerate(words):
            check(word)
            if word in words[:i]:
                raise wrong(f"'{_clip(word)}' stands there twice")
    return checked


def _matches(right: Callable[[str], object], what: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        if not right(value):
            raise wrong(what.format(f"'{_clip(value)}'"))
    return check


def _one_of(name: str, *words: str) -> Callable[[str], None]:
    return _matches(lambda value: value in words,
                    f"{name} is {', '.join(words[:-1])} or {words[-1]}, not {{}}")


def _names(value: str) -> None:
    """Whether there are sections of these names is seen in the end."""
    if '"' in value:
        raise wrong("names are not quoted")
    _each(_matches(_NAME.fullmatch, "{} is no name"))(value)


def _reduction(word: str) -> None:
    if word != "none":
        form, exact = (ctypes.create_string_buffer(SPEC_SIZE) for _ in range(2))
        call("lpl_reducer_describe", b"none", os.fsencode(word), form, exact)


def _record(value: str) -> None:
    if value != "none":
        call("lpl_plan_parse", byref(Plan()), os.fsencode(value))


def _only(value: str) -> None:
    call("lpl_choice_parse", byref(ChoiceOptions()), ctypes.create_string_buffer(CHOICE_SIZE),
         os.fsencode(value))


@contextlib.contextmanager
def _parsed(sizes: str) -> Iterator[Any]:
    """As in a trace that is not there yet: of so many pages that any percentage is one or more."""
    parsed = Sizes()
    call("lpl_sizes_parse_of", byref(parsed), os.fsencode(sizes), byref(SizesBase(PAGE_SIZE, 1 << 32)))
    try:
        yield parsed
    finally:
        library.lpl_sizes_free(byref(parsed))


def _sizes(value: str) -> None:
    with _parsed(value):
        pass


def divide(sizes: str | None, each: str | None) -> list[str | None]:
    """The sizes of a simulation, as its jobs have them: so many each."""
    if not sizes or not each:
        return [sizes]
    with _parsed(sizes) as parsed:
        if parsed.memory:
            raise wrong(f"sizes '{_clip(sizes, 80)}': sizes-per-job divides sizes in pages; in bytes or %"
                        " they are known when the trace is")
        some = [str(size) for size in parsed.size[:parsed.count]]
    return [",".join(some[i:i + int(each)]) for i in range(0, len(some), int(each))]


def _try_policies(policies: str, sizes: str | None, each: str | None) -> None:
    """Those of a simulation, with the sizes that each job has."""
    for policy, some in itertools.product(split(policies), divide(sizes, each)):
        with contextlib.ExitStack() as stack:
            simulator = opened(stack, "simulator", None)
            parsed = byref(stack.enter_context(_parsed(some))) if some else None
            call("lpl_simulator_add", simulator, os.fsencode(policy), parsed)


# ---- what the command's own options take ----

class _Row(NamedTuple):
    words: list[str]
    limits: tuple[int, ...]     # the least number and the most


@functools.cache
def _table(subcommand: str) -> dict[str, _Row]:
    """Its options, as it lists them (laplace/cli/option_table.c has the fields)."""
    with naming(library.program):
        listed = subprocess.run(["laplace", subcommand, "--list-options"], executable=library.program,
                                stdout=subprocess.PIPE, encoding="utf-8").stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    return {row[3]: _Row(row[6].split(), tuple(map(int, filter(None, row[10].split(":")))))
            for row in rows if row[0] == "option"}


def _number_of(subcommand: str, name: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        least, most = _table(subcommand)[name].limits
        _matches(lambda value: decimal(value) in range(least, most + 1),
                 f"{{}} is not a number from {least} to {most}")(value)
    return check


def _word_of(subcommand: str, name: str) -> Callable[[str], None]:
    return lambda value: _one_of(name, *_table(subcommand)[name].words)(value)


# ---- machines to schedule on ----

# what only some machines have, by which words of another option
_OF_SOME = {"policy": ("memory", ("global",)), "window": ("memory", ("ws", "pff")),
            "priority": ("scheduler", ("priority",))}
_STANDARD = {"memory": "global", "scheduler": "rr", "cpus": "1"}


def _schedule_policy(word: str) -> None:
    _NO_COMMA(word)
    _word_of("schedule", "policy")(word.partition(":")[0])
    _try_policies(word, None, None)


def _pages(word: str) -> None:
    with _parsed(word) as parsed:
        if parsed.all or parsed.count != 1:
            raise wrong(f"'{_clip(word)}': a machine has one size of memory")


def machines(section: Section) -> list[dict[str, str]]:
    """Each combination of what the keys of a schedule list, as options; without what its kind of machine
    does not have, so that some may be the same: these are there once.
    """
    lists = [[(setting.key.name, word) for word in split(setting.value)]
             for setting in section.settings if setting.key.option]
    found: dict[Any, dict[str, str]] = {}
    for options in map(dict, itertools.product(*lists)):
        has = {**_STANDARD, **options}
        options = {name: word for name, word in options.items()
                   if name not in _OF_SOME or has[_OF_SOME[name][0]] in _OF_SOME[name][1]}
        windowed = has["memory"] in _OF_SOME["window"][1]
        if windowed and "window" not in options:
            raise wrong(f"{section}: memory = {has['memory']} takes a window")
        if has["scheduler"] == "recorded" and (windowed or decimal(has["cpus"]) != 1):
            raise wrong(f"{section}: the recorded order is of one processor, without memory = ws or pff")
        found[tuple(options.items())] = options
    return list(found.values())


# ---- the keys ----

class Key(NamedTuple):
    name: str
    check: Callable[[str], object] = str    # str: nothing is looked at
    option: bool = False    # it is the subcommand's option of that name; else it is for us
    flag: bool = False      # an option that has no value; that of the key is yes or no
    repeats: bool = False
    how: bool = False       # an option that says how it is made: but for how a trace is cut into files nothing is seen of it


def _options(names: str, check: Callable[[str], object] = str, repeats: bool = False) -> list[Key]:
    return [Key(name, check, True, False, repeats) for name in names.split()]


def _flags(names: str) -> list[Key]:
    return [Key(name, _one_of(name, "yes", "no"), True, True) for name in names.split()]


def _numbers(names: str) -> list[Key]:
    return [Key(name, _number_of("run", name), True) for name in names.split()]


def _processes(subcommand: str) -> Key:
    return Key("jobs", _number_of(subcommand, "jobs"), option=True, how=True)


def _choices(names: str) -> list[Key]:
    """Which references: as `laplace sim` takes it."""
    def check(name: str) -> Callable[[str], None]:
        return lambda value: call("lpl_choice_set", byref(ChoiceOptions()), name.encode(), os.fsencode(value))
    return [Key(name, check(name), True) for name in names.split()]


def _lists(names: str, check: Callable[[str], object]) -> list[Key]:
    """Of options: each word is one's value."""
    return [Key(name, _each(check), True) for name in names.split()]


def _times(names: str, units: str) -> list[Key]:
    """How long a second is, the trace says."""
    return _lists(names, _matches(re.compile(f"[0-9]{{1,20}}({units})?").fullmatch, "{} is no time"))


_NO_COMMA = _matches(lambda word: "," not in word, "{}: blanks are between policies")
_INPUTS = Key("inputs", split, repeats=True)
# docs/campaigns.md has them in this order.
_KEYS = {
    "campaign": [
        Key("title"), Key("reductions", _each(_reduction)),
        Key("seeds", _each(_matches(lambda word: decimal(word) is not None, "a seed is a number, not {}")))],
    "program": [
        Key("command", split), Key("record", _record), Key("machines", _names), _INPUTS,
        *_options("env with take", repeats=True), *_options("root"), *_options("only", _only),
        *_numbers("timeout"), *_flags("init physical walks whole here observe"), _processes("run")],
    "trace": [Key("file")],
    "image": [
        Key("bochsrc"), Key("record", _record), _INPUTS, *_options("start stop end windows"),
        *_options("only", _only), *_flags("physical walks"), *_options("checkpoint"), _processes("record"),
        Key("launcher", option=True, how=True)],
    "machine": [
        *_numbers("memory"), *_options("cpu"), *_numbers("disk swap"), *_options("kernel")],
    "simulation": [
        Key("policies", _each(_NO_COMMA)),
        Key("sources", _names), Key("sizes", _sizes),
        Key("sizes-per-job", _matches(decimal, "sizes-per-job is a number from 1 on, not {}")),
        *_flags("local"), *_options("addresses", _word_of("sim", "addresses")),
        *_choices("process"), *_flags("children"), *_choices("task"), *_flags("user kernel"),
        *_choices("type range kind file from to")],
    "schedule": [
        Key("sources", _names), *_lists("scheduler", _word_of("schedule", "scheduler")),
        *_times("quantum", "us|ms|s|i"), *_lists("cpus", _number_of("schedule", "cpus")),
        *_times("switch-cycles", "us|ms|s"),
        Key("priority", _matches(lambda value: len(split(value)) == 1, "{} is not one list"), True),
        *_lists("pages", _pages), *_lists("policy", _schedule_policy),
        *_lists("memory", _word_of("schedule", "memory")),
        *_times("window fault-cycles write-cycles", "us|ms|s"),
        *_lists("devices", _number_of("schedule", "devices"))],
}
_REQUIRED = {"program": "command", "trace": "file", "image": "bochsrc", "simulation": "policies"}


# ---- the file ----

@dataclass
class Setting:
    key: Key
    value: str
    line: int


@dataclass
class Section:
    kind: str
    name: str       # "" of [campaign]
    line: int
    settings: list[Setting] = field(default_factory=list)

    def find(self, key: str) -> Setting | None:
        return next((setting for setting in self.settings if setting.key.name == key), None)

    def get(self, key: str) -> str | None:
        """The value of the first setting of that key."""
        found = self.find(key)
        return found.value if found else None

    def words(self, key: str) -> list[str]:
        """Those of all settings of that key."""
        return [word for setting in self.settings if setting.key.name == key for word in split(setting.value)]

    def lists(self, key: str, name: str) -> bool:
        """Is `name` in the list that the key has?  Without the key, everything is."""
        value = self.get(key)
        return value is None or name in value.split()

    def __str__(self) -> str:
        return f"[{self.kind} {self.name}]" if self.name else f"[{self.kind}]"


class Campaign:
    """What the file says."""

    def __init__(self, text: str, name: str):
        self.sections: list[Section] = []
        self._line = 0
        try:
            for line in text.split("\n"):
                self._line += 1
                self._read_line(line.removesuffix("\r").strip(_BLANK))
            last = self._line
            for section in self.sections:
                self._check(section)
            self._line = last
            if not self.of_kind(*SOURCES):
                raise wrong("no program, trace or image is named")
        except Failure as failure:
            raise Failure(f"{_clip(name, 200)}:{self._line}: {failure.text}", failure.status) from None

    def of_kind(self, *kinds: str) -> list[Section]:
        return [section for section in self.sections if section.kind in kinds]

    def whole(self, key: str) -> str | None:
        """A key of [campaign]."""
        return next((section.get(key) for section in self.of_kind("campaign")), None)

    def _read_line(self, line: str) -> None:
        if not line or line.startswith("#"):
            return
        control = re.search("[\0-\x08\x0a-\x1f\x7f]", line)
        if control:
            raise wrong(f"has a control character (\\x{ord(control[0]):02x})")
        if line.startswith("["):
            self._begin_section(line)
        elif not self.sections:
            raise wrong("a section, as [campaign], has to be first")
        else:
            self._add_setting(self.sections[-1], line)

    def _begin_section(self, line: str) -> None:
        if not line.endswith("]"):
            raise wrong("a section is [KIND NAME], and its ] is missing")
        kind, name = (re.split("[ \t]+", line[1:-1].strip(_BLANK), maxsplit=1) + [""])[:2]
        if kind not in _KEYS:
            *kinds, last = _KEYS
            raise wrong(f"no section is a '{_clip(kind)}'; there are {', '.join(kinds)} and {last}")
        if kind == "campaign" and name:
            raise wrong("[campaign] has no name")
        if kind != "campaign" and not _NAME.fullmatch(name):
            raise wrong(f"a {kind} has a name of letters, digits and ._-, at most {_MOST_NAME}, that does not"
                        f" begin with one of these three: [{kind} NAME]")
        other = self._find(kind, name)
        if other:
            raise wrong(f"{other} is there already, in line {other.line}")
        self.sections.append(Section(kind, name, self._line))

    def _find(self, kind: str, name: str) -> Section | None:
        """Results have the source's name, of whatever kind it is."""
        kinds = SOURCES if kind in SOURCES else (kind,)
        return next((section for section in self.of_kind(*kinds) if section.name == name), None)

    def _add_setting(self, section: Section, line: str) -> None:
        name, equals, value = (part.strip(_BLANK) for part in line.partition("="))
        if not equals:
            raise wrong("neither [KIND NAME] nor KEY = VALUE")
        keys = _KEYS[section.kind]
        key = next((key for key in keys if key.name == name), None)
        if not key:
            raise wrong(f"a {section.kind} has no key '{_clip(name, 60)}'; it may have "
                        + ", ".join(key.name for key in keys))
        if not value:
            raise wrong(f"{name} has no value")
        before = section.find(name)
        if before and not key.repeats:
            raise wrong(f"{name} is there already, in line {before.line}")
        self._of_key(name, key.check, value)
        section.settings.append(Setting(key, value, self._line))

    @staticmethod
    def _of_key(name: str, check: Callable[..., object], *arguments: str | None) -> None:
        try:
            check(*arguments)
        except Failure as failure:
            raise Failure(f"{name}: {failure.text}", failure.status) from None

    def _check(self, section: Section) -> None:
        """What is seen when all of it is known."""
        self._line = section.line
        required = section.find(_REQUIRED.get(section.kind, ""))
        if section.kind in _REQUIRED and not required:
            raise wrong(f"{section} has no {_REQUIRED[section.kind]}")
        if section.kind == "simulation":
            sizes, each = section.get("sizes"), section.get("sizes-per-job")
            if each and sizes in (None, "all"):
                raise wrong(f"{section} has sizes-per-job, but no list of sizes")
            self._line = required.line
            self._of_key("policies", _try_policies, required.value, sizes, each)
            self._line = section.line
        if section.kind == "image":
            for key, needed in (("launcher", "checkpoint"), ("checkpoint", "jobs")):
                if section.get(key) and not section.get(needed):
                    raise wrong(f"{section} has a {key}, which is for several processes, and no {needed}")
        if section.kind == "schedule":
            machines(section)
        for key, kind in (("machines", "machine"), ("sources", "program")):
            for name in split(section.get(key) or ""):
                if not self._find(kind, name):
                    raise wrong(f"{section}: {key}: there is no '{name}'")
