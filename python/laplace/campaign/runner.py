# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jobs, several at once: each a `laplace` of its own, in a process group of its own.  What it reads and
writes is handed to it as paths, and no shell is in between.

All that happens comes as a signal that is waited for: a child ended, or a person wants no more.  A job's lock
is inherited by its process, so that it is held as long as that lives, even if we do not; and a process that
loses us is sent a signal to end.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass

from laplace import say
from laplace.campaign.inputs import hash_file
from laplace.campaign.jobs import INPUT, OUTPUT, Job, JobList, State
from laplace.campaign.store import DONE, OTHERS, Claim, Store
from laplace.library import library
from laplace.say import Failure, complain

_PATIENCE = 15      # seconds from SIGTERM to SIGKILL: a trace is closed meanwhile
_ANOTHER_LOOK = 1   # seconds, while others make what we wait for
_PR_SET_PDEATHSIG = 1


@dataclass
class _Child:
    """A job that runs."""

    job: Job
    claim: Claim
    begun: float
    process: subprocess.Popen[bytes]


def signal_name(number: int) -> str:
    return signal.strsignal(number) or f"signal {number}"


class Runner:
    """`only`: that one alone."""

    def __init__(self, jobs: JobList, store: Store, at_once: int, progress: say.Progress, only: Job | None):
        self._jobs, self._store, self._at_once, self._progress = jobs, store, at_once, progress
        self._left = [job for job in jobs if not job.is_done and only in (None, job)]   # to do
        self._made: set[str] = set()
        self._children: dict[int, _Child] = {}
        self._others = False        # make what is left
        self._signal, self._stopped = 0, 0.0
        self._libc = ctypes.CDLL(None)      # before there are children
        for job in jobs:
            if not job.is_done and only not in (None, job):
                job.state = State.WAITING

    def run(self) -> int:
        """Make what is not done.  What failed is said.  Returns the signal that ended it, or 0."""
        # a signal that was ignored is still ignored
        wanted = {signal.SIGCHLD} | {number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
                                     if signal.getsignal(number) is not signal.SIG_IGN}
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
        try:
            self._run(wanted)
        finally:
            self._progress.clear()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        return self._signal

    def _run(self, wanted: set[signal.Signals]) -> None:
        failed = False
        while True:
            try:
                if not failed and not self._signal:
                    self._begin_jobs()
            except Failure as failure:
                failed = True
                self._progress.clear()
                complain(failure.text)
            # what cannot be begun may be what is over already
            if not self._children and (failed or self._signal or not self._left):
                break
            # (else something was over that others wait for)
            if self._children or self._others:
                failed |= not self._await(wanted)
        if failed:
            raise Failure

    # ---- beginning ----

    def _begin_jobs(self) -> None:
        """As many as there is room for."""
        self._others = False
        left, self._left = self._left, []
        for i, job in enumerate(left):
            if len(self._children) >= self._at_once:
                self._left += left[i:]
                break
            needed = None if job.needs is None else self._jobs[job.needs]
            if not needed or needed.is_done:
                self._try(job)
            elif needed.is_over:
                job.state = State.WAITING
            if job.state is State.TO_DO:
                self._left.append(job)

    def _try(self, job: Job) -> None:
        """Begin it if that can be done now."""
        claim = self._store.claim(job.identity)
        if claim == DONE:
            # by us: what stands in the campaign twice is made once
            job.state = State.MADE if job.identity in self._made else State.DONE
        elif claim == OTHERS:
            self._others = True
        elif not self._is_still(job, False):
            claim.drop(False)
            job.state = State.FAILED
        else:
            begun = time.monotonic()
            try:
                claim.write("job", job.about)
                process = self._start(job, claim)
            except (OSError, subprocess.SubprocessError) as error:
                claim.drop(False)
                raise Failure(f"{claim.directory}/job: {getattr(error, 'strerror', error)}") from None
            job.state = State.RUNNING
            self._children[process.pid] = _Child(job, claim, begun, process)

    def _start(self, job: Job, claim: Claim) -> subprocess.Popen[bytes]:
        parent, read = os.getpid(), job.trace
        if job.needs is not None:
            read = self._store.path(self._jobs[job.needs].identity, "trace.lpl")
        paths = {OUTPUT: claim.directory + "/trace.lpl", INPUT: read}

        def prepare() -> None:
            os.setpgid(0, 0)
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            if os.getppid() != parent:      # it may have ended already
                raise ProcessLookupError

        with open(claim.directory + "/stdout", "xb") as out, open(claim.directory + "/stderr", "xb") as err:
            return subprocess.Popen(["laplace", *(paths.get(word, word) for word in job.command)],
                                    executable=library.program, pass_fds=[claim.lock], preexec_fn=prepare,
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    # ---- ending ----

    def _complain_of(self, job: Job, text: str) -> None:
        self._progress.clear()
        complain(f"{job}: {text}")

    def _is_still(self, job: Job, ran: bool) -> bool:
        """A result is filed by what went into it, which may change at any time."""
        changed = self._jobs.changed(job, ran)
        if changed:
            since = "while it ran" if ran else "since this was begun"
            self._complain_of(job, f"{changed} changed {since}: nothing of it is kept; run all of it again")
        return not changed

    def _finish(self, child: _Child, used: resource.struct_rusage) -> bool:
        """Its times, and the hash of what it printed, so that what has changed since is not taken for its
        result.
        """
        claim = child.claim
        try:
            with say.naming(claim.directory):
                claim.write("times", f"seconds {time.monotonic() - child.begun:.3f}\n"
                                     f"user {used.ru_utime:.3f}\nsystem {used.ru_stime:.3f}\n"
                                     f"memory {used.ru_maxrss}\nhost {self._store.host}\n")
                claim.write("sum", hash_file(claim.directory + "/stdout"))
        except Failure as failure:
            complain(failure.text)
            return False
        return True

    def _end_child(self, child: _Child, status: int, used: resource.struct_rusage) -> bool:
        """False: what it made could not be kept."""
        job, claim = child.job, child.claim
        job.state = State.FAILED
        if status == 0 and self._finish(child, used):
            if not self._is_still(job, True):
                claim.drop(False)
            elif claim.keep():
                job.state = State.MADE
                self._made.add(job.identity)
                self._jobs.kept(job)
            else:
                return False
        elif self._signal:
            claim.drop(False)
            job.state = State.TO_DO
        else:
            claim.drop(True)
            how = (f"failed with status {status}" if status >= 0 else
                   f"was ended by signal {-status} ({signal_name(-status)})")
            said = self._store.path(job.identity, "stderr", True)
            self._complain_of(job, f"{how}; {said} has what it said")
        return True

    def _end_children(self) -> bool:
        kept = True
        while self._children:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            child = self._children.pop(pid, None)
            if child:
                child.process.returncode = os.waitstatus_to_exitcode(status)
                kept &= self._end_child(child, child.process.returncode, used)
        return kept

    def _signal_children(self, number: signal.Signals) -> None:
        for pid in self._children:
            with contextlib.suppress(OSError):
                os.killpg(pid, number)

    # ---- waiting ----

    def _await(self, wanted: set[signal.Signals]) -> bool:
        """Until something happens.  False: what was made could not be kept."""
        if self._progress.due():
            self._show()
        taken = signal.sigtimedwait(wanted, _ANOTHER_LOOK)
        if taken and taken.si_signo != signal.SIGCHLD:
            # twice: at once
            self._signal_children(signal.SIGKILL if self._signal else signal.SIGTERM)
            if not self._signal:
                self._stopped = time.monotonic()
            self._signal = taken.si_signo
        if self._signal and time.monotonic() - self._stopped > _PATIENCE:
            self._signal_children(signal.SIGKILL)
        return self._end_children()

    def _show(self) -> None:
        over = sum(job.is_over for job in self._jobs)
        failed = any(job.state is State.FAILED for job in self._jobs)
        self._progress.line(f"{over} of {len(self._jobs)} jobs, {len(self._children)} running"
                            f"{', some failed' if failed else ''}"
                            f"{', others make more' if self._others else ''}"
                            f"{', being stopped' if self._signal else ''}")
