"""Wrong running sums: what they add up instead, and which step of the scan that betrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.families.index_search import Slip
from course_lib.diagnosis.families.product import (
    added_to_old,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
    whole_numbers,
    zero,
)
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.sentences import say

Array = np.ndarray
RUN = 64  # elements after which the sums start again
WARP = 32
STRIDES = (1, 2, 4, 8, 16, 32)


def by_run(x: Array, run: int = RUN) -> Array:
    """x with one run in each row; the last one is filled up with zeros."""
    rows = -(-len(x) // run)
    filled: Array = np.concatenate([x, np.zeros(rows * run - len(x), x.dtype)])
    return filled.reshape(rows, run)


def run_sums(x: Array, run: int = RUN) -> Array:
    """The inclusive sums, which start again with every run."""
    return np.cumsum(by_run(x, run), axis=1).reshape(-1)[: len(x)]


def diagnose_scan(outcome: Outcome) -> Slip | None:
    """The slip that explains wrong running sums, or None."""
    tests = (
        not_written,
        added_to_old,
        zero,
        other_scan,
        other_strides,
        other_elements,
        whole_numbers,
        shifted_or_scaled,
        not_finite,
        from_where_on,
    )
    return first_slip(tests, outcome)


@dataclass(frozen=True)
class Candidate:
    """Something that a wrong kernel may compute."""

    values: Array
    code: str
    message: str
    hint: str
    place: tuple[str, ...]
    strides: tuple[int, ...] = ()  # see Slip.steps


def other_scan(outcome: Outcome) -> Slip | None:
    """Another sum, or no sum."""
    return _match(outcome, _other_scans(outcome.A.astype(np.float64)))


def _match(outcome: Outcome, candidates: Iterator[Candidate]) -> Slip | None:
    """The first candidate that gives the numbers that came out."""
    for each in candidates:
        if outcome.matches(each.values):
            return Slip(each.code, each.message, each.hint, each.place, each.strides)
    return None


def _other_scans(x: Array) -> Iterator[Candidate]:
    """What goes by the name of scan, too, and what else can be made of a run."""
    yield from _other_extents(x)
    yield from _other_operations(x)
    yield from _elements_lost(x)
    yield from _parts_alone(x)


def _other_extents(x: Array) -> Iterator[Candidate]:
    """Sums that end, or begin, elsewhere."""
    rows, sums, total = by_run(x), run_sums(x), np.cumsum(x)
    window = total - np.concatenate([np.zeros(RUN), total])[: len(x)]
    backwards = rows.sum(1, keepdims=True) - np.cumsum(rows, 1) + rows
    own = "Which elements does y[0] sum, and which y[1]?"
    border = "Which element is the first one of the run that x[100] belongs to?"
    for values, code, message, hint, place in (
        (
            sums - x,
            "wrong-formula",
            "This is the exclusive sum: y[i] lacks x[i].",
            own,
            ("exclusive",),
        ),
        (
            total,
            "wrong-loop-bound",
            "The sums run through all of x; they should start again with every run of 64.",
            border,
            ("steps",),
        ),
        (
            window,
            "wrong-loop-bound",
            say("{cell} sums the last 64 elements, also those of the run before.", cell="y[i]"),
            border,
            ("steps",),
        ),
        (
            backwards.reshape(-1)[: len(x)],
            "wrong-index",
            "The sums run from the end of each run to its beginning.",
            own,
            ("adds", "read"),
        ),
    ):
        yield Candidate(values, code, message, hint, place)


def _other_operations(x: Array) -> Iterator[Candidate]:
    """Something else than a running sum."""
    rows = by_run(x)
    own = "Which elements does y[0] sum, and which y[1]?"
    text = "Every element holds the sum of its whole run."
    yield Candidate(np.repeat(rows.sum(1), RUN)[: len(x)], "wrong-formula", text, own, ("store",))
    text = say("{array} equals x: nothing that was added up reaches {array}.", array="y")
    yield Candidate(x, "accumulator-error", text, own, ("copied",))
    hint = "How are two elements combined?"
    for name, function in (
        ("largest element", np.maximum),
        ("smallest element", np.minimum),
        ("product", np.multiply),
        ("difference", np.subtract),
    ):
        values = function.accumulate(rows, axis=1).reshape(-1)[: len(x)]
        text = say(
            "{array} holds the running {name} of each run, and not the running sum.",
            array="y",
            name=name,
        )
        yield Candidate(values, "wrong-formula", text, hint, ("adds", "how"))


def _elements_lost(x: Array) -> Iterator[Candidate]:
    """The right sums of what is left of x."""
    hint = "Which variable, cast or array has an integer type?"
    text = say("{array} holds the sums of whole numbers: the fractions of x are lost.", array="y")
    for cut in (np.trunc, np.floor, np.rint):
        yield Candidate(run_sums(cut(x)), "integer-arithmetic", text, hint, ("integer",))
    for lost in (1, 2):
        which = "the last element" if lost == 1 else f"the last {lost} elements"
        text = say(
            "Right, if {which} of x were zero: the test before the load is too strict.", which=which
        )
        kept = np.where(np.arange(len(x)) < len(x) - lost, x, 0)
        hint = "For which i does x[i] exist?"
        yield Candidate(run_sums(kept), "wrong-bounds-check", text, hint, ("guard", "A"))


def _parts_alone(x: Array) -> Iterator[Candidate]:
    """Parts of a run that know nothing of each other."""
    for part in (32, 16, 8):
        text = say(
            "The sums start again after {part} elements: what the first {part} of a run add up to "
            "does not reach the others.",
            part=part,
        )
        hint = say(
            "How does thread {part} learn what the threads before it have added up?", part=part
        )
        yield Candidate(run_sums(x, part), "accumulator-error", text, hint, ("adds", "read"))


# --- Hillis and Steele with a slip ----------------------------------------------------------------


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


def other_strides(outcome: Outcome) -> Slip | None:
    """Strides that are wrong, a test or an index beside them that is off by one."""
    return _match(outcome, _with_slip(outcome.A))


def _with_slip(x: Array) -> Iterator[Candidate]:
    hint = "Write down the strides. How many elements does y[63] sum after each of them?"
    for message, strides in _wrong_strides():
        values, ends = Steps(strides).of(x), strides if strides == STRIDES[: len(strides)] else ()
        yield Candidate(values, "wrong-loop-bound", message, hint, ("stride",), ends)
    for message, strides in _strides_that_grow_otherwise():
        place = ("stride", "change")
        yield Candidate(Steps(strides).of(x), "wrong-loop-bound", message, hint, place)
    text = "Every sum but the first of a run lacks the first element of the run."
    hint = "Which is the first thread that has an element `stride` places before its own?"
    yield Candidate(Steps(guard=1).of(x), "wrong-bounds-check", text, hint, ("adds",))
    hint = "Which cell does thread 5 read when the stride is 2?"
    for shift, guards in ((1, (0, 1)), (-1, (0, 1, -1))):
        text = say(
            "The element that is added lies stride {sign} 1 places before.",
            sign="-" if shift > 0 else "+",
        )
        for guard in guards:
            values = Steps(guard=guard, shift=shift).of(x)
            yield Candidate(values, "wrong-index", text, hint, ("adds", "read"))
    hint = "How are two elements combined?"
    text = "What should be added is subtracted."
    yield Candidate(Steps(sign=-1).of(x), "wrong-formula", text, hint, ("adds", "how"))
    text = "Each step replaces the sum, instead of adding to it."
    yield Candidate(Steps(keeps=False).of(x), "accumulator-error", text, hint, ("adds", "how"))
    text = "Only what is above zero is added."
    hint = "What does this line make of a number below zero?"
    for values in (Steps(above_zero=True).of(x), run_sums(np.maximum(x, 0))):
        yield Candidate(values, "wrong-formula", text, hint, ("zero", "A"))
    yield from _by_warps_with_slip(x)
    yield from _within_warps(x)
    yield from _by_tree_with_slip(x)


def _by_warps_with_slip(x: Array) -> Iterator[Candidate]:
    """Slips of a scan by shuffles, which puts the sums of two warps together."""
    text = "The second warp adds its own sum once more, and not that of the first warp."
    hint = "Which cell holds the sum of the first warp?"
    place = ("adds", "last")
    yield Candidate(_own_total_twice(x), "accumulator-error", text, hint, place)
    text = (
        "The second warp adds its own sums once more: a shuffle by 32 reaches no lane of another "
        "warp, and gives back a lane's own number."
    )
    across = "Which lanes does a shuffle reach, and how does the second warp learn of the first?"
    for doubles in (False, True):
        values = _shuffled_across(x, doubles)
        yield Candidate(values, "wrong-index", text, across, ("adds", "shuffle"))
    text = "A lane without a partner adds its own number: that is what a shuffle gives it."
    hint = "What does the shuffle return in lane 0, where there is no lane before?"
    yield Candidate(_without_lane_test(x), "missing-mask", text, hint, ("adds", "how"))


def _within_warps(x: Array) -> Iterator[Candidate]:
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
        yield Candidate(values, "wrong-loop-bound", text, hint, ("stride",))
        text = say("Within a warp the strides start at {next}, and not at 1.", next=strides[count])
        values = _two_warps(x, Steps(strides[count:], run=WARP))
        yield Candidate(values, "wrong-loop-bound", text, hint, ("stride",))
    for text, others in _strides_that_grow_otherwise():
        if max(others) < WARP:
            values = _two_warps(x, Steps(others, run=WARP))
            yield Candidate(values, "wrong-loop-bound", text, hint, ("stride", "change"))
    text = "What should be added within a warp is subtracted."
    values = _two_warps(x, Steps(strides, sign=-1, run=WARP))
    how = "How are two elements combined?"
    yield Candidate(values, "wrong-formula", text, how, ("adds", "how"))
    text = "Within a warp every sum but the first lacks the first element."
    hint = "Which is the first lane that has an element `stride` places before its own?"
    values = _two_warps(x, Steps(strides, guard=1, run=WARP))
    yield Candidate(values, "wrong-bounds-check", text, hint, ("adds",))
    text = "A lane adds the number of the lane `stride` places after it, and not before it."
    hint = "From which lane does this shuffle take its number?"
    values = _two_warps(x, Steps(strides, ahead=True, run=WARP))
    yield Candidate(values, "wrong-index", text, hint, ("adds", "shuffle"))
    for lane in range(WARP - 1):
        text = say(
            "The second warp adds the sum that lane {lane} of the first warp has.", lane=lane
        )
        hint = "Which lane has the sum of the whole warp?"
        values = _two_warps(x, Steps(strides, run=WARP), lane)
        yield Candidate(values, "wrong-index", text, hint, ("adds", "total"))


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


# --- a tree, after Blelloch -----------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """Sums of pairs up a tree, exclusive sums down again, and the own element; with its slips.

    Attributes:
        up, down: how many strides there are each way, from 1 on; 6 are right.
        clears: the root is set to zero between them.
        root: on the way down the root takes part.
    """

    up: int = len(STRIDES)
    down: int = len(STRIDES)
    clears: bool = True
    root: bool = True

    def of(self, x: Array) -> Array:
        """The result, in the type of x: with float32 also the rounding is the kernel's."""
        own = by_run(x)
        tree = own.copy()
        for stride in STRIDES[: self.up]:
            right = np.arange(2 * stride - 1, RUN, 2 * stride)
            tree[:, right] += tree[:, right - stride]
        if self.clears:
            tree[:, -1] = 0
        for stride in STRIDES[: self.down][::-1]:
            right = np.arange(2 * stride - 1, RUN if self.root else RUN - 1, 2 * stride)
            left = tree[:, right - stride]
            tree[:, right - stride] = tree[:, right]
            tree[:, right] += left
        result: Array = (tree + own).reshape(-1)[: len(x)]
        return result


def _by_tree_with_slip(x: Array) -> Iterator[Candidate]:
    """Slips of a scan over a tree."""
    values = Tree(clears=False).of(x)
    text = "On the way down the tree, the root holds the sum of the run; it should start with 0."
    hint = "What should the element before the first one of a run add up to?"
    yield Candidate(values, "accumulator-error", text, hint, ("tree", "down"))
    text = "On the way down the tree, the root takes no part."
    hint = "At which index is the root, and is this test true there?"
    yield Candidate(Tree(root=False).of(x), "wrong-bounds-check", text, hint, ("tree", "test"))
    most = len(STRIDES)
    hint = "Write down the strides. Which sums are put together by each, and which by the last?"
    for count in range(1, most):
        last = STRIDES[count - 1]
        text = say("On the way down the tree, the first stride is {last}, and not 32.", last=last)
        values = Tree(down=count).of(x)
        yield Candidate(values, "wrong-loop-bound", text, hint, ("tree", "start"))
        for down, text in (
            (
                most,
                say("On the way up the tree, the last stride is {last}, and not 32.", last=last),
            ),
            (
                count,
                say(
                    "The strides of the tree go up to {last}, and not to 32, on both ways.",
                    last=last,
                ),
            ),
        ):  # the last way up leads to the root, which is cleared: without it, nothing is wrong
            if count < most - 1:
                values = Tree(up=count, down=down).of(x)
                yield Candidate(values, "wrong-loop-bound", text, hint, ("tree", "up"))


# --- the right sums of the wrong elements ---------------------------------------------------------


def other_elements(outcome: Outcome) -> Slip | None:
    """The right scan of elements that other threads should have fetched."""
    return _match(outcome, _of_other_elements(outcome.A.astype(np.float64)))


def _of_other_elements(x: Array) -> Iterator[Candidate]:
    n = len(x)
    i = np.arange(n)
    run, place = i // RUN, i % RUN
    hint = "Which element of x does thread 0 of block 1 need?"
    for text, index in (
        ("Every run holds the sums of the first one: the offset of the block is missing.", place),
        ("Block b starts at x[b]: the factor 64 is missing.", run + place),
        ("Thread t takes the element after its own.", i + 1),
        ("Thread t takes the element before its own.", i - 1),
        ("Each run is taken in reverse order.", run * RUN + RUN - 1 - place),
    ):
        inside = (index >= 0) & (index < n)
        taken = np.where(inside, x[np.clip(index, 0, n - 1)], 0.0)
        yield Candidate(run_sums(taken), "wrong-index", text, hint, ("load", "A"))
    yield Candidate(
        by_run(run_sums(x))[:, ::-1].reshape(-1)[:n],
        "wrong-index",
        "The sums are right, but each run is stored in reverse order.",
        "Which element of y belongs to thread 0 of block 1?",
        ("store",),
    )


def from_where_on(outcome: Outcome) -> Slip | None:
    """Nothing explains the numbers, but the beginning of each run is right."""
    wrong = ~outcome.right
    if len(wrong) < 2 * RUN:
        return None
    places = np.unique(np.flatnonzero(wrong) % RUN)
    start = int(places[0])
    if start == 0 or not wrong.reshape(-1)[start::RUN].all():
        return None
    at = int(np.flatnonzero(wrong)[0])
    message = say(
        "Every run is right up to its element {last} and wrong from element {start} on.",
        last=start - 1,
        start=start,
    )
    values = f"y[{at}] is {outcome.values[at]:.4g} and should be {outcome.expected[at]:.4g}."
    hint = say(
        "What does thread {start} add that thread {last} does not?", start=start, last=start - 1
    )
    return Slip("wrong-result", message, hint, ("store",), values=values)
