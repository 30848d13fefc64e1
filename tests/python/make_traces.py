# SPDX-License-Identifier: LGPL-2.1-or-later
"""make_traces MAKE-TRACE LAPLACE: traces for the tests of this directory, made here.

A small machine runs three tasks: loops of code that refer to memory as loops do, which is what
packed runs are made for, and now and then all that is odd.  The same stream is packed as runs and
as columns, in chunks of several sizes, in segments, and reduced.
"""
import random
import subprocess
import sys


def code(random, base):
    """Some blocks of straight code, on one page each; (address, lengths)."""
    blocks = []
    for i in range(12):
        lengths = [random.randint(1, 11) for _ in range(random.randint(1, 30))]
        blocks.append((base + i * 0x400 + random.randrange(64), lengths))
    return blocks


class Machine:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ref = self.instr = 0
        self.offset = 1000      # cycle less instr
        self.lines = []
        self.task, self.user = 0, False
        # the second and the third are the first one's children; each has its own way through data
        self.tasks = [(20, "gzip"), (21, "tar"), (22, "sh")]
        self.code = [code(self.random, 0x401000 + 0x10000 * i) for i in range(3)]
        self.kernel = code(self.random, 0xffffffff81000000)
        self.data = [0x7fff0000 + 0x100000 * i for i in range(3)]

    def reference(self, kind, address, length, flags="", space=None):
        self.ref += 1
        flags += "u" if self.user and "k" not in flags else ""
        self.lines.append("%s %d %d %d %x %x %d %s" % (
            kind, self.ref, self.instr, self.instr + self.offset,
            7 + self.task if space is None else space, address % 2**64, length,
            flags.replace("k", "")))

    def event(self, tag, args, text="-"):
        tid = self.tasks[self.task][0]
        self.lines.append("event %d %d %d %d %x %d %d %s %s" % (
            tag, self.ref, self.instr, self.instr + self.offset, 7 + self.task, tid, tid,
            ",".join("%x" % arg for arg in args) or "-", text))

    def walk(self):
        """Of few entries, and what they are changes now and then."""
        draw = self.random
        entry = draw.randrange(20) << 12 | draw.randrange(3) << 3
        if draw.random() < .5:
            self.event(0x10012, (entry >> 12 if draw.random() < .95 else 2**64 - 1, draw.randint(1, 5)))
        if draw.random() < .3:
            self.event(0x10013, (entry, draw.randrange(2)))
        self.reference(draw.choice("pq"), entry, 8, "k" + draw.choice(("", "a", "d", "ad")), 0)

    def odd(self):
        """What seldom happens, each in its turn."""
        draw = self.random
        which = draw.randrange(9)
        if which == 0:      # an instruction that crosses a page
            self.instr += 1
            self.reference("i", 0x402ffe, 2)
            self.reference("i", 0x403000, 3, "s")
        elif which == 1:
            self.reference("r", draw.getrandbits(64) | 1 << 63, draw.randint(1, 4096))
        elif which == 2:
            for _ in range(draw.randrange(20)):
                self.walk()
        elif which == 3:
            self.reference("w", draw.getrandbits(40), draw.choice([3, 10, 24, 32, 64]))
        elif which == 4:    # as supervisor, in the program's mode
            self.reference("r", 0xffff888000001000 + draw.randrange(4096), 8, "k")
        elif which == 5:
            self.offset += draw.randrange(1000)
        elif which == 6:
            self.instr += draw.randrange(300)
            self.reference("i", 0x401000, 15)
        elif which == 7:    # an instruction that is repeated: from here to there, a step a turn
            turns, apart = draw.choice([2, 31, 32, 33]), draw.randrange(2)
            for start in draw.getrandbits(36), draw.getrandbits(36):
                self.instr += 1
                self.reference("i", 0x401800, 2)
                for turn in range(turns):
                    self.reference("r", start + 8 * turn, 8)
                    self.reference("w", start + 0x8000 + 8 * turn, 8)
                    self.instr += apart
        else:
            self.ref += draw.randrange(3)   # the tracer's own were left out
            self.event(draw.choice([17, 19, 65537, 70000]),
                       [draw.getrandbits(draw.choice([3, 64])) for _ in range(draw.randrange(12))],
                       draw.choice(["-", "a mark, by the \u00fcser"]))

    def switch(self):
        draw = self.random
        self.user = draw.random() < 0.7
        if draw.random() < 0.5:
            return
        before, after = self.task, draw.randrange(3)
        tid, name = self.tasks[after]
        self.event(2, [self.tasks[before][0], 0, tid, tid, 7 + after], name)
        self.task = after

    def loop(self):
        """A block of code again and again, with strides in its data."""
        draw = self.random
        address, lengths = draw.choice(self.code[self.task] if self.user else self.kernel)
        stride, sites = draw.choice([0, 4, 8, 64]), draw.sample(range(30), 4)
        start = self.data[self.task] + draw.randrange(0x4000)
        for turn in range(draw.randint(1, 40)):
            at = address
            for i, length in enumerate(lengths):
                self.instr += 1
                self.reference("i", at, length)
                at += length
                if i in sites:
                    self.reference("rw"[i % 2], start + turn * stride + i * 8,
                                   (1, 2, 4, 8, 16)[i % 5])
            if draw.random() < 0.04:
                self.odd()

    def run(self, references):
        self.event(1, [20, 20, 7, 0], "init")
        self.event(2, [0, 0, 20, 20, 7], "init")
        for i, (tid, name) in enumerate(self.tasks):
            if i:
                self.event(1, [tid, tid, 7 + i, 0], "gzip")
        for i, (tid, name) in enumerate(self.tasks):
            self.event(4, [tid, tid, 7 + i, 8, 100 + i], "/bin/" + name)
        while self.ref < references:
            self.switch()
            self.loop()
        return self.lines


def main():
    make_trace, laplace = sys.argv[1:]

    def make(path, chunk, *lines):
        subprocess.run([make_trace, path, str(chunk)], check=True,
                       input="\n".join(["meta machine cpu: ips=1000000", "meta reduction none", "meta walks described",
                                        *lines, ""]).encode("latin-1"))

    lines = Machine(1).run(60000)
    make("runs.lpl", 9000, "runs", *lines)
    make("columns.lpl", 0, *lines)
    make("small.lpl", 37, "runs", *Machine(2).run(3000))
    make("empty.lpl", 0)
    lines[len(lines) // 3:0] = ["rotate"]
    lines[len(lines) // 2:0] = ["rotate"]
    make("cut.lpl", 5000, "segments", "runs", *lines)
    for method in ("window:16+sad:16", "olr:8"):
        subprocess.run([laplace, "reduce", "-m", method, "-o", method.split(":")[0] + ".lpl",
                        "runs.lpl"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
