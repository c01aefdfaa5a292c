"""The kinds of things that a student writes: a kernel, a plain function, or constants.

Here is what differs between them, as far as the registry knows it. One table in checking.py says
how each is judged; grading/answers/segments.py says what each looks like in a student's cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from course_lib.registry import entry_checks as entries


class Kind:
    """What is written for an exercise, and how it is asked for.

    Attributes:
        name: one word, as a sentence says it.
        properties: what alone it is judged by; if empty, everything that no other kind names.
        is_launched: on a GPU, in blocks of threads. What is said of launches is for these alone.
        is_function: the answer is one function with the exercise's name.
    """

    name: ClassVar[str]
    properties: ClassVar[tuple[str, ...]] = ()
    is_launched: ClassVar[bool] = False
    is_function: ClassVar[bool] = True

    def names_to_define(self, exercise: Any) -> tuple[str, ...]:
        """The names that an answer gives a meaning."""
        return (exercise.id,)

    def signature(self, exercise: Any) -> str:
        """What is asked for, as a student writes it: "matmul_tiled(A, B, C)"."""
        return f"{exercise.id}({', '.join(exercise.parameters)})"

    def handed_in(self, exercise: Any) -> str:
        """The answer as the check cell names it."""
        return str(exercise.id)

    def faults(self, exercise: Any) -> Iterator[entries.Fault]:
        """What is wrong with an entry of this kind, beside what may be wrong with any."""
        return iter(())

    def asked_for(self, exercise: Any) -> str:
        """What should stand in the notebook, as a phrase."""
        return f"function {exercise.id}"


class KernelKind(Kind):
    """A kernel that is launched."""

    name = "kernel"
    is_launched = True

    def faults(self, exercise: Any) -> Iterator[entries.Fault]:
        return entries.faults_of_kernel(exercise)


class FunctionKind(Kind):
    """A plain function that is called."""

    name = "function"
    properties = ("right", "refusals")


class ConstantsKind(Kind):
    """Constants, those of the exercise's `parameters`, that are looked at."""

    name = "constants"
    properties = ("right", "resident", "intensity")
    is_function = False

    def names_to_define(self, exercise: Any) -> tuple[str, ...]:
        return tuple(exercise.parameters)

    def signature(self, exercise: Any) -> str:
        return ", ".join(exercise.parameters)

    def handed_in(self, exercise: Any) -> str:
        return "{" + ", ".join(f'"{name}": {name}' for name in exercise.parameters) + "}"

    def asked_for(self, exercise: Any) -> str:
        return f"cell that sets {exercise.signature}"


class TileKind(Kind):
    """A kernel of a tile language, which is launched in programs that have no threads.

    Attributes:
        language: as the tile machine calls it.
        title: as everybody calls it.
        decorator: what makes a function such a kernel.
    """

    name = "tile kernel"
    properties = ("right",)

    def __init__(self, language: str, title: str, decorator: str) -> None:
        self.language, self.title, self.decorator = language, title, decorator

    def signature(self, exercise: Any) -> str:
        names = (*exercise.parameters, *exercise.scalars, *exercise.constants)
        return f"{exercise.id}({', '.join(names)})"

    def faults(self, exercise: Any) -> Iterator[entries.Fault]:
        return entries.faults_of_tile_kernel(exercise)

    def asked_for(self, exercise: Any) -> str:
        return f"{self.title} kernel {exercise.id}"


KERNEL, FUNCTION, CONSTANTS = KernelKind(), FunctionKind(), ConstantsKind()
CUTILE = TileKind("cutile", "cuTile", "ct.kernel")
TRITON = TileKind("triton", "Triton", "triton.jit")
KINDS: tuple[Kind, ...] = (KERNEL, FUNCTION, CONSTANTS, CUTILE, TRITON)


def properties_of(kind: Kind, known: tuple[str, ...]) -> tuple[str, ...]:
    """Those of all known properties by which this kind is judged."""
    others = {name for other_kind in KINDS for name in other_kind.properties} - {"right"}
    return kind.properties or tuple(name for name in known if name not in others)
