# SPDX-License-Identifier: LGPL-2.1-or-later
"""What files hold, as hashes.  A file that was hashed before is known again by its name, size, inode and
times of change, as make knows what is new; so a large trace is read once and not by each of a thousand
jobs.  Two kinds are known only to the process that hashed them: those that changed just now, because they
may change once more within the same tick of their clock; and those of images, which are often made so that
no time in them says when anything was written.
"""
from __future__ import annotations

import ctypes
import os
import re
import stat
import time
from ctypes import c_char_p, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass

from laplace.library import files_of_trace
from laplace.campaign.store import Store
from laplace.say import FAILED, Failure, escaped, fail_on

_SETTLED = 3            # seconds after which a file's times show whether it changes
_DEEPEST = 64           # directories within directories
_LOOP_MAJOR, _FUSE = 7, 0x65735546
_PIECE = 1 << 18
_OF_MACHINE = ("/proc", "/sys", "/dev", "/run")     # each has its own of these
_TRACES = (".lpl", ".lpl.part", ".lpl.again", ".lpl.observed")  # and what is of them
_LINE = re.compile(r"([0-9a-f]{32}) ([0-9.-]{1,95}) *(/.*)", re.DOTALL)


_libc = ctypes.CDLL(None)


class _Hash128(ctypes.Structure):
    _fields_ = [("low", c_uint64), ("high", c_uint64)]


class _Hasher:
    """XXH3 hashes of 128 bits, as text: what `xxh128sum` prints."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libxxhash.so.0")
        except OSError as error:
            raise Failure(FAILED, f"xxHash's library cannot be loaded (Debian has it in libxxhash0):"
                                  f" {error}") from None
        for name, result, arguments in (
                ("XXH3_128bits", _Hash128, [c_char_p, c_size_t]),
                ("XXH3_createState", c_void_p, []), ("XXH3_freeState", c_int, [c_void_p]),
                ("XXH3_128bits_reset", c_int, [c_void_p]),
                ("XXH3_128bits_update", c_int, [c_void_p, c_char_p, c_size_t]),
                ("XXH3_128bits_digest", _Hash128, [c_void_p])):
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments

    @staticmethod
    def _text(value: _Hash128) -> str:
        return f"{value.high:016x}{value.low:016x}"

    def of_text(self, text: str) -> str:
        encoded = os.fsencode(text)
        return self._text(self._library.XXH3_128bits(encoded, len(encoded)))

    def of_file(self, path: str) -> str:
        state = self._library.XXH3_createState()
        try:
            self._library.XXH3_128bits_reset(state)
            with open(path, "rb", buffering=0) as file:
                while piece := file.read(_PIECE):
                    self._library.XXH3_128bits_update(state, piece, len(piece))
            return self._text(self._library.XXH3_128bits_digest(state))
        except OSError as error:
            fail_on(path, error)
        finally:
            self._library.XXH3_freeState(state)


_hasher: list[_Hasher] = []


def hasher() -> _Hasher:
    if not _hasher:
        _hasher.append(_Hasher())
    return _hasher[0]


@dataclass
class _Known:
    hash: str
    state: str
    lasts: bool     # what has this state later holds the same


def _file_system(path: str) -> int:
    buffer = ctypes.create_string_buffer(512)
    if _libc.statfs(os.fsencode(path), buffer):
        return _FUSE
    return ctypes.c_long.from_buffer(buffer).value


def _is_of_image(path: str, about: os.stat_result) -> bool:
    """Read-only, as squashfs is, on a loop device, or by a program (FUSE)."""
    try:
        read_only = os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return True
    return os.major(about.st_dev) == _LOOP_MAJOR or bool(read_only) or _file_system(path) == _FUSE


def _state(about: os.stat_result) -> str:
    times = [divmod(nanoseconds, 10 ** 9) for nanoseconds in (about.st_mtime_ns, about.st_ctime_ns)]
    return "-".join([f"{about.st_size}-{about.st_ino}", *(f"{time[0]}.{time[1]:09}" for time in times)])


def _is_below(path: str, directory: str) -> bool:
    """Is an absolute path that of a directory, or of something in it?"""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def is_of_machine(path: str) -> bool:
    where = os.path.realpath(path)
    return os.path.lexists(where) and (where == "/" or any(_is_below(where, own) for own in _OF_MACHINE))


class Inputs:
    """Describes files as lines "input HASH NAME"; `results` is the directory of results."""

    def __init__(self, results: str):
        self.results = results
        self._known: dict[str, _Known] = {}
        self._changed = False
        self._states: list[str] = []
        self._of_word = False       # what is listed is what a word names
        self._of_here = False       # what is listed is what `laplace run --here` takes along
        try:
            with open(results + "/inputs", encoding="utf-8", errors="surrogateescape", newline="") as file:
                for line in file.read().split("\n")[:-1]:
                    match = _LINE.fullmatch(line)
                    if match:
                        self._known[match[3]] = _Known(match[1], match[2], True)
        except OSError:
            pass

    def close(self) -> None:
        """Remember what is new, if the directory is there."""
        if self._changed and os.access(self.results, os.W_OK):
            lines = [f"{known.hash} {known.state} {path}\n"
                     for path, known in sorted(self._known.items(), key=lambda item: os.fsencode(item[0]))
                     if known.lasts and "\n" not in path]
            Store(self.results).replace("inputs", "".join(lines))

    def take_states(self) -> list[str]:
        """The times, sizes and inodes of the files listed since this was asked before: others also where
        what a file holds was changed, and changed back.
        """
        states, self._states = self._states, []
        return states

    def describe(self, path: str, name: str | None) -> list[str]:
        """A file; a directory with all below it; a trace with its segments.  `name` stands for `path`;
        None: it is no part of what goes in.
        """
        lines = self._path(path, name, 0)
        for file in files_of_trace(path)[1:]:
            if os.path.exists(file):
                lines += self._path(file, None, 0)
        return lines

    def tell_word(self, word: str) -> list[str]:
        """The same for a word of a program's command: what `laplace run` takes along for it
        (guest-program/needs), so nothing of /proc and its like.  The results are left out.
        """
        self._of_word = True
        try:
            return [] if is_of_machine(word) else self.describe(word, word)
        finally:
            self._of_word = False

    def tell_here(self) -> list[str]:
        """The directory with all in it but traces (guest-program/needs)."""
        self._of_here = True
        try:
            return self._path(".", ".", 0)
        finally:
            self._of_here = False

    def _path(self, path: str, name: str | None, depth: int) -> list[str]:
        """Below a directory links are what they lead to only if that is a file: no circles."""
        try:
            is_link = stat.S_ISLNK(os.lstat(path).st_mode)
            if depth and is_link and is_of_machine(path):
                return []
            about = os.stat(path)
        except OSError as error:
            if depth and os.path.lexists(path):
                return []
            fail_on(path, error)
        if stat.S_ISREG(about.st_mode):
            shown = "" if name is None else " " + escaped(name)
            return [f"input {self._hash(path, about)}{shown}\n"]
        if stat.S_ISDIR(about.st_mode) and not (depth and is_link):
            return self._directory(path, name, depth)
        if depth:
            return []
        raise Failure(FAILED, f"{path}: is neither a file nor a directory")

    def _directory(self, path: str, name: str | None, depth: int) -> list[str]:
        where = os.path.realpath(path)
        if self._of_word and where == self.results:
            return []
        try:
            entries = sorted(os.listdir(path), key=os.fsencode)
        except OSError as error:
            fail_on(path, error)
        if not self._of_word and _is_below(self.results, where):
            raise Failure(FAILED, f"{path}: is an input, and holds the results ({self.results}): put these"
                                  " elsewhere (-o)")
        if depth > _DEEPEST:
            raise Failure(FAILED, f"{path}: directories are too deep")
        return [line for entry in entries
                if not (self._of_here and entry.endswith(_TRACES))
                for line in self._path(f"{path}/{entry}", f"{name or ''}/{entry}", depth + 1)]

    def _hash(self, path: str, about: os.stat_result) -> str:
        path, state, now = os.path.realpath(path), _state(about), int(time.time())
        lasts = (about.st_mtime_ns // 10 ** 9 + _SETTLED < now
                 and about.st_ctime_ns // 10 ** 9 + _SETTLED < now and not _is_of_image(path, about))
        self._states.append(state)
        known = self._known.get(path)
        # once that it lasts can be said, it is hashed again
        if not known or known.state != state or known.lasts != lasts:
            self._changed = True
            known = self._known[path] = _Known(hasher().of_file(path), state, lasts)
        return known.hash
