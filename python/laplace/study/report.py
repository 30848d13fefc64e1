# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a study found: as text for people, as JSON, and as CSV, a file for each table and figure."""
from __future__ import annotations

from typing import Any

from laplace.say import escaped, json_text
from laplace.study.model import METHODS, POLICIES, RATIOS, SAFE_ERROR, TABLE_KS, Errors, Study, Trace, ratio

_AllErrors = dict[str, dict[str, Errors]]
_WIDTH = 20     # of a name

_FAULTS = "size,faults,sad_faults,sad_error,olr_faults,olr_error,sd_faults,sd_error,addresses"
HEADINGS = {
    "table1.csv": "trace,k,events,sad,olr,sd,addresses",
    "table2.csv": "trace,k,method,references,text_bytes,zstd_bytes,ratio,lpl_bytes,lpl_bytes_per_reference,"
                  "addresses",
    "figure2.csv": "trace,k,sad,olr,sd,addresses",
    "choice.csv": "trace,events,pages,method,k,references,factor,reached,addresses",
    "figure3.csv": f"trace,{_FAULTS}",
    "figure4.csv": f"trace,fifo,{_FAULTS}",
    "figure5.csv": "method,ratio,samples,median,maximum",
    "figure6.csv": "method,ratio,samples,median,maximum",
}


# ---- text ----

def _name(trace: Trace) -> str:
    """Names are of files, and may hold anything."""
    start = trace.name.encode(errors="surrogateescape")[:64].decode(errors="surrogateescape")
    return f"{escaped(start):<{_WIDTH}}"


def _factor(value: float) -> str:
    return f" {value:10.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def _tables(study: Study) -> list[str]:
    lines = ["Reduction factors (table 1)",
             f"{'trace':<{_WIDTH}} {'K':>6} {'events':>12} {'pages':>8} {'SAD':>10} {'OLR':>10} {'SD':>10}"
             "  addresses"]
    for trace in study.traces:
        for k in TABLE_KS:
            factors = "".join(_factor(trace.factor(trace.points[k][method])) for method in METHODS)
            lines.append(f"{_name(trace)} {k:6} {trace.events:12} {trace.pages:8}{factors}"
                         f"  {trace.addresses}")
    lines += ["", "Compression of reduced traces by zstd (table 2)",
              f"{'trace':<{_WIDTH}} {'K':>6} {'method':>6} {'references':>12} {'text/zstd':>10}"
              f" {'bytes/reference':>16}"]
    for trace in study.traces:
        lines += [f"{_name(trace)} {size.k:6} {size.method.upper():>6} {size.references:12}"
                  f"{_factor(ratio(size.text_bytes, size.zstd_bytes))}"
                  f" {ratio(size.lpl_bytes, size.references):16.2f}" for size in trace.sizes]
    return lines


def _choices(study: Study) -> list[str]:
    lines = ["", f"Reduced about {study.factor} times", f"{'trace':<{_WIDTH}}"
             + "".join(f" {'K':>8} {method.upper():>10}" for method in METHODS)]
    for trace in study.traces:
        choices = [trace.choice[method] for method in METHODS]
        cells = [f" {choice.k:8}{_factor(trace.factor(choice.kept))}" for choice in choices]
        reached = all(choice.reached for choice in choices)
        lines.append("".join([_name(trace), *cells, "" if reached else " *"]))
    if any(line.endswith(" *") for line in lines):
        lines.append("* has too few references for its pages: the nearest there is")
    return lines


def _errors_of(trace: Trace, policy: str) -> str:
    """At the memories of one trace, from the method's reduction memory on."""
    line = f"{_name(trace)} {len(trace.rows[policy]):5}"
    for method in METHODS:
        errors = [row.error(method) for row in trace.rows[policy] if row.size >= trace.choice[method].k]
        total = 0.0
        for error in errors:        # one by one, as sum() may round otherwise
            total += error
        line += f" {total / len(errors):9.3f} {max(errors):9.3f}" if errors else f" {'-':>9} {'-':>9}"
    return line


def _figure(study: Study, policy: str, errors: dict[str, Errors]) -> list[str]:
    number, title = 3 + POLICIES.index(policy), policy.upper()
    lines = ["", f"{title}: error in faults from K on, % (figure {number})",
             f"{'trace':<{_WIDTH}} sizes"
             + "".join(f" {method.upper():>4} mean {'maximum':>9}" for method in METHODS),
             *(_errors_of(trace, policy) for trace in study.traces),
             "", f"{title}: error in faults by simulated to reduction memory, % (figure {number + 2})",
             "ratio" + "".join(f" {'samples':>8} {method.upper():>6} {'maximum':>9}" for method in METHODS)]
    for times in range(1, RATIOS + 1):
        bins = [errors[method].bins.get(times) for method in METHODS]
        cells = [f" {each.samples:8} {each.median:6.3f} {each.maximum:9.3f}" if each
                 else f" {0:8} {'-':>6} {'-':>9}" for each in bins]
        lines.append("".join([f"{times:5}", *cells]))
    return lines


def text(study: Study, errors: _AllErrors) -> str:
    lines = _tables(study) + _choices(study)
    for policy in POLICIES:
        lines += _figure(study, policy, errors[policy])
    lines += ["", f"Memories from K on with an error of at most {SAFE_ERROR:g} %"]
    lines += [f"{policy.upper():<6}" + "".join(f"  {method.upper()} {each.within} of {each.samples}"
                                               for method, each in errors[policy].items())
              for policy in POLICIES]
    lines += ["", f"The smallest ratio from which on no error is above {SAFE_ERROR:g} %"]
    lines += [f"{policy.upper():<6}" + "".join(
        f"  {method.upper()} {f'{each.safe_ratio}:1' if each.safe_ratio else 'none'}"
        for method, each in errors[policy].items()) for policy in POLICIES]
    return "\n".join(lines) + "\n"


# ---- JSON ----

def _trace(trace: Trace) -> dict[str, Any]:
    rows = {policy: [{"size": row.size, "faults": row.faults,
                      **{method: {"faults": row.reduced[method], "error": row.error(method)}
                         for method in METHODS}} for row in trace.rows[policy]] for policy in POLICIES}
    return {
        "trace": escaped(trace.name), "addresses": trace.addresses, "events": trace.events,
        "pages": trace.pages, "damaged": trace.damaged,
        "factors": [{"k": k, **{method: trace.factor(kept[method]) for method in METHODS}}
                    for k, kept in trace.points.items()],
        "compression": [size._asdict() for size in trace.sizes],
        "choice": {method: {"k": choice.k, "references": choice.kept, "factor": trace.factor(choice.kept),
                            "reached": choice.reached} for method, choice in trace.choice.items()},
        "clock": rows["clock"], "fifo": trace.fifo, "segq": rows["segq"]}


def _policy(errors: dict[str, Errors]) -> dict[str, Any]:
    return {method: {"ratios": [{"ratio": times, **each._asdict()} for times, each in found.bins.items()],
                     "samples": found.samples, "safe": found.within, "safe_ratio": found.safe_ratio}
            for method, found in errors.items()}


def json(study: Study, errors: _AllErrors) -> str:
    return json_text({"factor": study.factor, "traces": [_trace(trace) for trace in study.traces],
                      "errors": {policy: _policy(errors[policy]) for policy in POLICIES}}, 2) + "\n"


# ---- CSV ----

def csv(study: Study, errors: _AllErrors) -> dict[str, str]:
    """By the names of files."""
    lines = {name: [heading] for name, heading in HEADINGS.items()}

    def put(table: str, *cells: object) -> None:
        lines[table + ".csv"].append(",".join(f"{cell:.4f}" if isinstance(cell, float) else str(cell)
                                              for cell in cells))

    for trace in study.traces:
        name, where = trace.name, trace.addresses
        if any(letter in name for letter in ',"\r\n'):
            name = '"' + name.replace('"', '""') + '"'
        for k, kept in trace.points.items():
            factors = [trace.factor(kept[method]) for method in METHODS]
            put("figure2", name, k, *factors, where)
            if k in TABLE_KS:
                put("table1", name, k, trace.events, *factors, where)
        for size in trace.sizes:
            put("table2", name, size.k, size.method, size.references, size.text_bytes, size.zstd_bytes,
                ratio(size.text_bytes, size.zstd_bytes), size.lpl_bytes,
                ratio(size.lpl_bytes, size.references), where)
        for method, choice in trace.choice.items():
            put("choice", name, trace.events, trace.pages, method, choice.k, choice.kept,
                trace.factor(choice.kept), "yes" if choice.reached else "no", where)
        for table, policy, before in (("figure3", "clock", []), ("figure4", "segq", [trace.fifo])):
            for row in trace.rows[policy]:
                reduced = [cell for method in METHODS for cell in (row.reduced[method], row.error(method))]
                put(table, name, *before, row.size, row.faults, *reduced, where)
    for table, policy in (("figure5", "clock"), ("figure6", "segq")):
        for method, found in errors[policy].items():
            for times, each in found.bins.items():
                put(table, method, times, *each)
    return {name: "\n".join(some) + "\n" for name, some in lines.items()}
