# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a study found, as text for people and as JSON."""
from __future__ import annotations

from typing import Any

from laplace.say import escaped, json_text
from laplace.study.errors import Errors
from laplace.study.model import (METHODS, POLICIES, RATIOS, SAFE_ERROR, TABLE_KS, Study, Trace, factor)

AllErrors = dict[str, dict[str, Errors]]
_WIDTH = 20     # of a name


def _name(trace: Trace) -> str:
    """Names are of files, and may hold anything."""
    start = trace.name.encode(errors="surrogateescape")[:64].decode(errors="surrogateescape")
    return f"{escaped(start):<{_WIDTH}}"


def _factor(value: float) -> str:
    return f" {value:10.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def _tables(study: Study) -> list[str]:
    lines = ["Reduction factors (table 1)",
             f"{'trace':<{_WIDTH}} {'K':>6} {'events':>12} {'pages':>8} {'SAD':>10} {'OLR':>10}"
             f" {'SD':>10}  addresses"]
    for trace in study.traces:
        for point in trace.points:
            if point.k in TABLE_KS:
                factors = "".join(_factor(factor(trace.events, point.kept[method]))
                                  for method in METHODS)
                lines.append(f"{_name(trace)} {point.k:6} {trace.events:12} {trace.pages:8}{factors}"
                             f"  {trace.addresses}")
    lines += ["", "Compression of reduced traces by zstd (table 2)",
              f"{'trace':<{_WIDTH}} {'K':>6} {'method':>6} {'references':>12} {'text/zstd':>10}"
              f" {'bytes/reference':>16}"]
    for trace in study.traces:
        for size in trace.sizes:
            lines.append(f"{_name(trace)} {size.k:6} {size.method.upper():>6} {size.references:12}"
                         f"{_factor(factor(size.text_bytes, size.zstd_bytes))}"
                         f" {factor(size.lpl_bytes, size.references):16.2f}")
    return lines


def _choices(study: Study) -> list[str]:
    lines = ["", f"Reduced about {study.factor} times", f"{'trace':<{_WIDTH}}"
             + "".join(f" {'K':>8} {method.upper():>10}" for method in METHODS)]
    for trace in study.traces:
        choices = [trace.choice[method] for method in METHODS]
        lines.append(_name(trace) + "".join(f" {choice.k:8}{_factor(factor(trace.events, choice.kept))}"
                                            for choice in choices)
                     + ("" if all(choice.reached for choice in choices) else " *"))
    if any(line.endswith(" *") for line in lines):
        lines.append("* has too few references for its pages: the nearest there is")
    return lines


def _errors_of(trace: Trace, policy: str) -> str:
    """At the memories of one trace, from the method's reduction memory on."""
    line = f"{_name(trace)} {len(trace.rows[policy]):5}"
    for method in METHODS:
        errors = [row.error(method) for row in trace.rows[policy]
                  if row.size >= trace.choice[method].k]
        total = 0.0
        for error in errors:        # one by one, as sum() may round otherwise
            total += error
        line += (f" {total / len(errors):9.3f} {max(errors):9.3f}" if errors
                 else f" {'-':>9} {'-':>9}")
    return line


def _figure(study: Study, policy: str, errors: dict[str, Errors]) -> list[str]:
    number = 3 + POLICIES.index(policy)
    lines = ["", f"{policy.upper()}: error in faults from K on, % (figure {number})",
             f"{'trace':<{_WIDTH}} sizes"
             + "".join(f" {method.upper():>4} mean {'maximum':>9}" for method in METHODS)]
    lines += [_errors_of(trace, policy) for trace in study.traces]
    lines += ["", f"{policy.upper()}: error in faults by simulated to reduction memory, %"
                  f" (figure {number + 2})",
              "ratio" + "".join(f" {'samples':>8} {method.upper():>6} {'maximum':>9}"
                                for method in METHODS)]
    for ratio in range(1, RATIOS + 1):
        line = f"{ratio:5}"
        for method in METHODS:
            each = errors[method].bins.get(ratio)
            line += (f" {each.samples:8} {each.median:6.3f} {each.maximum:9.3f}" if each
                     else f" {0:8} {'-':>6} {'-':>9}")
        lines.append(line)
    return lines


def text(study: Study, errors: AllErrors) -> str:
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
    def rows(policy: str) -> list[dict[str, Any]]:
        return [{"size": row.size, "faults": row.faults,
                 **{method: {"faults": row.reduced[method], "error": row.error(method)}
                    for method in METHODS}} for row in trace.rows[policy]]
    return {
        "trace": escaped(trace.name), "addresses": trace.addresses, "events": trace.events,
        "pages": trace.pages, "damaged": trace.damaged,
        "factors": [{"k": point.k, **{method: factor(trace.events, point.kept[method])
                                      for method in METHODS}} for point in trace.points],
        "compression": [vars(size) for size in trace.sizes],
        "choice": {method: {"k": choice.k, "references": choice.kept,
                            "factor": factor(trace.events, choice.kept), "reached": choice.reached}
                   for method, choice in ((method, trace.choice[method]) for method in METHODS)},
        "clock": rows("clock"), "fifo": trace.fifo, "segq": rows("segq")}


def _policy(errors: dict[str, Errors]) -> dict[str, Any]:
    return {method: {"ratios": [{"ratio": ratio, **vars(each)} for ratio, each in found.bins.items()],
                     "samples": found.samples, "safe": found.within, "safe_ratio": found.safe_ratio}
            for method, found in errors.items()}


def json(study: Study, errors: AllErrors) -> str:
    return json_text({"factor": study.factor, "traces": [_trace(trace) for trace in study.traces],
                      "errors": {policy: _policy(errors[policy]) for policy in POLICIES}}, 2) + "\n"
