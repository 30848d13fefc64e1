# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said to a person, as the rest of the command says it (laplace/cli/say.h)."""
from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import time
from typing import Any, Callable, Iterator, NoReturn

DONE, FAILED, USAGE, DAMAGED = range(4)     # exit statuses
Options = list[tuple[str, str]]             # names and values

_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\udc80-\udcff]")   # by a terminal; or no UTF-8
_name = "laplace"
_output: list[str] = []
_output_errors: list[OSError] = []
version = ""


class Failure(Exception):
    """What ends the command: a message, unless it was printed, and an exit status."""

    def __init__(self, text: str = "", status: int = FAILED):
        super().__init__(text)
        self.text, self.status = text, status


def wrong(text: str) -> Failure:
    return Failure(text, USAGE)


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """What the system refuses within ends the command, by the name of a file."""
    try:
        yield
    except OSError as error:
        raise Failure(of_path(path, error)) from None


def of_path(path: str, error: OSError) -> str:
    return f"{path}: {os.strerror(error.errno)}"


def _hexadecimal(match: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(match[0]))


def shown(text: str) -> str:
    """A line that may hold names of files, which are anybody's."""
    return _OBEYED.sub(_hexadecimal, text)


def escaped(text: str) -> str:
    """In printable ASCII (lpl_text_escape)."""
    return re.sub(r"[^ -~]|\\", _hexadecimal, text)


def complain(text: str) -> None:
    if text:
        _write(2, f"{_name}: {shown(text)}\n")


def _write(descriptor: int, text: str) -> None:
    rest = memoryview(os.fsencode(text))
    try:
        while rest:
            rest = rest[os.write(descriptor, rest):]
    except OSError as error:
        if descriptor == 1:
            _output_errors.append(error)


put = _output.append    # on standard output, when it is flushed; what goes wrong there is said at the end


def flush() -> None:
    _write(1, "".join(_output))
    _output.clear()


def run(name: str, main: Callable[[Options], int], options: Options) -> NoReturn:
    """Run a subcommand and end with its status."""
    global _name
    _name = f"laplace {name.replace('_', '-')}"
    # no exception in the middle of anything: it ends us, unless it is ignored
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        status = main(options)
    except (Failure, MemoryError) as error:
        failure = error if isinstance(error, Failure) else Failure("no memory")
        complain(failure.text)
        status = failure.status
    flush()
    # a reader that went away is no failure
    if any(error.errno != errno.EPIPE for error in _output_errors):
        complain(of_path("standard output", _output_errors[0]))
        status = FAILED
    os._exit(status)


# ---- JSON, as jansson writes it ----

def _number(value: float) -> str:
    text = re.sub(r"e([+-]?)0*(\d)", lambda match: "e" + match[1].strip("+") + match[2], f"{value:.17g}")
    return text if "." in text or "e" in text else text + ".0"


def json_text(value: Any, indent: int, edge: str = "\n") -> str:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str) and re.search("[\udc80-\udcff]", value):     # what is not UTF-8 is escaped
        value = escaped(value)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = edge + " " * indent
    if isinstance(value, list):
        parts, ends = [json_text(each, indent, inner) for each in value], "[]"
    else:
        parts = [f"{json.dumps(key)}: {json_text(each, indent, inner)}" for key, each in value.items()]
        ends = "{}"
    return ends[0] + inner + ("," + inner).join(parts) + edge + ends[1]


# ---- the line of progress ----

class Progress:
    """On a terminal one line, elsewhere a line now and then; `when` is auto, always or never."""

    _MOST = 255

    def __init__(self, when: str):
        self.terminal = os.isatty(2)
        self.on = when == "always" or (when == "auto" and self.terminal)
        self.start = self.last = time.monotonic()
        self.width = 0

    def due(self) -> bool:
        """Is a line due?  A log is not flooded."""
        now = time.monotonic()
        if not self.on or now - self.last < (0.25 if self.terminal else 2):
            return False
        self.last = now
        return True

    def line(self, text: str) -> None:
        most = self._MOST
        if self.terminal:       # in the last column some terminals begin a new line
            most = min(shutil.get_terminal_size((self._MOST + 1, 1)).columns - 1, most)
        text = text[:most]
        _write(2, f"\r{text:<{min(self.width, most)}}" if self.terminal else text + "\n")
        self.width = len(text)

    def clear(self) -> None:
        if self.terminal and self.width:
            _write(2, f"\r{'':{self.width}}\r")
            self.width = 0


def human(number: int) -> str:
    value, step = float(number), 0
    while value >= 999.5:
        value, step = value / 1000, step + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {' kMGTPE'[step]}" if step else str(number)


def duration(seconds: int) -> str:
    if seconds >= 360000:
        return f"{seconds // 86400} d {seconds // 3600 % 24} h"
    hours = f"{seconds // 3600}:{seconds // 60 % 60:02}" if seconds >= 3600 else f"{seconds // 60}"
    return f"{hours}:{seconds % 60:02}"
