"""What the book lays out for live cells: one folder named by what is in it, and where all is."""

import json
import re
from pathlib import Path

import pytest

from course_lib.book import live_cells
from course_lib.tab import pyodide


@pytest.fixture
def site(tmp_path: Path, monkeypatch) -> tuple[Path, Path]:
    """The site's root, and the folder of the live cells in it."""
    monkeypatch.setattr(live_cells.bundle, "write", lambda path: path.write_bytes(b"tar"))
    (tmp_path / "_static").mkdir()
    folder = live_cells.write_tab(tmp_path / "_static", tmp_path)
    return tmp_path, tmp_path / "_static" / folder


def told(root: Path) -> dict:
    worker = (root / "service-worker.js").read_text()
    return json.loads(re.search(r"^const SITE = (\{.*\});", worker, re.MULTILINE)[1])


def test_every_asset_lies_in_the_folder_and_asks_nobody(site):
    root, folder = site
    names = {each.name for each in folder.iterdir()}
    assets = {each.name for each in live_cells.ASSETS.iterdir()} - {"service-worker.js"}
    assert names == assets | {"course.tar.gz", "site.js", "site.json"}
    assert told(root)["version"] == folder.name.removeprefix("live-")
    assert "--ml-paper" in (folder / "live.css").read_text(), "the theme's colours are in it"
    _, folder = site
    for path in folder.glob("*.js"):
        if path.name not in ("codemirror.js", "site.js"):
            assert re.findall(r"https?://[^\s/\"'`;]+", path.read_text()) in (
                [],
                ["http://localhost:8000."],
            ), path.name


def test_the_folder_s_name_changes_with_what_is_in_it(site, monkeypatch, tmp_path) -> None:
    root, folder = site
    again = tmp_path / "again"
    again.mkdir()
    assert live_cells.write_tab(again, root) == folder.name
    monkeypatch.setattr(live_cells.bundle, "write", lambda path: path.write_bytes(b"rat"))
    other = tmp_path / "other"
    other.mkdir()
    assert live_cells.write_tab(other, root) != folder.name


def test_a_site_can_hold_pyodide_itself(site, tmp_path) -> None:
    root, folder = site
    known = json.loads((folder / "site.json").read_text())
    assert (known["pyodide"], known["numpy"]) == (pyodide.CDN, None)
    core = tmp_path / "core"
    core.mkdir()
    for name in pyodide.CORE:
        (core / name).write_text(name)
    wheel = tmp_path / "numpy-0-wasm32.whl"
    wheel.write_text("wheel")
    live_cells.hold_pyodide(root, core, wheel)
    known = json.loads((folder / "site.json").read_text())
    assert f"export default {json.dumps(known)};\n" == (folder / "site.js").read_text()
    assert (folder / known["pyodide"] / "pyodide.mjs").read_text() == "pyodide.mjs"
    assert (folder / known["numpy"]).read_text() == "wheel"
    assert (root / told(root)["pyodide"] / "pyodide.mjs").exists()
    assert told(root)["version"] == known["version"] != folder.name.removeprefix("live-")
