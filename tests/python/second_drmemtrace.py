# SPDX-License-Identifier: LGPL-2.1-or-later
"""A second reader of what `laplace export --to drmemtrace` writes, by the comments in DynamoRIO's trace_entry.h alone:
read_thread(path) has what a thread's file counts, and asserts that its markers go together.
"""
import struct

READ, WRITE, INSTRUCTION, BUNDLE, EXIT, FOOTER, MARKER, NO_FETCH, SYSENTER, ENCODING, TAKEN, UNTAKEN = (
    0, 1, 10, 17, 23, 26, 28, 29, 31, 47, 48, 49)
INDIRECT = 12, 13, 15, 16
KERNEL_EVENT, KERNEL_XFER, FILE_TYPE, WINDOW, CALL, CALL_BEGINS, CALL_ENDS, TARGET, UNCOMPLETED, EVENT, RETURN = (
    0, 1, 9, 14, 25, 27, 28, 29, 41, 43, 44)
NUMBERS, WHOLE_SYSTEM = 0x400, 0x40000


def read_thread(path):
    """{"tid", "calls": numbers, "user" and "kernel": (instructions, loads, stores, incomplete)}"""
    with open(path, "rb") as file:
        data = file.read()
    assert len(data) % 12 == 0, f"{path}: is cut"
    counts = {"tid": None, "calls": [], "user": [0] * 4, "kernel": [0] * 4}
    depth, call, call_depth, target, indirect, after_call, ended = 0, None, 0, None, False, None, None
    file_type, last = 0, None
    for type, size, value in struct.iter_unpack("<HHQ", data):
        where = f"{path}: {type} {size} {value:x}"
        assert last != FOOTER, f"{where}: after the end"
        mode = counts["kernel" if depth else "user"]
        if type == 22:
            counts["tid"] = value
        elif type in (READ, WRITE):
            mode[1 + (type == WRITE)] += 1
        elif INSTRUCTION <= type < BUNDLE or type in (SYSENTER, TAKEN, UNTAKEN, NO_FETCH):
            mode[0] += type != NO_FETCH
            indirect = type in INDIRECT
            assert not indirect or target is not None, f"{where}: has no target"
            assert ended in (None, value), f"{where}: the kernel returned to {ended:x}"
            went, target, after_call, ended = target, None, None, None
        elif type == MARKER and size == FILE_TYPE:
            file_type = value
        elif type == MARKER and size == TARGET:
            target = value
        elif type == MARKER and size == UNCOMPLETED:
            mode[3] += 1
        elif type == MARKER and size == EVENT:
            assert file_type & WHOLE_SYSTEM and ended in (None, value), f"{where}: the kernel returned to {ended}"
            depth, ended = depth + 1, None
        elif type == MARKER and size == RETURN:
            depth -= 1
            assert depth >= (call_depth if call is not None else 0), f"{where}: returns from what has not begun"
        elif type == MARKER and size == CALL:
            assert file_type & NUMBERS and not depth, f"{where}: a system call of the kernel"
            counts["calls"].append(value)
            after_call = value
        elif type == MARKER and size == CALL_BEGINS:
            assert call is None and last == (MARKER, CALL) and after_call == value, f"{where}: not after the call's marker"
            call, call_depth = value, depth
        elif type == MARKER and size == CALL_ENDS:
            assert call == value and depth == call_depth and indirect, f"{where}: not where the call returns"
            call, ended = None, went
        elif type == MARKER and size in (KERNEL_EVENT, WINDOW):
            assert size == WINDOW or ended in (None, value), f"{where}: the kernel returned to {ended}"
            ended = None
        if type not in (15, 17):
            last = FOOTER if type == FOOTER else (type, size)
    assert last == FOOTER and not depth, f"{path}: {depth} have not returned at its end"
    return counts
