"""docs/architecture.md and the docstrings of the packages agree with the files and the imports."""

import ast
import re
from pathlib import Path

from every_case import every_case
from test_import_directions import ALLOWED

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = sorted(path.parent.name for path in (ROOT / "course_lib").glob("*/__init__.py"))
ROWS = re.findall(r"^\| \[`(\w+)/`\]\(\.\./course_lib/(\w+)\) \|", PAGE, re.MULTILINE)


def docstring_of(package: str) -> str:
    path = ROOT / "course_lib" / package / "__init__.py"
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def test_every_package_has_one_row_below_what_it_may_import() -> None:
    order = [name for name, _ in ROWS]
    assert sorted(order) == PACKAGES
    assert all(name == folder for name, folder in ROWS)
    for place, name in enumerate(order):
        assert ALLOWED[name] & set(PACKAGES) <= set(order[:place]), name


@every_case("package", PACKAGES)
def test_a_package_says_what_it_owns_what_it_may_import_and_where_to_start(package: str) -> None:
    said = dict(re.findall(r"^(Owns|May import|Start with): ((?:.+\n?)+?)(?=\w[\w ]*: |\n|\Z)",
                           docstring_of(package), re.MULTILINE))  # fmt: skip
    assert list(said) == ["Owns", "May import", "Start with"]
    assert set(re.findall(r"`(\w+)`", said["May import"])) == ALLOWED[package]
    folder = ROOT / "course_lib" / package
    starts = re.findall(r"`(\w+)`", said["Start with"])
    assert starts or package in ("measurements", "commands")
    assert all((folder / f"{name}.py").exists() for name in starts)


def test_what_the_page_names_is_there() -> None:
    linked = set(re.findall(r"\]\((?!https?:)([^)#]+)", PAGE))
    assert linked and all((ROOT / "docs" / name).exists() for name in linked)
    for name in set(re.findall(r"`((?:course_lib|tests|docs)/[\w/.]+)`", PAGE)):
        assert (ROOT / name).exists(), name


def test_readers_and_contributors_find_the_page() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "(docs/architecture.md)" in (ROOT / name).read_text(encoding="utf-8")
