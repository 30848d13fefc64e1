# SPDX-License-Identifier: LGPL-2.1-or-later
"""Walks by docs/format.md, section 14, alone: found(records) yields the references to page tables of a trace
(second_reader.py) as (type, ref, address, table, large, purpose, accessed, dirty); table 0: not known.
"""
GAP, TABLE, LARGE = 0x10004, 0x10012, 0x10013
NOT_KNOWN, PAGED = 2**64 - 1, 4
PURPOSES = {0: "", 16: "read", 32: "write", 48: "fetch"}


def found(records):
    tables, large, purpose = {}, set(), ""
    for type, ref, instr, cycle, *rest in records:
        if type is None:
            tag, tid, tgid, space, args, text = rest
            if tag == GAP and args[1] or tag == TABLE and args[0] == NOT_KNOWN:
                tables, large, purpose = {}, set(), ""
            elif tag == TABLE:
                tables[args[0]] = args[1]
            elif tag == LARGE:
                (large.add if args[1] else large.discard)(args[0])
        elif type in (3, 4):
            space, address, length, flags = rest
            bits = 0 if flags & PAGED else flags & 48
            if type == 3:
                purpose = PURPOSES[bits]
            yield (type, ref, address, tables.get(address >> 12, 0), not flags & PAGED and address in large, purpose,
                   type == 4 and bits & 16 != 0, type == 4 and bits & 32 != 0)
