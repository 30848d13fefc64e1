# SPDX-License-Identifier: LGPL-2.1-or-later
"""The directory of results, which several processes and machines may share:

    jobs/IDENTITY/              a result, whole
    making/IDENTITY.HOST.PID/   one that is being made
    failed/IDENTITY/            what the last attempt left
    locks/IDENTITY              held by flock() by who makes it

Two things are relied on.  A directory is renamed at once, and not onto one that has something in it: so a
result is whole, and the first one stays.  And a lock is seen by all that share the directory: so nothing is
made twice at the same time.  Where a lock is lost (a server that forgets), a job is made twice, and the
second result, which is the same, is thrown away.
"""
from __future__ import annotations

import errno
import fcntl
import os
import shutil
from dataclasses import dataclass

from laplace.say import complain, fail_on, of_path

DONE, OTHERS = "done", "others"     # what a claim may find instead


@dataclass
class Claim:
    """A job that is being made."""

    lock: int           # held until this is closed
    directory: str      # where it is made


def remove_tree(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)


def _sync_tree(path: str) -> None:
    """Names and bytes are on the disk: of a directory of files."""
    for entry in os.listdir(path):
        try:
            file = os.open(f"{path}/{entry}", os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(file)
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(directory)


class Store:
    def __init__(self, directory: str, make: bool = False):
        self.directory, self.host = directory, os.uname().nodename
        for part in ("", "/jobs", "/making", "/failed", "/locks") if make else ():
            try:
                os.mkdir(directory + part)
            except FileExistsError:
                pass
            except OSError as error:
                fail_on(directory + part, error)

    def path(self, identity: str, file: str = "", failed: bool = False) -> str:
        """A file of a job that is done, or (`failed`) of its last failure."""
        return f"{self.directory}/{'failed' if failed else 'jobs'}/{identity}{file and '/' + file}"

    def has(self, identity: str) -> bool:
        return os.path.exists(self.path(identity))

    def claim(self, identity: str) -> Claim | str:
        """Take a job to make it; or DONE, or OTHERS: it is being made."""
        path = f"{self.directory}/locks/{identity}"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            fail_on(path, error)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if error.errno == errno.EWOULDBLOCK:
                return OTHERS
            fail_on(path, error)
        if self.has(identity):      # made meanwhile
            os.close(lock)
            return DONE
        making = self.directory + "/making"
        claim = Claim(lock, f"{making}/{identity}.{self.host}.{os.getpid()}")
        try:
            # what others began of this job and did not end, for they hold no lock any more
            for entry in os.listdir(making):
                if entry.startswith(identity):
                    remove_tree(f"{making}/{entry}")
            os.mkdir(claim.directory)
        except OSError as error:
            os.close(lock)
            fail_on(claim.directory, error)
        return claim

    def keep(self, identity: str, claim: Claim) -> bool:
        """It is whole: it gets its name.  false: that failed, and was said."""
        path, where = self.path(identity), claim.directory
        try:
            _sync_tree(where)
            where = path
            os.rename(claim.directory, path)
            remove_tree(self.path(identity, failed=True))   # it does not fail any more
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                complain(of_path(where, error))
                return False
            remove_tree(claim.directory)                    # another was faster
        finally:
            os.close(claim.lock)
        return True

    def drop(self, identity: str, claim: Claim, keep: bool) -> None:
        """It failed, and is put where that can be looked at; or nothing is left."""
        if keep:
            path = self.path(identity, failed=True)
            remove_tree(path)
            try:
                os.rename(claim.directory, path)
            except OSError as error:
                complain(of_path(path, error))
        else:
            remove_tree(claim.directory)
        os.close(claim.lock)

    def replace(self, name: str, text: str) -> None:
        """A file of the whole.  Under its name there is always a whole one."""
        path = f"{self.directory}/{name}"
        temporary = f"{path}.{self.host}.{os.getpid()}"
        try:
            with open(temporary, "wb") as file:
                file.write(os.fsencode(text))
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, path)
        except OSError as error:
            try:
                os.unlink(temporary)
            except OSError:
                pass
            fail_on(path, error)
