# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slurm: a list of jobs for each stage (traces, reductions, simulations), an array of tasks over each list,
and at the end a task that gathers.  A stage begins when the one before it is over, however that ended: a
task whose job needs what is not done says so, and the others go on.  A list names identities, and all that is
written once stays as it is, in a directory of its own: so a task never makes anything but what was meant when
it was submitted.
"""
from __future__ import annotations

import os
import subprocess

from laplace import say
from laplace.campaign.jobs import Jobs
from laplace.campaign.keys import split
from laplace.campaign.store import Store

# Slurm numbers tasks below its MaxArraySize, which is 1001 unless it was configured otherwise.
_MOST_TASKS = 1000
_STAGES = {"traces": ("run", "record"), "reductions": ("reduce",), "simulations": ("sim",)}


def _quoted(text: str) -> str:
    """For a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _own_directory(store: Store) -> str:
    """The first number that is not taken yet."""
    path = store.directory + "/slurm"
    try:
        os.makedirs(path, exist_ok=True)
        number = 1
        while True:
            try:
                path = f"{store.directory}/slurm/{number}"
                os.mkdir(path)
                return f"slurm/{number}"
            except FileExistsError:
                number += 1
    except OSError as error:
        say.fail_on(path, error)


class _Scripts:
    def __init__(self, store: Store, file: str, options: list[str], program: str):
        self._store, self._file, self._options = store, file, options
        self._command = f"{_quoted(program)} campaign -o {_quoted(store.directory)}"
        self._directory = _own_directory(store)
        self.submit = f"{store.directory}/{self._directory}/submit"

    def _write(self, name: str, text: str) -> None:
        self._store.replace(f"{self._directory}/{name}", text)

    def write_task(self) -> None:
        """What a task does; $1 is the list, $2 how many of it are other arrays'."""
        file = _quoted(self._file)
        self._write("task", f"""#!/bin/sh
set -eu
[ "$1" != gather ] || exec {self._command} --gather {file}
exec {self._command} --job "$(sed -n "$(($2 + SLURM_ARRAY_TASK_ID))p" "$1")" {file}
""")

    def _sbatch(self, name: str) -> str:
        """`sbatch ... task ARGUMENT...', whose number `id' has then."""
        return (f"id=$(sbatch --parsable --job-name=laplace-{name} ${{after:+--dependency=afterany$after}}"
                + "".join(" " + _quoted(option) for option in self._options))

    def _stage(self, name: str, count: int) -> str:
        text = "stage=\n"
        for first in range(0, count, _MOST_TASKS):
            text += (f"{self._sbatch(name)} --array=1-{min(count - first, _MOST_TASKS)}"
                     f' --output="$logs/{name}.{first}+%a.log" "$slurm/task" "$slurm/{name}" {first})\n'
                     "stage=$stage:${id%%;*}\n")
        return text + "after=$stage\n"

    def write_submit(self, jobs: Jobs) -> int:
        """How many tasks there are."""
        text = ("#!/bin/sh\n# Submits what was not done when this was written.\nset -eu\n"
                f"slurm={_quoted(self._store.directory)}/{self._directory}\n"
                # in the name of a log, sbatch replaces %j and the like
                "logs=$(printf '%s\\n' \"$slurm\" | sed 's/%/%%/g')\nafter=\n")
        tasks = 0
        for name, kinds in _STAGES.items():
            left = [job.identity for job in jobs
                    if job.kind in kinds and not self._store.has(job.identity)]
            self._write(name, "".join(identity + "\n" for identity in left))
            if left:
                text += self._stage(name, len(left))
            tasks += len(left)
        self._write("submit", text + f'{self._sbatch("gather")} --output="$logs/gather.log" "$slurm/task"'
                                     ' gather)\necho "${id%%;*}"\n')
        return tasks


def write(jobs: Jobs, store: Store, file: str, options: str, submit: bool, program: str) -> None:
    """Scripts for those of the jobs that are not done; `submit`: they are submitted.

    `options` are sbatch's.
    """
    try:
        words = split(options)
    except say.Failure as failure:
        raise say.Failure(say.USAGE, f"--slurm: {failure.text}") from None
    scripts = _Scripts(store, file, words, program)
    scripts.write_task()
    tasks = scripts.write_submit(jobs)
    if not submit:
        say.put(say.shown(f"{tasks} jobs are to be done; `sh {scripts.submit}' submits them") + "\n")
        return
    say.flush()
    if subprocess.run(["/bin/sh", scripts.submit], check=False).returncode:
        raise say.Failure(say.FAILED, f"{scripts.submit}: not all was submitted; what was, runs")
