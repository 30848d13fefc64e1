# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces of Laplace as NumPy arrays: references, events, fault curves.

    import laplace_trace

    trace = laplace_trace.Trace("gzip.lpl")
    for block in trace.references(["address"], select="process:gzip+user"):
        pages = block["address"] >> 12
    curve = trace.curves("lru")["lru"]

Everything is read by the library (liblaplace.so), a block at a time, so that memory does not grow
with the trace.  Addresses are uint64.  docs/python.md says more.

LAPLACE_LIBRARY names the library if it is not where the system looks for it.
"""
import collections
import contextlib
import ctypes
import os
import warnings
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint8
from ctypes import c_uint32, c_uint64, c_void_p

try:
    import numpy
except ImportError as error:
    raise ImportError(f"laplace_trace needs NumPy (Debian: python3-numpy, for /usr/bin/python3): {error}"
                      ) from None

__all__ = ["ACCESSED", "COLUMNS", "DIRTY", "FETCH", "FOR_FETCH", "FOR_READ", "FOR_WRITE", "PAGED", "READ",
           "SECOND", "SYNTHETIC", "USER", "WALK_READ", "WALK_WRITE", "WRITE", "Error", "Event", "IncompleteTrace", "InputError", "Trace",
           "UsageError", "VirtualPages"]

# In column `type`, and added up in column `flags`: see docs/format.md, section 7.
READ, WRITE, FETCH, WALK_READ, WALK_WRITE = range(5)
USER, SECOND, PAGED, SYNTHETIC = 1, 2, 4, 8
FOR_READ, FOR_WRITE, FOR_FETCH = 16, 32, 48     # of WALK_READ
ACCESSED, DIRTY = 16, 32                        # of WALK_WRITE

# What there is of a reference: the library's name for it, and its type.
COLUMNS = {"reference": ("ref", numpy.uint64), "instruction": ("instr", numpy.uint64),
           "cycle": ("cycle", numpy.uint64), "space": ("space", numpy.uint64),
           "address": ("address", numpy.uint64), "length": ("length", numpy.uint16),
           "type": ("type", numpy.uint8), "flags": ("flags", numpy.uint8)}


class Error(Exception):
    """What the library says of it; `kind` is its short name ("damaged", "io"...)."""

    def __init__(self, text, kind="usage", errno=0):
        super().__init__(text)
        self.kind, self.errno = kind, errno


class UsageError(Error, ValueError):
    """An argument is wrong, or this trace cannot do what is asked of it."""


class InputError(Error):
    """The file is no trace, or damaged, or cut off; what precedes that has been handed over."""


class IncompleteTrace(UserWarning):
    """All of the file was read, and its recording did not end properly."""


class VirtualPages(UserWarning):
    """A page that address spaces share counts once for each: what it is cannot be known exactly."""


# ---- the library's structures (laplace/include/laplace) ----

class _Report(ctypes.Structure):
    _fields_ = [("error", c_int), ("system_errno", c_int), ("text", c_char * 512)]


class _Columns(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("ref", "instr", "cycle", "address", "space",
                                              "length", "type", "flags")]


class _Event(ctypes.Structure):
    _fields_ = [("ref", c_uint64), ("instr", c_uint64), ("cycle", c_uint64), ("space", c_uint64),
                ("arg", c_uint64 * 12), ("tag", c_uint32), ("tid", c_uint32), ("tgid", c_uint32),
                ("text_length", c_uint32), ("text", c_uint8 * 256)]


class _EventArg(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("how", c_int)]


class _EventKind(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("arg", _EventArg * 13),
                ("tag", c_uint32), ("fence", c_bool)]


class _Totals(ctypes.Structure):
    _fields_ = [("total", c_uint64), ("refs", c_uint64 * 5), ("user_refs", c_uint64),
                ("tracer_refs", c_uint64), ("events", c_uint64), ("wait_ns", c_uint64),
                ("recording", c_uint64 * 4)]


class _Moment(ctypes.Structure):
    _fields_ = [("kind", c_int), ("number", c_uint64), ("text", c_char_p)]


class _ChoiceOptions(ctypes.Structure):
    _fields_ = [("process", c_char_p), ("task", c_char_p), ("modes", c_uint), ("types", c_uint),
                ("address", c_uint64), ("address_end", c_uint64), ("page_size", c_uint64),
                ("kinds", c_char_p), ("file", c_char_p), ("start", _Moment), ("to", _Moment),
                ("cycles_a_second", c_uint64), ("numbering", c_int), ("children", c_bool),
                ("addresses", c_int)]


class _Addressing(ctypes.Structure):
    _fields_ = [("canonical", c_bool), ("maps", c_bool), ("can", c_bool), ("exact", c_bool),
                ("translations", c_bool), ("frames_exact", c_bool), ("why", c_char * 160)]


class _Sizes(ctypes.Structure):
    _fields_ = [("all", c_bool), ("memory", c_bool), ("size", POINTER(c_uint64)),
                ("count", c_size_t)]


class _SizesBase(ctypes.Structure):
    _fields_ = [("page_size", c_uint64), ("pages", c_uint64)]


class _SimulatorOptions(ctypes.Structure):
    _fields_ = [("jobs", c_uint), ("reduction", c_char_p), ("part", c_int),
                ("page_size", c_uint64)]


class _Machine(ctypes.Structure):
    _fields_ = [("cpus", c_uint), ("scheduler", c_int), ("quantum", c_uint64),
                ("quantum_instructions", c_bool), ("switch_cycles", c_uint64), ("memory", c_int),
                ("policy", c_char_p), ("pages", c_uint64), ("window", c_uint64),
                ("fault_cycles", c_uint64), ("write_cycles", c_uint64), ("devices", c_uint),
                ("priority", c_void_p), ("context", c_void_p), ("observer", c_void_p)]


class _ScheduleTrace(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in (
        "references", "cycles", "instructions", "left_out_references", "left_out_cycles", "pages",
        "shared", "waits", "waits_guessed", "left_waiting")]


class _ScheduleTask(ctypes.Structure):
    _numbers = ("references", "faults", "cold", "joined", "begin", "end", "running", "ready",
                "paging", "waiting", "switching", "suspended", "dispatches", "preemptions",
                "deactivations")
    _fields_ = [("serial", c_uint64), ("process", c_uint64), ("parent", c_uint64),
                ("tid", c_uint32), ("tgid", c_uint32), ("name", c_char_p),
                *((name, c_uint64) for name in _numbers)]


class _ScheduleResult(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in (
        "end", "busy", "switching", "idle", "idle_paging", "switches", "references", "faults",
        "cold", "joined", "evictions", "dirty_evictions", "deactivations", "device_busy")]


_RESULT = numpy.dtype([("size", "u8"), ("references", "u8"), ("faults", "u8"),
                       ("evictions", "u8"), ("dirty_evictions", "u8"), ("space_time", "u8"),
                       ("mean_resident", "f8"), ("timed", "?"), ("exact", "?")], align=True)
_CHOICE_SIZE = 384
_NUMBERS_COUNTED = 1
_ADDRESSES = {"virtual": 0, "canonical": 1, "physical": 2}
_NEED_EVENTS = 2
_Need = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)

_FUNCTIONS = {  # what each returns, and its arguments but for the report
    "lpl_reader_open": (c_int, c_void_p, c_char_p),
    "lpl_reader_fill": (c_int, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p),
    "lpl_reader_run": (c_int, c_void_p, c_void_p),
    "lpl_selection_open": (c_int, c_void_p, c_void_p, c_void_p),
    "lpl_selection_fill": (c_int, c_void_p, c_void_p, c_size_t, c_void_p),
    "lpl_choice_parse": (c_int, c_void_p, c_void_p, c_char_p),
    "lpl_choice_open": (c_int, c_void_p, c_void_p, c_void_p),
    "lpl_sizes_parse_of": (c_int, c_void_p, c_char_p, c_void_p),
    "lpl_simulator_open": (c_int, c_void_p, c_void_p),
    "lpl_simulator_add": (c_int, c_void_p, c_char_p, c_void_p),
    "lpl_schedule_open": (c_int, c_void_p, c_char_p),
    "lpl_schedule_run": (c_int, c_void_p, c_void_p, c_void_p),
    "lpl_schedule_run_alone": (c_int, c_void_p, c_void_p, c_uint64, c_void_p),
}
_PLAIN_FUNCTIONS = {  # those that cannot fail
    "lpl_error_name": (c_char_p, c_int),
    "lpl_error_status": (c_int, c_int),
    "lpl_event_kind": (POINTER(_EventKind), c_uint32),
    "lpl_meta_count": (c_size_t, c_void_p),
    "lpl_meta_at": (None, c_void_p, c_size_t, c_void_p, c_void_p),
    "lpl_reader_meta": (c_void_p, c_void_p),
    "lpl_reader_jobs": (None, c_void_p, c_uint),
    "lpl_reader_ask": (None, c_void_p, c_void_p, c_void_p),
    "lpl_reader_complete": (c_bool, c_void_p),
    "lpl_reader_totals": (POINTER(_Totals), c_void_p),
    "lpl_reader_close": (None, c_void_p),
    "lpl_selection_choice": (c_void_p, c_void_p),
    "lpl_selection_close": (None, c_void_p),
    "lpl_addressing_of": (None, c_void_p, c_char_p, c_void_p),
    "lpl_choice_chooses": (c_bool, c_void_p),
    "lpl_choice_need": (c_int, c_void_p, c_void_p),
    "lpl_choice_part": (c_int, c_void_p, c_uint64),
    "lpl_choice_sink": (c_void_p, c_void_p),
    "lpl_choice_tasks": (c_uint64, c_void_p),
    "lpl_choice_close": (None, c_void_p),
    "lpl_cycles_a_second": (c_uint64, c_void_p),
    "lpl_reduction_behaviour": (c_uint64, c_char_p),
    "lpl_page_size": (c_uint64, c_char_p, c_char_p),
    "lpl_sizes_need_pages": (c_bool, c_char_p),
    "lpl_sizes_free": (None, c_void_p),
    "lpl_simulator_sink": (c_void_p, c_void_p),
    "lpl_simulator_count": (c_size_t, c_void_p),
    "lpl_simulator_policy": (c_char_p, c_void_p, c_size_t),
    "lpl_simulator_results": (c_void_p, c_void_p, c_size_t, c_void_p),
    "lpl_simulator_pages": (c_uint64, c_void_p),
    "lpl_simulator_close": (None, c_void_p),
    "lpl_scheduler_name": (c_char_p, c_int),
    "lpl_memory_kind_name": (c_char_p, c_int),
    "lpl_schedule_sink": (c_void_p, c_void_p),
    "lpl_schedule_trace": (POINTER(_ScheduleTrace), c_void_p),
    "lpl_schedule_tasks": (c_size_t, c_void_p),
    "lpl_schedule_task": (POINTER(_ScheduleTask), c_void_p, c_size_t),
    "lpl_schedule_processes": (c_size_t, c_void_p),
    "lpl_schedule_process": (POINTER(_ScheduleTask), c_void_p, c_size_t),
    "lpl_schedule_result": (POINTER(_ScheduleResult), c_void_p),
    "lpl_schedule_close": (None, c_void_p),
}


def _load():
    here = os.path.dirname(os.path.realpath(__file__))
    # should the system not look there: that of the same installation, or of the same clone
    names = ["liblaplace.so.1", os.path.join(here, *[os.pardir] * 3, "lib", "liblaplace.so.1"),
             os.path.join(here, os.pardir, "laplace", ".libs", "liblaplace.so.1")]
    if os.environ.get("LAPLACE_LIBRARY"):
        names = [os.environ["LAPLACE_LIBRARY"]]
    library, why = None, []
    for name in names:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as error:
            why.append(str(error))
    if library is None:
        raise ImportError("Laplace's library cannot be found; LAPLACE_LIBRARY may name it ("
                          + "; ".join(why) + ")")
    try:
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, [*arguments, POINTER(_Report)]
        for name, (result, *arguments) in _PLAIN_FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise ImportError(f"{name}: this library of Laplace's is older than its module for Python"
                          f" ({error})") from None
    return library


_library = _load()


def _call(name, *arguments):
    """Call what returns an error, and raise that."""
    report = _Report()
    error = getattr(_library, name)(*arguments, byref(report))
    if error == 0:
        return
    kind = {2: UsageError, 3: InputError}.get(_library.lpl_error_status(error), Error)
    raise kind(os.fsdecode(report.text), _library.lpl_error_name(error).decode(),
               report.system_errno)


def _numbered(names, wanted):
    """The number that the library has for a name."""
    known = []
    while (name := getattr(_library, names)(len(known))) is not None:
        known.append(name.decode())
    if wanted not in known:
        raise UsageError(f"nothing is called {wanted!r}: there are " + ", ".join(known))
    return known.index(wanted)


def _bytes(text):
    """As the library takes it, to which a null byte would be the end."""
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise UsageError(f"there is a null byte in {text!r}")
    return encoded


class Event(collections.namedtuple("Event", "name tag reference instruction cycle space tid tgid "
                                            "arguments text")):
    """An event of the kernel's, or a mark: docs/format.md, section 8.

    `arguments` is a dict by the names there ("previous tid"), or by number where the tag is not
    known; `name` is None then.  `reference` is the number of the last reference before it.
    `text` is what the guest sent, as bytes.
    """

    __slots__ = ()
    _kinds = {}

    @classmethod
    def _of(cls, event):
        if event.tag not in cls._kinds:
            kind = _library.lpl_event_kind(event.tag)
            names = [arg.name.decode() for arg in kind.contents.arg if arg.name] if kind else None
            cls._kinds[event.tag] = (kind.contents.name.decode() if kind else None,
                                     range(12) if names is None else names)
        name, names = cls._kinds[event.tag]
        return cls(name, event.tag, event.ref, event.instr, event.cycle, event.space, event.tid,
                   event.tgid, dict(zip(names, event.arg)),
                   bytes(event.text)[:event.text_length])


class _Arrays:
    """Columns that the library fills again and again; what is handed over is a copy."""

    def __init__(self, columns, count):
        if isinstance(columns, str):
            columns = columns.split(",")
        unknown = [name for name in columns if name not in COLUMNS]
        if unknown:
            raise UsageError(f"no column is called {unknown[0]!r}: there are "
                             + ", ".join(COLUMNS))
        if count < 1:
            raise UsageError("a block has one reference or more")
        self.count = count
        self.arrays = {name: numpy.empty(count, COLUMNS[name][1]) for name in columns}
        self.pointers = _Columns(**{COLUMNS[name][0]: array.ctypes.data
                                    for name, array in self.arrays.items()})

    def copy(self, count):
        return {name: array[:count].copy() for name, array in self.arrays.items()}


class Trace:
    """A trace: a file, or the manifest of one in segments.

    `meta` is its header, a dict of texts.  `addresses` is what pages curves() counts unless it is
    said otherwise: "canonical", where a page that address spaces share is one, or "virtual".  Each
    method reads the file from its beginning, on `jobs` threads (0: one for each processor, up to 8).
    """

    def __init__(self, path, jobs=0):
        self.path, self.jobs = os.fspath(path), jobs
        if self.path in ("-", b"-"):
            raise UsageError("a trace is read from its file here, not from a pipe")
        with self._reader() as reader:
            meta = _library.lpl_reader_meta(reader)
            self.meta = dict(self._pair(meta, i) for i in range(_library.lpl_meta_count(meta)))
            self._cycles_a_second = _library.lpl_cycles_a_second(meta)
            self._addressing = _Addressing()
            _library.lpl_addressing_of(byref(self._addressing), _bytes(self.path), meta)
        self.addresses = ("canonical" if self._addressing.canonical or self._addressing.exact
                          else "virtual")
        self._reduction = (os.fsencode(self.meta["reduction"]) if "reduction" in self.meta
                           else None)

    def __repr__(self):
        return f"laplace_trace.Trace({self.path!r})"

    def references(self, columns=tuple(COLUMNS), count=1 << 20, select=None, addresses="virtual"):
        """Yield blocks of up to `count` references: dicts of arrays by column.

        `select` chooses some of them, in the words of laplace/select.h, which are those of the
        command's options: "process:gzip+children+user+type:write+from:mark:begin".  `addresses`
        are those that were used, with their `space`, unless "canonical" ones are wanted, of which
        two are in one page if it is the same page, "physical" ones (of a trace recorded so), or
        "auto", those that curves() counts.
        """
        arrays = _Arrays(columns, count)
        filled = c_size_t()
        with self._reader() as reader, contextlib.ExitStack() as stack:
            convert = self._converts(addresses)
            if select is None and not convert:
                first, fill, last = reader, "lpl_reader_fill", [None]
            else:
                first, fill, last = c_void_p(), "lpl_selection_fill", []
                options, words = self._options(select, convert)
                _call("lpl_selection_open", byref(first), reader, byref(options))
                stack.callback(_library.lpl_selection_close, first)
            while True:
                _call(fill, first, byref(arrays.pointers), count, byref(filled), *last)
                if filled.value == 0:
                    break
                yield arrays.copy(filled.value)
            if select is not None or convert:
                self._ask_for_somebody(options, _library.lpl_selection_choice(first))
            self._warn(reader)

    def records(self, columns=tuple(COLUMNS), count=1 << 20):
        """Yield (block, event): up to `count` references and the event after them, or None."""
        arrays = _Arrays(columns, count)
        with self._reader() as reader:
            yield from self._records(reader, arrays)

    def events(self):
        """Yield all events.  References are not even decoded."""
        need = _Need(lambda context, chunk: _NEED_EVENTS)
        with self._reader() as reader:
            _library.lpl_reader_ask(reader, ctypes.cast(need, c_void_p), None)
            for _, event in self._records(reader, _Arrays((), 1)):
                yield event

    def curves(self, policies="lru", sizes=None, select=None, addresses="auto"):
        """Simulate policies in one pass: a dict of tables, structured arrays, by policy.

        `policies` is "lru,opt" or a list, each as docs/simulation.md has it; `sizes` is
        "16:4096:*2", "64M", "10%,25%" (of all pages, which takes a pass more), "all" or a list of
        numbers; None: the library chooses.  `miss_ratio` is of
        all references that there were before a reduction; NaN where it is not known.  Of the faults
        `cold_faults` are first references to a page, and `refaults` the others.  `addresses` is
        "virtual", "canonical" or "physical"; "auto" is the attribute of that name.
        """
        if isinstance(policies, str):
            policies = policies.split(",")
        if sizes is not None and not isinstance(sizes, str):
            sizes = ",".join(str(size) for size in sizes)
        convert = self._converts(addresses)
        with contextlib.ExitStack() as stack:
            parsed = None
            if sizes is not None:
                parsed = _Sizes()
                _call("lpl_sizes_parse_of", byref(parsed), _bytes(sizes),
                      byref(self._sizes_base(sizes, select, convert)))
                stack.callback(_library.lpl_sizes_free, byref(parsed))
            simulator, made = self._simulate(policies, parsed, select, convert, stack)
            return {_library.lpl_simulator_policy(simulator, i).decode():
                    self._table(simulator, i, made)
                    for i in range(_library.lpl_simulator_count(simulator))}

    def schedule(self, scheduler="rr", memory="global", pages=None, policy=None, by="process",
                 alone=False, **machine):
        """Run the threads again on a machine (docs/scheduling.md): a pair.

        The first is a structured array with a row for each process (by="task": each task) and what
        `laplace schedule` prints of it, the second a dict of what the machine did.  `machine` has
        numbers: `cpus`, `quantum`, `switch_cycles`, `fault_cycles`, `write_cycles`, `devices` and
        what else struct lpl_machine has; `pages` is a number, "64M" or "25%".  With `alone` each
        process has `alone`, its cycles without all others, and `slowdown`; NaN: it has none.
        """
        if by not in ("process", "task") or (alone and by == "task"):
            raise UsageError("results are by process or by task, and alone are processes")
        machine = {"cpus": 1, "quantum": 1000000, **machine}
        for name, number in machine.items():
            kind = dict(_Machine._fields_).get(name)
            if kind not in (c_uint, c_uint64, c_bool):
                raise UsageError(f"a machine has no number {name!r}")
            if kind(number).value != number:
                raise UsageError(f"{name}: {number} is out of range")
        how = _Machine(**machine,
                       scheduler=_numbered("lpl_scheduler_name", scheduler),
                       memory=_numbered("lpl_memory_kind_name", memory),
                       policy=None if policy is None else _bytes(policy))
        with self._scheduled() as schedule:
            trace = _library.lpl_schedule_trace(schedule).contents
            if scheduler != "recorded" and 0 < trace.references == trace.left_out_references:
                raise UsageError(f"{self.path}: its events name no task that ran")
            if pages is not None:
                how.pages = self._one_size(pages, schedule)
            _call("lpl_schedule_run", schedule, byref(how), None)
            table = self._schedule_table(schedule, by)
            if alone:
                table = self._with_alone(table, schedule, how)
            result = _library.lpl_schedule_result(schedule).contents
            return table, {name: getattr(result, name) for name, _ in result._fields_}

    # ---- what these are made of ----

    @contextlib.contextmanager
    def _scheduled(self):
        """The trace, taken apart."""
        schedule = c_void_p()
        if _library.lpl_reduction_behaviour(self._reduction) or not (
                self._addressing.canonical or 0 < self._page_size() <= 4096):
            raise UsageError(f"{self.path}: is no trace of references by pages of 4096 bytes or less")
        _call("lpl_schedule_open", byref(schedule), None)
        try:
            with self._reader() as reader:
                _call("lpl_reader_run", reader, _library.lpl_schedule_sink(schedule))
                self._warn(reader, 6)
            yield schedule
        finally:
            _library.lpl_schedule_close(schedule)

    def _one_size(self, pages, schedule):
        of = _library.lpl_schedule_trace(schedule).contents.pages
        sizes = _Sizes()
        _call("lpl_sizes_parse_of", byref(sizes), _bytes(str(pages)),
              byref(_SizesBase(self._page_size(), of)))
        try:
            if sizes.all or sizes.count != 1:
                raise UsageError(f"{pages!r}: a machine has one size of memory")
            return sizes.size[0]
        finally:
            _library.lpl_sizes_free(byref(sizes))

    @staticmethod
    def _schedule_table(schedule, by):
        kind = "task" if by == "task" else "process"
        count = getattr(_library, "lpl_schedule_tasks" if by == "task" else "lpl_schedule_processes")
        rows = [getattr(_library, f"lpl_schedule_{kind}")(schedule, i).contents
                for i in range(count(schedule))]
        name = max([len(row.name) for row in rows], default=1)
        table = numpy.empty(len(rows), [*([("task", "u4")] if by == "task" else []),
                                        ("process", "u4"), ("name", f"U{name}"),
                                        *(({"cold": "cold_faults"}.get(number, number), "u8")
                                          for number in _ScheduleTask._numbers)])
        for i, row in enumerate(rows):
            who = (row.tid, row.tgid) if by == "task" else (row.tgid,)
            table[i] = (*who, row.name.decode(),
                        *(getattr(row, number) for number in _ScheduleTask._numbers))
        return table

    @staticmethod
    def _with_alone(table, schedule, how):
        whole = numpy.empty(len(table), [*table.dtype.descr, ("alone", "f8"), ("slowdown", "f8")])
        for name in table.dtype.names:
            whole[name] = table[name]
        whole["alone"] = whole["slowdown"] = numpy.nan
        for i, row in enumerate(whole):
            process, cycles = _library.lpl_schedule_process(schedule, i).contents, c_uint64()
            if process.serial == 0 or process.references == 0:
                continue
            _call("lpl_schedule_run_alone", schedule, byref(how), process.serial, byref(cycles))
            row["alone"], among = cycles.value, process.end - process.begin
            if cycles.value or not among:
                row["slowdown"] = among / cycles.value if among else 1
        return whole

    @contextlib.contextmanager
    def _reader(self):
        reader = c_void_p()
        _call("lpl_reader_open", byref(reader), _bytes(self.path))
        try:
            _library.lpl_reader_jobs(reader, self.jobs)
            yield reader
        finally:
            _library.lpl_reader_close(reader)

    @staticmethod
    def _pair(meta, i):
        key, value = c_char_p(), c_char_p()
        _library.lpl_meta_at(meta, i, byref(key), byref(value))
        return os.fsdecode(key.value), os.fsdecode(value.value)

    def _is_raw(self):
        return self._reduction in (None, b"none")

    def _warn(self, reader, level=3):
        if not _library.lpl_reader_complete(reader):
            warnings.warn(f"{self.path}: has no index: its recording did not end properly",
                          IncompleteTrace, stacklevel=level)

    def _simulate(self, policies, sizes, select, convert, stack):
        """A simulator that has seen the trace, and how many references there were before reduction.

        Without policies it has only counted pages, and warns of nothing.
        """
        exact = (self._addressing.frames_exact if convert == _ADDRESSES["physical"] else
                 self._addressing.exact)
        merged = b"+merged" if convert and not exact else b""
        reduction = self._reduction and self._reduction + merged
        simulator, how = c_void_p(), _SimulatorOptions(self.jobs, reduction, 0, self._page_size())
        with self._reader() as reader, contextlib.ExitStack() as during:
            if select is not None or convert:
                options, words = self._options(select, convert)
                if self._is_raw() and _library.lpl_choice_chooses(byref(options)):
                    options.numbering = _NUMBERS_COUNTED
                how.part = _library.lpl_choice_part(byref(options), options.page_size)
            _call("lpl_simulator_open", byref(simulator), byref(how))
            stack.callback(_library.lpl_simulator_close, simulator)
            for policy in policies:
                _call("lpl_simulator_add", simulator, _bytes(policy), sizes and byref(sizes))
            sink = _library.lpl_simulator_sink(simulator)
            if select is not None or convert:
                choice = c_void_p()
                _call("lpl_choice_open", byref(choice), byref(options), sink)
                during.callback(_library.lpl_choice_close, choice)
                sink = _library.lpl_choice_sink(choice)
                _library.lpl_reader_ask(reader, ctypes.cast(_library.lpl_choice_need, c_void_p),
                                        choice)
            _call("lpl_reader_run", reader, sink)
            if select is not None:
                self._ask_for_somebody(options, choice)
            if policies:
                self._warn(reader, 4)
            return simulator, self._references_made(reader, select)

    def _sizes_base(self, sizes, select, convert):
        """What bytes and percentages are of."""
        base = _SizesBase(self._page_size(), 0)
        if _library.lpl_sizes_need_pages(_bytes(sizes)):
            with contextlib.ExitStack() as stack:
                simulator, made = self._simulate([], None, select, convert, stack)
                base.pages = _library.lpl_simulator_pages(simulator)
        return base

    def _page_size(self):
        """In bytes; 0: what the header says is none."""
        said = self.meta.get("page-size")
        return _library.lpl_page_size(None if said is None else _bytes(said), self._reduction)

    def _records(self, reader, arrays):
        filled, event = c_size_t(), POINTER(_Event)()
        while True:
            _call("lpl_reader_fill", reader, byref(arrays.pointers), arrays.count, byref(filled),
                  byref(event))
            if filled.value == 0 and not event:
                break
            yield arrays.copy(filled.value), Event._of(event.contents) if event else None
        self._warn(reader)

    def _converts(self, addresses):
        """What virtual pages are to be made: one of _ADDRESSES; 0: nothing."""
        found, why = self._addressing, os.fsdecode(self._addressing.why)
        if addresses not in ("auto", *_ADDRESSES):
            raise UsageError(f"addresses are auto, {', '.join(_ADDRESSES)}, not {addresses!r}")
        if not found.can and not found.canonical and addresses == "canonical":
            raise UsageError(f"{self.path}: {why}: there are no canonical pages to be had of it")
        if not found.translations and addresses == "physical":
            raise UsageError(f"{self.path}: says nothing of physical memory")
        if addresses == "auto" and found.maps and not found.exact:
            warnings.warn(f"{self.path}: {why}: its pages are virtual ones", VirtualPages,
                          stacklevel=3)
        if addresses == "auto":
            addresses = "canonical" if found.exact else "virtual"
        return 0 if addresses == "canonical" and found.canonical else _ADDRESSES[addresses]

    def _options(self, select, convert=0):
        """A choice as the library has it, and what keeps its words."""
        if _library.lpl_reduction_behaviour(self._reduction):
            raise UsageError(f"{self.path}: a behaviour sequence is of one memory, of which "
                             "nothing can be chosen")
        options, words = _ChoiceOptions(), ctypes.create_string_buffer(_CHOICE_SIZE)
        if select is not None:
            _call("lpl_choice_parse", byref(options), words, _bytes(select))
        options.page_size = self._page_size()
        options.cycles_a_second = self._cycles_a_second
        options.addresses = convert
        return options, words

    def _ask_for_somebody(self, options, choice):
        wanted = [name for name in (options.process, options.task) if name is not None]
        if wanted and _library.lpl_choice_tasks(choice) == 0:
            raise UsageError(f"{self.path}: no task in it is called "
                             + " or ".join(repr(os.fsdecode(name)) for name in wanted)
                             + "; `laplace report' shows what ran")

    def _references_made(self, reader, select):
        """Before a reduction: None where that is those in the trace, 0 where it is not known."""
        if self._is_raw():
            return None
        totals = _library.lpl_reader_totals(reader).contents
        return 0 if select is not None else totals.total or sum(totals.refs)

    @staticmethod
    def _table(simulator, i, made):
        count = c_size_t()
        results = _library.lpl_simulator_results(simulator, i, byref(count))
        found = numpy.frombuffer(ctypes.string_at(results, count.value * _RESULT.itemsize),
                                 _RESULT)
        table = numpy.empty(len(found), [(name, _RESULT[name]) for name in _RESULT.names
                                         if name != "timed"] +
                            [("miss_ratio", "f8"), ("cold_faults", "u8"), ("refaults", "u8")])
        for name in table.dtype.names[:-3]:
            table[name] = found[name]
        table["cold_faults"] = _library.lpl_simulator_pages(simulator)
        table["refaults"] = table["faults"] - table["cold_faults"]
        references = found["references"] if made is None else numpy.full(len(found), made)
        table["miss_ratio"] = numpy.divide(found["faults"], references, where=references != 0,
                                           out=numpy.full(len(found), numpy.nan))
        return table
