# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said to a person, as the rest of the command says it (laplace/cli/say.h)."""
from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import time
from typing import Any, Callable, NoReturn

DONE, FAILED, USAGE, DAMAGED = range(4)     # exit statuses

_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\udc80-\udcff]")   # by a terminal; or no UTF-8
_UNPRINTABLE = re.compile(r"[^ -~]|\\")
_name = "laplace"


class Failure(Exception):
    """What ends the command: a message, unless it was printed, and an exit status."""

    def __init__(self, status: int, text: str | None = None):
        super().__init__(text)
        self.status, self.text = status, text


def _hexadecimal(match: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(match[0]))


def shown(text: str) -> str:
    """A line that may hold names of files, which are anybody's."""
    return _OBEYED.sub(_hexadecimal, text)


def escaped(text: str) -> str:
    """In printable ASCII (lpl_text_escape)."""
    return _UNPRINTABLE.sub(_hexadecimal, text)


def complain(text: str, status: int = FAILED) -> int:
    _write(2, f"{_name}: {shown(text)}\n")
    return status


def of_path(path: str, error: OSError) -> str:
    return f"{path}: {os.strerror(error.errno)}"


def fail_on(path: str, error: OSError) -> NoReturn:
    raise Failure(FAILED, of_path(path, error)) from None


def _write(descriptor: int, text: str) -> OSError | None:
    rest = memoryview(os.fsencode(text))
    try:
        while rest:
            rest = rest[os.write(descriptor, rest):]
    except OSError as error:
        return error
    return None


_output: list[str] = []
_output_errors: list[OSError] = []


def put(text: str) -> None:
    """On standard output, when it is flushed; what goes wrong there is said at the end."""
    _output.append(text)


def flush() -> None:
    error = _write(1, "".join(_output))
    _output.clear()
    if error:
        _output_errors.append(error)


def run(name: str, main: Callable[[Any], int], command: Any) -> NoReturn:
    """Run a subcommand and end with its status."""
    global _name
    _name = f"laplace {name}"
    # no exception in the middle of anything: it ends us, unless it is ignored
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        status = main(command)
    except Failure as failure:
        if failure.text is not None:
            complain(failure.text)
        status = failure.status
    except MemoryError:
        status = complain("no memory")
    flush()
    # a reader that went away is no failure
    if any(error.errno != errno.EPIPE for error in _output_errors):
        status = complain(of_path("standard output", _output_errors[0]))
    os._exit(status)


# ---- JSON, as jansson writes it ----

def _number(value: float) -> str:
    text = re.sub(r"e([+-]?)0*(\d)", lambda match: "e" + match[1].strip("+") + match[2],
                  f"{value:.17g}")
    return text if "." in text or "e" in text else text + ".0"


def json_text(value: Any, indent: int, depth: int = 0) -> str:
    if isinstance(value, float):
        return _number(value)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    edge, inner = "\n" + " " * indent * depth, "\n" + " " * indent * (depth + 1)
    parts = ([f"{json.dumps(key)}: {json_text(each, indent, depth + 1)}"
              for key, each in value.items()] if isinstance(value, dict)
             else [json_text(each, indent, depth + 1) for each in value])
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + inner + ("," + inner).join(parts) + edge + closing


def text_for_json(text: str) -> str:
    """What is not UTF-8 is escaped."""
    return escaped(text) if any("\udc80" <= letter <= "\udcff" for letter in text) else text


# ---- the line of progress ----

def human(number: int) -> str:
    value, step = float(number), 0
    while value >= 999.5:
        value /= 1000
        step += 1
    if step == 0:
        return str(number)
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {' kMGTPE'[step]}"


def duration(seconds: int) -> str:
    if seconds >= 360000:
        return f"{seconds // 86400} d {seconds // 3600 % 24} h"
    if seconds >= 3600:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{seconds // 60}:{seconds % 60:02}"


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
        if not self.on:
            return
        most = self._MOST
        if self.terminal:       # in the last column some terminals begin a new line
            most = min(shutil.get_terminal_size((self._MOST + 1, 1)).columns - 1, most)
        text = text[:most]
        self._put(f"\r{text:<{min(self.width, most)}}" if self.terminal else text + "\n")
        self.width = len(text)

    def clear(self) -> None:
        if self.on and self.terminal and self.width:
            self._put(f"\r{'':{self.width}}\r")
            self.width = 0

    @staticmethod
    def _put(text: str) -> None:
        _write(2, text)
