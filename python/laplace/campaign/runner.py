# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jobs, several at once: each a `laplace` of its own, in a process group of its own.  What it reads and
writes is handed to it as paths, and no shell is in between.

All that happens comes as a signal that is waited for: a child ended, or a person wants no more.  A job's
lock is inherited by its process, so that it is held as long as that lives, even if we do not; and a process
that loses us is sent a signal to end.
"""
from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from dataclasses import dataclass

from laplace import say
from laplace.campaign.inputs import hasher
from laplace.campaign.jobs import INPUT, OUTPUT, Job, Jobs, State
from laplace.campaign.store import DONE, OTHERS, Claim, Store

_PATIENCE = 15      # seconds from SIGTERM to SIGKILL: a trace is closed meanwhile
_ANOTHER_LOOK = 1   # seconds, while others make what we wait for
_PR_SET_PDEATHSIG = 1
_CANNOT = 126       # the status of a job that could not be begun


@dataclass
class Tally:
    done: int
    made: int
    failed: int
    waiting: int
    signal: int     # that ended it; 0: none


@dataclass
class _Child:
    """A job that runs."""

    job: Job
    claim: Claim
    begun: float


def signal_name(number: int) -> str:
    return signal.strsignal(number) or f"signal {number}"


class Runner:
    def __init__(self, jobs: Jobs, store: Store, program: str, at_once: int, progress: str,
                 only: int | None = None):
        self._jobs, self._store, self._program, self._at_once = jobs, store, program, at_once
        self._only = only           # this one alone
        self._left: list[Job] = []  # to do
        self._made: set[str] = set()
        self._children: dict[int, _Child] = {}
        self._others = False        # make what is left
        self._signal, self._stopped = 0, 0.0
        self._libc = ctypes.CDLL(None)      # before there are children
        self._progress = say.Progress(progress)

    def run(self) -> Tally:
        """Make what is not done.  What failed is said."""
        # a signal that was ignored stays ignored
        wanted = {signal.SIGCHLD} | {number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
                                     if signal.getsignal(number) is not signal.SIG_IGN}
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
        try:
            self._choose()
            self._run(wanted)
        finally:
            self._progress.clear()
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        states = [job.state for job in self._jobs]
        return Tally(states.count(State.DONE), states.count(State.MADE), states.count(State.FAILED),
                     states.count(State.WAITING) + states.count(State.TO_DO), self._signal)

    def _choose(self) -> None:
        """Without those that are not asked for."""
        for i, job in enumerate(self._jobs):
            asked = self._only in (None, i)
            job.state = (State.DONE if self._store.has(job.identity) else
                         State.TO_DO if asked else State.WAITING)
        self._left = [job for job in self._jobs if job.state is State.TO_DO]

    def _run(self, wanted: set[signal.Signals]) -> None:
        failure: say.Failure | None = None
        while True:
            try:
                if not failure and not self._signal:
                    self._begin_jobs()
            except say.Failure as error:
                failure = error
                self._progress.clear()
                say.complain(error.text or "")
            # what cannot be begun may be what is over already
            if not self._children and (failure or self._signal or not self._left):
                break
            if not self._children and not self._others:
                continue    # something was over that others wait for
            if not self._await(wanted):
                failure = failure or say.Failure(say.FAILED)
        if failure:
            raise say.Failure(say.FAILED)

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
            self._store.drop(job.identity, claim, False)
            job.state = State.FAILED
        else:
            self._begin(job, claim)

    def _begin(self, job: Job, claim: Claim) -> None:
        child = _Child(job, claim, time.monotonic())
        try:
            self._write(claim, "job", job.about)
            parent, pid = os.getpid(), os.fork()
        except OSError as error:
            self._store.drop(job.identity, claim, False)
            say.fail_on(f"{claim.directory}/job", error)
        if pid == 0:
            self._become(child, parent)
        try:
            os.setpgid(pid, pid)    # whichever of us is first
        except OSError:
            pass
        job.state = State.RUNNING
        self._children[pid] = child

    def _become(self, child: _Child, parent: int) -> None:
        """The child's side; never returns."""
        try:
            os.setpgid(0, 0)
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            if os.getppid() != parent:      # it may have ended already
                raise ProcessLookupError(3, "No such process")
            made = child.claim.directory
            for number, path, flags in ((0, "/dev/null", os.O_RDONLY),
                                        (1, made + "/stdout", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
                                        (2, made + "/stderr", os.O_WRONLY | os.O_CREAT | os.O_EXCL)):
                file = os.open(path, flags, 0o666)
                os.dup2(file, number)
                if file > 2:
                    os.close(file)
            os.set_inheritable(child.claim.lock, True)
            os.execv(self._program, ["laplace", *self._arguments(child)])
        except BaseException as error:  # pylint: disable=broad-except
            say.complain(f"the job could not be begun: {getattr(error, 'strerror', error)}")
        finally:
            os._exit(_CANNOT)

    def _arguments(self, child: _Child) -> list[str]:
        job = child.job
        paths = {OUTPUT: child.claim.directory + "/trace.lpl", INPUT: job.trace}
        if job.needs is not None:
            paths[INPUT] = self._store.path(self._jobs[job.needs].identity, "trace.lpl")
        return [paths.get(word, word) for word in job.words]

    # ---- ending ----

    def _complain_of(self, job: Job, text: str) -> None:
        self._progress.clear()
        say.complain(f"{job}: {text}")

    def _is_still(self, job: Job, ran: bool) -> bool:
        """A result is filed by what went into it, which may change at any time."""
        changed = self._jobs.changed(job, ran)
        if changed:
            self._complain_of(job, f"{changed} changed {'while it ran' if ran else 'since the campaign began'}"
                                   ": nothing of it is kept; run the campaign again")
        return not changed

    @staticmethod
    def _write(claim: Claim, name: str, text: str) -> None:
        with open(f"{claim.directory}/{name}", "wb") as file:
            file.write(os.fsencode(text))

    def _finish(self, child: _Child, used: resource.struct_rusage) -> bool:
        """Its times, and the hash of what it printed, so that what has changed since is not taken for its
        result.
        """
        directory = child.claim.directory
        try:
            self._write(child.claim, "times", f"seconds {time.monotonic() - child.begun:.3f}\n"
                                              f"user {used.ru_utime:.3f}\nsystem {used.ru_stime:.3f}\n"
                                              f"memory {used.ru_maxrss}\nhost {self._store.host}\n")
            self._write(child.claim, "sum", hasher().of_file(directory + "/stdout"))
        except OSError as error:
            say.complain(say.of_path(directory, error))
        except say.Failure as failure:
            say.complain(failure.text or "")
        else:
            return True
        return False

    def _end_child(self, child: _Child, status: int, used: resource.struct_rusage) -> bool:
        """false: what it made could not be kept."""
        job, store, kept = child.job, self._store, True
        if status == 0 and self._finish(child, used):
            if self._is_still(job, True):
                kept = store.keep(job.identity, child.claim)
                job.state = State.MADE if kept else State.FAILED
                self._made.add(job.identity)
            else:
                store.drop(job.identity, child.claim, False)
                job.state = State.FAILED
        elif self._signal:
            store.drop(job.identity, child.claim, False)
            job.state = State.TO_DO
        else:
            store.drop(job.identity, child.claim, True)
            said = store.path(job.identity, "stderr", True)
            if os.WIFSIGNALED(status):
                number = os.WTERMSIG(status)
                self._complain_of(job, f"was ended by signal {number} ({signal_name(number)}); {said} has"
                                       " what it said")
            else:
                self._complain_of(job, f"failed with status {os.WEXITSTATUS(status)}; {said} has what it"
                                       " said")
            job.state = State.FAILED
        return kept

    def _end_children(self) -> bool:
        kept = True
        while self._children:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid in self._children:
                kept &= self._end_child(self._children.pop(pid), status, used)
        return kept

    def _signal_children(self, number: signal.Signals) -> None:
        for pid in self._children:
            try:
                os.killpg(pid, number)
            except OSError:
                pass

    # ---- waiting ----

    def _await(self, wanted: set[signal.Signals]) -> bool:
        """Until something happens.  false: what was made could not be kept."""
        if self._progress.due():
            self._show()
        if self._progress.on or self._others or self._signal:
            taken = signal.sigtimedwait(wanted, _ANOTHER_LOOK)
        else:
            taken = signal.sigwaitinfo(wanted)
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
