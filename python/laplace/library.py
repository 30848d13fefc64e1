# SPDX-License-Identifier: LGPL-2.1-or-later
"""Laplace's shared library, as far as subcommands need it: laplace/include/laplace has the rest.

A function that can fail raises Failure with the library's own words.  Of arguments no types are declared:
addresses are Pointers or c_void_p, and texts bytes.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)
from typing import Any

from laplace.say import Failure

SPEC_SIZE, CHOICE_SIZE, PAGE_SIZE = 256, 384, 4096

REFS = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)
EVENT = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
FINISH = CFUNCTYPE(c_int, c_void_p, c_void_p)
_FILE_OF_TRACE = CFUNCTYPE(c_int, c_void_p, c_char_p)


class Pointer(c_void_p):
    """What a function returns: of c_void_p itself ctypes would make a number."""


def _struct(name: str, **fields: Any) -> type:
    return type(name, (Structure,), {"_fields_": list(fields.items())})


Report = _struct("Report", error=c_int, system_errno=c_int, text=c_char * 512)
Sink = _struct("Sink", refs=REFS, event=EVENT, finish=FINISH)
Reference = _struct("Reference", ref=c_uint64, instr=c_uint64, cycle=c_uint64, address=c_uint64,
                    space=c_uint64, type=c_uint64)
Event = _struct("Event", clocks=c_uint64 * 4, arg=c_uint64 * 12, tag=c_uint32)
Sizes = _struct("Sizes", all=c_bool, memory=c_bool, size=POINTER(c_uint64), count=c_size_t)
SizesBase = _struct("SizesBase", page_size=c_uint64, pages=c_uint64)
Result = _struct("Result", size=c_uint64, references=c_uint64, faults=c_uint64, evictions=c_uint64,
                 dirty_evictions=c_uint64, space_time=c_uint64, mean_resident=c_double, timed=c_bool,
                 exact=c_bool)
SimulatorOptions = _struct("SimulatorOptions", jobs=c_uint, reduction=c_char_p, part=c_int,
                           page_size=c_uint64)
Moment = _struct("Moment", kind=c_int, number=c_uint64, text=c_char_p)
ChoiceOptions = _struct("ChoiceOptions", process=c_char_p, task=c_char_p, modes=c_uint, types=c_uint,
                        address=c_uint64, address_end=c_uint64, page_size=c_uint64, kinds=c_char_p,
                        file=c_char_p, start=Moment, to=Moment, cycles_a_second=c_uint64, numbering=c_int,
                        children=c_bool, addresses=c_int)
Plan = _struct("Plan", window=c_uint64, reduction=c_char * SPEC_SIZE, rest=c_char * SPEC_SIZE)

_RETURNED = {       # by functions that return no error
    None: "choice_close meta_free reader_close reader_jobs reducer_close simulator_close sizes_free"
          " writer_abandon",
    Pointer: "choice_sink meta_new reader_meta reducer_sink simulator_sink writer_sink",
    c_char_p: "error_name meta_get",
    c_bool: "reader_complete",
    c_uint64: "cycles_a_second page_size reader_bytes reader_size simulator_pages writer_bytes",
    POINTER(Result): "simulator_results",
}


class _Library:
    """Loaded when it is first needed, from beside the command, or from where the system looks."""

    program = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loaded, name)

    @functools.cached_property
    def _loaded(self) -> ctypes.CDLL:
        name, beside = "liblaplace.so.1", os.path.dirname(self.program)
        here = os.path.dirname(os.path.realpath(__file__))
        places = [f"{beside}/.libs/{name}", f"{beside}/../lib/{name}",
                  f"{here}/../../laplace/.libs/{name}", name]
        named = os.environ.get("LAPLACE_LIBRARY")
        why = ""
        for place in [named] if named else places:
            try:
                return self._declared(ctypes.CDLL(place), place)
            except OSError as error:
                why = str(error)
        raise Failure("Laplace's library cannot be loaded; LAPLACE_LIBRARY may name it (Debian has it in"
                      f" liblaplace1): {why}")

    @staticmethod
    def _declared(loaded: ctypes.CDLL, place: str) -> ctypes.CDLL:
        try:
            for result, names in _RETURNED.items():
                for name in names.split():
                    getattr(loaded, "lpl_" + name).restype = result
        except AttributeError as error:
            raise Failure(f"{place}: is no library of this version of Laplace's: {error}") from None
        return loaded


library = _Library()


def failure(report: Any, error: int = 0) -> Failure:
    error = error or report.error
    return Failure(os.fsdecode(report.text or library.lpl_error_name(error)), library.lpl_error_status(error))


def call(name: str, *arguments: Any) -> None:
    report = Report()
    error = getattr(library, name)(*arguments, byref(report))
    if error:
        raise failure(report, error)


def opened(stack: contextlib.ExitStack, what: str, *arguments: Any, end: str = "close") -> Pointer:
    """What lpl_WHAT_open() returns by its first argument, until the stack is left."""
    handle = Pointer()
    call(f"lpl_{what}_open", byref(handle), *arguments)
    stack.callback(getattr(library, f"lpl_{what}_{end}"), handle)
    return handle


def loaded(name: str, of: str, package: str) -> ctypes.CDLL:
    """Another library."""
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise Failure(f"{of}'s library cannot be loaded (Debian has it in {package}): {error}") from None


def files_of_trace(path: str) -> list[str]:
    """PATH, and the segments of the trace that it is."""
    files: list[str] = []
    each = _FILE_OF_TRACE(lambda _context, file: files.append(os.fsdecode(file)) or 0)
    if library.lpl_trace_files(os.fsencode(path), each, None):
        raise MemoryError
    return files
