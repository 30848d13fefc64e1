# SPDX-License-Identifier: LGPL-2.1-or-later
"""Physical addresses of a made trace: those of `laplace cat --addresses physical` and of the module against
those of second_translations.py.  Environment: LAPLACE, MAKE_TRACE.
"""
import os
import random
import subprocess
import sys

import laplace_trace
import second_reader
import second_translations

TRACE = "frames.lpl"
TRANSLATION, RETRANSLATION, GAP = 0x1000f, 0x10010, 0x10004


def address(dice):
    half = dice.choice((0, 0xffff800000000000))
    return half + (dice.randrange(2) << 30) + (dice.randrange(3) << 21) + (dice.randrange(3) << 12)


def lines(dice):
    yield "meta addresses virtual\nmeta reduction none\nmeta translations kept"
    for ref in range(1, 4000):
        clocks = f"{ref} {ref} {ref}"
        if dice.random() < .05:
            shift = dice.choice((12, 12, 12, 12, 21, 22, 30, 64))
            begin = 0 if shift == 64 else address(dice) >> shift << shift
            frame = 2**64 - 1 if dice.random() < .05 else dice.randrange(1 << 20)
            tag = dice.choice((TRANSLATION, RETRANSLATION))
            args = f"{begin:x},{frame:x},{shift:x},{int(dice.random() < .2)}"
            yield f"event {tag} {ref - 1} {ref} {ref} {dice.randrange(1, 4)} 1 1 {args} -"
        elif dice.random() < .002:
            yield f"event {GAP} {ref - 1} {ref} {ref} 0 0 0 0,1 -"
        if dice.random() < .1:
            yield f"{dice.choice('pq')} {clocks} 0 {dice.randrange(1 << 30) & ~7:x} 8"
        else:
            yield (f"{dice.choice('rwi')} {clocks} {dice.randrange(1, 4)} "
                   f"{address(dice) + dice.randrange(4080):x} {dice.randrange(1, 9)}")


subprocess.run([os.environ["MAKE_TRACE"], TRACE], input="\n".join(lines(random.Random(29))) + "\n",
               encoding="ascii", check=True)
expected = list(second_translations.found(second_reader.read_trace(TRACE)))
known = [(ref, address) for _, ref, address in expected if address is not None]
assert 1000 < len(known) < len(expected), "nothing, or everything, is known"
printed = subprocess.run([os.environ["LAPLACE"], "cat", "-f", "csv", "--addresses", "physical", TRACE],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="ascii", check=True)
rows = [line.split(",") for line in printed.stdout.splitlines()[1:]]
module = laplace_trace.Trace(TRACE)
columns = [pair for block in module.references(("reference", "address", "space"), addresses="physical")
           for pair in zip(block["reference"].tolist(), block["address"].tolist(), block["space"].tolist())]
assert len(rows) == len(columns) == len(expected)
of_unknown = {}
for (type, ref, address), row, column in zip(expected, rows, columns):
    got = (int(row[1]), int(row[5]), int(row[4]))
    assert got == column, f"reference {ref} is {column} for the module, and {got} for cat"
    assert got[0] == ref and got[2] == 0, f"reference {ref} is {got}"
    if address is None:
        of_unknown[ref] = got[1]
    elif got[1] != address:
        sys.exit(f"reference {ref} is at {got[1]:x} for cat, and at {address:x} by format.md")
assert min(of_unknown.values()) >= 1 << 63, "what is not known is where memory may be"
assert f"of {len(of_unknown)} references the frame is not known" in printed.stderr, printed.stderr
print(f"{TRACE}: {len(known)} physical addresses are the same, {len(of_unknown)} are not known")
