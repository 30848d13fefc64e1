# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that appear when they are whole, and what they may replace (laplace/base/output.h)."""
from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import stat
from types import FrameType
from typing import Iterable

from laplace.library import files_of_trace
from laplace.say import Failure, naming, of_path, wrong


def read_text(path: str) -> str:
    with open(path, "rb") as file:
        return os.fsdecode(file.read())


def sync(path: str) -> None:
    """A file, or the names in a directory, survive a crash, too; some file systems sync nothing."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EROFS):
            raise
    finally:
        os.close(fd)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.fstat(1) if path == "-" else os.stat(path)
    except OSError:
        return None


def refuse_input(output: str, trace: str) -> None:
    """Fail if OUTPUT, or its .part, is a file that reading TRACE reads; "-" is standard output."""
    for file in files_of_trace(trace):
        read = _stat(file)
        for path in ["-"] if output == "-" else [output, output + ".part"]:
            there = _stat(path)
            if read and there and stat.S_ISREG(read.st_mode) and os.path.samestat(there, read):
                name = "standard output" if path == "-" else path
                raise wrong(f"{name}: is the input ({trace}): the output needs another name")


def _lock(fd: int) -> bool:
    """False: another process has it.  Not all file systems have locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno != errno.EWOULDBLOCK
    return True


class _Output:
    """A file, under PATH.part at first; a device or a pipe is written as it is."""

    def __init__(self, path: str, overwrite: bool):
        self._path, self._overwrite = path, overwrite
        self._part: str | None = None
        if not overwrite and os.path.lexists(path):
            raise wrong(f"{path}: exists; --overwrite replaces it")
        there, part = _stat(path), path + ".part"
        if there and not stat.S_ISREG(there.st_mode):
            with naming(f"{path}: cannot be written"):
                self._file = open(path, "wb")
            return
        if overwrite:
            self._remove(part)
        with naming(f"{part}: cannot be created"):
            try:
                self._file = open(part, "xb")
            except FileExistsError:
                raise wrong(f"{part}: is there already, in use or left behind by a run that did not end; read"
                            " what it holds, then remove it, or allow overwriting (--overwrite)") from None
        self._part = part
        _lock(self._file.fileno())

    @staticmethod
    def _remove(part: str) -> None:
        with contextlib.suppress(OSError):
            fd = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if not _lock(fd):
                    raise wrong(f"{part}: is being written by somebody else; choose another name")
            finally:
                os.close(fd)
        with naming(f"{part}: cannot be replaced"), contextlib.suppress(FileNotFoundError):
            os.unlink(part)

    def write(self, text: str) -> None:
        try:
            self._file.write(os.fsencode(text))
            self._file.flush()
        except OSError:
            raise Failure(f"{self._path}: could not be written") from None

    def commit(self) -> None:
        """Give the file its name; if that fails, it stays under the other one."""
        part, path = self._part, self._path
        if not part:
            return
        try:
            os.fsync(self._file.fileno())
            linked = not self._overwrite
            if linked:
                try:
                    os.link(part, path)     # which never replaces anything
                except FileExistsError:
                    raise wrong(f"{path}: was created by somebody else meanwhile; all of it is in"
                                f" {part}") from None
                except OSError:             # the file system has no links
                    linked = False
            if linked:
                os.unlink(part)
            else:
                os.rename(part, path)
        except OSError as error:
            raise Failure(of_path(f"{part}: cannot be synced or renamed", error)) from None
        finally:
            self._part = None

    def abandon(self) -> None:
        """What has no name yet is removed."""
        if self._part:
            with contextlib.suppress(OSError):
                os.unlink(self._part)


class Files:
    """Files of a directory, which is made.  Of those that have no name yet in the end nothing is left, nor
    where a signal ends the command.
    """

    def __init__(self, directory: str, names: Iterable[str], overwrite: bool):
        self._directory, self._made = directory, False
        self._outputs: dict[str, _Output] = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)
        with naming(directory):
            try:
                os.mkdir(directory)
                self._made = True
            except FileExistsError:
                if not os.path.isdir(directory):
                    raise wrong(f"{directory}: exists and is no directory") from None
        try:
            for name in names:
                self._outputs[name] = _Output(f"{directory}/{name}", overwrite)
        except Failure:
            self.abandon()
            raise

    def commit(self, texts: dict[str, str]) -> None:
        """By name.  All of them are written before one gets its name."""
        for name, output in self._outputs.items():
            output.write(texts[name])
        for output in self._outputs.values():
            output.commit()
        self._made = False
        with naming(self._directory), contextlib.suppress(PermissionError):
            sync(self._directory)

    def abandon(self) -> None:
        for output in self._outputs.values():
            output.abandon()
        if self._made:
            with contextlib.suppress(OSError):
                os.rmdir(self._directory)       # one with something in it stays

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.abandon()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
