"""`emulated()`: a program's own kernels run on the emulator, and its GPU is taken to be there.

What a launch is found guilty of ends it where it was launched; what it costs beyond its need is
gathered. `pytest --cuda-emulate` (`pytest_plugin.py`) runs a whole test suite so.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import importlib.util
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from course_lib.host import host_api, pretended_gpu, probe, runtime
from course_lib.wording.errors import LaunchFailed, LaunchRefused, PlainError
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.words import joined

if TYPE_CHECKING:
    from course_lib.emulator import Kernel, Profile

STEPS = runtime.PATIENT_STEPS
SUCCESSOR = "numba_cuda_mlir"  # of numba.cuda; a project may use either
MORE_STEPS = "course_lib.emulated(steps={steps:_})"


@dataclass
class Noted:
    """A finding of one line of a kernel.

    Attributes:
        kernel: the kernel's name.
        file: the file of the line; "" if the kernel came from a text.
        finding: what the first such launch was told.
        launches: how many launches had it.
    """

    kernel: str
    file: str
    finding: Finding
    launches: int = 1

    @property
    def place(self) -> str:
        """Where it is: "kernels.py:12", as far as that is known."""
        file = Path(self.file)
        inside = file.is_relative_to(Path.cwd())
        shown = str(file.relative_to(Path.cwd())) if inside else self.file
        line = "" if self.finding.line is None else str(self.finding.line)
        return ":".join(part for part in (shown, line) if part)

    def __str__(self) -> str:
        said = f"{self.finding.message} {self.finding.hint}".strip() + f" [{self.finding.code}]"
        return ": ".join(part for part in (self.place, f"in {self.kernel}", said) if part)


@dataclass
class Launches:
    """What the launches under `emulated()` came to; it goes on while they do.

    Attributes:
        count: how many there were.
        failed: how many ended with `LaunchFailed`.
        errors: what these were found guilty of, in order.
        refused: the sentences about launches that the emulator did not begin.
        warnings: one for each line and kind of warning, in the order of their first launches.
    """

    count: int = 0
    failed: int = 0
    errors: list[Noted] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    warnings: list[Noted] = field(default_factory=list)

    def take(self) -> Launches:
        """All that was noted until now; from here on it is noted anew."""
        taken = replace(self)
        vars(self).update(vars(Launches()))
        return taken

    def note(self, noted: Sequence[Noted]) -> list[Noted]:
        """Keep what a launch was told. Returns the errors among it."""
        errors = [note for note in noted if note.finding.severity == "error"]
        self.errors += errors
        self.failed += bool(errors)
        known = {(warning.place, warning.finding.code): warning for warning in self.warnings}
        warnings = (note for note in noted if note not in errors)
        # A line that was told twice in this launch counts once.
        for key, note in {
            (warning.place, warning.finding.code): warning for warning in warnings
        }.items():
            if key in known:
                known[key].launches += 1
            else:
                self.warnings.append(note)
        return errors


@contextlib.contextmanager
def emulated(
    *,
    warn: Collection[str] = (),
    steps: int = STEPS,
    more_steps: str = MORE_STEPS,
    **options: Any,
) -> Iterator[Launches]:
    """Let `kernel[grid, block](…)` and the host's functions of numba.cuda run on the emulator.

    Meant for programs and tests that want a GPU: `cuda.is_available()` is True, and one A100
    answers for its attributes. Names that a module has fetched before, by `from numba.cuda import
    to_device`, stay what they were; `cuda.to_device` and kernels are the emulator's. Where
    numba-cuda-mlir is installed, that is so for its `cuda`, too.

    A launch whose findings hold an error ends with `LaunchFailed`, after its arrays were written.
    An exception of a kernel under `debug=True` is that and an exception of its own type, as Numba
    raises it. A kernel that the emulator does not take ends with `LaunchRefused`.

    What Numba defines is no error here: a negative index counts from the end, and is a warning.

    Args:
        warn: codes of findings that are to be warnings, such as "race-write-after-write".
        steps: how many a launch may take; see `docs/emulator.md`, Budgets.
        more_steps: how somebody allows more, with {steps} in it; it stands in a timeout's hint.
        options: those of `course_lib.emulator.emulate`: `races=False`, `costs=False` …

    Yields:
        What the launches come to.

    Raises:
        PlainError: if `warn` names no code of a finding.
    """
    if unknown := sorted(set(warn) - set(CODES)):
        raise PlainError(
            f"No finding has the code {joined(unknown)}; docs/findings.md lists the codes."
        )
    launches = Launches()

    def launch(
        kernel: Any,
        grid: Any,
        block: Any,
        stream: Any,
        shared_bytes: int,
        args: tuple[Any, ...],
        outputs: Sequence[str] = (),
    ) -> None:
        from course_lib.emulator import Budget

        __tracebackhide__ = True  # pytest shows the line of the launch as the last one
        launches.count += 1
        bounds = {"budget": Budget(steps=steps), **options}
        run = runtime.emulate(kernel, outputs=outputs, **bounds)
        run.more_steps = more_steps
        try:
            profile = run.run((grid, block, stream, shared_bytes), args)
        except LaunchRefused as refused:
            placed = _placed(refused, kernel, run.name)
            launches.refused.append(str(placed))
            raise placed from None
        runtime.show_output(profile)
        if errors := launches.note(_noted(kernel, profile, warn)):
            raise _failure(kernel, errors)

    with contextlib.ExitStack() as undo:
        for put_in_place in _cuda_modules():
            undo.callback(put_in_place(launch))
        yield launches


def _cuda_modules() -> Iterator[Callable[[host_api.Launch], Callable[[], None]]]:
    """How the stand-ins are put into each package that has a `cuda`."""
    answers = pretended_gpu.answers()

    def into(cuda: ModuleType) -> Callable[[host_api.Launch], Callable[[], None]]:
        def put(launch: host_api.Launch) -> Callable[[], None]:
            replaced = host_api.replacements(cuda, launch, answers)
            return host_api.make(replaced + pretended_gpu.deeper(cuda))

        return put

    try:
        yield into(probe.ThisMachine().load_cuda())
    except ImportError:
        if importlib.util.find_spec("numba") is not None:
            yield lambda launch: runtime.use_stand_in(launch, answers)
    if importlib.util.find_spec(SUCCESSOR) is not None:
        yield into(importlib.import_module(f"{SUCCESSOR}.cuda"))


def _noted(kernel: Any, profile: Profile, warn: Collection[str]) -> list[Noted]:
    """A launch's findings with their files; those that are to be warnings, as warnings."""
    findings = [
        replace(finding, severity="warning") if finding.code in warn else finding
        for finding in profile.findings
    ]
    name = profile.kernel_name
    return [Noted(name, _file_of(kernel, finding.line), finding) for finding in findings]


def _failure(kernel: Any, errors: Sequence[Noted]) -> LaunchFailed:
    findings = [error.finding for error in errors]
    sentences = [str(error) for error in errors]
    raised = next((finding for finding in findings if finding.code == "raised-exception"), None)
    kind: type[LaunchFailed] = LaunchFailed
    if raised is not None and (own := _exception_of(kernel, raised)) is not None:
        kind = type("LaunchFailed", (LaunchFailed, own), {"__module__": LaunchFailed.__module__})
        sentences += _said_with(kernel, raised)
    return kind("\n".join(sentences), findings)


def _exception_of(kernel: Any, raised: Finding) -> type[Exception] | None:
    """The type that a kernel raises, as its module has it; None where nothing can be made of it."""
    name = str(getattr(raised.message, "facts", {}).get("what", "")).partition(" ")[0]
    names = getattr(getattr(kernel, "py_func", kernel), "__globals__", {})
    kind = names.get(name, getattr(builtins, name, None))
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return None
    try:
        type("LaunchFailed", (LaunchFailed, kind), {})("", [])
    except TypeError:  # its objects are laid out otherwise, or want arguments of their own
        return None
    return kind


def _said_with(kernel: Any, raised: Finding) -> Iterator[str]:
    """What stands in the brackets of a `raise`: a test may look for it."""
    tree = getattr(_function_at(kernel, raised.line), "tree", None)
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Raise(exc=ast.Call(args=[ast.Constant(value), *_])) if (
                node.lineno == raised.line
            ):
                yield str(value)


def _placed(refused: LaunchRefused, kernel: Any, name: str) -> LaunchRefused:
    """The same refusal with the place of its first finding."""
    first = refused.findings[0]
    place = Noted(name, _file_of(kernel, first.line), first).place
    return LaunchRefused(name, refused.findings, place)


def _file_of(kernel: Any, line: int | None) -> str:
    return getattr(_function_at(kernel, line), "file", "")


def _function_at(kernel: Any, line: int | None) -> Kernel | None:
    """The function of a launch that has this line; None if the kernel's text cannot be found."""
    from course_lib.emulator import KernelRejected
    from course_lib.emulator import emulate as prepare

    with contextlib.suppress(KernelRejected):
        return prepare(kernel).function_at(line)
    return None
