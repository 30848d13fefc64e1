# SPDX-License-Identifier: LGPL-2.1-or-later
"""One reading of a trace for a study: the original, which is the blocked trace without its events, goes
to many sinks at once.

    reader -> references only -> block -> counted -> [sad:2] -> each sink

References are gathered in batches, which every sink gets, on as many threads as there may be; no result
depends on how many, as the sinks are the library's, and each is called by one thread at a time.

Why sad:2.  Where SAD, OLR or LRU with K of two and more pages come next, sad:2 in front changes nothing
but the time it takes.  For LRU, and OLR, which is made of LRU's behaviour, that is what SAD is for.  For
SAD, record for record: sad:2 drops an A2 between A1 and A3, three references to a page in a row that have
but one other page X among them; as the trace is blocked, X is also between A1 and A2.  Let f be the
reference to A kept before A1.  As many pages are between f and A2 as between f and A3, so whatever SAD
does at A2 it does at A3 when A2 is not there, and the same is left.  And to the distance between two
references to another page A2 adds nothing, because A1 or A3 is between them, too; or else these are two of
the X between A1 and A3, at a distance of 1 at most, which is below K either way.
"""
from __future__ import annotations

import contextlib
import ctypes
import time
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import byref, c_size_t, c_void_p

from laplace import say
from laplace.library import (EVENT_GAP, UNKNOWN, ChoiceOptions, Event, PythonSink, Reference, Report,
                             Sink, failure, library, opened)
from laplace.output import refuse_input
from laplace.study.model import Study, Trace

_BATCH = 16384      # references
_REFERENCE = ctypes.sizeof(Reference)
_TRUNCATED = 32     # LPL_ERR_TRUNCATED


def open_reader(path: str, stack: contextlib.ExitStack, jobs: int = 1) -> c_void_p:
    refuse_input("-", path)     # whatever is printed would become part of it
    reader = opened("lpl_reader_open", path.encode(errors="surrogateescape"))
    stack.callback(library.lpl_reader_close, reader)
    library.lpl_reader_jobs(reader, jobs)
    return reader


class _Counter(PythonSink):
    """Lets no events through, which would end runs of references to one page; counts references."""

    def __init__(self, following: int):
        super().__init__()
        self.following, self.references = following, 0
        self._pass = Sink.from_address(following)
        self._refs = self._pass.refs

    def refs(self, refs: int, count: int, report: int) -> int:
        self.references += count
        return self._refs(self.following, refs, count, report)

    def finish(self, report: int) -> int:
        return self._pass.finish(self.following, report)


class _Tee(PythonSink):
    """Sends what it gets to many sinks: a batch to all of them, while the next one is filled."""

    def __init__(self, sinks: list[int], jobs: int):
        super().__init__()
        self._sinks = [(address, Sink.from_address(address), Report()) for address in sinks]
        self._threads = ThreadPoolExecutor(jobs) if jobs > 1 and len(sinks) > 1 else None
        self._batches = [ctypes.create_string_buffer(_BATCH * _REFERENCE) for _ in range(2)]
        self._used = 0
        self._sent: list[Future[None]] = []

    def refs(self, refs: int, count: int, report: int) -> int:
        while count:
            part = min(count, _BATCH - self._used)
            ctypes.memmove(ctypes.addressof(self._batches[0]) + self._used * _REFERENCE, refs,
                           part * _REFERENCE)
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

    def close(self) -> None:
        if self._threads:
            self._threads.shutdown()

    def _send(self, last: bool) -> None:
        self._wait()
        batch, count = ctypes.addressof(self._batches[0]), self._used
        if self._threads:
            self._sent = [self._threads.submit(self._consume, sink, batch, count, last)
                          for sink in self._sinks]
        else:
            for sink in self._sinks:
                self._consume(sink, batch, count, last)
        self._batches.reverse()
        self._used = 0

    def _wait(self) -> None:
        for sent in self._sent:
            sent.result()
        self._sent = []

    @staticmethod
    def _consume(consumer: tuple[int, Sink, Report], batch: int, count: int, last: bool) -> None:
        address, sink, report = consumer
        error = sink.refs(address, batch, count, byref(report)) if count else 0
        if not error and last:
            error = sink.finish(address, byref(report))
        if error:
            raise failure(report, error)


class _Gaps:
    """Where records are missing, as the trace itself says."""

    def __init__(self) -> None:
        self.count = self.refs = self.events = 0
        self.more = False       # and how many others is not known

    def add(self, event: Event) -> None:
        self.count += 1
        self.refs += event.arg[0] if event.arg[0] != UNKNOWN else 0
        self.events += event.arg[1] if event.arg[1] != UNKNOWN else 0
        self.more |= UNKNOWN in event.arg[:2]

    def __str__(self) -> str:
        places = f"{self.count} place{'' if self.count == 1 else 's'}"
        if self.more and not self.refs and not self.events:
            return f"{places} (how many is not known)"
        return (f"{places} ({'at least ' if self.more else ''}{self.refs} references and"
                f" {self.events} events)")


class _Pass:
    """All that can be read, on its way to the first sink."""

    def __init__(self, trace: Trace, reader: c_void_p, label: str, progress: say.Progress):
        self.trace, self.reader, self.label, self.progress = trace, reader, label, progress
        self.gaps, self.refs = _Gaps(), 0

    def run(self, head: int, ours: list[PythonSink]) -> None:
        refs, count, event, report, wrong = (c_void_p(), c_size_t(), c_void_p(), Report(), Report())
        sink, sent, error = Sink.from_address(head), 0, 0
        send, following = sink.refs, library.lpl_reader_next
        while not sent:
            error = following(self.reader, byref(refs), byref(count), byref(event), byref(report))
            if error or (not count.value and not event):
                break
            if count.value:
                sent = send(head, refs, count.value, byref(wrong))
                self.refs += count.value
            if event and not sent:
                sent = self._event(sink, head, event, wrong)
            if self.progress.due():
                self._show()
        if self.progress.on and not sent:
            self._show()
        self.progress.clear()
        if not sent and not error and not library.lpl_reader_complete(self.reader):
            error = _TRUNCATED
            report.text = (self.trace.path.encode(errors="surrogateescape")[:400]
                           + b": has no index: its recording did not end properly")
        if error and library.lpl_error_status(error) != say.DAMAGED:
            raise failure(report, error)
        sent = sent or sink.finish(head, byref(wrong))
        if sent:
            raise next((our.raised for our in ours if our.raised), None) or failure(wrong, sent)
        self._tell(failure(report, error).text if error else None)

    def _event(self, sink: Sink, head: int, event: c_void_p, wrong: Report) -> int:
        gap = Event.from_address(event.value)
        if gap.tag == EVENT_GAP:
            self.gaps.add(gap)
        return sink.event(head, event, byref(wrong)) if self.trace.convert else 0

    def _tell(self, error: str | None) -> None:
        """The first reading complains."""
        trace, path = self.trace, self.trace.path
        if not trace.damaged and not trace.gaps:
            if error:
                say.complain(error)
                say.complain(f"{path}: the result covers the first {self.refs} references, which are"
                             " whole")
            if self.gaps.count:
                say.complain(f"warning: {path}: was made from a damaged or incomplete trace: records"
                             f" are missing in {self.gaps}")
        trace.gaps = self.gaps.count != 0
        trace.damaged |= error is not None

    def _show(self) -> None:
        seconds = time.monotonic() - self.progress.start
        done, size = library.lpl_reader_bytes(self.reader), library.lpl_reader_size(self.reader)
        rate = f"{say.human(int(self.refs / seconds) if seconds > 0 else 0)}/s"
        if size and done:
            left = say.duration(int(max(seconds * (size / done - 1), 0) + 0.5))
            self.progress.line(f"{self.label}{100 * done / size:3.0f}%  {say.human(self.refs)}"
                               f" references  {rate}  {left} left")
        else:
            self.progress.line(f"{self.label}{say.human(self.refs)} references  {rate}")


def _canonical(following: int, reader: c_void_p, stack: contextlib.ExitStack) -> int:
    """What finds canonical pages, in front of another sink."""
    meta, options = library.lpl_reader_meta(reader), ChoiceOptions()
    options.page_size = library.lpl_page_size(library.lpl_meta_get(meta, b"page-size"),
                                              library.lpl_meta_get(meta, b"reduction"))
    options.cycles_a_second = library.lpl_cycles_a_second(meta)
    options.addresses = 1       # canonical ones
    choice = opened("lpl_choice_open", byref(options), following)
    stack.callback(library.lpl_choice_close, choice)
    return library.lpl_choice_sink(choice)


def read(study: Study, trace: Trace, what: str, sad2: bool, sinks: list[int]) -> None:
    """Read the trace once and send the original to every sink.

    With `sad2` they get less, from which LRU, SAD and OLR with two pages and more make the same as from
    all.  Where the trace is damaged, they get what comes before, and that is said.
    """
    with contextlib.ExitStack() as stack:
        reader = open_reader(trace.path, stack, study.jobs)
        tee = _Tee(sinks, study.jobs)
        stack.callback(tee.close)
        following = tee.address
        if sad2:
            reducer = opened("lpl_reducer_open", b"block", b"sad:2", following)
            stack.callback(library.lpl_reducer_close, reducer)
            following = library.lpl_reducer_sink(reducer)
        original = _Counter(following)
        block = opened("lpl_reducer_open", trace.reduction, b"block", original.address)
        stack.callback(library.lpl_reducer_close, block)
        first = _Counter(library.lpl_reducer_sink(block))
        head = _canonical(first.address, reader, stack) if trace.convert else first.following
        label = f"{trace.name[:60]}, {what}: "
        _Pass(trace, reader, label, say.Progress(study.progress)).run(head, [tee, original, first])
    if not trace.events:
        trace.events = original.references
    if trace.events != original.references:
        raise say.Failure(say.FAILED, f"{trace.path}: has changed while it was studied")
