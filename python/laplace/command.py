# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was asked of a subcommand: the command, its version, and its options."""
from __future__ import annotations

import os


class Command:
    """`program` is the path of laplace; options are texts by their names."""

    def __init__(self, program: str, version: str, words: list[str]):
        self.program, self.version = program, version
        self.words = [tuple(word.split("=", 1)) for word in words]

    def get(self, name: str) -> str | None:
        """The last one of that name."""
        return dict(self.words).get(name)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.words if key == name]

    def has(self, name: str) -> bool:
        return self.get(name) is not None

    def number(self, name: str, default: int) -> int:
        return int(self.get(name) or default)


def processors() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0))
