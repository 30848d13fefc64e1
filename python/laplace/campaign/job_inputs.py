# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a job is made from that no other job makes: a trace; or the simulator, and the program with the files
that its command names and the place where it runs, or the bochsrc with the files that this names.  Of what
else a program needs, such as shared libraries, nothing is looked at: the key `inputs` names what shall count.
"""
from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from laplace.campaign.inputs import Inputs
from laplace.say import FAILED, Failure, escaped, fail_on

if TYPE_CHECKING:
    from laplace.campaign.jobs import Job


def _is_there(path: str) -> bool:
    return os.path.isfile(path) or os.path.isdir(path)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return file.readlines()
    except OSError as error:
        fail_on(path, error)


def _kernel(inputs: Inputs, directory: str) -> list[str]:
    """A kernel's directory (linux-module/fetch-kernel), by what names its files and by the kernel itself:
    the other ten thousand, modules and headers, are of the same package.
    """
    path, key = directory + "/kernel.env", "KERNEL_IMAGE="
    described = inputs.describe(path, path)
    for line in _lines(path):
        if line.startswith(key):
            described += inputs.describe(line[len(key):].rstrip("\n"), "kernel")
    return described


def _option(inputs: Inputs, word: str) -> list[str]:
    """The value of an option, if that is a path.  What --observe finds is not known yet."""
    name, _, value = word.partition("=")
    if word == "--here":
        return inputs.tell_here()
    # of a directory nothing is taken that is in it
    if not _is_there(value) or (name == "--take" and os.path.isdir(value)):
        return []
    return _kernel(inputs, value) if name == "--kernel" else inputs.describe(value, value)


def _word(inputs: Inputs, word: str) -> list[str]:
    """A word that is a path, or has one after its first = or a letter (-I/usr/include)."""
    paths = [word, word.partition("=")[2], word[2:] if re.match("-[A-Za-z]", word) else ""]
    return [line for path in paths if _is_there(path) for line in inputs.tell_word(path)]


def _simulator(inputs: Inputs, bochs: str | None) -> list[str]:
    if bochs is None:
        raise Failure(FAILED, "laplace-bochs is neither installed with laplace nor in $PATH; LAPLACE_BOCHS"
                              " names it")
    described = inputs.describe(bochs, "laplace-bochs")
    # which takes its place where every reference is recorded
    if os.path.exists(bochs + "-all"):
        described += inputs.describe(bochs + "-all", "laplace-bochs-all")
    return described


# ---- programs ----

def _place(of_root: bool) -> list[str]:
    """The guest has them as here; they are in its memory, and so in the trace."""
    mask = os.umask(0)
    os.umask(mask)
    described = [f"umask {mask:03o}\n"]
    if not of_root:
        described.append(f"user {os.geteuid()}:{os.getegid()}\ndirectory {escaped(os.getcwd())}\n")
    return described


def _in_path(name: str) -> str | None:
    for folder in filter(None, os.environ.get("PATH", "").split(":")):
        path = f"{folder}/{name}"
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _program(inputs: Inputs, name: str) -> list[str]:
    path = name if "/" in name else _in_path(name)
    if path is None:
        raise Failure(FAILED, f"{name}: there is no such program")
    return inputs.describe(path, name)


def _run(inputs: Inputs, words: list[str]) -> list[str]:
    """With --root the program and the paths in its command are of that root."""
    end = words.index("--")
    options, command = words[:end], words[end + 1:]
    of_root = any(word.startswith("--root=") for word in options)
    described = _place(of_root)
    for word in options:
        if word.startswith("--"):
            described += _option(inputs, word)
    if not of_root and command:
        described += _program(inputs, command[0])
        for word in command[1:]:
            described += _word(inputs, word)
    return described


# ---- images ----

def _bochsrc(inputs: Inputs, path: str) -> list[str]:
    """The files that it names by path=, file= and image=; quotes may be around what follows."""
    described = inputs.describe(path, "bochsrc")
    for line in _lines(path):
        for key in () if line.startswith("#") else ("path", "file", "image"):
            for match in re.finditer(rf'(?:^|(?<=[ \t,:])){key}=(?="([^"]*)|([^, \t\r\n]*))', line):
                named = match[1] if match[1] is not None else match[2]
                if _is_there(named):
                    described += inputs.describe(named, named)
    return described


def describe(inputs: Inputs, job: Job, bochs: str | None) -> list[str]:
    """Lines that have the hashes of all that goes in."""
    if job.trace is not None:
        return inputs.describe(job.trace, None)
    described = _simulator(inputs, bochs)
    described += _run(inputs, job.words) if job.kind == "run" else _bochsrc(inputs, job.words[-1])
    for path in job.inputs:
        described += inputs.describe(path, path)
    return described
