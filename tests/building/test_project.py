"""The course's one address: read, set, recognised in every spelling of GitHub's."""

import pytest

from course_lib.building.notebook import BuildError
from course_lib.building.project import open_project, repository_of


@pytest.mark.parametrize("address", [
    "https://github.com/some-one/a.course", "https://github.com/some-one/a.course.git",
    "https://github.com/some-one/a.course/", "git@github.com:some-one/a.course.git",
    "ssh://git@github.com/some-one/a.course.git\n",
])  # fmt: skip
def test_githubs_spellings_mean_one_repository(address):
    assert repository_of(address) == "some-one/a.course"


@pytest.mark.parametrize("address", [
    "", "https://gitlab.com/a/b", "/home/a/b", "https://github.com/a", "github.com/a/b/c",
])  # fmt: skip
def test_other_addresses_are_none(address):
    assert repository_of(address) is None


def test_the_version_may_be_the_librarys(course):
    path = course.root / "pyproject.toml"
    path.write_text(path.read_text().replace('version = "1.2.3"', 'dynamic = ["version"]'))
    library = course.root / "course_lib"
    library.mkdir()
    (library / "__init__.py").write_text("")
    with pytest.raises(BuildError, match="neither"):
        open_project(course.root)
    (library / "__init__.py").write_text('"""Tiny."""\n\n__version__ = "4.5.6"\n')
    assert open_project(course.root).version == "4.5.6"
