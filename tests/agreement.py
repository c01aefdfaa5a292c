"""Which finder tells each stored wrong answer, and what is told of it without that finder.

A finder is a function of course_lib/diagnosis that makes the Finding, Slip or Hypothesis of which
the first error of a report comes. It is seen at work: each of these is noted with the functions
that were running when it was made, and with those of them that it was made from. Switched off, a
finder finds nothing; one that explains a finding anew leaves it as it was. So it shows which stored
answers only one finder tells, which fall together with it, and which finders cover for others.

The table is agreement.json, made anew (some 25 minutes of one processor), with tests/mutants in
PYTHONPATH, by

    python tests/agreement.py judge     as often as it says that answers are left
    python tests/agreement.py table     agreement.json, from what was judged
    python tests/agreement.py summary   what it says of each finder, as Markdown

`judge` keeps what it has in agreement.jsonl, where temporary files are, and stops after SECONDS; to
begin anew, delete that. An answer is a row:

    exercise, name
    marked    the codes that are as good, and what kind of statement the first marked line is
    told      code and line of the first error, or of the warning
    finder    who told it, as module.function of course_lib.diagnosis; `emulator` if nobody did
    place     of the slip, where it came of one: what finder and line are looked up by
    line by   who looked the slip's place up in the source
    without finder, without module, without families
              what is told if that function, all finders of its module, or all of families/ are
              off: "as marked" and by whom, or else code, line, and by whom
"""

from __future__ import annotations

import ast
import dataclasses
import gc
import importlib
import json
import pkgutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from expectations import Mutant, all_mutants

import course_lib
from course_lib import diagnosis
from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.slip import Slip, SlipLocation
from course_lib.findings import Finding

DIAGNOSIS = "course_lib.diagnosis."
TABLE = Path(__file__).with_suffix(".json")
JUDGED = Path(tempfile.gettempdir(), "agreement.jsonl")
SECONDS = 420
NOTED = (Finding, Slip, SlipLocation, Hypothesis)
# What asks others, and so is no finder itself.
ASKING = {
    *("cause_of", "_in_exact_launch", "_in_other_launches", "short_loop", "placed", "locate"),
    *("first_explanation", "first_that_fits", "first_slip", "faults_of", "causes", "seen_at_once"),
    *("faults", "costs", "judge", "judge_uneven", "keep_causes", "conclude", "errors"),
}
# Always a finding, and yet whoever asks for it can do without.
TOLD_OUTRIGHT = {"one_block"}


@dataclasses.dataclass
class Made:
    """A finding, slip or hypothesis, with how it came about."""

    what: Any
    running: list[CodeType]  # functions of the diagnosis, the innermost first
    where: str  # the module and function that made it, whichever they are
    parents: list[Any]


class Notes:
    """What was made during one examination."""

    def __init__(self) -> None:
        self.made: dict[int, Made] = {}
        for kind in NOTED:
            kind.__init__ = self._noting(kind.__init__)  # type: ignore[method-assign]

    def _noting(self, original: Callable[..., None]) -> Callable[..., None]:
        def noting(new: Any, *args: Any, **named: Any) -> None:
            original(new, *args, **named)
            self.made[id(new)] = _made(new, sys._getframe(1))

        return noting

    def of(self, what: Any) -> Made | None:
        return self.made.get(id(what))


def _made(new: Any, frame: FrameType) -> Made:
    while frame.f_globals["__name__"] in ("dataclasses", "course_lib.findings"):
        assert frame.f_back is not None
        frame = frame.f_back
    where = f"{frame.f_globals['__name__']}.{frame.f_code.co_name}"
    parents = [
        each for each in frame.f_locals.values() if isinstance(each, NOTED) and each is not new
    ]
    running = []
    at: FrameType | None = frame
    while at is not None:
        if at.f_globals["__name__"].startswith(DIAGNOSIS):
            running.append(at.f_code)
        at = at.f_back
    return Made(new, running, where, [] if ".emulator." in where else parents)


# --- who found it -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Found:
    """Who told a finding, and what of it can be switched off."""

    finder: str
    switch: tuple[FunctionType, ...] = ()  # the function, if it can be switched off
    place: str = ""
    line_by: str = ""


class Finders:
    """The functions of the diagnosis that find something, and can be switched off."""

    def __init__(self) -> None:
        for each in pkgutil.walk_packages(diagnosis.__path__, DIAGNOSIS):
            importlib.import_module(each.name)
        self.by_code = {
            each.__code__: each
            for each in gc.get_objects()
            if isinstance(each, FunctionType)
            and (each.__module__ or "").startswith(DIAGNOSIS)
            and "<locals>" not in each.__qualname__
        }

    def behind(self, told: Finding, notes: Notes) -> Found:
        """Who first said this code of this line, or who made the slip behind it."""
        made = notes.of(told)
        while made is not None:
            parents = [notes.of(each) for each in made.parents]
            same = (p for p in parents if p and _says_the_same(p.what, made.what))
            before = next(same, None)
            if before is None:
                break
            made = before
        if made is None:
            return Found("?")
        slips = [each for each in made.parents if isinstance(each, Slip)]
        if not slips:
            return self._maker(made)
        located = next((each for each in made.parents if isinstance(each, SlipLocation)), None)
        located_by = notes.of(located)
        slip = self._first(slips[-1], notes)
        return dataclasses.replace(
            self._maker(slip),
            place=" ".join(slips[-1].place),
            line_by=self._maker(located_by).finder if located_by else "",
        )

    def _first(self, slip: Slip | Hypothesis, notes: Notes) -> Made:
        """What a slip was made from: another slip with its code, or a hypothesis."""
        made = notes.of(slip)
        assert made is not None
        for each in made.parents:
            if isinstance(each, (Slip, Hypothesis)) and each.code == slip.code:
                return self._first(each, notes)
        return made

    def _maker(self, made: Made) -> Found:
        """The innermost function that could have found nothing instead."""
        if not made.where.startswith(DIAGNOSIS):
            return Found("emulator" if ".emulator." in made.where else _short(made.where))
        functions = [self.by_code[code] for code in made.running if code in self.by_code]
        for function in functions:
            if function.__name__ in ASKING:
                break
            if nothing_of(function):
                return Found(name_of(function), (function,))
        return Found(_short(made.where))

    def of_modules(self, under: str) -> list[FunctionType]:
        """All that can be switched off in a module, or in the modules of a folder."""
        return [
            each
            for each in self.by_code.values()
            if f"{each.__module__}.".startswith(f"{under}.")
            and each.__name__ not in ASKING
            and nothing_of(each)
        ]


def _says_the_same(one: Any, other: Finding) -> bool:
    return isinstance(one, Finding) and (one.code, one.line) == (other.code, other.line)


def _short(name: str) -> str:
    return name.removeprefix(DIAGNOSIS)


def name_of(function: FunctionType) -> str:
    return _short(f"{function.__module__}.{function.__name__}")


# --- switched off -----------------------------------------------------------------------------


def _none(*_: object, **__: object) -> None:
    return None


def _no_more(*_: object, **__: object) -> Iterator[object]:
    return iter(())


def _empty(*_: object, **__: object) -> list[object]:
    return []


def _no_limit(*_: object, **__: object) -> object:
    return None, []


def _nowhere(*_: object, **__: object) -> object:
    from course_lib.diagnosis.slip import SlipLocation

    return SlipLocation(None)


def _as_it_was(*given: object, **named: object) -> object:
    """The finding or slip that was to be explained anew, or the findings to be thinned."""
    from course_lib.diagnosis.slip import Slip
    from course_lib.findings import Finding

    values = [*given, *named.values()]
    told = [each for each in values if isinstance(each, (Finding, Slip))]
    return told[0] if told else next(each for each in values if isinstance(each, (list, tuple)))


def nothing_of(function: FunctionType) -> CodeType | None:
    """What runs in place of a finder that is switched off; None if it is no finder."""
    result = str(function.__annotations__.get("return", ""))
    kinds = [str(kind) for name, kind in function.__annotations__.items() if name != "return"]
    many = result.endswith("[Finding]") and any(kind.endswith("[Finding]") for kind in kinds)
    if many or (result in ("Finding", "Slip") and result in kinds):
        return _as_it_was.__code__
    nothing: dict[str, Callable[..., object]] = {
        "Slip | None": _none,
        "Finding | None": _none,
        "SlipLocation | None": _none,
        "SlipLocation": _nowhere,
        "Iterator[Finding]": _no_more,
        "Iterator[Hypothesis]": _no_more,
        "list[Finding]": _empty,
        "tuple[Finding | None, list[Finding]]": _no_limit,
    }
    if function.__name__ in TOLD_OUTRIGHT:
        return _none.__code__
    return nothing[result].__code__ if result in nothing else None


@contextmanager
def switched_off(functions: Iterable[FunctionType]) -> Iterator[None]:
    """Whoever holds a reference to one of these functions finds nothing with it."""
    before = [(each, each.__code__) for each in functions if not each.__code__.co_freevars]
    try:
        for each, _ in before:
            nothing = nothing_of(each)
            assert nothing is not None
            each.__code__ = nothing
        yield
    finally:
        for each, code in before:
            each.__code__ = code


# --- the stored answers -----------------------------------------------------------------------


def kind_of_line(text: str, number: int) -> str:
    """What kind of statement a line belongs to: "for", "store", "sum", "call", …"""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return "no Python"
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0)
    ]
    if not statements:
        return "none"
    node = max(statements, key=lambda each: each.lineno)
    if isinstance(node, ast.AugAssign):
        return "sum"
    if isinstance(node, ast.Assign):
        return "store" if isinstance(node.targets[0], ast.Subscript) else "name"
    if isinstance(node, ast.Expr):
        return "barrier" if "sync" in ast.unparse(node) else "call"
    return type(node).__name__.removesuffix("Def").lower()


class Table:
    """The rows of agreement.json."""

    def __init__(self) -> None:
        self.notes, self.finders = Notes(), Finders()

    def told(self, mutant: Mutant) -> tuple[Finding | None, Found, str]:
        """What is told first of an answer, by whom, and whether it is as marked."""
        self.notes.made.clear()
        try:
            report = course_lib.examine_source(mutant.exercise, mutant.text, debug=True)
        except Exception as error:  # a finder that others count on
            return None, Found("?"), f"{type(error).__name__}"
        told = [*report.findings] if mutant.is_warning else [*report.errors[:1]]
        good = [each for each in told if not mutant.objection(each)]
        first = next(iter(good or told), None)
        if first is None:
            return None, Found(""), "nothing"
        as_marked = bool(good) and report.passed is mutant.is_warning
        said = "as marked" if as_marked else f"{first.code} {first.line}"
        return first, self.finders.behind(first, self.notes), said

    def row(self, mutant: Mutant) -> dict[str, str]:
        first, found, said = self.told(mutant)
        line = min(mutant.codes_at)
        row = {
            "exercise": mutant.exercise,
            "name": mutant.name,
            "marked": f"{', '.join(sorted(mutant.codes))} ({kind_of_line(mutant.text, line)})",
            "told": f"{first.code} {first.line}" if first and said == "as marked" else said,
            "finder": found.finder,
            "place": found.place,
            "line by": found.line_by,
        }
        offs: dict[str, list[FunctionType]] = {}
        if found.switch:
            module = found.switch[0].__module__
            offs["without finder"] = [*found.switch]
            offs["without module"] = self.finders.of_modules(module)
            if module.startswith(f"{DIAGNOSIS}families."):
                offs["without families"] = self.finders.of_modules(f"{DIAGNOSIS}families")
        for what, functions in offs.items():
            with switched_off(functions):
                _, by, said = self.told(mutant)
            row[what] = f"{said} by {by.finder}" if by.finder else said
        return row


def judge() -> None:
    """Judge the answers that are left, for SECONDS."""
    until = time.monotonic() + SECONDS
    text = JUDGED.read_text() if JUDGED.exists() else ""
    done = {(row["exercise"], row["name"]) for row in map(json.loads, text.splitlines())}
    left = [each for each in all_mutants() if (each.exercise, each.name) not in done]
    table = Table()
    with JUDGED.open("a") as file:
        while left and time.monotonic() < until:
            print(json.dumps(table.row(left.pop(0))), file=file, flush=True)
    print(len(left), "left")


COLUMNS = (
    *("exercise", "name", "marked", "told", "finder", "place", "line by"),
    *("without finder", "without module", "without families"),
)


def write_table() -> None:
    """agreement.json: one line an answer, in the order of COLUMNS."""
    rows = map(json.loads, JUDGED.read_text().splitlines())
    lists = sorted([row.get(name, "") for name in COLUMNS] for row in rows)
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in [[*COLUMNS], *lists])
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def rows() -> list[dict[str, str]]:
    """The table as it is stored."""
    names, *lists = json.loads(TABLE.read_text(encoding="utf-8"))
    return [dict(zip(names, each, strict=True)) for each in lists]


# --- what the table says ----------------------------------------------------------------------


def groups(table: Iterable[dict[str, str]]) -> dict[tuple[str, ...], list[str]]:
    """The answers that fall together: of one exercise, finder, code and kind of marked line."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in table:
        code, kind = row["told"].split()[0], row["marked"].split("(")[-1].rstrip(")")
        found[row["exercise"], row["finder"], code, kind].append(row["name"])
    return found


def _tally(table: list[dict[str, str]], what: str) -> Iterator[tuple[str, Counter[str]]]:
    """Of each finder: how many answers, those that it alone tells, and what is told instead."""
    by_finder: dict[str, Counter[str]] = defaultdict(Counter)
    for row in table:
        tally = by_finder[row["finder"]]
        tally["answers"] += 1
        if row[what]:
            code = row[what].split()[0]
            covered = row[what].startswith("as marked")
            tally["covered" if covered else "alone"] += 1
            same_code = not covered and code in row["marked"].split(" (")[0].split(", ")
            tally["the code is still true"] += same_code
            tally["wrong-result"] += code in ("wrong-result", "nothing")
    return iter(sorted(by_finder.items(), key=lambda each: (-each[1]["alone"], each[0])))


def summary() -> None:
    """Print the tables: by finder, by module of families/, and how large the groups are."""
    table = rows()
    names = ("answers", "alone", "covered", "the code is still true", "wrong-result")
    print(f"| finder | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for finder, tally in _tally(table, "without finder"):
        print(f"| {finder} | {' | '.join(str(tally[name]) for name in names)} |")
    print(
        "\n| module of families/ | lines | tells | alone | finds the line of |"
        "\n|---|---|---|---|---|"
    )
    for path in sorted(Path(diagnosis.__file__).parent.glob("families/**/*.py")):
        module = ".".join(path.relative_to(Path(diagnosis.__file__).parent).with_suffix("").parts)
        told = [row for row in table if row["finder"].rpartition(".")[0] == module]
        alone = sum(not row["without module"].startswith("as marked") for row in told)
        placed = sum(row["line by"].rpartition(".")[0] == module for row in table)
        lines = len(path.read_text(encoding="utf-8").splitlines())
        print(f"| {module} | {lines} | {len(told)} | {alone} | {placed} |")
    together = groups(table)
    sizes = Counter(map(len, together.values()))
    print(f"\n{len(table)} answers, {len(together)} groups; of each size:", sorted(sizes.items()))
    for key, members in sorted(together.items(), key=lambda each: -len(each[1])):
        print(f"- {len(members)}: {', '.join(key)}: {' '.join(members)}")


if __name__ == "__main__":
    {"judge": judge, "table": write_table, "summary": summary}[sys.argv[1]]()
