"""Running sums that start again with every run: the problem, and what wrong answers add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from course_lib.curriculum import Launch
from course_lib.problems.problem import EPSILON, FEW_STEPS, Geometry, Problem, Shape, more_tiles
from course_lib.registry.exercise import WrongIdea

Array = np.ndarray
RUN = 64  # elements after which the sums start again
WARP = 32
STRIDES = (1, 2, 4, 8, 16, 32)
FORMULA, SUM, LOOP = "wrong-formula", "accumulator-error", "wrong-loop-bound"
INDEX, CHECK, MASK = "wrong-index", "wrong-bounds-check", "missing-mask"
READ, STEPS = ("exchange", "read"), ("exchange", "end")
Ideas = Iterator[tuple[str, Callable[[Array], Array], str, str, tuple[str, ...]]]


def by_run(x: Array, run: int = RUN) -> Array:
    """x with one run in each row; the last one is filled up with zeros."""
    rows = -(-len(x) // run)
    filled: Array = np.concatenate([x, np.zeros(rows * run - len(x), x.dtype)])
    return filled.reshape(rows, run)


def run_sums(x: Array, run: int = RUN) -> Array:
    """The inclusive sums, which start again with every run."""
    return np.cumsum(by_run(x, run), axis=1).reshape(-1)[: len(x)]


def scan_ideas() -> Iterator[WrongIdea]:
    for kind in (_other_sums, _other_strides, _other_steps, _two_warps, _trees):
        for code, computes, says, hint, place in kind():
            yield WrongIdea(computes, says, hint, place, code)


def _flat(rows: Array, x: Array) -> Array:
    result: Array = rows.reshape(-1)[: len(x)]
    return result


def _other_sums() -> Ideas:
    own, border = (
        "Which elements of x does y[0] include, and which does y[1] include?",
        "Which run does x[100] belong to?",
    )
    yield (
        FORMULA,
        lambda x: run_sums(x) - x,
        "the sums are exclusive, so y[i] lacks x[i]",
        own,
        ("store",),
    )
    says = "the sums run through all of x, but they should start again with every run of 64"
    yield LOOP, np.cumsum, says, border, ("loop",)
    says = (
        "each element of y is the sum of the last 64 elements of x, including those of the "
        "previous run"
    )
    yield LOOP, _window, says, border, ("loop",)
    says = "the sums run from the end of each run to its beginning"
    yield INDEX, lambda x: _flat(np.cumsum(by_run(x)[:, ::-1], 1)[:, ::-1], x), says, own, READ
    says = "every element of y holds the sum of its whole run"
    yield FORMULA, lambda x: np.repeat(by_run(x).sum(1), RUN)[: len(x)], says, own, ("store",)
    says = "y equals x, because none of the sums reaches y"
    yield SUM, lambda x: x, says, own, ("store",)
    how = "How does your kernel combine two elements?"
    for name, function in (
        ("largest element", np.maximum),
        ("smallest element", np.minimum),
        ("product", np.multiply),
        ("difference", np.subtract),
    ):
        says = f"the kernel computes the running {name} of each run instead of the running sum"
        yield FORMULA, partial(_accumulated, function), says, how, READ
    for part in (32, 16, 8):
        says = f"the sums start again after {part} elements, so they lack all elements before that"
        hint = f"How does thread {part} get the sum of the threads before it?"
        yield SUM, partial(run_sums, run=part), says, hint, READ


def _window(x: Array) -> Array:
    total = np.cumsum(x)
    result: Array = total - np.concatenate([np.zeros(RUN), total])[: len(x)]
    return result


def _accumulated(function: np.ufunc, x: Array) -> Array:
    return _flat(function.accumulate(by_run(x), axis=1), x)


def steps(
    strides: Sequence[int],
    x: Array,
    *,
    guard: int = 0,
    shift: int = 0,
    sign: int = 1,
    keeps: bool = True,
    doubles: bool = False,
    ahead: bool = False,
    run: int = RUN,
) -> Array:
    """A scan that adds, stride by stride, the element `stride` places before; and its slips.

    Args:
        strides: one for each step.
        guard: thread t takes part if t >= stride + guard.
        shift: the element that is added lies stride - shift places before.
        sign: of what is added.
        keeps: what a thread has is kept, and not replaced by what should be added to it.
        doubles: a thread that takes no part adds its own element.
        ahead: the element that is added lies stride places after; beyond the end, it is the own.
        run: how many threads work together.
    """
    rows, t = by_run(x, run), np.arange(run)
    for stride in strides:
        source = t - stride + shift
        if ahead:
            source = np.where(t + stride < run, t + stride, t)
        adds = (t >= stride + guard) & (source >= 0) & (source < run)
        partner = sign * rows[:, np.clip(source, 0, run - 1)]
        added = np.where(adds, partner, rows if doubles else 0)
        rows = rows + added if keeps else added
    return _flat(rows, x)


def _other_strides() -> Ideas:
    hint = "Write down the strides. How many elements does y[63] include after each stride?"
    for strides, says in _series(STRIDES):
        yield LOOP, partial(steps, strides), says, hint, STEPS


def _series(right: Sequence[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Wrong series of strides, with what to say about them."""
    last = right[-1]
    for count in range(1, len(right)):
        yield tuple(right[:count]), f"the last stride is {right[count - 1]} instead of {last}"
        yield tuple(right[count:]), f"the strides start at {right[count]} instead of 1"
    for times in range(2, 2 * last):
        yield (1,) * times, f"the stride stays 1 in all {times} steps"
    grows = "the strides have to double from step to step, but here they are"
    for end in range(3, 2 * last):
        for first, by in ((1, 1), (1, 2), (2, 2), (0, 1), (0, 2)):
            some = tuple(range(first, end + 1, by))
            yield some, f"{grows} {', '.join(map(str, some[:4]))}, … {some[-1]}"
    for some in (
        *((0, 1, 4, 9, 16, 25), (1, 4, 9, 16, 25, 36), (1, 3, 9, 27)),
        *((1, 4, 16), (1, 8), (1, 2, 4, 16), (2, 4, 16)),
    ):
        yield some, f"{grows} {', '.join(map(str, some))}"


def _other_steps() -> Ideas:
    """A test, an index or a sign that is wrong in every step, within a run or within a warp."""
    which, how = (
        "Which thread is the first to have an element `stride` places before its own?",
        ("How does your kernel combine two elements?"),
    )
    cell = "Which cell does thread 5 read when the stride is 2?"
    for place, right, scan in (("", STRIDES, steps), ("within a warp ", STRIDES[:-1], two_warps)):
        says = f"{place}the first element of a run is missing from every sum but the first"
        yield CHECK, partial(scan, right, guard=1), says, which, READ
        for shift, guards in ((1, (0, 1)), (-1, (0, 1, -1))):
            sign = "-" if shift > 0 else "+"
            says = (
                f"{place}the kernel adds the element that lies stride {sign} 1 places before "
                "its own"
            )
            for guard in guards:
                yield INDEX, partial(scan, right, shift=shift, guard=guard), says, cell, READ
        says = f"{place}the kernel subtracts what it should add"
        yield FORMULA, partial(scan, right, sign=-1), says, how, READ
        says = f"{place}each step replaces the sum instead of adding to it"
        yield SUM, partial(scan, right, keeps=False), says, how, READ
        says = (
            f"{place}a thread without a partner adds its own number, because the shuffle returns it"
        )
        hint = "What does the shuffle return in lane 0, which has no lane before it?"
        yield MASK, partial(scan, right, doubles=True), says, hint, READ
        says = (
            f"{place}the kernel adds the element stride places after its own instead of before it"
        )
        yield INDEX, partial(scan, right, ahead=True), says, cell, READ


def two_warps(strides: Sequence[int], x: Array, lane: int = WARP - 1, **slips: bool | int) -> Array:
    """A scan within each warp; the second one adds the sum that a lane of the first one has."""
    padded = by_run(x).reshape(-1)
    warps = by_run(steps(strides, padded, run=WARP, **slips), WARP)  # type: ignore[arg-type]
    warps[1::2] += warps[::2, lane : lane + 1]
    return _flat(warps, x)


def _two_warps() -> Ideas:
    """Slips where the sums of two warps are put together."""
    hint = (
        "Write down the strides. How many elements does the sum of lane 31 include after each "
        "stride?"
    )
    for strides, says in _series(STRIDES[:-1]):
        yield LOOP, partial(two_warps, strides), f"within a warp {says}", hint, STEPS
    for lane in range(WARP - 1):
        says = f"the second warp adds the sum that lane {lane} of the first warp has"
        hint = "Which lane has the sum of the whole warp?"
        yield INDEX, partial(two_warps, STRIDES[:-1], lane=lane), says, hint, ("exchange", "last")
    says = "the second warp adds its own sum once more instead of the sum of the first warp"
    hint = "Which cell holds the sum of the first warp?"
    yield SUM, _own_total, says, hint, ("exchange", "last")
    says = (
        "the second warp adds its own sums once more, because a shuffle cannot reach another warp"
    )
    hint = "Which lanes can a shuffle reach? How else can the second warp get the sum of the first?"
    for doubles in (False, True):
        yield INDEX, partial(_own_sums, doubles), says, hint, READ


def _own_total(x: Array) -> Array:
    warps = by_run(run_sums(by_run(x).reshape(-1), WARP), WARP)
    warps[1::2] += warps[1::2, -1:]
    return _flat(warps, x)


def _own_sums(doubles: bool, x: Array) -> Array:
    padded = by_run(x).reshape(-1)
    warps = by_run(steps(STRIDES[:-1], padded, run=WARP), WARP)
    second = by_run(steps(STRIDES[:-1], padded, doubles=doubles, run=WARP), WARP)
    warps[1::2] = 2 * second[1::2]
    return _flat(warps, x)


def tree(
    x: Array,
    *,
    up: int = len(STRIDES),
    down: int = len(STRIDES),
    clears: bool = True,
    root: bool = True,
) -> Array:
    """Sums of pairs up a tree, exclusive sums down again, and the own element (Blelloch).

    Args:
        up, down: how many strides there are each way, from 1 on; 6 are right.
        clears: the root is set to zero between them.
        root: on the way down the root takes part.
    """
    own = by_run(x)
    sums = own.copy()
    for stride in STRIDES[:up]:
        right = np.arange(2 * stride - 1, RUN, 2 * stride)
        sums[:, right] += sums[:, right - stride]
    if clears:
        sums[:, -1] = 0
    for stride in STRIDES[:down][::-1]:
        right = np.arange(2 * stride - 1, RUN if root else RUN - 1, 2 * stride)
        left = sums[:, right - stride]
        sums[:, right - stride] = sums[:, right]
        sums[:, right] += left
    return _flat(sums + own, x)


def _trees() -> Ideas:
    says = "on the way down the tree the root starts with the sum of the run instead of 0"
    hint = "What is the sum of everything before the first element of a run?"
    yield SUM, partial(tree, clears=False), says, hint, STEPS
    says = "on the way down the tree the root takes no part"
    hint = "At which index is the root, and is the condition of the `if` true at that index?"
    yield CHECK, partial(tree, root=False), says, hint, READ
    hint = (
        "Write down the strides. Which sums does each stride combine, and which sums does the last "
        "stride combine?"
    )
    most = len(STRIDES)
    for count in range(1, most):
        last = STRIDES[count - 1]
        ways = [(most, count, f"on the way down the tree the first stride is {last} instead of 32")]
        if count < most - 1:  # the last way up leads to the root, which is cleared
            ways += [
                (count, most, f"on the way up the tree the last stride is {last} instead of 32"),
                (
                    count,
                    count,
                    f"in both directions, the strides of the tree go up to {last} instead of 32",
                ),
            ]
        for up, down, says in ways:
            yield LOOP, partial(tree, up=up, down=down), says, hint, STEPS


# --- The problem: inputs and the right result -----------------------------------------------------


class Scan(Problem):
    """y = the running sums of x, which start again with every run."""

    letters = "xy"
    steps = FEW_STEPS
    steps_of_all = 25_000
    tiny = (1,)
    short = (5,)
    any_range = True
    directions = (0,)
    gpu_shapes = ((100_003,), (1 << 16,))

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape,)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """A sum of at most RUN numbers, in any order."""
        x = inputs[0].astype(np.float64)
        return run_sums(x), EPSILON * (RUN + 2) / 2 * run_sums(np.abs(x)) + 1e-30

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        return scan_ideas()

    def label(self, shape: Shape) -> str:
        return f"n = {shape[0]}"

    def covered(self, shape: Shape) -> Shape:
        return shape[:1]

    def exact(self, side: int) -> Shape:
        return (4 * RUN,)

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        return ((4 + more_tiles(seed, 4)) * RUN,)

    def random_shape(self, rng: np.random.Generator) -> Shape:
        return (int(rng.integers(2, 250)),)

    def geometry(self, tile: Sequence[int]) -> Geometry:
        return Geometry(1, RUN)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        return None
