# SPDX-License-Identifier: LGPL-2.1-or-later
"""How wrong the faults of a reduced trace are, over all traces, by how many times larger than the reduction
memory the simulated one is: figures 5 and 6.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator

from laplace.study.model import METHODS, POLICIES, RATIOS, SAFE_ERROR, Study

_LEAST_FAULTS = 100     # of the original, for a size to count


@dataclass
class Bin:
    """Errors where a memory is so many times the reduction memory, in percent."""

    samples: int
    median: float
    maximum: float


@dataclass
class Errors:
    """Of one policy and method."""

    bins: dict[int, Bin] = field(default_factory=dict)  # by ratio, where there are samples
    safe_ratio: int | None = None   # from here on no error is above SAFE_ERROR
    samples: int = 0
    within: int = 0                 # those not above it


def _gather(study: Study, policy: str, method: str) -> Iterator[tuple[int, float]]:
    """Ratios, rounded, halves up, and errors."""
    for trace in study.traces:
        k = trace.choice[method].k
        for row in trace.rows[policy]:
            # below K nothing is promised; a few faults are no measure
            if row.size >= k and row.faults >= _LEAST_FAULTS:
                yield (2 * row.size + k) // (2 * k), row.error(method)


def _describe(errors: list[float]) -> Bin:
    errors.sort()
    count = len(errors)
    return Bin(count, (errors[(count - 1) // 2] + errors[count // 2]) / 2, errors[-1])


def _sum_up(study: Study, policy: str, method: str) -> Errors:
    result, by_ratio = Errors(), {}
    for ratio, error in _gather(study, policy, method):
        result.samples += 1
        result.within += error <= SAFE_ERROR
        by_ratio.setdefault(ratio, []).append(error)
    result.bins = {ratio: _describe(by_ratio[ratio]) for ratio in sorted(by_ratio)
                   if 1 <= ratio <= RATIOS}
    # nothing at all is no proof
    for ratio in reversed(result.bins):
        if result.bins[ratio].maximum > SAFE_ERROR:
            break
        result.safe_ratio = ratio
    return result


def sum_up(study: Study) -> dict[str, dict[str, Errors]]:
    """By policy and method."""
    return {policy: {method: _sum_up(study, policy, method) for method in METHODS}
            for policy in POLICIES}
