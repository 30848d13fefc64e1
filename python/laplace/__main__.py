# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carry out a subcommand: __main__.py NAME LAPLACE VERSION [KEY=VALUE...].

The command, LAPLACE, has read its options and hands them on as KEY=VALUE, each of them checked.
"""
import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    from laplace import say
    from laplace.command import Command
    from laplace.library import library
    name, program, version, *words = sys.argv[1:]
    library.program = program
    say.run(name, importlib.import_module(f"laplace.{name}.main").main,
            Command(program, version, words))
