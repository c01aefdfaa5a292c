"""Which steps of k entered the sums, and how often: loops too short, tiles counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.families.index_search import INNER, IndexValues
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say
from course_lib.words import at_end, counted, span

Array = np.ndarray
FEW_ELEMENTS = 8  # that settle how many steps were summed
SHARED_STEPS = ("t+kk", "start", "t")  # wrong steps that no loop bound can bring about


def step_weights(outcome: Outcome) -> Array | None:
    """How often each step of k entered the sums, if that alone explains the numbers."""
    A, B, known = outcome.A.astype(np.float64), outcome.B.astype(np.float64), outcome.known
    if not (known | outcome.untouched).all():
        return None  # what made some sums not-a-number may have made the others wrong, too
    if known.sum() < outcome.sizes.steps:
        return _first_steps(outcome)
    terms = (A[:, None, :] * B.T[None, :, :])[known]
    values = outcome.values[known]
    # A few elements per step settle the weights; all of them have to agree with the result.
    few = np.random.default_rng(2).permutation(len(values))[: 3 * outcome.sizes.steps + 16]
    weights, *_ = np.linalg.lstsq(terms[few], values[few], rcond=None)
    misses = np.abs(terms @ weights - values)
    if misses.max() > 2 * outcome.tolerance.max():
        return None
    rounded = np.rint(weights)
    return rounded if np.abs(weights - rounded).max() < 1e-2 else None


def _first_steps(outcome: Outcome) -> Array | None:
    """The weights where there are fewer elements than steps: the first steps count, the last not.

    A few elements that all agree leave no doubt about one number, but would about all weights.
    """
    A, B, known = outcome.A.astype(np.float64), outcome.B.astype(np.float64), outcome.known
    terms = (A[:, None, :] * B.T[None, :, :])[known]
    if len(terms) < FEW_ELEMENTS:
        return None
    sums = np.cumsum(terms, axis=1)
    fits = np.abs(sums - outcome.values[known][:, None]) <= 2 * outcome.tolerance[known][:, None]
    counts = np.flatnonzero(fits.all(axis=0)) + 1
    return (np.arange(outcome.sizes.steps) < counts[0]).astype(float) if len(counts) == 1 else None


def steps_wrong(outcome: Outcome) -> Slip | None:
    """Steps left out or counted several times."""
    weights = step_weights(outcome)
    if weights is None or (weights == weights[0]).all():
        return None  # the same for all steps: a factor, told elsewhere
    sizes = outcome.sizes
    if (weights == 0).sum() + (weights == 1).sum() == len(weights):
        return left_out(weights == 0, sizes)
    return (
        _other_steps(weights, sizes)
        or _rest_again(weights)
        or _overlapping(weights, sizes)
        or _counted_often(weights, sizes)
    )


def _other_steps(weights: Array, sizes: Geometry) -> Slip | None:
    """Both loads take the same wrong step: an index into the tiles, and no sum, explains it."""
    if sizes.tile_steps is None or sizes.tiles < 2:
        return None
    padded = replace(sizes, steps=sizes.tiles * sizes.step_tile)
    point = IndexValues(0, 0, padded)
    for name in SHARED_STEPS:
        steps = INNER[name].value(point).reshape(-1)
        inside = steps[(steps >= 0) & (steps < sizes.steps)]
        if np.array_equal(np.bincount(inside, minlength=sizes.steps), weights):
            message = say(
                "The numbers fit if the step of both loads is {inner}.", inner=INNER[name].text
            )
            hint = "Which step does thread (0, 0) load for the second tile, and which should it?"
            return Slip("wrong-index", message, hint, ("load", "A", "column", "both"))
    return None


def _rest_again(weights: Array) -> Slip | None:
    """What is left behind the last whole group of steps is taken from the beginning again."""
    rest = int((weights == 0).sum())
    if not 0 < rest <= len(weights) // 2:
        return None
    again = np.ones(len(weights))
    again[:rest], again[len(weights) - rest :] = 2, 0
    if not np.array_equal(weights, again):
        return None
    message = say(
        "The last {steps} of k {are} left out, and the first {steps} count{verb_ending} twice: "
        "what is left over at the end begins at 0 again.",
        steps=_steps(rest),
        are="is" if rest == 1 else "are",
        verb_ending="s" * (rest == 1),
    )
    hint = "Which step of k is the first that is left over at the end?"
    return Slip("wrong-loop-bound", message, hint, ("steps", "rest"))


def _overlapping(weights: Array, sizes: Geometry) -> Slip | None:
    """Each tile begins before the end of the one before: the loop takes too small a stride.

    Of two tiles, a second one that ends with k could as well be what the first one left behind.
    """
    T = sizes.step_tile
    steps = np.arange(len(weights))
    for stride in range(1, T) if sizes.tiles > 1 else ():
        for tiles in {sizes.tiles, -(-sizes.steps // stride)}:
            if tiles == 2 and stride + T == sizes.steps:
                continue
            starts = np.arange(tiles)[:, None] * stride
            if np.array_equal(((starts <= steps) & (steps < starts + T)).sum(axis=0), weights):
                message = say(
                    "From one tile to the next, k goes on by {stride}, but each tile holds {T} "
                    "steps: many steps enter the sum more than once.",
                    stride=stride,
                    T=T,
                )
                hint = "With which k does the second tile begin, and with which should it?"
                return Slip("wrong-loop-bound", message, hint, ("steps", "stride"))
    return None


def left_out(missing: Array, sizes: Geometry) -> Slip:
    """Some steps of k never enter the sum."""
    return (
        _last_alone(np.flatnonzero(~missing), sizes)
        or _tile_left_out(np.flatnonzero(missing), sizes)
        or _steps_left_out(missing, sizes)
    )


def _last_alone(kept: Array, sizes: Geometry) -> Slip | None:
    """Each product, or each tile, replaces the sum of those before."""
    K, T = sizes.steps, sizes.step_tile
    tiled = sizes.tile_steps is not None and sizes.tiles > 1
    hint = "How many times does the loop run, and what happens to the sum on the way?"
    if len(kept) == 1 and kept[0] == K - 1:
        message = "Only the last product counts: each one replaces the sum instead of being added."
        return Slip("accumulator-error", message, hint, ("sum", "replaced"))
    if tiled and np.array_equal(kept, np.arange((sizes.tiles - 1) * T, K)):
        message = "Only the last tile counts: the sum starts again with every tile."
        return Slip("accumulator-error", message, hint, ("start", "again"))
    if tiled and np.array_equal(kept % T, np.full(len(kept), T - 1)):
        message = "Of every tile only the last product counts: the others are replaced, not added."
        return Slip("accumulator-error", message, hint, ("sum", "replaced"))
    return None


FIRST_AND_LAST = "For which k does the loop run first, and for which last?"


def _tile_left_out(gone: Array, sizes: Geometry) -> Slip | None:
    """The first tile, or the last one, never enters the sum."""
    if sizes.tile_steps is None:
        return None
    K, T = sizes.steps, sizes.step_tile
    hint: str = FIRST_AND_LAST
    if K % T and np.array_equal(gone, np.arange(K - K % T, K)):
        message = say(
            "Right except the last {steps} of k: the partial tile is left out (K = {K}, which is "
            "{tiles} of {T} and {rest_of_k} more).",
            steps=_steps(len(gone)),
            K=K,
            tiles=counted(K // T, "whole tile"),
            T=T,
            rest_of_k=K % T,
        )
        hint = say("How many tiles does the loop visit when K = {K}?", K=K)
    elif np.array_equal(gone, np.arange((sizes.tiles - 1) * T, K)):
        message = say(
            "Right except the last {steps} of k: the last tile is left out.",
            steps=_steps(len(gone)),
        )
    elif np.array_equal(gone, np.arange(min(T, K))):
        message = say(
            "Right except the first {steps} of k: the first tile is left out.",
            steps=_steps(len(gone)),
        )
    else:
        return None
    return Slip("wrong-loop-bound", message, hint, ("steps", "tiles"), tuple(map(int, gone)))


def _steps_left_out(missing: Array, sizes: Geometry) -> Slip:
    """Other steps never enter the sum: the same of every tile, or any."""
    K, place = sizes.steps, ("steps", "left out")
    gone, kept = np.flatnonzero(missing), np.flatnonzero(~missing)
    inner = _same_in_every_tile(missing, sizes) if sizes.tile_steps is not None else ""
    if inner:
        place = ("steps", "inner")
        message = say(
            "Right except {inner} of every tile, which is left out of the sum.", inner=inner
        )
    elif len(kept) <= len(gone):
        message = say(
            "Only {kept} of k {take} part in the sum.",
            kept=_span(kept, K),
            take=_verb(kept, "take"),
        )
    else:
        verb = "is" if len(gone) == 1 or _every_second(gone) else "are"
        message = say(
            "Right except {gone} of k, which {verb} left out.", gone=_span(gone, K), verb=verb
        )
    return Slip("wrong-loop-bound", message, FIRST_AND_LAST, place, tuple(map(int, gone)))


def tiles_slip(slip: Slip, outcomes: Sequence[Outcome]) -> Slip:
    """The slip for missing tiles, with the size that the loop follows instead of K, if it does."""
    if outcomes[0].sizes.tile_steps is None:
        return slip
    run = {}
    for outcome in outcomes:
        with np.errstate(all="ignore"):
            weights = step_weights(outcome)
        if weights is not None:
            T, summed = outcome.sizes.step_tile, int((weights == 1).sum())
            run[outcome.sizes] = -(-summed // T)
            if summed % T and summed < outcome.sizes.steps:
                return slip  # a part of a tile: no loop over tiles leaves out the rest
    if len(run) < 2 or all(count == size.steps // size.step_tile for size, count in run.items()):
        return slip
    for name, size_of in (("M", "rows"), ("N", "columns")):
        follows = [-(-getattr(size, size_of) // size.step_tile) for size in run]
        if follows == list(run.values()):
            noun = "rows of A" if name == "M" else "columns of B"
            message = say(
                "The loop visits as many tiles as {name} (the {noun}) has, and not K.",
                name=name,
                noun=noun,
            )
            return replace(slip, message=message, hint="Along which of the sizes does the sum run?")
    return slip


def _same_in_every_tile(missing: Array, sizes: Geometry) -> str:
    """ "the last step", if the same steps are missing in each tile, else ""."""
    T = sizes.step_tile
    padded = np.zeros(sizes.tiles * T, bool)
    padded[: len(missing)] = missing
    per_tile = padded.reshape(-1, T)
    whole = per_tile[: sizes.steps // T]
    if len(whole) < 2 or not (whole == whole[0]).all() or not whole[0].any():
        return ""
    return _span(np.flatnonzero(whole[0]), T)


def _span(gone: Array, total: int) -> str:
    first, last, count = int(gone[0]), int(gone[-1]), len(gone)
    if count == last - first + 1:
        if last == total - 1:
            return at_end("last", count, "step")
        if first == 0:
            return at_end("first", count, "step")
        return span("step", gone.tolist())
    if _every_second(gone):
        return "every second step"
    return f"{count} of {total} steps (the first of them step {first})"


def _every_second(gone: Array) -> bool:
    return len(gone) > 1 and bool((np.diff(gone) == 2).all())


def _verb(steps: Array, plural: str) -> str:
    """The form of a verb that goes with what `_span` says."""
    return plural + "s" * (len(steps) == 1 or _every_second(steps))


def _steps(count: int) -> str:
    return "step" if count == 1 else f"{count} steps"


def _counted_often(weights: Array, sizes: Geometry) -> Slip:
    """Some steps enter the sum several times."""
    T = sizes.step_tile
    tiled = sizes.tile_steps is not None
    if tiled and sizes.tiles > 1 and (weights[:T] >= 2).any() and not weights[T:].any():
        message = "Every tile of the sum is the first one again: the offset of the tile is missing."
        hint = "Which part of the index changes from one tile to the next?"
        return Slip("wrong-index", message, hint, ("load", "A", "column"))
    often = np.flatnonzero(weights > 1)
    stale = _still_there(often, sizes) if tiled else None
    if stale:
        return stale
    if not len(often):
        message = "Some terms are subtracted instead of added."
        return Slip("wrong-formula", message, "Read the line that adds up.", ("sum",))
    by_tile = [sorted(set(weights[start : start + T])) for start in range(0, len(weights), T)]
    alike = tiled and all(len(values) == 1 for values in by_tile)
    if alike and not weights.all():
        return _other_tiles([int(values[0]) for values in by_tile])
    if alike and by_tile == sorted(by_tile, reverse=True):
        message = "The tiles count differently: earlier tiles enter the sum more than once."
        hint = "What is added to what after each tile?"
        return Slip("accumulator-error", message, hint, ("sum", "between"))
    repeated = _last_again(weights, often, sizes) if tiled else None
    if repeated:
        return repeated
    if not weights.all():
        shown = ", ".join(f"{weight:.0f}" for weight in weights[:6])
        message = say(
            "The steps of k do not count alike: they enter the sum {shown}, … times.", shown=shown
        )
        return Slip("wrong-formula", message, "Read the line that adds up.", ("sum",))
    verb = _verb(often, "enter")
    message = say(
        "{often} of k {verb} the sum more than once.",
        often=_span(often, len(weights)).capitalize(),
        verb=verb,
    )
    hint = "How often does each loop pass each step of k?"
    at_ends = np.arange(len(often)), np.arange(len(weights) - len(often), len(weights))
    rest = any(np.array_equal(often, each) for each in at_ends)
    place = ("steps", "often", *(("rest",) if rest else ()))
    return Slip("wrong-loop-bound", message, hint, place, tuple(map(int, often)))


FILLS_UP = "What should a thread put into the tile when it stands outside of A or B?"


def _still_there(often: Array, sizes: Geometry) -> Slip | None:
    """Where the last tile has no element, that of the tile before it counts again."""
    T = sizes.step_tile
    filled = sizes.steps % T  # of the last tile
    stale = np.arange((sizes.tiles - 2) * T + filled, (sizes.tiles - 1) * T)
    if not filled or sizes.tiles < 2 or not np.array_equal(often, stale):
        return None
    message = say(
        "{often} of k {count} twice: where the last tile has no element, the value of the "
        "tile before it is still there.",
        often=_span(often, sizes.steps).capitalize(),
        count="counts" if len(often) == 1 else "count",
    )
    return Slip("stale-shared-read", message, FILLS_UP, ("sum",))


def _last_again(weights: Array, often: Array, sizes: Geometry) -> Slip | None:
    """Where the last tile has no element, the last element counts again."""
    padding = sizes.tiles * sizes.step_tile - sizes.steps
    if not padding or list(often) != [sizes.steps - 1] or weights[-1] != padding + 1:
        return None
    message = say(
        "The last step of k counts {least} times: past the edge the last element is repeated, "
        "instead of counting as zero.",
        least=padding + 1,
    )
    return Slip("missing-mask", message, FILLS_UP, ("load", "A"))


def _other_tiles(counts: Sequence[int]) -> Slip:
    """Some tiles take part several times, others never: tiles of A and B alike."""
    again = next(number for number, count in enumerate(counts) if count > 1)
    never = counts.index(0)
    message = say(
        "The tiles of A and B do not count alike: tile {again}, counted from 0, takes part "
        "{times} times, and tile {never} never.",
        again=again,
        times=counts[again],
        never=never,
    )
    hint = say(
        "Follow tile {never}: where is it read from A and B, and which line multiplies it?",
        never=never,
    )
    return Slip("wrong-index", message, hint, ("load", "A", "column", "both"))
