# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplace compare-reclaim: what is not done of a comparison is made, and all that is done is shown."""
from __future__ import annotations

import os
import shlex

from laplace import say
from laplace.campaign.inputs import Inputs
from laplace.campaign.jobs import State
from laplace.campaign.runner import Runner, signal_name
from laplace.campaign.store import Store
from laplace.compare_reclaim import page, rows, summary
from laplace.compare_reclaim.runs import Runs
from laplace.say import DAMAGED, DONE, FAILED, Failure, wrong


def _list(runs: Runs) -> str:
    done = sum(pair.regret.is_done for pair in runs.pairs)
    lines = [f"{number} {job.identity} {job.state.value}: {job}\n" for number, job in enumerate(runs, 1)]
    return "".join(lines) + f"runs: {len(runs.pairs)}; done: {done}\n"


def _show(runs: Runs, store: Store, program: list[str], json: bool) -> int:
    table, command = rows.rows(runs, store), shlex.join(program)
    store.replace("table.csv", rows.csv(table))
    settings = summary.summaries(table)
    whole = {"program": [say.escaped(word) for word in program], "rows": table,
             "settings": [summary.as_json(setting) for setting in settings]}
    store.replace("table.json", say.json_text(whole, 1) + "\n")
    store.replace("report.html", page.page(settings, command))
    if json:
        say.put(say.json_text(whole, 2) + "\n")
    else:
        where = store.directory
        shown = say.shown(f"{where}/table.csv has all numbers, {where}/report.html shows them")
        say.put(f"{summary.text(settings)}{shown}\n")
    states = {row["state"] for row in table}
    return DAMAGED if State.DAMAGED.value in states else DONE if states == {"done"} else FAILED


def _carry_out(words: say.Options, program: list[str], runs: Runs, store: Store) -> int:
    options = dict(words)
    if "dry-run" not in options:
        runs.prepare()
    for job in runs:
        job.state = State.DONE if store.has(job.identity) else State.TO_DO
    if "dry-run" in options:
        say.put(_list(runs))
        return DONE
    progress = say.Progress(options.get("progress", "auto"))
    ended_by = Runner(runs, store, int(options["jobs"]), progress, None).run()
    if ended_by:
        done = sum(pair.regret.is_done for pair in runs.pairs)
        raise Failure(f"stopped by {signal_name(ended_by)}: {done} of {len(runs.pairs)} runs are done; run it"
                      " again for the rest")
    return _show(runs, store, program, "json" in options)


def main(words: say.Options) -> int:
    options, program = dict(words), [value for name, value in words if name == "program"]
    if os.geteuid() != 0 and "root" not in options:
        raise wrong("the settings are root's in the guest, as which the program runs only if root runs this, or"
                    " with --root")
    directory = os.path.realpath(options.get("output", os.path.basename(program[0]) + ".reclaim"))
    with Inputs(directory) as inputs:
        store = Store(directory)
        runs = Runs(words, program, inputs, store)
        if "dry-run" not in options:
            store = Store(directory, True)
        return _carry_out(words, program, runs, store)
