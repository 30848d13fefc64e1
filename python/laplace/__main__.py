# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carry out a subcommand: __main__.py NAME LAPLACE VERSION [KEY=VALUE...].

The command, LAPLACE, has read its options and hands them on as KEY=VALUE, each of them checked; of a key that
is there more than once the last one counts.
"""
import importlib
import os
import sys


def _fill_descriptors() -> None:
    """What is opened is never standard output, which may be closed: writing there fails as it did."""
    while (descriptor := os.open("/dev/null", os.O_RDONLY)) <= 2:
        pass
    os.close(descriptor)


if __name__ == "__main__":
    _fill_descriptors()
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    from laplace import say
    from laplace.library import library
    name, library.program, say.version, *words = sys.argv[1:]
    options = [tuple(word.split("=", 1)) for word in words]
    say.run(name, importlib.import_module(f"laplace.{name}.main").main, options)
