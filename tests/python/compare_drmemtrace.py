# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions, loads and stores, thread by thread, the user's and the kernel's: the files of `laplace export --to
drmemtrace` have those of the trace, by second_reader.py, and its system calls.  Environment: LAPLACE, MAKE_TRACE.
"""
import glob
import os
import random
import subprocess
import sys

import second_drmemtrace
import second_reader

TRACE, DIRECTORY = "threads.lpl", "threads.dir"
TRANSLATION, CODE, SYSTEM_CALL, SCHEDULE = 0x1000f, 0x10014, 0x10015, 2
USER, KERNEL = 0x401000, 0xffffffff81000000
# bytes, reads, writes
PUSH, LOAD, STORE, ADD, NOP = ("55", 0, 1), ("8b45fc", 1, 0), ("8945fc", 0, 1), ("0145fc", 1, 1), ("90", 0, 0)
SYSCALL, SYSRET = ("0f05", 0, 0), ("480f07", 0, 0)


def program(dice, begin, last, count, calls):
    """[(address, what)], without a branch but the last one, which goes back to the beginning."""
    at, made = begin, []
    for _ in range(count):
        what = SYSCALL if calls and dice.random() < .2 else dice.choice((PUSH, LOAD, STORE, ADD, NOP))
        made.append((at, what))
        at += len(what[0]) // 2
    what = last or ("e9" + (begin - at - 5).to_bytes(4, "little", signed=True).hex(), 0, 0)
    return made + [(at, what)]


class Thread:
    def __init__(self, tid, begins_in_kernel):
        self.tid, self.kernel, self.user_at, self.kernel_at = tid, begins_in_kernel, 0, 0


def lines(dice):
    yield "meta addresses virtual\nmeta reduction none\nmeta translations kept\nmeta code kept"
    of_user, of_kernel = program(dice, USER, None, 40, True), program(dice, KERNEL, SYSRET, 20, False)
    for frame, page, code in ((7, USER, of_user), (9, KERNEL, of_kernel)):
        yield f"event {TRANSLATION} 0 0 0 5 1 1 {page:x},{frame:x},c,0 -"
        text = "".join(what[0] for _, what in code)
        escaped = "".join(f"\\x{text[i:i + 2]}" for i in range(0, len(text), 2))
        yield f"event {CODE} 0 0 0 5 1 1 {frame << 12:x},40 {escaped}"
    threads = [Thread(60 + i, i > 0) for i in range(4)]
    ref = instr = 0
    now = threads[0]
    yield f"event {SCHEDULE} 0 0 0 5 0 0 0,0,{now.tid:x},{now.tid:x},5 -"
    for _ in range(4000):
        if now.kernel and dice.random() < .05:
            before, now = now, dice.choice([thread for thread in threads if thread.kernel])
            yield f"event {SCHEDULE} {ref} {instr} {ref} 5 {before.tid} {before.tid} {before.tid:x},0,{now.tid:x},{now.tid:x},5 -"
        ref, instr, flags = ref + 1, instr + 1, "" if now.kernel else "u"
        address, what = of_kernel[now.kernel_at] if now.kernel else of_user[now.user_at]
        yield f"i {ref} {instr} {ref} 5 {address:x} {len(what[0]) // 2} {flags}"
        for type, count in (("r", what[1]), ("w", what[2])):
            if count:
                ref += 1
                yield f"{type} {ref} {instr} {ref} 5 {dice.randrange(0x3000, 0x8000, 8):x} {8 if what is PUSH else 4} {flags}"
        if what is SYSCALL:
            yield f"event {SYSTEM_CALL} {ref} {instr} {ref} 5 {now.tid} {now.tid} {dice.randrange(450):x},0 -"
        if now.kernel:
            now.kernel_at = (now.kernel_at + 1) % len(of_kernel)
            now.kernel = what is not SYSRET
        else:
            now.user_at = (now.user_at + 1) % len(of_user)
            now.kernel = what is SYSCALL


def by_thread(records):
    """tid: as read_thread() has it, of the trace."""
    counts, now, last = {}, None, {}
    for type, ref, instr, cycle, *rest in records:
        if type is None:
            tag, args = rest[0], rest[4]
            if tag == SCHEDULE:
                now = counts.setdefault(args[2], {"tid": args[2], "calls": [], "user": [0] * 4, "kernel": [0] * 4})
            elif tag == SYSTEM_CALL:
                now["calls"].append(args[0])
            continue
        mode = now["user" if rest[3] & 1 else "kernel"]
        mode[{2: 0, 0: 1, 1: 2}[type]] += 1
        if type == 2:
            last[now["tid"]] = mode
    return counts, last


seed = 41
subprocess.run([os.environ["MAKE_TRACE"], TRACE], input="\n".join(lines(random.Random(seed))) + "\n",
               encoding="ascii", check=True)
exported = subprocess.run([os.environ["LAPLACE"], "export", "--to", "drmemtrace", "-o", DIRECTORY, TRACE],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="ascii")
if "without Zydis" in exported.stderr:
    print("compare_drmemtrace: built without Zydis")
    sys.exit()
exported.check_returncode()
expected, last = by_thread(second_reader.read_trace(TRACE))
found = {}
for path in glob.glob(f"{DIRECTORY}/trace/*.trace"):
    counts = second_drmemtrace.read_thread(path)
    found[counts["tid"]] = counts
assert sorted(found) == sorted(expected) and len(found) == 4, f"threads {sorted(found)}, in the trace {sorted(expected)}"
for tid, counts in expected.items():
    # nothing says where the last one went, if it is an indirect branch
    mode = last[tid]
    mode[0] -= mode is counts["kernel"] and found[tid]["kernel"][0] == mode[0] - 1
    assert found[tid] == counts, f"seed {seed}: {found[tid]}, in the trace {counts}"
    assert counts["calls"] and min(counts["user"][:3] + counts["kernel"][:3]) > 20, f"seed {seed}: hardly anything: {counts}"
print(f"{TRACE}: {sum(sum(c['user']) + sum(c['kernel']) for c in found.values())} records of 4 threads are the same")
