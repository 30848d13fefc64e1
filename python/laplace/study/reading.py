# SPDX-License-Identifier: LGPL-2.1-or-later
"""One reading of a trace for a study: the original, which is the blocked trace without its events, goes to
many sinks at once.

    reader -> references only -> block -> counted -> [sad:2] -> each sink

References are gathered in batches, which every sink gets, on as many threads as there may be; no result
depends on how many, as the sinks are the library's, and each is called by one thread at a time.

Why sad:2.  Where SAD, OLR or LRU with K of two and more pages come next, sad:2 in front changes nothing but
the time it takes.  For LRU, and OLR, which is made of LRU's behaviour, that is what SAD is for.  For SAD,
record for record: sad:2 drops an A2 between A1 and A3, three references to a page in a row that have but
one other page X among them; as the trace is blocked, X is also between A1 and A2.  Let f be the reference
to A kept before A1.  As many pages are between f and A2 as between f and A3, so whatever SAD does at A2 it
does at A3 when A2 is not there, and the same is left.  And to the distance between two references to
another page A2 adds nothing, because A1 or A3 is between them, too; or else these are two of the X between
A1 and A3, at a distance of 1 at most, which is below K either way.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import byref
from typing import Any, Callable

from laplace import say
from laplace.library import (EVENT, FINISH, REFS, ChoiceOptions, Event, Pointer, Reference, Report, Sink,
                             failure, library, opened)
from laplace.study.model import Study, Trace

_BATCH = 16384      # references
_REFERENCE = ctypes.sizeof(Reference)
_INTERNAL = 40      # LPL_ERR_...: a promise was broken
_EVENT_GAP, _UNKNOWN = 0x10004, (1 << 64) - 1


def open_reducer(reduction: bytes, method: str, following: Pointer,
                 stack: contextlib.ExitStack) -> Pointer:
    """The sink that takes what was reduced so, and sends on what the method makes of it."""
    return library.lpl_reducer_sink(opened(stack, "reducer", reduction, method.encode(), following))


class PythonSink:
    """A sink of ours, which counts references.  It lets no events through, which would end runs of references
    to one page.  What a method raises ends the stream, and is kept in `raised`.
    """

    def __init__(self, following: Pointer | None = None) -> None:
        self.references = 0
        self.raised: Exception | None = None
        self._following = following
        self._next = Sink.from_address(following.value) if following else Sink()
        self._next_refs = self._next.refs
        self._sink = Sink(REFS(self._guarded(self.refs)), EVENT(self._guarded(self.event)),
                          FINISH(self._guarded(self.finish)))
        self.pointer = Pointer(ctypes.addressof(self._sink))

    def _guarded(self, method: Callable[..., int]) -> Callable[..., int]:
        def guarded(_sink: int, *arguments: int) -> int:
            try:
                return method(*arguments)
            except Exception as error:  # pylint: disable=broad-except
                self.raised = error     # no exception crosses C
                return _INTERNAL
        return guarded

    def refs(self, refs: int, count: int, report: int) -> int:
        """References, at an address."""
        self.references += count
        return self._next_refs(self._following, refs, count, report) if self._following else 0

    def event(self, _event: int, _report: int) -> int:
        return 0

    def finish(self, report: Any) -> int:
        return self._next.finish(self._following, report) if self._following else 0


class _Tee(PythonSink):
    """Sends what it gets to many sinks: a batch to all of them, while the next one is filled."""

    def __init__(self, sinks: list[Pointer], jobs: int):
        super().__init__()
        self._sinks = [(sink, Sink.from_address(sink.value), Report()) for sink in sinks]
        self._threads, self._alone = ThreadPoolExecutor(jobs), jobs == 1
        self._batches = [ctypes.create_string_buffer(_BATCH * _REFERENCE) for _ in range(2)]
        self._used = 0
        self._sent: list[Future[None]] = []
        self.close = self._threads.shutdown

    def refs(self, refs: int, count: int, report: int) -> int:
        while count:
            part = min(count, _BATCH - self._used)
            place = ctypes.addressof(self._batches[0]) + self._used * _REFERENCE
            ctypes.memmove(place, refs, part * _REFERENCE)
            self._used += part
            refs += part * _REFERENCE
            count -= part
            if self._used == _BATCH:
                self._send(False)
        return 0

    def finish(self, report: int) -> int:
        self._send(True)
        self._wait()
        return 0

    def _send(self, last: bool) -> None:
        self._wait()
        batch = ctypes.addressof(self._batches[0])
        self._sent = [self._threads.submit(self._consume, *sink, batch, self._used, last)
                      for sink in self._sinks]
        self._batches.reverse()
        self._used = 0
        if self._alone:
            self._wait()

    def _wait(self) -> None:
        for sent in self._sent:
            sent.result()
        self._sent = []

    @staticmethod
    def _consume(pointer: Pointer, sink: Any, report: Any, batch: int, count: int, last: bool) -> None:
        error = sink.refs(pointer, batch, count, byref(report)) if count else 0
        if not error and last:
            error = sink.finish(pointer, byref(report))
        if error:
            raise failure(report, error)


class _Front(PythonSink):
    """What comes from the reader; events go on only where canonical pages are found by them."""

    def __init__(self, following: Pointer, trace: Trace, reader: Pointer, what: str, progress: say.Progress):
        super().__init__(following)
        self._trace, self._reader, self._progress = trace, reader, progress
        self._label = f"{trace.name[:60]}, {what}: "
        # where records are missing, as the trace itself says; `more`: how many others is not known
        self._gaps = self._gap_refs = self._gap_events = 0
        self._more = False

    def refs(self, refs: int, count: int, report: int) -> int:
        if self._progress.due():
            self._show()
        return super().refs(refs, count, report)

    def event(self, event: int, report: int) -> int:
        gap = Event.from_address(event)
        if gap.tag == _EVENT_GAP:
            self._gaps += 1
            self._gap_refs += gap.arg[0] % _UNKNOWN     # (0, if that is not known)
            self._gap_events += gap.arg[1] % _UNKNOWN
            self._more |= _UNKNOWN in gap.arg[:2]
        return self._next.event(self._following, event, report) if self._trace.convert else 0

    def finish(self, report: Any) -> int:
        if self._progress.on:
            self._show()
        self._progress.clear()
        return super().finish(report)

    def run(self, ours: list[PythonSink]) -> None:
        """Read all that can be read."""
        report, text = Report(), ""
        error = library.lpl_reader_run(self._reader, self.pointer, byref(report))
        self._progress.clear()
        for our in (*ours, self):
            if our.raised:
                raise our.raised
        if error:
            wrong = failure(report, error)
            if wrong.status != say.DAMAGED:
                raise wrong
            text, error = wrong.text, self.finish(byref(report))
            if error:
                raise failure(report, error)
        elif not library.lpl_reader_complete(self._reader):
            text = f"{self._trace.path[:400]}: has no index: its recording did not end properly"
        self._complain(text)

    def _complain(self, error: str) -> None:
        """The first reading does."""
        trace, path = self._trace, self._trace.path
        if not trace.damaged and not trace.gaps:
            if error:
                say.complain(error)
                say.complain(f"{path}: the result covers the first {self.references} references, which are"
                             " whole")
            if self._gaps:
                say.complain(f"warning: {path}: was made from a damaged or incomplete trace: records are"
                             f" missing in {self._places()}")
        trace.gaps = self._gaps != 0
        trace.damaged |= bool(error)

    def _places(self) -> str:
        places = f"{self._gaps} place{'' if self._gaps == 1 else 's'}"
        if self._more and not self._gap_refs and not self._gap_events:
            return f"{places} (how many is not known)"
        return (f"{places} ({'at least ' if self._more else ''}{self._gap_refs} references and"
                f" {self._gap_events} events)")

    def _show(self) -> None:
        seconds = time.monotonic() - self._progress.start
        done, size = library.lpl_reader_bytes(self._reader), library.lpl_reader_size(self._reader)
        rate = say.human(int(self.references / seconds) if seconds > 0 else 0)
        text = f"{say.human(self.references)} references  {rate}/s"
        if size and done:
            left = say.duration(int(max(seconds * (size / done - 1), 0) + 0.5))
            text = f"{100 * done / size:3.0f}%  {text}  {left} left"
        self._progress.line(self._label + text)


def _converted(to: str, following: Pointer, reader: Pointer, stack: contextlib.ExitStack) -> Pointer:
    """What finds canonical or physical pages, in front of another sink."""
    meta = library.lpl_reader_meta(reader)
    page_size, reduction = (library.lpl_meta_get(meta, key) for key in (b"page-size", b"reduction"))
    options = ChoiceOptions(page_size=library.lpl_page_size(page_size, reduction),
                            cycles_a_second=library.lpl_cycles_a_second(meta),
                            addresses={"canonical": 1, "physical": 2}[to])
    return library.lpl_choice_sink(opened(stack, "choice", byref(options), following))


def read(study: Study, trace: Trace, what: str, sad2: bool, sinks: list[Pointer]) -> None:
    """Read the trace once and send the original to every sink.

    With `sad2` they get less, from which LRU, SAD and OLR with two pages and more make the same as from all.
    Where the trace is damaged, they get what comes before, and that is said.
    """
    with contextlib.ExitStack() as stack:
        reader = opened(stack, "reader", os.fsencode(trace.path))
        library.lpl_reader_jobs(reader, study.jobs)
        tee = _Tee(sinks, study.jobs)
        stack.callback(tee.close)
        original = PythonSink(open_reducer(b"block", "sad:2", tee.pointer, stack) if sad2 else tee.pointer)
        merged = PythonSink(open_reducer(trace.reduction, "block", original.pointer, stack))
        head = _converted(trace.convert, merged.pointer, reader, stack) if trace.convert else merged.pointer
        _Front(head, trace, reader, what, say.Progress(study.progress)).run([tee, original, merged])
    if not trace.events:
        trace.events = original.references
    if trace.events != original.references:
        raise say.Failure(f"{trace.path}: has changed while it was studied")
