# SPDX-License-Identifier: LGPL-2.1-or-later
"""Text files that appear when they are whole, and what they may replace (laplace/base/output.h)."""
from __future__ import annotations

import errno
import fcntl
import os
import stat

from laplace.library import files_of_trace
from laplace.say import FAILED, USAGE, Failure, complain, of_path


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def refuse_input(output: str, trace: str) -> None:
    """Fail if OUTPUT, or its .part, is a file that reading TRACE reads; "-" is standard output."""
    standard = output == "-"
    outputs = [output] if standard else [output, output.rstrip("/") + ".part"]
    for file in files_of_trace(trace):
        read = _stat(file)
        if not read or not stat.S_ISREG(read.st_mode):
            continue
        for path in outputs:
            there = os.fstat(1) if standard else _stat(path)
            if not there:
                continue
            if os.path.samestat(there, read):
                name = "standard output" if standard else path
                raise Failure(USAGE, f"{name}: is the input ({trace}): the output needs another"
                                     " name")
            if stat.S_ISDIR(there.st_mode) and _holds(there, file):
                raise Failure(USAGE, f"{path}: holds the input ({trace}): the output needs another"
                                     " name")


def _holds(directory: os.stat_result, file: str) -> bool:
    above = os.path.dirname(os.path.realpath(file))
    while above != "/":
        there = _stat(above)
        if there and os.path.samestat(there, directory):
            return True
        above = os.path.dirname(above)
    return False


class Output:
    """A text that is gathered in memory, and the file that it becomes, under PATH.part at first."""

    def __init__(self, path: str, overwrite: bool):
        if not overwrite and os.path.lexists(path):
            raise Failure(USAGE, f"{path}: exists; --overwrite replaces it")
        self.path, self.overwrite = path, overwrite
        self.part: str | None = path + ".part"
        self.text: list[str] = []
        self._error: str | None = None
        there = _stat(path)
        if there and not stat.S_ISREG(there.st_mode):
            self.part = None        # a device or a pipe is written as it is
            self._fd = self._open(path, os.O_WRONLY, "cannot be written")
            return
        if overwrite:
            self._remove_part()
        self._fd = self._open(self.part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "cannot be created")
        self._is_locked(self._fd)   # now it is, by us

    def _open(self, path: str, flags: int, what: str) -> int:
        try:
            return os.open(path, flags, 0o666)
        except FileExistsError:
            raise Failure(USAGE, f"{path}: is there already, in use or left behind by a run that did"
                                 " not end; read what it holds, then remove it, or allow"
                                 " overwriting (--overwrite)") from None
        except OSError as error:
            raise Failure(FAILED, of_path(f"{path}: {what}", error)) from None

    @staticmethod
    def _is_locked(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno == errno.EWOULDBLOCK
        return False

    def _remove_part(self) -> None:
        try:
            fd = os.open(self.part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            fd = -1
        try:
            if fd >= 0 and self._is_locked(fd):
                raise Failure(USAGE, f"{self.part}: is being written by somebody else; choose"
                                     " another name")
            os.unlink(self.part)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Failure(FAILED, of_path(f"{self.part}: cannot be replaced", error)) from None
        finally:
            if fd >= 0:
                os.close(fd)

    def write(self) -> bool:
        """Write what was gathered; false: that failed, which close() reports."""
        rest = memoryview(os.fsencode("".join(self.text)))
        self.text.clear()
        try:
            while rest:
                rest = rest[os.write(self._fd, rest):]
        except OSError:
            self._error = f"{self.path}: could not be written"
        return self._error is None

    def close(self, status: int) -> int:
        """Give the file its name; or, when `status` is a failure, leave nothing of it."""
        if self._error is not None:
            status = complain(self._error)
        if self.part and status in (FAILED, USAGE):
            os.unlink(self.part)
        elif self.part:
            try:
                self._commit()
            except OSError as error:
                status = complain(of_path(f"{self.part}: cannot be synced or renamed", error))
            except Failure as failure:
                status = complain(failure.text, failure.status)
        os.close(self._fd)
        return status

    def _commit(self) -> None:
        os.fsync(self._fd)
        if self.overwrite:
            os.rename(self.part, self.path)
        else:
            try:
                os.link(self.part, self.path)       # which never replaces anything
                os.unlink(self.part)
            except FileExistsError:
                raise Failure(USAGE, f"{self.path}: was created by somebody else meanwhile; all of it is in"
                                     f" {self.part}") from None
            except OSError:                         # of a file system without links
                os.rename(self.part, self.path)
        sync_directory(os.path.dirname(self.path) or ".")


def sync_directory(path: str) -> None:
    """Names in it survive a crash, too, as far as it can be read and synced."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EROFS):
            raise
    finally:
        os.close(fd)
