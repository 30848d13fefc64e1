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
from laplace.say import Failure, naming, wrong


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
        return os.stat(path)
    except OSError:
        return None


def refuse_input(output: str, trace: str) -> None:
    """Fail if OUTPUT, or its .part, is a file that reading TRACE reads."""
    for file in files_of_trace(trace):
        read = _stat(file)
        for path in (output, output + ".part"):
            there = _stat(path)
            if read and there and stat.S_ISREG(read.st_mode) and os.path.samestat(there, read):
                raise wrong(f"{path}: is the input ({trace}): the output needs another name")


class Files:
    """Files of a directory, which is made, and locked.  They are written, as PATH.part, when all that is to
    be in them is known; and where that fails, or a signal ends the command, nothing is left of it.
    """

    def __init__(self, directory: str, names: Iterable[str], overwrite: bool):
        self._directory, self._overwrite = directory, overwrite
        self._parts: list[str] = []
        self._made = False
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
            self._fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)     # the lock's, until we end
        self._lock()
        for path in () if overwrite else (f"{directory}/{name}" for name in names):
            if os.path.lexists(path):
                raise wrong(f"{path}: exists; --overwrite replaces it")
            if os.path.lexists(path + ".part"):
                raise wrong(f"{path}.part: is there already, left behind by a run that did not end; read what"
                            " it holds, then remove it, or allow overwriting (--overwrite)")
        if not os.access(directory, os.W_OK):
            raise Failure(f"{directory}: {os.strerror(errno.EACCES)}")

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise wrong(f"{self._directory}: is being written by somebody else; choose another"
                        " name") from None
        except OSError:
            pass                            # of a file system without locks

    def commit(self, texts: dict[str, str]) -> None:
        """By name.  All of them are written before one gets its name."""
        for name, text in texts.items():
            path = f"{self._directory}/{name}"
            there = _stat(path)
            try:
                if there and not stat.S_ISREG(there.st_mode):   # a device or a pipe is written as it is
                    with open(path, "wb") as file:
                        file.write(os.fsencode(text))
                else:
                    self._write(path, text)
            except OSError as error:
                raise Failure(f"{path}: could not be written: {error.strerror}") from None
        for part in list(self._parts):
            try:
                self._name(part)
            finally:
                self._parts.remove(part)
        self._made = False
        with naming(self._directory):
            sync(self._directory)

    def _write(self, path: str, text: str) -> None:
        part = path + ".part"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        with open(part, "xb") as file:
            self._parts.append(part)
            file.write(os.fsencode(text))
            file.flush()
            os.fsync(file.fileno())

    def _name(self, part: str) -> None:
        path = part.removesuffix(".part")
        with naming(f"{part}: cannot be renamed"):
            try:
                if not self._overwrite:
                    os.link(part, path)     # which never replaces anything
            except FileExistsError:
                raise wrong(f"{path}: was created by somebody else meanwhile; all of it is in"
                            f" {part}") from None
            except OSError:
                pass                        # of a file system without links
            os.rename(part, path)
            with contextlib.suppress(FileNotFoundError):    # rename() leaves two links as they are
                os.unlink(part)

    def abandon(self) -> None:
        """What has no name yet is removed."""
        for part in self._parts:
            with contextlib.suppress(OSError):
                os.unlink(part)
        if self._made:
            with contextlib.suppress(OSError):
                os.rmdir(self._directory)       # one with something in it is kept

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.abandon()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
