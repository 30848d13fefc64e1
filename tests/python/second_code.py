# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions by docs/format.md, section 15, alone (and 13 by second_translations.py): found(records) yields those
of a trace (second_reader.py) as (user, space, address, bytes); bytes None: not known.  calls(records) yields its system
calls as (number, instruction, space, address), address None where the event stands after no fetch of its own clocks.
"""
import second_translations

GAP, CODE, SYSTEM_CALL = 0x10004, 0x10014, 0x10015
NOT_KNOWN = 2**64 - 1


def found(records):
    code, events, instruction = {}, [], None
    for record in records:
        type, ref, instr, cycle, *rest = record
        if type is None:
            tag, tid, tgid, space, args, text = rest
            if tag == GAP and args[1] or tag == CODE and args[0] == NOT_KNOWN:
                code = {}
            elif tag == CODE:
                code.update((args[0] + i, byte) for i, byte in enumerate(text))
            events.append(record)
            continue
        space, address, length, flags = rest
        goes_on = type == 2 and flags & 2
        if instruction and not goes_on:
            yield instruction
            instruction = None
        if type != 2:
            continue
        (_, _, begin), = second_translations.found(events + [record])
        part = [code.get(begin + i) for i in range(length)] if begin is not None else [None]
        user, of, first, known = instruction if goes_on and instruction else (flags & 1, space, address, b"")
        code_of_it = None if known is None or None in part else known + bytes(part)
        instruction = user, of, first, code_of_it if code_of_it is not None and len(code_of_it) <= 15 else None
    if instruction:
        yield instruction


def calls(records):
    begins = None
    for type, ref, instr, cycle, *rest in records:
        if type == 2 and not rest[3] & 2:
            begins = instr, cycle, rest[0], rest[1]
        elif type is None and rest[0] == SYSTEM_CALL:
            space, args = rest[3], rest[4]
            own = begins and begins[:3] == (instr, cycle, space)
            yield args[0], args[1], space, begins[3] if own else None
