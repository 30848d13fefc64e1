# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions of a made trace: `laplace cat -f disasm` has those of second_code.py.  Environment: LAPLACE,
MAKE_TRACE.
"""
import os
import random
import subprocess
import sys

import second_code
import second_reader

TRACE = "code.lpl"
TRANSLATION, GAP, CODE, SYSTEM_CALL = 0x1000f, 0x10004, 0x10014, 0x10015


def lines(dice):
    yield "meta addresses virtual\nmeta reduction none\nmeta translations kept\nmeta code kept"
    for ref in range(1, 3000):
        clocks, before = f"{ref} {ref} {ref}", f"{ref - 1} {ref} {ref}"
        chance = dice.random()
        if chance < .05 or ref < 10:
            yield (f"event {TRANSLATION} {before} {dice.randrange(1, 3)} 1 1 "
                   f"{dice.randrange(4) << 12:x},{dice.randrange(4):x},c,0 -")
        elif chance < .4:
            begin = dice.randrange(4 << 12)
            text = bytes(dice.randrange(256) for _ in range(min(dice.randrange(1, 257), 4096 - begin % 4096)))
            escaped = "".join(f"\\x{byte:02x}" for byte in text)
            yield f"event {CODE} {before} 0 1 1 {begin:x},{dice.choice((0x10, 0x20, 0x40)):x} {escaped}"
        elif chance < .402:
            yield dice.choice((f"event {GAP} {before} 0 0 0 0,1 -", f"event {CODE} {before} 0 1 1 {2**64 - 1:x} -"))
        if dice.random() < .5:
            flags = dice.choice(("", "s", "u", "u", "us"))
            space = dice.randrange(1, 3)
            yield f"i {clocks} {space} {dice.randrange(4 << 12):x} {dice.randrange(1, 9)} {flags}"
            if dice.random() < .1 and "s" not in flags:
                yield f"event {SYSTEM_CALL} {clocks} {space} 1 1 {dice.randrange(450):x},{dice.randrange(3)} -"
        else:
            yield f"r {clocks} 1 {dice.randrange(4 << 12):x} 8"


subprocess.run([os.environ["MAKE_TRACE"], TRACE], input="\n".join(lines(random.Random(30))) + "\n",
               encoding="ascii", check=True)
expected = list(second_code.found(second_reader.read_trace(TRACE)))
calls = list(second_code.calls(second_reader.read_trace(TRACE)))
printed = subprocess.run([os.environ["LAPLACE"], "cat", "-f", "disasm", TRACE], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, encoding="ascii")
if "without Zydis" in printed.stderr:
    print("compare_code: built without Zydis")
    sys.exit()
printed.check_returncode()
rows = [line.split() for line in printed.stdout.splitlines() if not line.startswith("\t")]
known = 0
for (user, space, address, code), row in zip(expected, rows, strict=True):
    assert row[:3] == ["u" if user else "k", f"{space:x}", f"{address:x}"], f"{row} for cat, at {address:x} by format.md"
    if code is None:
        assert row[3] == "?", f"{row} for cat, not known by format.md"
    else:
        assert row[3] == code.hex(), f"{row} for cat, {code.hex()} by format.md"
        known += 1
assert 200 < known < len(expected) - 200, f"{known} of {len(expected)} instructions are known"
print(f"{TRACE}: {len(expected)} instructions are the same, {known} of them known")
with_events = subprocess.run([os.environ["LAPLACE"], "cat", "-e", "-f", "disasm", TRACE], stdout=subprocess.PIPE,
                             encoding="ascii", check=True)
calls_printed = []
for row in (line.split() for line in with_events.stdout.splitlines() if not line.startswith("\t")):
    if row[0] != "E":
        last = row
    elif row[1] == "system-call":
        number, instruction = (int(arg, 16) for arg in row[8].split(",")[:2])
        calls_printed.append((number, instruction, int(row[5], 16), int(last[2], 16)))
assert calls_printed == calls and len(calls) > 50, f"{len(calls_printed)} system calls for cat, {len(calls)} by format.md"
print(f"{TRACE}: {len(calls)} system calls are the same")
