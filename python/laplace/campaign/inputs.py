# SPDX-License-Identifier: LGPL-2.1-or-later
"""What jobs are made from, as hashes of files: a trace; or the simulator, and the program with the files that
its command names and the place where it runs, or the bochsrc with the files that this names.  Of what else a
program needs, such as shared libraries, nothing is looked at: the key `inputs` names what shall count.

A file that was hashed before is known again by its name, size, inode and times of change, as make knows what
is new; so a large trace is read once and not by each of a thousand jobs.  Two kinds are known only to the
process that hashed them: those that changed just now, because they may change once more within the same tick
of their clock; and those of images, which are often made so that no time in them says when anything was
written.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import shutil
import stat
import time
from ctypes import c_size_t, c_uint64
from typing import Iterable, Iterator, NamedTuple

from laplace.campaign.store import Store
from laplace.files import read_text
from laplace.library import Pointer, files_of_trace, loaded
from laplace.say import Failure, escaped, naming

_SETTLED = 3            # seconds after which a file's times show whether it changes
_DEEPEST = 64           # directories within directories
_LOOP_MAJOR, _FUSE = 7, 0x65735546
_PIECE = 1 << 18
_OF_MACHINE = ("/proc", "/sys", "/dev", "/run")     # each has its own of these
_TRACES = (".lpl", ".lpl.part", ".lpl.again", ".lpl.observed")  # and what is of them
_LINE = re.compile(r"([0-9a-f]{32}) ([0-9.-]{1,95}) *(/.*)", re.DOTALL)
_NAMED = re.compile(r'(?:^|(?<=[ \t,:]))(path|file|image)=(?="([^"]*)|([^, \t\r]*))')

# what a path is: a word of a program's command, the directory that --here takes along, or any other
_WORD, _HERE, _INPUT = range(3)


# ---- hashes ----

class _Hash128(ctypes.Structure):
    _fields_ = [("low", c_uint64), ("high", c_uint64)]


@functools.cache
def _xxhash() -> ctypes.CDLL:
    library = loaded("libxxhash.so.0", "xxHash", "libxxhash0")
    library.XXH3_createState.restype, library.XXH3_128bits_digest.restype = Pointer, _Hash128
    return library


def _hash(pieces: Iterable[bytes]) -> str:
    """The XXH3 hash of 128 bits: what `xxh128sum` prints."""
    library = _xxhash()
    state = library.XXH3_createState()
    try:
        library.XXH3_128bits_reset(state)
        for piece in pieces:
            library.XXH3_128bits_update(state, piece, c_size_t(len(piece)))
        value = library.XXH3_128bits_digest(state)
    finally:
        library.XXH3_freeState(state)
    return f"{value.high:016x}{value.low:016x}"


def hash_text(text: str) -> str:
    return _hash([os.fsencode(text)])


def hash_file(path: str) -> str:
    with naming(path), open(path, "rb", buffering=0) as file:
        return _hash(iter(lambda: file.read(_PIECE), b""))


# ---- files ----

class _Known(NamedTuple):
    hash: str
    state: str
    lasts: bool     # what has this state later holds the same


def _is_of_image(path: str, about: os.stat_result) -> bool:
    """Read-only, as squashfs is, on a loop device, or by a program (FUSE)."""
    of_system = (ctypes.c_long * 64)()
    try:
        read_only = os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return True
    return (os.major(about.st_dev) == _LOOP_MAJOR or bool(read_only)
            or ctypes.CDLL(None).statfs(os.fsencode(path), of_system) != 0 or of_system[0] == _FUSE)


def _is_below(path: str, directory: str) -> bool:
    """Is an absolute path that of a directory, or of something in it?"""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _is_of_machine(path: str) -> bool:
    where = os.path.realpath(path)
    return os.path.lexists(where) and (where == "/" or any(_is_below(where, own) for own in _OF_MACHINE))


def _is_there(path: str) -> bool:
    return os.path.isfile(path) or os.path.isdir(path)


class Inputs:
    """Describes files as lines "input HASH NAME"; `results` is the directory of results."""

    def __init__(self, results: str):
        self._results = results
        self._known: dict[str, _Known] = {}
        self._changed = False
        self._states: list[str] = []
        with contextlib.suppress(OSError):
            for match in filter(None, map(_LINE.fullmatch, read_text(results + "/inputs").split("\n")[:-1])):
                self._known[match[3]] = _Known(match[1], match[2], True)

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """The first error is the one that is said."""
        with contextlib.suppress(Failure) if kind else contextlib.nullcontext():
            self._remember()

    def _remember(self) -> None:
        """What is new, if the directory is there."""
        if self._changed and os.access(self._results, os.W_OK):
            paths = sorted((path for path, known in self._known.items() if known.lasts and "\n" not in path),
                           key=os.fsencode)
            Store(self._results).replace("inputs", "".join(
                f"{self._known[path].hash} {self._known[path].state} {path}\n" for path in paths))

    def take_states(self) -> list[str]:
        """Size, inode, times and path of each file listed since this was asked before: others also where what
        a file holds was changed, and changed back.
        """
        states, self._states = self._states, []
        return states

    def file(self, path: str, name: str | None, what: int = _INPUT) -> Iterator[str]:
        """A file; a directory with all below it; a trace with its segments.  `name` stands for `path`; None:
        it is no part of what goes in.  Of a word and of --here: what `laplace run` takes along
        (guest-program/needs); so nothing of /proc and its like, nor the results; and no traces.
        """
        if what == _WORD and _is_of_machine(path):
            return
        yield from self._path(path, name, what, 0)
        for segment in files_of_trace(path)[1:]:
            if os.path.exists(segment):
                yield from self._path(segment, None, what, 0)

    def _path(self, path: str, name: str | None, what: int, depth: int) -> Iterator[str]:
        """Below a directory links are what they lead to only if that is a file: no circles."""
        is_link = os.path.islink(path)
        if depth and is_link and (_is_of_machine(path) or not os.path.isfile(path)):
            return
        try:
            about = os.stat(path)
        except OSError as error:
            if depth and os.path.lexists(path):
                return
            raise Failure(f"{path}: {error.strerror}") from None
        if stat.S_ISREG(about.st_mode):
            yield f"input {self._hash(path, about)}{'' if name is None else ' ' + escaped(name)}\n"
        elif stat.S_ISDIR(about.st_mode):
            yield from self._directory(path, name or "", what, depth)
        elif not depth:
            raise Failure(f"{path}: is neither a file nor a directory")

    def _directory(self, path: str, name: str, what: int, depth: int) -> Iterator[str]:
        where = os.path.realpath(path)
        if what == _WORD and where == self._results:
            return
        with naming(path):
            entries = sorted(os.listdir(path), key=os.fsencode)
        if what != _WORD and _is_below(self._results, where):
            raise Failure(f"{path}: is an input, and holds the results ({self._results}): put these elsewhere"
                          " (-o)")
        if depth > _DEEPEST:
            raise Failure(f"{path}: directories are too deep")
        for entry in entries:
            if not (what == _HERE and entry.endswith(_TRACES)):
                yield from self._path(f"{path}/{entry}", f"{name}/{entry}", what, depth + 1)

    def _hash(self, path: str, about: os.stat_result) -> str:
        path, now, second = os.path.realpath(path), int(time.time()), 10 ** 9
        times = [f"{time // second}.{time % second:09}" for time in (about.st_mtime_ns, about.st_ctime_ns)]
        state = "-".join([str(about.st_size), str(about.st_ino), *times])
        lasts = (max(about.st_mtime_ns, about.st_ctime_ns) // second + _SETTLED < now
                 and not _is_of_image(path, about))
        self._states.append(f"{state} {path}")
        known = self._known.get(path)
        # once that it lasts can be said, it is hashed again
        if not known or known.state != state or known.lasts != lasts:
            self._changed = True
            known = self._known[path] = _Known(hash_file(path), state, lasts)
        return known.hash

    # ---- recordings ----

    def recording(self, words: list[str], named: list[str], bochs: str | None) -> Iterator[str]:
        """All that goes into one; `named` is what its source says that does."""
        if bochs is None:
            raise Failure("laplace-bochs is neither installed with laplace nor in $PATH; LAPLACE_BOCHS names"
                          " it")
        yield from self.file(bochs, "laplace-bochs")
        # which takes its place where every reference is recorded
        if os.path.exists(bochs + "-all"):
            yield from self.file(bochs + "-all", "laplace-bochs-all")
        yield from self._run(words) if words[0] == "run" else self._bochsrc(words[-1])
        for path in named:
            yield from self.file(path, path)

    def _run(self, words: list[str]) -> Iterator[str]:
        """The guest has umask, user and directory as here: they are in its memory, and so in the trace.  With
        --root the program and the paths in its command are of that root.
        """
        end = words.index("--")
        options, command = words[:end], words[end + 1:]
        of_root = any(word.startswith("--root=") for word in options)
        mask = os.umask(0)
        os.umask(mask)
        yield f"umask {mask:03o}\n"
        if not of_root:
            yield f"user {os.geteuid()}:{os.getegid()}\ndirectory {escaped(os.getcwd())}\n"
        for option in options:
            yield from self._option(option)
        if command and not of_root:
            program = command[0] if "/" in command[0] else shutil.which(command[0])
            if program is None:
                raise Failure(f"{command[0]}: there is no such program")
            yield from self.file(program, command[0])
            for word in command[1:]:
                # a path, or one after its first = or a letter (-I/usr/include)
                for path in (word, word.partition("=")[2], word[2:] if re.match("-[A-Za-z]", word) else ""):
                    if _is_there(path):
                        yield from self.file(path, path, _WORD)

    def _option(self, word: str) -> Iterator[str]:
        """The value of an option, if that is a path.  What --observe finds is not known yet."""
        name, _, value = word.partition("=")
        if word == "--here":
            yield from self.file(".", ".", _HERE)
        # of a directory nothing is taken that is in it
        elif name.startswith("--") and _is_there(value) and not (name == "--take" and os.path.isdir(value)):
            yield from self._kernel(value) if name == "--kernel" else self.file(value, value)

    def _kernel(self, directory: str) -> Iterator[str]:
        """A kernel's directory (linux-module/fetch-kernel), by what names its files and by the kernel itself:
        the other ten thousand, modules and headers, are of the same package.  Of a tree in which a kernel was
        built, that kernel.
        """
        path, key = directory + "/kernel.env", "KERNEL_IMAGE="
        built = directory + "/arch/x86/boot/bzImage"
        if not os.path.exists(path) and os.path.exists(built):
            yield from self.file(built, "kernel")
            return
        yield from self.file(path, path)
        for line in self._lines(path):
            if line.startswith(key):
                yield from self.file(line.removeprefix(key), "kernel")

    def _bochsrc(self, path: str) -> Iterator[str]:
        """With the files that it names by path=, file= and image=; quotes may be around what follows."""
        yield from self.file(path, "bochsrc")
        for line in self._lines(path):
            found = [] if line.startswith("#") else list(_NAMED.finditer(line))
            for key in ("path", "file", "image"):
                for match in found:
                    named = match[2] if match[2] is not None else match[3]
                    if match[1] == key and _is_there(named):
                        yield from self.file(named, named)

    @staticmethod
    def _lines(path: str) -> list[str]:
        with naming(path):
            return read_text(path).split("\n")
