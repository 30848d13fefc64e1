# SPDX-License-Identifier: LGPL-2.1-or-later
"""The directory of results, which several processes and machines may share:

    jobs/IDENTITY/              a result, whole
    making/IDENTITY.HOST.PID/   one that is being made
    failed/IDENTITY/            what the last attempt left
    locks/IDENTITY              held by flock() by the process that makes it

Two things are relied on.  A directory is renamed at once, and not onto one that has something in it: so a
result is whole, and the first one is kept.  And a lock is seen by all that share the directory: so nothing is
made twice at the same time.  Where a lock is lost (a server that forgets), a job is made twice, and the
second result, which is the same, is thrown away.
"""
from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil

from laplace.files import sync
from laplace.say import complain, naming, of_path

DONE, OTHERS = "done", "others"     # what a claim may find instead


def _remove(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)


class Claim:
    """A job that is being made; its lock is held until it is kept or dropped."""

    def __init__(self, store: Store, identity: str, lock: int):
        self._store, self._identity, self.lock = store, identity, lock
        self.directory = f"{store.directory}/making/{identity}.{store.host}.{os.getpid()}"

    def write(self, name: str, text: str) -> None:
        with open(f"{self.directory}/{name}", "wb") as file:
            file.write(os.fsencode(text))

    def keep(self) -> bool:
        """It is whole: it gets its name.  False: that failed, and was said."""
        where = self.directory
        try:
            for entry in os.scandir(where):
                if not entry.is_symlink():
                    sync(entry.path)
            sync(where)
            where = self._store.path(self._identity)
            os.rename(self.directory, where)
            _remove(self._store.path(self._identity, failed=True))  # it does not fail any more
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                complain(of_path(where, error))
                return False
            _remove(self.directory)                                 # another was faster
        finally:
            os.close(self.lock)
        return True

    def drop(self, keep: bool) -> None:
        """It failed, and is put where that can be looked at; or nothing is left."""
        if keep:
            path = self._store.path(self._identity, failed=True)
            _remove(path)
            try:
                os.rename(self.directory, path)
            except OSError as error:
                complain(of_path(path, error))
        else:
            _remove(self.directory)
        os.close(self.lock)


class Store:
    def __init__(self, directory: str, make: bool = False):
        self.directory, self.host = directory, os.uname().nodename
        for part in ("", "/jobs", "/making", "/failed", "/locks") if make else ():
            with naming(directory + part), contextlib.suppress(FileExistsError):
                os.mkdir(directory + part)

    def path(self, identity: str, file: str = "", failed: bool = False) -> str:
        """A file of a job that is done, or (`failed`) of its last failure."""
        return f"{self.directory}/{'failed' if failed else 'jobs'}/{identity}{file and '/' + file}"

    def has(self, identity: str) -> bool:
        return os.path.exists(self.path(identity))

    def claim(self, identity: str) -> Claim | str:
        """Take a job to make it; or DONE, or OTHERS: it is being made."""
        path = f"{self.directory}/locks/{identity}"
        with contextlib.ExitStack() as stack, naming(path):
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            stack.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return OTHERS
            if self.has(identity):      # made meanwhile
                return DONE
            claim = Claim(self, identity, lock)
            with naming(claim.directory):
                # what others began of this job and did not end, for they hold no lock any more
                for entry in os.scandir(self.directory + "/making"):
                    if entry.name.startswith(identity):
                        _remove(entry.path)
                os.mkdir(claim.directory)
            stack.pop_all()
            return claim

    def replace(self, name: str, text: str) -> None:
        """A file of the whole.  Under its name there is always a whole one."""
        path = f"{self.directory}/{name}"
        temporary = f"{path}.{self.host}.{os.getpid()}"
        with naming(path):
            try:
                with open(temporary, "wb") as file:
                    file.write(os.fsencode(text))
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(temporary, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
