"""The checkout as a course of one's own has it: what its settings file names, in its order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from course_lib.building.project import Project
from course_lib.grading.settings import load_settings


def with_settings(project: Project, path: Path) -> Project:
    """The project with the lessons, exercises, tasks, points and title of a file.

    Raises:
        CannotGrade: for anything in the file that cannot be used.
    """
    settings = load_settings(path)
    graded = settings.exercises
    lessons = tuple(
        lesson
        if graded is None
        else replace(lesson, exercises=tuple(name for name in graded if name in lesson.exercises))
        for lesson in settings.lessons or project.lessons
    )
    named = [name for lesson in lessons for name in lesson.exercises]
    return replace(
        project,
        title=settings.title,
        lessons=lessons,
        tasks=None if settings.tasks is None else frozenset(settings.tasks),
        points={name: settings.max_points(name) for name in named},
    )
