"""What a course sets for itself, in one file: its title, lessons, exercises, tasks and points.

    title = "GPU programming, autumn term"
    lessons = ["00-05", "07"]                 # what is released, in this order
    exercises = ["05", "transpose_tiled"]     # what is graded: exercises, or lessons for all theirs
    tasks = ["00-05", "tree_sum"]             # what lessons keep: tasks, or lessons for all theirs

    [points]
    matmul_tiled = 20                         # the usual weights, scaled to a total of 20

    [points.transpose_tiled]
    right = 4                                 # what is not named keeps its points
    float32 = 0                               # not counted

    [questions]
    why-two-barriers = 2                      # answered in words, and read by a person

    [late]
    per_day = 0.1                             # a day costs 10 % of what was earned
    flat = 0.2                                # being late costs 20 %, however late
    at_most = 0.5                             # and all together no more than half of it

Who is how late stands in overrides.toml, with the points that are set by hand; that somebody is
late, in the names of Canvas's files, too. Every mistake is one
sentence: the file, the key, what to write instead.
"""

from __future__ import annotations

import difflib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from course_lib.curriculum import (
    LESSONS,
    PROPERTIES,
    TASKS,
    Exercise,
    Lesson,
    lesson_with_parts,
    lessons_meant,
)
from course_lib.grading.records import GRADED, CannotGrade, why_not_graded
from course_lib.grading.transfer import TESTS, TRANSFER
from course_lib.wording.words import decimal

DIGITS = 4  # behind the point of a number


class TomlFile:
    """A TOML file, and what may stand in it; every mistake is one sentence."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path = path
        if text is not None:  # as it was read before
            self.text = text

    def fail(self, sentence: str) -> CannotGrade:
        """The complaint, for `raise`."""
        return CannotGrade(f"{self.path}: {sentence}")

    def instead(self, value: object, key: str, write: str) -> CannotGrade:
        """The complaint about a value, and what to write instead of it."""
        return self.fail(f"`{key}` is {short(value)}; write {write}.")

    @cached_property
    def text(self) -> str:
        """All that stands in the file."""
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise self.fail(f"the file cannot be read ({error.strerror}).") from None
        except UnicodeDecodeError:
            raise self.fail("the file is not UTF-8; save it as UTF-8.") from None

    def table(self) -> dict[str, Any]:
        """The same as a table, with numbers just as they stand there."""
        try:
            return tomllib.loads(self.text, parse_float=Decimal)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, too
            why = " ".join(str(error).split())[:200]
            hint = "write text in quotes and lists in brackets"
            raise self.fail(f"this is not TOML ({why}); {hint}.") from None

    def only_known(
        self, table: Mapping[str, Any], known: Iterable[str], what: str, at: str
    ) -> None:
        """Refuse a key that nothing reads."""
        for name in table:
            if name in set(known):
                continue
            if name in TASKS:
                raise self.fail(f"{name} {why_not_graded(name)}.")
            raise self.fail(f"there is no {what} {name!r}{at}; {meant(name, known)}")

    def words(self, value: object, key: str, most: int) -> str:
        """Text of one line."""
        text = " ".join(value.split()) if isinstance(value, str) else ""
        if not text or len(text) > most:
            raise self.instead(value, key, f"text of 1 to {most} characters in quotes")
        return text

    def number(self, value: object, key: str, most: Decimal | int) -> Decimal:
        """A number from 0 on, just as it stands there."""
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            number = Decimal(value)
            if number.is_finite() and 0 <= number <= most and number == round(number, DIGITS):
                return number
        range_of_it = f"a number from 0 to {decimal(Decimal(most))}"
        write = f"{range_of_it}, without quotes and with at most {DIGITS} decimals"
        raise self.instead(value, key, write)


def meant(name: str, known: Iterable[str]) -> str:
    """The near match, or all there are, as the end of a sentence."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {', '.join(known)}."


def short(value: object) -> str:
    """A value as a complaint quotes it."""
    try:
        text = repr(value)
        if isinstance(value, Decimal):
            text = str(value if value.is_finite() else float(value))
    except ValueError:
        return "a number with thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


# --- The course's own file ---------------------------------------------------------------------


TITLE = "Matmul Ladder"
MOST_POINTS = 10_000
MOST_CHARACTERS = 200  # of a title
OF_GRADES = ("title", "canvas_assignment", "points", "questions", "late")
KEYS = (*OF_GRADES, "lessons", "exercises", "tasks")
ANSWER = "answer"  # what a question that is answered in words has points for
NO_QUESTIONS = ("late_days", "comment")  # overrides.toml has these beside the exercises
LATE_KEYS = ("per_day", "flat", "at_most")
# What a kernel is judged by in any exercise, as a warning where it does not count. A course may
# give points to it; the warning then costs them.
EXTRAS = ("coalesced", "conflict-free")
OUR_NOTEBOOKS = Path(__file__).resolve().parents[2] / "exercises"

Points = Mapping[str, Decimal]


def usual_points() -> dict[str, dict[str, Decimal]]:
    """The points of every exercise and property, as curriculum.py has them."""
    return {
        name: {prop: Decimal(points) for prop, points in exercise.points.items()}
        for name, exercise in GRADED.items()
    }


@dataclass(frozen=True)
class LateRule:
    """What handing in late costs."""

    per_day: Decimal = Decimal(0)  # the share of the earned points that each day takes
    at_most: Decimal = Decimal(1)  # the share that is taken at most
    flat: Decimal = Decimal(0)  # the share that being late takes, however late

    def share_left(self, days: int) -> Decimal:
        """The share of the earned points that still counts for a late student."""
        return 1 - min(self.flat + days * self.per_day, self.at_most)


@dataclass(frozen=True)
class Settings:
    """A course's own choices."""

    title: str = TITLE  # heads every page
    # what the course has, in its order, lesson 00 among it; None: all
    lessons: tuple[Lesson, ...] | None = None
    # the ids to grade, in the course's order; None if the file leaves that open
    exercises: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None  # the ids of the tasks that lessons keep; None: all
    # the points of every exercise and property, and of every question in words
    points: Mapping[str, Points] = field(default_factory=usual_points)
    # the column of Canvas's gradebook, as its export spells it: "Title (id)"
    canvas_assignment: str | None = None
    # the folder of the instructor's exercise notebooks, where the hints stand
    notebooks: Path = OUR_NOTEBOOKS
    late: LateRule | None = None  # what a late day costs; None if the file has no rule for it
    file: Path | None = None  # where the choices were read; None if there is no file
    text: str = ""  # what stood there

    def points_of(self, exercise_id: str) -> Points:
        """The points of each property; none for an exercise that does not exist."""
        return self.points.get(exercise_id, {})

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions that are answered in words."""
        return tuple(name for name in self.points if name not in GRADED)

    def place(self, exercise_id: str) -> tuple[int, int, str]:
        """The place of an exercise: in the course's own order, then in the whole course's."""
        mine, all_of_them = self.exercises or (), tuple(GRADED)
        return _place(mine, exercise_id), _place(all_of_them, exercise_id), exercise_id

    def stored(self) -> dict[str, str]:
        """What a later run into the same folder needs, for JSON."""
        file = {"file": str(self.file), "text": self.text} if self.file else {}
        own = self.notebooks != OUR_NOTEBOOKS
        return {**file, "notebooks": str(self.notebooks)} if own else file

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Settings:
        """The settings that `stored` wrote down, without what was to be graded.

        Raises CannotGrade if the course has changed, and a name in the file's text is gone.
        """
        notebooks = Path(stored.get("notebooks", OUR_NOTEBOOKS))
        if "file" not in stored:
            return cls(notebooks=notebooks)
        found = _Reader(Path(stored["file"]), stored["text"]).settings(notebooks)
        return replace(found, lessons=None, exercises=None, tasks=None)

    def choices(self) -> str:
        """What the file says about grades, with its name, and whose notebooks these are."""
        keys = [name for name in tomllib.loads(self.text) if name in OF_GRADES]
        parts = [f"{', '.join(keys)} from {self.file}"] if keys else []
        if self.notebooks != OUR_NOTEBOOKS:
            parts.append(f"notebooks from {self.notebooks}")
        return "; ".join(parts)

    def what_became_of_the_file(self) -> str:
        """What to know about the file if it has changed since it was read; empty if not."""
        if self.file is None:
            return ""
        if not self.file.is_file():
            return f"{self.file} is gone; its old contents still apply."
        if self.file.read_text(encoding="utf-8-sig", errors="replace") == self.text:
            return ""
        option = f"`--settings {shlex.quote(str(self.file))}`"
        return (
            f"{self.file} has changed since then and was not read again; to read it, give {option}."
        )

    def max_points(self, exercise_id: str) -> Decimal:
        return total(self.points_of(exercise_id).values())


def _place(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def total(points: Iterable[Decimal]) -> Decimal:
    """A sum of points."""
    return sum(points, Decimal(0))


def load_settings(path: Path | None, notebooks: Path | None = None) -> Settings:
    """The settings in a file; the course's own where there is none.

    Raises CannotGrade for anything in it that cannot be used.
    """
    folder = notebooks or OUR_NOTEBOOKS
    if path is None:
        return Settings(notebooks=folder)
    return _Reader(path).settings(folder)


class _Reader(TomlFile):
    """What may stand in a course's file."""

    def settings(self, notebooks: Path) -> Settings:
        table = self.table()
        self.only_known(table, KEYS, "key", "")
        canvas = table.get("canvas_assignment")
        lessons = self.lessons(table["lessons"]) if "lessons" in table else None
        return Settings(
            title=self.words(table.get("title", TITLE), "title", MOST_CHARACTERS),
            lessons=lessons,
            exercises=self.exercises(table.get("exercises"), lessons),
            tasks=self.tasks(table["tasks"], lessons) if "tasks" in table else None,
            points=self.points(table.get("points", {}))
            | self.questions(table.get("questions", {})),
            canvas_assignment=None
            if canvas is None
            else self.words(canvas, "canvas_assignment", MOST_CHARACTERS),
            late=self.late(table["late"]) if "late" in table else None,
            notebooks=notebooks,
            file=self.path.resolve(),
            text=self.text,
        )

    def names(self, value: object, key: str, what: str) -> list[str]:
        """A list of names; only that of tasks may be empty."""
        names: list[Any] = value if isinstance(value, list) else [None]
        if not all(isinstance(name, str) for name in names) or not (names or key == "tasks"):
            raise self.instead(value, key, f"a list of {what}")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise self.fail(f"`{key}` has {twice!r} twice; remove one of them.")
        return names

    def lessons(self, value: object) -> tuple[Lesson, ...]:
        """The lessons in their order; the first one of all is always there, and comes first."""
        what = 'lessons, such as ["00-05", "07"]'
        found = self.lessons_meant(self.names(value, "lessons", what), "lessons")
        return tuple(found if LESSONS[0] in found else [LESSONS[0], *found])

    def lessons_meant(self, names: Iterable[str], key: str) -> list[Lesson]:
        try:
            return lessons_meant(names)
        except KeyError as problem:
            raise self.fail(f"`{key}`: {problem.args[0]}.") from None

    def exercises(self, value: object, lessons: Sequence[Lesson] | None) -> tuple[str, ...] | None:
        """The exercises in their order; those of the lessons where the file names none."""
        if value is None:
            theirs = [name for lesson in lessons or () for name in lesson.exercises]
            return None if lessons is None else tuple(theirs)
        what = 'exercises or lessons, such as ["matmul_tiled", "07"]'
        names = self.names(value, "exercises", what)
        try:
            found = exercises_meant(names)
        except CannotGrade as problem:
            raise self.fail(f"`exercises`: {problem}") from None
        for name in found:
            if name in TRANSFER:
                raise self.fail(
                    f"`exercises` has {name}, which belongs to a test: grade it with --exercises."
                )
            self.refuse_elsewhere("exercises", GRADED[name], lessons)
        return found

    def refuse_elsewhere(
        self, key: str, exercise: Exercise, lessons: Sequence[Lesson] | None
    ) -> None:
        if exercise.lesson not in {lesson.number for lesson in lessons or LESSONS}:
            raise self.fail(
                f"`{key}` has {exercise.id}, which belongs to lesson {exercise.lesson}; add "
                f"that lesson to `lessons`, or remove {exercise.id}."
            )

    def tasks(self, value: object, lessons: Sequence[Lesson] | None) -> tuple[str, ...]:
        """The tasks that stay."""
        there = {lesson.number for lesson in lessons or LESSONS}
        found: list[str] = []
        for name in self.names(value, "tasks", 'tasks or lessons, such as ["00-05", "convolve"]'):
            if name in TASKS:
                self.refuse_elsewhere("tasks", TASKS[name], lessons)
                found.append(name)
            elif name in GRADED:
                raise self.fail(f"`tasks` has {name}, which is graded; write it into `exercises`.")
            elif name[:2].isdecimal():
                numbers = {lesson.number for lesson in self.lessons_meant([name], "tasks")}
                found += [task.id for task in TASKS.values() if task.lesson in numbers & there]
            else:
                raise self.fail(f"`tasks`: there is no task {name!r}; {meant(name, TASKS)}")
        return tuple(found)

    def late(self, value: object) -> LateRule:
        if not isinstance(value, dict) or not value.keys() - {"at_most"}:
            table = "a table [late] with per_day = 0.1 or flat = 0.2 in it, and at_most = 0.5"
            raise self.instead(value, "late", f"{table} if you like")
        self.only_known(value, LATE_KEYS, "key", " in [late]")
        return LateRule(
            **{key: self.number(setting, f"late.{key}", 1) for key, setting in value.items()}
        )

    def points(self, value: object) -> dict[str, dict[str, Decimal]]:
        points = usual_points()
        if not isinstance(value, dict):
            table = "a table for each exercise, such as [points.matmul_tiled]"
            raise self.instead(value, "points", table)
        self.only_known(value, GRADED, "exercise", " under `points`")
        for name, given in value.items():
            if isinstance(given, dict):
                points[name] = self.weights(GRADED[name], given)
            else:
                points[name] = self.scaled(GRADED[name], given)
        return points

    def questions(self, value: object) -> dict[str, dict[str, Decimal]]:
        """What each question in words is worth."""
        if not isinstance(value, dict):
            table = "a table [questions] with a line for each, such as why-two-barriers = 2"
            raise self.instead(value, "questions", table)
        for name in value:
            if not re.fullmatch("[A-Za-z0-9_-]{1,60}", name) or name in (*GRADED, *NO_QUESTIONS):
                raise self.fail(
                    f"`questions.{name}`: a question needs a name of its own, which consists of "
                    "letters, digits, _ and -."
                )
        return {
            name: {ANSWER: self.number(setting, f"questions.{name}", MOST_POINTS)}
            for name, setting in value.items()
        }

    def weights(self, exercise: Exercise, given: Mapping[str, object]) -> dict[str, Decimal]:
        """The usual points of an exercise with those that the file gives."""
        if not given:
            raise self.fail(
                f"[points.{exercise.id}] is empty; write at least one property below it "
                f"({', '.join(exercise.points)}), or leave the table out."
            )
        extras = [extra for extra in EXTRAS if exercise.kind.is_launched]
        known = tuple(dict.fromkeys((*exercise.points, *extras)))
        at = f" in {exercise.id}"
        for name in given:
            if name in PROPERTIES and name not in known:
                raise self.fail(
                    f"{name!r} is not a property of {exercise.id}; its properties are "
                    f"{', '.join(known)}."
                )
        self.only_known(given, known, "property", at)
        named = {
            name: self.number(setting, f"points.{exercise.id}.{name}", MOST_POINTS)
            for name, setting in given.items()
        }
        weights = {name: named.get(name, Decimal(exercise.points.get(name, 0))) for name in known}
        kept = {
            name: weight for name, weight in weights.items() if weight or name in exercise.points
        }
        if not total(kept.values()):
            raise self.fail(
                f"all points of {exercise.id} are 0; give some to at least one property, or leave "
                "it out of `exercises`."
            )
        return kept

    def scaled(self, exercise: Exercise, given: object) -> dict[str, Decimal]:
        """The usual points of an exercise, scaled to a total."""
        wanted = self.number(given, f"points.{exercise.id}", MOST_POINTS)
        if not wanted:
            raise self.fail(
                f"`points.{exercise.id}` is 0; give it points, or leave it out of `exercises`."
            )
        share = wanted / exercise.max_points
        return {name: points * share for name, points in exercise.points.items()}


def exercise_ids(names: Iterable[str], course: Sequence[str] | None = None) -> tuple[str, ...]:
    """The exercises that are meant, each once, in the order of the course.

    Names are ids of exercises, numbers or names of lessons for all of theirs, and "pretest" or
    "posttest" for their kernels, which go with every course; a `course` of one's own has no others.
    Raises CannotGrade for a name that is neither, or a lesson that has no exercise.
    """
    chosen: set[str] = set()
    for name in names:
        meant_by_it = set(exercises_meant([name]))
        if course is not None and not meant_by_it & {*course, *TRANSFER}:
            raise CannotGrade(f"{name} is not in this course, which has {', '.join(course)}.")
        chosen |= meant_by_it
    every = GRADED if course is None else (*course, *TRANSFER)
    return tuple(name for name in dict.fromkeys(every) if name in chosen)


def exercises_meant(names: Iterable[str]) -> tuple[str, ...]:
    """The same, in the order of the names."""
    found = [exercise for name in names for exercise in _of_name(name)]
    return tuple(dict.fromkeys(found))


def _of_name(name: str) -> list[str]:
    if name in TESTS:
        return [TESTS[name]]
    return [name] if name in GRADED else _of_lesson(name)


def _of_lesson(name: str) -> list[str]:
    if name in TASKS:
        raise CannotGrade(f"{name} {why_not_graded(name)}.")
    try:
        found = lesson_with_parts(name)
    except KeyError:
        with_exercises = [lesson.number for lesson in LESSONS if lesson.exercises]
        raise CannotGrade(
            f"there is no exercise or lesson {name!r}; "
            f"{meant(name, GRADED)} Lessons with exercises are "
            f"{', '.join(with_exercises)}."
        ) from None
    theirs = [exercise for lesson in found for exercise in lesson.exercises]
    if not theirs:
        raise CannotGrade(f"lesson {found[0].number} has no exercise; leave {name!r} out.")
    return theirs
