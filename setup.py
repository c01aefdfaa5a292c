"""Puts the course's notebooks, docs and locks into the wheel, beside the library that teaches.

All else stands in pyproject.toml. An installed package lays these files out as a course's folder:
see course_lib/commands/course_folder.py.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FILES = """
    .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE LICENSE-TEXT README.md course.py
    environment-gpu.yml environment.yml pyproject.toml
""".split()
FOLDERS = ("docs", "exercises", "locks", "notebooks")


class WithTheCourse(build_py):
    """Builds the library, and copies the course's files into it unless they are used in place."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        shipped = Path(self.build_lib, "course_lib", "shipped")
        shutil.rmtree(shipped, ignore_errors=True)
        shipped.mkdir(parents=True)
        for name in FILES:
            shutil.copy2(ROOT / name, shipped / name)
        for name in FOLDERS:
            unwanted = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
            shutil.copytree(ROOT / name, shipped / name, ignore=unwanted)


setup(cmdclass={"build_py": WithTheCourse})
