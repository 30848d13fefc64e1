# SPDX-License-Identifier: LGPL-2.1-or-later
"""Laplace's shared library, as far as subcommands need it: laplace/include/laplace has the rest.

A function that can fail raises Failure with the library's own words.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int,
                    c_size_t, c_uint, c_uint32, c_uint64, c_void_p)
from typing import Any, Callable

from laplace.say import FAILED, Failure

SPEC_SIZE, CHOICE_SIZE = 256, 384
PAGE_SIZE = 4096
INTERNAL = 40           # the error of a promise that was broken
EVENT_GAP, UNKNOWN = 0x10004, (1 << 64) - 1


class Report(Structure):
    _fields_ = [("error", c_int), ("system_errno", c_int), ("text", c_char * 512)]


REFS = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)
EVENT = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
FINISH = CFUNCTYPE(c_int, c_void_p, c_void_p)
FILE_OF_TRACE = CFUNCTYPE(c_int, c_void_p, c_char_p)


class Sink(Structure):
    """A consumer of a stream (record.h)."""

    _fields_ = [("refs", REFS), ("event", EVENT), ("finish", FINISH)]


class Reference(Structure):
    _fields_ = [("ref", c_uint64), ("instr", c_uint64), ("cycle", c_uint64), ("address", c_uint64),
                ("space", c_uint64), ("type", c_uint64)]


class Event(Structure):
    _fields_ = [("clocks", c_uint64 * 4), ("arg", c_uint64 * 12), ("tag", c_uint32)]


class Exactness(Structure):
    _fields_ = [("lru", c_uint64), ("opt", c_uint64), ("demand", c_uint64), ("ws", c_uint64)]


class Sizes(Structure):
    _fields_ = [("all", c_bool), ("memory", c_bool), ("size", POINTER(c_uint64)),
                ("count", c_size_t)]


class SizesBase(Structure):
    _fields_ = [("page_size", c_uint64), ("pages", c_uint64)]


class Result(Structure):
    _fields_ = [("size", c_uint64), ("references", c_uint64), ("faults", c_uint64),
                ("evictions", c_uint64), ("dirty_evictions", c_uint64), ("space_time", c_uint64),
                ("mean_resident", c_double), ("timed", c_bool), ("exact", c_bool)]


class SimulatorOptions(Structure):
    _fields_ = [("jobs", c_uint), ("reduction", c_char_p), ("part", c_int)]


class Moment(Structure):
    _fields_ = [("kind", c_int), ("number", c_uint64), ("text", c_char_p)]


class ChoiceOptions(Structure):
    _fields_ = [("process", c_char_p), ("task", c_char_p), ("modes", c_uint), ("types", c_uint),
                ("address", c_uint64), ("address_end", c_uint64), ("page_size", c_uint64),
                ("kinds", c_char_p), ("file", c_char_p), ("start", Moment), ("to", Moment),
                ("cycles_a_second", c_uint64), ("numbering", c_int), ("children", c_bool),
                ("addresses", c_int)]


class Addressing(Structure):
    _fields_ = [("canonical", c_bool), ("maps", c_bool), ("can", c_bool), ("exact", c_bool),
                ("why", c_char * 160)]


class Plan(Structure):
    _fields_ = [("window", c_uint64), ("reduction", c_char * SPEC_SIZE),
                ("rest", c_char * SPEC_SIZE)]


_CAN_FAIL = {   # arguments, but for the report
    "lpl_choice_open": (c_void_p, c_void_p, c_void_p),
    "lpl_choice_parse": (c_void_p, c_void_p, c_char_p),
    "lpl_choice_set": (c_void_p, c_char_p, c_char_p),
    "lpl_plan_parse": (c_void_p, c_char_p),
    "lpl_reader_next": (c_void_p, c_void_p, c_void_p, c_void_p),
    "lpl_reader_open": (c_void_p, c_char_p),
    "lpl_reducer_describe": (c_char_p, c_char_p, c_void_p, c_void_p),
    "lpl_reducer_open": (c_void_p, c_char_p, c_char_p, c_void_p),
    "lpl_simulator_add": (c_void_p, c_char_p, c_void_p),
    "lpl_simulator_open": (c_void_p, c_void_p),
    "lpl_sizes_parse": (c_void_p, c_char_p),
    "lpl_sizes_parse_of": (c_void_p, c_char_p, c_void_p),
    "lpl_writer_flush": (c_void_p,),
    "lpl_writer_open": (c_void_p, c_char_p, c_void_p, c_void_p, c_bool),
}
_CANNOT_FAIL = {    # what they return, and their arguments
    "lpl_addressing_of": (None, c_void_p, c_char_p, c_void_p),
    "lpl_choice_close": (None, c_void_p),
    "lpl_choice_sink": (c_void_p, c_void_p),
    "lpl_cycles_a_second": (c_uint64, c_void_p),
    "lpl_error_name": (c_char_p, c_int),
    "lpl_error_status": (c_int, c_int),
    "lpl_meta_free": (None, c_void_p),
    "lpl_meta_get": (c_char_p, c_void_p, c_char_p),
    "lpl_meta_new": (c_void_p,),
    "lpl_reader_bytes": (c_uint64, c_void_p),
    "lpl_reader_close": (None, c_void_p),
    "lpl_reader_complete": (c_bool, c_void_p),
    "lpl_reader_jobs": (None, c_void_p, c_uint),
    "lpl_reader_meta": (c_void_p, c_void_p),
    "lpl_reader_size": (c_uint64, c_void_p),
    "lpl_reducer_close": (None, c_void_p),
    "lpl_reducer_sink": (c_void_p, c_void_p),
    "lpl_reduction_exactness": (c_bool, c_char_p, c_void_p),
    "lpl_page_size": (c_uint64, c_char_p, c_char_p),
    "lpl_simulator_close": (None, c_void_p),
    "lpl_simulator_pages": (c_uint64, c_void_p),
    "lpl_simulator_results": (POINTER(Result), c_void_p, c_size_t, c_void_p),
    "lpl_simulator_sink": (c_void_p, c_void_p),
    "lpl_sizes_free": (None, c_void_p),
    "lpl_trace_files": (c_int, c_char_p, FILE_OF_TRACE, c_void_p),
    "lpl_writer_abandon": (None, c_void_p),
    "lpl_writer_bytes": (c_uint64, c_void_p),
    "lpl_writer_sink": (c_void_p, c_void_p),
}


class _Library:
    """Loaded when it is first needed, from beside the command, or from where the system looks."""

    def __init__(self) -> None:
        self.program = ""
        self._loaded: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return getattr(self._loaded, name)

    def _load(self) -> ctypes.CDLL:
        name = "liblaplace.so.1"
        beside = os.path.dirname(self.program)
        here = os.path.dirname(os.path.realpath(__file__))
        places = [os.path.join(beside, ".libs", name), os.path.join(beside, os.pardir, "lib", name),
                  os.path.join(here, os.pardir, os.pardir, "laplace", ".libs", name), name]
        named = os.environ.get("LAPLACE_LIBRARY")
        why = ""
        for place in [named] if named else places:
            try:
                library = ctypes.CDLL(place)
                break
            except OSError as error:
                why = str(error)
        else:
            raise Failure(FAILED, f"Laplace's library cannot be loaded; LAPLACE_LIBRARY may name it"
                                  f" (Debian has it in liblaplace1): {why}")
        try:
            for name, arguments in _CAN_FAIL.items():
                getattr(library, name).argtypes = [*arguments, POINTER(Report)]
            for name, (result, *arguments) in _CANNOT_FAIL.items():
                getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
        except AttributeError as error:
            raise Failure(FAILED, f"{place}: is no library of this version of Laplace's: {error}") from None
        return library


library = _Library()


def failure(report: Report, error: int = 0) -> Failure:
    error = error or report.error
    text = report.text or library.lpl_error_name(error)
    return Failure(library.lpl_error_status(error), os.fsdecode(text))


def call(name: str, *arguments: Any) -> None:
    report = Report()
    error = getattr(library, name)(*arguments, byref(report))
    if error:
        raise failure(report, error)


def opened(name: str, *arguments: Any) -> c_void_p:
    """What a function returns by its first argument."""
    handle = c_void_p()
    call(name, byref(handle), *arguments)
    return handle


def files_of_trace(path: str) -> list[str]:
    """PATH, and the segments of the trace that it is."""
    files: list[str] = []

    def each(_context: int, file: bytes) -> int:
        files.append(os.fsdecode(file))
        return 0

    if library.lpl_trace_files(os.fsencode(path), FILE_OF_TRACE(each), None):
        raise MemoryError
    return files


class PythonSink:
    """A sink of ours; what a method of it raises ends the stream, and is kept in `raised`."""

    def __init__(self) -> None:
        self.raised: Exception | None = None
        self.sink = Sink(REFS(self._guarded(self.refs)), EVENT(lambda *_: 0),
                         FINISH(self._guarded(self.finish)))
        self.address = ctypes.addressof(self.sink)

    def _guarded(self, method: Callable[..., int]) -> Callable[..., int]:
        def guarded(_sink: int, *arguments: int) -> int:
            try:
                return method(*arguments)
            except Exception as error:  # pylint: disable=broad-except
                self.raised = error     # no exception crosses C
                return INTERNAL
        return guarded

    def refs(self, refs: int, count: int, report: int) -> int:
        """References, at an address; events are passed over."""
        raise NotImplementedError

    def finish(self, report: int) -> int:
        return 0
