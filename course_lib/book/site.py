"""Lays the pages out in a folder and has Sphinx make a site of them.

Sphinx, myst-nb and the book theme do the work. Nothing is executed: the outputs are the stored
ones. Everything that a page needs is in the site's own folder, so that a plain file server, or a
click on index.html, is enough.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from course_lib.book.front import front_page
from course_lib.book.pages import page
from course_lib.book.playground import playground_page
from course_lib.book.tab_files import write_tab
from course_lib.building.notebook import dumps
from course_lib.building.own_course import notebook_of
from course_lib.building.project import Project

CONFIGURATION = '''\
"""How Sphinx makes the book; written by `course.py book`."""

project = {title!r}
html_title = {title!r}
language = "en"
extensions = ["myst_nb", "sphinx_copybutton"]
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_root"]
html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_extra_path = ["_root"]
html_css_files = ["book.css", "{live}/live.css"]
html_js_files = [("{live}/start.js", {{"defer": "defer"}})]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_show_copyright = False
html_use_index = False
html_context = {{"default_mode": "auto"}}
html_theme_options = {options!r}
'''


def write_sources(project: Project, folder: Path) -> None:
    """Write what Sphinx reads: the pages, their style, the configuration.

    Raises:
        BuildError: if a notebook cannot be read, or needs what the course leaves out.
    """
    for kind in ("notebooks", "exercises"):
        (folder / kind).mkdir(parents=True)
        for lesson in project.lessons:
            if kind == "notebooks" or lesson.exercises:
                text = dumps(page(notebook_of(project, lesson, kind)))
                (folder / kind / f"{lesson.stem}.ipynb").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(front_page(project), encoding="utf-8")
    (folder / "playground.md").write_text(playground_page(), encoding="utf-8")
    (folder / "_static").mkdir()
    shutil.copy(Path(__file__).with_name("book.css"), folder / "_static")
    live = write_tab(folder / "_static", folder / "_root")
    configuration = CONFIGURATION.format(
        title=project.title, options=theme_options(project), live=live
    )
    (folder / "conf.py").write_text(configuration, encoding="utf-8")


def theme_options(project: Project) -> dict[str, object]:
    """What the book theme shows; launch buttons need the repository's address."""
    options: dict[str, object] = {
        "use_download_button": False,
        "use_fullscreen_button": False,
        "show_navbar_depth": 1,
        "show_toc_level": 2,
        "home_page_in_toc": True,
        "navbar_persistent": [],
        "footer_content_items": ["extra-footer"],
    }
    if project.has_address:
        options |= {
            "repository_url": f"https://github.com/{project.repository}",
            "repository_branch": project.ref,
            "path_to_docs": "",
            "use_repository_button": True,
            "launch_buttons": {
                "colab_url": "https://colab.research.google.com",
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        }
    return options


def run_sphinx(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Have Sphinx make the site; every warning of it is an error."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "--nitpicky"]
    command += ["-q", "--color", str(source), str(site)]
    return subprocess.run(command, capture_output=True, text=True)
