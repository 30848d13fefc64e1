# SPDX-License-Identifier: LGPL-2.1-or-later
"""compare_walks TRACE...: `laplace cat --walks` says of each reference to a page table what second_walks.py
says.  Environment: LAPLACE.
"""
import os
import subprocess
import sys

import second_reader
import second_walks

for trace in sys.argv[1:]:
    expected = [f"{ref},{'rwipq'[type]},{address:x},{table or ''},{large:d},{purpose},{accessed:d},{dirty:d}"
                for type, ref, address, table, large, purpose, accessed, dirty
                in second_walks.found(second_reader.read_trace(trace))]
    printed = subprocess.run([os.environ["LAPLACE"], "cat", "--walks", trace], stdout=subprocess.PIPE,
                             encoding="ascii", check=True)
    rows = [line.split(",") for line in printed.stdout.splitlines()[1:]]
    got = [",".join(row[:1] + row[2:]) for row in rows]     # without the cycle
    assert len(got) > 20, f"{trace} has hardly a walk"
    for one, other in zip(got, expected, strict=True):
        assert one == other, f"{trace}: {one} for cat, and {other} by format.md"
    print(f"{trace}: {len(got)} references to page tables are the same")
