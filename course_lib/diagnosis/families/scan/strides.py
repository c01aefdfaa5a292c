"""Running sums by strides that double (Hillis and Steele), with a slip: a stride, test or lane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.families.scan.tree import by_tree_with_slip
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.problems.scan import RUN, STRIDES, WARP, Array, by_run, run_sums
from course_lib.sentences import say


@dataclass(frozen=True)
class Steps:
    """A scan that adds, stride by stride, the element `stride` places before; and its slips.

    Attributes:
        strides: one for each step.
        guard: thread t takes part if t >= stride + guard.
        shift: the element that is added lies stride - shift places before.
        sign: of what is added.
        keeps: what a thread has is kept, and not replaced by what should be added to it.
        doubles: a thread that takes no part adds its own element.
        ahead: the element that is added lies stride places after; beyond the end, it is the own.
        above_zero: only what is above zero is added.
        run: how many threads work together.
    """

    strides: Sequence[int] = STRIDES
    guard: int = 0
    shift: int = 0
    sign: int = 1
    keeps: bool = True
    doubles: bool = False
    ahead: bool = False
    above_zero: bool = False
    run: int = RUN

    def of(self, x: Array) -> Array:
        """The result, in the type of x: with float32 also the rounding is the kernel's."""
        rows = by_run(x, self.run)
        t = np.arange(self.run)
        for stride in self.strides:
            source = t - stride + self.shift
            if self.ahead:
                source = np.where(t + stride < self.run, t + stride, t)
            adds = (t >= stride + self.guard) & (source >= 0) & (source < self.run)
            partner = rows[:, np.clip(source, 0, self.run - 1)] * x.dtype.type(self.sign)
            if self.above_zero:
                partner = np.maximum(partner, x.dtype.type(0))
            added = np.where(adds, partner, rows if self.doubles else x.dtype.type(0))
            rows = rows + added if self.keeps else added
        return rows.reshape(-1)[: len(x)]


def other_strides(outcome: Outcome) -> Iterator[Hypothesis]:
    """Strides that are wrong, a test or an index beside them that is off by one."""
    x = outcome.A
    hint = "Write down the strides. How many elements does y[63] sum after each of them?"
    for message, strides in _wrong_strides():
        values, ends = Steps(strides).of(x), strides if strides == STRIDES[: len(strides)] else ()
        yield Hypothesis(values, "wrong-loop-bound", message, hint, ("stride",), ends)
    for message, strides in _strides_that_grow_otherwise():
        place = ("stride", "change")
        yield Hypothesis(Steps(strides).of(x), "wrong-loop-bound", message, hint, place)
    text = "Every sum but the first of a run lacks the first element of the run."
    hint = "Which is the first thread that has an element `stride` places before its own?"
    yield Hypothesis(Steps(guard=1).of(x), "wrong-bounds-check", text, hint, ("adds",))
    hint = "Which cell does thread 5 read when the stride is 2?"
    for shift, guards in ((1, (0, 1)), (-1, (0, 1, -1))):
        text = say(
            "The element that is added lies stride {sign} 1 places before.",
            sign="-" if shift > 0 else "+",
        )
        for guard in guards:
            values = Steps(guard=guard, shift=shift).of(x)
            yield Hypothesis(values, "wrong-index", text, hint, ("adds", "read"))
    hint = "How are two elements combined?"
    text = "What should be added is subtracted."
    yield Hypothesis(Steps(sign=-1).of(x), "wrong-formula", text, hint, ("adds", "how"))
    text = "Each step replaces the sum, instead of adding to it."
    yield Hypothesis(Steps(keeps=False).of(x), "accumulator-error", text, hint, ("adds", "how"))
    text = "Only what is above zero is added."
    hint = "What does this line make of a number below zero?"
    for values in (Steps(above_zero=True).of(x), run_sums(np.maximum(x, 0))):
        yield Hypothesis(values, "wrong-formula", text, hint, ("zero", "A"))
    yield from _by_warps_with_slip(x)
    yield from _within_warps(x)
    yield from by_tree_with_slip(x)


def _by_warps_with_slip(x: Array) -> Iterator[Hypothesis]:
    """Slips of a scan by shuffles, which puts the sums of two warps together."""
    text = "The second warp adds its own sum once more, and not that of the first warp."
    hint = "Which cell holds the sum of the first warp?"
    place = ("adds", "last")
    yield Hypothesis(_own_total_twice(x), "accumulator-error", text, hint, place)
    text = (
        "The second warp adds its own sums once more: a shuffle by 32 reaches no lane of another "
        "warp, and gives back a lane's own number."
    )
    across = "Which lanes does a shuffle reach, and how does the second warp learn of the first?"
    for doubles in (False, True):
        values = _shuffled_across(x, doubles)
        yield Hypothesis(values, "wrong-index", text, across, ("adds", "shuffle"))
    text = "A lane without a partner adds its own number: that is what a shuffle gives it."
    hint = "What does the shuffle return in lane 0, where there is no lane before?"
    yield Hypothesis(_without_lane_test(x), "missing-mask", text, hint, ("adds", "how"))


def _within_warps(x: Array) -> Iterator[Hypothesis]:
    """Slips of the scan within a warp, and of the sum that the second warp gets."""
    hint = "Write down the strides. How many elements does lane 31 sum after each of them?"
    strides = STRIDES[:-1]
    for count in range(1, len(strides)):
        text: str = say(
            "Within a warp the last stride is {last}, so a lane sums at most {lanes} elements; 32 "
            "lanes need strides up to 16.",
            last=strides[count - 1],
            lanes=1 << count,
        )
        values = _two_warps(x, Steps(strides[:count], run=WARP))
        yield Hypothesis(values, "wrong-loop-bound", text, hint, ("stride",))
        text = say("Within a warp the strides start at {next}, and not at 1.", next=strides[count])
        values = _two_warps(x, Steps(strides[count:], run=WARP))
        yield Hypothesis(values, "wrong-loop-bound", text, hint, ("stride",))
    for text, others in _strides_that_grow_otherwise():
        if max(others) < WARP:
            values = _two_warps(x, Steps(others, run=WARP))
            yield Hypothesis(values, "wrong-loop-bound", text, hint, ("stride", "change"))
    text = "What should be added within a warp is subtracted."
    values = _two_warps(x, Steps(strides, sign=-1, run=WARP))
    how = "How are two elements combined?"
    yield Hypothesis(values, "wrong-formula", text, how, ("adds", "how"))
    text = "Within a warp every sum but the first lacks the first element."
    hint = "Which is the first lane that has an element `stride` places before its own?"
    values = _two_warps(x, Steps(strides, guard=1, run=WARP))
    yield Hypothesis(values, "wrong-bounds-check", text, hint, ("adds",))
    text = "A lane adds the number of the lane `stride` places after it, and not before it."
    hint = "From which lane does this shuffle take its number?"
    values = _two_warps(x, Steps(strides, ahead=True, run=WARP))
    yield Hypothesis(values, "wrong-index", text, hint, ("adds", "shuffle"))
    for lane in range(WARP - 1):
        text = say(
            "The second warp adds the sum that lane {lane} of the first warp has.", lane=lane
        )
        hint = "Which lane has the sum of the whole warp?"
        values = _two_warps(x, Steps(strides, run=WARP), lane)
        yield Hypothesis(values, "wrong-index", text, hint, ("adds", "total"))


def _two_warps(x: Array, steps: Steps, lane: int = WARP - 1) -> Array:
    """A scan within each warp; the second one adds the sum that a lane of the first one has."""
    warps = by_run(steps.of(by_run(x).reshape(-1)), WARP)
    warps[1::2] += warps[::2, lane : lane + 1]
    return warps.reshape(-1)[: len(x)]


def _without_lane_test(x: Array) -> Array:
    """A scan by shuffles in which all lanes add, whether they have a partner or not."""
    return _two_warps(x, Steps(STRIDES[:-1], doubles=True, run=WARP))


def _shuffled_across(x: Array, doubles: bool) -> Array:
    """A scan by shuffles with a last stride of 32; `doubles`: in the second warp all lanes add."""
    padded = by_run(x).reshape(-1)
    warps = by_run(Steps(STRIDES[:-1], run=WARP).of(padded), WARP)
    second = by_run(Steps(STRIDES[:-1], doubles=doubles, run=WARP).of(padded), WARP)
    warps[1::2] = 2 * second[1::2]
    return warps.reshape(-1)[: len(x)]


def _own_total_twice(x: Array) -> Array:
    """A scan of each warp, with the warp's own sum added in the second one."""
    warps = by_run(run_sums(by_run(x).reshape(-1), WARP), WARP)
    warps[1::2] += warps[1::2, -1:]
    return warps.reshape(-1)[: len(x)]


def _wrong_strides() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Wrong series of strides, with what to say about them."""
    for count in range(1, 6):
        yield (
            say(
                "The last stride is {stride}, so y[i] sums at most {lanes} elements; a run of 64 "
                "needs strides up to 32.",
                stride=STRIDES[count - 1],
                lanes=1 << count,
            ),
            STRIDES[:count],
        )
        first = STRIDES[count]
        missing = "1" if count == 1 else f"1 to {STRIDES[count - 1]}"
        yield (
            say(
                "The strides start at {first}: those of {missing} are missing.",
                first=first,
                missing=missing,
            ),
            STRIDES[count:],
        )
    for times in range(2, RUN):
        yield say("The stride stays 1 in all {times} steps.", times=times), (1,) * times


def _strides_that_grow_otherwise() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Series of strides that do not double, with what to say about them."""
    grows = "The strides have to double, so that each one continues where the sums end"
    for last in range(3, RUN):
        yield (
            say("{grows}; here they are 1, 2, 3, … {last}.", grows=grows, last=last),
            tuple(range(1, last + 1)),
        )
        yield (
            say("{grows}; here they are 1, 3, 5, … {last}.", grows=grows, last=last),
            tuple(range(1, last + 1, 2)),
        )
        yield (
            say("{grows}; here they are 2, 4, 6, … {last}.", grows=grows, last=last),
            tuple(range(2, last + 1, 2)),
        )
        yield (
            say("{grows}; here they are 0, 1, 2, … {last}.", grows=grows, last=last),
            tuple(range(last + 1)),
        )
    for last in range(4, RUN, 2):
        yield (
            say("{grows}; here they are 0, 2, 4, … {last}.", grows=grows, last=last),
            tuple(range(0, last + 1, 2)),
        )
    squares = ((0, 1, 4, 9, 16, 25), (1, 4, 9, 16, 25, 36))
    for series in (*squares, (1, 3, 9, 27), (1, 4, 16), (1, 8), (1, 2, 4, 16), (2, 4, 16)):
        yield (
            say(
                "{grows}; here they are {strides}.",
                grows=grows,
                strides=", ".join(map(str, series)),
            ),
            series,
        )
