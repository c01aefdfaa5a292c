"""`course.py book`: build the lessons into a static site, and refuse one with broken links."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from course_lib.building.notebook import BuildError
from course_lib.building.project import Project, open_project
from course_lib.commands.options import read_options
from course_lib.commands.own_course import with_settings
from course_lib.commands.places import REPOSITORY
from course_lib.grading.records import CannotGrade

DEFAULT = REPOSITORY / "build" / "book"
MARK = ".matmul-ladder-book"  # a folder that holds it was made here, so it may be replaced
OPTIONS = """\
--out DIR                  where the site goes
--repository OWNER/NAME    the address for launch buttons, in place of pyproject.toml's
--settings FILE            the file of a course of your own: its title, lessons, exercises and tasks
                           (course.toml)
--pyodide DIR              an unpacked release of Pyodide, which becomes part of the site, so that
                           it fetches nothing from elsewhere
"""


def main(arguments: list[str]) -> int:
    """Build the book; 0 if every page was made and every link leads somewhere."""
    options = read_options("book", __doc__, OPTIONS, out=DEFAULT).parse_args(arguments)
    project = open_project(REPOSITORY)
    if options.repository:
        project = replace(project, repository=options.repository)
    if options.settings:
        try:
            project = with_settings(project, options.settings)
        except CannotGrade as problem:
            print(problem, file=sys.stderr)
            return 2
    site = options.out.resolve()
    if site.exists() and any(site.iterdir()) and not (site / MARK).exists():
        print(f"{site} contains other files; name an empty folder with --out.", file=sys.stderr)
        return 2
    return build(project, site, options.pyodide)


def build(project: Project, site: Path, pyodide: Path | None = None) -> int:
    """Make the site beside its place, and put it there only when it is whole.

    Args:
        project: the checkout.
        site: where the site goes; what a former run has made there is replaced.
        pyodide: an unpacked release of it, for a site that holds its own copy.
    """
    # Not above: `book --help` has to do without packages.
    from course_lib.book.finished import finish, problems
    from course_lib.book.live_cells import hold_pyodide, numpy_wheel
    from course_lib.book.site import run_sphinx, write_sources

    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".book-") as folder:
        source, made = Path(folder, "source"), Path(folder, "site")
        try:
            numpy = numpy_wheel(pyodide) if pyodide else None
            write_sources(project, source)
        except (BuildError, OSError) as problem:
            print(f"The book was not made: {problem}", file=sys.stderr)
            return 1
        done = run_sphinx(source, made)
        said = (done.stdout + done.stderr).replace(f"{source}{os.sep}", "")
        if done.returncode:
            print(said.strip(), "\nThe book was not made: see above.", sep="\n", file=sys.stderr)
            return 1
        broken = problems(made)
        if broken:
            print(*broken, "The book was not made: links are broken.", sep="\n", file=sys.stderr)
            return 1
        if pyodide and numpy:
            hold_pyodide(made, pyodide, numpy)
        finish(made)
        (made / MARK).touch()
        (made / ".nojekyll").touch()  # GitHub Pages would leave out folders that begin with _
        shutil.rmtree(site, ignore_errors=True)
        made.rename(site)
    _say(project, site)
    return 0


def _say(project: Project, site: Path) -> None:
    from course_lib.book.finished import links_out

    pages = sum(1 for _ in site.rglob("*.html"))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(f"{pages} pages, {size / 1e6:.1f} MB, no broken link; {len(links_out(site))} lead out.")
    if not project.has_address:
        print("The course has no address yet, so the pages have no launch buttons.")
    print(f"Open {site / 'index.html'}")
