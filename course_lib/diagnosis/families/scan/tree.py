"""Running sums over a tree, after Blelloch, with a slip on the way up or down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.problems.scan import RUN, STRIDES, Array, by_run
from course_lib.sentences import say


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


def by_tree_with_slip(x: Array) -> Iterator[Hypothesis]:
    """Slips of a scan over a tree."""
    values = Tree(clears=False).of(x)
    text = "On the way down the tree, the root holds the sum of the run; it should start with 0."
    hint = "What should the element before the first one of a run add up to?"
    yield Hypothesis(values, "accumulator-error", text, hint, ("tree", "down"))
    text = "On the way down the tree, the root takes no part."
    hint = "At which index is the root, and is this test true there?"
    yield Hypothesis(Tree(root=False).of(x), "wrong-bounds-check", text, hint, ("tree", "test"))
    most = len(STRIDES)
    hint = "Write down the strides. Which sums are put together by each, and which by the last?"
    for count in range(1, most):
        last = STRIDES[count - 1]
        text = say("On the way down the tree, the first stride is {last}, and not 32.", last=last)
        values = Tree(down=count).of(x)
        yield Hypothesis(values, "wrong-loop-bound", text, hint, ("tree", "start"))
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
                yield Hypothesis(values, "wrong-loop-bound", text, hint, ("tree", "up"))
