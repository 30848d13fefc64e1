# SPDX-License-Identifier: LGPL-2.1-or-later
"""imports.py PYTHON ARGUMENT...: the files of the modules that a Python program imports.

PYTHON is the interpreter as it is called, ARGUMENT... what it gets: a script, -m MODULE or -c COMMAND.
Prints paths, each with a null byte after it: modules that are not of the interpreter's own library, and
the packages that they are in.  Run by the system's interpreter (python3 -I -S) for `needs'.

Nothing of the program is run, nor of what it imports, nor of what is to be done when an interpreter
starts (.pth files, sitecustomize): sources are parsed, and what they import is looked for where that
interpreter would look.  So an import by a name that is computed is not seen.
"""
import ast
import os
import sys
from importlib.machinery import PathFinder

LIBRARY = [os.path.realpath(path) for path in sys.path if path]


def site_directories(python):
    """Where the interpreter that is called so has modules of others; a virtual environment has its own."""
    version = "python%d.%d" % sys.version_info[:2]
    system = ["/usr/local/lib/%s/dist-packages" % version, "/usr/lib/python3/dist-packages"]
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(python)))
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as config:
            lines = dict(line.replace(" ", "").strip().split("=", 1) for line in config if "=" in line)
    except (OSError, ValueError):
        return [os.path.expanduser("~/.local/lib/%s/site-packages" % version)] + system
    own = [os.path.join(prefix, "lib", version, "site-packages")]
    return own + (system if lines.get("include-system-site-packages") == "true" else [])


def named_by_pth(directory):
    """The directories that the .pth files of one name; lines that are code are not obeyed."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".pth"))
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(directory, name), encoding="utf-8") as lines:
                for line in lines:
                    path = os.path.join(directory, line.strip())
                    if line.strip() and not line.startswith(("#", "import ", "import\t")) and os.path.isdir(path):
                        yield path
        except (OSError, ValueError):
            pass


class Imports:
    """Modules by name: where those below them are looked for; None: there is none of this name."""

    def __init__(self, path):
        self.path = path
        self.places = {}
        self.files = []
        self.unread = []

    def is_library(self, file):
        real = os.path.realpath(file)
        return any(real.startswith(path + os.sep) for path in LIBRARY) and "-packages" + os.sep not in real

    def look_for(self, name):
        """Find a module and the packages that it is in."""
        if name in self.places:
            return self.places[name]
        parent, _, _ = name.rpartition(".")
        path = self.look_for(parent) if parent else self.path
        self.places[name] = None
        if path is None:
            return None
        try:
            spec = PathFinder.find_spec(name, path)
        except (ImportError, ValueError, OSError):
            spec = None
        if spec is None:
            return None
        places = spec.submodule_search_locations
        self.places[name] = list(places) if places is not None else []
        if spec.has_location and spec.origin and not self.is_library(spec.origin):
            self.files.append(spec.origin)
            if spec.origin.endswith(".py"):
                self.unread.append((name, places is not None, spec.origin))
        return self.places[name]

    def imported(self, package, names, level):
        """`package` is that of the module which imports; `names` is what follows `import`."""
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        for base, members in names:
            whole = ".".join(part for part in (package if level else "", base) if part)
            if whole:
                self.look_for(whole)
            for member in members:
                if whole and member != "*":
                    self.look_for(whole + "." + member)

    def read(self, source, package):
        for node in ast.walk(source):
            if isinstance(node, ast.Import):
                self.imported(package, [(alias.name, ()) for alias in node.names], 0)
            elif isinstance(node, ast.ImportFrom):
                members = [alias.name for alias in node.names]
                self.imported(package, [(node.module or "", members)], node.level)
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "id", getattr(node.func, "attr", None))
                if called in ("__import__", "import_module") and isinstance(node.args[0].value, str):
                    self.look_for(node.args[0].value.strip("."))

    def read_text(self, text, package):
        try:
            self.read(ast.parse(text), package)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass        # nor could it be imported

    def read_file(self, file, package):
        try:
            with open(file, "rb") as source:
                self.read_text(source.read(), package)
        except OSError:
            pass

    def follow(self):
        while self.unread:
            name, is_package, file = self.unread.pop()
            self.read_file(file, name if is_package else name.rpartition(".")[0])


def what_is_run(arguments):
    """("-c", COMMAND), ("-m", MODULE) or ("", SCRIPT); None: it is typed in."""
    arguments = list(arguments)
    while arguments:
        word = arguments.pop(0)
        if word == "--":
            return ("", arguments[0]) if arguments else None
        if not word.startswith("-"):
            return ("", word)
        if word.startswith("--"):
            if word == "--check-hash-based-pycs" and arguments:
                arguments.pop(0)
            continue
        for index, letter in enumerate(word[1:], 2):
            if letter in "cm":
                rest = word[index:] or (arguments[0] if arguments else "")
                return ("-" + letter, rest)
            if letter in "WX":
                if not word[index:] and arguments:
                    arguments.pop(0)
                break
    return None


def main():
    python, arguments = sys.argv[1], sys.argv[2:]
    run = what_is_run(arguments)
    if run is None:
        return
    kind, what = run
    path = [os.path.dirname(os.path.realpath(what)) if not kind else os.getcwd()]
    path += [place for place in os.environ.get("PYTHONPATH", "").split(":") if place] + LIBRARY
    sites = site_directories(python)
    for site in sites:
        path += [site, *named_by_pth(site)]
    imports = Imports(path)
    if kind == "-c":
        imports.read_text(what, "")
    elif kind == "-m":
        imports.look_for(what)
        imports.look_for(what + ".__main__")
    elif os.path.isdir(what):
        imports.path.insert(0, what)
        imports.look_for("__main__")
    else:
        imports.read_file(what, "")
    for start in ("sitecustomize", "usercustomize"):
        imports.look_for(start)
    imports.follow()
    for file in imports.files:
        sys.stdout.buffer.write(os.fsencode(os.path.abspath(file)) + b"\0")


main()
