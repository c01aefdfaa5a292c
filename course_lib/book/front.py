"""The first page of the book: what the course is, where to start, how far the ladder goes."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib import measurements
from course_lib.book.playground import SMOOTH, holder, report_on
from course_lib.building.notebook import BuildError
from course_lib.building.project import Project
from course_lib.curriculum import EXERCISES, RUNGS, TASKS, Lesson
from course_lib.measurements import Speeds
from course_lib.web import escape

SIZE = 4096  # edge of the matrices of the ladder that is shown


def front_page(project: Project) -> str:
    """The page in MyST Markdown."""
    first = project.lessons[0]
    return FRONT.format(
        title=project.title,
        start=f"notebooks/{first.stem}.html",
        commands=_commands(project),
        race=holder([SMOOTH], small=True, report=report_on(SMOOTH)),
        ladder=_ladder(_speeds(), project.lessons),
        rows="\n".join(_row(project, each) for each in project.lessons),
        pages="\n".join(_toc_entry(each) for each in project.lessons),
    )


def _speeds() -> Speeds:
    """What the newest stored file says.

    Raises:
        BuildError: if there is none; the page shows nothing that nobody has measured.
    """
    newest = measurements.latest()
    if newest is None:
        raise BuildError("course_lib/measurements holds no file of measurements")
    return newest.speeds(SIZE, ("float32",))


def _ladder(speeds: Speeds, lessons: Sequence[Lesson]) -> str:
    """The rungs from the top down, each a bar as long as its share of cuBLAS, as HTML."""
    pages = {each.number: f"notebooks/{each.stem}.html" for each in lessons}
    lesson_of = {rung.name: pages[rung.lesson] for rung in RUNGS if rung.lesson in pages}
    # The kernels with a `while` loop are lesson 05b's story, and no rungs of their own.
    names = [name for name in speeds.of_cublas if not name.endswith("_while")]
    rows = "\n".join(
        _rung(name, speeds.of_cublas[name], lesson_of.get(name, "")) for name in reversed(names)
    )
    return (
        f'<figure class="climb"><ol reversed>\n{rows}\n</ol>\n'
        "<figcaption>The ladder in float32: speed as a share of cuBLAS, NVIDIA's own library. "
        f"Measured on {escape(speeds.label)}.</figcaption></figure>"
    )


def _rung(name: str, share: float, target: str) -> str:
    shown = f"<code>{escape(name)}</code>"
    if target:
        shown = f'<a href="{escape(target)}">{shown}</a>'
    return (
        f'<li><span class="name">{shown}</span>'
        f'<span class="bar" style="--share: {share:.4f}"></span>'
        f'<span class="share">{share:.0%}</span></li>'
    )


def _row(project: Project, lesson: Lesson) -> str:
    there = TASKS if project.tasks is None else project.tasks
    tasks = sum(1 for name in there if TASKS[name].lesson == lesson.number)
    graded = ", ".join(
        _in_sentence(EXERCISES[name].title) + project.worth(name) for name in lesson.exercises
    )
    exercise = f"[{graded}](exercises/{lesson.stem}.ipynb)" if graded else ""
    title = f"[{lesson.number} · {lesson.title}](notebooks/{lesson.stem}.ipynb)"
    return f"| {title} | {tasks or ''} | {lesson.minutes} | {exercise} |"


def _in_sentence(title: str) -> str:
    return title[:1].lower() + title[1:]


def _toc_entry(lesson: Lesson) -> str:
    entries = [f"notebooks/{lesson.stem}"]
    if lesson.exercises:
        entries.append(f"exercises/{lesson.stem}")
    return "\n".join(entries)


def _commands(project: Project) -> str:
    if not project.has_address:
        return "python3 course.py lab"
    name = project.repository.split("/")[1]
    return f"git clone https://github.com/{project.repository}\ncd {name}; python3 course.py lab"


FRONT = """\
---
html_theme.sidebar_secondary.remove: true
---
# {title}

:::{{raw}} html
<div class="front">
<div class="claim">
<p class="lead">Learn GPU programming by writing it: from your first CUDA kernel, rung by rung, to a
matrix multiplication at the speed of the vendor's library, in Python.</p>
<p>You type every step. Each answer runs on an emulated GPU right here in this tab, and where it is
wrong, you are told at which line, and why. Nothing to install, no account, no GPU.</p>
<p class="doors"><a class="door first" href="{start}">Start here: your first kernel</a>
<a class="door" href="playground.html">Playground</a></p>
<p>On your own machine, with or without a GPU, all of it in notebooks:</p>
<pre class="commands"><code>{commands}</code></pre>
</div>
{ladder}
</div>
:::

## What a wrong kernel is told

On a GPU, this kernel gives the right numbers most of the time. Mend it, and run it again: what is
missing, and between which lines?

{race}

## The lessons

| lesson | tasks | minutes | exercise |
|---|---|---|---|
{rows}

Between the tasks the lessons show a real run: counts are the emulator's, exact and the same on
every machine; times were measured on the GPU that stands beside them.

```{{toctree}}
:hidden:
:maxdepth: 1

playground
{pages}
```
"""
