"""Judges an answer as grading does, and says which numbers on its page come from hidden inputs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from unittest import mock

import numpy as np

from course_lib.diagnosis import launcher
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.judging import batches
from course_lib.grading.records import FoundAnswer, Submission
from course_lib.grading.settings import Settings

SETTINGS = Settings()
CONTEXT = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
_SOURCE = re.compile(r'<code class="source">.*?</code>', re.DOTALL)
_TAG = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.IGNORECASE)


@dataclass
class Judged:
    """A page, and what was hidden from whom it is for.

    Attributes:
        page: as the student gets it.
        hidden: inputs, expected and computed outputs of all launches: absolute values, in order.
    """

    page: str
    hidden: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def numbers(self) -> set[str]:
        """The numbers on the page, but for those in the student's own text."""
        text = _TAG.sub(" ", _SOURCE.sub(" ", self.page))
        return {found.group().rstrip(".") for found in _NUMBER.finditer(text)}

    def told(self) -> set[str]:
        """The numbers that are, to three significant digits or more, one of the hidden ones."""
        return {each for each in self.numbers if self._is_hidden(each)}

    def _is_hidden(self, text: str) -> bool:
        digits, _, exponent = text.lower().replace(",", "").partition("e")
        if len(digits.replace(".", "").lstrip("0")) < 3 or not len(self.hidden):
            return False
        unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
        first = np.searchsorted(self.hidden, float(text.replace(",", "")) - unit / 2)
        return bool(
            first < len(self.hidden)
            and self.hidden[first] <= float(text.replace(",", "")) + unit / 2
        )


@lru_cache(4)
def judged(exercise: str, text: str, seed: int, draw: int = 0) -> Judged:
    """The page of an answer; another `draw` has other inputs of the same sizes."""
    seen: list[np.ndarray] = []

    def watched(*arguments: object, **named: object) -> Outcome:
        outcome = Outcome(*arguments, **named)  # type: ignore[arg-type]
        seen.extend(map(np.ravel, (*outcome.inputs, outcome.expected, outcome.got)))
        return outcome

    def drawn(problem: object, case: object, seed: int) -> Sequence[np.ndarray]:
        return problem.operands(
            case.shape, np.random.default_rng((seed, case.draw, *[draw][:draw]))
        )

    with (
        mock.patch.object(launcher, "Outcome", watched),
        mock.patch.object(launcher, "make_inputs", drawn),
    ):
        judgement = batches.judge(exercise, text, seed, CONTEXT)
    row = score(Submission("s", "s"), FoundAnswer(exercise, text), judgement, SETTINGS)
    values = np.abs(np.concatenate([np.zeros(0), *seen]).astype(np.float64))
    return Judged(feedback_page([row], "s", SETTINGS), np.sort(values[np.isfinite(values)]))


def leaks(exercise: str, text: str, seed: int) -> Iterator[str]:
    """What is wrong with the page of an answer; nothing if it tells nothing of the inputs.

    A number that stays when all inputs change is a size, a count or a place. So what is told is
    held against the page for other inputs of the same sizes; and no fraction may differ at all.
    """
    first = judged(exercise, text, seed)
    if str(seed) in first.page:
        yield f"the seed {seed}"
    other = judged(exercise, text, seed, draw=1)
    for each in sorted(first.told() - other.numbers):
        yield f"{each}, which was an input or an output"
    for each in sorted(first.numbers ^ other.numbers):
        if "." in each or "e" in each:
            yield f"{each}, which depends on the inputs"
