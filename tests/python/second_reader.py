# SPDX-License-Identifier: LGPL-2.1-or-later
"""A second reader of trace files, in under 200 lines: read_trace(path) yields their records.

Written from docs/format.md alone, whose sections are named here.  It shares nothing with the real
reader; compare_readers.py compares the two.  What does not hold ends it with an exception.
A reference is (type, ref, instr, cycle, space, address, length, flags), an event is
(None, ref, instr, cycle, tag, tid, tgid, space, args, text).
"""
import json, os, struct, zstandard
from xxhash import xxh3_64_intdigest

M64, M48, H = 2**64 - 1, 2**48 - 1, 0x9e3779b97f4a7c15
DATA, INDEX, RUNS, STATE, FETCH, SECOND, PAGED = 2, 3, 4, 5, 2, 2, 4

def signed(number):                                                             # section 1
    return number >> 1 ^ -(number & 1)

class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        assert self.at <= len(self.data), "bytes are missing"
        return self.data[self.at - count:self.at]

    def number(self):
        value, shift, byte = 0, 0, 128
        while byte & 128:
            byte = self.take(1)[0]
            value, shift = value | (byte & 127) << shift, shift + 7
        assert value <= M64 and (byte or shift == 7), "a number in another than its shortest form"
        return value

class Gaps(Numbers):                                                            # 9.2
    def __init__(self, data):
        super().__init__(data)
        self.left = self.number()

    def yes(self, bytes_given=0):
        self.left -= 1
        if self.left < 0:
            self.given, self.left = self.take(bytes_given), self.number()
            return False
        return True

def read_columns(payload, n, base):                                             # 4.1
    (ref, instr, cycle), space, columns, ends = base, payload.number(), [], {}
    for _ in range(7 if n else 0):
        column = Numbers(payload.take(payload.number())) if payload.number() else None
        columns.append([column.number() for _ in range(n)] if column else [payload.number()] * n)
    for kind, length, up, more, drift, moved, away in zip(*columns):
        ref, instr = ref + up & M64, instr + more & M64
        cycle, space = cycle + more + signed(drift) & M64, space + signed(moved) & M64
        away, predicted = signed(away), ends.get(kind % 8, 0)
        address = (((predicted >> 12) + away & M64) << 12 if kind // 8 & PAGED
                   else predicted + away & M64)
        ends[kind % 8] = address + length & M64
        yield kind % 8, ref, instr, cycle, space, address, length, kind // 8

def read_runs(payload, n, base):                                                # section 9
    ref, following = base[0] - payload.number(), base[1] + signed(payload.number())
    space, user = payload.number(), payload.number()
    offset = base[2] - base[1] + signed(payload.number())
    sizes = [payload.number() for _ in range(7)]
    flow, shape, hits, misses, traces, codes, states = columns = [
        (Gaps if i < 3 else Numbers)(payload.take(size)) for i, size in enumerate(sizes)]
    tokens, defined, lists, sites = [None, (0, 0, 0)] + [None] * 16, [(0, [])], {}, {}
    table, follower, context, before, a1, a2, made = {}, {}, 0, 0, 0, 0, 0
    def token_by_number():
        token = traces.number()
        if token == len(tokens):
            trace, (first, fetched) = traces.number(), divmod(traces.number(), 64)
            if trace == len(defined):
                defined.append((defined[-1][0] + signed(traces.number()) & M64, []))
            while len(defined[trace][1]) < first + max(fetched, 1):
                defined[trace][1].append(traces.number())
            tokens.append((trace, first, fetched))
        return token
    def new_list(token):                                                        # 9.4
        count, found, d = codes.number(), [], 0
        while len(found) < count:
            code = codes.take(1)[0]
            if code == 16:
                for _ in range(codes.number()):
                    d += found[-2][1] - (found[-3][1] if len(found) > 2 else 0)
                    found.append((found[-2][0], d, 0))
            else:
                d += codes.take(1)[0] if code & 128 else 0
                found.append((code & 127, d, codes.number() if code >> 1 & 7 == 7 else 0))
        if count <= 64:
            lists[token] = found
        return found
    def next_address(site):                                                     # 9.5
        last, kind, step, near, far, seen = site
        ways = last + step, a1 + near, a2 + far, last + seen
        address = ways[kind]
        if not hits.yes():
            way = misses.take(1)[0]
            if way < 4:
                address, site[1], site[2] = ways[way], way % 3, seen if way == 3 else step
            else:
                start, size = (last, way - 4) if way < 11 else (a1, way - 11)
                address = start + signed(int.from_bytes(misses.take(size), "little"))
            site[3:] = address - a1, address - a2, address - last
        site[0] = address & M48
        return site[0]
    def expand(token):                                                         # 9.1
        nonlocal a1, a2
        trace, first, fetched = tokens[token]
        data, run, at = lists.get(token, []) if shape.yes() else new_list(token), [], 0
        address, lengths = defined[trace][0] + sum(defined[trace][1][:first]), defined[trace][1]
        for k in range(max(fetched, 1)):
            length = lengths[first + k] if fetched else 0
            beyond = max(0, (address & 0xfff) + length - 0x1000)
            if fetched:
                run.append((FETCH, k, space, address, length - beyond, user))
            if beyond:
                run.append((FETCH, k, space, address + length - beyond, beyond, user | SECOND))
            address += length
            while at < len(data) and (data[at][1] <= k or k >= fetched - 1):
                code, d, told = data[at]
                site = token, at if at < 64 else 64 + at % 8
                where = next_address(sites.setdefault(site, [0] * 6))
                a1, a2, at, own = where, a1, at + 1, code >> 6      # own: it is not a walk
                run.append(((0 if own else 3) + code % 2, d, own * space,
                            where | (M64 ^ M48) * (where >> 47),
                            told or (1, 2, 4, 8, 16, 10, 32)[code >> 1 & 7],
                            user & ~(code >> 5) & 1 | code >> 3 & SECOND if own else code & 48))
        return run
    while made < n:                                                             # 9.3
        best, other, doubt = table.get(context, (0, 0, 0))
        token = best if flow.yes(1) else (
            token_by_number, lambda: other, lambda: follower.get(before, 0))[flow.given[0]]()
        table[context] = ((best, other, 0) if token == best else (token, best, 0)
                          if doubt or not best else (best, token, 1))
        if token != best:
            follower[before] = token
        context, before = (context << 5 ^ (token * H & M64) >> 48) & 0xffff, token
        if token == 2:                                                          # 9.6
            kind, length, up, instr, cycle, there, address = (states.number() for _ in range(7))
            ref, made, instr = ref + up, made + 1, following + signed(instr) & M64
            cycle = instr + offset + signed(cycle) & M64
            yield kind % 8, ref, instr, cycle, there, address, length, kind // 8
        elif token <= 17 and token != 1:
            steps = [signed(states.number()) if token - 2 & bit else 0 for bit in (1, 4, 8)]
            space, user = space + steps[0] & M64, user ^ token - 2 >> 1 & 1
            offset, following = offset + steps[1], following + steps[2]
        else:
            for type, d, there, address, length, flags in expand(token):
                ref, made, instr = ref + 1, made + 1, following + d
                yield type, ref, instr, instr + offset & M64, there, address & M64, length, flags
            following += tokens[token][2]
    assert made == n and not any(gaps.left for gaps in columns[:3]), "runs of other references"
    assert all(column.at == len(column.data) for column in columns), "a column is not used up"

def read_records(payload, kind, n, m, base):                                    # 4.2
    refs = list((read_runs if kind == RUNS else read_columns)(payload, n, base))
    clocks, position, done = base, 0, 0
    for _ in range(m):
        position += payload.number()
        yield from refs[done:position]
        clocks, done = refs[position - 1][1:4] if position > done else clocks, position
        up, more, drift = payload.number(), payload.number(), signed(payload.number())
        clocks = clocks[0] + up, clocks[1] + more, clocks[2] + more + drift & M64
        tag, tid, tgid, space, mask = (payload.number() for _ in range(5))
        args = [payload.number() if mask >> k & 1 else 0 for k in range(12)]
        yield None, *clocks, tag, tid, tgid, space, args, payload.take(payload.number())
    yield from refs[done:]
    payload.take(sum(0 for _ in range(8) if payload.number() < 0) + 8 * (kind == RUNS))  # 4.3, 10
    assert payload.at == len(payload.data), "a payload is too long"

def read_file(path):                                                            # section 2
    file, kind = open(path, "rb"), 0
    while (header := file.read(144)) and kind != INDEX:
        magic, _, kind, number, stored, plain, n, m, *rest = struct.unpack("<8s2H5I14Q", header)
        payload, right = file.read(stored), magic == b"\x89LPL\r\n\x1a\n"
        assert right and rest[12:] == [xxh3_64_intdigest(payload), xxh3_64_intdigest(header[:136])]
        payload = Numbers(zstandard.decompress(payload))
        if number == 0:
            sequence, last, refs, events = 0, tuple(rest[:3]), *rest[9:11]
        assert (number, len(payload.data), rest[:3]) == (sequence, plain, [*last])
        sequence, refs, events = sequence + 1, refs + n, events + m * (kind != STATE)
        assert kind != STATE or [payload.number(), n, *rest[:11]] == [0, 0, *last * 3, refs, events]
        if kind in (DATA, RUNS):
            first, base = None, last
            for record in read_records(payload, kind, n, m, base):
                first, last = first or record[1:4], record[1:4]
                yield record
            assert rest[3:11] == [*first, *last, refs, events], "clocks and counts of a chunk"
    assert kind == INDEX and not header, "no index, or something behind it"

def read_trace(path):                                                           # section 11
    with open(path, "rb") as file:
        if file.peek(1)[:1] != b"{":
            return (yield from read_file(path))
        for line in map(json.loads, file):
            if "file" in line:
                yield from read_file(os.path.join(os.path.dirname(path), line["file"]))
