# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_module LAYOUT TRACE... -- [TRACE...]: laplace_trace against headers and command.

What `laplace cat`, `laplace sim` and `laplace report` print of the traces is what the module has to
hand over: every field, in blocks of odd sizes, chosen and not.  (Of the large traces behind the
two dashes: all references.)  Environment: LAPLACE, MAKE_TRACE.
"""
import csv
import ctypes
import io
import json
import math
import os
import subprocess
import sys
import tracemalloc
import unittest
import warnings

import numpy
import pandas

import laplace_trace as lt

LAYOUT, *TRACES = sys.argv[1:]
MADE, LARGE = TRACES[:TRACES.index("--")], TRACES[TRACES.index("--") + 1:]


def laplace(*arguments, status=0):
    done = subprocess.run([os.environ["LAPLACE"], *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    assert done.returncode == status, (arguments, done.returncode)
    return done.stdout.decode()


def make_trace(path, text, *arguments):
    subprocess.run([os.environ["MAKE_TRACE"], path, *arguments], input=text.encode(), check=True)
    return path


def printed(trace, *options):
    """By column what `laplace cat' prints: arrays of the module's types."""
    cat = subprocess.Popen([os.environ["LAPLACE"], "cat", "-f", "csv", *options, trace],
                           stdout=subprocess.PIPE)
    with cat.stdout:
        cells = pandas.read_csv(cat.stdout, dtype=dict.fromkeys(
            ("reference", "instruction", "cycle", "space", "address"), numpy.uint64))
    assert cat.wait() == 0
    table = {name: cells[name].to_numpy().astype(dtype)
             for name, (_, dtype) in lt.COLUMNS.items() if name not in ("type", "flags")}
    table["type"] = cells["type"].map("rwipq".index).to_numpy().astype(numpy.uint8)
    table["flags"] = sum(cells[name].to_numpy().astype(numpy.uint8) << bit
                         for bit, name in enumerate(("user", "second", "paged", "synthetic")))
    return table


def joined(blocks):
    blocks = list(blocks)
    table = {name: numpy.concatenate([block[name] for block in blocks] or
                                     [numpy.empty(0, dtype)])
             for name, (_, dtype) in lt.COLUMNS.items()}
    table["flags"] &= 15        # csv has no others
    return table


class Module(unittest.TestCase):
    def assert_same(self, found, expected, what):
        for name, (_, dtype) in lt.COLUMNS.items():
            self.assertEqual(found[name].dtype, dtype, f"{what}: {name}")
            self.assertEqual(len(found[name]), len(expected[name]), f"{what}: {name}")
            wrong = numpy.flatnonzero(found[name] != expected[name])
            self.assertEqual(len(wrong), 0, f"{what}: {name}, first at {wrong[:1]}")

    def test_layout(self):
        """Structures and numbers are those of the headers."""
        lines = subprocess.run([LAYOUT], stdout=subprocess.PIPE, check=True).stdout.decode()
        told = {"_RESULT": []}
        for name, *numbers in (line.split() for line in lines.splitlines()):
            thing = getattr(lt, name, None) if len(numbers) == 1 else None
            if thing is None:
                told[structure].append((name, *map(int, numbers)))
            elif isinstance(thing, int):
                self.assertEqual(thing, int(*numbers), name)
            else:
                structure = name
                told[name] = []
                size = thing.itemsize if name == "_RESULT" else ctypes.sizeof(thing)
                self.assertEqual(size, int(*numbers), name)
        fields = {"_RESULT": [(name, offset, dtype.itemsize) for name, (dtype, offset)
                              in lt._RESULT.fields.items()]}
        for name in vars(lt):
            thing = getattr(lt, name)
            if isinstance(thing, type) and issubclass(thing, ctypes.Structure):
                fields[name] = [({"start": "from"}.get(field, field), getattr(thing, field).offset,
                                 getattr(thing, field).size) for field, _ in thing._fields_]
        self.assertEqual(fields, told)

    def test_references(self):
        for trace in MADE + LARGE:
            expected = printed(trace)
            for count in (1 << 20, 4099, 7) if trace in MADE else (1 << 20, 65537):
                blocks = list(lt.Trace(trace).references(count=count))
                self.assertTrue(all(len(block["address"]) == count for block in blocks[:-1]))
                self.assert_same(joined(blocks), expected, f"{trace} by {count}")
            some = list(lt.Trace(trace, jobs=1).references(["address"]))
            self.assertTrue(all(list(block) == ["address"] for block in some))

    def test_records(self):
        """With events in their places."""
        for trace in MADE:
            lines = laplace("cat", "-e", "-f", "raw", trace).splitlines()
            found = []
            for block, event in lt.Trace(trace).records(["address", "type"], count=997):
                found += [f"{'rwipq'[kind]} {address:x}"
                          for kind, address in zip(block["type"], block["address"].tolist())]
                if event:
                    found.append(f"E {event.name or f'tag-{event.tag}'} {event.cycle:x} "
                                 f"{event.instruction:x} {event.reference:x} {event.space:x} "
                                 f"{event.tid} {event.tgid}")
            expected = [" ".join(line.split()[:8] if line[0] == "E" else
                                 [line.split()[0], line.split()[4]]) for line in lines]
            self.assertEqual(len(found), len(expected), trace)
            self.assertEqual([pair for pair in zip(found, expected) if pair[0] != pair[1]], [])

    def test_events(self):
        for trace in MADE:
            with_references = [event for _, event in lt.Trace(trace).records([]) if event]
            self.assertEqual(list(lt.Trace(trace).events()), with_references)
        path = make_trace("events.lpl", "r 1 1 1 5 1000 4\n"
                          "event 2 1 1 2 7 3 4 1,2,ffffffffffffffff,9 two\n"
                          "event 999 1 1 2 0 0 0 - -\n")
        known, unknown = lt.Trace(path).events()
        self.assertEqual(known, ("schedule", 2, 1, 1, 2, 7, 3, 4, {
            "previous tid": 1, "previous state": 2, "next tid": 2**64 - 1, "next tgid": 9,
            "next space": 0}, b"two"))
        self.assertEqual((unknown.name, unknown.tag, unknown.arguments), (None, 999,
                         dict.fromkeys(range(12), 0)))

    def test_select(self):
        for select, options in SELECTIONS:
            for trace in MADE[:2]:
                expected = printed(trace, *options)
                self.assertGreater(len(expected["type"]), 0, options)
                for count in (1 << 20, 5):
                    self.assert_same(joined(lt.Trace(trace).references(count=count, select=select)),
                                     expected, f"{trace} {select}")

    def test_curves(self):
        """All that `laplace sim' prints; of reduced traces, and of parts, too."""
        laplace("reduce", "-m", "sad:4", "-o", "sad.lpl", MADE[0])
        cases = [(trace, None, []) for trace in [*MADE, "sad.lpl"]]
        cases += [(trace, *selection) for trace in (MADE[0], "sad.lpl")
                  for selection in SELECTIONS]
        for trace, select, options in cases:
            for policies, sizes in (("lru,opt", None), ("ws", [2, 4, 8]), ("lru", "all"),
                                    ("clock,segq:fifo=2", "4:16:*2"),
                                    ("lru,clock", "34%,16K,50%:100%:25%")):
                if trace == "empty.lpl" and "%" in str(sizes):
                    continue
                how = ["-s", sizes if isinstance(sizes, str) else ",".join(map(str, sizes))
                       ] if sizes else []
                text = laplace("sim", "-p", policies, *how, *options, trace)
                rows = list(csv.DictReader(io.StringIO(text)))
                curves = lt.Trace(trace).curves(policies, sizes, select)
                found = [(name, row) for name, table in curves.items() for row in table]
                self.assertEqual(len(found), len(rows), f"{trace} {policies} {select}")
                self.assertGreater(len(rows), 0)
                for (name, row), expected in zip(found, rows):
                    self.assertEqual(name, expected["policy"])
                    for column in ("size", "references", "faults", "evictions",
                                   "dirty_evictions", "cold_faults", "refaults"):
                        self.assertEqual(int(row[column]), int(expected[column]), column)
                    if policies == "ws":
                        self.assertEqual(f"{row['mean_resident']:.6f}", expected["mean_resident"])
                        self.assertEqual(int(row["space_time"]), int(expected["space_time"]))
                    ratio = row["miss_ratio"]
                    self.assertEqual("" if math.isnan(ratio) else f"{ratio:.6g}",
                                     expected["miss_ratio"], f"{trace} {policies} {select}")
        exact = lt.Trace("sad.lpl").curves("lru", [2, 4])["lru"]["exact"]
        self.assertEqual(exact.tolist(), [False, True])

    def test_addresses(self):
        """Pages that spaces share: as the command has them, and as a merged trace has them."""
        path = make_trace("shared.lpl", """meta reduction none
event 6 0 0 0 0 0 0 7,20000,24000,3,2,8,64,0 file
event 6 0 0 0 0 0 0 9,30000,34000,3,2,8,64,0 file
r 1 1 1 7 20010 4 u
r 2 2 2 9 30020 4 u
w 3 3 3 9 31030 4 u
r 4 4 4 9 40000 4 u
""")
        laplace("merge", "-f", "canonical", "-o", "merged.lpl", path)
        laplace("reduce", "-m", "sad:2", "-o", "unfenced.lpl", path)
        trace, merged, unfenced = map(lt.Trace, (path, "merged.lpl", "unfenced.lpl"))
        self.assertEqual([t.addresses for t in (trace, merged, unfenced)],
                         ["canonical", "canonical", "virtual"])

        def faults(trace, **how):
            return trace.curves("lru", [8], **how)["lru"]["faults"].tolist()

        self.assertEqual((faults(trace), faults(merged)), ([3], [3]))
        self.assertEqual(faults(trace, addresses="virtual"), [4])
        for addresses, sizes in (("auto", [1, 2]), ("virtual", [2, 3])):
            table = trace.curves("lru", "50%,75%", addresses=addresses)["lru"]
            self.assertEqual(table["size"].tolist(), sizes)     # of 3 pages, and of 4
        self.assertEqual(faults(trace, select="range:20000:31000"), [1])
        self.assertEqual(faults(trace, select="kind:file"), [2])
        with self.assertWarns(lt.VirtualPages):
            self.assertEqual(faults(unfenced), [4])
        inexact = unfenced.curves("lru", [8], addresses="canonical")["lru"]
        self.assertEqual((inexact["faults"].tolist(), inexact["exact"].tolist()), ([3], [False]))
        for addresses, expected in (("virtual", [0x20010, 0x30020, 0x31030, 0x40000]),
                                    ("canonical", [0x1010, 0x1020, 0x2030, 0x3000]),
                                    ("auto", [0x1010, 0x1020, 0x2030, 0x3000])):
            for count in (1, 3, 100):
                blocks = trace.references(["address"], count, addresses=addresses)
                self.assertEqual([a for block in blocks for a in block["address"]], expected)
        plain = lt.Trace(make_trace("plain.lpl", "r 1 1 1 7 20010 4 u\n"))
        self.assertEqual((plain.addresses, faults(plain)), ("virtual", [1]))
        with self.assertRaises(lt.UsageError):
            plain.curves(addresses="canonical")
        with self.assertRaises(lt.UsageError):
            trace.curves(addresses="real")

    def test_schedule(self):
        """All that `laplace schedule' prints, of machines and of processes alone."""
        for wrong in ({"fault_cycle": 1000}, {"observer": 1}, {"quantum": 2**64 + 5}, {"cpus": -1}):
            with self.assertRaises(lt.UsageError):
                lt.Trace("columns.lpl").schedule(**wrong)
        for how, options in (({}, []), ({"by": "task", "cpus": 2, "quantum": 50, "switch_cycles": 3},
                              ["--by=task", "--cpus=2", "--quantum=50", "--switch-cycles=3"]),
                             ({"pages": "40%", "policy": "clock", "fault_cycles": 700, "devices": 1,
                               "write_cycles": 9, "alone": True, "quantum": 100},
                              ["-s40%", "-pclock", "--fault-cycles=700", "--devices=1",
                               "--write-cycles=9", "--alone", "--quantum=100"]),
                             ({"pages": 9, "memory": "local-equal", "scheduler": "fair"},
                              ["-s9", "--memory=local-equal", "--scheduler=fair"]),
                             ({"pages": 2, "memory": "ws", "window": 20, "fault_cycles": 30},
                              ["-s2", "--memory=ws", "--window=20", "--fault-cycles=30"])):
            for trace in ("columns.lpl", "window.lpl"):
                table, machine = lt.Trace(trace).schedule(**how)
                rows = list(csv.DictReader(io.StringIO(laplace("schedule", *options, trace))))
                result = json.loads(laplace("schedule", "--json", *options, trace))["result"]
                self.assertGreater(len(rows), 1)
                self.assertEqual(list(table.dtype.names), list(rows[0]))
                for row, expected in zip(table, rows):
                    for name, value in expected.items():
                        found = row[name]
                        if value == "":
                            self.assertTrue(math.isnan(found))
                        elif name == "slowdown":
                            self.assertAlmostEqual(found, float(value), delta=0.0006)
                        elif name == "name":
                            self.assertEqual(found, value)
                        else:
                            self.assertEqual(int(found), int(value), name)
                for name, value in machine.items():
                    self.assertEqual(value, result[{"cold": "cold_faults"}.get(name, name)], name)
        trace = lt.Trace("columns.lpl")
        for wrong in ({"scheduler": "lottery"}, {"by": "page"}, {"pages": "16,32"}, {"cpus": 0},
                      {"policy": "opt", "pages": 9}, {"alone": True, "by": "task"}):
            with self.assertRaises(lt.UsageError):
                trace.schedule(**wrong)
        with self.assertRaises(lt.UsageError):
            lt.Trace(make_trace("tasks.lpl", "r 1 1 1 7 20010 4 u\n")).schedule()

    def test_whole_addresses(self):
        path = make_trace("high.lpl", "r 1 1 1 5 ffffffffffffffff 1\n"
                          "w 2 1 1 5 8000000000000001 4\n")
        (block,) = lt.Trace(path).references()
        self.assertEqual(block["address"].dtype, numpy.uint64)
        self.assertEqual(block["address"].tolist(), [0xffffffffffffffff, 0x8000000000000001])

    def test_header(self):
        path = make_trace("header.lpl", "meta title a test\nmeta guest \xff=\u20ac\n")
        self.assertEqual(lt.Trace(path).meta, {"title": "a test", "guest": "\xff=\u20ac"})
        self.assertEqual(list(lt.Trace(path).references()), [])

    def test_errors(self):
        def raises(kind, text, function):
            with self.assertRaises(kind) as caught:
                function()
            self.assertIn(text, str(caught.exception))
            return caught.exception

        trace = lt.Trace(MADE[0])
        self.assertEqual(raises(lt.Error, "No such file", lambda: lt.Trace("none.lpl")).errno, 2)
        self.assertEqual(raises(lt.InputError, "make.txt", lambda: lt.Trace("make.txt")).kind,
                         "format")
        raises(lt.UsageError, "pipe", lambda: lt.Trace("-"))
        raises(lt.UsageError, "'adress'", lambda: list(trace.references(["adress"])))
        raises(lt.UsageError, "one reference", lambda: list(trace.references(count=0)))
        raises(lt.UsageError, "process:NAME", lambda: list(trace.references(select="gzip")))
        raises(lt.UsageError, "nobody'", lambda: list(trace.references(select="process:nobody")))
        raises(lt.UsageError, "nobody'", lambda: trace.curves(select="task:nobody"))
        raises(lt.UsageError, "magic", lambda: trace.curves("magic"))
        raises(lt.UsageError, "0", lambda: trace.curves("lru", [0]))
        odd = lt.Trace(make_trace("odd.lpl", "meta page-size 5000\nr 1 1 1 7 20010 4 u\n"))
        raises(lt.UsageError, "how large a page is", lambda: odd.curves("lru", "1M"))
        for wrong in (lambda: lt.Trace(trace.path + "\0.gz"), lambda: trace.curves("lru\0,opt"),
                      lambda: list(trace.references(select="user\0+type:write"))):
            raises(lt.UsageError, "null byte", wrong)
        self.assertEqual([list(block) for block in trace.references("type,space", count=1 << 30)],
                         [["type", "space"]])

    def test_damage(self):
        """What precedes it is handed over, and then the error comes, in the library's words."""
        with open(MADE[0], "rb") as file:
            whole = file.read()
        path = "damaged.lpl"
        with open(path, "wb") as file:
            middle = len(whole) * 2 // 3
            file.write(whole[:middle] + b"\xff\x00\xff" + whole[middle + 3:])
        found = 0
        with self.assertRaises(lt.InputError) as caught:
            for block in lt.Trace(path).references(count=100):
                found += len(block["address"])
        self.assertEqual(caught.exception.kind, "damaged")
        self.assertIn(path, str(caught.exception))
        self.assertEqual(found, laplace("cat", path, status=3).count("\n"))
        self.assertGreater(found, 0)
        with self.assertRaises(lt.InputError):
            lt.Trace(path).curves()

    def test_incomplete(self):
        make_trace("open.lpl", "r 1 1 1 5 1000 4\n", "10", "unclosed")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (block,) = lt.Trace("open.lpl.part").references()
            lt.Trace("open.lpl.part").curves()
        self.assertEqual(len(block["address"]), 1)
        self.assertEqual([warning.category for warning in caught], [lt.IncompleteTrace] * 2)

    def test_memory(self):
        """A block at a time: what is held does not grow with the trace."""
        peaks = []
        for most in (10, 200):
            tracemalloc.start()
            for i, block in enumerate(lt.Trace(MADE[0]).references(["address"], count=100)):
                if i == most:
                    break
            self.assertEqual(i, most)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        self.assertLess(peaks[1], peaks[0] + 2000, peaks)


# The module's words, and the command's options.
SELECTIONS = [("process:gzip", ["--process", "gzip"]),
              ("user+type:read+fetch", ["--user", "--type", "read,fetch"]),
              ("task:21+kernel", ["--task", "21", "--kernel"]),
              ("process:gzip+children", ["--process", "gzip", "--children"]),
              ("range:402000:7fff00000000", ["--range", "402000:7fff00000000"]),
              ("from:references:3000+to:references:9000",
               ["--from", "references:3000", "--to", "references:9000"]),
              ("from:seconds:0.002", ["--from", "seconds:0.002"])]

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
