# SPDX-License-Identifier: LGPL-2.1-or-later
"""Physical addresses by docs/format.md, section 13, alone: found(records) yields the references of a trace
(second_reader.py) as (type, ref, physical address), None where it is not known.
"""
GAP, REPORTS = 0x10004, (0x1000f, 0x10010)
NOT_KNOWN = 2**64 - 1


def found(records):
    reports = []
    for type, ref, instr, cycle, *rest in records:
        if type is None:
            tag, tid, tgid, space, args, text = rest
            if tag == GAP and args[1]:
                reports = []
            elif tag in REPORTS:
                begin, frame, shift, everywhere = args[:4]
                assert shift in (12, 21, 22, 30, 64), "a page of no size"
                if (shift, frame, everywhere) == (64, NOT_KNOWN, 1):
                    reports = []
                reports.append((None if everywhere else space, begin, frame, shift))
            continue
        space, address, length, flags = rest
        yield type, ref, address if type in (3, 4) else where(reports, space, address)


def where(reports, space, address):
    for owner, begin, frame, shift in reversed(reports):
        covers = address < 1 << 32 if shift == 64 else address >> shift == begin >> shift
        if owner in (None, space) and covers:
            return None if frame == NOT_KNOWN else (frame + (address - begin >> 12) << 12) + address % 4096
    return None
