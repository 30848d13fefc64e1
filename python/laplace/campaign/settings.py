# SPDX-License-Identifier: LGPL-2.1-or-later
"""The campaign's file as sections of settings, each checked as it comes, so that the message says in which
line something is wrong.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field

from laplace.campaign.keys import (KINDS, MOST_NAME, REQUIRED, SOURCES, Key, check_policies, clip,
                                   find_key, is_name, split, wrong)
from laplace.say import Failure

_BLANK = " \t"


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

    def get(self, key: str) -> str | None:
        """The value of the first setting of that key."""
        return next((setting.value for setting in self.settings if setting.key.name == key), None)

    def words(self, key: str) -> list[str]:
        """Those of all settings of that key."""
        return [word for setting in self.settings if setting.key.name == key
                for word in split(setting.value)]

    def lists(self, key: str, name: str) -> bool:
        """Is `name` in the list that the key has?  Without the key, everything is."""
        value = self.get(key)
        return value is None or name in value.split()

    def title(self) -> str:
        return f"[{self.kind}{' ' if self.name else ''}{self.name}]"


class Campaign:
    """What the file says."""

    def __init__(self, text: str, name: str):
        self.sections: list[Section] = []
        self._name, self._line = name, 0
        try:
            for line in text.split("\n"):
                self._line += 1
                self._read_line(line[:-1] if line.endswith("\r") else line)
            self._check()
        except Failure as failure:
            raise Failure(failure.status, f"{clip(name, 200)}:{self._line}: {failure.text}") from None

    def of_kind(self, *kinds: str) -> list[Section]:
        return [section for section in self.sections if section.kind in kinds]

    def whole(self, key: str) -> str | None:
        """A key of [campaign]."""
        return next((section.get(key) for section in self.of_kind("campaign")), None)

    # ---- reading ----

    def _read_line(self, line: str) -> None:
        line = line.strip(_BLANK)
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
        kind, name = (re.split("[ \t]", line[1:-1].strip(_BLANK), maxsplit=1) + [""])[:2]
        name = name.strip(_BLANK)
        if kind not in KINDS:
            raise wrong(f"no section is a '{clip(kind)}'; there are {', '.join(KINDS[:-1])} and"
                        f" {KINDS[-1]}")
        if kind == "campaign" and name:
            raise wrong("[campaign] has no name")
        if kind != "campaign" and not is_name(name):
            raise wrong(f"a {kind} has a name of letters, digits and ._-, at most {MOST_NAME}, that does"
                        f" not begin with one of these three: [{kind} NAME]")
        other = self._find(kind, name)
        if other:
            raise wrong(f"{other.title()} is there already, in line {other.line}")
        self.sections.append(Section(kind, name, self._line))

    def _find(self, kind: str, name: str) -> Section | None:
        """Results have the source's name, of whatever kind it is."""
        kinds = SOURCES if kind in SOURCES else (kind,)
        return next((section for section in self.of_kind(*kinds) if section.name == name), None)

    def _add_setting(self, section: Section, line: str) -> None:
        name, equals, value = line.partition("=")
        if not equals:
            raise wrong("neither [KIND NAME] nor KEY = VALUE")
        name, value = name.strip(_BLANK), value.strip(_BLANK)
        key = find_key(section.kind, name)
        if not value:
            raise wrong(f"{name} has no value")
        for setting in section.settings:
            if setting.key is key and not key.repeats:
                raise wrong(f"{name} is there already, in line {setting.line}")
        if key.check:
            self._of_key(name, key.check, name, value)
        section.settings.append(Setting(key, value, self._line))

    @staticmethod
    def _of_key(name: str, check, *arguments) -> None:
        try:
            check(*arguments)
        except Failure as failure:
            raise Failure(failure.status, f"{name}: {failure.text}") from None

    # ---- the whole ----

    def _check(self) -> None:
        last = self._line
        for section in self.sections:
            self._line = section.line
            required = REQUIRED.get(section.kind)
            if required and section.get(required) is None:
                raise wrong(f"{section.title()} has no {required}")
            if section.kind == "simulation":
                self._check_simulation(section)
            self._check_list(section, "machines", "machine")
            self._check_list(section, "sources", "program")
        self._line = last
        if not self.of_kind(*SOURCES):
            raise wrong("no program, trace or image is named")

    def _check_simulation(self, section: Section) -> None:
        sizes, each = section.get("sizes"), section.get("sizes-per-job")
        if each and sizes in (None, "all"):
            raise wrong(f"{section.title()} has sizes-per-job, but no list of sizes")
        self._line = next(setting.line for setting in section.settings
                          if setting.key.name == "policies")
        self._of_key("policies", check_policies, section.get("policies"), sizes, each)
        self._line = section.line

    def _check_list(self, section: Section, key: str, kind: str) -> None:
        for name in split(section.get(key) or ""):
            if not self._find(kind, name):
                raise wrong(f"{section.title()}: {key}: there is no '{name}'")
