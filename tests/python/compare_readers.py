# SPDX-License-Identifier: LGPL-2.1-or-later
"""compare_readers TRACE...: the second reader's records against `laplace cat -e', line by line.
The first one is a file, which it also has to refuse when it is damaged.

The names of events are those of their tables in the headers.  Environment: LAPLACE.
"""
import itertools
import os
import re
import subprocess
import sys

import second_reader

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../laplace/include/laplace")
NAMES = {}
for header in ("kernel_trace_record.h", "record.h"):
    with open(os.path.join(HEADERS, header), encoding="utf-8") as file:
        for number, name in re.findall(r'^\tEVENT\(\w+, (\w+), "([a-z-]+)"', file.read(), re.M):
            NAMES[int(number, 0)] = name
assert len(NAMES) >= 40


def printed(trace):
    """As csv, docs/formats.md."""
    yield "type,reference,instruction,cycle,space,address,length,user,second,paged,synthetic"
    for type, ref, instr, cycle, *rest in second_reader.read_trace(trace):
        if type is not None:
            space, address, length, flags = rest
            yield (f"{'rwipq'[type]},{ref},{instr},{cycle},{space},{address},{length},{flags & 1},"
                   f"{flags >> 1 & 1},{flags >> 2 & 1},{flags >> 3 & 1}")
            continue
        tag, tid, tgid, space, args, text = rest
        text = re.sub(rb"[^ -~]|\\", lambda byte: b"\\x%02x" % ord(byte[0]), text).decode()
        yield (f"#E {NAMES.get(tag, f'tag-{tag}')} {cycle:x} {instr:x} {ref:x} {space:x} "
               f"{tid} {tgid} {','.join(f'{arg:x}' for arg in args)} {text or '-'}")


def compare(trace):
    cat = subprocess.Popen([os.environ["LAPLACE"], "cat", "-e", "-f", "csv", trace],
                           stdout=subprocess.PIPE, encoding="ascii")
    with cat.stdout:
        pairs = enumerate(itertools.zip_longest(map(str.rstrip, cat.stdout), printed(trace)), 1)
        for number, (expected, found) in pairs:
            if expected != found:
                sys.exit(f"{trace}: line {number} is\n{found}\nand laplace cat has\n{expected}")
    if cat.wait():
        sys.exit(f"{trace}: laplace cat failed")
    print(f"{trace}: {number - 1} records are the same")


def refuses(data, what):
    with open("damaged.lpl", "wb") as damaged:
        damaged.write(data)
    try:
        for _ in second_reader.read_trace("damaged.lpl"):
            pass
    except Exception:
        return
    sys.exit(f"the second reader takes a trace {what} for a whole one")


for trace in sys.argv[1:]:
    compare(trace)
with open(sys.argv[1], "rb") as file:
    whole = file.read()
refuses(whole + whole, "twice")
refuses(whole[:-1], "that was cut off")
for i in range(0, len(whole), len(whole) // 50 + 1):
    refuses(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1:], f"in which byte {i} is another")
