"""Draws docs/images/class_report.png: grades a class that is made up, and photographs its report.

Run by hand when the page changes: `.venv/bin/python tests/class_report_picture.py` (with Chromium).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/hostile"), str(ROOT / "tests")]

import class_of_500  # noqa: E402

from course_lib.commands import grade  # noqa: E402
from course_lib.curriculum import lesson  # noqa: E402

PICTURE = ROOT / "docs/images/class_report.png"
STUDENTS, SEED, LESSONS = 40, 5, ("05", "07")
WIDTH, HEIGHT, COLOURS = 960, 1296, 128


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        submissions, out = Path(folder, "submissions"), Path(folder, "grades")
        class_of_500.hand_in_class(submissions, STUDENTS, SEED, (), tuple(map(lesson, LESSONS)))
        settings = Path(folder, "course.toml")
        settings.write_text('title = "GPU programming, week 5"\n', encoding="utf-8")
        options = ["--out", out, "--seed", SEED, "--settings", settings]
        assert grade.main([str(each) for each in (submissions, *options)]) == 0
        photograph(out / "report.html", Path(folder, "page.png"))


def photograph(page: Path, raw: Path) -> None:
    """The top of the page, in few colours so that the file is small."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "there is no Chromium here"
    options = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
    shot = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={raw}", page.as_uri()]
    subprocess.run([chromium, *options, *shot], check=True, capture_output=True, timeout=60)
    Image.open(raw).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
