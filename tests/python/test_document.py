# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_document: all that docs/python.md shows is run, in its order, on a gzip.lpl that is here.

The one-liners have to print the number of pages that `laplace cat' shows.  DuckDB and R are
tried where they are there, and so is the example; what is not tried is said.  Environment:
LAPLACE.
"""
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
untried = []


def pages():
    cat = subprocess.run([os.environ["LAPLACE"], "cat", "-f", "raw", "gzip.lpl"], check=True,
                         stdout=subprocess.PIPE, encoding="ascii")
    return len({int(line.split()[4], 16) >> 12 for line in cat.stdout.splitlines()})


def run(*command):
    """What it prints; a failure ends the test."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def run_python(text, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "docs/python.md", "exec"), names)
    return printed.getvalue()


def run_sql(text):
    if importlib.util.find_spec("duckdb"):
        import duckdb
        return str(duckdb.sql(text).fetchone()[0])
    if shutil.which("duckdb"):
        return run("duckdb", "-noheader", "-list", "-c", text)
    untried.append("DuckDB")
    return None


def run_block(language, text, names):
    if language == "python":
        return run_python(text, names)
    if language == "sql":
        return run_sql(text)
    if language == "r":
        if shutil.which("Rscript"):
            return run("Rscript", "-e", text)
        untried.append("R")
        return None
    if "matplotlib" in text or "curves.py" in text:
        if not importlib.util.find_spec("matplotlib"):
            untried.append("matplotlib")
            return None
        text = text.replace("python3 examples", f"'{sys.executable}' '{TOP}/examples'")
    return run("sh", "-euc", text)


def main():
    with open(os.path.join(TOP, "docs/python.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w+)( one-liner)?\n(.*?)^```$", file.read(), re.M | re.S)
    expected, names, counted = pages(), {}, 0
    assert expected > 10, "too few pages to see a difference"
    os.environ["PATH"] = os.path.dirname(os.environ["LAPLACE"]) + ":" + os.environ["PATH"]
    for language, is_one_liner, text in blocks:
        printed = run_block(language, text, names)
        if is_one_liner and printed is not None:
            assert printed.strip() == str(expected), f"{printed!r} and not {expected}:\n{text}"
            counted += 1
        elif language == "python" or language == "r":
            assert printed is None or printed.strip(), f"prints nothing:\n{text}"
    assert counted >= 3, "too few one-liners"
    if "matplotlib" not in untried:
        with open("curves.png", "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n" and os.path.getsize("curves.png") > 10000
    for name in sorted(set(untried)):
        print(f"untried: {name} is not there")
    print(f"{len(blocks) - len(untried)} of {len(blocks)} examples of docs/python.md did what they "
          "say")


main()
