# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slurm: a list of jobs for each stage (traces, reductions, simulations), an array of tasks over each list,
and at the end a task that gathers.  A stage begins when the one before it is over, however that ended: a task
with a job that needs what is not done says so, and the others go on.  A list names identities, and what is
written once is never changed, in a directory of its own: so a task never makes anything but what was meant
when it was submitted.
"""
from __future__ import annotations

import itertools
import os
import shlex
import subprocess

from laplace import say
from laplace.campaign.jobs import Jobs
from laplace.campaign.settings import split
from laplace.campaign.store import Store
from laplace.library import library

# Slurm numbers tasks below its MaxArraySize, which is 1001 unless it was configured otherwise.
_MOST_TASKS = 1000
_STAGES = {"traces": ("run", "record"), "reductions": ("reduce",), "simulations": ("sim", "schedule")}
# what a task does; $1 is the list, $2 how many of it are other arrays'
_TASK = """#!/bin/sh
set -eu
[ "$1" != gather ] || exec {command} --gather {file}
exec {command} --job "$(sed -n "$(($2 + SLURM_ARRAY_TASK_ID))p" "$1")" {file}
"""
# in the name of a log, sbatch replaces %j and the like
_SUBMIT = """#!/bin/sh
# Submits what was not done when this was written.
set -eu
slurm={directory}
logs=$(printf '%s\\n' "$slurm" | sed 's/%/%%/g')
after=
{stages}{gather} --output="$logs/gather.log" "$slurm/task" gather)
echo "${{id%%;*}}"
"""


def _own_directory(store: Store) -> str:
    """The first number that is not taken yet."""
    path = store.directory + "/slurm"
    with say.naming(path):
        os.makedirs(path, exist_ok=True)
        for number in itertools.count(1):
            try:
                os.mkdir(f"{path}/{number}")
                return f"slurm/{number}"
            except FileExistsError:
                pass


def _sbatch(name: str, options: list[str]) -> str:
    """`sbatch ... task ARGUMENT...'; `id' has its number then."""
    return (f"id=$(sbatch --parsable --job-name=laplace-{name} ${{after:+--dependency=afterany$after}}"
            + "".join(" " + shlex.quote(option) for option in options))


def _stage(name: str, count: int, options: list[str]) -> str:
    arrays = [f"{_sbatch(name, options)} --array=1-{min(count - first, _MOST_TASKS)}"
              f' --output="$logs/{name}.{first}+%a.log" "$slurm/task" "$slurm/{name}" {first})\n'
              "stage=$stage:${id%%;*}\n" for first in range(0, count, _MOST_TASKS)]
    return "".join(["stage=\n", *arrays, "after=$stage\n"]) if count else ""


def write(jobs: Jobs, store: Store, file: str, options: str, submit: bool) -> None:
    """Scripts for the jobs that are not done; `submit`: they are submitted.  `options` are sbatch's."""
    try:
        words = split(options)
    except say.Failure as failure:
        raise say.wrong(f"--slurm: {failure.text}") from None
    own = _own_directory(store)
    command = f"{shlex.quote(library.program)} campaign -o {shlex.quote(store.directory)}"
    store.replace(f"{own}/task", _TASK.format(command=command, file=shlex.quote(file)))
    stages, tasks = "", 0
    for name, kinds in _STAGES.items():
        left = [job.identity for job in jobs if job.kind in kinds and not job.is_done]
        store.replace(f"{own}/{name}", "".join(identity + "\n" for identity in left))
        stages += _stage(name, len(left), words)
        tasks += len(left)
    script = f"{store.directory}/{own}/submit"
    directory, gather = shlex.quote(f"{store.directory}/{own}"), _sbatch("gather", words)
    store.replace(f"{own}/submit", _SUBMIT.format(directory=directory, stages=stages, gather=gather))
    if not submit:
        say.put(say.shown(f"{tasks} jobs are to be done; `sh {script}' submits them") + "\n")
        return
    say.flush()
    if subprocess.run(["/bin/sh", script], check=False).returncode:
        raise say.Failure(f"{script}: not all was submitted; what was, runs")
